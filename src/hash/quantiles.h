/*
 * quantiles.h
 *		Quantiles, with which coefficients are drawn: from exact operations only
 */
#ifndef RACE_QUANTILES_H
#define RACE_QUANTILES_H

/*
 * Return Phi^-1(p) for 1e-300 < p < 1, bit-identical on every IEEE machine: rational approximations
 * (Wichura 1988, algorithm AS 241, PPND16), a logarithm of our own, and the exact sqrt.  Relative
 * error measured: below 1e-15.
 */
extern double race_inverse_normal(double p);

/* Return the same of Cauchy's, tan(pi (p - 1/2)) for 0 < p < 1, a multiple of 2^-53. */
extern double race_inverse_cauchy(double p);

#endif
