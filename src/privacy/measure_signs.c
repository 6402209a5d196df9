/*
 * measure_signs.c
 *		Measuring signs: of each pair of columns, the sum of products of signs
 */
#include <math.h>
#include <string.h>

#include "privacy/budget.h"
#include "privacy/counters.h"
#include "privacy/exact_fields.h"
#include "privacy/interrupt.h"
#include "privacy/noisy.h"
#include "privacy/payment.h"
#include "privacy/products.h"
#include "privacy/signs.h"

/* ---------------------------------------------------------------- payments */

/*
 * The noise of signs: that of entries, and perhaps a difference of Wishart matrices.  These are
 * integers that were rounded, so that sums get such noise in finer integers.
 */
typedef struct SignsNoise
{
	uint64_t entry; /* scale or variance */
	uint64_t scale; /* of Wishart matrices; 0: there are none */
	double cost;    /* epsilon of both, where there are */
	int finer;      /* bits that integers have besides while noise is drawn */
	double variance;
} SignsNoise;

/* A unit in finer integers: the noise that hides their rounding is small beside Wishart noise. */
#define FINE_UNIT (UINT64_C(1) << 18)
#define ROUNDING_VARIANCE (1.0 / 12) /* of a number that is rounded to an integer */

uint64_t
race_signs_pairs(uint32_t columns)
{
	return columns == 0 ? 0 : (uint64_t) columns * (columns - 1) / 2;
}

/*
 * Return what a person changes of all sums.  A record adds a unit to each, or takes it off.  So what
 * two records add can have a negative inner product: u = s t, place by place, adds up to at least
 * -columns / 2 over pairs, since (sum of u)^2 is not negative.  To substitute s by t changes sums by
 * columns^2 in L2, squared, where twice the pairs would be columns less.
 */
static RaceChange
change_of_signs(const RaceAccount *account, const RaceShape *shape, uint32_t columns)
{
	uint64_t pairs = race_signs_pairs(columns);
	uint64_t squared = pairs + (account->substitute ? ((uint64_t) columns + 1) / 2 : 0);

	return race_change_of_counters(
		account, race_most_product(shape->unit, pairs),
		race_most_product(race_most_product(shape->unit, shape->unit), squared));
}

/* Plan noise of entries; false if it would be too large. */
static bool
plan_entries(const RaceAccount *account, const RaceShape *shape, uint32_t columns, double price,
			 SignsNoise *noise)
{
	RaceAccount trial = *account;

	noise->scale = 0;
	noise->finer = 0;
	noise->entry = race_pay(&trial, price, change_of_signs(account, shape, columns));
	noise->variance = race_account_variance(account, noise->entry);
	return noise->entry > 0;
}

/* Return the bits that integers have besides with Wishart noise. */
static int
finer_bits(const RaceShape *shape)
{
	int bits = 0;

	/* bound: those of FINE_UNIT */
	while (shape->unit << bits < FINE_UNIT)
		bits++;
	return bits;
}

/* Plan a difference of Wishart matrices, by the traces of what neighbors have besides. */
static bool
plan_wishart(const RaceAccount *account, const RaceShape *shape, uint32_t columns, double price,
			 SignsNoise *noise)
{
	RaceWishartBudget budget;
	int finer;

	if (account->mechanism != RACE_MECHANISM_LAPLACE || shape->unit == 0)
		return false;
	finer = finer_bits(shape);
	if (!race_wishart_budget(race_price_within(account, price), columns,
							 race_records_apart(account),
							 race_most_product(shape->unit << finer, columns), &budget))
		return false;
	*noise = (SignsNoise){budget.entry_scale, budget.scale, budget.epsilon, finer,
						  ldexp(budget.variance, -2 * finer) + ROUNDING_VARIANCE};
	return true;
}

/* Plan the noise with the least variance. */
static bool
plan_noise(const RaceAccount *account, const RaceShape *shape, uint32_t columns, double price,
		   SignsNoise *noise)
{
	SignsNoise wishart;
	bool entries = plan_entries(account, shape, columns, price, noise);

	if (!plan_wishart(account, shape, columns, price, &wishart) ||
		(entries && noise->variance <= wishart.variance))
		return entries;
	*noise = wishart;
	return true;
}

/* Pay for planned noise. */
static bool
pay_for_noise(RaceAccount *account, const RaceShape *shape, uint32_t columns, double price,
			  const SignsNoise *noise)
{
	if (noise->scale > 0)
		return race_pay_epsilon(account, race_price_within(account, price), noise->cost);
	return race_pay(account, price, change_of_signs(account, shape, columns)) == noise->entry;
}

/* -------------------------------------------------------------------- sums */

/* Return the block of the pair of columns i < j that have signs. */
static uint32_t
block_of(const RaceShape *shape, const RaceSigns *signs, uint32_t i, uint32_t j)
{
	uint32_t first = signs->column[i];

	return shape->paired + first * (2 * shape->paired - first - 1) / 2 + signs->column[j] - first -
		1;
}

/*
 * Return whether the columns with signs ascend, and their places and parts make up the tables of all
 * pairs.  Of three columns or more, lengths that have the same products are the same.
 */
static bool
fit_tables(const RaceShape *shape, const RaceSigns *signs)
{
	if (signs->parts < 1 || signs->parts > RACE_COUNTER_BLOCK || shape->paired > UINT16_MAX ||
		shape->blocks < shape->paired + race_signs_pairs(shape->paired) ||
		signs->columns > shape->paired || signs->column[signs->columns - 1] >= shape->paired)
		return false;
	for (uint32_t i = 1; i < signs->columns; i++)
		if (signs->column[i - 1] >= signs->column[i])
			return false;
	for (uint32_t i = 0; i < signs->columns; i++)
		for (uint32_t j = i + 1; j < signs->columns; j++)
			if ((unsigned __int128) signs->length[i] * signs->length[j] * signs->parts !=
				race_block_length(shape, block_of(shape, signs, i, j)))
				return false;
	return true;
}

static int
sign_at(const RaceSigns *signs, uint32_t column, uint32_t place)
{
	int8_t sign = signs->sign[column][place];

	return (sign > 0) - (sign < 0);
}

/*
 * Return a number modulo 2^62, near 0.  What a record adds stays of rank one, whatever counters hold,
 * while a sum that is clamped is not.  Sums of fewer than 2^43 records are not changed.
 */
static int64_t
wrapped(__int128 x)
{
	return (int64_t) ((uint64_t) x << 2) >> 2;
}

/* Return the exact sum of a pair. */
static __int128
sum_of_pair(const RaceExact *exact, const RaceSigns *signs, uint32_t i, uint32_t j)
{
	size_t at = race_block_begin(exact->shape, block_of(exact->shape, signs, i, j));
	int64_t counter[RACE_COUNTER_BLOCK];
	__int128 sum = 0;

	for (uint32_t k = 0; k < signs->length[i]; k++)
		for (uint32_t l = 0; l < signs->length[j]; l++, at += signs->parts)
		{
			int sign = sign_at(signs, i, k) * sign_at(signs, j, l);

			race_counters_load(exact->counters, exact->width, at, signs->parts, counter);
			for (uint32_t part = 0; part < signs->parts; part++)
				sum += (__int128) sign * counter[part];
		}
	return sum;
}

size_t
race_signs_space(uint32_t columns)
{
	return race_signs_pairs(columns) + race_wishart_space(columns);
}

/* Return the space of signs; NULL if they do not fit the tables, or if it is among counters. */
static int64_t *
space_of_signs(const RaceExact *exact, const RaceSigns *signs, RaceSpace *space)
{
	if (exact->counters == NULL || !fit_tables(exact->shape, signs))
		return NULL;
	return race_space_numbers(exact, space, race_signs_space(signs->columns));
}

/* Return what gets noise: finer integers modulo 2^62 for Wishart noise, else a clamped sum. */
static int64_t
fine_sum(__int128 sum, const SignsNoise *noise)
{
	return noise->scale > 0 ? wrapped(sum * ((int64_t) 1 << noise->finer)) :
							  race_clamped(sum, RACE_MAX_COUNT);
}

/* Draw the sums of all pairs; all are computed before the first is written. */
static void
draw_signs(const RaceAccount *account, const RaceExact *exact, const RaceSigns *signs,
		   const SignsNoise *noise, int64_t *space, int64_t *noisy)
{
	uint32_t columns = signs->columns;
	int64_t *matrix = NULL;
	int64_t *sum = space + race_wishart_space(columns);

	for (uint32_t i = 0; i < columns; i++)
	{
		race_look_for_interrupts();
		for (uint32_t j = i + 1; j < columns; j++)
			*sum++ = fine_sum(sum_of_pair(exact, signs, i, j), noise);
	}
	if (noise->scale > 0)
		matrix = race_wishart_difference(account->random, columns, noise->scale, space);
	sum = space + race_wishart_space(columns);
	for (uint32_t i = 0; i < columns; i++)
	{
		race_look_for_interrupts();
		for (uint32_t j = i + 1; j < columns; j++)
		{
			int64_t drawn = race_noisy(account->random, *sum++, account->mechanism, noise->entry);

			drawn = matrix == NULL ?
				race_clamped(drawn, RACE_MAX_COUNT) :
				wrapped((__int128) drawn + matrix[race_product_counter(columns, i, j)]);
			*noisy++ = race_shift_rounded(drawn, noise->finer);
		}
	}
}

bool
race_measure_signs(RaceAccount *account, const RaceExact *exact, const RaceSigns *signs,
				   double price, RaceSpace *space, int64_t *noisy, double *variance)
{
	bool draws = race_draws(account, exact);
	int64_t *work;
	SignsNoise noise;

	if (signs->columns < 2)
		return false;
	work = draws ? space_of_signs(exact, signs, space) : NULL;
	if ((draws && work == NULL) ||
		!plan_noise(account, exact->shape, signs->columns, price, &noise) ||
		!pay_for_noise(account, exact->shape, signs->columns, price, &noise))
		return false;
	*variance = noise.variance;
	if (!draws)
		return true;
	draw_signs(account, exact, signs, &noise, work, noisy);
	memset(work, 0, race_signs_space(signs->columns) * sizeof(int64_t));
	return true;
}
