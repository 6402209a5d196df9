/*
 * spread.h
 *		Covariances, correlations and principal components from noisy sums of products.
 *
 * Plain C99 without PostgreSQL headers.
 */
#ifndef RACE_SPREAD_H
#define RACE_SPREAD_H

#include "noisy.h"

/* A number with its standard error: noise, and that records are a sample of normal ones */
typedef struct RaceMeasured
{
	bool		known;			/* false if noise hides it */
	double		value;
	double		error;
} RaceMeasured;

/* Of two columns of the noisy sums, which are not the constant */
extern RaceMeasured race_measure_covariance(const RaceNoisy *noisy, uint32_t i, uint32_t j);
extern RaceMeasured race_measure_correlation(const RaceNoisy *noisy, uint32_t i, uint32_t j);

/* The standard deviation of a column by the likely sums; more than 0 */
extern double race_likely_deviation(const RaceNoisy *noisy, uint32_t i);

#define RACE_COMPONENTS_WORK(n)		(((size_t) (n) + 2) * (n))

/*
 * Principal components of the columns after the constant, each multiplied by scale[n - 1]:
 * unit vectors in the rows of vector[n - 1][n - 1], and the variances along them, the largest
 * first.  The largest number of a vector is positive.
 */
extern void race_components(const RaceNoisy *noisy, const double *scale, double *work,
							double *vector, RaceMeasured *variance);

#endif							/* RACE_SPREAD_H */
