/*
 * look.c
 *		Noisy norms of exact counters, by which a release chooses what it keeps
 */
#include <string.h>

#include "privacy/counters.h"
#include "privacy/exact_fields.h"
#include "privacy/integers.h"
#include "privacy/interrupt.h"
#include "privacy/look.h"
#include "privacy/payment.h"

/* ----------------------------------------------------------------- details */

/*
 * What coarser cells lose of the exact nodes.
 *
 * A level without every other node loses what is orthogonal to its hats.  Along a line, the
 * functions that are linear between fine nodes and orthogonal to all coarse hats are sums of
 * wavelets with the weights 1, -6, 10, -6, 1, and -12, 11, -6, 1 from a bound on (Chui & Wang
 * 1992).  So the products of these weights with fine nodes tell what is lost along an axis.  They
 * are integers, multiplied by 6 within and by 4 at the bounds; along other axes, nodes are coarse.
 *
 * Sensitivity (doc/privacy.md): all is linear, and a record is a mean of nodes.  So it changes the
 * norm of all products by at most what a whole node does.
 */

#define TAPS 5
#define TAPS_AT_BOUND 4

static const int within[TAPS] = {6, -36, 60, -36, 6};
static const int at_bound[TAPS_AT_BOUND] = {-48, 44, -24, 4};

/* Fewer cells have no wavelets of this form. */
#define LEAST_CELLS 4

/*
 * The most that the norm changes if a node does by a unit, rounded up, by dims: 3672 squared is a
 * node in the middle of a wavelet, 2592 one between two, where nodes along other axes count in
 * full.  So it is the root of 3672, 2 * 2592 and 3 * 2592.
 */
static const uint32_t most_detail[RACE_NODES_AXES + 1] = {0, 61, 72, 89};

/*
 * The factor by which the other norm counts, in which a node is one unit: enough to tell it apart
 */
static const uint32_t times_spread[RACE_NODES_AXES + 1] = {0, 0, 0, 30};

/* Nodes and products beyond count as these, so that sums stay within 64 bits, of roots, and 128. */
#define MOST_NODE (INT64_C(1) << 48)
#define MOST_PRODUCT (INT64_C(1) << 51)

bool
race_can_look(const RaceShape *shape, int halvings)
{
	if (halvings < 1 || halvings > (int) shape->halvings)
		return false;
	for (uint32_t i = 0; i < shape->nodes.dims; i++)
		if (shape->nodes.cells[i] >> (halvings - 1) < LEAST_CELLS)
			return false;
	return shape->nodes.dims > 0;
}

uint64_t
race_details_change(const RaceShape *shape)
{
	uint32_t dims = shape->nodes.dims;

	return race_can_look(shape, 1) ? most_detail[dims] + times_spread[dims] : 0;
}

uint32_t
race_spread_factor(uint32_t dims)
{
	return times_spread[dims];
}

/* Return the product of one wavelet, which begins at a node, with a line. */
static int64_t
wavelet_product(const int64_t *from, int64_t step, const int *taps, int n)
{
	__int128 sum = 0;

	for (int i = 0; i < n; i++)
		sum += (__int128) from[i * step] * taps[i];
	return race_clamped(sum, MOST_PRODUCT);
}

/*
 * Replace the first nodes of a line of n + 1 nodes by the products with its n / 2 wavelets, one for
 * each coarse cell.  Nodes are `step` apart.  The nodes of a product come after those before it.
 */
static void
transform_line(int64_t *line, int64_t step, uint64_t n)
{
	int64_t last = wavelet_product(line + n * step, -step, at_bound, TAPS_AT_BOUND);
	uint64_t k;

	line[0] = wavelet_product(line, step, at_bound, TAPS_AT_BOUND);
	for (k = 1; k < n / 2 - 1; k++)
		line[k * step] = wavelet_product(line + (2 * k - 1) * step, step, within, TAPS);
	line[k * step] = last;
}

static unsigned __int128
square(int64_t x)
{
	return (unsigned __int128) ((__int128) x * x);
}

/*
 * Return the sum of squares of the details along an axis: of products with its wavelets, after one
 * more halving of the others.  They lie in lines that come after `outer` nodes, with `inner` lines
 * beside each other.
 */
static unsigned __int128
squares_along(const RaceNodes *grid, uint32_t axis, const int64_t *nodes, int64_t *space)
{
	uint64_t length = grid->cells[axis] + 1;
	uint64_t before = 1;
	uint64_t outer = 1;
	uint64_t inner = race_nodes_count(grid);
	unsigned __int128 sum = 0;

	memcpy(space, nodes, race_nodes_count(grid) * sizeof(int64_t));
	for (uint32_t i = 0; i < grid->dims; i++)
	{
		race_look_for_interrupts();
		inner /= grid->cells[i] + 1;
		if (i == axis)
			outer = before;
		else
			race_nodes_coarsen_axis(space, space, before, grid->cells[i], inner);
		before *= (i == axis ? grid->cells[i] : grid->cells[i] / 2) + 1;
	}
	inner = before / outer / length; /* what comes after the axis is coarse now */
	for (uint64_t o = 0; o < outer; o++)
	{
		int64_t *line = space + o * length * inner;

		for (uint64_t j = 0; j < inner; j++)
			transform_line(line + j, inner, grid->cells[axis]);
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

static void
load_nodes(const RaceExact *exact, int64_t *nodes)
{
	uint64_t n = race_nodes_count(&exact->shape->nodes);

	race_counters_load(exact->counters, exact->width, 0, n, nodes);
	for (uint64_t i = 0; i < n; i++)
		nodes[i] = race_clamped(nodes[i], MOST_NODE);
}

/* Return the exact numbers.  Nodes are changed, and `space` has as many. */
static RaceDetails
exact_details(const RaceShape *shape, int halvings, int64_t *nodes, int64_t *space)
{
	RaceNodes grid = shape->nodes;
	unsigned __int128 detail = 0;
	unsigned __int128 spread = 0;

	for (; halvings > 1; halvings--)
	{
		race_nodes_coarsen(&grid, nodes, nodes);
		race_nodes_halve(&grid);
	}
	for (uint32_t axis = 0; axis < grid.dims; axis++)
		detail += squares_along(&grid, axis, nodes, space);
	race_nodes_coarsen(&grid, nodes, nodes);
	race_nodes_halve(&grid);
	for (uint64_t i = 0; times_spread[grid.dims] > 0 && i < race_nodes_count(&grid); i++)
		spread += square(race_clamped(nodes[i], MOST_PRODUCT));
	return (RaceDetails){(int64_t) norm_in_units(detail, 1, shape->unit),
						 (int64_t) norm_in_units(spread, times_spread[grid.dims], shape->unit)};
}

uint64_t
race_look_details(RaceAccount *account, const RaceExact *exact, int halvings, double price,
				  RaceSpace *space, RaceDetails *noisy)
{
	size_t n = race_nodes_count(&exact->shape->nodes);
	int64_t *nodes = race_space_numbers(exact, space, 2 * n);
	bool draws = race_draws(account, exact);
	uint64_t noise = !race_can_look(exact->shape, halvings) || (draws && nodes == NULL) ?
		0 :
		race_pay(account, price, race_change_of_score(account, race_details_change(exact->shape)));
	RaceDetails details;

	if (noise == 0 || !draws)
		return noise;
	load_nodes(exact, nodes);
	details = exact_details(exact->shape, halvings, nodes, nodes + n);
	noisy->detail = race_draw(account, details.detail, noise);
	noisy->spread = race_draw(account, details.spread, noise);
	memset(nodes, 0, 2 * n * sizeof(int64_t));
	return noise;
}

/* ------------------------------------------------------------------- norms */

uint64_t
race_norms_change(const RaceShape *shape)
{
	return shape->unit == 1 && shape->ends == NULL && shape->blocks > 1 ? shape->blocks : 0;
}

uint64_t
race_look_norms(RaceAccount *account, const RaceExact *exact, double price, int64_t *noisy)
{
	const RaceShape *shape = exact->shape;
	uint64_t noise = race_norms_change(shape) == 0 ?
		0 :
		race_pay(account, price, race_change_of_score(account, race_norms_change(shape)));
	int64_t sum;

	if (noise == 0 || !race_draws(account, exact))
		return noise;
	sum = (int64_t) race_counters_norms(exact->counters, exact->width, shape->blocks, shape->range);
	*noisy = race_draw_rounded(account, sum, noise);
	return noise;
}
