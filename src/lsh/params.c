/*
 * params.c
 *		Parameters of a hash family: names, limits, what they stand for.
 */
#include "lsh.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sobol.h"

typedef struct NamedValue
{
	const char *name;
	int			value;
} NamedValue;

static const NamedValue kernels[] = {
	{"l2", RACE_KERNEL_L2},
	{"l1", RACE_KERNEL_L1},
	{"angular", RACE_KERNEL_ANGULAR},
	{"jaccard", RACE_KERNEL_JACCARD},
	{"match", RACE_KERNEL_MATCH},
	{NULL, 0}
};

static const NamedValue sequences[] = {
	{"independent", RACE_SEQUENCE_INDEPENDENT},
	{"sobol", RACE_SEQUENCE_SOBOL},
	{"orthogonal", RACE_SEQUENCE_ORTHOGONAL},
	{NULL, 0}
};

static const NamedValue rehashes[] = {
	{"fold", RACE_REHASH_FOLD},
	{"multilinear", RACE_REHASH_MULTILINEAR},
	{NULL, 0}
};

static const char *
name_of(const NamedValue *list, int value)
{
	for (; list->name != NULL; list++)
		if (list->value == value)
			return list->name;
	return NULL;
}

static int
value_of(const NamedValue *list, const char *name)
{
	for (; list->name != NULL; list++)
		if (strcmp(list->name, name) == 0)
			return list->value;
	return 0;
}

const char *
race_kernel_name(int kernel)
{
	return name_of(kernels, kernel);
}

const char *
race_sequence_name(int sequence)
{
	return name_of(sequences, sequence);
}

const char *
race_rehash_name(int rehash)
{
	return name_of(rehashes, rehash);
}

int
race_kernel_by_name(const char *name)
{
	return value_of(kernels, name);
}

int
race_sequence_by_name(const char *name)
{
	return value_of(sequences, name);
}

int
race_rehash_by_name(const char *name)
{
	return value_of(rehashes, name);
}

/* ------------------------------------------------------- parts and arrays */

size_t
race_params_size(const RaceParams *params)
{
	return sizeof(RaceParams) + params->more;
}

uint64_t
race_array_length(const RaceParams *part, RaceArray array)
{
	if ((part->arrays & array) == 0)
		return 0;
	return array == RACE_ARRAY_MATRIX ? (uint64_t) part->outputs * part->dims :
		part->dims;
}

uint64_t
race_arrays_size(const RaceParams *part)
{
	uint64_t	n = 0;
	int			array;

	if (part->arrays == 0)
		return 0;
	for (array = RACE_ARRAY_BANDWIDTHS; array <= RACE_ARRAY_OFFSET; array *= 2)
		n += race_array_length(part, array);
	return n * sizeof(double);
}

const double *
race_array(const RaceParams *part, RaceArray array)
{
	const double *position = (const double *) (part + 1);
	int			before;

	if ((part->arrays & array) == 0)
		return NULL;
	for (before = RACE_ARRAY_BANDWIDTHS; before < (int) array; before *= 2)
		position += race_array_length(part, before);
	return position;
}

const RaceParams *
race_params_next(const RaceParams *part, const RaceParams *params)
{
	const char *next;

	if (params->more == 0)
		return NULL;
	next = (const char *) (part + 1) + race_arrays_size(part);
	return next < (const char *) params + race_params_size(params) ?
		(const RaceParams *) next : NULL;
}

int
race_params_parts(const RaceParams *params)
{
	const RaceParams *part;
	int			n = 0;

	for (part = params; part != NULL; part = race_params_next(part, params))
		n++;
	return n;
}

/* --------------------------------------------------- what kernels are like */

bool
race_has_bandwidth(const RaceParams *part)
{
	return part->kernel == RACE_KERNEL_L2 || part->kernel == RACE_KERNEL_L1;
}

bool
race_compares_numbers(const RaceParams *part)
{
	return race_has_bandwidth(part) || part->kernel == RACE_KERNEL_ANGULAR;
}

bool
race_compares_sets(const RaceParams *part)
{
	return part->kernel == RACE_KERNEL_JACCARD;
}

/* Is the distribution of projections the same in all directions? */
static bool
is_isotropic(const RaceParams *part)
{
	return part->kernel == RACE_KERNEL_L2 || part->kernel == RACE_KERNEL_ANGULAR;
}

bool
race_params_complete(const RaceParams *params)
{
	const RaceParams *part;

	for (part = params; part != NULL; part = race_params_next(part, params))
		if (part->dims == 0 && !race_compares_sets(part))
			return false;
	return true;
}

uint32_t
race_params_functions(const RaceParams *params)
{
	const RaceParams *part;
	uint32_t	functions = 0;

	for (part = params; part != NULL; part = race_params_next(part, params))
		functions += part->power;
	return functions;
}

int
race_params_sequence(const RaceParams *params)
{
	const RaceParams *part;
	bool		orthogonal = false;

	for (part = params; part != NULL; part = race_params_next(part, params))
	{
		if (part->sequence == RACE_SEQUENCE_INDEPENDENT)
			return RACE_SEQUENCE_INDEPENDENT;
		orthogonal |= part->sequence == RACE_SEQUENCE_ORTHOGONAL;
	}
	return orthogonal ? RACE_SEQUENCE_ORTHOGONAL : RACE_SEQUENCE_SOBOL;
}

uint32_t
race_sobol_dimensions(const RaceParams *part)
{
	uint64_t	projected = part->outputs > 0 ? part->outputs : part->dims;
	uint64_t	a_function = race_has_bandwidth(part) ? projected + 1 :
		part->kernel == RACE_KERNEL_ANGULAR ? projected : 1;
	uint64_t	n = part->power * a_function;

	/* a set's function is drawn by keys; without dims it is not known */
	if (race_compares_sets(part) || part->dims == 0 || n > UINT32_MAX)
		return UINT32_MAX;
	return (uint32_t) n;
}

/* Can a Sobol' sequence draw the functions of a part, after what is taken? */
static bool
fits_sobol(const RaceParams *part, uint32_t taken)
{
	return taken <= RACE_SOBOL_DIMENSIONS &&
		race_sobol_dimensions(part) <= RACE_SOBOL_DIMENSIONS - taken;
}

int
race_default_sequence(const RaceParams *part, uint32_t taken)
{
	return fits_sobol(part, taken) ? RACE_SEQUENCE_SOBOL :
		is_isotropic(part) && part->dims > 0 ? RACE_SEQUENCE_ORTHOGONAL :
		RACE_SEQUENCE_INDEPENDENT;
}

/*
 * Neighbouring codes of l2 stay apart when folded; codes of l1 jump too far for
 * that (Cauchy tails).  The signs of one row are a bucket by themselves where
 * there are buckets for all of them.
 */
static bool
can_fold(const RaceParams *params)
{
	if (race_params_next(params, params) != NULL)
		return false;
	if (params->kernel == RACE_KERNEL_ANGULAR)
		return params->power < 32 && (UINT64_C(1) << params->power) <= params->range;
	return params->kernel == RACE_KERNEL_L2 && params->power == 1;
}

int
race_default_rehash(const RaceParams *params)
{
	return can_fold(params) ? RACE_REHASH_FOLD : RACE_REHASH_MULTILINEAR;
}

/* ------------------------------------------------------------------ limits */

#define PROBLEM(...) (snprintf(message, length, __VA_ARGS__), message)

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

/* What is wrong with the arrays that follow a part, whose size is known to fit */
static const char *
arrays_problem(const RaceParams *part, char *message, size_t length)
{
	const uint8_t transform = RACE_ARRAY_MATRIX | RACE_ARRAY_OFFSET;
	const double *w = race_array(part, RACE_ARRAY_BANDWIDTHS);
	uint32_t	i;

	if (part->arrays != 0 && !race_compares_numbers(part))
		return PROBLEM("kernel %s has neither bandwidths nor bounds nor a transform",
					   race_kernel_name(part->kernel));
	if ((part->arrays & RACE_ARRAY_BANDWIDTHS) != 0 &&
		(!race_has_bandwidth(part) || (part->arrays & transform) != 0))
		return PROBLEM("bandwidths of columns are for kernels l2 and l1, without a transform");
	if ((part->arrays & transform) != 0 && !is_isotropic(part))
		return PROBLEM("a transform is for kernels l2 and angular");
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

/* What is wrong with a part, before its arrays are looked at */
static const char *
part_problem(const RaceParams *part, char *message, size_t length)
{
	if (race_kernel_name(part->kernel) == NULL)
		return PROBLEM("unknown kernel number %d", part->kernel);
	if (race_sequence_name(part->sequence) == NULL)
		return PROBLEM("unknown row sequence number %d", part->sequence);
	if (part->arrays >= 2 * RACE_ARRAY_OFFSET || part->reserved32 != 0 ||
		part->reserved64[0] != 0 || part->reserved64[1] != 0)
		return PROBLEM("reserved bytes are not zero");
	if (part->dims > RACE_MAX_DIMS)
		return PROBLEM("dims must be between 1 and %d", RACE_MAX_DIMS);
	if (race_compares_sets(part) && part->dims != 0)
		return PROBLEM("kernel %s has no dims: sets have any number of elements",
					   race_kernel_name(part->kernel));
	if (part->power < 1 || part->power > RACE_MAX_POWER)
		return PROBLEM("power must be between 1 and %d", RACE_MAX_POWER);
	if (!race_has_bandwidth(part) && part->bandwidth != 1)
		return PROBLEM("kernel %s has no bandwidth", race_kernel_name(part->kernel));
	if (!(part->bandwidth >= RACE_MIN_BANDWIDTH &&
		  part->bandwidth <= RACE_MAX_BANDWIDTH))
		return PROBLEM("bandwidth must be a number between %g and %g",
					   RACE_MIN_BANDWIDTH, RACE_MAX_BANDWIDTH);
	if (part->sequence == RACE_SEQUENCE_ORTHOGONAL && !is_isotropic(part))
		return PROBLEM("sequence \"orthogonal\" is for kernels l2 and angular");
	if (part->arrays != 0 && part->dims == 0)
		return PROBLEM("bandwidths, bounds and transforms need dims");
	if ((part->outputs != 0) != ((part->arrays & RACE_ARRAY_MATRIX) != 0) ||
		part->outputs > RACE_MAX_DIMS)
		return PROBLEM("a matrix must have between 1 and %d rows", RACE_MAX_DIMS);
	return NULL;
}

/* The parts one by one; their sizes must add up to that of all */
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
		if (part->sequence == RACE_SEQUENCE_SOBOL)
		{
			if (!fits_sobol(part, sobol))
				return PROBLEM("sequence \"sobol\" needs dims, and at most %d random numbers a row: power times (dims + 1) for l2 and l1, power times dims for angular, power for match",
							   RACE_SOBOL_DIMENSIONS);
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
	if (params->rehash == RACE_REHASH_FOLD && !can_fold(params))
		return PROBLEM(params->kernel == RACE_KERNEL_ANGULAR ?
					   "rehash \"fold\" needs a range of at least 2^power" :
					   "rehash \"fold\" needs power 1, and kernel l2 or angular by itself");
	return NULL;
}
#undef PROBLEM

double
race_collision_probability(const RaceParams *params)
{
	return params->rehash == RACE_REHASH_MULTILINEAR ? 1.0 / params->range : 0;
}
