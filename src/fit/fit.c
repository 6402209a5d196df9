/*
 * fit.c
 *		Fitting a model to a sketch.
 *
 * The points are hashed.  The sketch answers at them, their Gram matrix is computed, and
 * the weights are found (solve.h).  Points of vectors are then moved, in rounds, and flow
 * (flow.h).  Of many candidates that were given some are chosen (choose.h).  In the end weights
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
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "../lsh/balanced.h"
#include "../lsh/grid.h"
#include "../lsh/surrogate.h"
#include "../server/progress.h"
#include "answers.h"
#include "fit.h"
#include "flow.h"
#include "work.h"

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

/* Is the box that of a grid sketch? */
static bool
covers_grid(const RaceFitWork *fit, const RaceBox *box)
{
	const RaceParams *params = fit->view->params;
	Size		size = params->dims * sizeof(double);

	return fit->gridded != NULL &&
		memcmp(box->lower, race_array(params, RACE_ARRAY_LOWER), size) == 0 &&
		memcmp(box->upper, race_array(params, RACE_ARRAY_UPPER), size) == 0;
}

/* Place a grid of at most n points, if they may be one.  Returns whether they are. */
static bool
place_grid(RaceFitWork *fit, const RaceBox *box, uint32 n)
{
	const RaceParams *params = fit->view->params;
	const double *factors = race_array(params, RACE_ARRAY_BANDWIDTHS);
	double	   *widths = palloc(params->dims * sizeof(double));
	Size		sides[RACE_LATTICE_DIMS];
	uint32		i;

	for (i = 0; i < params->dims; i++)
		widths[i] = params->bandwidth * (factors == NULL ? 1 : factors[i]) /
			params->power;
	if (covers_grid(fit, box))
		fit->points->n = race_candidates_nodes(box, widths, race_array(params, RACE_ARRAY_CELLS),
											   n, race_records_vector(fit->points, 0), sides);
	else if (race_array(params, RACE_ARRAY_MATRIX) == NULL &&
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

	return race_fit_bounds(params, NULL, NULL, &request);
}

Datum
race_fit_private(Datum sketch)
{
	RaceView	view;
	RaceFitRequest request = {0};

	race_sketch_view(sketch, &view);
	race_fit_bounds(view.params, NULL, NULL, &request);
	return PointerGetDatum(race_fit_box(&view, &request));
}
