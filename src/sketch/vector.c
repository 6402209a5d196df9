/*
 * vector.c
 *		Vectors as SQL passes them: arrays of numbers of any type.
 */
#include "postgres.h"

#include <math.h>

#include "access/tupmacs.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "vector.h"

/* Can convert_elements() read elements of this type? */
static bool
is_number(Oid element)
{
	return element == INT2OID || element == INT4OID || element == INT8OID ||
		element == FLOAT4OID || element == FLOAT8OID || element == NUMERICOID;
}

void
race_vector_prepare(RaceVectorReader *reader, Oid type, MemoryContext context)
{
	Oid			base = OidIsValid(type) ? getBaseType(type) : InvalidOid;
	Oid			function;

	memset(reader, 0, sizeof(RaceVectorReader));
	reader->type = type;
	reader->context = context;

	if (base == UNKNOWNOID)
	{
		/* a literal: read it as text of float8[] */
		getTypeInputInfo(FLOAT8ARRAYOID, &function, &reader->cast_ioparam);
		fmgr_info_cxt(function, &reader->cast, context);
		reader->element = FLOAT8OID;
		reader->has_cast = true;
		return;
	}

	reader->element = OidIsValid(base) ? get_element_type(base) : InvalidOid;
	if (is_number(reader->element))
		return;

	if (OidIsValid(base) &&
		find_coercion_pathway(FLOAT4ARRAYOID, base, COERCION_IMPLICIT,
							  &function) == COERCION_PATH_FUNC)
	{
		AclResult	allowed = race_function_aclcheck(function);

		if (allowed != ACLCHECK_OK)
			aclcheck_error(allowed, OBJECT_FUNCTION, get_func_name(function));
		fmgr_info_cxt(function, &reader->cast, context);
		reader->element = FLOAT4OID;
		reader->has_cast = true;
		return;
	}

	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 OidIsValid(type) ?
			 errmsg("type %s is not a vector of numbers", format_type_be(type)) :
			 errmsg("could not determine the type of a vector"),
			 errhint("Pass an array of numbers, such as float8[], or a type with an implicit cast to real[].")));
}

static Datum
apply_cast(RaceVectorReader *reader, Datum value)
{
	if (OidIsValid(reader->cast_ioparam))
		return InputFunctionCall(&reader->cast, DatumGetCString(value),
								 reader->cast_ioparam, -1);

	/* cast functions may want the type modifier, and whether they were asked */
	switch (reader->cast.fn_nargs)
	{
		case 1:
			return FunctionCall1(&reader->cast, value);
		case 2:
			return FunctionCall2(&reader->cast, value, Int32GetDatum(-1));
		default:
			return FunctionCall3(&reader->cast, value, Int32GetDatum(-1),
								 BoolGetDatum(false));
	}
}

/* Elements of an array, wherever they lie: perhaps not aligned */
typedef struct Elements
{
	const char *data;
	uint32		n;
} Elements;

static void
check_length(uint32 n, uint32 dims)
{
	if (n == 0 && dims == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("expected a vector, found an empty array")));
	if (dims != 0 && n != dims)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("expected a vector of %u dimensions, found %u", dims, n)));
}

/*
 * The elements of a stored array with a short header, where it is.  False for
 * what find_elements() is to look at: other than one dimension, or with NULLs.
 */
static bool
find_short_elements(const struct varlena *value, Elements *elements)
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

static void
find_elements(ArrayType *array, Elements *elements)
{
	if (ARR_NDIM(array) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("expected a vector, found an array of %d dimensions",
						ARR_NDIM(array))));
	elements->n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	elements->data = ARR_DATA_PTR(array);
}

static void
check_no_nulls(ArrayType *array)
{
	if (ARR_HASNULL(array) && array_contains_nulls(array))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("expected a vector of numbers, found a null element")));
}

/* The elements of an argument, checked but for their values */
static Elements
open_vector(RaceVectorReader *reader, Datum value, uint32 dims)
{
	struct varlena *packed;
	ArrayType  *array;
	Elements	elements;

	if (reader->has_cast)
		value = apply_cast(reader, value);
	packed = PG_DETOAST_DATUM_PACKED(value);
	/* numerics must lie aligned to each other */
	if (VARATT_IS_SHORT(packed) && reader->element != NUMERICOID &&
		find_short_elements(packed, &elements))
	{
		check_length(elements.n, dims);
		return elements;
	}

	array = DatumGetArrayTypeP(PointerGetDatum(packed));
	find_elements(array, &elements);
	check_length(elements.n, dims);
	check_no_nulls(array);
	return elements;
}

/* Elements of variable length, one after the other */
static void
convert_numerics(const char *data, uint32 n, double *out)
{
	uint32		i;

	for (i = 0; i < n; i++)
	{
		/* an overflow becomes an infinity, to be refused without showing it */
		out[i] = DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow,
													PointerGetDatum(data)));
		data = att_addlength_pointer(data, -1, data);
		data = (const char *) att_align_nominal(data, TYPALIGN_INT);
	}
}

/* Convert elements of a fixed-length type, which may not be aligned. */
#define CONVERT(type) \
	for (i = 0; i < n; i++) \
	{ \
		type		element; \
\
		memcpy(&element, data + (Size) i * sizeof(type), sizeof(type)); \
		out[i] = (double) element; \
	}

static void
convert_elements(Oid type, const char *data, uint32 n, double *out)
{
	uint32		i;

	switch (type)
	{
		case FLOAT8OID:
			memcpy(out, data, (Size) n * sizeof(float8));
			break;
		case INT2OID:
			CONVERT(int16);
			break;
		case INT4OID:
			CONVERT(int32);
			break;
		case INT8OID:
			CONVERT(int64);
			break;
		case FLOAT4OID:
			CONVERT(float4);
			break;
		default:
			convert_numerics(data, n, out);
			break;
	}
}

static void
check_finite(const double *x, uint32 n)
{
	uint32		i;

	for (i = 0; i < n; i++)
		if (unlikely(!isfinite(x[i])))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("expected finite numbers, found %s",
							isnan(x[i]) ? "NaN" : "an infinity")));
}

void
race_vector_read_into(RaceVectorReader *reader, Datum value, uint32 dims,
					  double *out)
{
	Elements	elements = open_vector(reader, value, dims);

	convert_elements(reader->element, elements.data, dims, out);
	check_finite(out, dims);
}

const double *
race_vector_read(RaceVectorReader *reader, Datum value, uint32 dims, uint32 *n)
{
	Elements	elements = open_vector(reader, value, dims);

	*n = elements.n;
	if (*n > reader->capacity)
	{
		reader->capacity = 0;
		if (reader->buffer != NULL)
			pfree(reader->buffer);
		reader->buffer = NULL;
		reader->buffer = MemoryContextAlloc(reader->context,
											(Size) *n * sizeof(double));
		reader->capacity = *n;
	}
	convert_elements(reader->element, elements.data, *n, reader->buffer);
	check_finite(reader->buffer, *n);
	return reader->buffer;
}
