/*
 * plan.c
 *		The plan of a release of one kind: prices, and the noise that they buy
 *
 * doc/privacy.md has the proofs.  What a record changes stands with what counts and measures it
 * (src/privacy); the account multiplies it by the records of a person, and by 2 where neighbors
 * replace them: a record may then move from the table of one label to that of another, so that the
 * count costs as much, too.
 */
#include <math.h>
#include <string.h>

#include "choice/release_kind.h"
#include "hash/moment_sums.h"
#include "privacy/budget.h"
#include "privacy/look.h"
#include "privacy/products.h"
#include "privacy/series.h"
#include "privacy/shares.h"
#include "hash/sampling_variance.h"
#include "choice/plan.h"

uint64_t
race_kept_squared(const RaceParams *params, uint64_t blocks)
{
	return race_record_unit(params) * race_record_unit(params) * blocks;
}

void
race_plan_start(const RaceRequest *request, RaceSelection selection, RaceStatus status,
				RacePlan *plan)
{
	memset(plan, 0, sizeof(RacePlan));
	plan->selection = selection;
	plan->noise.status = status;
	plan->noise.neighbors = request->neighbors;
	plan->noise.max_contributions = request->max_contributions;
	plan->noise.releases = 1;
}

uint64_t
race_look_change(const RaceReleaseKind *kind, const RaceRequest *request, const RaceParams *params)
{
	return request->rows > 0 || request->delta > 0 || kind->look_change == NULL ?
		0 :
		kind->look_change(params);
}

RaceSelection
race_largest_selection(const RaceRequest *request, const RaceParams *params)
{
	RaceSelection selection = {request->rows > 0 ? request->rows : params->rows, {0, 1}, NULL};

	if (race_summary_kind(params)->coarsen != NULL && request->rows == 0)
		selection.grid.levels = RACE_GRID_LEVELS;
	return selection;
}

void
race_plan_open(const RaceReleaseKind *kind, const RaceRequest *request, const RaceParams *params,
			   RaceRandom *random, RaceAccount *account, RacePlan *plan)
{
	double share = kind->count_share[request->delta > 0];
	uint64_t squared = kind->squared(params, race_largest_selection(request, params), 0);

	/* the draw that costs most, if each took all that is allowed in proportion to its share */
	race_account_open(account, random, request, share * fmin((double) squared / (share - 1), 1));
	if (race_look_change(kind, request, params) > 0)
		plan->look_price = race_account_allowed(account) / kind->look_share[params->dims > 1];
	plan->count_price = (race_account_allowed(account) - plan->look_price) / share;
}

void
race_plan_state(const RaceRequest *request, const RaceAccount *account, double cost,
				double counter_variance, RacePlan *plan)
{
	bool pure = request->delta == 0;

	plan->noise.mechanism = pure ? RACE_MECHANISM_LAPLACE : RACE_MECHANISM_GAUSSIAN;
	plan->noise.delta = request->delta;
	plan->noise.epsilon =
		fmin(request->epsilon, pure ? cost : race_epsilon_of_rho(cost, request->delta));
	plan->noise.rho = pure ? race_rho_of_pure(plan->noise.epsilon) : cost;
	plan->noise.counter_variance = race_weighted_variance(counter_variance, request->weight_bits);
	plan->noise.count_variance = race_weighted_variance(
		race_account_variance(account, plan->count_noise), request->weight_bits);
}

RaceExact *
race_planned_exact(const RaceParams *params, RaceShape *shape, RaceExactMemory *memory)
{
	race_shape_of(params, NULL, shape);
	return race_exact_begin(memory, shape);
}

bool
race_plan_first(const RaceReleaseKind *kind, RaceAccount *account, const RaceExact *exact,
				RacePlan *plan)
{
	plan->count_noise = race_measure_count(account, exact, plan->count_price, NULL);
	if (plan->look_price > 0)
		plan->look_noise = kind->pay_look(account, exact, plan->look_price);
	return plan->count_noise > 0 && (plan->look_price == 0 || plan->look_noise > 0);
}

bool
race_plan_blocks(const RaceReleaseKind *kind, const RaceRequest *request, const RaceParams *params,
				 RacePlan *plan)
{
	RaceExactMemory memory;
	RaceShape shape;
	RaceExact *exact = race_planned_exact(params, &shape, &memory);
	RaceAccount account;

	race_plan_open(kind, request, params, NULL, &account, plan);
	if (!race_plan_first(kind, &account, exact, plan))
		return false;
	plan->counter_noise =
		kind->pay_blocks(&account, exact, plan->selection, race_account_left(&account));
	if (plan->counter_noise == 0)
		return false;
	race_plan_state(request, &account, race_account_cost(&account),
					race_account_variance(&account, plan->counter_noise), plan);
	return true;
}

void
race_plan_state_series(const RaceRequest *request, RacePlan *plan)
{
	if (request->levels > 0)
		race_series_cost(&plan->noise, request->levels);
}

bool
race_plan_kind(const RaceReleaseKind *kind, const RaceRequest *request, const RaceParams *params,
			   RaceSelection selection, RacePlan *plan)
{
	race_plan_start(request, selection, RACE_STATUS_PRIVATE, plan);
	if (!kind->plan(kind, request, params, plan))
		return false;
	race_plan_state_series(request, plan);
	return true;
}

double
race_kind_noise(const RaceReleaseKind *kind, const RaceRequest *request, const RaceParams *params,
				RaceSelection selection)
{
	RacePlan plan;

	return race_plan_kind(kind, request, params, selection, &plan) ? kind->noise(params, &plan) :
																	 INFINITY;
}

double
race_usual_mass(double records)
{
	return race_kernel_mass(records) * records;
}
