/*
 * measure_ends.c
 *		Measuring ends: how the records of a table of one column divide between its two ends
 */
#include "privacy/counters.h"
#include "privacy/ends.h"
#include "privacy/exact_fields.h"
#include "privacy/integers.h"
#include "privacy/interrupt.h"
#include "privacy/payment.h"

/* Return whether the places are those of a block. */
static bool
are_places(const RaceExact *exact, const RaceEnds *ends)
{
	return exact->counters != NULL && ends->block < exact->shape->blocks &&
		ends->length <= race_block_length(exact->shape, ends->block);
}

/* Sum the shares of the lower end and of the upper one; a sum that is clamped moves no farther. */
static void
sum_shares(const RaceExact *exact, const RaceEnds *ends, int64_t *sums)
{
	size_t begin = race_block_begin(exact->shape, ends->block);
	int64_t counter[RACE_COUNTER_BLOCK];
	__int128 lower = 0;
	__int128 upper = 0;

	for (uint32_t from = 0; from < ends->length; from += RACE_COUNTER_BLOCK)
	{
		uint32_t n =
			ends->length - from < RACE_COUNTER_BLOCK ? ends->length - from : RACE_COUNTER_BLOCK;

		race_look_for_interrupts();
		race_counters_load(exact->counters, exact->width, begin + from, n, counter);
		for (uint32_t i = 0; i < n; i++)
		{
			lower += (__int128) (ends->length - 1 - (from + i)) * counter[i];
			upper += (__int128) (from + i) * counter[i];
		}
	}
	sums[0] = race_clamped(lower, RACE_MAX_COUNT);
	sums[1] = race_clamped(upper, RACE_MAX_COUNT);
}

uint64_t
race_measure_ends(RaceAccount *account, const RaceExact *exact, const RaceEnds *ends, double price,
				  int64_t *noisy)
{
	bool draws = race_draws(account, exact);
	int64_t sums[RACE_ENDS];
	uint64_t change;
	uint64_t noise;

	if (ends->length < 2 || (draws && !are_places(exact, ends)))
		return 0;
	change = race_most_product(exact->shape->unit, ends->length - 1);
	noise = race_pay(account, price,
					 race_change_of_counters(account, change, race_most_product(change, change)));
	if (noise == 0 || !draws)
		return noise;
	sum_shares(exact, ends, sums);
	for (int end = 0; end < RACE_ENDS; end++)
		noisy[end] = race_draw(account, sums[end], noise);
	return noise;
}
