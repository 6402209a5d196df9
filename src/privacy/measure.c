/*
 * measure.c
 *		Measuring: sums of exact counters, with noise, paid from an account
 */
#include <math.h>
#include <string.h>

#include "privacy/counters.h"
#include "privacy/exact_fields.h"
#include "privacy/integers.h"
#include "privacy/interrupt.h"
#include "privacy/measure.h"
#include "privacy/payment.h"

/* ------------------------------------------------------------ whole blocks */

uint64_t
race_measure_count(RaceAccount *account, const RaceExact *exact, double price, int64_t *noisy)
{
	uint64_t noise = race_pay(account, price, race_change_of_counters(account, 1, 1));

	if (noise > 0 && race_draws(account, exact))
		*noisy = race_draw_rounded(account, exact->count, noise);
	return noise;
}

uint64_t
race_blocks_l1(const RaceShape *shape, uint32_t blocks)
{
	return race_most_product(shape->unit, blocks);
}

uint64_t
race_blocks_squared(const RaceShape *shape, uint32_t blocks)
{
	return race_most_product(race_most_product(shape->unit, shape->unit), blocks);
}

/* Pay for so many blocks. */
static uint64_t
pay_blocks(RaceAccount *account, const RaceShape *shape, uint32_t blocks, double price)
{
	return race_pay(account, price,
					race_change_of_counters(account, race_blocks_l1(shape, blocks),
											race_blocks_squared(shape, blocks)));
}

/* Draw the first n counters. */
static void
draw_counters(const RaceAccount *account, const RaceExact *exact, size_t n, uint64_t noise,
			  int64_t *noisy)
{
	int64_t counter[RACE_COUNTER_BLOCK];

	for (size_t at = 0; at < n; at += RACE_COUNTER_BLOCK)
	{
		size_t m = n - at < RACE_COUNTER_BLOCK ? n - at : RACE_COUNTER_BLOCK;

		race_counters_load(exact->counters, exact->width, at, m, counter);
		race_draw_all(account, counter, m, noise, true, noisy + at);
	}
}

uint64_t
race_measure_blocks(RaceAccount *account, const RaceExact *exact, uint32_t blocks, double price,
					int64_t *noisy)
{
	uint64_t noise = blocks < 1 || blocks > exact->shape->blocks ?
		0 :
		pay_blocks(account, exact->shape, blocks, price);

	if (noise > 0 && race_draws(account, exact))
		draw_counters(account, exact, race_block_begin(exact->shape, blocks), noise, noisy);
	return noise;
}

/* ------------------------------------------------------------------ levels */

/* Return whether these are levels of the grid, in which nodes are exact. */
static bool
are_levels(const RaceExact *exact, const int *halvings, int levels)
{
	if (exact->shape->nodes.dims == 0 || levels < 1 || levels > RACE_LEVELS || halvings[0] < 0)
		return false;
	for (int i = 1; i < levels; i++)
		if (halvings[i] < halvings[i - 1])
			return false;
	return halvings[levels - 1] <= (int) exact->shape->halvings;
}

/* Draw the levels one after the other. */
static void
draw_levels(const RaceAccount *account, const RaceExact *exact, const int *halvings, int levels,
			uint64_t noise, int64_t *nodes, int64_t *noisy)
{
	RaceNodes grid = exact->shape->nodes;
	int halved = 0;

	race_counters_load(exact->counters, exact->width, 0, race_nodes_count(&grid), nodes);
	for (int level = 0; level < levels; level++)
	{
		for (; halved < halvings[level]; halved++)
		{
			race_nodes_coarsen(&grid, nodes, nodes);
			race_nodes_halve(&grid);
		}
		race_draw_all(account, nodes, race_nodes_count(&grid), noise, true, noisy);
		noisy += race_nodes_count(&grid);
	}
}

uint64_t
race_measure_levels(RaceAccount *account, const RaceExact *exact, const int *halvings, int levels,
					double price, RaceSpace *space, int64_t *noisy)
{
	size_t n = race_nodes_count(&exact->shape->nodes);
	int64_t *nodes = race_space_numbers(exact, space, n);
	bool draws = race_draws(account, exact);
	uint64_t noise = are_levels(exact, halvings, levels) && !(draws && nodes == NULL) ?
		pay_blocks(account, exact->shape, (uint32_t) levels, price) :
		0;

	if (noise > 0 && draws)
	{
		draw_levels(account, exact, halvings, levels, noise, nodes, noisy);
		memset(nodes, 0, n * sizeof(int64_t));
	}
	return noise;
}

/* -------------------------------------------------------------------- sums */

size_t
race_grouping_sums(const RaceGrouping *grouping)
{
	return (size_t) grouping->groups[0] * grouping->groups[1] * grouping->groups[2] *
		grouping->parts;
}

/*
 * Return whether the axes and parts of a grouping make up its block, with groups along each axis,
 * of which there are no more than places: so their product is no more than that of places.
 */
static bool
fits_block(const RaceShape *shape, const RaceGrouping *grouping)
{
	size_t left;

	if (grouping->block >= shape->blocks || grouping->parts < 1 ||
		grouping->parts > RACE_COUNTER_BLOCK)
		return false;
	left = race_block_length(shape, grouping->block);
	if (left % grouping->parts != 0)
		return false;
	left /= grouping->parts;
	for (int axis = 0; axis < RACE_GROUPING_AXES; axis++)
	{
		if (grouping->groups[axis] < 1 || grouping->groups[axis] > grouping->length[axis] ||
			left % grouping->length[axis] != 0)
			return false;
		left /= grouping->length[axis];
	}
	return left == 1;
}

/* Return the group in which a place along an axis is added up. */
static size_t
group_at(const RaceGrouping *grouping, int axis, uint32_t place)
{
	uint32_t group = grouping->group[axis] == NULL ? place : grouping->group[axis][place];

	return group < grouping->groups[axis] ? group : grouping->groups[axis] - 1;
}

int64_t *
race_load_sums(const RaceExact *exact, const RaceGrouping *grouping, RaceSpace *space)
{
	const uint32_t *length = grouping->length;
	int64_t counter[RACE_COUNTER_BLOCK];
	int64_t *sums;
	size_t at;

	if (exact->counters == NULL || !fits_block(exact->shape, grouping))
		return NULL;
	sums = race_space_numbers(exact, space, race_grouping_sums(grouping));
	if (sums == NULL)
		return NULL;
	at = race_block_begin(exact->shape, grouping->block);
	memset(sums, 0, race_grouping_sums(grouping) * sizeof(int64_t));
	for (uint32_t i = 0; i < length[0]; i++)
		for (uint32_t j = 0; j < length[1]; j++)
			for (uint32_t k = 0; k < length[2]; k++, at += grouping->parts)
			{
				size_t group =
					(group_at(grouping, 0, i) * grouping->groups[1] + group_at(grouping, 1, j)) *
						grouping->groups[2] +
					group_at(grouping, 2, k);
				int64_t *sum = sums + group * grouping->parts;

				race_counters_load(exact->counters, exact->width, at, grouping->parts, counter);
				/* a sum that is clamped changes by no more than its numbers do together */
				for (uint32_t part = 0; part < grouping->parts; part++)
					sum[part] = race_clamped_sum(sum[part], counter[part]);
			}
	return sums;
}

uint64_t
race_measure_sums(RaceAccount *account, const RaceExact *exact, const RaceGrouping *grouping,
				  double price, RaceSpace *space, int64_t *noisy)
{
	bool draws = race_draws(account, exact);
	int64_t *sums = draws ? race_load_sums(exact, grouping, space) : NULL;
	uint64_t noise;

	if (draws && sums == NULL)
		return 0;
	noise = pay_blocks(account, exact->shape, 1, price);
	if (noise > 0 && draws)
		race_draw_all(account, sums, race_grouping_sums(grouping), noise, false, noisy);
	if (draws)
		memset(sums, 0, race_grouping_sums(grouping) * sizeof(int64_t));
	return noise;
}
