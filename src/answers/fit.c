/*
 * fit.c
 *		race_fit: models of sketches
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "../core/core.h"
#include "fit.h"
#include "fit_flow.h"
#include "row_estimator.h"
#include "table_model.h"

/*
 * race_fit, the function and the aggregate, and race_points.
 */

PG_FUNCTION_INFO_V1(race_fit_points);
PG_FUNCTION_INFO_V1(race_fit_step);
PG_FUNCTION_INFO_V1(race_fit_final);
PG_FUNCTION_INFO_V1(race_points);

/* --------------------------------------------------------- race_fit in a box */

/* Read bounds from an argument, which may be NULL. */
static const double *
read_bounds(FunctionCallInfo fcinfo, int arg, const RaceParams *params)
{
	return PG_ARGISNULL(arg) ? NULL :
		race_vector_new(FLOAT8ARRAYOID, PG_GETARG_DATUM(arg), params->dims);
}

static void
read_request(FunctionCallInfo fcinfo, const RaceParams *params, RaceFitRequest *request)
{
	const double *lower;
	const double *upper;

	memset(request, 0, sizeof(RaceFitRequest));
	if (!race_model_is_of_vectors(params))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("only a kernel of vectors by itself can be fitted within bounds"),
				 errdetail("The parameters are %s.", race_params_brief(params)),
				 errhint("Use the aggregate: SELECT race_fit(sketch, x) over records that there might be.")));
	lower = read_bounds(fcinfo, 3, params);
	upper = read_bounds(fcinfo, 4, params);
	if (!race_fit_bounds(params, lower, upper, request))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("race_fit needs bounds"),
				 errhint("Give lower and upper, or parameters that have them. They must be public: do not take them from the data.")));
	race_fit_check_box(params, request);
	if (!PG_ARGISNULL(1))
	{
		int			points = PG_GETARG_INT32(1);

		if (points < 1 || points > RACE_MAX_DENSE_POINTS)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("points must be between 1 and %d", RACE_MAX_DENSE_POINTS)));
		request->points = points;
	}
	request->seed = PG_GETARG_INT64(2);
}

/* race_fit(sketch, points, seed, lower, upper) */
Datum
race_fit_points(PG_FUNCTION_ARGS)
{
	RaceView	view;
	RaceFitRequest request;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(2))
		PG_RETURN_NULL();
	race_sketch_view(PG_GETARG_DATUM(0), &view);
	race_check_askable(&view.header->noise);
	read_request(fcinfo, view.params, &request);
	PG_RETURN_POINTER(race_fit_box(&view, &request));
}

/* ------------------------------------------------ race_fit(sketch, x), aggregate */

typedef struct Candidates
{
	Datum		sketch;			/* of the first row, stored */
	uint64		identity;		/* and which one the last row had */
	RaceRecords *records;
	bool		has_texts;		/* are they not vectors by themselves? */
	char	  **texts;			/* then these are theirs, */
	Size		text_size;		/* so long all together */
	FmgrInfo	output;			/* of their type */
} Candidates;

static void
start_candidates(FunctionCallInfo fcinfo, Candidates *candidates, Datum sketch)
{
	Oid			output;
	bool		is_varlena;
	RaceView	view;

	/* to store one in memory counts its last records, which makes it another content */
	candidates->sketch = PointerGetDatum(PG_DETOAST_DATUM_COPY(sketch));
	race_sketch_view_header(sketch, &view);
	candidates->identity = view.identity;
	race_sketch_view(candidates->sketch, &view);
	race_check_askable(&view.header->noise);
	candidates->records = race_records_create(view.params, CurrentMemoryContext);
	if (race_model_is_of_vectors(view.params))
		return;
	getTypeOutputInfo(race_argument_type(fcinfo->flinfo, 2), &output, &is_varlena);
	fmgr_info_cxt(output, &candidates->output, CurrentMemoryContext);
	candidates->has_texts = true;
}

static void
reserve(Candidates *candidates)
{
	RaceRecords *records = candidates->records;
	uint32		capacity = Min(Max(2 * records->capacity, 64), RACE_MAX_CANDIDATES);

	if (records->n < records->capacity)
		return;
	if (records->n == RACE_MAX_CANDIDATES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a model can have at most %d candidates", RACE_MAX_CANDIDATES)));
	race_records_reserve(records, capacity);
	if (!candidates->has_texts)
		return;
	candidates->texts = candidates->texts == NULL ?
		MemoryContextAlloc(records->context, capacity * sizeof(char *)) :
		repalloc(candidates->texts, capacity * sizeof(char *));
}

/* Put the elements of sets in order, as the kernel compares them. */
static void
normalize_last(RaceRecords *records)
{
	int			i;

	for (i = 0; i < records->n_parts; i++)
	{
		RaceRecordsPart *part = &records->parts[i];
		size_t		n;

		if (part->kind != RACE_RECORD_SET)
			continue;
		n = part->starts[records->n + 1] - part->starts[records->n];
		race_normalize_set(part->elements + part->starts[records->n], &n);
		part->starts[records->n + 1] = part->starts[records->n] + n;
	}
}

/* Any of the texts may be in the model, so that all together are bounded like it. */
static void
add_text(Candidates *candidates, Datum x)
{
	char	   *text = OutputFunctionCall(&candidates->output, x);

	candidates->text_size += strlen(text) + 1;
	race_fit_check_size(candidates->text_size);
	candidates->texts[candidates->records->n] = MemoryContextStrdup(candidates->records->context,
																	text);
}

/* In the context of one row: what is read leaves copies behind. */
static void
add_candidate(FunctionCallInfo fcinfo, Candidates *candidates)
{
	RaceCallSite *site = race_call_site(fcinfo, 2);
	Datum		x = PG_GETARG_DATUM(2);
	RaceView	view;

	race_sketch_view_packed(candidates->sketch, &view);
	reserve(candidates);
	race_record_read(&site->reader, view.params, x, candidates->records, false);
	normalize_last(candidates->records);
	if (candidates->has_texts)
		add_text(candidates, x);
	candidates->records->n++;
}

/*
 * Is it the sketch of the first row?  From PostgreSQL 16 on it may be in memory, and a
 * subquery may make the same one again for each row: then contents are compared.
 */
static bool
is_same(Candidates *candidates, const RaceView *first, Datum sketch, const RaceView *view)
{
	Pointer		stored;
	RaceView	content;
	bool		same;

	if (memcmp(first->header, view->header, sizeof(RaceHeader)) != 0)
		return false;
	if (view->identity == candidates->identity)
		return true;
	stored = (Pointer) PG_DETOAST_DATUM_COPY(sketch);
	race_sketch_view(PointerGetDatum(stored), &content);
	same = content.identity == first->identity;
	pfree(stored);
	race_sketch_view_header(sketch, &content);
	candidates->identity = content.identity;
	return same;
}

/* Every row must have the same sketch. */
static void
check_same_sketch(Candidates *candidates, Datum sketch)
{
	RaceView	first;
	RaceView	view;

	race_sketch_view_packed(candidates->sketch, &first);
	race_sketch_view_header(sketch, &view);
	race_params_check_same(first.params, view.params);
	if (!is_same(candidates, &first, sketch, &view))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("race_fit needs the same sketch in every row")));
}

/* Rows without a sketch or without a record are left out. */
Datum
race_fit_step(PG_FUNCTION_ARGS)
{
	MemoryContext context = race_aggregate_context(fcinfo, "race_fit");
	MemoryContext old;
	Candidates *candidates = PG_ARGISNULL(0) ? NULL : (Candidates *) PG_GETARG_POINTER(0);

	if (PG_ARGISNULL(1) || PG_ARGISNULL(2))
	{
		if (candidates == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(candidates);
	}
	if (candidates == NULL)
	{
		old = MemoryContextSwitchTo(context);
		candidates = palloc0(sizeof(Candidates));
		start_candidates(fcinfo, candidates, PG_GETARG_DATUM(1));
		MemoryContextSwitchTo(old);
	}
	else
		check_same_sketch(candidates, PG_GETARG_DATUM(1));
	add_candidate(fcinfo, candidates);
	PG_RETURN_POINTER(candidates);
}

Datum
race_fit_final(PG_FUNCTION_ARGS)
{
	Candidates *candidates = PG_ARGISNULL(0) ? NULL : (Candidates *) PG_GETARG_POINTER(0);
	RaceView	view;

	if (candidates == NULL)
		PG_RETURN_NULL();
	race_sketch_view(candidates->sketch, &view);
	PG_RETURN_POINTER(race_fit_records(&view, candidates->records, candidates->texts));
}

/* ------------------------------------------------------------- race_points */

typedef struct Points
{
	RaceView	view;
	RaceResultRow row;
} Points;

static Datum
point_datum(void *state, uint64 i)
{
	Points	   *points = (Points *) state;
	const RaceModel *model = points->view.model;
	const RaceParams *params = points->view.params;

	if (race_model_is_of_vectors(params))
	{
		RaceColumn	column;

		race_model_columns(model, params, &column);
		race_row_add_numbers(&points->row, column.numbers + i * params->dims, params->dims);
		race_row_add_null(&points->row);
	}
	else
	{
		Size		length;
		const char *text = race_model_text(model, params, i, &length);

		race_row_add_null(&points->row);
		race_row_add(&points->row, PointerGetDatum(cstring_to_text_with_len(text, length)));
	}
	race_row_add(&points->row, Float8GetDatum(race_model_weight(model, i)));
	return race_row_datum(&points->row);
}

static void
start_points(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	Points	   *points = palloc(sizeof(Points));

	race_row_start(&points->row, fcinfo);
	race_sketch_view(PointerGetDatum(PG_GETARG_VARLENA_P(0)), &points->view);
	race_check_fitted(&points->view);
	race_check_model(&points->view);
	call->max_calls = points->view.model->points;
	call->user_fctx = points;
}

/* race_points(sketch) */
Datum
race_points(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_points, point_datum);
}

/*
 * Fitting a model to a sketch.
 *
 * The points are hashed.  The sketch answers at them, their Gram matrix is computed, and
 * the weights are found (solver.h).  Points of vectors are then moved, in rounds, and flow
 * (fit_flow.h).  Of many candidates that were given some are chosen (fit.h).  In the end weights
 * are found from each half of the rows alone.  The residuals of the other half, which has not
 * been seen, tell how much a model misses: the mean of their squares, less the variance that
 * noise gives them.
 *
 * Points that move suit what noise and sampling there is in the rows, which then do not show it.
 * So each half of the rows has moved points of its own, and the other half has not seen them.  Both
 * have seen the mean and the covariance of its points alone, a few numbers of so many rows: if each
 * half finds its own, correlations are off by half as much again.
 * Only where rows are few do all move the same points, as halves of them would know too little: on a
 * normal distribution in 5 dimensions 32 rows had errors of 24e-4, and with halves 34e-4.
 */

#define USUAL_POINTS	2000	/* of a grid, of few rows, or of each half of the rows */
#define USUAL_IN_LINE	1000	/* in one dimension, or of a normal distribution */
#define TEST_POINTS		512		/* that residuals are looked at, or fewer: times rows, */
#define TEST_WORK		((Size) 64 * 1024 * 1024)	/* so much at most */

/* Streams of random numbers, besides those of the rounds */
#define STREAM_START	100
#define STREAM_TEST		101
#define STREAM_FLOW		102
#define SEED_OF_SECOND	1000003 /* what the second half of the rows adds to a seed */

/* Points begin to flow so near to those that were found, in parts of the box */
#define FLOW_JITTER		0.01

/* --------------------------------------------------------- goodness of fit */

#define MOST_TOGETHER	((Size) 4 * 1024 * 1024)	/* buckets that are in memory at once */

/*
 * Points at random miss more where records are than where they were tested, which is around
 * other points of theirs: about twice the square.
 */
#define UNSEEN			2

/* Means over some records */
typedef struct Residuals
{
	double		square;			/* of what the rows of a half say beyond the model, */
	double		noise;			/* and of what noise alone has in it */
	double		variance;		/* of the residual of all rows, */
	double		answer;			/* square of what the model answers, */
	double		disagreement;	/* and of how its halves differ in that */
} Residuals;

static void
add_residuals(const RaceView *view, RaceReady  *ready, const RaceColumn *record,
			  const uint32 *buckets, Residuals *sum)
{
	uint32		rows = view->params->rows;
	uint32		half = race_model_first_rows(view->params);
	double		noise = view->header->noise.counter_variance;
	double		mean = race_answers_mean(view, ready, buckets, 0, rows);
	double		first = race_answers_mean(view, ready, buckets, 0, half);
	double		second = half == rows ? first :
		race_answers_mean(view, ready, buckets, half, rows);

	sum->square += (first * first + second * second) / 2;
	sum->noise += (noise / half + noise / Max(rows - half, 1)) / 2;
	sum->variance += race_answers_variance(view, ready, buckets, 0, rows, mean, noise / rows);
	sum->answer += pow(race_ready_sum(ready, record), 2);
	sum->disagreement += pow(race_ready_disagreement(ready, record), 2);
}

static Residuals
measure_residuals(const RaceFitWork *fit, const RaceModel *model, Size size,
				  const RaceRecords *tests)
{
	uint32		rows = fit->view->params->rows;
	Size		line = race_gram_line(rows);
	uint32		together = Max(Min(MOST_TOGETHER / line, RACE_RECORDS_TOGETHER), 1);
	uint32	   *buckets = palloc_extended(together * line * sizeof(uint32),
										  MCXT_ALLOC_HUGE);
	RaceView	view = *fit->view;
	Residuals	sum = {0, 0, 0, 0, 0};
	RaceColumn	record[RACE_MAX_PARTS];
	RaceReady  *ready;
	uint32		from;
	uint32		i;

	view.model = model;
	view.model_size = size;
	ready = race_ready_create(&view, CurrentMemoryContext);
	for (from = 0; from < tests->n; from += together)
	{
		uint32		n = Min(tests->n - from, together);

		race_work_hash(fit, tests, from, n, rows, buckets);
		for (i = 0; i < n; i++)
		{
			CHECK_FOR_INTERRUPTS();
			race_records_columns(tests, from + i, record);
			add_residuals(&view, ready, record, buckets + i * line, &sum);
		}
	}
	pfree(buckets);
	sum.square /= tests->n;
	sum.noise /= tests->n;
	sum.variance /= tests->n;
	sum.answer /= tests->n;
	sum.disagreement /= tests->n;
	return sum;
}

/*
 * May the model not be asked?  Points that were given, or a grid, were not moved.  Without a second
 * half nothing tests it.
 */
static bool
is_untested(const RaceFitWork *fit)
{
	return race_model_first_rows(fit->view->params) >= fit->rows ||
		fit->rows < (fit->complete ? 2 : race_model_least_rows(fit->view->params));
}

/*
 * What share of an answer the model misses.  A half misses what points cannot say, and what
 * noise and sampling have moved.  The latter is independent in both halves: half of the
 * square by which they differ; their mean has half of it.  Where the model answers nothing,
 * it may miss all.
 *
 * What sampling leaves in the residuals counts as missed.  To take it off, as the variance of
 * blocks says it, made some errors a tenth less, but a release of pulsar in six held 64 % of sums:
 * that variance is not known well where all answers vary together.
 */
static double
misfit_of(const RaceFitWork *fit, const Residuals *residuals)
{
	double		moved = residuals->disagreement / 2;
	double		unsaid = Max(residuals->square - residuals->noise - moved, 0);
	double		missed = (fit->complete ? 1 : UNSEEN) * unsaid + moved / 2;

	if (!fit->complete && race_rows_hide_errors(fit->view->params))
		missed += RACE_HIDDEN_VARIANCE * residuals->variance;
	return missed == 0 ? 0 : Min(sqrt(missed / residuals->answer), RACE_UNTESTED / 2);
}

/* The middle of many squares of normal variables is this part of their variance. */
#define MIDDLE_OF_SQUARES	0.4549

/* What noise leaves of a kernel sum, on average over the box */
static double
noise_of_grid(const RaceFitWork *fit)
{
	const RaceParams *params = fit->view->params;
	RaceGridChoice as_it_is = {0, race_grid_levels(params)};

	return race_grid_noise_variance(params, as_it_is, RACE_GRID_ANYWHERE,
									fit->view->header->noise.counter_variance);
}

/*
 * A grid has no second half to test a model with.  But its noise is known.  The middle square of what it
 * says beyond the model, at all points, is what noise leaves where the model is right, if it is less.
 * What the squares have on average beyond the noise is missed.
 *
 * In more than one dimension the points are too coarse for what a grid says of records on a
 * line, and the grid by itself is good: its model is not asked.
 */
static void
judge_by_noise(const RaceFitWork *fit, RaceModel *model)
{
	uint32		n = fit->points->n;
	double	   *squares = fit->space;
	double		noise = noise_of_grid(fit);
	double		square = 0;
	double		answer = 0;
	uint32		i;

	race_gram_multiply(&fit->gram, fit->weights, squares);
	for (i = 0; i < n; i++)
	{
		answer += squares[i] * squares[i] / n;
		squares[i] = pow(fit->answers[i] - squares[i], 2);
		square += squares[i] / n;
	}
	race_sort_descending(squares, n);
	model->residual_variance = Min(squares[n / 2] / MIDDLE_OF_SQUARES, noise);
	model->misfit = !fit->complete || fit->view->params->dims > 1 ? RACE_UNTESTED :
		square <= noise ? 0 : Min(sqrt((square - noise) / answer), RACE_UNTESTED / 2);
}

/* What rows say that the model has not seen */
static void
judge_by_rows(const RaceFitWork *fit, const RaceRecords *tests, RaceModel *model, Size size)
{
	Residuals	residuals = measure_residuals(fit, model, size, tests);

	/* a single row shows no variance */
	model->residual_variance = isfinite(residuals.variance) ? residuals.variance :
		residuals.square;
	model->misfit = is_untested(fit) ? RACE_UNTESTED : misfit_of(fit, &residuals);
}

/* ------------------------------------------------------------ results */

/* Make the model, and find out how much it misses. */
RaceSketchDatum *
race_fit_finish(const RaceFitWork *fit, const RaceRecords *tests, char *const *texts)
{
	Size		size;
	RaceModel  *model = race_fit_model(fit, texts, &size);

	if (fit->gridded != NULL)
		judge_by_noise(fit, model);
	else
		judge_by_rows(fit, tests, model, size);
	model->residual_variance = Min(model->residual_variance, RACE_MAX_RESIDUAL_VARIANCE);
	return race_flat_create(fit->view, model, size);
}

/* Leave the memory context of a fit, and take the result along. */
RaceSketchDatum *
race_fit_leave(MemoryContext context, MemoryContext old, RaceSketchDatum *flat)
{
	RaceSketchDatum *result;

	MemoryContextSwitchTo(old);
	result = (RaceSketchDatum *) palloc(VARSIZE(flat));
	memcpy(result, flat, VARSIZE(flat));
	MemoryContextDelete(context);
	return result;
}

/* ------------------------------------------------------------------ vectors */

static bool
all_finite(const double *x, uint32 n)
{
	uint32		i;

	for (i = 0; x != NULL && i < n; i++)
		if (!isfinite(x[i]))
			return false;
	return x != NULL;
}

/* The records of a surrogate loss are clipped to its radius: a bound of those without one. */
static const double *
radius_as_bound(const RaceParams *params, int sign)
{
	double	   *bound = palloc(params->dims * sizeof(double));
	uint32		i;

	for (i = 0; i < params->dims; i++)
		bound[i] = sign * params->radius;
	return bound;
}

bool
race_fit_bounds(const RaceParams *params, const double *lower, const double *upper,
				RaceFitRequest *request)
{
	request->lower = lower != NULL ? lower : race_array(params, RACE_ARRAY_LOWER);
	request->upper = upper != NULL ? upper : race_array(params, RACE_ARRAY_UPPER);
	if (race_is_surrogate(params) && !all_finite(request->lower, params->dims))
		request->lower = radius_as_bound(params, -1);
	if (race_is_surrogate(params) && !all_finite(request->upper, params->dims))
		request->upper = radius_as_bound(params, 1);
	return race_model_is_of_vectors(params) &&
		all_finite(request->lower, params->dims) && all_finite(request->upper, params->dims);
}

void
race_fit_check_box(const RaceParams *params, const RaceFitRequest *request)
{
	uint32		i;

	for (i = 0; i < params->dims; i++)
		if (request->lower[i] > request->upper[i] ||
			request->upper[i] - request->lower[i] > RACE_MAX_BOUND)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("a lower bound is above the upper one, or too far from it")));
}

/* Place a grid of at most n points, if they may be one.  Returns whether they are. */
static bool
place_grid(RaceFitWork *fit, const RaceBox *box, uint32 n)
{
	const RaceParams *params = fit->view->params;
	const double *factors = race_array(params, RACE_ARRAY_BANDWIDTHS);
	double	   *widths = palloc(params->dims * sizeof(double));
	Size		sides[RACE_MODEL_GRID_DIMS];
	uint32		i;

	for (i = 0; i < params->dims; i++)
		widths[i] = params->bandwidth * (factors == NULL ? 1 : factors[i]) /
			params->power;
	if (race_array(params, RACE_ARRAY_MATRIX) == NULL &&
		race_kernel_type(params->kernel)->of_distance != NULL)
		fit->points->n = race_candidates_grid(box, widths, n,
											  race_records_vector(fit->points, 0), sides);
	pfree(widths);
	if (fit->points->n > 0 && fit->gridded != NULL)
		race_work_use_lattice(fit, box, sides);
	return fit->points->n > 0;
}

/* Points at random */
static void
place_particles(RaceFitWork *fit, const RaceBox *box, const RaceFitRequest *request, uint32 n)
{
	race_candidates_uniform(box, request->seed, STREAM_START, n,
							race_records_vector(fit->points, 0));
	fit->points->n = n;
}

/* Keep the heavy half of the points, and draw the others around them. */
static void
move_points(RaceFitWork *fit, const RaceBox *box, const RaceFitRequest *request, int round)
{
	RaceRecords *points = fit->points;
	uint32		n = points->n;
	double	   *x = points->parts[0].numbers;
	double		jitter = race_candidates_jitter(box, n, round);
	uint32		kept = race_candidates_keep(box->dims, (n + 1) / 2, x, fit->weights, n,
											fit->space);

	race_candidates_around(box, request->seed, round, jitter, x, fit->weights, kept,
						   n - kept, x + (Size) kept * box->dims);
	memset(fit->weights + kept, 0, (n - kept) * sizeof(double));
}

/* Points that were not ready, where the model has its own */
static RaceRecords *
place_tests(const RaceFitWork *fit, const RaceBox *box, const RaceFitRequest *request)
{
	RaceRecords *tests = race_records_create(fit->view->params, CurrentMemoryContext);
	uint32		n = Max(Min(TEST_WORK / fit->view->params->rows, TEST_POINTS), 8);
	double	   *weights = fit->space;
	double	   *x;
	uint32		i;

	for (i = 0; i < fit->points->n; i++)
		weights[i] = fit->weights[i] + fit->second[i];
	race_records_reserve(tests, n);
	x = race_records_vector(tests, 0);
	race_candidates_around(box, request->seed, STREAM_TEST,
						   race_candidates_jitter(box, USUAL_POINTS, RACE_FIT_ROUNDS - 1),
						   fit->points->parts[0].numbers, weights, fit->points->n, n, x);
	tests->n = n;
	return tests;
}

static void
fit_rounds(RaceFitWork *fit, const RaceBox *box, const RaceFitRequest *request)
{
	int			round;

	race_work_spread(fit, fit->weights);
	for (round = 1; round < RACE_FIT_ROUNDS; round++)
	{
		race_work_round(fit);
		race_tell("race_fit: round %d of %d", round, RACE_FIT_ROUNDS);
		move_points(fit, box, request, round);
	}
}

/* Points of the same weight around those that were found, by weight, which then flow */
static void
flow(RaceFitWork *fit, const RaceBox *box, const RaceFitRequest *request)
{
	RaceRecords *points = fit->points;
	uint32		n = points->n;
	double	   *found = points->parts[0].numbers;
	Size		size = (Size) n * box->dims * sizeof(double);
	double	   *x = palloc_extended(size, MCXT_ALLOC_HUGE);

	race_candidates_around(box, request->seed, STREAM_FLOW, FLOW_JITTER, found, fit->weights, n,
						   n, x);
	memcpy(found, x, size);
	pfree(x);
	race_flow(fit, box);
}

/* Find places for n points, and improve them. */
static void
move_particles(RaceFitWork *fit, const RaceBox *box, const RaceFitRequest *request, uint32 n)
{
	place_particles(fit, box, request, n);
	fit_rounds(fit, box, request);
	if (race_flow_can(fit->view->params))
		flow(fit, box, request);
}

/* Half of n points, and their weights, for each half of the rows */
static void
move_halves(RaceFitWork *fit, const RaceBox *box, const RaceFitRequest *request, uint32 n)
{
	uint32		rows = race_model_first_rows(fit->view->params);
	Size		numbers = (Size) (n / 2) * box->dims;
	RaceFitWork half = *fit;
	RaceFitRequest of_half = *request;
	int			i;

	half.points = race_records_create(fit->view->params, CurrentMemoryContext);
	race_records_reserve(half.points, n / 2);
	memset(fit->weights, 0, n * sizeof(double));
	memset(fit->second, 0, n * sizeof(double));
	for (i = 0; i < 2; i++)
	{
		race_tell("race_fit: half %d of the rows", i + 1);
		race_records_clear(half.points);
		half.weights = i == 0 ? fit->weights : fit->second + n / 2;
		half.first = i == 0 ? 0 : rows;
		half.end = i == 0 ? rows : fit->rows;
		of_half.seed = (int64) ((uint64) request->seed + i * SEED_OF_SECOND);
		move_particles(&half, box, &of_half, n / 2);
		race_work_solve(&half, half.weights);
		memcpy(fit->points->parts[0].numbers + i * numbers, half.points->parts[0].numbers,
			   numbers * sizeof(double));
	}
	fit->points->n = n / 2 * 2;
}

/* Halves of few rows are too few, and one point has no halves. */
static void
move_and_weigh(RaceFitWork *fit, const RaceBox *box, const RaceFitRequest *request, uint32 n)
{
	if (n >= 2 && race_model_halves_move(fit->view->params))
	{
		move_halves(fit, box, request, n);
		return;
	}
	move_particles(fit, box, request, n);
	race_work_solve_halves(fit);
}

static uint32
most_points(const RaceParams *params)
{
	return RACE_MAX_MODEL_BYTES / 2 / (sizeof(double) * (params->dims + 2));
}

/* How many points are moved, for both halves together */
static uint32
points_to_move(const RaceParams *params, const RaceFitRequest *request)
{
	return request->points > 0 ? request->points :
		Min(race_model_halves_move(params) ? 2 * USUAL_POINTS : USUAL_POINTS, most_points(params));
}

static uint32
points_for(const RaceParams *params, const RaceFitRequest *request)
{
	uint32		most = most_points(params);

	if (request->points > 0)
		return request->points;
	/* a grid of points over a grid sketch costs little */
	if (race_is_grid(params) && params->dims == 2)
		return Min(RACE_MAX_DENSE_POINTS, most);
	return Min(params->dims == 1 || race_is_surrogate(params) ? USUAL_IN_LINE : USUAL_POINTS,
			   most);
}

RaceSketchDatum *
race_fit_box(const RaceView *view, const RaceFitRequest *request)
{
	const RaceParams *params = view->params;
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "race_fit",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	RaceBox		box = {params->dims, request->lower, request->upper};
	uint32		n = points_for(params, request);
	uint32		moved = points_to_move(params, request);
	RaceRecords *points = race_records_create(params, context);
	RaceSketchDatum *flat;
	bool		has_moments = false;
	RaceFitWork			fit;

	race_records_reserve(points, Max(n, moved));
	race_work_start(&fit, view, points, Max(n, moved));
	fit.complete = place_grid(&fit, &box, n);
	if (race_is_surrogate(params))
		has_moments = race_normal_place(&fit, &box, request->seed, n);
	/*
	 * Least squares needs the second moments alone, and weights that are found at points move
	 * them.  A margin needs more than moments.
	 */
	if (!race_is_surrogate(params) && !fit.complete)
		move_and_weigh(&fit, &box, request, moved);
	else if (!has_moments || race_kernel_type(params->kernel)->queries == 1)
		race_work_solve_halves(&fit);
	flat = race_fit_finish(&fit, place_tests(&fit, &box, request), NULL);
	return race_fit_leave(context, old, flat);
}

bool
race_fit_has_bounds(const RaceParams *params)
{
	RaceFitRequest request;

	return race_is_contingency(params) || race_fit_bounds(params, NULL, NULL, &request);
}

Datum
race_fit_private(Datum sketch)
{
	RaceView	view;
	RaceFitRequest request = {0};

	race_sketch_view_any(sketch, &view);
	if (race_is_contingency(view.params))
		return PointerGetDatum(race_tables_fit(&view));
	race_fit_bounds(view.params, NULL, NULL, &request);
	return PointerGetDatum(race_fit_box(&view, &request));
}

/*
 * Models of records that are given: choosing points among them, or making them of their values.
 *
 * A model has some thousand points at most, and there may be many more kinds of records.  So
 * candidates come in rounds.  Points that got most weight stay, and of the next candidates those
 * come in of which the sketch says most beyond the model so far: there a weight lessens the misfit
 * fastest.
 */

#define CHOSEN_POINTS	2000	/* fewer than RACE_MAX_DENSE_POINTS */
#define ROUNDS			6
#define STREAM_ORDER	200

/* A candidate, and how much speaks for it */
typedef struct Scored
{
	uint32		candidate;
	double		score;
} Scored;

/* Candidates by number: points, and those that are looked at in a round */
typedef struct Choice
{
	RaceFitWork *fit;
	const RaceRecords *candidates;
	char *const *texts;
	uint32	   *order;			/* [candidates->n]: at random, but always the same */
	uint32	   *points;			/* [CHOSEN_POINTS] */
	char	  **point_texts;	/* the same; NULL without texts */
} Choice;

static int
compare_scores(const void *a, const void *b)
{
	const Scored *x = (const Scored *) a;
	const Scored *y = (const Scored *) b;

	if (x->score != y->score)
		return x->score < y->score ? 1 : -1;
	return (x->candidate > y->candidate) - (x->candidate < y->candidate);
}

/* They may come sorted. */
static uint32 *
shuffle(uint32 n)
{
	uint32	   *order = palloc_extended(n * sizeof(uint32), MCXT_ALLOC_HUGE);
	uint32		i;

	for (i = 0; i < n; i++)
	{
		uint32		j = (uint32) ((i + 1) * race_candidates_random(0, STREAM_ORDER, i, 0));

		order[i] = order[j];
		order[j] = i;
	}
	return order;
}

/* Make some candidates records of their own. */
static void
copy_candidates(const RaceRecords *candidates, const uint32 *numbers, uint32 n,
				RaceRecords *records)
{
	RaceColumn	columns[RACE_MAX_PARTS];

	race_records_clear(records);
	while (records->n < n)
	{
		race_records_columns(candidates, numbers[records->n], columns);
		race_records_copy(records, columns);
		records->n++;
	}
}

static void
place_points(Choice *choice)
{
	uint32		i;

	copy_candidates(choice->candidates, choice->points, CHOSEN_POINTS,
					choice->fit->points);
	for (i = 0; choice->texts != NULL && i < CHOSEN_POINTS; i++)
		choice->point_texts[i] = choice->texts[choice->points[i]];
}

/* What a sketch says beyond the model at records */
static void
score_records(const RaceFitWork *fit, const RaceView *view, const RaceRecords *records,
			  Scored *scored)
{
	RaceReady  *ready = race_ready_create(view, CurrentMemoryContext);
	uint32		rows = view->params->rows;
	uint32	   *buckets = palloc_extended(race_gram_line(rows) * sizeof(uint32),
										  MCXT_ALLOC_HUGE);
	RaceColumn	columns[RACE_MAX_PARTS];
	uint32		i;

	for (i = 0; i < records->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		race_records_columns(records, i, columns);
		if (fit->gridded != NULL)
		{
			scored[i].score = race_gridded_sum(fit->gridded, columns[0].numbers) -
				race_ready_sum(ready, columns);
			continue;
		}
		race_work_hash(fit, records, i, 1, rows, buckets);
		scored[i].score = race_answers_mean(view, ready, buckets, 0, rows);
	}
}

/* Score the candidates in order[from ... from + n - 1], the best first. */
static Scored *
score(const Choice *choice, uint32 from, uint32 n)
{
	Scored	   *scored = palloc_extended(n * sizeof(Scored), MCXT_ALLOC_HUGE);
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "race_fit round",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	RaceRecords *records = race_records_create(choice->fit->view->params, context);
	RaceView	view = *choice->fit->view;
	Size		size;
	uint32		i;

	for (i = 0; i < n; i++)
		scored[i].candidate = choice->order[from + i];
	race_records_reserve(records, n);
	copy_candidates(choice->candidates, choice->order + from, n, records);
	view.model = race_fit_model(choice->fit, choice->point_texts, &size);
	view.model_size = size;
	score_records(choice->fit, &view, records, scored);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	qsort(scored, n, sizeof(Scored), compare_scores);
	return scored;
}

/* Put the heavier half of the points first, with their weights. */
static void
keep_heavy(Choice *choice)
{
	Scored	   *scored = palloc(CHOSEN_POINTS * sizeof(Scored));
	uint32		i;

	for (i = 0; i < CHOSEN_POINTS; i++)
	{
		scored[i].candidate = choice->points[i];
		scored[i].score = choice->fit->weights[i];
	}
	qsort(scored, CHOSEN_POINTS, sizeof(Scored), compare_scores);
	for (i = 0; i < CHOSEN_POINTS; i++)
	{
		choice->points[i] = scored[i].candidate;
		choice->fit->weights[i] = i < CHOSEN_POINTS / 2 ? scored[i].score : 0;
	}
	pfree(scored);
}

static void
do_round(Choice *choice, uint32 from, uint32 n)
{
	uint32		places = CHOSEN_POINTS - CHOSEN_POINTS / 2;
	Scored	   *scored;
	uint32		i;

	race_work_round(choice->fit);
	memcpy(choice->fit->second, choice->fit->weights, CHOSEN_POINTS * sizeof(double));
	scored = score(choice, from, n);
	keep_heavy(choice);
	for (i = 0; i < Min(n, places); i++)
		choice->points[CHOSEN_POINTS - 1 - i] = scored[i].candidate;
	pfree(scored);
	place_points(choice);
}

static char *const *
choose_points(RaceFitWork *fit, const RaceRecords *candidates, char *const *texts)
{
	Choice		choice = {fit, candidates, texts, NULL, NULL, NULL};
	uint32		from = CHOSEN_POINTS;
	uint32		others = candidates->n - from;
	uint32		round;

	choice.order = shuffle(candidates->n);
	choice.points = palloc(CHOSEN_POINTS * sizeof(uint32));
	memcpy(choice.points, choice.order, CHOSEN_POINTS * sizeof(uint32));
	if (texts != NULL)
		choice.point_texts = palloc(CHOSEN_POINTS * sizeof(char *));
	place_points(&choice);
	race_work_spread(fit, fit->weights);
	for (round = 1; round <= ROUNDS; round++)
	{
		uint32		end = CHOSEN_POINTS + (uint32) ((uint64) others * round / ROUNDS);

		do_round(&choice, from, end - from);
		race_tell("race_fit: round %d of %d", (int) round, ROUNDS);
		from = end;
	}
	return choice.point_texts;
}

static RaceRecords *
choose_tests(const RaceRecords *candidates, const RaceParams *params)
{
	RaceRecords *tests = race_records_create(params, CurrentMemoryContext);
	uint32	   *order = shuffle(candidates->n);

	race_records_reserve(tests, CHOSEN_POINTS);
	copy_candidates(candidates, order + candidates->n - CHOSEN_POINTS,
					CHOSEN_POINTS, tests);
	pfree(order);
	return tests;
}

/* ----------------------------------------------------------------- records */

RaceSketchDatum *
race_fit_records(const RaceView *view, RaceRecords *records, char *const *texts)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "race_fit",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	RaceRecords *points = records;
	RaceRecords *tests = records;
	RaceSketchDatum *flat;
	RaceFitWork fit;

	if (records->n > RACE_MAX_DENSE_POINTS)
	{
		points = race_records_create(view->params, context);
		race_records_reserve(points, CHOSEN_POINTS);
		tests = choose_tests(records, view->params);
	}
	race_work_start(&fit, view, points, points == records ? records->n : CHOSEN_POINTS);
	fit.complete = points == records;
	if (!fit.complete)
		texts = choose_points(&fit, records, texts);
	race_work_solve_halves(&fit);
	flat = race_fit_finish(&fit, tests, texts);
	return race_fit_leave(context, old, flat);
}
