/*
 * integer_root.h
 *		Square roots of integers, exact.
 */
#ifndef RACE_INTEGER_ROOT_H
#define RACE_INTEGER_ROOT_H

#include <math.h>
#include <stdint.h>

/* The root of x < 2^126, rounded down */
static inline uint64_t
race_integer_root(unsigned __int128 x)
{
	uint64_t	root = (uint64_t) sqrt((double) x);

	while ((unsigned __int128) root * root > x)
		root--;
	while ((unsigned __int128) (root + 1) * (root + 1) <= x)
		root++;
	return root;
}

#endif							/* RACE_INTEGER_ROOT_H */
