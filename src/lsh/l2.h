/*
 * l2.h
 *		The kernel of p-stable hashing for Euclidean distance.
 */
#ifndef RACE_L2_H
#define RACE_L2_H

/*
 * P[h(x) = h(y)] for h(x) = floor(a.x / w + b), where c = |x - y| / w >= 0:
 *
 *		k(c) = 1 - 2 Phi(-1/c) - 2c / sqrt(2 pi) (1 - exp(-1 / 2c^2))
 *
 * (Datar, Immorlica, Indyk & Mirrokni 2004, section 3.2; k(0) = 1.)
 */
extern double race_l2_kernel(double c);

/*
 * k(c)^2, about, as a sum of P[|h(x) - h(y)| = i]: to .003 + 5 % from c = .1 on, by least
 * squares (RaceKernelType)
 */
extern const double race_l2_square[];

#endif							/* RACE_L2_H */
