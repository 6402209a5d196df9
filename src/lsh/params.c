/*
 * params.c
 *		Parameters of a hash family: names, and what "auto" stands for.
 */
#include "lsh.h"

#include <string.h>

#include "sobol.h"
#include "surrogate.h"

typedef struct NamedValue
{
	const char *name;
	int			value;
} NamedValue;

static const NamedValue sequences[] = {
	{"independent", RACE_SEQUENCE_INDEPENDENT},
	{"sobol", RACE_SEQUENCE_SOBOL},
	{"grid", RACE_SEQUENCE_GRID},
	{"structured", RACE_SEQUENCE_STRUCTURED},
	{"grouped", RACE_SEQUENCE_GROUPED},
	{"balanced", RACE_SEQUENCE_BALANCED},
	{NULL, 0}
};

static const NamedValue rehashes[] = {
	{"fold", RACE_REHASH_FOLD},
	{"multilinear", RACE_REHASH_MULTILINEAR},
	{NULL, 0}
};

static const NamedValue nulls_meanings[] = {
	{"different", RACE_NULLS_DIFFERENT},
	{"category", RACE_NULLS_CATEGORY},
	{NULL, 0}
};

static const NamedValue clips[] = {
	{"norm", RACE_CLIP_NORM},
	{"absolute", RACE_CLIP_ABSOLUTE},
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
race_sequence_name(int sequence)
{
	return name_of(sequences, sequence);
}

const char *
race_rehash_name(int rehash)
{
	return name_of(rehashes, rehash);
}

const char *
race_nulls_name(int nulls)
{
	return name_of(nulls_meanings, nulls);
}

const char *
race_clip_name(int clip)
{
	return name_of(clips, clip);
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

int
race_nulls_by_name(const char *name)
{
	return value_of(nulls_meanings, name);
}

int
race_clip_by_name(const char *name)
{
	return value_of(clips, name);
}

/* ------------------------------------------------- what parameters stand for */

RaceRecordKind
race_record_kind(const RaceParams *part)
{
	return race_kernel_type(part->kernel)->record;
}

bool
race_params_complete(const RaceParams *params)
{
	const RaceParams *part;

	for (part = params; part != NULL; part = race_params_next(part, params))
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

bool
race_fits_sobol(const RaceParams *part, uint32_t taken)
{
	return taken <= RACE_SOBOL_DIMENSIONS &&
		race_sobol_dimensions(part) <= RACE_SOBOL_DIMENSIONS - taken;
}

int
race_default_sequence(const RaceParams *part, uint32_t taken)
{
	bool		features = part->kernel == RACE_KERNEL_MOMENTS && part->features > 0;

	if (part->kernel == RACE_KERNEL_MOMENTS && !features)
		return RACE_SEQUENCE_INDEPENDENT;	/* there is nothing to draw */
	if (race_fits_sobol(part, taken))
		return RACE_SEQUENCE_SOBOL;
	return (race_kernel_type(part->kernel)->takes & RACE_TAKES_STRUCTURED) != 0 &&
		part->dims > 0 && part->outputs == 0 ?
		RACE_SEQUENCE_STRUCTURED : RACE_SEQUENCE_INDEPENDENT;
}

bool
race_can_fold(const RaceParams *params)
{
	const RaceKernelType *type = race_kernel_type(params->kernel);

	if (params->sequence == RACE_SEQUENCE_GRID || params->kernel == RACE_KERNEL_MOMENTS)
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
