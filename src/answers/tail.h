/*
 * tail.h
 *		Tails of distributions that are known by their first three moments.
 *
 * Plain C99 without PostgreSQL headers.
 */
#ifndef RACE_TAIL_H
#define RACE_TAIL_H

/* P(X > x) of a normal variable with mean 0 and variance 1 */
extern double race_normal_tail(double x);

/* P(G > x) of a gamma variable with this shape and scale 1; absolute error below 1e-6 */
extern double race_gamma_tail(double shape, double x);

/*
 * P(X > x) of the shifted gamma variable (Pearson's type III) with mean 0, this variance and
 * skewness >= 0
 */
extern double race_skew_tail(double x, double variance, double skewness);

#endif
