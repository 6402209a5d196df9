/*
 * wishart.c
 *		Noise for sums of v v': differences of Wishart matrices
 */
#include <string.h>

#include "privacy/interrupt.h"
#include "privacy/wishart.h"

typedef unsigned __int128 uint128;

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
#define STEP_BITS 20
#define COARSE_VARIANCE (UINT64_C(1) << 2 * (RACE_WISHART_BITS - STEP_BITS))

/*
 * Draw a normal number towards 0: of |x| the integer below it, with probability proportional to
 * exp(-x^2 / 2^97).  All bits but the last ones are those of a discrete Gaussian.
 */
static int64_t
draw_normal(RaceRandom *random)
{
	/* bound: more than a fifth of all draws are kept */
	for (;;)
	{
		int64_t high = race_discrete_gaussian(random, COARSE_VARIANCE);
		uint64_t low;

		if (high < 0)
			continue; /* the sign is drawn apart */
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
	size_t n = (size_t) columns + 1;

	for (size_t i = 0; i < columns; i++)
		for (size_t j = i; j < columns; j++)
		{
			int128 sum = 0;

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

/* Return the number of entries on and above the diagonal. */
static size_t
triangle_entries(uint32_t columns)
{
	return (size_t) columns * ((size_t) columns + 1) / 2;
}

size_t
race_wishart_space(uint32_t columns)
{
	return 3 * triangle_entries(columns);
}

int64_t *
race_wishart_difference(RaceRandom *random, uint32_t columns, uint64_t scale, int64_t *space)
{
	memset(space, 0, triangle_entries(columns) * sizeof(int64_t));
	for (int sign = -1; sign <= 1; sign += 2)
	{
		race_look_for_interrupts();
		race_wishart(random, columns, scale, sign, space + triangle_entries(columns), space);
	}
	return space;
}

uint64_t
race_wishart_rounding(uint32_t columns, uint64_t scale)
{
	/* no number of X is above 64.1 standard deviations, and each is at most 1 nearer to 0 */
	uint128 truncated = (uint128) scale * (columns + 1) * 131;

	return 2 * (3 + (uint64_t) (truncated >> RACE_WISHART_BITS)) + 1;
}

double
race_wishart_steps(uint32_t columns)
{
	return (double) columns * (columns + 1) * 66 / ((uint64_t) 1 << RACE_WISHART_BITS);
}
