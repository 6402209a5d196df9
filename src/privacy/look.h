/*
 * look.h
 *		Noisy norms of exact counters, by which a release chooses what it keeps
 *
 * Each call pays a price at most and returns the noise of a number, a scale or variance; 0 if it
 * drew nothing (measure.h).
 */
#ifndef RACE_LOOK_H
#define RACE_LOOK_H

#include "privacy/account.h"
#include "privacy/exact.h"

/*
 * Look at the norms of order 3 of all rows: *noisy is their sum.  A record changes the
 * norm of a row by 1 at most, which it adds to one counter.
 */
extern uint64_t race_look_norms(RaceAccount *account, const RaceExact *exact, double price,
								int64_t *noisy);

/* Return what a record changes of these norms, in L1; 0 if there is one row alone. */
extern uint64_t race_norms_change(const RaceShape *shape);

/* What a grid loses with the last of some halvings, in records */
typedef struct RaceDetails
{
	int64_t detail; /* norm of what is lost, in which a record within has 60 */
	int64_t spread; /* how unevenly records lie then: a multiple of the norm of nodes, or 0 */
} RaceDetails;

/*
 * Look at what a grid loses with the last of so many halvings; the price is for both numbers.
 * `space` has twice as many numbers as nodes.  0 also if it cannot be looked at (race_can_look()).
 */
extern uint64_t race_look_details(RaceAccount *account, const RaceExact *exact, int halvings,
								  double price, RaceSpace *space, RaceDetails *noisy);

/*
 * Return whether a grid can be looked at after so many halvings; and what a record changes of both
 * numbers, in L1.
 */
extern bool race_can_look(const RaceShape *shape, int halvings);
extern uint64_t race_details_change(const RaceShape *shape);

/* Return the factor of `spread`, by the number of axes. */
extern uint32_t race_spread_factor(uint32_t dims);

#endif
