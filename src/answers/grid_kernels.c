/*
 * grid_kernels.c
 *		The parts of a kernel that the levels of a grid sum, made once a backend for each parameter
 *		value in use
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "hash/kernel.h"
#include "hash/params.h"
#include "hash/quantiles.h"
#include "hash/table.h"
#include "sketch/cache.h"
#include "sketch/params_type.h"
#include "answers/cell_errors.h"
#include "answers/grid_kernels.h"
#include "answers/radial.h"

/* -------------------------------------------------------------- projection */

/*
 * Solve for the coefficients of a line of n splines, whose Gram matrix has 2/3 on the diagonal and
 * 1/6 beside it: a filter in both directions, for a line that goes on with 0 (Unser 1999).
 */
void
race_project_line(double *line, Size stride, Size n)
{
	const double pole = sqrt(3) - 2;

	for (Size k = 1; k < n; k++)
		line[k * stride] += pole * line[(k - 1) * stride];
	line[(n - 1) * stride] *= -pole / (1 - pole * pole);
	for (Size k = n - 1; k-- > 0;)
		line[k * stride] = pole * (line[(k + 1) * stride] - line[k * stride]);
	for (Size k = 0; k < n; k++)
		line[k * stride] *= 6;
	/* what goes on beyond both ends falls by the pole; all of it lies there */
	line[0] /= 1 - pole;
	line[(n - 1) * stride] /= 1 - pole;
}

/* ------------------------------------------------------------- convolution */

#define MOST_PIECES 64

/* Pieces of equal mass that a spline is cut into along each axis, by the number of axes */
static const int pieces_by_dims[RACE_GRID_DIMS + 1] = {0, MOST_PIECES, 16, 8};

/* Return the mean of a kernel over a spline that lies at `place`, [dims], in bandwidths. */
static double
mean_over_spline(const RaceGrid *grid, const RaceRadial *kernel, const double *place)
{
	double pieces[MOST_PIECES]; /* lengths of pieces, in cells */
	int n = pieces_by_dims[grid->dims];
	int all = 1;
	double variance = 0;
	double sum = 0;

	for (int i = 0; i < n; i++)
	{
		double p = (i + 0.5) / n;

		pieces[i] = p < 0.5 ? sqrt(2 * p) - 1 : 1 - sqrt(2 * (1 - p));
		variance += pieces[i] * pieces[i] / n;
	}
	for (int i = 0; i < n; i++)
		pieces[i] *= sqrt(1 / (6 * variance)); /* the variance of a linear B-spline is 1/6 */
	for (uint32 axis = 0; axis < grid->dims; axis++)
		all *= n;
	for (int i = 0; i < all; i++)
	{
		double distance = 0;
		int rest = i;

		for (uint32 axis = 0; axis < grid->dims; axis++, rest /= n)
		{
			double x = place[axis] + grid->step[axis] * pieces[rest % n];

			distance += kernel->euclidean ? x * x : fabs(x);
		}
		sum += race_radial_value(kernel, kernel->euclidean ? sqrt(distance) : distance);
	}
	return sum / all;
}

/*
 * Directions that stand for all: evenly, by multiples of an irrational number for each axis
 * (Roberts 2018).  Signs do not matter.
 */
#define DIRECTIONS 8

const double race_irrational[RACE_GRID_DIMS] = {0.8191725134, 0.6710436067, 0.5497004779};

/* Return the mean of a kernel over a spline at a distance, in bandwidths, in all directions. */
static double
mean_over_directions(const RaceGrid *grid, const RaceRadial *kernel, double distance)
{
	int directions = grid->dims == 1 ? 1 : DIRECTIONS;
	double sum = 0;

	for (int i = 0; i < directions; i++)
	{
		double place[RACE_GRID_DIMS];
		double length = 0;

		for (uint32 axis = 0; axis < grid->dims; axis++)
		{
			double u = 0.5 + (i + 1) * race_irrational[axis];

			u -= floor(u);
			place[axis] = kernel->euclidean ? race_inverse_normal(u) : -log(u);
			length += kernel->euclidean ? place[axis] * place[axis] : place[axis];
		}
		for (uint32 axis = 0; axis < grid->dims; axis++)
			place[axis] *= distance / (kernel->euclidean ? sqrt(length) : length);
		sum += mean_over_spline(grid, kernel, place) / directions;
	}
	return sum;
}

/*
 * Steps below which means are computed, and the number of distances; beyond, the variance of a
 * spline gives them.
 */
#define NEAR_STEPS 6
#define NEAR_DISTANCES 256

/* Convolve a kernel with a spline of the grid. */
static void
convolve_kernel(const RaceGrid *grid, const RaceRadial *kernel, RaceRadial *out)
{
	double near[NEAR_DISTANCES + 1];
	double reach = NEAR_STEPS * grid->mean_step;
	double move = grid->mean_step * sqrt(grid->dims / 6.0);

	for (int i = 0; i <= NEAR_DISTANCES; i++)
	{
		CHECK_FOR_INTERRUPTS();
		near[i] = mean_over_directions(grid, kernel, reach * i / NEAR_DISTANCES);
	}
	*out = *kernel;
	for (int i = 0; i < race_radial_nodes(); i++)
	{
		double distance = race_radial_distance(i);
		double at = distance / reach * NEAR_DISTANCES;
		double *value = race_radial_node(out, i);

		if (at < NEAR_DISTANCES)
			*value = near[(int) at] + (at - (int) at) * (near[(int) at + 1] - near[(int) at]);
		else if (isfinite(distance))
		{
			/* as if the spline were two points on each axis; one axis is that of the distance */
			double along = race_radial_value(kernel, distance - move) +
				race_radial_value(kernel, distance + move);
			double aside = kernel->euclidean ?
				2 * race_radial_value(kernel, sqrt(distance * distance + move * move)) :
				along;

			*value = (along + (grid->dims - 1) * aside) / (2 * grid->dims);
		}
	}
}

/*
 * A convolved Euclidean kernel is smooth in the square of the distance: without a root, a node
 * takes half of the time.
 */
#define SQUARES_OF_STEP 32
#define MOST_SQUARES (32 * 1024)

/*
 * Make the kernel of a level: without its peak if a finer level sums that, and without what the
 * next, coarser level sums (step `coarser`, or 0).
 */
static void
make_kernel(RaceGridKernel *level, const RaceParams *params, double coarser)
{
	const RaceGrid *grid = &level->grid;
	RaceRadial *kernel = palloc(sizeof(RaceRadial));
	double last = 0; /* the square of the largest distance in the level; later in entries */

	level->kernel = palloc(sizeof(RaceRadial));
	race_radial_init_shape(kernel, params, level->smooth, coarser);
	convolve_kernel(grid, kernel, level->kernel);
	/* a spline reaches so far, but for its corners, which weigh little */
	level->reach = coarser == 0 ? INFINITY : RACE_GRID_REACH * coarser + grid->mean_step;
	level->errors = race_cell_errors_make(level, kernel);
	pfree(kernel);
	for (uint32 i = 0; i < grid->dims; i++)
		last += pow(grid->step[i] * (grid->cells[i] + 2 * RACE_OUTSIDE_NODES), 2);
	level->squares = SQUARES_OF_STEP / pow(grid->mean_step, 2);
	last = Min(last, level->reach * level->reach) * level->squares;
	if (!level->kernel->euclidean || !(last < MOST_SQUARES))
		return;
	/* one entry to interpolate, and one for what rounding adds */
	level->by_square = palloc(((int) last + 3) * sizeof(double));
	for (int i = 0; i < (int) last + 3; i++)
		level->by_square[i] = race_radial_value(level->kernel, sqrt(i / level->squares));
}

/* ------------------------------------------------------------------ levels */

/* A level with more nodes than this is split by distance, if it can be; by dims. */
static const uint64 nodes_to_visit[RACE_GRID_DIMS + 1] = {0, 256, 4000, 4000};

/* Levels leave so many times more than they must of the kernel's slope to finer ones, by dims. */
static const double without_more[RACE_GRID_DIMS + 1] = {0, 8, 2, 1.5};

/* List the levels of a grid: coarser ones let a question visit few nodes of each. */
static void
list_levels(RaceGridKernels *kernels, const RaceParams *params)
{
	bool euclidean = race_kernel_type(params->kernel)->euclidean;
	RaceGrid grid;

	race_grid_of(params, &grid);
	kernels->levels[kernels->n++].grid = grid;
	while (euclidean && kernels->n < RACE_MOST_LEVELS && grid.nodes > nodes_to_visit[grid.dims] &&
		   grid.halvings > 0)
	{
		race_grid_halve(&grid);
		kernels->levels[kernels->n].smooth = grid.mean_step * without_more[grid.dims];
		kernels->levels[kernels->n++].grid = grid;
	}
}

/* ------------------------------------------------------------------- cache */

typedef struct KernelsEntry
{
	RaceCacheEntry base; /* must be first */
	RaceParams *params;
	RaceGridKernels kernels;
} KernelsEntry;

static RaceCache kernels_cache = RACE_CACHE_INIT(kernels_cache);

static KernelsEntry *
make_entry(const RaceParams *params)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "race grid kernels", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	KernelsEntry *entry = palloc0(sizeof(KernelsEntry));
	RaceGridKernels *kernels = &entry->kernels;

	entry->base.context = context;
	entry->params = race_params_copy(params, context);
	list_levels(kernels, params);
	for (int i = 0; i < kernels->n; i++)
		make_kernel(&kernels->levels[i], params,
					i + 1 < kernels->n ? kernels->levels[i + 1].smooth : 0);
	MemoryContextSwitchTo(old);
	race_cache_add(&kernels_cache, &entry->base, MemoryContextMemAllocated(context, true));
	return entry;
}

static KernelsEntry *
acquire_entry(const RaceParams *params)
{
	dlist_iter iter;

	dlist_foreach(iter, &kernels_cache.entries)
	{
		KernelsEntry *entry = dlist_container(KernelsEntry, base.node, iter.cur);

		if (race_params_same(entry->params, params))
		{
			race_cache_acquire(&entry->base);
			return entry;
		}
	}
	return make_entry(params);
}

static void
release_entry(void *entry)
{
	race_cache_release(&((KernelsEntry *) entry)->base);
}

const RaceGridKernels *
race_grid_kernels(const RaceParams *params, MemoryContext context)
{
	MemoryContextCallback *callback = MemoryContextAlloc(context, sizeof(MemoryContextCallback));
	KernelsEntry *entry = acquire_entry(params);

	callback->func = release_entry;
	callback->arg = entry;
	MemoryContextRegisterResetCallback(context, callback);
	return &entry->kernels;
}
