/*
 * set.c
 *		Sets and rows of categories: arrays of elements that can be equal.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/uuid.h"

#include "../lsh/lsh.h"
#include "../server/compat.h"
#include "set.h"

/* Can race_set_convert() read elements of this type? */
static bool
is_element(Oid element)
{
	return element == INT2OID || element == INT4OID || element == INT8OID ||
		element == TEXTOID || element == VARCHAROID || element == UUIDOID;
}

void
race_set_prepare(RaceArrayReader *reader, Oid type, MemoryContext context)
{
	if (!race_array_prepare(reader, type, is_element, InvalidOid, false, context))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 OidIsValid(type) ?
				 errmsg("type %s is not a set or a row of categories",
						format_type_be(type)) :
				 errmsg("could not determine the type of a set"),
				 errhint("Pass int[], bigint[], text[] or uuid[]; cast a literal, as in '{a,b}'::text[].")));
	reader->null_hint = "Leave it out, as in array_remove(x, NULL).";
}

bool
race_check_columns(uint32 n, uint32 expected, bool soft)
{
	if (n == 0 && expected == 0)
		race_refuse(soft, errmsg("expected a row of categories, found an empty array"));
	if (expected == 0 && n > RACE_MAX_DIMS)
		race_refuse(soft, errmsg("expected a row of up to %d categories, found %u",
								 RACE_MAX_DIMS, n));
	if (expected != 0 && n != expected)
		race_refuse(soft, errmsg_plural("expected a row of %u category, found %u",
										"expected a row of %u categories, found %u",
										expected, expected, n));
	return true;
}

static void
convert_texts(const RaceElements *elements, int64 seed, uint64 *out)
{
	const char *data = elements->data;
	uint32		i;

	for (i = 0; i < elements->n; i++)
	{
		const char *text = race_next_varlena(&data);

		CHECK_FOR_INTERRUPTS();
		out[i] = race_element_of_bytes(seed, VARDATA_ANY(text),
									   VARSIZE_ANY_EXHDR(text));
	}
}

/* A set may have hundreds of millions of elements: the user may interrupt. */
static void
convert_present(RaceArrayReader *reader, const RaceElements *elements,
				int64 seed, uint64 *out)
{
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
		default:
			convert_texts(elements, seed, out);
			break;
	}
}

/* Move n_present elements, which lie together, to their places among NULLs. */
static void
spread(const bits8 *present, uint32 n, uint32 n_present, uint64 null, uint64 *out)
{
	while (n-- > 0)
		out[n] = (present[n / 8] & 1 << n % 8) != 0 ? out[--n_present] : null;
}

void
race_set_convert(RaceArrayReader *reader, const RaceElements *elements,
				 int64 seed, uint64 null, uint64 *out)
{
	RaceElements present = *elements;
	uint32		i;

	for (i = 0; elements->present != NULL && i < elements->n; i++)
		present.n -= (elements->present[i / 8] & 1 << i % 8) == 0;
	convert_present(reader, &present, seed, out);
	if (present.n < elements->n)
		spread(elements->present, elements->n, present.n, null, out);
}
