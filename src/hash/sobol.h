/*
 * sobol.h
 *		Sobol' sequences, from which row functions are drawn
 */
#ifndef RACE_SOBOL_H
#define RACE_SOBOL_H

#include <stdbool.h>
#include <stdint.h>

#include "hash/params.h"

/*
 * An Owen-scrambled Sobol' sequence: rows that share the work.
 *
 * Each point is uniform in the unit cube by itself, so each row function has
 * its exact distribution and estimates stay unbiased.  Together the first 2^k
 * points fill the cube evenly, so the error of their mean is smaller than that
 * of independent points.
 */

/* The largest number of coordinates: there are no more direction numbers */
#define RACE_SOBOL_DIMENSIONS 21

/* The number of different points is 2^levels, as many as a sketch can have rows. */
#define RACE_SOBOL_LEVELS 25

/* One coordinate of the sequence */
typedef struct RaceSobol
{
	int64_t seed;
	uint32_t dimension;
	uint32_t directions[RACE_SOBOL_LEVELS];
} RaceSobol;

/*
 * Start coordinate `dimension`, from 0, of the sequence with this seed.  Beyond the last one they
 * all are van der Corput's sequence, each scrambled by itself: even alone, not together.
 */
extern void race_sobol_start(RaceSobol *sequence, int64_t seed, uint32_t dimension);

/*
 * Set the coordinate of RACE_LANES points from `first` on, a multiple of RACE_LANES below
 * 2^RACE_SOBOL_LEVELS: 64 binary digits of a number in [0, 1) each.
 */
extern void race_sobol_lanes(const RaceSobol *sequence, uint32_t first, uint64_t *bits);

/*
 * What "auto" chooses.  A part has Sobol's sequence if there are enough dimensions: it needs
 * race_sobol_dimensions() of them, and other parts have taken so many already.  Else it is
 * structured, if it can be, or independent.  Codes are folded where they can be, because estimates
 * then need no correction.
 */

/* Return how many of its dimensions a part needs; UINT32_MAX if it cannot have the sequence. */
extern uint32_t race_sobol_dimensions(const RaceParams *part);

/* Return whether a part fits, where other parts have taken so many dimensions. */
extern bool race_sobol_fits(const RaceParams *part, uint32_t taken);

#endif
