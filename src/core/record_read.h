/*
 * record_read.h
 *		From a Datum to a record: arrays, pgvector's types, sets
 */
#ifndef RACE_RECORD_READ_H
#define RACE_RECORD_READ_H

#include "postgres.h"

#include "fmgr.h"

#include "lsh.h"

/*
 * Arrays as SQL passes them, of any type.
 */

/* How a value holds its elements: as an array, or as the types of record_read.h do */
typedef enum RaceLayout
{
	RACE_LAYOUT_ARRAY,
	RACE_LAYOUT_VECTOR,
	RACE_LAYOUT_HALFVEC,
	RACE_LAYOUT_SPARSEVEC
} RaceLayout;

typedef struct RaceArrayReader
{
	Oid			type;			/* of the argument */
	RaceLayout	layout;
	Oid			element;		/* of its elements, after the cast if any */
	bool		has_cast;
	FmgrInfo	cast;			/* its implicit cast, or text input */
	Oid			cast_ioparam;	/* for text input, else invalid */
	const char *null_hint;		/* what to do with a NULL element */
} RaceArrayReader;

/* Elements of an array, wherever they lie: perhaps not aligned */
typedef struct RaceElements
{
	const char *data;
	uint32		n;				/* NULLs too, which have no data */
	uint32		stored;			/* of a sparsevec: how many have data */
	const bits8 *present;		/* a bit an element, 0 for a NULL; or NULL: all are */
} RaceElements;

/*
 * What to do with a bad value: raise 22023, or with `soft` return false without an
 * error. Errors name what was expected and found, but never a value, because they
 * must not show a record.
 */
#define race_refuse(soft, ...) \
	do { \
		if (!(soft)) \
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), __VA_ARGS__)); \
		return false; \
	} while (0)

/*
 * Find the elements of an argument: one dimension and, unless `nulls` are allowed, no NULLs.
 * (A literal is text of the query itself; array input may quote it.)
 */
extern bool race_array_open(RaceArrayReader *reader, Datum value,
							RaceElements *elements, bool nulls, bool soft);

/* Elements of a type with a fixed length, which may not be aligned, one by one */
#define RACE_FOR_ELEMENTS(type, elements, statement) \
	do { \
		uint32		i; \
		type		element; \
\
		for (i = 0; i < (elements)->n; i++) \
		{ \
			memcpy(&element, (elements)->data + (Size) i * sizeof(type), sizeof(type)); \
			statement; \
		} \
	} while (0)

/*
 * The types of the extension pgvector: vector, halfvec and sparsevec.
 *
 * They are read as they are stored.  A type is taken for one of them by its name: only
 * superusers can make base types.  As a value may be damaged, or come from another type of
 * this name, its size and all that it says of itself are checked.  (vector has an implicit
 * cast to real[], which is used where it is there.)
 */

/* As race_array_open() */
extern bool race_pgvector_open(const RaceArrayReader *reader, Datum value,
							   RaceElements *elements, bool soft);

/*
 * Sets and rows of categories: arrays of elements that can be equal.
 */

/*
 * Prepare to read arguments of this type: smallint[], int[], bigint[], text[],
 * varchar[], uuid[], or a domain over one of them.  Raises 42804 for any other, and
 * for a literal, which does not say what its elements are.
 */
extern void race_set_prepare(RaceArrayReader *reader, Oid type,
							 MemoryContext context);

/*
 * The elements as they are hashed, with the seed of the parameters.  Integers of
 * all widths are the same; texts are equal when their bytes are.  NULLs, if there are
 * some, become `null`.
 */
extern void race_set_convert(RaceArrayReader *reader, const RaceElements *elements,
							 int64 seed, uint64 null, uint64 *out);

/* Sort the elements of a set and remove duplicates, unless the user interrupts; *n becomes how many are left. */
extern void race_normalize_set(uint64 *elements, size_t *n);

/*
 * Vectors: arrays of numbers of any type, and types with a cast to one.
 */

/*
 * Prepare to read arguments of this type: smallint[], int[], bigint[], real[],
 * float8[], numeric[], a domain over one of them, a literal, a type with an implicit cast
 * to real[], or one of record_read.h.  Raises 42804 for any other.
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
 * Does a vector or a row have the expected number of elements (or, if that is 0, between 1 and
 * RACE_MAX_DIMS)? Else as above.
 */
extern bool race_check_length(RaceRecordKind kind, uint32 n, uint32 expected, bool soft);

/* The same of a value of this type, palloc'd */
extern double *race_vector_new(Oid type, Datum value, uint32 n);

#endif
