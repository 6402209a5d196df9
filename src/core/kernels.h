/*
 * kernels.h
 *		The table of kernels: values and collision probabilities
 */
#ifndef RACE_KERNELS_H
#define RACE_KERNELS_H

#include "lsh.h"

/*
 * The distance in bandwidths: Euclidean, or else the sum of distances along axes.
 * It is infinite where it overflows.
 */
extern double race_distance(const RaceParams *part, const RaceColumn *x,
							const RaceColumn *y, bool euclidean);

/* Coordinate i of M (x - o), which is x - o, or x, where there is no transform */
extern double race_transformed(const RaceParams *part, const double *x, uint32_t i);

/*
 * The kernels of p-stable hashing, P[h(x) = h(y)] for h(x) = floor(a.x / w + b), with normal and
 * with Cauchy a, at a distance of c >= 0 in bandwidths w (Datar, Immorlica, Indyk & Mirrokni 2004,
 * section 3.2; k(0) = 1):
 *
 *		l2(c) = 1 - 2 Phi(-1/c) - 2c / sqrt(2 pi) (1 - exp(-1 / 2c^2))
 *		l1(c) = 2/pi atan(1/c) - c/pi ln(1 + 1/c^2)
 */
extern double race_l2_kernel(double c);
extern double race_l1_kernel(double c);

/*
 * l2(c)^2, about, as a sum of P[|h(x) - h(y)| = i]: to .003 + 5 % from c = .1 on, by least
 * squares (RaceKernelType)
 */
extern const double race_l2_square[];

/* The kernels that are not functions of a distance */
extern double race_angular_value(const RaceParams *part, const RaceColumn *x,
								 const RaceColumn *y);
extern double race_jaccard_value(const RaceParams *part, const RaceColumn *x,
								 const RaceColumn *y);
extern double race_match_value(const RaceParams *part, const RaceColumn *x,
							   const RaceColumn *y);

#endif
