/*
 * cache.h
 *		Session cache of objects that are derived from parameters and stored values
 */
#ifndef RACE_CACHE_H
#define RACE_CACHE_H

#include "postgres.h"

#include "lib/ilist.h"

#include "lsh.h"

/*
 * A cache that lasts from statement to statement, within a bound.
 *
 * Entries in use are counted.  Idle ones stay up to racepriv.cache_size for
 * each cache, the least recently used go first.
 */

typedef struct RaceCache
{
	dlist_head	entries;		/* most recently used first */
	Size		idle_size;
} RaceCache;

#define RACE_CACHE_INIT(cache)	{DLIST_STATIC_INIT((cache).entries), 0}

/* What every entry begins with */
typedef struct RaceCacheEntry
{
	dlist_node	node;
	MemoryContext context;		/* of the entry; deleted with it */
	int			users;
	Size		size;			/* how much the entry counts for */
	bool		stale;			/* delete it when nobody uses it any more */
} RaceCacheEntry;

/* The setting racepriv.cache_size, in kilobytes */
extern int	race_cache_size;

/*
 * Make an entry part of the cache, with one user. From now on the cache owns its
 * memory context.
 */
extern void race_cache_add(RaceCache *cache, RaceCacheEntry *entry, Size size);

/* Add a user, and remove one. */
extern void race_cache_acquire(RaceCache *cache, RaceCacheEntry *entry);
extern void race_cache_release(RaceCache *cache, RaceCacheEntry *entry);

/*
 * Snapshot keys: two snapshots with equal keys see the same data.
 *
 * The key holds the transaction, the commands of its own that it sees, and which other
 * transactions it sees.  Transactions below xmax can only end.  So with equal xmax and
 * equal numbers of running transactions, the same ones run.
 */

typedef struct RaceSnapshotKey
{
	LocalTransactionId transaction;
	CommandId	command;
	TransactionId xmin;
	TransactionId xmax;
	uint32		running;
	int32		running_subtransactions;
} RaceSnapshotKey;

/* The key of the active snapshot; false if there is no such snapshot */
extern bool race_snapshot_key_get(RaceSnapshotKey *key);

extern bool race_snapshot_key_same(const RaceSnapshotKey *a,
								   const RaceSnapshotKey *b);

/*
 * Row functions, made once a backend for each parameter value in use.
 */

typedef struct RaceRowsEntry RaceRowsEntry;

/*
 * The row functions of these parameters. There may be more rows than asked for.
 * They stay valid until release. The cache keeps some of them longer, for the next
 * statement.
 */
extern RaceRowsEntry *race_rows_acquire(const RaceParams *params);
extern const RaceRows *race_rows_of(const RaceRowsEntry *entry);
extern void race_rows_release(RaceRowsEntry *entry);

/*
 * Large stored values, detoasted once: for a statement, and for the next.
 *
 * Putting a sketch of 4 MB together from its 2,000 chunks takes a thousand times as
 * long as asking it a question.
 */

typedef struct RaceStoredEntry RaceStoredEntry;

/* Is this datum stored out of line, so that the cache can help? */
extern bool race_is_stored(Datum value);

/*
 * Hold the entry of a stored value, and release what *held was; NULL means no
 * entry. The entry stays until it is released. `identity` is the number of bytes
 * after the length word that identify the content (they contain a hash of it), or
 * 0.
 */
extern void race_stored_hold(RaceStoredEntry **held, Datum value, Size identity);
extern void race_stored_release(RaceStoredEntry **held);

/* The detoasted datum of an entry */
extern Datum race_stored_datum(const RaceStoredEntry *entry);

#endif
