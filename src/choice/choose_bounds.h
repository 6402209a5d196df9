/*
 * choose_bounds.h
 *		Bounds of numbers that nobody knows, from noisy counts
 *
 * It holds no exact number.  Plain C99.
 */
#ifndef RACE_CHOOSE_BOUNDS_H
#define RACE_CHOOSE_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

#include "privacy/account.h"
#include "privacy/exact.h"

/*
 * Bounds of numbers that nobody knows, in up to three readings.  Counts of numbers by sign and
 * binary exponent tell where most are; counts of 1,024 cells there tell a centre; and counts by the
 * exponent of the distance from it tell how far numbers reach: to the outermost one that has more
 * of them than noise alone would.
 */
#define RACE_BOUNDS_OCTAVES 256
#define RACE_BOUNDS_CELLS 1024
#define RACE_BOUNDS_COUNTERS RACE_BOUNDS_CELLS /* the most of a reading */

typedef enum RaceBoundsStage
{
	RACE_BOUNDS_PLACE,
	RACE_BOUNDS_CENTRE,
	RACE_BOUNDS_REACH,
	RACE_BOUNDS_STAGES
} RaceBoundsStage;

typedef struct RaceBounds
{
	int stage;    /* RaceBoundsStage of the next reading */
	double start; /* start of the cells */
	double width;
	double centre;
	bool whole; /* whether the numbers are whole */
	bool found;
	double lower; /* lower bound; at first what is known, or infinite */
	double upper;
	double beyond;       /* share of numbers beyond the bounds, by noisy counts */
	double beyond_error; /* error of `beyond`, with 95 % confidence */
} RaceBounds;

/*
 * Begin a search, which costs the epsilon of a request without a delta.  False when the noise of a
 * reading would be too large, as public facts say.
 */
extern bool race_bounds_start(RaceBounds *bounds, const RaceRequest *request);

/* Set the shape of the counters of the next reading: one block, whose counters numbers are in. */
extern void race_bounds_shape(const RaceBounds *bounds, RaceShape *shape);

/* Return which counter of a reading a number is in; -1 for none. */
extern int race_bounds_counter(const RaceBounds *bounds, double x);

/*
 * Measure the counters of a reading, for a part of what an account of that request allows, and
 * conclude from the noisy ones, which are set.  True if another reading follows.
 */
extern bool race_bounds_read(RaceBounds *bounds, RaceAccount *account, const RaceExact *exact,
							 int64_t *counters);

#endif
