/*
 * estimate.h
 *		The entry for all questions to a sketch; kernel sums, densities and their intervals
 *
 * A question is a function that returns something of the counters or the count.  The
 * functions below open the sketch of a question about kernel sums, and raise 55000 if it
 * is a sum of noise shares that has too few of them.  What estimates a sum or a density
 * takes a RaceQuestion, which nobody else makes.
 *
 * To add a question: a C file in src/answers, its SQL beside it, and a test.
 */
#ifndef RACE_ESTIMATE_H
#define RACE_ESTIMATE_H

#include "postgres.h"

#include "fmgr.h"

#include "hash/column.h"
#include "sketch/call_site.h"
#include "sketch/sketch.h"
#include "sketch/sketch_format.h"
#include "answers/evaluator.h"

typedef struct RaceQuestion
{
	RaceView view; /* the sketch */
	RaceCallSite *site;
	/* the bucket of the query in each row; NULL without one, and of a partial query */
	const uint32 *buckets;
	/*
	 * Whether the query leaves out parts of a product.  Rows hash all parts together, so that
	 * only a model can answer.
	 */
	bool partial;
	/* the query, if it is not the last record of the site; or NULL */
	const RaceColumn *lifted;
} RaceQuestion;

/*
 * Open the question of a call site to a sketch; then set its query, which may be partial if the
 * sketch has a model (else 55000).
 */
extern void race_ask_sketch(RaceCallSite *site, Datum sketch, RaceQuestion *question);
extern void race_ask_about(RaceQuestion *question, Datum query);
extern void race_ask_about_vector(RaceQuestion *question, const double *x);
extern void race_ask_about_columns(RaceQuestion *question, const RaceColumn *columns);

/* Set the query of a surrogate loss, lifted as race_surrogate_query() does; it must stay. */
extern void race_ask_about_lifted(RaceQuestion *question, const RaceColumn *query);

/*
 * Open questions to the sketches in the first two arguments, each at a call site of its own, which
 * stays between calls.  Queries are of this type, if there are any.  Raise 55000 if one of them is
 * exact and the other one is not: the result would not be private.
 */
extern void race_ask_pair(FunctionCallInfo fcinfo, Oid query, RaceQuestion *a, RaceQuestion *b);

/*
 * Estimates from a sketch for a query, given the query's buckets.
 */

/* Estimate f(q) = sum over all records x of k(x, q), without bias. */
extern double race_estimate_sum(const RaceQuestion *question);

/* Estimate f(q) / N, which race_kde returns. */
extern double race_estimate_mean(const RaceQuestion *question);

/*
 * Estimate the sum of the kernel to a power of 8 at least, by the model alone (evaluator.h).
 * Return false if there is none, or none for this query.
 */
extern bool race_estimate_sharp_sum(const RaceQuestion *question, double *sum);

/* f(q) / N and what it comes from: the mean of rows, and a divisor */
typedef struct RaceDensity
{
	double mean; /* mean of rows, collisions included */
	double mean_variance;
	double noise_variance; /* variance of the mean that comes from noise */
	/* the weight of the rows in the mean, their variance and a lower bound of it */
	double weight;
	double rows_variance;
	double least_variance;
	double records;
	double n; /* number of records, as a divisor */
	double n_variance;
	double kernel_sum;
	double sum_variance;
	double density;
	double standard_error; /* standard error of the density */
} RaceDensity;

/* Raise 22023 unless the confidence is between 0 and 1. */
extern void race_check_confidence(double confidence);

#endif
