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
#include "heaps.h"
#include "lost.h"

/* ------------------------------------------------------------ projection */

/*
 * A record adds to each node what the node's hat function is where the record lies: 1 at the
 * node, falling linearly to 0 at its neighbours.  So the nodes have the inner products of the
 * table with the hats, and what they say of it is its orthogonal projection on the functions
 * that are linear between nodes.  A kernel sum is asked of this projection P:
 *
 *		sum over records of k(x, q)  ~  integral of (P records)(x) k(x, q) dx
 *
 * What it errs by is the product of what P leaves of the table and of what it leaves of the
 * kernel.  So where both are smooth it falls with the fourth power of the cells, while the
 * sum of the kernel over nodes falls with the second.
 */

#define OUTSIDE_NODES	3	/* hats beyond each bound */

/* ------------------------------------------------------------------- nodes */

/*
 * Solve for the coefficients of a line: the Gram matrix of hats has 2/3 on the diagonal, 1/3
 * at the ends, and 1/6 beside it.  Elimination without pivots, as the diagonal dominates.
 * ratios is [cells + 1].
 */
#define BESIDE	(1.0 / 6)

static void
make_ratios(uint32 cells, double *ratios)
{
	uint32		k;

	ratios[0] = BESIDE * 3;
	for (k = 1; k <= cells; k++)
		ratios[k] = BESIDE / ((k == cells ? 1.0 : 2.0) / 3 - BESIDE * ratios[k - 1]);
}

/*
 * Half a hat at a bound is a hat without the half that lies outside.  Questions are asked within,
 * where it does not matter how the outer half lies, but for its mass, its mean and its variance.
 * These nodes outside have all three.
 */
static const double outer_half[OUTSIDE_NODES] = {13.0 / 12, -5.0 / 6, 1.0 / 4};

static void
take_outer_halves(double *line, Size stride, uint32 cells)
{
	double	   *last = line + cells * stride;
	int			i;

	for (i = 0; i < OUTSIDE_NODES; i++)
	{
		*(line - (i + 1) * stride) = -outer_half[i] * line[0];
		*(last + (i + 1) * stride) = -outer_half[i] * last[0];
	}
}

/*
 * A kernel without a peak does not tell them from these nodes within, which have the same mass, mean
 * and variance.
 */
static const double inner_nodes[] = {19.0 / 24, -5.0 / 12, 1.0 / 8};

static void
fold_outer_halves(double *line, Size stride, uint32 cells)
{
	double	   *last = line + cells * stride;
	double		first_node = line[0];
	double		last_node = last[0];
	int			i;

	for (i = 0; i < (int) lengthof(inner_nodes); i++)
	{
		*(line + i * stride) -= inner_nodes[i] * first_node;
		*(last - i * stride) -= inner_nodes[i] * last_node;
	}
}

static void
project_line(double *line, Size stride, uint32 cells, const double *ratios, bool wider)
{
	uint32		k;

	line[0] *= ratios[0] / BESIDE;
	for (k = 1; k <= cells; k++)
		line[k * stride] = (line[k * stride] - BESIDE * line[(k - 1) * stride]) *
			(ratios[k] / BESIDE);
	for (k = cells; k-- > 0;)
		line[k * stride] -= ratios[k] * line[(k + 1) * stride];
	if (wider)
		take_outer_halves(line, stride, cells);
	else
		fold_outer_halves(line, stride, cells);
}

static uint32
nodes_outside(const RaceGrid *grid, bool peak)
{
	uint32		axis;

	for (axis = 0; axis < grid->dims; axis++)
		if (grid->cells[axis] + 1 < lengthof(inner_nodes))
			return OUTSIDE_NODES;
	return peak ? OUTSIDE_NODES : 0;
}

static void
widen_grid(const RaceGrid *grid, uint32 outside, RaceGrid *wide)
{
	uint32		axis;

	*wide = *grid;
	wide->nodes = 1;
	for (axis = 0; axis < grid->dims; axis++)
	{
		wide->cells[axis] += 2 * outside;
		wide->lower[axis] -= outside * wide->width[axis];
		wide->nodes *= wide->cells[axis] + 1;
	}
}

/* Nodes of a grid in their places of a wider one, all others 0 */
static void
place_nodes(const RaceGrid *grid, const double *nodes, const RaceGrid *wide, uint32 outside,
			double *out)
{
	uint32		last = grid->dims - 1;
	uint32		line = grid->cells[last] + 1;
	Size		from;

	memset(out, 0, wide->nodes * sizeof(double));
	for (from = 0; from < grid->nodes; from += line)
	{
		Size		rest = from / line;
		Size		stride = wide->cells[last] + 1;
		Size		to = outside;
		uint32		axis;

		for (axis = last; axis-- > 0;)
		{
			to += (rest % (grid->cells[axis] + 1) + outside) * stride;
			rest /= grid->cells[axis] + 1;
			stride *= wide->cells[axis] + 1;
		}
		memcpy(out + to, nodes + from, line * sizeof(double));
	}
}

static void
project_nodes(const RaceGrid *grid, const double *nodes, const RaceGrid *wide, double *out)
{
	uint32		outside = (wide->cells[0] - grid->cells[0]) / 2;
	Size		stride = wide->nodes;
	uint32		axis;
	Size		at;

	place_nodes(grid, nodes, wide, outside, out);
	for (axis = 0; axis < grid->dims; axis++)
	{
		uint32		cells = grid->cells[axis];
		double	   *ratios = palloc((cells + 1) * sizeof(double));
		Size		block = stride;

		make_ratios(cells, ratios);
		stride /= wide->cells[axis] + 1;
		for (at = outside * stride; at < wide->nodes; at += block)
		{
			Size		i;

			CHECK_FOR_INTERRUPTS();
			for (i = 0; i < stride; i++)
				project_line(out + at + i, stride, cells, ratios, outside > 0);
		}
		pfree(ratios);
	}
}

/* ------------------------------------------------------------------ kernel */

/* Pieces of equal mass that a hat is cut into along each axis, by the number of axes */
static const int pieces_of[RACE_GRID_DIMS + 1] = {0, 64, 16, 8};

#define MAX_PIECES		64

/* Where the pieces are, in cells, with the variance of a hat, which is 1/6 */
static void
cut_hat(int n, double *pieces)
{
	double		variance = 0;
	int			i;

	for (i = 0; i < n; i++)
	{
		double		p = (i + 0.5) / n;

		pieces[i] = p < 0.5 ? sqrt(2 * p) - 1 : 1 - sqrt(2 * (1 - p));
		variance += pieces[i] * pieces[i] / n;
	}
	for (i = 0; i < n; i++)
		pieces[i] *= sqrt(1 / (6 * variance));
}

/* The mean of a kernel over a hat that lies at `place`, [dims], in bandwidths */
static double
mean_over_hat(const RaceGrid *grid, const RaceRadial *kernel, const double *place)
{
	double		pieces[MAX_PIECES];
	int			n = pieces_of[grid->dims];
	int			all = 1;
	double		sum = 0;
	uint32		axis;
	int			i;

	cut_hat(n, pieces);
	for (axis = 0; axis < grid->dims; axis++)
		all *= n;
	for (i = 0; i < all; i++)
	{
		double		distance = 0;
		int			rest = i;

		for (axis = 0; axis < grid->dims; axis++, rest /= n)
		{
			double		x = place[axis] + grid->step[axis] * pieces[rest % n];

			distance += kernel->euclidean ? x * x : fabs(x);
		}
		sum += race_radial_value(kernel, kernel->euclidean ? sqrt(distance) : distance);
	}
	return sum / all;
}

typedef struct Direction
{
	double		weight;
	double		at[RACE_GRID_DIMS];
} Direction;

/*
 * Directions that stand for all, by the number of axes.  Signs do not matter.  Those of the
 * circle and of the sphere are along axes and diagonals, and integrate polynomials up to degree 7
 * (Lebedev 1975).  Of l1 they are of length 1 by that distance, in the middle of parts of equal
 * size: its kernel bends where a coordinate is 0, so that axes would stand for little.
 */
#define MAX_DIRECTIONS	7
#define HALF	0.70710678118654752
#define THIRD	0.57735026918962576

static const Direction euclidean[RACE_GRID_DIMS][MAX_DIRECTIONS] = {
	{{1, {1}}},
	{{1.0 / 4, {1, 0}}, {1.0 / 4, {0, 1}}, {1.0 / 2, {HALF, HALF}}},
	{{2.0 / 21, {1, 0, 0}}, {2.0 / 21, {0, 1, 0}}, {2.0 / 21, {0, 0, 1}},
	{16.0 / 105, {HALF, HALF, 0}}, {16.0 / 105, {HALF, 0, HALF}},
	{16.0 / 105, {0, HALF, HALF}}, {9.0 / 35, {THIRD, THIRD, THIRD}}}
};

static const Direction along_axes[RACE_GRID_DIMS][MAX_DIRECTIONS] = {
	{{1, {1}}},
	{{1.0 / 4, {0.125, 0.875}}, {1.0 / 4, {0.375, 0.625}},
	{1.0 / 4, {0.625, 0.375}}, {1.0 / 4, {0.875, 0.125}}},
	/* means of the smallest, the middle and the largest coordinate */
	{{1.0 / 6, {1.0 / 9, 5.0 / 18, 11.0 / 18}}, {1.0 / 6, {1.0 / 9, 11.0 / 18, 5.0 / 18}},
	{1.0 / 6, {5.0 / 18, 1.0 / 9, 11.0 / 18}}, {1.0 / 6, {5.0 / 18, 11.0 / 18, 1.0 / 9}},
	{1.0 / 6, {11.0 / 18, 1.0 / 9, 5.0 / 18}}, {1.0 / 6, {11.0 / 18, 5.0 / 18, 1.0 / 9}}}
};

static double
mean_over_directions(const RaceGrid *grid, const RaceRadial *kernel, double distance)
{
	const Direction *directions = (kernel->euclidean ? euclidean : along_axes)[grid->dims - 1];
	double		sum = 0;
	int			i;

	for (i = 0; i < MAX_DIRECTIONS && directions[i].weight > 0; i++)
	{
		double		place[RACE_GRID_DIMS];
		uint32		axis;

		for (axis = 0; axis < grid->dims; axis++)
			place[axis] = distance * directions[i].at[axis];
		sum += directions[i].weight * mean_over_hat(grid, kernel, place);
	}
	return sum;
}

/*
 * Far from a node a hat does what its variance does: moves along each axis, one of them
 * that of the distance
 */
static double
mean_far_away(const RaceGrid *grid, const RaceRadial *kernel, double distance)
{
	double		move = grid->mean_step * sqrt(grid->dims / 6.0);
	double		along = race_radial_value(kernel, distance - move) +
		race_radial_value(kernel, distance + move);
	double		aside = kernel->euclidean ?
		2 * race_radial_value(kernel, sqrt(distance * distance + move * move)) : along;

	return (along + (grid->dims - 1) * aside) / (2 * grid->dims);
}

#define NEAR_STEPS		6
#define NEAR_DISTANCES	256

static void
project_kernel(const RaceGrid *grid, const RaceRadial *kernel, RaceRadial *projected)
{
	double		near[NEAR_DISTANCES + 1];
	double		reach = NEAR_STEPS * grid->mean_step;
	int			i;

	for (i = 0; i <= NEAR_DISTANCES; i++)
	{
		CHECK_FOR_INTERRUPTS();
		near[i] = mean_over_directions(grid, kernel, reach * i / NEAR_DISTANCES);
	}
	*projected = *kernel;
	for (i = 0; i < race_radial_nodes(); i++)
	{
		double		distance = race_radial_distance(i);
		double		at = distance / reach * NEAR_DISTANCES;
		double	   *value = race_radial_node(projected, i);

		if (at < NEAR_DISTANCES)
			*value = near[(int) at] + (at - (int) at) * (near[(int) at + 1] - near[(int) at]);
		else if (isfinite(distance))
			*value = mean_far_away(grid, kernel, distance);
	}
}

/* ---------------------------------------------------------------- levels */

/*
 * So that it need not visit all nodes, the kernel is split by distance, as the multilevel summation
 * method does (Hardy 2006): the fine nodes sum what is near, coarser ones the smooth rest.  The sketch
 * has one or two levels, and others follow from these exactly.  Each level answers for what its nodes say
 * of the table but for heaps (heaps.h).
 */

typedef struct Level
{
	RaceGrid	grid;			/* wider than the bounds, once it is projected, */
	uint32		outside;		/* by so many nodes at each */
	double		smooth;			/* the step whose peak finer levels sum; 0 for the first */
	double	   *records;		/* at the nodes */
	double		reach;			/* where its kernel ends, in bandwidths; INFINITY */
	RaceRadial *kernel;			/* of this level */
	double	   *by_square;		/* the same by the square of the distance, or NULL: */
	double		squares;		/* so many entries for each square bandwidth */
} Level;

#define MOST_LEVELS	16

typedef struct Levels
{
	int			n;
	Level  *level[MOST_LEVELS];
	/* what was taken out of the nodes: places, in bandwidths from the first node on, and records */
	size_t		heaps;
	double	   *places;
	double	   *heaped;
	RaceRadial *kernel;			/* that is asked there; NULL if there are no heaps */
} Levels;

/* A level with more nodes than this is split by distance, if it can be; by dims. */
static const uint64 nodes_to_visit[RACE_GRID_DIMS + 1] = {0, 256, 4000, 4000};

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
make_kernel(Level *level, const RaceParams *params, double coarser, MemoryContext context,
			Size *size)
{
	RaceRadial *kernel = palloc(sizeof(RaceRadial));

	level->kernel = MemoryContextAlloc(context, sizeof(RaceRadial));
	race_radial_init_shape(kernel, params, level->smooth, coarser);
	project_kernel(&level->grid, kernel, level->kernel);
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

static Level *
add_level(Levels *levels, const RaceGrid *grid, bool derived, MemoryContext context,
		  Size *size)
{
	Level  *level = MemoryContextAllocZero(context, sizeof(Level));

	level->grid = *grid;
	level->smooth = levels->n == 0 ? 0 : grid->mean_step * (derived ? without_more[grid->dims] : 1);
	level->records = MemoryContextAllocHuge(context, grid->nodes * sizeof(double));
	*size += sizeof(Level) + grid->nodes * sizeof(double);
	levels->level[levels->n++] = level;
	return level;
}

/*
 * A level that the sketch has, from counter number `from` on, in records.  A record adds 1 to its nodes
 * together, so what they have beyond all records is noise.  Least squares take the same off each.
 */
static void
load_level(Levels *levels, const RaceView *view, double records, const RaceGrid *grid,
		   uint64 from, MemoryContext context, Size *size)
{
	double		unit = (double) race_record_unit(view->params);
	Level  *level = add_level(levels, grid, false, context, size);
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
derive_levels(Levels *levels, int most, MemoryContext context, Size *size)
{
	Level  *last = levels->level[levels->n - 1];

	while (most-- > 0 && last->grid.nodes > nodes_to_visit[last->grid.dims] &&
		   last->grid.halvings > 0)
	{
		RaceGrid	grid = last->grid;
		double	   *space = palloc_extended(grid.nodes * sizeof(double), MCXT_ALLOC_HUGE);
		Level  *next;

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
take_heaps(Levels *levels, const RaceView *view, MemoryContext context, Size *size)
{
	Level  *level = levels->level[0];
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
project_level(Level *level, MemoryContext context, Size *size)
{
	double	   *records = level->records;
	RaceGrid	wide;

	level->outside = nodes_outside(&level->grid, level->smooth == 0);
	widen_grid(&level->grid, level->outside, &wide);
	level->records = MemoryContextAllocHuge(context, wide.nodes * sizeof(double));
	project_nodes(&level->grid, records, &wide, level->records);
	*size += (wide.nodes - level->grid.nodes) * sizeof(double);
	level->grid = wide;
	pfree(records);
}

static void
make_levels(const RaceView *view, double records, Levels *levels, MemoryContext context,
				 Size *size)
{
	bool		euclidean = race_kernel_type(view->params->kernel)->euclidean;
	int			stored = race_grid_levels(view->params);
	uint64		from = 0;
	RaceGrid	grid;
	int			i;

	memset(levels, 0, sizeof(Levels));
	race_grid_of(view->params, &grid);
	for (i = 0; i < stored; i++)
	{
		bool		last = i + 1 == stored;
		int			halvings;

		load_level(levels, view, records, &grid, from, context, size);
		if (has_heaps(view, &grid))
			take_heaps(levels, view, context, size);
		if (euclidean)
			derive_levels(levels, last ? MOST_LEVELS - levels->n :
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

/* ----------------------------------------------------------------- grids */

struct RaceGridded
{
	const RaceParams *params;
	Levels	levels;
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
	make_levels(view, gridded->count.n, &gridded->levels, context, size);
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

static double
sum_heaps(const Levels *levels, double at)
{
	const Level *level = levels->level[0];
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
		const Level *level = gridded->levels.level[i];
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
