/*
 * array_reader.h
 *		Arrays and types of pgvector: from a Datum to the elements of one part of a record
 */
#ifndef RACE_ARRAY_READER_H
#define RACE_ARRAY_READER_H

#include "postgres.h"

#include "fmgr.h"

#include "hash/kernel.h"
#include "hash/params.h"

/* How a value holds its elements: as an array, or as pgvector's types do */
typedef enum RaceLayout
{
	RACE_LAYOUT_ARRAY,
	RACE_LAYOUT_VECTOR,
	RACE_LAYOUT_HALFVEC,
	RACE_LAYOUT_SPARSEVEC
} RaceLayout;

/* How to read the values of a type, for one part of a record */
typedef struct RaceArrayReader
{
	RaceRecordKind kind; /* kind of the part */
	bool prepared;       /* the type was accepted */
	RaceLayout layout;
	Oid element; /* type of elements, after the cast if any */
	bool has_cast;
	FmgrInfo cast;         /* implicit cast of the type, or text input */
	Oid cast_ioparam;      /* parameter of text input, else invalid */
	const char *null_hint; /* what to do with a NULL element */
} RaceArrayReader;

/* Elements of an array, wherever they lie: perhaps not aligned */
typedef struct RaceElements
{
	const char *data;
	uint32 n;             /* number of elements, with NULLs, which have no data */
	uint32 stored;        /* elements of a sparsevec that have data */
	const bits8 *present; /* a bit an element, 0 for a NULL; or NULL: all are */
} RaceElements;

/*
 * Prepare to read arguments of this type, or of a domain over it.  A vector is an array of any
 * numbers, a literal, a type with an implicit cast to real[], or vector, halfvec or sparsevec.  A
 * set or a row of categories is smallint[], int[], bigint[], text[], varchar[] or uuid[]; not a
 * literal, which does not say what its elements are.  Raise 42804 for any other.
 */
extern void race_array_prepare(RaceArrayReader *reader, RaceRecordKind kind, Oid type,
							   MemoryContext context);

/*
 * Find the elements of an argument: one dimension and, unless `nulls` are allowed, no NULLs.
 * (A literal is text of the query itself; array input may quote it.)
 */
extern bool race_array_open(RaceArrayReader *reader, Datum value, RaceElements *elements,
							bool nulls, bool soft);

/*
 * Check whether a vector or a row has the expected number of elements (or, if that is 0, between 1
 * and RACE_MAX_DIMS).  Raise 22023, or with `soft` return false; errors never name a value.
 */
extern bool race_check_length(RaceRecordKind kind, uint32 n, uint32 expected, bool soft);

/*
 * Convert the elements of a vector, as many as were expected: clipped to the bounds of a part
 * (NULL: without bounds) and then finite numbers.  Raise 22023, or with `soft` return false.  It
 * allocates nothing, unless the datum is compressed or out of line, a cast does, or elements are
 * numeric.
 */
extern bool race_vector_convert(RaceArrayReader *reader, const RaceElements *elements,
								const RaceParams *part, double *out, bool soft);

/*
 * Convert the elements of a set or row to what is hashed, with the seed of the parameters.
 * Integers of all widths are the same; texts are equal when their bytes are.  NULLs, if there are
 * some, become `null`.
 */
extern void race_elements_convert(RaceArrayReader *reader, const RaceElements *elements, int64 seed,
								  uint64 null, uint64 *out);

/*
 * Sort the elements of a set and remove duplicates, unless the user interrupts; *n becomes how many
 * are left.
 */
extern void race_normalize_set(uint64 *elements, size_t *n);

/* Return a vector of n finite numbers from a value of this type, palloc'd. */
extern double *race_vector_new(Oid type, Datum value, uint32 n);

/*
 * What to do with a bad value: raise 22023, or with `soft` return false without an
 * error. Errors name what was expected and found, but never a value, because they
 * must not show a record.
 */
#define race_refuse(soft, ...) \
	do \
	{ \
		if (!(soft)) \
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), __VA_ARGS__)); \
		return false; \
	} while (0)

#endif
