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

#include "privacy/counters.h"
#include "hash/column.h"
#include "hash/kernel.h"
#include "hash/kind.h"
#include "hash/loss_rows.h"
#include "hash/model_rows.h"
#include "hash/params.h"
#include "hash/rows.h"
#include "sketch/argument.h"
#include "sketch/array_reader.h"
#include "sketch/call_site.h"
#include "sketch/params_text.h"
#include "sketch/params_type.h"
#include "sketch/progress.h"
#include "sketch/record.h"
#include "sketch/records.h"
#include "sketch/result.h"
#include "sketch/rows_cache.h"
#include "sketch/sketch.h"
#include "sketch/sketch_format.h"
#include "answers/evaluator.h"
#include "answers/fit.h"
#include "answers/radial.h"
#include "answers/radial_cache.h"
#include "answers/solver.h"
#include "answers/table_model.h"

/*
 * Fitting a model to a sketch.
 *
 * The points are hashed.  The sketch answers at them, their Gram matrix is computed, and
 * the weights are found (solver.h).  Points of vectors are then moved, in rounds, and flow
 * (fit_flow.c).  Of many candidates that were given some are chosen (fit.h).  In the end weights
 * are found from each half of the rows alone.  The residuals of the other half, which has not
 * been seen, tell how much a model misses: the mean of their squares, less the variance that
 * noise gives them.
 *
 * Points that move suit what noise and sampling there is in the rows, which then do not show it.
 * So each half of the rows has moved points of its own, and the other half has not seen them.  Both
 * have seen the mean and the covariance of its points alone, a few numbers of so many rows: if each
 * half finds its own, correlations are off by half as much again.  Only where rows are few do all
 * move the same points, as halves of them would know too little: on a normal distribution in 5
 * dimensions 32 rows had errors of 24e-4, and with halves 34e-4.
 */

/* points of a model of a grid, of few rows, or of each half of the rows */
#define USUAL_POINTS 2000
#define USUAL_IN_LINE 1000                  /* points in one dimension */
#define TEST_POINTS 512                     /* most points that residuals are looked at */
#define TEST_WORK ((Size) 64 * 1024 * 1024) /* most of these points times rows */

/* Streams of random numbers, besides those of the rounds */
#define STREAM_START 100
#define STREAM_TEST 101
#define STREAM_FLOW 102
#define SEED_OF_SECOND 1000003 /* difference of the seeds of both halves of the rows */

/* Points begin to flow so near to those that were found, in parts of the box */
#define FLOW_JITTER 0.01

/* ----------------------------------------- what a fit works with, and the model that it writes */

#define COUNTER_ITERATIONS 60 /* steps that improve weights by the misfit of counters */
#define ANSWER_ITERATIONS 120 /* further steps, by the misfit of answers */

static void
start_fit(RaceFitState *fit, const RaceView *view, RaceRecords *points, uint32 capacity)
{
	Size line;

	memset(fit, 0, sizeof(RaceFitState));
	fit->view = view;
	if (!race_summary_kind(view->params)->hashed)
	{
		fit->gridded = race_gridded_create(view, CurrentMemoryContext);
		fit->radial = race_radial_of(view->params, CurrentMemoryContext);
	}
	fit->site = race_call_site_create(InvalidOid, CurrentMemoryContext);
	race_call_site_hold_rows(fit->site, view->params);
	fit->rows = Min(view->params->rows, RACE_MAX_FITTED_ROWS);
	fit->end = fit->rows;
	fit->records = race_count_divisor(race_record_count(view, fit->gridded));
	fit->points = points;
	line = race_gram_line(fit->rows);
	fit->weights = palloc(capacity * sizeof(double));
	fit->second = palloc(capacity * sizeof(double));
	fit->answers = palloc(capacity * sizeof(double));
	fit->space = palloc(RACE_SOLVE_SPACE(capacity) * sizeof(double));
	if (fit->gridded == NULL)
		fit->codes = palloc_extended(capacity * line * sizeof(uint16), MCXT_ALLOC_HUGE);
}

/* Compute the buckets of at most RACE_RECORDS_TOGETHER records in the first rows, [n][line]. */
static void
hash_records(const RaceFitState *fit, const RaceRecords *records, uint32 from, uint32 n,
			 uint32 rows, uint32 *buckets)
{
	Size line = race_gram_line(rows);
	RaceColumn columns[RACE_MAX_PARTS];
	uint32 of_block[RACE_RECORDS_TOGETHER * RACE_LANES];

	Assert(n <= RACE_RECORDS_TOGETHER);
	if (race_rows_together(fit->view->params))
	{
		for (uint32 i = 0; i < n; i++)
		{
			race_records_columns(records, from + i, columns);
			race_rows_hash_one(race_rows_of(fit->site->rows), rows, columns, buckets + i * line);
		}
		return;
	}
	race_records_columns(records, from, columns);
	for (Size block = 0; block * RACE_LANES < rows; block++)
	{
		CHECK_FOR_INTERRUPTS();
		race_rows_hash(race_rows_of(fit->site->rows), block, columns, n, of_block);
		for (uint32 i = 0; i < n; i++)
			memcpy(buckets + i * line + block * RACE_LANES, of_block + i * RACE_LANES,
				   RACE_LANES * sizeof(uint32));
	}
}

/* Use transforms to multiply: the points are a grid over the box. */
static void
use_lattice(RaceFitState *fit, const RaceBox *box, const Size *sides)
{
	const RaceParams *params = fit->view->params;
	Size all[RACE_FOURIER_DIMS] = {1, sides[0], sides[1]};
	RaceLattice *lattice = palloc(sizeof(RaceLattice));
	double lower[RACE_FOURIER_DIMS];
	double upper[RACE_FOURIER_DIMS];
	double steps[RACE_FOURIER_DIMS] = {0, 0, 0};

	race_radial_place(fit->radial, params, box->lower, lower, 1);
	race_radial_place(fit->radial, params, box->upper, upper, 1);
	for (uint32 axis = 0; axis < box->dims; axis++)
	{
		int side = RACE_FOURIER_DIMS - box->dims + axis;

		if (all[side] > 1)
			steps[side] = (upper[axis] - lower[axis]) / (all[side] - 1);
	}
	race_lattice_init(
		lattice, fit->radial, all, steps, false,
		palloc_extended(race_lattice_space(all) * sizeof(RaceComplex), MCXT_ALLOC_HUGE));
	fit->gram.lattice = lattice;
}

/*
 * Set the answers of rows first ... end - 1 at the points, or of a grid.  Set the Gram matrix of
 * these rows, or of the exact kernel.
 */
static void
ask_points(RaceFitState *fit, uint32 first, uint32 end)
{
	const RaceParams *params = fit->view->params;
	const double *x = fit->points->parts[0].numbers;
	Size line = race_gram_line(end);
	Size rows = end - first;
	Size points = fit->points->n;
	uint32 *buckets;
	double *places;

	fit->gram.m = points;
	for (Size i = 0; i < points && fit->gridded != NULL; i++)
		fit->answers[i] = race_gridded_sum(fit->gridded, x + i * params->dims);
	if (fit->gram.lattice != NULL)
		return;
	/* the number of points stays */
	if (fit->gram.dense == NULL)
		fit->gram.dense = palloc_extended(points * points * sizeof(float), MCXT_ALLOC_HUGE);
	if (fit->gridded != NULL)
	{
		places = palloc_extended(points * params->dims * sizeof(double), MCXT_ALLOC_HUGE);
		for (Size i = 0; i < points; i++)
			race_radial_place(fit->radial, params, x + i * params->dims, places + i, points);
		race_gram_of_places(fit->radial, places, points, fit->gram.dense);
		pfree(places);
		return;
	}
	buckets = palloc_extended(RACE_RECORDS_TOGETHER * line * sizeof(uint32), MCXT_ALLOC_HUGE);
	for (uint32 from = 0; from < points; from += RACE_RECORDS_TOGETHER)
	{
		uint32 n = Min(points - from, RACE_RECORDS_TOGETHER);

		hash_records(fit, fit->points, from, n, end, buckets);
		for (Size i = 0; i < n; i++)
		{
			fit->answers[from + i] =
				race_estimator_mean(fit->view, NULL, buckets + i * line, first, end);
			race_gram_pack(buckets + i * line + first, rows, from + i,
						   fit->codes + (from + i) * race_gram_line(rows));
		}
	}
	pfree(buckets);
	race_gram_of_codes(fit->codes, points, rows, fit->gram.dense);
}

static void
improve_weights(const RaceFitState *fit, RaceMisfit misfit, int iterations, double *weights)
{
	race_solve_weights(&fit->gram, fit->answers, fit->records, misfit, iterations, weights,
					   fit->space);
}

/* Give all points the same weight. */
static void
spread_evenly(const RaceFitState *fit, double *weights)
{
	for (uint32 i = 0; i < fit->points->n; i++)
		weights[i] = fit->records / fit->points->n;
}

static void
solve_weights(RaceFitState *fit, uint32 first, uint32 end, double *weights)
{
	ask_points(fit, first, end);
	spread_evenly(fit, weights);
	improve_weights(fit, RACE_MISFIT_COUNTERS, COUNTER_ITERATIONS, weights);
	improve_weights(fit, RACE_MISFIT_ANSWERS, ANSWER_ITERATIONS, weights);
}

/* Solve for the weights of both halves.  One row has no halves. */
static void
solve_halves(RaceFitState *fit)
{
	uint32 half = race_model_first_rows(fit->view->params);

	solve_weights(fit, 0, half, fit->weights);
	if (half < fit->rows)
		solve_weights(fit, half, fit->rows, fit->second);
	else
		memcpy(fit->second, fit->weights, fit->points->n * sizeof(double));
}

/* ------------------------------------------------------------- the model */

static bool
has_weight(const RaceFitState *fit, uint32 i)
{
	return fit->weights[i] > 0 || fit->second[i] > 0;
}

/* Append a part of all points to the words of a model. */
static uint64 *
write_part(uint64 *next, const RaceFitState *fit, const RaceRecordsPart *part)
{
	bool is_set = part->kind == RACE_RECORD_SET;
	uint64 start = 0;

	if (is_set)
	{
		*next++ = 0;
		for (uint32 i = 0; i < fit->points->n; i++)
			if (has_weight(fit, i))
				*next++ = start += part->starts[i + 1] - part->starts[i];
	}
	for (uint32 i = 0; i < fit->points->n; i++)
	{
		Size from = is_set ? part->starts[i] : (Size) i * part->width;
		Size n = is_set ? part->starts[i + 1] - part->starts[i] : part->width;

		if (!has_weight(fit, i) || n == 0)
			continue;
		if (part->kind == RACE_RECORD_VECTOR)
			memcpy(next, part->numbers + from, n * sizeof(uint64));
		else
			memcpy(next, part->elements + from, n * sizeof(uint64));
		next += n;
	}
	return next;
}

static void
check_model_size(Size size)
{
	if (size > RACE_MAX_MODEL_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a model can be at most %d MB large",
						(int) (RACE_MAX_MODEL_BYTES / (1024 * 1024))),
				 errhint("Fit fewer points, or points with shorter texts.")));
}

/* Create a model of the points that have a weight.  Its residuals are not known yet. */
static RaceModel *
create_model_of(const RaceFitState *fit, char *const *texts, Size *size)
{
	uint64 elements = 0;
	uint64 text_size = 0;
	uint32 n = 0;
	RaceModel *model;
	uint64 *next;
	char *bytes;
	uint32 i;

	for (i = 0; i < fit->points->n; i++)
		if (has_weight(fit, i))
		{
			n++;
			elements += race_records_sets_size(fit->points, i, 1) / sizeof(uint64);
			text_size += texts == NULL ? 0 : strlen(texts[i]);
		}
	*size = race_model_size(fit->view->params, n, elements, text_size);
	check_model_size(*size);
	model = palloc_extended(*size, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	model->points = n;
	model->text_size = text_size;
	for (i = 0, n = 0; i < fit->points->n; i++)
		if (has_weight(fit, i))
		{
			race_model_weights(model, RACE_FOLD_FIRST)[n] = fit->weights[i];
			race_model_weights(model, RACE_FOLD_SECOND)[n++] = fit->second[i];
		}
	next = race_model_words(model);
	for (int k = 0; k < fit->points->n_parts; k++)
		next = write_part(next, fit, &fit->points->parts[k]);
	if (texts == NULL)
		return model;
	bytes = (char *) (next + n + 1);
	*next = 0;
	for (i = 0; i < fit->points->n; i++)
		if (has_weight(fit, i))
		{
			memcpy(bytes + *next, texts[i], strlen(texts[i]));
			next[1] = *next + strlen(texts[i]);
			next++;
		}
	return model;
}

/* --------------------------------------------------------- goodness of fit */

#define MAX_BUCKETS ((Size) 4 * 1024 * 1024) /* buckets in memory at once */

/*
 * Points at random miss more where records are than where they were tested, which is around
 * other points of theirs: about twice the square.
 */
#define OPTIMISM 2

/* Means over test records */
typedef struct Residuals
{
	double square;       /* squared residual of the rows of a half */
	double variance;     /* variance of the residual of all rows */
	double answer;       /* squared answer of the model */
	double disagreement; /* squared difference of its halves in the answer */
} Residuals;

static Residuals
measure_residuals(const RaceFitState *fit, const RaceModel *model, Size size,
				  const RaceRecords *tests)
{
	RaceView view = *fit->view;
	uint32 rows = view.params->rows;
	uint32 half = race_model_first_rows(view.params);
	Size line = race_gram_line(rows);
	uint32 together = Max(Min(MAX_BUCKETS / line, RACE_RECORDS_TOGETHER), 1);
	uint32 *all = palloc_extended(together * line * sizeof(uint32), MCXT_ALLOC_HUGE);
	double noise = view.header->noise.counter_variance;
	Residuals sum = {0};
	RaceColumn record[RACE_MAX_PARTS];
	RaceEvaluator *evaluator;

	view.model = model;
	view.model_size = size;
	evaluator = race_evaluator_create(&view, CurrentMemoryContext);
	for (uint32 i = 0; i < tests->n; i++)
	{
		const uint32 *buckets = all + i % together * line;
		double means[2];

		CHECK_FOR_INTERRUPTS();
		if (i % together == 0)
			hash_records(fit, tests, i, Min(tests->n - i, together), rows, all);
		race_records_columns(tests, i, record);
		means[0] = race_estimator_mean(&view, evaluator, buckets, 0, half);
		means[1] =
			half == rows ? means[0] : race_estimator_mean(&view, evaluator, buckets, half, rows);
		sum.square += (means[0] * means[0] + means[1] * means[1]) / 2 / tests->n;
		sum.variance += race_estimator_variance(
							&view, evaluator, buckets, 0, rows,
							race_estimator_mean(&view, evaluator, buckets, 0, rows), noise / rows) /
			tests->n;
		sum.answer += pow(race_evaluator_sum(evaluator, record), 2) / tests->n;
		sum.disagreement += pow(race_evaluator_disagreement(evaluator, record), 2) / tests->n;
	}
	pfree(all);
	return sum;
}

/*
 * Set how much the model misses by the residuals of rows that it was not fitted to.  Without a
 * second half nothing tests it, unless points were given, or are a grid.
 *
 * A half misses what points cannot express, and what noise and sampling have moved.  The latter is
 * independent in both halves: half of the square by which they differ; their mean has half of it.
 * Where the model answers nothing, it may miss all.
 *
 * What sampling leaves in the residuals counts as missed.  To subtract it, as the variance of
 * blocks estimates it, made some errors a tenth less, but a release of pulsar in six held 64 % of
 * sums: that variance is not known well where all answers vary together.
 */
static void
test_by_rows(const RaceFitState *fit, const RaceRecords *tests, RaceModel *model, Size size)
{
	const RaceParams *params = fit->view->params;
	uint32 half = race_model_first_rows(params);
	double noise = fit->view->header->noise.counter_variance;
	Residuals residuals = measure_residuals(fit, model, size, tests);
	double moved = residuals.disagreement / 2;
	double missed =
		residuals.square - moved - (noise / half + noise / Max(params->rows - half, 1)) / 2;

	missed = (fit->complete ? 1 : OPTIMISM) * Max(missed, 0) + moved / 2;
	/* a single row shows no variance */
	model->residual_variance = isfinite(residuals.variance) ? residuals.variance : residuals.square;
	if (!fit->complete && race_rows_hide_errors(params))
		missed += RACE_HIDDEN_VARIANCE * residuals.variance;
	if (half >= fit->rows || fit->rows < (fit->complete ? 2 : race_model_least_rows(params)))
		model->misfit = RACE_UNTESTED;
	else
		model->misfit = missed == 0 ? 0 : Min(sqrt(missed / residuals.answer), RACE_UNTESTED / 2);
}

/*
 * Make the model and test it.  The sketch with it is in context `old`; that of the fit is deleted.
 */
static RaceSketchDatum *
finish_model(const RaceFitState *fit, const RaceRecords *tests, char *const *texts,
			 MemoryContext old)
{
	MemoryContext context;
	RaceSketchDatum *fitted;
	RaceSketchDatum *result;
	Size size;
	RaceModel *model = create_model_of(fit, texts, &size);

	model->misfit = RACE_UNTESTED; /* nothing reads the misfit of a grid */
	if (fit->gridded == NULL)
		test_by_rows(fit, tests, model, size);
	model->residual_variance = Min(model->residual_variance, RACE_MAX_RESIDUAL_VARIANCE);
	fitted = race_flat_create(fit->view, model, size);
	context = MemoryContextSwitchTo(old);
	result = (RaceSketchDatum *) palloc(VARSIZE(fitted));
	memcpy(result, fitted, VARSIZE(fitted));
	MemoryContextDelete(context);
	return result;
}

/* ------------------------------------------------------------------ vectors */

static bool
all_finite(const double *x, uint32 n)
{
	for (uint32 i = 0; x != NULL && i < n; i++)
		if (!isfinite(x[i]))
			return false;
	return x != NULL;
}

bool
race_fit_bounds(const RaceParams *params, const double *lower, const double *upper,
				RaceFitRequest *request)
{
	const double **bounds[2] = {&request->lower, &request->upper};

	request->lower = lower != NULL ? lower : race_array(params, RACE_ARRAY_LOWER);
	request->upper = upper != NULL ? upper : race_array(params, RACE_ARRAY_UPPER);
	/* the records of a surrogate loss are clipped to its radius: a bound of those without one */
	for (int i = 0; i < 2 && race_is_surrogate(params); i++)
		if (!all_finite(*bounds[i], params->dims))
		{
			double *bound = palloc(params->dims * sizeof(double));

			for (uint32 k = 0; k < params->dims; k++)
				bound[k] = i == 0 ? -params->loss.radius : params->loss.radius;
			*bounds[i] = bound;
		}
	return race_model_is_of_vectors(params) && all_finite(request->lower, params->dims) &&
		all_finite(request->upper, params->dims);
}

void
race_fit_check_box(const RaceParams *params, const RaceFitRequest *request)
{
	for (uint32 i = 0; i < params->dims; i++)
		if (request->lower[i] > request->upper[i] ||
			request->upper[i] - request->lower[i] > RACE_MAX_BOUND)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("a lower bound is above the upper one, or too far from it")));
}

/* Place a grid of at most n points, if they may be one.  Return whether they are. */
static bool
place_grid(RaceFitState *fit, const RaceBox *box, uint32 n)
{
	const RaceParams *params = fit->view->params;
	const double *factors = race_array(params, RACE_ARRAY_BANDWIDTHS);
	double *widths = palloc(params->dims * sizeof(double));
	Size sides[RACE_MODEL_GRID_DIMS];

	for (uint32 i = 0; i < params->dims; i++)
		widths[i] = params->bandwidth * (factors == NULL ? 1 : factors[i]) / params->power;
	if (race_array(params, RACE_ARRAY_MATRIX) == NULL &&
		race_kernel_type(params->kernel)->of_distance != NULL)
		fit->points->n =
			race_candidates_grid(box, widths, n, race_records_vector(fit->points, 0), sides);
	pfree(widths);
	if (fit->points->n > 0 && fit->gridded != NULL)
		use_lattice(fit, box, sides);
	return fit->points->n > 0;
}

/* Draw test points around those of the model. */
static RaceRecords *
place_tests(const RaceFitState *fit, const RaceBox *box, const RaceFitRequest *request)
{
	RaceRecords *tests = race_records_create(fit->view->params, CurrentMemoryContext);
	uint32 n = Max(Min(TEST_WORK / fit->view->params->rows, TEST_POINTS), 8);
	double *weights = fit->space;
	double *x;

	for (uint32 i = 0; i < fit->points->n; i++)
		weights[i] = fit->weights[i] + fit->second[i];
	race_records_reserve(tests, n);
	x = race_records_vector(tests, 0);
	race_candidates_around(box, request->seed, STREAM_TEST,
						   race_candidates_jitter(box, USUAL_POINTS, RACE_FIT_ROUNDS - 1),
						   fit->points->parts[0].numbers, weights, fit->points->n, n, x);
	tests->n = n;
	return tests;
}

/*
 * Find places for n points.  In rounds the half of them with the largest weights stays, and the
 * others are drawn around these.  Then as many are drawn around all, by weight, and flow.
 */
static void
move_particles(RaceFitState *fit, const RaceBox *box, const RaceFitRequest *request, uint32 n)
{
	double *x = race_records_vector(fit->points, 0);
	double *drawn;

	race_candidates_uniform(box, request->seed, STREAM_START, n, x);
	fit->points->n = n;
	spread_evenly(fit, fit->weights);
	for (int round = 1; round < RACE_FIT_ROUNDS; round++)
	{
		uint32 kept;

		ask_points(fit, fit->first, fit->end);
		improve_weights(fit, RACE_MISFIT_COUNTERS, COUNTER_ITERATIONS, fit->weights);
		race_tell("race_fit: round %d of %d", round, RACE_FIT_ROUNDS);
		kept = race_candidates_keep(box->dims, (n + 1) / 2, x, fit->weights, n, fit->space);
		race_candidates_around(box, request->seed, round, race_candidates_jitter(box, n, round), x,
							   fit->weights, kept, n - kept, x + (Size) kept * box->dims);
		memset(fit->weights + kept, 0, (n - kept) * sizeof(double));
	}
	if (!race_flow_can(fit->view->params))
		return;
	drawn = palloc_extended((Size) n * box->dims * sizeof(double), MCXT_ALLOC_HUGE);
	race_candidates_around(box, request->seed, STREAM_FLOW, FLOW_JITTER, x, fit->weights, n, n,
						   drawn);
	memcpy(x, drawn, (Size) n * box->dims * sizeof(double));
	pfree(drawn);
	race_flow(fit, box);
}

/* Find places for half of n points, and their weights, for each half of the rows. */
static void
move_halves(RaceFitState *fit, const RaceBox *box, const RaceFitRequest *request, uint32 n)
{
	uint32 rows = race_model_first_rows(fit->view->params);
	Size numbers = (Size) (n / 2) * box->dims;
	RaceFitState half = *fit;
	RaceFitRequest of_half = *request;

	half.points = race_records_create(fit->view->params, CurrentMemoryContext);
	race_records_reserve(half.points, n / 2);
	memset(fit->weights, 0, n * sizeof(double));
	memset(fit->second, 0, n * sizeof(double));
	for (int i = 0; i < 2; i++)
	{
		race_tell("race_fit: half %d of the rows", i + 1);
		race_records_clear(half.points);
		half.weights = i == 0 ? fit->weights : fit->second + n / 2;
		half.first = i == 0 ? 0 : rows;
		half.end = i == 0 ? rows : fit->rows;
		of_half.seed = (int64) ((uint64) request->seed + i * SEED_OF_SECOND);
		move_particles(&half, box, &of_half, n / 2);
		solve_weights(&half, half.first, half.end, half.weights);
		memcpy(fit->points->parts[0].numbers + i * numbers, half.points->parts[0].numbers,
			   numbers * sizeof(double));
	}
	fit->points->n = n / 2 * 2;
}

/* Return the usual number of points, or of points to move, for both halves together. */
static uint32
usual_points(const RaceParams *params, bool moved)
{
	uint32 most = RACE_MAX_MODEL_BYTES / 2 / (sizeof(double) * (params->dims + 2));

	/* coefficients follow from moments, which 2,000 points at random do not know well enough */
	if (race_is_surrogate(params))
		return RACE_MAX_POINTS;
	if (moved)
		return Min(race_model_halves_move(params) ? 2 * USUAL_POINTS : USUAL_POINTS, most);
	/* a grid of points over a grid sketch costs little */
	if (!race_summary_kind(params)->hashed && params->dims == 2)
		return Min(RACE_MAX_DENSE_POINTS, most);
	return Min(params->dims == 1 ? USUAL_IN_LINE : USUAL_POINTS, most);
}

/*
 * The standard deviation of the first points of a surrogate loss, in parts of the box, times the
 * root of dims
 */
#define SURROGATE_SPREAD 0.3

/*
 * Place the points of a surrogate loss: normal at first, then mapped to the moments that the
 * counters ask for.  A label is positive.
 */
static bool
place_surrogate(RaceFitState *fit, const RaceFitRequest *request, uint32 n)
{
	const RaceParams *params = fit->view->params;
	uint32 dims = params->dims;
	double *bounds = palloc(3 * dims * sizeof(double));
	RaceBox box = {dims, bounds, bounds + dims};
	double *middle = bounds + 2 * dims;
	const double one = 1;
	bool has_moments;

	memcpy(bounds, request->lower, dims * sizeof(double));
	memcpy(bounds + dims, request->upper, dims * sizeof(double));
	if (race_kernel_type(params->kernel)->queries == 1)
		bounds[dims - 1] = bounds[2 * dims - 1] = 1;
	for (uint32 i = 0; i < dims; i++)
		middle[i] = (box.lower[i] + box.upper[i]) / 2;
	race_candidates_around(&box, request->seed, STREAM_START, SURROGATE_SPREAD / sqrt(dims), middle,
						   &one, 1, n, race_records_vector(fit->points, 0));
	fit->points->n = n;
	has_moments = race_flow(fit, &box);
	spread_evenly(fit, fit->weights);
	spread_evenly(fit, fit->second);
	return has_moments;
}

RaceSketchDatum *
race_fit_box(const RaceView *view, const RaceFitRequest *request)
{
	const RaceParams *params = view->params;
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "race_fit", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	RaceBox box = {params->dims, request->lower, request->upper};
	uint32 n = request->points > 0 ? request->points : usual_points(params, false);
	uint32 moved = request->points > 0 ? request->points : usual_points(params, true);
	RaceRecords *points = race_records_create(params, context);
	bool has_moments = false;
	RaceFitState fit;

	race_records_reserve(points, Max(n, moved));
	start_fit(&fit, view, points, Max(n, moved));
	fit.complete = place_grid(&fit, &box, n);
	if (race_is_surrogate(params))
		has_moments = place_surrogate(&fit, request, n);
	/*
	 * Least squares needs the second moments alone, and weights that are found at points move
	 * them.  A margin needs more than moments.
	 */
	if (race_is_surrogate(params) || fit.complete)
	{
		if (!has_moments || race_kernel_type(params->kernel)->queries == 1)
			solve_halves(&fit);
	}
	/* halves of few rows are too few, and one point has no halves */
	else if (moved >= 2 && race_model_halves_move(params))
		move_halves(&fit, &box, request, moved);
	else
	{
		move_particles(&fit, &box, request, moved);
		solve_halves(&fit);
	}
	return finish_model(&fit, place_tests(&fit, &box, request), NULL, old);
}

bool
race_fit_has_bounds(const RaceParams *params)
{
	RaceFitRequest request;

	return race_summary_kind(params)->model == RACE_MODEL_LOG_LINEAR ||
		race_fit_bounds(params, NULL, NULL, &request);
}

Datum
race_fit_private(Datum sketch)
{
	RaceView view;
	RaceFitRequest request = {0};

	race_sketch_view_any(sketch, &view);
	if (race_summary_kind(view.params)->model == RACE_MODEL_LOG_LINEAR)
		return PointerGetDatum(race_tables_fit(&view));
	race_fit_bounds(view.params, NULL, NULL, &request);
	return PointerGetDatum(race_fit_box(&view, &request));
}

/*
 * Models of records that are given.
 *
 * A model has some thousand points at most, and there may be many more different records.  So half
 * of the points are those at which the sketch answers most, and the others are any.
 */

#define CHOSEN_POINTS 3000 /* fewer than RACE_MAX_DENSE_POINTS */
#define STREAM_ORDER 200

/* A candidate, and what the sketch answers there */
typedef struct Scored
{
	uint32 candidate;
	double score;
} Scored;

static int
compare_scores(const void *a, const void *b)
{
	const Scored *x = (const Scored *) a;
	const Scored *y = (const Scored *) b;

	if (x->score != y->score)
		return x->score < y->score ? 1 : -1;
	return (x->candidate > y->candidate) - (x->candidate < y->candidate);
}

/* Return the answer of the sketch at a candidate, by all rows. */
static double
answer_at(const RaceFitState *fit, const RaceRecords *candidates, uint32 candidate)
{
	uint32 rows = fit->view->params->rows;
	uint32 *buckets;
	RaceColumn columns[RACE_MAX_PARTS];
	double answer;

	CHECK_FOR_INTERRUPTS();
	race_records_columns(candidates, candidate, columns);
	if (fit->gridded != NULL)
		return race_gridded_sum(fit->gridded, columns[0].numbers);
	buckets = palloc_extended(race_gram_line(rows) * sizeof(uint32), MCXT_ALLOC_HUGE);
	hash_records(fit, candidates, candidate, 1, rows, buckets);
	answer = race_estimator_mean(fit->view, NULL, buckets, 0, rows);
	pfree(buckets);
	return answer;
}

/* Copy n candidates to records, with their texts if there are any. */
static void
copy_candidates(const RaceRecords *candidates, const Scored *chosen, uint32 n, char *const *texts,
				RaceRecords *records, char **copied)
{
	RaceColumn columns[RACE_MAX_PARTS];

	race_records_reserve(records, n);
	for (; records->n < n; records->n++)
	{
		race_records_columns(candidates, chosen[records->n].candidate, columns);
		race_records_copy(records, columns);
		if (texts != NULL)
			copied[records->n] = texts[chosen[records->n].candidate];
	}
}

static RaceSketchDatum *
fit_records(const RaceView *view, RaceRecords *records, char **texts)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "race_fit", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	bool complete = records->n <= RACE_MAX_DENSE_POINTS;
	RaceRecords *points = complete ? records : race_records_create(view->params, context);
	RaceRecords *tests = complete ? records : race_records_create(view->params, context);
	RaceFitState fit;

	start_fit(&fit, view, points, complete ? records->n : CHOSEN_POINTS);
	fit.complete = complete;
	if (!complete)
	{
		char **chosen = palloc(CHOSEN_POINTS * sizeof(char *));
		Scored *order = palloc_extended(records->n * sizeof(Scored), MCXT_ALLOC_HUGE);

		/* candidates may come sorted */
		for (uint32 i = 0; i < records->n; i++)
		{
			uint32 j = (uint32) ((i + 1) * race_candidates_random(0, STREAM_ORDER, i, 0));

			order[i] = order[j];
			order[j] = (Scored){i, 0};
		}
		copy_candidates(records, order + records->n - TEST_POINTS, TEST_POINTS, NULL, tests, NULL);
		for (uint32 i = 0; i < records->n; i++)
			order[i].score = answer_at(&fit, records, order[i].candidate);
		qsort(order + CHOSEN_POINTS / 2, records->n - CHOSEN_POINTS / 2, sizeof(Scored),
			  compare_scores);
		copy_candidates(records, order, CHOSEN_POINTS, texts, points, chosen);
		texts = texts == NULL ? NULL : chosen;
	}
	solve_halves(&fit);
	return finish_model(&fit, tests, texts, old);
}

/*
 * race_fit, the function and the aggregate, _race_model and race_points.
 */

PG_FUNCTION_INFO_V1(race_fit);
PG_FUNCTION_INFO_V1(race_fit_step);
PG_FUNCTION_INFO_V1(race_fit_final);
PG_FUNCTION_INFO_V1(race_model);
PG_FUNCTION_INFO_V1(race_points);

/* --------------------------------------------------------- race_fit in a box */

static void
read_request(FunctionCallInfo fcinfo, const RaceParams *params, RaceFitRequest *request)
{
	const double *bounds[2] = {NULL, NULL};

	memset(request, 0, sizeof(RaceFitRequest));
	if (!race_model_is_of_vectors(params))
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("only a kernel of vectors by itself can be fitted within bounds"),
			 errdetail("The parameters are %s.", race_params_brief(params)),
			 errhint(
				 "Use the aggregate: SELECT race_fit(sketch, x) over records that there might be.")));
	for (int i = 0; i < 2; i++)
		if (!PG_ARGISNULL(3 + i))
			bounds[i] = race_vector_new(FLOAT8ARRAYOID, PG_GETARG_DATUM(3 + i), params->dims);
	if (!race_fit_bounds(params, bounds[0], bounds[1], request))
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("race_fit needs bounds"),
			 errhint(
				 "Give lower and upper, or parameters that have them. They must be public: do not take them from the data.")));
	race_fit_check_box(params, request);
	if (!PG_ARGISNULL(1))
	{
		int points = PG_GETARG_INT32(1);

		if (points < 1 || points > RACE_MAX_DENSE_POINTS)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("points must be between 1 and %d", RACE_MAX_DENSE_POINTS)));
		request->points = points;
	}
	request->seed = PG_GETARG_INT64(2);
}

/* Implement race_fit(sketch, points, seed, lower, upper). */
Datum
race_fit(PG_FUNCTION_ARGS)
{
	RaceView view;
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
	Datum sketch;    /* sketch of the first row, stored */
	uint64 identity; /* identity of the sketch of the last row */
	RaceRecords *records;
	bool has_texts;  /* true unless records are one vector */
	char **texts;    /* texts of records, if they have any */
	Size text_size;  /* bytes of all texts */
	FmgrInfo output; /* output function of the type of records */
} Candidates;

static void
start_candidates(FunctionCallInfo fcinfo, Candidates *candidates, Datum sketch)
{
	Oid output;
	bool is_varlena;
	RaceView view;

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

/* Add the record of a row, in the context of that row: what is read leaves copies behind. */
static void
add_candidate(FunctionCallInfo fcinfo, Candidates *candidates)
{
	RaceRecords *records = candidates->records;
	RaceCallSite *site = race_call_site(fcinfo, 2);
	Datum x = PG_GETARG_DATUM(2);
	RaceView view;

	race_sketch_view_any(candidates->sketch, &view);
	if (records->n == RACE_MAX_CANDIDATES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a model can have at most %d candidates", RACE_MAX_CANDIDATES)));
	if (records->n == records->capacity)
	{
		uint32 capacity = Min(Max(2 * records->capacity, 64), RACE_MAX_CANDIDATES);

		race_records_reserve(records, capacity);
		if (candidates->has_texts)
			candidates->texts = candidates->texts == NULL ?
				MemoryContextAlloc(records->context, capacity * sizeof(char *)) :
				repalloc(candidates->texts, capacity * sizeof(char *));
	}
	race_record_read(&site->reader, view.params, x, records, false);
	for (int i = 0; i < records->n_parts; i++)
	{
		RaceRecordsPart *part = &records->parts[i];
		size_t n;

		/* the elements of a set in order, as the kernel compares them */
		if (part->kind != RACE_RECORD_SET)
			continue;
		n = part->starts[records->n + 1] - part->starts[records->n];
		race_normalize_set(part->elements + part->starts[records->n], &n);
		part->starts[records->n + 1] = part->starts[records->n] + n;
	}
	if (candidates->has_texts)
	{
		char *text = OutputFunctionCall(&candidates->output, x);

		/* any of the texts may be in the model, so that all together are bounded like it */
		candidates->text_size += strlen(text) + 1;
		check_model_size(candidates->text_size);
		candidates->texts[records->n] = MemoryContextStrdup(records->context, text);
	}
	records->n++;
}

/*
 * Check that every row has the same sketch.  From PostgreSQL 16 on it may be in memory, and a
 * subquery may make the same one again for each row: then contents are compared.
 */
static void
check_same_sketch(Candidates *candidates, Datum sketch)
{
	RaceView first;
	RaceView view;
	bool same;

	race_sketch_view_any(candidates->sketch, &first);
	race_sketch_view_header(sketch, &view);
	race_params_check_same(first.params, view.params);
	same = memcmp(first.header, view.header, sizeof(RaceHeader)) == 0;
	if (same && view.identity != candidates->identity)
	{
		Pointer stored = (Pointer) PG_DETOAST_DATUM_COPY(sketch);
		RaceView content;

		race_sketch_view(PointerGetDatum(stored), &content);
		same = content.identity == first.identity;
		pfree(stored);
		/* to store one in memory may have made it another content */
		race_sketch_view_header(sketch, &content);
		candidates->identity = content.identity;
	}
	if (!same)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("race_fit needs the same sketch in every row")));
}

/* Add a row to the candidates.  Rows without a sketch or without a record are left out. */
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
	RaceView view;

	if (candidates == NULL)
		PG_RETURN_NULL();
	race_sketch_view(candidates->sketch, &view);
	PG_RETURN_POINTER(fit_records(&view, candidates->records, candidates->texts));
}

/* ----------------------------------------------------------- the cache of fits */

/*
 * A fit takes up to some seconds, and a page of charts asks many times.  So a session keeps
 * the models that it made of sketches without one (racepriv.cache_size).
 */
typedef struct FittedModel
{
	RaceDerived derived; /* must be first */
	RaceSketchDatum *fitted;
} FittedModel;

static void *
create_model(const RaceView *view, void *request, MemoryContext context, Size *size)
{
	MemoryContext old = MemoryContextSwitchTo(context);
	FittedModel *cached = palloc0(sizeof(FittedModel));

	race_derived_init(&cached->derived, view, context);
	cached->fitted = race_fit_box(view, (const RaceFitRequest *) request);
	MemoryContextSwitchTo(old);
	*size = VARSIZE(cached->fitted);
	return cached;
}

static const RaceDerivedKind fitted_model = {"fitted model", create_model, NULL};

/* Implement _race_model(sketch): return a sketch that has a model; one without is fitted first. */
Datum
race_model(PG_FUNCTION_ARGS)
{
	Datum sketch = PointerGetDatum(PG_GETARG_VARLENA_P(0));
	RaceView view;
	RaceFitRequest request = {0};
	FittedModel *cached;
	struct varlena *result;

	race_sketch_view(sketch, &view);
	race_check_askable(&view.header->noise);
	if (view.model != NULL || !race_fit_bounds(view.params, NULL, NULL, &request))
		PG_RETURN_DATUM(sketch);
	cached = race_derived_acquire(&fitted_model, &view, &request);
	result = palloc(VARSIZE(cached->fitted));
	memcpy(result, cached->fitted, VARSIZE(cached->fitted));
	race_derived_release(cached);
	PG_RETURN_POINTER(result);
}

/* ------------------------------------------------------------- race_points */

typedef struct Points
{
	RaceView view;
	RaceResultRow row;
} Points;

static Datum
point_datum(void *state, uint64 i)
{
	Points *points = (Points *) state;
	const RaceModel *model = points->view.model;
	const RaceParams *params = points->view.params;

	if (race_model_is_of_vectors(params))
	{
		RaceColumn column;

		race_model_columns(model, params, &column);
		race_row_add_numbers(&points->row, column.numbers + i * params->dims, params->dims);
		race_row_add_null(&points->row);
	}
	else
	{
		Size length;
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
	Points *points = palloc(sizeof(Points));

	race_row_start(&points->row, fcinfo);
	race_sketch_view(PointerGetDatum(PG_GETARG_VARLENA_P(0)), &points->view);
	race_check_fitted(&points->view);
	race_check_model(&points->view);
	call->max_calls = points->view.model->points;
	call->user_fctx = points;
}

/* Implement race_points(sketch). */
Datum
race_points(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_points, point_datum);
}
