/*
 * fitted.h
 *		A fitted sketch made ready to be asked.
 *
 * The points of its model are placed for a fast sum of kernels, and the model is counted
 * as if its points were records.  A session keeps that for the sketches that it asked
 * last (racepriv.cache_size).
 */
#ifndef RACE_FITTED_H
#define RACE_FITTED_H

#include "postgres.h"

#include "../cache/call_site.h"
#include "../sketch/sketch.h"

typedef struct RaceFitted RaceFitted;

/* Of a sketch with a model; the call site keeps it until it asks another one. */
extern RaceFitted *race_fitted_at(RaceCallSite *site, const RaceView *view);

/* The same without a cache, for a model that is being made */
extern RaceFitted *race_fitted_create(const RaceView *view, MemoryContext context);

/* What the model answers: the sum of kernels between its points and a record */
extern double race_fitted_sum(RaceFitted *fitted, const RaceColumn *record);

/* The sum over rows of the model's counters, as race_counters_sum() */
extern double race_fitted_counted(const RaceFitted *fitted, const uint32 *buckets,
								  uint32 from, uint32 to);

#endif							/* RACE_FITTED_H */
