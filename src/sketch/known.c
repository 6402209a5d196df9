/*
 * known.c
 *		The cache of derived objects.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "known.h"

static RaceCache derived_objects = RACE_CACHE_INIT(derived_objects);

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

static bool
fits(const RaceKnown *known, const RaceView *view, const void *question)
{
	return race_known_is_of(known, view) &&
		(known->kind->fits == NULL || known->kind->fits(known, question));
}

void *
race_derived_acquire(const RaceDerivedKind *kind, const RaceView *view, void *question)
{
	MemoryContext context;
	RaceKnown  *known;
	dlist_iter	iter;
	Size		size = 0;

	dlist_foreach(iter, &derived_objects.entries)
	{
		known = dlist_container(RaceKnown, base.node, iter.cur);
		if (known->kind == kind && fits(known, view, question))
		{
			race_cache_acquire(&derived_objects, &known->base);
			return known;
		}
	}
	context = AllocSetContextCreate(CurrentMemoryContext, "race_sketch, derived object",
									ALLOCSET_START_SMALL_SIZES);
	MemoryContextSetIdentifier(context, kind->name);
	known = kind->create(view, question, context, &size);
	known->kind = kind;
	known->base.context = context;
	race_cache_add(&derived_objects, &known->base, size);
	return known;
}

void
race_derived_release(void *object)
{
	race_cache_release(&derived_objects, (RaceCacheEntry *) object);
}

void *
race_derived_at(RaceCallSite *site, const RaceDerivedKind *kind, const RaceView *view,
				void *question)
{
	RaceKnown  *known = race_call_site_held(site, kind);

	if (known == NULL || !fits(known, view, question))
	{
		known = race_derived_acquire(kind, view, question);
		race_call_site_keep(site, kind, known, race_derived_release);
	}
	return known;
}
