/*
 * counters.h
 *		Counters of varying width
 */
#ifndef RACE_COUNTERS_H
#define RACE_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "privacy/integers.h"

/*
 * Arrays of integers, 64 bits in meaning and as narrow as they fit.
 *
 * A counter array is `n` signed integers of `width` 1, 2, 4 or 8 bytes in native order.  Counters
 * lie within +-RACE_MAX_COUNT.  Plain C99 without PostgreSQL headers, for benchmarks and unit
 * tests.
 */

#define RACE_MAX_COUNT (INT64_C(1) << 62)

/*
 * Rows that are hashed and counted together: buckets of a record lie so far from those of the next
 */
#define RACE_LANES 64

/* Counters that are converted at a time, on the stack */
#define RACE_COUNTER_BLOCK 512

typedef struct RaceCounterArray
{
	void *counters;
	int width; /* bytes of a counter */
} RaceCounterArray;

/* Expands `action` with `type` bound to the integer type of `width` bytes. */
#define RACE_FOR_WIDTH(width, action) \
	switch (width) \
	{ \
		case 1: \
		{ \
			typedef int8_t type; \
			action \
		} \
		break; \
		case 2: \
		{ \
			typedef int16_t type; \
			action \
		} \
		break; \
		case 4: \
		{ \
			typedef int32_t type; \
			action \
		} \
		break; \
		default: \
		{ \
			typedef int64_t type; \
			action \
		} \
		break; \
	}

/* Return whether counters may have this width. */
extern bool race_counters_width_valid(int width);

/* Return the narrowest width that holds all integers from min to max. */
extern int race_counters_width_for(int64_t min, int64_t max);

/* Return the largest absolute value that a counter of this width may have. */
extern int64_t race_counters_limit(int width);

/* Find the smallest and the largest of n counters; n >= 1. */
extern void race_counters_bounds(const void *counters, int width, size_t n, int64_t *min,
								 int64_t *max);

/* Copy counters from ... from + n - 1 to and from 64-bit integers. */
extern void race_counters_load(const void *counters, int width, size_t from, size_t n,
							   int64_t *out);
extern void race_counters_store(void *counters, int width, size_t from, size_t n,
								const int64_t *in);

/* Copy n counters into another width, which must hold them. */
extern void race_counters_convert(const void *from, int from_width, void *to, int to_width,
								  size_t n);

/* Get one counter. */
extern int64_t race_counters_get(const void *counters, int width, size_t i);

/*
 * Return the sum over rows from ... to - 1 of counter buckets[row] of each row of `range` counters,
 * as exactly as a double holds it.
 */
extern double race_counters_sum(const void *counters, int width, const uint32_t *buckets,
								uint32_t from, uint32_t to, uint32_t range);

/*
 * Return the sum over rows of the norm of order 3 of each row of `range` counters, the cube root of
 * the sum of cubes, which is rounded down to an integer.  Whoever changes a row by at most an
 * integer m in norm changes its rounded norm by at most m.  Counters beyond 2^36 count as 2^36, and
 * norms beyond 2^42 as 2^42.
 */
extern uint64_t race_counters_norms(const void *counters, int width, uint32_t rows, uint32_t range);

/* Return a + b within +-RACE_MAX_COUNT. */
extern int64_t race_clamped_sum(int64_t a, int64_t b);

#endif
