/*
 * laplace.c
 *		Exact discrete Laplace noise from random bytes, in integers only.
 *
 * After Canonne, Kamath & Steinke, "The Discrete Gaussian for Differential
 * Privacy" (2020), algorithms 1 and 2.
 */
#include "noise.h"

#include <math.h>
#include <string.h>

typedef unsigned __int128 uint128;

/* The next n <= 8 random bytes as an integer */
static inline uint64_t
next_bytes(RaceRandom *random, size_t n)
{
	uint8_t    *bytes;
	uint64_t	value = 0;
	size_t		i;

	if (random->left < n)
	{
		random->fill(random->arg, random->buffer, sizeof(random->buffer));
		random->left = sizeof(random->buffer);
	}
	bytes = random->buffer + sizeof(random->buffer) - random->left;
	for (i = 0; i < n; i++)
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
	int			bits = n > 1 ? 64 - __builtin_clzll(n - 1) : 0;
	uint64_t	value;

	/*
	 * keep only the bits that are needed, and draw again if the number is too large
	 */
	do
	{
		value = next_bytes(random, (bits + 7) / 8);
		if (bits < 64)
			value &= ((uint64_t) 1 << bits) - 1;
	} while (value >= n);
	return value;
}

/* True with probability u / n, u <= n <= 2^127 */
static bool
bernoulli(RaceRandom *random, uint128 u, uint128 n)
{
	uint64_t	highest;
	uint128		value;

	if (u == n)
		return true;
	if (n <= UINT64_MAX)
		return race_random_below(random, (uint64_t) n) < u;
	highest = (uint64_t) ((n - 1) >> 64);
	do
	{
		value = (uint128) race_random_below(random, highest + 1) << 64;
		value |= next_bytes(random, 8);
	} while (value >= n);
	return value < u;
}

bool
race_bernoulli_exp(RaceRandom *random, uint128 u, uint128 t)
{
	uint64_t	k = 0;

	/*
	 * Go on while Bernoulli(u / (t k)) is true. It is drawn as Bernoulli(1 / k) and
	 * Bernoulli(u / t), so that t k cannot overflow.
	 */
	do
		k++;
	while ((k == 1 || race_random_below(random, k) == 0) &&
		   bernoulli(random, u, t));

	return k % 2 == 1;
}

int64_t
race_discrete_laplace(RaceRandom *random, uint64_t scale)
{
	for (;;)
	{
		uint64_t	u = race_random_below(random, scale);
		uint64_t	v = 0;
		uint128		magnitude;
		bool		negative;

		if (!race_bernoulli_exp(random, u, scale))
			continue;
		while (race_bernoulli_exp(random, 1, 1))
			v++;

		magnitude = ((uint128) scale * v + u) / RACE_SCALE_DENOMINATOR;
		negative = race_random_below(random, 2) == 1;
		if (negative && magnitude == 0)
			continue;			/* zero must not count twice */
		if (magnitude > INT64_MAX)
			magnitude = INT64_MAX;
		return negative ? -(int64_t) magnitude : (int64_t) magnitude;
	}
}

double
race_discrete_laplace_variance(uint64_t scale)
{
	double		inverse_b = (double) RACE_SCALE_DENOMINATOR / (double) scale;
	double		one_minus_q = -expm1(-inverse_b);

	return 2 * exp(-inverse_b) / (one_minus_q * one_minus_q);
}
