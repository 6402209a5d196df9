/*
 * known.c
 *		What a session keeps of sketches that it asked.
 */
#include "postgres.h"

#include "known.h"

void
race_known_init(RaceKnown *known, const RaceView *view, MemoryContext context)
{
	known->identity = view->identity;
	known->header = *view->header;
	known->params = race_params_copy(view->params, context);
}

bool
race_known_is_of(const RaceKnown *known, const RaceView *view)
{
	return known->identity == view->identity &&
		memcmp(&known->header, view->header, sizeof(RaceHeader)) == 0 &&
		race_params_same(known->params, view->params);
}

void *
race_known_find(RaceCache *cache, const RaceView *view)
{
	dlist_iter	iter;

	dlist_foreach(iter, &cache->entries)
	{
		RaceKnown  *known = dlist_container(RaceKnown, base.node, iter.cur);

		if (race_known_is_of(known, view))
		{
			race_cache_acquire(cache, &known->base);
			return known;
		}
	}
	return NULL;
}
