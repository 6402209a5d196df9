/*
 * polynomial.c
 *		The polynomial at points that explains the counters of a sketch best.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "../linear/factor.h"
#include "polynomial.h"

#define MOST_TERMS		1000	/* of the polynomial */
#define MOST_SUMS		((uint64) 16 * 1024 * 1024)	/* in a block of rows */
#define MOST_BLOCKS		(2048 / RACE_LANES)	/* of rows that it is found from */

double *
race_fit_zeros(Size n)
{
	return palloc_extended(n * sizeof(double), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

/* Is there space for the sums of so many terms in a block of rows, and time for the equations? */
static bool
can_find(uint32 terms, uint32 range)
{
	return terms <= MOST_TERMS && (uint64) RACE_LANES * range * (terms + 1) <= MOST_SUMS;
}

bool
race_polynomial_start(RacePolynomial *polynomial, const RaceFitWork *fit, uint32 used,
					  RacePolynomialDegree degree)
{
	uint32		range = fit->view->params->range;

	memset(polynomial, 0, sizeof(RacePolynomial));
	polynomial->fit = fit;
	polynomial->used = used;
	polynomial->moments = used + used * (used + 1) / 2;
	polynomial->most = polynomial->moments;
	if (degree == RACE_POLYNOMIAL_FOURTH &&
		can_find(polynomial->moments + used + used * (used + 1) / 2, range))
		polynomial->most += used + used * (used + 1) / 2;
	polynomial->terms = polynomial->most;
	polynomial->prior = 1;
	polynomial->most_work = INFINITY;
	if (!can_find(polynomial->most, range))
		return false;
	polynomial->gram = race_fit_zeros((Size) polynomial->most * polynomial->most);
	polynomial->right = race_fit_zeros(polynomial->most);
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
terms_at(const RacePolynomial *polynomial, const double *h, double *terms)
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
count_terms(const RacePolynomial *polynomial, Size block, double *sums)
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
add_equation(RacePolynomial *polynomial, const double *sums, double share)
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
add_row(RacePolynomial *polynomial, uint32 row, const double *sums)
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
add_rows(RacePolynomial *polynomial)
{
	uint32		rows = polynomial->fit->rows;
	uint32		range = polynomial->fit->view->params->range;
	uint32		blocks = (rows + RACE_LANES - 1) / RACE_LANES;
	uint32		first = (polynomial->fit->first + RACE_LANES - 1) / RACE_LANES;
	double	   *sums = race_fit_zeros(RACE_LANES * range * (polynomial->terms + 1));
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

void
race_polynomial_find(RacePolynomial *polynomial)
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

double
race_polynomial_at(const RacePolynomial *polynomial, const double *h)
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

double
race_step_part(uint32 n, const double *shift, const double *squares, double *spread)
{
	double		part;

	for (part = 1; part > LEAST_PART; part /= 2)
		if (spread_of(n, part, shift, squares, spread))
			return part;
	return 0;
}
