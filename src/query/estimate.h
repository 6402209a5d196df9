/*
 * estimate.h
 *		What a sketch says about a query, given the query's buckets.
 */
#ifndef RACE_ESTIMATE_H
#define RACE_ESTIMATE_H

#include "postgres.h"

#include "../sketch/sketch.h"

/* f(q) = sum over all records x of k(x, q), estimated without bias */
extern double race_estimate_sum(const RaceView *view, const uint32 *buckets);

/* The number of records as a divisor: the (noisy) count, but at least 1 */
extern double race_estimate_divisor(const RaceHeader *header);

/* f(q) / N with its uncertainty */
typedef struct RaceInterval
{
	double		kernel_sum;
	double		density;
	double		stderr_density;
	double		lower;			/* of the density, at the confidence asked for */
	double		upper;
} RaceInterval;

extern void race_estimate_interval(const RaceView *view, const uint32 *buckets,
								   double confidence, RaceInterval *result);

#endif							/* RACE_ESTIMATE_H */
