/*
 * row_cache.c
 *		Row functions, made once a backend for each parameter value in use.
 *
 * Drawing the functions of 1024 rows costs as much as hashing hundreds of
 * records, so groups, partitions and statements share them.  Entries in use
 * are counted; idle ones stay up to a bound, the least recently used go first.
 */
#include "postgres.h"

#include "lib/ilist.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "params.h"
#include "row_cache.h"

/*
 * Memory that row functions nobody uses may keep.  Each counts for at least
 * ENTRY_COST, so that the list stays short enough to search.
 */
#define IDLE_LIMIT		((Size) 64 * 1024 * 1024)
#define ENTRY_COST		((Size) 256 * 1024)

/* coefficients drawn between two looks at interrupts, about */
#define COEFFICIENTS_A_STEP	4096

struct RaceRowsEntry
{
	dlist_node	node;			/* in `entries`, most recently used first */
	MemoryContext context;		/* holds the entry and its rows */
	int			users;
	Size		size;			/* that it counts for */
	RaceRows   *rows;
};

static dlist_head entries = DLIST_STATIC_INIT(entries);
static Size idle_size = 0;

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

	entry->context = context;
	entry->size = Max(size, ENTRY_COST);
	entry->rows = MemoryContextAllocHuge(context, size);
	memset(entry->rows, 0, size);
	race_rows_init(entry->rows, params);
	for (f = 0; f < functions; f += step)
	{
		CHECK_FOR_INTERRUPTS();
		race_rows_generate(entry->rows, f, Min(f + step, functions));
	}

	/* nothing fails from here on: the entry may outlive the statement */
	MemoryContextSetParent(context, TopMemoryContext);
	dlist_push_head(&entries, &entry->node);
	return entry;
}

RaceRowsEntry *
race_rows_acquire(const RaceParams *params)
{
	RaceRowsEntry *entry = NULL;
	dlist_iter	iter;

	dlist_foreach(iter, &entries)
	{
		entry = dlist_container(RaceRowsEntry, node, iter.cur);
		if (race_params_same(&entry->rows->params, params))
			break;
		entry = NULL;
	}

	if (entry == NULL)
		entry = make_entry(params);
	else
	{
		dlist_move_head(&entries, &entry->node);
		if (entry->users == 0)
			idle_size -= entry->size;
	}
	entry->users++;
	return entry;
}

const RaceRows *
race_rows_of(const RaceRowsEntry *entry)
{
	return entry->rows;
}

void
race_rows_release(RaceRowsEntry *released)
{
	Assert(released->users > 0);
	if (--released->users > 0)
		return;
	idle_size += released->size;

	while (idle_size > IDLE_LIMIT)
	{
		RaceRowsEntry *oldest = NULL;
		dlist_iter	iter;

		dlist_foreach(iter, &entries)
		{
			RaceRowsEntry *entry = dlist_container(RaceRowsEntry, node, iter.cur);

			if (entry->users == 0)
				oldest = entry;
		}
		dlist_delete(&oldest->node);
		idle_size -= oldest->size;
		MemoryContextDelete(oldest->context);
	}
}
