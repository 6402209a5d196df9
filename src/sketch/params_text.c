/*
 * params_text.c
 *		The text form of race_params: output
 */
#include "postgres.h"

#include "common/shortest_dec.h"
#include "lib/stringinfo.h"

#include "hash/fields.h"
#include "hash/kernel.h"
#include "hash/params.h"
#include "sketch/params_text.h"

static void
append_double(StringInfo text, double x)
{
	char digits[DOUBLE_SHORTEST_DECIMAL_LEN];

	double_to_shortest_decimal_buf(x, digits);
	appendStringInfoString(text, digits);
}

static void
append_numbers(StringInfo text, const double *x, uint32 n, uint32 most)
{
	if (n > most)
	{
		appendStringInfo(text, "{%u numbers}", n);
		return;
	}
	for (uint32 i = 0; i < n; i++)
	{
		appendStringInfoChar(text, i == 0 ? '{' : ',');
		append_double(text, x[i]);
	}
	appendStringInfoChar(text, '}');
}

static void
append_matrix(StringInfo text, const RaceParams *part, RaceArray array, uint32 most)
{
	const double *x = race_array(part, array);
	uint32 rows = race_array_rows(part, array);
	uint32 columns = race_array_columns(part, array);

	if (rows > most)
		appendStringInfo(text, "{%u rows", rows);
	for (uint32 i = 0; i < rows && rows <= most; i++)
	{
		appendStringInfoChar(text, i == 0 ? '{' : ',');
		append_numbers(text, x + (Size) i * columns, columns, most);
	}
	appendStringInfoChar(text, '}');
}

static void
append_value(StringInfo text, int key, const RaceParams *part, uint32 most)
{
	const RaceField *field = &race_fields[key];
	const char *name;
	uint64 bits = field->size > 0 ? race_field_bits(field, part) : 0;

	switch (field->type)
	{
		case RACE_FIELD_CHOICE:
			/* a damaged value may have no name */
			name = race_choice_name(key, (int) bits);
			appendStringInfoString(text, name != NULL ? name : "?");
			break;
		case RACE_FIELD_REAL:
			append_double(text, race_double_of_bits(bits));
			break;
		case RACE_FIELD_VECTOR:
			append_numbers(text, race_array(part, field->array), part->dims, most);
			break;
		case RACE_FIELD_MATRIX:
			append_matrix(text, part, field->array, most);
			break;
		default:
			appendStringInfo(text, INT64_FORMAT, (int64) bits);
			break;
	}
}

/* Write a part: the fields that its kernel takes and that are stated. */
static void
append_part(StringInfo text, const RaceParams *part, bool first, uint32 most)
{
	const char *separator = "";

	appendStringInfoString(text, race_part_name(part));
	appendStringInfoChar(text, '(');
	for (int key = RACE_KEY_KERNEL + 1; key < RACE_KEYS; key++)
	{
		const RaceField *field = &race_fields[key];

		if ((field->shared && !first) || !race_field_applies(field, part) ||
			(field->optional &&
			 (field->array != 0 ? race_array(part, field->array) == NULL :
								  race_field_bits(field, part) == 0)))
			continue;
		appendStringInfo(text, "%s%s=", separator, field->name);
		append_value(text, key, part, most);
		separator = ", ";
	}
	appendStringInfoChar(text, ')');
}

/*
 * Write arrays of at most so many numbers, or rows; of longer ones, write the
 * length.
 */
static char *
text_of(const RaceParams *params, uint32 most)
{
	StringInfoData text;

	initStringInfo(&text);
	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
	{
		if (part != params)
			appendStringInfoString(&text, " * ");
		append_part(&text, part, part == params, most);
	}
	return text.data;
}

char *
race_params_text(const RaceParams *params)
{
	return text_of(params, PG_UINT32_MAX);
}

char *
race_params_brief(const RaceParams *params)
{
	return text_of(params, 8);
}
