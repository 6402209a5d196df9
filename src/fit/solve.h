/*
 * solve.h
 *		The weights of points that explain the answers of a sketch best.
 *
 * Plain C99 without PostgreSQL headers.
 *
 * Points x_1 ... x_m with weights w >= 0 that sum to the number of records answer M w at
 * the points, where M is their Gram matrix: the kernel, as the row functions have it.  The
 * sketch answers b there.  There are two measures of misfit.  That of all counters,
 * w'Mw / 2 - b'w, is found in few iterations.  That of the answers, |Mw - b|^2, is slower,
 * and leaves less noise where there is much: what is above 0 at one point may stand for what
 * is below it at the next.  All such weights are a convex set.  If the truth is in it, no
 * projection onto it is farther from the truth than the noisy answers were.
 */
#ifndef RACE_SOLVE_H
#define RACE_SOLVE_H

#include <stddef.h>
#include <stdint.h>

#include "gram.h"

/* Sort, the largest first. */
extern void race_sort_descending(double *v, size_t n);

/*
 * Replace v by the nearest w >= 0 with sum `total` > 0.  `sorted` is space for n numbers.
 */
extern void race_simplex_project(double *v, size_t n, double total, double *sorted);

/* Numbers of space that race_solve_weights() needs for m points */
#define RACE_SOLVE_SPACE(m)		(4 * (m))

typedef enum RaceMisfit
{
	RACE_MISFIT_COUNTERS,
	RACE_MISFIT_ANSWERS
} RaceMisfit;

/*
 * Improve weights by accelerated projected gradient (Beck & Teboulle 2009, with the
 * restarts of O'Donoghue & Candes 2015), in so many iterations.  Interruptible.
 */
extern void race_solve_weights(const RaceGram *gram, const double *answers,
							   double total, RaceMisfit misfit, int iterations,
							   double *weights, double *space);

#endif							/* RACE_SOLVE_H */
