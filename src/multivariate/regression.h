/*
 * regression.h
 *		A column of moments, explained by the others.
 */
#ifndef RACE_REGRESSION_H
#define RACE_REGRESSION_H

#include "postgres.h"

#include "utils/array.h"

#include "likely.h"
#include "ridge.h"

typedef struct RaceRegression
{
	RaceLikely	likely;
	RaceRidge	ridge;			/* the constant is its first predictor */
} RaceRegression;

/*
 * Explain a column by these columns and all features, or by all other columns if `predictors`
 * is NULL.  What is palloc'd stays.  Raises 22023 for columns that are not there, that come twice, or
 * that are the target.
 */
extern void race_regression_fit(Datum moments, int target, ArrayType *predictors,
								RaceRegression *regression);

/* The fitted value of a record's u (moments/moments.h), in units of the target, within its bounds */
extern double race_regression_value(const RaceRegression *regression, const double *u);

#endif							/* RACE_REGRESSION_H */
