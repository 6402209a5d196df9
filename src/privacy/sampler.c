/*
 * sampler.c
 *		Exact samplers of discrete Laplace and discrete Gaussian noise
 */
#include <math.h>

#include "privacy/sampler.h"

/*
 * Exact discrete Laplace noise from random bytes, in integers only.
 *
 * After Canonne, Kamath & Steinke, "The Discrete Gaussian for Differential
 * Privacy" (2020), algorithms 1 and 2.
 */

typedef unsigned __int128 uint128;

/* Return the next n <= 8 random bytes as an integer. */
static inline uint64_t
next_bytes(RaceRandom *random, size_t n)
{
	uint8_t *bytes;
	uint64_t value = 0;

	if (random->left < n)
	{
		random->fill(random->arg, random->buffer, sizeof(random->buffer));
		random->left = sizeof(random->buffer);
	}
	bytes = random->buffer + sizeof(random->buffer) - random->left;
	for (size_t i = 0; i < n; i++)
	{
		value = value << 8 | bytes[i];
		bytes[i] = 0;
	}
	random->left -= n;
	return value;
}

uint64_t
race_random_below(RaceRandom *random, uint64_t n)
{
	int bits = n > 1 ? 64 - __builtin_clzll(n - 1) : 0;
	uint64_t value;

	/*
	 * keep only the bits that are needed, and draw again if the number is too large
	 */
	/* bound: more than half of all draws are below n */
	do
	{
		value = next_bytes(random, (bits + 7) / 8);
		if (bits < 64)
			value &= ((uint64_t) 1 << bits) - 1;
	} while (value >= n);
	return value;
}

/* Return true with probability u / n, u <= n <= 2^127. */
static bool
draw_bernoulli(RaceRandom *random, uint128 u, uint128 n)
{
	uint64_t highest;
	uint128 value;

	if (u == n)
		return true;
	if (n <= UINT64_MAX)
		return race_random_below(random, (uint64_t) n) < u;
	highest = (uint64_t) ((n - 1) >> 64);
	/* bound: more than half of all draws are below n */
	do
	{
		value = (uint128) race_random_below(random, highest + 1) << 64;
		value |= next_bytes(random, 8);
	} while (value >= n);
	return value < u;
}

/* Return true with probability exp(-u / t), u <= t. */
static bool
bernoulli_exp_below_one(RaceRandom *random, uint128 u, uint128 t)
{
	uint64_t k = 0;

	/*
	 * Go on while Bernoulli(u / (t k)) is true. It is drawn as Bernoulli(1 / k) and
	 * Bernoulli(u / t), so that t k cannot overflow.
	 */
	/* bound: it goes on k times with a probability of 1 / k! */
	do
		k++;
	while ((k == 1 || race_random_below(random, k) == 0) && draw_bernoulli(random, u, t));

	return k % 2 == 1;
}

bool
race_bernoulli_exp(RaceRandom *random, uint128 u, uint128 t)
{
	/* one factor exp(-1) at a time */
	for (; u > t; u -= t)
		if (!bernoulli_exp_below_one(random, 1, 1))
			return false;
	return bernoulli_exp_below_one(random, u, t);
}

int64_t
race_discrete_laplace(RaceRandom *random, uint64_t scale)
{
	/* bound: more than a quarter of all draws are kept */
	for (;;)
	{
		uint64_t u = race_random_below(random, scale);
		uint64_t v = 0;
		uint128 magnitude;
		bool negative;

		if (!race_bernoulli_exp(random, u, scale))
			continue;
		/* bound: it goes on with a probability of 1 / e */
		while (race_bernoulli_exp(random, 1, 1))
			v++;

		magnitude = ((uint128) scale * v + u) / RACE_SCALE_DENOMINATOR;
		negative = race_random_below(random, 2) == 1;
		if (negative && magnitude == 0)
			continue; /* zero must not count twice */
		if (magnitude > INT64_MAX)
			magnitude = INT64_MAX;
		return negative ? -(int64_t) magnitude : (int64_t) magnitude;
	}
}

double
race_discrete_laplace_variance(uint64_t scale)
{
	double inverse_b = (double) RACE_SCALE_DENOMINATOR / (double) scale;
	double one_minus_q = -expm1(-inverse_b);

	return 2 * exp(-inverse_b) / (one_minus_q * one_minus_q);
}

/*
 * Exact discrete Gaussian noise from random bytes, in integers only.
 *
 * After Canonne, Kamath & Steinke, "The Discrete Gaussian for Differential
 * Privacy" (2020), algorithm 3: a discrete Laplace draw, kept with the
 * probability that makes it Gaussian.
 */

/* Return the largest t with t^2 <= n, for n <= RACE_MAX_VARIANCE. */
static uint64_t
integer_sqrt(uint64_t n)
{
	uint64_t root = (uint64_t) sqrt((double) n);

	/* bound: the error of sqrt(), some units; n is at most 2^56 */
	while (root * root > n)
		root--;
	/* bound: the error of sqrt(), some units; n is at most 2^56 */
	while ((root + 1) * (root + 1) <= n)
		root++;
	return root;
}

int64_t
race_discrete_gaussian(RaceRandom *random, uint64_t variance)
{
	uint64_t t = integer_sqrt(variance) + 1;

	/* bound: more than a fifth of all draws are kept */
	for (;;)
	{
		int64_t y = race_discrete_laplace(random, t * RACE_SCALE_DENOMINATOR);
		uint64_t magnitude = y < 0 ? -(uint64_t) y : (uint64_t) y;
		int64_t distance;

		/* a draw that would be kept with a probability below e^-1900 is dropped */
		if (magnitude > 64 * t)
			continue;

		/* exp(-(|y| - variance / t)^2 / (2 variance)), both times t^2: < 2^126 */
		distance = (int64_t) (magnitude * t) - (int64_t) variance;
		if (race_bernoulli_exp(random, (uint128) ((__int128) distance * distance),
							   (uint128) 2 * variance * t * t))
			return y;
	}
}
