/*
 * partial.h
 *		Questions that leave out parts of a product.
 *
 * A row hashes all parts of a record together, so it cannot be asked about some of them.  A
 * model can: the kernel of a part that is left out is 1.  What it misses is looked for at
 * whole records, which are the query completed by points of the model.
 */
#ifndef RACE_PARTIAL_H
#define RACE_PARTIAL_H

#include "postgres.h"

#include "ready.h"

typedef struct RacePartial
{
	double		model;			/* what the model answers */
	/* means over whole records: what it answers there, for the parts left out alone, */
	double		whole;
	double		rest;
	double		residual;		/* and what the rows say beyond */
	double		scale;			/* from an answer there to one for the query; 0: all is known */
} RacePartial;

/* The site holds the row functions; the record is what the query says. */
extern void race_partial_ask(const RaceCallSite *site, const RaceView *view, RaceReady *ready,
							 const RaceColumn *record, RacePartial *result);

#endif							/* RACE_PARTIAL_H */
