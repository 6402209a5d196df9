/*
 * record.c
 *		Records: from a Datum, which may be an array, a type of pgvector or a set, to batches; race_record
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/tupmacs.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
#include "utils/uuid.h"

#include "sketch/bytes.h"
#include "hash/lsh.h"
#include "sketch/params.h"
#include "sketch/record.h"
#include "sketch/server.h"

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
 * Types.
 */

/*
 * The types of the extension pgvector, which are read as they are stored.
 *
 * vector, halfvec		int16 dimensions, int16 0, then numbers: float4, or of 16 bits
 * sparsevec			int32 dimensions, int32 numbers, int32 0, then their indices from 0 on,
 * int32 and rising, then the numbers, float4
 *
 * A type is taken for one of them by its name: only superusers can make base types.  As a value
 * may be damaged, or come from another type of this name, its size and all that it says of itself
 * are checked.  (vector has an implicit cast to real[], which is used where it is there.)
 */
static const struct
{
	const char *name;
	uint32		header;			/* bytes before the numbers */
	uint32		number;			/* bytes of a number, with its index if there is one */
}			layouts[] = {
	[RACE_LAYOUT_VECTOR] = {"vector", 4, 4},
	[RACE_LAYOUT_HALFVEC] = {"halfvec", 4, 2},
	[RACE_LAYOUT_SPARSEVEC] = {"sparsevec", 12, 8},
};

/* The layout of a type of pgvector; RACE_LAYOUT_ARRAY of any other */
static RaceLayout
pgvector_layout(Oid base)
{
	RaceLayout	layout = RACE_LAYOUT_ARRAY;
	HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(base));
	Form_pg_type form;

	if (!HeapTupleIsValid(tuple))
		return layout;
	form = (Form_pg_type) GETSTRUCT(tuple);
	if (form->typtype == TYPTYPE_BASE && form->typlen == -1 && !OidIsValid(form->typelem))
		for (int i = RACE_LAYOUT_VECTOR; i < (int) lengthof(layouts); i++)
			if (strcmp(NameStr(form->typname), layouts[i].name) == 0)
				layout = (RaceLayout) i;
	ReleaseSysCache(tuple);
	return layout;
}

/* Can elements of this type be parts of a vector, or of a set or row? */
static bool
is_element(Oid type, bool vector)
{
	switch (type)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
			return true;
		case FLOAT4OID:
		case FLOAT8OID:
		case NUMERICOID:
			return vector;
		case TEXTOID:
		case VARCHAROID:
		case UUIDOID:
			return !vector;
		default:
			return false;
	}
}

/* Use the implicit cast of a type to real[], if it has one. */
static bool
use_cast(RaceArrayReader *reader, Oid base, MemoryContext context)
{
	Oid			function;
	AclResult	allowed;

	/* our functions are IMMUTABLE, so they must not call a cast that is not */
	if (find_coercion_pathway(FLOAT4ARRAYOID, base, COERCION_IMPLICIT, &function) != COERCION_PATH_FUNC ||
		func_volatile(function) != PROVOLATILE_IMMUTABLE)
		return false;
	allowed = race_function_aclcheck(function);
	if (allowed != ACLCHECK_OK)
		aclcheck_error(allowed, OBJECT_FUNCTION, get_func_name(function));
	fmgr_info_cxt(function, &reader->cast, context);
	reader->element = FLOAT4OID;
	reader->has_cast = true;
	return true;
}

void
race_array_prepare(RaceArrayReader *reader, RaceRecordKind kind, Oid type, MemoryContext context)
{
	bool		vector = kind == RACE_RECORD_VECTOR;
	Oid			base = OidIsValid(type) ? getBaseType(type) : InvalidOid;
	Oid			function;

	memset(reader, 0, sizeof(RaceArrayReader));
	reader->kind = kind;
	reader->null_hint = vector ?
		"Fill it with a public value, as in ARRAY[coalesce(x, 0)]: not with one that is computed from private records, such as their mean." :
		kind == RACE_RECORD_ROW ?
		"Declare what it is, by race_params(..., nulls => 'category') or 'different'." :
		"Leave it out, as in array_remove(x, NULL).";
	reader->element = OidIsValid(base) ? get_element_type(base) : InvalidOid;
	if (vector && base == UNKNOWNOID)
	{
		getTypeInputInfo(FLOAT8ARRAYOID, &function, &reader->cast_ioparam);
		fmgr_info_cxt(function, &reader->cast, context);
		reader->element = FLOAT8OID;
		reader->has_cast = true;
	}
	else if (vector && OidIsValid(base) && !is_element(reader->element, vector) &&
			 !use_cast(reader, base, context))
	{
		reader->layout = pgvector_layout(base);
		reader->element = reader->layout == RACE_LAYOUT_ARRAY ? InvalidOid : FLOAT4OID;
	}
	if (!is_element(reader->element, vector))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 OidIsValid(type) ?
				 errmsg("type %s is not a %s", format_type_be(type),
						vector ? "vector of numbers" : "set or a row of categories") :
				 errmsg("could not determine the type of a %s", vector ? "vector" : "set"),
				 vector ?
				 errhint("Pass an array of numbers, such as float8[], or a type with an implicit cast to real[].") :
				 errhint("Pass int[], bigint[], text[] or uuid[]; cast a literal, as in '{a,b}'::text[].")));
	reader->prepared = true;
}

/*
 * Values.
 */

/* Cast a value to an array; the result may be NULL. */
static bool
apply_cast(RaceArrayReader *reader, Datum *value, bool soft)
{
	LOCAL_FCINFO(fcinfo, 3);

	if (OidIsValid(reader->cast_ioparam))
	{
		race_check_text(DatumGetCString(*value), RACE_MAX_TEXT, "an array", NULL);
		*value = InputFunctionCall(&reader->cast, DatumGetCString(*value),
								   reader->cast_ioparam, -1);
		return true;
	}

	/*
	 * cast functions may have two more arguments: the type modifier, and whether the
	 * cast is explicit
	 */
	InitFunctionCallInfoData(*fcinfo, &reader->cast, reader->cast.fn_nargs,
							 InvalidOid, NULL, NULL);
	fcinfo->args[0].value = *value;
	fcinfo->args[1].value = Int32GetDatum(-1);
	fcinfo->args[2].value = BoolGetDatum(false);
	for (int i = 0; i < 3; i++)
		fcinfo->args[i].isnull = false;
	*value = FunctionCallInvoke(fcinfo);
	if (fcinfo->isnull)
		race_refuse(soft, errmsg("expected an array, found a null"));
	return true;
}

/*
 * Find the elements of a stored array with a short header, without copying it.
 * False if the array has several dimensions or NULLs, or if all of it must be
 * looked at.
 */
static bool
find_short_elements(const struct varlena *value, RaceElements *elements)
{
	ArrayType	header;
	const Size	header_size = sizeof(ArrayType) - VARHDRSZ;

	if (VARSIZE_SHORT(value) - VARHDRSZ_SHORT < ARR_OVERHEAD_NONULLS(1) - VARHDRSZ)
		return false;
	memcpy((char *) &header + VARHDRSZ, VARDATA_SHORT(value), header_size);
	if (header.ndim != 1 || header.dataoffset != 0)
		return false;
	memcpy(&elements->n, VARDATA_SHORT(value) + header_size, sizeof(uint32));
	elements->data = VARDATA_SHORT(value) + ARR_OVERHEAD_NONULLS(1) - VARHDRSZ;
	return true;
}

/* Find the numbers of a value as pgvector stores it. */
static bool
open_pgvector(const RaceArrayReader *reader, Datum value, RaceElements *elements, bool soft)
{
	RaceLayout	layout = reader->layout;
	struct varlena *packed = PG_DETOAST_DATUM_PACKED(value);
	const char *data = VARDATA_ANY(packed);
	Size		size = VARSIZE_ANY_EXHDR(packed);
	int32		header[3] = {0};	/* dims, numbers that are stored, and 0 */
	int16		small[2] = {0};

	if (size >= layouts[layout].header && layout == RACE_LAYOUT_SPARSEVEC)
		memcpy(header, data, sizeof(header));
	else if (size >= layouts[layout].header)
	{
		memcpy(small, data, sizeof(small));
		header[0] = header[1] = small[0];
		header[2] = small[1];
	}
	if (header[2] != 0 || header[1] < 0 || header[1] > header[0] ||
		size != layouts[layout].header + (Size) header[1] * layouts[layout].number)
		race_refuse(soft, errmsg("expected a %s as pgvector stores it, found another value",
								 layouts[layout].name));
	elements->data = data + layouts[layout].header;
	elements->n = (uint32) header[0];
	elements->stored = (uint32) header[1];
	elements->present = NULL;
	return true;
}

bool
race_array_open(RaceArrayReader *reader, Datum value, RaceElements *elements,
				bool nulls, bool soft)
{
	struct varlena *packed;
	ArrayType  *array;
	bool		fixed_length = reader->element != NUMERICOID &&
		reader->element != TEXTOID && reader->element != VARCHAROID;

	if (reader->layout != RACE_LAYOUT_ARRAY)
		return open_pgvector(reader, value, elements, soft);
	if (reader->has_cast && !apply_cast(reader, &value, soft))
		return false;
	packed = PG_DETOAST_DATUM_PACKED(value);
	elements->present = NULL;
	/* elements of variable length need an aligned array */
	if (VARATT_IS_SHORT(packed) && fixed_length &&
		find_short_elements(packed, elements))
		return true;

	array = DatumGetArrayTypeP(PointerGetDatum(packed));
	if (ARR_NDIM(array) > 1)
		race_refuse(soft, errmsg("expected an array of one dimension, found one of %d",
								 ARR_NDIM(array)));
	if (ARR_HASNULL(array) && array_contains_nulls(array))
	{
		if (!nulls)
			race_refuse(soft, errmsg("expected an array without nulls, found a null element"),
						errhint("%s", reader->null_hint));
		elements->present = ARR_NULLBITMAP(array);
	}
	elements->n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	elements->data = ARR_DATA_PTR(array);
	return true;
}

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
 * The bytes of the next element in *data, of a type with a variable length; steps
 * over it
 */
static const char *
next_varlena(const char **data)
{
	const char *element = *data;

	*data = att_addlength_pointer(element, -1, element);
	*data = (const char *) att_align_nominal(*data, TYPALIGN_INT);
	return element;
}

/*
 * Vectors.
 */

bool
race_check_length(RaceRecordKind kind, uint32 n, uint32 expected, bool soft)
{
	bool		row = kind == RACE_RECORD_ROW;
	const char *what = row ? "row" : "vector";
	const char *unit = !row ? "dimensions" : expected == 1 ? "category" : "categories";

	if (n == 0 && expected == 0)
		race_refuse(soft, errmsg("expected a %s, found an empty array", row ? "row of categories" : what));
	if (expected == 0 && n > RACE_MAX_DIMS)
		race_refuse(soft, errmsg("expected a %s of up to %d %s, found %u", what, RACE_MAX_DIMS, unit, n));
	if (expected != 0 && n != expected)
		race_refuse(soft, errmsg("expected a %s of %u %s, found %u", what, expected, unit, n),
					errhint("Give as many as dims in the parameters says: ARRAY[a, b] for dims=2."));
	return true;
}

/* A number of 16 bits: 1 of the sign, 5 of the exponent, 10 of the fraction */
static double
double_of_half(uint16 half)
{
	uint32		exponent = half >> 10 & 31;
	uint32		fraction = half & 1023;
	double		x = exponent == 0 ? ldexp(fraction, -24) :
		exponent < 31 ? ldexp(fraction + 1024, (int) exponent - 25) :
		fraction == 0 ? INFINITY : NAN;

	return (half & 0x8000) != 0 ? -x : x;
}

static bool
convert_sparse(const RaceElements *elements, double *out, bool soft)
{
	const char *numbers = elements->data + (Size) elements->stored * sizeof(int32);
	int64		last = -1;

	memset(out, 0, elements->n * sizeof(double));
	for (uint32 i = 0; i < elements->stored; i++)
	{
		int32		index;
		float4		number;

		memcpy(&index, elements->data + (Size) i * sizeof(int32), sizeof(int32));
		memcpy(&number, numbers + (Size) i * sizeof(float4), sizeof(float4));
		if (index <= last || index >= (int64) elements->n)
			race_refuse(soft, errmsg("expected a sparsevec as pgvector stores it, found one whose indices do not rise"));
		out[index] = number;
		last = index;
	}
	return true;
}

static void
convert_numbers(Oid type, const RaceElements *elements, double *out)
{
	const char *data = elements->data;

	switch (type)
	{
		case FLOAT8OID:
			memcpy(out, data, (Size) elements->n * sizeof(float8));
			break;
		case INT2OID:
			RACE_FOR_ELEMENTS(int16, elements, out[i] = element);
			break;
		case INT4OID:
			RACE_FOR_ELEMENTS(int32, elements, out[i] = element);
			break;
		case INT8OID:
			RACE_FOR_ELEMENTS(int64, elements, out[i] = (double) element);
			break;
		case FLOAT4OID:
			RACE_FOR_ELEMENTS(float4, elements, out[i] = element);
			break;
		default:				/* numeric */

			/*
			 * an overflow becomes an infinity, which is then refused without showing the
			 * number
			 */
			for (uint32 i = 0; i < elements->n; i++)
			{
				CHECK_FOR_INTERRUPTS(); /* a number may have 100,000 digits */
				out[i] = DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow,
															PointerGetDatum(next_varlena(&data))));
			}
			break;
	}
}

bool
race_vector_convert(RaceArrayReader *reader, const RaceElements *elements,
					const RaceParams *part, double *out, bool soft)
{
	uint32		n = elements->n;

	if (reader->layout == RACE_LAYOUT_HALFVEC)
		RACE_FOR_ELEMENTS(uint16, elements, out[i] = double_of_half(element));
	else if (reader->layout != RACE_LAYOUT_SPARSEVEC)
		convert_numbers(reader->element, elements, out);
	else if (!convert_sparse(elements, out, soft))
		return false;
	if (part != NULL && part->arrays != 0)
		race_vector_clip(part, out, n);
	for (uint32 i = 0; i < n; i++)
		if (unlikely(!isfinite(out[i])))
			race_refuse(soft, errmsg("expected finite numbers, found %s",
									 isnan(out[i]) ? "NaN" : "an infinity"));
	return true;
}

double *
race_vector_new(Oid type, Datum value, uint32 n)
{
	RaceArrayReader reader;
	RaceElements elements;
	double	   *out = palloc(n * sizeof(double));

	race_array_prepare(&reader, RACE_RECORD_VECTOR, type, CurrentMemoryContext);
	race_array_open(&reader, value, &elements, false, false);
	race_check_length(RACE_RECORD_VECTOR, elements.n, n, false);
	race_vector_convert(&reader, &elements, NULL, out, false);
	return out;
}

/*
 * Sets and rows of categories.
 */

/* A set may have hundreds of millions of elements: the user may interrupt. */
static void
convert_present(RaceArrayReader *reader, const RaceElements *elements,
				int64 seed, uint64 *out)
{
	const char *data = elements->data;

	switch (reader->element)
	{
		case INT2OID:
			RACE_FOR_ELEMENTS(int16, elements,
							  CHECK_FOR_INTERRUPTS();
							  out[i] = race_element_of_integer(seed, element));
			break;
		case INT4OID:
			RACE_FOR_ELEMENTS(int32, elements,
							  CHECK_FOR_INTERRUPTS();
							  out[i] = race_element_of_integer(seed, element));
			break;
		case INT8OID:
			RACE_FOR_ELEMENTS(int64, elements,
							  CHECK_FOR_INTERRUPTS();
							  out[i] = race_element_of_integer(seed, element));
			break;
		case UUIDOID:
			RACE_FOR_ELEMENTS(pg_uuid_t, elements,
							  CHECK_FOR_INTERRUPTS();
							  out[i] = race_element_of_bytes(seed, element.data, UUID_LEN));
			break;
		default:				/* texts */
			for (uint32 i = 0; i < elements->n; i++)
			{
				const char *text = next_varlena(&data);

				CHECK_FOR_INTERRUPTS();
				out[i] = race_element_of_bytes(seed, VARDATA_ANY(text), VARSIZE_ANY_EXHDR(text));
			}
			break;
	}
}

/*
 * The elements of a set or row as they are hashed, with the seed of the parameters.  Integers of
 * all widths are the same; texts are equal when their bytes are.  NULLs, if there are
 * some, become `null`.
 */
static void
set_convert(RaceArrayReader *reader, const RaceElements *elements, int64 seed, uint64 null,
			uint64 *out)
{
	RaceElements present = *elements;
	const bits8 *bits = elements->present;

	for (uint32 i = 0; bits != NULL && i < elements->n; i++)
		present.n -= (bits[i / 8] & 1 << i % 8) == 0;
	convert_present(reader, &present, seed, out);
	/* they lie together: move them to their places among NULLs, the last one first */
	for (uint32 i = elements->n; bits != NULL && i-- > 0;)
		out[i] = (bits[i / 8] & 1 << i % 8) != 0 ? out[--present.n] : null;
}

/* qsort() keeps nothing but the array, so that a comparison may end it. */
static int
compare_elements(const void *a, const void *b)
{
	uint64		x = *(const uint64 *) a;
	uint64		y = *(const uint64 *) b;

	CHECK_FOR_INTERRUPTS();
	return (x > y) - (x < y);
}

void
race_normalize_set(uint64 *elements, size_t *n)
{
	size_t		distinct = 0;

	qsort(elements, *n, sizeof(uint64), compare_elements);
	for (size_t i = 0; i < *n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (i == 0 || elements[i] != elements[distinct - 1])
			elements[distinct++] = elements[i];
	}
	*n = distinct;
}

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

static uint64 *reserve_elements(RaceRecords *records, int part, Size n);

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
	set_convert(array, &elements, params->seed, null, reserve_elements(records, i, elements.n));
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

/* Return where to write the elements of a part of the next record; n is how many a set has. */
static uint64 *
reserve_elements(RaceRecords *records, int part, Size n)
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
		memcpy(reserve_elements(records, i, n), columns->elements + start,
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
			uint64	   *elements = reserve_elements(records, i, n);

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
