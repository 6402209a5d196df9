/*
 * stored_cache.h
 *		Large stored values, detoasted once: for a statement, and for the next
 */
#ifndef RACE_STORED_CACHE_H
#define RACE_STORED_CACHE_H

#include "postgres.h"

typedef struct RaceStoredEntry RaceStoredEntry;

/*
 * Return the entry of a value that is stored out of line, with one user more.  The first `identity`
 * bytes after the length word identify its content, as they contain a hash of it.
 */
extern RaceStoredEntry *race_stored_acquire(Datum value, Size identity);
extern Datum race_stored_value(const RaceStoredEntry *entry);
extern void race_stored_release(RaceStoredEntry *entry);

#endif
