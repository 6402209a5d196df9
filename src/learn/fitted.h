/*
 * fitted.h
 *		The model of a sketch, as a distribution.
 *
 * A point of a model stands for as many records as it weighs.  What is asked of the records
 * themselves (samples, quantiles, shares) is asked of the points, by weight.
 */
#ifndef RACE_FITTED_H
#define RACE_FITTED_H

#include "postgres.h"

#include "../sketch/sketch.h"

typedef struct RaceFitted
{
	RaceView	view;			/* of a sketch that has a model, which was checked */
	RaceColumn	columns[RACE_MAX_PARTS];	/* of its points */
	double	   *passed;			/* [points]: what points up to this one weigh together */
	double		total;			/* what all weigh, above 0 */
} RaceFitted;

/*
 * Of a sketch, in the current memory context.  A grid without a model is fitted first, as
 * it has bounds; of other sketches this raises 55000.
 */
extern void race_fitted_open(Datum sketch, RaceFitted *fitted);

/* The weight of a point */
extern double race_fitted_weight(const RaceFitted *fitted, uint64 point);

/* The point at a share p of all weights, 0 <= p < 1 */
extern uint64 race_fitted_at(const RaceFitted *fitted, double p);

/* The numbers of a point in a part that is a vector */
extern const double *race_fitted_vector(const RaceFitted *fitted, int part, uint64 point);

/*
 * As kernels end slowly, how near is near?  The distance between two points where kernel
 * and power are e^-1, about a bandwidth, is 1; it is -ln k.
 */
extern double race_fitted_apart(const RaceFitted *fitted, uint64 a, uint64 b);

#endif							/* RACE_FITTED_H */
