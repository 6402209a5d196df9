/*
 * params.c
 *		The type race_params: text and binary form, constructor, order.
 *
 * The text form is a kernel's name and, in parentheses, what differs from the
 * defaults: l2(dims=3, bandwidth=5).  A call with one literal,
 * race_params('l2'), is a cast to PostgreSQL, so it comes here as well.
 */
#include "postgres.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>

#include "common/hashfn.h"
#include "common/shortest_dec.h"
#include "lib/stringinfo.h"
#include "libpq/pqformat.h"
#include "utils/builtins.h"

#include "format.h"
#include "params.h"

PG_FUNCTION_INFO_V1(race_params_in);
PG_FUNCTION_INFO_V1(race_params_out);
PG_FUNCTION_INFO_V1(race_params_recv);
PG_FUNCTION_INFO_V1(race_params_send);
PG_FUNCTION_INFO_V1(race_params_make);
PG_FUNCTION_INFO_V1(race_params_eq);
PG_FUNCTION_INFO_V1(race_params_ne);
PG_FUNCTION_INFO_V1(race_params_lt);
PG_FUNCTION_INFO_V1(race_params_le);
PG_FUNCTION_INFO_V1(race_params_gt);
PG_FUNCTION_INFO_V1(race_params_ge);
PG_FUNCTION_INFO_V1(race_params_cmp);
PG_FUNCTION_INFO_V1(race_params_hash);
PG_FUNCTION_INFO_V1(race_params_hash_extended);

/* ---------------------------------------------------------------- value */

RaceParamsDatum *
race_params_datum(const RaceParams *params)
{
	RaceParamsDatum *datum = palloc0(sizeof(RaceParamsDatum));

	SET_VARSIZE(datum, sizeof(RaceParamsDatum));
	datum->version = RACE_FORMAT_VERSION;
	datum->params = *params;
	return datum;
}

const RaceParams *
race_params_arg(Datum value)
{
	RaceParamsDatum *datum = (RaceParamsDatum *) PG_DETOAST_DATUM(value);

	if (VARSIZE(datum) != sizeof(RaceParamsDatum) ||
		datum->version != RACE_FORMAT_VERSION)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("race_params value of unknown format")));
	return &datum->params;
}

bool
race_params_check(const RaceParams *params, Node *escontext)
{
	char		message[256];

	if (race_params_problem(params, message, sizeof(message)) != NULL)
		ereturn(escontext, false,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid race_params: %s", message)));
	return true;
}

void
race_params_check_dims(const RaceParams *params)
{
	if (params->dims == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("race_params do not state the number of dimensions"),
				 errdetail("The parameters are %s.", race_params_text(params)),
				 errhint("Give dims, as in race_params('%s', dims => 3).",
						 race_kernel_name(params->kernel))));
}

bool
race_params_same(const RaceParams *a, const RaceParams *b)
{
	return memcmp(a, b, sizeof(RaceParams)) == 0;
}

bool
race_params_same_rows(const RaceParams *a, const RaceParams *b)
{
	RaceParams	c = *b;

	c.rows = a->rows;
	return race_params_same(a, &c);
}

void
race_params_check_same(const RaceParams *a, const RaceParams *b)
{
	if (!race_params_same(a, b))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("sketches with different parameters cannot be combined"),
				 errdetail("One side has %s, the other has %s.",
						   race_params_text(a), race_params_text(b))));
}

/* ----------------------------------------------------------------- text */

/* An integer of the caller's, cut to what the validator can look at */
static uint32
bounded(int64 value)
{
	return (uint32) Max(0, Min(value, PG_INT32_MAX));
}

/* Resolve what is left to choose, and check the result. */
static bool
complete_params(RaceParams *params, Node *escontext)
{
	if (params->sequence == 0)
		params->sequence = race_default_sequence(params);
	if (params->rehash == 0)
		params->rehash = race_default_rehash(params);
	return race_params_check(params, escontext);
}

static void
default_params(RaceParams *params)
{
	memset(params, 0, sizeof(RaceParams));
	params->bandwidth = 1;
	params->power = 1;
	params->rows = 1024;
	params->range = 1024;
}

/* A sequence or rehash name to its number; "auto" is 0, resolved later. */
static bool
parse_choice(const char *what, const char *name,
			 int (*by_name) (const char *), uint8 *out, Node *escontext)
{
	int			value = by_name(name);

	if (value == 0 && strcmp(name, "auto") != 0)
		ereturn(escontext, false,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unknown %s \"%s\"", what, name)));
	*out = (uint8) value;
	return true;
}

static bool
parse_kernel(const char *name, uint8 *out, Node *escontext)
{
	int			kernel = race_kernel_by_name(name);

	if (kernel == 0)
		ereturn(escontext, false,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unknown kernel \"%s\"", name),
				 errhint("This version has the kernel l2.")));
	*out = (uint8) kernel;
	return true;
}

static bool
check_stated_dims(int64 dims, Node *escontext)
{
	if (dims < 1 || dims > RACE_MAX_DIMS)
		ereturn(escontext, false,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid race_params: dims must be between 1 and %d",
						RACE_MAX_DIMS)));
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

enum
{
	KEY_DIMS, KEY_BANDWIDTH, KEY_POWER, KEY_ROWS, KEY_RANGE, KEY_SEED,
	KEY_SEQUENCE, KEY_REHASH, KEYS
};

static const char *const key_names[KEYS] = {
	"dims", "bandwidth", "power", "rows", "range", "seed", "sequence", "rehash"
};

/* Set one parameter from its text */
static bool
parse_value(int key, const char *value, RaceParams *params, Node *escontext)
{
	int64		number = 0;
	bool		good;

	if (key == KEY_SEQUENCE)
		return parse_choice("row sequence", value, race_sequence_by_name,
							&params->sequence, escontext);
	if (key == KEY_REHASH)
		return parse_choice("rehash", value, race_rehash_by_name,
							&params->rehash, escontext);

	if (key == KEY_BANDWIDTH)
		good = parse_double(value, &params->bandwidth);
	else
		good = parse_int64(value, &number);
	if (!good)
		ereturn(escontext, false,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for type race_params"),
				 errdetail("\"%s\" is not a value for %s.", value,
						   key_names[key])));

	switch (key)
	{
		case KEY_DIMS:
			params->dims = bounded(number);
			return check_stated_dims(number, escontext);
		case KEY_POWER:
			params->power = bounded(number);
			break;
		case KEY_ROWS:
			params->rows = bounded(number);
			break;
		case KEY_RANGE:
			params->range = bounded(number);
			break;
		case KEY_SEED:
			params->seed = number;
			break;
	}
	return true;
}

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

/* "key = value, …)" into params, which hold the defaults */
static bool
parse_list(const char **text, RaceParams *params, Node *escontext)
{
	bool		seen[KEYS] = {false};

	if (next_is(text, ')'))
		return true;
	do
	{
		char	   *name = next_word(text);
		char	   *value;
		int			key = 0;

		if (name == NULL || !next_is(text, '=') ||
			(value = next_word(text)) == NULL)
			ereturn(escontext, false,
					(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
					 errmsg("invalid input syntax for type race_params"),
					 errdetail("Expected a list of parameters such as dims=3, bandwidth=5.")));
		while (key < KEYS && strcmp(key_names[key], name) != 0)
			key++;
		if (key == KEYS || seen[key])
			ereturn(escontext, false,
					(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
					 errmsg("invalid input syntax for type race_params"),
					 errdetail(key == KEYS ? "There is no parameter \"%s\"."
							   : "Parameter \"%s\" is given twice.", name)));
		seen[key] = true;
		if (!parse_value(key, value, params, escontext))
			return false;
	} while (next_is(text, ','));

	if (!next_is(text, ')'))
		ereturn(escontext, false,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for type race_params"),
				 errdetail("Expected \",\" or \")\" after a parameter.")));
	return true;
}

static bool
parse_params(const char *text, RaceParams *params, Node *escontext)
{
	char	   *kernel = next_word(&text);

	default_params(params);
	if (kernel == NULL)
		ereturn(escontext, false,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for type race_params"),
				 errdetail("Expected the name of a kernel, as in l2(dims=3, bandwidth=5).")));
	if (!parse_kernel(kernel, &params->kernel, escontext))
		return false;
	if (next_is(&text, '(') && !parse_list(&text, params, escontext))
		return false;
	if (!next_is(&text, '\0'))
		ereturn(escontext, false,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for type race_params"),
				 errdetail("There is something after the parameters.")));
	return complete_params(params, escontext);
}

char *
race_params_text(const RaceParams *params)
{
	StringInfoData text;
	char		bandwidth[DOUBLE_SHORTEST_DECIMAL_LEN];

	double_to_shortest_decimal_buf(params->bandwidth, bandwidth);
	initStringInfo(&text);
	appendStringInfo(&text, "%s(", race_kernel_name(params->kernel));
	if (params->dims != 0)
		appendStringInfo(&text, "dims=%u, ", params->dims);
	appendStringInfo(&text, "bandwidth=%s, power=%u, rows=%u, range=%u, seed="
					 INT64_FORMAT ", sequence=%s, rehash=%s)",
					 bandwidth, params->power, params->rows, params->range,
					 params->seed, race_sequence_name(params->sequence),
					 race_rehash_name(params->rehash));
	return text.data;
}

/* ------------------------------------------------------------------ SQL */

Datum
race_params_in(PG_FUNCTION_ARGS)
{
	RaceParams	params;

	if (!parse_params(PG_GETARG_CSTRING(0), &params, race_escontext(fcinfo)))
		PG_RETURN_NULL();
	PG_RETURN_POINTER(race_params_datum(&params));
}

Datum
race_params_out(PG_FUNCTION_ARGS)
{
	PG_RETURN_CSTRING(race_params_text(race_params_arg(PG_GETARG_DATUM(0))));
}

Datum
race_params_recv(PG_FUNCTION_ARGS)
{
	StringInfo	message = (StringInfo) PG_GETARG_POINTER(0);
	int			size = message->len - message->cursor;

	PG_RETURN_POINTER(race_params_read(pq_getmsgbytes(message, size), size,
									   race_escontext(fcinfo)));
}

Datum
race_params_send(PG_FUNCTION_ARGS)
{
	StringInfoData message;

	pq_begintypsend(&message);
	race_params_write(&message, race_params_arg(PG_GETARG_DATUM(0)));
	PG_RETURN_BYTEA_P(pq_endtypsend(&message));
}

/*
 * race_params(kernel, dims, bandwidth, power, rows, range, seed, sequence,
 * rehash)
 */
Datum
race_params_make(PG_FUNCTION_ARGS)
{
	RaceParams	params;
	int			i;

	for (i = 0; i < PG_NARGS(); i++)
		if (i != 1 && PG_ARGISNULL(i))
			PG_RETURN_NULL();

	default_params(&params);
	parse_kernel(text_to_cstring(PG_GETARG_TEXT_PP(0)), &params.kernel, NULL);
	if (!PG_ARGISNULL(1))
	{
		check_stated_dims(PG_GETARG_INT32(1), NULL);
		params.dims = PG_GETARG_INT32(1);
	}
	params.bandwidth = PG_GETARG_FLOAT8(2);
	params.power = bounded(PG_GETARG_INT32(3));
	params.rows = bounded(PG_GETARG_INT32(4));
	params.range = bounded(PG_GETARG_INT32(5));
	params.seed = PG_GETARG_INT64(6);
	parse_choice("row sequence", text_to_cstring(PG_GETARG_TEXT_PP(7)),
				 race_sequence_by_name, &params.sequence, NULL);
	parse_choice("rehash", text_to_cstring(PG_GETARG_TEXT_PP(8)),
				 race_rehash_by_name, &params.rehash, NULL);
	complete_params(&params, NULL);
	PG_RETURN_POINTER(race_params_datum(&params));
}

/* ---------------------------------------------------------------- order */

static int
compare(const RaceParams *a, const RaceParams *b)
{
#define COMPARE(field) \
	if (a->field != b->field) \
		return a->field < b->field ? -1 : 1

	COMPARE(kernel);
	COMPARE(dims);
	COMPARE(bandwidth);
	COMPARE(power);
	COMPARE(rows);
	COMPARE(range);
	COMPARE(seed);
	COMPARE(sequence);
	COMPARE(rehash);
	return 0;
#undef COMPARE
}

static int
compare_args(FunctionCallInfo fcinfo)
{
	return compare(race_params_arg(PG_GETARG_DATUM(0)),
				   race_params_arg(PG_GETARG_DATUM(1)));
}

Datum
race_params_eq(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_args(fcinfo) == 0);
}

Datum
race_params_ne(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_args(fcinfo) != 0);
}

Datum
race_params_lt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_args(fcinfo) < 0);
}

Datum
race_params_le(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_args(fcinfo) <= 0);
}

Datum
race_params_gt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_args(fcinfo) > 0);
}

Datum
race_params_ge(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_args(fcinfo) >= 0);
}

Datum
race_params_cmp(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(compare_args(fcinfo));
}

Datum
race_params_hash(PG_FUNCTION_ARGS)
{
	const RaceParams *params = race_params_arg(PG_GETARG_DATUM(0));

	return hash_any((const unsigned char *) params, sizeof(RaceParams));
}

Datum
race_params_hash_extended(PG_FUNCTION_ARGS)
{
	const RaceParams *params = race_params_arg(PG_GETARG_DATUM(0));

	return hash_any_extended((const unsigned char *) params,
							 sizeof(RaceParams), PG_GETARG_INT64(1));
}
