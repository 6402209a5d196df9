/*
 * radial_cache.c
 *		Tables of kernels over the distance, made once a backend for each parameter value in use
 *
 * A table takes some thousand values of the kernel.  A release with labels has a model for each
 * label, and all of them share one.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "hash/params.h"
#include "sketch/cache.h"
#include "sketch/params_type.h"
#include "answers/radial.h"
#include "answers/radial_cache.h"

typedef struct RadialEntry
{
	RaceCacheEntry base; /* must be first */
	RaceParams *params;
	RaceRadial radial;
} RadialEntry;

static RaceCache radial_cache = RACE_CACHE_INIT(radial_cache);

static RadialEntry *
make_entry(const RaceParams *params)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "race kernel", ALLOCSET_SMALL_SIZES);
	RadialEntry *entry = MemoryContextAllocZero(context, sizeof(RadialEntry));

	entry->base.context = context;
	entry->params = race_params_copy(params, context);
	race_radial_init(&entry->radial, params);
	race_cache_add(&radial_cache, &entry->base, MemoryContextMemAllocated(context, true));
	return entry;
}

static RadialEntry *
acquire_entry(const RaceParams *params)
{
	dlist_iter iter;

	dlist_foreach(iter, &radial_cache.entries)
	{
		RadialEntry *entry = dlist_container(RadialEntry, base.node, iter.cur);

		if (race_params_same(entry->params, params))
		{
			race_cache_acquire(&entry->base);
			return entry;
		}
	}
	return make_entry(params);
}

static void
release_entry(void *entry)
{
	race_cache_release(&((RadialEntry *) entry)->base);
}

const RaceRadial *
race_radial_of(const RaceParams *params, MemoryContext context)
{
	MemoryContextCallback *callback = MemoryContextAlloc(context, sizeof(MemoryContextCallback));
	RadialEntry *entry = acquire_entry(params);

	callback->func = release_entry;
	callback->arg = entry;
	MemoryContextRegisterResetCallback(context, callback);
	return &entry->radial;
}
