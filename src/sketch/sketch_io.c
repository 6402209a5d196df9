/*
 * sketch_io.c
 *		The type race_sketch: text and binary form.
 *
 * The text form is \x and the wire format (format.c) in hexadecimal.
 */
#include "postgres.h"

#include "fmgr.h"
#include "libpq/pqformat.h"
#include "utils/builtins.h"

#include "sketch.h"

PG_FUNCTION_INFO_V1(race_sketch_in);
PG_FUNCTION_INFO_V1(race_sketch_out);
PG_FUNCTION_INFO_V1(race_sketch_recv);
PG_FUNCTION_INFO_V1(race_sketch_send);
PG_FUNCTION_INFO_V1(race_sketch_params);

static bool
is_hex(const char *text, Size n)
{
	return n % 2 == 0 && strspn(text, "0123456789abcdefABCDEF") == n;
}

Datum
race_sketch_in(PG_FUNCTION_ARGS)
{
	const char *text = PG_GETARG_CSTRING(0);
	Size		n = strlen(text);
	char	   *bytes;

	if (n < 2 || strncmp(text, "\\x", 2) != 0 || !is_hex(text + 2, n - 2))
		ereturn(race_escontext(fcinfo), (Datum) 0,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for type race_sketch"),
				 errdetail("Expected \\x and hexadecimal digits."),
				 errhint("To make an empty sketch from parameters, write race_sketch('…'::race_params).")));
	bytes = palloc(n / 2);
	hex_decode(text + 2, n - 2, bytes);
	PG_RETURN_POINTER(race_sketch_read(bytes, (n - 2) / 2,
									   race_escontext(fcinfo)));
}

static void
write_sketch(StringInfo out, Datum value)
{
	RaceView	view;

	race_sketch_view(value, &view);
	race_sketch_write(out, view.header, view.params, view.shares,
					  view.counters, view.width);
}

Datum
race_sketch_out(PG_FUNCTION_ARGS)
{
	StringInfoData wire;
	char	   *text;
	Size		n;

	initStringInfo(&wire);
	write_sketch(&wire, PG_GETARG_DATUM(0));
	text = palloc(2 + (Size) wire.len * 2 + 1);
	memcpy(text, "\\x", 2);
	n = hex_encode(wire.data, wire.len, text + 2);
	text[2 + n] = '\0';
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
