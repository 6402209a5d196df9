/*
 * records.h
 *		Records on their way to be hashed: a column for each part of the kernel
 */
#ifndef RACE_RECORDS_H
#define RACE_RECORDS_H

#include "postgres.h"

#include "hash/column.h"
#include "hash/kernel.h"
#include "hash/params.h"

/* What RaceColumn shows, with space for more */
typedef struct RaceRecordsPart
{
	RaceRecordKind kind;
	double *numbers;  /* numbers of vectors */
	uint64 *elements; /* elements of rows of categories, or of sets */
	size_t *starts;   /* starts of the elements of each set */
	Size capacity;    /* elements of sets that there is space for */
	uint32 width;     /* width of vectors and rows; 0 = not known yet */
} RaceRecordsPart;

typedef struct RaceRecords
{
	MemoryContext context;
	uint32 n; /* records that are complete */
	uint32 capacity;
	bool has_sets;
	bool are_queries; /* are they queries, or else records of a sketch (RaceNulls)? */
	uint32 any;       /* bit mask of parts that a query leaves out */
	int n_parts;
	RaceRecordsPart parts[FLEXIBLE_ARRAY_MEMBER];
} RaceRecords;

/* Start without records and without space for any. */
extern RaceRecords *race_records_create(const RaceParams *params, MemoryContext context);

/* Make space for `capacity` records, but not for the elements of sets. */
extern void race_records_reserve(RaceRecords *records, uint32 capacity);

/*
 * Return where to write a part of the next record, for which race_records_reserve() has made
 * space.  A part is a vector, or elements; for a set, say how many.  Add 1 to n when all parts are
 * written.
 */
extern double *race_records_vector(RaceRecords *records, int part);
extern uint64 *race_records_elements(RaceRecords *records, int part, Size n);

/* Write a record that lies in columns to the place of the next one. */
extern void race_records_copy(RaceRecords *records, const RaceColumn *columns);

/* Set *columns to the records from number `from` on, for hashing. */
extern void race_records_columns(const RaceRecords *records, uint32 from, RaceColumn *columns);

/*
 * Return whether the next records of both, after the complete ones, are the same.  Both have the
 * same parameters.
 */
extern bool race_records_same(const RaceRecords *a, const RaceRecords *b);

/* Forget all records; large sets give their memory back. */
extern void race_records_clear(RaceRecords *records);

/*
 * Return the bytes of a record, without the elements of sets; and the bytes of the sets of n
 * records, from number `from` on.
 */
extern Size race_record_size(const RaceParams *params);
extern Size race_records_sets_size(const RaceRecords *records, uint32 from, uint32 n);

#endif
