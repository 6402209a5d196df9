/*
 * flow.c
 *		Points that flow to where the counters say that records are.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "../linear/factor.h"
#include "../server/progress.h"
#include "answers.h"
#include "flow.h"
#include "polynomial.h"

#define LEAST_ROWS		512		/* fewer have too much noise to flow by */
#define MOST_DIMS		32		/* a move looks twice as often at each point */
#define ROUNDS			6		/* of moves and then maps */
#define MOVES			24		/* in a round */
#define MAPS			2
#define BLOCKS			4		/* of rows that a move looks at, at most, */
#define LOOKS			32		/* and so many times dimensions */
#define MAP_PRIOR		0.1		/* a map goes so far, squared, where noise hides all */
#define MAP_WORK		5e8		/* products of terms in the equations of a map */
#define MOMENTUM		0.9
#define RATE			2.0		/* in squared bandwidths, in the first round, */
#define SLOWER			0.8		/* and what is left of it in each further one */
#define LOOK			0.25	/* so far to both sides, in bandwidths, and at most */
#define LOOK_IN_BOX		0.125	/* so much of the box */
#define LEAST_SPREAD	1e-4	/* of points along an axis, in parts of the box */

typedef struct Flow
{
	const RaceFitWork *fit;
	const RaceBox *box;
	uint32		n;				/* points */
	double	   *x;				/* [n][dims] */
	double	   *speed;			/* [n][dims] */
	double	   *look;			/* [dims]: how far a move looks to both sides */
	double	   *rate;			/* [dims]: by how much of a slope it goes at first */
	float	   *beyond;			/* [RACE_LANES][range]: share of records less that of points */
	double	   *slopes;			/* [n][dims] */
} Flow;

bool
race_flow_can(const RaceParams *params)
{
	return params->rows >= LEAST_ROWS && params->dims <= MOST_DIMS && !race_is_grid(params) &&
		(race_kernel_type(params->kernel)->takes & RACE_TAKES_BANDWIDTH) != 0 &&
		!race_rows_together(params);
}

/* ------------------------------------------------------------------- scales */

/* The distance that is a bandwidth, along an axis alone; infinite where nothing is measured */
static double
bandwidth_along(const RaceParams *params, uint32 axis)
{
	const double *factors = race_array(params, RACE_ARRAY_BANDWIDTHS);
	const double *matrix = race_array(params, RACE_ARRAY_MATRIX);
	double		square = 0;
	uint32		i;

	for (i = 0; matrix != NULL && i < params->outputs; i++)
		square += pow(matrix[(Size) i * params->dims + axis], 2);
	return params->bandwidth * (factors == NULL ? 1 : factors[axis]) /
		(matrix == NULL ? 1 : sqrt(square)) /
		params->power;
}

/*
 * How much steeper the landscape may be than along an axis, where a transform turns axes to
 * each other: a bound of the largest eigenvalue of their cosines.
 */
static double
steepest(const RaceParams *params)
{
	const double *matrix = race_array(params, RACE_ARRAY_MATRIX);
	double		most = 1;
	uint32		i;
	uint32		j;
	uint32		k;

	for (i = 0; matrix != NULL && i < params->dims; i++)
	{
		double		sum = 0;

		for (j = 0; j < params->dims; j++)
		{
			double		product = 0;
			double		squares[2] = {0, 0};

			for (k = 0; k < params->outputs; k++)
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

static void
start(Flow *flow, RaceFitWork *fit, const RaceBox *box)
{
	const RaceParams *params = fit->view->params;
	double		rate = RATE / steepest(params);
	uint32		i;

	flow->fit = fit;
	flow->box = box;
	flow->n = fit->points->n;
	flow->x = fit->points->parts[0].numbers;
	flow->speed = race_fit_zeros((Size) flow->n * box->dims);
	flow->slopes = race_fit_zeros((Size) flow->n * box->dims);
	flow->look = race_fit_zeros(box->dims);
	flow->rate = race_fit_zeros(box->dims);
	flow->beyond = palloc_extended((Size) RACE_LANES * params->range * sizeof(float),
								   MCXT_ALLOC_HUGE);
	for (i = 0; i < box->dims; i++)
	{
		double		most = LOOK_IN_BOX * (box->upper[i] - box->lower[i]);

		flow->look[i] = fmin(LOOK * bandwidth_along(params, i), most);
		flow->rate[i] = rate * pow(flow->look[i] / LOOK, 2);
	}
}

/* -------------------------------------------------------------------- moves */

/* The buckets of n points in a block of rows, [n][RACE_LANES] */
static void
hash(const Flow *flow, Size block, const double *x, uint32 n, uint32 *buckets)
{
	RaceColumn	column = {x, NULL, NULL, flow->box->dims};

	race_rows_hash(race_rows_of(flow->fit->site->rows), block, &column, n, buckets);
}

/* What a block of rows holds beyond the points, in shares of all.  Returns how many rows it has. */
static uint32
find_beyond(Flow *flow, Size block)
{
	const RaceView *view = flow->fit->view;
	uint32		range = view->params->range;
	uint32		rows = Min(flow->fit->end - block * RACE_LANES, RACE_LANES);
	Size		first = block * RACE_LANES * range;
	uint32		buckets[RACE_RECORDS_TOGETHER * RACE_LANES];
	uint32		from;
	uint32		i;
	uint32		r;
	Size		c;

	for (c = 0; c < (Size) rows * range; c++)
		flow->beyond[c] = race_counters_get(view->counters, view->width, first + c) /
			flow->fit->records;
	for (from = 0; from < flow->n; from += RACE_RECORDS_TOGETHER)
	{
		uint32		n = Min(flow->n - from, RACE_RECORDS_TOGETHER);

		hash(flow, block, flow->x + (Size) from * flow->box->dims, n, buckets);
		for (i = 0; i < n; i++)
			for (r = 0; r < rows; r++)
				flow->beyond[(Size) r * range + buckets[i * RACE_LANES + r]] -= 1.0 / flow->n;
	}
	return rows;
}

/* Add to the slopes along an axis of n points what a block of rows says. */
static void
add_slopes(Flow *flow, Size block, uint32 rows, uint32 from, uint32 n, uint32 axis)
{
	uint32		dims = flow->box->dims;
	uint32		range = flow->fit->view->params->range;
	uint32		above[RACE_RECORDS_TOGETHER * RACE_LANES];
	uint32		below[RACE_RECORDS_TOGETHER * RACE_LANES];
	double	   *x = flow->x + (Size) from * dims;
	double		at[RACE_RECORDS_TOGETHER];
	uint32		i;
	uint32		r;

	for (i = 0; i < n; i++)
	{
		at[i] = x[i * dims + axis];
		x[i * dims + axis] = at[i] + flow->look[axis];
	}
	hash(flow, block, x, n, above);
	for (i = 0; i < n; i++)
		x[i * dims + axis] = at[i] - flow->look[axis];
	hash(flow, block, x, n, below);
	for (i = 0; i < n; i++)
	{
		float		sum = 0;

		x[i * dims + axis] = at[i];
		for (r = 0; r < rows; r++)
			sum += flow->beyond[r * range + above[i * RACE_LANES + r]] -
				flow->beyond[r * range + below[i * RACE_LANES + r]];
		flow->slopes[(Size) (from + i) * dims + axis] += sum;
	}
}

/* Go up by a part of the slopes, which add up this many rows, and stay inside. */
static void
go(Flow *flow, uint32 rows, double part)
{
	const RaceBox *box = flow->box;
	Size		k;

	for (k = 0; k < (Size) flow->n * box->dims; k++)
	{
		uint32		axis = k % box->dims;
		double		slope = flow->look[axis] > 0 ?
			flow->slopes[k] / rows / (2 * flow->look[axis]) : 0;
		double		to;

		flow->speed[k] = MOMENTUM * flow->speed[k] + part * flow->rate[axis] * slope;
		to = fmin(fmax(flow->x[k] + flow->speed[k], box->lower[axis]), box->upper[axis]);
		if (to != flow->x[k] + flow->speed[k])
			flow->speed[k] = 0;
		flow->x[k] = to;
	}
}

/* One of all moves, at a part of the first rate: the next blocks of rows are looked at. */
static void
move(Flow *flow, uint32 number, double part)
{
	uint32		dims = flow->box->dims;
	Size		start = (flow->fit->first + RACE_LANES - 1) / RACE_LANES;
	Size		blocks = (flow->fit->end + RACE_LANES - 1) / RACE_LANES - start;
	Size		looked = Min(blocks, Max(Min(LOOKS / dims, BLOCKS), 1));
	uint32		rows = 0;
	Size		b;
	uint32		from;
	uint32		axis;

	memset(flow->slopes, 0, (Size) flow->n * dims * sizeof(double));
	for (b = 0; b < looked; b++)
	{
		Size		block = start + (number * looked + b) % blocks;
		uint32		of_block = find_beyond(flow, block);

		for (from = 0; from < flow->n; from += RACE_RECORDS_TOGETHER)
		{
			CHECK_FOR_INTERRUPTS();
			for (axis = 0; axis < dims; axis++)
				add_slopes(flow, block, of_block, from,
						   Min(flow->n - from, RACE_RECORDS_TOGETHER), axis);
		}
		rows += of_block;
	}
	go(flow, rows, part);
}

/* --------------------------------------------------------------------- maps */

/* A point in parts of the box, 0 where that has no extent */
static double
part_of_box(const Flow *flow, Size p, uint32 i)
{
	double		span = flow->box->upper[i] - flow->box->lower[i];

	return span > 0 ? (flow->x[p * flow->box->dims + i] - flow->box->lower[i]) / span : 0;
}

/* The mean of the points, the Cholesky factor of their covariance, and their white coordinates */
static void
whiten(const Flow *flow, double *mean, double *factor, double *h)
{
	uint32		dims = flow->box->dims;
	Size		p;
	uint32		i;
	uint32		j;

	for (p = 0; p < flow->n; p++)
		for (i = 0; i < dims; i++)
			mean[i] += part_of_box(flow, p, i) / flow->n;
	for (p = 0; p < flow->n; p++)
		for (i = 0; i < dims; i++)
		{
			h[p * dims + i] = part_of_box(flow, p, i) - mean[i];
			for (j = 0; j <= i; j++)
				factor[(Size) i * dims + j] += h[p * dims + i] * h[p * dims + j] / flow->n;
		}
	race_factorize(factor, dims, pow(LEAST_SPREAD, 2));
	for (p = 0; p < flow->n; p++)
		race_solve_lower(factor, dims, h + p * dims);
}

/* By how much the polynomial changes the mean of h, and that of its products */
static void
weigh(const RacePolynomial *polynomial, double *shift, double *squares)
{
	uint32		dims = polynomial->used;
	Size		p;
	uint32		i;
	uint32		j;

	for (p = 0; p < polynomial->n; p++)
	{
		const double *h = polynomial->h + p * dims;
		double		more = race_polynomial_at(polynomial, h) / polynomial->n;

		for (i = 0; i < dims; i++)
		{
			shift[i] += more * h[i];
			for (j = 0; j <= i; j++)
				squares[(Size) i * dims + j] += more * h[i] * h[j];
		}
	}
}

/* v' = L v in place */
static void
multiply_lower(const double *factor, uint32 n, double *v)
{
	uint32		i;
	uint32		j;

	for (i = n; i-- > 0;)
	{
		v[i] *= factor[(Size) i * n + i];
		for (j = 0; j < i; j++)
			v[i] += factor[(Size) i * n + j] * v[j];
	}
}

/* Points get new white coordinates: as spread says, and shifted. */
static void
place(Flow *flow, const double *mean, const double *factor, const double *spread,
	  const double *shift, double part, double *h)
{
	const RaceBox *box = flow->box;
	Size		p;
	uint32		i;

	for (p = 0; p < flow->n; p++, h += box->dims)
	{
		multiply_lower(spread, box->dims, h);
		for (i = 0; i < box->dims; i++)
			h[i] += part * shift[i];
		multiply_lower(factor, box->dims, h);
		for (i = 0; i < box->dims; i++)
			flow->x[p * box->dims + i] =
				fmin(fmax(box->lower[i] + (box->upper[i] - box->lower[i]) * (mean[i] + h[i]),
						  box->lower[i]), box->upper[i]);
	}
}

/* Map the points so that they have the mean and covariance that the counters ask for. */
static void
map(Flow *flow, RacePolynomial *polynomial)
{
	uint32		dims = flow->box->dims;
	double	   *mean = race_fit_zeros(dims);
	double	   *factor = race_fit_zeros((Size) dims * dims);
	double	   *shift = race_fit_zeros(dims);
	double	   *squares = race_fit_zeros((Size) dims * dims);
	double	   *spread = race_fit_zeros((Size) dims * dims);
	double		part;

	whiten(flow, mean, factor, polynomial->h);
	race_polynomial_find(polynomial);
	weigh(polynomial, shift, squares);
	part = race_step_part(dims, shift, squares, spread);
	if (part > 0)
		place(flow, mean, factor, spread, shift, part, polynomial->h);
	pfree(mean);
	pfree(factor);
	pfree(shift);
	pfree(squares);
	pfree(spread);
}

void
race_flow(RaceFitWork *fit, const RaceBox *box)
{
	RacePolynomial polynomial;
	Flow		flow;
	bool		can_map = race_polynomial_start(&polynomial, fit, box->dims,
												RACE_POLYNOMIAL_SECOND);
	int			round;
	int			i;

	start(&flow, fit, box);
	polynomial.prior = MAP_PRIOR;
	polynomial.most_work = MAP_WORK;
	polynomial.n = flow.n;
	polynomial.x = flow.x;
	polynomial.h = race_fit_zeros((Size) flow.n * box->dims);
	for (round = 0; round < ROUNDS; round++)
	{
		race_tell("race_fit: points are moved, round %d of %d", round + 1, ROUNDS);
		memset(flow.speed, 0, (Size) flow.n * box->dims * sizeof(double));
		for (i = 0; i < MOVES; i++)
			move(&flow, round * MOVES + i, pow(SLOWER, round));
		for (i = 0; i < MAPS && can_map; i++)
			map(&flow, &polynomial);
	}
}
