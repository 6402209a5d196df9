/*
 * record.h
 *		A record as SQL passes it: a value for each part of the kernel
 */
#ifndef RACE_RECORD_H
#define RACE_RECORD_H

#include "postgres.h"

#include "access/tupdesc.h"
#include "fmgr.h"

#include "hash/params.h"
#include "sketch/array_reader.h"
#include "sketch/records.h"

/*
 * A kernel by itself compares one value: a vector, a set, a row of categories.  A
 * product compares several values, the columns of a row, ROW(x, c).
 */

typedef struct RaceRecordReader
{
	MemoryContext context;
	Oid type;
	bool is_row;   /* is the type a row type? */
	bool is_query; /* may parts of a product be left out, as NULLs? */
	TupleDesc row; /* columns of a row, as last seen */
	/* identifier of the row type: it changes when the type is altered */
	uint64 row_identifier;
	int n_columns;                          /* number of columns of a row */
	int columns[RACE_MAX_PARTS];            /* places of the first columns */
	RaceArrayReader values[RACE_MAX_PARTS]; /* how to read the value of a part */
} RaceRecordReader;

/* Prepare to read records of this type. */
extern void race_record_prepare(RaceRecordReader *reader, Oid type, MemoryContext context);

/* Say which columns rows will have, before the first one comes. */
extern void race_record_use_row(RaceRecordReader *reader, TupleDesc row);

/*
 * Write a record to the place of the next one in `records`, without completing it.  Raise 42804 for
 * types, or a number of values, that cannot be a record.  Raise 22023 for a wrong dimension, a NULL
 * that is not declared (RaceNulls), a NaN or an infinity; with `soft` return false instead.  In a
 * query, a NULL for a part of a product sets its bit in records->any.  Errors name what was
 * expected and found, but never a value.
 */
extern bool race_record_read(RaceRecordReader *reader, const RaceParams *params, Datum record,
							 RaceRecords *records, bool soft);

/*
 * Raise the errors of race_record_read() that types alone cause, as far as they can
 * be found without a value: a row shows its columns only with a value, or by
 * race_record_use_row().
 */
extern void race_record_check_types(RaceRecordReader *reader, const RaceParams *params);

#endif
