/*
 * stored.c
 *		Large stored values, detoasted once: for a statement, and for the next.
 *
 * A toast pointer says where a value is, not what it is.  After DELETE, VACUUM and a
 * wrap-around of OIDs, another value of the same size may be there.  This cannot happen
 * while the snapshot key is the same, so an entry is valid for the snapshot in which it
 * was fetched or last checked.  In another snapshot it is checked first: the first bytes
 * of the stored value, its identity, must be those of the entry.  They are in the first
 * chunk, so this is cheap.  A value without identity is valid for one snapshot only.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/table.h"
#include "access/tableam.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "../server/compat.h"
#include "../server/memory.h"
#include "cache.h"
#include "snapshot_key.h"
#include "stored.h"

struct RaceStoredEntry
{
	RaceCacheEntry base;		/* must be first */
	struct varatt_external pointer;
	/* number of bytes after the length word that identify the value, or 0 */
	Size		identity;
	bool		has_key;
	RaceSnapshotKey key;		/* of the last snapshot in which the value was checked */
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

/*
 * Is the value valid in the present snapshot? Check it, if it was not checked in
 * this one.
 */
static bool
is_current(RaceStoredEntry *entry, Datum value, bool has_key,
		   const RaceSnapshotKey *key)
{
	Size		identity = entry->identity;
	struct varlena *slice;
	bool		same;

	if (has_key && entry->has_key && race_snapshot_key_same(&entry->key, key))
		return true;
	if (identity == 0)
		return false;

	slice = detoast_attr_slice((struct varlena *) DatumGetPointer(value), 0,
							   identity);
	same = VARSIZE(slice) == identity + VARHDRSZ &&
		VARSIZE(entry->value) > identity + VARHDRSZ &&
		memcmp(VARDATA(slice), VARDATA(entry->value), identity) == 0;
	pfree(slice);
	if (same)
	{
		entry->has_key = has_key;
		entry->key = *key;
	}
	return same;
}

/* As detoast_attr(), into memory whose pages come together */
static struct varlena *
detoast(Datum value, const struct varatt_external *pointer)
{
	int32		size = race_toast_size(*pointer);
	struct varlena *result;
	Relation	table;

	if (VARATT_EXTERNAL_IS_COMPRESSED(*pointer))
		return detoast_attr((struct varlena *) DatumGetPointer(value));
	result = race_alloc_large(CurrentMemoryContext, (Size) size + VARHDRSZ);
	SET_VARSIZE(result, (Size) size + VARHDRSZ);
	table = table_open(pointer->va_toastrelid, AccessShareLock);
	table_relation_fetch_toast_slice(table, pointer->va_valueid, size, 0, size, result);
	table_close(table, AccessShareLock);
	return result;
}

static RaceStoredEntry *
fetch(Datum value, const struct varatt_external *pointer, Size identity,
	  bool has_key, const RaceSnapshotKey *key)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "race_sketch cache",
												  ALLOCSET_START_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	RaceStoredEntry *entry = palloc0(sizeof(RaceStoredEntry));

	entry->base.context = context;
	entry->pointer = *pointer;
	entry->identity = identity;
	entry->has_key = has_key;
	entry->key = *key;
	entry->value = detoast(value, pointer);
	MemoryContextSwitchTo(old);
	race_cache_add(&cache, &entry->base, VARSIZE(entry->value));
	return entry;
}

static RaceStoredEntry *
find(const struct varatt_external *pointer, Size identity)
{
	dlist_iter	iter;

	dlist_foreach(iter, &cache.entries)
	{
		RaceStoredEntry *entry = dlist_container(RaceStoredEntry, base.node,
												 iter.cur);

		if (!entry->base.stale && entry->identity == identity &&
			same_pointer(&entry->pointer, pointer))
			return entry;
	}
	return NULL;
}

/*
 * *held is always the entry that the caller holds, so that an error cannot release
 * it twice.
 */
void
race_stored_hold(RaceStoredEntry **held, Datum value, Size identity)
{
	struct varatt_external pointer;
	RaceSnapshotKey key = {0};
	bool		has_key = race_snapshot_key_get(&key);

	VARATT_EXTERNAL_GET_POINTER(pointer, DatumGetPointer(value));
	if (*held != NULL && (*held)->identity == identity &&
		same_pointer(&(*held)->pointer, &pointer))
	{
		if (is_current(*held, value, has_key, &key))
			return;
		race_cache_forget(&cache, &(*held)->base);
	}
	race_stored_release(held);

	*held = find(&pointer, identity);
	if (*held != NULL)
	{
		race_cache_acquire(&cache, &(*held)->base);
		if (is_current(*held, value, has_key, &key))
			return;
		race_cache_forget(&cache, &(*held)->base);
		race_stored_release(held);
	}
	*held = fetch(value, &pointer, identity, has_key, &key);
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
