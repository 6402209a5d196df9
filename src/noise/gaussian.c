/*
 * gaussian.c
 *		Exact discrete Gaussian noise from random bytes, in integers only.
 *
 * After Canonne, Kamath & Steinke, "The Discrete Gaussian for Differential
 * Privacy" (2020), algorithm 3: a discrete Laplace draw, kept with the
 * probability that makes it Gaussian.
 */
#include "noise.h"

#include <math.h>

typedef unsigned __int128 uint128;

/* The largest t with t^2 <= n, for n <= RACE_MAX_VARIANCE */
static uint64_t
integer_sqrt(uint64_t n)
{
	uint64_t	root = (uint64_t) sqrt((double) n);

	while (root * root > n)
		root--;
	while ((root + 1) * (root + 1) <= n)
		root++;
	return root;
}

/* True with probability exp(-u / t), for any u and t >= 1 */
static bool
bernoulli_exp_any(RaceRandom *random, uint128 u, uint128 t)
{
	/* one factor exp(-1) at a time */
	for (; u > t; u -= t)
		if (!race_bernoulli_exp(random, 1, 1))
			return false;
	return race_bernoulli_exp(random, u, t);
}

int64_t
race_discrete_gaussian(RaceRandom *random, uint64_t variance)
{
	uint64_t	t = integer_sqrt(variance) + 1;

	for (;;)
	{
		int64_t		y = race_discrete_laplace(random, t * RACE_SCALE_DENOMINATOR);
		uint64_t	magnitude = y < 0 ? -(uint64_t) y : (uint64_t) y;
		int64_t		distance;

		/* a draw that would be kept with a probability below e^-1900 is dropped */
		if (magnitude > 64 * t)
			continue;

		/* exp(-(|y| - variance / t)^2 / (2 variance)), both times t^2: < 2^126 */
		distance = (int64_t) (magnitude * t) - (int64_t) variance;
		if (bernoulli_exp_any(random, (uint128) ((__int128) distance * distance),
							  (uint128) 2 * variance * t * t))
			return y;
	}
}
