/*
 * record.c
 *		A record as SQL passes it: a value for each part of the kernel
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/tupmacs.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
#include "utils/uuid.h"

#include "hash/column.h"
#include "hash/elements.h"
#include "hash/kernel.h"
#include "hash/params.h"
#include "sketch/array_reader.h"
#include "sketch/record.h"
#include "sketch/records.h"

/*
 * A record as SQL passes it: a value for each part of the kernel.
 */

void
race_record_prepare(RaceRecordReader *reader, Oid type, MemoryContext context)
{
	memset(reader, 0, sizeof(RaceRecordReader));
	reader->context = context;
	reader->type = type;
	reader->is_row = OidIsValid(type) && type_is_rowtype(type);
}

/* Forget the columns of a row, and how values were read. */
static void
forget_row(RaceRecordReader *reader)
{
	TupleDesc row = reader->row;

	reader->row = NULL;
	reader->n_columns = 0;
	memset(reader->values, 0, sizeof(reader->values));
	if (row != NULL)
		FreeTupleDesc(row);
}

/*
 * Find the columns of a row type that were not dropped. The type may be altered
 * between two values; then its identifier changes.
 */
static void
use_row(RaceRecordReader *reader, Oid type, int32 typmod)
{
	uint64 identifier = assign_record_type_identifier(type, typmod);
	TupleDesc row;

	if (reader->row != NULL && reader->row_identifier == identifier)
		return;
	row = lookup_rowtype_tupdesc(type, typmod);
	race_record_use_row(reader, row);
	reader->row_identifier = identifier;
	ReleaseTupleDesc(row);
}

void
race_record_use_row(RaceRecordReader *reader, TupleDesc row)
{
	MemoryContext old;

	forget_row(reader);
	old = MemoryContextSwitchTo(reader->context);
	reader->row = CreateTupleDescCopy(row);
	MemoryContextSwitchTo(old);
	reader->row_identifier = 0;
	for (int i = 0; i < reader->row->natts; i++)
		if (!TupleDescAttr(reader->row, i)->attisdropped && reader->n_columns++ < RACE_MAX_PARTS)
			reader->columns[reader->n_columns - 1] = i;
}

static Oid
value_type(const RaceRecordReader *reader, int i)
{
	return reader->row == NULL ? reader->type :
								 TupleDescAttr(reader->row, reader->columns[i])->atttypid;
}

/* Return how to read part i of a record; made for the first value of its type. */
static RaceArrayReader *
value_reader(RaceRecordReader *reader, int i, const RaceParams *part)
{
	RaceArrayReader *value = &reader->values[i];

	if (!value->prepared || value->kind != race_record_kind(part))
		race_array_prepare(value, race_record_kind(part), value_type(reader, i), reader->context);
	return value;
}

/*
 * Raise 42804 for a wrong number of values.  It is an error in types, so it is reported for all
 * values, NULL included.
 */
static void
refuse_number(int expected, int found)
{
	ereport(
		ERROR,
		(errcode(ERRCODE_DATATYPE_MISMATCH),
		 errmsg_plural("expected a record of %d value, found %d",
					   "expected a record of %d values, found %d", expected, expected, found),
		 expected == 1 ?
			 0 :
			 errhint(
				 "The kernel is a product: pass a row, as in ROW(ARRAY[1.5, 2], ARRAY['a', 'b']).")));
}

/*
 * Read the columns of a row, one for each part; bits of *nulls say which are NULL, in a
 * query. Types are checked before values, but that of a bare NULL in a query.
 */
static bool
take_row_apart(RaceRecordReader *reader, Datum value, const RaceParams *params, Datum *values,
			   uint32 *nulls, bool soft)
{
	int n_parts = race_params_parts(params);
	const RaceParams *part;
	HeapTupleHeader row = DatumGetHeapTupleHeader(value);
	HeapTupleData tuple;
	bool null;
	int i;

	use_row(reader, HeapTupleHeaderGetTypeId(row), HeapTupleHeaderGetTypMod(row));
	if (reader->n_columns != n_parts)
		refuse_number(n_parts, reader->n_columns);
	for (part = params, i = 0; i < n_parts; part = race_params_next(part, params), i++)
		if (!reader->is_query || value_type(reader, i) != UNKNOWNOID)
			value_reader(reader, i, part);

	tuple.t_len = HeapTupleHeaderGetDatumLength(row);
	ItemPointerSetInvalid(&tuple.t_self);
	tuple.t_tableOid = InvalidOid;
	tuple.t_data = row;
	for (i = 0; i < n_parts; i++)
	{
		values[i] = heap_getattr(&tuple, reader->columns[i] + 1, reader->row, &null);
		if (null && reader->is_query)
			*nulls |= 1 << i;
		else if (null)
			race_refuse(soft, errmsg("expected a record of %d values, found a null", n_parts));
	}
	return true;
}

void
race_record_check_types(RaceRecordReader *reader, const RaceParams *params)
{
	int n_parts = race_params_parts(params);
	int i = 0;

	if (reader->is_row && n_parts > 1)
	{
		if (reader->row == NULL)
			return;
		if (reader->n_columns != n_parts)
			refuse_number(n_parts, reader->n_columns);
	}
	else if (n_parts > 1)
		refuse_number(n_parts, 1);
	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
		value_reader(reader, i++, part);
}

/* Read value i of a record.  If the parameters do not state dims, the first record decides. */
static bool
read_value(RaceArrayReader *array, const RaceParams *params, const RaceParams *part, int i,
		   Datum value, RaceRecords *records, bool soft)
{
	RaceRecordsPart *column = &records->parts[i];
	RaceElements elements;
	uint64 null = 0;

	if (!race_array_open(array, value, &elements, part->nulls != 0, soft))
		return false;
	if (column->kind != RACE_RECORD_SET)
	{
		if (!race_check_length(column->kind, elements.n, column->width, soft))
			return false;
		if (column->width == 0)
		{
			column->width = elements.n;
			race_records_reserve(records, records->capacity);
		}
	}
	if (column->kind == RACE_RECORD_VECTOR)
		return race_vector_convert(array, &elements, part, race_records_vector(records, i), soft);
	if (elements.present != NULL)
		null = race_element_of_null(params->seed,
									records->are_queries && part->nulls == RACE_NULLS_DIFFERENT);
	race_elements_convert(array, &elements, params->seed, null,
						  race_records_elements(records, i, elements.n));
	return true;
}

bool
race_record_read(RaceRecordReader *reader, const RaceParams *params, Datum record,
				 RaceRecords *records, bool soft)
{
	Datum values[RACE_MAX_PARTS] = {record};
	int i = 0;

	records->any = 0;
	/* a single kernel may compare values of a composite type, if it has a cast */
	if (reader->is_row && records->n_parts > 1)
	{
		if (!take_row_apart(reader, record, params, values, &records->any, soft))
			return false;
	}
	else if (records->n_parts > 1)
		refuse_number(records->n_parts, 1);
	else if (reader->row != NULL)
		/* the parameters before were a product, which takes rows apart */
		forget_row(reader);

	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params), i++)
		if ((records->any >> i & 1) == 0 &&
			!read_value(value_reader(reader, i, part), params, part, i, values[i], records, soft))
			return false;
	return true;
}
