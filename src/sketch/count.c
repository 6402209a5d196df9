/*
 * count.c
 *		How records change counters of grids, and of halves.
 */
#include "count.h"

#include "counters.h"

static void
add_weights(RaceCounterArray array, const uint32_t *nodes, const int64_t *weights, int n,
			int64_t weight)
{
	int			i;

	for (i = 0; i < n; i++)
		race_counters_add(array.counters, array.width, nodes[i], weight * weights[i]);
}

void
race_count_in_grid(const RaceParams *params, const double *x, size_t n, int64_t weight,
				   RaceCounterArray counters)
{
	RaceGrid	grid;
	size_t		i;

	race_grid_of(params, &grid);
	for (i = 0; i < n; i++)
	{
		uint32_t	nodes[RACE_GRID_CORNERS];
		int64_t		weights[RACE_GRID_CORNERS];
		int			corners = race_grid_split(&grid, x + i * grid.dims, nodes, weights);

		add_weights(counters, nodes, weights, corners, weight);
	}
}

void
race_count_halves_in_grid(const RaceParams *params, const double *x, size_t n,
						  const RacePortion *portions, RaceCounterArray lower,
						  RaceCounterArray upper)
{
	RaceGrid	grid;
	size_t		i;

	race_grid_of(params, &grid);
	for (i = 0; i < n; i++)
	{
		uint32_t	nodes[RACE_GRID_CORNERS];
		int64_t		weights[RACE_GRID_CORNERS];
		int64_t		up[RACE_GRID_CORNERS];
		int			corners = race_grid_split(&grid, x + i * grid.dims, nodes, weights);

		race_grid_divide(&grid, &portions[i], weights, corners, up);
		add_weights(lower, nodes, weights, corners, 1);
		add_weights(lower, nodes, up, corners, -1);
		add_weights(upper, nodes, up, corners, 1);
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
	uint32_t	r;

	for (r = 0; r < rows; r++)
	{
		up[r] = race_dither_up(limit, portion->offset, row + r);
		down[r] = !up[r];
	}
	race_counters_bump_chosen(lower.counters, lower.width, buckets, down, rows, range);
	race_counters_bump_chosen(upper.counters, upper.width, buckets, up, rows, range);
}
