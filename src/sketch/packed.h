/*
 * packed.h
 *		Counters in bytes in proportion to those that are not zero.
 *
 * The packed form of n counters is the same bytes on any machine:
 *
 *	 0	u8	order of the gaps
 *	 1	u8	order of the counters; and 128, if some are negative
 *	 2	u32 counters that are not zero, little-endian
 *	 6	bits, the lowest of each byte first; the last byte is filled up with zeros
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
#ifndef RACE_PACKED_H
#define RACE_PACKED_H

#include "counters.h"

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

#endif							/* RACE_PACKED_H */
