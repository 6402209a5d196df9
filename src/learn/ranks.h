/*
 * ranks.h
 *		The densities of the records of a fitted sketch, in order.
 *
 * The density at each point of the model, for as many records as it weighs.  To ask for all of
 * them takes long, so a session keeps them for the sketches that it asked last
 * (racepriv.cache_size).
 */
#ifndef RACE_RANKS_H
#define RACE_RANKS_H

#include "postgres.h"

#include "../query/estimate.h"

typedef struct RaceRanks RaceRanks;

/* What a place in a statement holds: the ranks of the sketch last asked */
typedef struct RaceRanksHold
{
	RaceRanks  *ranks;			/* or NULL */
	MemoryContextCallback release;
} RaceRanksHold;

/* Nothing is held yet.  What is held later is released with the memory context. */
extern void race_ranks_hold(RaceRanksHold *hold, MemoryContext context);

/* Of the sketch of a question, which has a model.  The question may then be asked anew. */
extern const RaceRanks *race_ranks_at(RaceRanksHold *hold, RaceQuestion *question);

/* The share of records with a kernel sum below this one */
extern double race_ranks_share(const RaceRanks *ranks, double sum);

#endif							/* RACE_RANKS_H */
