/*
 * ready.h
 *		A sketch made ready to be asked, where that takes more than its counters.
 *
 * Of a fitted sketch, the points of its model are placed for a fast sum of kernels, and the
 * model is counted as if its points were records.  Of a grid, the nodes get their levels and
 * kernels.  A session keeps that for the sketches that it asked last (racepriv.cache_size).
 */
#ifndef RACE_READY_H
#define RACE_READY_H

#include "postgres.h"

#include "../cache/call_site.h"
#include "../sketch/sketch.h"
#include "gridded.h"

typedef struct RaceReady RaceReady;

/* Must a sketch be made ready? */
extern bool race_needs_ready(const RaceView *view);

/* Of a sketch that must be; the call site keeps it until it asks another one. */
extern RaceReady *race_ready_at(RaceCallSite *site, const RaceView *view);

/* The same without a cache, for a model that is being made */
extern RaceReady *race_ready_create(const RaceView *view, MemoryContext context);

/* Raise XX001 if the model of a sketch is damaged. */
extern void race_check_model(const RaceView *view);

/* Its grid, or NULL */
extern const RaceGridded *race_ready_grid(const RaceReady *ready);

/*
 * What the model answers: the sum of kernels between its points and a record, which may
 * leave out parts (race_column_is_any)
 */
extern double race_ready_sum(RaceReady *ready, const RaceColumn *record);

/* The same, and what each of its points adds to it, [points] */
extern double race_ready_sum_each(RaceReady *ready, const RaceColumn *record, double *each);

/*
 * The same with the kernel to a power of 8 at least, for comparing classes: of a sketch of
 * rows, for kernels that are functions of a distance.  False for others.
 */
extern bool race_ready_sharp_sum(RaceReady *ready, const RaceColumn *record, double *sum);

/* By how much the models of both halves of the rows differ in that */
extern double race_ready_disagreement(RaceReady *ready, const RaceColumn *record);

/* The sum over rows of what the counters say beyond the model, as race_counters_sum() */
extern double race_ready_residuals(const RaceReady *ready, const uint32 *buckets,
								   uint32 from, uint32 to);

#endif							/* RACE_READY_H */
