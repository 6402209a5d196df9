/*
 * fit_flow.c
 *		Points that move to where records are
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "../core/core.h"
#include "fit.h"
#include "row_estimator.h"

/* ------------------------------------------------------------ polynomial */

typedef enum PolynomialDegree
{
	POLYNOMIAL_SECOND,
	POLYNOMIAL_FOURTH		/* of standard normal h: polynomials of Hermite */
} PolynomialDegree;

typedef struct Polynomial
{
	const RaceFitState *fit;
	uint32		used;			/* coordinates */
	uint32		moments;		/* terms of degree 1 and 2, and */
	uint32		most;			/* all terms of the polynomial, without its constant; */
	uint32		terms;			/* so many are used */
	double		prior;			/* the variance that terms have where noise hides all; 1 */
	double		most_work;		/* rows are looked at until so many products of terms are made, */
	double		work;			/* that have been made */
	uint32		n;				/* points: */
	double	   *h;				/* [n][used] */
	double	   *x;				/* [n][dims] */
	double	   *gram;			/* [terms][terms], of least squares; the lower triangle */
	double	   *right;			/* [terms]: the polynomial, b and then a by rows */
} Polynomial;

#define MOST_TERMS		1000	/* of the polynomial */
#define MOST_SUMS		((uint64) 16 * 1024 * 1024)	/* in a block of rows */
#define MOST_BLOCKS		(2048 / RACE_LANES)	/* of rows that it is found from */

static double *
zeros(Size n)
{
	return palloc_extended(n * sizeof(double), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

/* Is there space for the sums of so many terms in a block of rows, and time for the equations? */
static bool
can_find(uint32 terms, uint32 range)
{
	return terms <= MOST_TERMS && (uint64) RACE_LANES * range * (terms + 1) <= MOST_SUMS;
}

static bool
start_polynomial(Polynomial *polynomial, const RaceFitState *fit, uint32 used,
					  PolynomialDegree degree)
{
	uint32		range = fit->view->params->range;

	memset(polynomial, 0, sizeof(Polynomial));
	polynomial->fit = fit;
	polynomial->used = used;
	polynomial->moments = used + used * (used + 1) / 2;
	polynomial->most = polynomial->moments;
	if (degree == POLYNOMIAL_FOURTH &&
		can_find(polynomial->moments + used + used * (used + 1) / 2, range))
		polynomial->most += used + used * (used + 1) / 2;
	polynomial->terms = polynomial->most;
	polynomial->prior = 1;
	polynomial->most_work = INFINITY;
	if (!can_find(polynomial->most, range))
		return false;
	polynomial->gram = zeros((Size) polynomial->most * polynomial->most);
	polynomial->right = zeros(polynomial->most);
	return true;
}

/* -------------------------------------------------------------- the equations */

/*
 * The terms of the polynomial at h, after 1 for its constant.  They are Hermite polynomials:
 * at right angles to each other under the normal distribution, so that those of degree 3 and
 * 4 do not change its moments.  These take in what is not normal in the columns, and are left
 * out while the distribution is still far off.
 */
static void
terms_at(const Polynomial *polynomial, const double *h, double *terms)
{
	uint32		i;
	uint32		j;

	*terms++ = 1;
	for (i = 0; i < polynomial->used; i++)
		*terms++ = h[i];
	for (i = 0; i < polynomial->used; i++)
		for (j = 0; j <= i; j++)
			*terms++ = h[i] * h[j] - (i == j);
	for (i = 0; i < polynomial->used && polynomial->terms > polynomial->moments; i++)
	{
		double		square = h[i] * h[i];

		*terms++ = (square - 3) * h[i];
		for (j = 0; j < i; j++)
			*terms++ = (square - 1) * (h[j] * h[j] - 1);
		*terms++ = (square - 6) * square + 3;
	}
}

/* What the points add up to in each counter of a block: sums[RACE_LANES][range][1 + terms] */
static void
count_terms(const Polynomial *polynomial, Size block, double *sums)
{
	const RaceParams *params = polynomial->fit->view->params;
	Size		width = polynomial->terms + 1;
	double	   *terms = palloc((polynomial->most + 1) * sizeof(double));
	uint32		buckets[RACE_RECORDS_TOGETHER * RACE_LANES];
	uint32		from;
	uint32		i;
	uint32		r;
	Size		t;

	memset(sums, 0, RACE_LANES * params->range * width * sizeof(double));
	for (from = 0; from < polynomial->n; from += RACE_RECORDS_TOGETHER)
	{
		uint32		n = Min(polynomial->n - from, RACE_RECORDS_TOGETHER);
		RaceColumn	column = {polynomial->x + (Size) from * params->dims, NULL, NULL, params->dims};

		CHECK_FOR_INTERRUPTS();
		race_rows_hash(race_rows_of(polynomial->fit->site->rows), block, &column, n, buckets);
		for (i = 0; i < n; i++)
		{
			terms_at(polynomial, polynomial->h + (Size) (from + i) * polynomial->used, terms);
			for (r = 0; r < RACE_LANES; r++)
			{
				double	   *sum = sums + ((Size) r * params->range +
										  buckets[i * RACE_LANES + r]) * width;

				for (t = 0; t < width; t++)
					sum[t] += terms[t];
			}
		}
	}
	pfree(terms);
}

/* Add a counter to the equations: what its share of the records is beyond that of points. */
static void
add_equation(Polynomial *polynomial, const double *sums, double share)
{
	double		beyond = share - sums[0] / polynomial->n;
	uint32		i;
	uint32		j;

	for (i = 0; i < polynomial->terms; i++)
	{
		double		x = sums[i + 1] / polynomial->n;
		double	   *line = polynomial->gram + (Size) i * polynomial->terms;

		polynomial->right[i] += x * beyond;
		for (j = 0; j <= i; j++)
			line[j] += x * (sums[j + 1] / polynomial->n);
	}
}

/* Add the counters of a row of a block, for which the sums are. */
static void
add_row(Polynomial *polynomial, uint32 row, const double *sums)
{
	const RaceView *view = polynomial->fit->view;
	uint32		range = view->params->range;
	Size		width = polynomial->terms + 1;
	uint32		b;

	for (b = 0; b < range; b++)
	{
		const double *of = sums + ((Size) (row % RACE_LANES) * range + b) * width;

		if (of[0] == 0)			/* where no points are, nothing is said of them */
			continue;
		add_equation(polynomial, of, race_counters_get(view->counters, view->width,
													   (Size) row * range + b) /
					 polynomial->fit->records);
		polynomial->work += (double) polynomial->terms * polynomial->terms / 2;
	}
}

/* Add rows, from the first one of the fit on and around, while there is time. */
static void
add_rows(Polynomial *polynomial)
{
	uint32		rows = polynomial->fit->rows;
	uint32		range = polynomial->fit->view->params->range;
	uint32		blocks = (rows + RACE_LANES - 1) / RACE_LANES;
	uint32		first = (polynomial->fit->first + RACE_LANES - 1) / RACE_LANES;
	double	   *sums = zeros(RACE_LANES * range * (polynomial->terms + 1));
	uint32		b;
	uint32		r;

	memset(polynomial->gram, 0, (Size) polynomial->terms * polynomial->terms * sizeof(double));
	memset(polynomial->right, 0, polynomial->terms * sizeof(double));
	polynomial->work = 0;
	for (b = 0; b < Min(blocks, MOST_BLOCKS) && polynomial->work <= polynomial->most_work; b++)
	{
		uint32		block = (first + b) % blocks;
		uint32		end = Min((block + 1) * RACE_LANES, rows);

		count_terms(polynomial, block, sums);
		for (r = block * RACE_LANES; r < end && polynomial->work <= polynomial->most_work; r++)
		{
			CHECK_FOR_INTERRUPTS();
			add_row(polynomial, r, sums);
		}
	}
	pfree(sums);
}

static void
find_polynomial(Polynomial *polynomial)
{
	double		records = polynomial->fit->records;
	double		ridge = polynomial->fit->view->header->noise.counter_variance /
		(records * records) / polynomial->prior;
	double		trace = 0;
	uint32		i;

	add_rows(polynomial);
	for (i = 0; i < polynomial->terms; i++)
		trace += polynomial->gram[(Size) i * polynomial->terms + i];
	for (i = 0; i < polynomial->terms; i++)
		polynomial->gram[(Size) i * polynomial->terms + i] += ridge + 1e-9 * trace / polynomial->terms;
	race_factorize(polynomial->gram, polynomial->terms, 1e-12 * trace);
	race_solve_lower(polynomial->gram, polynomial->terms, polynomial->right);
	race_solve_upper(polynomial->gram, polynomial->terms, polynomial->right);
}

static double
polynomial_at(const Polynomial *polynomial, const double *h)
{
	double		terms[MOST_TERMS + 1];
	double		sum = 0;
	uint32		t;

	terms_at(polynomial, h, terms);
	for (t = 0; t < polynomial->terms; t++)
		sum += terms[t + 1] * polynomial->right[t];
	return sum;
}

/* ------------------------------------------------------------------- steps */

#define LEAST_VARIANCE	0.1		/* by a step, what is left of a variance, */
#define MOST_VARIANCE	4.0		/* and what it grows to; */
#define LEAST_PART		1e-3	/* shorter ones are not gone */

/* The covariance of h after a part of a step, as its Cholesky factor.  False if that is too long. */
static bool
spread_of(uint32 n, double part, const double *shift, const double *squares, double *spread)
{
	uint32		i;
	uint32		j;

	for (i = 0; i < n; i++)
		for (j = 0; j <= i; j++)
			spread[(Size) i * n + j] = (i == j) + part * squares[(Size) i * n + j] -
				part * part * shift[i] * shift[j];
	for (i = 0; i < n; i++)
		if (!(spread[(Size) i * n + i] <= MOST_VARIANCE))
			return false;
	return race_factorize(spread, n, LEAST_VARIANCE);
}

static double
step_part(uint32 n, const double *shift, const double *squares, double *spread)
{
	double		part;

	for (part = 1; part > LEAST_PART; part /= 2)
		if (spread_of(n, part, shift, squares, spread))
			return part;
	return 0;
}

/* ------------------------------------------------------------------ flow */

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
	const RaceFitState *fit;
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
start(Flow *flow, RaceFitState *fit, const RaceBox *box)
{
	const RaceParams *params = fit->view->params;
	double		rate = RATE / steepest(params);
	uint32		i;

	flow->fit = fit;
	flow->box = box;
	flow->n = fit->points->n;
	flow->x = fit->points->parts[0].numbers;
	flow->speed = zeros((Size) flow->n * box->dims);
	flow->slopes = zeros((Size) flow->n * box->dims);
	flow->look = zeros(box->dims);
	flow->rate = zeros(box->dims);
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
weigh(const Polynomial *polynomial, double *shift, double *squares)
{
	uint32		dims = polynomial->used;
	Size		p;
	uint32		i;
	uint32		j;

	for (p = 0; p < polynomial->n; p++)
	{
		const double *h = polynomial->h + p * dims;
		double		more = polynomial_at(polynomial, h) / polynomial->n;

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
map(Flow *flow, Polynomial *polynomial)
{
	uint32		dims = flow->box->dims;
	double	   *mean = zeros(dims);
	double	   *factor = zeros((Size) dims * dims);
	double	   *shift = zeros(dims);
	double	   *squares = zeros((Size) dims * dims);
	double	   *spread = zeros((Size) dims * dims);
	double		part;

	whiten(flow, mean, factor, polynomial->h);
	find_polynomial(polynomial);
	weigh(polynomial, shift, squares);
	part = step_part(dims, shift, squares, spread);
	if (part > 0)
		place(flow, mean, factor, spread, shift, part, polynomial->h);
	pfree(mean);
	pfree(factor);
	pfree(shift);
	pfree(squares);
	pfree(spread);
}

void
race_flow(RaceFitState *fit, const RaceBox *box)
{
	Polynomial polynomial;
	Flow		flow;
	bool		can_map = start_polynomial(&polynomial, fit, box->dims,
												POLYNOMIAL_SECOND);
	int			round;
	int			i;

	start(&flow, fit, box);
	polynomial.prior = MAP_PRIOR;
	polynomial.most_work = MAP_WORK;
	polynomial.n = flow.n;
	polynomial.x = flow.x;
	polynomial.h = zeros((Size) flow.n * box->dims);
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

/* --------------------------------------------------- normal distribution */

/*
 * With h a standard normal vector, points are mean + factor h, and the polynomial is
 * 1 + sum of b_i h_i + sum of a_ij (h_i h_j - [i = j]), i <= j.  The mean of h is then b, and
 * that of h_i h_j is [i = j] + a_ij (1 + [i = j]).
 */

#define NORMAL_ROUNDS	12
#define FIRST_ROUNDS	5		/* by moments alone */
#define DRAWN			4096	/* points, in pairs around the mean; and in the last ones: */
#define LAST_ROUNDS		3
#define LAST_DRAWN		16384
#define FIRST_PART		0.6		/* of the radius: the length of a point at first */
#define LEAST_MOVE		1e-4	/* of the radius: what a point moves along an axis at least */

typedef struct Normal
{
	Polynomial polynomial;	/* of its points, the coordinates that vary; a label does not */
	const RaceBox *box;
	double		radius;			/* of a ball that points are clipped to */
	double	   *mean;			/* [used] */
	double	   *factor;			/* [used][used], lower triangular */
} Normal;

/* Points are at most n in the end. */
static void
start_normal(Normal *normal, const RaceFitState *fit, const RaceBox *box, uint32 n)
{
	const RaceParams *params = fit->view->params;
	uint32		used = params->dims - (race_kernel_type(params->kernel)->queries == 1);
	uint32		i;

	normal->box = box;
	normal->radius = params->radius;
	normal->mean = zeros(used);
	normal->factor = zeros((Size) used * used);
	if (start_polynomial(&normal->polynomial, fit, used, POLYNOMIAL_FOURTH))
		n = Max(n, LAST_DRAWN);
	normal->polynomial.h = zeros((Size) n * used);
	normal->polynomial.x = zeros((Size) n * params->dims);
	for (i = 0; i < used; i++)
	{
		normal->mean[i] = (box->lower[i] + box->upper[i]) / 2;
		normal->factor[(Size) i * used + i] = FIRST_PART * normal->radius / sqrt(used);
	}
}

/* ------------------------------------------------------------------ points */

/* mean + factor h, moved into the ball and the box; a label is positive */
static void
place_point(const Normal *normal, const double *h, double *x)
{
	const RaceBox *box = normal->box;
	double		square = 0;
	double		shrink;
	uint32		i;
	uint32		j;

	for (i = 0; i < normal->polynomial.used; i++)
	{
		x[i] = normal->mean[i];
		for (j = 0; j <= i; j++)
			x[i] += normal->factor[(Size) i * normal->polynomial.used + j] * h[j];
		square += x[i] * x[i];
	}
	shrink = square > 0 ? fmin(1, normal->radius / sqrt(square)) : 1;
	for (i = 0; i < box->dims; i++)
		x[i] = i >= normal->polynomial.used ? 1 :
			fmin(fmax(x[i] * shrink, box->lower[i]), box->upper[i]);
}

static void
place_normal(Normal *normal)
{
	uint32		p;

	for (p = 0; p < normal->polynomial.n; p++)
	{
		CHECK_FOR_INTERRUPTS();
		place_point(normal, normal->polynomial.h + (Size) p * normal->polynomial.used,
					normal->polynomial.x + (Size) p * normal->box->dims);
	}
}

/* Draw n vectors h, in pairs that are opposite to each other. */
static void
draw(Normal *normal, int64 seed, uint32 stream, uint32 n)
{
	uint32		p;
	uint32		i;

	normal->polynomial.n = n;
	for (p = 0; p < n; p++)
	{
		CHECK_FOR_INTERRUPTS();
		for (i = 0; i < normal->polynomial.used; i++)
			normal->polynomial.h[(Size) p * normal->polynomial.used + i] = (p % 2 == 0 ? 1 : -1) *
				race_inverse_normal(race_candidates_random(seed, stream, p / 2, i));
	}
}

/* ----------------------------------------------------------------- algebra */

/* Make the second moments of all h exactly those of a standard normal vector. */
static void
standardize(Normal *normal)
{
	uint32		used = normal->polynomial.used;
	double	   *moments = zeros((Size) used * used);
	uint32		p;
	uint32		i;
	uint32		j;

	for (p = 0; p < normal->polynomial.n; p++)
	{
		const double *h = normal->polynomial.h + (Size) p * used;

		CHECK_FOR_INTERRUPTS();
		for (i = 0; i < used; i++)
			for (j = 0; j <= i; j++)
				moments[(Size) i * used + j] += h[i] * h[j] / normal->polynomial.n;
	}
	race_factorize(moments, used, 1e-6);
	for (p = 0; p < normal->polynomial.n; p++)
		race_solve_lower(moments, used, normal->polynomial.h + (Size) p * used);
	pfree(moments);
}

/* --------------------------------------------------------------- one round */

/* The moments that the polynomial gives, or a part of it */
static void
step_normal(Normal *normal)
{
	uint32		used = normal->polynomial.used;
	double	   *spread = zeros((Size) used * used);
	double	   *factor = zeros((Size) used * used);
	double	   *squares = zeros((Size) used * used);
	const double *square = normal->polynomial.right + used;
	double		part;
	uint32		i;
	uint32		j;
	uint32		k;

	for (i = 0; i < used; i++)
		for (j = 0; j <= i; j++)
			squares[(Size) i * used + j] = (1 + (i == j)) * *square++;
	part = step_part(used, normal->polynomial.right, squares, spread);
	for (i = 0; i < used && part > 0; i++)
		for (j = 0; j <= i; j++)
		{
			normal->mean[i] += part * normal->factor[(Size) i * used + j] * normal->polynomial.right[j];
			for (k = j; k <= i; k++)
				factor[(Size) i * used + j] += normal->factor[(Size) i * used + k] *
					spread[(Size) k * used + j];
		}
	for (i = 0; i < used && part > 0; i++)
		factor[(Size) i * used + i] = Max(factor[(Size) i * used + i],
										  LEAST_MOVE * normal->radius);
	if (part > 0)
		memcpy(normal->factor, factor, (Size) used * used * sizeof(double));
	pfree(spread);
	pfree(factor);
	pfree(squares);
}

bool
race_normal_place(RaceFitState *fit, const RaceBox *box, int64 seed, uint32 n)
{
	Normal		normal;
	int			round;

	memset(&normal, 0, sizeof(Normal));
	start_normal(&normal, fit, box, n);
	for (round = 0; normal.polynomial.gram != NULL && round < NORMAL_ROUNDS; round++)
	{
		bool		last = round >= NORMAL_ROUNDS - LAST_ROUNDS;

		normal.polynomial.terms = round < FIRST_ROUNDS ? normal.polynomial.moments : normal.polynomial.most;
		draw(&normal, seed, round, last ? LAST_DRAWN : DRAWN);
		standardize(&normal);
		place_normal(&normal);
		find_polynomial(&normal.polynomial);
		step_normal(&normal);
	}
	draw(&normal, seed, NORMAL_ROUNDS, n > 1 ? n / 2 * 2 : n);
	if (n > 2 * normal.polynomial.used)
		standardize(&normal);
	place_normal(&normal);
	memcpy(fit->points->parts[0].numbers, normal.polynomial.x,
		   (Size) normal.polynomial.n * box->dims * sizeof(double));
	fit->points->n = normal.polynomial.n;
	race_fit_state_spread(fit, fit->weights);
	race_fit_state_spread(fit, fit->second);
	return normal.polynomial.gram != NULL;
}
