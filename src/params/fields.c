/*
 * fields.c
 *		The table of the parameters of a sketch.
 */
#include "fields.h"

/* A field of RaceParams, at this position on the wire */
#define AT(field, position) \
	.offset = offsetof(RaceParams, field), \
	.size = sizeof(((RaceParams *) NULL)->field), .wire = position

/* A choice among names; messages call it `title` */
#define NAMES(title, choice) \
	.what = title, .name_of = race_ ## choice ## _name, \
	.value_of = race_ ## choice ## _by_name

const RaceField race_fields[RACE_FIELDS] = {
	[RACE_KEY_KERNEL] = {
		.name = "kernel", .type = RACE_FIELD_CHOICE, AT(kernel, 1),
		NAMES("kernel", kernel)
	},
	[RACE_KEY_DIMS] = {
		.name = "dims", .type = RACE_FIELD_COUNT, AT(dims, 4),
		.optional = true, .takes = RACE_TAKES_DIMS
	},
	[RACE_KEY_BANDWIDTH] = {
		.name = "bandwidth", .type = RACE_FIELD_REAL, AT(bandwidth, 32),
		.fallback = 1, .takes = RACE_TAKES_BANDWIDTH | RACE_TAKES_COLUMNS
	},
	[RACE_KEY_POWER] = {
		.name = "power", .type = RACE_FIELD_COUNT, AT(power, 8), .fallback = 1,
		.takes = RACE_TAKES_FUNCTIONS
	},
	[RACE_KEY_ROWS] = {
		.name = "rows", .type = RACE_FIELD_COUNT, AT(rows, 12),
		.fallback = 1024, .shared = true, .takes = RACE_TAKES_FUNCTIONS
	},
	[RACE_KEY_RANGE] = {
		.name = "range", .type = RACE_FIELD_COUNT, AT(range, 16),
		.fallback = 1024, .shared = true, .takes = RACE_TAKES_FUNCTIONS
	},
	[RACE_KEY_SEED] = {
		.name = "seed", .type = RACE_FIELD_INTEGER, AT(seed, 24), .shared = true
	},
	[RACE_KEY_SEQUENCE] = {
		.name = "sequence", .type = RACE_FIELD_CHOICE, AT(sequence, 2),
		NAMES("row sequence", sequence)
	},
	[RACE_KEY_REHASH] = {
		.name = "rehash", .type = RACE_FIELD_CHOICE, AT(rehash, 3),
		.shared = true, .takes = RACE_TAKES_FUNCTIONS, NAMES("rehash", rehash)
	},
	[RACE_KEY_BANDWIDTHS] = {
		.name = "bandwidths", .type = RACE_FIELD_VECTOR, .array = RACE_ARRAY_BANDWIDTHS,
		.optional = true, .takes = RACE_TAKES_BANDWIDTH
	},
	[RACE_KEY_LOWER] = {
		.name = "lower", .type = RACE_FIELD_VECTOR, .array = RACE_ARRAY_LOWER,
		.optional = true, .takes = RACE_TAKES_BOUNDS
	},
	[RACE_KEY_UPPER] = {
		.name = "upper", .type = RACE_FIELD_VECTOR, .array = RACE_ARRAY_UPPER,
		.optional = true, .takes = RACE_TAKES_BOUNDS
	},
	[RACE_KEY_MATRIX] = {
		.name = "matrix", .type = RACE_FIELD_MATRIX, .array = RACE_ARRAY_MATRIX,
		.optional = true, .takes = RACE_TAKES_TRANSFORM
	},
	[RACE_KEY_OFFSET] = {
		.name = "offset", .type = RACE_FIELD_VECTOR, .array = RACE_ARRAY_OFFSET,
		.optional = true, .takes = RACE_TAKES_TRANSFORM
	},
	[RACE_KEY_CELLS] = {
		.name = "cells", .type = RACE_FIELD_VECTOR, .array = RACE_ARRAY_CELLS,
		.optional = true, .takes = RACE_TAKES_BANDWIDTH
	},
	[RACE_KEY_NULLS] = {
		.name = "nulls", .type = RACE_FIELD_CHOICE, AT(nulls, 45),
		.optional = true, .takes = RACE_TAKES_NULLS, NAMES("meaning of nulls", nulls),
		.hint = "Use different or category."
	},
	[RACE_KEY_RADIUS] = {
		.name = "radius", .type = RACE_FIELD_REAL, AT(radius, 48), .own = true,
		.optional = true, .takes = RACE_TAKES_RADIUS
	},
	[RACE_KEY_QUERY_RADIUS] = {
		.name = "query_radius", .type = RACE_FIELD_REAL, AT(query_radius, 56), .own = true,
		.optional = true, .takes = RACE_TAKES_RADIUS
	},
	[RACE_KEY_NORM] = {
		.name = "norm", .type = RACE_FIELD_REAL, AT(norm, 48), .own = true, .takes = RACE_TAKES_COLUMNS
	},
	[RACE_KEY_FEATURES] = {
		.name = "features", .type = RACE_FIELD_COUNT, AT(features, 56), .own = true,
		.optional = true, .takes = RACE_TAKES_COLUMNS
	},
	[RACE_KEY_TARGETS] = {
		.name = "targets", .type = RACE_FIELD_COUNT, AT(targets, 58), .own = true,
		.optional = true, .takes = RACE_TAKES_COLUMNS
	},
	[RACE_KEY_CLIP] = {
		.name = "clip", .type = RACE_FIELD_CHOICE, AT(clip, 61), .own = true,
		.optional = true, .takes = RACE_TAKES_COLUMNS, NAMES("clip", clip),
		.hint = "Use norm or absolute."
	},
	[RACE_KEY_COARSER] = {
		.name = "coarser", .type = RACE_FIELD_COUNT, AT(coarser, 60), .own = true,
		.optional = true, .takes = RACE_TAKES_COLUMNS
	},
	[RACE_FIELD_OUTPUTS] = {
		.name = "outputs", .type = RACE_FIELD_DERIVED, AT(outputs, 20)
	},
	[RACE_FIELD_MORE] = {
		.name = "more", .type = RACE_FIELD_DERIVED, AT(more, 40)
	},
	[RACE_FIELD_ARRAYS] = {
		.name = "arrays", .type = RACE_FIELD_DERIVED, AT(arrays, 44)
	},
};

bool
race_field_is_array(const RaceField *field)
{
	return field->type == RACE_FIELD_VECTOR || field->type == RACE_FIELD_MATRIX;
}

bool
race_field_is_stored(const RaceField *field, int kernel)
{
	const RaceKernelType *type = race_kernel_type(kernel);

	return field->size > 0 &&
		(!field->own || (type != NULL && (type->takes & field->takes) != 0));
}

bool
race_field_applies(const RaceField *field, const RaceParams *part, bool first)
{
	uint32		takes = race_kernel_type(part->kernel)->takes;

	if (field->shared && !first)
		return false;
	if (field->takes != 0 && (takes & field->takes) == 0)
		return false;
	if (race_field_is_array(field))
		return race_array(part, field->array) != NULL;
	return !field->optional || race_field_bits(field, part) != 0;
}

uint64
race_field_bits(const RaceField *field, const RaceParams *part)
{
	const char *place = (const char *) part + field->offset;

	switch (field->size)
	{
		case sizeof(uint8):
			return *(const uint8 *) place;
		case sizeof(uint16):
			return *(const uint16 *) place;
		case sizeof(uint32):
			return *(const uint32 *) place;
		default:
			return *(const uint64 *) place;
	}
}

void
race_field_set_bits(const RaceField *field, RaceParams *part, uint64 bits)
{
	char	   *place = (char *) part + field->offset;

	switch (field->size)
	{
		case sizeof(uint8):
			*(uint8 *) place = (uint8) bits;
			break;
		case sizeof(uint16):
			*(uint16 *) place = (uint16) bits;
			break;
		case sizeof(uint32):
			*(uint32 *) place = (uint32) bits;
			break;
		default:
			memcpy(place, &bits, sizeof(bits));
			break;
	}
}

void
race_field_set_default(const RaceField *field, RaceParams *part)
{
	uint64		bits = (uint64) (int64) field->fallback;

	if (field->type == RACE_FIELD_REAL)
		memcpy(&bits, &field->fallback, sizeof(bits));
	race_field_set_bits(field, part, bits);
}

int
race_field_compare(const RaceField *field, const RaceParams *a, const RaceParams *b)
{
	uint64		x = race_field_bits(field, a);
	uint64		y = race_field_bits(field, b);
	double		real_x;
	double		real_y;

	if (field->type == RACE_FIELD_INTEGER)
		return ((int64) x > (int64) y) - ((int64) x < (int64) y);
	if (field->type != RACE_FIELD_REAL)
		return (x > y) - (x < y);
	memcpy(&real_x, &x, sizeof(x));
	memcpy(&real_y, &y, sizeof(y));
	return (real_x > real_y) - (real_x < real_y);
}
