/*
 * measure_products.c
 *		Measuring moments: their noise is that of entries, or a difference of Wishart matrices
 */
#include <math.h>
#include <string.h>

#include "privacy/budget.h"
#include "privacy/counters.h"
#include "privacy/exact_fields.h"
#include "privacy/interrupt.h"
#include "privacy/measure.h"
#include "privacy/noisy.h"
#include "privacy/payment.h"
#include "privacy/products.h"
#include "privacy/wishart.h"

static RaceChange
change_of_products(const RaceAccount *account, const RaceShape *shape, int coarser)
{
	return race_change_of_counters(account, race_products_l1(shape, coarser),
								   race_products_squared(shape, coarser));
}

/* Plan noise of entries.  Gaussian noise on the diagonal has twice the variance. */
static bool
plan_entries(const RaceAccount *account, const RaceShape *shape, double price,
			 RaceProductsNoise *noise)
{
	RaceAccount trial = *account;

	noise->mechanism = account->mechanism;
	noise->entry_noise = 0;
	noise->noise = race_pay(&trial, price, change_of_products(account, shape, noise->coarser));
	noise->variance = race_account_variance(account, noise->noise);
	return noise->noise > 0 &&
		(account->mechanism == RACE_MECHANISM_LAPLACE || noise->noise <= RACE_MAX_VARIANCE / 2);
}

/* Plan a Wishart matrix, which hides what each neighbor has besides, by its trace. */
static bool
plan_wishart(const RaceAccount *account, const RaceShape *shape, double price,
			 RaceProductsNoise *noise)
{
	RaceWishartBudget budget;

	if (account->mechanism != RACE_MECHANISM_LAPLACE ||
		!race_wishart_budget(race_price_within(account, price), shape->columns,
							 race_records_apart(account),
							 race_products_trace(shape, noise->coarser), &budget))
		return false;
	noise->mechanism = RACE_MECHANISM_WISHART;
	noise->noise = budget.scale;
	noise->entry_noise = budget.entry_scale;
	noise->variance = budget.variance;
	return true;
}

bool
race_plan_products(const RaceAccount *account, const RaceShape *shape, double price,
				   RaceProductsNoise *noise)
{
	for (noise->coarser = race_products_least_coarse(shape);
		 noise->coarser <= RACE_PRODUCTS_COARSEST; noise->coarser++)
	{
		RaceProductsNoise wishart = *noise;
		bool entries = plan_entries(account, shape, price, noise);

		if (plan_wishart(account, shape, price, &wishart) &&
			!(entries && noise->variance <= wishart.variance))
			*noise = wishart;
		else if (!entries)
			continue;
		return true;
	}
	return false;
}

/*
 * Return whether there is such noise: in integers whose norms can be computed, of the account's
 * mechanism, for its sampler.
 */
static bool
is_drawable(const RaceAccount *account, const RaceShape *shape, const RaceProductsNoise *noise)
{
	if (noise->coarser < race_products_least_coarse(shape) ||
		noise->coarser > RACE_PRODUCTS_COARSEST)
		return false;
	if (noise->mechanism == RACE_MECHANISM_WISHART)
		return account->mechanism == RACE_MECHANISM_LAPLACE;
	return noise->mechanism == account->mechanism &&
		(noise->mechanism == RACE_MECHANISM_LAPLACE || noise->noise <= RACE_MAX_VARIANCE / 2);
}

/* Pay for planned noise, and see that it is what the price buys. */
static bool
pay_for_noise(RaceAccount *account, const RaceShape *shape, double price,
			  const RaceProductsNoise *noise)
{
	RaceWishartBudget budget;

	if (!is_drawable(account, shape, noise))
		return false;
	if (noise->mechanism != RACE_MECHANISM_WISHART)
		return race_pay(account, price, change_of_products(account, shape, noise->coarser)) ==
			noise->noise &&
			noise->noise > 0;
	return race_wishart_budget(race_price_within(account, price), shape->columns,
							   race_records_apart(account),
							   race_products_trace(shape, noise->coarser), &budget) &&
		budget.scale == noise->noise && budget.entry_scale == noise->entry_noise &&
		race_pay_epsilon(account, race_price_within(account, price), budget.epsilon);
}

size_t
race_products_space(const RaceShape *shape)
{
	return race_wishart_space(shape->columns);
}

/* Draw the moments one after the other. */
static void
draw_products(const RaceAccount *account, const RaceExact *exact, const RaceProductsNoise *noise,
			  bool share, int64_t *space, int64_t *noisy)
{
	const RaceShape *shape = exact->shape;
	int64_t limit = RACE_MAX_COUNT >> noise->coarser;
	bool wishart = noise->mechanism == RACE_MECHANISM_WISHART;
	int64_t *matrix = wishart ?
		race_wishart_difference(account->random, shape->columns, noise->noise, space) :
		NULL;
	uint64_t entry = wishart ? noise->entry_noise : noise->noise;
	uint64_t diagonal = noise->mechanism == RACE_MECHANISM_GAUSSIAN ? 2 * entry : entry;
	size_t at = 0;

	for (uint32_t i = 0; i < shape->columns; i++)
	{
		race_look_for_interrupts();
		for (uint32_t j = i; j < shape->columns; j++, at++)
		{
			int64_t counter = race_shift_rounded(
				race_counters_get(exact->counters, exact->width, at), noise->coarser);
			int64_t sum =
				race_noisy(account->random, counter, noise->mechanism, i == j ? diagonal : entry);

			sum = race_clamped_sum(sum, wishart ? matrix[at] : 0);
			if (!share)
				sum = race_shift_rounded(race_clamped(sum, limit) * ((int64_t) 1 << noise->coarser),
										 (int) account->weight_bits);
			noisy[at] = sum;
		}
	}
}

/*
 * Whoever has the noise of noisy numbers has the exact ones: a Wishart matrix is left nowhere.
 */
bool
race_measure_products(RaceAccount *account, const RaceExact *exact, double price,
					  const RaceProductsNoise *noise, bool share, RaceSpace *space, int64_t *noisy)
{
	size_t n = race_products_space(exact->shape);
	int64_t *work = race_space_numbers(exact, space, n);
	bool draws = race_draws(account, exact);

	if (exact->shape->columns == 0 || (draws && work == NULL) ||
		!pay_for_noise(account, exact->shape, price, noise))
		return false;
	if (!draws)
		return true;
	draw_products(account, exact, noise, share, work, noisy);
	memset(work, 0, n * sizeof(int64_t));
	return true;
}
