/*
 * fit_flow.h
 *		Points that move to where records are
 *
 * Points at random find records that lie close together in few columns only, where the others are
 * wide.  So they are moved, all of the same weight.  What the counters hold beyond the points is a
 * landscape, which the points go up, with momentum: the flow of the maximum mean discrepancy
 * (Arbel, Korba, Salim & Gretton 2019).  It finds shapes and tails, but slowly where points are
 * much too wide in a direction.  Therefore all points are also mapped at once, to the mean and
 * covariance that explain the counters best (fit_flow.h).
 */
#ifndef RACE_FIT_FLOW_H
#define RACE_FIT_FLOW_H

#include "postgres.h"

#include "fit.h"

/* Can points of the sketch flow?  If they compare distances, and are hashed in blocks of rows. */
extern bool race_flow_can(const RaceParams *params);

/* Move all points of the fit, as if each weighed the same. */
extern void race_flow(RaceFitState *fit, const RaceBox *box);

/*
 * Place the points of a surrogate loss, at most n: those of this distribution, with exactly
 * its moments, and all of the same weight.  False if there are too many columns to find it.
 */
extern bool race_normal_place(RaceFitState *fit, const RaceBox *box, int64 seed, uint32 n);

#endif
