/*
 * coarsen.c
 *		Private grids with the cells that they have in common.
 */
#include "postgres.h"

#include <math.h>

#include "coarsen.h"

bool
race_grids_meet(const RaceParams *a, const RaceParams *b, RaceGridChoice choices[2])
{
	int			halvings[2];
	int			i;

	if (!race_params_common_cells(a, b, halvings))
		return false;
	for (i = 0; i < 2; i++)
	{
		choices[i].halvings = halvings[i];
		choices[i].levels = Min(race_grid_levels(a), race_grid_levels(b));
	}
	return true;
}

/* The nodes of a level, which begin with counter `from`, after halvings of the grid */
static double *
coarse_nodes(const RaceSketch *sketch, Size from, RaceGrid *grid, int halvings)
{
	double	   *nodes = palloc_extended(grid->nodes * sizeof(double), MCXT_ALLOC_HUGE);
	Size		i;

	for (i = 0; i < grid->nodes; i++)
		nodes[i] = (double) race_counters_get(sketch->counters, sketch->width, from + i);
	for (; halvings > 0; halvings--)
	{
		race_grid_coarsen_real(grid, nodes, nodes);
		race_grid_halve(grid);
	}
	return nodes;
}

/* Write nodes as counters, and return how wide they are. */
static int
write_nodes(const double *nodes, Size n, int64 *counters)
{
	int64		min;
	int64		max;
	Size		i;

	for (i = 0; i < n; i++)
		counters[i] = (int64) rint(fmax(fmin(nodes[i], (double) RACE_MAX_COUNT),
										-(double) RACE_MAX_COUNT));
	race_counters_bounds(counters, sizeof(int64), n, &min, &max);
	return race_counters_width_for(min, max);
}

void
race_sketch_coarsen(RaceSketch *sketch, RaceGridChoice choice)
{
	int64	   *counters = palloc_extended(RaceCounters(sketch->params) * sizeof(int64),
										   MCXT_ALLOC_HUGE);
	RaceGrid	first;
	Size		from = 0;
	Size		kept = 0;
	int			width = 1;
	int			level;
	int			i;

	race_grid_of(sketch->params, &first);
	for (level = 0; level < choice.levels; level++)
	{
		RaceGrid	grid = first;
		double	   *nodes = coarse_nodes(sketch, from, &grid, choice.halvings);

		width = Max(width, write_nodes(nodes, grid.nodes, counters + kept));
		pfree(nodes);
		from += first.nodes;
		kept += grid.nodes;
		for (i = 0; i < RACE_GRID_LEVEL_HALVINGS && level + 1 < choice.levels; i++)
			race_grid_halve(&first);
	}
	race_sketch_widen(sketch, width);
	race_grid_apply(sketch->params, choice);
	race_counters_store(sketch->counters, sketch->width, 0, kept, counters);
	pfree(counters);
	/* rows of the matrix with weights 1/2, 1, 1/2, by its columns, add up to 2 for each axis */
	sketch->header.noise.counter_variance *= exp2((double) choice.halvings * first.dims);
	race_sketch_touch(sketch);
}
