/*
 * params_parse.c
 *		The text form of race_params: input
 */
#include "postgres.h"

#include <ctype.h>
#include <errno.h>

#include "lib/stringinfo.h"

#include "hash/fields.h"
#include "hash/params.h"
#include "sketch/compat.h"
#include "sketch/params_draft.h"
#include "sketch/params_parse.h"
#include "sketch/text.h"

/*
 * A kernel's name and, in parentheses, what differs from the defaults:
 * l2(dims=3, bandwidth=5); of a product, several of them with * between, where the
 * first states what all share.  Arrays are in braces: lower={0,0}.  A call with one
 * literal, race_params('l2'), is a cast to PostgreSQL, so it comes here as well.
 */

/* A soft error, with what was wrong as detail */
#define MALFORMED(...) \
	ereturn(escontext, false, \
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION), \
			 errmsg("invalid input syntax for type race_params"), errdetail(__VA_ARGS__)))

/* ---------------------------------------------------------------- words */

/*
 * Cut the next word out of *text: letters, digits and the other characters of
 * numbers. NULL if there is none.
 */
static char *
next_word(const char **text)
{
	const char *start;

	/* bound: the text */
	while (isspace((unsigned char) **text))
		(*text)++;
	start = *text;
	/* bound: the text */
	while (isalnum((unsigned char) **text) || (**text != '\0' && strchr("+-._", **text) != NULL))
		(*text)++;
	return *text == start ? NULL : pnstrdup(start, *text - start);
}

/* Step over the next character after spaces if it is this one; return whether it was. */
static bool
next_is(const char **text, char c)
{
	/* bound: the text */
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
	char *end;

	errno = 0;
	*out = strtoll(text, &end, 10);
	return errno == 0 && end != text && *end == '\0';
}

static bool
parse_double(const char *text, double *out)
{
	char *end;

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
	/* bound: RACE_MAX_MORE */
	do
	{
		char *word = next_word(text);
		double x;

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
	bool is_matrix = race_fields[key].type == RACE_FIELD_MATRIX;
	StringInfoData numbers;
	uint32 rows = 0;
	uint32 columns = 0;

	initStringInfo(&numbers);
	if (!next_is(text, '{'))
		MALFORMED("Expected an array in braces.");
	/* bound: the text, a brace each time */
	do
	{
		if (next_is(text, '{') != is_matrix)
		{
			if (rows > 0)
				MALFORMED("Expected a row of a matrix in braces.");
			MALFORMED(is_matrix ? "A matrix is an array of arrays." :
								  "Only a matrix is an array of arrays.");
		}
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
	char *value;
	double x;
	int64 number;

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
	bool seen[RACE_KEYS] = {false};

	if (next_is(text, ')'))
		return true;
	/* bound: RACE_KEYS, since no parameter is given twice */
	do
	{
		char *name = next_word(text);
		int key = RACE_KEY_KERNEL + 1;

		if (name == NULL || !next_is(text, '='))
			MALFORMED("Expected a list of parameters such as dims=3, bandwidth=5.");
		/* bound: RACE_KEYS */
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
	char *kernel = next_word(text);

	race_draft_start(draft);
	if (kernel == NULL)
		MALFORMED("Expected the name of a kernel, as in l2(dims=3, bandwidth=5).");
	return race_draft_set_name(draft, RACE_KEY_KERNEL, kernel, escontext) &&
		(!next_is(text, '(') || parse_list(text, first, draft, escontext));
}

static bool
parse_parts(const char *text, RaceDraft *drafts, int *n, Node *escontext)
{
	*n = 0;
	/* bound: RACE_MAX_PARTS */
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
	int n;

	if (!race_check_text(text, RACE_MAX_TEXT, "race_params", escontext) ||
		!parse_parts(text, drafts, &n, escontext))
		return NULL;
	return race_draft_assemble(drafts, n, escontext);
}
