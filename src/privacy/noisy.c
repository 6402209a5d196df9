/*
 * noisy.c
 *		The one place where an exact number gets noise, or decides with it
 */
#include "privacy/noisy.h"

int64_t
race_noisy(RaceRandom *random, int64_t value, RaceMechanism mechanism, uint64_t noise)
{
	int64_t draw = mechanism == RACE_MECHANISM_GAUSSIAN ? race_discrete_gaussian(random, noise) :
														  race_discrete_laplace(random, noise);

	if (__builtin_add_overflow(value, draw, &value))
		return draw > 0 ? INT64_MAX : -INT64_MAX;
	return value;
}

uint32_t
race_noisy_best(RaceRandom *random, const __int128 *quality, uint32_t n, uint64_t scale,
				uint32_t *order)
{
	__int128 best = quality[0];

	for (uint32_t i = 0; i < n; i++)
	{
		order[i] = i;
		best = quality[i] > best ? quality[i] : best;
	}
	/* bound: n, since the best one is always taken */
	for (uint32_t i = 0;; i++)
	{
		uint32_t k = i + (uint32_t) race_random_below(random, n - i);
		uint32_t candidate = order[k];

		order[k] = order[i];
		if (race_bernoulli_exp(
				random, (unsigned __int128) (best - quality[candidate]) * RACE_SCALE_DENOMINATOR,
				scale))
			return candidate;
	}
}
