/*
 * values.h
 *		Exact values of each kernel, of power 1, for the table of kernels.
 */
#ifndef RACE_VALUES_H
#define RACE_VALUES_H

#include "lsh.h"

extern double race_l2_value(const RaceParams *part, const RaceColumn *x,
							const RaceColumn *y);
extern double race_l1_value(const RaceParams *part, const RaceColumn *x,
							const RaceColumn *y);
extern double race_angular_value(const RaceParams *part, const RaceColumn *x,
								 const RaceColumn *y);
extern double race_jaccard_value(const RaceParams *part, const RaceColumn *x,
								 const RaceColumn *y);
extern double race_match_value(const RaceParams *part, const RaceColumn *x,
							   const RaceColumn *y);

#endif							/* RACE_VALUES_H */
