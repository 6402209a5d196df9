/*
 * row_estimator.h
 *		Means over the rows of a sketch, and their variance
 *
 * Of a fitted sketch these are means of residuals: the counters less those of the model.
 */
#ifndef RACE_ROW_ESTIMATOR_H
#define RACE_ROW_ESTIMATOR_H

#include "postgres.h"

#include "../core/core.h"
#include "evaluator.h"

/* How many rows of a sequence are enough to estimate their own variance */
#define RACE_ROWS_FOR_INTERVALS		128

/*
 * Where rows are few, points of vectors are moved to suit all of them.  Both halves err alike then,
 * and residuals do not show it: on pulsar, with 32 rows, errors were almost twice as large as residuals.
 * So this is added, in parts of the variance of residuals.
 */
#define RACE_HIDDEN_VARIANCE		3.0

extern bool race_rows_hide_errors(const RaceParams *params);

/* Raise 55000 for a sketch without a model. */
extern void race_check_fitted(const RaceView *view);

/*
 * The mean over rows from ... to - 1 of a record, given its bucket in each row.  `fitted`
 * may be NULL: then the model is not subtracted.
 */
extern double race_estimator_mean(const RaceView *view, const RaceEvaluator *fitted,
								const uint32 *buckets, uint32 from, uint32 to);

/* In how many blocks so many rows are compared to learn the variance of their mean */
extern uint32 race_estimator_blocks(const RaceParams *params, uint32 rows);

/*
 * The variance of the mean of these rows, from sampling and noise together; never below
 * `least`.  One block alone cannot show a variance: then it is INFINITY.
 */
extern double race_estimator_variance(const RaceView *view, const RaceEvaluator *fitted,
									const uint32 *buckets, uint32 from, uint32 to,
									double mean, double least);

/* Return the sum of kernels over n records from the mean of rows: collisions are subtracted. */
extern double race_correct_collisions(const RaceParams *params, double mean, double n);

/* Return the noisy number of records of a sketch.  `gridded` is its grid, or NULL. */
extern RaceRecordCount race_record_count(const RaceView *view, const RaceGridded *gridded);

/*
 * A number of records as a divisor: at least 1, and at least twice the standard deviation
 * of its noise, below which it says nothing
 */
extern double race_count_divisor(RaceRecordCount count);

#endif
