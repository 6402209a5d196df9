/*
 * table.c
 *		Tables of counters over columns: cells, weights, coarsening, and the choice of a resolution under noise
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "privacy/integers.h"
#include "privacy/interrupt.h"
#include "hash/table.h"
#include "choice/summary.h"

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

	if (params->kind != RACE_KIND_GRID)
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

	/* bound: the step is 1.1 times as wide each time, while it is a double: some thousands */
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

	/* bound: a part of the steps is left each time, as grid->dims is 1 at least */
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

	/* bound: n */
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


/*
 * Grids: what a release may keep of one, and which errors that promises.
 */

bool
race_grid_allows(const RaceParams *params, RaceGridChoice choice)
{
	RaceGrid	grid;
	double		cells[RACE_GRID_DIMS];

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
	double	   *cells = (double *) race_array(params, RACE_ARRAY_CELLS);

	for (uint32_t i = 0; i < params->dims; i++)
		cells[i] /= 1 << choice.halvings;
	params->range = (uint32_t) race_grid_nodes(cells, params->dims, choice.levels);
}

/* ---------------------------------------------------------- expected errors */

/* The number of bandwidths^dims in a shell of radius 1: its area, or that of l1 */
static double
shell_area(const RaceParams *params)
{
	static const double euclidean[] = {0, 2, 2 * RACE_PI, 4 * RACE_PI};
	static const double along_axes[] = {0, 2, 4, 4};

	return (race_kernel_type(params->kernel)->euclidean ? euclidean : along_axes)[params->dims];
}

/*
 * What share of pairs that are r apart lies in a ball of the same volume as the box, whose
 * radius is 1, if one end does: the covariogram of a ball
 */
static double
inside(uint32_t dims, double r)
{
	double		half = r / 2;

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
 * Sums over nodes, of a part of the kernel and of its square: integrals over shells, seen from the middle of a ball
 * that has the volume of the box, or from anywhere in it.  The part is smooth from the step `from` on, without
 * what is smooth from `less` on, if that is not 0.
 */
#define SHELLS	128

typedef struct KernelSums
{
	double		values;
	double		squares;
} KernelSums;

static KernelSums
sum_kernel(const RaceParams *params, const RaceGrid *grid, RaceGridPlace place, double from, double less)
{
	double		area = shell_area(params);
	double		cell = 1;
	double		box = 1;
	double		radius;
	double		farthest;
	KernelSums	sums = {0, 0};

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
		double		r = farthest * pow((j + 0.5) / SHELLS, 3);
		double		nodes = area * pow(r, grid->dims - 1.0) / cell *
			farthest * (pow((j + 1.0) / SHELLS, 3) - pow((double) j / SHELLS, 3));
		double		k = race_grid_smooth(params, from, r) - (less > 0 ? race_grid_smooth(params, less, r) : 0);

		if (place == RACE_GRID_ANYWHERE)
			nodes *= inside(grid->dims, r / radius);
		sums.values += k * nodes;
		sums.squares += k * k * nodes;
	}
	return sums;
}

/*
 * Least squares of two levels (evaluator.c) leave the noise of the fine one where a kernel changes within coarse cells.
 * Where it is smooth from this part of their width on, they have the information of the fine nodes and of coarse ones, each of
 * which is worth several fine ones.  The variance is then .77 to 1.2 times the exact one, for cells of an eighth to two bandwidths.
 */
#define SMOOTH_PART		(2.0 / 3)

double
race_grid_noise_variance(const RaceParams *params, RaceGridChoice choice, RaceGridPlace place,
						 double counter_variance, double count_variance)
{
	RaceGrid	grid;
	double		unit = (double) race_grid_unit(params);
	double		node_variance = counter_variance / (unit * unit);
	double		smooth = 0;
	double		worth = 1;		/* of all nodes there, in fine ones of their noise */
	double		of_sum;
	double		sum;
	KernelSums	sums;

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
	sum = (sums.squares - sums.values * sums.values / grid.nodes * of_sum / (of_sum + count_variance)) / worth;
	if (choice.levels > 1)
		sum += sum_kernel(params, &grid, place, 0, smooth).squares;
	return sum * node_variance;
}

/*
 * What the projection leaves of a kernel sum (evaluator.c) falls with the fourth power of the
 * cells where records lie smoothly, and with the first where they share a few places.  It is
 * expected to be so much of a typical answer for cells of a bandwidth, and to fall with such a
 * power.  Of those that were tried, these made errors least on 14 made tables.  In one dimension,
 * fine cells cost little, and numbers are often round.  The peak of l1 is sharper.
 */
static const struct
{
	double		of_bandwidth;
	double		power;
}			bias_by_dims[RACE_GRID_DIMS + 1] = {{0, 0}, {0.025, 2}, {0.01, 2.5}, {0.01, 2.5}};

#define L1_BIAS			2

/*
 * Where records lie on a line, or are whole numbers, it was up to so much.  With .025 intervals of skin held 91 %.  In
 * two dimensions the nodes tell the rest (evaluator.c).
 */
static const double most_bias[RACE_GRID_DIMS + 1] = {0, 0.025, 0.003, 0.04};
static const double most_power[RACE_GRID_DIMS + 1] = {0, 2, 3, 2};

static double
bias_of(const RaceParams *params, RaceGridChoice choice, double of_bandwidth, double power)
{
	RaceGrid	grid;

	race_grid_of(params, &grid);
	return of_bandwidth * (race_kernel_type(params->kernel)->euclidean ? 1 : L1_BIAS) *
		pow(grid.mean_step * (1 << choice.halvings) *
			params->power, power);
}

double
race_grid_bias(const RaceParams *params, RaceGridChoice choice)
{
	return bias_of(params, choice, bias_by_dims[params->dims].of_bandwidth,
				   bias_by_dims[params->dims].power);
}

double
race_grid_most_bias(const RaceParams *params)
{
	RaceGridChoice as_it_is = {0, 1};

	return bias_of(params, as_it_is, most_bias[params->dims], most_power[params->dims]);
}

/* ------------------------------------------------------ errors by a look */

/*
 * A kernel sum changes by about this for each wavelet that is lost, in steps: between .02 and .05
 * on 37 made tables.  And by this at bounds, where half hats are moved, in squares of steps.
 */
static const double of_wavelet[RACE_GRID_DIMS + 1] = {0, 0.032, 0.045, 0.05};
static const double of_bounds[RACE_GRID_DIMS + 1] = {0, 0.03, 0.05, 0.07};

/* Details are multiplied by this when the noisy look is read. */
#define TIMES_DETAIL	6.0

/* The cells after so many halvings; steps are in parts of the bandwidth where a kernel is sharper. */
static RaceGrid
halved(const RaceParams *params, int halvings)
{
	double		sharpness = params->power;
	RaceGrid	grid;

	race_grid_of(params, &grid);
	while (halvings-- > 0)
		race_grid_halve(&grid);
	for (uint32_t i = 0; i < grid.dims; i++)
		grid.step[i] *= sharpness;
	grid.mean_step *= sharpness;
	return grid;
}

static double
peak_of(const RaceParams *params)
{
	return race_kernel_type(params->kernel)->euclidean ? 1 : L1_BIAS;
}

/*
 * What cells after so many halvings change in a kernel sum, as a root mean square over the box, for each record of a
 * detail that the last halving loses
 */
static double
loss_of_detail(const RaceParams *params, int halvings)
{
	RaceGrid	grid = halved(params, halvings);
	double		wavelets = 1;

	for (uint32_t i = 0; i < grid.dims; i++)
		wavelets *= 2.0 * grid.cells[i];
	return of_wavelet[grid.dims] * peak_of(params) * grid.mean_step / TIMES_DETAIL / sqrt(wavelets);
}

/* The same near the bounds, for each record of a table that is uniform */
static double
loss_at_bounds(const RaceParams *params, int halvings)
{
	RaceGrid	grid = halved(params, halvings);
	double		box = 1;
	double		near_bounds = 0;

	for (uint32_t i = 0; i < grid.dims; i++)
	{
		box *= grid.step[i] * grid.cells[i];
		near_bounds += 2.0 / grid.cells[i];
	}
	return of_bounds[grid.dims] * peak_of(params) * grid.mean_step * grid.mean_step *
		sqrt(near_bounds) / box;
}

/*
 * Grids: what coarser cells lose of the exact nodes.
 *
 * A level without every other node loses what is orthogonal to its hats.  Along a line, the
 * functions that are linear between fine nodes and orthogonal to all coarse hats are sums of
 * wavelets with the weights 1, -6, 10, -6, 1, and -12, 11, -6, 1 from a bound on (Chui & Wang 1992).
 * So the products of these weights with fine nodes tell what is lost along an axis.  They are
 * integers, multiplied by 6 within and by 4 at the bounds; along other axes, nodes are coarse.
 *
 * Sensitivity (doc/privacy.md): all is linear, and a record is a mean of nodes.  So it changes the
 * norm of all products by at most what a whole node does.
 */

#define TAPS			5
#define TAPS_AT_BOUND	4

static const int within[TAPS] = {6, -36, 60, -36, 6};
static const int at_bound[TAPS_AT_BOUND] = {-48, 44, -24, 4};

/* Fewer cells have no wavelets of this form. */
#define LEAST_CELLS		4

/*
 * The most that the norm changes if a node does by a unit, rounded up, by dims: 3672 squared is a
 * node in the middle of a wavelet, 2592 one between two, where nodes along other axes count in
 * full.  So it is the root of 3672, 2 * 2592 and 3 * 2592.
 */
static const uint32_t most_detail[RACE_GRID_DIMS + 1] = {0, 61, 72, 89};

/* The factor by which the other norm counts, in which a node is one unit: enough to tell it apart */
static const uint32_t times_spread[RACE_GRID_DIMS + 1] = {0, 0, 0, 30};

/* Nodes and products beyond count as these, so that sums stay within 64 bits, of roots, and 128. */
#define MOST_NODE		(INT64_C(1) << 48)
#define MOST_PRODUCT	(INT64_C(1) << 51)

bool
race_grid_looks_at(const RaceParams *params, int halvings)
{
	RaceGrid	grid;

	race_grid_of(params, &grid);
	if (halvings < 1 || halvings > (int) grid.halvings)
		return false;
	for (uint32_t i = 0; i < grid.dims; i++)
		if (grid.cells[i] >> (halvings - 1) < LEAST_CELLS)
			return false;
	return true;
}

uint64_t
race_grid_look_weight(const RaceParams *params)
{
	return race_grid_looks_at(params, 1) ? most_detail[params->dims] + times_spread[params->dims] : 0;
}

static int64_t
clamp(__int128 x, int64_t most)
{
	return (int64_t) (x > most ? most : x < -most ? -most : x);
}

/* The product of one wavelet, which begins at a node, with a line */
static int64_t
product(const int64_t *from, int64_t step, const int *taps, int n)
{
	__int128	sum = 0;

	for (int i = 0; i < n; i++)
		sum += (__int128) from[i * step] * taps[i];
	return clamp(sum, MOST_PRODUCT);
}

/*
 * The wavelets of a line of n + 1 nodes, whose neighbours are `step` apart: n / 2 products, one for each
 * coarse cell, in place of its first nodes.  The nodes of a product come after those before it.
 */
static void
products_of_line(int64_t *line, int64_t step, uint64_t n)
{
	int64_t		last = product(line + n * step, -step, at_bound, TAPS_AT_BOUND);
	uint64_t	k;

	line[0] = product(line, step, at_bound, TAPS_AT_BOUND);
	for (k = 1; k < n / 2 - 1; k++)
		line[k * step] = product(line + (2 * k - 1) * step, step, within, TAPS);
	line[k * step] = last;
}

static unsigned __int128
square(int64_t x)
{
	return (unsigned __int128) ((__int128) x * x);
}

/*
 * The sum of squares of the details along an axis: of products with its wavelets, after one more halving of the
 * others.  They lie in lines that come after `outer` nodes, with `inner` lines beside each other.
 */
static unsigned __int128
squares_along(const RaceGrid *grid, uint32_t axis, const int64_t *nodes, int64_t *space)
{
	uint64_t	length = grid->cells[axis] + 1;
	uint64_t	before = 1;
	uint64_t	outer = 1;
	uint64_t	inner = grid->nodes;
	unsigned __int128 sum = 0;

	memcpy(space, nodes, grid->nodes * sizeof(int64_t));
	for (uint32_t i = 0; i < grid->dims; i++)
	{
		race_look_for_interrupts();
		inner /= grid->cells[i] + 1;
		if (i == axis)
			outer = before;
		else
			race_grid_coarsen_axis(space, space, before, grid->cells[i], inner);
		before *= (i == axis ? grid->cells[i] : grid->cells[i] / 2) + 1;
	}
	inner = before / outer / length;	/* what comes after the axis is coarse now */
	for (uint64_t o = 0; o < outer; o++)
	{
		int64_t    *line = space + o * length * inner;

		for (uint64_t j = 0; j < inner; j++)
			products_of_line(line + j, inner, grid->cells[axis]);
		for (uint64_t j = 0; j < grid->cells[axis] / 2 * inner; j++)
			sum += square(line[j]);
	}
	return sum;
}

static uint64_t
norm_in_units(unsigned __int128 squares, uint64_t times, uint64_t unit)
{
	return (uint64_t) ((unsigned __int128) race_integer_root(squares) * times / unit);
}

void
race_grid_look(const RaceParams *params, int halvings, int64_t *nodes, int64_t *space,
			   RaceGridLook *look)
{
	uint64_t	unit = race_grid_unit(params);
	unsigned __int128 detail = 0;
	unsigned __int128 spread = 0;
	RaceGrid	grid;

	race_grid_of(params, &grid);
	for (uint64_t i = 0; i < grid.nodes; i++)
		nodes[i] = clamp(nodes[i], MOST_NODE);
	for (; halvings > 1; halvings--)
	{
		race_grid_coarsen(&grid, nodes, nodes);
		race_grid_halve(&grid);
	}
	for (uint32_t axis = 0; axis < grid.dims; axis++)
		detail += squares_along(&grid, axis, nodes, space);
	race_grid_coarsen(&grid, nodes, nodes);
	race_grid_halve(&grid);
	for (uint64_t i = 0; times_spread[grid.dims] > 0 && i < grid.nodes; i++)
		spread += square(clamp(nodes[i], MOST_PRODUCT));
	look->detail = norm_in_units(detail, 1, unit);
	look->spread = norm_in_units(spread, times_spread[grid.dims], unit);
}

/*
 * Which cells of a grid a release keeps.
 *
 * Fine cells have more noise in a kernel sum, and coarse ones lose more of the table.  How much
 * that is depends on the table: a flat one loses nothing for cells that a line cannot do with.  So a
 * pure release looks at what cells a little coarser than usual would lose, with noise, and takes
 * those whose error is then expected to be least.  What follows from noisy numbers and public ones is post-processing.
 */

#define MOST_CELLS		32		/* more than there are choices of halvings and levels */

/* All that a release may keep of a grid, and the variance of noise in a kernel sum then */
typedef struct Cells
{
	int			n;
	RaceSelection selection[MOST_CELLS];
	double		noise[MOST_CELLS];
	RaceSelection usual;		/* the best of tables as they usually are; */
	int			halvings;		/* the best of one level, */
	double		loss;			/* and what these tables are expected to lose then */
} Cells;

static void
list_cells(const RaceRequest *request, const RaceParams *params, double mass, Cells *cells)
{
	const RaceSummaryKind *kind = race_summary_kind(params);
	RaceSelection selection = {1, {0, 1}, 0, NULL};
	double		least = INFINITY;

	cells->n = 0;
	cells->usual = selection;
	for (; selection.grid.levels <= RACE_GRID_LEVELS; selection.grid.levels++)
	{
		/* bound: MOST_CELLS */
		for (selection.grid.halvings = 0; race_grid_allows(params, selection.grid) &&
			 cells->n < MOST_CELLS; selection.grid.halvings++)
		{
			double		noise = race_selection_noise(request, params, selection);
			double		variance = noise + kind->sampling(request, params, selection, mass);

			cells->selection[cells->n] = selection;
			cells->noise[cells->n++] = noise;
			if (variance < least)
			{
				least = variance;
				cells->usual = selection;
			}
		}
		if (selection.grid.levels == 1)
		{
			cells->halvings = cells->usual.grid.halvings;
			cells->loss = sqrt(kind->sampling(request, params, cells->usual, mass));
		}
	}
}

RaceSelection
race_grid_choose(const RaceRequest *request, const RaceParams *params, double mass)
{
	Cells		cells;

	list_cells(request, params, mass, &cells);
	return cells.usual;
}

/* What was seen after so many halvings, with discrete Laplace noise of a scale, which is given as a real number */
typedef struct Seen
{
	int			halvings;
	double		detail;			/* as in RaceGridLook */
	double		spread;
	double		scale;
} Seen;

/*
 * Look at what the last of so many halvings loses: of one sketch, or of the sum of n halves, which is the whole.  It costs
 * what the plan says whatever is seen.  `nodes` has twice as many numbers as there are nodes.
 */
static Seen
look_at_grid(RaceRandom *random, const RaceExact *exact, int n, const RacePlan *plan, int halvings,
			 int64_t *nodes)
{
	size_t		range = exact->params->range;
	int64_t    *space = nodes + range;
	RaceMechanism mechanism = (RaceMechanism) plan->noise.mechanism;
	double		digits = ldexp(1, -(int) plan->weight_bits);	/* of weights */
	Seen		seen = {.halvings = halvings, .scale = (double) plan->choice_noise / RACE_SCALE_DENOMINATOR * digits};
	RaceGridLook look;

	race_counters_load(exact->counters, exact->width, 0, range, nodes);
	for (int i = 1; i < n; i++)
	{
		race_counters_load(exact[i].counters, exact[i].width, 0, range, space);
		for (size_t k = 0; k < range; k++)
			nodes[k] = race_clamped_sum(nodes[k], space[k]);
	}
	race_grid_look(exact->params, halvings, nodes, space, &look);
	seen.detail = digits * race_clamped_sum(race_noisy(random, (int64_t) look.detail, mechanism, plan->choice_noise), 0);
	seen.spread = digits * race_clamped_sum(race_noisy(random, (int64_t) look.spread, mechanism, plan->choice_noise), 0);
	return seen;
}

/*
 * Losses are A 2^(p h) after h halvings: A is lognormal around what is usual, and p is any of these.
 * A smooth table loses with the fourth power of cells, few places with the first.
 */
#define FACTORS			73		/* of A, from 2^-9 to 2^9 */
#define STEPS			4		/* to the next power of 2 */
#define DEVIATION		2.0		/* of its logarithm to base 2 */

static const double powers[] = {1, 1.5, 2, 2.5, 3, 4};

#define POWERS			((int) (sizeof(powers) / sizeof(powers[0])))

/* What is seen is the true loss but for such a part, beside its noise. */
#define OFF				0.2

typedef struct Losses
{
	double		usual;			/* on average over the box, after `from` halvings */
	int			from;
	double		concentration;	/* of records, at least */
	double		weight[FACTORS][POWERS];	/* a posteriori; they add up to 1 */
} Losses;

static double
factor_of(int factor)
{
	return exp2((double) (factor - FACTORS / 2) / STEPS);
}

static double
loss(const Losses *losses, int factor, int power, int halvings)
{
	return losses->usual * factor_of(factor) *
		exp2(powers[power] * (halvings - losses->from));
}

/*
 * Half of all questions are taken to be asked where records are.  So many times as much as on average
 * over the box is lost there, or as much more often as records lie closer together.
 */
#define USUAL_CONCENTRATION		(3.3 * 3.3)

/* The square of losses where questions are asked, over that on average over the box */
static double
where_asked(double concentration)
{
	return (1 + concentration) / 2;
}

/*
 * The square of the root mean square of nodes over their mean, if it is seen.  In two and three dimensions
 * records are often near a line, which may lose little.
 */
static double
concentration(const RaceParams *params, const Seen *seen, double records)
{
	double		times = times_spread[params->dims];
	double		norm = times == 0 ? 0 : fmax((seen->spread - seen->scale) / times, 0);
	RaceGrid	grid;

	race_grid_of(params, &grid);
	for (int i = 0; i < seen->halvings; i++)
		race_grid_halve(&grid);
	return fmax(pow(norm / records, 2) * grid.nodes, params->dims > 1 ? USUAL_CONCENTRATION : 1);
}

/* What a table loses, whose usual loss is `usual` after so many halvings, by what was seen of it */
static void
infer_losses(Losses *losses, const RaceParams *params, const Cells *cells, const Seen *seen, double records, double part)
{
	double		seen_loss = loss_of_detail(params, seen->halvings) * part;
	double		scale = hypot(seen->scale, OFF * seen->detail);
	double		most = -INFINITY;
	double		sum = 0;

	losses->usual = cells->loss / sqrt(where_asked(USUAL_CONCENTRATION));
	losses->from = cells->halvings;
	losses->concentration = concentration(params, seen, records);
	for (int i = 0; i < FACTORS; i++)
		for (int j = 0; j < POWERS; j++)
		{
			double		off = (double) (i - FACTORS / 2) / STEPS / DEVIATION;
			double		detail = loss(losses, i, j, seen->halvings) / seen_loss;

			losses->weight[i][j] = -off * off / 2 - fabs(seen->detail - detail) / scale;
			most = fmax(most, losses->weight[i][j]);
		}
	for (int i = 0; i < FACTORS; i++)
		for (int j = 0; j < POWERS; j++)
			sum += losses->weight[i][j] = exp(losses->weight[i][j] - most);
	for (int i = 0; i < FACTORS; i++)
		for (int j = 0; j < POWERS; j++)
			losses->weight[i][j] /= sum;
}

/*
 * The expected error: a root, so that great losses that are unlikely do not decide.  A table that loses less than usual
 * has its records less close together: the square of what is lost grows with their concentration.
 */
static double
expected_error(const Losses *losses, RaceGridChoice choice, double variance)
{
	double		sum = 0;

	for (int i = 0; i < FACTORS; i++)
	{
		double		less = fmin(pow(factor_of(i), 2), 1);
		double		where = where_asked(fmax(losses->concentration, 1 + (USUAL_CONCENTRATION - 1) * less));

		for (int j = 0; j < POWERS; j++)
		{
			double		lost = loss(losses, i, j, choice.halvings);

			sum += losses->weight[i][j] * sqrt(variance + where * lost * lost);
		}
	}
	return sum;
}

/*
 * A mean of values is a ratio of sums.  Its error is largest where there are few records, and what
 * cells change is the same in both sums and nearly cancels.  So cells are chosen as for sums of
 * this part of a usual one.  On 6 real and 9 made tables these parts came near the best histogram
 * where others were farther from it: of 1/6 to 1/24 in one dimension, of 1/4 to 1/100 in two, of 1/16
 * to 1/100 in three, where smaller ones serve sharp edges and larger ones what is smooth.
 */
static const double part_of_halves[RACE_GRID_DIMS + 1] = {0, 1.0 / 12, 1.0 / 8, 1.0 / 100};

RaceSelection
race_grid_select(RaceRandom *random, const RaceExact *exact, int n, const RaceRequest *request,
				 const RacePlan *plan, double records, int64_t *workspace)
{
	const RaceParams *params = exact->params;
	double		part = exact->is_half ? part_of_halves[params->dims] : 1;
	double		least = INFINITY;
	RaceSelection best;
	RaceGrid	grid;
	Losses		losses;
	Cells		cells;
	int			halvings;

	list_cells(request, params, race_usual_mass(records) * part, &cells);

	/*
	 * In two and three dimensions what is seen is large beside its noise from the next coarser cells
	 * on.  In one dimension, where numbers are often round, it is better to see what the usual cells lose.
	 */
	halvings = params->dims > 1 ? cells.halvings + 1 : cells.halvings > 1 ? cells.halvings : 1;
	/* bound: one halving less each time */
	while (halvings > 0 && !race_grid_looks_at(params, halvings))
		halvings--;
	best = cells.usual;
	if (plan->choice_noise > 0 && halvings > 0)
	{
		Seen		seen = look_at_grid(random, exact, n, plan, halvings, workspace);

		infer_losses(&losses, params, &cells, &seen, records, part);
		for (int i = 0; i < cells.n; i++)
		{
			RaceGridChoice choice = cells.selection[i].grid;
			double		error = expected_error(&losses, choice, cells.noise[i] +
											   pow(loss_at_bounds(params, choice.halvings) * records * part, 2));

			if (error < least)
			{
				least = error;
				best = cells.selection[i];
			}
		}
	}

	/* halves of a grid are exact in fewer halvings */
	race_grid_of(params, &grid);
	halvings = race_grid_split_halvings(&grid) - RACE_GRID_LEVEL_HALVINGS * (best.grid.levels - 1);
	if (exact->is_half && best.grid.halvings > halvings)
		best.grid.halvings = halvings;
	return best;
}
