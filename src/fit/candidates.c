/*
 * candidates.c
 *		Points in a box that a model of vectors may have.
 */
#include "candidates.h"

#include <math.h>
#include <string.h>

#include "../lsh/lsh.h"
#include "../lsh/normal.h"
#include "../lsh/philox.h"
#include "solve.h"

double
race_candidates_random(int64_t seed, uint32_t stream, size_t point, uint32_t coordinate)
{
	uint32_t	counter[4] = {RACE_STREAM_FIT, stream, (uint32_t) point, coordinate};
	uint64_t	bits[2];

	race_philox((uint64_t) seed, counter, bits);
	return ((double) (bits[0] >> 11) + 0.5) / 9007199254740992.0;	/* 2^53 */
}

static double
span(const RaceBox *box, uint32_t i)
{
	return box->upper[i] - box->lower[i];
}

/* ------------------------------------------------------------------- grids */

#define FINEST_STEP			0.0625	/* of a bandwidth */
#define COARSEST_STEP		0.5

/* The numbers of points along each axis with steps of so many bandwidths; and of all */
static double
points_along(const RaceBox *box, const double *bandwidths, double step, double *sides)
{
	double		points = 1;
	uint32_t	i;

	for (i = 0; i < box->dims; i++)
	{
		sides[i] = ceil(span(box, i) / (bandwidths[i] * step)) + 1;
		points *= sides[i];
	}
	return points;
}

/* The same for nodes with `parts` steps in each cell, and the largest step in bandwidths */
static double
points_of_nodes(const RaceBox *box, const double *bandwidths, const double *cells, int parts,
				double *sides, double *step)
{
	double		points = 1;
	uint32_t	i;

	*step = 0;
	for (i = 0; i < box->dims; i++)
	{
		sides[i] = cells[i] * parts + 1;
		*step = fmax(*step, span(box, i) / bandwidths[i] / (sides[i] - 1));
		points *= sides[i];
	}
	return points;
}

/* Point k of n along an axis.  The last is the bound itself, whatever rounding does. */
static double
place_along(const RaceBox *box, uint32_t i, size_t k, size_t n)
{
	if (k == 0)
		return box->lower[i];
	return k == n - 1 ? box->upper[i] :
		fmin(box->lower[i] + span(box, i) * (double) k / (double) (n - 1), box->upper[i]);
}

static size_t
place_all(const RaceBox *box, const double *along, double *x, size_t sides[2])
{
	uint32_t	last = box->dims - 1;
	size_t		p;

	sides[0] = last == 1 ? (size_t) along[0] : 1;
	sides[1] = (size_t) along[last];
	for (p = 0; p < sides[0] * sides[1]; p++)
	{
		x[p * box->dims + last] = place_along(box, last, p % sides[1], sides[1]);
		if (last == 1)
			x[p * 2] = place_along(box, 0, p / sides[1], sides[0]);
	}
	return sides[0] * sides[1];
}

size_t
race_candidates_grid(const RaceBox *box, const double *bandwidths, size_t n, double *x,
					 size_t sides[2])
{
	double		step = FINEST_STEP;
	double		along[2];

	if (box->dims > 2)
		return 0;
	while (step <= COARSEST_STEP && !(points_along(box, bandwidths, step, along) <= (double) n))
		step *= 1.05;
	return step > COARSEST_STEP ? 0 : place_all(box, along, x, sides);
}

size_t
race_candidates_nodes(const RaceBox *box, const double *bandwidths, const double *cells,
					  size_t n, double *x, size_t sides[2])
{
	int			parts = 0;
	double		along[2];
	double		step = INFINITY;

	if (box->dims > 2)
		return 0;
	while (step > FINEST_STEP &&
		   points_of_nodes(box, bandwidths, cells, parts + 1, along, &step) <= (double) n)
		parts++;
	if (parts == 0)
		return 0;
	points_of_nodes(box, bandwidths, cells, parts, along, &step);
	return step > COARSEST_STEP ? 0 : place_all(box, along, x, sides);
}

/* ------------------------------------------------------------------ random */

void
race_candidates_uniform(const RaceBox *box, int64_t seed, uint32_t stream, size_t n,
						double *x)
{
	size_t		p;
	uint32_t	i;

	for (p = 0; p < n; p++)
	{
		race_look_for_interrupts();
		for (i = 0; i < box->dims; i++)
			x[p * box->dims + i] = fmin(box->lower[i] + span(box, i) *
										race_candidates_random(seed, stream, p, i), box->upper[i]);
	}
}

/*
 * The first jitter is about the distance between points at random, the last a seventh of
 * it.
 */
double
race_candidates_jitter(const RaceBox *box, size_t n, int round)
{
	double		first = 0.5 * pow((double) n, -1.0 / box->dims);

	first = fmin(fmax(first, 0.1), 0.25);
	return first * pow(7, -(double) (round - 1) / (RACE_FIT_ROUNDS - 2));
}

void
race_candidates_around(const RaceBox *box, int64_t seed, uint32_t stream, double jitter,
					   const double *around, const double *weights, size_t m,
					   size_t n, double *x)
{
	double		total = 0;
	double		passed = 0;
	size_t		parent = 0;
	size_t		p;
	uint32_t	i;

	for (p = 0; p < m; p++)
		total += weights[p];
	for (p = 0; p < n; p++)
	{
		/* evenly spaced along the weights: a point of twice the weight has twice as many */
		double		at = total * ((double) p + race_candidates_random(seed, stream, p, box->dims)) / (double) n;

		race_look_for_interrupts();
		while (parent + 1 < m && passed + weights[parent] <= at)
			passed += weights[parent++];
		for (i = 0; i < box->dims; i++)
		{
			double		move = jitter * span(box, i) *
				race_inverse_normal(race_candidates_random(seed, stream, p, i));

			x[p * box->dims + i] = fmin(fmax(around[parent * box->dims + i] + move,
											 box->lower[i]), box->upper[i]);
		}
	}
}

/* -------------------------------------------------------------- the heaviest */

size_t
race_candidates_keep(uint32_t dims, size_t most, double *x, double *weights, size_t m,
					 double *sorted)
{
	double		least = 0;
	size_t		equal = 0;		/* to the least that is kept: how many of them are */
	size_t		kept = 0;
	size_t		p;

	memcpy(sorted, weights, m * sizeof(double));
	race_sort_descending(sorted, m);
	if (m > most)
	{
		least = sorted[most - 1];
		while (equal < most && sorted[most - 1 - equal] == least)
			equal++;
	}
	for (p = 0; p < m; p++)
		if (weights[p] > least || (weights[p] > 0 && weights[p] == least && equal > 0))
		{
			equal -= weights[p] == least && equal > 0;
			weights[kept] = weights[p];
			memmove(x + kept * dims, x + p * dims, dims * sizeof(double));
			kept++;
		}
	return kept;
}
