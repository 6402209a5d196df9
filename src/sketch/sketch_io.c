/*
 * sketch_io.c
 *		The type race_sketch: text and binary form.
 *
 * The text form is \x and the wire format (format.c) in hexadecimal.
 */
#include "postgres.h"

#include <ctype.h>

#include "fmgr.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "../server/text.h"
#include "sketch.h"

PG_FUNCTION_INFO_V1(race_sketch_in);
PG_FUNCTION_INFO_V1(race_sketch_out);
PG_FUNCTION_INFO_V1(race_sketch_recv);
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

Datum
race_sketch_in(PG_FUNCTION_ARGS)
{
	const char *text = PG_GETARG_CSTRING(0);
	Node	   *escontext = race_escontext(fcinfo);
	Size		n;
	char	   *bytes;

	if (!race_check_text(text, 2 + 2 * RACE_MAX_WIRE_BYTES, "race_sketch", escontext))
		return (Datum) 0;
	n = strlen(text);
	bytes = palloc(n / 2 + 1);
	if (strncmp(text, "\\x", 2) != 0 || !decode(text + 2, n - 2, bytes))
		ereturn(escontext, (Datum) 0,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for type race_sketch"),
				 errdetail("Expected \\x and hexadecimal digits."),
				 errhint("To make an empty sketch from parameters, write race_sketch('…'::race_params).")));
	PG_RETURN_POINTER(race_sketch_read(bytes, (n - 2) / 2, escontext));
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

Datum
race_sketch_recv(PG_FUNCTION_ARGS)
{
	StringInfo	message = (StringInfo) PG_GETARG_POINTER(0);
	int			size = message->len - message->cursor;

	PG_RETURN_POINTER(race_sketch_read(pq_getmsgbytes(message, size), size,
									   race_escontext(fcinfo)));
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
