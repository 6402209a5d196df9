/*
 * polynomial.h
 *		The polynomial at points that explains the counters of a sketch best.
 *
 * Each point counts 1 + sum of b_i h_i + sum of a_ij (h_i h_j - [i = j]), i <= j, where h are
 * coordinates in which the points have mean 0 and covariance 1.  b and a are found from the counters
 * of all rows, by least squares, whichever rows the points are moved to suit.  So the moments are seen that the records have, where those of the
 * points are near them.
 */
#ifndef RACE_FIT_POLYNOMIAL_H
#define RACE_FIT_POLYNOMIAL_H

#include "postgres.h"

#include "work.h"

typedef enum RacePolynomialDegree
{
	RACE_POLYNOMIAL_SECOND,
	RACE_POLYNOMIAL_FOURTH		/* of standard normal h: polynomials of Hermite */
} RacePolynomialDegree;

typedef struct RacePolynomial
{
	const RaceFitWork *fit;
	uint32		used;			/* coordinates */
	uint32		moments;		/* terms of degree 1 and 2, and */
	uint32		most;			/* all terms of the polynomial, without its constant; */
	uint32		terms;			/* so many are used */
	double		prior;			/* the variance that terms have where noise hides all; 1 */
	double		most_work;		/* rows are looked at until so many products of terms are made, */
	double		work;			/* that have been made */
	uint32		n;				/* points: */
	double	   *h;				/* [n][used] */
	double	   *x;				/* [n][dims] */
	double	   *gram;			/* [terms][terms], of least squares; the lower triangle */
	double	   *right;			/* [terms]: the polynomial, b and then a by rows */
} RacePolynomial;

/*
 * Prepare to find polynomials of so many coordinates.  False if there are too many; of the fourth
 * degree only the second one may be found.  Points are set by the caller.
 */
extern bool race_polynomial_start(RacePolynomial *polynomial, const RaceFitWork *fit,
								  uint32 used, RacePolynomialDegree degree);

/* Find it, in polynomial->right. */
extern void race_polynomial_find(RacePolynomial *polynomial);

/* What it is at h, without its constant */
extern double race_polynomial_at(const RacePolynomial *polynomial, const double *h);

/*
 * By how much of a step the mean and the covariance of h may change: of 1, 1/2, 1/4 ... the
 * largest part by which no variance shrinks or grows too much; 0 if only a tiny one would do.
 * `squares` is what the step adds to E[h h'] (the lower triangle).  In `spread` is the Cholesky
 * factor of the new covariance.
 */
extern double race_step_part(uint32 n, const double *shift, const double *squares,
							 double *spread);

/* So many zeros */
extern double *race_fit_zeros(Size n);

#endif							/* RACE_FIT_POLYNOMIAL_H */
