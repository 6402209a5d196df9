/*
 * integers.h
 *		Integer roots and stratified rounding of a weight over rows
 */
#ifndef RACE_INTEGERS_H
#define RACE_INTEGERS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Roots of integers, exact.
 */

/* Return the root of x < 2^126, rounded down. */
static inline uint64_t
race_integer_root(unsigned __int128 x)
{
	uint64_t root = (uint64_t) sqrt((double) x);

	/* bound: the error of sqrt(), some units */
	while ((unsigned __int128) root * root > x)
		root--;
	/* bound: the error of sqrt(), some units */
	while ((unsigned __int128) (root + 1) * (root + 1) <= x)
		root++;
	return root;
}

/* Return the cube root of x <= 2^126, rounded down. */
static inline uint64_t
race_integer_cube_root(unsigned __int128 x)
{
	uint64_t root = (uint64_t) cbrt((double) x);

	/* bound: the error of cbrt(), some units */
	while ((unsigned __int128) root * root * root > x)
		root--;
	/* bound: the error of cbrt(), some units */
	while ((unsigned __int128) (root + 1) * (root + 1) * (root + 1) <= x)
		root++;
	return root;
}

/*
 * Stratified random rounding of a weight over rows.
 *
 * A record whose share is p goes up in row r if frac(offset + r g) < p, with the golden
 * ratio g: in about p of all rows, of any first ones, and of any others side by side.  The
 * offset is drawn for each record, so that each row goes up with probability p, and the
 * errors of records do not add up, even if these are the same.  The rows of a Sobol' sequence
 * are no multiples of g, so the pattern does not go with them.
 */

/* The golden ratio less 1, in units of 2^-64 */
#define RACE_GOLDEN UINT64_C(0x9E3779B97F4A7C15)

/* The row that says where the record is counted as a whole */
#define RACE_COUNT_ROW UINT64_C(0xFFFFFFFF)

typedef struct RacePortion
{
	double share; /* share of the record that goes up, from 0 to 1 */
	uint64_t offset;
} RacePortion;

/*
 * Return a share in units of 2^-63, to be compared with 63 bits; whatever is passed in, one from 0
 * to 1.
 */
static inline uint64_t
race_dither_limit(double share)
{
	if (share >= 1)
		return UINT64_C(1) << 63;
	return share > 0 ? (uint64_t) (share * (double) (UINT64_C(1) << 63)) : 0;
}

/* Return whether a record with this limit goes up in a row. */
static inline bool
race_dither_up(uint64_t limit, uint64_t offset, uint64_t row)
{
	return (offset + row * RACE_GOLDEN) >> 1 < limit;
}

/* Return whether a record is counted in the half that goes up. */
static inline bool
race_dither_counts_up(const RacePortion *portion)
{
	return race_dither_up(race_dither_limit(portion->share), portion->offset, RACE_COUNT_ROW);
}

/*
 * Return how much of n units goes up, rounded by the offset.  Differences between what goes up of n
 * and of n + k are between 0 and k.
 */
static inline int64_t
race_dither_round(const RacePortion *portion, int64_t n)
{
	double draw = (double) (portion->offset >> 32) / (double) (UINT64_C(1) << 32);

	return (int64_t) floor(portion->share * (double) n + draw);
}

/* Return the product of two numbers; UINT64_MAX where it is larger. */
static inline uint64_t
race_most_product(uint64_t a, uint64_t b)
{
	return a != 0 && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

/* Return x within +-most. */
static inline int64_t
race_clamped(__int128 x, int64_t most)
{
	if (x > most)
		return most;
	return x < -most ? -most : (int64_t) x;
}

/* Return x / 2^bits, rounded to the nearest integer; x is at most 2^62. */
static inline int64_t
race_shift_rounded(int64_t x, int bits)
{
	int64_t half = bits > 0 ? INT64_C(1) << (bits - 1) : 0;

	return (x + half) >> bits;
}

#endif
