/*
 * hasher.h
 *		From an SQL argument to buckets, with what a call site keeps for it.
 *
 * Every place in a statement that hashes vectors has a hasher: it knows how to
 * read the argument's type and holds the row functions of the parameters last
 * asked for.  It lives in fn_extra, or wherever its context does.
 */
#ifndef RACE_HASHER_H
#define RACE_HASHER_H

#include "postgres.h"

#include "fmgr.h"

#include "../lsh/lsh.h"
#include "row_cache.h"
#include "vector.h"

typedef struct RaceHasher
{
	RaceVectorReader reader;
	RaceRowsEntry *rows;		/* or NULL, before the first use */
	uint32	   *buckets;		/* of the rows, rounded up to whole blocks */
	size_t		capacity;		/* of buckets */
	MemoryContext context;
	MemoryContextCallback release;	/* gives the rows back with the context */
} RaceHasher;

/* The hasher of this call site for argument `arg`, made at the first call */
extern RaceHasher *race_hasher_of(FunctionCallInfo fcinfo, int arg);

/* One that lives in a context, for vectors of this type */
extern RaceHasher *race_hasher_create(Oid type, MemoryContext context);

/*
 * The bucket of each row for a vector, given as argument or as params->dims
 * finite numbers; valid until the next call.
 */
extern const uint32 *race_hasher_hash(RaceHasher *hasher,
									  const RaceParams *params,
									  const double *x);
extern const uint32 *race_hasher_buckets(RaceHasher *hasher,
										 const RaceParams *params, Datum x);

#endif							/* RACE_HASHER_H */
