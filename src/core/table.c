/*
 * table.c
 *		Tables of counters over columns: cells, weights, coarsening
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "table.h"

/*
 * Grids: the nodes around a record, coarser grids, and the part of a kernel that they sum.
 */

/*
 * A unit is 2^(bits * dims).  Weights along an axis are multiples of 2^halvings, so that
 * positions within the finest cell are rounded to 2^-(bits - halvings) of it.
 */
static const struct
{
	int			bits;
	int			halvings;		/* of a grid whose cells were chosen */
	double		step;			/* and their width, in bandwidths */
}			by_dims[RACE_GRID_DIMS + 1] = {
	{0, 0, 0}, {12, 5, 1.0 / 16}, {8, 4, 1.0 / 8}, {6, 4, 1.0 / 4}
};

#define MIN_POSITION_BITS	2
#define MAX_CELLS			((double) RACE_GRID_NODES)

/* ---------------------------------------------------------------- geometry */

static void
count_nodes(RaceGrid *grid)
{
	double		sum = 0;

	grid->nodes = 1;
	for (uint32_t i = 0; i < grid->dims; i++)
	{
		grid->nodes *= grid->cells[i] + 1;
		sum += grid->step[i] * grid->step[i];
	}
	grid->mean_step = sqrt(sum / grid->dims);
}

/* How often all numbers of cells can be halved, within what units allow */
static uint32_t
count_halvings(const double *cells, uint32_t dims)
{
	uint32_t	most = by_dims[dims].bits - MIN_POSITION_BITS;
	uint32_t	halvings = 0;

	for (; halvings < most; halvings++)
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

	if (params->sequence != RACE_SEQUENCE_GRID)
		return false;
	grid->dims = params->dims;
	grid->halvings = count_halvings(cells, params->dims);
	for (uint32_t i = 0; i < params->dims; i++)
	{
		grid->cells[i] = (uint32_t) cells[i];
		grid->lower[i] = lower[i];
		grid->width[i] = (upper[i] - lower[i]) / cells[i];
		grid->step[i] = grid->width[i] /
			(params->bandwidth * (bandwidths == NULL ? 1 : bandwidths[i]));
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
	double		fine = 1;
	double		coarse = 1;

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
race_grid_choose_cells(const RaceParams *part, const double *bandwidths,
					   const double *lower, const double *upper, double *cells)
{
	double		multiple = 1 << by_dims[part->dims].halvings;
	double		step = by_dims[part->dims].step / part->power;
	double		most = race_kernel_type(part->kernel)->euclidean ?
		(double) RACE_GRID_NODES : (double) RACE_GRID_L1_NODES;
	double		nodes;

	do
	{
		nodes = 1;
		for (uint32_t i = 0; i < part->dims; i++)
		{
			double		width = part->bandwidth * step *
				(bandwidths == NULL ? 1 : bandwidths[i]);

			cells[i] = multiple * fmax(ceil((upper[i] - lower[i]) / (width * multiple)), 1);
			nodes *= cells[i] + 1;
		}
		step *= 1.1;
	} while (nodes > most && isfinite(step));
}

void
race_grid_round_for_halves(RaceParams *params)
{
	double		multiple = 2 << by_dims[params->dims].halvings;
	double	   *cells = (double *) race_array(params, RACE_ARRAY_CELLS);
	double		rounded[2];
	uint64_t	nodes;

	if (params->dims < 1 || params->dims > 2 || race_grid_levels(params) > 1)
		return;
	for (uint32_t i = 0; i < params->dims; i++)
		rounded[i] = multiple * ceil(cells[i] / multiple);
	nodes = race_grid_nodes(rounded, params->dims, 1);
	/* there must be room for coarse cells besides */
	if (race_grid_nodes(rounded, params->dims, RACE_GRID_LEVELS) == 0 ||
		(!race_kernel_type(params->kernel)->euclidean && nodes > RACE_GRID_L1_NODES))
		return;
	memcpy(cells, rounded, params->dims * sizeof(double));
	params->range = (uint32_t) nodes;
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
	uint64_t	nodes;

	if (!race_radial_can(params) || params->dims < 1 || params->dims > RACE_GRID_DIMS)
		return PROBLEM("sequence \"grid\" is for kernels l2 and l1 by themselves, in 1 to %d dims, with powers up to %d",
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

/* The cell of a number along an axis, and how far it is in it, in 2^-bits of its width */
static uint32_t
locate(const RaceGrid *grid, uint32_t axis, double x, int bits, int64_t *position)
{
	double		scale = (double) ((int64_t) 1 << bits);
	double		at = floor((x - grid->lower[axis]) / grid->width[axis] * scale + 0.5);
	double		cell;

	at = fmin(fmax(at, 0), grid->cells[axis] * scale);
	cell = fmin(floor(at / scale), grid->cells[axis] - 1.0);
	*position = (int64_t) (at - cell * scale);
	return (uint32_t) cell;
}

int
race_grid_split(const RaceGrid *grid, const double *x, uint32_t *nodes, int64_t *weights)
{
	int			bits = by_dims[grid->dims].bits - (int) grid->halvings;
	int			n = 1;

	nodes[0] = 0;
	weights[0] = 1;
	for (uint32_t axis = 0; axis < grid->dims; axis++)
	{
		int64_t		position;
		uint32_t	cell = locate(grid, axis, x[axis], bits, &position);
		int64_t		right = position * ((int64_t) 1 << grid->halvings);
		int64_t		left = ((int64_t) 1 << by_dims[grid->dims].bits) - right;

		for (int i = n; i-- > 0;)
		{
			uint32_t	node = nodes[i] * (grid->cells[axis] + 1) + cell;

			nodes[2 * i + 1] = node + 1;
			weights[2 * i + 1] = weights[i] * right;
			nodes[2 * i] = node;
			weights[2 * i] = weights[i] * left;
		}
		n *= 2;
	}
	return n;
}

int
race_grid_split_halvings(const RaceGrid *grid)
{
	int			most = by_dims[grid->dims].bits;
	int			steps = RACE_GRID_STEPS;

	for (; steps > 1; steps >>= grid->dims)
		most--;
	return most < (int) grid->halvings ? most : (int) grid->halvings;
}

void
race_grid_divide(const RaceGrid *grid, const RacePortion *portion, const int64_t *weights,
				 int n, int64_t *up)
{
	int64_t		step = (int64_t) 1 << race_grid_split_halvings(grid) * grid->dims;
	int64_t		steps = 0;		/* before this weight */

	for (int i = 0; i < n; steps += weights[i++] / step)
		up[i] = (race_dither_round(portion, steps + weights[i] / step) -
				 race_dither_round(portion, steps)) * step;
}

/*
 * Coarsen along one axis: lines of n + 1 nodes become lines of n / 2 + 1.  What comes
 * before the axis is `outer` lines, what comes after it is `inner` nodes side by side.
 */
#define DEFINE_COARSEN_AXIS(coarsen_axis, type, half) \
coarsen_axis(const type *in, type *out, uint64_t outer, uint64_t n, uint64_t inner) \
{ \
	uint64_t	o, k, j; \
	for (o = 0; o < outer; o++) \
		for (k = 0; k <= n / 2; k++) \
			for (j = 0; j < inner; j++) \
			{ \
				const type *middle = in + (o * (n + 1) + 2 * k) * inner + j; \
				type		sides = 0; \
				if (k > 0) \
					sides += middle[-(int64_t) inner]; \
				if (k < n / 2) \
					sides += middle[inner]; \
				out[(o * (n / 2 + 1) + k) * inner + j] = *middle + half(sides); \
			} \
}

#define DEFINE_COARSEN(coarsen, coarsen_axis, type) \
void \
coarsen(const RaceGrid *fine, const type *in, type *out) \
{ \
	uint64_t	outer = 1; \
	uint64_t	inner = fine->nodes; \
	uint32_t	axis; \
	for (axis = 0; axis < fine->dims; axis++) \
	{ \
		race_look_for_interrupts(); \
		inner /= fine->cells[axis] + 1; \
		coarsen_axis(axis == 0 ? in : out, out, outer, fine->cells[axis], inner); \
		outer *= fine->cells[axis] / 2 + 1; \
	} \
}

#define HALF_OF_INTEGER(x)	((x) / 2)
#define HALF_OF_REAL(x)		((x) * 0.5)
void DEFINE_COARSEN_AXIS(race_grid_coarsen_axis, int64_t, HALF_OF_INTEGER)
static void DEFINE_COARSEN_AXIS(coarsen_axis_real, double, HALF_OF_REAL)
DEFINE_COARSEN(race_grid_coarsen, race_grid_coarsen_axis, int64_t)
DEFINE_COARSEN(race_grid_coarsen_real, coarsen_axis_real, double)

/* ------------------------------------------------------------------ kernel */

/*
 * The kernel without its peak: within RACE_GRID_REACH steps it is a polynomial in the square
 * of the distance, which meets the kernel there with two derivatives.
 */
double
race_grid_smooth(const RaceParams *params, double step, double distance)
{
	double		a = RACE_GRID_REACH * step;
	double		e = 1.0 / 64;	/* this and all that follows in parts of a, which may be huge */
	double		at = distance / a;
	double		k[3];
	double		slope;
	double		curve;
	double		fourth;
	double		second;

	if (distance >= a)			/* step 0 has no smooth part */
		return race_kernel_at(params, distance);
	for (int i = 0; i < 3; i++)
		k[i] = race_kernel_at(params, a * (1 + (i - 1) * e));
	slope = (k[2] - k[0]) / (2 * e);
	curve = (k[2] - 2 * k[1] + k[0]) / (e * e);
	fourth = (curve - slope) / 8;
	second = (slope - 4 * fourth) / 2;
	return k[1] + second * (at * at - 1) + fourth * (pow(at, 4) - 1);
}

/* --------------------------------------------------------------- counting */

static void
add_weights(RaceCounterArray array, const uint32_t *nodes, const int64_t *weights, int n,
			int64_t weight)
{
	for (int i = 0; i < n; i++)
		race_counters_add(array.counters, array.width, nodes[i], weight * weights[i]);
}

void
race_count_in_grid(const RaceParams *params, const double *x, size_t n, int64_t weight,
				   const RacePortion *portions, RaceCounterArray counters,
				   RaceCounterArray upper)
{
	RaceGrid	grid;

	race_grid_of(params, &grid);
	for (size_t i = 0; i < n; i++)
	{
		uint32_t	nodes[RACE_GRID_CORNERS];
		int64_t		weights[RACE_GRID_CORNERS];
		int64_t		up[RACE_GRID_CORNERS];
		int			corners = race_grid_split(&grid, x + i * grid.dims, nodes, weights);

		add_weights(counters, nodes, weights, corners, weight);
		if (portions == NULL)
			continue;
		race_grid_divide(&grid, &portions[i], weights, corners, up);
		add_weights(counters, nodes, up, corners, -weight);
		add_weights(upper, nodes, up, corners, weight);
	}
}
