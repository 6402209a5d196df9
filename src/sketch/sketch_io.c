/*
 * sketch_io.c
 *		The types race_sketch and race_moments: text and binary form.
 *
 * Both have the same formats; the parameters tell which of them a value is.  The text form is \x and the wire format (format.c) in hexadecimal.
 */
#include "postgres.h"

#include <ctype.h>

#include "fmgr.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "../lsh/moments.h"
#include "../server/text.h"
#include "sketch.h"

PG_FUNCTION_INFO_V1(race_sketch_in);
PG_FUNCTION_INFO_V1(race_sketch_out);
PG_FUNCTION_INFO_V1(race_sketch_recv);
PG_FUNCTION_INFO_V1(race_moments_in);
PG_FUNCTION_INFO_V1(race_moments_recv);
PG_FUNCTION_INFO_V1(race_sketch_send);
PG_FUNCTION_INFO_V1(race_sketch_params);

/* Bytes that go to or from text between two looks at interrupts */
#define BYTES_A_STEP	((Size) 64 * 1024)

/* Convert n hexadecimal digits to bytes. False if there is another character. */
static bool
decode(const char *text, Size n, char *bytes)
{
	Size		i;

	if (n % 2 != 0)
		return false;
	for (i = 0; i < n; i++)
	{
		if (i % BYTES_A_STEP == 0)
			CHECK_FOR_INTERRUPTS();
		if (!isxdigit((unsigned char) text[i]))
			return false;
	}
	for (i = 0; i < n; i += BYTES_A_STEP)
	{
		CHECK_FOR_INTERRUPTS();
		hex_decode(text + i, Min(n - i, BYTES_A_STEP), bytes + i / 2);
	}
	return true;
}

static char *
encode(const char *bytes, Size n)
{
	char	   *text = palloc(2 + 2 * n + 1);
	Size		i;

	memcpy(text, "\\x", 2);
	for (i = 0; i < n; i += BYTES_A_STEP)
	{
		CHECK_FOR_INTERRUPTS();
		hex_encode(bytes + i, Min(n - i, BYTES_A_STEP), text + 2 + 2 * i);
	}
	text[2 + 2 * n] = '\0';
	return text;
}

/* Read a value of one of both types; NULL after a soft error. */
static RaceSketchDatum *
read_value(const char *bytes, Size size, bool moments, Node *escontext)
{
	RaceSketchDatum *flat = race_sketch_read(bytes, size, escontext);

	if (flat != NULL && race_is_moments(&flat->params) != moments)
		ereturn(escontext, NULL,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 moments ? errmsg("invalid binary representation of type race_moments") :
				 errmsg("invalid binary representation of type race_sketch"),
				 moments ? errdetail("It is a value of type race_sketch.") :
				 errdetail("It is a value of type race_moments.")));
	return flat;
}

static RaceSketchDatum *
parse(const char *text, bool moments, Node *escontext)
{
	const char *type = moments ? "race_moments" : "race_sketch";
	Size		n;
	char	   *bytes;

	if (!race_check_text(text, 2 + 2 * RACE_MAX_WIRE_BYTES, type, escontext))
		return NULL;
	n = strlen(text);
	bytes = palloc(n / 2 + 1);
	if (strncmp(text, "\\x", 2) != 0 || !decode(text + 2, n - 2, bytes))
		ereturn(escontext, NULL,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for type %s", type),
				 errdetail("Expected \\x and hexadecimal digits."),
				 moments ?
				 errhint("To make moments without records from parameters, write race_moments('…'::race_params).") :
				 errhint("To make an empty sketch from parameters, write race_sketch('…'::race_params).")));
	return read_value(bytes, (n - 2) / 2, moments, escontext);
}

Datum
race_sketch_in(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(parse(PG_GETARG_CSTRING(0), false, race_escontext(fcinfo)));
}

Datum
race_moments_in(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(parse(PG_GETARG_CSTRING(0), true, race_escontext(fcinfo)));
}

static void
write_sketch(StringInfo out, Datum value)
{
	RaceView	view;

	race_sketch_view(value, &view);
	race_sketch_write(out, view.header, view.params, view.shares,
					  view.counters, view.width, view.model, view.model_size);
}

Datum
race_sketch_out(PG_FUNCTION_ARGS)
{
	StringInfoData wire;
	char	   *text;

	initStringInfo(&wire);
	write_sketch(&wire, PG_GETARG_DATUM(0));
	text = encode(wire.data, wire.len);
	pfree(wire.data);
	PG_RETURN_CSTRING(text);
}

static RaceSketchDatum *
receive(FunctionCallInfo fcinfo, bool moments)
{
	StringInfo	message = (StringInfo) PG_GETARG_POINTER(0);
	int			size = message->len - message->cursor;

	return read_value(pq_getmsgbytes(message, size), size, moments, race_escontext(fcinfo));
}

Datum
race_sketch_recv(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(receive(fcinfo, false));
}

Datum
race_moments_recv(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(receive(fcinfo, true));
}

Datum
race_sketch_send(PG_FUNCTION_ARGS)
{
	StringInfoData message;

	pq_begintypsend(&message);
	write_sketch(&message, PG_GETARG_DATUM(0));
	PG_RETURN_BYTEA_P(pq_endtypsend(&message));
}

/* race_params(race_sketch) */
Datum
race_sketch_params(PG_FUNCTION_ARGS)
{
	RaceView	view;

	race_sketch_view_header(PG_GETARG_DATUM(0), &view);
	PG_RETURN_POINTER(race_params_datum(view.params));
}
