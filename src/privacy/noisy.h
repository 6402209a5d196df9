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
 * Return a number plus noise of this scale or variance (sampler.h), cut where it does not fit; 0
 * without any noise.  It
 * is clamped to +-RACE_MAX_COUNT by who calls this, after all noise was added: to clamp a number
 * that lacks some of its noise is not post-processing.
 */
extern int64_t race_noisy(RaceRandom *random, int64_t value, RaceMechanism mechanism,
						  uint64_t noise);

#endif
