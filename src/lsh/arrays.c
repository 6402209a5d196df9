/*
 * arrays.c
 *		The layout of parameters: the parts of a product, and their arrays.
 */
#include "lsh.h"

size_t
race_params_size(const RaceParams *params)
{
	return sizeof(RaceParams) + params->more;
}

uint32_t
race_array_rows(const RaceParams *part, RaceArray array)
{
	return array == RACE_ARRAY_MATRIX ? part->outputs : 1;
}

uint64_t
race_array_length(const RaceParams *part, RaceArray array)
{
	if ((part->arrays & array) == 0)
		return 0;
	return (uint64_t) race_array_rows(part, array) * part->dims;
}

uint64_t
race_arrays_size(const RaceParams *part)
{
	uint64_t	n = 0;
	int			array;

	if (part->arrays == 0)
		return 0;
	for (array = RACE_ARRAY_BANDWIDTHS; array < RACE_ARRAY_ALL; array *= 2)
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
	int			sequence = RACE_SEQUENCE_SOBOL;

	for (part = params; part != NULL; part = race_params_next(part, params))
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
	uint32_t	i;

	for (i = 0; lower != NULL && i < n; i++)
		x[i] = x[i] < lower[i] ? lower[i] : x[i];
	for (i = 0; upper != NULL && i < n; i++)
		x[i] = x[i] > upper[i] ? upper[i] : x[i];
}
