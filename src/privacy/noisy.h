/*
 * noisy.h
 *		The one place where an exact number gets noise
 *
 * test/unit/greybox_test.c has another race_noisy() in place of this one, which notes what it is
 * given.
 */
#ifndef RACE_NOISY_H
#define RACE_NOISY_H

#include <stdint.h>

#include "privacy/noise.h"
#include "privacy/sampler.h"

/*
 * Return a number plus one draw of noise, whose scale or variance is from 1 to the limits of
 * sampler.h; cut to 64 bits.  The caller clamps it to +-RACE_MAX_COUNT after all noise was added:
 * to clamp a number that lacks some of its noise is not post-processing.
 */
extern int64_t race_noisy(RaceRandom *random, int64_t value, RaceMechanism mechanism,
						  uint64_t noise);

#endif
