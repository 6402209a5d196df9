/*
 * sketch_cache.c
 *		Stored sketches, detoasted once: for a statement, and for the next.
 *
 * A toast pointer says where a value is, not what it is: after DELETE, VACUUM and
 * a wrap-around of OIDs another value of the same size may lie there.  While the
 * same snapshot sees the same changes this cannot be, so an entry is good for
 * the moment (moment.h) in which it was fetched or last checked.  In another one it
 * is checked first: the stored header, which is in the first chunk and holds a
 * hash of the content, must be that of the entry.  Arrays of sketches have no
 * such hash, and are good for one moment only.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "utils/memutils.h"

#include "cache.h"
#include "format.h"
#include "moment.h"
#include "sketch_cache.h"

struct RaceStoredEntry
{
	RaceCacheEntry base;		/* must be first */
	struct varatt_external pointer;
	bool		array;
	bool		has_moment;
	RaceMoment	moment;			/* when it was right */
	struct varlena *value;
};

static RaceCache cache = RACE_CACHE_INIT(cache);

bool
race_is_stored(Datum value)
{
	return VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(value));
}

static bool
same_pointer(const struct varatt_external *a, const struct varatt_external *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/* Is the value good now?  If it was not checked in this moment, check it. */
static bool
is_current(RaceStoredEntry *entry, Datum value, bool has_moment,
		   const RaceMoment *moment)
{
	const Size	header = sizeof(RaceSketchDatum) - VARHDRSZ;
	struct varlena *slice;
	bool		same;

	if (has_moment && entry->has_moment &&
		race_moment_same(&entry->moment, moment))
		return true;
	if (entry->array)
		return false;

	slice = detoast_attr_slice((struct varlena *) DatumGetPointer(value), 0,
							   header);
	same = VARSIZE(slice) == header + VARHDRSZ &&
		VARSIZE(entry->value) > header + VARHDRSZ &&
		memcmp(VARDATA(slice), VARDATA(entry->value), header) == 0;
	pfree(slice);
	if (same)
	{
		entry->has_moment = has_moment;
		entry->moment = *moment;
	}
	return same;
}

static RaceStoredEntry *
fetch(Datum value, const struct varatt_external *pointer, bool array,
	  bool has_moment, const RaceMoment *moment)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "race_sketch cache",
												  ALLOCSET_START_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	RaceStoredEntry *entry = palloc0(sizeof(RaceStoredEntry));

	entry->base.context = context;
	entry->pointer = *pointer;
	entry->array = array;
	entry->has_moment = has_moment;
	entry->moment = *moment;
	entry->value = detoast_attr((struct varlena *) DatumGetPointer(value));
	MemoryContextSwitchTo(old);
	race_cache_add(&cache, &entry->base, VARSIZE(entry->value));
	return entry;
}

static RaceStoredEntry *
find(const struct varatt_external *pointer, bool array)
{
	dlist_iter	iter;

	dlist_foreach(iter, &cache.entries)
	{
		RaceStoredEntry *entry = dlist_container(RaceStoredEntry, base.node,
												 iter.cur);

		if (!entry->base.stale && entry->array == array &&
			same_pointer(&entry->pointer, pointer))
			return entry;
	}
	return NULL;
}

/* At each moment *held is what the caller holds, lest an error release it twice. */
void
race_stored_hold(RaceStoredEntry **held, Datum value, bool array)
{
	struct varatt_external pointer;
	RaceMoment	moment = {0};
	bool		has_moment = race_moment_get(&moment);

	VARATT_EXTERNAL_GET_POINTER(pointer, DatumGetPointer(value));
	if (*held != NULL && (*held)->array == array &&
		same_pointer(&(*held)->pointer, &pointer))
	{
		if (is_current(*held, value, has_moment, &moment))
			return;
		race_cache_forget(&cache, &(*held)->base);
	}
	race_stored_release(held);

	*held = find(&pointer, array);
	if (*held != NULL)
	{
		race_cache_acquire(&cache, &(*held)->base);
		if (is_current(*held, value, has_moment, &moment))
			return;
		race_cache_forget(&cache, &(*held)->base);
		race_stored_release(held);
	}
	*held = fetch(value, &pointer, array, has_moment, &moment);
}

void
race_stored_release(RaceStoredEntry **held)
{
	if (*held != NULL)
		race_cache_release(&cache, &(*held)->base);
	*held = NULL;
}

Datum
race_stored_datum(const RaceStoredEntry *entry)
{
	return PointerGetDatum(entry->value);
}
