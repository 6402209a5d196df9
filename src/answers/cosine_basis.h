/*
 * cosine_basis.h
 *		Posterior of a Gaussian process in a cosine basis
 */
#ifndef RACE_COSINE_BASIS_H
#define RACE_COSINE_BASIS_H

#include "postgres.h"

#include "waves.h"

/*
 * Posterior of a Gaussian process in a cosine basis.
 */

/* Lengths and deviations of the process that are tried */
#define RACE_POSTERIOR_LENGTHS		7
#define RACE_POSTERIOR_DEVIATIONS	6
#define RACE_POSTERIOR_CHOICES		(RACE_POSTERIOR_LENGTHS * RACE_POSTERIOR_DEVIATIONS)

/* Equations for the coefficients a of waves: gram a = right, with noise of covariance gram */
typedef struct RaceEquations
{
	uint32		n;				/* waves */
	double	   *gram;			/* [n][n] */
	double	   *right;			/* [n] */
	double	   *factor;			/* [n][n]: space, for a Cholesky factor, */
	double	   *inverse;		/* [n][n]: and for the inverse of what it is of */
	/* choices that equations like these made so unlikely that they are not tried again */
	bool		unlikely[RACE_POSTERIOR_CHOICES];
} RaceEquations;

/*
 * The mean of the coefficients, and their covariance is added to `covariance` [n][n] if that is
 * not NULL.  Interruptible.
 */
extern void race_posterior(const RaceWaves *waves, RaceEquations *equations, double *mean,
						   double *covariance);

#endif
