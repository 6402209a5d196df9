/*
 * vector.h
 *		Vectors: arrays of numbers of any type, and types with a cast to one.
 */
#ifndef RACE_VECTOR_H
#define RACE_VECTOR_H

#include "postgres.h"

#include "../lsh/lsh.h"
#include "array.h"

/*
 * Prepare to read arguments of this type: smallint[], int[], bigint[], real[],
 * float8[], numeric[], a domain over one of them, a literal, a type with an implicit cast
 * to real[], or one of pgvector.h.  Raises 42804 for any other.
 */
extern void race_vector_prepare(RaceArrayReader *reader, Oid type,
								MemoryContext context);

/*
 * Convert elements, as many as were expected: clipped to the bounds of a part (NULL:
 * without bounds) and then finite numbers.  Raises 22023, or with `soft` returns
 * false.  It allocates nothing, unless the datum is compressed or out of line, a
 * cast does, or elements are numeric.
 */
extern bool race_vector_convert(RaceArrayReader *reader, const RaceElements *elements,
								const RaceParams *part, double *out, bool soft);

/*
 * Does a vector have the expected number of elements (or, if that is 0, between 1 and
 * RACE_MAX_DIMS)? Else as above.
 */
extern bool race_check_length(uint32 n, uint32 expected, bool soft);

/* A vector of n elements by itself, without bounds */
extern void race_vector_read(RaceArrayReader *reader, Datum value, uint32 n,
							 double *out);

/* The same of a value of this type, palloc'd */
extern double *race_vector_new(Oid type, Datum value, uint32 n);

#endif							/* RACE_VECTOR_H */
