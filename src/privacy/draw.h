/*
 * draw.h
 *		What a release draws: noisy counts, by which, and by a noisy look, it chooses what it
 *		keeps, and noisy counters.
 *
 * Plain C99 without PostgreSQL headers, so that unit tests can follow each exact number to its
 * noise.
 */
#ifndef RACE_DRAW_H
#define RACE_DRAW_H

#include "plan.h"

/* An exact sketch as a release reads it, or a half of a pair */
typedef struct RaceExact
{
	const RaceParams *params;
	const void *counters;		/* of so many bytes each */
	int			width;
	bool		is_half;
	int64_t		count;
} RaceExact;

/* The bytes of the workspace of what follows, which is aligned to 8 */
extern size_t race_draw_workspace(const RaceParams *params);

/*
 * Draw the noisy counts of n exact sketches, which have the same parameters: one sketch, or both
 * halves.  If the request leaves open what is kept, choose it, the same for all.  False if the
 * noise would be too large, whatever the sketches hold: then nothing was drawn.
 */
extern bool race_draw_plan(RaceRandom *random, const RaceExact *exact, int n,
						   const RaceRequest *request, void *workspace, int64_t *counts,
						   RacePlan *plan);

/* Draw the counters that are kept: rows, the levels of a grid one after the other, or moments. */
extern void race_draw_counters(RaceRandom *random, const RaceExact *exact, const RacePlan *plan,
							   void *workspace, int64_t *counters);

#endif							/* RACE_DRAW_H */
