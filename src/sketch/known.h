/*
 * known.h
 *		What a session keeps of sketches that it asked, in caches of its own.
 */
#ifndef RACE_KNOWN_H
#define RACE_KNOWN_H

#include "postgres.h"

#include "../cache/cache.h"
#include "sketch.h"

/* What every entry of such a cache begins with */
typedef struct RaceKnown
{
	RaceCacheEntry base;		/* must be first */
	uint64		identity;		/* these three identify the sketch */
	RaceHeader	header;
	RaceParams *params;
} RaceKnown;

/* Say which sketch an entry is of.  The parameters are copied to the context. */
extern void race_known_init(RaceKnown *known, const RaceView *view, MemoryContext context);

extern bool race_known_is_of(const RaceKnown *known, const RaceView *view);

/* The entry of a sketch, with one user more, or NULL */
extern void *race_known_find(RaceCache *cache, const RaceView *view);

#endif							/* RACE_KNOWN_H */
