/*
 * parse.c
 *		The text form of race_params: input.
 *
 * A kernel's name and, in parentheses, what differs from the defaults:
 * l2(dims=3, bandwidth=5); of a product, several of them with * between, where the
 * first states what all share.  Arrays are in braces: lower={0,0}.  A call with one
 * literal, race_params('l2'), is a cast to PostgreSQL, so it comes here as well.
 */
#include "postgres.h"

#include <ctype.h>
#include <errno.h>

#include "../server/text.h"
#include "draft.h"

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

/* Numbers that are read, one after the other */
typedef struct Numbers
{
	double	   *x;
	uint32		n;
	uint32		capacity;
} Numbers;

/*
 * Read "1, 2, 3}"; the opening brace was read before. Too many numbers are an
 * error.
 */
static bool
parse_numbers(const char **text, Numbers *numbers, Node *escontext)
{
	do
	{
		char	   *word = next_word(text);

		if (numbers->n == RACE_MAX_MORE / sizeof(double))
			MALFORMED("An array is too long.");
		if (numbers->n == numbers->capacity)
		{
			numbers->capacity = Max(2 * numbers->capacity, 16);
			numbers->x = numbers->x == NULL ?
				palloc(numbers->capacity * sizeof(double)) :
				repalloc(numbers->x, numbers->capacity * sizeof(double));
		}
		if (word == NULL || !parse_double(word, &numbers->x[numbers->n]))
			MALFORMED("Expected a number in an array.");
		pfree(word);
		numbers->n++;
	} while (next_is(text, ','));
	if (!next_is(text, '}'))
		MALFORMED("Expected \",\" or \"}\" in an array.");
	return true;
}

/*
 * Read an array in braces. A matrix is an array of arrays of the same length:
 * *outputs is how many, else 0.
 */
static bool
parse_array(const char **text, Numbers *numbers, uint32 *outputs, Node *escontext)
{
	uint32		length = 0;

	*outputs = 0;
	memset(numbers, 0, sizeof(Numbers));
	if (!next_is(text, '{'))
		MALFORMED("Expected an array in braces.");
	if (!next_is(text, '{'))
		return parse_numbers(text, numbers, escontext);
	do
	{
		if (*outputs > 0 && !next_is(text, '{'))
			MALFORMED("Expected a row of a matrix in braces.");
		if (!parse_numbers(text, numbers, escontext))
			return false;
		if (*outputs == 0)
			length = numbers->n;
		if (numbers->n != ++*outputs * (uint64) length)
			MALFORMED("Rows of a matrix must have the same length.");
	} while (next_is(text, ','));
	if (!next_is(text, '}'))
		MALFORMED("Expected \",\" or \"}\" in a matrix.");
	return true;
}

/* ---------------------------------------------------------------- parts */

/* What is known of a part while its parameters are read */
typedef struct Reading
{
	RaceDraft	draft;
	bool		first;			/* of a product */
	bool		seen[RACE_KEYS];
	uint32		lengths[RACE_KEYS]; /* of the arrays, of a matrix by row */
} Reading;

static bool
parse_array_value(const char **text, int key, Reading *reading, Node *escontext)
{
	bool		is_matrix = race_fields[key].type == RACE_FIELD_MATRIX;
	Numbers		numbers;
	uint32		outputs;

	if (!parse_array(text, &numbers, &outputs, escontext))
		return false;
	if ((outputs > 0) != is_matrix)
		MALFORMED(is_matrix ? "A matrix is an array of arrays." :
				  "Only a matrix is an array of arrays.");
	if (is_matrix)
		race_draft_set_matrix(&reading->draft, key, numbers.x, outputs);
	else
		reading->draft.arrays[key] = numbers.x;
	reading->lengths[key] = is_matrix ? numbers.n / outputs : numbers.n;
	return true;
}

static bool
parse_value(const char **text, int key, Reading *reading, Node *escontext)
{
	const RaceField *field = &race_fields[key];
	RaceDraft  *draft = &reading->draft;
	char	   *value;
	double		x;
	int64		number;

	if (!race_draft_takes(draft, field, escontext))
		return false;
	if (race_field_is_array(field))
		return parse_array_value(text, key, reading, escontext);
	value = next_word(text);
	if (value == NULL)
		MALFORMED("Expected a list of parameters such as dims=3, bandwidth=5.");
	if (field->type == RACE_FIELD_CHOICE)
		return race_draft_set_name(draft, field, value, escontext);
	if (field->type == RACE_FIELD_REAL && parse_double(value, &x))
	{
		race_draft_set_real(draft, field, x);
		return true;
	}
	if (field->type != RACE_FIELD_REAL && parse_int64(value, &number))
		return race_draft_set_integer(draft, field, number, escontext);
	MALFORMED("\"%s\" is not a value for %s.", race_cut(value), field->name);
}

/*
 * The number of the field with this name, but not of the kernel. RACE_KEYS if there
 * is none.
 */
static int
find_key(const char *name)
{
	int			key = RACE_KEY_KERNEL + 1;

	while (key < RACE_KEYS && strcmp(race_fields[key].name, name) != 0)
		key++;
	return key;
}

/* Read "key = value, …)" into a draft, which has the defaults. */
static bool
parse_list(const char **text, Reading *reading, Node *escontext)
{
	if (next_is(text, ')'))
		return true;
	do
	{
		char	   *name = next_word(text);
		int			key;

		if (name == NULL || !next_is(text, '='))
			MALFORMED("Expected a list of parameters such as dims=3, bandwidth=5.");
		key = find_key(name);
		if (key == RACE_KEYS)
			MALFORMED("There is no parameter \"%s\".", race_cut(name));
		if (reading->seen[key])
			MALFORMED("Parameter \"%s\" is given twice.", name);
		if (!reading->first && race_fields[key].shared)
			MALFORMED("Only the first kernel of a product states \"%s\".", name);
		reading->seen[key] = true;
		if (!parse_value(text, key, reading, escontext))
			return false;
	} while (next_is(text, ','));

	if (!next_is(text, ')'))
		MALFORMED("Expected \",\" or \")\" after a parameter.");
	return true;
}

/* Arrays must have dims numbers.  dims may come after the array in the text. */
static bool
check_lengths(const Reading *reading, Node *escontext)
{
	uint32		dims = reading->draft.part.dims;
	int			key;

	for (key = 0; key < RACE_KEYS; key++)
		if (reading->draft.arrays[key] != NULL && reading->lengths[key] != dims)
			ereturn(escontext, false,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("invalid race_params: %s must have dims numbers%s",
							race_fields[key].name,
							race_fields[key].type == RACE_FIELD_MATRIX ?
							" in each row" : ""),
					 errdetail("dims is %u, found %u.", dims,
							   reading->lengths[key])));
	return true;
}

static bool
parse_part(const char **text, bool first, RaceDraft *draft, Node *escontext)
{
	Reading		reading = {.first = first};
	char	   *kernel = next_word(text);

	race_draft_default(&reading.draft);
	if (kernel == NULL)
		MALFORMED("Expected the name of a kernel, as in l2(dims=3, bandwidth=5).");
	if (!race_draft_set_name(&reading.draft, &race_fields[RACE_KEY_KERNEL], kernel,
							 escontext))
		return false;
	if (next_is(text, '(') && !parse_list(text, &reading, escontext))
		return false;
	if (!first)
		race_draft_next(&reading.draft);
	*draft = reading.draft;
	return check_lengths(&reading, escontext);
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
