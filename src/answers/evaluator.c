/*
 * evaluator.c
 *		Cached evaluator of a sketch: of the nodes of a grid, of a fitted model, and of the
 *		residuals of rows
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "privacy/counters.h"
#include "privacy/noise.h"
#include "hash/column.h"
#include "hash/kernel.h"
#include "hash/kind.h"
#include "hash/model_rows.h"
#include "hash/params.h"
#include "hash/quantiles.h"
#include "hash/rows.h"
#include "hash/table.h"
#include "sketch/array_reader.h"
#include "sketch/call_site.h"
#include "sketch/params_type.h"
#include "sketch/record.h"
#include "sketch/rows_cache.h"
#include "sketch/sketch.h"
#include "sketch/sketch_format.h"
#include "answers/evaluator.h"
#include "answers/point_masses.h"
#include "answers/radial.h"

static double
normal_density(double x, double deviation)
{
	return exp(-x * x / (2 * deviation * deviation)) / (sqrt(2 * RACE_PI) * deviation);
}

/* --------------------------------------------------------------- grids: kernels */

/*
 * Kernel sums of a grid.
 *
 * A record adds to each node the value of the node's linear B-spline at the record: 1 at the node,
 * falling linearly to 0 at its neighbors.  So nodes are inner products of the table with these
 * splines, and they determine P, the orthogonal projection of the table onto functions that are
 * linear between nodes:
 *
 *		sum over records of k(x, q)  ~  integral of (P records)(x) k(x, q) dx
 *
 * The error is the product of what P leaves of the table and of what it leaves of the kernel.
 * Where both are smooth it falls with the fourth power of the cells; that of a sum over nodes with
 * the second.
 *
 * So that it need not visit all nodes, the kernel is split by distance, as the multilevel summation
 * method does (Hardy 2006): fine nodes sum what is near, coarser ones, which follow from them
 * exactly, the smooth rest.
 */

/* The nodes of a level, and the part of the kernel that it sums */
typedef struct RaceGridLevel
{
	RaceGrid grid;   /* nodes; after projection wider by OUTSIDE_NODES at each bound */
	double smooth;   /* step whose peak finer levels sum; 0 for the first */
	double *records; /* [nodes]: records; after projection coefficients of splines */
	double reach;    /* end of its kernel, in bandwidths, or INFINITY */
	RaceRadial *kernel;
	double *by_square; /* kernel by the square of the distance, or NULL */
	double squares;    /* entries of by_square for each square bandwidth */
	/* changes of a kernel by cells, by distance, in three dimensions; else NULL */
	double *errors;
	double *uneven; /* records of each node to which errors apply, or NULL */
	RaceGrid nodes; /* grid before projection */
} Level;

#define OUTSIDE_NODES 3 /* nodes of splines beyond each bound */
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

static const double irrational[RACE_GRID_DIMS] = {0.8191725134, 0.6710436067, 0.5497004779};

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
			double u = 0.5 + (i + 1) * irrational[axis];

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
 * Make the kernel of a level: without its peak if a finer level sums that, and without what
 * the next, coarser level sums (step `coarser`, or 0).
 */
static void
make_kernel(Level *level, const RaceParams *params, double coarser, MemoryContext context)
{
	const RaceGrid *grid = &level->grid;
	RaceRadial *kernel = palloc(sizeof(RaceRadial));
	double last = 0; /* the square of the largest distance in the level; later in entries */

	level->kernel = MemoryContextAlloc(context, sizeof(RaceRadial));
	race_radial_init_shape(kernel, params, level->smooth, coarser);
	convolve_kernel(grid, kernel, level->kernel);
	pfree(kernel);
	/* a spline reaches so far, but for its corners, which weigh little */
	level->reach = coarser == 0 ? INFINITY : RACE_GRID_REACH * coarser + grid->mean_step;
	for (uint32 i = 0; i < grid->dims; i++)
		last += pow(grid->step[i] * grid->cells[i], 2);
	level->squares = SQUARES_OF_STEP / pow(grid->mean_step, 2);
	last = Min(last, level->reach * level->reach) * level->squares;
	if (!level->kernel->euclidean || !(last < MOST_SQUARES))
		return;
	/* one entry to interpolate, and one for what rounding adds */
	level->by_square = MemoryContextAlloc(context, ((int) last + 3) * sizeof(double));
	for (int i = 0; i < (int) last + 3; i++)
		level->by_square[i] = race_radial_value(level->kernel, sqrt(i / level->squares));
}

/* ---------------------------------------------------------------- grids: levels */

/* A level with more nodes than this is split by distance, if it can be; by dims. */
static const uint64 nodes_to_visit[RACE_GRID_DIMS + 1] = {0, 256, 4000, 4000};

/* Levels leave so many times more than they must of the kernel's slope to finer ones, by dims. */
static const double without_more[RACE_GRID_DIMS + 1] = {0, 8, 2, 1.5};

static Level *
add_level(RaceGridded *gridded, const RaceGrid *grid, double *records, MemoryContext context)
{
	Level *level = MemoryContextAllocZero(context, sizeof(Level));

	level->grid = *grid;
	level->smooth = gridded->n_levels == 0 ? 0 : grid->mean_step * without_more[grid->dims];
	level->records = records;
	gridded->levels[gridded->n_levels++] = level;
	return level;
}

/* Add coarser levels, so that a question visits few nodes of each. */
static void
derive_levels(RaceGridded *gridded, MemoryContext context)
{
	Level *last = gridded->levels[gridded->n_levels - 1];

	while (gridded->n_levels < RACE_MOST_LEVELS &&
		   last->grid.nodes > nodes_to_visit[last->grid.dims] && last->grid.halvings > 0)
	{
		RaceGrid grid = last->grid;
		double *space = palloc_extended(grid.nodes * sizeof(double), MCXT_ALLOC_HUGE);
		double *records;

		race_grid_coarsen_real(&last->grid, last->records, space);
		race_grid_halve(&grid);
		records = MemoryContextAllocHuge(context, grid.nodes * sizeof(double));
		last =
			add_level(gridded, &grid, memcpy(records, space, grid.nodes * sizeof(double)), context);
		pfree(space);
	}
}

/*
 * In coarser cells than this, a cluster is often narrower than a cell, and looks like a point mass.
 * Means of values are ratios of two halves, which must not have different point masses.
 */
/* coarsest cell that point masses are taken out of, in bandwidths */
#define COARSEST_FOR_MASSES 0.25

/* Take the point masses out of the nodes of a sketch in one dimension. */
static void
take_point_masses(RaceGridded *gridded, const RaceView *view, MemoryContext context)
{
	const RaceParams *params = view->params;
	Level *level = gridded->levels[0];
	Size n = level->grid.nodes;
	RacePointMass *masses;
	double *space;

	if (params->dims != 1 || view->header->noise.half != RACE_WHOLE ||
		level->grid.mean_step * params->power > COARSEST_FOR_MASSES)
		return;
	masses = palloc_extended((n / 3 + 1) * sizeof(RacePointMass), MCXT_ALLOC_HUGE);
	space = palloc_extended(n * sizeof(double), MCXT_ALLOC_HUGE);
	gridded->masses =
		race_point_masses_take(level->records, n, gridded->node_variance, masses, space);
	if (gridded->masses > 0)
	{
		gridded->mass_kernel = MemoryContextAlloc(context, sizeof(RaceRadial));
		race_radial_init(gridded->mass_kernel, params);
		gridded->mass_places = MemoryContextAllocHuge(context, gridded->masses * sizeof(double));
		gridded->mass_records = MemoryContextAllocHuge(context, gridded->masses * sizeof(double));
	}
	for (Size i = 0; i < gridded->masses; i++)
	{
		gridded->mass_places[i] = masses[i].place * level->grid.step[0];
		gridded->mass_records[i] = masses[i].records;
	}
	pfree(masses);
	pfree(space);
}

/* Adjust nodes so that they add up to `records`. */
static void
add_up_to(const Level *level, double records)
{
	double sum = 0;

	for (uint64 k = 0; k < level->grid.nodes; k++)
		sum += level->records[k];
	for (uint64 k = 0; k < level->grid.nodes; k++)
		level->records[k] -= (sum - records) / level->grid.nodes;
}

/*
 * Load the levels that the sketch has, in records, and return the number of records: the noisy
 * count and the sums of levels, weighted by how little noise they have.  A record adds 1 to the
 * nodes of a level together, so what they have beyond all records is noise: least squares take the
 * same off each.
 */
static RaceRecordCount
load_levels(const RaceView *view, double node_variance, Level *stored, int n, MemoryContext context)
{
	RaceRecordCount count = {view->header->count, view->header->noise.count_variance};
	double unit = (double) race_record_unit(view->params);
	double precision = 1 / count.variance;
	double weighted = count.n * precision;
	double sums[RACE_GRID_LEVELS] = {0};
	uint64 from = 0;
	RaceGrid grid;

	race_grid_of(view->params, &grid);
	for (int i = 0; i < n; i++)
	{
		stored[i].grid = grid;
		stored[i].records = MemoryContextAllocHuge(context, grid.nodes * sizeof(double));
		for (uint64 k = 0; k < grid.nodes; k++)
		{
			stored[i].records[k] = race_counters_get(view->counters, view->width, from + k) / unit;
			sums[i] += stored[i].records[k];
		}
		weighted += sums[i] / (grid.nodes * node_variance);
		precision += 1 / (grid.nodes * node_variance);
		from += grid.nodes;
		for (int halvings = 0; i + 1 < n && halvings < RACE_GRID_LEVEL_HALVINGS; halvings++)
			race_grid_halve(&grid);
	}
	if (count.variance > 0 && node_variance > 0)
		count = (RaceRecordCount){weighted / precision, 1 / precision};
	for (int i = 0; i < n && node_variance > 0; i++)
		add_up_to(&stored[i], count.n);
	return count;
}

/*
 * Solve for the coefficients of a line of n splines, whose Gram matrix has 2/3 on the diagonal and
 * 1/6 beside it: a filter in both directions, for a line that goes on with 0 (Unser 1999).
 */
static void
project_line(double *line, Size stride, Size n)
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

/*
 * Two levels measure the same table twice with noise of one variance: fine nodes y, and coarse ones
 * z, which would be C y without noise.  Least squares take y + C'w for the table, where (1 + C C')
 * w = z - C y: 20 steps of conjugate gradients leave less than 10^-4 of that.
 */
#define LEAST_SQUARES_STEPS 20
#define LEAST_SQUARES_RESIDUAL 1e-8 /* squared residual at which steps end, over the first one */
#define NODES_A_STEP 4096           /* nodes between two looks at interrupts */

/* Add C'w, which is linear between coarse nodes, to fine ones. */
static void
add_between(const RaceGrid *fine, const RaceGrid *coarse, const double *w, double *nodes)
{
	for (uint64 k = 0; k < fine->nodes; k++)
	{
		uint32 corners = 1;
		uint64 node[RACE_GRID_CORNERS] = {0};
		double weight[RACE_GRID_CORNERS] = {1};
		uint64 rest = k;
		uint64 line = fine->nodes;

		if (k % NODES_A_STEP == 0)
			CHECK_FOR_INTERRUPTS();
		for (uint32 axis = 0; axis < coarse->dims; axis++, rest %= line)
		{
			uint64 at = rest / (line /= fine->cells[axis] + 1);
			double right = (double) (at % RACE_GRID_FACTOR) / RACE_GRID_FACTOR;

			for (uint32 i = 0; i < corners; i++)
			{
				node[i] = node[i] * (coarse->cells[axis] + 1) + at / RACE_GRID_FACTOR;
				node[corners + i] = node[i] + 1;
				weight[corners + i] = weight[i] * right;
				weight[i] *= 1 - right;
			}
			corners *= right > 0 ? 2 : 1;
		}
		for (uint32 i = 0; i < corners; i++)
			nodes[k] += weight[i] * w[node[i]];
	}
}

/* Multiply fine nodes by C, in their place. */
static void
coarsen_level(const RaceGrid *fine, double *nodes)
{
	RaceGrid grid = *fine;

	for (int i = 0; i < RACE_GRID_LEVEL_HALVINGS; i++, race_grid_halve(&grid))
		race_grid_coarsen_real(&grid, nodes, nodes);
}

static double
dot_product(const double *a, const double *b, uint64 n)
{
	double sum = 0;

	for (uint64 k = 0; k < n; k++)
		sum += a[k] * b[k];
	return sum;
}

/* Combine two levels in the fine one. */
static void
combine_levels(const Level *fine, const Level *coarse)
{
	uint64 n = coarse->grid.nodes;
	double *residual = coarse->records;
	double *nodes = palloc_extended(fine->grid.nodes * sizeof(double), MCXT_ALLOC_HUGE);
	double *direction = palloc_extended(n * sizeof(double), MCXT_ALLOC_HUGE);
	double squares;
	double enough;

	memcpy(nodes, fine->records, fine->grid.nodes * sizeof(double));
	coarsen_level(&fine->grid, nodes);
	for (uint64 k = 0; k < n; k++)
		direction[k] = residual[k] -= nodes[k];
	squares = dot_product(residual, residual, n);
	enough = squares * LEAST_SQUARES_RESIDUAL;
	for (int step = 0; step < LEAST_SQUARES_STEPS && squares > enough; step++)
	{
		double before = squares;
		double along;

		memset(nodes, 0, fine->grid.nodes * sizeof(double));
		add_between(&fine->grid, &coarse->grid, direction, nodes);
		along = squares /
			(dot_product(direction, direction, n) + dot_product(nodes, nodes, fine->grid.nodes));
		for (uint64 k = 0; k < fine->grid.nodes; k++)
			fine->records[k] += along * nodes[k];
		coarsen_level(&fine->grid, nodes);
		for (uint64 k = 0; k < n; k++)
			residual[k] -= along * (direction[k] + nodes[k]);
		squares = dot_product(residual, residual, n);
		for (uint64 k = 0; k < n; k++)
			direction[k] = residual[k] + squares / before * direction[k];
	}
	pfree(nodes);
	pfree(direction);
}

/* Extend a grid by cells below and above along each axis. */
static void
widen_grid(RaceGrid *grid, uint32 below, const uint32 *above)
{
	grid->nodes = 1;
	for (uint32 axis = 0; axis < grid->dims; axis++)
	{
		grid->cells[axis] += below + above[axis];
		grid->lower[axis] -= below * grid->width[axis];
		grid->nodes *= grid->cells[axis] + 1;
	}
}

/* Return the nodes of a grid that is extended by cells of 0. */
static double *
extend_grid(RaceGrid *grid, uint32 below, const uint32 *above, const double *nodes,
			MemoryContext context)
{
	RaceGrid old = *grid;
	uint32 last = grid->dims - 1;
	uint32 line = old.cells[last] + 1;
	double *extended;

	widen_grid(grid, below, above);
	extended = MemoryContextAllocExtended(context, grid->nodes * sizeof(double),
										  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (Size from = 0; from < old.nodes; from += line)
	{
		Size rest = from / line;
		Size to = below;
		Size stride = grid->cells[last] + 1;

		for (uint32 axis = last; axis-- > 0;)
		{
			to += (rest % (old.cells[axis] + 1) + below) * stride;
			rest /= old.cells[axis] + 1;
			stride *= grid->cells[axis] + 1;
		}
		memcpy(extended + to, nodes + from, line * sizeof(double));
	}
	return extended;
}

static const uint32 outside[RACE_GRID_DIMS] = {OUTSIDE_NODES, OUTSIDE_NODES, OUTSIDE_NODES};

/*
 * Project the nodes of a level: they become coefficients of splines, of which some lie outside of
 * the bounds.
 */
static void
project_level(Level *level, MemoryContext context)
{
	RaceGrid *wide = &level->grid;
	double *nodes = level->records;
	Size stride;

	level->records = extend_grid(wide, OUTSIDE_NODES, outside, nodes, context);
	pfree(nodes);
	stride = wide->nodes;
	for (uint32 axis = 0; axis < wide->dims; axis++)
	{
		Size block = stride;

		stride /= wide->cells[axis] + 1;
		for (Size from = 0; from < wide->nodes; from += block)
		{
			CHECK_FOR_INTERRUPTS();
			for (Size i = 0; i < stride; i++)
				project_line(level->records + from + i, stride, wide->cells[axis] + 1);
		}
	}
}

/*
 * In three dimensions cells are wide, and what they change of a sum has no sign that two
 * resolutions would show: where records lie in a cell decides it.  A record at x changes an answer
 * by k(x, q) - (P k)(x), where P k is the projection of a level's kernel onto splines.  The root
 * mean square of that, over places of the question in its cell and of the record around a node, is
 * a function of the distance between both.  Along an axis it is that of t^2 - t + 1/6, t in cells,
 * which is largest at nodes: by sqrt(5); where records are at nodes along all three axes, by 3
 * sqrt(5) / sqrt(3) altogether.  An interval of 95 % holds that, if it is the same for all records
 * and levels (test/t/039_grid_intervals.pl).
 */
#define WORST_PLACE (3.873 / 1.96)
#define ERROR_DIMS 3
#define ERROR_REACH 6    /* cells beyond which an error is small */
#define ERROR_BINS 4     /* bins of distances, for each cell */
#define ERROR_PLACES 8   /* places of a question in its cell */
#define ERROR_RECORDS 64 /* records around a node at each distance and place */
/* standard deviations of noise by which nodes that are even may differ */
#define NOISE_DEVIATIONS 1
/* nodes along a side of the box that is projected: its edge is 4 nodes off */
#define ERROR_SIDE (2 * (ERROR_REACH + 4) + 1)

/* Set the place of record i in a box of cells around a question, spread as its node's spline is. */
static void
place_in_box(const double *question, double cells, uint32 i, double *place)
{
	double length = 0;
	double direction[ERROR_DIMS];

	for (int axis = 0; axis < ERROR_DIMS; axis++)
	{
		double u = (i + 0.5) * irrational[axis];

		direction[axis] = race_inverse_normal(Max(u - floor(u), 1e-9));
		length += direction[axis] * direction[axis];
	}
	for (int axis = 0; axis < ERROR_DIMS; axis++)
	{
		double u = (i + 0.5) * irrational[axis] * sqrt(2);

		u -= floor(u);
		u = u < 0.5 ? sqrt(2 * u) - 1 : 1 - sqrt(2 * (1 - u));
		place[axis] = question[axis] + cells * direction[axis] / sqrt(length) + u;
	}
}

/* Return the kernel at a distance in cells. */
static double
kernel_at(const RaceGrid *grid, const RaceRadial *kernel, const double *cells)
{
	double distance = 0;

	for (int axis = 0; axis < ERROR_DIMS; axis++)
		distance += kernel->euclidean ? pow(cells[axis] * grid->step[axis], 2) :
										fabs(cells[axis] * grid->step[axis]);
	return race_radial_value(kernel, kernel->euclidean ? sqrt(distance) : distance);
}

/*
 * Set the coefficients of the projection of a level's kernel around a question in a box:
 * [ERROR_SIDE]^3.
 */
static void
project_kernel(const Level *level, const double *question, double *coefficients)
{
	Size stride = ERROR_SIDE * ERROR_SIDE * ERROR_SIDE;
	Size n = stride;

	for (Size k = 0; k < n; k++)
	{
		double away[ERROR_DIMS] = {(double) (k / (ERROR_SIDE * ERROR_SIDE)) - question[0],
								   (double) (k / ERROR_SIDE % ERROR_SIDE) - question[1],
								   (double) (k % ERROR_SIDE) - question[2]};

		coefficients[k] = kernel_at(&level->grid, level->kernel, away);
	}
	for (int axis = 0; axis < ERROR_DIMS; axis++)
	{
		Size block = stride;

		stride /= ERROR_SIDE;
		for (Size from = 0; from < n; from += block)
			for (Size i = 0; i < stride; i++)
				project_line(coefficients + from + i, stride, ERROR_SIDE);
	}
}

/* Return a function that is linear between the nodes of a box. */
static double
between_nodes(const double *coefficients, const double *place)
{
	double sum = 0;

	for (int corner = 0; corner < 1 << ERROR_DIMS; corner++)
	{
		double weight = 1;
		Size node = 0;

		for (int axis = 0; axis < ERROR_DIMS; axis++)
		{
			double right = place[axis] - floor(place[axis]);
			bool up = (corner >> axis & 1) != 0;

			weight *= up ? right : 1 - right;
			node = node * ERROR_SIDE + (Size) floor(place[axis]) + up;
		}
		sum += weight * coefficients[node];
	}
	return sum;
}

/* Find the root mean squared errors of a level's kernel. */
static void
find_errors(Level *level, const RaceParams *params, double coarser, MemoryContext context)
{
	double *coefficients = palloc(ERROR_SIDE * ERROR_SIDE * ERROR_SIDE * sizeof(double));
	RaceRadial *kernel = palloc(sizeof(RaceRadial));

	race_radial_init_shape(kernel, params, level->smooth, coarser);
	level->errors =
		MemoryContextAllocZero(context, (ERROR_REACH * ERROR_BINS + 1) * sizeof(double));
	for (int i = 0; i < ERROR_PLACES; i++)
	{
		double question[ERROR_DIMS];

		CHECK_FOR_INTERRUPTS();
		for (int axis = 0; axis < ERROR_DIMS; axis++)
			question[axis] =
				ERROR_SIDE / 2 + (i + 0.5) * irrational[axis] - floor((i + 0.5) * irrational[axis]);
		project_kernel(level, question, coefficients);
		for (int k = 0; k < (ERROR_REACH * ERROR_BINS + 1) * ERROR_RECORDS; k++)
		{
			double place[ERROR_DIMS];
			double away[ERROR_DIMS];

			place_in_box(question, (double) (k / ERROR_RECORDS) / ERROR_BINS, k + i * 7919, place);
			for (int axis = 0; axis < ERROR_DIMS; axis++)
				away[axis] = place[axis] - question[axis];
			level->errors[k / ERROR_RECORDS] +=
				pow(kernel_at(&level->grid, kernel, away) - between_nodes(coefficients, place), 2) /
				(ERROR_PLACES * ERROR_RECORDS);
		}
	}
	for (int i = 0; i <= ERROR_REACH * ERROR_BINS; i++)
		level->errors[i] = sqrt(level->errors[i]);
	pfree(coefficients);
	pfree(kernel);
}

/* Return the sum of the records of a level times these errors, around a place in cells. */
static double
error_of_level(const Level *level, const double *at)
{
	const RaceGrid *grid = &level->nodes;
	double sum = 0;
	int first[ERROR_DIMS];

	for (int axis = 0; axis < ERROR_DIMS; axis++)
		first[axis] = (int) floor(at[axis]) - ERROR_REACH + 1;
	for (int k = 0; k < 8 * ERROR_REACH * ERROR_REACH * ERROR_REACH; k++)
	{
		int place[ERROR_DIMS] = {k / (4 * ERROR_REACH * ERROR_REACH),
								 k / (2 * ERROR_REACH) % (2 * ERROR_REACH), k % (2 * ERROR_REACH)};
		double square = 0;
		Size node = 0;
		bool within = true;

		for (int axis = 0; axis < ERROR_DIMS; axis++)
		{
			int i = first[axis] + place[axis];

			within &= i >= 0 && i <= (int) grid->cells[axis];
			square += (i - at[axis]) * (i - at[axis]);
			node = node * (grid->cells[axis] + 1) + i;
		}
		if (within && square < ERROR_REACH * ERROR_REACH)
			sum += level->uneven[node] * level->errors[(int) (sqrt(square) * ERROR_BINS + 0.5)];
	}
	return sum;
}

/*
 * Estimate how many records of each node are uneven, by how much neighbors differ from it beyond
 * noise: records that lie evenly within cells are summed exactly, and those of a node alone may be
 * at one place.  Coarser levels have those of finer ones.
 */
static void
find_uneven(RaceGridded *gridded, int i, MemoryContext context)
{
	Level *level = gridded->levels[i];
	const RaceGrid *grid = &level->grid;
	double noise = NOISE_DEVIATIONS * sqrt(gridded->node_variance * (1 + 1.0 / (2 * ERROR_DIMS)));

	level->nodes = *grid;
	level->uneven = MemoryContextAllocHuge(context, grid->nodes * sizeof(double));
	if (i > 0)
	{
		const Level *finer = gridded->levels[i - 1];
		double *space = palloc_extended(finer->nodes.nodes * sizeof(double), MCXT_ALLOC_HUGE);

		race_grid_coarsen_real(&finer->nodes, finer->uneven, space);
		memcpy(level->uneven, space, grid->nodes * sizeof(double));
		pfree(space);
		return;
	}
	for (uint64 k = 0; k < grid->nodes; k++)
	{
		uint64 stride = grid->nodes;
		double sum = 0;
		int n = 0;

		if (k % NODES_A_STEP == 0)
			CHECK_FOR_INTERRUPTS();
		for (int axis = 0; axis < ERROR_DIMS; axis++)
		{
			uint64 at;

			stride /= grid->cells[axis] + 1;
			at = k / stride % (grid->cells[axis] + 1);
			if (at > 0)
				sum += level->records[k - stride], n++;
			if (at < grid->cells[axis])
				sum += level->records[k + stride], n++;
		}
		level->uneven[k] = Max(fabs(level->records[k] - sum / n) - noise, 0);
	}
}

/* Make the levels of a grid from its nodes. */
static void
make_levels(RaceGridded *gridded, const RaceView *view, const Level *nodes, MemoryContext context)
{
	add_level(gridded, &nodes->grid, nodes->records, context);
	take_point_masses(gridded, view, context);
	if (race_kernel_type(view->params->kernel)->euclidean)
		derive_levels(gridded, context);
	for (int i = 0; i < gridded->n_levels && view->params->dims == ERROR_DIMS; i++)
		find_uneven(gridded, i, context);
	for (int i = 0; i < gridded->n_levels; i++)
	{
		project_level(gridded->levels[i], context);
		make_kernel(gridded->levels[i], view->params,
					i + 1 < gridded->n_levels ? gridded->levels[i + 1]->smooth : 0, context);
		if (view->params->dims == ERROR_DIMS)
			find_errors(gridded->levels[i], view->params,
						i + 1 < gridded->n_levels ? gridded->levels[i + 1]->smooth : 0, context);
	}
}

/*
 * What cells change a kernel sum.
 *
 * Nodes twice as far apart follow from those of a release.  In two dimensions, cells are taken to
 * change a sum by a part of its difference between both: at a question, and over the box.  The part
 * is larger with two levels, beside whose smaller noise cells change more.  What neither shows is
 * race_grid_most_bias.
 */
#define COMPARED_DIMS 2

static const double of_difference[RACE_GRID_LEVELS + 1] = {0, 0.6, 1};

#define COMPARED_PLACES 200 /* places at which errors are compared, all over the box */

/* Return the same grid with nodes twice as far apart. */
static RaceGridded *
make_coarser(const RaceView *view, const Level *nodes, MemoryContext context)
{
	RaceGridded *gridded = MemoryContextAllocZero(context, sizeof(RaceGridded));
	Level coarse = {.grid = nodes->grid};
	uint32 odd[RACE_GRID_DIMS];

	for (uint32 axis = 0; axis < coarse.grid.dims; axis++)
		odd[axis] = coarse.grid.cells[axis] % 2;
	coarse.records = extend_grid(&coarse.grid, 0, odd, nodes->records, context);
	race_grid_coarsen_real(&coarse.grid, coarse.records, coarse.records);
	race_grid_halve(&coarse.grid);
	make_levels(gridded, view, &coarse, context);
	return gridded;
}

/* Return the mean square of differences over that of sums. */
static double
mean_squared_difference(const RaceGridded *gridded, const RaceParams *params)
{
	const double *lower = race_array(params, RACE_ARRAY_LOWER);
	const double *upper = race_array(params, RACE_ARRAY_UPPER);
	double differences = 0;
	double squares = 0;

	for (int i = 0; i < COMPARED_PLACES; i++)
	{
		double x[RACE_GRID_DIMS];
		double sum;

		for (uint32 axis = 0; axis < params->dims; axis++)
		{
			double u = (i + 0.5) * irrational[axis];

			x[axis] = lower[axis] + (u - floor(u)) * (upper[axis] - lower[axis]);
		}
		sum = race_gridded_sum(gridded, x);
		differences += pow(sum - race_gridded_sum(gridded->coarser, x), 2);
		squares += sum * sum;
	}
	return squares > 0 ? differences / squares : 0;
}

RaceGridded *
race_gridded_create(const RaceView *view, MemoryContext context)
{
	RaceGridded *gridded = MemoryContextAllocZero(context, sizeof(RaceGridded));
	double unit = (double) race_record_unit(view->params);
	double node_variance = view->header->noise.counter_variance / (unit * unit);
	RaceGridChoice choice = {0, race_grid_levels(view->params)};
	Level stored[RACE_GRID_LEVELS];

	gridded->noise_variance = race_grid_noise_variance(view->params, choice, RACE_GRID_MIDDLE,
													   view->header->noise.counter_variance,
													   view->header->noise.count_variance);
	gridded->node_variance = node_variance;
	gridded->squared_bias =
		view->params->dims == ERROR_DIMS ? 0 : pow(race_grid_most_bias(view->params), 2);
	gridded->part = of_difference[choice.levels];
	gridded->count = load_levels(view, node_variance, stored, choice.levels, context);
	if (choice.levels > 1)
	{
		combine_levels(&stored[0], &stored[1]);
		add_up_to(&stored[0], gridded->count.n);
		gridded->second = stored[1].grid;
		widen_grid(&gridded->second, OUTSIDE_NODES, outside);
	}
	if (view->params->dims == COMPARED_DIMS)
		gridded->coarser = make_coarser(view, stored, context);
	make_levels(gridded, view, stored, context);
	if (gridded->coarser != NULL)
		gridded->squared_bias +=
			pow(gridded->part, 2) * mean_squared_difference(gridded, view->params);
	return gridded;
}

/* Set the place of a question in cells of a level, which is wider than the bounds. */
static void
place_in_level(const Level *level, const double *x, double *at)
{
	for (uint32 axis = 0; axis < level->grid.dims; axis++)
	{
		at[axis] = (x[axis] - level->grid.lower[axis]) / level->grid.width[axis];
		at[axis] =
			Min(Max(at[axis], OUTSIDE_NODES), level->grid.cells[axis] - (double) OUTSIDE_NODES);
	}
}

double
race_gridded_variance(const RaceGridded *gridded, const double *x, double sum)
{
	double change = gridded->coarser == NULL ?
		0 :
		gridded->part * (sum - race_gridded_sum(gridded->coarser, x));
	double variance = gridded->noise_variance + gridded->squared_bias * sum * sum + change * change;
	double error = 0;

	for (int i = 0; i < gridded->n_levels && gridded->levels[i]->errors != NULL; i++)
	{
		double at[RACE_GRID_DIMS];

		place_in_level(gridded->levels[i], x, at);
		for (int axis = 0; axis < ERROR_DIMS; axis++)
			at[axis] -= OUTSIDE_NODES;
		error += error_of_level(gridded->levels[i], at);
	}
	return variance + pow(WORST_PLACE * error, 2);
}

/* Sum the kernel over all nodes in reach, axis by axis.  `at` is the place in cells. */
static double
sum_axes(const Level *level, const double *at, uint32 axis, uint64 node, double across)
{
	const RaceGrid *grid = &level->grid;
	double step = grid->step[axis];
	double reach = level->kernel->euclidean && isfinite(level->reach) ?
		sqrt(Max(level->reach * level->reach - across, 0)) :
		level->reach;
	double first = Max(ceil(at[axis] - reach / step), 0);
	double last = Min(floor(at[axis] + reach / step), grid->cells[axis]);
	uint32 from = (uint32) Min(first, grid->cells[axis]);
	uint32 n = last < first ? 0 : (uint32) (last - first) + 1;
	double x = (from - at[axis]) * step;
	double sum = 0;

	node = node * (grid->cells[axis] + 1) + from;
	if (axis < grid->dims - 1)
	{
		for (uint32 i = 0; i < n; i++, x = ((double) (from + i) - at[axis]) * step)
			sum += sum_axes(level, at, axis + 1, node + i,
							across + (level->kernel->euclidean ? x * x : fabs(x)));
		return sum;
	}
	if (level->by_square == NULL)
		return race_radial_sum_line(level->kernel, x, step, across, level->records + node, n);
	for (uint32 i = 0; i < n; i++)
	{
		double d = x + (double) (int) i * step;
		double entry = (across + d * d) * level->squares;
		const double *value = level->by_square + (int) entry;

		sum +=
			level->records[node + i] * (value[0] + (entry - (int) entry) * (value[1] - value[0]));
	}
	return sum;
}

double
race_gridded_sum(const RaceGridded *gridded, const double *x)
{
	double sum = 0;

	for (int i = 0; i < gridded->n_levels; i++)
	{
		const Level *level = gridded->levels[i];
		double at[RACE_GRID_DIMS];

		CHECK_FOR_INTERRUPTS();
		place_in_level(level, x, at);
		sum += sum_axes(level, at, 0, 0, 0);
		if (i == 0 && gridded->masses > 0)
		{
			double place = (at[0] - OUTSIDE_NODES) * level->grid.step[0];

			sum += race_radial_sum(gridded->mass_kernel, &place, gridded->mass_places,
								   gridded->mass_records, gridded->masses);
		}
	}
	return sum;
}

/* --------------------------------------------------------- grids: a Gaussian kernel */

/*
 * A Gaussian kernel is a product over axes, and so are the mean of it over a spline, and the
 * coefficient of a node in the answer.  The difference of the kernel and of these coefficients,
 * linear between nodes, is the error that a record at a place adds.
 */
#define GAUSSIAN_REACH 6 /* standard deviations beyond which there is 2e-9 */
#define SPLINE_REACH 6   /* cells within which squares of coefficients fall to 1e-7 */
#define PLACES 4         /* places to both sides of a node at which errors are computed */

/*
 * The noise of a release is alike within a bandwidth, so that of 20 releases of
 * test/bench/gaussian.py the worst held the truth in 82 % of its intervals.  With the variance
 * times this factor it holds 93 %.
 */
#define WORST_VARIANCE 2.0

/* The nodes along an axis that a question needs */
typedef struct GaussianAxis
{
	uint32 from;
	uint32 n;
	double *splines; /* [n]: means of the kernel over splines */
	/*
	 * [n] around nodes: means of squares of the kernel, of products, of squares of the coefficients
	 */
	double *moments[3];
	double squares; /* sum of squared coefficients of nodes within the bounds */
} GaussianAxis;

/*
 * Return the mean of a normal density over a linear B-spline so far away, whose cells have this
 * width.
 */
static double
normal_over_spline(double away, double width, double deviation)
{
	double sum = 0;

	/* a difference of integrals would cancel */
	if (width < 0.01 * deviation)
		return normal_density(away, deviation) *
			(1 +
			 width * width / 12 * (away * away / (deviation * deviation) - 1) /
				 (deviation * deviation));
	for (int i = -1; i <= 1; i++)
	{
		double z = (i * width - fabs(away)) / deviation;

		/* twice integrated */
		sum +=
			(i == 0 ? -2 : 1) * (z * erfc(-z / sqrt(2)) / 2 + exp(-z * z / 2) / sqrt(2 * RACE_PI));
	}
	return sum * deviation / (width * width);
}

static void
find_gaussian_axis(const RaceGrid *grid, uint32 number, double x, double deviation,
				   GaussianAxis *axis)
{
	uint32 cells = grid->cells[number];
	double width = grid->width[number];
	double place = (x - grid->lower[number]) / width;
	double reach = GAUSSIAN_REACH * deviation / width + SPLINE_REACH;
	double *coefficients;

	axis->from = (uint32) Min(Max(ceil(place - reach), 0), cells);
	axis->n = (uint32) Min(Max(floor(place + reach), axis->from), cells) - axis->from + 1;
	axis->splines = palloc(5 * axis->n * sizeof(double));
	coefficients = axis->splines + axis->n;
	for (int i = 0; i < 3; i++)
		axis->moments[i] = memset(coefficients + (i + 1) * axis->n, 0, axis->n * sizeof(double));
	for (uint32 k = 0; k < axis->n; k++)
		axis->splines[k] = coefficients[k] =
			normal_over_spline((axis->from + k - place) * width, width, deviation);
	project_line(coefficients, 1, axis->n);
	axis->squares = 0;
	for (uint32 k = 0; k < axis->n; k++)
	{
		uint32 node = axis->from + k;

		if (node < OUTSIDE_NODES || node > cells - OUTSIDE_NODES)
			continue;
		axis->squares += coefficients[k] * coefficients[k];
		for (int i = -PLACES; i < PLACES; i++)
		{
			double t = (i + 0.5) / PLACES;
			uint32 next = t < 0 ? k - 1 : k + 1;
			double weight = (1 - fabs(t)) / PLACES;
			double kernel = normal_density((node + t - place) * width, deviation);
			double linear;

			if (next >= axis->n)
				continue;
			linear = coefficients[k] + fabs(t) * (coefficients[next] - coefficients[k]);
			axis->moments[0][k] += weight * kernel * kernel;
			axis->moments[1][k] += weight * kernel * linear;
			axis->moments[2][k] += weight * linear * linear;
		}
	}
}

/*
 * Sum the kernel over nodes, and squares of the errors of their records, as if these were at one
 * place each.
 */
static double
sum_gaussian(const Level *level, const GaussianAxis *axes, uint32 number, uint64 node,
			 double spline, const double *moments, double *squared_error)
{
	const GaussianAxis *axis = &axes[number];
	double sum = 0;

	node = node * (level->grid.cells[number] + 1) + axis->from;
	for (uint32 k = 0; k < axis->n; k++)
	{
		double product[3];

		for (int i = 0; i < 3; i++)
			product[i] = moments[i] * axis->moments[i][k];
		if (number < level->grid.dims - 1)
			sum += sum_gaussian(level, axes, number + 1, node + k, spline * axis->splines[k],
								product, squared_error);
		else
		{
			sum += level->records[node + k] * spline * axis->splines[k];
			*squared_error +=
				pow(level->records[node + k], 2) * Max(product[0] - 2 * product[1] + product[2], 0);
		}
	}
	return sum;
}

/*
 * Return the sum of squared coefficients, a product over the axes: the variance of an answer over
 * that of a node.
 */
static double
find_gaussian_axes(const RaceGrid *grid, const double *x, const double *deviations,
				   GaussianAxis *axes)
{
	double squares = 1;

	for (uint32 axis = 0; axis < grid->dims; axis++)
	{
		find_gaussian_axis(grid, axis, x[axis], deviations[axis], &axes[axis]);
		squares *= axes[axis].squares;
	}
	return squares;
}

static void
free_axes(GaussianAxis *axes, uint32 dims)
{
	for (uint32 axis = 0; axis < dims; axis++)
		pfree(axes[axis].splines);
}

/* Return the Gaussian sum of a grid, and its variance: at most that by either level alone. */
static double
gaussian_of_grid(const RaceGridded *gridded, const double *x, const double *deviations,
				 double *variance)
{
	const Level *level = gridded->levels[0];
	const RaceGrid *grid = &level->grid;
	GaussianAxis axes[RACE_GRID_DIMS];
	GaussianAxis second[RACE_GRID_DIMS];
	const double one[3] = {1, 1, 1};
	double squares = find_gaussian_axes(grid, x, deviations, axes);
	double squared_error = 0;
	double sum = sum_gaussian(level, axes, 0, 0, 1, one, &squared_error);

	CHECK_FOR_INTERRUPTS();
	if (gridded->second.nodes > 0)
	{
		squares = Min(squares, find_gaussian_axes(&gridded->second, x, deviations, second));
		free_axes(second, grid->dims);
	}
	for (Size k = 0; k < gridded->masses; k++)
	{
		double place = OUTSIDE_NODES + gridded->mass_places[k] / grid->step[0];

		sum += gridded->mass_records[k] *
			normal_density(grid->lower[0] + place * grid->width[0] - x[0], deviations[0]);
	}
	*variance = WORST_VARIANCE * (gridded->node_variance * squares + squared_error);
	free_axes(axes, grid->dims);
	return sum;
}

/* --------------------------------------------------------------- fitted models */

struct RaceEvaluator
{
	RaceDerived derived;                /* must be first */
	RaceGridded *gridded;               /* grid of the sketch, or NULL */
	RaceModel *model;                   /* model of the sketch; NULL: the fields below are unused */
	RaceColumn columns[RACE_MAX_PARTS]; /* points of the model */
	double *weights;                    /* weights of its points */
	/* differences of their weights by the first and the second half of the rows */
	double *differences;
	RaceRadial *radial; /* table of a kernel that is a function of a distance, or NULL */
	double *places;     /* [radial->dims][points]: places of its points */
	double *place;      /* place of a record */
	RaceRadial *sharp;  /* table of a higher power; NULL before its first use */
	float *residuals;   /* [rows][range]: counters less those of the model */
};

/*
 * Set the residuals: the counters less those of the model.  In a row a point counts as many records
 * as its weight by the other half of the rows.
 */
static void
find_residuals(RaceEvaluator *evaluator, const RaceView *view, MemoryContext context)
{
	const RaceParams *params = evaluator->derived.params;
	bool together = race_rows_together(params);
	uint32 line = together ? TYPEALIGN(RACE_LANES, params->rows) : RACE_LANES;
	uint32 at_once = together ? 1 : RACE_RECORDS_TOGETHER;
	uint32 half = race_model_first_rows(params);
	Size range = params->range;
	uint32 *buckets = palloc_extended((Size) at_once * line * sizeof(uint32), MCXT_ALLOC_HUGE);
	RaceRowsEntry *rows = race_rows_acquire(params);
	RaceColumn columns[RACE_MAX_PARTS];

	PG_TRY();
	{
		evaluator->residuals = MemoryContextAllocExtended(
			context, RaceCounters(params) * sizeof(float), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
		for (Size row = 0; row < params->rows; row += line)
		{
			Size end = Min(row + line, params->rows);

			for (uint64 from = 0; from < evaluator->model->points; from += at_once)
			{
				uint32 n = Min(evaluator->model->points - from, at_once);

				CHECK_FOR_INTERRUPTS();
				for (int k = 0; k < race_params_parts(params); k++)
					columns[k] = race_column_from(&evaluator->columns[k], from);
				if (together)
					race_rows_hash_one(race_rows_of(rows), params->rows, columns, buckets);
				else
					race_rows_hash(race_rows_of(rows), row / RACE_LANES, columns, n, buckets);
				for (uint32 i = 0; i < n; i++)
					for (Size r = row; r < end; r++)
					{
						RaceFold other = r < half ? RACE_FOLD_SECOND : RACE_FOLD_FIRST;

						evaluator->residuals[r * range + buckets[i * line + r - row]] +=
							(float) race_model_weights(evaluator->model, other)[from + i];
					}
			}
			for (Size c = row * range; c < end * range; c++)
				evaluator->residuals[c] =
					(float) ((double) race_counters_get(view->counters, view->width, c) -
							 evaluator->residuals[c]);
		}
	}
	PG_FINALLY();
	{
		race_rows_release(rows);
	}
	PG_END_TRY();
	pfree(buckets);
}

/* Check the model.  It was validated when it came in, but its page may have been damaged since. */
void
race_check_model(const RaceView *view)
{
	if (race_model_problem(view->model, view->model_size, view->params) != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED), errmsg("the model of a race_sketch is damaged")));
}

static void
prepare_model(RaceEvaluator *evaluator, const RaceView *view, MemoryContext context)
{
	const RaceParams *params = evaluator->derived.params;
	RaceModel *model = MemoryContextAllocHuge(context, view->model_size);
	uint64 n = view->model->points;

	race_check_model(view);
	evaluator->model = memcpy(model, view->model, view->model_size);
	race_model_columns(model, params, evaluator->columns);
	evaluator->weights = MemoryContextAlloc(context, n * sizeof(double));
	evaluator->differences = MemoryContextAlloc(context, n * sizeof(double));
	for (uint64 i = 0; i < n; i++)
	{
		evaluator->weights[i] = race_model_weight(model, i);
		evaluator->differences[i] = race_model_weights(model, RACE_FOLD_FIRST)[i] -
			race_model_weights(model, RACE_FOLD_SECOND)[i];
	}
	if (race_radial_can(params))
	{
		evaluator->radial = MemoryContextAlloc(context, sizeof(RaceRadial));
		race_radial_init(evaluator->radial, params);
		evaluator->place = MemoryContextAlloc(context, evaluator->radial->dims * sizeof(double));
		evaluator->places =
			MemoryContextAllocHuge(context, n * evaluator->radial->dims * sizeof(double));
		for (uint64 i = 0; i < n; i++)
			race_radial_place(evaluator->radial, params,
							  evaluator->columns[0].numbers + i * params->dims,
							  evaluator->places + i, n);
	}
	if (evaluator->gridded == NULL)
		find_residuals(evaluator, view, context);
}

RaceEvaluator *
race_evaluator_create(const RaceView *view, MemoryContext context)
{
	RaceEvaluator *evaluator = MemoryContextAllocZero(context, sizeof(RaceEvaluator));

	race_derived_init(&evaluator->derived, view, context);
	if (!race_summary_kind(view->params)->hashed)
		evaluator->gridded = race_gridded_create(view, context);
	if (view->model != NULL)
		prepare_model(evaluator, view, context);
	return evaluator;
}

static void *
create_evaluator(const RaceView *view, void *question, MemoryContext context, Size *size)
{
	RaceEvaluator *evaluator = race_evaluator_create(view, context);

	(void) question;
	*size = MemoryContextMemAllocated(context, true);
	return evaluator;
}

static const RaceDerivedKind evaluator_kind = {"evaluator", create_evaluator, NULL};

RaceEvaluator *
race_evaluator_at(RaceCallSite *site, const RaceView *view)
{
	return race_derived_at(site, &evaluator_kind, view, NULL);
}

const RaceGridded *
race_evaluator_grid(const RaceEvaluator *evaluator)
{
	return evaluator->gridded;
}

/* Sum any kernel, point by point. */
static double
sum_of_kernels(RaceEvaluator *evaluator, const RaceColumn *record, const double *weights)
{
	const RaceParams *params = evaluator->derived.params;
	RaceColumn columns[RACE_MAX_PARTS];
	RaceColumn points[RACE_MAX_PARTS];
	size_t starts[RACE_MAX_PARTS][2];
	double sum = 0;
	int parts = 0;

	for (const RaceParams *part = params; part != NULL;
		 part = race_params_next(part, params), parts++)
	{
		size_t n;
		uint64 *elements;

		columns[parts] = record[parts];
		if (race_record_kind(part) != RACE_RECORD_SET || race_column_is_any(&record[parts]))
			continue;
		/* the elements of a set in order, as the kernel compares them */
		n = record[parts].starts[1] - record[parts].starts[0];
		elements = palloc_extended((n + 1) * sizeof(uint64), MCXT_ALLOC_HUGE);
		memcpy(elements, record[parts].elements + record[parts].starts[0], n * sizeof(uint64));
		race_normalize_set(elements, &n);
		starts[parts][0] = 0;
		starts[parts][1] = n;
		columns[parts].elements = elements;
		columns[parts].starts = starts[parts];
	}
	for (uint64 i = 0; i < evaluator->model->points; i++)
	{
		CHECK_FOR_INTERRUPTS();
		for (int k = 0; k < parts; k++)
			points[k] = race_column_from(&evaluator->columns[k], i);
		sum += weights[i] * race_kernel_value(params, points, columns);
	}
	for (int k = 0; k < parts; k++)
		if (columns[k].elements != record[k].elements)
			pfree((void *) columns[k].elements);
	return sum;
}

static double
sum_with(RaceEvaluator *evaluator, const RaceColumn *record, const double *weights)
{
	if (evaluator->radial == NULL)
		return sum_of_kernels(evaluator, record, weights);
	race_radial_place(evaluator->radial, evaluator->derived.params, record[0].numbers,
					  evaluator->place, 1);
	return race_radial_sum(evaluator->radial, evaluator->place, evaluator->places, weights,
						   evaluator->model->points);
}

double
race_evaluator_sum(RaceEvaluator *evaluator, const RaceColumn *record)
{
	return sum_with(evaluator, record, evaluator->weights);
}

/*
 * Kernels of small powers have long tails: a density of them is flat.  Points are where the
 * records are, so they can be asked with a higher power than the rows.
 */
#define SHARP_POWER 8

bool
race_evaluator_sharp_sum(RaceEvaluator *evaluator, const RaceColumn *record, double *sum)
{
	if (evaluator->radial == NULL || evaluator->gridded != NULL)
		return false;
	if (evaluator->sharp == NULL)
	{
		RaceParams *params = race_params_copy(evaluator->derived.params, CurrentMemoryContext);
		RaceRadial *sharp =
			MemoryContextAlloc(GetMemoryChunkContext(evaluator), sizeof(RaceRadial));

		params->power = Max(params->power, SHARP_POWER);
		race_radial_init(sharp, params);
		evaluator->sharp = sharp;
		pfree(params);
	}
	race_radial_place(evaluator->sharp, evaluator->derived.params, record[0].numbers,
					  evaluator->place, 1);
	*sum = race_radial_sum(evaluator->sharp, evaluator->place, evaluator->places,
						   evaluator->weights, evaluator->model->points);
	return true;
}

double
race_evaluator_disagreement(RaceEvaluator *evaluator, const RaceColumn *record)
{
	return sum_with(evaluator, record, evaluator->differences);
}

double
race_evaluator_gaussian(RaceEvaluator *evaluator, const double *x, double bandwidth, double *peak,
						double *variance)
{
	const RaceParams *params = evaluator->derived.params;
	const RaceModel *model = evaluator->model;
	const double *factors = race_array(params, RACE_ARRAY_BANDWIDTHS);
	double *deviations = palloc(params->dims * sizeof(double));
	double sum = 0;
	double difference = 0;

	*peak = 1;
	for (uint32 i = 0; i < params->dims; i++)
	{
		deviations[i] = bandwidth * (factors == NULL ? 1 : factors[i]);
		*peak *= normal_density(0, deviations[i]);
	}
	if (evaluator->gridded != NULL)
		return gaussian_of_grid(evaluator->gridded, x, deviations, variance);
	for (uint64 p = 0; p < model->points; p++)
	{
		double squares = 0;
		double density;

		CHECK_FOR_INTERRUPTS();
		for (uint32 i = 0; i < params->dims; i++)
			squares += pow(
				(evaluator->columns[0].numbers[p * params->dims + i] - x[i]) / deviations[i], 2);
		density = *peak * exp(-squares / 2);
		sum += evaluator->weights[p] * density;
		difference += evaluator->differences[p] / 2 * density;
	}
	*variance = difference * difference;
	return sum;
}

/* -------------------------------------------------------------- means over rows */

double
race_estimator_mean(const RaceView *view, const RaceEvaluator *fitted, const uint32 *buckets,
					uint32 from, uint32 to)
{
	Size range = view->params->range;
	double sum = 0;

	if (fitted == NULL)
		return race_counters_sum(view->counters, view->width, buckets, from, to, range) /
			(to - from);
	for (uint32 row = from; row < to; row++)
		sum += fitted->residuals[row * range + buckets[row]];
	return sum / (to - from);
}

/*
 * Return the number of blocks.  Blocks are consecutive rows.  Independent rows are a block each.
 * Rows of a Sobol' sequence balance each other, so the variance between them would be far too
 * large; the variance between 16 blocks is only a little too large.  With few rows, blocks are
 * pairs at least.
 */
uint32
race_estimator_blocks(const RaceParams *params, uint32 rows)
{
	if (race_params_sequence(params) == RACE_SEQUENCE_INDEPENDENT)
		return rows;
	return Min(rows, rows < 32 ? 8 : 16);
}

double
race_estimator_variance(const RaceView *view, const RaceEvaluator *fitted, const uint32 *buckets,
						uint32 from, uint32 to, double mean, double least)
{
	uint64 rows = to - from;
	uint32 blocks = race_estimator_blocks(view->params, rows);
	double sum = 0;

	if (blocks < 2)
		return INFINITY;
	for (uint32 i = 0; i < blocks; i++)
	{
		double d = race_estimator_mean(view, fitted, buckets, from + i * rows / blocks,
									   from + (i + 1) * rows / blocks) -
			mean;

		sum += d * d;
	}
	return Max(sum / (blocks - 1) / blocks, least);
}

double
race_correct_collisions(const RaceParams *params, double mean, double n)
{
	double p = race_collision_probability(params);

	return (mean - p * n) / (1 - p);
}

bool
race_rows_hide_errors(const RaceParams *params)
{
	return race_model_moves(params) && !race_model_halves_move(params);
}

RaceRecordCount
race_record_count(const RaceView *view, const RaceGridded *gridded)
{
	RaceRecordCount count = {view->header->count, view->header->noise.count_variance};

	return gridded != NULL ? gridded->count : count;
}

double
race_count_divisor(RaceRecordCount count)
{
	double noise = Min(2 * sqrt(count.variance), (double) RACE_MAX_COUNT);

	return Max(Max(count.n, 1), noise);
}

void
race_check_fitted(const RaceView *view)
{
	if (view->model == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the sketch has no fitted model"),
				 errhint("race_fit makes one. Merging or changing a sketch drops it.")));
}
