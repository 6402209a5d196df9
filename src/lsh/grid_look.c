/*
 * grid_look.c
 *		Grids: what coarser cells lose of the exact nodes.
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
#include "grid.h"

#include <math.h>
#include <string.h>

#include "integer_root.h"

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

/* A node is one unit in the other norm, which counts so many times: enough to tell it apart. */
static const uint32_t times_spread[RACE_GRID_DIMS + 1] = {0, 0, 0, 30};

/* Nodes and products beyond count as these, so that sums stay within 64 bits, of roots, and 128. */
#define MOST_NODE		(INT64_C(1) << 48)
#define MOST_PRODUCT	(INT64_C(1) << 51)

bool
race_grid_looks_at(const RaceParams *params, int halvings)
{
	RaceGrid	grid;
	uint32_t	i;

	race_grid_of(params, &grid);
	if (halvings < 1 || halvings > (int) grid.halvings)
		return false;
	for (i = 0; i < grid.dims; i++)
		if (grid.cells[i] >> (halvings - 1) < LEAST_CELLS)
			return false;
	return true;
}

uint32_t
race_grid_look_weight(const RaceParams *params)
{
	return race_grid_looks_at(params, 1) ? most_detail[params->dims] + times_spread[params->dims] : 0;
}

double
race_grid_spread_of(const RaceParams *params, double spread)
{
	return times_spread[params->dims] == 0 ? 0 : spread / times_spread[params->dims];
}

static int64_t
clamp(__int128 x, int64_t most)
{
	return (int64_t) (x > most ? most : x < -most ? -most : x);
}

void
race_grid_clamp(int64_t *nodes, uint64_t n)
{
	uint64_t	i;

	for (i = 0; i < n; i++)
		nodes[i] = clamp(nodes[i], MOST_NODE);
}

/* The product of one wavelet, which begins at a node, with a line */
static int64_t
product(const int64_t *from, int64_t step, const int *taps, int n)
{
	__int128	sum = 0;
	int			i;

	for (i = 0; i < n; i++)
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

void
race_grid_details(const RaceGrid *grid, uint32_t axis, const int64_t *nodes, int64_t *space,
				  RaceGridLines *lines)
{
	uint64_t	outer = 1;
	uint64_t	inner = grid->nodes;
	uint32_t	i;
	uint64_t	o;
	uint64_t	j;

	memcpy(space, nodes, grid->nodes * sizeof(int64_t));
	for (i = 0; i < grid->dims; i++)
	{
		race_look_for_interrupts();
		inner /= grid->cells[i] + 1;
		if (i == axis)
			lines->outer = outer;
		else
			race_grid_coarsen_axis(space, space, outer, grid->cells[i], inner);
		outer *= (i == axis ? grid->cells[i] : grid->cells[i] / 2) + 1;
	}
	/* what comes after the axis is coarse now */
	lines->length = grid->cells[axis] + 1;
	lines->inner = outer / lines->outer / lines->length;
	for (o = 0; o < lines->outer; o++)
		for (j = 0; j < lines->inner; j++)
			products_of_line(space + o * lines->length * lines->inner + j, lines->inner,
							 grid->cells[axis]);
}

static unsigned __int128
square(int64_t x)
{
	return (unsigned __int128) ((__int128) x * x);
}

static unsigned __int128
squares_along(const RaceGrid *grid, uint32_t axis, const int64_t *nodes, int64_t *space)
{
	RaceGridLines lines;
	unsigned __int128 sum = 0;
	uint64_t	o;
	uint64_t	i;

	race_grid_details(grid, axis, nodes, space, &lines);
	for (o = 0; o < lines.outer; o++)
		for (i = 0; i < grid->cells[axis] / 2 * lines.inner; i++)
			sum += square(space[o * lines.length * lines.inner + i]);
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
	uint64_t	i;
	uint32_t	axis;

	race_grid_of(params, &grid);
	race_grid_clamp(nodes, grid.nodes);
	for (; halvings > 1; halvings--)
	{
		race_grid_coarsen(&grid, nodes, nodes);
		race_grid_halve(&grid);
	}
	for (axis = 0; axis < grid.dims; axis++)
		detail += squares_along(&grid, axis, nodes, space);
	race_grid_coarsen(&grid, nodes, nodes);
	race_grid_halve(&grid);
	for (i = 0; times_spread[grid.dims] > 0 && i < grid.nodes; i++)
		spread += square(clamp(nodes[i], MOST_PRODUCT));
	look->detail = norm_in_units(detail, 1, unit);
	look->spread = norm_in_units(spread, times_spread[grid.dims], unit);
}

/* A product has so many times the variance of a node, and a node that two others were joined to */
#define OF_PRODUCT	(2.0 * 6 * 6 + 2.0 * 36 * 36 + 60.0 * 60)
#define OF_JOINED	1.5

double
race_grid_detail_noise(uint32_t dims, double node_variance)
{
	return OF_PRODUCT * pow(OF_JOINED, dims - 1.0) * node_variance;
}
