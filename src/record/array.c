/*
 * array.c
 *		Arrays as SQL passes them, of any type.
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/lsyscache.h"

#include "../server/compat.h"
#include "../server/text.h"
#include "array.h"
#include "pgvector.h"

/* Text input of an array type, as a cast from literals */
static void
prepare_literal(RaceArrayReader *reader, Oid element, MemoryContext context)
{
	Oid			function;

	getTypeInputInfo(get_array_type(element), &function, &reader->cast_ioparam);
	fmgr_info_cxt(function, &reader->cast, context);
	reader->element = element;
	reader->has_cast = true;
}

bool
race_array_prepare(RaceArrayReader *reader, Oid type, bool (*accepts) (Oid),
				   Oid otherwise, bool literals, MemoryContext context)
{
	Oid			base = OidIsValid(type) ? getBaseType(type) : InvalidOid;
	Oid			function;

	memset(reader, 0, sizeof(RaceArrayReader));
	reader->type = type;
	if (!OidIsValid(base))
		return false;
	if (literals && base == UNKNOWNOID)
	{
		prepare_literal(reader, FLOAT8OID, context);
		return true;
	}
	reader->element = get_element_type(base);
	if (accepts(reader->element))
		return true;
	/* our functions are IMMUTABLE, so they must not call a cast that is not */
	if (OidIsValid(otherwise) &&
		find_coercion_pathway(get_array_type(otherwise), base, COERCION_IMPLICIT,
							  &function) == COERCION_PATH_FUNC &&
		func_volatile(function) == PROVOLATILE_IMMUTABLE)
	{
		AclResult	allowed = race_function_aclcheck(function);

		if (allowed != ACLCHECK_OK)
			aclcheck_error(allowed, OBJECT_FUNCTION, get_func_name(function));
		fmgr_info_cxt(function, &reader->cast, context);
		reader->element = otherwise;
		reader->has_cast = true;
		return true;
	}
	return false;
}

/* Cast a value to an array; the result may be NULL. */
static bool
apply_cast(RaceArrayReader *reader, Datum *value, bool soft)
{
	LOCAL_FCINFO(fcinfo, 3);
	int			i;

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
	for (i = 0; i < 3; i++)
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

bool
race_array_open(RaceArrayReader *reader, Datum value, RaceElements *elements,
				bool nulls, bool soft)
{
	struct varlena *packed;
	ArrayType  *array;
	bool		fixed_length = reader->element != NUMERICOID &&
		reader->element != TEXTOID && reader->element != VARCHAROID;

	if (reader->layout != RACE_LAYOUT_ARRAY)
		return race_pgvector_open(reader, value, elements, soft);
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

const char *
race_next_varlena(const char **data)
{
	const char *element = *data;

	*data = att_addlength_pointer(element, -1, element);
	*data = (const char *) att_align_nominal(*data, TYPALIGN_INT);
	return element;
}
