/*
 * projection.c
 *		What the nodes of a grid say of a kernel sum.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "projection.h"

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
static const double outer_half[RACE_PROJECT_OUTSIDE] = {13.0 / 12, -5.0 / 6, 1.0 / 4};

static void
take_outer_halves(double *line, Size stride, uint32 cells)
{
	double	   *last = line + cells * stride;
	int			i;

	for (i = 0; i < RACE_PROJECT_OUTSIDE; i++)
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

uint32
race_project_outside(const RaceGrid *grid, bool peak)
{
	uint32		axis;

	for (axis = 0; axis < grid->dims; axis++)
		if (grid->cells[axis] + 1 < lengthof(inner_nodes))
			return RACE_PROJECT_OUTSIDE;
	return peak ? RACE_PROJECT_OUTSIDE : 0;
}

void
race_project_grid(const RaceGrid *grid, uint32 outside, RaceGrid *wide)
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

void
race_project_nodes(const RaceGrid *grid, const double *nodes, const RaceGrid *wide, double *out)
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

void
race_project_kernel(const RaceGrid *grid, const RaceRadial *kernel, RaceRadial *projected)
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
