/*
 * row_cache.c
 *		Row functions, made once a backend for each parameter value in use.
 *
 * Drawing the functions of 1024 rows costs as much as hashing thousands of
 * records, so groups, partitions and statements share them.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "cache.h"
#include "params.h"
#include "row_cache.h"

/* coefficients drawn between two looks at interrupts, about */
#define COEFFICIENTS_A_STEP	4096

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
	uint64		functions = (uint64) params->rows * params->power;
	uint64		step = COEFFICIENTS_A_STEP / (params->dims + 1) + 1;
	uint64		f;

	entry->base.context = context;
	entry->rows = MemoryContextAllocHuge(context, size);
	memset(entry->rows, 0, size);
	race_rows_init(entry->rows, params);
	for (f = 0; f < functions; f += step)
	{
		CHECK_FOR_INTERRUPTS();
		race_rows_generate(entry->rows, f, Min(f + step, functions));
	}
	race_cache_add(&cache, &entry->base, size);
	return entry;
}

RaceRowsEntry *
race_rows_acquire(const RaceParams *params)
{
	dlist_iter	iter;

	dlist_foreach(iter, &cache.entries)
	{
		RaceRowsEntry *entry = dlist_container(RaceRowsEntry, base.node, iter.cur);

		if (race_params_same(&entry->rows->params, params))
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
