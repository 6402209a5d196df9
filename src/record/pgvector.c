/*
 * pgvector.c
 *		The types of the extension pgvector: vector, halfvec and sparsevec.
 *
 *	vector, halfvec		int16 dimensions, int16 0, then numbers: float4, or of 16 bits
 *	sparsevec			int32 dimensions, int32 numbers, int32 0, then their indices from 0 on,
 *						int32 and rising, then the numbers, float4
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "pgvector.h"

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

bool
race_pgvector_prepare(RaceArrayReader *reader, Oid type)
{
	HeapTuple	tuple;
	Form_pg_type form;
	int			i;

	if (!OidIsValid(type))
		return false;
	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(getBaseType(type)));
	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_type) GETSTRUCT(tuple);
	if (form->typtype == TYPTYPE_BASE && form->typlen == -1 && !OidIsValid(form->typelem))
		for (i = RACE_LAYOUT_VECTOR; i < (int) lengthof(layouts); i++)
			if (strcmp(NameStr(form->typname), layouts[i].name) == 0)
				reader->layout = (RaceLayout) i;
	ReleaseSysCache(tuple);
	return reader->layout != RACE_LAYOUT_ARRAY;
}

/* Dimensions, numbers that are stored, and what must be 0; false if they do not fit in */
static bool
read_header(RaceLayout layout, const char *data, Size size, int64 *dims, int64 *numbers,
			int64 *zero)
{
	int16		small[2];
	int32		large[3];

	if (size < layouts[layout].header)
		return false;
	if (layout == RACE_LAYOUT_SPARSEVEC)
	{
		memcpy(large, data, sizeof(large));
		*dims = large[0];
		*numbers = large[1];
		*zero = large[2];
		return true;
	}
	memcpy(small, data, sizeof(small));
	*dims = *numbers = small[0];
	*zero = small[1];
	return true;
}

bool
race_pgvector_open(const RaceArrayReader *reader, Datum value, RaceElements *elements,
				   bool soft)
{
	RaceLayout	layout = reader->layout;
	struct varlena *packed = PG_DETOAST_DATUM_PACKED(value);
	const char *data = VARDATA_ANY(packed);
	Size		size = VARSIZE_ANY_EXHDR(packed);
	int64		dims;
	int64		numbers;
	int64		zero;

	if (!read_header(layout, data, size, &dims, &numbers, &zero) || zero != 0 ||
		numbers < 0 || numbers > dims ||
		size != layouts[layout].header + (Size) numbers * layouts[layout].number)
		race_refuse(soft, errmsg("expected a %s as pgvector stores it, found another value",
								 layouts[layout].name));
	elements->data = data + layouts[layout].header;
	elements->n = (uint32) dims;
	elements->stored = (uint32) numbers;
	elements->present = NULL;
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
	uint32		i;

	memset(out, 0, elements->n * sizeof(double));
	for (i = 0; i < elements->stored; i++)
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

bool
race_pgvector_convert(const RaceArrayReader *reader, const RaceElements *elements,
					  double *out, bool soft)
{
	switch (reader->layout)
	{
		case RACE_LAYOUT_SPARSEVEC:
			return convert_sparse(elements, out, soft);
		case RACE_LAYOUT_HALFVEC:
			RACE_FOR_ELEMENTS(uint16, elements, out[i] = double_of_half(element));
			break;
		default:
			RACE_FOR_ELEMENTS(float4, elements, out[i] = element);
			break;
	}
	return true;
}
