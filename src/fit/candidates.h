/*
 * candidates.h
 *		Points in a box that a model of vectors may have.
 *
 * Plain C99 without PostgreSQL headers.  A model begins with a grid finer than the
 * bandwidth where that has few enough points.  Else it begins with points at random,
 * which are fitted in rounds: from one to the next the heavy points stay, and others are
 * drawn around points, by weight, ever more closely.  The same seed gives the same points.
 */
#ifndef RACE_CANDIDATES_H
#define RACE_CANDIDATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct RaceBox
{
	uint32_t	dims;
	const double *lower;		/* finite, [dims] */
	const double *upper;
} RaceBox;

#define RACE_FIT_ROUNDS		6

/*
 * Write a grid of at most n points, whose steps are small parts of the bandwidths
 * [dims], and return how many there are; 0 if they would have to be more, or if there
 * are more than two dimensions.  x is [n][dims].  Along the last axis are sides[1] points,
 * along the one before sides[0], or one.
 */
extern size_t race_candidates_grid(const RaceBox *box, const double *bandwidths,
								   size_t n, double *x, size_t sides[2]);

/*
 * The same for a grid sketch with so many cells [dims] over the box: its nodes, and parts of
 * the steps between them.  So a model can say what the nodes do.
 */
extern size_t race_candidates_nodes(const RaceBox *box, const double *bandwidths,
									const double *cells, size_t n, double *x,
									size_t sides[2]);

/* A number in (0, 1) that seed, stream, point and coordinate fix */
extern double race_candidates_random(int64_t seed, uint32_t stream, size_t point,
									 uint32_t coordinate);

/* Write n points at random; `stream` tells different draws of one seed apart. */
extern void race_candidates_uniform(const RaceBox *box, int64_t seed, uint32_t stream,
									size_t n, double *x);

/* By how much points are moved in a round, 1 to RACE_FIT_ROUNDS - 1, in parts of the box */
extern double race_candidates_jitter(const RaceBox *box, size_t n, int round);

/*
 * Write n points around others [m][dims], chosen by weight: each coordinate is moved by a
 * normal variable of `jitter` parts of the box, and stays inside.
 */
extern void race_candidates_around(const RaceBox *box, int64_t seed, uint32_t stream,
								   double jitter, const double *around,
								   const double *weights, size_t m, size_t n, double *x);

/*
 * Move the heaviest points to the front, at most `most` and only those with a weight.
 * Returns how many.  They stay in their order; `sorted` is space for m numbers.
 */
extern size_t race_candidates_keep(uint32_t dims, size_t most, double *x,
								   double *weights, size_t m, double *sorted);

#endif							/* RACE_CANDIDATES_H */
