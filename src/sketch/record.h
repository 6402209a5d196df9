/*
 * record.h
 *		Records: from a Datum to batches; race_record
 */
#ifndef RACE_RECORD_H
#define RACE_RECORD_H

#include "postgres.h"

#include "access/tupdesc.h"
#include "fmgr.h"

#include "hash/lsh.h"

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
	RaceRecordKind kind;		/* of the part */
	bool		prepared;		/* the type was accepted */
	RaceLayout	layout;
	Oid			element;		/* type of elements, after the cast if any */
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
 * Prepare to read arguments of this type, or of a domain over it.  A vector is an array of any
 * numbers, a literal, a type with an implicit cast to real[], or vector, halfvec or sparsevec.
 * A set or a row of categories is smallint[], int[], bigint[], text[], varchar[] or uuid[]; not a
 * literal, which does not say what its elements are.  Raises 42804 for any other.
 */
extern void race_array_prepare(RaceArrayReader *reader, RaceRecordKind kind, Oid type,
							   MemoryContext context);

/*
 * Find the elements of an argument: one dimension and, unless `nulls` are allowed, no NULLs.
 * (A literal is text of the query itself; array input may quote it.)
 */
extern bool race_array_open(RaceArrayReader *reader, Datum value,
							RaceElements *elements, bool nulls, bool soft);

/*
 * Does a vector or a row have the expected number of elements (or, if that is 0, between 1 and
 * RACE_MAX_DIMS)?  Raises 22023, or with `soft` returns false; errors never name a value.
 */
extern bool race_check_length(RaceRecordKind kind, uint32 n, uint32 expected, bool soft);

/*
 * Convert the elements of a vector, as many as were expected: clipped to the bounds of a part
 * (NULL: without bounds) and then finite numbers.  Raises 22023, or with `soft` returns
 * false.  It allocates nothing, unless the datum is compressed or out of line, a
 * cast does, or elements are numeric.
 */
extern bool race_vector_convert(RaceArrayReader *reader, const RaceElements *elements,
								const RaceParams *part, double *out, bool soft);

/* Sort the elements of a set and remove duplicates, unless the user interrupts; *n becomes how many are left. */
extern void race_normalize_set(uint64 *elements, size_t *n);

/* A vector of n finite numbers from a value of this type, palloc'd */
extern double *race_vector_new(Oid type, Datum value, uint32 n);

/*
 * Records on their way to be hashed: a column for each part of the kernel.
 */

/* What RaceColumn shows, with space for more */
typedef struct RaceRecordsPart
{
	RaceRecordKind kind;
	double	   *numbers;		/* vectors, */
	uint64	   *elements;		/* or rows of categories, or sets; of sets, */
	size_t	   *starts;			/* where the elements of each begin */
	Size		capacity;		/* elements of sets that there is space for */
	uint32		width;			/* of vectors and rows; 0 = not known yet */
} RaceRecordsPart;

typedef struct RaceRecords
{
	MemoryContext context;
	uint32		n;				/* records that are complete */
	uint32		capacity;
	bool		has_sets;
	bool		are_queries;	/* else records of a sketch; see RaceNulls */
	uint32		any;			/* of a query alone: bit i says that part i is left out */
	int			n_parts;
	RaceRecordsPart parts[FLEXIBLE_ARRAY_MEMBER];
} RaceRecords;

/* Start without records and without space for any. */
extern RaceRecords *race_records_create(const RaceParams *params,
										MemoryContext context);

/* Make space for `capacity` records, but not for the elements of sets. */
extern void race_records_reserve(RaceRecords *records, uint32 capacity);

/*
 * Return where to write the vector of a part of the next record, for which
 * race_records_reserve() has made space.  Add 1 to n when all parts are written.
 */
extern double *race_records_vector(RaceRecords *records, int part);

/* Write a record that lies in columns to the place of the next one. */
extern void race_records_copy(RaceRecords *records, const RaceColumn *columns);

/* The records from number `from` on, for hashing */
extern void race_records_columns(const RaceRecords *records, uint32 from,
								 RaceColumn *columns);

/*
 * Are the next records of both, after the complete ones, the same? Both have the
 * same parameters.
 */
extern bool race_records_same(const RaceRecords *a, const RaceRecords *b);

/* Forget all records; large sets give their memory back. */
extern void race_records_clear(RaceRecords *records);

/*
 * The bytes of a record, without the elements of sets; and the bytes of the sets of n
 * records, from number `from` on
 */
extern Size race_record_size(const RaceParams *params);
extern Size race_records_sets_size(const RaceRecords *records, uint32 from,
								   uint32 n);

/*
 * A record as SQL passes it: a value for each part of the kernel.
 *
 * A kernel by itself compares one value: a vector, a set, a row of categories.  A
 * product compares several values, the columns of a row, ROW(x, c).
 */

typedef struct RaceRecordReader
{
	MemoryContext context;
	Oid			type;
	bool		is_row;			/* is the type a row type? */
	bool		is_query;		/* may parts of a product be left out, as NULLs? */
	TupleDesc	row;			/* of a row, as last seen, */
	/* identifier of the row type: it changes when the type is altered */
	uint64		row_identifier;
	int			n_columns;		/* its number of columns, and where the first ones are */
	int			columns[RACE_MAX_PARTS];
	RaceArrayReader values[RACE_MAX_PARTS]; /* how to read the value of a part */
} RaceRecordReader;

/* Prepare to read records of this type. */
extern void race_record_prepare(RaceRecordReader *reader, Oid type,
								MemoryContext context);

/* Say which columns rows will have, before the first one comes. */
extern void race_record_use_row(RaceRecordReader *reader, TupleDesc row);

/*
 * Write a record to the place of the next one in `records`, without completing it.
 * Raises 42804 for types, or a number of values, that cannot be a record. Raises
 * 22023 for a wrong dimension, a NULL that is not declared (RaceNulls), a NaN or an
 * infinity; with `soft` returns false instead.  In a query, a NULL for a part of a product
 * sets its bit in records->any.  Errors name what was expected and found, but never a value.
 */
extern bool race_record_read(RaceRecordReader *reader, const RaceParams *params,
							 Datum record, RaceRecords *records, bool soft);

/*
 * Raise the errors of race_record_read() that types alone cause, as far as they can
 * be found without a value: a row shows its columns only with a value, or by
 * race_record_use_row().
 */
extern void race_record_check_types(RaceRecordReader *reader,
									const RaceParams *params);

/*
 * What race_record makes: a bytea of a record that has been read, and can be counted anywhere.
 *
 * It holds what is hashed, numbers and elements, so that whoever counts it need not know the type
 * that it came from.  Aggregates that are split over servers, such as those of Citus, need that:
 * they hand over only arguments whose types are declared exactly, and nothing about others.
 */

/* The next record in `records`, which was read for these parameters, as a race_record */
extern Datum race_prepared_datum(const RaceRecords *records, const RaceParams *params);

/*
 * Write a race_record to the place of the next record in `records`, without completing it.
 * Raises 22023 for one that was made for other parameters, as far as records differ by them.
 */
extern void race_prepared_read(Datum value, const RaceParams *params, RaceRecords *records);

#endif
