/*
 * limits.c
 *		Checks of parameters against their limits.
 */
#include "lsh.h"

#include <math.h>
#include <stdio.h>

#include "balanced.h"
#include "grid.h"
#include "moments.h"
#include "sobol.h"
#include "surrogate.h"

#define PROBLEM(...) (snprintf(message, length, __VA_ARGS__), message)

/* ------------------------------------------- kernels that a message speaks of */

static bool
has_bandwidth(const RaceKernelType *type)
{
	return (type->takes & RACE_TAKES_BANDWIDTH) != 0;
}

static bool
has_transform(const RaceKernelType *type)
{
	return (type->takes & RACE_TAKES_TRANSFORM) != 0;
}

static bool
may_be_structured(const RaceKernelType *type)
{
	return (type->takes & RACE_TAKES_STRUCTURED) != 0;
}

static bool
may_fold(const RaceKernelType *type)
{
	return type->can_fold != NULL;
}

static bool
has_offsets(const RaceKernelType *type)
{
	return type->record == RACE_RECORD_VECTOR && type->quantile != NULL && !type->signs;
}

static bool
has_signs(const RaceKernelType *type)
{
	return type->signs;
}

static bool
has_places(const RaceKernelType *type)
{
	return type->record == RACE_RECORD_ROW;
}

static bool
has_nulls(const RaceKernelType *type)
{
	return (type->takes & RACE_TAKES_NULLS) != 0;
}

static bool
has_own_fields(const RaceKernelType *type)
{
	return (type->takes & (RACE_TAKES_RADIUS | RACE_TAKES_COLUMNS)) != 0;
}

#define MAX_LIST	128

/* ------------------------------------------------------------------ limits */

/* Are all numbers of an array, if it is there, within these bounds? */
static bool
array_within(const RaceParams *part, RaceArray array, double low, double high)
{
	const double *x = race_array(part, array);
	uint64_t	n = race_array_length(part, array);
	uint64_t	i;

	for (i = 0; i < n; i++)
		if (!(x[i] >= low && x[i] <= high))
			return false;
	return true;
}

static const char *
bounds_problem(const RaceParams *part, char *message, size_t length)
{
	const double *lower = race_array(part, RACE_ARRAY_LOWER);
	const double *upper = race_array(part, RACE_ARRAY_UPPER);
	uint32_t	i;

	if (!array_within(part, RACE_ARRAY_LOWER, -INFINITY, RACE_MAX_BOUND) ||
		!array_within(part, RACE_ARRAY_UPPER, -RACE_MAX_BOUND, INFINITY))
		return PROBLEM("bounds must be numbers, of which lower may be -Infinity and upper Infinity");
	for (i = 0; lower != NULL && upper != NULL && i < part->dims; i++)
		if (lower[i] > upper[i])
			return PROBLEM("a lower bound is above the upper one");
	return NULL;
}

/*
 * What is wrong with the arrays of a part. That they fit into its size is already
 * known.
 */
static const char *
arrays_problem(const RaceParams *part, char *message, size_t length)
{
	const uint8_t transform = RACE_ARRAY_MATRIX | RACE_ARRAY_OFFSET;
	const double *w = race_array(part, RACE_ARRAY_BANDWIDTHS);
	const RaceKernelType *type = race_kernel_type(part->kernel);
	char		list[MAX_LIST];
	uint32_t	i;

	if ((part->arrays & RACE_ARRAY_CELLS) != 0 && part->sequence != RACE_SEQUENCE_GRID)
		return PROBLEM("cells are for sequence \"grid\"");
	if (part->arrays != 0 && (type->takes & RACE_TAKES_BOUNDS) == 0)
		return PROBLEM("kernel %s has neither bandwidths nor bounds nor a transform",
					   type->name);
	if ((part->arrays & RACE_ARRAY_BANDWIDTHS) != 0 &&
		(!has_bandwidth(type) || (part->arrays & transform) != 0))
		return PROBLEM("bandwidths of columns are for kernels %s, without a transform",
					   race_kernel_list(has_bandwidth, "and", list, sizeof(list)));
	if ((part->arrays & transform) != 0 && !has_transform(type))
		return PROBLEM("a transform is for kernels %s",
					   race_kernel_list(has_transform, "and", list, sizeof(list)));
	for (i = 0; w != NULL && i < part->dims; i++)
		if (!(w[i] * part->bandwidth >= RACE_MIN_BANDWIDTH &&
			  w[i] * part->bandwidth <= RACE_MAX_BANDWIDTH))
			return PROBLEM("bandwidths must be numbers between %g and %g",
						   RACE_MIN_BANDWIDTH, RACE_MAX_BANDWIDTH);
	if (!array_within(part, RACE_ARRAY_MATRIX, -RACE_MAX_TRANSFORM, RACE_MAX_TRANSFORM) ||
		!array_within(part, RACE_ARRAY_OFFSET, -RACE_MAX_TRANSFORM, RACE_MAX_TRANSFORM))
		return PROBLEM("a transform must have numbers between %g and %g",
					   -RACE_MAX_TRANSFORM, RACE_MAX_TRANSFORM);
	return bounds_problem(part, message, length);
}

/* What is wrong with the sequence of a part, for its kernel */
static const char *
sequence_problem(const RaceParams *part, char *message, size_t length)
{
	const RaceKernelType *type = race_kernel_type(part->kernel);
	char		list[MAX_LIST];

	if (part->sequence == RACE_SEQUENCE_STRUCTURED && !may_be_structured(type))
		return PROBLEM("sequence \"structured\" is for kernels %s",
					   race_kernel_list(may_be_structured, "and", list, sizeof(list)));
	if (part->sequence == RACE_SEQUENCE_STRUCTURED && part->outputs != 0)
		return PROBLEM("sequence \"structured\" cannot have a matrix");
	if (part->sequence == RACE_SEQUENCE_GROUPED && type->record != RACE_RECORD_SET)
		return PROBLEM("sequence \"grouped\" is for kernel jaccard");
	if (race_is_balanced(part) && type->record != RACE_RECORD_ROW)
		return PROBLEM("sequence \"balanced\" is for kernel match");
	if (race_is_balanced(part) && (part->power > RACE_BALANCED_POWER || part->power > part->dims))
		return PROBLEM("sequence \"balanced\" needs dims, and a power of 1, or of 2 with two places or more");
	return NULL;
}

/* Rows of sequence "balanced" are all different. */
static const char *
balanced_problem(const RaceParams *params, char *message, size_t length)
{
	if (race_params_next(params, params) != NULL)
		return PROBLEM("kernel match with sequence \"balanced\" cannot be a part of a product");
	if (params->rows > race_balanced_rows(params))
		return PROBLEM("sequence \"balanced\" has at most %llu rows with %u dims and power %u, one for each %s",
					   (unsigned long long) race_balanced_rows(params), params->dims,
					   params->power, params->power == 1 ? "column" : "pair of columns");
	return NULL;
}

/* What is wrong with the fields of a part; its arrays are checked later */
static const char *
part_problem(const RaceParams *part, char *message, size_t length)
{
	const RaceKernelType *type = race_kernel_type(part->kernel);
	char		list[MAX_LIST];

	if (type == NULL)
		return PROBLEM("unknown kernel number %d", part->kernel);
	if (race_sequence_name(part->sequence) == NULL)
		return PROBLEM("unknown row sequence number %d", part->sequence);
	if (part->arrays > RACE_ARRAY_ALL || part->reserved8[0] != 0 ||
		part->reserved8[1] != 0 || part->reserved8[2] != 0)
		return PROBLEM("reserved bytes are not zero");
	if (part->dims > RACE_MAX_DIMS)
		return PROBLEM("dims must be between 1 and %d", RACE_MAX_DIMS);
	if ((type->takes & RACE_TAKES_DIMS) == 0 && part->dims != 0)
		return PROBLEM("kernel %s has no dims: sets have any number of elements",
					   type->name);
	if (part->power < 1 || part->power > RACE_MAX_POWER)
		return PROBLEM("power must be between 1 and %d", RACE_MAX_POWER);
	if ((type->takes & (RACE_TAKES_BANDWIDTH | RACE_TAKES_COLUMNS)) == 0 && part->bandwidth != 1)
		return PROBLEM("kernel %s has no bandwidth", type->name);
	if (!(part->bandwidth >= RACE_MIN_BANDWIDTH &&
		  part->bandwidth <= RACE_MAX_BANDWIDTH))
		return PROBLEM("bandwidth must be a number between %g and %g",
					   RACE_MIN_BANDWIDTH, RACE_MAX_BANDWIDTH);
	if (sequence_problem(part, message, length) != NULL)
		return message;
	if (part->nulls != 0 && race_nulls_name(part->nulls) == NULL)
		return PROBLEM("unknown meaning of nulls, number %d", part->nulls);
	if (part->nulls != 0 && !has_nulls(type))
		return PROBLEM("nulls are for kernels %s",
					   race_kernel_list(has_nulls, "and", list, sizeof(list)));
	if (!has_own_fields(type) && (part->own.bits[0] != 0 || part->own.bits[1] != 0))
		return PROBLEM("radius, query_radius, norm, features, targets, clip and coarser are for kernels %s",
					   race_kernel_list(has_own_fields, "and", list, sizeof(list)));
	if (part->arrays != 0 && part->dims == 0)
		return PROBLEM("bandwidths, bounds and transforms need dims");
	if ((part->outputs != 0) != ((part->arrays & RACE_ARRAY_MATRIX) != 0) ||
		part->outputs > RACE_MAX_DIMS)
		return PROBLEM("a matrix must have between 1 and %d rows", RACE_MAX_DIMS);
	return NULL;
}

static const char *
sobol_problem(char *message, size_t length)
{
	char		offsets[MAX_LIST];
	char		signs[MAX_LIST];
	char		places[MAX_LIST];

	return PROBLEM("sequence \"sobol\" needs dims, and at most %d random numbers a row: power times (dims + 1) for %s, power times dims for %s, power for %s",
				   RACE_SOBOL_DIMENSIONS,
				   race_kernel_list(has_offsets, "and", offsets, sizeof(offsets)),
				   race_kernel_list(has_signs, "and", signs, sizeof(signs)),
				   race_kernel_list(has_places, "and", places, sizeof(places)));
}

/*
 * Check each part, and that the sizes of all parts add up to the size of the whole.
 */
static const char *
parts_problem(const RaceParams *params, char *message, size_t length)
{
	const RaceParams *part = params;
	uint64_t	left = params->more;
	uint32_t	sobol = 0;
	int			parts = 0;

	for (;;)
	{
		if (part_problem(part, message, length) != NULL)
			return message;
		if (race_arrays_size(part) > left)
			return PROBLEM("arrays are cut off");
		if (arrays_problem(part, message, length) != NULL)
			return message;
		if (part != params && part->sequence == RACE_SEQUENCE_GRID)
			return PROBLEM("a grid cannot be a part of a product");
		if (part != params && race_is_balanced(part))
			return PROBLEM("kernel match with sequence \"balanced\" cannot be a part of a product");
		if (race_is_surrogate(part) && params->more != race_arrays_size(params))
			return PROBLEM("a surrogate loss cannot be a part of a product");
		if (part != params && race_is_moments(part))
			return PROBLEM("moments cannot be a part of a product");
		if (part->sequence == RACE_SEQUENCE_SOBOL)
		{
			if (!race_fits_sobol(part, sobol))
				return sobol_problem(message, length);
			sobol += race_sobol_dimensions(part);
		}
		left -= race_arrays_size(part);
		if (left == 0)
			return NULL;
		if (left < sizeof(RaceParams) || ++parts == RACE_MAX_PARTS)
			return PROBLEM("a product can have up to %d kernels", RACE_MAX_PARTS);
		left -= sizeof(RaceParams);
		part = (const RaceParams *) ((const char *) (part + 1) + race_arrays_size(part));
		if (part->seed != 0 || part->rehash != 0 || part->rows != 0 ||
			part->range != 0 || part->more != 0)
			return PROBLEM("only the first kernel of a product states what all share");
	}
}

static const char *
fold_problem(const RaceParams *params, char *message, size_t length)
{
	char		list[MAX_LIST];

	if (has_signs(race_kernel_type(params->kernel)))
		return PROBLEM("rehash \"fold\" needs a range of at least 2^power");
	return PROBLEM("rehash \"fold\" needs power 1, and kernel %s by itself",
				   race_kernel_list(may_fold, "or", list, sizeof(list)));
}

const char *
race_params_problem(const RaceParams *params, size_t size,
					char *message, size_t length)
{
	uint64_t	counters;

	if (size < sizeof(RaceParams) || size != race_params_size(params) ||
		params->more > RACE_MAX_MORE)
		return PROBLEM("bandwidths, bounds and transforms must be at most %d numbers",
					   (int) (RACE_MAX_MORE / sizeof(double)));
	if (parts_problem(params, message, length) != NULL)
		return message;
	if (race_rehash_name(params->rehash) == NULL)
		return PROBLEM("unknown rehash number %d", params->rehash);
	if (race_is_surrogate(params) && race_surrogate_problem(params, message, length) != NULL)
		return message;
	if (race_is_balanced(params) && balanced_problem(params, message, length) != NULL)
		return message;
	if (race_is_grid(params) && race_grid_problem(params, message, length) != NULL)
		return message;
	if (race_is_moments(params) && race_moments_problem(params, message, length) != NULL)
		return message;
	if (params->rows < 1)
		return PROBLEM("rows must be at least 1");
	if (params->range < 2)
		return PROBLEM("range must be at least 2");
	counters = (RACE_MAX_SKETCH_BYTES - RACE_MAX_HEADER_BYTES - params->more) / 8;
	if ((uint64_t) params->rows * params->range > counters)
		return PROBLEM("rows times range must be at most %llu",
					   (unsigned long long) counters);
	if (race_rows_size(params) > RACE_MAX_ROWS_BYTES)
		return PROBLEM("rows times power times (dims + 1) is too large: row functions would take %llu MB, at most %llu are allowed",
					   (unsigned long long) race_rows_size(params) >> 20,
					   (unsigned long long) RACE_MAX_ROWS_BYTES >> 20);
	if (params->rehash == RACE_REHASH_FOLD && !race_can_fold(params))
		return fold_problem(params, message, length);
	return NULL;
}
