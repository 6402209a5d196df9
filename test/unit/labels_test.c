/*
 * labels_test.c
 *		A person with i of m records in the release of a label loses at most i / m of its epsilon.
 *
 * Each label has a release of its own, with noise for m records, and a person's m records may be in
 * any of them.  So all labels cost epsilon once if each part of each cost is in proportion to
 * records, and rho once if it is (doc/privacy.md).  Here what i records change is taken from the
 * proofs there, and the noise from the plan of a release.
 */
#include "privacy/noise.h"
#include "privacy/release_request.h"
#include "privacy/sampler.h"
#include "privacy/shares.h"
#include "privacy/wishart.h"
#include "hash/kernel.h"
#include "hash/kind.h"
#include "hash/moment_sums.h"
#include "hash/params.h"
#include "choice/plan.h"
#include "privacy/look.h"
#include "privacy/products.h"
#include "helpers.h"
#include "tap.h"

static const uint64_t contributions[] = {1, 2, 3, 7, 10, 50, 200, 999, 1 << 20, INT32_MAX};

#define SOME_CONTRIBUTIONS ((int) (sizeof(contributions) / sizeof(contributions[0])))

/* What was computed is rounded by less than this part of it. */
#define ROUNDED 1e-14L

static long double
sides(const RacePlan *plan)
{
	return plan->noise.neighbors == RACE_NEIGHBORS_SUBSTITUTE ? 2 : 1;
}

/* What i records add to the counters: in L1, the trace, and in L2 (moments: over the root of 2) */
static long double
weight_of(const RaceParams *params, const RacePlan *plan, long double i)
{
	int coarser = plan->products.coarser;

	if (race_summary_kind(params)->matrix)
	{
		RaceShape shape;

		race_moments_shape(params, &shape);
		return ldexpl(i * race_products_l1(&shape, 0), -coarser) +
			(coarser > 0 ? params->range : 0);
	}
	return i *
		(race_summary_kind(params)->coarsen != NULL ?
			 race_record_unit(params) * plan->selection.grid.levels :
			 plan->selection.rows);
}

static long double
trace_of(const RaceParams *params, const RacePlan *plan, long double i)
{
	return ldexpl(i * race_moments_squared(params), -plan->products.coarser);
}

static long double
norm_of(const RaceParams *params, const RacePlan *plan, long double i)
{
	if (race_summary_kind(params)->matrix)
		return (trace_of(params, plan, i) +
				(plan->products.coarser > 0 ? race_moments_columns(params) : 0)) /
			sqrtl(2);
	return race_summary_kind(params)->coarsen != NULL ?
		i * race_record_unit(params) * sqrtl(plan->selection.grid.levels) :
		i * sqrtl(plan->selection.rows);
}

static long double
look_of(const RaceParams *params, long double i)
{
	RaceShape shape;

	if (race_summary_kind(params)->coarsen == NULL)
		return i * params->rows;
	race_grid_shape(params, &shape);
	return i * race_details_change(&shape);
}

/* The noise of a counter; of a Wishart matrix its scale */
static uint64_t
noise_of(const RaceParams *params, const RacePlan *plan)
{
	return race_summary_kind(params)->matrix ? plan->products.noise : plan->counter_noise;
}

static long double
laplace_cost(long double sensitivity, uint64_t scale)
{
	return sensitivity * RACE_SCALE_DENOMINATOR / scale;
}

/* epsilon of i records that one of two tables has more than the other */
static long double
pure_cost(const RaceParams *params, const RacePlan *plan, long double i)
{
	uint32_t columns = race_moments_columns(params);
	long double cost = laplace_cost(i, plan->count_noise);

	if (plan->look_noise > 0)
		cost += laplace_cost(look_of(params, i), plan->look_noise);
	if (plan->noise.mechanism == RACE_MECHANISM_LAPLACE)
		return cost + laplace_cost(weight_of(params, plan, i), noise_of(params, plan));
	return cost + trace_of(params, plan, i) / (2 * (long double) plan->products.noise) +
		race_wishart_steps(columns) +
		laplace_cost((long double) race_wishart_rounding(columns, plan->products.noise) *
						 params->range,
					 plan->products.entry_noise);
}

/* rho of them */
static long double
gaussian_cost(const RaceParams *params, const RacePlan *plan, long double i)
{
	long double norm = norm_of(params, plan, i);

	return norm * norm / (2 * (long double) noise_of(params, plan)) +
		i * i / (2 * (long double) plan->count_noise);
}

/* rho of them in a sum of noise shares: what is added to that of a Gaussian does not grow with i */
static long double
share_cost(const RaceParams *params, const RacePlan *plan, uint64_t i)
{
	uint32_t honest =
		race_honest_shares(plan->noise.parties, plan->noise.colluders, plan->noise.dropouts);
	long double norm = norm_of(params, plan, i);

	return race_rho_of_sum((unsigned __int128) ceill(norm * norm),
						   (uint64_t) plan->selection.rows * params->range, noise_of(params, plan),
						   honest) +
		race_rho_of_sum((unsigned __int128) i * i, 1, plan->count_noise, honest);
}

/* The largest cost of i records, as a part of what they may cost by this plan */
static double
largest_part(const RaceParams *params, const RacePlan *plan)
{
	uint64_t m = plan->noise.max_contributions;
	uint64_t some[] = {1, 2, m / 3, m / 2, m - 1, m};
	double largest = 0;

	for (int k = 0; k < 6; k++)
	{
		uint64_t i = some[k];
		long double part = (long double) i / m;
		long double cost;

		if (i < 1 || i > m)
			continue;
		if (plan->noise.status == RACE_STATUS_SHARE)
			cost = share_cost(params, plan, i) / plan->noise.rho / part;
		else if (plan->noise.mechanism == RACE_MECHANISM_GAUSSIAN)
			cost = gaussian_cost(params, plan, i) / plan->noise.rho / (part * part);
		else
			cost = pure_cost(params, plan, i) / plan->noise.epsilon / part;
		largest = fmax(largest, (double) (cost * sides(plan) - 1));
	}
	return 1 + largest;
}

/* How the plans of one kind of release did */
typedef struct Findings
{
	int plans;
	int of_mechanism[RACE_MECHANISM_WISHART + 1];
	int looks;
	int coarser;
	double largest;
} Findings;

static void
note(const RaceParams *params, const RacePlan *plan, Findings *findings)
{
	findings->plans++;
	findings->of_mechanism[plan->noise.mechanism]++;
	findings->looks += plan->look_noise > 0;
	findings->coarser += plan->products.coarser > 0;
	findings->largest = fmax(findings->largest, largest_part(params, plan));
}

/* Plans for a delta, or for none, of rows that are given or to be chosen */
static Findings
plan_all(const RaceParams *params, double delta, uint32_t rows, int levels)
{
	static const RaceFederation federation = {12, 1, 1};
	RaceSelection selection = {rows > 0 ? rows : params->rows, {0, levels}, NULL};
	RaceRequest request = {.delta = delta, .rows = rows};
	Findings findings = {0};
	RacePlan plan;

	for (int k = 0; k < SOME_CONTRIBUTIONS; k++)
		for (request.epsilon = 1e-6; request.epsilon < 1e4; request.epsilon *= 9.7)
			for (request.neighbors = RACE_NEIGHBORS_ADD_REMOVE;
				 request.neighbors <= RACE_NEIGHBORS_SUBSTITUTE; request.neighbors++)
			{
				request.max_contributions = (uint32_t) contributions[k];
				if (race_plan_release(&request, params, selection, &plan))
					note(params, &plan, &findings);
				if (delta > 0 && race_plan_share(&request, params, &federation, &plan))
					note(params, &plan, &findings);
			}
	return findings;
}

static void
test_plans(const char *what, const RaceParams *params, double delta, uint32_t rows, int levels,
		   RaceMechanism mechanism, bool looks)
{
	Findings found = plan_all(params, delta, rows, levels);

	ok(found.largest <= 1 + ROUNDED, "%s: i of m records cost i / m at most, and %.3g more", what,
	   found.largest - 1);
	ok(found.of_mechanism[mechanism] > 40 && (found.looks > 0) == looks &&
		   (found.coarser > 0) == race_summary_kind(params)->matrix,
	   "... in %d plans, %d with this noise, %d with a look, %d in coarser integers", found.plans,
	   found.of_mechanism[mechanism], found.looks, found.coarser);
}

static void
test_rows(void)
{
	RaceParams params = l2_params(RACE_SEQUENCE_INDEPENDENT, RACE_REHASH_FOLD, 3, 1, 1024, 100);

	test_plans("rows", &params, 0, 64, 1, RACE_MECHANISM_LAPLACE, false);
	test_plans("rows that are chosen", &params, 0, 0, 1, RACE_MECHANISM_LAPLACE, true);
	test_plans("rows with delta", &params, 1e-6, 0, 1, RACE_MECHANISM_GAUSSIAN, false);
}

static void
test_grids(uint32_t dims)
{
	RaceParams *params = grid_params(RACE_KERNEL_L2, dims, 64, 1);

	test_plans("grids, scores among them", params, 0, 1, 1, RACE_MECHANISM_LAPLACE, false);
	test_plans("grids of two levels that are chosen", params, 0, 0, 2, RACE_MECHANISM_LAPLACE,
			   true);
	test_plans("grids with delta", params, 1e-6, 0, 2, RACE_MECHANISM_GAUSSIAN, false);
	free(params);
}

static void
test_moments(uint32_t dims, double norm)
{
	RaceParams *params = moments_params(dims, norm, RACE_CLIP_NORM);
	RaceParams *absolute = moments_params(dims, norm, RACE_CLIP_ABSOLUTE);

	printf("# moments of %u columns, norm %g\n", dims, norm);
	test_plans("Wishart matrices", params, 0, 0, 1, RACE_MECHANISM_WISHART, false);
	test_plans("Laplace noise", absolute, 0, 0, 1, RACE_MECHANISM_LAPLACE, false);
	test_plans("Gaussian noise", params, 1e-9, 0, 1, RACE_MECHANISM_GAUSSIAN, false);
	free(params);
	free(absolute);
}

int
main(void)
{
	test_rows();
	test_grids(1);
	test_grids(2);
	test_grids(3);
	test_moments(1, 0.5);
	test_moments(7, 1.5);
	test_moments(60, 3);
	test_moments(RACE_WISHART_COLUMNS - 1, 1000);
	return done_testing();
}
