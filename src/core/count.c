/*
 * count.c
 *		Counting of records in sketches of all kinds, and which of them a model moves: plain C
 */
#include "count.h"
#include "counters.h"
#include "summary.h"
#include "table.h"

/*
 * How records change counters of grids, and of halves.
 */

static void
add_weights(RaceCounterArray array, const uint32_t *nodes, const int64_t *weights, int n,
			int64_t weight)
{
	for (int i = 0; i < n; i++)
		race_counters_add(array.counters, array.width, nodes[i], weight * weights[i]);
}

void
race_count_in_grid(const RaceParams *params, const double *x, size_t n, int64_t weight,
				   const RacePortion *portions, RaceCounterArray counters,
				   RaceCounterArray upper)
{
	RaceGrid	grid;

	race_grid_of(params, &grid);
	for (size_t i = 0; i < n; i++)
	{
		uint32_t	nodes[RACE_GRID_CORNERS];
		int64_t		weights[RACE_GRID_CORNERS];
		int64_t		up[RACE_GRID_CORNERS];
		int			corners = race_grid_split(&grid, x + i * grid.dims, nodes, weights);

		add_weights(counters, nodes, weights, corners, weight);
		if (portions == NULL)
			continue;
		race_grid_divide(&grid, &portions[i], weights, corners, up);
		add_weights(counters, nodes, up, corners, -weight);
		add_weights(upper, nodes, up, corners, weight);
	}
}

void
race_count_halves_in_rows(const uint32_t *buckets, size_t row, uint32_t rows, uint32_t range,
						  const RacePortion *portion, RaceCounterArray lower,
						  RaceCounterArray upper)
{
	uint64_t	limit = race_dither_limit(portion->share);
	bool		up[RACE_LANES];
	bool		down[RACE_LANES];

	for (uint32_t r = 0; r < rows; r++)
	{
		up[r] = race_dither_up(limit, portion->offset, row + r);
		down[r] = !up[r];
	}
	race_counters_bump_chosen(lower.counters, lower.width, buckets, down, rows, range);
	race_counters_bump_chosen(upper.counters, upper.width, buckets, up, rows, range);
}

/*
 * How many rows of a sketch a fitted model needs.
 */

bool
race_model_is_of_vectors(const RaceParams *params)
{
	return race_params_parts(params) == 1 && race_summary_kind(params)->model == RACE_MODEL_POINTS &&
		race_record_kind(params) == RACE_RECORD_VECTOR;
}

uint32_t
race_model_first_rows(const RaceParams *params)
{
	uint32_t	rows = params->rows < RACE_MAX_FITTED_ROWS ? params->rows : RACE_MAX_FITTED_ROWS;

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
	uint32_t	columns = 0;

	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
		columns += race_record_kind(part) == RACE_RECORD_SET ? 0 : part->dims;
	return (race_model_moves(params) ? 4 : 2) * (columns + 1);
}

bool
race_model_halves_move(const RaceParams *params)
{
	return race_model_first_rows(params) >= race_model_least_rows(params);
}
