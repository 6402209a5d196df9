/*
 * rows.h
 *		Row functions: from a record to its buckets
 */
#ifndef RACE_ROWS_H
#define RACE_ROWS_H

#include "privacy/counters.h"
#include "hash/column.h"
#include "hash/params.h"

/*
 * A sketch has `rows` hash functions of the kernel's family, each fixed by the parameters and its
 * row number alone: never by data, never by how many rows there are, so that the first R' rows of a
 * sketch are the sketch that R' rows would have made.
 *
 * The same bits must come out on every machine.  Arithmetic is IEEE double in
 * a fixed order, multiply-add is always the fused fma(), no libm function
 * other than the exact fma, floor and sqrt is called on the way from a value
 * to its bucket, and compilers are told not to contract (-ffp-contract=off).
 */

/*
 * Row functions, made once for parameters in memory of the caller's, of race_rows_size() bytes.
 * race_rows_init() prepares them; race_rows_generate_all() draws all of them, and is interruptible;
 * race_rows_generate() draws function j (of all parts) of all rows of a block.  Rows lie in blocks
 * of RACE_LANES (counters.h), which are hashed together: a lane is a row.
 */

/* A part of the kernel */
typedef struct RaceRowsPart
{
	const RaceParams *params;
	uint32_t function;  /* the number of its first one, counted over all parts */
	uint32_t dimension; /* first dimension of Sobol's sequence */
	size_t words;       /* words of a function in a row */
	size_t position;    /* position of its words in a block, in vectors of RACE_LANES */
	size_t signs;       /* position of its first sign of structured.h */
} RaceRowsPart;

typedef struct RaceRows
{
	RaceParams *params; /* a copy, after this struct */
	int parts;
	RaceRowsPart part[RACE_MAX_PARTS];
	size_t blocks;        /* blocks of rows; the last one may have unused rows */
	size_t block_words;   /* vectors of RACE_LANES words a block */
	uint32_t together;    /* rows of the longest transform of structured.h, or 0 */
	double *workspace;    /* memory of transforms: [outputs][lanes] or [2][together] */
	double *coefficients; /* [blocks][block_words][lanes] */
	uint64_t *keys;       /* [blocks][1 + 2 * functions][lanes]: keys of multilinear hashing */
	uint64_t *signs;      /* [functions][groups of rows][words]: signs of structured.h */
} RaceRows;

extern size_t race_rows_size(const RaceParams *params);
extern void race_rows_init(RaceRows *rows, const RaceParams *params);
extern void race_rows_generate(RaceRows *rows, size_t block, uint32_t j);
extern void race_rows_generate_all(RaceRows *rows);

/*
 * Return word i of function j (of all parts) of a row, and key i of a row.  From one to the next it
 * is RACE_LANES further.  The words are, of a projection: its offset, and a / w for each number; of
 * a set's function: two keys of 32 bits; of a row of categories: which of them; of a structured
 * projection: its offset and its scale, or nothing where only signs count.
 */
extern double *race_rows_coefficient(const RaceRows *rows, uint32_t row, uint32_t j, uint32_t i);
extern uint64_t *race_rows_key(const RaceRows *rows, uint32_t row, uint32_t i);

/* Return where the signs of function j (of all parts) in the group of a row are. */
extern uint64_t *race_rows_signs(const RaceRows *rows, uint32_t j, uint32_t row);

/*
 * Hash n records, a column a part, with the functions of a block of rows: buckets[i * RACE_LANES +
 * lane] gets the bucket of record i.  Lanes beyond the last row are written too.  The buckets of
 * RACE_RECORDS_TOGETHER records stay in the nearest cache.
 */
#define RACE_RECORDS_TOGETHER 64

extern void race_rows_hash(const RaceRows *rows, size_t block, const RaceColumn *columns, size_t n,
						   uint32_t *buckets);

/*
 * Return whether rows share so much work that a record should be hashed with all of them, by
 * race_rows_hash_one(), and not with a block at a time?
 */
extern bool race_rows_together(const RaceParams *params);

/*
 * Hash one record with the first n rows: buckets[row], in whole blocks of RACE_LANES.  A set may be
 * large, so this is interruptible.
 */
extern void race_rows_hash_one(const RaceRows *rows, uint32_t n, const RaceColumn *columns,
							   uint32_t *buckets);

/*
 * Return the probability that two different codes share a bucket, for which estimates are
 * corrected.  It is 0 where codes are folded: there distant codes do meet, but rarely
 * (rows_hash.c).
 */
extern double race_collision_probability(const RaceParams *params);

#endif
