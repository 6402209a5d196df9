/*
 * set.h
 *		Sets and rows of categories: arrays of elements that can be equal.
 */
#ifndef RACE_SET_H
#define RACE_SET_H

#include "postgres.h"

#include "array.h"

/*
 * Prepare to read arguments of this type: smallint[], int[], bigint[], text[],
 * varchar[], uuid[], or a domain over one of them.  Raises 42804 for any other, and
 * for a literal, which does not say what its elements are.
 */
extern void race_set_prepare(RaceArrayReader *reader, Oid type,
							 MemoryContext context);

/*
 * Does a row have the expected number of columns (or, if that is 0, between 1 and
 * RACE_MAX_DIMS)?  Else 22023, or with `soft` false.
 */
extern bool race_check_columns(uint32 n, uint32 expected, bool soft);

/*
 * The elements as they are hashed, with the seed of the parameters.  Integers of
 * all widths are the same; texts are equal when their bytes are.  NULLs, if there are
 * some, become `null`.
 */
extern void race_set_convert(RaceArrayReader *reader, const RaceElements *elements,
							 int64 seed, uint64 null, uint64 *out);

#endif							/* RACE_SET_H */
