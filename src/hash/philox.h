/*
 * philox.h
 *		The generator of the keys of row functions
 */
#ifndef RACE_PHILOX_H
#define RACE_PHILOX_H

#include <stdint.h>

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
	RACE_STREAM_INTEGER = 4, /* elements, elements.c */
	RACE_STREAM_BYTES = 5,
	RACE_STREAM_FIT = 6,    /* points of models, fit.c */
	RACE_STREAM_SAMPLE = 7, /* records drawn from models, sample.c */
	RACE_STREAM_NULL = 9    /* elements again */
} RaceStream;

#define RACE_PHILOX_ROUNDS 10
#define RACE_PHILOX_M0 0xD2511F53
#define RACE_PHILOX_M1 0xCD9E8D57

/* Return word `i`, 0 or 1, of the key in a round. */
static inline uint32_t
race_philox_key(uint64_t key, int i, uint32_t round)
{
	return i == 0 ? (uint32_t) key + round * 0x9E3779B9 :
					(uint32_t) (key >> 32) + round * 0xBB67AE85;
}

static inline void
race_philox(uint64_t key, const uint32_t counter[4], uint64_t out[2])
{
	uint32_t c0 = counter[0];
	uint32_t c1 = counter[1];
	uint32_t c2 = counter[2];
	uint32_t c3 = counter[3];

	for (uint32_t round = 0; round < RACE_PHILOX_ROUNDS; round++)
	{
		uint64_t p0 = (uint64_t) RACE_PHILOX_M0 * c0;
		uint64_t p1 = (uint64_t) RACE_PHILOX_M1 * c2;

		c0 = (uint32_t) (p1 >> 32) ^ c1 ^ race_philox_key(key, 0, round);
		c1 = (uint32_t) p1;
		c2 = (uint32_t) (p0 >> 32) ^ c3 ^ race_philox_key(key, 1, round);
		c3 = (uint32_t) p0;
	}
	out[0] = c0 | (uint64_t) c1 << 32;
	out[1] = c2 | (uint64_t) c3 << 32;
}

/* Return 64 bits for one element of one function of one row. */
static inline uint64_t
race_philox_bits(int64_t seed, RaceStream stream, uint32_t row, uint32_t function, uint32_t element)
{
	uint32_t counter[4];
	uint64_t out[2];

	counter[0] = element;
	counter[1] = row;
	counter[2] = function;
	counter[3] = (uint32_t) stream;
	race_philox((uint64_t) seed, counter, out);
	return out[0];
}

/* Set the same for RACE_LANES rows at once, by vector code (hash_path.h). */
extern void race_philox_lanes(int64_t seed, RaceStream stream, const uint64_t *rows,
							  uint32_t function, uint32_t element, uint64_t *bits);

#endif
