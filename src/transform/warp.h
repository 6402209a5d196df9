/*
 * warp.h
 *		Columns replaced by their places among quantiles.
 *
 * Skewed columns have their differences where few records are.  The place of a number among
 * knots, quantiles of public rows that are equally far apart in normal scores, is about
 * normally distributed, whatever the column was; and it lies between 0 and the number of knots.
 */
#ifndef RACE_WARP_H
#define RACE_WARP_H

#include "suggest.h"

#define RACE_WARP_MOST	64		/* knots of a column */

/*
 * The place of x among n knots, which do not fall: linear between two, the middle of equal
 * ones.  What is not finite remains.
 */
extern double race_warp_number(const double *knots, int n, double x);

/* The knots that race_suggest tries */
#define RACE_WARP_KNOTS	10

/*
 * Learn knots from examples, [dims][RACE_WARP_KNOTS].  False if places are about linear in all
 * columns, as they are of normally distributed ones.
 */
extern bool race_warp_learn(const RaceExamples *examples, double *knots);

/* The examples with their places */
extern RaceExamples race_warp_examples(const RaceExamples *examples, const double *knots);

#endif							/* RACE_WARP_H */
