/*
 * products.h
 *		Moments: a record adds the products of a vector of integers with itself
 *
 * The vector v has `columns` integers of at most RACE_PRODUCTS_ONE, and its squared norm is at most
 * `squared` of the shape: the sum of squares, or half of that and of the square of the sum of
 * absolute values.  Counters are the entries of v v' on and above the diagonal, row by row.  So
 * neighbors differ by what race_products_l1() and the two functions after it return
 * (doc/privacy/moments.md).  A record beyond the norm is cut down to it where it is added.
 *
 * Noise is drawn in coarser integers, without so many bits, so that its variance fits the samplers.
 */
#ifndef RACE_PRODUCTS_H
#define RACE_PRODUCTS_H

#include <stddef.h>
#include <stdint.h>

#include "privacy/exact.h"

#define RACE_PRODUCTS_ONE 8192     /* the largest number: products have 26 bits */
#define RACE_PRODUCTS_TOGETHER 480 /* records that are counted together */
#define RACE_PRODUCTS_COARSEST 20  /* bits that integers may lack */

/* Return the number of counters. */
extern uint64_t race_products_counters(uint64_t columns);

/* Return the counter of entry (i, j) of the triangle, i <= j. */
static inline size_t
race_product_counter(uint32_t columns, uint32_t i, uint32_t j)
{
	return (size_t) i * (2 * (size_t) columns - i + 1) / 2 + j - i;
}

/*
 * Return what a record adds to all counters at most, in L1; and half of the sum of squares of the
 * matrix.
 */
extern uint64_t race_products_l1(const RaceShape *shape, int coarser);
extern uint64_t race_products_squared(const RaceShape *shape, int coarser);

/* Return the largest trace of what a record adds, in coarser integers before they are rounded. */
extern uint64_t race_products_trace(const RaceShape *shape, int coarser);

/*
 * Return the fewest bits that integers must lack so that all of this can be computed; more than
 * RACE_PRODUCTS_COARSEST of a shape that is too large.
 */
extern int race_products_least_coarse(const RaceShape *shape);

/*
 * Add the products of n vectors, `weight` times: v[columns][RACE_PRODUCTS_TOGETHER], n at most
 * that.  Vectors beyond the norm are cut down to it, in v.  With `vectors` it may use vector code;
 * the sums are the same.
 */
extern void race_count_products(const RaceShape *shape, int16_t *v, size_t n, int64_t weight,
								bool vectors, int64_t *counters);

#endif
