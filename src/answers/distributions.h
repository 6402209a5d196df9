/*
 * distributions.h
 *		Quantiles of Student's t distribution, and tails of the normal and of gamma distributions
 *
 * Plain C99 without PostgreSQL headers.
 */
#ifndef RACE_DISTRIBUTIONS_H
#define RACE_DISTRIBUTIONS_H

/*
 * Return the t that |T| exceeds with probability p, 0 < p < 1, for T with df >= 1 degrees of
 * freedom (Hill 1970, CACM algorithm 396).  Relative error measured: at most 1.4e-5, at df = 3, and
 * below 1e-7 from df = 15 on.
 */
extern double race_student_two_sided(double p, double df);

/* Return P(X > x) of a normal variable with mean 0 and variance 1. */
extern double race_normal_tail(double x);

/* Return P(G > x) of a gamma variable with this shape and scale 1.  Absolute error below 1e-6. */
extern double race_gamma_tail(double shape, double x);

/*
 * Return P(X > x) of the shifted gamma variable (Pearson's type III) with mean 0, this variance and
 * skewness >= 0.
 */
extern double race_skew_tail(double x, double variance, double skewness);

#endif
