/*
 * params_text.c
 *		The text form of race_params.
 *
 * A kernel's name and, in parentheses, what differs from the defaults:
 * l2(dims=3, bandwidth=5); of a product, several of them with * between, where the
 * first states what all share.  Arrays are in braces: lower={0,0}.  A call with one
 * literal, race_params('l2'), is a cast to PostgreSQL, so it comes here as well.
 */
#include "postgres.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>

#include "common/shortest_dec.h"
#include "lib/stringinfo.h"

#include "params.h"

enum
{
	KEY_DIMS, KEY_BANDWIDTH, KEY_POWER, KEY_ROWS, KEY_RANGE, KEY_SEED,
	KEY_SEQUENCE, KEY_REHASH,
	KEY_ARRAYS,					/* RACE_ARRAYS of them */
	KEYS = KEY_ARRAYS + RACE_ARRAYS
};

static const char *const key_names[KEYS] = {
	"dims", "bandwidth", "power", "rows", "range", "seed", "sequence", "rehash",
	"bandwidths", "lower", "upper", "matrix", "offset"
};

/* A soft error, with what was wrong as detail */
#define MALFORMED(...) \
	ereturn(escontext, false, \
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION), \
			 errmsg("invalid input syntax for type race_params"), \
			 errdetail(__VA_ARGS__)))

/* ---------------------------------------------------------------- words */

/*
 * Cut the next word, letters and digits and what numbers are written with, out
 * of *text; NULL when there is none.
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

/* Is the next character that is not a space this one?  Then step over it. */
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

/* "1, 2, 3}", the brace before it being read; more than fit are too many */
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

/* An array, in braces, or of arrays of the same length: *outputs of them, else 0 */
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
	RacePartDraft draft;
	bool		first;			/* of a product */
	bool		seen[KEYS];
	uint32		lengths[RACE_ARRAYS];	/* of the arrays, of a matrix by row */
} Reading;

static bool
parse_array_value(const char **text, int a, Reading *reading, Node *escontext)
{
	bool		is_matrix = (1 << a) == RACE_ARRAY_MATRIX;
	Numbers		numbers;
	uint32		outputs;

	if (!parse_array(text, &numbers, &outputs, escontext))
		return false;
	if ((outputs > 0) != is_matrix)
		MALFORMED(is_matrix ? "A matrix is an array of arrays." :
				  "Only a matrix is an array of arrays.");
	if (is_matrix)
		reading->draft.part.outputs = outputs;
	reading->draft.arrays[a] = numbers.x;
	reading->lengths[a] = is_matrix ? numbers.n / outputs : numbers.n;
	return true;
}

/* Set one parameter that is a number from its text */
static bool
parse_number(int key, const char *value, RacePartDraft *draft, Node *escontext)
{
	RaceParams *part = &draft->part;
	int64		number = 0;

	if (!(key == KEY_BANDWIDTH ? parse_double(value, &part->bandwidth) :
		  parse_int64(value, &number)))
		MALFORMED("\"%s\" is not a value for %s.", value, key_names[key]);
	switch (key)
	{
		case KEY_DIMS:
			return race_draft_dims(draft, number, escontext);
		case KEY_POWER:
			part->power = race_bounded(number);
			break;
		case KEY_ROWS:
			part->rows = race_bounded(number);
			break;
		case KEY_RANGE:
			part->range = race_bounded(number);
			break;
		case KEY_SEED:
			part->seed = number;
			break;
	}
	return true;
}

static bool
parse_value(const char **text, int key, Reading *reading, Node *escontext)
{
	char	   *value;

	if (key >= KEY_ARRAYS)
		return parse_array_value(text, key - KEY_ARRAYS, reading, escontext);
	value = next_word(text);
	if (value == NULL)
		MALFORMED("Expected a list of parameters such as dims=3, bandwidth=5.");
	if (key == KEY_SEQUENCE)
		return race_draft_sequence(&reading->draft, value, escontext);
	if (key == KEY_REHASH)
		return race_draft_rehash(&reading->draft, value, escontext);
	return parse_number(key, value, &reading->draft, escontext);
}

/* "key = value, …)" into a draft, which holds the defaults */
static bool
parse_list(const char **text, Reading *reading, Node *escontext)
{
	if (next_is(text, ')'))
		return true;
	do
	{
		char	   *name = next_word(text);
		int			key = 0;

		if (name == NULL || !next_is(text, '='))
			MALFORMED("Expected a list of parameters such as dims=3, bandwidth=5.");
		while (key < KEYS && strcmp(key_names[key], name) != 0)
			key++;
		if (key == KEYS)
			MALFORMED("There is no parameter \"%s\".", name);
		if (reading->seen[key])
			MALFORMED("Parameter \"%s\" is given twice.", name);
		if (!reading->first && (key == KEY_ROWS || key == KEY_RANGE ||
								key == KEY_SEED || key == KEY_REHASH))
			MALFORMED("Only the first kernel of a product states \"%s\".", name);
		reading->seen[key] = true;
		if (!parse_value(text, key, reading, escontext))
			return false;
	} while (next_is(text, ','));

	if (!next_is(text, ')'))
		MALFORMED("Expected \",\" or \")\" after a parameter.");
	return true;
}

/* Arrays must have dims numbers, whichever was read first. */
static bool
check_lengths(const Reading *reading, Node *escontext)
{
	int			a;

	for (a = 0; a < RACE_ARRAYS; a++)
		if (reading->draft.arrays[a] != NULL &&
			reading->lengths[a] != reading->draft.part.dims)
			ereturn(escontext, false,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("invalid race_params: %s must have dims numbers%s",
							key_names[KEY_ARRAYS + a],
							(1 << a) == RACE_ARRAY_MATRIX ? " in each row" : ""),
					 errdetail("dims is %u, found %u.", reading->draft.part.dims,
							   reading->lengths[a])));
	return true;
}

static bool
parse_part(const char **text, bool first, RacePartDraft *draft, Node *escontext)
{
	Reading		reading = {.first = first};
	char	   *kernel = next_word(text);

	race_draft_default(&reading.draft);
	if (kernel == NULL)
		MALFORMED("Expected the name of a kernel, as in l2(dims=3, bandwidth=5).");
	if (!race_draft_kernel(&reading.draft, kernel, escontext))
		return false;
	if (next_is(text, '(') && !parse_list(text, &reading, escontext))
		return false;
	if (!first)
		race_draft_next(&reading.draft);
	*draft = reading.draft;
	return check_lengths(&reading, escontext);
}

static bool
parse_parts(const char *text, RacePartDraft *drafts, int *n, Node *escontext)
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
	RacePartDraft drafts[RACE_MAX_PARTS];
	int			n;

	if (!parse_parts(text, drafts, &n, escontext))
		return NULL;
	return race_params_assemble(drafts, n, escontext);
}

/* --------------------------------------------------------------- output */

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
	uint32		i;

	if (n > most)
	{
		appendStringInfo(text, "{%u numbers}", n);
		return;
	}
	for (i = 0; i < n; i++)
	{
		appendStringInfoChar(text, i == 0 ? '{' : ',');
		append_double(text, x[i]);
	}
	appendStringInfoChar(text, '}');
}

static void
append_arrays(StringInfo text, const RaceParams *part, uint32 most)
{
	int			a;
	uint32		i;

	for (a = 0; a < RACE_ARRAYS; a++)
	{
		const double *x = race_array(part, 1 << a);

		if (x == NULL)
			continue;
		appendStringInfo(text, ", %s=", key_names[KEY_ARRAYS + a]);
		if ((1 << a) != RACE_ARRAY_MATRIX)
		{
			append_numbers(text, x, part->dims, most);
			continue;
		}
		if (part->outputs > most)
			appendStringInfo(text, "{%u rows", part->outputs);
		for (i = 0; i < part->outputs && part->outputs <= most; i++)
		{
			appendStringInfoChar(text, i == 0 ? '{' : ',');
			append_numbers(text, x + (Size) i * part->dims, part->dims, most);
		}
		appendStringInfoChar(text, '}');
	}
}

static void
append_part(StringInfo text, const RaceParams *part, bool first, uint32 most)
{
	appendStringInfo(text, "%s(", race_kernel_name(part->kernel));
	if (part->dims != 0)
		appendStringInfo(text, "dims=%u, ", part->dims);
	if (race_has_bandwidth(part))
	{
		appendStringInfoString(text, "bandwidth=");
		append_double(text, part->bandwidth);
		appendStringInfoString(text, ", ");
	}
	appendStringInfo(text, "power=%u", part->power);
	if (first)
		appendStringInfo(text, ", rows=%u, range=%u, seed=" INT64_FORMAT,
						 part->rows, part->range, part->seed);
	appendStringInfo(text, ", sequence=%s", race_sequence_name(part->sequence));
	if (first)
		appendStringInfo(text, ", rehash=%s", race_rehash_name(part->rehash));
	append_arrays(text, part, most);
	appendStringInfoChar(text, ')');
}

/* With arrays of at most so many numbers, or rows; of others, how many there are */
static char *
text_of(const RaceParams *params, uint32 most)
{
	const RaceParams *part;
	StringInfoData text;

	initStringInfo(&text);
	for (part = params; part != NULL; part = race_params_next(part, params))
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
