/*
 * model_rows.c
 *		How many rows of a sketch a fitted model needs.
 */
#include "model_rows.h"

#include "../lsh/balanced.h"
#include "../lsh/grid.h"
#include "../lsh/moments.h"

bool
race_model_is_of_vectors(const RaceParams *params)
{
	return race_params_parts(params) == 1 && !race_is_moments(params) &&
		race_record_kind(params) == RACE_RECORD_VECTOR;
}

uint32_t
race_model_first_rows(const RaceParams *params)
{
	uint32_t	rows = params->rows < RACE_MAX_FITTED_ROWS ? params->rows : RACE_MAX_FITTED_ROWS;

	return race_is_balanced(params) ? rows : (rows + 1) / 2;
}

bool
race_model_moves(const RaceParams *params)
{
	return race_model_is_of_vectors(params) && params->dims > RACE_MODEL_GRID_DIMS &&
		!race_is_grid(params);
}

uint32_t
race_model_least_rows(const RaceParams *params)
{
	const RaceParams *part;
	uint32_t	columns = 0;

	if (race_is_balanced(params))
		return race_balanced_least_rows(params);
	for (part = params; part != NULL; part = race_params_next(part, params))
		columns += race_record_kind(part) == RACE_RECORD_SET ? 0 : part->dims;
	return (race_model_moves(params) ? 4 : 2) * (columns + 1);
}

bool
race_model_halves_move(const RaceParams *params)
{
	return race_model_first_rows(params) >= race_model_least_rows(params);
}
