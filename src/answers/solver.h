/*
 * solver.h
 *		Weights on the simplex, and products with the Gram matrix of candidates
 */
#ifndef RACE_SOLVER_H
#define RACE_SOLVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "answers/radial.h"

/* Plain C99 without PostgreSQL headers */

/* Discrete Fourier transforms of arrays in up to three dimensions, whose sizes are powers of 2 */

#define RACE_FOURIER_DIMS 3

typedef struct RaceComplex
{
	double re;
	double im;
} RaceComplex;

/* Return the least size from n on that can be transformed. */
extern size_t race_fourier_size(size_t n);

/* Return the numbers of space that a transform of these sizes needs. */
extern size_t race_fourier_space(const size_t *sizes);

/*
 * Transform x [sizes[0]][sizes[1]][sizes[2]] in its place: the sum of x e^(-i w k), or for
 * the inverse of x e^(i w k), not divided by the number of elements.  Interruptible.
 */
extern void race_fourier(RaceComplex *x, const size_t *sizes, int inverse, RaceComplex *space);

/*
 * The Gram matrix of points is symmetric and positive semidefinite.  Codes of a point take a line
 * of so many: a multiple of RACE_GRAM_LINE, of which those after the last row are never equal to
 * another.
 */
#define RACE_GRAM_LINE 64

extern size_t race_gram_line(uint32_t rows);

/*
 * Pack the buckets of a point, one for each of `rows`, into its line; `point` is its number.
 * Buckets above 2^16 are folded, so that of 2^16 pairs one may be taken for equal.
 */
extern void race_gram_pack(const uint32_t *buckets, uint32_t rows, size_t point, uint16_t *line);

/*
 * Set in the matrix [m][m], gram[i][j] = the share of rows in which points i and j have the same
 * bucket.  Interruptible.
 */
extern void race_gram_of_codes(const uint16_t *codes, size_t m, uint32_t rows, float *gram);

/*
 * Set gram[i][j] = the exact kernel of places i and j, which lie side by side as race_radial_sum()
 * has them.  Interruptible.
 */
extern void race_gram_of_places(const RaceRadial *radial, const double *places, size_t m,
								float *gram);

/*
 * The kernel between two points of a grid depends on how many steps they are apart, so that the
 * product of their Gram matrix with a vector is a convolution, which Fourier transforms do without
 * the matrix.
 */
typedef struct RaceLattice
{
	/* points along each axis, or 1; those of the last are next to each other */
	size_t sides[RACE_FOURIER_DIMS];
	size_t sizes[RACE_FOURIER_DIMS]; /* sizes of transforms */
	RaceComplex *numbers;            /* numbers that are transformed */
	RaceComplex *spectrum;           /* spectrum of the kernel; real */
	RaceComplex *space;
} RaceLattice;

/* Return the number of elements of a transform, or the complex numbers of space of a grid. */
extern size_t race_lattice_volume(const size_t *sides);
extern size_t race_lattice_space(const size_t *sides);

/* Set at[] to the coordinates of element i of an array of these sizes. */
extern void race_lattice_at(const size_t *sizes, size_t i, size_t *at);

/*
 * Create a grid of points whose steps along the axes are given in bandwidths.  If records were
 * split linearly over both nodes around them, the kernel is divided by the cubic B-spline that this
 * blurs it by (Unser 1999).  Interruptible.
 */
extern void race_lattice_init(RaceLattice *lattice, const RaceRadial *radial, const size_t *sides,
							  const double *steps, bool split, RaceComplex *space);

/* Multiply two vectors by the Gram matrix; b and out_b may be NULL. */
extern void race_lattice_multiply(const RaceLattice *lattice, const double *a, const double *b,
								  double *out_a, double *out_b);

/* Of m points: the matrix [m][m], or without it that of a grid */
typedef struct RaceGram
{
	size_t m;
	float *dense;               /* [m][m]: the matrix itself, or NULL */
	const RaceLattice *lattice; /* the lattice that stands for it, or NULL */
} RaceGram;

/* Set out = gram v. */
extern void race_gram_multiply(const RaceGram *gram, const double *v, double *out);

/*
 * The weights of points that explain the answers of a sketch best.
 *
 * Points x_1 ... x_m with weights w >= 0 that sum to the number of records answer M w at
 * the points, where M is their Gram matrix: the kernel, as the row functions have it.  The
 * sketch answers b there.  There are two measures of misfit.  That of all counters,
 * w'Mw / 2 - b'w, is found in few iterations.  That of the answers, |Mw - b|^2, is slower,
 * and leaves less noise where there is much: what is above 0 at one point may stand for what
 * is below it at the next.  All such weights are a convex set.  If the truth is in it, no
 * projection onto it is farther from the truth than the noisy answers were.
 */

/* Sort in descending order. */
extern void race_sort_descending(double *v, size_t n);

/*
 * Replace v by the nearest w >= 0 with sum `total` > 0.  `sorted` is space for n numbers.
 */
extern void race_simplex_project(double *v, size_t n, double total, double *sorted);

/* Numbers of space that race_solve_weights() needs for m points */
#define RACE_SOLVE_SPACE(m) (4 * (m))

typedef enum RaceMisfit
{
	RACE_MISFIT_COUNTERS,
	RACE_MISFIT_ANSWERS
} RaceMisfit;

/*
 * Improve weights by accelerated projected gradient (Beck & Teboulle 2009, with the restarts of
 * O'Donoghue & Candes 2015), in `iterations` iterations.  Interruptible.
 */
extern void race_solve_weights(const RaceGram *gram, const double *answers, double total,
							   RaceMisfit misfit, int iterations, double *weights, double *space);

/*
 * Points in a box that a model of vectors may have.  A model begins with a grid finer than the
 * bandwidth where that has few enough points.  Else it begins with points at random, which are
 * fitted in rounds: from one to the next the points with large weights stay, and others are drawn
 * around points, by weight, ever more closely.  The same seed gives the same points.
 */

typedef struct RaceBox
{
	uint32_t dims;
	const double *lower; /* [dims]: lower bounds, finite */
	const double *upper;
} RaceBox;

#define RACE_FIT_ROUNDS 6

/*
 * Write a grid of at most n points, whose steps are small parts of the bandwidths
 * [dims], and return how many there are; 0 if they would have to be more, or if there
 * are more than two dimensions.  x is [n][dims].  Along the last axis are sides[1] points,
 * along the one before sides[0], or one.
 */
extern size_t race_candidates_grid(const RaceBox *box, const double *bandwidths, size_t n,
								   double *x, size_t sides[2]);

/* Return a number in (0, 1) that seed, stream, point and coordinate determine. */
extern double race_candidates_random(int64_t seed, uint32_t stream, size_t point,
									 uint32_t coordinate);

/* Write n points at random; `stream` tells different draws of one seed apart. */
extern void race_candidates_uniform(const RaceBox *box, int64_t seed, uint32_t stream, size_t n,
									double *x);

/* Return how far points are moved in a round, 1 to RACE_FIT_ROUNDS - 1, in parts of the box. */
extern double race_candidates_jitter(const RaceBox *box, size_t n, int round);

/*
 * Write n points around others [m][dims], chosen by weight: each coordinate is moved by a
 * normal variable of `jitter` parts of the box, and stays inside.
 */
extern void race_candidates_around(const RaceBox *box, int64_t seed, uint32_t stream, double jitter,
								   const double *around, const double *weights, size_t m, size_t n,
								   double *x);

/*
 * Move the heaviest points to the front, at most `most` and only those with a weight.  Return how
 * many.  They stay in their order; `sorted` is space for m numbers.
 */
extern size_t race_candidates_keep(uint32_t dims, size_t most, double *x, double *weights, size_t m,
								   double *sorted);

#endif
