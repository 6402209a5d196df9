/*
 * call_site.h
 *		Call sites: what a place in a statement keeps between its calls
 */
#ifndef RACE_CALL_SITE_H
#define RACE_CALL_SITE_H

#include "postgres.h"

#include "fmgr.h"

#include "hash/column.h"
#include "hash/params.h"
#include "sketch/cache.h"
#include "sketch/record.h"
#include "sketch/records.h"
#include "sketch/rows_cache.h"
#include "sketch/stored_cache.h"

/*
 * Every place that hashes records or looks into stored sketches has a call
 * site: it knows how to read the record's type, and holds the row functions,
 * the buckets and the stored value last asked for.  It lives in fn_extra, or wherever
 * its context does.
 */

/* An entry of a cache that a site holds: one of each kind */
typedef struct RaceHeld
{
	struct RaceHeld *next;
	const void *kind;
	RaceCacheEntry *entry; /* entry, or NULL */
} RaceHeld;

typedef struct RaceCallSite
{
	RaceRecordReader reader;
	RaceRowsEntry *rows; /* row functions; NULL before the first use, or if not hashed */
	/* memory context of the fields below; NULL before the first use */
	MemoryContext space;
	RaceParams *params;      /* the parameters of these rows */
	RaceRecords *next;       /* the record that is being read */
	RaceRecords *last;       /* record that was hashed before */
	uint32 rows_hashed;      /* number of rows that the last record was hashed in */
	uint32 *buckets;         /* buckets of the last record, in whole blocks */
	RaceStoredEntry *stored; /* entry of a stored value, or NULL */
	RaceHeld *held;
	bool warned; /* warnings that were given: each is given once */
	MemoryContext context;
	MemoryContextCallback release; /* releases the shared entries */
} RaceCallSite;

/*
 * Return the call site of this function call.  The first call makes it.  The record is argument
 * `arg`.
 */
extern RaceCallSite *race_call_site(FunctionCallInfo fcinfo, int arg);

/* Return a call site in a memory context, for records of this type. */
extern RaceCallSite *race_call_site_create(Oid type, MemoryContext context);

/*
 * Return a value, detoasted if it is stored out of line: once for a statement, and for the next.
 * Its first `identity` bytes after the length word identify the content, as they contain a hash of
 * it.  It stays valid until the next call with this site.  If the value was not stored out of line,
 * it stays valid as long as the datum does.
 */
extern Datum race_call_site_fetch(RaceCallSite *site, Datum value, Size identity);

/*
 * Hold the row functions of these parameters; they stay while the site lives.
 */
extern void race_call_site_hold_rows(RaceCallSite *site, const RaceParams *params);

/*
 * Return the bucket of a record in each row; zeros of what is not hashed (kind.h).  The record is
 * an argument, or for a kernel with one vector, params->dims finite numbers.  The result is valid
 * until the next call.  To ask about the same record again, with another sketch that has the same
 * row functions, costs next to nothing.  NULL for a record that leaves out parts of a product: rows
 * hash all parts together.
 */
extern const uint32 *race_call_site_buckets(RaceCallSite *site, const RaceParams *params, Datum x);
extern const uint32 *race_call_site_hash(RaceCallSite *site, const RaceParams *params,
										 const double *x);

/* Return the same for a record that lies in columns, a part of the kernel each. */
extern const uint32 *race_call_site_hash_columns(RaceCallSite *site, const RaceParams *params,
												 const RaceColumn *columns);

/* Return the same for a query of a surrogate loss that is lifted; nothing remembers it. */
extern const uint32 *race_call_site_hash_lifted(RaceCallSite *site, const RaceParams *params,
												const RaceColumn *query);

/* Set *columns to the record that was asked about last. */
extern void race_call_site_record(const RaceCallSite *site, RaceColumn *columns);

/*
 * Return the place of the entry that the site holds of a kind, a static object; it has NULL at
 * first.
 */
extern RaceCacheEntry **race_call_site_held(RaceCallSite *site, const void *kind);

#endif
