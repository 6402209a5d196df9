/*
 * prepared_record.c
 *		race_record: a bytea of a record that has been read, and can be counted anywhere
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"

#include "hash/column.h"
#include "hash/kernel.h"
#include "hash/params.h"
#include "sketch/bytes.h"
#include "sketch/compat.h"
#include "sketch/params_text.h"
#include "sketch/prepared_record.h"
#include "sketch/records.h"

/*
 * What race_record makes: a record that has been read, and can be counted anywhere.  Its bytes,
 * little-endian:
 *
 * 0	u8	version = 1
 * 1	u8	parts of the kernel
 * 2	6 bytes reserved, 0
 * 8	i64 seed of the parameters, with which elements are hashed; 0 if there are none
 * 16	for each part: u32 numbers or elements, u32 kind (RaceRecordKind), then 8 bytes for each
 */

#define VERSION 1
#define HEADER_SIZE 16
#define MAX_SIZE ((Size) 256 * 1024 * 1024) /* its text is half a GB */

Datum
race_prepared_datum(const RaceRecords *records, const RaceParams *params)
{
	RaceColumn columns[RACE_MAX_PARTS];
	Size words = 0;
	uint64 seed = 0;
	StringInfoData out;

	race_records_columns(records, records->n, columns);
	for (int i = 0; i < records->n_parts; i++)
	{
		if (records->parts[i].kind == RACE_RECORD_SET)
			columns[i].width = columns[i].starts[1] - columns[i].starts[0];
		if (records->parts[i].kind != RACE_RECORD_VECTOR)
			seed = (uint64) params->seed;
		words += 1 + columns[i].width;
	}
	if (words > MAX_SIZE / sizeof(uint64))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a race_record can have at most %zu bytes", MAX_SIZE)));
	pq_begintypsend(&out);
	enlargeStringInfo(&out, HEADER_SIZE + words * sizeof(uint64));
	race_put(&out, VERSION | records->n_parts << 8, 8);
	race_put(&out, seed, 8);
	for (int i = 0; i < records->n_parts; i++)
	{
		RaceRecordKind kind = records->parts[i].kind;
		const uint64 *from = kind == RACE_RECORD_VECTOR ?
			(const uint64 *) columns[i].numbers :
			columns[i].elements + (kind == RACE_RECORD_SET ? columns[i].starts[0] : 0);

		race_put(&out, columns[i].width, 4);
		race_put(&out, kind, 4);
		for (uint32 k = 0; k < columns[i].width; k++)
		{
			CHECK_FOR_INTERRUPTS();
			race_put(&out, from[k], 8);
		}
	}
	return PointerGetDatum(pq_endtypsend(&out));
}

/* Return what is wrong with the bytes of a race_record, whatever the parameters; or NULL. */
static const char *
prepared_problem(const unsigned char *next, Size size)
{
	const unsigned char *end = next + size;
	uint64 head;
	uint64 seed;
	int n_parts;
	bool elements = false;

	if (size < HEADER_SIZE || size % sizeof(uint64) != 0 || size > MAX_SIZE)
		return "Its size is wrong.";
	head = race_take(&next, 8);
	seed = race_take(&next, 8);
	n_parts = head >> 8 & 0xFF;
	if ((head & 0xFF) != VERSION)
		return "Its version is unknown.";
	if (head >> 16 != 0)
		return "Reserved bytes are not zero.";
	if (n_parts < 1 || n_parts > RACE_MAX_PARTS)
		return "The number of parts is wrong.";
	for (int i = 0; i < n_parts; i++)
	{
		uint32 n;
		uint32 kind;

		if (next == end)
			return "It is too short.";
		n = (uint32) race_take(&next, 4);
		kind = (uint32) race_take(&next, 4);
		if ((Size) (end - next) / sizeof(uint64) < n)
			return "It is too short.";
		if (kind != RACE_RECORD_VECTOR && kind != RACE_RECORD_SET && kind != RACE_RECORD_ROW)
			return "A part is of an unknown kind.";
		if (kind != RACE_RECORD_SET && (n < 1 || n > RACE_MAX_DIMS))
			return "A part has too many values, or none.";
		for (uint32 k = 0; kind == RACE_RECORD_VECTOR && k < n; k++)
			if (!isfinite(race_take_double(&next)))
				return "A number is not finite.";
		if (kind != RACE_RECORD_VECTOR)
			next += (Size) n * sizeof(uint64);
		elements |= kind != RACE_RECORD_VECTOR;
	}
	if (next != end)
		return "It is too long.";
	return !elements && seed != 0 ? "A record without elements has a seed." : NULL;
}

void
race_prepared_read(Datum value, const RaceParams *params, RaceRecords *records)
{
	const bytea *bytes = DatumGetByteaPP(value);
	const unsigned char *next = (const unsigned char *) VARDATA_ANY(bytes);
	const char *problem = prepared_problem(next, VARSIZE_ANY_EXHDR(bytes));
	int i = 0;
	bool same;
	int64 seed;

	if (problem != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("the bytes are not those of race_record"), errdetail("%s", problem)));
	same = next[1] == records->n_parts;
	next += sizeof(uint64);
	seed = (int64) race_take(&next, 8);
	for (const RaceParams *part = params; part != NULL && same;
		 part = race_params_next(part, params), i++)
	{
		uint32 n = (uint32) race_take(&next, 4);
		uint32 kind = (uint32) race_take(&next, 4);

		same = kind == records->parts[i].kind &&
			(kind == RACE_RECORD_SET || n == records->parts[i].width) &&
			(kind == RACE_RECORD_VECTOR || seed == params->seed);
		if (same && kind == RACE_RECORD_VECTOR)
		{
			double *numbers = race_records_vector(records, i);

			for (uint32 k = 0; k < n; k++)
				numbers[k] = race_take_double(&next);
			race_vector_clip(part, numbers, n);
		}
		else if (same)
		{
			uint64 *elements = race_records_elements(records, i, n);

			for (uint32 k = 0; k < n; k++)
			{
				CHECK_FOR_INTERRUPTS();
				elements[k] = race_take(&next, 8);
			}
		}
	}
	if (!same)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a race_record was made for other parameters"),
				 errdetail("The parameters are %s.", race_params_brief(params)),
				 errhint("Give race_record the parameters that the sketch is built with.")));
}
