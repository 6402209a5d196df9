/*
 * table.c
 *		Tables of counters over columns: cells, weights, coarsening, and the choice of a
 *		resolution under noise
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "privacy/count.h"
#include "privacy/counters.h"
#include "privacy/exact.h"
#include "privacy/integers.h"
#include "privacy/interrupt.h"
#include "privacy/nodes.h"
#include "hash/kernel.h"
#include "hash/params.h"
#include "hash/table.h"

/*
 * Grids: the nodes around a record, coarser grids, and the part of a kernel that they sum.
 */

/*
 * A unit is 2^(bits * dims).  Weights are multiples of a step, 2^(halvings * dims), so that halved
 * cells have whole ones.
 */
static const struct
{
	int bits;
	int halvings; /* halvings of a grid whose cells were chosen */
	int most;     /* most halvings of any grid */
	double step;  /* width of cells that were chosen, in bandwidths */
} by_dims[RACE_GRID_DIMS + 1] = {{0, 0, 0, 0},
								 {12, 5, 6, 1.0 / 16},
								 {8, 4, 5, 1.0 / 8},
								 {6, 4, 4, 1.0 / 4}};

#define MAX_CELLS ((double) RACE_GRID_NODES)

/* ---------------------------------------------------------------- geometry */

static void
count_nodes(RaceGrid *grid)
{
	double sum = 0;

	grid->nodes = 1;
	for (uint32_t i = 0; i < grid->dims; i++)
	{
		grid->nodes *= grid->cells[i] + 1;
		sum += grid->step[i] * grid->step[i];
	}
	grid->mean_step = sqrt(sum / grid->dims);
}

/* Return how often all numbers of cells can be halved, within what positions allow. */
static uint32_t
count_halvings(const double *cells, uint32_t dims)
{
	uint32_t halvings = 0;

	for (; halvings < (uint32_t) by_dims[dims].most; halvings++)
		for (uint32_t i = 0; i < dims; i++)
			if (((uint64_t) cells[i] >> halvings) % 2 != 0)
				return halvings;
	return halvings;
}

bool
race_grid_of(const RaceParams *params, RaceGrid *grid)
{
	const double *cells = race_array(params, RACE_ARRAY_CELLS);
	const double *lower = race_array(params, RACE_ARRAY_LOWER);
	const double *upper = race_array(params, RACE_ARRAY_UPPER);
	const double *bandwidths = race_array(params, RACE_ARRAY_BANDWIDTHS);

	if (params->kind != RACE_KIND_GRID)
		return false;
	grid->dims = params->dims;
	grid->halvings = count_halvings(cells, params->dims);
	for (uint32_t i = 0; i < params->dims; i++)
	{
		grid->cells[i] = (uint32_t) cells[i];
		grid->lower[i] = lower[i];
		grid->width[i] = (upper[i] - lower[i]) / cells[i];
		grid->step[i] =
			grid->width[i] / (params->bandwidth * (bandwidths == NULL ? 1 : bandwidths[i]));
	}
	count_nodes(grid);
	return true;
}

void
race_grid_halve(RaceGrid *grid)
{
	for (uint32_t i = 0; i < grid->dims; i++)
	{
		grid->cells[i] /= 2;
		grid->width[i] *= 2;
		grid->step[i] *= 2;
	}
	grid->halvings--;
	count_nodes(grid);
}

uint64_t
race_grid_nodes(const double *cells, uint32_t dims, int levels)
{
	double fine = 1;
	double coarse = 1;

	for (uint32_t i = 0; i < dims; i++)
	{
		if (!(cells[i] >= 1 && cells[i] <= MAX_CELLS) || cells[i] != floor(cells[i]))
			return 0;
		fine *= cells[i] + 1;
		coarse *= floor(cells[i] / RACE_GRID_FACTOR) + 1;
	}
	if (levels == 1)
		coarse = 0;
	else if (count_halvings(cells, dims) < 2)
		return 0;
	return fine + coarse <= (double) RACE_GRID_NODES ? (uint64_t) (fine + coarse) : 0;
}

int
race_grid_levels(const RaceParams *params)
{
	const double *cells = race_array(params, RACE_ARRAY_CELLS);

	return params->range == race_grid_nodes(cells, params->dims, 1) ? 1 : 2;
}

uint64_t
race_grid_unit(const RaceParams *params)
{
	return (uint64_t) 1 << (by_dims[params->dims].bits * params->dims);
}

/* ------------------------------------------------------------------ limits */

void
race_grid_choose_cells(const RaceParams *part, const double *bandwidths, const double *lower,
					   const double *upper, double *cells)
{
	double multiple = 1 << by_dims[part->dims].halvings;
	double step = by_dims[part->dims].step / part->power;
	double most = race_kernel_type(part->kernel)->euclidean ? (double) RACE_GRID_NODES :
															  (double) RACE_GRID_L1_NODES;
	double nodes;

	/* bound: the step is 1.1 times as wide each time, while it is a double: some thousands */
	do
	{
		nodes = 1;
		for (uint32_t i = 0; i < part->dims; i++)
		{
			double width = part->bandwidth * step * (bandwidths == NULL ? 1 : bandwidths[i]);

			cells[i] = multiple * fmax(ceil((upper[i] - lower[i]) / (width * multiple)), 1);
			nodes *= cells[i] + 1;
		}
		step *= 1.1;
	} while (nodes > most && isfinite(step));
}

bool
race_radial_can(const RaceParams *params)
{
	return race_params_next(params, params) == NULL && params->power <= RACE_RADIAL_POWER &&
		race_kernel_type(params->kernel)->of_distance != NULL;
}

#define PROBLEM(...) (snprintf(message, length, __VA_ARGS__), message)

const char *
race_grid_problem(const RaceParams *params, char *message, size_t length)
{
	const double *cells = race_array(params, RACE_ARRAY_CELLS);
	const double *lower = race_array(params, RACE_ARRAY_LOWER);
	const double *upper = race_array(params, RACE_ARRAY_UPPER);
	uint64_t nodes;

	if (!race_radial_can(params) || params->dims < 1 || params->dims > RACE_GRID_DIMS)
		return PROBLEM(
			"sequence \"grid\" is for kernels l2 and l1 by themselves, in 1 to %d dims, powers up to %d",
			RACE_GRID_DIMS, RACE_RADIAL_POWER);
	if (lower == NULL || upper == NULL || cells == NULL ||
		(params->arrays & (RACE_ARRAY_MATRIX | RACE_ARRAY_OFFSET)) != 0)
		return PROBLEM("sequence \"grid\" needs lower and upper bounds, and has no transform");
	for (uint32_t i = 0; i < params->dims; i++)
		if (!isfinite(lower[i]) || !isfinite(upper[i]) || !(lower[i] < upper[i]) ||
			!isfinite(upper[i] - lower[i]))
			return PROBLEM("sequence \"grid\" needs finite bounds, the lower below the upper");
	nodes = race_grid_nodes(cells, params->dims, 1);
	if (nodes == 0)
		return PROBLEM("cells must be whole numbers from 1 on, with at most %llu nodes",
					   (unsigned long long) RACE_GRID_NODES);
	if (params->rows != 1 || params->rehash != RACE_REHASH_FOLD)
		return PROBLEM("a grid has 1 row, which is not rehashed");
	if (params->range != nodes &&
		params->range != race_grid_nodes(cells, params->dims, RACE_GRID_LEVELS))
		return PROBLEM("the range of a grid must be the number of its nodes");
	return NULL;
}

/* ---------------------------------------------------------------- counting */

/* A position in a cell is a multiple of 2^-POSITION_BITS of its width. */
#define POSITION_BITS 20

/* Return the cell of a number along an axis, and set its position in it. */
static uint32_t
locate_cell(const RaceGrid *grid, uint32_t axis, double x, int64_t *position)
{
	double scale = (double) ((int64_t) 1 << POSITION_BITS);
	double at = floor((x - grid->lower[axis]) / grid->width[axis] * scale + 0.5);
	double cell;

	at = fmin(fmax(at, 0), grid->cells[axis] * scale);
	cell = fmin(floor(at / scale), grid->cells[axis] - 1.0);
	*position = (int64_t) (at - cell * scale);
	return (uint32_t) cell;
}

/* Return how many of so many steps are right of a position, rounded. */
static int64_t
steps_right(int64_t steps, int64_t position)
{
	int64_t half = (int64_t) 1 << (POSITION_BITS - 1);

	return (steps * position + half) >> POSITION_BITS;
}

/*
 * Weights are products of positions, in steps.  What goes right along an axis is rounded for all
 * weights together, as running totals are: so the mean place of a record is exact to half a step.
 */
int
race_grid_split(const RaceGrid *grid, const double *x, uint32_t *nodes, int64_t *weights)
{
	int bits = (by_dims[grid->dims].bits - (int) grid->halvings) * (int) grid->dims;
	int n = 1;

	nodes[0] = 0;
	weights[0] = (int64_t) 1 << bits;
	for (uint32_t axis = 0; axis < grid->dims; axis++)
	{
		int64_t position;
		uint32_t cell = locate_cell(grid, axis, x[axis], &position);
		int64_t steps = (int64_t) 1 << bits; /* of this weight and those before it */

		for (int i = n; i-- > 0;)
		{
			uint32_t node = nodes[i] * (grid->cells[axis] + 1) + cell;
			int64_t weight = weights[i];
			int64_t right = steps_right(steps, position) - steps_right(steps - weight, position);

			steps -= weight;
			nodes[2 * i + 1] = node + 1;
			weights[2 * i + 1] = right;
			nodes[2 * i] = node;
			weights[2 * i] = weight - right;
		}
		n *= 2;
	}
	for (int i = 0; i < n; i++)
		weights[i] *= (int64_t) 1 << grid->halvings * grid->dims;
	return n;
}

/* Return the nodes alone. */
static RaceNodes
nodes_of(const RaceGrid *grid)
{
	RaceNodes nodes = {.dims = grid->dims};

	for (uint32_t i = 0; i < grid->dims; i++)
		nodes.cells[i] = grid->cells[i];
	return nodes;
}

void
race_grid_coarsen(const RaceGrid *fine, const int64_t *in, int64_t *out)
{
	RaceNodes nodes = nodes_of(fine);

	race_nodes_coarsen(&nodes, in, out);
}

void
race_grid_coarsen_real(const RaceGrid *fine, const double *in, double *out)
{
	RaceNodes nodes = nodes_of(fine);

	race_nodes_coarsen_real(&nodes, in, out);
}

/* ------------------------------------------------------------------ kernel */

/*
 * Return the kernel without its peak: within RACE_GRID_REACH steps it is a polynomial in the square
 * of the distance, which meets the kernel there with two derivatives.
 */
RaceGridSmooth
race_grid_smooth(const RaceParams *params, double step)
{
	double e = 1.0 / 64; /* a 64th of the reach, which may be huge; so is all that follows */
	RaceGridSmooth smooth = {.params = params, .reach = RACE_GRID_REACH * step};
	double k[3];
	double slope;
	double curve;

	for (int i = 0; i < 3; i++)
		k[i] = race_kernel_at(params, smooth.reach * (1 + (i - 1) * e));
	slope = (k[2] - k[0]) / (2 * e);
	curve = (k[2] - 2 * k[1] + k[0]) / (e * e);
	smooth.edge = k[1];
	smooth.fourth = (curve - slope) / 8;
	smooth.second = (slope - 4 * smooth.fourth) / 2;
	return smooth;
}

/* Return the smooth part at a distance in bandwidths. */
double
race_grid_smooth_at(const RaceGridSmooth *smooth, double distance)
{
	double square;

	if (distance >= smooth->reach) /* step 0 has no polynomial */
		return race_kernel_at(smooth->params, distance);
	square = distance / smooth->reach;
	square *= square;
	return smooth->edge + smooth->second * (square - 1) + smooth->fourth * (square * square - 1);
}

/* --------------------------------------------------------------- counting */

void
race_grid_shape(const RaceParams *params, RaceShape *shape)
{
	RaceGrid grid;

	race_grid_of(params, &grid);
	*shape = (RaceShape){.blocks = 1,
						 .unit = race_grid_unit(params),
						 .range = (uint32_t) grid.nodes,
						 .nodes = nodes_of(&grid),
						 .halvings = grid.halvings};
}

void
race_count_in_grid(const RaceParams *params, const double *x, size_t n, int64_t weight,
				   RaceCounterArray counters)
{
	RaceShape shape;
	RaceGrid grid;

	race_grid_of(params, &grid);
	race_grid_shape(params, &shape);
	for (size_t i = 0; i < n; i++)
	{
		uint32_t nodes[RACE_GRID_CORNERS];
		int64_t weights[RACE_GRID_CORNERS];
		int corners = race_grid_split(&grid, x + i * grid.dims, nodes, weights);

		race_count_split(&shape, nodes, weights, corners, weight, counters);
	}
}

/*
 * Grids: what a release may keep of one, and which errors that promises.
 */

bool
race_grid_allows(const RaceParams *params, RaceGridChoice choice)
{
	RaceGrid grid;
	double cells[RACE_GRID_DIMS];

	race_grid_of(params, &grid);
	if (choice.levels > 1 && !race_kernel_type(params->kernel)->euclidean)
		return false;
	if (grid.halvings < (uint32_t) choice.halvings + (choice.levels > 1 ? 2 : 0))
		return false;
	/* two levels of the finest cells may be too many nodes */
	for (uint32_t i = 0; i < grid.dims; i++)
		cells[i] = grid.cells[i] >> choice.halvings;
	return race_grid_nodes(cells, grid.dims, choice.levels) > 0;
}

void
race_grid_apply(RaceParams *params, RaceGridChoice choice)
{
	double *cells = (double *) race_array(params, RACE_ARRAY_CELLS);

	for (uint32_t i = 0; i < params->dims; i++)
		cells[i] /= 1 << choice.halvings;
	params->range = (uint32_t) race_grid_nodes(cells, params->dims, choice.levels);
}

/* ---------------------------------------------------------- expected errors */

/* Return the number of bandwidths^dims in a shell of radius 1: its area, or that of l1. */
static double
shell_area(const RaceParams *params)
{
	static const double euclidean[] = {0, 2, 2 * RACE_PI, 4 * RACE_PI};
	static const double along_axes[] = {0, 2, 4, 4};

	return (race_kernel_type(params->kernel)->euclidean ? euclidean : along_axes)[params->dims];
}

/*
 * Return what share of pairs that are r apart lies in a ball of the same volume as the box, whose
 * radius is 1, if one end does: the covariogram of a ball.
 */
static double
share_inside(uint32_t dims, double r)
{
	double half = r / 2;

	if (half >= 1)
		return 0;
	switch (dims)
	{
		case 1:
			return 1 - half;
		case 2:
			return 2 / RACE_PI * (acos(half) - half * sqrt(1 - half * half));
		default:
			return 1 - 1.5 * half + 0.5 * half * half * half;
	}
}

/*
 * Sums over nodes, of a part of the kernel and of its square: integrals over shells, seen from the
 * middle of a ball that has the volume of the box, or from anywhere in it.  The part is smooth from
 * the step `from` on, without what is smooth from `less` on, if that is not 0.
 */
#define SHELLS 128

typedef struct KernelSums
{
	double values;
	double squares;
} KernelSums;

static KernelSums
sum_kernel(const RaceParams *params, const RaceGrid *grid, RaceGridPlace place, double from,
		   double less)
{
	double area = shell_area(params);
	double cell = 1;
	double box = 1;
	double radius;
	double farthest;
	RaceGridSmooth smooth = race_grid_smooth(params, from);
	RaceGridSmooth smoother = race_grid_smooth(params, less);
	KernelSums sums = {0, 0};

	for (uint32_t i = 0; i < grid->dims; i++)
	{
		cell *= grid->step[i];
		box *= grid->step[i] * grid->cells[i];
	}
	radius = pow(box * grid->dims / area, 1.0 / grid->dims);
	farthest = place == RACE_GRID_MIDDLE ? radius : 2 * radius;
	for (int j = 0; j < SHELLS; j++)
	{
		/* shells are thinner near the middle */
		double r = farthest * pow((j + 0.5) / SHELLS, 3);
		double nodes = area * pow(r, grid->dims - 1.0) / cell * farthest *
			(pow((j + 1.0) / SHELLS, 3) - pow((double) j / SHELLS, 3));
		double k =
			race_grid_smooth_at(&smooth, r) - (less > 0 ? race_grid_smooth_at(&smoother, r) : 0);

		if (place == RACE_GRID_ANYWHERE)
			nodes *= share_inside(grid->dims, r / radius);
		sums.values += k * nodes;
		sums.squares += k * k * nodes;
	}
	return sums;
}

/*
 * Least squares of two levels (evaluator.c) leave the noise of the fine one where a kernel changes
 * within coarse cells.  Where it is smooth from this part of their width on, they have the
 * information of the fine nodes and of coarse ones, each of which is worth several fine ones.  It
 * is a part of the width of a coarse cell, chosen so that this variance is near the exact one; no
 * script here compares them.
 */
#define SMOOTH_PART (2.0 / 3)

double
race_grid_noise_variance(const RaceParams *params, RaceGridChoice choice, RaceGridPlace place,
						 double counter_variance, double count_variance)
{
	RaceGrid grid;
	double unit = (double) race_grid_unit(params);
	double node_variance = counter_variance / (unit * unit);
	double smooth = 0;
	double worth = 1; /* information of the nodes at a place, in fine nodes with their noise */
	double of_sum;
	double sum;
	KernelSums sums;

	if (counter_variance == 0)
		return 0;
	race_grid_of(params, &grid);
	for (int i = 0; i < choice.halvings; i++)
		race_grid_halve(&grid);
	if (choice.levels > 1)
	{
		smooth = SMOOTH_PART * RACE_GRID_FACTOR * grid.mean_step;
		worth += pow(RACE_GRID_FACTOR, grid.dims);
	}

	/* the count tells how much noise all nodes have together */
	sums = sum_kernel(params, &grid, place, smooth, 0);
	of_sum = grid.nodes * node_variance / worth;
	sum = (sums.squares -
		   sums.values * sums.values / grid.nodes * of_sum / (of_sum + count_variance)) /
		worth;
	if (choice.levels > 1)
		sum += sum_kernel(params, &grid, place, 0, smooth).squares;
	return sum * node_variance;
}

/*
 * What the projection leaves of a kernel sum (evaluator.c) falls with the fourth power of the
 * cells where records lie smoothly, and with the first where they share a few places.  It is
 * expected to be such a part of a typical answer for cells of a bandwidth, and to fall with such a
 * power: a prior, which no script here prints.  In one dimension, fine cells cost little, and
 * numbers are often round.  The peak of l1 is sharper.
 */
static const struct
{
	double of_bandwidth;
	double power;
} bias_by_dims[RACE_GRID_DIMS + 1] = {{0, 0}, {0.025, 2}, {0.01, 2.5}, {0.01, 2.5}};

double
race_grid_bias(const RaceParams *params, RaceGridChoice choice)
{
	RaceGrid grid;

	race_grid_of(params, &grid);
	return bias_by_dims[params->dims].of_bandwidth *
		(race_kernel_type(params->kernel)->euclidean ? 1 : RACE_L1_BIAS) *
		pow(grid.mean_step * (1 << choice.halvings) * params->power,
			bias_by_dims[params->dims].power);
}

/*
 * Positions are rounded to parts of the cells that a grid is built with, evenly.  A release may have
 * halved their number since: so often at most as any grid can be halved.
 */
double
race_grid_rounding(const RaceParams *params)
{
	RaceGrid grid;
	int most;

	race_grid_of(params, &grid);
	most = by_dims[grid.dims].most;
	return ldexp(grid.mean_step,
				 (int) grid.halvings - most + (most - by_dims[grid.dims].bits) * (int) grid.dims) /
		sqrt(12);
}
