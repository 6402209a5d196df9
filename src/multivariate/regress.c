/*
 * regress.c
 *		race_regress and race_predict: linear regression from moments.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"

#include "../server/result.h"
#include "regression.h"

PG_FUNCTION_INFO_V1(race_regress);

/* ------------------------------------------------------------------- the fit */

/* Append the places of listed columns to a list; 22023 for a column that is there already. */
static uint32
list_columns(const RaceLikely *likely, ArrayType *columns, uint32 target, uint32 *places, uint32 n)
{
	uint32		first = n;
	Datum	   *values;
	bool	   *nulls;
	int			count;
	int			i;
	uint32		j;

	deconstruct_array(columns, INT4OID, sizeof(int32), true, TYPALIGN_INT, &values, &nulls, &count);
	for (i = 0; i < count; i++)
	{
		uint32		place;

		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("predictors must not have a NULL")));
		place = race_likely_place(likely, DatumGetInt32(values[i]));
		for (j = first; j < n && places[j] != place; j++)
			;
		if (j < n || place == target)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg(place == target ? "column %d is the target, and cannot be a predictor" :
							"column %d is twice among the predictors", DatumGetInt32(values[i]))));
		places[n++] = place;
	}
	return n;
}

/* The constant, the features, and columns */
static uint32
list_predictors(const RaceLikely *likely, uint32 target, ArrayType *predictors, uint32 *places)
{
	uint32		n = 0;
	uint32		place;

	for (place = 0; place < likely->noisy.n; place++)
	{
		bool		is_column = race_likely_column(likely, place) > 0;

		if (place != target && !(is_column && predictors != NULL))
			places[n++] = place;
	}
	return predictors == NULL ? n : list_columns(likely, predictors, target, places, n);
}

void
race_regression_fit(Datum moments, int target, ArrayType *predictors, RaceRegression *regression)
{
	RaceLikely *likely = &regression->likely;
	RaceRidge  *ridge = &regression->ridge;
	uint32	   *places;
	double	   *work;

	race_likely_open(moments, likely);
	places = palloc(likely->noisy.n * sizeof(uint32));
	ridge->target = race_likely_place(likely, target);
	ridge->n = list_predictors(likely, ridge->target, predictors, places);
	ridge->predictors = places;
	ridge->coefficients = palloc(ridge->n * sizeof(double));
	ridge->covariance = palloc_extended((Size) ridge->n * ridge->n * sizeof(double),
										MCXT_ALLOC_HUGE);
	work = palloc_extended(RACE_RIDGE_WORK(ridge->n) * sizeof(double), MCXT_ALLOC_HUGE);
	if (!race_ridge_fit(&likely->noisy, ridge, work))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("moments without records cannot be fitted")));
	pfree(work);
}

double
race_regression_value(const RaceRegression *regression, const double *u)
{
	const RaceLikely *likely = &regression->likely;
	const RaceRidge *ridge = &regression->ridge;
	double		value = ridge->coefficients[0];
	uint32		column = race_likely_column(likely, ridge->target);
	uint32		i;

	for (i = 1; i < ridge->n; i++)
		value += ridge->coefficients[i] * u[ridge->predictors[i] - 1];
	value = (value - race_likely_shift(likely, ridge->target)) /
		race_likely_slope(likely, ridge->target);
	return fmin(fmax(value, likely->moments.lower[column - 1]), likely->moments.upper[column - 1]);
}

/* -------------------------------------------------------------- coefficients */

typedef struct Coefficients
{
	RaceRegression regression;
	RaceResultRow row;
} Coefficients;

/*
 * The intercept in units of the record, and its variance.  Of numbers v = slope x + shift it is
 * the constant's coefficient and those of all others times their shifts.
 */
static double
intercept(const RaceRegression *regression, double *variance)
{
	const RaceRidge *ridge = &regression->ridge;
	double	   *weight = palloc(ridge->n * sizeof(double));
	double		slope = race_likely_slope(&regression->likely, ridge->target);
	double		sum = -race_likely_shift(&regression->likely, ridge->target);
	uint32		i;
	uint32		j;

	*variance = 0;
	for (i = 0; i < ridge->n; i++)
	{
		weight[i] = i == 0 ? 1 : race_likely_shift(&regression->likely, ridge->predictors[i]);
		sum += weight[i] * ridge->coefficients[i];
	}
	for (i = 0; i < ridge->n; i++)
		for (j = 0; j < ridge->n; j++)
			*variance += weight[i] * weight[j] * ridge->covariance[(Size) i * ridge->n + j];
	*variance /= slope * slope;
	pfree(weight);
	return sum / slope;
}

static void
start_coefficients(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	Coefficients *coefficients;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		return;
	coefficients = palloc0(sizeof(Coefficients));
	race_row_start(&coefficients->row, fcinfo);
	race_regression_fit(PointerGetDatum(PG_GETARG_VARLENA_P(0)), PG_GETARG_INT32(1),
						PG_ARGISNULL(2) ? NULL : PG_GETARG_ARRAYTYPE_P(2),
						&coefficients->regression);
	call->max_calls = coefficients->regression.ridge.n;
	call->user_fctx = coefficients;
}

static Datum
coefficient_datum(void *state, uint64 i)
{
	Coefficients *coefficients = (Coefficients *) state;
	const RaceLikely *likely = &coefficients->regression.likely;
	const RaceRidge *ridge = &coefficients->regression.ridge;
	uint32		place = ridge->predictors[i];
	int			column = race_likely_column(likely, place);
	double		factor = race_likely_slope(likely, place) / race_likely_slope(likely, ridge->target);
	double		value = ridge->coefficients[i] * factor;
	double		variance = ridge->covariance[i * ridge->n + i] * factor * factor;

	if (i == 0)
		value = intercept(&coefficients->regression, &variance);
	race_row_add_if(&coefficients->row, i == 0 || column > 0, Int32GetDatum(column));
	race_row_add_if(&coefficients->row, i > 0 && column == 0, Int32GetDatum(place));
	race_row_add(&coefficients->row, Float8GetDatum(value));
	race_row_add(&coefficients->row, Float8GetDatum(sqrt(Max(variance, 0))));
	return race_row_datum(&coefficients->row);
}

/* race_regress(moments, target, predictors) */
Datum
race_regress(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_coefficients, coefficient_datum);
}
