/*
 * estimate.h
 *		Estimates from a sketch for a query, given the query's buckets.
 */
#ifndef RACE_ESTIMATE_H
#define RACE_ESTIMATE_H

#include "postgres.h"

#include "question.h"

/* f(q) = sum over all records x of k(x, q), estimated without bias */
extern double race_estimate_sum(const RaceQuestion *question);

/*
 * The same of the kernel to a power of 8 at least, by the model alone (fit/ready.h).  False
 * if there is none, or none that is asked.
 */
extern bool race_estimate_sharp_sum(const RaceQuestion *question, double *sum);

/* f(q) / N and what it comes from: the mean of rows, and a divisor */
typedef struct RaceDensity
{
	double		mean;			/* of rows, collisions included */
	double		mean_variance;
	double		noise_variance; /* the variance of the mean that comes from noise */
	double		n;				/* race_answers_divisor() */
	double		n_variance;
	double		kernel_sum;
	double		density;
	double		standard_error; /* of the density */
} RaceDensity;

extern void race_estimate_density(const RaceQuestion *question, RaceDensity *result);

#endif							/* RACE_ESTIMATE_H */
