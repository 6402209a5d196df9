/*
 * normal.c
 *		The normal distribution that explains the counters of a surrogate loss best.
 *
 * With h a standard normal vector, points are mean + factor h, and the polynomial is
 * 1 + sum of b_i h_i + sum of a_ij (h_i h_j - [i = j]), i <= j.  The mean of h is then b, and
 * that of h_i h_j is [i = j] + a_ij (1 + [i = j]).
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "../lsh/normal.h"
#include "../lsh/surrogate.h"
#include "normal.h"

#define ROUNDS			12
#define FIRST_ROUNDS	5		/* by moments alone */
#define DRAWN			4096	/* points, in pairs around the mean; and in the last ones: */
#define LAST_ROUNDS		3
#define LAST_DRAWN		16384
#define FIRST_PART		0.6		/* of the radius: the length of a point at first */
#define LEAST_PART		1e-4	/* of the radius: what a point moves along an axis at least */
#define LEAST_VARIANCE	0.1		/* by a step, what is left of a variance, */
#define MOST_VARIANCE	4.0		/* and what it grows to; */
#define LEAST_STEP		1e-3	/* shorter ones are not gone */
#define MOST_TERMS		1000	/* of the polynomial */
#define MOST_SUMS		((uint64) 16 * 1024 * 1024)	/* in a block of rows */
#define MOST_ROWS		2048	/* that it is found from */

typedef struct Normal
{
	const RaceFitWork *fit;
	const RaceBox *box;
	uint32		used;			/* coordinates that vary; a label does not */
	uint32		moments;		/* terms of degree 1 and 2, and */
	uint32		most;			/* all terms of the polynomial, without its constant; */
	uint32		terms;			/* so many are used */
	double		radius;			/* of a ball that points are clipped to */
	double	   *mean;			/* [used] */
	double	   *factor;			/* [used][used], lower triangular */
	uint32		n;				/* points: */
	double	   *h;				/* [n][used] */
	double	   *x;				/* [n][dims] */
	double	   *gram;			/* [terms][terms], of least squares; the lower triangle */
	double	   *right;			/* [terms] */
} Normal;

static double *
zeros(Size n)
{
	return palloc_extended(n * sizeof(double), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

/* Is there space for the sums of all terms in a block of rows, and time for the equations? */
static bool
can_find(const Normal *normal, uint32 range)
{
	return normal->most <= MOST_TERMS &&
		(uint64) RACE_LANES * range * (normal->most + 1) <= MOST_SUMS;
}

/* Points are at most n in the end. */
static void
start(Normal *normal, const RaceFitWork *fit, const RaceBox *box, uint32 n)
{
	const RaceParams *params = fit->view->params;
	uint32		used = params->dims - (race_kernel_type(params->kernel)->queries == 1);
	uint32		i;

	normal->fit = fit;
	normal->box = box;
	normal->used = used;
	normal->moments = used + used * (used + 1) / 2;
	normal->most = normal->moments + used + used * (used + 1) / 2;
	normal->radius = params->radius;
	normal->mean = zeros(used);
	normal->factor = zeros((Size) used * used);
	if (!can_find(normal, params->range))
		normal->most = normal->moments;
	if (can_find(normal, params->range))
	{
		normal->gram = zeros((Size) normal->most * normal->most);
		normal->right = zeros(normal->most);
		n = Max(n, LAST_DRAWN);
	}
	normal->h = zeros((Size) n * used);
	normal->x = zeros((Size) n * params->dims);
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

	for (i = 0; i < normal->used; i++)
	{
		x[i] = normal->mean[i];
		for (j = 0; j <= i; j++)
			x[i] += normal->factor[(Size) i * normal->used + j] * h[j];
		square += x[i] * x[i];
	}
	shrink = square > 0 ? fmin(1, normal->radius / sqrt(square)) : 1;
	for (i = 0; i < box->dims; i++)
		x[i] = i >= normal->used ? 1 :
			fmin(fmax(x[i] * shrink, box->lower[i]), box->upper[i]);
}

static void
place_points(Normal *normal)
{
	uint32		p;

	for (p = 0; p < normal->n; p++)
	{
		CHECK_FOR_INTERRUPTS();
		place_point(normal, normal->h + (Size) p * normal->used,
					normal->x + (Size) p * normal->box->dims);
	}
}

/* Draw n vectors h, in pairs that are opposite to each other. */
static void
draw(Normal *normal, int64 seed, uint32 stream, uint32 n)
{
	uint32		p;
	uint32		i;

	normal->n = n;
	for (p = 0; p < n; p++)
	{
		CHECK_FOR_INTERRUPTS();
		for (i = 0; i < normal->used; i++)
			normal->h[(Size) p * normal->used + i] = (p % 2 == 0 ? 1 : -1) *
				race_inverse_normal(race_candidates_random(seed, stream, p / 2, i));
	}
}

/* ----------------------------------------------------------------- algebra */

/*
 * Replace the lower triangle by its Cholesky factor, in which squares of the diagonal are at
 * least `least`.  Returns whether they are so by themselves.
 */
static bool
factorize(double *a, uint32 n, double least)
{
	uint32		i;
	uint32		j;
	uint32		k;
	bool		good = true;

	for (i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		for (j = 0; j <= i; j++)
		{
			double		sum = a[(Size) i * n + j];

			for (k = 0; k < j; k++)
				sum -= a[(Size) i * n + k] * a[(Size) j * n + k];
			a[(Size) i * n + j] = j < i ? sum / a[(Size) j * n + j] : sqrt(fmax(sum, least));
			good &= j < i || sum >= least;
		}
	}
	return good;
}

/* Solve L v' = v in place */
static void
solve_lower(const double *factor, uint32 n, double *v)
{
	uint32		i;
	uint32		j;

	for (i = 0; i < n; i++)
	{
		for (j = 0; j < i; j++)
			v[i] -= factor[(Size) i * n + j] * v[j];
		v[i] /= factor[(Size) i * n + i];
	}
}

/* and L'v' = v */
static void
solve_upper(const double *factor, uint32 n, double *v)
{
	uint32		i;
	uint32		j;

	for (i = n; i-- > 0;)
	{
		for (j = i + 1; j < n; j++)
			v[i] -= factor[(Size) j * n + i] * v[j];
		v[i] /= factor[(Size) i * n + i];
	}
}

/* Make the second moments of all h exactly those of a standard normal vector. */
static void
standardize(Normal *normal)
{
	uint32		used = normal->used;
	double	   *moments = zeros((Size) used * used);
	uint32		p;
	uint32		i;
	uint32		j;

	for (p = 0; p < normal->n; p++)
	{
		const double *h = normal->h + (Size) p * used;

		CHECK_FOR_INTERRUPTS();
		for (i = 0; i < used; i++)
			for (j = 0; j <= i; j++)
				moments[(Size) i * used + j] += h[i] * h[j] / normal->n;
	}
	factorize(moments, used, 1e-6);
	for (p = 0; p < normal->n; p++)
		solve_lower(moments, used, normal->h + (Size) p * used);
	pfree(moments);
}

/* --------------------------------------------------------------- one round */

/*
 * The terms of the polynomial at h, after 1 for its constant.  They are Hermite polynomials:
 * at right angles to each other under the normal distribution, so that those of degree 3 and
 * 4 do not change its moments.  These take in what is not normal in the columns, and are left
 * out while the distribution is still far off.
 */
static void
terms_at(const Normal *normal, const double *h, double *terms)
{
	uint32		i;
	uint32		j;

	*terms++ = 1;
	for (i = 0; i < normal->used; i++)
		*terms++ = h[i];
	for (i = 0; i < normal->used; i++)
		for (j = 0; j <= i; j++)
			*terms++ = h[i] * h[j] - (i == j);
	for (i = 0; i < normal->used && normal->terms > normal->moments; i++)
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
count_terms(const Normal *normal, Size block, double *sums)
{
	const RaceParams *params = normal->fit->view->params;
	Size		width = normal->terms + 1;
	double	   *terms = palloc((normal->most + 1) * sizeof(double));
	uint32		buckets[RACE_RECORDS_TOGETHER * RACE_LANES];
	uint32		from;
	uint32		i;
	uint32		r;
	Size		t;

	memset(sums, 0, RACE_LANES * params->range * width * sizeof(double));
	for (from = 0; from < normal->n; from += RACE_RECORDS_TOGETHER)
	{
		uint32		n = Min(normal->n - from, RACE_RECORDS_TOGETHER);
		RaceColumn	column = {normal->x + (Size) from * params->dims, NULL, NULL, params->dims};

		CHECK_FOR_INTERRUPTS();
		race_rows_hash(race_rows_of(normal->fit->site->rows), block, &column, n, buckets);
		for (i = 0; i < n; i++)
		{
			terms_at(normal, normal->h + (Size) (from + i) * normal->used, terms);
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
add_equation(Normal *normal, const double *sums, double share)
{
	double		beyond = share - sums[0] / normal->n;
	uint32		i;
	uint32		j;

	for (i = 0; i < normal->terms; i++)
	{
		double		x = sums[i + 1] / normal->n;
		double	   *line = normal->gram + (Size) i * normal->terms;

		normal->right[i] += x * beyond;
		for (j = 0; j <= i; j++)
			line[j] += x * (sums[j + 1] / normal->n);
	}
}

/* The polynomial that explains the counters best, in normal->right */
static void
find_polynomial(Normal *normal)
{
	const RaceView *view = normal->fit->view;
	const RaceParams *params = view->params;
	uint32		rows = Min(params->rows, MOST_ROWS);
	double		records = normal->fit->records;
	double		ridge = view->header->noise.counter_variance / (records * records);
	Size		width = normal->terms + 1;
	double	   *sums = zeros(RACE_LANES * params->range * width);
	double		trace = 0;
	uint32		r;
	uint32		b;
	uint32		i;

	memset(normal->gram, 0, (Size) normal->terms * normal->terms * sizeof(double));
	memset(normal->right, 0, normal->terms * sizeof(double));
	for (r = 0; r < rows; r++)
	{
		if (r % RACE_LANES == 0)
			count_terms(normal, r / RACE_LANES, sums);
		CHECK_FOR_INTERRUPTS();
		for (b = 0; b < params->range; b++)
			add_equation(normal, sums + ((Size) (r % RACE_LANES) * params->range + b) * width,
						 race_counters_get(view->counters, view->width,
										   (Size) r * params->range + b) / records);
	}
	pfree(sums);
	for (i = 0; i < normal->terms; i++)
		trace += normal->gram[(Size) i * normal->terms + i];
	for (i = 0; i < normal->terms; i++)
		normal->gram[(Size) i * normal->terms + i] += ridge + 1e-9 * trace / normal->terms;
	factorize(normal->gram, normal->terms, 1e-12 * trace);
	solve_lower(normal->gram, normal->terms, normal->right);
	solve_upper(normal->gram, normal->terms, normal->right);
}

/*
 * The covariance of h that a part of the polynomial gives, as its Cholesky factor.  False if
 * the step is too long: a variance would shrink, or grow, too much.
 */
static bool
spread_of(const Normal *normal, double part, double *spread)
{
	uint32		used = normal->used;
	const double *shift = normal->right;
	const double *square = normal->right + used;
	uint32		i;
	uint32		j;

	for (i = 0; i < used; i++)
		for (j = 0; j <= i; j++, square++)
			spread[(Size) i * used + j] = (i == j) + part * (1 + (i == j)) * *square -
				part * part * shift[i] * shift[j];
	for (i = 0; i < used; i++)
		if (!(spread[(Size) i * used + i] <= MOST_VARIANCE))
			return false;
	return factorize(spread, used, LEAST_VARIANCE);
}

/* The moments that the polynomial gives, or a part of it */
static void
step(Normal *normal)
{
	uint32		used = normal->used;
	double	   *spread = zeros((Size) used * used);
	double	   *factor = zeros((Size) used * used);
	double		part = 1;
	uint32		i;
	uint32		j;
	uint32		k;

	while (part > LEAST_STEP && !spread_of(normal, part, spread))
		part /= 2;
	for (i = 0; i < used && part > LEAST_STEP; i++)
		for (j = 0; j <= i; j++)
		{
			normal->mean[i] += part * normal->factor[(Size) i * used + j] * normal->right[j];
			for (k = j; k <= i; k++)
				factor[(Size) i * used + j] += normal->factor[(Size) i * used + k] *
					spread[(Size) k * used + j];
		}
	for (i = 0; i < used && part > LEAST_STEP; i++)
		factor[(Size) i * used + i] = Max(factor[(Size) i * used + i],
										  LEAST_PART * normal->radius);
	if (part > LEAST_STEP)
		memcpy(normal->factor, factor, (Size) used * used * sizeof(double));
	pfree(spread);
	pfree(factor);
}

bool
race_normal_place(RaceFitWork *fit, const RaceBox *box, int64 seed, uint32 n)
{
	Normal		normal;
	int			round;

	memset(&normal, 0, sizeof(Normal));
	start(&normal, fit, box, n);
	for (round = 0; normal.gram != NULL && round < ROUNDS; round++)
	{
		bool		last = round >= ROUNDS - LAST_ROUNDS;

		normal.terms = round < FIRST_ROUNDS ? normal.moments : normal.most;
		draw(&normal, seed, round, last ? LAST_DRAWN : DRAWN);
		standardize(&normal);
		place_points(&normal);
		find_polynomial(&normal);
		step(&normal);
	}
	draw(&normal, seed, ROUNDS, n > 1 ? n / 2 * 2 : n);
	if (n > 2 * normal.used)
		standardize(&normal);
	place_points(&normal);
	memcpy(fit->points->parts[0].numbers, normal.x,
		   (Size) normal.n * box->dims * sizeof(double));
	fit->points->n = normal.n;
	race_work_spread(fit, fit->weights);
	race_work_spread(fit, fit->second);
	return normal.gram != NULL;
}
