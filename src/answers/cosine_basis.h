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

/*
 * Smoothed class probabilities along the score, from noisy counts of its nodes.
 *
 * Some of the records at a place of the line have a property: their share is a curve, linear
 * between nodes.  Records are split linearly over the two nodes around them.  So a node sees a
 * mean of the curve, not its value there: without regard to that coarse nodes would flatten it.
 *
 * A curve is what was expected of it and a deviation, a Gaussian process whose size is that of all
 * curves together: where noise is large, deviations are small.
 */

typedef struct RaceCurves
{
	int			n;
	uint32		cells;			/* between nodes */
	double		variance;		/* of the noise of `having` */
	double	   *records;		/* [n][cells + 1]: at each node, */
	double	   *having;			/* [n][cells + 1]: and of these with the property */
	double	   *shares;			/* [n][cells + 1]: expected, between 0 and 1 */
} RaceCurves;

/* Space for n curves */
extern RaceCurves *race_curves_create(int n, uint32 cells, double variance);

/* Replace expected shares by the likeliest ones, which noise may put a little beyond 0 and 1. */
extern void race_curves_fit(RaceCurves *curves);

#endif
