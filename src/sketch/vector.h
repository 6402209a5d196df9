/*
 * vector.h
 *		Vectors as SQL passes them: arrays of numbers of any type.
 */
#ifndef RACE_VECTOR_H
#define RACE_VECTOR_H

#include "postgres.h"

#include "fmgr.h"

typedef struct RaceVectorReader
{
	Oid			type;			/* of the argument */
	Oid			element;		/* of its elements, after the cast if any */
	bool		has_cast;
	FmgrInfo	cast;			/* its implicit cast to real[], or text input */
	Oid			cast_ioparam;	/* for text input, else invalid */
	double	   *buffer;			/* where elements are converted to */
	uint32		capacity;
	MemoryContext context;		/* of the buffer */
} RaceVectorReader;

/*
 * Prepare to read arguments of this type: smallint[], int[], bigint[], real[],
 * float8[], numeric[], a domain over one of them, a literal, or a type with an
 * implicit cast to real[].  Raises 42804 for any other.
 */
extern void race_vector_prepare(RaceVectorReader *reader, Oid type,
								MemoryContext context);

/*
 * Read a vector that must have `dims` elements (any number if 0), each a finite
 * number.  Raises 22023 naming what was expected and found, but never a value: an
 * error must not show a record.  (A literal is text of the query itself; array
 * input may quote it.)
 *
 * race_vector_read_into() puts dims > 0 elements where the caller says and
 * allocates nothing, unless the datum is compressed or out of line, a cast
 * does, or elements are numeric.  race_vector_read() keeps them until the next
 * call; *n gets how many there are.
 */
extern void race_vector_read_into(RaceVectorReader *reader, Datum value,
								  uint32 dims, double *out);
extern const double *race_vector_read(RaceVectorReader *reader, Datum value,
									  uint32 dims, uint32 *n);

#endif							/* RACE_VECTOR_H */
