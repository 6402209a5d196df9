/*
 * prepared.c
 *		The type race_record: a record that has been read, and can be counted anywhere.
 *
 * The wire format, of which the text form is \x and hexadecimal digits, little-endian:
 *
 *	 0	u8	version = 1
 *	 1	u8	parts of the kernel
 *	 2	6 bytes reserved, 0
 *	 8	i64 seed of the parameters, with which elements are hashed; 0 if there are none
 *	16	for each part: u32 numbers or elements, u32 kind (RaceRecordKind), then 8 bytes for each
 *
 * In memory it is the same in native order, after the length.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "../params/params.h"
#include "../server/bytes.h"
#include "../server/text.h"
#include "prepared.h"

PG_FUNCTION_INFO_V1(race_record_in);
PG_FUNCTION_INFO_V1(race_record_out);
PG_FUNCTION_INFO_V1(race_record_recv);
PG_FUNCTION_INFO_V1(race_record_send);

#define VERSION			1
#define HEADER_SIZE		16
#define MAX_SIZE		((Size) 256 * 1024 * 1024)	/* on the wire: its text is half a GB */

typedef struct Prepared
{
	int32		vl_len_;		/* varlena header, do not touch directly */
	uint8		unused[4];
	uint8		version;
	uint8		n_parts;
	uint8		reserved[6];
	int64		seed;
	uint64		words[FLEXIBLE_ARRAY_MEMBER];
} Prepared;

StaticAssertDecl(offsetof(Prepared, words) == 8 + HEADER_SIZE, "as on the wire, behind the length");

#define WordsOf(prepared)	((VARSIZE(prepared) - offsetof(Prepared, words)) / sizeof(uint64))
#define HeadOf(kind, n)		((uint64) (kind) << 32 | (n))
#define KindOf(head)		((uint32) ((head) >> 32))
#define NumberOf(head)		((uint32) (head))

static Prepared *
allocate(Size words)
{
	Size		size = offsetof(Prepared, words) + words * sizeof(uint64);
	Prepared   *prepared;

	if (words > MAX_SIZE / sizeof(uint64))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a race_record can have at most %zu bytes", MAX_SIZE)));
	prepared = palloc0(size);
	SET_VARSIZE(prepared, size);
	prepared->version = VERSION;
	return prepared;
}

/* ---------------------------------------------------------------- checks */

static const char *
problem_of_part(uint32 kind, const uint64 *words, uint32 n)
{
	uint32		i;

	switch (kind)
	{
		case RACE_RECORD_VECTOR:
			for (i = 0; i < n && n <= RACE_MAX_DIMS; i++)
				if (!isfinite(((const double *) words)[i]))
					return "A number is not finite.";
			/* FALLTHROUGH */
		case RACE_RECORD_ROW:
			return n < 1 || n > RACE_MAX_DIMS ? "A part has too many values, or none." : NULL;
		case RACE_RECORD_SET:
			return NULL;
		default:
			return "A part is of an unknown kind.";
	}
}

/* What is wrong with a value from elsewhere, or NULL */
static const char *
problem_of(const Prepared *prepared)
{
	Size		left = WordsOf(prepared);
	const uint64 *next = prepared->words;
	bool		elements = false;
	int			i;

	if (prepared->version != VERSION)
		return "Its version is unknown.";
	for (i = 0; i < (int) sizeof(prepared->reserved); i++)
		if (prepared->reserved[i] != 0)
			return "Reserved bytes are not zero.";
	if (prepared->n_parts < 1 || prepared->n_parts > RACE_MAX_PARTS)
		return "The number of parts is wrong.";
	for (i = 0; i < prepared->n_parts; i++)
	{
		const char *problem;
		uint32		n;

		if (left < 1 || left - 1 < NumberOf(*next))
			return "It is too short.";
		n = NumberOf(*next);
		problem = problem_of_part(KindOf(*next), next + 1, n);
		if (problem != NULL)
			return problem;
		elements |= KindOf(*next) != RACE_RECORD_VECTOR;
		next += 1 + n;
		left -= 1 + n;
	}
	if (left > 0)
		return "It is too long.";
	return !elements && prepared->seed != 0 ? "A record without elements has a seed." : NULL;
}

/* ----------------------------------------------------------------- records */

Datum
race_prepared_datum(const RaceRecords *records, const RaceParams *params)
{
	RaceColumn	columns[RACE_MAX_PARTS];
	Size		words = 0;
	Prepared   *prepared;
	uint64	   *next;
	int			i;

	race_records_columns(records, records->n, columns);
	for (i = 0; i < records->n_parts; i++)
	{
		if (records->parts[i].kind == RACE_RECORD_SET)
			columns[i].width = columns[i].starts[1] - columns[i].starts[0];
		words += 1 + columns[i].width;
	}
	prepared = allocate(words);
	prepared->n_parts = records->n_parts;
	next = prepared->words;
	for (i = 0; i < records->n_parts; i++)
	{
		RaceRecordKind kind = records->parts[i].kind;
		const void *from = columns[i].numbers;

		if (kind != RACE_RECORD_VECTOR)
		{
			prepared->seed = params->seed;
			from = columns[i].elements + (kind == RACE_RECORD_SET ? columns[i].starts[0] : 0);
		}
		*next++ = HeadOf(kind, columns[i].width);
		memcpy(next, from, columns[i].width * sizeof(uint64));
		next += columns[i].width;
	}
	return PointerGetDatum(prepared);
}

static void
refuse_other(const RaceParams *params)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("a race_record was made for other parameters"),
			 errdetail("The parameters are %s.", race_params_brief(params)),
			 errhint("Give race_record the parameters that the sketch is built with.")));
}

/* Write a part; numbers are clipped to the bounds of these parameters. */
static void
read_part(const uint64 *words, uint32 n, const RaceParams *part, RaceRecords *records, int i)
{
	if (records->parts[i].kind == RACE_RECORD_VECTOR)
	{
		double	   *numbers = race_records_vector(records, i);

		memcpy(numbers, words, n * sizeof(double));
		race_vector_clip(part, numbers, n);
	}
	else if (n > 0)
		memcpy(race_records_elements(records, i, n), words, n * sizeof(uint64));
	else
		(void) race_records_elements(records, i, 0);
}

/* A value of the type, which may have been damaged where it was stored */
static const Prepared *
open_prepared(Datum value)
{
	const Prepared *prepared = (const Prepared *) PG_DETOAST_DATUM(value);
	const char *problem = VARSIZE(prepared) < offsetof(Prepared, words) ? "It is too short." :
		problem_of(prepared);

	if (problem != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("a race_record is damaged"),
				 errdetail("%s", problem)));
	return prepared;
}

void
race_prepared_read(Datum value, const RaceParams *params, RaceRecords *records)
{
	const Prepared *prepared = open_prepared(value);
	const uint64 *next = prepared->words;
	const RaceParams *part;
	int			i = 0;

	if (prepared->n_parts != records->n_parts)
		refuse_other(params);
	for (part = params; part != NULL; part = race_params_next(part, params), i++)
	{
		uint32		n = NumberOf(*next);
		RaceRecordKind kind = records->parts[i].kind;

		if (KindOf(*next) != kind ||
			(kind != RACE_RECORD_SET && n != records->parts[i].width) ||
			(kind != RACE_RECORD_VECTOR && prepared->seed != params->seed))
			refuse_other(params);
		read_part(next + 1, n, part, records, i);
		next += 1 + n;
	}
}

/* --------------------------------------------------------- text and binary */

static Datum
read_wire(const unsigned char *bytes, Size size, Node *escontext)
{
	Prepared   *prepared = NULL;
	const char *problem = "Its size is wrong.";

	if (size >= HEADER_SIZE && size % sizeof(uint64) == 0 && size <= MAX_SIZE)
	{
		Size		i;

		prepared = allocate((size - HEADER_SIZE) / sizeof(uint64));
		memcpy(&prepared->version, bytes, 8);
		bytes += 8;
		prepared->seed = (int64) race_take(&bytes, 8);
		for (i = 0; i < WordsOf(prepared); i++)
		{
			CHECK_FOR_INTERRUPTS();
			prepared->words[i] = race_take(&bytes, 8);
		}
		problem = problem_of(prepared);
	}
	if (problem != NULL)
		ereturn(escontext, (Datum) 0,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid race_record"),
				 errdetail("%s", problem)));
	return PointerGetDatum(prepared);
}

static void
write_wire(StringInfo out, const Prepared *prepared)
{
	Size		i;

	enlargeStringInfo(out, HEADER_SIZE + WordsOf(prepared) * sizeof(uint64));
	appendBinaryStringInfo(out, (const char *) &prepared->version, 8);
	race_put(out, (uint64) prepared->seed, 8);
	for (i = 0; i < WordsOf(prepared); i++)
	{
		CHECK_FOR_INTERRUPTS();
		race_put(out, prepared->words[i], 8);
	}
}

static bool
is_hexadecimal(const char *text)
{
	Size		n = strspn(text, "0123456789abcdefABCDEF");

	return text[n] == '\0' && n % 2 == 0;
}

Datum
race_record_in(PG_FUNCTION_ARGS)
{
	const char *text = PG_GETARG_CSTRING(0);
	Node	   *escontext = race_escontext(fcinfo);
	Size		size;
	char	   *bytes;

	if (!race_check_text(text, 2 + 2 * MAX_SIZE, "race_record", escontext))
		return (Datum) 0;
	if (strncmp(text, "\\x", 2) != 0 || !is_hexadecimal(text + 2))
		ereturn(escontext, (Datum) 0,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for type race_record"),
				 errdetail("Expected \\x and hexadecimal digits."),
				 errhint("To make one from a value, write race_record(params, x).")));
	size = strlen(text + 2) / 2;
	bytes = palloc(size + 1);
	hex_decode(text + 2, 2 * size, bytes);
	PG_RETURN_DATUM(read_wire((const unsigned char *) bytes, size, escontext));
}

Datum
race_record_out(PG_FUNCTION_ARGS)
{
	StringInfoData wire;
	char	   *text;

	initStringInfo(&wire);
	write_wire(&wire, (const Prepared *) PG_GETARG_VARLENA_P(0));
	text = palloc(2 + 2 * (Size) wire.len + 1);
	memcpy(text, "\\x", 2);
	hex_encode(wire.data, wire.len, text + 2);
	text[2 + 2 * (Size) wire.len] = '\0';
	PG_RETURN_CSTRING(text);
}

Datum
race_record_recv(PG_FUNCTION_ARGS)
{
	StringInfo	message = (StringInfo) PG_GETARG_POINTER(0);
	int			size = message->len - message->cursor;

	PG_RETURN_DATUM(read_wire((const unsigned char *) pq_getmsgbytes(message, size), size,
							  race_escontext(fcinfo)));
}

Datum
race_record_send(PG_FUNCTION_ARGS)
{
	StringInfoData message;

	pq_begintypsend(&message);
	write_wire(&message, (const Prepared *) PG_GETARG_VARLENA_P(0));
	PG_RETURN_BYTEA_P(pq_endtypsend(&message));
}
