/*
 * posterior.h
 *		Posterior of a Gaussian process in a cosine basis.
 */
#ifndef RACE_POSTERIOR_H
#define RACE_POSTERIOR_H

#include "postgres.h"

#include "waves.h"

/* Equations for the coefficients a of the basis: gram a = right, with noise of covariance gram */
typedef struct RaceEquations
{
	uint32		n;				/* functions of the basis */
	double	   *gram;			/* [n][n] */
	double	   *right;			/* [n] */
} RaceEquations;

/* Find the mean of the coefficients, and their covariance [n][n] if that is not NULL. */
extern void race_posterior(const RaceWaves *waves, const RaceEquations *equations, double *mean,
						   double *covariance);

#endif							/* RACE_POSTERIOR_H */
