/*
 * sketch_cache.h
 *		Stored sketches, detoasted once: for a statement, and for the next.
 *
 * Putting a 4 MB value together from its 2,000 chunks takes a thousand times as
 * long as asking it a question.
 */
#ifndef RACE_SKETCH_CACHE_H
#define RACE_SKETCH_CACHE_H

#include "postgres.h"

typedef struct RaceStoredEntry RaceStoredEntry;

/* Is this datum stored out of line, so that the cache can help? */
extern bool race_is_stored(Datum value);

/*
 * Hold the entry of a stored sketch, or with `array` of a stored array of
 * sketches, instead of what *held was; NULL is none.  It stays until released.
 */
extern void race_stored_hold(RaceStoredEntry **held, Datum value, bool array);
extern void race_stored_release(RaceStoredEntry **held);

/* The detoasted datum of an entry */
extern Datum race_stored_datum(const RaceStoredEntry *entry);

#endif							/* RACE_SKETCH_CACHE_H */
