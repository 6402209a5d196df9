/*
 * fit.c
 *		Fitting a model to a sketch.
 *
 * The points are hashed.  The sketch answers at them, their Gram matrix is computed, and
 * the weights are found (solve.h).  Points of vectors are then moved, in rounds.  In the end
 * weights are found from each half of the rows alone.  The residuals of the other half, which
 * has not been seen, tell how much a model misses: the mean of their squares, less the
 * variance that noise gives them.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "../cache/call_site.h"
#include "../lsh/grid.h"
#include "../lsh/radial.h"
#include "answers.h"
#include "candidates.h"
#include "fit.h"
#include "gram.h"
#include "solve.h"

bool		race_fit_progress = false;

#define USUAL_POINTS	2000
#define USUAL_IN_LINE	1000	/* of a grid in one dimension */
#define ITERATIONS		60		/* in a round */
#define LAST_ITERATIONS	120		/* after all rounds, by the misfit of answers */
#define TEST_POINTS		512		/* that residuals are looked at, or fewer: times rows, */
#define TEST_WORK		((Size) 64 * 1024 * 1024)	/* so much at most */
#define MOST_TOGETHER	((Size) 4 * 1024 * 1024)	/* buckets that are in memory at once */

/*
 * Points at random miss more where records are than where they were tested, which is around
 * other points of theirs.
 */
#define UNSEEN			2

/* Streams of random numbers, besides those of the rounds */
#define STREAM_START	100
#define STREAM_TEST		101

typedef struct Fit
{
	const RaceView *view;
	RaceCallSite *site;			/* holds the row functions */
	const RaceGridded *gridded; /* or NULL, of a sketch that is no grid */
	uint32		rows;			/* that are fitted to: the first ones */
	double		records;		/* what all weights add up to */
	RaceRecords *points;
	bool		complete;		/* do they cover all that there may be? */
	double	   *weights;		/* [capacity], as all arrays; in the end, of the first */
	double	   *second;			/* half of the rows, and of the second */
	double	   *answers;
	uint16	   *codes;			/* [capacity][line] */
	float	   *gram;			/* [n][n] */
	double	   *space;
} Fit;

static void
start(Fit *fit, const RaceView *view, RaceRecords *points, uint32 capacity)
{
	Size		line;

	memset(fit, 0, sizeof(Fit));
	fit->view = view;
	if (race_is_grid(view->params))
		fit->gridded = race_gridded_create(view, CurrentMemoryContext, &line);
	fit->site = race_call_site_create(InvalidOid, CurrentMemoryContext);
	race_call_site_hold_rows(fit->site, view->params);
	fit->rows = Min(view->params->rows, RACE_MAX_FITTED_ROWS);
	fit->records = race_answers_divisor(view->header);
	fit->points = points;
	line = race_gram_line(fit->rows);
	fit->weights = palloc(capacity * sizeof(double));
	fit->second = palloc(capacity * sizeof(double));
	fit->answers = palloc(capacity * sizeof(double));
	fit->space = palloc(RACE_SOLVE_SPACE(capacity) * sizeof(double));
	fit->codes = palloc_extended(capacity * line * sizeof(uint16), MCXT_ALLOC_HUGE);
	fit->gram = palloc_extended((Size) capacity * capacity * sizeof(float), MCXT_ALLOC_HUGE);
}

/* The buckets of some records in the first rows, [n][line] */
static void
hash_records(const Fit *fit, const RaceRecords *records, uint32 from, uint32 n,
			 uint32 rows, uint32 *buckets)
{
	Size		line = race_gram_line(rows);
	RaceColumn	columns[RACE_MAX_PARTS];
	uint32		of_block[RACE_RECORDS_TOGETHER * RACE_LANES];
	Size		block;
	uint32		i;

	Assert(n <= RACE_RECORDS_TOGETHER);
	race_records_columns(records, from, columns);
	for (block = 0; block * RACE_LANES < rows; block++)
	{
		CHECK_FOR_INTERRUPTS();
		race_rows_hash(race_rows_of(fit->site->rows), block, columns, n, of_block);
		for (i = 0; i < n; i++)
			memcpy(buckets + i * line + block * RACE_LANES, of_block + i * RACE_LANES,
				   RACE_LANES * sizeof(uint32));
	}
}

/* What a grid answers at the points, and the Gram matrix of the exact kernel */
static void
look_in_grid(Fit *fit)
{
	const RaceParams *params = fit->view->params;
	RaceRadial *radial = palloc(sizeof(RaceRadial));
	Size		n = fit->points->n;
	double	   *places = palloc_extended(n * params->dims * sizeof(double), MCXT_ALLOC_HUGE);
	const double *x = fit->points->parts[0].numbers;
	Size		i;

	race_radial_init(radial, params);
	for (i = 0; i < n; i++)
	{
		fit->answers[i] = race_gridded_sum(fit->gridded, x + i * params->dims);
		race_radial_place(radial, params, x + i * params->dims, places + i, n);
	}
	race_gram_of_places(radial, places, n, fit->gram);
	pfree(places);
	pfree(radial);
}

/* What rows first ... end - 1 answer at the points, and the Gram matrix that they have */
static void
look_in_rows(Fit *fit, uint32 first, uint32 end)
{
	Size		line = race_gram_line(end);
	Size		code_line = race_gram_line(end - first);
	uint32	   *buckets = palloc_extended(RACE_RECORDS_TOGETHER * line * sizeof(uint32),
										  MCXT_ALLOC_HUGE);
	uint32		from;
	uint32		i;

	for (from = 0; from < fit->points->n; from += RACE_RECORDS_TOGETHER)
	{
		uint32		n = Min(fit->points->n - from, RACE_RECORDS_TOGETHER);

		hash_records(fit, fit->points, from, n, end, buckets);
		for (i = 0; i < n; i++)
		{
			fit->answers[from + i] = race_answers_mean(fit->view, NULL, buckets + i * line,
													   first, end);
			race_gram_pack(buckets + i * line + first, end - first, from + i,
						   fit->codes + (from + i) * code_line);
		}
	}
	pfree(buckets);
	race_gram_of_codes(fit->codes, fit->points->n, end - first, fit->gram);
}

static void
look_at_points(Fit *fit, uint32 first, uint32 end)
{
	if (fit->gridded != NULL)
		look_in_grid(fit);
	else
		look_in_rows(fit, first, end);
}

static void
improve(Fit *fit, RaceMisfit misfit, int iterations, double *weights)
{
	race_solve_weights(fit->gram, fit->points->n, fit->answers, fit->records, misfit,
					   iterations, weights, fit->space);
}

/* All points weigh the same. */
static void
spread_evenly(const Fit *fit, double *weights)
{
	uint32		i;

	for (i = 0; i < fit->points->n; i++)
		weights[i] = fit->records / fit->points->n;
}

/* Find the weights from some of the rows. */
static void
solve_half(Fit *fit, uint32 first, uint32 end, double *weights)
{
	look_at_points(fit, first, end);
	spread_evenly(fit, weights);
	improve(fit, RACE_MISFIT_COUNTERS, ITERATIONS, weights);
	improve(fit, RACE_MISFIT_ANSWERS, LAST_ITERATIONS, weights);
}

/* One row has no halves. */
static void
solve_halves(Fit *fit)
{
	uint32		half = race_model_first_rows(fit->view->params);

	solve_half(fit, 0, half, fit->weights);
	if (half < fit->rows)
		solve_half(fit, half, fit->rows, fit->second);
	else
		memcpy(fit->second, fit->weights, fit->points->n * sizeof(double));
}

/* ------------------------------------------------------------------ models */

/* Does a point have a weight? */
static bool
is_heavy(const Fit *fit, uint32 i)
{
	return fit->weights[i] > 0 || fit->second[i] > 0;
}

static uint32
count_heavy(const Fit *fit)
{
	uint32		n = 0;
	uint32		i;

	for (i = 0; i < fit->points->n; i++)
		n += is_heavy(fit, i);
	return n;
}

/* Append a value of a part of point i to the words of a model. */
static uint64 *
write_value(uint64 *next, const RaceRecordsPart *part, uint32 i)
{
	const void *from = part->kind == RACE_RECORD_VECTOR ?
		(const void *) (part->numbers + (Size) i * part->width) :
		(const void *) (part->elements + (part->kind == RACE_RECORD_SET ?
										  part->starts[i] : (Size) i * part->width));
	Size		n = part->kind == RACE_RECORD_SET ?
		part->starts[i + 1] - part->starts[i] : part->width;

	if (n > 0)
		memcpy(next, from, n * sizeof(uint64));
	return next + n;
}

static uint64 *
write_part(uint64 *next, const Fit *fit, const RaceRecordsPart *part)
{
	uint64		start = 0;
	uint32		i;

	if (part->kind == RACE_RECORD_SET)
	{
		*next++ = 0;
		for (i = 0; i < fit->points->n; i++)
			if (is_heavy(fit, i))
				*next++ = start += part->starts[i + 1] - part->starts[i];
	}
	for (i = 0; i < fit->points->n; i++)
		if (is_heavy(fit, i))
			next = write_value(next, part, i);
	return next;
}

static void
write_texts(uint64 *offsets, const Fit *fit, char *const *texts, uint32 heavy)
{
	char	   *bytes = (char *) (offsets + heavy + 1);
	uint64		at = 0;
	uint32		i;

	*offsets++ = 0;
	for (i = 0; i < fit->points->n; i++)
		if (is_heavy(fit, i))
		{
			memcpy(bytes + at, texts[i], strlen(texts[i]));
			*offsets++ = at += strlen(texts[i]);
		}
}

/* A model of the points that have a weight.  Nothing is known of residuals yet. */
static RaceModel *
make_model(const Fit *fit, char *const *texts, Size *size)
{
	uint64		elements = 0;
	uint64		text_size = 0;
	uint32		heavy = count_heavy(fit);
	RaceModel  *model;
	uint64	   *next;
	uint32		i;
	int			k;

	for (i = 0; i < fit->points->n; i++)
		if (is_heavy(fit, i))
		{
			elements += race_records_sets_size(fit->points, i, 1) / sizeof(uint64);
			text_size += texts == NULL ? 0 : strlen(texts[i]);
		}
	*size = race_model_size(fit->view->params, heavy, elements, text_size);
	if (*size > RACE_MAX_MODEL_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a model can be at most %d MB large",
						(int) (RACE_MAX_MODEL_BYTES / (1024 * 1024))),
				 errhint("Fit fewer points.")));
	model = palloc_extended(*size, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	model->points = heavy;
	model->text_size = text_size;
	for (i = 0, heavy = 0; i < fit->points->n; i++)
		if (is_heavy(fit, i))
		{
			race_model_weights(model, RACE_HALF_FIRST)[heavy] = fit->weights[i];
			race_model_weights(model, RACE_HALF_SECOND)[heavy++] = fit->second[i];
		}
	next = race_model_words(model);
	for (k = 0; k < fit->points->n_parts; k++)
		next = write_part(next, fit, &fit->points->parts[k]);
	if (texts != NULL)
		write_texts(next, fit, texts, heavy);
	return model;
}

/* ---------------------------------------------------------------- residuals */

/* Means over some records */
typedef struct Residuals
{
	double		square;			/* of what the rows of a half say beyond the model, */
	double		noise;			/* and of what noise alone has in it */
	double		variance;		/* of the residual of all rows, */
	double		raw_variance;	/* and of what they say without a model */
	double		answer;			/* square of what the model answers, */
	double		disagreement;	/* and of how its halves differ in that */
} Residuals;

/* Of a grid everything is seen at once, and the noise is known. */
static void
add_grid_residuals(const Fit *fit, RaceReady *ready, const RaceColumn *record, Residuals *sum)
{
	double		answer = race_gridded_sum(fit->gridded, record[0].numbers);
	double		model = race_ready_sum(ready, record);
	double		noise = race_gridded_noise(fit->gridded);
	double		variance = noise + race_gridded_bias(fit->gridded, answer);

	sum->square += pow(answer - model, 2);
	sum->noise += noise;
	sum->variance += variance;
	sum->raw_variance += variance;
	sum->answer += model * model;
}

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
	sum->raw_variance += race_answers_variance(view, NULL, buckets, 0, rows,
											   race_answers_mean(view, NULL, buckets, 0, rows),
											   noise / rows);
	sum->answer += pow(race_ready_sum(ready, record), 2);
	sum->disagreement += pow(race_ready_disagreement(ready, record), 2);
}

static Residuals
measure_residuals(const Fit *fit, const RaceModel *model, Size size,
				  const RaceRecords *tests)
{
	uint32		rows = fit->view->params->rows;
	Size		line = race_gram_line(rows);
	uint32		together = Max(Min(MOST_TOGETHER / line, RACE_RECORDS_TOGETHER), 1);
	uint32	   *buckets = palloc_extended(together * line * sizeof(uint32),
										  MCXT_ALLOC_HUGE);
	RaceView	view = *fit->view;
	Residuals	sum = {0, 0, 0, 0, 0, 0};
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

		hash_records(fit, tests, from, n, rows, buckets);
		for (i = 0; i < n; i++)
		{
			CHECK_FOR_INTERRUPTS();
			race_records_columns(tests, from + i, record);
			if (fit->gridded != NULL)
				add_grid_residuals(fit, ready, record, &sum);
			else
				add_residuals(&view, ready, record, buckets + i * line, &sum);
		}
	}
	pfree(buckets);
	sum.square /= tests->n;
	sum.noise /= tests->n;
	sum.variance /= tests->n;
	sum.raw_variance /= tests->n;
	sum.answer /= tests->n;
	sum.disagreement /= tests->n;
	return sum;
}

/*
 * May the model not be asked?  A row function of vectors has one number more than there are
 * dimensions: points that were moved to suit fewer than twice as many rows suit them by
 * chance.  A grid has no second half to test such points with.
 */
static bool
is_untested(const Fit *fit)
{
	if (fit->complete)
		return fit->gridded == NULL && fit->rows < 2;
	return fit->gridded != NULL || fit->rows < 2 * (fit->view->params->dims + 1);
}

/*
 * What share of an answer the model misses.  A half misses what points cannot say, and what
 * noise and sampling have moved.  The latter is independent in both halves: half of the
 * square by which they differ; their mean has half of it.  Where the model answers nothing,
 * it may miss all.
 */
static double
misfit_of(const Fit *fit, const Residuals *residuals)
{
	double		moved = residuals->disagreement / 2;
	double		unsaid = Max(residuals->square - residuals->noise - moved, 0);
	double		missed = (fit->complete ? 1 : UNSEEN * UNSEEN) * unsaid + moved / 2;

	return missed == 0 ? 0 : Min(sqrt(missed / residuals->answer), RACE_UNTESTED / 2);
}

/* Make the model, and find out how much it misses. */
static RaceSketchDatum *
finish(const Fit *fit, const RaceRecords *tests, char *const *texts)
{
	Size		size;
	RaceModel  *model = make_model(fit, texts, &size);
	Residuals	residuals = measure_residuals(fit, model, size, tests);

	/* a single row shows no variance */
	model->residual_variance = isfinite(residuals.variance) ? residuals.variance :
		residuals.square;
	model->residual_variance = Min(model->residual_variance, RACE_MAX_RESIDUAL_VARIANCE);
	model->misfit = is_untested(fit) ? RACE_UNTESTED : misfit_of(fit, &residuals);
	if (race_fit_progress)
		ereport(NOTICE,
				(errmsg("race_fit: " UINT64_FORMAT " points miss %.3g %% of an answer; rows vary by %.3g records, by %.3g without the model",
						model->points, 100 * model->misfit, sqrt(model->residual_variance),
						sqrt(residuals.raw_variance))));
	return race_sketch_with_model(fit->view, model, size);
}

/* Leave the memory context of a fit, and take the result along. */
static RaceSketchDatum *
leave(MemoryContext context, MemoryContext old, RaceSketchDatum *flat)
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

bool
race_fit_bounds(const RaceParams *params, const double *lower, const double *upper,
				RaceFitRequest *request)
{
	request->lower = lower != NULL ? lower : race_array(params, RACE_ARRAY_LOWER);
	request->upper = upper != NULL ? upper : race_array(params, RACE_ARRAY_UPPER);
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

/* The first points.  Returns whether they are a grid, which stays as it is. */
static bool
place_first(const RaceParams *params, const RaceBox *box, const RaceFitRequest *request,
			uint32 capacity, RaceRecords *points)
{
	const double *factors = race_array(params, RACE_ARRAY_BANDWIDTHS);
	double	   *widths = palloc(params->dims * sizeof(double));
	double	   *x = race_records_vector(points, 0);
	uint32		i;

	for (i = 0; i < params->dims; i++)
		widths[i] = params->bandwidth * (factors == NULL ? 1 : factors[i]) / params->power;
	if (race_array(params, RACE_ARRAY_MATRIX) == NULL &&
		race_kernel_type(params->kernel)->of_distance != NULL)
		points->n = race_candidates_grid(box, widths, capacity, x);
	pfree(widths);
	if (points->n > 0)
		return true;
	race_candidates_uniform(box, request->seed, STREAM_START, capacity, x);
	points->n = capacity;
	return false;
}

/* Keep the heavy half of the points, and draw the others around them. */
static void
move_points(Fit *fit, const RaceBox *box, const RaceFitRequest *request, int round)
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
place_tests(const Fit *fit, const RaceBox *box, const RaceFitRequest *request)
{
	RaceRecords *tests = race_records_create(fit->view->params, CurrentMemoryContext);
	uint32		n = Max(Min(TEST_WORK / fit->view->params->rows, TEST_POINTS), 8);
	double	   *x;

	race_records_reserve(tests, n);
	x = race_records_vector(tests, 0);
	race_candidates_around(box, request->seed, STREAM_TEST,
						   race_candidates_jitter(box, USUAL_POINTS, RACE_FIT_ROUNDS - 1),
						   fit->points->parts[0].numbers, fit->weights, fit->points->n,
						   n, x);
	tests->n = n;
	return tests;
}

static void
fit_rounds(Fit *fit, const RaceBox *box, const RaceFitRequest *request)
{
	int			round;

	spread_evenly(fit, fit->weights);
	for (round = 1; round < RACE_FIT_ROUNDS; round++)
	{
		look_at_points(fit, 0, fit->rows);
		improve(fit, RACE_MISFIT_COUNTERS, ITERATIONS, fit->weights);
		if (race_fit_progress)
			ereport(NOTICE,
					(errmsg("race_fit: round %d of %d", round, RACE_FIT_ROUNDS)));
		move_points(fit, box, request, round);
	}
}

RaceSketchDatum *
race_fit_box(const RaceView *view, const RaceFitRequest *request)
{
	const RaceParams *params = view->params;
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "race_fit",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	RaceBox		box = {params->dims, request->lower, request->upper};
	uint32		most = RACE_MAX_MODEL_BYTES / 2 / (sizeof(double) * (params->dims + 2));
	uint32		capacity = request->points > 0 ? request->points :
		Min(params->dims == 1 ? USUAL_IN_LINE : USUAL_POINTS, most);
	RaceRecords *points = race_records_create(params, context);
	RaceSketchDatum *flat;
	Fit			fit;

	race_records_reserve(points, capacity);
	start(&fit, view, points, capacity);
	fit.complete = place_first(params, &box, request, capacity, points);
	if (!fit.complete)
		fit_rounds(&fit, &box, request);
	solve_halves(&fit);
	flat = finish(&fit, place_tests(&fit, &box, request), NULL);
	return leave(context, old, flat);
}

/* ----------------------------------------------------------------- records */

RaceSketchDatum *
race_fit_records(const RaceView *view, RaceRecords *records, char *const *texts)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "race_fit",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	RaceSketchDatum *flat;
	Fit			fit;

	start(&fit, view, records, records->n);
	fit.complete = true;
	solve_halves(&fit);
	flat = finish(&fit, records, texts);
	return leave(context, old, flat);
}
