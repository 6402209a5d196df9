/*
 * params_io.c
 *		Text and binary forms of race_params
 */
#include "postgres.h"

#include <ctype.h>
#include <errno.h>

#include "common/shortest_dec.h"
#include "lib/stringinfo.h"

#include "bytes.h"
#include "contingency.h"
#include "params.h"
#include "server.h"

/*
 * The text form of race_params: input.
 *
 * A kernel's name and, in parentheses, what differs from the defaults:
 * l2(dims=3, bandwidth=5); of a product, several of them with * between, where the
 * first states what all share.  Arrays are in braces: lower={0,0}.  A call with one
 * literal, race_params('l2'), is a cast to PostgreSQL, so it comes here as well.
 */

/* A soft error, with what was wrong as detail */
#define MALFORMED(...) \
	ereturn(escontext, false, \
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION), \
			 errmsg("invalid input syntax for type race_params"), \
			 errdetail(__VA_ARGS__)))

/* ---------------------------------------------------------------- words */

/*
 * Cut the next word out of *text: letters, digits and the other characters of
 * numbers. NULL if there is none.
 */
static char *
next_word(const char **text)
{
	const char *start;

	while (isspace((unsigned char) **text))
		(*text)++;
	start = *text;
	while (isalnum((unsigned char) **text) ||
		   (**text != '\0' && strchr("+-._", **text) != NULL))
		(*text)++;
	return *text == start ? NULL : pnstrdup(start, *text - start);
}

/* If the next character after spaces is this one, step over it. Was it? */
static bool
next_is(const char **text, char c)
{
	while (isspace((unsigned char) **text))
		(*text)++;
	if (**text != c)
		return false;
	if (c != '\0')
		(*text)++;
	return true;
}

static bool
parse_int64(const char *text, int64 *out)
{
	char	   *end;

	errno = 0;
	*out = strtoll(text, &end, 10);
	return errno == 0 && end != text && *end == '\0';
}

static bool
parse_double(const char *text, double *out)
{
	char	   *end;

	*out = strtod(text, &end);
	return end != text && *end == '\0';
}

/* --------------------------------------------------------------- arrays */

/*
 * Append the doubles of "1, 2, 3}"; the opening brace was read before. Too many numbers are an
 * error.
 */
static bool
parse_numbers(const char **text, StringInfo numbers, Node *escontext)
{
	do
	{
		char	   *word = next_word(text);
		double		x;

		if (numbers->len == RACE_MAX_MORE)
			MALFORMED("An array is too long.");
		if (word == NULL || !parse_double(word, &x))
			MALFORMED("Expected a number in an array.");
		appendBinaryStringInfo(numbers, (const char *) &x, sizeof(x));
		pfree(word);
	} while (next_is(text, ','));
	if (!next_is(text, '}'))
		MALFORMED("Expected \",\" or \"}\" in an array.");
	return true;
}

/* Read an array in braces. A matrix is an array of arrays of the same length. */
static bool
parse_array(const char **text, int key, RaceDraft *draft, Node *escontext)
{
	bool		is_matrix = race_fields[key].type == RACE_FIELD_MATRIX;
	StringInfoData numbers;
	uint32		rows = 0;
	uint32		columns = 0;

	initStringInfo(&numbers);
	if (!next_is(text, '{'))
		MALFORMED("Expected an array in braces.");
	do
	{
		if (next_is(text, '{') != is_matrix)
			MALFORMED(rows > 0 ? "Expected a row of a matrix in braces." :
					  is_matrix ? "A matrix is an array of arrays." :
					  "Only a matrix is an array of arrays.");
		if (!parse_numbers(text, &numbers, escontext))
			return false;
		if (rows++ == 0)
			columns = numbers.len / sizeof(double);
		if (numbers.len / sizeof(double) != rows * (uint64) columns)
			MALFORMED("Rows of a matrix must have the same length.");
	} while (is_matrix && next_is(text, ','));
	if (is_matrix && !next_is(text, '}'))
		MALFORMED("Expected \",\" or \"}\" in a matrix.");
	race_draft_set_array(draft, key, (const double *) numbers.data, rows, columns);
	return true;
}

/* ---------------------------------------------------------------- parts */

static bool
parse_value(const char **text, int key, RaceDraft *draft, Node *escontext)
{
	const RaceField *field = &race_fields[key];
	char	   *value;
	double		x;
	int64		number;

	if (!race_draft_check_field(draft, key, escontext))
		return false;
	if (field->array != 0)
		return parse_array(text, key, draft, escontext);
	value = next_word(text);
	if (value == NULL)
		MALFORMED("Expected a list of parameters such as dims=3, bandwidth=5.");
	if (field->type == RACE_FIELD_CHOICE)
		return race_draft_set_name(draft, key, value, escontext);
	if (field->type == RACE_FIELD_REAL && parse_double(value, &x))
	{
		race_draft_set_real(draft, key, x);
		return true;
	}
	if (field->type != RACE_FIELD_REAL && parse_int64(value, &number))
		return race_draft_set_integer(draft, key, number, escontext);
	MALFORMED("\"%s\" is not a value for %s.", race_cut(value), field->name);
}

/* Read the rest of "(key = value, …)" into a draft, which has the defaults. */
static bool
parse_list(const char **text, bool first, RaceDraft *draft, Node *escontext)
{
	bool		seen[RACE_KEYS] = {false};

	if (next_is(text, ')'))
		return true;
	do
	{
		char	   *name = next_word(text);
		int			key = RACE_KEY_KERNEL + 1;

		if (name == NULL || !next_is(text, '='))
			MALFORMED("Expected a list of parameters such as dims=3, bandwidth=5.");
		while (key < RACE_KEYS && strcmp(race_fields[key].name, name) != 0)
			key++;
		if (key == RACE_KEYS)
			MALFORMED("There is no parameter \"%s\".", race_cut(name));
		if (seen[key])
			MALFORMED("Parameter \"%s\" is given twice.", name);
		if (!first && race_fields[key].shared)
			MALFORMED("Only the first kernel of a product states \"%s\".", name);
		seen[key] = true;
		if (!parse_value(text, key, draft, escontext))
			return false;
	} while (next_is(text, ','));

	if (!next_is(text, ')'))
		MALFORMED("Expected \",\" or \")\" after a parameter.");
	return true;
}

static bool
parse_part(const char **text, bool first, RaceDraft *draft, Node *escontext)
{
	char	   *kernel = next_word(text);

	memset(draft, 0, sizeof(RaceDraft));
	draft->part = race_params_default;
	if (kernel == NULL)
		MALFORMED("Expected the name of a kernel, as in l2(dims=3, bandwidth=5).");
	return race_draft_set_name(draft, RACE_KEY_KERNEL, kernel, escontext) &&
		(!next_is(text, '(') || parse_list(text, first, draft, escontext));
}

static bool
parse_parts(const char *text, RaceDraft *drafts, int *n, Node *escontext)
{
	*n = 0;
	do
	{
		if (*n == RACE_MAX_PARTS)
			MALFORMED("A product can have up to %d kernels.", RACE_MAX_PARTS);
		if (!parse_part(&text, *n == 0, &drafts[*n], escontext))
			return false;
		++*n;
	} while (next_is(&text, '*'));
	if (!next_is(&text, '\0'))
		MALFORMED("There is something after the parameters.");
	return true;
}

RaceParams *
race_params_parse(const char *text, Node *escontext)
{
	RaceDraft drafts[RACE_MAX_PARTS];
	int			n;

	if (!race_check_text(text, RACE_MAX_TEXT, "race_params", escontext) ||
		!parse_parts(text, drafts, &n, escontext))
		return NULL;
	return race_params_assemble(drafts, n, escontext);
}

/*
 * The text form of race_params: output.
 */

static void
append_double(StringInfo text, double x)
{
	char		digits[DOUBLE_SHORTEST_DECIMAL_LEN];

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
	uint32		rows = race_array_rows(part, array);
	uint32		columns = race_array_columns(part, array);

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
	uint64		bits = field->size > 0 ? race_field_bits(field, part) : 0;

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

	appendStringInfoString(text, race_kernel_name(part->kernel));
	appendStringInfoChar(text, '(');
	for (int key = RACE_KEY_KERNEL + 1; key < RACE_KEYS; key++)
	{
		const RaceField *field = &race_fields[key];

		if ((field->shared && !first) || !race_field_applies(field, part->kernel) ||
			(field->optional && (field->array != 0 ? race_array(part, field->array) == NULL :
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

/*
 * The wire format of race_params, and its validator.
 *
 * A part of the kernel takes 64 bytes, little-endian: the version first, then the
 * fields where the table in params.c says; all other bytes are zero, and checked.  The
 * arrays of the part follow as float8, in the order of the table, and then the next
 * part.  A part after the first has 0 where the first speaks for all.  So:
 *
 * 0	u8	version = 1				24	i64 seed
 * 1	u8	kernel					32	f64 bandwidth
 * 2	u8	sequence				40	u32 more: bytes from 64 on, of all parts
 * 3	u8	rehash					44	u8	arrays: which there are (RaceArray)
 * 4	u32 dims					45	u8	nulls: of categories; 0, none are taken
 * 8	u32 power					46	2 bytes reserved
 * 12	u32 rows
 * 16	u32 range					48	16 bytes that kernels have for themselves
 * 20	u32 outputs: rows of the	64	f64 arrays, and more parts like this one
 * matrix or of measured
 *
 * Those of moments: f64 norm, u16 features, u16 targets, u8 coarser, u8 clip, 2 reserved;
 * those of a surrogate loss: f64 radius, f64 query_radius; of tables: u32 numbers in joined, u32
 * rows of workload; of others they are zero.
 */

StaticAssertDecl(sizeof(RaceParams) == RACE_PART_WIRE_SIZE,
				 "a part takes as many bytes in memory as on the wire, without padding");

/* The 64 bytes of a part, without its arrays */
static void
encode_part(const RaceParams *part, unsigned char *bytes)
{
	memset(bytes, 0, RACE_PART_WIRE_SIZE);
	bytes[0] = RACE_FORMAT_VERSION;
	for (int f = 0; f < RACE_FIELDS; f++)
	{
		const RaceField *field = &race_fields[f];
		uint64		bits;

		if (!race_field_is_stored(field, part->kernel))
			continue;
		bits = race_field_bits(field, part);
		for (int i = 0; i < field->size; i++)
			bytes[field->wire + i] = (unsigned char) (bits >> 8 * i);
	}
}

/*
 * Read a part from its 64 bytes. False unless writing the part would give the same
 * bytes.
 */
static bool
decode_part(const unsigned char *bytes, RaceParams *part)
{
	unsigned char again[RACE_PART_WIRE_SIZE];

	memset(part, 0, sizeof(RaceParams));
	for (int f = 0; f < RACE_FIELDS; f++)
	{
		const RaceField *field = &race_fields[f];
		const unsigned char *place = bytes + field->wire;

		/* the kernel comes first */
		if (race_field_is_stored(field, part->kernel))
			race_field_set_bits(field, part, race_take(&place, field->size));
	}
	encode_part(part, again);
	return memcmp(bytes, again, RACE_PART_WIRE_SIZE) == 0;
}

void
race_params_write(StringInfo out, const RaceParams *params)
{
	unsigned char bytes[RACE_PART_WIRE_SIZE];

	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
	{
		const double *numbers = (const double *) (part + 1);

		encode_part(part, bytes);
		appendBinaryStringInfo(out, (const char *) bytes, RACE_PART_WIRE_SIZE);
		for (Size i = 0; i < race_arrays_size(part) / sizeof(double); i++)
			race_put_double(out, numbers[i]);
	}
}

Size
race_params_wire_size(const unsigned char *bytes)
{
	bytes += race_fields[RACE_FIELD_MORE].wire;
	return RACE_PART_WIRE_SIZE + race_take(&bytes, sizeof(uint32));
}

/*
 * Read parts and their arrays from `left` bytes. False if they do not have exactly
 * that size.
 */
static bool
take_parts(const unsigned char *bytes, Size left, RaceParams *params)
{
	char	   *next = (char *) params;

	while (left >= RACE_PART_WIRE_SIZE)
	{
		RaceParams *part = (RaceParams *) next;
		uint64		arrays;

		if (!decode_part(bytes, part))
			return false;
		bytes += RACE_PART_WIRE_SIZE;
		left -= RACE_PART_WIRE_SIZE;
		next += sizeof(RaceParams);
		arrays = race_arrays_size(part);
		if (arrays > left)
			return false;
		for (Size i = 0; i < arrays; i += sizeof(double), next += sizeof(double))
			*(double *) next = race_take_double(&bytes) + 0.0;	/* zero has no sign */
		left -= arrays;
	}
	return left == 0;
}

RaceParamsDatum *
race_params_read(const char *bytes, Size size, Node *escontext)
{
	RaceParamsDatum *datum;
	Size		datum_size = offsetof(RaceParamsDatum, params) + size;

	if (size < RACE_PART_WIRE_SIZE || size > RACE_PART_WIRE_SIZE + RACE_MAX_MORE ||
		*bytes != RACE_FORMAT_VERSION)
		ereturn(escontext, NULL,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid binary representation of type race_params"),
				 errdetail("A value of format version %d has %d bytes or more.",
						   RACE_FORMAT_VERSION, RACE_PART_WIRE_SIZE)));

	datum = palloc0(datum_size);
	SET_VARSIZE(datum, datum_size);
	datum->version = RACE_FORMAT_VERSION;
	if (!take_parts((const unsigned char *) bytes, size, &datum->params) ||
		race_params_size(&datum->params) != size)
		ereturn(escontext, NULL,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid binary representation of type race_params"),
				 errdetail("Its parts do not fit its size, or reserved bytes are not zero.")));
	if (!race_params_check(&datum->params, escontext))
		return NULL;
	return datum;
}
