/*
 * pgvector.h
 *		The types of the extension pgvector: vector, halfvec and sparsevec.
 *
 * They are read as they are stored.  A type is taken for one of them by its name: only
 * superusers can make base types.  As a value may be damaged, or come from another type of
 * this name, its size and all that it says of itself are checked.  (vector has an implicit
 * cast to real[], which is used where it is there.)
 */
#ifndef RACE_PGVECTOR_H
#define RACE_PGVECTOR_H

#include "postgres.h"

#include "array.h"

/* Prepare to read arguments of this type, or of a domain over it; false for any other. */
extern bool race_pgvector_prepare(RaceArrayReader *reader, Oid type);

/* As race_array_open() */
extern bool race_pgvector_open(const RaceArrayReader *reader, Datum value,
							   RaceElements *elements, bool soft);

/* All numbers of a vector that was opened, elements->n of them */
extern bool race_pgvector_convert(const RaceArrayReader *reader,
								  const RaceElements *elements, double *out, bool soft);

#endif							/* RACE_PGVECTOR_H */
