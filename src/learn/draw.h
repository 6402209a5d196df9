/*
 * draw.h
 *		Records drawn from the model of a sketch.
 *
 * A point is drawn by weight, evenly: by multiples of the golden ratio, shuffled.  Then its
 * vectors are moved, because points are a discretization: on average by half the distance to
 * its nearest points, but not by more than half a bandwidth.  A move is a random mix of the
 * differences to these points, so that it goes along the data, whatever the scales of columns,
 * and keeps correlations.  A vector of one number is drawn from the distribution that
 * race_quantile has (marginal.h).  Bounds of the parameters reflect.  Sets and categories stay.
 *
 * The same seed and number give the same record.
 */
#ifndef RACE_DRAW_H
#define RACE_DRAW_H

#include "postgres.h"

#include "fitted.h"

typedef struct RaceDraws RaceDraws;

typedef struct RaceDrawn
{
	uint64		point;			/* that it comes from */
	const double *vectors[RACE_MAX_PARTS];	/* of parts that are vectors, else NULL */
} RaceDrawn;

/* In the current memory context; `fitted` must live as long. */
extern RaceDraws *race_draws_create(const RaceFitted *fitted, int64 seed);

/* Record number i, valid until the next call */
extern void race_draw(RaceDraws *draws, uint32 i, RaceDrawn *drawn);

#endif							/* RACE_DRAW_H */
