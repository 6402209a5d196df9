/*
 * lsh.h
 *		From a value to its buckets: locality-sensitive hash families.
 *
 * This room is plain C99 without PostgreSQL headers, so that unit tests,
 * fuzzers and benchmarks can link against it alone.
 *
 * A family is a distribution over hash functions h with
 * P[h(x) = h(y)] = k(x, y), the kernel.  A sketch has `rows` such functions,
 * row functions, each fixed by the parameters and its row number alone: never
 * by data, never by how many rows there are, so that the first R' rows of a
 * sketch are the sketch that R' rows would have made.
 *
 * The same bits must come out on every machine.  Arithmetic is IEEE double in
 * a fixed order, multiply-add is always the fused fma(), no libm function
 * other than the exact fma, floor and sqrt is called on the way from a value
 * to its bucket, and compilers are told not to contract (-ffp-contract=off).
 */
#ifndef RACE_LSH_H
#define RACE_LSH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The numbers below are stored in sketches: never reuse one. */

typedef enum RaceKernel
{
	RACE_KERNEL_L2 = 1			/* Datar et al. 2004, p-stable with p = 2 */
} RaceKernel;

/* How the randomness of the row functions is drawn across rows */
typedef enum RaceSequence
{
	RACE_SEQUENCE_INDEPENDENT = 1,	/* rows independent of each other */
	RACE_SEQUENCE_SOBOL = 2,	/* scrambled Sobol': smaller error, sobol.h */
	RACE_SEQUENCE_ORTHOGONAL = 3	/* projections at right angles, in groups */
} RaceSequence;

/* How a row's code becomes one of `range` buckets */
typedef enum RaceRehash
{
	RACE_REHASH_FOLD = 1,		/* code mod range */
	RACE_REHASH_MULTILINEAR = 2 /* strongly universal, keyed per row */
} RaceRehash;

/*
 * Everything that fixes the row functions and the shape of a sketch.  Equal
 * parameters are equal bytes: there is no padding and `reserved` is zero.
 * (Reserved for: increments, one bandwidth a column, products of kernels,
 * data and query transforms with their radii and sign combination.)
 */
typedef struct RaceParams
{
	uint8_t		kernel;			/* RaceKernel */
	uint8_t		sequence;		/* RaceSequence */
	uint8_t		rehash;			/* RaceRehash */
	uint8_t		reserved8;
	uint32_t	dims;			/* length of a vector; 0 = not stated */
	int64_t		seed;
	double		bandwidth;		/* w: distances are measured in it */
	uint32_t	power;			/* concatenated functions a row; k^power */
	uint32_t	rows;			/* R */
	uint32_t	range;			/* W, counters a row */
	uint32_t	reserved32;
	uint64_t	reserved64[3];
} RaceParams;

#define RACE_MAX_DIMS		16000
#define RACE_MAX_POWER		1024

/* rows * range counters of 8 bytes, and their header, stay within 256 MB */
#define RACE_MAX_SKETCH_BYTES	((uint64_t) 256 * 1024 * 1024)
#define RACE_MAX_HEADER_BYTES	4096

/* row functions of one parameter value stay within 512 MB (race_rows_size) */
#define RACE_MAX_ROWS_BYTES		((uint64_t) 512 * 1024 * 1024)

/* beyond these, coefficients or distances in bandwidths lose their meaning */
#define RACE_MIN_BANDWIDTH	1e-100
#define RACE_MAX_BANDWIDTH	1e100

/* Codes saturate here: half of what a double holds exactly, twice over. */
#define RACE_MAX_CODE		2251799813685248.0	/* 2^51 */

/* What a name means, and back; NULL or 0 when there is none. */
extern const char *race_kernel_name(int kernel);
extern const char *race_sequence_name(int sequence);
extern const char *race_rehash_name(int rehash);
extern int	race_kernel_by_name(const char *name);
extern int	race_sequence_by_name(const char *name);
extern int	race_rehash_by_name(const char *name);

/*
 * What "auto" stands for.  Sobol' where its dimensions suffice; fold where there
 * is one code a row, because it keeps neighbouring codes apart.
 */
extern int	race_default_sequence(const RaceParams *params);
extern int	race_default_rehash(const RaceParams *params);

/*
 * Check parameters from anywhere.  Returns NULL when they are good, else what
 * is wrong with them, written into `message` (of `size` bytes).
 */
extern const char *race_params_problem(const RaceParams *params,
									   char *message, size_t size);

/*
 * The exact kernel k(x, y) of two vectors of n elements, by libm: the ground
 * truth to compare estimates with.
 */
extern double race_kernel_value(const RaceParams *params,
								const double *x, const double *y, size_t n);

/*
 * Row functions, made once for a parameter value in memory of the caller's:
 * race_rows_size() bytes.  race_rows_init() prepares them; race_rows_generate()
 * draws function j of all rows of a block, in any order, for callers who want
 * to be interruptible, and race_rows_generate_all() draws all of them.
 *
 * Rows lie in blocks of RACE_LANES, which are hashed together: a lane is a row.
 */
#define RACE_LANES	64

typedef struct RaceRows
{
	RaceParams	params;
	size_t		blocks;			/* of rows; the last one may be part full */
	double	   *coefficients;	/* [blocks][power][1 + dims][lanes]: offset, a/w */
	uint64_t   *keys;			/* [blocks][1 + 2 * power][lanes], multilinear */
} RaceRows;

extern size_t race_rows_size(const RaceParams *params);
extern void race_rows_init(RaceRows *rows, const RaceParams *params);
extern void race_rows_generate(RaceRows *rows, size_t block, uint32_t j);
extern void race_rows_generate_all(RaceRows *rows);

/*
 * Element 0 (offset) to dims (projection) of function j of a row; key i of a row.
 * From one to the next it is RACE_LANES further.
 */
extern double *race_rows_coefficient(const RaceRows *rows, uint32_t row,
									 uint32_t j, uint32_t element);
extern uint64_t *race_rows_key(const RaceRows *rows, uint32_t row, uint32_t i);

/*
 * Hash n finite vectors of params.dims elements each, one after the other, with
 * the functions of a block of rows: buckets[i * RACE_LANES + lane] gets the
 * bucket of vector i.  Lanes beyond the last row get what means nothing.
 */
extern void race_rows_hash(const RaceRows *rows, size_t block,
						   const double *x, size_t n, uint32_t *buckets);

/*
 * The same for one vector and the first n rows: buckets[row], in whole blocks of
 * RACE_LANES
 */
extern void race_rows_hash_one(const RaceRows *rows, uint32_t n,
							   const double *x, uint32_t *buckets);

/*
 * The vector code that race_rows_hash() can use, NULL terminated; it uses the last
 * that the machine has.  All give the same bits.  For tests, race_hash_force()
 * sets one that it has, or with "auto" the best again.
 */
extern const char *const race_hash_paths[];
extern bool race_hash_has(const char *name);
extern void race_hash_force(const char *name);

/*
 * The probability with which two different codes share a bucket and so are
 * counted together, for estimates to correct: 0 where codes are folded
 * (distant codes do meet, rarely; see rows.c).
 */
extern double race_collision_probability(const RaceParams *params);

#endif							/* RACE_LSH_H */
