/*
 * hash_path.h
 *		What the vector code of each instruction set implements.
 *
 * Each path is a file hash_*.c: the operations on vectors that the compiler cannot express, and
 * hash_template.h, which is written in terms of them.  Rows are the lanes of
 * a vector and every lane does the same operations in the same order, so all
 * paths give the same bits.  Functions carry their instruction set as an
 * attribute: no file needs compiler flags of its own.
 */
#ifndef RACE_HASH_PATH_H
#define RACE_HASH_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "privacy/interrupt.h"
#include "privacy/machine.h"
#include "hash/column.h"
#include "hash/philox.h"
#include "hash/rows.h"

/* What is stored for the projections of a vector */
typedef enum RaceHashMode
{
	RACE_HASH_FOLD,       /* bucket: the floor of one projection, mod range */
	RACE_HASH_MASK,       /* bucket: the same, where range is a power of two */
	RACE_HASH_SIGNS,      /* bucket: the signs of all projections, one bit each */
	RACE_HASH_SUM_FLOORS, /* floors times keys, added to a sum */
	RACE_HASH_SUM_SIGNS   /* signs times keys, added to a sum */
} RaceHashMode;

/* A part of the kernel in RACE_LANES rows */
typedef struct RaceHashBlock
{
	RaceHashMode mode; /* how vectors are hashed */
	uint32_t width;    /* length of a vector or a row of categories */
	uint32_t power;
	uint32_t range;
	const double *coefficients; /* [power][words of a function][RACE_LANES], of projections
								 * by structured.h [offset, scale][RACE_LANES] */
	const uint64_t *keys;       /* [2 * power][RACE_LANES], keys of the sum */
	bool interruptible;         /* whether interrupts are looked for while sets are hashed */
	uint8_t sequence;
} RaceHashBlock;

/*
 * The functions of a path. From n records of a part they compute `out`: buckets
 * (uint32_t [n][RACE_LANES]), or sums that they add to (uint64_t [n][RACE_LANES]).
 * Others compute buckets from sums, and race_philox_lanes().  Of structured.h: `transform`
 * flips signs, one bit for each of `length` numbers, and applies the Hadamard matrix;
 * `projection` computes `out` from one projection in RACE_LANES rows: buckets, or sums that
 * it adds to, or of RACE_HASH_SIGNS sums that get one more bit.
 */
typedef struct RaceHashPath
{
	const char *name;
	bool (*available)(void);
	void (*vectors)(const RaceHashBlock *block, const RaceColumn *x, size_t n, void *out);
	void (*sum_sets)(const RaceHashBlock *block, const RaceColumn *x, size_t n, uint64_t *sums);
	void (*sum_categories)(const RaceHashBlock *block, const RaceColumn *x, size_t n,
						   uint64_t *sums);
	void (*reduce)(uint32_t range, const uint64_t *sums, size_t n, uint32_t *buckets);
	void (*philox)(uint64_t seed, uint32_t stream, const uint64_t *rows, uint32_t function,
				   uint32_t element, uint64_t *bits);
	void (*transform)(double *z, size_t length, const uint64_t *signs);
	void (*projection)(const RaceHashBlock *block, const double *z, void *out);
} RaceHashPath;

/* The functions of hash_template.h, in this order */
#define RACE_HASH_FUNCTIONS \
	hash_vectors, sum_sets, sum_categories, reduce_sums, philox_lanes, transform, hash_projection

/* Return the path that is used. */
extern const RaceHashPath *race_hash_path(void);

/*
 * Return the name of vector code that race_rows_hash() can use: number i, from 0 on, or NULL after
 * the last.  It uses the last that the machine has.  All give the same bits.  race_hash_force()
 * sets one that the machine has, or with "auto" the best.
 */
extern const char *race_hash_path_name(int i);
extern bool race_hash_has(const char *name);
extern void race_hash_force(const char *name);

extern const RaceHashPath race_hash_portable;
#ifdef RACE_HAVE_X86
extern const RaceHashPath race_hash_avx2;
extern const RaceHashPath race_hash_avx512;
#endif

/*
 * The constant of the permutation that orders the elements of a set:
 * place_in_order()
 */
#define RACE_ORDER_ROUNDS 4
#define RACE_ORDER_M UINT64_C(0xD256D193)
#define RACE_ORDER_KEY UINT64_C(0x9E3779B9)

/*
 * Vectors of more numbers are hashed with one function at a time, whose coefficients in the rows
 * of a tile fit in the nearest cache.
 */
#define RACE_WIDE 128

/*
 * Sequence "grouped".  An order hashes an element for the eight rows of a group.  Row k has
 * the same places, but for three bits, the highest, which are xored with those of k.  So in
 * each row the order is as random as any: two sets have the same code with the probability of
 * their Jaccard similarity, exactly.  Where a set has elements with all of these bits, each row
 * takes the least of other elements; else some rows have those of their neighbors.  On average
 * over the rows of a group, estimates err as little as those of independent rows, and less for
 * sets of many elements.  The orders are those of the first eight rows of the block.
 */
#define RACE_GROUP 8
#define RACE_GROUP_TURN(k) ((uint64_t) (((k) &1) << 2 | ((k) &2) | ((k) &4) >> 2) << 61)

/* Adding it shifts an integer within +-2^51 into the low bits of a double. */
#define RACE_INTEGER_SHIFT 6755399441055744.0 /* 1.5 * 2^52 */

#endif
