/*
 * fit_flow.c
 *		Points that move to where records are
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "privacy/counters.h"
#include "hash/column.h"
#include "hash/kernel.h"
#include "hash/kind.h"
#include "hash/loss_rows.h"
#include "hash/params.h"
#include "hash/rows.h"
#include "sketch/progress.h"
#include "sketch/rows_cache.h"
#include "sketch/sketch_format.h"
#include "answers/evaluator.h"
#include "answers/factor.h"
#include "answers/fit.h"
#include "answers/solver.h"

/*
 * Limits of time and memory
 */
#define MOST_DIMS 32
#define MOST_TERMS 1000                       /* terms of the polynomial of a map */
#define MOST_SUMS ((uint64) 16 * 1024 * 1024) /* sums of terms in a block of rows */
#define MOST_BLOCKS (2048 / RACE_LANES)       /* blocks of rows that a map is found from */
#define MAP_WORK 5e8                          /* products of terms in the equations of a map */
/* points that a map is found from before the last round, and that stay in the end */
#define MAP_POINTS 2048
#define BLOCKS 4 /* blocks of rows that a move looks at: at most PROBES / dims */
#define PROBES 32
#define LEAST_ROWS 512 /* rows below which noise is too large to flow by */

/*
 * The schedule: rounds, each of some moves with momentum, and then of maps
 */
#define ROUNDS 6
#define MOVES 24
#define MAPS 2
#define MOMENTUM 0.9
#define RATE 2.0       /* squared bandwidths for a slope of 1, in the first round */
#define RATE_DECAY 0.8 /* factor of the rate from a round to the next */
/* most bandwidths to both sides between which a slope is measured */
#define PROBE 0.25
#define PROBE_IN_BOX 0.125 /* the same in parts of the box */

/*
 * Regularization
 */
/* variance of the terms of a map where noise hides all; surrogate losses have 1 */
#define MAP_PRIOR 0.1
#define LEAST_SPREAD 1e-4  /* standard deviation of points along an axis, in parts of the box */
#define LEAST_VARIANCE 0.1 /* smallest factor of a variance by a map */
#define MOST_VARIANCE 4.0  /* largest factor of a variance by a map */
#define LEAST_PART 1e-3    /* shortest step, as a part of a map */

typedef struct Flow
{
	const RaceFitState *fit;
	const RaceBox *box;
	uint32 n;         /* number of points */
	double *x;        /* [n][dims] */
	double *velocity; /* [n][dims] */
	double *slopes;   /* [n][dims] */
	double *probe;    /* [dims]: distance to both sides at which slopes are measured */
	double *rate;     /* [dims]: rates of the first round */
	float *residuals; /* [RACE_LANES][range]: share of records less that of points */
	/* the polynomial of a map */
	uint32 map_points; /* first points, from which the polynomial is found */
	uint32 terms;
	bool fourth;          /* true for degree 4, false for degree 2 */
	double prior;         /* variance of terms where noise hides all */
	double *h;            /* [n][dims]: points in white coordinates */
	double *gram;         /* [terms][terms]: Gram matrix of least squares, its lower triangle */
	double *coefficients; /* [terms] */
} Flow;

static double *
allocate_zeros(Size n)
{
	return palloc_extended(n * sizeof(double), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

/* Set the buckets of n points in a block of rows, [n][RACE_LANES]. */
static void
hash_points(const Flow *flow, Size block, const double *x, uint32 n, uint32 *buckets)
{
	RaceColumn column = {x, NULL, NULL, flow->box->dims};

	race_rows_hash(race_rows_of(flow->fit->site->rows), block, &column, n, buckets);
}

/* ------------------------------------------------------ the polynomial of a map */

/*
 * Compute the terms of the polynomial at h, after 1 for its constant.  They are Hermite
 * polynomials: at right angles to each other under the normal distribution, so that those of degree
 * 3 and 4 do not change its moments.  These take in what is not normal in the columns of a
 * surrogate loss, whose points stay normal: without them coefficients were off by 19 % in place of
 * 1 %.
 */
static void
terms_at(const Flow *flow, const double *h, double *terms)
{
	*terms++ = 1;
	for (uint32 i = 0; i < flow->box->dims; i++)
		*terms++ = h[i];
	for (uint32 i = 0; i < flow->box->dims; i++)
		for (uint32 j = 0; j <= i; j++)
			*terms++ = h[i] * h[j] - (i == j);
	for (uint32 i = 0; i < flow->box->dims && flow->fourth; i++)
	{
		double square = h[i] * h[i];

		*terms++ = (square - 3) * h[i];
		for (uint32 j = 0; j < i; j++)
			*terms++ = (square - 1) * (h[j] * h[j] - 1);
		*terms++ = (square - 6) * square + 3;
	}
}

/* Sum the terms of the points in each counter of a block: sums[RACE_LANES][range][1 + terms]. */
static void
sum_terms(const Flow *flow, Size block, double *sums)
{
	const RaceParams *params = flow->fit->view->params;
	Size width = flow->terms + 1;
	double *terms = palloc((flow->terms + 1) * sizeof(double));
	uint32 buckets[RACE_RECORDS_TOGETHER * RACE_LANES];

	memset(sums, 0, RACE_LANES * params->range * width * sizeof(double));
	for (uint32 from = 0; from < flow->map_points; from += RACE_RECORDS_TOGETHER)
	{
		uint32 n = Min(flow->map_points - from, RACE_RECORDS_TOGETHER);

		CHECK_FOR_INTERRUPTS();
		hash_points(flow, block, flow->x + (Size) from * params->dims, n, buckets);
		for (uint32 i = 0; i < n; i++)
		{
			terms_at(flow, flow->h + (Size) (from + i) * flow->box->dims, terms);
			for (uint32 r = 0; r < RACE_LANES; r++)
			{
				double *sum =
					sums + ((Size) r * params->range + buckets[i * RACE_LANES + r]) * width;

				for (Size t = 0; t < width; t++)
					sum[t] += terms[t];
			}
		}
	}
	pfree(terms);
}

/*
 * Find the polynomial whose terms explain best by how much shares of records exceed those of
 * points: least squares over the counters of rows, from the first one of the fit on and around, at
 * most as many as there is time for.
 */
static void
find_polynomial(Flow *flow)
{
	const RaceView *view = flow->fit->view;
	uint32 rows = flow->fit->rows;
	uint32 range = view->params->range;
	Size terms = flow->terms;
	uint32 blocks = (rows + RACE_LANES - 1) / RACE_LANES;
	uint32 first = (flow->fit->first + RACE_LANES - 1) / RACE_LANES;
	double most = MAP_WORK / ((double) RACE_LANES * range * terms * terms / 2);
	double ridge = view->header->noise.counter_variance / pow(flow->fit->records, 2) / flow->prior;
	double trace = 0;
	double *sums = allocate_zeros(RACE_LANES * range * (terms + 1));

	memset(flow->gram, 0, terms * terms * sizeof(double));
	memset(flow->coefficients, 0, terms * sizeof(double));
	for (uint32 b = 0; b < Min(blocks, MOST_BLOCKS) && b <= most; b++)
	{
		Size from = (Size) ((first + b) % blocks) * RACE_LANES;
		Size counters = (Min(from + RACE_LANES, rows) - from) * range;

		sum_terms(flow, from / RACE_LANES, sums);
		for (Size c = 0; c < counters; c++)
		{
			const double *sum = sums + c * (terms + 1);
			double residual = race_counters_get(view->counters, view->width, from * range + c) /
					flow->fit->records -
				sum[0] / flow->map_points;

			CHECK_FOR_INTERRUPTS();
			if (sum[0] == 0) /* where no points are, nothing is said of them */
				continue;
			for (Size i = 0; i < terms; i++)
			{
				double x = sum[i + 1] / flow->map_points;

				flow->coefficients[i] += x * residual;
				for (Size j = 0; j <= i; j++)
					flow->gram[i * terms + j] += x * (sum[j + 1] / flow->map_points);
			}
		}
	}
	pfree(sums);
	for (Size i = 0; i < terms; i++)
		trace += flow->gram[i * terms + i];
	for (Size i = 0; i < terms; i++)
		flow->gram[i * terms + i] += ridge + 1e-9 * trace / terms;
	race_factorize(flow->gram, terms, 1e-12 * trace);
	race_solve_lower(flow->gram, terms, flow->coefficients);
	race_solve_upper(flow->gram, terms, flow->coefficients);
}

bool
race_flow_can(const RaceParams *params)
{
	return params->rows >= LEAST_ROWS && params->dims <= MOST_DIMS &&
		race_summary_kind(params)->hashed &&
		(race_kernel_type(params->kernel)->takes & RACE_TAKES_BANDWIDTH) != 0 &&
		!race_rows_together(params);
}

/* -------------------------------------------------------------------- moves */

/* Return the distance that is a bandwidth along an axis; infinite where nothing is measured. */
static double
bandwidth_along(const RaceParams *params, uint32 axis)
{
	const double *factors = race_array(params, RACE_ARRAY_BANDWIDTHS);
	const double *matrix = race_array(params, RACE_ARRAY_MATRIX);
	double square = 0;

	for (uint32 i = 0; matrix != NULL && i < params->outputs; i++)
		square += pow(matrix[(Size) i * params->dims + axis], 2);
	return params->bandwidth * (factors == NULL ? 1 : factors[axis]) /
		(matrix == NULL ? 1 : sqrt(square)) / params->power;
}

/*
 * Return how much steeper the landscape may be than along an axis, where a transform turns axes to
 * each other: a bound of the largest eigenvalue of their cosines.
 */
static double
steepest_slope(const RaceParams *params)
{
	const double *matrix = race_array(params, RACE_ARRAY_MATRIX);
	double most = 1;

	for (uint32 i = 0; matrix != NULL && i < params->dims; i++)
	{
		double sum = 0;

		for (uint32 j = 0; j < params->dims; j++)
		{
			double product = 0;
			double squares[2] = {0, 0};

			for (uint32 k = 0; k < params->outputs; k++)
			{
				const double *line = matrix + (Size) k * params->dims;

				product += line[i] * line[j];
				squares[0] += line[i] * line[i];
				squares[1] += line[j] * line[j];
			}
			if (product != 0)
				sum += fabs(product) / sqrt(squares[0]) / sqrt(squares[1]);
		}
		most = fmax(most, sum);
	}
	return most;
}

/* Start the scales of moves, and the polynomial of maps.  Return false if it is too large. */
static bool
start_flow(Flow *flow, RaceFitState *fit, const RaceBox *box)
{
	const RaceParams *params = fit->view->params;
	double rate = RATE / steepest_slope(params);
	uint32 dims = box->dims;
	uint32 terms = dims + dims * (dims + 1) / 2;
	double most_terms = Min(MOST_TERMS, (double) MOST_SUMS / RACE_LANES / params->range - 1);

	flow->fit = fit;
	flow->box = box;
	flow->n = fit->points->n;
	flow->x = fit->points->parts[0].numbers;
	flow->velocity = allocate_zeros((Size) flow->n * dims);
	flow->slopes = allocate_zeros((Size) flow->n * dims);
	flow->probe = allocate_zeros(dims);
	flow->rate = allocate_zeros(dims);
	flow->residuals =
		palloc_extended((Size) RACE_LANES * params->range * sizeof(float), MCXT_ALLOC_HUGE);
	for (uint32 i = 0; i < dims; i++)
	{
		double most = PROBE_IN_BOX * (box->upper[i] - box->lower[i]);

		flow->probe[i] = fmin(PROBE * bandwidth_along(params, i), most);
		flow->rate[i] = rate * pow(flow->probe[i] / PROBE, 2);
	}
	if (terms > most_terms)
		return false;
	flow->fourth = race_is_surrogate(params) && 2 * terms <= most_terms;
	flow->terms = (1 + flow->fourth) * terms;
	flow->prior = race_is_surrogate(params) ? 1 : MAP_PRIOR;
	flow->h = allocate_zeros((Size) flow->n * dims);
	flow->gram = allocate_zeros((Size) flow->terms * flow->terms);
	flow->coefficients = allocate_zeros(flow->terms);
	return true;
}

/*
 * Set the residuals of a block of rows: shares of records less those of points.  Return how many
 * rows it has.
 */
static uint32
find_residuals(Flow *flow, Size block)
{
	const RaceView *view = flow->fit->view;
	uint32 range = view->params->range;
	uint32 rows = Min(flow->fit->end - block * RACE_LANES, RACE_LANES);
	Size first = block * RACE_LANES * range;
	uint32 buckets[RACE_RECORDS_TOGETHER * RACE_LANES];

	for (Size c = 0; c < (Size) rows * range; c++)
		flow->residuals[c] =
			race_counters_get(view->counters, view->width, first + c) / flow->fit->records;
	for (uint32 from = 0; from < flow->n; from += RACE_RECORDS_TOGETHER)
	{
		uint32 n = Min(flow->n - from, RACE_RECORDS_TOGETHER);

		hash_points(flow, block, flow->x + (Size) from * flow->box->dims, n, buckets);
		for (uint32 i = 0; i < n; i++)
			for (uint32 r = 0; r < rows; r++)
				flow->residuals[(Size) r * range + buckets[i * RACE_LANES + r]] -= 1.0 / flow->n;
	}
	return rows;
}

/* Add what a block of rows contributes to the slopes along an axis of n points. */
static void
add_slopes(Flow *flow, Size block, uint32 rows, uint32 from, uint32 n, uint32 axis)
{
	uint32 dims = flow->box->dims;
	uint32 range = flow->fit->view->params->range;
	uint32 above[RACE_RECORDS_TOGETHER * RACE_LANES];
	uint32 below[RACE_RECORDS_TOGETHER * RACE_LANES];
	double *x = flow->x + (Size) from * dims;
	double at[RACE_RECORDS_TOGETHER];

	for (uint32 i = 0; i < n; i++)
	{
		at[i] = x[i * dims + axis];
		x[i * dims + axis] = at[i] + flow->probe[axis];
	}
	hash_points(flow, block, x, n, above);
	for (uint32 i = 0; i < n; i++)
		x[i * dims + axis] = at[i] - flow->probe[axis];
	hash_points(flow, block, x, n, below);
	for (uint32 i = 0; i < n; i++)
	{
		float sum = 0;

		x[i * dims + axis] = at[i];
		for (uint32 r = 0; r < rows; r++)
			sum += flow->residuals[r * range + above[i * RACE_LANES + r]] -
				flow->residuals[r * range + below[i * RACE_LANES + r]];
		flow->slopes[(Size) (from + i) * dims + axis] += sum;
	}
}

/* Move points up the slopes of the next blocks by a part of the first rate; keep them inside. */
static void
move_up_slopes(Flow *flow, uint32 number, double part)
{
	const RaceBox *box = flow->box;
	uint32 dims = box->dims;
	Size start = (flow->fit->first + RACE_LANES - 1) / RACE_LANES;
	Size blocks = (flow->fit->end + RACE_LANES - 1) / RACE_LANES - start;
	Size used = Min(blocks, Max(Min(PROBES / dims, BLOCKS), 1));
	uint32 rows = 0;

	memset(flow->slopes, 0, (Size) flow->n * dims * sizeof(double));
	for (Size b = 0; b < used; b++)
	{
		Size block = start + (number * used + b) % blocks;
		uint32 of_block = find_residuals(flow, block);

		for (uint32 from = 0; from < flow->n; from += RACE_RECORDS_TOGETHER)
		{
			CHECK_FOR_INTERRUPTS();
			for (uint32 axis = 0; axis < dims; axis++)
				add_slopes(flow, block, of_block, from, Min(flow->n - from, RACE_RECORDS_TOGETHER),
						   axis);
		}
		rows += of_block;
	}
	for (Size k = 0; k < (Size) flow->n * dims; k++)
	{
		uint32 axis = k % dims;
		double slope = flow->probe[axis] > 0 ? flow->slopes[k] / rows / (2 * flow->probe[axis]) : 0;
		double to;

		flow->velocity[k] = MOMENTUM * flow->velocity[k] + part * flow->rate[axis] * slope;
		to = fmin(fmax(flow->x[k] + flow->velocity[k], box->lower[axis]), box->upper[axis]);
		if (to != flow->x[k] + flow->velocity[k])
			flow->velocity[k] = 0;
		flow->x[k] = to;
	}
}

/* --------------------------------------------------------------------- maps */

/* Return a coordinate of a point in parts of the box, 0 where that has no extent. */
static double
part_of_box(const Flow *flow, Size p, uint32 i)
{
	double span = flow->box->upper[i] - flow->box->lower[i];

	return span > 0 ? (flow->x[p * flow->box->dims + i] - flow->box->lower[i]) / span : 0;
}

/* Compute the mean of the points, their covariance's Cholesky factor, and white coordinates. */
static void
whiten_points(const Flow *flow, double *mean, double *factor, double *h)
{
	uint32 dims = flow->box->dims;

	for (Size p = 0; p < flow->n; p++)
		for (uint32 i = 0; i < dims; i++)
			mean[i] += part_of_box(flow, p, i) / flow->n;
	for (Size p = 0; p < flow->n; p++)
		for (uint32 i = 0; i < dims; i++)
		{
			h[p * dims + i] = part_of_box(flow, p, i) - mean[i];
			for (uint32 j = 0; j <= i; j++)
				factor[(Size) i * dims + j] += h[p * dims + i] * h[p * dims + j] / flow->n;
		}
	race_factorize(factor, dims, pow(LEAST_SPREAD, 2));
	for (Size p = 0; p < flow->n; p++)
		race_solve_lower(factor, dims, h + p * dims);
}

/* Set v' = L v in place. */
static void
multiply_lower(const double *factor, uint32 n, double *v)
{
	for (uint32 i = n; i-- > 0;)
	{
		v[i] *= factor[(Size) i * n + i];
		for (uint32 j = 0; j < i; j++)
			v[i] += factor[(Size) i * n + j] * v[j];
	}
}

/* Give points new white coordinates: multiplied by `spread`, and shifted. */
static void
place_points(Flow *flow, const double *mean, const double *factor, const double *spread,
			 const double *shift, double part, double *h)
{
	const RaceBox *box = flow->box;

	for (Size p = 0; p < flow->n; p++, h += box->dims)
	{
		multiply_lower(spread, box->dims, h);
		for (uint32 i = 0; i < box->dims; i++)
			h[i] += part * shift[i];
		multiply_lower(factor, box->dims, h);
		for (uint32 i = 0; i < box->dims; i++)
			flow->x[p * box->dims + i] =
				fmin(fmax(box->lower[i] + (box->upper[i] - box->lower[i]) * (mean[i] + h[i]),
						  box->lower[i]),
					 box->upper[i]);
	}
}

/*
 * Set the Cholesky factor of the covariance of h after a part of a map, which changes the mean of h
 * by `shift`, and that of its products by `products`.  Return false if that is too long.
 */
static bool
spread_after(uint32 n, double part, const double *shift, const double *products, double *spread)
{
	for (uint32 i = 0; i < n; i++)
	{
		for (uint32 j = 0; j <= i; j++)
			spread[(Size) i * n + j] =
				(i == j) + part * products[(Size) i * n + j] - part * part * shift[i] * shift[j];
		if (!(spread[(Size) i * n + i] <= MOST_VARIANCE))
			return false;
	}
	return race_factorize(spread, n, LEAST_VARIANCE);
}

/* Map the points to the mean and covariance of the counters. */
static void
map_to_counters(Flow *flow)
{
	Size dims = flow->box->dims;
	double *mean = allocate_zeros(2 * dims + 3 * dims * dims);
	double *shift = mean + dims;
	double *factor = shift + dims;
	double *products = factor + dims * dims;
	double *spread = products + dims * dims;
	double part = 1;

	whiten_points(flow, mean, factor, flow->h);
	find_polynomial(flow);
	for (Size p = 0; p < flow->n; p++)
	{
		const double *h = flow->h + p * dims;
		double terms[MOST_TERMS + 1];
		double more = 0;

		terms_at(flow, h, terms);
		for (uint32 t = 0; t < flow->terms; t++)
			more += terms[t + 1] * flow->coefficients[t];
		for (Size i = 0; i < dims; i++)
		{
			shift[i] += more / flow->n * h[i];
			for (Size j = 0; j <= i; j++)
				products[i * dims + j] += more / flow->n * h[i] * h[j];
		}
	}
	while (part > LEAST_PART && !spread_after(dims, part, shift, products, spread))
		part /= 2;
	if (part > LEAST_PART)
		place_points(flow, mean, factor, spread, shift, part, flow->h);
	pfree(mean);
}

/* Keep the first points alone, with the mean and the covariance of all. */
static void
thin_points(Flow *flow)
{
	uint32 dims = flow->box->dims;
	double *mean = allocate_zeros(2 * dims);
	double *factor = allocate_zeros(3 * (Size) dims * dims);
	double *factor_of_kept = factor + (Size) dims * dims;
	double *identity = factor_of_kept + (Size) dims * dims;

	whiten_points(flow, mean, factor, flow->h);
	flow->n = Min(flow->n, MAP_POINTS);
	whiten_points(flow, mean + dims, factor_of_kept, flow->h);
	for (uint32 i = 0; i < dims; i++)
		identity[(Size) i * dims + i] = 1;
	place_points(flow, mean, factor, identity, mean, 0, flow->h);
	pfree(mean);
	pfree(factor);
}

bool
race_flow(RaceFitState *fit, const RaceBox *box)
{
	bool surrogate = race_is_surrogate(fit->view->params);
	Flow flow = {0};
	bool can_map = start_flow(&flow, fit, box);

	for (int round = 0; round < ROUNDS; round++)
	{
		race_tell("race_fit: points are moved, round %d of %d", round + 1, ROUNDS);
		memset(flow.velocity, 0, (Size) flow.n * box->dims * sizeof(double));
		for (int i = 0; i < MOVES && !surrogate; i++)
			move_up_slopes(&flow, round * MOVES + i, pow(RATE_DECAY, round));
		flow.map_points = round + 1 < ROUNDS ? Min(flow.n, MAP_POINTS) : flow.n;
		for (int i = 0; i < MAPS && can_map; i++)
			map_to_counters(&flow);
	}
	if (surrogate)
	{
		if (can_map)
			thin_points(&flow);
		fit->points->n = Min(flow.n, MAP_POINTS);
	}
	return can_map;
}
