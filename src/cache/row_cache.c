/*
 * row_cache.c
 *		Row functions, made once a backend for each parameter value in use.
 *
 * Drawing the functions of 1024 rows costs as much as hashing thousands of
 * records, so groups, partitions and statements share them.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "../lsh/moments.h"
#include "../params/params.h"
#include "cache.h"
#include "row_cache.h"

struct RaceRowsEntry
{
	RaceCacheEntry base;		/* must be first */
	RaceRows   *rows;
};

static RaceCache cache = RACE_CACHE_INIT(cache);

static RaceRowsEntry *
make_entry(const RaceParams *params)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "race row functions",
												  ALLOCSET_SMALL_SIZES);
	RaceRowsEntry *entry = MemoryContextAllocZero(context, sizeof(RaceRowsEntry));
	Size		size = race_rows_size(params);

	entry->base.context = context;
	entry->rows = MemoryContextAllocHuge(context, size);
	race_rows_init(entry->rows, params);
	race_rows_generate_all(entry->rows);
	race_cache_add(&cache, &entry->base, size);
	return entry;
}

RaceRowsEntry *
race_rows_acquire(const RaceParams *params)
{
	RaceParams	functions;
	dlist_iter	iter;

	if (race_is_moments(params))
	{
		race_moments_functions(params, &functions);
		params = &functions;
	}
	dlist_foreach(iter, &cache.entries)
	{
		RaceRowsEntry *entry = dlist_container(RaceRowsEntry, base.node, iter.cur);

		if (entry->rows->params->rows >= params->rows &&
			race_params_same_rows(entry->rows->params, params))
		{
			race_cache_acquire(&cache, &entry->base);
			return entry;
		}
	}
	return make_entry(params);
}

const RaceRows *
race_rows_of(const RaceRowsEntry *entry)
{
	return entry->rows;
}

void
race_rows_release(RaceRowsEntry *entry)
{
	race_cache_release(&cache, &entry->base);
}
