/*
 * server.h
 *		Arguments, result rows, progress and texts of SQL functions; session caches of derived objects; call sites;
 * differences between PostgreSQL versions
 */
#ifndef RACE_SERVER_H
#define RACE_SERVER_H

#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "lib/ilist.h"
#include "nodes/nodes.h"
#include "utils/tuplestore.h"

#include "hash/lsh.h"
#include "sketch/record.h"

/*
 * Where PostgreSQL 13 to 18 differ.
 */

#if PG_VERSION_NUM >= 160000
#include "nodes/miscnodes.h"
#include "varatt.h"
#endif

/*
 * Input functions report bad input softly from 16 on; before, a soft error is
 * an error.  escontext comes from race_escontext(fcinfo).
 */
#if PG_VERSION_NUM >= 160000
#define race_escontext(fcinfo)	((fcinfo)->context)
#else
#define race_escontext(fcinfo)	NULL
#define ereturn(escontext, dummy_value, ...) \
	do { \
		(void) (escontext); \
		ereport(ERROR, __VA_ARGS__); \
		return dummy_value; \
	} while (0)
#endif

/* May the current user execute this function? */
#if PG_VERSION_NUM >= 160000
#define race_function_aclcheck(function) \
	object_aclcheck(ProcedureRelationId, function, GetUserId(), ACL_EXECUTE)
#else
#define race_function_aclcheck(function) \
	pg_proc_aclcheck(function, GetUserId(), ACL_EXECUTE)
#endif

/* May a role act as another? */
#if PG_VERSION_NUM >= 160000
#define race_may_set_role(member, role)	member_can_set_role(member, role)
#else
#define race_may_set_role(member, role)	is_member_of_role(member, role)
#endif

/* The number of this backend's transaction, of those it has had (proc.h) */
#if PG_VERSION_NUM >= 170000
#define race_local_transaction()	(MyProc->vxid.lxid)
#else
#define race_local_transaction()	(MyProc->lxid)
#endif

/* ------------------------------------------------------------- arguments */

/*
 * The type of an argument.  Raises 42804 if the caller gave no expression that says it, as
 * Citus does where it calls the functions of an aggregate on a worker.
 */
extern Oid	race_argument_type(const FmgrInfo *flinfo, int arg);

/*
 * The memory context of the state of an aggregate.  Raises 0A000 if no aggregate calls the
 * function; the hint names those that do.
 */
extern MemoryContext race_aggregate_context(FunctionCallInfo fcinfo, const char *aggregates);

/*
 * Bytes of a text that is parsed.  The longest parameters that there can be, 1 MB of
 * numbers, have a text of 4 MB.
 */
#define RACE_MAX_TEXT	((Size) 16 * 1024 * 1024)

/*
 * Check that a text is at most this long. Otherwise raise 54000, softly if there is
 * an error context. `what` names the text in the message.
 */
extern bool race_check_text(const char *text, Size most, const char *what,
							Node *escontext);

/*
 * Set all settings that the texts of values, or how texts and statements are read, depend on, so that an answer is the same
 * in every session: dates are ISO 8601, times in UTC.  Return the level to restore them from; an error restores them, too.
 */
extern int	race_settings_fix(void);
extern void race_settings_restore(int level);

/* A text for a message: its beginning, and dots, if it is longer than 64 bytes */
extern const char *race_cut(const char *text);

/* -------------------------------------------------------------- progress */

/* What plain C calls where it takes long: race_interrupt_hook (interrupt.h) */
extern void race_check_for_interrupts(void);

/* The setting racepriv.progress */
extern bool race_progress;

/*
 * Tell the client how far long work is, if the setting is on: the client alone, whatever
 * client_min_messages is, and never the log, where others would see how long each step took.
 * What is said must not depend on private data.  Do not call it with a lock that others wait
 * for: the client may not listen.
 */
extern void race_tell(const char *format,...) pg_attribute_printf(1, 2);

/* ------------------------------------------------------------------ rows */

/*
 * A function that returns a row starts one, adds the columns one by one, and returns
 * race_row_datum().  In a set-returning function the row is started at the first call,
 * in the context that lives for all calls, and filled again for each result.
 */

#define RACE_MAX_COLUMNS	32

typedef struct RaceResultRow
{
	TupleDesc	desc;
	int			n;				/* columns that were added */
	Datum		values[RACE_MAX_COLUMNS];
	bool		nulls[RACE_MAX_COLUMNS];
} RaceResultRow;

/* A row of the type that the function is declared to return, without columns yet */
extern void race_row_start(RaceResultRow *row, FunctionCallInfo fcinfo);

/* Add a column: a value if `is` is true, else NULL; and values of some types. */
extern void race_row_add_if(RaceResultRow *row, bool is, Datum value);
extern void race_row_add(RaceResultRow *row, Datum value);
extern void race_row_add_text(RaceResultRow *row, const char *text);
extern void race_row_add_numbers(RaceResultRow *row, const double *x, uint32 n);
extern void race_row_add_null(RaceResultRow *row);

/* The finished row; what is added next begins another one. */
extern Datum race_row_datum(RaceResultRow *row);

/*
 * A set-returning function.  `start` is called once, in the context that lives for all calls;
 * it sets max_calls and user_fctx, which stay 0 for no results.  `next` gives result i.
 */
extern Datum race_results(FunctionCallInfo fcinfo,
						  void (*start) (FunctionCallInfo fcinfo, FuncCallContext *call),
						  Datum (*next) (void *state, uint64 i));

/* Begin the rows of a set-returning function that makes all of them at its first call. */
extern Tuplestorestate *race_store_start(FunctionCallInfo fcinfo);

/* ---------------------------------------------------------------- caches */

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
	uint32		rows_hashed;	/* the number of rows, */
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
 * The bucket of a record in each row; zeros of what is not hashed (kind.h). The record is an argument, or for a kernel
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
