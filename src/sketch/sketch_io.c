/*
 * sketch_io.c
 *		Text and binary form of race_sketch.
 *
 * The text form is the wire format (format.c) in base64 on one line.  Older versions wrote it
 * as \x and hexadecimal digits, which are still read.
 */
#include "postgres.h"

#include <ctype.h>

#include "common/base64.h"
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

/*
 * Bytes that go to or from text between two looks at interrupts.  They are whole groups of
 * base64, 3 bytes in 4 digits.
 */
#define BYTES_A_STEP	((Size) 48 * 1024)
#define DIGITS_A_STEP	(BYTES_A_STEP / 3 * 4)

/* Versions 1 and 2 in base64 begin with these. */
#define FIRST_DIGIT		'A'

/* Convert n hexadecimal digits to bytes. False if there is another character. */
static bool
decode_hex(const char *text, Size n, char *bytes, Size *size)
{
	Size		i;

	*size = n / 2;
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

/*
 * Convert n digits of base64 to bytes.  False if there is another character, or if they
 * are not what these bytes are written as: PostgreSQL ignores bits of the last digit.
 */
static bool
decode_base64(const char *text, Size n, char *bytes, Size *size)
{
	char		last[8];
	Size		i;
	int			got = 0;

	*size = 0;
	if (n == 0 || n % 4 != 0 || text[0] != FIRST_DIGIT)
		return false;
	for (i = 0; i < n; i += DIGITS_A_STEP)
	{
		int			digits = Min(n - i, DIGITS_A_STEP);

		CHECK_FOR_INTERRUPTS();
		got = pg_b64_decode(text + i, digits, (void *) (bytes + *size), digits / 4 * 3);
		if (got < 0 || (i + digits < n && got != digits / 4 * 3))
			return false;
		*size += got;
	}
	got = (*size - 1) % 3 + 1;
	return pg_b64_encode((void *) (bytes + *size - got), got, last, sizeof(last)) == 4 &&
		memcmp(last, text + n - 4, 4) == 0;
}

static char *
encode(const char *bytes, Size n)
{
	Size		size = (n + 2) / 3 * 4;
	char	   *text = palloc(size + 1);
	char	   *to = text;
	Size		i;

	for (i = 0; i < n; i += BYTES_A_STEP)
	{
		CHECK_FOR_INTERRUPTS();
		to += pg_b64_encode((const void *) (bytes + i), Min(n - i, BYTES_A_STEP), to, text + size - to);
	}
	*to = '\0';
	return text;
}

/* A text in either form to bytes.  False if it is neither. */
static bool
decode(const char *text, Size n, char *bytes, Size *size)
{
	if (n >= 2 && memcmp(text, "\\x", 2) == 0)
		return decode_hex(text + 2, n - 2, bytes, size);
	return decode_base64(text, n, bytes, size);
}

static RaceSketchDatum *
parse(const char *text, Node *escontext)
{
	Size		n;
	char	   *bytes;

	if (!race_check_text(text, 2 + 2 * RACE_MAX_WIRE_BYTES, "race_sketch", escontext))
		return NULL;
	n = strlen(text);
	bytes = palloc(n / 4 * 3 + 3);
	if (!decode(text, n, bytes, &n))
		ereturn(escontext, NULL,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for type %s", "race_sketch"),
				 errdetail("Expected base64, or \\x and hexadecimal digits."),
				 errhint("To make an empty sketch from parameters, write race_sketch('…'::race_params).")));
	return race_sketch_read(bytes, n, escontext);
}

Datum
race_sketch_in(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(parse(PG_GETARG_CSTRING(0), race_escontext(fcinfo)));
}

static void
write_sketch(StringInfo out, Datum value)
{
	RaceView	view;

	race_sketch_view_packed(value, &view);
	race_sketch_write(out, &view);
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

	PG_RETURN_POINTER(race_sketch_read(pq_getmsgbytes(message, size), size, race_escontext(fcinfo)));
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

	race_sketch_view_header_any(PG_GETARG_DATUM(0), &view);
	PG_RETURN_POINTER(race_params_datum(view.params));
}
