/*
 * moments_answers.c
 *		Regression, discriminants, components and covariances from moments
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/memutils.h"

#include "../core/core.h"
#include "distributions.h"
#include "estimate.h"
#include "maps.h"
#include "moments_answers.h"
#include "moments_psd.h"

/*
 * Moments as answers ask them.
 */

static double *
new_matrix(uint32 n, uint32 more)
{
	return palloc_extended(((Size) n + more) * n * sizeof(double), MCXT_ALLOC_HUGE);
}

void
race_noisy_open(Datum value, RaceLikely *likely)
{
	RaceNoisy  *noisy = &likely->noisy;

	race_moments_ask(value, &likely->moments);
	noisy->n = likely->moments.columns;
	noisy->count = likely->moments.count;
	noisy->diagonal = likely->moments.diagonal_sd;
	noisy->other = likely->moments.other_sd;
	noisy->m = likely->moments.matrix;
	noisy->likely = NULL;
}

void
race_likely_open(Datum value, RaceLikely *likely)
{
	RaceNoisy  *noisy = &likely->noisy;
	double	   *work;

	race_noisy_open(value, likely);
	noisy->likely = new_matrix(noisy->n, 0);
	work = new_matrix(noisy->n, 1);
	race_likely_moments(noisy, work);
	pfree(work);
}

void
race_likely_open_columns(Datum value, RaceLikely *likely)
{
	race_likely_open(value, likely);
	if (likely->moments.features > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("this is a question to moments without features"),
				 errdetail("These moments hold %u features beside their columns.",
						   likely->moments.features),
				 errhint("Make moments with features => 0 as well.")));
}

uint32
race_likely_place(const RaceLikely *likely, int column)
{
	if (column < 1 || (uint32) column > likely->moments.dims)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("there is no column %d", column),
				 errdetail("The records of these moments have %u columns.", likely->moments.dims)));
	return race_moments_place(&likely->moments, column - 1);
}

int
race_likely_column(const RaceLikely *likely, uint32 place)
{
	const RaceMoments *moments = &likely->moments;

	return place > moments->features ? place - moments->features : 0;
}

double
race_likely_slope(const RaceLikely *likely, uint32 place)
{
	int			column = race_likely_column(likely, place);

	return column > 0 ? 1 / race_moments_half(&likely->moments, column - 1) : 1;
}

double
race_likely_shift(const RaceLikely *likely, uint32 place)
{
	int			column = race_likely_column(likely, place);

	return column > 0 ? -race_moments_middle(&likely->moments, column - 1) /
		race_moments_half(&likely->moments, column - 1) : 0;
}

const double *
race_likely_vector(Datum value, uint32 n, const char *what)
{
	ArrayType  *array = DatumGetArrayTypeP(value);
	const double *x = (const double *) ARR_DATA_PTR(array);
	uint32		i;

	if (ARR_NDIM(array) != 1 || ARR_HASNULL(array) || (uint32) ARR_DIMS(array)[0] != n)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be an array of %u numbers, without NULLs", what, n)));
	for (i = 0; i < n; i++)
		if (!isfinite(x[i]))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("%s must have finite numbers only", what)));
	return x;
}

/*
 * race_covariance, race_correlation and race_pca.
 */

PG_FUNCTION_INFO_V1(race_covariance);
PG_FUNCTION_INFO_V1(race_correlation);
PG_FUNCTION_INFO_V1(race_pca);

/* So many degrees of freedom make Student's distribution a normal one. */
#define NORMAL		1e9

/* --------------------------------------------------------------- two columns */

/* A row of what was measured, times `unit`, with an interval within -limit and limit */
static Datum
measured_datum(FunctionCallInfo fcinfo, RaceMeasured measured, double unit, double limit)
{
	double		confidence = PG_GETARG_FLOAT8(3);
	double		reach;
	RaceResultRow row;

	race_check_confidence(confidence);
	reach = measured.error * race_student_two_sided(1 - confidence, NORMAL);
	if (!measured.known)
		reach = INFINITY;
	race_row_start(&row, fcinfo);
	race_row_add_if(&row, measured.known, Float8GetDatum(measured.value * unit));
	race_row_add_if(&row, measured.known, Float8GetDatum(measured.error * unit));
	race_row_add(&row, Float8GetDatum(fmin(fmax((measured.value - reach) * unit, -limit), limit)));
	race_row_add(&row, Float8GetDatum(fmin(fmax((measured.value + reach) * unit, -limit), limit)));
	return race_row_datum(&row);
}

/* Moments, and the places of two columns */
static void
read_columns(FunctionCallInfo fcinfo, RaceLikely *likely, uint32 *i, uint32 *j)
{
	race_noisy_open(PointerGetDatum(PG_GETARG_VARLENA_P(0)), likely);
	*i = race_likely_place(likely, PG_GETARG_INT32(1));
	*j = race_likely_place(likely, PG_GETARG_INT32(2));
}

/* race_covariance(moments, column, other, confidence) */
Datum
race_covariance(PG_FUNCTION_ARGS)
{
	RaceLikely	likely;
	uint32		i;
	uint32		j;

	read_columns(fcinfo, &likely, &i, &j);
	PG_RETURN_DATUM(measured_datum(fcinfo, race_measure_covariance(&likely.noisy, i, j),
								   1 / race_likely_slope(&likely, i) / race_likely_slope(&likely, j),
								   INFINITY));
}

/* race_correlation(moments, column, other, confidence) */
Datum
race_correlation(PG_FUNCTION_ARGS)
{
	RaceLikely	likely;
	uint32		i;
	uint32		j;

	read_columns(fcinfo, &likely, &i, &j);
	PG_RETURN_DATUM(measured_datum(fcinfo, race_measure_correlation(&likely.noisy, i, j), 1, 1));
}

/* ---------------------------------------------------------------- components */

void
race_find_components(Datum moments, bool standardize, RaceFoundComponents *found)
{
	RaceNoisy  *noisy = &found->likely.noisy;
	double	   *work;
	uint32		dims;
	uint32		i;

	race_likely_open_columns(moments, &found->likely);
	dims = noisy->n - 1;
	found->scale = palloc(dims * sizeof(double));
	found->vectors = palloc_extended((Size) dims * dims * sizeof(double), MCXT_ALLOC_HUGE);
	found->variances = palloc(dims * sizeof(RaceMeasured));
	for (i = 0; i < dims; i++)
		found->scale[i] = standardize ? 1 / race_likely_deviation(noisy, i + 1) :
			1 / race_likely_slope(&found->likely, i + 1);
	work = palloc_extended(RACE_COMPONENTS_WORK(noisy->n) * sizeof(double), MCXT_ALLOC_HUGE);
	race_components(noisy, found->scale, work, found->vectors, found->variances);
	pfree(work);
}

typedef struct Components
{
	RaceFoundComponents found;
	double		sum;			/* of all variances */
	RaceResultRow row;
} Components;

static void
start_components(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	Components *components = palloc0(sizeof(Components));
	uint32		i;

	race_row_start(&components->row, fcinfo);
	race_find_components(PointerGetDatum(PG_GETARG_VARLENA_P(0)), PG_GETARG_BOOL(1),
						 &components->found);
	call->max_calls = components->found.likely.noisy.n - 1;
	for (i = 0; i < call->max_calls; i++)
		components->sum += components->found.variances[i].value;
	call->user_fctx = components;
}

static Datum
component_datum(void *state, uint64 i)
{
	Components *components = (Components *) state;
	RaceMeasured variance = components->found.variances[i];
	uint32		dims = components->found.likely.noisy.n - 1;

	race_row_add(&components->row, Int32GetDatum((int32) i + 1));
	race_row_add(&components->row, Float8GetDatum(variance.value));
	race_row_add(&components->row, Float8GetDatum(variance.error));
	race_row_add_if(&components->row, components->sum > 0,
					Float8GetDatum(variance.value / components->sum));
	race_row_add_numbers(&components->row, components->found.vectors + (Size) i * dims, dims);
	return race_row_datum(&components->row);
}

/* race_pca(moments, standardize) */
Datum
race_pca(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_components, component_datum);
}

/*
 * race_regress and race_predict: linear regression from moments.
 */

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

/*
 * race_predict: what a regression says of a record.
 *
 * A call site keeps the fit that it used last, and what it is of, so that one fit serves all
 * rows of a statement.
 */

PG_FUNCTION_INFO_V1(race_predict);

typedef struct PredictSite
{
	RaceStoredEntry *stored;	/* or NULL */
	MemoryContext space;		/* of all below; NULL before the first fit */
	struct varlena *moments;	/* a copy */
	int			target;
	ArrayType  *predictors;		/* a copy, or NULL */
	RaceRegression regression;
	RaceRowsEntry *rows;		/* or NULL */
	double	   *record;			/* [dims] */
	double	   *u;				/* [columns] */
	MemoryContext context;
	MemoryContextCallback release;
} PredictSite;

static void
forget_fit(PredictSite *site)
{
	MemoryContext space = site->space;

	if (site->rows != NULL)
		race_moments_release(site->rows);
	site->rows = NULL;
	site->space = NULL;
	if (space != NULL)
		MemoryContextDelete(space);
}

static void
release_site(void *arg)
{
	PredictSite *site = (PredictSite *) arg;

	race_stored_release(&site->stored);
	if (site->rows != NULL)
		race_moments_release(site->rows);
	site->rows = NULL;
}

static PredictSite *
predict_site(FmgrInfo *flinfo)
{
	if (flinfo->fn_extra == NULL)
	{
		PredictSite *site = MemoryContextAllocZero(flinfo->fn_mcxt, sizeof(PredictSite));

		site->context = flinfo->fn_mcxt;
		site->release.func = release_site;
		site->release.arg = site;
		MemoryContextRegisterResetCallback(flinfo->fn_mcxt, &site->release);
		flinfo->fn_extra = site;
	}
	return (PredictSite *) flinfo->fn_extra;
}

static bool
same_bytes(const struct varlena *a, const struct varlena *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	return VARSIZE_ANY(a) == VARSIZE_ANY(b) && memcmp(a, b, VARSIZE_ANY(a)) == 0;
}

static struct varlena *
copy_bytes(const struct varlena *value)
{
	struct varlena *copy;

	if (value == NULL)
		return NULL;
	copy = palloc(VARSIZE_ANY(value));
	memcpy(copy, value, VARSIZE_ANY(value));
	return copy;
}

static void
fit(PredictSite *site, struct varlena *moments, int target, ArrayType *predictors)
{
	MemoryContext space;
	MemoryContext old;
	RaceMoments *asked = &site->regression.likely.moments;

	forget_fit(site);
	space = AllocSetContextCreate(site->context, "race_predict", ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(space);
	site->moments = copy_bytes(moments);
	site->target = target;
	site->predictors = (ArrayType *) copy_bytes((struct varlena *) predictors);
	race_regression_fit(PointerGetDatum(site->moments), target, site->predictors,
						&site->regression);
	site->record = palloc(asked->dims * sizeof(double));
	site->u = palloc(asked->columns * sizeof(double));
	MemoryContextSwitchTo(old);
	site->space = space;		/* an error before leaves no fit */
	site->rows = race_moments_hold(asked);
}

/* The record of which x leaves out the target, which has the middle of its bounds */
static void
read_record(PredictSite *site, Datum x)
{
	const RaceMoments *moments = &site->regression.likely.moments;
	const double *numbers = race_likely_vector(x, moments->dims - 1, "x");
	uint32		target = site->target - 1;

	memcpy(site->record, numbers, target * sizeof(double));
	site->record[target] = race_moments_middle(moments, target);
	memcpy(site->record + target + 1, numbers + target,
		   (moments->dims - 1 - target) * sizeof(double));
}

/* race_predict(moments, target, x, predictors) */
Datum
race_predict(PG_FUNCTION_ARGS)
{
	PredictSite *site = predict_site(fcinfo->flinfo);
	Datum		value = PG_GETARG_DATUM(0);
	struct varlena *moments;
	ArrayType  *predictors;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2))
		PG_RETURN_NULL();
	if (race_is_stored(value))
	{
		race_stored_hold(&site->stored, value, 0);
		value = race_stored_datum(site->stored);
	}
	moments = PG_DETOAST_DATUM(value);
	predictors = PG_ARGISNULL(3) ? NULL : PG_GETARG_ARRAYTYPE_P(3);
	if (site->space == NULL || site->target != PG_GETARG_INT32(1) ||
		!same_bytes(site->moments, moments) ||
		!same_bytes((struct varlena *) site->predictors, (struct varlena *) predictors))
		fit(site, moments, PG_GETARG_INT32(1), predictors);
	read_record(site, PG_GETARG_DATUM(2));
	race_moments_map(&site->regression.likely.moments, site->rows, site->record, site->u);
	PG_RETURN_FLOAT8(race_regression_value(&site->regression, site->u));
}

/*
 * Transforms for race_params from moments: private where these are, so that no public rows
 * are needed.
 */

PG_FUNCTION_INFO_V1(race_whiten_moments);
PG_FUNCTION_INFO_V1(race_pca_transform);
PG_FUNCTION_INFO_V1(race_discriminant_moments_step);
PG_FUNCTION_INFO_V1(race_discriminant_moments_final);

static void
start_map(uint32 dims, uint32 outputs, RaceWhitening *map)
{
	map->dims = dims;
	map->outputs = outputs;
	map->matrix = palloc0((Size) dims * outputs * sizeof(double));
}

/* Multiply columns of the matrix by the slopes of columns of a record. */
static void
apply_slopes(const RaceLikely *likely, RaceWhitening *map)
{
	uint32		i;
	uint32		j;

	for (i = 0; i < map->outputs; i++)
		for (j = 0; j < map->dims; j++)
			map->matrix[(Size) i * map->dims + j] *= race_likely_slope(likely, j + 1);
}

/* The mean of the records in their units, from that of scaled columns */
static double *
mean_of_records(const RaceLikely *likely, const double *scaled)
{
	uint32		dims = likely->noisy.n - 1;
	double	   *mean = palloc(dims * sizeof(double));
	uint32		i;

	for (i = 0; i < dims; i++)
		mean[i] = (scaled[i] - race_likely_shift(likely, i + 1)) / race_likely_slope(likely, i + 1);
	return mean;
}

/* The mean of scaled columns, and their covariance, [dims][dims]; both are palloc'd. */
static double *
spread_of(const RaceLikely *likely, double **mean)
{
	uint32		dims = likely->noisy.n - 1;
	double	   *covariance = palloc0((Size) dims * dims * sizeof(double));
	double		weight;
	Size		i;

	*mean = palloc(dims * sizeof(double));
	weight = race_likely_spread(&likely->noisy, *mean, covariance);
	for (i = 0; i < (Size) dims * dims; i++)
		covariance[i] /= weight;
	return covariance;
}

/* ---------------------------------------------------------------- whitening */

/*
 * The columns that are no linear combination of those before them, which is for exact moments:
 * noise leaves no such column.
 */
static uint32
keep_columns(const RaceNoisy *noisy, const double *covariance, uint32 *kept)
{
	uint32		dims = noisy->n - 1;
	double	   *r = palloc((Size) dims * dims * sizeof(double));
	double	   *work = palloc(RACE_LINEAR_WORK(dims) * sizeof(double));
	bool	   *keep = palloc(dims * sizeof(bool));
	uint32	   *vary = palloc(dims * sizeof(uint32));
	uint32		n = 0;
	uint32		found = 0;
	uint32		i;
	uint32		j;

	for (i = 0; i < dims; i++)
		if (covariance[(Size) i * dims + i] > RACE_LEAST_SHARE)
			vary[n++] = i;
	for (i = 0; i < n; i++)
		for (j = 0; j < n; j++)
			r[(Size) i * n + j] = i == j ? 1 : covariance[(Size) vary[i] * dims + vary[j]] /
				sqrt(covariance[(Size) vary[i] * dims + vary[i]] *
					 covariance[(Size) vary[j] * dims + vary[j]]);
	race_independent(r, n, INFINITY, work, keep);
	for (i = 0; i < n; i++)
		if (keep[i])
			kept[found++] = vary[i];
	return found;
}

/* The inverse root of the covariance of columns that are kept, as rows of a map of all columns */
static void
whiten_columns(const double *covariance, uint32 dims, const uint32 *kept, uint32 n,
			   RaceWhitening *map)
{
	double	   *root = palloc((Size) dims * dims * sizeof(double));
	uint32		i;
	uint32		j;

	for (i = 0; i < n; i++)
		for (j = 0; j < n; j++)
			root[(Size) i * n + j] = covariance[(Size) kept[i] * dims + kept[j]];
	if (n == 0 || !race_inverse_root(root, n))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("no column varies in these moments")));
	start_map(dims, n, map);
	for (i = 0; i < n; i++)
		for (j = 0; j <= i; j++)
			map->matrix[(Size) i * dims + kept[j]] = root[(Size) i * n + j];
	pfree(root);
}

/* race_whiten_moments(moments) */
Datum
race_whiten_moments(PG_FUNCTION_ARGS)
{
	RaceLikely	likely;
	RaceWhitening map;
	double	   *mean;
	double	   *covariance;
	uint32	   *kept;
	uint32		dims;
	uint32		n;

	race_likely_open_columns(PointerGetDatum(PG_GETARG_VARLENA_P(0)), &likely);
	dims = likely.noisy.n - 1;
	covariance = spread_of(&likely, &mean);
	kept = palloc(dims * sizeof(uint32));
	n = keep_columns(&likely.noisy, covariance, kept);
	whiten_columns(covariance, dims, kept, n, &map);
	if (n < dims)
		ereport(NOTICE,
				(errmsg("race_whiten_moments leaves %u of %u columns out", dims - n, dims),
				 errdetail("They are constant, or linear combinations of columns before them.")));
	apply_slopes(&likely, &map);
	PG_RETURN_DATUM(race_transform_of(fcinfo, &map, mean_of_records(&likely, mean)));
}

/* ------------------------------------------------------- principal components */

/* race_pca_transform(moments, components, standardize) */
Datum
race_pca_transform(PG_FUNCTION_ARGS)
{
	int			components = PG_GETARG_INT32(1);
	RaceFoundComponents found;
	RaceWhitening map;
	double	   *mean;
	uint32		dims;
	Size		i;

	race_find_components(PointerGetDatum(PG_GETARG_VARLENA_P(0)), PG_GETARG_BOOL(2), &found);
	dims = found.likely.noisy.n - 1;
	if (components < 1 || (uint32) components > dims)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("components must be between 1 and %u, the number of columns", dims)));
	start_map(dims, components, &map);
	for (i = 0; i < (Size) components * dims; i++)
		map.matrix[i] = found.vectors[i] * found.scale[i % dims];
	apply_slopes(&found.likely, &map);
	spread_of(&found.likely, &mean);
	PG_RETURN_DATUM(race_transform_of(fcinfo, &map, mean_of_records(&found.likely, mean)));
}

/* --------------------------------------------------------- Fisher's discriminant */

/* Transition of race_discriminant_moments(label, moments) */
Datum
race_discriminant_moments_step(PG_FUNCTION_ARGS)
{
	return race_class_moments_step(fcinfo);
}

Datum
race_discriminant_moments_final(PG_FUNCTION_ARGS)
{
	RaceClassMoments *state = PG_ARGISNULL(0) ? NULL : (RaceClassMoments *) PG_GETARG_POINTER(0);
	RaceClassModel model;
	RaceWhitening map;

	if (state == NULL || state->scores->n == 0)
		PG_RETURN_NULL();
	race_class_model(state, true, &model);
	if (model.classes.kept == 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("race_discriminant_moments finds no direction"),
				 errdetail("It needs two classes or more, with different means.")));
	start_map(model.classes.dims, model.classes.kept, &map);
	memcpy(map.matrix, model.classes.direction,
		   (Size) map.outputs * map.dims * sizeof(double));
	apply_slopes(&model.likely[0], &map);
	PG_RETURN_DATUM(race_transform_of(fcinfo, &map,
									  mean_of_records(&model.likely[0], model.classes.all)));
}

/*
 * race_lda and race_lda_posterior: which class is a record from, by moments of classes?
 *
 * The score of a class is its density at x, normal in Fisher's directions with a covariance of its
 * own there, times its count.  A call site keeps the model of the classes that it saw last.
 */

PG_FUNCTION_INFO_V1(race_lda_step);
PG_FUNCTION_INFO_V1(race_lda_final);
PG_FUNCTION_INFO_V1(race_lda_posterior_final);

typedef struct LdaSite
{
	MemoryContext space;		/* of all below; NULL without a model */
	RaceClassMoments state;		/* what the model is of: copies of moments */
	RaceClassModel model;
	RaceRowsEntry *rows;		/* or NULL */
	double	   *u;				/* of the record, [columns] */
	double	   *z;				/* [classes] */
	double	   *score;			/* [classes] */
	MemoryContext context;
	MemoryContextCallback release;
} LdaSite;

/* Transition of race_lda and race_lda_posterior (label, moments, x [, prior]) */
Datum
race_lda_step(PG_FUNCTION_ARGS)
{
	return race_class_moments_step(fcinfo);
}

static void
release_rows(void *arg)
{
	LdaSite    *site = (LdaSite *) arg;

	if (site->rows != NULL)
		race_moments_release(site->rows);
	site->rows = NULL;
}

static LdaSite *
lda_site(FmgrInfo *flinfo)
{
	if (flinfo->fn_extra == NULL)
	{
		LdaSite    *site = MemoryContextAllocZero(flinfo->fn_mcxt, sizeof(LdaSite));

		site->context = flinfo->fn_mcxt;
		site->release.func = release_rows;
		site->release.arg = site;
		MemoryContextRegisterResetCallback(flinfo->fn_mcxt, &site->release);
		flinfo->fn_extra = site;
	}
	return (LdaSite *) flinfo->fn_extra;
}

static bool
is_model_of(const LdaSite *site, const RaceClassMoments *state)
{
	int			n = state->scores->n;
	int			i;

	if (site->space == NULL || site->state.scores->n != n || site->state.bytes != state->bytes)
		return false;
	for (i = 0; i < n; i++)
		if (VARSIZE(site->state.moments[i]) != VARSIZE(state->moments[i]) ||
			memcmp(site->state.moments[i], state->moments[i], VARSIZE(state->moments[i])) != 0)
			return false;
	return true;
}

/* Copies of labels are not needed: scores are those of the state that is asked. */
static void
copy_state(const RaceClassMoments *state, RaceClassMoments *copy)
{
	int			n = state->scores->n;
	int			i;

	*copy = *state;
	copy->x = NULL;
	copy->scores = palloc0(sizeof(RaceScores));
	copy->scores->n = n;
	copy->moments = palloc(n * sizeof(struct varlena *));
	for (i = 0; i < n; i++)
	{
		copy->moments[i] = palloc_extended(VARSIZE(state->moments[i]), MCXT_ALLOC_HUGE);
		memcpy(copy->moments[i], state->moments[i], VARSIZE(state->moments[i]));
	}
}

static void
make_model(LdaSite *site, const RaceClassMoments *state)
{
	MemoryContext space = site->space;
	MemoryContext old;
	const RaceMoments *moments;

	release_rows(site);
	site->space = NULL;
	if (space != NULL)
		MemoryContextDelete(space);
	space = AllocSetContextCreate(site->context, "race_lda", ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(space);
	copy_state(state, &site->state);
	race_class_model(&site->state, false, &site->model);
	moments = &site->model.likely[0].moments;
	site->u = palloc(moments->columns * sizeof(double));
	site->z = palloc(state->scores->n * sizeof(double));
	site->score = palloc(state->scores->n * sizeof(double));
	MemoryContextSwitchTo(old);
	site->space = space;		/* an error before leaves no model */
	site->rows = race_moments_hold(moments);
}

/* Fill the scores: densities relative to the highest, times counts if that is the prior. */
static RaceScores *
score_classes(FunctionCallInfo fcinfo)
{
	RaceClassMoments *state = PG_ARGISNULL(0) ? NULL : (RaceClassMoments *) PG_GETARG_POINTER(0);
	LdaSite    *site = lda_site(fcinfo->flinfo);
	double		highest = -INFINITY;
	RaceScores *scores;
	int			i;

	if (state == NULL || state->scores->n == 0)
		return NULL;
	scores = state->scores;
	if (!is_model_of(site, state))
		make_model(site, state);
	race_moments_map(&site->model.likely[0].moments, site->rows,
					 race_likely_vector(PointerGetDatum(state->x),
										site->model.likely[0].moments.dims, "x"), site->u);
	race_classes_densities(&site->model.classes, site->u, site->z, site->score);
	for (i = 0; i < scores->n; i++)
	{
		scores->list[i].count = site->model.classes.count[i];
		if (scores->prior == RACE_PRIOR_COUNTS)
			site->score[i] += log(Max(scores->list[i].count, 1));
		highest = Max(highest, site->score[i]);
	}
	for (i = 0; i < scores->n; i++)
		scores->list[i].score = exp(site->score[i] - highest);
	return scores;
}

Datum
race_lda_final(PG_FUNCTION_ARGS)
{
	RaceScores *scores = score_classes(fcinfo);

	if (scores == NULL)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(race_scores_best(scores, race_scores_comparison(scores),
									 PG_GET_COLLATION())->label);
}

Datum
race_lda_posterior_final(PG_FUNCTION_ARGS)
{
	RaceScores *scores = score_classes(fcinfo);

	if (scores == NULL)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(race_scores_posterior(scores));
}

/*
 * Linear discriminant analysis of classes, each with its moments.
 */

/* A model takes space in proportion to the cube of classes. */
#define MAX_CLASSES		100

/* --------------------------------------------------------------- transition */

static RaceClassMoments *
start_state(FunctionCallInfo fcinfo, MemoryContext context)
{
	RaceClassMoments *state = MemoryContextAllocZero(context, sizeof(RaceClassMoments));

	state->scores = race_scores_start(fcinfo, context);
	state->capacity = 4;
	state->moments = MemoryContextAlloc(context, state->capacity * sizeof(struct varlena *));
	return state;
}

/* All classes are asked about one record. */
static void
set_record(RaceClassMoments *state, Datum value, MemoryContext context)
{
	ArrayType  *x = DatumGetArrayTypeP(value);

	if (state->x == NULL)
	{
		state->x = MemoryContextAlloc(context, VARSIZE(x));
		memcpy(state->x, x, VARSIZE(x));
	}
	else if (VARSIZE(state->x) != VARSIZE(x) || memcmp(state->x, x, VARSIZE(x)) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("all classes must be asked about the same x"),
				 errhint("To ask about several records, ask in a subquery for each, or GROUP BY the record.")));
}

static void
add_class(RaceClassMoments *state, Datum label, Datum value, MemoryContext context)
{
	struct varlena *moments = PG_DETOAST_DATUM(value);
	RaceScore	score = {0};
	uint32		n = state->scores->n;

	if (n == MAX_CLASSES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("there can be at most %d classes with moments", MAX_CLASSES)));
	if (n == state->capacity)
	{
		state->capacity *= 2;
		state->moments = repalloc(state->moments, state->capacity * sizeof(struct varlena *));
	}
	state->moments[n] = MemoryContextAllocHuge(context, VARSIZE(moments));
	memcpy(state->moments[n], moments, VARSIZE(moments));
	state->bytes += VARSIZE(moments);
	race_scores_append(state->scores, score, label, context);
}

Datum
race_class_moments_step(FunctionCallInfo fcinfo)
{
	RaceClassMoments *state = PG_ARGISNULL(0) ? NULL : (RaceClassMoments *) PG_GETARG_POINTER(0);
	MemoryContext context = race_aggregate_context(fcinfo, "race_lda, race_lda_posterior or race_discriminant_moments");
	int			i;

	if (state == NULL)
		state = start_state(fcinfo, context);
	for (i = 1; i < PG_NARGS(); i++)
		if (PG_ARGISNULL(i))
			PG_RETURN_POINTER(state);
	race_scores_set_prior(state->scores, PG_NARGS() > 4 ?
						  race_read_prior(PG_GETARG_TEXT_PP(4)) : RACE_PRIOR_COUNTS);
	if (PG_NARGS() > 3)
		set_record(state, PG_GETARG_DATUM(3), context);
	add_class(state, PG_GETARG_DATUM(1), PG_GETARG_DATUM(2), context);
	PG_RETURN_POINTER(state);
}

/* -------------------------------------------------------------------- model */

void
race_class_model(const RaceClassMoments *state, bool columns_alone, RaceClassModel *model)
{
	uint32		n = state->scores->n;
	RaceNoisy  *noisy = palloc(n * sizeof(RaceNoisy));
	double	   *space;
	double	   *work;
	uint32		dims;
	uint32		i;

	model->likely = palloc(n * sizeof(RaceLikely));
	for (i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (columns_alone)
			race_likely_open_columns(PointerGetDatum(state->moments[i]), &model->likely[i]);
		else
			race_likely_open(PointerGetDatum(state->moments[i]), &model->likely[i]);
		race_params_check_same(model->likely[0].moments.params, model->likely[i].moments.params);
		noisy[i] = model->likely[i].noisy;
	}
	dims = noisy[0].n - 1;
	space = palloc_extended(RACE_CLASSES_SPACE(n, dims) * sizeof(double), MCXT_ALLOC_HUGE);
	work = palloc_extended(RACE_CLASSES_WORK(n, dims) * sizeof(double), MCXT_ALLOC_HUGE);
	if (!race_classes_fit(noisy, n, space, work, &model->classes))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the columns do not vary within classes"),
				 errdetail("The covariance within classes has no inverse.")));
	pfree(work);
	pfree(noisy);
}
