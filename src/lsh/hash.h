/*
 * hash.h
 *		What the vector code of each instruction set implements.
 *
 * Each path is a file hash_*.c: a dozen operations on vectors of doubles, and
 * hash_template.h, which is written in terms of them.  Rows are the lanes of
 * a vector and every lane does the same operations in the same order, so all
 * paths give the same bits.  Functions carry their instruction set as an
 * attribute: no file needs compiler flags of its own.
 */
#ifndef RACE_HASH_H
#define RACE_HASH_H

#include "lsh.h"
#include "philox.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define RACE_HAVE_X86
#endif
#if defined(__aarch64__) && defined(__GNUC__) && !defined(__AARCH64EB__)
#define RACE_HAVE_NEON
#endif

typedef enum RaceHashMode
{
	RACE_HASH_FOLD,
	RACE_HASH_MASK,				/* the same for a range that is a power of two */
	RACE_HASH_MULTILINEAR
} RaceHashMode;

/* RACE_LANES rows */
typedef struct RaceHashBlock
{
	RaceHashMode mode;
	uint32_t	dims;
	uint32_t	power;
	uint32_t	range;
	const double *coefficients; /* [power][1 + dims][RACE_LANES] */
	const uint64_t *keys;		/* [1 + 2 * power][RACE_LANES] or NULL */
} RaceHashBlock;

typedef struct RaceHashPath
{
	bool		(*available) (void);
	/* n vectors, buckets[i][RACE_LANES] */
	void		(*hash) (const RaceHashBlock *block, const double *x, size_t n,
						 uint32_t *buckets);
	/* race_philox_lanes() */
	void		(*philox) (uint64_t seed, uint32_t stream,
						   const uint64_t *rows, uint32_t function,
						   uint32_t element, uint64_t *bits);
} RaceHashPath;

extern const RaceHashPath race_hash_portable;
#ifdef RACE_HAVE_X86
extern const RaceHashPath race_hash_avx2;
extern const RaceHashPath race_hash_avx512;
#endif
#ifdef RACE_HAVE_NEON
extern const RaceHashPath race_hash_neon;
#endif

/* Adding it shifts an integer within +-2^51 into the low bits of a double. */
#define RACE_INTEGER_SHIFT	6755399441055744.0	/* 1.5 * 2^52 */

#endif							/* RACE_HASH_H */
