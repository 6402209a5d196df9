/*
 * array_reader.c
 *		Arrays and types of pgvector: from a Datum to the elements of one part of a record
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
#include "sketch/compat.h"
#include "sketch/text.h"

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
	uint32 header; /* bytes before the numbers */
	uint32 number; /* bytes of a number, with its index if there is one */
} layouts[] = {
	[RACE_LAYOUT_VECTOR] = {"vector", 4, 4},
	[RACE_LAYOUT_HALFVEC] = {"halfvec", 4, 2},
	[RACE_LAYOUT_SPARSEVEC] = {"sparsevec", 12, 8},
};

/* Return the layout of a type of pgvector; RACE_LAYOUT_ARRAY of any other. */
static RaceLayout
pgvector_layout(Oid base)
{
	RaceLayout layout = RACE_LAYOUT_ARRAY;
	HeapTuple tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(base));
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

/* Return whether elements of this type can be parts of a vector, or of a set or row. */
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
	Oid function;
	AclResult allowed;

	/* our functions are IMMUTABLE, so they must not call a cast that is not */
	if (find_coercion_pathway(FLOAT4ARRAYOID, base, COERCION_IMPLICIT, &function) !=
			COERCION_PATH_FUNC ||
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
	bool vector = kind == RACE_RECORD_VECTOR;
	Oid base = OidIsValid(type) ? getBaseType(type) : InvalidOid;
	Oid function;

	memset(reader, 0, sizeof(RaceArrayReader));
	reader->kind = kind;
	reader->null_hint = vector ?
		"Fill it with a public value, as in ARRAY[coalesce(x, 0)], but not with the mean of private records." :
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
		ereport(
			ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 OidIsValid(type) ?
				 errmsg("type %s is not a %s", format_type_be(type),
						vector ? "vector of numbers" : "set or a row of categories") :
				 errmsg("could not determine the type of a %s", vector ? "vector" : "set"),
			 vector ?
				 errhint(
					 "Pass an array of numbers, such as float8[], or a type with an implicit cast to real[].") :
				 errhint(
					 "Pass int[], bigint[], text[] or uuid[]; cast a literal, as in '{a,b}'::text[].")));
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
		*value =
			InputFunctionCall(&reader->cast, DatumGetCString(*value), reader->cast_ioparam, -1);
		return true;
	}

	/*
	 * cast functions may have two more arguments: the type modifier, and whether the
	 * cast is explicit
	 */
	InitFunctionCallInfoData(*fcinfo, &reader->cast, reader->cast.fn_nargs, InvalidOid, NULL, NULL);
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
 * Find the elements of a stored array with a short header, without copying it.  Return false if the
 * array has several dimensions or NULLs, or if all of it must be looked at.
 */
static bool
find_short_elements(const struct varlena *value, RaceElements *elements)
{
	ArrayType header;
	const Size header_size = sizeof(ArrayType) - VARHDRSZ;

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
	RaceLayout layout = reader->layout;
	struct varlena *packed = PG_DETOAST_DATUM_PACKED(value);
	const char *data = VARDATA_ANY(packed);
	Size size = VARSIZE_ANY_EXHDR(packed);
	int32 header[3] = {0}; /* dims, numbers that are stored, and 0 */
	int16 small[2] = {0};

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
		race_refuse(soft,
					errmsg("expected a %s as pgvector stores it, found another value",
						   layouts[layout].name));
	elements->data = data + layouts[layout].header;
	elements->n = (uint32) header[0];
	elements->stored = (uint32) header[1];
	elements->present = NULL;
	return true;
}

bool
race_array_open(RaceArrayReader *reader, Datum value, RaceElements *elements, bool nulls, bool soft)
{
	struct varlena *packed;
	ArrayType *array;
	bool fixed_length = reader->element != NUMERICOID && reader->element != TEXTOID &&
		reader->element != VARCHAROID;

	if (reader->layout != RACE_LAYOUT_ARRAY)
		return open_pgvector(reader, value, elements, soft);
	if (reader->has_cast && !apply_cast(reader, &value, soft))
		return false;
	packed = PG_DETOAST_DATUM_PACKED(value);
	elements->present = NULL;
	/* elements of variable length need an aligned array */
	if (VARATT_IS_SHORT(packed) && fixed_length && find_short_elements(packed, elements))
		return true;

	array = DatumGetArrayTypeP(PointerGetDatum(packed));
	if (ARR_NDIM(array) > 1)
		race_refuse(soft,
					errmsg("expected an array of one dimension, found one of %d", ARR_NDIM(array)));
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
	do \
	{ \
		uint32 i; \
		type element; \
\
		for (i = 0; i < (elements)->n; i++) \
		{ \
			memcpy(&element, (elements)->data + (Size) i * sizeof(type), sizeof(type)); \
			statement; \
		} \
	} while (0)

/* Return the bytes of the next element in *data, of a type with a variable length; step over it. */
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
	bool row = kind == RACE_RECORD_ROW;
	const char *what = row ? "row" : "vector";
	const char *unit = !row ? "dimensions" : expected == 1 ? "category" : "categories";

	if (n == 0 && expected == 0)
		race_refuse(
			soft, errmsg("expected a %s, found an empty array", row ? "row of categories" : what));
	if (expected == 0 && n > RACE_MAX_DIMS)
		race_refuse(soft,
					errmsg("expected a %s of up to %d %s, found %u", what, RACE_MAX_DIMS, unit, n));
	if (expected != 0 && n != expected)
		race_refuse(
			soft, errmsg("expected a %s of %u %s, found %u", what, expected, unit, n),
			errhint("Give as many as dims in the parameters says: ARRAY[a, b] for dims=2."));
	return true;
}

/* Convert a number of 16 bits: 1 of the sign, 5 of the exponent, 10 of the fraction. */
static double
double_of_half(uint16 half)
{
	uint32 exponent = half >> 10 & 31;
	uint32 fraction = half & 1023;
	double x;

	if (exponent == 31)
		x = fraction == 0 ? INFINITY : NAN;
	else if (exponent == 0)
		x = ldexp(fraction, -24);
	else
		x = ldexp(fraction + 1024, (int) exponent - 25);
	return (half & 0x8000) != 0 ? -x : x;
}

static bool
convert_sparse(const RaceElements *elements, double *out, bool soft)
{
	const char *numbers = elements->data + (Size) elements->stored * sizeof(int32);
	int64 last = -1;

	memset(out, 0, elements->n * sizeof(double));
	for (uint32 i = 0; i < elements->stored; i++)
	{
		int32 index;
		float4 number;

		memcpy(&index, elements->data + (Size) i * sizeof(int32), sizeof(int32));
		memcpy(&number, numbers + (Size) i * sizeof(float4), sizeof(float4));
		if (index <= last || index >= (int64) elements->n)
			race_refuse(soft,
						errmsg("expected a sparsevec whose indices rise, as pgvector stores it"));
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
		default: /* numeric */

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
race_vector_convert(RaceArrayReader *reader, const RaceElements *elements, const RaceParams *part,
					double *out, bool soft)
{
	uint32 n = elements->n;

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
			race_refuse(
				soft,
				errmsg("expected finite numbers, found %s", isnan(out[i]) ? "NaN" : "an infinity"));
	return true;
}

double *
race_vector_new(Oid type, Datum value, uint32 n)
{
	RaceArrayReader reader;
	RaceElements elements;
	double *out = palloc(n * sizeof(double));

	race_array_prepare(&reader, RACE_RECORD_VECTOR, type, CurrentMemoryContext);
	race_array_open(&reader, value, &elements, false, false);
	race_check_length(RACE_RECORD_VECTOR, elements.n, n, false);
	race_vector_convert(&reader, &elements, NULL, out, false);
	return out;
}

/*
 * Sets and rows of categories.
 */

/*
 * Convert the elements that are not NULL.  A set may have hundreds of millions: the user may
 * interrupt.
 */
static void
convert_present(RaceArrayReader *reader, const RaceElements *elements, int64 seed, uint64 *out)
{
	const char *data = elements->data;

	switch (reader->element)
	{
		case INT2OID:
			RACE_FOR_ELEMENTS(int16, elements, CHECK_FOR_INTERRUPTS();
							  out[i] = race_element_of_integer(seed, element));
			break;
		case INT4OID:
			RACE_FOR_ELEMENTS(int32, elements, CHECK_FOR_INTERRUPTS();
							  out[i] = race_element_of_integer(seed, element));
			break;
		case INT8OID:
			RACE_FOR_ELEMENTS(int64, elements, CHECK_FOR_INTERRUPTS();
							  out[i] = race_element_of_integer(seed, element));
			break;
		case UUIDOID:
			RACE_FOR_ELEMENTS(pg_uuid_t, elements, CHECK_FOR_INTERRUPTS();
							  out[i] = race_element_of_bytes(seed, element.data, UUID_LEN));
			break;
		default: /* texts */
			for (uint32 i = 0; i < elements->n; i++)
			{
				const char *text = next_varlena(&data);

				CHECK_FOR_INTERRUPTS();
				out[i] = race_element_of_bytes(seed, VARDATA_ANY(text), VARSIZE_ANY_EXHDR(text));
			}
			break;
	}
}

void
race_elements_convert(RaceArrayReader *reader, const RaceElements *elements, int64 seed,
					  uint64 null, uint64 *out)
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

/* Compare elements.  qsort() keeps nothing but the array, so that a comparison may end it. */
static int
compare_elements(const void *a, const void *b)
{
	uint64 x = *(const uint64 *) a;
	uint64 y = *(const uint64 *) b;

	CHECK_FOR_INTERRUPTS();
	return (x > y) - (x < y);
}

void
race_normalize_set(uint64 *elements, size_t *n)
{
	size_t distinct = 0;

	qsort(elements, *n, sizeof(uint64), compare_elements);
	for (size_t i = 0; i < *n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (i == 0 || elements[i] != elements[distinct - 1])
			elements[distinct++] = elements[i];
	}
	*n = distinct;
}
