/*
 * gridded.c
 *		The answers of a grid.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "../lsh/grid.h"
#include "../lsh/radial.h"
#include "gridded.h"
#include "projection.h"

#define MAX_LEVELS			16
/* A level with more nodes than this is split by distance, if it can be. */
#define NODES_TO_VISIT		4000

typedef struct Level
{
	RaceGrid	grid;			/* wider than the bounds, once it is projected */
	double	   *records;		/* at the nodes */
	double		reach;			/* where its kernel ends, in bandwidths; INFINITY */
	RaceRadial *kernel;			/* of this level */
	double	   *by_square;		/* the same by the square of the distance, or NULL: */
	double		squares;		/* so many entries for each square bandwidth */
} Level;

struct RaceGridded
{
	const RaceParams *params;
	int			n;
	Level	   *levels[MAX_LEVELS];
	double		noise;
	double		bias;			/* relative, squared */
	double		lost;			/* a variance: what the nodes themselves tell of it */
	RaceRecordCount count;
};

/* ----------------------------------------------------------------- kernels */

/* The square of the largest distance between two places that a level sums, in steps */
static double
largest_square(const Level *level)
{
	const RaceGrid *grid = &level->grid;
	double		sum = 0;
	uint32		i;

	for (i = 0; i < grid->dims; i++)
		sum += pow(grid->step[i] * grid->cells[i], 2);
	return Min(sum, level->reach * level->reach) / pow(grid->mean_step, 2);
}

/*
 * A kernel that was projected is smooth in the square of the distance, which needs no root and no
 * choice between tables: a node takes half of the time.
 */
#define SQUARES_OF_STEP		32
#define MOST_SQUARES		(32 * 1024)

static void
tabulate_by_square(Level *level, MemoryContext context, Size *size)
{
	double		last = largest_square(level) * SQUARES_OF_STEP;
	int			n;
	int			i;

	if (!level->kernel->euclidean || !(last < MOST_SQUARES))
		return;
	n = (int) last + 3;			/* and one more, for what rounding adds */
	level->squares = SQUARES_OF_STEP / pow(level->grid.mean_step, 2);
	level->by_square = MemoryContextAlloc(context, n * sizeof(double));
	for (i = 0; i < n; i++)
		level->by_square[i] = race_radial_value(level->kernel, sqrt(i / level->squares));
	*size += n * sizeof(double);
}

/*
 * The kernel of a level: without its peak if the level before sums that, and without what
 * the next, coarser level sums (step `coarser`, or 0)
 */
static void
make_kernel(Level *level, const RaceParams *params, bool first, double coarser,
			MemoryContext context, Size *size)
{
	RaceRadial *kernel = palloc(sizeof(RaceRadial));

	level->kernel = MemoryContextAlloc(context, sizeof(RaceRadial));
	race_radial_init_shape(kernel, params, first ? 0 : level->grid.mean_step, coarser);
	race_project_kernel(&level->grid, kernel, level->kernel);
	level->reach = coarser == 0 ? INFINITY : RACE_GRID_REACH * coarser +
		sqrt((double) level->grid.dims) * level->grid.mean_step;
	pfree(kernel);
	*size += sizeof(RaceRadial);
	tabulate_by_square(level, context, size);
}

/* ------------------------------------------------------------------ levels */

static Level *
add_level(RaceGridded *gridded, const RaceGrid *grid, MemoryContext context, Size *size)
{
	Level	   *level = MemoryContextAllocZero(context, sizeof(Level));

	level->grid = *grid;
	level->records = MemoryContextAllocHuge(context, grid->nodes * sizeof(double));
	*size += sizeof(Level) + grid->nodes * sizeof(double);
	gridded->levels[gridded->n++] = level;
	return level;
}

/* The levels that the sketch has, in records */
static void
load_levels(RaceGridded *gridded, const RaceView *view, MemoryContext context, Size *size)
{
	double		unit = (double) race_record_unit(view->params);
	RaceGrid	grid;
	uint64		from = 0;
	int			levels = race_grid_levels(view->params);
	int			i;

	race_grid_of(view->params, &grid);
	for (i = 0; i < levels; i++)
	{
		Level	   *level;
		uint64		k;

		if (i > 0)
		{
			race_grid_halve(&grid);
			race_grid_halve(&grid);
		}
		level = add_level(gridded, &grid, context, size);
		for (k = 0; k < grid.nodes; k++)
			level->records[k] = race_counters_get(view->counters, view->width, from + k) / unit;
		from += grid.nodes;
	}
}

static double
sum_of_nodes(const Level *level)
{
	double		sum = 0;
	uint64		k;

	for (k = 0; k < level->grid.nodes; k++)
		sum += level->records[k];
	return sum;
}

/* The noisy count, and the sums of the levels that the sketch has */
static RaceRecordCount
count_records(const RaceGridded *gridded, const RaceView *view)
{
	const RaceNoise *noise = &view->header->noise;
	RaceRecordCount count = {view->header->count, noise->count_variance};
	double		of_node = noise->counter_variance / pow(race_record_unit(view->params), 2);
	double		precision;
	int			i;

	if (count.variance == 0 || of_node == 0)
		return count;
	precision = 1 / count.variance;
	count.n *= precision;
	for (i = 0; i < race_grid_levels(view->params); i++)
	{
		double		of_level = 1 / (gridded->levels[i]->grid.nodes * of_node);

		count.n += of_level * sum_of_nodes(gridded->levels[i]);
		precision += of_level;
	}
	count.n /= precision;
	count.variance = 1 / precision;
	return count;
}

/* Add coarser levels, so that a question visits few nodes of each. */
static void
derive_levels(RaceGridded *gridded, MemoryContext context, Size *size)
{
	Level	   *last = gridded->levels[gridded->n - 1];

	if (!race_kernel_type(gridded->params->kernel)->euclidean)
		return;
	while (last->grid.nodes > NODES_TO_VISIT && last->grid.halvings > 0 &&
		   gridded->n < MAX_LEVELS)
	{
		RaceGrid	grid = last->grid;
		Level	   *next;
		double	   *space = palloc_extended(grid.nodes * sizeof(double), MCXT_ALLOC_HUGE);

		race_grid_coarsen_real(&last->grid, last->records, space);
		race_grid_halve(&grid);
		next = add_level(gridded, &grid, context, size);
		memcpy(next->records, space, grid.nodes * sizeof(double));
		pfree(space);
		last = next;
	}
}

static void
project_level(Level *level, MemoryContext context, Size *size)
{
	double	   *records = level->records;
	RaceGrid	wide;

	race_project_grid(&level->grid, &wide);
	level->records = MemoryContextAllocHuge(context, wide.nodes * sizeof(double));
	race_project_nodes(&level->grid, records, &wide, level->records);
	*size += (wide.nodes - level->grid.nodes) * sizeof(double);
	level->grid = wide;
	pfree(records);
}

static void
project_levels(RaceGridded *gridded, MemoryContext context, Size *size)
{
	int			i;

	for (i = 0; i < gridded->n; i++)
	{
		project_level(gridded->levels[i], context, size);
		make_kernel(gridded->levels[i], gridded->params, i == 0, i + 1 < gridded->n ?
					gridded->levels[i + 1]->grid.mean_step : 0, context, size);
	}
}

/*
 * Nodes tell what cells twice as wide would lose, and so about what these do.  Means of values are
 * ratios of two halves, where it nearly cancels.
 */
static double
variance_lost(const RaceView *view)
{
	double		of_node = view->header->noise.counter_variance /
		pow(race_record_unit(view->params), 2);
	Size		n = view->params->range;
	int64	   *nodes;
	int64	   *space;
	RaceGridLook look;

	if (view->header->noise.half != RACE_WHOLE || !race_grid_looks_at(view->params, 1))
		return 0;
	nodes = palloc_extended(n * sizeof(int64), MCXT_ALLOC_HUGE);
	space = palloc_extended(n * sizeof(int64), MCXT_ALLOC_HUGE);
	race_counters_load(view->counters, view->width, 0, n, nodes);
	race_grid_look(view->params, 1, nodes, space, &look);
	pfree(nodes);
	pfree(space);
	return race_grid_lost(view->params, Max(pow((double) look.detail, 2) -
											race_grid_look_noise(view->params, of_node), 0));
}

RaceGridded *
race_gridded_create(const RaceView *view, MemoryContext context, Size *size)
{
	RaceGridded *gridded = MemoryContextAllocZero(context, sizeof(RaceGridded));
	RaceGridChoice choice = {0, race_grid_levels(view->params)};

	*size = sizeof(RaceGridded);
	gridded->params = race_params_copy(view->params, context);
	load_levels(gridded, view, context, size);
	gridded->count = count_records(gridded, view);
	derive_levels(gridded, context, size);
	project_levels(gridded, context, size);
	gridded->noise = race_grid_noise_variance(view->params, choice, RACE_GRID_MIDDLE,
											  view->header->noise.counter_variance);
	gridded->bias = pow(race_grid_most_bias(view->params), 2);
	gridded->lost = variance_lost(view);
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
reach_left(const Level *level, double across)
{
	if (!level->kernel->euclidean || isinf(level->reach))
		return level->reach;
	return sqrt(Max(level->reach * level->reach - across, 0));
}

/* race_radial_sum_line, of a kernel by the square of the distance */
static double
sum_line(const Level *level, double x, double step, double across, const double *weights,
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
sum_axes(const Level *level, const double *at, uint32 axis, uint64 node, double across)
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

double
race_gridded_sum(const RaceGridded *gridded, const double *x)
{
	double		sum = 0;
	int			i;

	for (i = 0; i < gridded->n; i++)
	{
		const Level *level = gridded->levels[i];
		double		at[RACE_GRID_DIMS];
		uint32		axis;

		CHECK_FOR_INTERRUPTS();
		for (axis = 0; axis < level->grid.dims; axis++)
		{
			at[axis] = (x[axis] - level->grid.lower[axis]) / level->grid.width[axis];
			at[axis] = Min(Max(at[axis], RACE_PROJECT_OUTSIDE),
						   level->grid.cells[axis] - RACE_PROJECT_OUTSIDE);
		}
		sum += sum_axes(level, at, 0, 0, 0);
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
race_gridded_bias(const RaceGridded *gridded, double sum)
{
	return gridded->bias * sum * sum + gridded->lost;
}
