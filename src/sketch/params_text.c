/*
 * params_text.c
 *		The text form of race_params: output
 */
#include "postgres.h"

#include "common/shortest_dec.h"
#include "lib/stringinfo.h"

#include "hash/defaults.h"
#include "hash/fields.h"
#include "hash/kind.h"
#include "hash/params.h"
#include "hash/sobol.h"
#include "sketch/params_text.h"
#include "sketch/params_type.h"

/* Arrays of more numbers, or rows, are left out of messages. */
#define MESSAGE_NUMBERS 8

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

/* Return whether a part states a field: the text form has it. */
static bool
is_stated(int key, const RaceParams *part, bool first)
{
	const RaceField *field = &race_fields[key];

	return (first || !field->shared) && race_field_applies(field, part) &&
		(!field->optional ||
		 (field->array != 0 ? race_array(part, field->array) != NULL :
							  race_field_bits(field, part) != 0));
}

/*
 * Return whether a field is what the constructor makes of it if it is not given.  Earlier parts have
 * taken so many of Sobol's dimensions.
 */
static bool
is_default(int key, const RaceParams *part, const RaceParams *params, uint32 taken)
{
	const RaceField *field = &race_fields[key];

	if (field->array != 0)
		return false;
	switch (key)
	{
		case RACE_KEY_ROWS:
		case RACE_KEY_RANGE:
			if (!race_summary_kind(params)->hashed)
				return true; /* they follow from the cells */
			break;
		case RACE_KEY_SEQUENCE:
			return part->sequence == race_default_sequence(part, taken);
		case RACE_KEY_REHASH:
			return params->rehash == race_default_rehash(params);
	}
	return race_field_bits(field, part) == race_field_bits(field, &race_params_default);
}

/*
 * Write the parts, each with its kernel and the fields that it states.  Arrays have at most so many
 * numbers, or rows; of longer ones, write the length.  The brief form leaves out defaults.
 */
static char *
text_of(const RaceParams *params, uint32 most, bool brief)
{
	StringInfoData text;
	uint32 taken = 0;

	initStringInfo(&text);
	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
	{
		const char *separator = "(";

		appendStringInfo(&text, "%s%s", part == params ? "" : " * ", race_part_name(part));
		for (int key = RACE_KEY_KERNEL + 1; key < RACE_KEYS; key++)
		{
			if (!is_stated(key, part, part == params) ||
				(brief && is_default(key, part, params, taken)))
				continue;
			appendStringInfo(&text, "%s%s=", separator, race_fields[key].name);
			append_value(&text, key, part, most);
			separator = ", ";
		}
		appendStringInfoString(&text, *separator == '(' ? "" : ")");
		if (part->sequence == RACE_SEQUENCE_SOBOL)
			taken += race_sobol_dimensions(part);
	}
	return text.data;
}

char *
race_params_text(const RaceParams *params)
{
	return text_of(params, PG_UINT32_MAX, false);
}

char *
race_params_brief(const RaceParams *params)
{
	return text_of(params, MESSAGE_NUMBERS, true);
}

/* Return whether two parts of the same name agree in a field. */
static bool
fields_agree(int key, const RaceParams *x, const RaceParams *y, bool first)
{
	const RaceField *field = &race_fields[key];
	bool stated = is_stated(key, x, first);

	if (stated != is_stated(key, y, first))
		return false;
	if (!stated)
		return true;
	return field->array != 0 ? race_params_same_array(x, y, field->array) :
							   race_field_bits(field, x) == race_field_bits(field, y);
}

/* Write the fields, of a set, that differ in two parts: "bandwidth 2 and 3, rows 16 and 64". */
static void
append_differences(StringInfo text, const RaceParams *x, const RaceParams *y, bool first,
				   uint32 fields)
{
	const RaceParams *sides[2] = {x, y};

	for (int key = RACE_KEY_KERNEL + 1; key < RACE_KEYS; key++)
	{
		if ((fields & RaceFieldBit(key)) == 0 || fields_agree(key, x, y, first))
			continue;
		appendStringInfo(text, "%s%s ", text->len > 0 ? ", " : "", race_fields[key].name);
		for (int i = 0; i < 2; i++)
		{
			if (is_stated(key, sides[i], first))
				append_value(text, key, sides[i], MESSAGE_NUMBERS);
			else
				appendStringInfoString(text, "none");
			appendStringInfoString(text, i == 0 ? " and " : "");
		}
	}
}

char *
race_params_difference(const RaceParams *a, const RaceParams *b, uint32 fields)
{
	StringInfoData text;
	const RaceParams *x = a;
	const RaceParams *y = b;

	initStringInfo(&text);
	for (; x != NULL && y != NULL; x = race_params_next(x, a), y = race_params_next(y, b))
	{
		if (strcmp(race_part_name(x), race_part_name(y)) != 0)
			break;
		/* of a grid and of rows, the sequence says which is which; their shapes have no relation */
		if (x->kind != y->kind)
			fields = (fields & ~RACE_FIELDS_OF_SHAPE) | RaceFieldBit(RACE_KEY_SEQUENCE);
		append_differences(&text, x, y, x == a, fields);
	}
	if (x != NULL || y != NULL)
		return psprintf("One side has %s, the other %s.", race_params_brief(a),
						race_params_brief(b));
	return psprintf("They differ: %s.", text.data);
}
