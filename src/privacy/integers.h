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
