/*
 * score.c
 *		Noisy scores of exact tables, by which a release chooses which tables it measures
 */
#include <string.h>

#include "privacy/counters.h"
#include "privacy/exact_fields.h"
#include "privacy/integers.h"
#include "privacy/payment.h"
#include "privacy/score.h"

/*
 * Return the distance from expected cells.  Each step moves two tables no farther apart, clamping
 * included: so the distance changes by at most what the table does in L1.
 */
static int64_t
distance_from_expected(const int64_t *sums, uint32_t parts, size_t cells, const int64_t *expected)
{
	int64_t total = 0;

	for (size_t i = 0; i < cells; i++)
	{
		int64_t cell = 0;
		int64_t apart;

		for (uint32_t part = 0; part < parts; part++)
			cell = race_clamped_sum(cell, sums[i * parts + part]);
		apart = race_clamped_sum(cell, -race_clamped_sum(expected[i], 0));
		total = race_clamped_sum(total, apart < 0 ? -apart : apart);
	}
	return total;
}

bool
race_exact_distance(const RaceExact *exact, const RaceGrouping *grouping, const int64_t *expected,
					RaceSpace *space, int64_t *apart)
{
	size_t n = race_grouping_sums(grouping);
	int64_t *sums = race_load_sums(exact, grouping, space);

	if (sums == NULL)
		return false;
	*apart = distance_from_expected(sums, grouping->parts, n / grouping->parts, expected);
	memset(sums, 0, n * sizeof(int64_t));
	return true;
}

uint64_t
race_score_distance(RaceAccount *account, const RaceExact *exact, const RaceGrouping *grouping,
					const int64_t *expected, double price, RaceSpace *space, int64_t *noisy)
{
	bool draws = race_draws(account, exact);
	int64_t apart = 0;
	uint64_t noise;

	if (draws && !race_exact_distance(exact, grouping, expected, space, &apart))
		return 0;
	noise = race_pay(account, price, race_change_of_score(account, exact->shape->unit));
	if (noise > 0 && draws)
		*noisy = race_draw(account, apart, noise);
	return noise;
}

/* Return the score of the first `ordinary` counters. */
static int64_t
unevenness_of_sets(const int64_t *counters, uint32_t ordinary, uint32_t together)
{
	int64_t score = 0;

	for (uint32_t i = 0; i < ordinary; i += together)
	{
		uint32_t size = ordinary - i < together ? ordinary - i : together;
		__int128 sum = 0;

		for (uint32_t k = i; k < i + size; k++)
			sum += counters[k];
		for (uint32_t k = i; k < i + size; k++)
		{
			__int128 off = (__int128) size * counters[k] - sum;

			off = off < 0 ? -off : off;
			score = race_clamped_sum(score, off < RACE_MAX_COUNT ? (int64_t) off : RACE_MAX_COUNT);
		}
	}
	return score;
}

uint64_t
race_score_unevenness(RaceAccount *account, const RaceExact *exact, uint32_t block,
					  uint32_t ordinary, uint32_t together, double price, RaceSpace *space,
					  int64_t *noisy)
{
	const RaceShape *shape = exact->shape;
	int64_t *counters = race_space_numbers(exact, space, ordinary);
	bool draws = race_draws(account, exact);
	uint64_t noise;

	if (together < 2 || block >= shape->blocks || ordinary > race_block_length(shape, block) ||
		(draws && counters == NULL))
		return 0;
	noise = race_pay(account, price,
					 race_change_of_score(
						 account, race_most_product(shape->unit, 2 * ((uint64_t) together - 1))));
	if (noise > 0 && draws)
	{
		race_counters_load(exact->counters, exact->width, race_block_begin(shape, block), ordinary,
						   counters);
		*noisy = race_draw(account, unevenness_of_sets(counters, ordinary, together), noise);
		memset(counters, 0, ordinary * sizeof(int64_t));
	}
	return noise;
}
