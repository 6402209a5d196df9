/*
 * record.c
 *		Records and batches of them; race_record
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "bytes.h"
#include "params.h"
#include "record.h"
#include "record_read.h"
#include "server.h"

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
	TupleDesc	row = reader->row;

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
	uint64		identifier = assign_record_type_identifier(type, typmod);
	TupleDesc	row;

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
		if (!TupleDescAttr(reader->row, i)->attisdropped &&
			reader->n_columns++ < RACE_MAX_PARTS)
			reader->columns[reader->n_columns - 1] = i;
}

static Oid
value_type(const RaceRecordReader *reader, int i)
{
	return reader->row == NULL ? reader->type :
		TupleDescAttr(reader->row, reader->columns[i])->atttypid;
}

/* How to read part i of a record; made for the first value of its type */
static RaceArrayReader *
value_reader(RaceRecordReader *reader, int i, const RaceParams *part)
{
	RaceArrayReader *value = &reader->values[i];

	if (!value->prepared || value->kind != race_record_kind(part))
		race_array_prepare(value, race_record_kind(part), value_type(reader, i), reader->context);
	return value;
}

/*
 * A wrong number of values is an error in types, so it is reported for all values,
 * NULL included.
 */
static void
refuse_number(int expected, int found)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg_plural("expected a record of %d value, found %d",
						   "expected a record of %d values, found %d",
						   expected, expected, found),
			 expected == 1 ? 0 :
			 errhint("The kernel is a product: pass a row, as in ROW(ARRAY[1.5, 2], ARRAY['a', 'b']).")));
}

/*
 * Read the columns of a row, one for each part; bits of *nulls say which are NULL, in a
 * query. Types are checked before values, but that of a bare NULL in a query.
 */
static bool
take_row_apart(RaceRecordReader *reader, Datum value, const RaceParams *params,
			   Datum *values, uint32 *nulls, bool soft)
{
	int			n_parts = race_params_parts(params);
	const RaceParams *part;
	HeapTupleHeader row = DatumGetHeapTupleHeader(value);
	HeapTupleData tuple;
	bool		null;
	int			i;

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
			race_refuse(soft, errmsg("expected a record of %d values, found a null",
									 n_parts));
	}
	return true;
}

void
race_record_check_types(RaceRecordReader *reader, const RaceParams *params)
{
	int			n_parts = race_params_parts(params);
	int			i = 0;

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

/* If the parameters do not state dims, the first record decides. */
static bool
read_value(RaceArrayReader *array, const RaceParams *params, const RaceParams *part,
		   int i, Datum value, RaceRecords *records, bool soft)
{
	RaceRecordsPart *column = &records->parts[i];
	RaceElements elements;
	uint64		null = 0;

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
		return race_vector_convert(array, &elements, part,
								   race_records_vector(records, i), soft);
	if (elements.present != NULL)
		null = race_element_of_null(params->seed, records->are_queries &&
									part->nulls == RACE_NULLS_DIFFERENT);
	race_set_convert(array, &elements, params->seed, null,
					 race_records_elements(records, i, elements.n));
	return true;
}

bool
race_record_read(RaceRecordReader *reader, const RaceParams *params,
				 Datum record, RaceRecords *records, bool soft)
{
	Datum		values[RACE_MAX_PARTS] = {record};
	int			i = 0;

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
			!read_value(value_reader(reader, i, part), params, part, i, values[i],
						records, soft))
			return false;
	return true;
}

/*
 * Records on their way to be hashed: a column for each part of the kernel.
 */

/* Elements of sets for which space is kept when records are cleared */
#define USUAL_ELEMENTS	((Size) 64 * 1024)

RaceRecords *
race_records_create(const RaceParams *params, MemoryContext context)
{
	Size		size = offsetof(RaceRecords, parts) +
		race_params_parts(params) * sizeof(RaceRecordsPart);
	RaceRecords *records = MemoryContextAllocZero(context, size);

	records->context = context;
	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
	{
		RaceRecordsPart *column = &records->parts[records->n_parts++];

		column->kind = race_record_kind(part);
		records->has_sets |= column->kind == RACE_RECORD_SET;
		column->width = part->dims;
	}
	return records;
}

/* Make an array in the memory context of the records, or make it longer. */
static void *
resize(const RaceRecords *records, void *array, Size size)
{
	return array == NULL ?
		MemoryContextAllocHuge(records->context, size) : repalloc_huge(array, size);
}

void
race_records_reserve(RaceRecords *records, uint32 capacity)
{
	for (int i = 0; i < records->n_parts; i++)
	{
		RaceRecordsPart *part = &records->parts[i];
		Size		n = (Size) capacity * part->width;

		switch (part->kind)
		{
			case RACE_RECORD_VECTOR:
				part->numbers = resize(records, part->numbers, n * sizeof(double));
				break;
			case RACE_RECORD_SET:
				part->starts = resize(records, part->starts,
									  ((Size) capacity + 1) * sizeof(size_t));
				part->starts[0] = 0;
				break;
			case RACE_RECORD_ROW:
				part->elements = resize(records, part->elements, n * sizeof(uint64));
				break;
		}
	}
	records->capacity = capacity;
}

double *
race_records_vector(RaceRecords *records, int part)
{
	Assert(records->n < records->capacity);
	return records->parts[part].numbers +
		(Size) records->n * records->parts[part].width;
}

uint64 *
race_records_elements(RaceRecords *records, int part, Size n)
{
	RaceRecordsPart *column = &records->parts[part];
	Size		start;

	Assert(records->n < records->capacity);
	if (column->kind != RACE_RECORD_SET)
		return column->elements + (Size) records->n * column->width;

	start = column->starts[records->n];
	if (column->elements == NULL || n > column->capacity - start)
	{
		Size		capacity = Max(start + n, Min(2 * column->capacity, USUAL_ELEMENTS));

		capacity = Max(capacity, 16);
		column->elements = resize(records, column->elements,
								  capacity * sizeof(uint64));
		column->capacity = capacity;
	}
	column->starts[records->n + 1] = start + n;
	return column->elements + start;
}

void
race_records_copy(RaceRecords *records, const RaceColumn *columns)
{
	for (int i = 0; i < records->n_parts; i++, columns++)
	{
		Size		n = columns->width;

		size_t		start = 0;

		if (records->parts[i].kind == RACE_RECORD_VECTOR)
		{
			memcpy(race_records_vector(records, i), columns->numbers, n * sizeof(double));
			continue;
		}
		if (records->parts[i].kind == RACE_RECORD_SET)
		{
			start = columns->starts[0];
			n = columns->starts[1] - start;
		}
		memcpy(race_records_elements(records, i, n), columns->elements + start,
			   n * sizeof(uint64));
	}
}

void
race_records_columns(const RaceRecords *records, uint32 from, RaceColumn *columns)
{
	for (int i = 0; i < records->n_parts; i++)
	{
		const RaceRecordsPart *part = &records->parts[i];
		RaceColumn	column = {part->numbers, part->elements, part->starts, part->width};
		const RaceColumn any = {NULL, NULL, NULL, 0};

		columns[i] = (records->any >> i & 1) != 0 ? any : race_column_from(&column, from);
	}
}

bool
race_records_same(const RaceRecords *a, const RaceRecords *b)
{
	for (int i = 0; i < a->n_parts; i++)
	{
		const RaceRecordsPart *x = &a->parts[i];
		const RaceRecordsPart *y = &b->parts[i];
		Size		n = x->width;

		if (x->kind == RACE_RECORD_SET)
		{
			n = x->starts[a->n + 1] - x->starts[a->n];
			if (n != y->starts[b->n + 1] - y->starts[b->n])
				return false;
		}
		if (x->kind == RACE_RECORD_VECTOR ? memcmp(x->numbers, y->numbers, n * sizeof(double)) != 0 :
			memcmp(x->elements, y->elements, n * sizeof(uint64)) != 0)
			return false;
	}
	return true;
}

void
race_records_clear(RaceRecords *records)
{
	records->n = 0;
	for (int i = 0; i < records->n_parts; i++)
	{
		RaceRecordsPart *part = &records->parts[i];

		if (part->kind == RACE_RECORD_SET && part->capacity > USUAL_ELEMENTS)
		{
			pfree(part->elements);
			part->elements = NULL;
			part->capacity = 0;
		}
	}
}

Size
race_record_size(const RaceParams *params)
{
	Size		size = 0;

	/* a set also takes a word for its start */
	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
		size += Max(part->dims, 1) * sizeof(uint64);
	return size;
}

Size
race_records_sets_size(const RaceRecords *records, uint32 from, uint32 n)
{
	Size		elements = 0;

	for (int i = 0; n > 0 && i < records->n_parts; i++)
		if (records->parts[i].kind == RACE_RECORD_SET)
			elements += records->parts[i].starts[from + n] -
				records->parts[i].starts[from];
	return elements * sizeof(uint64);
}

/*
 * What race_record makes: a record that has been read, and can be counted anywhere.  Its bytes, little-endian:
 *
 * 0	u8	version = 1
 * 1	u8	parts of the kernel
 * 2	6 bytes reserved, 0
 * 8	i64 seed of the parameters, with which elements are hashed; 0 if there are none
 * 16	for each part: u32 numbers or elements, u32 kind (RaceRecordKind), then 8 bytes for each
 */

#define VERSION			1
#define HEADER_SIZE		16
#define MAX_SIZE		((Size) 256 * 1024 * 1024)	/* its text is half a GB */

Datum
race_prepared_datum(const RaceRecords *records, const RaceParams *params)
{
	RaceColumn	columns[RACE_MAX_PARTS];
	Size		words = 0;
	uint64		seed = 0;
	StringInfoData out;

	race_records_columns(records, records->n, columns);
	for (int i = 0; i < records->n_parts; i++)
	{
		if (records->parts[i].kind == RACE_RECORD_SET)
			columns[i].width = columns[i].starts[1] - columns[i].starts[0];
		if (records->parts[i].kind != RACE_RECORD_VECTOR)
			seed = (uint64) params->seed;
		words += 1 + columns[i].width;
	}
	if (words > MAX_SIZE / sizeof(uint64))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a race_record can have at most %zu bytes", MAX_SIZE)));
	pq_begintypsend(&out);
	enlargeStringInfo(&out, HEADER_SIZE + words * sizeof(uint64));
	race_put(&out, VERSION | records->n_parts << 8, 8);
	race_put(&out, seed, 8);
	for (int i = 0; i < records->n_parts; i++)
	{
		RaceRecordKind kind = records->parts[i].kind;
		const uint64 *from = kind == RACE_RECORD_VECTOR ? (const uint64 *) columns[i].numbers :
			columns[i].elements + (kind == RACE_RECORD_SET ? columns[i].starts[0] : 0);

		race_put(&out, columns[i].width, 4);
		race_put(&out, kind, 4);
		for (uint32 k = 0; k < columns[i].width; k++)
		{
			CHECK_FOR_INTERRUPTS();
			race_put(&out, from[k], 8);
		}
	}
	return PointerGetDatum(pq_endtypsend(&out));
}

/* What is wrong with the bytes of a race_record, whatever the parameters; or NULL */
static const char *
prepared_problem(const unsigned char *next, Size size)
{
	const unsigned char *end = next + size;
	uint64		head;
	uint64		seed;
	int			n_parts;
	bool		elements = false;

	if (size < HEADER_SIZE || size % sizeof(uint64) != 0 || size > MAX_SIZE)
		return "Its size is wrong.";
	head = race_take(&next, 8);
	seed = race_take(&next, 8);
	n_parts = head >> 8 & 0xFF;
	if ((head & 0xFF) != VERSION)
		return "Its version is unknown.";
	if (head >> 16 != 0)
		return "Reserved bytes are not zero.";
	if (n_parts < 1 || n_parts > RACE_MAX_PARTS)
		return "The number of parts is wrong.";
	for (int i = 0; i < n_parts; i++)
	{
		uint32		n;
		uint32		kind;

		if (next == end)
			return "It is too short.";
		n = (uint32) race_take(&next, 4);
		kind = (uint32) race_take(&next, 4);
		if ((Size) (end - next) / sizeof(uint64) < n)
			return "It is too short.";
		if (kind != RACE_RECORD_VECTOR && kind != RACE_RECORD_SET && kind != RACE_RECORD_ROW)
			return "A part is of an unknown kind.";
		if (kind != RACE_RECORD_SET && (n < 1 || n > RACE_MAX_DIMS))
			return "A part has too many values, or none.";
		for (uint32 k = 0; kind == RACE_RECORD_VECTOR && k < n; k++)
			if (!isfinite(race_take_double(&next)))
				return "A number is not finite.";
		if (kind != RACE_RECORD_VECTOR)
			next += (Size) n * sizeof(uint64);
		elements |= kind != RACE_RECORD_VECTOR;
	}
	if (next != end)
		return "It is too long.";
	return !elements && seed != 0 ? "A record without elements has a seed." : NULL;
}

void
race_prepared_read(Datum value, const RaceParams *params, RaceRecords *records)
{
	const bytea *bytes = DatumGetByteaPP(value);
	const unsigned char *next = (const unsigned char *) VARDATA_ANY(bytes);
	const char *problem = prepared_problem(next, VARSIZE_ANY_EXHDR(bytes));
	int			i = 0;
	bool		same;
	int64		seed;

	if (problem != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("the bytes are not those of race_record"),
				 errdetail("%s", problem)));
	same = next[1] == records->n_parts;
	next += sizeof(uint64);
	seed = (int64) race_take(&next, 8);
	for (const RaceParams *part = params; part != NULL && same; part = race_params_next(part, params), i++)
	{
		uint32		n = (uint32) race_take(&next, 4);
		uint32		kind = (uint32) race_take(&next, 4);

		same = kind == records->parts[i].kind &&
			(kind == RACE_RECORD_SET || n == records->parts[i].width) &&
			(kind == RACE_RECORD_VECTOR || seed == params->seed);
		if (same && kind == RACE_RECORD_VECTOR)
		{
			double	   *numbers = race_records_vector(records, i);

			for (uint32 k = 0; k < n; k++)
				numbers[k] = race_take_double(&next);
			race_vector_clip(part, numbers, n);
		}
		else if (same)
		{
			uint64	   *elements = race_records_elements(records, i, n);

			for (uint32 k = 0; k < n; k++)
			{
				CHECK_FOR_INTERRUPTS();
				elements[k] = race_take(&next, 8);
			}
		}
	}
	if (!same)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a race_record was made for other parameters"),
				 errdetail("The parameters are %s.", race_params_brief(params)),
				 errhint("Give race_record the parameters that the sketch is built with.")));
}
