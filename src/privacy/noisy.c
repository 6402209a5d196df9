/*
 * noisy.c
 *		The one place where an exact number gets noise
 */
#include "privacy/noisy.h"

int64_t
race_noisy(RaceRandom *random, int64_t value, RaceMechanism mechanism, uint64_t noise)
{
	int64_t draw;

	if (noise == 0)
		return 0;
	draw = mechanism == RACE_MECHANISM_GAUSSIAN ? race_discrete_gaussian(random, noise) :
												  race_discrete_laplace(random, noise);

	if (__builtin_add_overflow(value, draw, &value))
		return draw > 0 ? INT64_MAX : -INT64_MAX;
	return value;
}
