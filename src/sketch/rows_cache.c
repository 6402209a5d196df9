/*
 * rows_cache.c
 *		Row functions, made once a backend for each parameter value in use
 */
#include "postgres.h"

#include "access/parallel.h"
#include "utils/memutils.h"

#include "hash/kind.h"
#include "hash/params.h"
#include "hash/rows.h"
#include "sketch/cache.h"
#include "sketch/params_type.h"
#include "sketch/rows_cache.h"

/*
 * Drawing the functions of 1024 rows costs as much as hashing thousands of
 * records, so groups, partitions and statements share them.
 */

struct RaceRowsEntry
{
	RaceCacheEntry base; /* must be first */
	RaceRows *rows;
};

static RaceCache rows_cache = RACE_CACHE_INIT(rows_cache);

/*
 * Warn of row functions that are larger than the cache.  They go when a statement ends, and the
 * next one makes them anew.  That takes long, so say how to avoid it: once, the second time.
 */
static void
warn_of_large_rows(Size size)
{
	static int made = 0;

	if (size / 1024 <= (Size) race_cache_size || IsParallelWorker() || made > 1)
		return;
	if (++made == 2)
		ereport(
			WARNING,
			(errmsg(
				 "row functions do not fit into racepriv.cache_size, so every statement makes them anew"),
			 errdetail("They take %zu MB.", (size >> 20) + 1),
			 errhint(
				 "Set racepriv.cache_size to '%zuMB' or more. Sequence \"structured\", for new sketches, needs a thousandth of it.",
				 (size >> 20) + 1)));
}

static RaceRowsEntry *
make_entry(const RaceParams *params)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "race row functions", ALLOCSET_SMALL_SIZES);
	RaceRowsEntry *entry = MemoryContextAllocZero(context, sizeof(RaceRowsEntry));
	Size size = race_rows_size(params);

	warn_of_large_rows(size);
	entry->base.context = context;
	entry->rows = MemoryContextAllocHuge(context, size);
	race_rows_init(entry->rows, params);
	race_rows_generate_all(entry->rows);
	race_cache_add(&rows_cache, &entry->base, size);
	return entry;
}

RaceRowsEntry *
race_rows_acquire(const RaceParams *params)
{
	RaceParams functions;
	dlist_iter iter;

	if (race_summary_kind(params)->functions != NULL)
	{
		race_summary_kind(params)->functions(params, &functions);
		params = &functions;
	}
	dlist_foreach(iter, &rows_cache.entries)
	{
		RaceRowsEntry *entry = dlist_container(RaceRowsEntry, base.node, iter.cur);

		if (entry->rows->params->rows >= params->rows &&
			race_params_same_rows(entry->rows->params, params))
		{
			race_cache_acquire(&entry->base);
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
	race_cache_release(&entry->base);
}
