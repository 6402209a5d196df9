/*
 * cache.c
 *		Caches of derived objects, which last from statement to statement
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "sketch/cache.h"

int race_cache_size = 64 * 1024;

/* Count an entry as this size at least, so that there are few entries to search. */
#define MINIMAL_SIZE ((Size) 128 * 1024)

static void
delete_entry(RaceCacheEntry *entry)
{
	Assert(entry->users == 0);
	dlist_delete(&entry->node);
	entry->cache->idle_size -= entry->size;
	MemoryContextDelete(entry->context);
}

void
race_cache_add(RaceCache *cache, RaceCacheEntry *entry, Size size)
{
	entry->cache = cache;
	entry->users = 1;
	entry->size = Max(size, MINIMAL_SIZE);
	entry->stale = false;
	MemoryContextSetParent(entry->context, TopMemoryContext);
	dlist_push_head(&cache->entries, &entry->node);
}

void
race_cache_acquire(RaceCacheEntry *entry)
{
	dlist_move_head(&entry->cache->entries, &entry->node);
	if (entry->users++ == 0)
		entry->cache->idle_size -= entry->size;
}

void
race_cache_release(RaceCacheEntry *entry)
{
	RaceCache *cache = entry->cache;
	dlist_node *before;

	Assert(entry->users > 0);
	if (--entry->users > 0)
		return;
	cache->idle_size += entry->size;
	if (entry->stale)
		delete_entry(entry);
	if (dlist_is_empty(&cache->entries))
		return;
	/* delete idle entries, from the end of the list, until the rest is in bounds */
	/* bound: the entries: those without users have all of the idle size */
	for (dlist_node *node = dlist_tail_node(&cache->entries);
		 cache->idle_size > (Size) race_cache_size * 1024; node = before)
	{
		RaceCacheEntry *last = dlist_container(RaceCacheEntry, node, node);

		before = node->prev;
		if (last->users == 0)
			delete_entry(last);
	}
}

void
race_cache_discard(RaceCacheEntry *entry)
{
	entry->stale = true;
	if (entry->users == 0)
		delete_entry(entry);
}
