/*
 * row_params.c
 *		Parameters of row functions: sequences of parts, names, limits
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "contingency.h"
#include "loss_rows.h"
#include "lsh.h"
#include "sequences.h"
#include "summary.h"
#include "table.h"

/*
 * The layout of parameters: the parts of a product, and their arrays.
 */

size_t
race_params_size(const RaceParams *params)
{
	return sizeof(RaceParams) + params->more;
}

uint32_t
race_array_rows(const RaceParams *part, RaceArray array)
{
	if (array == RACE_ARRAY_WORKLOAD && part->kernel == RACE_KERNEL_TABLES)
		return part->workload;
	return array == RACE_ARRAY_MATRIX || array == RACE_ARRAY_MEASURED ? part->outputs :
		array == RACE_ARRAY_GROUPS ? RACE_GROUP_NUMBERS : 1;
}

uint32_t
race_array_columns(const RaceParams *part, RaceArray array)
{
	if (array == RACE_ARRAY_JOINED && part->kernel == RACE_KERNEL_TABLES)
		return part->joined;
	return array == RACE_ARRAY_MEASURED || (array == RACE_ARRAY_WORKLOAD && part->kernel == RACE_KERNEL_TABLES) ?
		RACE_TABLE_NUMBERS : part->dims;
}

uint64_t
race_array_length(const RaceParams *part, RaceArray array)
{
	if ((part->arrays & array) == 0)
		return 0;
	return (uint64_t) race_array_rows(part, array) * race_array_columns(part, array);
}

uint64_t
race_arrays_size(const RaceParams *part)
{
	uint64_t	n = 0;
	uint32_t	arrays;

	for (arrays = part->arrays; arrays != 0; arrays &= arrays - 1)
		n += race_array_length(part, (RaceArray) (arrays & -arrays));
	return n * sizeof(double);
}

const double *
race_array(const RaceParams *part, RaceArray array)
{
	const double *position = (const double *) (part + 1);

	if ((part->arrays & array) == 0)
		return NULL;
	for (uint32_t before = part->arrays & ((uint32_t) array - 1); before != 0; before &= before - 1)
		position += race_array_length(part, (RaceArray) (before & -before));
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
	int			n = 0;

	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
		n++;
	return n;
}

uint32_t
race_params_functions(const RaceParams *params)
{
	uint32_t	functions = 0;

	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
		functions += part->power;
	return functions;
}

int
race_params_sequence(const RaceParams *params)
{
	int			sequence = RACE_SEQUENCE_SOBOL;

	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
	{
		if (part->sequence == RACE_SEQUENCE_INDEPENDENT ||
			part->sequence == RACE_SEQUENCE_GRID ||
			part->sequence == RACE_SEQUENCE_GROUPED)
			return part->sequence;
		if (sequence == RACE_SEQUENCE_SOBOL)
			sequence = part->sequence;
	}
	return sequence;
}

/* A NaN stays a NaN. */
void
race_vector_clip(const RaceParams *part, double *x, uint32_t n)
{
	const double *lower = race_array(part, RACE_ARRAY_LOWER);
	const double *upper = race_array(part, RACE_ARRAY_UPPER);

	for (uint32_t i = 0; lower != NULL && i < n; i++)
		x[i] = x[i] < lower[i] ? lower[i] : x[i];
	for (uint32_t i = 0; upper != NULL && i < n; i++)
		x[i] = x[i] > upper[i] ? upper[i] : x[i];
}

/*
 * Parameters of a hash family: names, and what "auto" stands for.
 */

#define NAME_IN(names, i) \
	((i) >= 0 && (size_t) (i) < sizeof(names) / sizeof(names[0]) ? (names)[i] : NULL)

const char *
race_sequence_name(int sequence)
{
	static const char *const names[] = {
		[RACE_SEQUENCE_INDEPENDENT] = "independent", [RACE_SEQUENCE_SOBOL] = "sobol",
		[RACE_SEQUENCE_GRID] = "grid", [RACE_SEQUENCE_STRUCTURED] = "structured",
		[RACE_SEQUENCE_GROUPED] = "grouped"
	};

	return NAME_IN(names, sequence);
}

const char *
race_rehash_name(int rehash)
{
	static const char *const names[] = {
		[RACE_REHASH_FOLD] = "fold", [RACE_REHASH_MULTILINEAR] = "multilinear"
	};

	return NAME_IN(names, rehash);
}

const char *
race_nulls_name(int nulls)
{
	static const char *const names[] = {
		[RACE_NULLS_DIFFERENT] = "different", [RACE_NULLS_CATEGORY] = "category"
	};

	return NAME_IN(names, nulls);
}

const char *
race_clip_name(int clip)
{
	static const char *const names[] = {[RACE_CLIP_NORM] = "norm", [RACE_CLIP_ABSOLUTE] = "absolute"};

	return NAME_IN(names, clip);
}

/* ------------------------------------------------- what parameters stand for */

RaceRecordKind
race_record_kind(const RaceParams *part)
{
	return race_kernel_type(part->kernel)->record;
}

uint32_t
race_part_elements(const RaceParams *part)
{
	return race_record_kind(part) == RACE_RECORD_SET ? 1 : part->dims;
}

uint32_t
race_params_columns(const RaceParams *params)
{
	uint32_t	n = 0;

	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
		n += race_part_elements(part);
	return n;
}

bool
race_params_complete(const RaceParams *params)
{
	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
		if (part->dims == 0 &&
			(race_kernel_type(part->kernel)->takes & RACE_TAKES_DIMS) != 0)
			return false;
	return true;
}

uint32_t
race_sobol_dimensions(const RaceParams *part)
{
	const RaceKernelType *type = race_kernel_type(part->kernel);
	uint64_t	a_function = 1;
	uint64_t	n;

	/* a projection has coefficients and, unless only its sign counts, an offset */
	if (type->record == RACE_RECORD_VECTOR)
		a_function = (uint64_t) (part->outputs > 0 ? part->outputs : race_hashed_width(part)) +
			!type->signs;
	n = part->power * a_function;

	/* the function of a set has keys; without dims its size is not known */
	if (type->record == RACE_RECORD_SET || part->dims == 0 || n > UINT32_MAX)
		return UINT32_MAX;
	return (uint32_t) n;
}

static bool
race_fits_sobol(const RaceParams *part, uint32_t taken)
{
	return taken <= RACE_SOBOL_DIMENSIONS &&
		race_sobol_dimensions(part) <= RACE_SOBOL_DIMENSIONS - taken;
}

int
race_default_sequence(const RaceParams *part, uint32_t taken)
{
	if (!race_summary_kind(part)->hashed && part->features == 0)
		return RACE_SEQUENCE_INDEPENDENT;	/* there is nothing to draw */
	if (race_fits_sobol(part, taken))
		return RACE_SEQUENCE_SOBOL;
	return (race_kernel_type(part->kernel)->takes & RACE_TAKES_STRUCTURED) != 0 &&
		part->dims > 0 && part->outputs == 0 ?
		RACE_SEQUENCE_STRUCTURED : RACE_SEQUENCE_INDEPENDENT;
}

static bool
race_can_fold(const RaceParams *params)
{
	const RaceKernelType *type = race_kernel_type(params->kernel);

	if (!race_summary_kind(params)->hashed)
		return true;			/* nothing is rehashed */
	return race_params_next(params, params) == NULL && type->can_fold != NULL &&
		type->can_fold(params->power, params->range);
}

int
race_default_rehash(const RaceParams *params)
{
	return race_can_fold(params) ? RACE_REHASH_FOLD : RACE_REHASH_MULTILINEAR;
}

double
race_collision_probability(const RaceParams *params)
{
	return params->rehash == RACE_REHASH_MULTILINEAR ? 1.0 / params->range : 0;
}

/*
 * Checks of parameters against their limits.
 */

#define PROBLEM(...) (snprintf(message, length, __VA_ARGS__), message)

/* Kernels that have fields in the place that is their own */
#define OWN_FIELDS	(RACE_TAKES_RADIUS | RACE_TAKES_COLUMNS | RACE_TAKES_CELLS)

#define MAX_LIST	128

/* ------------------------------------------------------------------ limits */

/* Are all numbers of an array, if it is there, within these bounds? */
static bool
array_within(const RaceParams *part, RaceArray array, double low, double high)
{
	const double *x = race_array(part, array);
	uint64_t	n = race_array_length(part, array);

	for (uint64_t i = 0; i < n; i++)
		if (!(x[i] >= low && x[i] <= high))
			return false;
	return true;
}

static const char *
bounds_problem(const RaceParams *part, char *message, size_t length)
{
	const double *lower = race_array(part, RACE_ARRAY_LOWER);
	const double *upper = race_array(part, RACE_ARRAY_UPPER);

	if (!array_within(part, RACE_ARRAY_LOWER, -INFINITY, RACE_MAX_BOUND) ||
		!array_within(part, RACE_ARRAY_UPPER, -RACE_MAX_BOUND, INFINITY))
		return PROBLEM("bounds must be numbers, of which lower may be -Infinity and upper Infinity");
	for (uint32_t i = 0; lower != NULL && upper != NULL && i < part->dims; i++)
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
	const uint8_t of_tables = RACE_ARRAY_CELLS | RACE_ARRAY_GROUPS | RACE_ARRAY_WORKLOAD | RACE_ARRAY_JOINED |
		RACE_ARRAY_MEASURED;
	const double *w = race_array(part, RACE_ARRAY_BANDWIDTHS);
	const RaceKernelType *type = race_kernel_type(part->kernel);
	char		list[MAX_LIST];

	if ((type->takes & RACE_TAKES_CELLS) != 0)
		return (part->arrays & ~of_tables) == 0 ? NULL : PROBLEM("tables have no arrays but cells, groups, workload, joined and measured");
	if ((part->arrays & RACE_ARRAY_CELLS) != 0 && part->sequence != RACE_SEQUENCE_GRID)
		return PROBLEM("cells are for sequence \"grid\"");
	if ((part->arrays & (RACE_ARRAY_GROUPS | RACE_ARRAY_MEASURED)) != 0)
		return PROBLEM("groups and measured are for tables");
	if (part->arrays != 0 && (type->takes & RACE_TAKES_BOUNDS) == 0)
		return PROBLEM("kernel %s has neither bandwidths nor bounds nor a transform",
					   type->name);
	if ((part->arrays & RACE_ARRAY_BANDWIDTHS) != 0 &&
		((type->takes & RACE_TAKES_BANDWIDTH) == 0 || (part->arrays & transform) != 0))
		return PROBLEM("bandwidths of columns are for kernels %s, without a transform",
					   race_kernel_list(RACE_TAKES_BANDWIDTH, list, sizeof(list)));
	if ((part->arrays & transform) != 0 && (type->takes & RACE_TAKES_TRANSFORM) == 0)
		return PROBLEM("a transform is for kernels %s",
					   race_kernel_list(RACE_TAKES_TRANSFORM, list, sizeof(list)));
	for (uint32_t i = 0; w != NULL && i < part->dims; i++)
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

	if (part->sequence == RACE_SEQUENCE_STRUCTURED && (type->takes & RACE_TAKES_STRUCTURED) == 0)
		return PROBLEM("sequence \"structured\" is for kernels %s",
					   race_kernel_list(RACE_TAKES_STRUCTURED, list, sizeof(list)));
	if (part->sequence == RACE_SEQUENCE_STRUCTURED && part->outputs != 0)
		return PROBLEM("sequence \"structured\" cannot have a matrix");
	if (part->sequence == RACE_SEQUENCE_GROUPED && type->record != RACE_RECORD_SET)
		return PROBLEM("sequence \"grouped\" is for kernel jaccard");
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
	if (part->reserved8[0] != 0 || part->reserved8[1] != 0 || part->reserved8[2] != 0)
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
	if (part->nulls != 0 && (type->takes & RACE_TAKES_NULLS) == 0)
		return PROBLEM("nulls are for kernels %s",
					   race_kernel_list(RACE_TAKES_NULLS, list, sizeof(list)));
	if ((type->takes & OWN_FIELDS) == 0 && (part->own.bits[0] != 0 || part->own.bits[1] != 0))
		return PROBLEM("radius, query_radius, norm, features, targets, clip and coarser are for kernels %s",
					   race_kernel_list(OWN_FIELDS, list, sizeof(list)));
	if (part->arrays != 0 && part->dims == 0)
		return PROBLEM("bandwidths, bounds and transforms need dims");
	if ((part->outputs != 0) != ((part->arrays & (RACE_ARRAY_MATRIX | RACE_ARRAY_MEASURED)) != 0) ||
		part->outputs > RACE_MAX_DIMS)
		return PROBLEM("a matrix or measured must have between 1 and %d rows", RACE_MAX_DIMS);
	return NULL;
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
		if (race_is_surrogate(part) && params->more != race_arrays_size(params))
			return PROBLEM("a surrogate loss cannot be a part of a product");
		if (part != params && !race_summary_kind(part)->hashed)
			return PROBLEM("kernel %s cannot be a part of a product", race_kernel_name(part->kernel));
		if (part->sequence == RACE_SEQUENCE_SOBOL)
		{
			if (!race_fits_sobol(part, sobol))
				return PROBLEM("sequence \"sobol\" needs dims, and at most %d random numbers a row: power times (dims + 1) of distances, power times dims of signs, power of categories",
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
	if (race_summary_kind(params)->problem(params, message, length) != NULL)
		return message;
	if (params->rows < 1)
		return PROBLEM("rows must be at least 1");
	if (params->range < 2 && race_summary_kind(params)->hashed)
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
		return race_kernel_type(params->kernel)->signs ?
			PROBLEM("rehash \"fold\" needs a range of at least 2^power") :
			PROBLEM("rehash \"fold\" needs power 1, and by itself a kernel that can be folded");
	return NULL;
}
