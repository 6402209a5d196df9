/*
 * counters.h
 *		Counters of varying width, packed storage, and counting
 */
#ifndef RACE_COUNTERS_H
#define RACE_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Arrays of integers, 64 bits in meaning and as narrow as they fit.
 *
 * A counter array is `n` signed integers of `width` 1, 2, 4 or 8 bytes in
 * native order.  Counters lie within +-RACE_MAX_COUNT.
 *
 * Plain C99 without PostgreSQL headers, for benchmarks and unit tests.
 */

#define RACE_MAX_COUNT	(INT64_C(1) << 62)

/* number of counters that are converted at a time, on the stack */
#define RACE_COUNTER_BLOCK	512

/* Is this a width that counters may have? */
extern bool race_counters_width_valid(int width);

/* The narrowest width that holds all integers from min to max. */
extern int	race_counters_width_for(int64_t min, int64_t max);

/* Smallest and largest of n counters; n >= 1. */
extern void race_counters_bounds(const void *counters, int width, size_t n,
								 int64_t *min, int64_t *max);

/* Counters from ... from + n - 1 to and from 64-bit integers. */
extern void race_counters_load(const void *counters, int width,
							   size_t from, size_t n, int64_t *out);
extern void race_counters_store(void *counters, int width,
								size_t from, size_t n, const int64_t *in);

/*
 * Of counters from ... from + n - 1 those that are not zero: their positions, which are below
 * 2^32, and values.  Returns how many they are.  There is space for n of them.
 */
extern size_t race_counters_nonzero(const void *counters, int width, size_t from, size_t n,
									uint32_t *positions, int64_t *values);

/* Counters at n positions to and from 64-bit integers */
extern void race_counters_gather(const void *counters, int width, const uint32_t *positions,
								 size_t n, int64_t *out);
extern void race_counters_scatter(void *counters, int width, const uint32_t *positions,
								  size_t n, const int64_t *in);

/* Copy n counters into another width, which must hold them. */
extern void race_counters_convert(const void *from, int from_width,
								  void *to, int to_width, size_t n);

/* One counter */
extern int64_t race_counters_get(const void *counters, int width, size_t i);

/*
 * The sum over rows from ... to - 1 of counter buckets[row] of each row of
 * `range` counters, as exactly as a double holds it
 */
extern double race_counters_sum(const void *counters, int width,
								const uint32_t *buckets, uint32_t from,
								uint32_t to, uint32_t range);

/*
 * The sum over rows of the Euclidean norm of each row of `range` counters, which is rounded
 * down to an integer.  Whoever changes a row by at most an integer m in norm changes its
 * rounded norm by at most m.  Counters beyond 2^36 count as 2^36.
 */
extern uint64_t race_counters_norms(const void *counters, int width, uint32_t rows,
									uint32_t range);

/*
 * Count n records: add delta to counter buckets[i * RACE_LANES + row] of each row of
 * `range` counters, for at most RACE_LANES rows.  All counters must be at least
 * n |delta| away from race_counters_limit(): nothing is checked here.
 */
extern void race_counters_bump(void *counters, int width,
							   const uint32_t *buckets, size_t n,
							   uint32_t rows, uint32_t range, int64_t delta);

/* The same of one record, in those rows only that are chosen */
extern void race_counters_bump_chosen(void *counters, int width, const uint32_t *buckets,
									  const bool *chosen, uint32_t rows, uint32_t range);

/* Add to one counter, which stays within its width. */
extern void race_counters_add(void *counters, int width, size_t i, int64_t delta);

/* a + b within +-RACE_MAX_COUNT */
extern int64_t race_clamped_sum(int64_t a, int64_t b);

/* The largest absolute value that a counter of this width may have */
extern int64_t race_counters_limit(int width);

/*
 * Counters in bytes in proportion to those that are not zero.
 *
 * The packed form of n counters is the same bytes on any machine:
 *
 * 0	u8	order of the gaps
 * 1	u8	order of the counters; and 128, if some are negative
 * 2	u32 counters that are not zero, little-endian
 * 6	bits, the lowest of each byte first; the last byte is filled up with zeros
 *
 * For each counter that is not zero the bits have two numbers: the gap, which is how many
 * zeros are between it and the one before, and the counter less 1 (if some are negative,
 * 1, -1, 2, -2 ... are first numbered 1, 2, 3, 4 ...).  Both are Exp-Golomb codes: with
 * order k and q = x + 2^k there are as many zeros as q has bits beyond its lowest k + 1,
 * then a one, then the bits of q below its highest.  On tables of real records they take
 * within a tenth of the entropy, and half of what whole bytes take (test/bench/packed.py).
 *
 * The orders depend on the content alone, so equal counters are equal bytes.
 *
 * Plain C99 without PostgreSQL headers, for unit tests and fuzzers.
 */

/* How counters are packed; the first step */
typedef struct RacePacking
{
	int64_t		min;			/* of all counters */
	int64_t		max;
	uint32_t	nonzero;
	int			gap_order;
	int			counter_order;
	size_t		least;			/* bytes, at least and at most */
	size_t		most;
} RacePacking;

/* Look through n >= 1 counters, fewer than 2^32. */
extern void race_packing_plan(const void *counters, int width, size_t n,
							  RacePacking *packing);

/*
 * Pack them into `size` bytes.  Returns how many were needed, or 0 if they are too few.
 * packing->most bytes are always enough.
 */
extern size_t race_pack(const RacePacking *packing, const void *counters, int width,
						size_t n, unsigned char *packed, size_t size);

/* Bits of packed counters, as they are read */
typedef struct RaceBits
{
	const unsigned char *next;
	const unsigned char *end;
	uint64_t	bits;			/* that were read and not used, the lowest first */
	int			have;			/* how many */
	const char *problem;		/* what is wrong with the bytes, or NULL */
} RaceBits;

/* Reads packed counters of any origin, RACE_COUNTER_BLOCK at a time */
typedef struct RaceUnpacker
{
	RaceBits	in;
	int			gap_order;
	int			counter_order;
	bool		is_signed;
	size_t		left;			/* counters that are still to come */
	size_t		position;		/* behind the last one */
	size_t		n;
} RaceUnpacker;

/* Begin to read packed counters, of n in all. */
extern void race_unpack_start(RaceUnpacker *unpacker, const unsigned char *packed,
							  size_t size, size_t n);

/*
 * The next counters that are not zero, in order: at most RACE_COUNTER_BLOCK, none at the
 * end or when there is a problem.  Positions are below n, counters within
 * +-RACE_MAX_COUNT.
 */
extern size_t race_unpack_next(RaceUnpacker *unpacker, uint32_t *positions,
							   int64_t *values);

/*
 * Unpack into n counters of `width`, which are all zero.  Returns what is wrong with the
 * bytes, or NULL.  That they are what race_pack() makes of these counters is not checked.
 */
extern const char *race_unpack(const unsigned char *packed, size_t size,
							   void *counters, int width, size_t n);

#endif
