/*
 * cache.h
 *		Session cache of objects that are derived from parameters and stored values; call sites
 */
#ifndef RACE_CACHE_H
#define RACE_CACHE_H

#include "postgres.h"

#include "fmgr.h"
#include "lib/ilist.h"

#include "lsh.h"
#include "record.h"

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
	RaceCache  *cache;
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
extern void race_cache_acquire(RaceCacheEntry *entry);
extern void race_cache_release(RaceCacheEntry *entry);

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

/* The key of the active snapshot; false, and a key that no snapshot has, if there is no such snapshot */
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
 * Call sites: what a place in a statement keeps between its calls.
 *
 * Every place that hashes records or looks into stored sketches has a call
 * site: it knows how to read the record's type, and holds the row functions,
 * the buckets and the stored value last asked for.  It lives in fn_extra, or wherever
 * its context does.
 */

typedef struct RaceStoredEntry RaceStoredEntry;

/* An entry of a cache that a site holds: one of each kind */
typedef struct RaceHeld
{
	struct RaceHeld *next;
	const void *kind;
	RaceCacheEntry *entry;		/* or NULL */
} RaceHeld;

typedef struct RaceCallSite
{
	RaceRecordReader reader;
	RaceRowsEntry *rows;		/* or NULL: before the first use, and of what is not hashed */
	/* memory context of the fields below; NULL before the first use */
	MemoryContext space;
	RaceParams *params;			/* the parameters of these rows */
	RaceRecords *next;			/* the record that is being read */
	RaceRecords *last;			/* the record that was hashed before, */
	uint32		rows_hashed;	/* in so many rows, */
	uint32	   *buckets;		/* and its buckets, in whole blocks */
	RaceStoredEntry *stored;	/* or NULL */
	RaceHeld   *held;
	bool		warned;			/* warnings that were given: each is given once */
	MemoryContext context;
	MemoryContextCallback release;	/* releases the shared entries */
} RaceCallSite;

/*
 * The call site of this function call. The first call makes it. The record is
 * argument `arg`.
 */
extern RaceCallSite *race_call_site(FunctionCallInfo fcinfo, int arg);

/* A call site in a memory context, for records of this type */
extern RaceCallSite *race_call_site_create(Oid type, MemoryContext context);

/*
 * A value, detoasted if it is stored out of line: once for a statement, and for the next.  Its first
 * `identity` bytes after the length word identify the content, as they contain a hash of it.
 * It stays valid until the next call with this site. If the value was not stored
 * out of line, it stays valid as long as the datum does.
 */
extern Datum race_call_site_fetch(RaceCallSite *site, Datum value, Size identity);

/*
 * Hold the row functions of these parameters; they stay while the site lives.
 */
extern void race_call_site_hold_rows(RaceCallSite *site,
									 const RaceParams *params);

/*
 * The bucket of a record in each row; zeros of what is not hashed (summary.h). The record is an argument, or for a kernel
 * with one vector, params->dims finite numbers. The result is valid until the next
 * call. To ask about the same record again, with another sketch that has the same
 * row functions, costs next to nothing.  NULL for a record that leaves out parts of a
 * product: rows hash all parts together.
 */
extern const uint32 *race_call_site_buckets(RaceCallSite *site,
											const RaceParams *params, Datum x);
extern const uint32 *race_call_site_hash(RaceCallSite *site,
										 const RaceParams *params,
										 const double *x);

/* The same for a record that lies in columns, a part of the kernel each */
extern const uint32 *race_call_site_hash_columns(RaceCallSite *site,
												 const RaceParams *params,
												 const RaceColumn *columns);

/* The same for a query of a surrogate loss that is lifted; nothing remembers it. */
extern const uint32 *race_call_site_hash_lifted(RaceCallSite *site, const RaceParams *params,
												const RaceColumn *query);

/* The record that was asked about last, as columns */
extern void race_call_site_record(const RaceCallSite *site, RaceColumn *columns);

/* The place of the entry that the site holds of a kind, a static object; it has NULL at first */
extern RaceCacheEntry **race_call_site_held(RaceCallSite *site, const void *kind);

#endif
