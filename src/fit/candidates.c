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

/* A number in (0, 1) that seed, stream, point and coordinate fix */
static double
uniform(int64_t seed, uint32_t stream, size_t point, uint32_t coordinate)
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
#define COARSEST_STEP		0.34

/* The number of points of a grid with steps of `step` bandwidths */
static double
points_of_grid(const RaceBox *box, const double *bandwidths, double step)
{
	double		points = 1;
	uint32_t	i;

	for (i = 0; i < box->dims; i++)
		points *= ceil(span(box, i) / (bandwidths[i] * step)) + 1;
	return points;
}

size_t
race_candidates_grid(const RaceBox *box, const double *bandwidths, size_t n, double *x)
{
	double		step = FINEST_STEP;
	size_t		points;
	size_t		p;

	while (step <= COARSEST_STEP && !(points_of_grid(box, bandwidths, step) <= (double) n))
		step *= 1.05;
	if (box->dims > 2 || step > COARSEST_STEP)
		return 0;
	points = (size_t) points_of_grid(box, bandwidths, step);
	for (p = 0; p < points; p++)
	{
		size_t		rest = p;
		uint32_t	i;

		for (i = box->dims; i-- > 0;)
		{
			size_t		steps = (size_t) ceil(span(box, i) / (bandwidths[i] * step));

			size_t		k = rest % (steps + 1);

			/* the last is the bound itself, whatever rounding does */
			x[p * box->dims + i] = k == 0 ? box->lower[i] : k == steps ? box->upper[i] :
				fmin(box->lower[i] + span(box, i) * (double) k / (double) steps, box->upper[i]);
			rest /= steps + 1;
		}
	}
	return points;
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
										uniform(seed, stream, p, i), box->upper[i]);
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
		double		at = total * ((double) p + uniform(seed, stream, p, box->dims)) / (double) n;

		race_look_for_interrupts();
		while (parent + 1 < m && passed + weights[parent] <= at)
			passed += weights[parent++];
		for (i = 0; i < box->dims; i++)
		{
			double		move = jitter * span(box, i) *
				race_inverse_normal(uniform(seed, stream, p, i));

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
