/*
 * release_moments.c
 *		How moments are released: whole, in integers that are as coarse as their noise needs
 */
#include <math.h>

#include "choice/release_kind.h"
#include "hash/moment_sums.h"
#include "privacy/products.h"

/* Plan a release of moments, whole, in integers that are as coarse as their noise needs. */
static bool
plan_moments(const RaceReleaseKind *kind, const RaceRequest *request, const RaceParams *params,
			 RacePlan *plan)
{
	RaceExactMemory memory;
	RaceShape shape;
	RaceExact *exact = race_planned_exact(params, &shape, &memory);
	RaceAccount account;
	double price;

	race_plan_open(kind, request, params, NULL, &account, plan);
	if (!race_plan_first(kind, &account, exact, plan))
		return false;
	price = race_account_left(&account);
	if (!race_plan_products(&account, &shape, price, &plan->products) ||
		!race_measure_products(&account, exact, price, &plan->products, false, NULL, NULL))
		return false;
	race_plan_state(request, &account, race_account_cost(&account), plan->products.variance, plan);
	plan->noise.mechanism = plan->products.mechanism;
	/* the release has the bits again, as zeros */
	plan->noise.counter_variance = ldexp(plan->noise.counter_variance, 2 * plan->products.coarser);
	return true;
}

static double
moments_noise(const RaceParams *params, const RacePlan *plan)
{
	(void) params;
	return plan->noise.counter_variance;
}

static size_t
moments_workspace(const RaceParams *params)
{
	RaceShape shape;

	race_moments_shape(params, &shape);
	return race_products_space(&shape) * sizeof(int64_t);
}

static bool
draw_moments(RaceRelease *release, double price, int64_t *counters)
{
	bool share = release->plan.noise.status == RACE_STATUS_SHARE;

	return race_measure_products(&release->account, release->exact, price, &release->plan.products,
								 share, release->workspace, counters);
}

static uint64_t
moments_squared(const RaceParams *params, RaceSelection kept, int coarser)
{
	RaceShape shape;
	int least;

	(void) kept;
	race_moments_shape(params, &shape);
	least = race_products_least_coarse(&shape);
	return race_products_squared(&shape, coarser > least ? coarser : least);
}

const RaceReleaseKind race_release_moments = {.count_share = {RACE_COUNT_SHARE, RACE_COUNT_SHARE},
											  .squared = moments_squared,
											  .open = race_plan_open,
											  .plan = plan_moments,
											  .noise = moments_noise,
											  .workspace = moments_workspace,
											  .draw = draw_moments};
