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

/*
 * Measure the number of records of each half.  A record, with its weight, is in that of one half.
 */
uint64_t
race_measure_count(RaceAccount *account, const RaceExact *exact, double price, int64_t *noisy)
{
	uint64_t noise = race_pay(account, price, race_change_of_counters(account, 1, 1));

	for (int i = 0; noise > 0 && race_draws(account, exact) && i < exact->halves; i++)
		noisy[i] = race_draw_rounded(account, exact->count[i], noise);
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

uint64_t
race_measure_blocks(RaceAccount *account, const RaceExact *exact, uint32_t blocks, double price,
					int64_t *const *noisy)
{
	uint64_t noise = blocks < 1 || blocks > exact->shape->blocks ?
		0 :
		pay_blocks(account, exact->shape, blocks, price);
	size_t n = race_block_begin(exact->shape, blocks);

	for (int i = 0; noise > 0 && race_draws(account, exact) && i < exact->halves; i++)
	{
		race_counters_load(exact->counters[i], exact->width[i], 0, n, noisy[i]);
		race_draw_all(account, noisy[i], n, noise, true);
	}
	return noise;
}

/* ------------------------------------------------------------------ levels */

/* Return whether these are levels of the grid, in which nodes are exact. */
static bool
are_levels(const RaceExact *exact, const int *halvings, int levels)
{
	int most = (int) (exact->halves > 1 ? exact->shape->half_halvings : exact->shape->halvings);

	if (exact->shape->nodes.dims == 0 || levels < 1 || levels > RACE_LEVELS || halvings[0] < 0)
		return false;
	for (int i = 1; i < levels; i++)
		if (halvings[i] < halvings[i - 1])
			return false;
	return halvings[levels - 1] <= most;
}

/* Load the exact nodes of levels one after the other; returns their number. */
static size_t
load_levels(const RaceExact *exact, int half, const int *halvings, int levels, int64_t *nodes,
			int64_t *counters)
{
	RaceNodes grid = exact->shape->nodes;
	int64_t *next = counters;
	int halved = 0;

	race_counters_load(exact->counters[half], exact->width[half], 0, race_nodes_count(&grid),
					   nodes);
	for (int level = 0; level < levels; level++)
	{
		for (; halved < halvings[level]; halved++)
		{
			race_nodes_coarsen(&grid, nodes, nodes);
			race_nodes_halve(&grid);
		}
		memcpy(next, nodes, race_nodes_count(&grid) * sizeof(int64_t));
		next += race_nodes_count(&grid);
	}
	return next - counters;
}

uint64_t
race_measure_levels(RaceAccount *account, const RaceExact *exact, const int *halvings, int levels,
					double price, int64_t *space, int64_t *const *noisy)
{
	uint64_t noise = are_levels(exact, halvings, levels) ?
		pay_blocks(account, exact->shape, (uint32_t) levels, price) :
		0;

	for (int i = 0; noise > 0 && race_draws(account, exact) && i < exact->halves; i++)
	{
		race_draw_all(account, noisy[i], load_levels(exact, i, halvings, levels, space, noisy[i]),
					  noise, true);
		memset(space, 0, race_nodes_count(&exact->shape->nodes) * sizeof(int64_t));
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
 * Return whether the axes and parts of a grouping make up its block, with groups along each axis.
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
		if (grouping->groups[axis] < 1 || grouping->length[axis] < 1 ||
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

bool
race_load_sums(const RaceExact *exact, const RaceGrouping *grouping, int64_t *sums)
{
	const uint32_t *length = grouping->length;
	int64_t counter[RACE_COUNTER_BLOCK];
	size_t at;

	if (exact->halves != 1 || !fits_block(exact->shape, grouping))
		return false;
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

				race_counters_load(exact->counters[0], exact->width[0], at, grouping->parts,
								   counter);
				/* a sum that is clamped changes by no more than its numbers do together */
				for (uint32_t part = 0; part < grouping->parts; part++)
					sum[part] = race_clamped_sum(sum[part], counter[part]);
			}
	return true;
}

uint64_t
race_measure_sums(RaceAccount *account, const RaceExact *exact, const RaceGrouping *grouping,
				  double price, int64_t *noisy)
{
	uint64_t noise;

	if (race_draws(account, exact) && !race_load_sums(exact, grouping, noisy))
		return 0;
	noise = pay_blocks(account, exact->shape, 1, price);
	if (race_draws(account, exact))
	{
		if (noise > 0)
			race_draw_all(account, noisy, race_grouping_sums(grouping), noise, false);
		else
			memset(noisy, 0, race_grouping_sums(grouping) * sizeof(int64_t));
	}
	return noise;
}
