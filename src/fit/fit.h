/*
 * fit.h
 *		Fitting a model to a sketch (design: race_fit).
 *
 * A sketch is R noisy histograms of the same records, seen through known hash functions.
 * A model is the non-negative distribution over points that explains all its counters
 * best (solve.h).  It costs no privacy, as it is computed from the sketch alone.
 */
#ifndef RACE_FIT_H
#define RACE_FIT_H

#include "postgres.h"

#include "../record/records.h"
#include "../sketch/sketch.h"

#define RACE_MAX_CANDIDATES		65536	/* of which a model may have some as points, */
#define RACE_MAX_DENSE_POINTS	4096	/* where their Gram matrix is needed, so many */

typedef struct RaceFitRequest
{
	const double *lower;		/* [dims], finite */
	const double *upper;
	uint32		points;			/* how many at most; 0 = as many as serve */
	int64		seed;
} RaceFitRequest;

/*
 * Find the bounds of points: those given, NULL for those of the parameters.  False if there
 * are none, or if the kernel does not compare vectors by themselves.
 */
extern bool race_fit_bounds(const RaceParams *params, const double *lower,
							const double *upper, RaceFitRequest *request);

/* Raise 22023 unless each lower bound is at most the upper one, and not too far from it. */
extern void race_fit_check_box(const RaceParams *params, const RaceFitRequest *request);

/* The sketch with a model whose points lie within bounds, or are some of these records */
extern RaceSketchDatum *race_fit_box(const RaceView *view, const RaceFitRequest *request);
extern RaceSketchDatum *race_fit_records(const RaceView *view, RaceRecords *records,
										 char *const *texts);

/* What a release asks: can sketches have a model with the bounds of their parameters, and one with it? */
extern bool race_fit_has_bounds(const RaceParams *params);
extern Datum race_fit_private(Datum sketch);

#endif							/* RACE_FIT_H */
