/*
 * evaluator.h
 *		Cached evaluator of a sketch: of the nodes of a grid, of a fitted model, and of the
 *		residuals of rows
 */
#ifndef RACE_EVALUATOR_H
#define RACE_EVALUATOR_H

#include "postgres.h"

#include "hash/column.h"
#include "hash/params.h"
#include "hash/table.h"
#include "sketch/call_site.h"
#include "sketch/sketch_format.h"
#include "answers/grid_kernels.h"
#include "answers/radial.h"

/* A number of records, and the variance of its noise */
typedef struct RaceRecordCount
{
	double n;
	double variance;
} RaceRecordCount;

/* A grid, as it is asked: a question sums the kernel over the nodes of several levels. */
typedef struct RaceGridded
{
	RaceRecordCount count; /* number of records, by the noisy count and the sums of nodes */
	/* variance of a kernel sum in the middle of the grid, where it is largest */
	double noise_variance;
	double node_variance; /* variance of the noise of a node, in records */
	double rounding;      /* standard deviation of rounded positions, in bandwidths */
	const RaceGridKernels *kernels;
	RaceGrid second; /* the coarse level of the sketch, wider; without nodes if it has none */
	int n_levels;
	struct RaceGridLevel *levels[RACE_MOST_LEVELS];
	/* point masses that were taken out of the nodes (point_masses.h) */
	size_t masses;
	double *mass_places; /* places in bandwidths from the first node on */
	double *mass_records;
	const RaceRadial *mass_kernel; /* table of the kernel; NULL without point masses */
} RaceGridded;

/* Create the grid of a sketch that is one, in a memory context. */
extern RaceGridded *race_gridded_create(const RaceView *view, MemoryContext context);

/* Return the sum of kernels between the records and x, which lies within the bounds. */
extern double race_gridded_sum(const RaceGridded *gridded, const double *x);

/* Return the variance of this sum at x: of noise, and what cells change. */
extern double race_gridded_variance(const RaceGridded *gridded, const double *x);

/*
 * The evaluator of a sketch that needs more than its counters.
 *
 * Of a fitted sketch, the points of its model are placed for a fast sum of kernels, and the
 * model is counted as if its points were records.  Of a grid, the nodes get their levels and
 * kernels.  A session keeps that for the sketches that it asked last (racepriv.cache_size).
 */

typedef struct RaceEvaluator RaceEvaluator;

/* Return the evaluator of a fitted sketch or grid, which the site keeps until the next sketch. */
extern RaceEvaluator *race_evaluator_at(RaceCallSite *site, const RaceView *view);

/* Create the same without a cache, for a model that is being made. */
extern RaceEvaluator *race_evaluator_create(const RaceView *view, MemoryContext context);

/* Raise XX001 if the model of a sketch is damaged, and 55000 if there is none. */
extern void race_check_model(const RaceView *view);
extern void race_check_fitted(const RaceView *view);

/* Return the grid of an evaluator, or NULL. */
extern const RaceGridded *race_evaluator_grid(const RaceEvaluator *evaluator);

/*
 * Return what the model answers: the sum of kernels between its points and a record, which may
 * leave out parts (race_column_is_any).
 */
extern double race_evaluator_sum(RaceEvaluator *evaluator, const RaceColumn *record);

/*
 * Compute the same with the kernel to a power of 8 at least, for comparing classes: of a sketch of
 * rows, for kernels that are functions of a distance.  Return false for others.
 */
extern bool race_evaluator_sharp_sum(RaceEvaluator *evaluator, const RaceColumn *record,
									 double *sum);

/* Return the difference of that by the models of both halves of the rows. */
extern double race_evaluator_disagreement(RaceEvaluator *evaluator, const RaceColumn *record);

/*
 * Return the sum over records of a normal density, whose standard deviations are `bandwidth` times
 * the bandwidths of the columns: of a grid, or of the model of a sketch of vectors by themselves.
 * Set the density at 0, and the variance of the sum; of a model, the part of it in which both
 * halves differ.
 */
extern double race_evaluator_gaussian(RaceEvaluator *evaluator, const double *x, double bandwidth,
									  double *peak, double *variance);

/*
 * Means over the rows of a sketch, and their variance.  Of a fitted sketch these are means of
 * residuals: the counters less those of the model.
 */

/* How many rows of a sequence are enough to estimate their own variance */
#define RACE_ROWS_FOR_INTERVALS 128

/*
 * Where rows are few, points of vectors are moved to suit all of them.  Both halves err alike then,
 * and residuals do not show it: on pulsar, with 32 rows, errors were almost twice as large as
 * residuals.  So this is added, in parts of the variance of residuals.
 */
#define RACE_HIDDEN_VARIANCE 3.0

extern bool race_rows_hide_errors(const RaceParams *params);

/*
 * Return the mean over rows from ... to - 1 of a record, given its bucket in each row.  `fitted`
 * may be NULL: then the model is not subtracted.
 */
extern double race_estimator_mean(const RaceView *view, const RaceEvaluator *fitted,
								  const uint32 *buckets, uint32 from, uint32 to);

/* Return the number of blocks of rows from which the variance of their mean is estimated. */
extern uint32 race_estimator_blocks(const RaceParams *params, uint32 rows);

/*
 * Return the variance of the mean of these rows, from sampling and noise together; never below
 * `least`.  One block alone cannot show a variance: then it is INFINITY.
 */
extern double race_estimator_variance(const RaceView *view, const RaceEvaluator *fitted,
									  const uint32 *buckets, uint32 from, uint32 to, double mean,
									  double least);

/* Return the sum of kernels over n records from the mean of rows: collisions are subtracted. */
extern double race_correct_collisions(const RaceParams *params, double mean, double n);

/*
 * Return the noisy number of records of a sketch.  `gridded` is its grid, or NULL: what its nodes
 * add up to counts too.
 */
extern RaceRecordCount race_record_count(const RaceView *view, const RaceGridded *gridded);

/*
 * Return a number of records as a divisor: at least 1, and at least twice the standard deviation of
 * its noise, below which it is not significant.
 */
extern double race_count_divisor(RaceRecordCount count);

#endif
