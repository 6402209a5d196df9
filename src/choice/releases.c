/*
 * releases.c
 *		Releases of all kinds: their plans, what they keep, and their draws
 *
 * test/unit/greybox_test.c holds plans against exact counters of neighbors.
 */
#include <math.h>

#include "choice/plan.h"
#include "choice/release_kind.h"
#include "hash/moment_sums.h"
#include "privacy/budget.h"
#include "privacy/products.h"
#include "privacy/shares.h"
#include "hash/sampling_variance.h"

const RaceReleaseKind *
race_release_kind(const RaceParams *params)
{
	const RaceSummaryKind *kind = race_summary_kind(params);

	return kind->matrix ? &race_release_moments :
		kind->selected  ? &race_release_tables :
		kind->hashed    ? &race_release_rows :
						  &race_release_cells;
}

bool
race_plan_release(const RaceRequest *request, const RaceParams *params, RaceSelection selection,
				  RacePlan *plan)
{
	return race_plan_kind(race_release_kind(params), request, params, selection, plan);
}

/*
 * Weights have so many places between 0 and the largest, about, as far as 2^26 records of that
 * weight fit into counters: what one of them adds to a counter is limited.  A weight is rounded at
 * random, so that the errors of n records have a standard deviation of at most sqrt(n) / 2 places:
 * below 1 / 1024 of the root of the sum of n squared weights of the largest size.  There are fewer
 * places where noise in them would be more than MORE_NOISE times as large, in records, as without
 * places after the point: a mechanism may not fit, or integers get coarser.
 */
#define WEIGHT_PLACES 1024
#define LARGEST_IN_COUNTER (RACE_MAX_COUNT >> 26)
#define MORE_NOISE 1.01 /* factor of variances */

bool
race_request_weights(RaceRequest *request, const RaceParams *params, uint32_t weight_max)
{
	uint64_t largest = race_summary_kind(params)->largest(params);
	RaceSelection all;
	RacePlan plan;
	double most;

	if (weight_max < 1 || (uint64_t) weight_max * request->max_contributions > INT32_MAX ||
		weight_max > LARGEST_IN_COUNTER / largest)
		return false;
	request->weight_max = weight_max;
	request->max_contributions *= weight_max;
	all = race_largest_selection(request, params);
	if (!race_plan_release(request, params, all, &plan))
		return false;
	most = plan.noise.counter_variance * MORE_NOISE + race_weighted_variance(0, 1);
	/* bound: twice the weight each time, up to WEIGHT_PLACES */
	while (race_largest_weight(request) < WEIGHT_PLACES &&
		   (largest * race_largest_weight(request)) << 1 <= LARGEST_IN_COUNTER &&
		   (uint64_t) request->max_contributions << (request->weight_bits + 1) <= INT32_MAX)
		request->weight_bits++;
	/* bound: one bit less each time */
	while (request->weight_bits > 0 &&
		   (!race_plan_release(request, params, all, &plan) || plan.noise.counter_variance > most))
		request->weight_bits--;
	return true;
}

/* ------------------------------------------------------------ noise shares */

/* Find the noise of a share; false if it would be too large. */
static bool
find_share(const RaceRequest *request, const RaceParams *params, const RaceFederation *federation,
		   const RaceSensitivity *sensitivity, RaceGaussianBudget *budget)
{
	uint32_t honest =
		race_honest_shares(federation->parties, federation->colluders, federation->dropouts);

	return race_share_budget(request->epsilon, request->delta, sensitivity, honest,
							 race_release_kind(params)->count_share[request->delta > 0], budget) &&
		race_is_share_variance(budget->counter_variance, federation->parties) &&
		race_is_share_variance(budget->count_variance, federation->parties);
}

/* Set a plan by the noise of a share. */
static void
use_share(const RaceRequest *request, const RaceFederation *federation,
		  const RaceGaussianBudget *budget, int coarser, RacePlan *plan)
{
	plan->counter_noise = budget->counter_variance;
	plan->count_noise = budget->count_variance;
	plan->products = (RaceProductsNoise){RACE_MECHANISM_GAUSSIAN, budget->counter_variance, 0,
										 coarser, (double) budget->counter_variance};
	plan->noise.mechanism = RACE_MECHANISM_GAUSSIAN;
	plan->noise.epsilon = budget->epsilon;
	plan->noise.delta = request->delta;
	plan->noise.rho = budget->rho;
	plan->noise.counter_variance = (double) budget->counter_variance;
	plan->noise.count_variance = (double) budget->count_variance;
	plan->noise.parties = federation->parties;
	plan->noise.colluders = federation->colluders;
	plan->noise.dropouts = federation->dropouts;
}

bool
race_plan_share(const RaceRequest *request, const RaceParams *params,
				const RaceFederation *federation, RacePlan *plan)
{
	/* if it is open what to keep, all is kept: the parties must keep the same */
	RaceSelection selection = {request->rows > 0 ? request->rows : params->rows, {0, 1}, NULL};
	bool matrix = race_summary_kind(params)->matrix;
	RaceSensitivity sensitivity;
	RaceGaussianBudget budget;
	RaceShape shape;
	int coarser = 0;

	race_plan_start(request, selection, RACE_STATUS_SHARE, plan);
	if (matrix)
	{
		race_moments_shape(params, &shape);
		coarser = race_products_least_coarse(&shape);
	}
	for (; coarser <= (matrix ? RACE_PRODUCTS_COARSEST : 0); coarser++)
	{
		sensitivity =
			race_sensitivity(request->max_contributions, request->neighbors,
							 race_release_kind(params)->squared(params, selection, coarser),
							 (uint64_t) selection.rows * params->range);
		if (find_share(request, params, federation, &sensitivity, &budget))
		{
			use_share(request, federation, &budget, coarser, plan);
			return true;
		}
	}
	return false;
}

/* ------------------------------------------------------------ what to keep */

double
race_selection_noise(const RaceRequest *request, const RaceParams *params, RaceSelection selection)
{
	return race_kind_noise(race_release_kind(params), request, params, selection);
}

RaceSelection
race_choose_selection(const RaceRequest *request, const RaceParams *params, double mass)
{
	RaceSelection all = {1, {0, 1}, NULL};

	return race_release_kind(params)->choose == NULL ?
		all :
		race_release_kind(params)->choose(request, params, mass);
}

/*
 * What is compared is a release of so many records for each 1 / epsilon, which lie evenly between
 * the bounds.  How many there are is not public.
 */
#define COMPARED_RECORDS 10000

/*
 * Return whether a grid is better than rows.  A wide kernel sums the noise of many nodes, and where
 * bounds are far apart, cells may be coarse beside a narrow one: then rows are better.
 */
static bool
grid_beats_rows(const RaceParams *params, const RaceRequest *pure, const RaceParams *grid,
				double noise)
{
	RaceGridChoice finest = {0, 1};
	double unit = (double) race_record_unit(grid);
	RaceSelection selection;
	RaceGrid nodes;
	double mass;

	/* a typical kernel sum: the root mean square of the kernel, where nodes are finest */
	race_grid_of(grid, &nodes);
	mass = COMPARED_RECORDS / pure->epsilon *
		sqrt(race_grid_noise_variance(grid, finest, RACE_GRID_ANYWHERE, unit * unit, INFINITY) /
			 nodes.nodes);
	selection = race_choose_selection(pure, grid, mass);

	/* all rows are kept, and a fit then leaves as little in more dimensions */
	return race_selection_noise(pure, grid, selection) +
		race_release_kind(grid)->sampling(pure, grid, selection, mass) <
		noise + race_sampling_variance(params, params->rows, mass) * RACE_FITTED_SAMPLING;
}

/*
 * In two dimensions grids have smaller errors of densities in most tables, whatever epsilon is: on
 * five made tables rows had .6 to 2.8 times their error at epsilon .1, and .6 to 2.1 times at 1.
 */
#define GRID_IN_PLANE 2

bool
race_pure_serves(const RaceRequest *request, const RaceParams *params, double pure_epsilon,
				 const RaceParams *pure_params)
{
	RaceRequest pure = *request;
	RaceSelection all = {params->rows, {0, 1}, NULL};
	RacePlan asked_plan;
	RacePlan pure_plan;
	double noise;

	pure.epsilon = pure_epsilon;
	pure.delta = 0;
	pure.fit = false;
	if (!race_plan_release(&pure, pure_params, race_largest_selection(&pure, pure_params),
						   &pure_plan) ||
		!race_plan_release(request, params, all, &asked_plan))
		return false;
	noise = race_release_kind(params)->noise(params, &asked_plan);
	if (race_summary_kind(params) == race_summary_kind(pure_params))
		return race_selection_noise(&pure, pure_params, all) < noise;
	return params->dims == GRID_IN_PLANE || grid_beats_rows(params, &pure, pure_params, noise);
}

/* ------------------------------------------------------------------- draws */

size_t
race_draw_workspace(const RaceParams *params)
{
	return race_release_kind(params)->workspace == NULL ?
		0 :
		race_release_kind(params)->workspace(params);
}

/* Draw the noisy number of records; return it, or 1 if it is less. */
static double
draw_count(RaceRelease *release, int64_t *count)
{
	race_measure_count(&release->account, release->exact, release->plan.count_price, count);
	return fmax((double) *count, 1);
}

bool
race_release_begin(RaceRelease *release, RaceRandom *random, int64_t *count)
{
	const RaceReleaseKind *kind = race_release_kind(release->params);
	const RaceRequest *request = release->request;
	RaceSelection selection;
	RacePlan plan;
	double records;

	/*
	 * the noise is largest for all rows or levels: if it is too large, the error comes before any
	 * draw
	 */
	if (!race_plan_release(request, release->params,
						   race_largest_selection(request, release->params), &release->plan))
		return false;
	kind->open(kind, request, release->params, random, &release->account, &release->plan);
	records = draw_count(release, count);
	if (request->rows > 0)
		return true;
	selection = kind->select == NULL ? race_choose_selection(request, release->params, records) :
									   kind->select(release, records);
	if (selection.tables != NULL)
		race_plan_state_series(request, &release->plan);
	else if (race_plan_release(request, release->params, selection, &plan))
		release->plan = plan;
	return true;
}

bool
race_share_begin(RaceRelease *release, RaceRandom *random, const RaceFederation *federation,
				 int64_t *count)
{
	if (!race_plan_share(release->request, release->params, federation, &release->plan))
		return false;
	race_account_open_share(
		&release->account, random, release->request, release->plan.count_noise,
		release->plan.counter_noise,
		race_release_kind(release->params)
			->squared(release->params, release->plan.selection, release->plan.products.coarser));
	(void) draw_count(release, count);
	return true;
}

bool
race_release_counters(RaceRelease *release, int64_t *counters)
{
	return race_release_kind(release->params)
		->draw(release, race_account_left(&release->account), counters);
}
