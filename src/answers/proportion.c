/*
 * proportion.c
 *		Conditional means: Gaussian-process regression of a proportion
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "../core/core.h"
#include "cosine_basis.h"
#include "estimate.h"
#include "evaluator.h"
#include "proportion.h"
#include "row_estimator.h"
#include "solver.h"
#include "waves.h"

/*
 * race_conditional_mean: the mean of a bounded value near a query.
 *
 * The values lie between L and U, and the share (value - L) / (U - L) of each record is in
 * the upper of two sketches, the rest in the lower one.  So with f the kernel sum of a
 * sketch, the share s = f_U / (f_L + f_U) estimates that for which L + (U - L) s is the mean
 * of the values, weighted by the kernel (Nadaraya 1964, Watson 1964).
 *
 * The interval is Fieller's: all shares s for which (1 - s) f_U - s f_L is within its noise
 * of zero.  Noise and rows, and which of them a record is in, give it the variance
 * (1 - s)^2 v_U + s^2 v_L - 2 s (1 - s) c.
 *
 * Where the sketches have a trend (proportion.h), it is the first guess m.  What the sums say beyond
 * it, e = (f_U - m (f_L + f_U)) / (f_L + f_U), has a variance v of noise and the variance b that
 * shares have beyond the trend.  So m + b / (b + v) e has the least error.
 */

PG_FUNCTION_INFO_V1(race_conditional_mean);

/* A sum below so many standard deviations of its noise says nothing. */
#define NOTHING		2.0

/* The variance of a sum of records whose shares are rounded to steps in a grid: at most */
#define GRID_SPLIT	(0.25 / (RACE_GRID_STEPS * RACE_GRID_STEPS))

void
race_half_sites_create(RaceHalfSites *sites, Oid type, MemoryContext context)
{
	int			i;

	for (i = 0; i < RACE_HALVES; i++)
		sites->sites[i] = race_call_site_create(type, context);
}

/*
 * Both must have the same rows: those that one of them lacks have the rest of its records.
 * Sketches of whole records are halves, too, if each record is in one of them.
 */
static void
check_pair(const RaceView *lower, const RaceView *upper)
{
	race_params_check_same(lower->params, upper->params);
	if (lower->header->noise.half == RACE_UPPER_HALF ||
		upper->header->noise.half == RACE_LOWER_HALF)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the lower half must come first, and then the upper half")));
	race_check_belong(lower->header, upper->header);
}

/* The trend asks about places of its own, before the query is asked about. */
static const RaceTrend *
ask(RaceHalfSites *sites, const RaceValuePair *pair, Datum query,
	RaceQuestion questions[RACE_HALVES])
{
	const RaceTrend *trend;
	int			i;

	for (i = 0; i < RACE_HALVES; i++)
		race_ask_sketch(sites->sites[i], pair->sketches[i], &questions[i]);
	check_pair(&questions[RACE_LOWER].view, &questions[RACE_UPPER].view);
	trend = race_trend_at(questions);
	for (i = 0; i < RACE_HALVES; i++)
		race_ask_about(&questions[i], query);
	return trend;
}

/*
 * The share of the upper sketch in the sum of both.  True sums are not negative, so to cut
 * off what is brings estimates nearer to them.
 */
static RaceRatio
share_of_upper(const RaceDensity densities[RACE_HALVES], bool grid, double covariance)
{
	double		lower = Max(densities[RACE_LOWER].kernel_sum, 0);
	double		upper = Max(densities[RACE_UPPER].kernel_sum, 0);
	RaceRatio	share;

	share.a = upper;
	share.b = lower + upper;
	share.a_variance = densities[RACE_UPPER].sum_variance +
		(grid ? GRID_SPLIT * (lower + upper) : 0);
	share.b_variance = densities[RACE_LOWER].sum_variance +
		densities[RACE_UPPER].sum_variance + 2 * covariance;
	share.covariance = densities[RACE_UPPER].sum_variance + covariance;
	return share;
}

/* The standard deviation of the share, if the sum is far enough from zero */
static double
deviation_of(const RaceRatio *share)
{
	double		s = share->a / share->b;

	return sqrt(Max(share->a_variance - 2 * s * share->covariance +
					s * s * share->b_variance, 0)) / share->b;
}

static double
within(const RaceValuePair *pair, double share)
{
	double		lower = pair->bounds[RACE_LOWER];
	double		upper = pair->bounds[RACE_UPPER];

	return share >= 1 ? upper : share <= 0 ? lower : lower + (upper - lower) * share;
}

/* A share, and what is known of it */
typedef struct Estimate
{
	bool		known;			/* else there is only an interval */
	double		share;
	double		deviation;
	double		lower;
	double		upper;
} Estimate;

/* Without a trend */
static Estimate
estimate_by_ratio(const RaceRatio *share, double t)
{
	/* the variance of the sum, at least that of one sketch */
	double		variance = Max(share->b_variance, share->a_variance);
	Estimate	estimate = {share->b > NOTHING * sqrt(variance), 0, 0, 0, 1};

	if (estimate.known)
	{
		estimate.share = share->a / share->b;
		estimate.deviation = deviation_of(share);
	}
	if (!race_ratio_bounds(share, t, &estimate.lower, &estimate.upper))
	{
		estimate.lower = 0;
		estimate.upper = 1;
	}
	return estimate;
}

/* A square that is so many times the variance of noise is not noise: it is believed. */
#define TOO_LARGE	16.0

/* The variance of a sum that is noise */
static double
noise_of(const RaceQuestion *question, const RaceDensity *density)
{
	return race_is_grid(question->view.params) ?
		race_gridded_noise(race_ready_grid(race_ready_at(question->site, &question->view))) :
		density->sum_variance;
}

/*
 * Noise weighs the sums against the trend.  What cells may change counts for the interval alone: it
 * is a bound for all places, and nearly cancels in shares.
 *
 * The error of the trend and that of the sums are not independent; their covariance is at most
 * the variance of the trend.  What cells move in the sums of nodes is more than what they move in
 * those of their projection (fit/gridded.c), so the interval holds it once.
 */
static Estimate
estimate_by_trend(const RaceQuestion questions[RACE_HALVES],
				  const RaceDensity densities[RACE_HALVES], const RaceRatio *share,
				  const RaceTrendShare *trend, double t)
{
	double		m = trend->share;
	double		whole = Max(share->b, NOTHING * sqrt(share->b_variance));
	double		e = ((1 - m) * densities[RACE_UPPER].kernel_sum -
					 m * densities[RACE_LOWER].kernel_sum) / whole;
	double		v = Max(share->a_variance - 2 * m * share->covariance +
						m * m * share->b_variance, 0) / (whole * whole);
	double		noise = ((1 - m) * (1 - m) * noise_of(&questions[RACE_UPPER], &densities[RACE_UPPER]) +
						 m * m * noise_of(&questions[RACE_LOWER], &densities[RACE_LOWER])) /
		(whole * whole);
	double		beyond;
	double		part;
	Estimate	estimate;

	noise = Min(noise, v);
	beyond = Max(trend->beyond * (race_is_grid(questions[0].view.params) ? sqrt(noise) : 1),
				 e * e - TOO_LARGE * v);
	part = isfinite(v) && beyond + noise > 0 ? beyond / (beyond + noise) : 0;
	estimate.known = true;
	estimate.share = Max(Min(m + part * e, 1), 0);
	estimate.deviation = sqrt((part > 0 ? part * (noise + part * (v - noise)) : beyond) +
							  (1 - part * part) * trend->variance + trend->moved * trend->moved);
	estimate.lower = estimate.share - t * estimate.deviation;
	estimate.upper = estimate.share + t * estimate.deviation;
	return estimate;
}

static void
add_results(RaceResultRow *row, const RaceValuePair *pair, const Estimate *estimate)
{
	double		range = pair->bounds[RACE_UPPER] - pair->bounds[RACE_LOWER];

	race_row_add_if(row, estimate->known, Float8GetDatum(within(pair, estimate->share)));
	race_row_add_if(row, estimate->known, Float8GetDatum(range * estimate->deviation));
	race_row_add(row, Float8GetDatum(within(pair, estimate->lower)));
	race_row_add(row, Float8GetDatum(within(pair, estimate->upper)));
}

/* The trend at the query; false if there is none */
static bool
find_trend(RaceQuestion questions[RACE_HALVES], const RaceTrend *trend, RaceTrendShare *share)
{
	RaceColumn	record[RACE_MAX_PARTS];

	if (trend == NULL)
		return false;
	race_question_record(&questions[RACE_LOWER], record);
	return race_trend_share(trend, record[0].numbers, share);
}

static Estimate
estimate(RaceQuestion questions[RACE_HALVES], const RaceTrend *trend, double confidence)
{
	RaceDensity densities[RACE_HALVES];
	double		covariance = race_estimate_two(questions, densities);
	RaceRatio	share = share_of_upper(densities, race_is_grid(questions[0].view.params),
									   covariance);
	RaceTrendShare trend_share;
	double		t = 0;
	int			i;

	for (i = 0; i < RACE_HALVES; i++)
	{
		race_estimate_warn(&questions[i], &densities[i]);
		questions[RACE_UPPER].site->warned |= questions[RACE_LOWER].site->warned;
		t = Max(t, race_estimate_reach(&questions[i].view, confidence));
	}
	return find_trend(questions, trend, &trend_share) ?
		estimate_by_trend(questions, densities, &share, &trend_share, t) :
		estimate_by_ratio(&share, t);
}

Datum
race_conditional_mean_row(FunctionCallInfo fcinfo, RaceHalfSites *sites,
						  const RaceValuePair *pair, Datum query, double confidence)
{
	RaceQuestion questions[RACE_HALVES];
	RaceResultRow row;
	const RaceTrend *trend;
	Estimate	found;

	race_check_confidence(confidence);
	race_check_value_bounds(pair->bounds[RACE_LOWER], pair->bounds[RACE_UPPER]);
	race_row_start(&row, fcinfo);
	trend = ask(sites, pair, query, questions);
	found = estimate(questions, trend, confidence);
	add_results(&row, pair, &found);
	return race_row_datum(&row);
}

/*
 * race_conditional_mean(lower_sketch, upper_sketch, q, value_lower, value_upper,
 * confidence)
 */
Datum
race_conditional_mean(PG_FUNCTION_ARGS)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;
	RaceValuePair pair;
	int			i;

	if (flinfo->fn_extra == NULL)
	{
		RaceHalfSites *sites = MemoryContextAlloc(flinfo->fn_mcxt, sizeof(RaceHalfSites));

		race_half_sites_create(sites, race_argument_type(flinfo, 2), flinfo->fn_mcxt);
		flinfo->fn_extra = sites;
	}
	for (i = 0; i < RACE_HALVES; i++)
	{
		pair.sketches[i] = PG_GETARG_DATUM(i);
		pair.bounds[i] = PG_GETARG_FLOAT8(3 + i);
	}
	return race_conditional_mean_row(fcinfo, (RaceHalfSites *) flinfo->fn_extra, &pair,
									 PG_GETARG_DATUM(2), PG_GETARG_FLOAT8(5));
}

/*
 * Local observations of a proportion.
 */

#define MOST_NODES		4096
#define MOST_POINTS		2048	/* there is a matrix of them */

/* A number of records that is so many standard deviations above 0 is believed. */
#define BELIEVED		3.0

static void
allocate(RaceEvidence *evidence, const RaceParams *params, uint32 n)
{
	int			half;

	evidence->n = n;
	evidence->x = palloc((Size) n * params->dims * sizeof(double));
	evidence->places = palloc((Size) n * evidence->radial->dims * sizeof(double));
	evidence->records = palloc0(n * sizeof(double));
	for (half = 0; half < RACE_HALVES; half++)
		evidence->said[half] = palloc0(n * sizeof(double));
}

static void
measure_places(RaceEvidence *evidence, const RaceParams *params)
{
	uint32		i;

	for (i = 0; i < evidence->n; i++)
		race_radial_place(evidence->radial, params, evidence->x + (Size) i * params->dims,
						  evidence->places + i, evidence->n);
}

/* -------------------------------------------------------------------- grids */

/*
 * The nodes of the coarsest level that a sketch has, coarser still if they are too many, in
 * records; `noise` becomes the variance of one.  Returns NULL if they stay too many.
 */
static double *
coarse_nodes(const RaceView *view, RaceGrid *grid, double *noise)
{
	double		unit = (double) race_record_unit(view->params);
	Size		from = 0;
	double	   *nodes;
	int			level;
	uint64		k;

	race_grid_of(view->params, grid);
	for (level = 1; level < race_grid_levels(view->params); level++)
	{
		from += grid->nodes;
		race_grid_halve(grid);
		race_grid_halve(grid);
	}
	nodes = palloc_extended(grid->nodes * sizeof(double), MCXT_ALLOC_HUGE);
	for (k = 0; k < grid->nodes; k++)
		nodes[k] = race_counters_get(view->counters, view->width, from + k) / unit;
	*noise = view->header->noise.counter_variance / (unit * unit);
	for (; grid->nodes > MOST_NODES; race_grid_halve(grid))
	{
		if (grid->halvings == 0)
			return NULL;
		race_grid_coarsen_real(grid, nodes, nodes);
		*noise *= pow(1.5, grid->dims);	/* weights 1/2, 1, 1/2 along each axis */
	}
	return nodes;
}

static void
place_nodes(RaceEvidence *evidence, const RaceGrid *grid)
{
	uint32		i;

	for (i = 0; i < evidence->n; i++)
	{
		uint32		rest = i;
		int			axis;

		for (axis = grid->dims - 1; axis >= 0; axis--)
		{
			uint32		side = grid->cells[axis] + 1;

			evidence->x[(Size) i * grid->dims + axis] = grid->lower[axis] +
				rest % side * grid->width[axis];
			rest /= side;
		}
	}
}

/* Replace each node of a line by 1/4, 1/2 and 1/4 of those around it. */
static void
smooth_line(double *v, uint32 n, Size step)
{
	double		before = v[0];
	uint32		i;

	for (i = 0; i < n; i++)
	{
		double		here = v[i * step];
		double		after = i + 1 < n ? v[(i + 1) * step] : here;

		v[i * step] = before / 4 + here / 2 + after / 4;
		before = here;
	}
}

static void
smooth_nodes(const RaceGrid *grid, double *v)
{
	Size		step = grid->nodes;
	uint32		axis;
	Size		i;

	CHECK_FOR_INTERRUPTS();
	for (axis = 0; axis < grid->dims; axis++)
	{
		uint32		side = grid->cells[axis] + 1;

		step /= side;
		for (i = 0; i < grid->nodes; i++)
			if (i / step % side == 0)
				smooth_line(v + i, side, step);
	}
}

/* The part of a variance that so many smoothings along an axis leave: squared binomials */
static double
left_of_variance(int smoothings)
{
	double		left = 1;
	int			i;

	/* C(4 s, 2 s) / 2^(4 s) */
	for (i = 1; i <= 2 * smoothings; i++)
		left *= (2.0 * i - 1) / (2.0 * i);
	return left;
}

/*
 * How many records nodes have: of less and less local means the first one that is far above its
 * noise.  Where none is, there are none worth to be weighed.
 */
static void
find_records(RaceEvidence *evidence, const RaceGrid *grid)
{
	static const int smoothings[] = {0, 1, 4, 16, 64};
	double	   *mean = palloc(evidence->n * sizeof(double));
	int			done = 0;
	int			i;
	uint32		k;

	for (k = 0; k < evidence->n; k++)
		mean[k] = evidence->said[RACE_LOWER][k] + evidence->said[RACE_UPPER][k];
	for (i = 0; i < (int) lengthof(smoothings); i++)
	{
		double		variance;

		for (; done < smoothings[i]; done++)
			smooth_nodes(grid, mean);
		variance = 2 * evidence->noise * pow(left_of_variance(done), grid->dims);
		for (k = 0; k < evidence->n; k++)
			if (evidence->records[k] == 0 && mean[k] > BELIEVED * sqrt(variance))
				/* less what noise adds to its square, on average */
				evidence->records[k] = mean[k] - variance / mean[k];
	}
	pfree(mean);
}

static void
gather_nodes(const RaceQuestion *questions, RaceEvidence *evidence)
{
	const RaceParams *params = questions[0].view.params;
	double	   *nodes[RACE_HALVES];
	RaceGrid	grid;
	int			half;

	for (half = 0; half < RACE_HALVES; half++)
	{
		double		noise;

		nodes[half] = coarse_nodes(&questions[half].view, &grid, &noise);
		if (nodes[half] == NULL)
			return;
		evidence->noise += noise / RACE_HALVES;
	}
	allocate(evidence, params, grid.nodes);
	for (half = 0; half < RACE_HALVES; half++)
		evidence->said[half] = nodes[half];
	memcpy(evidence->steps, grid.step, sizeof(grid.step));
	place_nodes(evidence, &grid);
	measure_places(evidence, params);
	find_records(evidence, &grid);
}

/* --------------------------------------------------------------------- rows */

typedef struct Point
{
	const double *x;
	double		records;
} Point;

static int
compare_points(const void *a, const void *b)
{
	double		x = ((const Point *) a)->records;
	double		y = ((const Point *) b)->records;

	return (x < y) - (x > y);
}

/* The points of both models that weigh something, the heaviest first */
static uint32
collect_points(const RaceQuestion *questions, Point *points)
{
	uint32		n = 0;
	int			half;
	uint64		i;

	for (half = 0; half < RACE_HALVES; half++)
	{
		const RaceView *view = &questions[half].view;
		RaceColumn	columns[RACE_MAX_PARTS];

		race_check_model(view);
		race_model_columns(view->model, view->params, columns);
		for (i = 0; i < view->model->points; i++)
		{
			points[n].x = columns[0].numbers + i * view->params->dims;
			points[n].records = race_model_weight(view->model, i);
			n += points[n].records > 0;
		}
	}
	qsort(points, n, sizeof(Point), compare_points);
	return n;
}

/* What the model says, and all that rows say beyond it */
static double
sum_of_half(RaceQuestion *question, const double *x)
{
	const RaceView *view = &question->view;
	RaceReady  *ready = race_ready_at(question->site, view);
	RaceColumn	record[RACE_MAX_PARTS];

	race_ask_about_vector(question, x);
	race_question_record(question, record);
	return race_ready_sum(ready, record) +
		race_answers_correct(view->params, race_answers_mean(view, ready, question->buckets, 0,
															 view->params->rows), 0);
}

static double
noise_of_rows(const RaceView *view)
{
	double		p = race_collision_probability(view->params);

	return Max(view->header->noise.counter_variance / view->params->rows,
			   view->model->residual_variance) / ((1 - p) * (1 - p));
}

static void
gather_points(RaceQuestion *questions, RaceEvidence *evidence)
{
	const RaceParams *params = questions[0].view.params;
	Point	   *points = palloc((questions[0].view.model->points +
								 questions[1].view.model->points + 1) * sizeof(Point));
	uint32		n = collect_points(questions, points);
	int			half;
	uint32		i;

	if (n == 0)
		return;
	allocate(evidence, params, Min(n, MOST_POINTS));
	for (i = 0; i < evidence->n; i++)
	{
		memcpy(evidence->x + (Size) i * params->dims, points[i].x,
			   params->dims * sizeof(double));
		evidence->records[i] = points[i].records;
	}
	measure_places(evidence, params);
	for (half = 0; half < RACE_HALVES; half++)
	{
		evidence->noise += noise_of_rows(&questions[half].view) / RACE_HALVES;
		for (i = 0; i < evidence->n; i++)
		{
			CHECK_FOR_INTERRUPTS();
			evidence->said[half][i] = sum_of_half(&questions[half],
												  evidence->x + (Size) i * params->dims);
		}
	}
	evidence->gram = palloc_extended((Size) evidence->n * evidence->n * sizeof(float),
									 MCXT_ALLOC_HUGE);
	race_gram_of_places(evidence->radial, evidence->places, evidence->n, evidence->gram);
	pfree(points);
}

/* --------------------------------------------------------------------- both */

static bool
has_tested_model(const RaceView *view)
{
	return view->model != NULL && view->model->misfit < RACE_UNTESTED;
}

void
race_evidence_gather(RaceQuestion questions[RACE_HALVES], RaceEvidence *evidence)
{
	const RaceParams *params = questions[0].view.params;

	memset(evidence, 0, sizeof(RaceEvidence));
	if (!race_radial_can(params))
		return;
	evidence->radial = palloc(sizeof(RaceRadial));
	race_radial_init(evidence->radial, params);
	if (evidence->radial->dims > RACE_WAVES_DIMS)
		return;
	if (race_is_grid(params))
		gather_nodes(questions, evidence);
	else if (has_tested_model(&questions[0].view) && has_tested_model(&questions[1].view))
		gather_points(questions, evidence);
}

double
race_evidence_sum(const RaceEvidence *evidence, const RaceQuestion *question, int half,
				  uint32 i, double *variance)
{
	const RaceGridded *gridded;
	double		sum;

	*variance = evidence->noise;
	if (!race_is_grid(question->view.params))
		return evidence->said[half][i];
	gridded = race_ready_grid(race_ready_at(question->site, &question->view));
	sum = race_gridded_sum(gridded, evidence->x + (Size) i * question->view.params->dims);
	*variance = race_gridded_noise(gridded);
	return sum;
}

void
race_evidence_spread(const RaceEvidence *evidence, const double *v, double *out)
{
	RaceGram	gram = {.m = evidence->n, .dense = evidence->gram};

	if (evidence->gram == NULL)
		memcpy(out, v, evidence->n * sizeof(double));
	else
		race_gram_multiply(&gram, v, out);
}

/*
 * Gaussian-process regression of a proportion.
 *
 * With n records and a share s at each of many places, the upper sketch says K (s n) + noise,
 * and the lower one K ((1 - s) n) + noise.  K is the kernel; of grids, which say what is at
 * their nodes, it is 1.  The noise of rows has a covariance in proportion to K.  So with s
 * near a known s0,
 * (1 - s0) upper - s0 lower + s0 K n = K (s n) + noise,
 * which is linear in s, and an error of n matters little: where s is s0, not at all.  s is the
 * mean share of all records plus a sum of waves, whose posterior is known (cosine_basis.h).
 */

struct RaceTrend
{
	RaceKnown	known;			/* must be first: the lower sketch, */
	RaceKnown	upper;			/* and the other one */
	bool		none;			/* there is no trend, and nothing below */
	RaceRadial	radial;
	RaceWaves	waves;
	uint32		n;				/* places, */
	double	   *places;			/* [radial.dims][n], */
	double	   *records;		/* [n], */
	double	   *upper_records;	/* [n]: times the share */
	double	   *place;			/* space for one */
	double		steps[RACE_GRID_DIMS];	/* between places, if they are nodes of a grid */
	double		mean;
	double		coefficients[RACE_WAVES_MOST];
	double	   *covariance;		/* of them, [waves.n][waves.n] */
	double		beyond;			/* see RaceTrendShare */
};

#define ROUNDS		3			/* of finding s0 */

/* ---------------------------------------------------------------- equations */

static double
share_at(const RaceTrend *trend, const double *terms)
{
	double		share = trend->mean + race_dot(trend->coefficients, terms, trend->waves.n);

	return Max(Min(share, 1), 0);
}

/* The waves at all places, times their records: [waves][places] */
static double *
weigh_waves(const RaceTrend *trend)
{
	double	   *weighed = palloc_extended((Size) trend->waves.n * trend->n * sizeof(double),
										  MCXT_ALLOC_HUGE);
	double		terms[RACE_WAVES_MOST];
	uint32		i;
	uint32		j;

	for (j = 0; j < trend->n; j++)
	{
		race_waves_at(&trend->waves, trend->places + j, trend->n, terms);
		for (i = 0; i < trend->waves.n; i++)
			weighed[(Size) i * trend->n + j] = terms[i] * trend->records[j];
	}
	return weighed;
}

/* Without the variance of noise, which they are divided by */
static void
find_gram(const RaceTrend *trend, const RaceEvidence *evidence, const double *weighed,
		  double *gram)
{
	double	   *spread = palloc(trend->n * sizeof(double));
	uint32		n = trend->waves.n;
	uint32		i;
	uint32		j;

	for (i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		race_evidence_spread(evidence, weighed + (Size) i * trend->n, spread);
		for (j = 0; j <= i; j++)
			gram[i * n + j] = gram[j * n + i] =
				race_dot(spread, weighed + (Size) j * trend->n, trend->n);
	}
	pfree(spread);
}

/* The share at each place */
static void
find_shares(const RaceTrend *trend, double *shares)
{
	double		terms[RACE_WAVES_MOST];
	uint32		j;

	for (j = 0; j < trend->n; j++)
	{
		race_waves_at(&trend->waves, trend->places + j, trend->n, terms);
		shares[j] = share_at(trend, terms);
	}
}

/*
 * What is said beyond the mean share, as above, with the shares that were found before as s0.
 * Returns the variance of its noise, the mean over records.
 */
static double
find_beyond(const RaceTrend *trend, const RaceEvidence *evidence, const double *shares,
			double *beyond)
{
	double		records = 0;
	double		part = 0;
	uint32		j;

	race_evidence_spread(evidence, trend->records, beyond);
	for (j = 0; j < trend->n; j++)
	{
		double		s = shares[j];

		beyond[j] = (1 - s) * evidence->said[RACE_UPPER][j] -
			s * evidence->said[RACE_LOWER][j] + (s - trend->mean) * beyond[j];
		part += ((1 - s) * (1 - s) + s * s) * trend->records[j];
		records += trend->records[j];
	}
	return evidence->noise * part / records;
}

static void
fit_waves(RaceTrend *trend, const RaceEvidence *evidence)
{
	uint32		n = trend->waves.n;
	Size		square = (Size) n * n * sizeof(double);
	RaceEquations equations = {n, palloc(square), palloc(n * sizeof(double)), palloc(square),
	palloc(square), {false}};
	double	   *weighed = weigh_waves(trend);
	double	   *shares = palloc(trend->n * sizeof(double));
	double	   *beyond = palloc(trend->n * sizeof(double));
	double		noise = 1;
	int			round;
	uint32		i;

	find_gram(trend, evidence, weighed, equations.gram);
	for (round = 0; round < ROUNDS; round++)
	{
		double		before = noise;

		find_shares(trend, shares);
		noise = find_beyond(trend, evidence, shares, beyond);
		for (i = 0; i < n * n; i++)
			equations.gram[i] *= before / noise;
		for (i = 0; i < n; i++)
			equations.right[i] = race_dot(weighed + (Size) i * trend->n, beyond, trend->n) / noise;
		race_posterior(&trend->waves, &equations, trend->coefficients,
					   round == ROUNDS - 1 ? trend->covariance : NULL);
	}
	find_shares(trend, shares);
	for (i = 0; i < trend->n; i++)
		trend->upper_records[i] = trend->records[i] * shares[i];
}

/* ------------------------------------------------------- beyond the trend */

#define TESTS			512		/* places that are looked at, or fewer */
#define GOLDEN			0.6180339887498949
/* Standard deviations that shares may have beyond the trend: from the least, by these steps */
#define LEAST_BEYOND	1e-4
#define BEYOND_FACTOR	1.3
#define BEYONDS			32

/* How many of so many places are apart, so that they say different things */
static double
count_apart(const RaceEvidence *evidence, const uint32 *tests, uint32 n)
{
	double		sum = 0;
	uint32		i;
	uint32		j;

	for (i = 0; i < n; i++)
	{
		double		near = 0;

		CHECK_FOR_INTERRUPTS();
		for (j = 0; j < n; j++)
			near += race_radial_value(evidence->radial,
									  race_radial_apart(evidence->radial, evidence->places,
														evidence->n, tests[i], tests[j]));
		sum += 1 / near;
	}
	return sum;
}

/* Places with records, spread over all */
static uint32
choose_tests(const RaceEvidence *evidence, uint32 *tests)
{
	uint32	   *all = palloc(evidence->n * sizeof(uint32));
	uint32		n = 0;
	uint32		chosen = 0;
	uint32		i;

	for (i = 0; i < evidence->n; i++)
		if (evidence->records[i] > 0)
			all[n++] = i;
	if (n <= TESTS)
		memcpy(tests, all, n * sizeof(uint32));
	for (i = 0; n > TESTS && i < TESTS; i++)
		tests[chosen++] = all[(uint32) (n * (i * GOLDEN - floor(i * GOLDEN)))];
	pfree(all);
	return n <= TESTS ? n : chosen;
}

/* What kernel sums say at a test beyond the trend, and its variance without that of shares */
typedef struct Test
{
	double		share;
	double		variance;
} Test;

static void
look_at(const RaceTrend *trend, const RaceQuestion *questions, const RaceEvidence *evidence,
		uint32 i, Test *test)
{
	const RaceParams *params = questions[0].view.params;
	double		sums[RACE_HALVES];
	double		variances[RACE_HALVES];
	RaceTrendShare known;
	double		s;
	double		whole;
	int			half;

	for (half = 0; half < RACE_HALVES; half++)
		sums[half] = race_evidence_sum(evidence, &questions[half], half, i, &variances[half]);
	(void) race_trend_share(trend, evidence->x + (Size) i * params->dims, &known);
	s = known.share;
	whole = Max(sums[RACE_LOWER] + sums[RACE_UPPER],
				2 * sqrt(variances[RACE_LOWER] + variances[RACE_UPPER]));
	test->share = ((1 - s) * sums[RACE_UPPER] - s * sums[RACE_LOWER]) / whole;
	test->variance = ((1 - s) * (1 - s) * variances[RACE_UPPER] +
					  s * s * variances[RACE_LOWER]) / (whole * whole);
}

/* The geometric mean of the noise of all tests, as a standard deviation */
static double
typical_noise(const Test *tests, uint32 n)
{
	double		sum = 0;
	uint32		i;

	for (i = 0; i < n; i++)
		sum += log(tests[i].variance) / 2;
	return exp(sum / n);
}

/*
 * The variance of shares around the trend, in parts of the standard deviation of noise: the mean
 * over its posterior.  The trend misses more where there are fewer records, and thus more noise,
 * since it is fitted to all of them.  On real tables this was likelier than a variance that is
 * the same everywhere, and than one in proportion to that of noise.  Of rows, whose places are those of
 * a model, it is a variance that is the same everywhere: that erred less.
 */
static double
find_beyond_noise(const Test *tests, uint32 n, double apart, bool grid)
{
	double		typical = grid ? typical_noise(tests, n) : 1;
	double		logs[BEYONDS];
	double		most = -INFINITY;
	double		sum = 0;
	double		mean = 0;
	uint32		i;
	int			k;

	for (k = 0; k < BEYONDS; k++)
	{
		double		beyond = pow(LEAST_BEYOND * pow(BEYOND_FACTOR, k), 2) / typical;

		logs[k] = 0;
		for (i = 0; i < n; i++)
		{
			double		variance = beyond * (grid ? sqrt(tests[i].variance) : 1) +
				tests[i].variance;

			logs[k] -= apart / n / 2 *
				(log(variance) + tests[i].share * tests[i].share / variance);
		}
		most = Max(most, logs[k]);
	}
	for (k = 0; k < BEYONDS; k++)
	{
		/* steps are in proportion to the deviation; a priori it is uniform */
		double		deviation = LEAST_BEYOND * pow(BEYOND_FACTOR, k);
		double		part = deviation * exp(logs[k] - most);

		sum += part;
		mean += part * deviation * deviation;
	}
	return mean / sum / typical;
}

static void
find_beyond_trend(RaceTrend *trend, const RaceQuestion *questions,
				  const RaceEvidence *evidence)
{
	uint32		chosen[TESTS];
	uint32		n = choose_tests(evidence, chosen);
	Test	   *tests = palloc(TESTS * sizeof(Test));
	uint32		i;

	for (i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		look_at(trend, questions, evidence, chosen[i], &tests[i]);
	}
	trend->beyond = find_beyond_noise(tests, n, count_apart(evidence, chosen, n),
									   evidence->gram == NULL);
}

/* ------------------------------------------------------------------ making */

static double *
copy_of(const double *v, Size n)
{
	double	   *copy = palloc_extended(n * sizeof(double), MCXT_ALLOC_HUGE);

	memcpy(copy, v, n * sizeof(double));
	return copy;
}

/* The share of the upper sketch in all records */
static double
share_of_all(const RaceQuestion *questions)
{
	double		lower = Max(questions[RACE_LOWER].view.header->count, 0);
	double		upper = Max(questions[RACE_UPPER].view.header->count, 0);

	return lower + upper > 0 ? upper / (lower + upper) : 0.5;
}

/* Less noise than this part of all records is not told from rounding. */
#define LEAST_NOISE		1e-6

/* Can it be fitted: are there records anywhere? */
static bool
prepare(RaceEvidence *evidence)
{
	double		records = 0;
	uint32		i;

	for (i = 0; i < evidence->n; i++)
		records += evidence->records[i];
	evidence->noise = Max(evidence->noise, pow(LEAST_NOISE * records, 2));
	return records > 0 && isfinite(records * records) && isfinite(evidence->noise);
}

/* Fill a trend, in its own context; what is needed on the way is in another one. */
static void
make(RaceTrend *trend, RaceQuestion *questions, MemoryContext context)
{
	MemoryContext old = CurrentMemoryContext;
	RaceEvidence evidence;
	uint32		n;

	race_evidence_gather(questions, &evidence);
	trend->none = !prepare(&evidence);
	if (trend->none)
		return;
	n = trend->n = evidence.n;
	trend->radial = *evidence.radial;
	memcpy(trend->steps, evidence.steps, sizeof(evidence.steps));
	race_waves_init(&trend->waves, trend->radial.dims, evidence.places, n);
	MemoryContextSwitchTo(context);
	trend->places = copy_of(evidence.places, (Size) n * trend->radial.dims);
	trend->records = copy_of(evidence.records, n);
	trend->upper_records = copy_of(evidence.records, n);
	trend->place = palloc(trend->radial.dims * sizeof(double));
	trend->covariance = palloc0((Size) trend->waves.n * trend->waves.n * sizeof(double));
	MemoryContextSwitchTo(old);
	trend->mean = share_of_all(questions);
	fit_waves(trend, &evidence);
	find_beyond_trend(trend, questions, &evidence);
}

static void *
create_trend(const RaceView *view, void *question, MemoryContext context, Size *size)
{
	RaceQuestion *questions = (RaceQuestion *) question;
	MemoryContext space = AllocSetContextCreate(CurrentMemoryContext, "fit of a trend",
												ALLOCSET_DEFAULT_SIZES);
	RaceTrend  *trend = MemoryContextAllocZero(context, sizeof(RaceTrend));
	MemoryContext old = MemoryContextSwitchTo(space);

	race_known_init(&trend->known, view, context);
	race_known_init(&trend->upper, &questions[RACE_UPPER].view, context);
	make(trend, questions, context);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(space);
	*size = sizeof(RaceTrend) + 2 * race_params_size(trend->known.params) +
		((Size) trend->n * (trend->radial.dims + 2) +
		 (Size) trend->waves.n * trend->waves.n) * sizeof(double);
	return trend;
}

static bool
trend_fits(const void *object, const void *question)
{
	return race_known_is_of(&((const RaceTrend *) object)->upper,
							&((const RaceQuestion *) question)[RACE_UPPER].view);
}

static const RaceDerivedKind trend_of_pair = {"trend", create_trend, trend_fits};

/* The same, fitted once for a pair */
static const RaceTrend *
find(RaceQuestion *questions)
{
	return race_derived_at(questions[RACE_LOWER].site, &trend_of_pair,
						   &questions[RACE_LOWER].view, questions);
}

const RaceTrend *
race_trend_at(RaceQuestion questions[RACE_HALVES])
{
	const RaceTrend *trend;

	if (questions[0].view.header->noise.counter_variance == 0)
		return NULL;
	trend = find(questions);
	return trend->none ? NULL : trend;
}

/* --------------------------------------------------------------- questions */

/* The kernel sum of records at trend->place */
static double
sum_at_place(const RaceTrend *trend, const double *records)
{
	return race_radial_sum(&trend->radial, trend->place, trend->places, records, trend->n);
}

/*
 * Linear splitting moves records, with a variance of a sixth of a squared step along each axis.
 * That changes g, the kernel sum of records times what their share is beyond `share`, by a twelfth
 * of its second difference.  At the place itself g is 0.  To project what the trend says of nodes
 * would do the same, but isolated nodes with few records would then have a negative sum.
 */
static double
moved_by_cells(const RaceTrend *trend, double share, double records)
{
	double		sum = 0;
	uint32		axis;
	int			side;

	for (axis = 0; axis < trend->waves.dims && axis < RACE_GRID_DIMS; axis++)
	{
		double		here = trend->place[axis];

		for (side = -1; side <= 1 && trend->steps[axis] > 0; side += 2)
		{
			trend->place[axis] = here + side * trend->steps[axis];
			sum += sum_at_place(trend, trend->upper_records) -
				share * sum_at_place(trend, trend->records);
		}
		trend->place[axis] = here;
	}
	return sum / 12 / records;
}

bool
race_trend_share(const RaceTrend *trend, const double *x, RaceTrendShare *share)
{
	uint32		n = trend->waves.n;
	double		terms[RACE_WAVES_MOST];
	double		records;
	uint32		i;

	race_radial_place(&trend->radial, trend->known.params, x, trend->place, 1);
	if (!race_waves_cover(&trend->waves, trend->place))
		return false;
	race_waves_at(&trend->waves, trend->place, 1, terms);
	records = sum_at_place(trend, trend->records);
	share->share = records > 0 ? sum_at_place(trend, trend->upper_records) / records :
		share_at(trend, terms);
	share->moved = records > 0 ? moved_by_cells(trend, share->share, records) : 0;
	share->share = Max(Min(share->share - share->moved, 1), 0);
	share->variance = 0;
	for (i = 0; i < n; i++)
		share->variance += terms[i] * race_dot(trend->covariance + i * n, terms, n);
	share->variance = Max(share->variance, 0);
	share->beyond = trend->beyond;
	return true;
}
