/*
 * gridded.c
 *		The answers of a grid.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "gridded.h"
#include "levels.h"
#include "lost.h"

struct RaceGridded
{
	const RaceParams *params;
	RaceLevels	levels;
	double		noise;
	double		bias;			/* relative, squared */
	RaceLost   *lost;			/* or NULL */
	RaceRecordCount count;
};

/*
 * The noisy count, and the sums of the levels that the sketch has, weighted by how little noise they
 * have
 */
static RaceRecordCount
count_records(const RaceView *view)
{
	const RaceNoise *noise = &view->header->noise;
	RaceRecordCount count = {view->header->count, noise->count_variance};
	double		unit = (double) race_record_unit(view->params);
	double		of_node = noise->counter_variance / (unit * unit);
	int			levels = race_grid_levels(view->params);
	double		precision;
	uint64		from = 0;
	RaceGrid	grid;

	if (count.variance == 0 || of_node == 0)
		return count;
	precision = 1 / count.variance;
	count.n *= precision;
	race_grid_of(view->params, &grid);
	for (;;)
	{
		double		of_level = 1 / (grid.nodes * of_node);
		double		sum = 0;
		uint64		k;
		int			i;

		for (k = 0; k < grid.nodes; k++)
			sum += race_counters_get(view->counters, view->width, from + k) / unit;
		count.n += of_level * sum;
		precision += of_level;
		if (--levels == 0)
			break;
		from += grid.nodes;
		for (i = 0; i < RACE_GRID_LEVEL_HALVINGS; i++)
			race_grid_halve(&grid);
	}
	count.n /= precision;
	count.variance = 1 / precision;
	return count;
}

RaceGridded *
race_gridded_create(const RaceView *view, MemoryContext context, Size *size)
{
	RaceGridded *gridded = MemoryContextAllocZero(context, sizeof(RaceGridded));
	RaceGridChoice choice = {0, race_grid_levels(view->params)};

	*size = sizeof(RaceGridded);
	gridded->params = race_params_copy(view->params, context);
	gridded->count = count_records(view);
	race_levels_make(view, gridded->count.n, &gridded->levels, context, size);
	gridded->noise = race_grid_noise_variance(view->params, choice, RACE_GRID_MIDDLE,
											  view->header->noise.counter_variance);
	gridded->bias = pow(race_grid_most_bias(view->params), 2);
	/* means of values are ratios of two halves, where it nearly cancels */
	if (view->header->noise.half == RACE_WHOLE)
		gridded->lost = race_lost_create(view, context, size);
	return gridded;
}

/* --------------------------------------------------------------- questions */

/* The nodes of an axis within `reach` bandwidths of a place: from, and how many */
static uint32
nodes_in_reach(const RaceGrid *grid, uint32 axis, double place, double reach, uint32 *from)
{
	double		first = ceil(place - reach / grid->step[axis]);
	double		last = floor(place + reach / grid->step[axis]);

	first = Max(first, 0);
	last = Min(last, grid->cells[axis]);
	*from = (uint32) Max(Min(first, grid->cells[axis]), 0);
	return last < first ? 0 : (uint32) (last - first) + 1;
}

/* What is left of the reach of a level, for nodes that lie `across` away */
static double
reach_left(const RaceLevel *level, double across)
{
	if (!level->kernel->euclidean || isinf(level->reach))
		return level->reach;
	return sqrt(Max(level->reach * level->reach - across, 0));
}

/* race_radial_sum_line, of a kernel by the square of the distance */
static double
sum_line(const RaceLevel *level, double x, double step, double across, const double *weights,
		 uint32 n)
{
	double		sum = 0;
	uint32		i;

	for (i = 0; i < n; i++)
	{
		double		d = x + (double) (int) i * step;
		double		at = (across + d * d) * level->squares;
		const double *entry = level->by_square + (int) at;

		sum += weights[i] * (entry[0] + (at - (int) at) * (entry[1] - entry[0]));
	}
	return sum;
}

/* The sum over all nodes in reach, axis by axis.  `at` is x in cells. */
static double
sum_axes(const RaceLevel *level, const double *at, uint32 axis, uint64 node, double across)
{
	const RaceGrid *grid = &level->grid;
	double		step = grid->step[axis];
	uint32		from;
	uint32		n = nodes_in_reach(grid, axis, at[axis], reach_left(level, across), &from);
	double		sum = 0;
	uint32		i;

	node *= grid->cells[axis] + 1;
	if (axis == grid->dims - 1)
	{
		double		x = (from - at[axis]) * step;
		const double *weights = level->records + node + from;

		return level->by_square != NULL ? sum_line(level, x, step, across, weights, n) :
			race_radial_sum_line(level->kernel, x, step, across, weights, n);
	}
	for (i = from; i < from + n; i++)
	{
		double		x = ((double) i - at[axis]) * step;

		sum += sum_axes(level, at, axis + 1, node + i,
						across + (level->kernel->euclidean ? x * x : fabs(x)));
	}
	return sum;
}

static double
sum_heaps(const RaceLevels *levels, double at)
{
	const RaceLevel *level = levels->level[0];
	double		place = (at - level->outside) * level->grid.step[0];

	return race_radial_sum(levels->kernel, &place, levels->places, levels->heaped, levels->heaps);
}

double
race_gridded_sum(const RaceGridded *gridded, const double *x)
{
	double		sum = 0;
	int			i;

	for (i = 0; i < gridded->levels.n; i++)
	{
		const RaceLevel *level = gridded->levels.level[i];
		double		at[RACE_GRID_DIMS];
		uint32		axis;

		CHECK_FOR_INTERRUPTS();
		for (axis = 0; axis < level->grid.dims; axis++)
		{
			at[axis] = (x[axis] - level->grid.lower[axis]) / level->grid.width[axis];
			at[axis] = Min(Max(at[axis], level->outside),
						   level->grid.cells[axis] - (double) level->outside);
		}
		sum += sum_axes(level, at, 0, 0, 0);
		if (i == 0 && gridded->levels.heaps > 0)
			sum += sum_heaps(&gridded->levels, at[0]);
	}
	return sum;
}

RaceRecordCount
race_gridded_count(const RaceGridded *gridded)
{
	return gridded->count;
}

double
race_gridded_noise(const RaceGridded *gridded)
{
	return gridded->noise;
}

double
race_gridded_bias(const RaceGridded *gridded, const double *x, double sum)
{
	return gridded->bias * sum * sum +
		(gridded->lost == NULL ? 0 : race_lost_near(gridded->lost, x));
}
