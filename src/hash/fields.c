/*
 * fields.c
 *		The table of the fields of RaceParams
 */
#include <math.h>
#include <string.h>

#include "hash/fields.h"
#include "hash/kernel.h"
#include "hash/kind.h"
#include "hash/params.h"

/* A field of RaceParams, at this position on the wire */
#define AT(field, position) \
	.offset = offsetof(RaceParams, field), .size = sizeof(((RaceParams *) NULL)->field), \
	.wire = position

const RaceField race_fields[RACE_FIELDS] = {
	[RACE_KEY_KERNEL] = {.name = "kernel",
						 .type = RACE_FIELD_CHOICE,
						 AT(kernel, 1),
						 .what = "kernel"},
	[RACE_KEY_DIMS] = {.name = "dims",
					   .type = RACE_FIELD_COUNT,
					   AT(dims, 4),
					   .optional = true,
					   .takes = RACE_TAKES_DIMS,
					   .least = 1,
					   .most = RACE_MAX_DIMS},
	[RACE_KEY_BANDWIDTH] = {.name = "bandwidth",
							.type = RACE_FIELD_REAL,
							AT(bandwidth, 32),
							.takes = RACE_TAKES_BANDWIDTH | RACE_TAKES_COLUMNS,
							.least = RACE_MIN_BANDWIDTH,
							.most = RACE_MAX_BANDWIDTH},
	[RACE_KEY_POWER] = {.name = "power",
						.type = RACE_FIELD_COUNT,
						AT(power, 8),
						.takes = RACE_TAKES_FUNCTIONS,
						.least = 1,
						.most = RACE_MAX_POWER},
	[RACE_KEY_ROWS] = {.name = "rows",
					   .type = RACE_FIELD_COUNT,
					   AT(rows, 12),
					   .shared = true,
					   .takes = RACE_TAKES_FUNCTIONS},
	[RACE_KEY_RANGE] = {.name = "range",
						.type = RACE_FIELD_COUNT,
						AT(range, 16),
						.shared = true,
						.takes = RACE_TAKES_FUNCTIONS},
	[RACE_KEY_SEED] = {.name = "seed", .type = RACE_FIELD_INTEGER, AT(seed, 24), .shared = true},
	[RACE_KEY_SEQUENCE] = {.name = "sequence",
						   .type = RACE_FIELD_CHOICE,
						   AT(sequence, 2),
						   .what = "row sequence",
						   .names = {[RACE_SEQUENCE_INDEPENDENT] = "independent",
									 [RACE_SEQUENCE_SOBOL] = "sobol",
									 [RACE_SEQUENCE_GRID] = "grid",
									 [RACE_SEQUENCE_STRUCTURED] = "structured",
									 [RACE_SEQUENCE_GROUPED] = "grouped"}},
	[RACE_KEY_REHASH] =
		{.name = "rehash",
		 .type = RACE_FIELD_CHOICE,
		 AT(rehash, 3),
		 .shared = true,
		 .takes = RACE_TAKES_FUNCTIONS,
		 .what = "rehash",
		 .names = {[RACE_REHASH_FOLD] = "fold", [RACE_REHASH_MULTILINEAR] = "multilinear"}},
	[RACE_KEY_BANDWIDTHS] = {.name = "bandwidths",
							 .type = RACE_FIELD_VECTOR,
							 .array = RACE_ARRAY_BANDWIDTHS,
							 .optional = true,
							 .takes = RACE_TAKES_BANDWIDTH},
	[RACE_KEY_LOWER] = {.name = "lower",
						.type = RACE_FIELD_VECTOR,
						.array = RACE_ARRAY_LOWER,
						.optional = true,
						.takes = RACE_TAKES_BOUNDS,
						.least = -INFINITY,
						.most = RACE_MAX_BOUND},
	[RACE_KEY_UPPER] = {.name = "upper",
						.type = RACE_FIELD_VECTOR,
						.array = RACE_ARRAY_UPPER,
						.optional = true,
						.takes = RACE_TAKES_BOUNDS,
						.least = -RACE_MAX_BOUND,
						.most = INFINITY},
	[RACE_KEY_MATRIX] = {.name = "matrix",
						 .type = RACE_FIELD_MATRIX,
						 .array = RACE_ARRAY_MATRIX,
						 .optional = true,
						 .takes = RACE_TAKES_TRANSFORM,
						 .least = -RACE_MAX_TRANSFORM,
						 .most = RACE_MAX_TRANSFORM},
	[RACE_KEY_OFFSET] = {.name = "offset",
						 .type = RACE_FIELD_VECTOR,
						 .array = RACE_ARRAY_OFFSET,
						 .optional = true,
						 .takes = RACE_TAKES_TRANSFORM,
						 .least = -RACE_MAX_TRANSFORM,
						 .most = RACE_MAX_TRANSFORM},
	[RACE_KEY_CELLS] = {.name = "cells",
						.type = RACE_FIELD_VECTOR,
						.array = RACE_ARRAY_CELLS,
						.optional = true,
						.takes = RACE_TAKES_BANDWIDTH | RACE_TAKES_CELLS},
	[RACE_KEY_NULLS] =
		{.name = "nulls",
		 .type = RACE_FIELD_CHOICE,
		 AT(nulls, 46),
		 .optional = true,
		 .takes = RACE_TAKES_NULLS,
		 .what = "meaning of nulls",
		 .names = {[RACE_NULLS_DIFFERENT] = "different", [RACE_NULLS_CATEGORY] = "category"},
		 .hint = "Use different or category."},
	[RACE_KEY_RADIUS] = {.name = "radius",
						 .type = RACE_FIELD_REAL,
						 AT(loss.radius, 48),
						 .own = true,
						 .optional = true,
						 .takes = RACE_TAKES_RADIUS},
	[RACE_KEY_QUERY_RADIUS] = {.name = "query_radius",
							   .type = RACE_FIELD_REAL,
							   AT(loss.query_radius, 56),
							   .own = true,
							   .optional = true,
							   .takes = RACE_TAKES_RADIUS},
	[RACE_KEY_NORM] = {.name = "norm",
					   .type = RACE_FIELD_REAL,
					   AT(moments.norm, 48),
					   .own = true,
					   .takes = RACE_TAKES_COLUMNS},
	[RACE_KEY_FEATURES] = {.name = "features",
						   .type = RACE_FIELD_COUNT,
						   AT(moments.features, 56),
						   .own = true,
						   .optional = true,
						   .takes = RACE_TAKES_COLUMNS},
	[RACE_KEY_TARGETS] = {.name = "targets",
						  .type = RACE_FIELD_COUNT,
						  AT(moments.targets, 58),
						  .own = true,
						  .optional = true,
						  .takes = RACE_TAKES_COLUMNS},
	[RACE_KEY_CLIP] = {.name = "clip",
					   .type = RACE_FIELD_CHOICE,
					   AT(moments.clip, 61),
					   .own = true,
					   .optional = true,
					   .takes = RACE_TAKES_COLUMNS,
					   .what = "clip",
					   .names = {[RACE_CLIP_NORM] = "norm", [RACE_CLIP_ABSOLUTE] = "absolute"},
					   .hint = "Use norm or absolute."},
	[RACE_KEY_COARSER] = {.name = "coarser",
						  .type = RACE_FIELD_COUNT,
						  AT(moments.coarser, 60),
						  .own = true,
						  .optional = true,
						  .takes = RACE_TAKES_COLUMNS},
	[RACE_KEY_GROUPS] = {.name = "groups",
						 .type = RACE_FIELD_MATRIX,
						 .array = RACE_ARRAY_GROUPS,
						 .optional = true,
						 .takes = RACE_TAKES_CELLS},
	[RACE_KEY_WORKLOAD] = {.name = "workload",
						   .type = RACE_FIELD_MATRIX,
						   .array = RACE_ARRAY_WORKLOAD,
						   .own = true,
						   .optional = true,
						   .takes = RACE_TAKES_CELLS},
	[RACE_KEY_JOINED] = {.name = "joined",
						 .type = RACE_FIELD_MATRIX,
						 .array = RACE_ARRAY_JOINED,
						 .own = true,
						 .optional = true,
						 .takes = RACE_TAKES_CELLS},
	[RACE_KEY_MEASURED] = {.name = "measured",
						   .type = RACE_FIELD_MATRIX,
						   .array = RACE_ARRAY_MEASURED,
						   .own = true,
						   .optional = true,
						   .takes = RACE_TAKES_CELLS},
	[RACE_KEY_SIGNS] = {.name = "signs",
						.type = RACE_FIELD_MATRIX,
						.array = RACE_ARRAY_SIGNS,
						.own = true,
						.optional = true,
						.takes = RACE_TAKES_CELLS},
	[RACE_KEY_SEARCHED] = {.name = "searched",
						   .type = RACE_FIELD_VECTOR,
						   .array = RACE_ARRAY_SEARCHED,
						   .optional = true,
						   .takes = RACE_TAKES_CELLS},
	[RACE_KEY_ENDS] = {.name = "ends",
					   .type = RACE_FIELD_VECTOR,
					   .array = RACE_ARRAY_ENDS,
					   .own = true,
					   .optional = true,
					   .takes = RACE_TAKES_CELLS},
	[RACE_FIELD_KIND] = {.name = "kind", .type = RACE_FIELD_DERIVED, AT(kind, 47)},
	[RACE_FIELD_OUTPUTS] = {.name = "outputs", .type = RACE_FIELD_DERIVED, AT(outputs, 20)},
	[RACE_FIELD_MORE] = {.name = "more", .type = RACE_FIELD_DERIVED, AT(more, 40)},
	[RACE_FIELD_ARRAYS] = {.name = "arrays", .type = RACE_FIELD_DERIVED, AT(arrays, 44)},
	[RACE_FIELD_JOINED] = {.name = "joined",
						   .type = RACE_FIELD_DERIVED,
						   AT(tables.joined, 48),
						   .own = true,
						   .takes = RACE_TAKES_CELLS},
	[RACE_FIELD_WORKLOAD] = {.name = "workload",
							 .type = RACE_FIELD_DERIVED,
							 AT(tables.workload, 52),
							 .own = true,
							 .takes = RACE_TAKES_CELLS},
	[RACE_FIELD_MEASURED] = {.name = "measured",
							 .type = RACE_FIELD_DERIVED,
							 AT(tables.measured, 56),
							 .own = true,
							 .takes = RACE_TAKES_CELLS},
	[RACE_FIELD_SIGNS] = {.name = "signs",
						  .type = RACE_FIELD_DERIVED,
						  AT(tables.signs, 60),
						  .own = true,
						  .takes = RACE_TAKES_CELLS},
};

const RaceParams race_params_default = {.bandwidth = 1, .power = 1, .rows = 1024, .range = 1024};

const char *
race_part_name(const RaceParams *part)
{
	return part->kernel != 0 ? race_kernel_name(part->kernel) : race_summary_kind(part)->name;
}

bool
race_field_applies(const RaceField *field, const RaceParams *part)
{
	const RaceKernelType *type = race_kernel_type(part->kernel);
	const RaceSummaryKind *kind = race_summary_kind(part);
	uint32_t takes = (type != NULL ? type->takes : 0) | (kind != NULL ? kind->takes : 0);

	return field->takes == 0 || (takes & field->takes) != 0;
}

bool
race_field_is_stored(const RaceField *field, const RaceParams *part)
{
	return field->size > 0 && (!field->own || race_field_applies(field, part));
}

uint64_t
race_field_bits(const RaceField *field, const RaceParams *part)
{
	const char *place = (const char *) part + field->offset;

	switch (field->size)
	{
		case sizeof(uint8_t):
			return *(const uint8_t *) place;
		case sizeof(uint16_t):
			return *(const uint16_t *) place;
		case sizeof(uint32_t):
			return *(const uint32_t *) place;
		default:
			return *(const uint64_t *) place;
	}
}

void
race_field_set_bits(const RaceField *field, RaceParams *part, uint64_t bits)
{
	char *place = (char *) part + field->offset;

	switch (field->size)
	{
		case sizeof(uint8_t):
			*(uint8_t *) place = (uint8_t) bits;
			break;
		case sizeof(uint16_t):
			*(uint16_t *) place = (uint16_t) bits;
			break;
		case sizeof(uint32_t):
			*(uint32_t *) place = (uint32_t) bits;
			break;
		default:
			memcpy(place, &bits, sizeof(bits));
			break;
	}
}

double
race_double_of_bits(uint64_t bits)
{
	double x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

const char *
race_choice_name(RaceFieldNumber key, int number)
{
	if (key == RACE_KEY_KERNEL)
		return race_kernel_name(number);
	return number >= 0 && number < RACE_CHOICES ? race_fields[key].names[number] : NULL;
}
