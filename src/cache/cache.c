/*
 * cache.c
 *		A cache that lasts from statement to statement, within a bound.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "cache.h"

int			race_cache_size = 64 * 1024;

/* Count an entry as this size at least, so that there are few entries to search. */
#define MINIMAL_SIZE	((Size) 128 * 1024)

static void
delete_entry(RaceCache *cache, RaceCacheEntry *entry)
{
	Assert(entry->users == 0);
	dlist_delete(&entry->node);
	cache->idle_size -= entry->size;
	MemoryContextDelete(entry->context);
}

/* Delete idle entries, from the end of the list, until the rest is in bounds. */
static void
evict(RaceCache *cache)
{
	Size		limit = (Size) race_cache_size * 1024;
	dlist_node *node;
	dlist_node *before;

	if (dlist_is_empty(&cache->entries))
		return;
	for (node = dlist_tail_node(&cache->entries);
		 cache->idle_size > limit; node = before)
	{
		RaceCacheEntry *entry = dlist_container(RaceCacheEntry, node, node);

		before = node->prev;
		if (entry->users == 0)
			delete_entry(cache, entry);
	}
}

void
race_cache_add(RaceCache *cache, RaceCacheEntry *entry, Size size)
{
	entry->users = 1;
	entry->size = Max(size, MINIMAL_SIZE);
	entry->stale = false;
	MemoryContextSetParent(entry->context, TopMemoryContext);
	dlist_push_head(&cache->entries, &entry->node);
}

void
race_cache_acquire(RaceCache *cache, RaceCacheEntry *entry)
{
	dlist_move_head(&cache->entries, &entry->node);
	if (entry->users++ == 0)
		cache->idle_size -= entry->size;
}

void
race_cache_release(RaceCache *cache, RaceCacheEntry *entry)
{
	Assert(entry->users > 0);
	if (--entry->users > 0)
		return;
	cache->idle_size += entry->size;
	if (entry->stale)
		delete_entry(cache, entry);
	evict(cache);
}

void
race_cache_forget(RaceCache *cache, RaceCacheEntry *entry)
{
	entry->stale = true;
	if (entry->users == 0)
		delete_entry(cache, entry);
}
