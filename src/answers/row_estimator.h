/*
 * row_estimator.h
 *		What the rows of a sketch answer: the mean over rows, and its variance.
 *
 * Of a fitted sketch these are residuals: what the counters say beyond the model.
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
 * and residuals do not show it: on pulsar, with 32 rows, errors were almost twice what residuals
 * say.  So much is added, in parts of the variance that they show.
 */
#define RACE_HIDDEN_VARIANCE		3.0

extern bool race_rows_hide_errors(const RaceParams *params);

/* Raise 55000 for a sketch without a model. */
extern void race_check_fitted(const RaceView *view);

/*
 * The mean over rows from ... to - 1 of a record, given its bucket in each row.  `fitted`
 * may be NULL: then what the model says is not taken off.
 */
extern double race_answers_mean(const RaceView *view, const RaceReady *fitted,
								const uint32 *buckets, uint32 from, uint32 to);

/* In how many blocks so many rows are compared to learn the variance of their mean */
extern uint32 race_answers_blocks(const RaceParams *params, uint32 rows);

/*
 * The variance of the mean of these rows, from sampling and noise together; never below
 * `least`.  One block alone cannot show a variance: then it is INFINITY.
 */
extern double race_answers_variance(const RaceView *view, const RaceReady *fitted,
									const uint32 *buckets, uint32 from, uint32 to,
									double mean, double least);

/* From the mean of rows to a sum of kernels over n records: collisions are taken off */
extern double race_answers_correct(const RaceParams *params, double mean, double n);

/* How many records a sketch says that it has.  `gridded` is its grid, or NULL. */
extern RaceRecordCount race_answers_count(const RaceView *view, const RaceGridded *gridded);

/*
 * A number of records as a divisor: at least 1, and at least twice the standard deviation
 * of its noise, below which it says nothing
 */
extern double race_answers_divisor(RaceRecordCount count);

#endif
