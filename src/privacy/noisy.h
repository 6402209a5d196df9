/*
 * noisy.h
 *		The one place where an exact number gets noise, or decides with it
 *
 * Grey-box audits (test/unit/tape.h) have others in place of these two, which note what they are
 * given.
 */
#ifndef RACE_NOISY_H
#define RACE_NOISY_H

#include <stdint.h>

#include "privacy/noise.h"
#include "privacy/sampler.h"

/*
 * Return a number plus noise of this scale or variance (sampler.h), cut where it does not fit; 0
 * without any noise.  The caller clamps it to +-RACE_MAX_COUNT after all noise was added: to clamp a
 * number that lacks some of its noise is not post-processing.
 */
extern int64_t race_noisy(RaceRandom *random, int64_t value, RaceMechanism mechanism,
						  uint64_t noise);

/*
 * Return the place of one of n >= 1 qualities, by permute and flip: they are visited in random
 * order, and one is taken with probability exp(-(best - own) RACE_SCALE_DENOMINATOR / scale).
 * Qualities are below 2^110.  `order` has n numbers.
 */
extern uint32_t race_noisy_best(RaceRandom *random, const __int128 *quality, uint32_t n,
								uint64_t scale, uint32_t *order);

#endif
