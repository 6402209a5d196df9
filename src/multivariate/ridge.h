/*
 * ridge.h
 *		Linear regression from noisy sums of products.
 *
 * Plain C99 without PostgreSQL headers.
 */
#ifndef RACE_RIDGE_H
#define RACE_RIDGE_H

#include "noisy.h"

/* Of the columns of noisy sums: which one is explained by which others */
typedef struct RaceRidge
{
	uint32_t	target;
	uint32_t	n;				/* predictors, the constant among them */
	const uint32_t *predictors; /* [n] */
	double	   *coefficients;	/* [n] */
	double	   *covariance;		/* of the coefficients, [n][n] */
	double		residual;		/* mean square of what is left */
} RaceRidge;

#define RACE_RIDGE_WORK(n)		((2 * (size_t) (n) + 1) * (n))

/*
 * Fill the coefficients, the least squares of the likely sums, which act as ridge regression
 * does: what noise hides is shrunken.  Their covariance holds three things.  With t the coefficients and
 * -1 for the target, noise moves the coefficients by A^-1 E t; the records are a sample,
 * residual A^-1; and what the likely sums are away from the noisy ones moves them by
 * A^-1 (likely - m) t.  False if the likely sums have no inverse.
 */
extern bool race_ridge_fit(const RaceNoisy *noisy, RaceRidge *ridge, double *work);

#endif							/* RACE_RIDGE_H */
