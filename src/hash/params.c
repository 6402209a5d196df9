/*
 * params.c
 *		The layout of parameters: the parts of a product, and their arrays
 */
#include "hash/contingency.h"
#include "hash/kernel.h"
#include "hash/params.h"

size_t
race_params_size(const RaceParams *params)
{
	return sizeof(RaceParams) + params->more;
}

uint32_t
race_array_rows(const RaceParams *part, RaceArray array)
{
	switch (array)
	{
		case RACE_ARRAY_MATRIX:
			return part->outputs;
		case RACE_ARRAY_GROUPS:
			return RACE_GROUP_NUMBERS;
		case RACE_ARRAY_WORKLOAD:
			return part->tables.workload;
		case RACE_ARRAY_MEASURED:
			return part->tables.measured;
		default:
			return 1;
	}
}

uint32_t
race_array_columns(const RaceParams *part, RaceArray array)
{
	switch (array)
	{
		case RACE_ARRAY_JOINED:
			return part->tables.joined;
		case RACE_ARRAY_SIGNS:
			return part->tables.signs;
		case RACE_ARRAY_WORKLOAD:
		case RACE_ARRAY_MEASURED:
			return RACE_TABLE_NUMBERS;
		default:
			return part->dims;
	}
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
	uint64_t n = 0;
	uint32_t arrays;

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
	return next < (const char *) params + race_params_size(params) ? (const RaceParams *) next :
																	 NULL;
}

int
race_params_parts(const RaceParams *params)
{
	int n = 0;

	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
		n++;
	return n;
}

uint32_t
race_params_functions(const RaceParams *params)
{
	uint32_t functions = 0;

	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
		functions += part->power;
	return functions;
}

int
race_params_sequence(const RaceParams *params)
{
	int sequence = RACE_SEQUENCE_SOBOL;

	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
	{
		if (part->sequence == RACE_SEQUENCE_INDEPENDENT || part->sequence == RACE_SEQUENCE_GRID ||
			part->sequence == RACE_SEQUENCE_GROUPED)
			return part->sequence;
		if (sequence == RACE_SEQUENCE_SOBOL)
			sequence = part->sequence;
	}
	return sequence;
}
