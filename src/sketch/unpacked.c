/*
 * unpacked.c
 *		Packed counters, unpacked once: for a statement, and for the next.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "../server/memory.h"
#include "known.h"
#include "unpacked.h"

void
race_check_unpacked(const char *problem)
{
	if (problem != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("the counters of a race_sketch are damaged"),
				 errdetail_internal("%s", problem)));
}

void
race_view_unpack(RaceView *view, MemoryContext context)
{
	Size		n = RaceCounters(view->params);
	void	   *counters;

	if (view->counters != NULL)
		return;
	counters = memset(race_alloc_large(context, n * view->width), 0, n * view->width);
	race_check_unpacked(race_unpack(view->packed, view->packed_size, counters,
									view->width, n));
	view->counters = counters;
}

/* ------------------------------------------------------------------- cache */

typedef struct Unpacked
{
	RaceKnown	known;			/* must be first */
	const void *counters;
} Unpacked;

static RaceCache cache = RACE_CACHE_INIT(cache);

static void
release(void *entry)
{
	race_cache_release(&cache, (RaceCacheEntry *) entry);
}

static Unpacked *
create(const RaceView *view)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "race_sketch, unpacked",
												  ALLOCSET_START_SMALL_SIZES);
	Unpacked   *unpacked = MemoryContextAllocZero(context, sizeof(Unpacked));
	RaceView	own = *view;

	race_known_init(&unpacked->known, view, context);
	unpacked->known.base.context = context;
	race_view_unpack(&own, context);
	unpacked->counters = own.counters;
	race_cache_add(&cache, &unpacked->known.base,
				   RaceCounters(view->params) * view->width);
	return unpacked;
}

void
race_unpack_at(RaceCallSite *site, RaceView *view)
{
	Unpacked   *unpacked = (Unpacked *) site->companions[RACE_COMPANION_UNPACKED].entry;

	if (unpacked == NULL || !race_known_is_of(&unpacked->known, view))
	{
		unpacked = race_known_find(&cache, view);
		if (unpacked == NULL)
			unpacked = create(view);
		race_call_site_keep(site, RACE_COMPANION_UNPACKED, unpacked, release);
	}
	view->counters = unpacked->counters;
}
