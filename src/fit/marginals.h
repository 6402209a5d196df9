/*
 * marginals.h
 *		Points of a model of balanced rows, which are marginals.
 */
#ifndef RACE_MARGINALS_H
#define RACE_MARGINALS_H

#include "work.h"

/*
 * How many squares of the noise of a counter a divergence of 1 from equal weights is worth.  On
 * three made-up tables of 4 to 8 columns 100 to 300 was best, at epsilon .1 and 1.
 */
#define RACE_MARGINALS_STRICTNESS	200

/*
 * How many points there are at most.  Up to RACE_MAX_DENSE_POINTS candidates, or so many if that
 * is fewer, are taken as they are.
 */
extern uint32 race_marginals_points(const RaceParams *params);

/*
 * Make points of more candidates: each column has the distribution that the sketch says, and all
 * are independent of each other.  Returns their texts.
 */
extern char *const *race_marginals_place(RaceFitWork *fit, const RaceRecords *candidates,
										 char *const *texts);

#endif							/* RACE_MARGINALS_H */
