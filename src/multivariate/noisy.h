/*
 * noisy.h
 *		Sums of products with noise, and the exact ones that they most likely come from.
 *
 * Let M be the sum of v v' over records v, the first number of which is the constant 1.  A
 * release tells M + E.  E is symmetric, and its entries are independent.  M has no negative
 * eigenvalue, but M + E may have some, and its inverse is mostly one of noise.
 *
 * Plain C99 without PostgreSQL headers.
 */
#ifndef RACE_NOISY_H
#define RACE_NOISY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct RaceNoisy
{
	uint32_t	n;				/* columns, with the constant */
	double		count;			/* of records */
	double		diagonal;		/* standard deviation of noise on the diagonal, */
	double		other;			/* and of all other entries; 0 of exact sums */
	double	   *m;				/* M + E, [n][n] */
	double	   *likely;			/* an estimate of M, [n][n] */
} RaceNoisy;

#define RACE_LIKELY_WORK(n)		(((size_t) (n) + 1) * (n))

/*
 * Fill `likely`.  It has the eigenvectors of m, and for each eigenvalue l its mean given that it
 * is positive, if noise moves eigenvalues by a normal number and all positive ones are as likely
 * before.  Eigenvalues of noise alone have the mean square n other^2 (Wigner 1955).  Large
 * eigenvalues stay, and those that noise has made become about a third of the largest that it has.
 * Exact sums stay as they are, but for eigenvalues that are 0 but for rounding.
 */
extern void race_likely_moments(RaceNoisy *noisy, double *work);

/*
 * The variance that noise gives to a linear combination of entries: the sum of
 * weight[i][j] E[i][j] over all i and j.
 */
extern double race_noise_variance(const RaceNoisy *noisy, const double *weight);

/*
 * What the likely sums say of the columns after the constant, of which there are n - 1: their
 * means, and the sums of products around these, which are added to scatter[n - 1][n - 1].
 * Returns how much the records weigh, which is more than 0.
 */
extern double race_likely_spread(const RaceNoisy *noisy, double *mean, double *scatter);

#endif							/* RACE_NOISY_H */
