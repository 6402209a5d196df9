/*
 * pool.c
 *		One memory context for the sketches of all groups of an aggregate.
 *
 * A hash aggregate adds up the sizes of all its memory contexts at each new group.
 * With a context for each of 80,000 groups this takes 40 s, with one context for all
 * a tenth of a second.  PostgreSQL takes an expanded object as a state without copying
 * it if its context is a child of the aggregate's.  It would delete that context if a
 * transition function returned another object; ours never do.
 *
 * An executor has one aggregate context per grouping set or window aggregate, and
 * resets it when it likes.  A callback then removes the pool from the list.
 */
#include "postgres.h"

#include "lib/ilist.h"
#include "utils/memutils.h"

#include "pool.h"

typedef struct Pool
{
	dlist_node	node;			/* in `pools`, most recently used first */
	MemoryContext aggregate;	/* parent of the context */
	MemoryContext context;		/* holds the sketches, and this struct */
	MemoryContextCallback unlink;
} Pool;

static dlist_head pools = DLIST_STATIC_INIT(pools);

static void
unlink_pool(void *arg)
{
	dlist_delete(&((Pool *) arg)->node);
}

static MemoryContext
pool_of(MemoryContext aggregate)
{
	MemoryContext context;
	Pool	   *pool;
	dlist_iter	iter;

	dlist_foreach(iter, &pools)
	{
		pool = dlist_container(Pool, node, iter.cur);
		if (pool->aggregate == aggregate)
		{
			dlist_move_head(&pools, &pool->node);
			return pool->context;
		}
	}

	context = AllocSetContextCreate(aggregate, "race_sketch pool",
									ALLOCSET_DEFAULT_SIZES);
	pool = MemoryContextAlloc(context, sizeof(Pool));
	pool->aggregate = aggregate;
	pool->context = context;
	pool->unlink.func = unlink_pool;
	pool->unlink.arg = pool;
	MemoryContextRegisterResetCallback(context, &pool->unlink);
	dlist_push_head(&pools, &pool->node);
	return context;
}

MemoryContext
race_result_context(FunctionCallInfo fcinfo)
{
	MemoryContext aggregate;

	if (AggCheckCallContext(fcinfo, &aggregate))
		return pool_of(aggregate);
	return AllocSetContextCreate(CurrentMemoryContext, "race_sketch",
								 ALLOCSET_START_SMALL_SIZES);
}

RaceSketch *
race_writable_arg(FunctionCallInfo fcinfo, const RaceView *view)
{
	Datum		value = PG_GETARG_DATUM(0);
	RaceView	own_view;

	if (VARATT_IS_EXTERNAL_EXPANDED_RW(DatumGetPointer(value)))
		return (RaceSketch *) DatumGetEOHP(value);
	if (view == NULL)
	{
		race_sketch_view_packed(value, &own_view);
		view = &own_view;
	}
	return race_sketch_copy(view, race_result_context(fcinfo));
}
