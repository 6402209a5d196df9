/*
 * column.c
 *		Records as they are hashed: a column for each part of the kernel
 */
#include "hash/column.h"
#include "hash/kernel.h"
#include "hash/params.h"

/* Clip n numbers.  A NaN stays a NaN. */
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
	uint32_t n = 0;

	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
		n += race_part_elements(part);
	return n;
}

bool
race_params_complete(const RaceParams *params)
{
	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
		if (part->dims == 0 && race_record_kind(part) != RACE_RECORD_SET)
			return false;
	return true;
}

RaceColumn
race_column_from(const RaceColumn *column, size_t i)
{
	RaceColumn result = *column;

	if (column->numbers != NULL)
		result.numbers += i * column->width;
	else if (column->starts != NULL)
		result.starts += i;
	else
		result.elements += i * column->width;
	return result;
}
