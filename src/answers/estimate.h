/*
 * estimate.h
 *		race_kde, race_estimate and their intervals
 */
#ifndef RACE_ESTIMATE_H
#define RACE_ESTIMATE_H

#include "postgres.h"

#include "evaluator.h"
#include "question.h"

/*
 * Estimates from a sketch for a query, given the query's buckets.
 */

/* f(q) = sum over all records x of k(x, q), estimated without bias */
extern double race_estimate_sum(const RaceQuestion *question);

/* f(q) / N, what race_kde answers */
extern double race_estimate_mean(const RaceQuestion *question);

/*
 * The same of the kernel to a power of 8 at least, by the model alone (evaluator.h).  False
 * if there is none, or none that is asked.
 */
extern bool race_estimate_sharp_sum(const RaceQuestion *question, double *sum);

/* f(q) / N and what it comes from: the mean of rows, and a divisor */
typedef struct RaceDensity
{
	double		mean;			/* of rows, collisions included */
	double		mean_variance;
	double		noise_variance; /* the variance of the mean that comes from noise */
	/* the rows in the mean: their weight, their variance and a lower bound of it, and */
	double		weight;
	double		rows_variance;
	double		least_variance;
	double		records;
	double		n;				/* these, as a divisor */
	double		n_variance;
	double		kernel_sum;
	double		sum_variance;
	double		density;
	double		standard_error; /* of the density */
} RaceDensity;

/*
 * The same of two sketches, asked about the same query.  Returns
 * the covariance of their kernel sums.
 */
extern double race_estimate_two(const RaceQuestion questions[2], RaceDensity results[2]);

/* Raise 22023 unless it is between 0 and 1. */
extern void race_check_confidence(double confidence);

/* How many standard errors an interval of this confidence reaches; INFINITY if unknown */
extern double race_estimate_reach(const RaceView *view, double confidence);

/* Warn, once for a call site, where a sketch has too few rows to know its own variance. */
extern void race_estimate_warn(const RaceQuestion *question, const RaceDensity *estimate);

/* Two noisy numbers, a and b */
typedef struct RaceRatio
{
	double		a;
	double		b;
	double		a_variance;
	double		b_variance;
	double		covariance;
} RaceRatio;

/*
 * Fieller's interval for a / b: all x with (a - x b)^2 <= t^2 variance of (a - x b).  False
 * if b is within its noise of zero, when nothing can be said.
 */
extern bool race_ratio_bounds(const RaceRatio *ratio, double t, double *lower,
							  double *upper);

#endif
