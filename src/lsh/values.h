/*
 * values.h
 *		Exact values of kernels, of power 1, for the table of kernels.
 */
#ifndef RACE_VALUES_H
#define RACE_VALUES_H

#include "lsh.h"

/*
 * The distance in bandwidths: Euclidean, or else the sum of distances along axes.
 * It is infinite where it overflows.
 */
extern double race_distance(const RaceParams *part, const RaceColumn *x,
							const RaceColumn *y, bool euclidean);

/* Coordinate i of M (x - o), which is x - o, or x, where there is no transform */
extern double race_transformed(const RaceParams *part, const double *x, uint32_t i);

/* The kernels that are not functions of a distance */
extern double race_angular_value(const RaceParams *part, const RaceColumn *x,
								 const RaceColumn *y);
extern double race_jaccard_value(const RaceParams *part, const RaceColumn *x,
								 const RaceColumn *y);
extern double race_match_value(const RaceParams *part, const RaceColumn *x,
							   const RaceColumn *y);

#endif							/* RACE_VALUES_H */
