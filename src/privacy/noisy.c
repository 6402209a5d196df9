/*
 * noisy.c
 *		The one place where an exact number gets noise.
 */
#include "noisy.h"

#include "../sketch/counters.h"

int64_t
race_noisy(RaceRandom *random, int64_t value, RaceMechanism mechanism, uint64_t noise)
{
	int64_t		draw = mechanism == RACE_MECHANISM_GAUSSIAN ?
		race_discrete_gaussian(random, noise) :
		race_discrete_laplace(random, noise);

	return race_clamped_sum(value, draw);
}
