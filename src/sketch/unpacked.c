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

static void *
create_unpacked(const RaceView *view, void *question, MemoryContext context, Size *size)
{
	Unpacked   *unpacked = MemoryContextAllocZero(context, sizeof(Unpacked));
	RaceView	own = *view;

	(void) question;
	race_known_init(&unpacked->known, view, context);
	race_view_unpack(&own, context);
	unpacked->counters = own.counters;
	*size = RaceCounters(view->params) * view->width;
	return unpacked;
}

static const RaceDerivedKind unpacked_counters = {"unpacked counters", create_unpacked, NULL};

void
race_unpack_at(RaceCallSite *site, RaceView *view)
{
	Unpacked   *unpacked = race_derived_at(site, &unpacked_counters, view, NULL);

	view->counters = unpacked->counters;
}
