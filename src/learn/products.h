/*
 * products.h
 *		Sums of products of the counters of two sketches.
 *
 * The mean over rows of the sum over buckets of A[r, b] B[r, b] is the sum of the kernel over
 * all pairs of a record of a and one of b, without bias.  Noise has a share in the product of
 * a sketch with itself, its variance, which is known and taken off.  Of grids it is the sum
 * over nodes i and j of A[i] B[j] k(i, j), where k is such that it becomes the kernel again
 * when records are split over the nodes.
 *
 * All is in parts of the whole: sketches are divided by a number of records each.
 *
 * Most buckets of a row may be empty, and have nothing but noise.  For a test, buckets can get
 * weights of 0 to 1: about 1 where what both sketches have in the buckets beside it is far above
 * its noise.  Noise in a bucket does not depend on its own weight.
 *
 * Where Laplace noise is much larger than what chance makes of records, a test can have scores of
 * D in place of its squares: what tells best that there is something small in D beside its noise.
 * Squares of it would have three times the variance.
 */
#ifndef RACE_PRODUCTS_H
#define RACE_PRODUCTS_H

#include "postgres.h"

#include "../sketch/sketch.h"

/*
 * Two sketches; or one, and then view[1] is NULL.  Of rows the first ones that both have are
 * taken, of grids the finest cells that both have.
 */
typedef struct RacePair
{
	const RaceView *view[2];
	double		records[2];		/* what each is divided by */
	bool		moments;		/* are moments asked for, too? */
	bool		visible;		/* are buckets of rows weighted by how much is seen there? */
} RacePair;

/*
 * D is the difference of both, or the one; G what noise is in D; P both together.  Pairs of a
 * record with itself are in the products, and not in the moments.  Collisions of rehashed
 * codes are in both.
 */
typedef struct RaceProducts
{
	bool		same;			/* both are one and the same */
	bool		scored;			/* is what follows of D by scores? */
	double		difference;		/* D's product with itself, without the share of noise */
	double		aa;				/* products, without the share of noise */
	double		ab;
	double		bb;
	double		self;			/* the mean product of a record of P with itself: 1, or of weights */
	double		rows_variance;	/* of D's, by what rows differ; 0 if nothing is known */
	/* of noise: the variance of G's product with itself, and its third central moment; */
	double		noise_variance;
	double		noise_third;
	double		with_record;	/* the variance of its product with a record of P, */
	double		with_both;		/* with P, */
	double		with_difference;	/* and with D */
	/* moments, means over independent records of P: */
	double		kernel;			/* of k(x, y), */
	double		kernel_square;	/* of its square, or an upper bound, */
	double		density_square; /* of k(x, y) k(x, z), or a lower bound, */
	double		difference_square;	/* and of the square of x's product with D, or an upper bound */
} RaceProducts;

/* Raise 22023 unless sketches can be compared: they have the same parameters but for these. */
extern void race_check_comparable(const RaceView *a, const RaceView *b);

/* Could weights make a difference?  Of rows whose buckets are in order, with noise. */
extern bool race_products_can_weigh(const RacePair *pair);

/* Compute them.  Interruptible. */
extern void race_products(const RacePair *pair, RaceProducts *products);

/* The noise in a counter, in parts of a whole: cumulants of even order */
typedef struct RaceCumulants
{
	double		second;
	double		fourth;
	double		sixth;
} RaceCumulants;

/* Of one of the sketches, 0 or 1; none if there is no such sketch */
extern RaceCumulants race_noise_of(const RacePair *pair, int side);
extern RaceCumulants race_cumulants_add(RaceCumulants a, RaceCumulants b);

/* The variance of noise in a counter of P */
extern double race_noise_of_both(const RacePair *pair);

/* For grids: gridproducts.c */
extern void race_grid_products(const RacePair *pair, RaceProducts *products);

#endif							/* RACE_PRODUCTS_H */
