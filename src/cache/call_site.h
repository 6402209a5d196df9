/*
 * call_site.h
 *		What a place in a statement keeps between its calls.
 *
 * Every place that hashes records or looks into stored sketches has a call
 * site: it knows how to read the record's type, and holds the row functions,
 * the buckets and the stored value last asked for.  It lives in fn_extra, or wherever
 * its context does.
 */
#ifndef RACE_CALL_SITE_H
#define RACE_CALL_SITE_H

#include "postgres.h"

#include "fmgr.h"

#include "../lsh/lsh.h"
#include "../record/record.h"
#include "row_cache.h"
#include "stored.h"

typedef struct RaceCallSite
{
	RaceRecordReader reader;
	RaceRowsEntry *rows;		/* or NULL, before the first use */
	MemoryContext space;		/* of what follows, while there are rows */
	RaceParams *params;			/* that they are for */
	RaceRecords *next;			/* the record that is read */
	RaceRecords *last;			/* the record that was hashed before, */
	uint32		rows_hashed;	/* in so many rows, */
	uint32	   *buckets;		/* and its buckets, in whole blocks */
	RaceStoredEntry *stored;	/* or NULL */
	bool		warned;			/* of what is said once */
	MemoryContext context;
	MemoryContextCallback release;	/* gives back what is shared */
} RaceCallSite;

/*
 * The call site of this function call.  It is made at the first call; the record is in
 * argument `arg`.
 */
extern RaceCallSite *race_call_site(FunctionCallInfo fcinfo, int arg);

/* A call site in a memory context, for records of this type */
extern RaceCallSite *race_call_site_create(Oid type, MemoryContext context);

/*
 * A value, detoasted if it is stored out of line (stored.h says what `identity` is).
 * It is good until the next call with this site, or if it was not stored as long as
 * the datum is.
 */
extern Datum race_call_site_fetch(RaceCallSite *site, Datum value, Size identity);

/* Have the row functions of these parameters ready while the site lives. */
extern void race_call_site_hold_rows(RaceCallSite *site,
									 const RaceParams *params);

/*
 * The bucket of each row for a record, given as one argument or, where it is one
 * vector, as params->dims finite numbers; valid until the next call.  The same record
 * again, for another sketch with the same row functions, costs next to nothing.
 */
extern const uint32 *race_call_site_buckets(RaceCallSite *site,
											const RaceParams *params, Datum x);
extern const uint32 *race_call_site_hash(RaceCallSite *site,
										 const RaceParams *params,
										 const double *x);

#endif							/* RACE_CALL_SITE_H */
