/*
 * params_check.c
 *		Checks of parameters against their limits
 */
#include <math.h>
#include <stdio.h>

#include "hash/defaults.h"
#include "hash/fields.h"
#include "hash/kernel.h"
#include "hash/kind.h"
#include "hash/loss_rows.h"
#include "hash/params.h"
#include "hash/params_check.h"
#include "hash/rows.h"
#include "hash/sobol.h"

#define PROBLEM(...) (snprintf(message, length, __VA_ARGS__), message)

#define MAX_LIST 128

/* Return the format of a message about a field that a part does not have. */
static const char *
missing_field_format(const RaceParams *part)
{
	return part->kernel != 0 ? "kernel %s has no %s" : "%s have no %s";
}

/* Return what is wrong with the fields of a part, by the table, or NULL. */
static const char *
fields_problem(const RaceParams *part, bool first, char *message, size_t length)
{
	bool has_own = false;

	if (race_summary_kind(part) == NULL)
		return PROBLEM("unknown kind number %d", part->kind);
	if (race_summary_kind(part)->densities ? race_kernel_name(part->kernel) == NULL :
											 part->kernel != 0)
		return PROBLEM("unknown kernel number %d", part->kernel);
	for (int key = 0; key < RACE_FIELDS; key++)
	{
		const RaceField *field = &race_fields[key];
		uint64_t bits;
		double x;

		if (!race_field_is_stored(field, part))
			continue;
		has_own |= field->own;
		bits = race_field_bits(field, part);
		x = field->type == RACE_FIELD_REAL ? race_double_of_bits(bits) : (double) bits;
		if (field->shared && !first && bits != 0)
			return PROBLEM("only the first kernel of a product states what all share");
		if (field->shared && !first)
			continue;
		if (!field->shared && !race_field_applies(field, part) &&
			bits != race_field_bits(field, &race_params_default))
			return PROBLEM(missing_field_format(part), race_part_name(part), field->name);
		if (field->optional && bits == 0)
			continue;
		if (key != RACE_KEY_KERNEL && field->type == RACE_FIELD_CHOICE &&
			race_choice_name(key, (int) bits) == NULL)
			return PROBLEM("unknown %s number %d", field->what, (int) bits);
		if (field->most > 0 && !(x >= field->least && x <= field->most))
			return PROBLEM(field->type == RACE_FIELD_REAL ?
							   "%s must be a number between %g and %g" :
							   "%s must be between %.0f and %.0f",
						   field->name, field->least, field->most);
	}
	if (part->reserved8 != 0 || (!has_own && (part->own.bits[0] != 0 || part->own.bits[1] != 0)))
		return PROBLEM("reserved bytes are not zero");
	if (!first && part->more != 0)
		return PROBLEM("only the first kernel of a product states what all share");
	if (part->arrays != 0 && part->dims == 0)
		return PROBLEM("bandwidths, bounds and transforms need dims");
	if ((part->outputs != 0) != ((part->arrays & RACE_ARRAY_MATRIX) != 0) ||
		part->outputs > RACE_MAX_DIMS)
		return PROBLEM("a matrix must have between 1 and %d rows", RACE_MAX_DIMS);
	return NULL;
}

/* Return what is wrong with the arrays of a part, whose size was checked, or NULL. */
static const char *
arrays_problem(const RaceParams *part, char *message, size_t length)
{
	const double *w = race_array(part, RACE_ARRAY_BANDWIDTHS);
	const double *lower = race_array(part, RACE_ARRAY_LOWER);
	const double *upper = race_array(part, RACE_ARRAY_UPPER);
	uint32_t found = 0;

	for (int key = 0; key < RACE_KEYS; key++)
	{
		const RaceField *field = &race_fields[key];
		const double *x = race_array(part, field->array);
		uint64_t n = race_array_length(part, field->array);

		if (x == NULL || !race_field_applies(field, part))
			continue;
		found |= field->array;
		for (uint64_t i = 0; i < n && field->most > 0; i++)
			if (!(x[i] >= field->least && x[i] <= field->most))
				return PROBLEM("%s must be numbers between %g and %g", field->name, field->least,
							   field->most);
	}
	for (int key = 0; key < RACE_KEYS; key++)
		if ((race_fields[key].array & part->arrays & ~found) != 0)
			return PROBLEM(missing_field_format(part), race_part_name(part), race_fields[key].name);
	if ((part->arrays & ~found) != 0)
		return PROBLEM("unknown arrays");
	if ((found & RACE_ARRAY_CELLS) != 0 && part->kind == RACE_KIND_ROWS)
		return PROBLEM("cells are for sequence \"grid\"");
	if (w != NULL && (found & (RACE_ARRAY_MATRIX | RACE_ARRAY_OFFSET)) != 0)
		return PROBLEM("bandwidths do not go with a transform");
	for (uint32_t i = 0; w != NULL && i < part->dims; i++)
		if (!(w[i] * part->bandwidth >= RACE_MIN_BANDWIDTH &&
			  w[i] * part->bandwidth <= RACE_MAX_BANDWIDTH))
			return PROBLEM("bandwidths must be numbers between %g and %g", RACE_MIN_BANDWIDTH,
						   RACE_MAX_BANDWIDTH);
	for (uint32_t i = 0; lower != NULL && upper != NULL && i < part->dims; i++)
		if (lower[i] > upper[i])
			return PROBLEM("a lower bound is above the upper one");
	return NULL;
}

/* Return what is wrong with a part's sequence, if `taken` Sobol' dimensions are taken; or NULL. */
static const char *
sequence_problem(const RaceParams *part, uint32_t taken, char *message, size_t length)
{
	const RaceKernelType *type = race_kernel_type(part->kernel);
	char list[MAX_LIST];

	if (part->sequence == RACE_SEQUENCE_GRID && part->kind != RACE_KIND_GRID)
		return PROBLEM("sequence \"grid\" is for kernels l2 and l1");
	if (part->kind == RACE_KIND_GRID && part->sequence != RACE_SEQUENCE_GRID)
		return PROBLEM("a grid has the sequence \"grid\"");
	if (part->sequence == RACE_SEQUENCE_STRUCTURED && (type->takes & RACE_TAKES_STRUCTURED) == 0)
		return PROBLEM("sequence \"structured\" is for kernels %s",
					   race_kernel_list(RACE_TAKES_STRUCTURED, list, sizeof(list)));
	if (part->sequence == RACE_SEQUENCE_STRUCTURED && part->outputs != 0)
		return PROBLEM("sequence \"structured\" cannot have a matrix");
	if (part->sequence == RACE_SEQUENCE_GROUPED && type->record != RACE_RECORD_SET)
		return PROBLEM("sequence \"grouped\" is for kernel jaccard");
	if (part->sequence == RACE_SEQUENCE_SOBOL && !race_sobol_fits(part, taken))
		return PROBLEM(
			"sequence \"sobol\" needs dims, and at most %d random numbers a row, about power times dims",
			RACE_SOBOL_DIMENSIONS);
	return NULL;
}

/*
 * Check each part, and that the sizes of all parts add up to the size of the whole.
 */
static const char *
parts_problem(const RaceParams *params, char *message, size_t length)
{
	const RaceParams *part = params;
	uint64_t left = params->more;
	uint32_t sobol = 0;

	/* bound: RACE_MAX_PARTS */
	for (int parts = 1;; parts++)
	{
		bool first = part == params;

		if (fields_problem(part, first, message, length) != NULL)
			return message;
		if (race_arrays_size(part) > left)
			return PROBLEM("arrays are cut off");
		if (arrays_problem(part, message, length) != NULL ||
			sequence_problem(part, sobol, message, length) != NULL)
			return message;
		if (!first && part->kind == RACE_KIND_GRID)
			return PROBLEM("a grid cannot be a part of a product");
		if (race_is_surrogate(part) && params->more != race_arrays_size(params))
			return PROBLEM("a surrogate loss cannot be a part of a product");
		if (!first && !race_summary_kind(part)->hashed)
			return PROBLEM("%s cannot be a part of a product", race_part_name(part));
		if (part->sequence == RACE_SEQUENCE_SOBOL)
			sobol += race_sobol_dimensions(part);
		left -= race_arrays_size(part);
		if (left == 0)
			return NULL;
		if (left < sizeof(RaceParams) || parts == RACE_MAX_PARTS)
			return PROBLEM("a product can have up to %d kernels", RACE_MAX_PARTS);
		left -= sizeof(RaceParams);
		part = (const RaceParams *) ((const char *) (part + 1) + race_arrays_size(part));
	}
}

const char *
race_params_problem(const RaceParams *params, size_t size, char *message, size_t length)
{
	uint64_t counters;

	if (size < sizeof(RaceParams) || size != race_params_size(params) ||
		params->more > RACE_MAX_MORE)
		return PROBLEM("bandwidths, bounds and transforms must be at most %d numbers",
					   (int) (RACE_MAX_MORE / sizeof(double)));
	if (parts_problem(params, message, length) != NULL ||
		race_summary_kind(params)->problem(params, message, length) != NULL)
		return message;
	if (params->rows < 1)
		return PROBLEM("rows must be at least 1");
	if (params->range < 2 && race_summary_kind(params)->hashed)
		return PROBLEM("range must be at least 2");
	counters = (RACE_MAX_SKETCH_BYTES - RACE_MAX_HEADER_BYTES - params->more) / 8;
	if ((uint64_t) params->rows * params->range > counters)
		return PROBLEM("rows times range must be at most %llu", (unsigned long long) counters);
	if (race_rows_size(params) > RACE_MAX_ROWS_BYTES)
		return PROBLEM(
			"rows times power times (dims + 1) is too large: %llu MB of row functions, at most %llu",
			(unsigned long long) race_rows_size(params) >> 20,
			(unsigned long long) RACE_MAX_ROWS_BYTES >> 20);
	if (params->rehash == RACE_REHASH_FOLD && !race_can_fold(params))
		return race_kernel_type(params->kernel)->signs ?
			PROBLEM("rehash \"fold\" needs a range of at least 2^power") :
			PROBLEM("rehash \"fold\" needs power 1, and by itself a kernel that can be folded");
	return NULL;
}
