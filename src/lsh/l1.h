/*
 * l1.h
 *		The kernel of p-stable hashing for the sum of distances along axes.
 */
#ifndef RACE_L1_H
#define RACE_L1_H

/*
 * P[h(x) = h(y)] for h(x) = floor(a.x / w + b) with Cauchy a, where
 * c = (sum of |x_i - y_i|) / w >= 0:
 *
 *		k(c) = 2/pi atan(1/c) - c/pi ln(1 + 1/c^2)
 *
 * (Datar, Immorlica, Indyk & Mirrokni 2004, section 3.2; k(0) = 1.)
 */
extern double race_l1_kernel(double c);

/*
 * The number below which a standard Cauchy variable stays with probability
 * 0 < p < 1: tan(pi (p - 1/2)), bit-identical on every IEEE machine, from exact
 * operations alone.  p is a multiple of 2^-53.
 */
extern double race_inverse_cauchy(double p);

#endif							/* RACE_L1_H */
