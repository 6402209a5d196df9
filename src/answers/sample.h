/*
 * sample.h
 *		Synthetic records
 */
#ifndef RACE_SAMPLE_H
#define RACE_SAMPLE_H

#include "postgres.h"

#include "hash/column.h"
#include "hash/params.h"
#include "sketch/sketch_format.h"
#include "answers/classify.h"

/*
 * The model of a sketch, as a distribution.
 *
 * A point of a model stands for as many records as it weighs.  What is asked of the records
 * themselves (samples, quantiles, shares) is asked of the points, by weight.
 */

typedef struct RaceFitted
{
	RaceView view;                      /* sketch whose model was checked */
	RaceColumn columns[RACE_MAX_PARTS]; /* points of the model */
	double *passed;                     /* [points]: total weight of points up to this one */
	double total;                       /* total weight of all points, above 0 */
} RaceFitted;

/*
 * Open a sketch in the current memory context.  A grid without a model is fitted first, as it has
 * bounds.  Raise 55000 for other sketches without one.
 */
extern void race_fitted_open(Datum sketch, RaceFitted *fitted);

/* Return the numbers of a point in a part that is a vector. */
extern const double *race_fitted_vector(const RaceFitted *fitted, int part, uint64 point);

#endif
