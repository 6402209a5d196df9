/*
 * levels.c
 *		The levels of a grid that a question visits.
 */
#include "postgres.h"

#include <math.h>

#include "heaps.h"
#include "levels.h"
#include "projection.h"

/* A level with more nodes than this is split by distance, if it can be; by dims. */
static const uint64 nodes_to_visit[RACE_GRID_DIMS + 1] = {0, 256, 4000, 4000};

/* ----------------------------------------------------------------- kernels */

/* The square of the largest distance between two places that a level sums, in steps */
static double
largest_square(const RaceLevel *level)
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
tabulate_by_square(RaceLevel *level, MemoryContext context, Size *size)
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
make_kernel(RaceLevel *level, const RaceParams *params, double coarser, MemoryContext context,
			Size *size)
{
	RaceRadial *kernel = palloc(sizeof(RaceRadial));

	level->kernel = MemoryContextAlloc(context, sizeof(RaceRadial));
	race_radial_init_shape(kernel, params, level->smooth, coarser);
	race_project_kernel(&level->grid, kernel, level->kernel);
	/* a hat reaches so far, but for its corners, which weigh little */
	level->reach = coarser == 0 ? INFINITY : RACE_GRID_REACH * coarser + level->grid.mean_step;
	pfree(kernel);
	*size += sizeof(RaceRadial);
	tabulate_by_square(level, context, size);
}

/* ------------------------------------------------------------------ levels */

/*
 * Levels that are derived from finer ones only save time.  They leave so many times more of the kernel's
 * slope to these, by dims.
 */
static const double without_more[RACE_GRID_DIMS + 1] = {0, 8, 2, 1.5};

static RaceLevel *
add_level(RaceLevels *levels, const RaceGrid *grid, bool derived, MemoryContext context,
		  Size *size)
{
	RaceLevel  *level = MemoryContextAllocZero(context, sizeof(RaceLevel));

	level->grid = *grid;
	level->smooth = levels->n == 0 ? 0 : grid->mean_step * (derived ? without_more[grid->dims] : 1);
	level->records = MemoryContextAllocHuge(context, grid->nodes * sizeof(double));
	*size += sizeof(RaceLevel) + grid->nodes * sizeof(double);
	levels->level[levels->n++] = level;
	return level;
}

/*
 * A level that the sketch has, from counter number `from` on, in records.  A record adds 1 to its nodes
 * together, so what they have beyond all records is noise.  Least squares take the same off each.
 */
static void
load_level(RaceLevels *levels, const RaceView *view, double records, const RaceGrid *grid,
		   uint64 from, MemoryContext context, Size *size)
{
	double		unit = (double) race_record_unit(view->params);
	RaceLevel  *level = add_level(levels, grid, false, context, size);
	double		beyond = -records;
	uint64		k;

	for (k = 0; k < grid->nodes; k++)
	{
		level->records[k] = race_counters_get(view->counters, view->width, from + k) / unit;
		beyond += level->records[k];
	}
	if (view->header->noise.counter_variance == 0)
		return;
	for (k = 0; k < grid->nodes; k++)
		level->records[k] -= beyond / grid->nodes;
}

/* Add coarser levels, `most` of them or fewer, so that a question visits few nodes of each. */
static void
derive_levels(RaceLevels *levels, int most, MemoryContext context, Size *size)
{
	RaceLevel  *last = levels->level[levels->n - 1];

	while (most-- > 0 && last->grid.nodes > nodes_to_visit[last->grid.dims] &&
		   last->grid.halvings > 0)
	{
		RaceGrid	grid = last->grid;
		double	   *space = palloc_extended(grid.nodes * sizeof(double), MCXT_ALLOC_HUGE);
		RaceLevel  *next;

		race_grid_coarsen_real(&last->grid, last->records, space);
		race_grid_halve(&grid);
		next = add_level(levels, &grid, true, context, size);
		memcpy(next->records, space, grid.nodes * sizeof(double));
		pfree(space);
		last = next;
	}
}

/*
 * In coarser cells than this, a cluster is often narrower than a cell, and a heap is not known from it.
 * Means of values are ratios of two halves, which must not see different heaps.
 */
#define COARSEST_FOR_HEAPS	0.25	/* of a bandwidth */

static bool
has_heaps(const RaceView *view, const RaceGrid *grid)
{
	const RaceParams *params = view->params;

	return params->dims == 1 && race_grid_levels(params) == 1 &&
		view->header->noise.half == RACE_WHOLE &&
		grid->mean_step * params->power <=
		COARSEST_FOR_HEAPS;
}

/* Take heaps out of the only level of a sketch. */
static void
take_heaps(RaceLevels *levels, const RaceView *view, MemoryContext context, Size *size)
{
	RaceLevel  *level = levels->level[0];
	Size		n = level->grid.nodes;
	double		unit = (double) race_record_unit(view->params);
	RaceHeap   *heaps = palloc_extended((n / 3 + 1) * sizeof(RaceHeap), MCXT_ALLOC_HUGE);
	double	   *space = palloc_extended(n * sizeof(double), MCXT_ALLOC_HUGE);
	Size		i;

	levels->heaps = race_heaps_take(level->records, n,
									view->header->noise.counter_variance / (unit * unit), heaps,
									space);
	if (levels->heaps > 0)
	{
		levels->kernel = MemoryContextAlloc(context, sizeof(RaceRadial));
		race_radial_init(levels->kernel, view->params);
		levels->places = MemoryContextAllocHuge(context, levels->heaps * sizeof(double));
		levels->heaped = MemoryContextAllocHuge(context, levels->heaps * sizeof(double));
		*size += sizeof(RaceRadial) + 2 * levels->heaps * sizeof(double);
	}
	for (i = 0; i < levels->heaps; i++)
	{
		levels->places[i] = heaps[i].place * level->grid.step[0];
		levels->heaped[i] = heaps[i].records;
	}
	pfree(heaps);
	pfree(space);
}

static void
project_level(RaceLevel *level, MemoryContext context, Size *size)
{
	double	   *records = level->records;
	RaceGrid	wide;

	level->outside = race_project_outside(&level->grid, level->smooth == 0);
	race_project_grid(&level->grid, level->outside, &wide);
	level->records = MemoryContextAllocHuge(context, wide.nodes * sizeof(double));
	race_project_nodes(&level->grid, records, &wide, level->records);
	*size += (wide.nodes - level->grid.nodes) * sizeof(double);
	level->grid = wide;
	pfree(records);
}

void
race_levels_make(const RaceView *view, double records, RaceLevels *levels, MemoryContext context,
				 Size *size)
{
	bool		euclidean = race_kernel_type(view->params->kernel)->euclidean;
	int			stored = race_grid_levels(view->params);
	uint64		from = 0;
	RaceGrid	grid;
	int			i;

	memset(levels, 0, sizeof(RaceLevels));
	race_grid_of(view->params, &grid);
	for (i = 0; i < stored; i++)
	{
		bool		last = i + 1 == stored;
		int			halvings;

		load_level(levels, view, records, &grid, from, context, size);
		if (has_heaps(view, &grid))
			take_heaps(levels, view, context, size);
		if (euclidean)
			derive_levels(levels, last ? RACE_MOST_LEVELS - levels->n :
						  RACE_GRID_LEVEL_HALVINGS - 1, context, size);
		from += grid.nodes;
		for (halvings = 0; !last && halvings < RACE_GRID_LEVEL_HALVINGS; halvings++)
			race_grid_halve(&grid);
	}
	for (i = 0; i < levels->n; i++)
	{
		project_level(levels->level[i], context, size);
		make_kernel(levels->level[i], view->params,
					i + 1 < levels->n ? levels->level[i + 1]->smooth : 0, context, size);
	}
}
