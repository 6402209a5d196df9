/*
 * counters.h
 *		Arrays of integers, 64 bits in meaning and as narrow as they fit.
 *
 * A counter array is `n` signed integers of `width` 1, 2, 4 or 8 bytes in
 * native order.  Counters lie within +-RACE_MAX_COUNT.
 */
#ifndef RACE_COUNTERS_H
#define RACE_COUNTERS_H

#include "postgres.h"

#define RACE_MAX_COUNT	(INT64CONST(1) << 62)

/* how many counters are converted at a time, on the stack */
#define RACE_COUNTER_BLOCK	512

/* Is this a width that counters may have? */
extern bool race_counters_width_valid(int width);

/* The narrowest width that holds all integers from min to max. */
extern int	race_counters_width_for(int64 min, int64 max);

/* Smallest and largest of n counters; n >= 1. */
extern void race_counters_bounds(const void *counters, int width, Size n,
								 int64 *min, int64 *max);

/* Counters from ... from + n - 1 to and from 64-bit integers. */
extern void race_counters_load(const void *counters, int width,
							   Size from, Size n, int64 *out);
extern void race_counters_store(void *counters, int width,
								Size from, Size n, const int64 *in);

/* Copy n counters into another width, which must hold them. */
extern void race_counters_convert(const void *from, int from_width,
								  void *to, int to_width, Size n);

/* One counter */
extern int64 race_counters_get(const void *counters, int width, Size i);

/*
 * Add delta, +1 or -1, to counter buckets[r] of each row r of `range` counters.
 * False, with nothing changed, when a counter would leave its width, or
 * RACE_MAX_COUNT.
 */
extern bool race_counters_bump(void *counters, int width,
							   const uint32 *buckets, uint32 rows,
							   uint32 range, int delta);

#endif							/* RACE_COUNTERS_H */
