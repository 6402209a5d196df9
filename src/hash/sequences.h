/*
 * sequences.h
 *		Sequences from which row functions are drawn, and the generator of their keys
 */
#ifndef RACE_SEQUENCES_H
#define RACE_SEQUENCES_H

#include <stdint.h>

#include "hash/lsh.h"

/*
 * Counter-based public randomness for row functions.
 *
 * Philox4x32-10 (Salmon, Moraes, Dror & Shaw, SC 2011): 128 bits for every
 * (key, counter), by integer arithmetic only.  Row functions are addressed by
 * row and coordinate, so a row is the same however many others there are.
 *
 * Not a cryptographic generator, and not for noise: seeds are public.
 */

/* Streams of random bits for different purposes, which must not overlap */
typedef enum RaceStream
{
	RACE_STREAM_FUNCTION = 1,
	RACE_STREAM_REHASH = 2,
	RACE_STREAM_SCRAMBLE = 3,
	RACE_STREAM_INTEGER = 4,	/* elements, rows.c */
	RACE_STREAM_BYTES = 5,
	RACE_STREAM_FIT = 6,		/* points of models, fit.c */
	RACE_STREAM_SAMPLE = 7,		/* records drawn from models, sample.c */
	RACE_STREAM_NULL = 9		/* elements again */
} RaceStream;

#define RACE_PHILOX_ROUNDS	10
#define RACE_PHILOX_M0		0xD2511F53
#define RACE_PHILOX_M1		0xCD9E8D57

/* Word `i`, 0 or 1, of the key in a round */
static inline uint32_t
race_philox_key(uint64_t key, int i, uint32_t round)
{
	return i == 0 ? (uint32_t) key + round * 0x9E3779B9 :
		(uint32_t) (key >> 32) + round * 0xBB67AE85;
}

static inline void
race_philox(uint64_t key, const uint32_t counter[4], uint64_t out[2])
{
	uint32_t	c0 = counter[0];
	uint32_t	c1 = counter[1];
	uint32_t	c2 = counter[2];
	uint32_t	c3 = counter[3];

	for (uint32_t round = 0; round < RACE_PHILOX_ROUNDS; round++)
	{
		uint64_t	p0 = (uint64_t) RACE_PHILOX_M0 * c0;
		uint64_t	p1 = (uint64_t) RACE_PHILOX_M1 * c2;

		c0 = (uint32_t) (p1 >> 32) ^ c1 ^ race_philox_key(key, 0, round);
		c1 = (uint32_t) p1;
		c2 = (uint32_t) (p0 >> 32) ^ c3 ^ race_philox_key(key, 1, round);
		c3 = (uint32_t) p0;
	}
	out[0] = c0 | (uint64_t) c1 << 32;
	out[1] = c2 | (uint64_t) c3 << 32;
}

/* 64 bits for one element of one function of one row */
static inline uint64_t
race_philox_bits(int64_t seed, RaceStream stream, uint32_t row,
				 uint32_t function, uint32_t element)
{
	uint32_t	counter[4];
	uint64_t	out[2];

	counter[0] = element;
	counter[1] = row;
	counter[2] = function;
	counter[3] = (uint32_t) stream;
	race_philox((uint64_t) seed, counter, out);
	return out[0];
}

/* The same for RACE_LANES rows at once, by vector code (hash.h) */
extern void race_philox_lanes(int64_t seed, RaceStream stream,
							  const uint64_t *rows, uint32_t function,
							  uint32_t element, uint64_t *bits);

/*
 * An Owen-scrambled Sobol' sequence: rows that share the work.
 *
 * Each point is uniform in the unit cube by itself, so each row function has
 * its exact distribution and estimates stay unbiased.  Together the first 2^k
 * points fill the cube evenly, so the error of their mean is smaller than that
 * of independent points.
 */

/* The largest number of coordinates: there are no more direction numbers */
#define RACE_SOBOL_DIMENSIONS	21

/* The number of different points is 2^levels, as many as a sketch can have rows. */
#define RACE_SOBOL_LEVELS		25

/* One coordinate of the sequence */
typedef struct RaceSobol
{
	int64_t		seed;
	uint32_t	dimension;
	uint32_t	directions[RACE_SOBOL_LEVELS];
} RaceSobol;

/*
 * Coordinate `dimension`, from 0, of the sequence with this seed.  Beyond the last one they
 * all are van der Corput's sequence, each scrambled by itself: even alone, not together.
 */
extern void race_sobol_start(RaceSobol *sequence, int64_t seed,
							 uint32_t dimension);

/*
 * The coordinate of RACE_LANES points from `first` on, a multiple of RACE_LANES
 * below 2^RACE_SOBOL_LEVELS: 64 binary digits of a number in [0, 1) each.
 */
extern void race_sobol_lanes(const RaceSobol *sequence, uint32_t first,
							 uint64_t *bits);

/*
 * Projections at right angles that are never written down: signs and Hadamard
 * transforms.
 *
 * For a record x of d numbers, padded with zeros to a power of two D, the projections of D
 * rows are
 *
 * z = H S3 H S2 H S1 x / D^1.5
 *
 * where H is the Hadamard matrix of +-1 and S1 ... S3 are diagonal matrices of random signs:
 * 3 D log2(D) additions, in place of d D multiplications.  The D rows are at right angles to
 * each other and of length 1.  Where the length counts, each row is stretched by a number of
 * its own that is distributed as the length of a normal vector of D numbers.  (Andoni,
 * Indyk, Laarhoven, Razenshteyn & Schmidt 2015; Choromanski, Rowland & Weller 2017; for two
 * rounds Le, Sarlos & Smola 2013.)  A row is then normal but for terms of the order of
 * 1 / D^2 in its fourth moment; structured_test.c measures what that does to kernels.
 *
 * The functions of a row come from different transforms.  So they are independent of each
 * other, as powers and products need it.
 */

/*
 * Of a vector with one number, z is a multiple of some step.  So it is 0 with a probability
 * of 2.4 / D, and the signs of opposite vectors are the same as often.  Shorter transforms
 * would be too coarse.
 */
#define RACE_STRUCTURED_LEAST	1024
#define RACE_STRUCTURED_ROUNDS	3

static inline bool
race_is_structured(const RaceParams *part)
{
	return part->sequence == RACE_SEQUENCE_STRUCTURED;
}

/* D, also the number of rows of a group, which share a transform; 0 for other sequences */
extern uint32_t race_structured_length(const RaceParams *part);

/* Return the number of words of signs of a transform. */
static inline size_t
race_structured_words(const RaceParams *part)
{
	return (size_t) RACE_STRUCTURED_ROUNDS * race_structured_length(part) / 64;
}

/* Where the signs of function j (of all parts) in the group of a row are */
extern uint64_t *race_rows_signs(const RaceRows *rows, uint32_t j, uint32_t row);

/* How long a row is, over D^1.5, from a standard normal number */
extern double race_structured_scale(const RaceParams *part, double normal);

/* z D^1.5, of a record of the part */
extern void race_structured_project(const RaceParams *part, const uint64_t *signs,
									const double *x, double *z);

#endif
