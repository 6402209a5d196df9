/*
 * moments_answers.c
 *		Regression, discriminants, components and covariances from moments
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/memutils.h"

#include "privacy/noise.h"
#include "hash/moment_sums.h"
#include "hash/params.h"
#include "sketch/argument.h"
#include "sketch/array_reader.h"
#include "sketch/call_site.h"
#include "sketch/moments.h"
#include "sketch/params_type.h"
#include "sketch/record.h"
#include "sketch/result.h"
#include "sketch/rows_cache.h"
#include "sketch/sketch.h"
#include "sketch/sketch_format.h"
#include "answers/classify.h"
#include "answers/distributions.h"
#include "answers/estimate.h"
#include "answers/factor.h"
#include "answers/moments_psd.h"

/*
 * Moments as answers ask them: with the projected sums, and by columns of the record.  Places count
 * the numbers of v; place 0 is the constant (sketch/moments.h).  Columns count those of the record,
 * from 1 on.
 */

typedef struct RaceMomentSource
{
	RaceMoments moments;
	RaceSecondMoments sums; /* sums of v */
} RaceMomentSource;

static double *
new_matrix(uint32 n, uint32 more)
{
	return palloc_extended(((Size) n + more) * n * sizeof(double), MCXT_ALLOC_HUGE);
}

/*
 * Estimate the number of records.  Where the clip brings all of them to one norm, the trace of the
 * matrix is their number times its square.  So the mean of both estimates, by their variances, is
 * more precise than the count.
 */
static double
estimate_count(const RaceMoments *moments)
{
	double square = moments->norm * moments->norm;
	double precision;
	double of_trace;
	double trace = 0;

	if (moments->exact || moments->norm > 1 || moments->targets > 0 ||
		moments->params->moments.clip == RACE_CLIP_ABSOLUTE)
		return moments->count;
	precision = 1 / (moments->count_sd * moments->count_sd);
	of_trace = square * square / (moments->columns * moments->diagonal_sd * moments->diagonal_sd);
	for (uint32 i = 0; i < moments->columns; i++)
		trace += moments->matrix[(Size) i * moments->columns + i];
	return (precision * moments->count + of_trace * trace / square) / (precision + of_trace);
}

/* Look into moments, without the projected sums, which take a decomposition of the matrix. */
static void
open_raw(Datum value, RaceMomentSource *source)
{
	RaceSecondMoments *sums = &source->sums;

	race_moments_ask(value, &source->moments);
	sums->n = source->moments.columns;
	sums->count = estimate_count(&source->moments);
	sums->diagonal = source->moments.diagonal_sd;
	sums->other = source->moments.other_sd;
	sums->m = source->moments.matrix;
	sums->projected = NULL;
	sums->map = NULL;
	sums->prior = NULL;
	sums->prior_count = 0;
}

/*
 * Let the answers be about columns, where the noisy sums are those of u = f M (x - o)
 * (moment_sums.h): column i, scaled to its bounds, is (o[i] - middle + M^-1 u / f) / half.
 */
static void
set_map(RaceMomentSource *source)
{
	const RaceMoments *moments = &source->moments;
	uint32 n = source->sums.n;
	double *inverse =
		palloc_extended((Size) moments->dims * moments->dims * sizeof(double), MCXT_ALLOC_HUGE);
	double *map = new_matrix(n, 0);
	double *prior;

	memcpy(inverse, moments->transform, (Size) moments->dims * moments->dims * sizeof(double));
	race_invert_lower(inverse, moments->dims);
	memset(map, 0, (Size) n * n * sizeof(double));
	map[0] = 1;
	for (uint32 i = 0; i < moments->dims; i++)
	{
		double half = race_moments_half(moments, i);
		double *row = map + (Size) (i + 1) * n;

		row[0] =
			((moments->offset == NULL ? 0 : moments->offset[i]) - race_moments_middle(moments, i)) /
			half;
		for (uint32 j = 0; j <= i; j++)
			row[j + 1] = inverse[(Size) i * moments->dims + j] / half / RACE_TRANSFORMED;
	}
	source->sums.map = map;
	pfree(inverse);
	/* of public rows the columns of M (x - o) have mean 0 and covariance 1 */
	source->sums.prior = prior = new_matrix(n, 0);
	for (uint32 i = 0; i < n; i++)
		for (uint32 j = 0; j < n; j++)
		{
			prior[(Size) i * n + j] = map[(Size) i * n] * map[(Size) j * n];
			for (uint32 k = 1; k < n; k++)
				prior[(Size) i * n + j] += map[(Size) i * n + k] * map[(Size) j * n + k] *
					RACE_TRANSFORMED * RACE_TRANSFORMED;
		}
}

/* Look into moments with the projected sums: those of the columns of the record, or of v. */
static void
open_projected(Datum value, bool of_columns, RaceMomentSource *source)
{
	RaceSecondMoments *sums = &source->sums;
	double *work;

	open_raw(value, source);
	if (of_columns && source->moments.transform != NULL)
		set_map(source);
	sums->projected = new_matrix(sums->n, 0);
	work = new_matrix(sums->n, 1);
	race_project_psd(sums, work);
	pfree(work);
}

static void
check_no_transform(const RaceMomentSource *source)
{
	if (source->moments.transform != NULL)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("this is a question to moments without a transform"),
			 errdetail(
				 "Moments with a transform answer race_regress, race_predict, race_classify and race_posterior.")));
}

/* Look into moments for answers about columns alone. */
static void
open_columns(Datum value, RaceMomentSource *source)
{
	open_projected(value, false, source);
	if (source->moments.features > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("this is a question to moments without features"),
				 errdetail("These moments hold %u features beside their columns.",
						   source->moments.features),
				 errhint("Make moments with features => 0 as well.")));
	check_no_transform(source);
}

static uint32
place_of(const RaceMomentSource *source, int column)
{
	if (column < 1 || (uint32) column > source->moments.dims)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("there is no column %d", column),
				 errdetail("The records of these moments have %u columns.", source->moments.dims)));
	return race_moments_place(&source->moments, column - 1);
}

/* Return the column at a place, or 0 of the constant and of features. */
static int
column_at(const RaceMomentSource *source, uint32 place)
{
	const RaceMoments *moments = &source->moments;

	return place > moments->features ? place - moments->features : 0;
}

/* Return the slope of the number in v at a place, slope * x + shift; 1 of features. */
static double
slope_at(const RaceMomentSource *source, uint32 place)
{
	int column = column_at(source, place);

	return column > 0 ? 1 / race_moments_half(&source->moments, column - 1) : 1;
}

static double
shift_at(const RaceMomentSource *source, uint32 place)
{
	int column = column_at(source, place);

	return column > 0 ? -race_moments_middle(&source->moments, column - 1) /
			race_moments_half(&source->moments, column - 1) :
						0;
}

static const double *
read_vector(Datum value, uint32 n, const char *what)
{
	ArrayType *array = DatumGetArrayTypeP(value);
	const double *x = (const double *) ARR_DATA_PTR(array);

	if (ARR_NDIM(array) != 1 || ARR_HASNULL(array) || (uint32) ARR_DIMS(array)[0] != n)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be an array of %u numbers, without NULLs", what, n)));
	for (uint32 i = 0; i < n; i++)
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
PG_FUNCTION_INFO_V1(race_pca);

/* So many degrees of freedom make Student's distribution a normal one. */
#define NORMAL 1e9

/* --------------------------------------------------------------- two columns */

/* Return a row of a measured value, times `unit`, with an interval within -limit and limit. */
static Datum
estimate_datum(FunctionCallInfo fcinfo, RaceMomentEstimate measured, double unit, double limit)
{
	double confidence = PG_GETARG_FLOAT8(3);
	double reach;
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

/* Implement race_covariance(moments, column, other, confidence, standardize). */
Datum
race_covariance(PG_FUNCTION_ARGS)
{
	RaceMomentSource source;
	uint32 i;
	uint32 j;

	open_raw(PointerGetDatum(PG_GETARG_VARLENA_P(0)), &source);
	check_no_transform(&source);
	i = place_of(&source, PG_GETARG_INT32(1));
	j = place_of(&source, PG_GETARG_INT32(2));
	if (PG_GETARG_BOOL(4))
		PG_RETURN_DATUM(
			estimate_datum(fcinfo, race_estimate_correlation(&source.sums, i, j), 1, 1));
	PG_RETURN_DATUM(estimate_datum(fcinfo, race_estimate_covariance(&source.sums, i, j),
								   1 / slope_at(&source, i) / slope_at(&source, j), INFINITY));
}

/* ---------------------------------------------------------------- components */

typedef struct RaceFoundComponents
{
	RaceMomentSource source;
	double *scale;                 /* a unit of a column in that of components, over its slope */
	double *vectors;               /* [dims][dims]: vectors of length 1, in rows */
	RaceMomentEstimate *variances; /* [dims] */
} RaceFoundComponents;

static void
find_components(Datum moments, bool standardize, RaceFoundComponents *found)
{
	RaceSecondMoments *sums = &found->source.sums;
	double *work;
	uint32 dims;

	open_columns(moments, &found->source);
	dims = sums->n - 1;
	found->scale = palloc(dims * sizeof(double));
	found->vectors = palloc_extended((Size) dims * dims * sizeof(double), MCXT_ALLOC_HUGE);
	found->variances = palloc(dims * sizeof(RaceMomentEstimate));
	for (uint32 i = 0; i < dims; i++)
		found->scale[i] =
			standardize ? 1 / race_psd_deviation(sums, i + 1) : 1 / slope_at(&found->source, i + 1);
	work = palloc_extended(RACE_COMPONENTS_WORK(sums->n) * sizeof(double), MCXT_ALLOC_HUGE);
	race_components(sums, found->scale, work, found->vectors, found->variances);
	pfree(work);
}

typedef struct Components
{
	RaceFoundComponents found;
	double sum; /* sum of all variances */
	RaceResultRow row;
} Components;

static void
start_components(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	Components *components = palloc0(sizeof(Components));

	race_row_start(&components->row, fcinfo);
	find_components(PointerGetDatum(PG_GETARG_VARLENA_P(0)), PG_GETARG_BOOL(1), &components->found);
	call->max_calls = components->found.source.sums.n - 1;
	for (uint32 i = 0; i < call->max_calls; i++)
		components->sum += components->found.variances[i].value;
	call->user_fctx = components;
}

static Datum
component_datum(void *state, uint64 i)
{
	Components *components = (Components *) state;
	RaceMomentEstimate variance = components->found.variances[i];
	uint32 dims = components->found.source.sums.n - 1;

	race_row_add(&components->row, Int32GetDatum((int32) i + 1));
	race_row_add(&components->row, Float8GetDatum(variance.value));
	race_row_add(&components->row, Float8GetDatum(variance.error));
	race_row_add_if(&components->row, components->sum > 0,
					Float8GetDatum(variance.value / components->sum));
	race_row_add_numbers(&components->row, components->found.vectors + (Size) i * dims, dims);
	return race_row_datum(&components->row);
}

/* Implement race_pca(moments, standardize). */
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

typedef struct RaceRegression
{
	RaceMomentSource source;
	RaceRidge ridge; /* the constant is its first predictor */
} RaceRegression;

/* Append the places of listed columns to a list.  Raise 22023 for a column that is in it. */
static uint32
list_columns(const RaceMomentSource *source, ArrayType *columns, uint32 target, uint32 *places,
			 uint32 n)
{
	uint32 first = n;
	Datum *values;
	bool *nulls;
	int count;
	uint32 j;

	deconstruct_array(columns, INT4OID, sizeof(int32), true, TYPALIGN_INT, &values, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		uint32 place;

		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("predictors must not have a NULL")));
		place = place_of(source, DatumGetInt32(values[i]));
		for (j = first; j < n && places[j] != place; j++)
			;
		if (j < n || place == target)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg(place == target ? "column %d is the target, and cannot be a predictor" :
											  "column %d is twice among the predictors",
							DatumGetInt32(values[i]))));
		places[n++] = place;
	}
	return n;
}

/* List the places of the constant, the features, and columns. */
static uint32
list_predictors(const RaceMomentSource *source, uint32 target, ArrayType *predictors,
				uint32 *places)
{
	uint32 n = 0;

	for (uint32 place = 0; place < source->sums.n; place++)
	{
		bool is_column = column_at(source, place) > 0;

		if (place != target && !(is_column && predictors != NULL))
			places[n++] = place;
	}
	return predictors == NULL ? n : list_columns(source, predictors, target, places, n);
}

static void
fit_regression(Datum moments, int target, ArrayType *predictors, RaceRegression *regression)
{
	RaceMomentSource *source = &regression->source;
	RaceRidge *ridge = &regression->ridge;
	uint32 *places;
	double *work;

	open_projected(moments, true, source);
	places = palloc(source->sums.n * sizeof(uint32));
	ridge->target = place_of(source, target);
	ridge->n = list_predictors(source, ridge->target, predictors, places);
	ridge->predictors = places;
	ridge->coefficients = palloc(ridge->n * sizeof(double));
	ridge->covariance =
		palloc_extended((Size) ridge->n * ridge->n * sizeof(double), MCXT_ALLOC_HUGE);
	work = palloc_extended(RACE_RIDGE_WORK(ridge->n, source->sums.n) * sizeof(double),
						   MCXT_ALLOC_HUGE);
	if (!race_ridge_fit(&source->sums, ridge, work))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("moments without records cannot be fitted")));
	pfree(work);
}

static double
regression_value(const RaceRegression *regression, const double *u)
{
	const RaceMomentSource *source = &regression->source;
	const RaceRidge *ridge = &regression->ridge;
	double value = ridge->coefficients[0];
	uint32 column = column_at(source, ridge->target);

	for (uint32 i = 1; i < ridge->n; i++)
		value += ridge->coefficients[i] * u[ridge->predictors[i] - 1];
	value = (value - shift_at(source, ridge->target)) / slope_at(source, ridge->target);
	return fmin(fmax(value, source->moments.lower[column - 1]), source->moments.upper[column - 1]);
}

/* -------------------------------------------------------------- coefficients */

typedef struct Coefficients
{
	RaceRegression regression;
	RaceResultRow row;
} Coefficients;

/*
 * Return the intercept in units of the record, and its variance.  Of numbers v = slope x + shift it
 * is the constant's coefficient and those of all others times their shifts.
 */
static double
compute_intercept(const RaceRegression *regression, double *variance)
{
	const RaceRidge *ridge = &regression->ridge;
	double *weight = palloc(ridge->n * sizeof(double));
	double slope = slope_at(&regression->source, ridge->target);
	double sum = -shift_at(&regression->source, ridge->target);

	*variance = 0;
	for (uint32 i = 0; i < ridge->n; i++)
	{
		weight[i] = i == 0 ? 1 : shift_at(&regression->source, ridge->predictors[i]);
		sum += weight[i] * ridge->coefficients[i];
	}
	for (uint32 i = 0; i < ridge->n; i++)
		for (uint32 j = 0; j < ridge->n; j++)
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
	fit_regression(PointerGetDatum(PG_GETARG_VARLENA_P(0)), PG_GETARG_INT32(1),
				   PG_ARGISNULL(2) ? NULL : PG_GETARG_ARRAYTYPE_P(2), &coefficients->regression);
	call->max_calls = coefficients->regression.ridge.n;
	call->user_fctx = coefficients;
}

static Datum
coefficient_datum(void *state, uint64 i)
{
	Coefficients *coefficients = (Coefficients *) state;
	const RaceMomentSource *source = &coefficients->regression.source;
	const RaceRidge *ridge = &coefficients->regression.ridge;
	uint32 place = ridge->predictors[i];
	int column = column_at(source, place);
	double factor = slope_at(source, place) / slope_at(source, ridge->target);
	double value = ridge->coefficients[i] * factor;
	double variance = ridge->covariance[i * ridge->n + i] * factor * factor;

	if (i == 0)
		value = compute_intercept(&coefficients->regression, &variance);
	race_row_add_if(&coefficients->row, i == 0 || column > 0, Int32GetDatum(column));
	race_row_add_if(&coefficients->row, i > 0 && column == 0, Int32GetDatum(place));
	race_row_add(&coefficients->row, Float8GetDatum(value));
	race_row_add(&coefficients->row, Float8GetDatum(sqrt(Max(variance, 0))));
	return race_row_datum(&coefficients->row);
}

/* Implement race_regress(moments, target, predictors). */
Datum
race_regress(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_coefficients, coefficient_datum);
}

/*
 * race_predict: what a regression says of a record.
 *
 * A session keeps fits, so that one serves all rows of a statement.
 */

PG_FUNCTION_INFO_V1(race_predict);

/* What a fit is of */
typedef struct PredictQuestion
{
	Datum moments;
	int target;
	ArrayType *predictors; /* names of predictors, or NULL */
} PredictQuestion;

typedef struct Prediction
{
	RaceDerived derived; /* must be first */
	PredictQuestion of;  /* copies */
	RaceRegression regression;
} Prediction;

static bool
is_prediction_of(const void *object, const void *question)
{
	const PredictQuestion *a = &((const Prediction *) object)->of;
	const PredictQuestion *b = (const PredictQuestion *) question;

	if (a->target != b->target || (a->predictors == NULL) != (b->predictors == NULL))
		return false;
	return a->predictors == NULL ||
		(VARSIZE(a->predictors) == VARSIZE(b->predictors) &&
		 memcmp(a->predictors, b->predictors, VARSIZE(a->predictors)) == 0);
}

static void *
create_prediction(const RaceView *view, void *question, MemoryContext context, Size *size)
{
	MemoryContext old = MemoryContextSwitchTo(context);
	Prediction *prediction = palloc0(sizeof(Prediction));

	race_derived_init(&prediction->derived, view, context);
	prediction->of = *(const PredictQuestion *) question;
	prediction->of.moments = PointerGetDatum(PG_DETOAST_DATUM_COPY(prediction->of.moments));
	if (prediction->of.predictors != NULL)
		prediction->of.predictors =
			memcpy(palloc(VARSIZE(prediction->of.predictors)), prediction->of.predictors,
				   VARSIZE(prediction->of.predictors));
	fit_regression(prediction->of.moments, prediction->of.target, prediction->of.predictors,
				   &prediction->regression);
	MemoryContextSwitchTo(old);
	*size = VARSIZE(DatumGetPointer(prediction->of.moments)) +
		4 * pow(prediction->regression.source.sums.n, 2) * sizeof(double);
	return prediction;
}

static const RaceDerivedKind predictions = {"regression", create_prediction, is_prediction_of};

/* Implement race_predict(moments, target, x, predictors). */
Datum
race_predict(PG_FUNCTION_ARGS)
{
	FmgrInfo *flinfo = fcinfo->flinfo;
	PredictQuestion question;
	const Prediction *prediction;
	const RaceMoments *moments;
	RaceRowsEntry *rows;
	const double *numbers;
	double *record;
	double *u;
	uint32 target;
	RaceView view;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2))
		PG_RETURN_NULL();
	if (flinfo->fn_extra == NULL)
		flinfo->fn_extra = race_call_site_create(InvalidOid, flinfo->fn_mcxt);
	question.moments = PG_GETARG_DATUM(0);
	question.target = PG_GETARG_INT32(1);
	question.predictors = PG_ARGISNULL(3) ? NULL : PG_GETARG_ARRAYTYPE_P(3);
	race_sketch_view_header_any(question.moments, &view);
	prediction = race_derived_at((RaceCallSite *) flinfo->fn_extra, &predictions, &view, &question);
	moments = &prediction->regression.source.moments;
	/* x leaves out the target, which has the middle of its bounds */
	numbers = read_vector(PG_GETARG_DATUM(2), moments->dims - 1, "x");
	target = question.target - 1;
	record = palloc(moments->dims * sizeof(double));
	memcpy(record, numbers, target * sizeof(double));
	record[target] = race_moments_middle(moments, target);
	memcpy(record + target + 1, numbers + target, (moments->dims - 1 - target) * sizeof(double));
	u = palloc(moments->columns * sizeof(double));
	rows = race_moments_hold(moments);
	if (moments->transform == NULL)
		race_moments_map(moments, rows, record, u);
	else
		for (uint32 i = 0; i < moments->dims; i++)
			u[i] = (Min(Max(record[i], moments->lower[i]), moments->upper[i]) -
					race_moments_middle(moments, i)) /
				race_moments_half(moments, i);
	if (rows != NULL)
		race_moments_release(rows);
	PG_RETURN_FLOAT8(regression_value(&prediction->regression, u));
}

/*
 * Linear discriminant analysis of classes, each with its moments.
 */

typedef struct ClassRows
{
	struct varlena *moments; /* a copy */
	struct varlena
		*public_rows; /* exact moments of the same label beside private ones, a copy; or NULL */
} ClassRows;

typedef struct RaceClassMoments
{
	uint32 n;
	ClassRows *classes;
	uint32 capacity;
	Size bytes; /* bytes of all copies */
	double *x;  /* the record, of dims numbers; NULL if there is none */
	uint32 dims;
} RaceClassMoments;

typedef struct RaceClassModel
{
	RaceMomentSource *source; /* moments of each class */
	RaceDiscriminants classes;
	double *u;     /* [columns]: u of a record */
	double *z;     /* [classes] */
	double *score; /* [classes] */
} RaceClassModel;

/* --------------------------------------------------------------- transition */

static struct varlena *
copy_moments(const struct varlena *moments, MemoryContext context)
{
	return moments == NULL ?
		NULL :
		memcpy(MemoryContextAllocHuge(context, VARSIZE(moments)), moments, VARSIZE(moments));
}

static void
append_class(RaceClassMoments **list, Datum value, MemoryContext context)
{
	struct varlena *moments = PG_DETOAST_DATUM(value);
	RaceClassMoments *state = *list;

	if (state == NULL)
		*list = state = MemoryContextAllocZero(context, sizeof(RaceClassMoments));
	if (state->n == RACE_MOMENTS_CLASSES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("there can be at most %d classes with moments", RACE_MOMENTS_CLASSES)));
	if (state->n == state->capacity)
	{
		state->capacity = 2 * (state->capacity + 1);
		state->classes = state->n == 0 ?
			MemoryContextAlloc(context, state->capacity * sizeof(ClassRows)) :
			repalloc(state->classes, state->capacity * sizeof(ClassRows));
	}
	state->classes[state->n++] = (ClassRows){copy_moments(moments, context), NULL};
	state->bytes += VARSIZE(moments);
}

static bool
is_exact(const struct varlena *moments)
{
	RaceView view;

	race_sketch_view_header_any(PointerGetDatum(moments), &view);
	return view.header->noise.status == RACE_STATUS_EXACT;
}

/* Pair private and exact moments of one label: the exact ones are public rows, not a class. */
static bool
pair_with_public(FunctionCallInfo fcinfo, RaceScores *scores, Datum value, MemoryContext context)
{
	struct varlena *moments = PG_DETOAST_DATUM(value);
	bool exact = is_exact(moments);
	Oid collation = OidIsValid(PG_GET_COLLATION()) ? PG_GET_COLLATION() : DEFAULT_COLLATION_OID;

	for (int i = 0; i < scores->n; i++)
	{
		ClassRows *rows = &scores->moments->classes[i];

		if (rows->public_rows != NULL || is_exact(rows->moments) == exact ||
			DatumGetInt32(FunctionCall2Coll(race_scores_comparison(scores), collation,
											scores->list[i].label, PG_GETARG_DATUM(1))) != 0)
			continue;
		moments = copy_moments(moments, context);
		rows->public_rows = exact ? moments : rows->moments;
		rows->moments = exact ? rows->moments : moments;
		scores->moments->bytes += VARSIZE(moments);
		return true;
	}
	return false;
}

/* Set the record, which is the same for all classes. */
static void
set_record(FunctionCallInfo fcinfo, RaceClassMoments *state, uint32 dims, MemoryContext context)
{
	Size size = dims * sizeof(double);
	double *x = race_vector_new(race_argument_type(fcinfo->flinfo, 3), PG_GETARG_DATUM(3), dims);

	if (state->x == NULL)
	{
		state->x = MemoryContextAlloc(context, size);
		state->dims = dims;
		memcpy(state->x, x, size);
	}
	else if (state->dims != dims || memcmp(state->x, x, size) != 0)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("all classes must be asked about the same x"),
			 errhint(
				 "To ask about several records, ask in a subquery for each, or GROUP BY the record.")));
	pfree(x);
}

void
race_class_moments_add(FunctionCallInfo fcinfo, RaceScores *scores, const RaceView *header,
					   Datum moments, MemoryContext context)
{
	RaceScore score = {0};

	if (scores->n == 0 || !pair_with_public(fcinfo, scores, moments, context))
	{
		append_class(&scores->moments, moments, context);
		race_scores_append(scores, score, PG_GETARG_DATUM(1), context);
	}
	set_record(fcinfo, scores->moments, header->params->dims, context);
}

/* -------------------------------------------------------------------- model */

/*
 * Add the moments of public rows to the sums of each class.  Products of two numbers of a record
 * vary by about norm^2 / columns.  The noise of n records has the variance other^2, as if each of
 * them varied by other^2 / n more: by so much more counts a public record, which has no noise.  n
 * is the mean of all classes.
 */
static void
add_public_rows(const RaceClassMoments *state, RaceMomentSource *source, RaceSecondMoments *sums)
{
	double records = 0;
	double noise = 0;

	for (uint32 i = 0; i < state->n; i++)
	{
		records += fmax(sums[i].count, 0);
		noise =
			fmax(noise, sums[i].other * sums->n / (source->moments.norm * source->moments.norm));
	}
	for (uint32 i = 0; i < state->n; i++)
	{
		RaceMomentSource rows;
		double factor = 1 + noise * noise * state->n / fmax(records, 1);

		if (state->classes[i].public_rows == NULL)
			continue;
		open_raw(PointerGetDatum(state->classes[i].public_rows), &rows);
		race_params_check_same(source->moments.params, rows.moments.params);
		sums[i].count += rows.sums.count;
		for (Size k = 0; k < (Size) sums->n * sums->n; k++)
		{
			sums[i].m[k] += factor * rows.sums.m[k];
			sums[i].projected[k] += factor * rows.sums.m[k];
		}
	}
}

static void
make_class_model(const RaceClassMoments *state, RaceClassModel *model)
{
	uint32 n = state->n;
	RaceSecondMoments *sums = palloc(n * sizeof(RaceSecondMoments));
	double *space;
	double *work;
	uint32 dims;

	model->source = palloc(n * sizeof(RaceMomentSource));
	for (uint32 i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		open_projected(PointerGetDatum(state->classes[i].moments), false, &model->source[i]);
		race_params_check_same(model->source[0].moments.params, model->source[i].moments.params);
		sums[i] = model->source[i].sums;
	}
	add_public_rows(state, model->source, sums);
	dims = sums[0].n - 1;
	space = palloc_extended(RACE_CLASSES_SPACE(n, dims) * sizeof(double), MCXT_ALLOC_HUGE);
	work = palloc_extended(RACE_CLASSES_WORK(n, dims) * sizeof(double), MCXT_ALLOC_HUGE);
	if (!race_classes_fit(sums, n, space, work, &model->classes))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the columns do not vary within classes"),
				 errdetail("The covariance within classes has no inverse.")));
	pfree(work);
	pfree(sums);
	model->u = palloc(model->source[0].moments.columns * sizeof(double));
	model->z = palloc(n * sizeof(double));
	model->score = palloc(n * sizeof(double));
}

RaceClassModel *
race_class_model_create(int n, const Datum *moments, MemoryContext context)
{
	MemoryContext old = MemoryContextSwitchTo(context);
	RaceClassModel *model = palloc(sizeof(RaceClassModel));
	RaceClassMoments *state = NULL;

	for (int i = 0; i < n; i++)
		append_class(&state, moments[i], context);
	make_class_model(state, model);
	MemoryContextSwitchTo(old);
	return model;
}

/* Score x, a record of the model, by all classes. */
static void
score_record(RaceClassModel *model, const double *x, RaceScores *scores)
{
	const RaceMoments *moments = &model->source[0].moments;
	RaceRowsEntry *rows = race_moments_hold(moments);
	double highest = -INFINITY;

	race_moments_map(moments, rows, x, model->u);
	if (rows != NULL)
		race_moments_release(rows);
	race_classes_densities(&model->classes, model->u, model->z, model->score);
	for (int i = 0; i < scores->n; i++)
	{
		scores->list[i].count = model->classes.count[i];
		if (scores->prior == RACE_PRIOR_COUNTS)
			model->score[i] += log(Max(scores->list[i].count, 1));
		highest = Max(highest, model->score[i]);
	}
	for (int i = 0; i < scores->n; i++)
		scores->list[i].score = exp(model->score[i] - highest);
}

void
race_class_model_ask(RaceClassModel *model, Oid type, Datum record, RaceScores *scores)
{
	double *x = race_vector_new(type, record, model->source[0].moments.dims);

	score_record(model, x, scores);
	pfree(x);
}

/*
 * Transforms for race_params from moments: private where these are, so that no public rows
 * are needed.
 */

PG_FUNCTION_INFO_V1(race_transform);

/* M, whose rows are as many as columns that were not left out */
typedef struct RaceMap
{
	uint32 dims;
	uint32 outputs;
	double *matrix; /* [outputs][dims] */
} RaceMap;

static void
start_map(uint32 dims, uint32 outputs, RaceMap *map)
{
	map->dims = dims;
	map->outputs = outputs;
	map->matrix = palloc0((Size) dims * outputs * sizeof(double));
}

/* Return an array of numbers, in rows unless `rows` is 0. */
static Datum
array_of(const double *x, int rows, int columns)
{
	int n = Max(rows, 1) * columns;
	int dims[2] = {rows, columns};
	int lower[2] = {1, 1};
	Datum *numbers = palloc(n * sizeof(Datum));

	for (int i = 0; i < n; i++)
		numbers[i] = Float8GetDatum(x[i]);
	return PointerGetDatum(construct_md_array(numbers, NULL, rows == 0 ? 1 : 2,
											  rows == 0 ? dims + 1 : dims, lower, FLOAT8OID,
											  sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

/* Return a race_transform, the declared result type. */
static Datum
transform_datum(FunctionCallInfo fcinfo, const RaceMap *map, const double *offset)
{
	RaceResultRow row;

	race_row_start(&row, fcinfo);
	race_row_add(&row, array_of(map->matrix, map->outputs, map->dims));
	race_row_add(&row, array_of(offset, 0, map->dims));
	return race_row_datum(&row);
}

/* Multiply columns of the matrix by the slopes of columns of a record. */
static void
apply_slopes(const RaceMomentSource *source, RaceMap *map)
{
	for (uint32 i = 0; i < map->outputs; i++)
		for (uint32 j = 0; j < map->dims; j++)
			map->matrix[(Size) i * map->dims + j] *= slope_at(source, j + 1);
}

/* Return the mean of the records in their units, from that of scaled columns. */
static double *
mean_of_records(const RaceMomentSource *source, const double *scaled)
{
	uint32 dims = source->sums.n - 1;
	double *mean = palloc(dims * sizeof(double));

	for (uint32 i = 0; i < dims; i++)
		mean[i] = (scaled[i] - shift_at(source, i + 1)) / slope_at(source, i + 1);
	return mean;
}

/* ---------------------------------------------------------------- whitening */

/*
 * Let o be the mean of the records, and C = L L' their covariance.  With M = L^-1, M (x - o) has
 * mean 0 and covariance 1.  C is estimated from standard deviations and a shrunken correlation
 * matrix (factor.h).  A column that is constant, or a linear combination of columns before it, is
 * left out: M has no row for it.
 */
typedef struct Spread
{
	uint32 dims;
	const double *products; /* [dims][dims]: products around the mean */
	double freedom;
	uint32 n;     /* columns that are kept */
	uint32 *kept; /* [n]: the columns that are kept */
} Spread;

static double
deviation_of(const Spread *spread, uint32 column)
{
	return sqrt(spread->products[(Size) column * spread->dims + column] / spread->freedom);
}

/* Return the correlations of the columns that are kept, [n][n], palloc'd. */
static double *
compute_correlations(const Spread *spread)
{
	double *r = palloc((Size) spread->n * spread->n * sizeof(double));

	for (uint32 i = 0; i < spread->n; i++)
		for (uint32 j = 0; j < spread->n; j++)
		{
			uint32 a = spread->kept[i];
			uint32 b = spread->kept[j];

			r[(Size) i * spread->n + j] = i == j ? 1 :
												   spread->products[(Size) a * spread->dims + b] /
					spread->freedom / deviation_of(spread, a) / deviation_of(spread, b);
		}
	return r;
}

/* Keep columns that vary, and are no linear combinations of others.  Report the rest. */
static void
keep_columns(Spread *spread, double *work)
{
	bool *independent = palloc(spread->dims * sizeof(bool));
	uint32 varying;
	uint32 n = 0;

	spread->n = 0;
	for (uint32 i = 0; i < spread->dims; i++)
		/* exact sums leave rounding of a constant column */
		if (spread->products[(Size) i * spread->dims + i] > RACE_LEAST_SHARE * spread->freedom)
			spread->kept[spread->n++] = i;
	varying = spread->n;
	race_independent(compute_correlations(spread), varying, spread->freedom, work, independent);
	for (uint32 i = 0; i < varying; i++)
		if (independent[i])
			spread->kept[n++] = spread->kept[i];
	spread->n = n;
	if (n == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("race_transform finds no column that is not constant")));
	if (n < spread->dims)
		ereport(NOTICE,
				(errmsg("race_transform leaves columns out"),
				 errdetail("Constant: %u. Linear combinations of columns before them: %u.",
						   spread->dims - varying, varying - n)));
}

static Datum
whitening_datum(FunctionCallInfo fcinfo)
{
	RaceMomentSource source;
	RaceMap map;
	Spread spread;
	double *mean;
	double *products;
	double *work;
	double *r;

	open_columns(PointerGetDatum(PG_GETARG_VARLENA_P(0)), &source);
	spread.dims = source.sums.n - 1;
	mean = palloc(spread.dims * sizeof(double));
	spread.products = products = palloc0((Size) spread.dims * spread.dims * sizeof(double));
	spread.freedom = race_psd_scatter(&source.sums, mean, products) - 1;
	spread.kept = palloc(spread.dims * sizeof(uint32));
	if (spread.freedom < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("race_transform needs two records or more")));
	work = palloc(RACE_LINEAR_WORK(spread.dims) * sizeof(double));
	keep_columns(&spread, work);
	r = compute_correlations(&spread);
	race_shrink(r, spread.n, spread.freedom, work);
	if (!race_inverse_root(r, spread.n))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("race_transform finds no transform: the covariance cannot be inverted")));
	start_map(spread.dims, spread.n, &map);
	for (uint32 i = 0; i < spread.n; i++)
		for (uint32 j = 0; j <= i; j++)
			map.matrix[(Size) i * spread.dims + spread.kept[j]] =
				r[(Size) i * spread.n + j] / deviation_of(&spread, spread.kept[j]);
	apply_slopes(&source, &map);
	return transform_datum(fcinfo, &map, mean_of_records(&source, mean));
}

/* ------------------------------------------------------- principal components */

static Datum
components_datum(FunctionCallInfo fcinfo, int components)
{
	RaceFoundComponents found;
	RaceMap map;
	double *mean;
	uint32 dims;

	find_components(PointerGetDatum(PG_GETARG_VARLENA_P(0)), PG_GETARG_BOOL(2), &found);
	dims = found.source.sums.n - 1;
	if (components < 1 || (uint32) components > dims)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("components must be between 1 and %u, the number of columns", dims)));
	start_map(dims, components, &map);
	for (Size i = 0; i < (Size) components * dims; i++)
		map.matrix[i] = found.vectors[i] * found.scale[i % dims];
	apply_slopes(&found.source, &map);
	mean = palloc(dims * sizeof(double));
	(void) race_psd_scatter(&found.source.sums, mean, palloc0((Size) dims * dims * sizeof(double)));
	return transform_datum(fcinfo, &map, mean_of_records(&found.source, mean));
}

/* Implement race_transform(moments, components, standardize). */
Datum
race_transform(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0) || PG_ARGISNULL(2))
		PG_RETURN_NULL();
	PG_RETURN_DATUM(PG_ARGISNULL(1) ? whitening_datum(fcinfo) :
									  components_datum(fcinfo, PG_GETARG_INT32(1)));
}

/*
 * race_classify and race_posterior of moments of classes.
 *
 * The score of a class is its density at x, normal in Fisher's directions with a covariance of its
 * own there.  A call site keeps the model of the classes that it saw last.
 */

typedef struct LdaSite
{
	MemoryContext space;    /* memory of all fields below; NULL without a model */
	RaceClassMoments state; /* copies of the moments that the model is of */
	RaceClassModel model;
	MemoryContext context;
} LdaSite;

static bool
same_moments(const struct varlena *a, const struct varlena *b)
{
	return a == NULL || b == NULL ? a == b :
									VARSIZE(a) == VARSIZE(b) && memcmp(a, b, VARSIZE(a)) == 0;
}

static bool
is_model_of(const LdaSite *site, const RaceClassMoments *state)
{
	if (site->space == NULL || site->state.n != state->n || site->state.bytes != state->bytes)
		return false;
	for (uint32 i = 0; i < state->n; i++)
		if (!same_moments(site->state.classes[i].moments, state->classes[i].moments) ||
			!same_moments(site->state.classes[i].public_rows, state->classes[i].public_rows))
			return false;
	return true;
}

static void
copy_state(const RaceClassMoments *state, RaceClassMoments *copy)
{
	*copy = *state;
	copy->x = NULL;
	copy->classes = palloc(state->n * sizeof(ClassRows));
	for (uint32 i = 0; i < state->n; i++)
		copy->classes[i] =
			(ClassRows){copy_moments(state->classes[i].moments, CurrentMemoryContext),
						copy_moments(state->classes[i].public_rows, CurrentMemoryContext)};
}

static void
make_model(LdaSite *site, const RaceClassMoments *state)
{
	MemoryContext space = site->space;
	MemoryContext old;

	site->space = NULL;
	if (space != NULL)
		MemoryContextDelete(space);
	space = AllocSetContextCreate(site->context, "classes with moments", ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(space);
	copy_state(state, &site->state);
	make_class_model(&site->state, &site->model);
	MemoryContextSwitchTo(old);
	site->space = space; /* an error before leaves no model */
}

void
race_class_moments_score(FmgrInfo *flinfo, RaceScores *scores)
{
	const RaceClassMoments *state = scores->moments;
	LdaSite *site = (LdaSite *) flinfo->fn_extra;

	if (site == NULL)
	{
		flinfo->fn_extra = site = MemoryContextAllocZero(flinfo->fn_mcxt, sizeof(LdaSite));
		site->context = flinfo->fn_mcxt;
	}
	if (!is_model_of(site, state))
		make_model(site, state);
	score_record(&site->model, state->x, scores);
}
