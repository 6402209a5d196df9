/*
 * noise_samplers.c
 *		Exact samplers of discrete Laplace, discrete Gaussian and Wishart noise
 */
#include <math.h>
#include <string.h>

#include "summary.h"

/*
 * Exact discrete Laplace noise from random bytes, in integers only.
 *
 * After Canonne, Kamath & Steinke, "The Discrete Gaussian for Differential
 * Privacy" (2020), algorithms 1 and 2.
 */

typedef unsigned __int128 uint128;

/* The next n <= 8 random bytes as an integer */
static inline uint64_t
next_bytes(RaceRandom *random, size_t n)
{
	uint8_t    *bytes;
	uint64_t	value = 0;

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

/*
 * Exact discrete Gaussian noise from random bytes, in integers only.
 *
 * After Canonne, Kamath & Steinke, "The Discrete Gaussian for Differential
 * Privacy" (2020), algorithm 3: a discrete Laplace draw, kept with the
 * probability that makes it Gaussian.
 */

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

/*
 * Noise for sums of v v': the difference of two Wishart matrices, by exact integers.
 *
 * X is a matrix of p rows and p + 1 columns of independent normal numbers of variance c.  Then the
 * density of W = X X' is proportional to exp(-trace(W) / (2 c)) on all matrices without a negative
 * eigenvalue (Wishart 1928; with p + 1 degrees of freedom the power of the determinant is 0).  So
 * W + v v' is exp(-|v|^2 / (2 c)) times as likely as W, for every W.  doc/privacy.md concludes what
 * the difference of two of them costs, and what it costs that X is drawn in steps and W is rounded.
 */

typedef __int128 int128;

/* The sampler of discrete Gaussians lacks the last bits. */
#define STEP_BITS		20
#define COARSE_VARIANCE	(UINT64_C(1) << 2 * (RACE_WISHART_BITS - STEP_BITS))

/*
 * A normal number towards 0: of |x| the integer below it, with probability proportional to
 * exp(-x^2 / 2^97).  All bits but the last ones are those of a discrete Gaussian.
 */
static int64_t
draw_normal(RaceRandom *random)
{
	for (;;)
	{
		int64_t		high = race_discrete_gaussian(random, COARSE_VARIANCE);
		uint64_t	low;

		if (high < 0)
			continue;			/* the sign is drawn apart */
		high <<= STEP_BITS;
		low = race_random_below(random, UINT64_C(1) << STEP_BITS);
		/* (high + low)^2 - high^2, below 2^76 */
		if (!race_bernoulli_exp(random, (uint128) low * (2 * (uint64_t) high + low),
								(uint128) 1 << (2 * RACE_WISHART_BITS + 1)))
			continue;
		high += low;
		return race_random_below(random, 2) == 1 ? -high : high;
	}
}

void
race_wishart_square(const int64_t *normal, uint32_t columns, uint64_t scale, int sign,
					int64_t *triangle)
{
	size_t		n = (size_t) columns + 1;

	for (size_t i = 0; i < columns; i++)
		for (size_t j = i; j < columns; j++)
		{
			int128		sum = 0;

			for (size_t k = 0; k < n; k++)
				sum += (int128) normal[i * n + k] * normal[j * n + k];
			/* below 2^117: after the shift and the scale below 2^109, and 2^61 are left */
			sum = (sum >> RACE_WISHART_BITS) * (int128) scale >> RACE_WISHART_BITS;
			*triangle++ += sign * (int64_t) sum;
		}
}

void
race_wishart(RaceRandom *random, uint32_t columns, uint64_t scale, int sign, int64_t *work,
			 int64_t *triangle)
{
	for (size_t k = 0; k < (size_t) columns * (columns + 1); k++)
		work[k] = draw_normal(random);
	race_wishart_square(work, columns, scale, sign, triangle);
}

uint64_t
race_wishart_rounding(uint32_t columns, uint64_t scale)
{
	/* no number of X is above 64.1 standard deviations, and each is at most 1 nearer to 0 */
	uint128		truncated = (uint128) scale * (columns + 1) * 131;

	return 2 * (3 + (uint64_t) (truncated >> RACE_WISHART_BITS)) + 1;
}

double
race_wishart_steps(uint32_t columns)
{
	return (double) columns * (columns + 1) * 66 / ((uint64_t) 1 << RACE_WISHART_BITS);
}


int64_t
race_noisy(RaceRandom *random, int64_t value, RaceMechanism mechanism, uint64_t noise)
{
	int64_t		draw = mechanism == RACE_MECHANISM_GAUSSIAN ?
		race_discrete_gaussian(random, noise) :
		race_discrete_laplace(random, noise);

	if (__builtin_add_overflow(value, draw, &value))
		return draw > 0 ? INT64_MAX : -INT64_MAX;
	return value;
}
