/*
 * cache.h
 *		Caches of derived objects, which last from statement to statement
 */
#ifndef RACE_CACHE_H
#define RACE_CACHE_H

#include "postgres.h"

#include "lib/ilist.h"

/*
 * A cache that lasts from statement to statement, within a bound.
 *
 * Entries in use are counted.  Idle ones stay up to racepriv.cache_size for
 * each cache, the least recently used go first.
 */

typedef struct RaceCache
{
	dlist_head entries; /* most recently used first */
	Size idle_size;
} RaceCache;

#define RACE_CACHE_INIT(cache) \
	{ \
		DLIST_STATIC_INIT((cache).entries), 0 \
	}

/* What every entry begins with */
typedef struct RaceCacheEntry
{
	dlist_node node;
	RaceCache *cache;
	MemoryContext context; /* memory context of the entry; deleted with it */
	int users;
	Size size;  /* how much the entry counts for */
	bool stale; /* delete it when nobody uses it any more */
} RaceCacheEntry;

/* The setting racepriv.cache_size, in kilobytes */
extern int race_cache_size;

/*
 * Make an entry part of the cache, with one user. From now on the cache owns its
 * memory context.
 */
extern void race_cache_add(RaceCache *cache, RaceCacheEntry *entry, Size size);

/* Add a user, and remove one. */
extern void race_cache_acquire(RaceCacheEntry *entry);
extern void race_cache_release(RaceCacheEntry *entry);

/* Delete an entry as soon as nobody uses it. */
extern void race_cache_discard(RaceCacheEntry *entry);

#endif
