/*
 * gridded.h
 *		The answers of a grid.
 *
 * A question sums the kernel over the nodes of levels (levels.h).
 */
#ifndef RACE_GRIDDED_H
#define RACE_GRIDDED_H

#include "postgres.h"

#include "../sketch/sketch.h"

typedef struct RaceGridded RaceGridded;

/* Of a sketch that is a grid, in a memory context; its size counts in the cache. */
extern RaceGridded *race_gridded_create(const RaceView *view, MemoryContext context,
										Size *size);

/* The sum of kernels between the records and x, which lies within the bounds */
extern double race_gridded_sum(const RaceGridded *gridded, const double *x);

/* A number of records, and the variance of its noise */
typedef struct RaceRecordCount
{
	double		n;
	double		variance;
} RaceRecordCount;

/*
 * How many records there are: the noisy count and what the nodes of each level add up to,
 * weighted by how little noise they have
 */
extern RaceRecordCount race_gridded_count(const RaceGridded *gridded);

/* The variance that noise gives such a sum, in the middle of the grid, where it is largest */
extern double race_gridded_noise(const RaceGridded *gridded);

/*
 * The variance that cells give it at x, for a sum of this size: what splitting moves, and what cells
 * lose nearby (lost.h)
 */
extern double race_gridded_bias(const RaceGridded *gridded, const double *x, double sum);

#endif							/* RACE_GRIDDED_H */
