/*
 * model_rows.c
 *		How many rows of a sketch a fitted model needs
 */
#include "hash/kind.h"
#include "hash/model_rows.h"

bool
race_model_is_of_vectors(const RaceParams *params)
{
	return race_params_parts(params) == 1 &&
		race_summary_kind(params)->model == RACE_MODEL_POINTS &&
		race_record_kind(params) == RACE_RECORD_VECTOR;
}

uint32_t
race_model_first_rows(const RaceParams *params)
{
	uint32_t rows = params->rows < RACE_MAX_FITTED_ROWS ? params->rows : RACE_MAX_FITTED_ROWS;

	return (rows + 1) / 2;
}

bool
race_model_moves(const RaceParams *params)
{
	return race_model_is_of_vectors(params) && params->dims > RACE_MODEL_GRID_DIMS &&
		race_summary_kind(params)->hashed;
}

uint32_t
race_model_least_rows(const RaceParams *params)
{
	uint32_t columns = 0;

	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
		columns += race_record_kind(part) == RACE_RECORD_SET ? 0 : part->dims;
	return (race_model_moves(params) ? 4 : 2) * (columns + 1);
}

bool
race_model_halves_move(const RaceParams *params)
{
	return race_model_first_rows(params) >= race_model_least_rows(params);
}
