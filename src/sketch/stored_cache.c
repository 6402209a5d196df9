/*
 * stored_cache.c
 *		Large stored values, detoasted once: for a statement, and for the next
 */
#include "postgres.h"

#include "access/detoast.h"
#include "utils/memutils.h"

#include "sketch/cache.h"
#include "sketch/compat.h"
#include "sketch/snapshot_key.h"
#include "sketch/stored_cache.h"

/*
 * Putting a sketch of 4 MB together from its 2,000 chunks takes a thousand times as
 * long as asking it a question.
 *
 * A toast pointer says where a value is, not what it is.  After DELETE, VACUUM and a
 * wrap-around of OIDs, another value of the same size may be there.  This cannot happen
 * while the snapshot key is the same, so an entry is valid for the snapshot in which it
 * was fetched or last checked.  In another snapshot it is checked first: the first bytes
 * of the stored value, its identity, must be those of the entry.  They are in the first
 * chunk, so this is cheap.
 */

struct RaceStoredEntry
{
	RaceCacheEntry base; /* must be first */
	struct varatt_external pointer;
	RaceSnapshotKey key; /* key of the last snapshot in which the value was checked */
	struct varlena *value;
};

static RaceCache stored_cache = RACE_CACHE_INIT(stored_cache);

/*
 * Return whether the value is valid in the present snapshot.  Check it, if it was not checked in
 * this one.
 */
static bool
is_current(RaceStoredEntry *entry, Datum value, Size identity)
{
	RaceSnapshotKey key;
	struct varlena *slice;
	bool same;

	if (race_snapshot_key_get(&key) && race_snapshot_key_same(&entry->key, &key))
		return true;
	slice = detoast_attr_slice((struct varlena *) DatumGetPointer(value), 0, identity);
	same = VARSIZE(slice) == identity + VARHDRSZ && VARSIZE(entry->value) > identity + VARHDRSZ &&
		memcmp(VARDATA(slice), VARDATA(entry->value), identity) == 0;
	pfree(slice);
	if (same)
		entry->key = key;
	return same;
}

static RaceStoredEntry *
fetch_entry(Datum value, const struct varatt_external *pointer)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "race_sketch cache",
												  ALLOCSET_START_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	RaceStoredEntry *entry = palloc0(sizeof(RaceStoredEntry));

	entry->base.context = context;
	entry->pointer = *pointer;
	(void) race_snapshot_key_get(&entry->key);
	entry->value = detoast_attr((struct varlena *) DatumGetPointer(value));
	MemoryContextSwitchTo(old);
	race_cache_add(&stored_cache, &entry->base, VARSIZE(entry->value));
	return entry;
}

/*
 * Return the entry of a stored value, if there is a valid one.  One that is not is never found
 * again.
 */
static RaceStoredEntry *
find_entry(Datum value, const struct varatt_external *pointer, Size identity)
{
	dlist_iter iter;

	dlist_foreach(iter, &stored_cache.entries)
	{
		RaceStoredEntry *entry = dlist_container(RaceStoredEntry, base.node, iter.cur);

		if (entry->base.stale || memcmp(&entry->pointer, pointer, sizeof(*pointer)) != 0)
			continue;
		if (is_current(entry, value, identity))
			return entry;
		race_cache_discard(&entry->base);
		return NULL;
	}
	return NULL;
}

RaceStoredEntry *
race_stored_acquire(Datum value, Size identity)
{
	struct varatt_external pointer;
	RaceStoredEntry *entry;

	VARATT_EXTERNAL_GET_POINTER(pointer, DatumGetPointer(value));
	entry = find_entry(value, &pointer, identity);
	if (entry == NULL)
		return fetch_entry(value, &pointer);
	race_cache_acquire(&entry->base);
	return entry;
}

Datum
race_stored_value(const RaceStoredEntry *entry)
{
	return PointerGetDatum(entry->value);
}

void
race_stored_release(RaceStoredEntry *entry)
{
	race_cache_release(&entry->base);
}
