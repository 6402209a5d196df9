/*
 * copula.h
 *		A Gaussian copula by products of signs
 *
 * Plain C99 without PostgreSQL headers.
 */
#ifndef RACE_COPULA_H
#define RACE_COPULA_H

#include <stdint.h>

#include "answers/lbfgs.h"

/* The largest correlation of two columns */
#define RACE_MOST_CORRELATION 0.995

/*
 * The total variation distance of a normal pair from independence, for each unit of correlation:
 * what the mean product of its signs about medians is, times this.
 */
#define RACE_DISTANCE_OF_CORRELATION 0.35

/*
 * Return the correlation of two normal variables whose signs have this mean product.  A sign is 1
 * with probability `upper`, or `other`, and else -1.
 */
extern double race_sign_correlation(double product, double upper, double other);

/*
 * Return by how much that mean product changes with the correlation, where it is 0: by 2 / pi of
 * signs about medians.
 */
extern double race_sign_slope(double upper, double other);

/*
 * Replace r[n][n], symmetric with ones on its diagonal, by the nearest matrix of correlations
 * (Higham 2002), whose eigenvalues are not near 0.
 */
extern void race_nearest_correlation(double *r, uint32_t n, RaceAllocate allocate, void *arg);

#endif
