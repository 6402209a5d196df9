/*
 * stored.h
 *		Large stored values, detoasted once: for a statement, and for the next.
 *
 * Putting a sketch of 4 MB together from its 2,000 chunks takes a thousand times as
 * long as asking it a question.
 */
#ifndef RACE_STORED_H
#define RACE_STORED_H

#include "postgres.h"

typedef struct RaceStoredEntry RaceStoredEntry;

/* Is this datum stored out of line, so that the cache can help? */
extern bool race_is_stored(Datum value);

/*
 * Hold the entry of a stored value, and release what *held was; NULL means no
 * entry. The entry stays until it is released. `identity` is the number of bytes
 * after the length word that identify the content (they contain a hash of it), or
 * 0.
 */
extern void race_stored_hold(RaceStoredEntry **held, Datum value, Size identity);
extern void race_stored_release(RaceStoredEntry **held);

/* The detoasted datum of an entry */
extern Datum race_stored_datum(const RaceStoredEntry *entry);

#endif							/* RACE_STORED_H */
