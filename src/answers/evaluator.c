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
#include "answers/cell_errors.h"
#include "answers/evaluator.h"
#include "answers/grid_kernels.h"
#include "answers/point_masses.h"
#include "answers/radial.h"
#include "answers/radial_cache.h"

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

/* ---------------------------------------------------------------- grids: levels */

/* The nodes of a level */
typedef struct RaceGridLevel
{
	RaceGrid grid;   /* nodes; after projection wider by RACE_OUTSIDE_NODES at each bound */
	double *records; /* [nodes]: records; after projection coefficients of splines */
	double *nodes;   /* records before projection, without those outside of the bounds */
	double sum;      /* sum of nodes */
	double noise;    /* variance of the noise of a node, in records */
	const RaceGridKernel *kernel; /* the part of the kernel that the level sums */
} Level;

/* Add the level of the next kernel. */
static Level *
add_level(RaceGridded *gridded, double *records, double noise, MemoryContext context)
{
	Level *level = MemoryContextAllocZero(context, sizeof(Level));

	level->kernel = &gridded->kernels->levels[gridded->n_levels];
	level->grid = level->kernel->grid;
	level->records = records;
	level->noise = noise;
	gridded->levels[gridded->n_levels++] = level;
	return level;
}

#define HALVING_NOISE 1.5 /* variance of the noise of a coarser node, for each axis */

/* Add coarser levels, whose nodes follow from finer ones. */
static void
derive_levels(RaceGridded *gridded, MemoryContext context)
{
	while (gridded->n_levels < gridded->kernels->n)
	{
		const Level *last = gridded->levels[gridded->n_levels - 1];
		uint64 n = gridded->kernels->levels[gridded->n_levels].grid.nodes;
		double *space = palloc_extended(last->grid.nodes * sizeof(double), MCXT_ALLOC_HUGE);
		double *records = MemoryContextAllocHuge(context, n * sizeof(double));

		race_grid_coarsen_real(&last->grid, last->records, space);
		add_level(gridded, memcpy(records, space, n * sizeof(double)),
				  last->noise * pow(HALVING_NOISE, last->grid.dims), context);
		pfree(space);
	}
}

/*
 * In coarser cells than this, a cluster is often narrower than a cell, and looks like a point mass.
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

	if (params->dims != 1 || level->grid.mean_step * params->power > COARSEST_FOR_MASSES)
		return;
	masses = palloc_extended((n / 3 + 1) * sizeof(RacePointMass), MCXT_ALLOC_HUGE);
	space = palloc_extended(n * sizeof(double), MCXT_ALLOC_HUGE);
	gridded->masses =
		race_point_masses_take(level->records, n, gridded->node_variance, masses, space);
	if (gridded->masses > 0)
	{
		gridded->mass_kernel = race_radial_of(params, context);
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

static const uint32 outside[RACE_GRID_DIMS] = {RACE_OUTSIDE_NODES, RACE_OUTSIDE_NODES,
											   RACE_OUTSIDE_NODES};

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

	for (Size k = 0; k < wide->nodes; k++)
		level->sum += nodes[k];
	level->records = extend_grid(wide, RACE_OUTSIDE_NODES, outside, nodes, context);
	level->nodes = nodes;
	stride = wide->nodes;
	for (uint32 axis = 0; axis < wide->dims; axis++)
	{
		Size block = stride;

		stride /= wide->cells[axis] + 1;
		for (Size from = 0; from < wide->nodes; from += block)
		{
			CHECK_FOR_INTERRUPTS();
			for (Size i = 0; i < stride; i++)
				race_project_line(level->records + from + i, stride, wide->cells[axis] + 1);
		}
	}
}

/* Make the levels of a grid from its nodes. */
static void
make_levels(RaceGridded *gridded, const RaceView *view, double *nodes, MemoryContext context)
{
	add_level(gridded, nodes, gridded->node_variance, context);
	take_point_masses(gridded, view, context);
	derive_levels(gridded, context);
	for (int i = 0; i < gridded->n_levels; i++)
		project_level(gridded->levels[i], context);
}

RaceGridded *
race_gridded_create(const RaceView *view, MemoryContext context)
{
	RaceGridded *gridded = MemoryContextAllocZero(context, sizeof(RaceGridded));
	double unit = (double) race_record_unit(view->params);
	double node_variance = view->header->noise.counter_variance / (unit * unit);
	RaceGridChoice choice = {0, race_grid_levels(view->params)};
	Level stored[RACE_GRID_LEVELS] = {0};

	gridded->noise_variance = race_grid_noise_variance(view->params, choice, RACE_GRID_MIDDLE,
													   view->header->noise.counter_variance,
													   view->header->noise.count_variance);
	gridded->node_variance = node_variance;
	gridded->rounding = race_grid_rounding(view->params);
	gridded->kernels = race_grid_kernels(view->params, context);
	gridded->count = load_levels(view, node_variance, stored, choice.levels, context);
	if (choice.levels > 1)
	{
		combine_levels(&stored[0], &stored[1]);
		add_up_to(&stored[0], gridded->count.n);
		gridded->second = stored[1].grid;
		widen_grid(&gridded->second, RACE_OUTSIDE_NODES, outside);
	}
	make_levels(gridded, view, stored[0].records, context);
	return gridded;
}

/* Set the place of a question in cells of a level, which is wider than the bounds. */
static void
place_in_level(const Level *level, const double *x, double *at)
{
	for (uint32 axis = 0; axis < level->grid.dims; axis++)
	{
		at[axis] = (x[axis] - level->grid.lower[axis]) / level->grid.width[axis];
		at[axis] = Min(Max(at[axis], RACE_OUTSIDE_NODES),
					   level->grid.cells[axis] - (double) RACE_OUTSIDE_NODES);
	}
}

/*
 * Nodes determine how many records a point mass has, and their mean place, but not whether they
 * share it.  If they lie at both nodes of its cell, a sum changes by the difference of the kernel
 * and what is linear between these nodes; if evenly, by about half of that, which an interval
 * contains.
 */
#define SPREAD_OF_MASS (1.0 / 3)

/* Return the variance of the sum of point masses at a place in bandwidths from the first node. */
static double
variance_of_masses(const RaceGridded *gridded, double place)
{
	double step = gridded->levels[0]->grid.step[0];
	const RaceRadial *kernel = gridded->mass_kernel;
	double variance = 0;

	for (size_t i = 0; i < gridded->masses; i++)
	{
		double mass = gridded->mass_places[i];
		double node = floor(mass / step) * step;
		double right = (mass - node) / step;
		double before = race_radial_value(kernel, fabs(node - place));
		double after = race_radial_value(kernel, fabs(node + step - place));
		double at = race_radial_value(kernel, fabs(mass - place));
		double spread = SPREAD_OF_MASS * (before + right * (after - before) - at);
		double move = gridded->rounding * (after - before) / step;

		variance += pow(gridded->mass_records[i], 2) * (spread * spread + move * move);
	}
	return variance;
}

double
race_gridded_variance(const RaceGridded *gridded, const double *x)
{
	double variance = gridded->noise_variance;
	double whole = 0;
	double uneven = 0;
	double moved[RACE_GRID_DIMS] = {0};
	double all_moved = 0;

	for (int i = 0; i < gridded->n_levels; i++)
	{
		const Level *level = gridded->levels[i];
		double at[RACE_GRID_DIMS];
		double move = gridded->rounding / level->kernel->grid.mean_step;
		RaceCellChange change;

		place_in_level(level, x, at);
		for (uint32 axis = 0; axis < level->grid.dims; axis++)
			at[axis] -= RACE_OUTSIDE_NODES;
		change =
			race_cell_change(level->kernel, level->nodes, level->sum, level->noise, at, &uneven);
		if (i == 0)
			variance += variance_of_masses(gridded, at[0] * level->grid.step[0]);
		variance += change.cells + change.planes + move * move * change.moves;
		whole += change.whole;
		for (uint32 axis = 0; axis < level->grid.dims; axis++)
			moved[axis] += move * change.whole_move[axis];
	}
	for (int axis = 0; axis < RACE_GRID_DIMS; axis++)
		all_moved += fabs(moved[axis]);
	variance += all_moved * all_moved;
	return variance + whole * whole;
}

/* Sum the kernel over all nodes in reach, axis by axis.  `at` is the place in cells. */
static double
sum_axes(const Level *level, const double *at, uint32 axis, uint64 node, double across)
{
	const RaceGrid *grid = &level->grid;
	const RaceGridKernel *kernel = level->kernel;
	double step = grid->step[axis];
	double reach = kernel->kernel->euclidean && isfinite(kernel->reach) ?
		sqrt(Max(kernel->reach * kernel->reach - across, 0)) :
		kernel->reach;
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
							across + (kernel->kernel->euclidean ? x * x : fabs(x)));
		return sum;
	}
	if (kernel->by_square == NULL)
		return race_radial_sum_line(kernel->kernel, x, step, across, level->records + node, n);
	for (uint32 i = 0; i < n; i++)
	{
		double d = x + (double) (int) i * step;
		double entry = (across + d * d) * kernel->squares;
		const double *value = kernel->by_square + (int) entry;

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
			double place = (at[0] - RACE_OUTSIDE_NODES) * level->grid.step[0];

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
	race_project_line(coefficients, 1, axis->n);
	axis->squares = 0;
	for (uint32 k = 0; k < axis->n; k++)
	{
		uint32 node = axis->from + k;

		if (node < RACE_OUTSIDE_NODES || node > cells - RACE_OUTSIDE_NODES)
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
		double place = RACE_OUTSIDE_NODES + gridded->mass_places[k] / grid->step[0];

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
	const RaceRadial *radial; /* table of a kernel that is a function of a distance, or NULL */
	double *places;           /* [radial->dims][points]: places of its points */
	double *place;            /* place of a record */
	const RaceRadial *sharp;  /* table of a higher power; NULL before its first use */
	float *residuals;         /* [rows][range]: counters less those of the model */
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
		evaluator->radial = race_radial_of(params, context);
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

		params->power = Max(params->power, SHARP_POWER);
		evaluator->sharp = race_radial_of(params, GetMemoryChunkContext(evaluator));
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
