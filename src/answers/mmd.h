/*
 * mmd.h
 *		Sums of products of sketches, for the maximum mean discrepancy
 *
 * The mean over rows of the sum over buckets of A[r, b] B[r, b] estimates the sum of the kernel
 * over all pairs of a record of a and one of b, without bias.  Noise adds its known variance to
 * the product of a sketch with itself, which is subtracted.  Of grids it is the sum over nodes
 * i and j of A[i] B[j] k(i, j).
 *
 * All is in parts of the whole: the counters of each sketch are divided by a number of records.
 */
#ifndef RACE_MMD_H
#define RACE_MMD_H

#include "postgres.h"

#include "../core/core.h"

/*
 * Two sketches; or one, and then view[1] is NULL.  Of rows, the first ones that both have are
 * compared; of grids, the finest cells that both have.
 */
typedef struct RacePair
{
	const RaceView *view[2];
	double		records[2];		/* divisors of the counters */
} RacePair;

/*
 * D is the difference a - b, or a alone; G is the noise of D; P is the pooled sample.  Products
 * contain pairs of a record with itself, moments do not.  Both contain collisions of rehashed
 * codes.
 */
typedef struct RaceProducts
{
	double		aa;				/* products, without the share of noise */
	double		ab;
	double		bb;
	double		rows_variance;	/* of D's product with itself, by differences of rows; or 0 */
	double		noise_mean;		/* of G's product with itself, */
	double		noise_variance; /* and its variance */
	double		with_record;	/* variance of G's product with a record of P */
	double		with_both;		/* variance of G's product with P */
	double		with_difference;	/* variance of G's product with D */
	/* moments over independent records x and y of P: */
	double		kernel;			/* mean of k(x, y) */
	double		kernel_square;	/* an upper bound of the mean of its square */
	double		difference_square;	/* mean square of x's product with D, or an upper bound */
} RaceProducts;

/* Compute the products of a pair.  Interruptible. */
extern void race_products(const RacePair *pair, RaceProducts *products);

#endif
