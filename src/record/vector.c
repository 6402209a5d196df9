/*
 * vector.c
 *		Vectors: arrays of numbers of any type, types with a cast to one, and pgvector's.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "pgvector.h"
#include "vector.h"

/* Can race_vector_convert() read elements of this type? */
static bool
is_number(Oid element)
{
	return element == INT2OID || element == INT4OID || element == INT8OID ||
		element == FLOAT4OID || element == FLOAT8OID || element == NUMERICOID;
}

void
race_vector_prepare(RaceArrayReader *reader, Oid type, MemoryContext context)
{
	if (!race_array_prepare(reader, type, is_number, FLOAT4OID, true, context) &&
		!race_pgvector_prepare(reader, type))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 OidIsValid(type) ?
				 errmsg("type %s is not a vector of numbers", format_type_be(type)) :
				 errmsg("could not determine the type of a vector"),
				 errhint("Pass an array of numbers, such as float8[], or a type with an implicit cast to real[].")));
	reader->null_hint = "Fill it with a public value, as in ARRAY[coalesce(x, 0)]: not with one that is computed from private records, such as their mean.";
}

bool
race_check_length(uint32 n, uint32 expected, bool soft)
{
	if (n == 0 && expected == 0)
		race_refuse(soft, errmsg("expected a vector, found an empty array"));
	if (expected == 0 && n > RACE_MAX_DIMS)
		race_refuse(soft, errmsg("expected a vector of up to %d dimensions, found %u",
								 RACE_MAX_DIMS, n));
	if (expected != 0 && n != expected)
		race_refuse(soft, errmsg("expected a vector of %u dimensions, found %u",
								 expected, n));
	return true;
}

static void
convert_numerics(const RaceElements *elements, double *out)
{
	const char *data = elements->data;
	uint32		i;

	/*
	 * an overflow becomes an infinity, which is then refused without showing the
	 * number
	 */
	for (i = 0; i < elements->n; i++)
	{
		CHECK_FOR_INTERRUPTS(); /* a number may have 100,000 digits */
		out[i] = DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow,
													PointerGetDatum(race_next_varlena(&data))));
	}
}

static void
convert_elements(Oid type, const RaceElements *elements, double *out)
{
	switch (type)
	{
		case FLOAT8OID:
			memcpy(out, elements->data, (Size) elements->n * sizeof(float8));
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
		default:
			convert_numerics(elements, out);
			break;
	}
}

bool
race_vector_convert(RaceArrayReader *reader, const RaceElements *elements,
					const RaceParams *part, double *out, bool soft)
{
	uint32		n = elements->n;
	uint32		i;

	if (reader->layout == RACE_LAYOUT_ARRAY)
		convert_elements(reader->element, elements, out);
	else if (!race_pgvector_convert(reader, elements, out, soft))
		return false;
	if (part != NULL && part->arrays != 0)
		race_vector_clip(part, out, n);
	for (i = 0; i < n; i++)
		if (unlikely(!isfinite(out[i])))
			race_refuse(soft, errmsg("expected finite numbers, found %s",
									 isnan(out[i]) ? "NaN" : "an infinity"));
	return true;
}

void
race_vector_read(RaceArrayReader *reader, Datum value, uint32 n, double *out)
{
	RaceElements elements;

	race_array_open(reader, value, &elements, false, false);
	race_check_length(elements.n, n, false);
	race_vector_convert(reader, &elements, NULL, out, false);
}

double *
race_vector_new(Oid type, Datum value, uint32 n)
{
	RaceArrayReader reader;
	double	   *out = palloc(n * sizeof(double));

	race_vector_prepare(&reader, type, CurrentMemoryContext);
	race_vector_read(&reader, value, n, out);
	return out;
}
