/*
 * params_wire.c
 *		The wire format of race_params, and its validator
 */
#include "postgres.h"

#include "hash/fields.h"
#include "hash/params.h"
#include "sketch/bytes.h"
#include "sketch/compat.h"
#include "sketch/params_type.h"
#include "sketch/params_wire.h"

/*
 * A part of the kernel takes 64 bytes, little-endian: the version first, then the
 * fields where the table in fields.c says; all other bytes are zero, and checked.  The
 * arrays of the part follow as float8, in the order of the table, and then the next
 * part.  A part after the first has 0 where the first speaks for all.  So:
 *
 * 0	u8	version = 3				24	i64 seed
 * 1	u8	kernel					32	f64 bandwidth
 * 2	u8	sequence				40	u32 more: bytes from 64 on, of all parts
 * 3	u8	rehash					44	u16	arrays: which there are (RaceArray)
 * 4	u32 dims					46	u8	nulls: of categories; 0, none are taken
 * 8	u32 power					47	u8	kind
 * 12	u32 rows
 * 16	u32 range					48	16 bytes that kinds and kernels have for themselves
 * 20	u32 outputs: rows of the	64	f64 arrays, and more parts like this one
 * matrix
 *
 * Those of moments: f64 norm, u16 features, u16 targets, u8 coarser, u8 clip, 2 reserved;
 * those of a surrogate loss: f64 radius, f64 query_radius; of tables: u32 numbers in joined, u32
 * rows of workload, u32 rows of measured, u32 numbers in signs; of others they are zero.
 */

StaticAssertDecl(sizeof(RaceParams) == RACE_PART_WIRE_SIZE,
				 "a part takes as many bytes in memory as on the wire, without padding");

/* Write the 64 bytes of a part, without its arrays. */
static void
encode_part(const RaceParams *part, unsigned char *bytes)
{
	memset(bytes, 0, RACE_PART_WIRE_SIZE);
	bytes[0] = RACE_FORMAT_VERSION;
	for (int f = 0; f < RACE_FIELDS; f++)
	{
		const RaceField *field = &race_fields[f];
		uint64 bits;

		if (!race_field_is_stored(field, part))
			continue;
		bits = race_field_bits(field, part);
		for (int i = 0; i < field->size; i++)
			bytes[field->wire + i] = (unsigned char) (bits >> 8 * i);
	}
}

/*
 * Read a part from its 64 bytes.  Return false unless writing the part would give the same bytes.
 */
static bool
decode_part(const unsigned char *bytes, RaceParams *part)
{
	unsigned char again[RACE_PART_WIRE_SIZE];

	memset(part, 0, sizeof(RaceParams));
	/* the kind and the kernel tell which fields there are */
	part->kind = bytes[race_fields[RACE_FIELD_KIND].wire];
	part->kernel = bytes[race_fields[RACE_KEY_KERNEL].wire];
	for (int f = 0; f < RACE_FIELDS; f++)
	{
		const RaceField *field = &race_fields[f];
		const unsigned char *place = bytes + field->wire;

		if (race_field_is_stored(field, part))
			race_field_set_bits(field, part, race_take(&place, field->size));
	}
	encode_part(part, again);
	return memcmp(bytes, again, RACE_PART_WIRE_SIZE) == 0;
}

void
race_params_write(StringInfo out, const RaceParams *params)
{
	unsigned char bytes[RACE_PART_WIRE_SIZE];

	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
	{
		const double *numbers = (const double *) (part + 1);

		encode_part(part, bytes);
		appendBinaryStringInfo(out, (const char *) bytes, RACE_PART_WIRE_SIZE);
		for (Size i = 0; i < race_arrays_size(part) / sizeof(double); i++)
			race_put_double(out, numbers[i]);
	}
}

Size
race_params_wire_size(const unsigned char *bytes)
{
	bytes += race_fields[RACE_FIELD_MORE].wire;
	return RACE_PART_WIRE_SIZE + race_take(&bytes, sizeof(uint32));
}

/*
 * Read parts and their arrays from `left` bytes.  Return false if they do not have exactly that
 * size.
 */
static bool
take_parts(const unsigned char *bytes, Size left, RaceParams *params)
{
	char *next = (char *) params;

	/* bound: a part of the bytes less each time */
	while (left >= RACE_PART_WIRE_SIZE)
	{
		RaceParams *part = (RaceParams *) next;
		uint64 arrays;

		if (!decode_part(bytes, part))
			return false;
		bytes += RACE_PART_WIRE_SIZE;
		left -= RACE_PART_WIRE_SIZE;
		next += sizeof(RaceParams);
		arrays = race_arrays_size(part);
		if (arrays > left)
			return false;
		for (Size i = 0; i < arrays; i += sizeof(double), next += sizeof(double))
			*(double *) next = race_take_double(&bytes) + 0.0; /* zero has no sign */
		left -= arrays;
	}
	return left == 0;
}

RaceParamsDatum *
race_params_read(const char *bytes, Size size, Node *escontext)
{
	RaceParamsDatum *datum;
	Size datum_size = offsetof(RaceParamsDatum, params) + size;

	if (size < RACE_PART_WIRE_SIZE || size > RACE_PART_WIRE_SIZE + RACE_MAX_MORE ||
		*bytes != RACE_FORMAT_VERSION)
		ereturn(escontext, NULL,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid binary representation of type race_params"),
				 errdetail("A value of format version %d has %d bytes or more.",
						   RACE_FORMAT_VERSION, RACE_PART_WIRE_SIZE)));

	datum = palloc0(datum_size);
	SET_VARSIZE(datum, datum_size);
	datum->version = RACE_FORMAT_VERSION;
	if (!take_parts((const unsigned char *) bytes, size, &datum->params) ||
		race_params_size(&datum->params) != size)
		ereturn(escontext, NULL,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid binary representation of type race_params"),
				 errdetail("Its parts do not fit its size, or reserved bytes are not zero.")));
	if (!race_params_check(&datum->params, escontext))
		return NULL;
	return datum;
}
