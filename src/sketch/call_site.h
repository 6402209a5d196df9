/*
 * call_site.h
 *		What a place in a statement keeps between its calls.
 *
 * Every place that hashes vectors or looks into stored sketches has a call
 * site: it knows how to read the vector's type, and holds the row functions,
 * the buckets and the sketch last asked for.  It lives in fn_extra, or wherever
 * its context does.
 */
#ifndef RACE_CALL_SITE_H
#define RACE_CALL_SITE_H

#include "postgres.h"

#include "fmgr.h"

#include "../lsh/lsh.h"
#include "row_cache.h"
#include "sketch.h"
#include "sketch_cache.h"
#include "vector.h"

typedef struct RaceCallSite
{
	RaceVectorReader reader;
	RaceRowsEntry *rows;		/* or NULL, before the first use */
	RaceParams	params;			/* that they and the space are for */
	char	   *space;			/* for what follows, while there are rows */
	double	   *next;			/* the vector that is read */
	double	   *x;				/* the vector that was hashed before, */
	uint32		rows_hashed;	/* in so many rows, */
	uint32	   *buckets;		/* and its buckets, in whole blocks */
	RaceStoredEntry *stored;	/* or NULL */
	bool		warned;			/* of what is said once */
	MemoryContext context;
	MemoryContextCallback release;	/* gives back what is shared */
} RaceCallSite;

/* The site of this call, with argument `arg` as vector; made at the first call */
extern RaceCallSite *race_call_site(FunctionCallInfo fcinfo, int arg);

/* One that lives in a context, for vectors of this type */
extern RaceCallSite *race_call_site_create(Oid type, MemoryContext context);

/*
 * View a sketch, or detoast an array of them; good until the next call with this
 * site, or if the datum is not stored as long as that and the current context
 * live.
 */
extern void race_call_site_view(RaceCallSite *site, Datum sketch,
								RaceView *view);
extern Datum race_call_site_array(RaceCallSite *site, Datum array);

/* Have the row functions of these parameters ready while the site lives. */
extern void race_call_site_hold_rows(RaceCallSite *site,
									 const RaceParams *params);

/*
 * The bucket of each row for a vector, given as argument or as params->dims
 * finite numbers; valid until the next call.  The same vector again, for another
 * sketch with the same row functions, costs next to nothing.
 */
extern const uint32 *race_call_site_buckets(RaceCallSite *site,
											const RaceParams *params, Datum x);
extern const uint32 *race_call_site_hash(RaceCallSite *site,
										 const RaceParams *params,
										 const double *x);

#endif							/* RACE_CALL_SITE_H */
