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

/* The number of elements of a proper vector */
static uint32
check_shape(ArrayType *array, uint32 dims)
{
	uint32		n;

	if (ARR_NDIM(array) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("expected a vector, found an array of %d dimensions",
						ARR_NDIM(array))));
	n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	if (n == 0 && dims == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("expected a vector, found an empty array")));
	if (dims != 0 && n != dims)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("expected a vector of %u dimensions, found %u", dims, n)));
	if (ARR_HASNULL(array) && array_contains_nulls(array))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("expected a vector of numbers, found a null element")));
	return n;
}

static double *
buffer_for(RaceVectorReader *reader, uint32 n)
{
	if (n > reader->capacity)
	{
		Size		size = (Size) n * sizeof(double);

		reader->capacity = 0;
		if (reader->buffer != NULL)
			pfree(reader->buffer);
		reader->buffer = NULL;
		reader->buffer = MemoryContextAlloc(reader->context, size);
		reader->capacity = n;
	}
	return reader->buffer;
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

static const double *
convert_elements(RaceVectorReader *reader, ArrayType *array, uint32 n)
{
	const char *data = ARR_DATA_PTR(array);
	double	   *out;
	uint32		i;

	if (reader->element == FLOAT8OID)
		return (const double *) data;

	out = buffer_for(reader, n);
	switch (reader->element)
	{
		case INT2OID:
			for (i = 0; i < n; i++)
				out[i] = ((const int16 *) data)[i];
			break;
		case INT4OID:
			for (i = 0; i < n; i++)
				out[i] = ((const int32 *) data)[i];
			break;
		case INT8OID:
			for (i = 0; i < n; i++)
				out[i] = (double) ((const int64 *) data)[i];
			break;
		case FLOAT4OID:
			for (i = 0; i < n; i++)
				out[i] = ((const float4 *) data)[i];
			break;
		default:
			convert_numerics(data, n, out);
			break;
	}
	return out;
}

const double *
race_vector_read(RaceVectorReader *reader, Datum value, uint32 dims, uint32 *n)
{
	ArrayType  *array;
	const double *elements;
	uint32		i;

	if (reader->has_cast)
		value = apply_cast(reader, value);
	array = DatumGetArrayTypeP(value);
	*n = check_shape(array, dims);
	elements = convert_elements(reader, array, *n);
	for (i = 0; i < *n; i++)
		if (!isfinite(elements[i]))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("expected finite numbers, found %s",
							isnan(elements[i]) ? "NaN" : "an infinity")));
	return elements;
}
