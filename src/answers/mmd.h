/*
 * mmd.h
 *		Distance of two releases: maximum mean discrepancy
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
	bool		same;			/* a and b are identical */
	double		aa;				/* products, without the share of noise */
	double		ab;
	double		bb;
	double		rows_variance;	/* of D's product with itself, by differences of rows; or 0 */
	double		noise_variance; /* of G's product with itself */
	double		noise_third;	/* its third central moment */
	double		with_record;	/* variance of G's product with a record of P */
	double		with_both;		/* variance of G's product with P */
	double		with_difference;	/* variance of G's product with D */
	/* moments over independent records x, y, z of P: */
	double		kernel;			/* mean of k(x, y) */
	double		kernel_square;	/* mean of its square, or an upper bound */
	double		density_square; /* mean of k(x, y) k(x, z), or a lower bound */
	double		difference_square;	/* mean square of x's product with D, or an upper bound */
} RaceProducts;

/* Even cumulants of the noise in a counter, in parts of a whole */
typedef struct RaceCumulants
{
	double		second;
	double		fourth;
	double		sixth;
} RaceCumulants;

/* Raise 22023 unless the sketches have the same parameters, but for rows and cells. */
extern void race_check_comparable(const RaceView *a, const RaceView *b);

/* Compute the products of a pair.  Interruptible. */
extern void race_products(const RacePair *pair, RaceProducts *products);

/* Return the noise of D's counters. */
extern RaceCumulants race_noise_of_difference(const RacePair *pair);

/* Return the noise variance of a counter of sketch 0 or 1, or 0 without such a sketch. */
extern double race_noise_of(const RacePair *pair, int side);

/* Return the noise variance of a counter of P. */
extern double race_noise_of_pooled(const RacePair *pair);

/* Return the cumulants of two independent sources of noise with these variances. */
extern RaceCumulants race_noise_cumulants(const RacePair *pair, double first, double second);

/* Return the third central moment of the square of a variable with these cumulants. */
extern double race_noise_third(RaceCumulants noise);

/* mmd.c */
extern void race_grid_products(const RacePair *pair, RaceProducts *products);

#endif
