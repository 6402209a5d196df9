/*
 * summary.c
 *		The table of kinds of summaries; the plan of a private release, and drawing its noise
 */
#include <math.h>
#include <string.h>

#include "privacy/counters.h"
#include "privacy/interrupt.h"
#include "privacy/series.h"
#include "hash/contingency.h"
#include "hash/fields.h"
#include "hash/loss_rows.h"
#include "hash/moment_sums.h"
#include "hash/sampling_variance.h"
#include "choice/measure.h"
#include "choice/summary.h"

/*
 * The cost of a release, and how much noise that means.
 *
 * doc/privacy.md has the proofs.  A record changes counters by what `weight` (in L1) and `squared` (in L2, squared) of its kind
 * say, the count by 1, and a look by `look_weight`.  A person has m records: m times as much in L1, and m^2 times squared in
 * L2.  To substitute them costs 2 m in L1 and 2 m^2 squared in L2, because no two records have a negative inner product; and
 * as much of the count, since a record may move from the table of one label to that of another.  Discrete Laplace noise of scale b
 * costs D / b of epsilon, Gaussian noise D^2 / (2 variance) of rho, and a difference of Wishart matrices trace / (2 scale).  Costs add up.
 *
 * test/unit/greybox_test.c holds all of this against exact counters of neighbors.
 */

static void
start_plan(const RaceRequest *request, const RaceParams *params, RaceSelection selection,
		   RaceStatus status, RacePlan *plan)
{
	memset(plan, 0, sizeof(RacePlan));
	plan->selection = selection;
	plan->weight_bits = request->weight_bits;
	if (race_summary_kind(params)->least_coarse != NULL)
		plan->selection.coarser = race_summary_kind(params)->least_coarse(params);
	plan->noise.status = status;
	plan->noise.neighbors = request->neighbors;
	plan->noise.max_contributions = request->max_contributions;
	plan->noise.releases = 1;
}

/* The records of a person, with weights in places of their last digit: at most 2^31 */
static uint32_t
units_of_person(const RaceRequest *request)
{
	return request->max_contributions << request->weight_bits;
}

/* The factor by which substituting costs more in L1 */
static uint32_t
neighbors_factor(const RaceRequest *request)
{
	return request->neighbors == RACE_NEIGHBORS_SUBSTITUTE ? 2 : 1;
}

uint64_t
race_look_weight(const RaceRequest *request, const RaceParams *params)
{
	const RaceSummaryKind *kind = race_summary_kind(params);

	return request->rows > 0 || request->delta > 0 || kind->look_weight == NULL ? 0 :
		kind->look_weight(params);
}

static bool
plan_laplace(const RaceRequest *request, const RaceParams *params, RacePlan *plan)
{
	RaceChoiceBudget choice = {0, 0, request->epsilon};
	uint64_t	sensitivity = (uint64_t) units_of_person(request) * neighbors_factor(request);
	const RaceSummaryKind *kind = race_summary_kind(params);
	uint64_t	weight = kind->weight(params, plan->selection);
	uint64_t	look = race_look_weight(request, params);
	RaceLaplaceBudget budget;

	/* at most 2^31 * 2 * 2^25; beyond the limit the noise is too large */
	if (sensitivity > RACE_MAX_SENSITIVITY / weight ||
		(look > 0 &&
		 (sensitivity > RACE_MAX_SENSITIVITY / look ||
		  !race_choice_budget(request->epsilon, kind->look_share[params->dims > 1], sensitivity * look,
							  &choice))) ||
		!race_laplace_budget(choice.rest, sensitivity * weight, sensitivity, &budget))
		return false;
	plan->choice_noise = choice.scale;
	plan->counter_noise = budget.counter_scale;
	plan->count_noise = budget.count_scale;
	plan->noise.mechanism = RACE_MECHANISM_LAPLACE;
	plan->noise.epsilon = fmin(request->epsilon, race_cost_sum(budget.epsilon, choice.cost));
	plan->noise.rho = race_rho_of_pure(plan->noise.epsilon);
	plan->noise.counter_variance = race_weighted_variance(race_discrete_laplace_variance(budget.counter_scale),
														  request->weight_bits);
	plan->noise.count_variance = race_weighted_variance(race_discrete_laplace_variance(budget.count_scale),
														request->weight_bits);
	return true;
}

static void
use_gaussian(RacePlan *plan, const RaceRequest *request,
			 const RaceGaussianBudget *budget)
{
	plan->counter_noise = budget->counter_variance;
	plan->count_noise = budget->count_variance;
	plan->noise.mechanism = RACE_MECHANISM_GAUSSIAN;
	plan->noise.epsilon = budget->epsilon;
	plan->noise.delta = request->delta;
	plan->noise.rho = budget->rho;
	plan->noise.counter_variance = race_weighted_variance(budget->counter_variance, request->weight_bits);
	plan->noise.count_variance = race_weighted_variance(budget->count_variance, request->weight_bits);
}

/* Of other summaries than rows, the sum of some counters is a count, too. */
static uint32_t
gaussian_count_share(const RaceParams *params)
{
	return race_summary_kind(params)->hashed ? RACE_COUNT_SHARE_ROWS : RACE_COUNT_SHARE;
}

bool
race_request_exact(const RaceRequest *request)
{
	return request->neighbors == RACE_NEIGHBORS_ADD_REMOVE && !request->zcdp;
}

static bool
plan_gaussian(const RaceRequest *request, const RaceParams *params, RacePlan *plan)
{
	/* how many counters there are does not matter to one draw */
	RaceSensitivity sensitivity = race_sensitivity(units_of_person(request), request->neighbors,
												   race_summary_kind(params)->squared(params, plan->selection), 1);
	RaceGaussianBudget budget;

	if (!race_gaussian_budget(request->epsilon, request->delta, race_request_exact(request),
							  sensitivity.counters, sensitivity.count,
							  gaussian_count_share(params), &budget))
		return false;
	use_gaussian(plan, request, &budget);
	return true;
}

static bool
plan_usual(const RaceRequest *request, const RaceParams *params, RacePlan *plan)
{
	return request->delta == 0 ? plan_laplace(request, params, plan) :
		plan_gaussian(request, params, plan);
}

/*
 * The next coarser integers, while there are some, for noise that is too large for a sampler.
 * To round costs little: less than the noise of some of the last bits.
 */
static bool
make_coarser(const RaceParams *params, RacePlan *plan)
{
	return race_summary_kind(params)->least_coarse != NULL && plan->selection.coarser++ < RACE_MOMENTS_COARSEST;
}

RaceSelection
race_largest_selection(const RaceRequest *request, const RaceParams *params)
{
	RaceSelection	selection = {request->rows > 0 ? request->rows : params->rows, {0, 1}, 0, NULL};

	if (race_summary_kind(params)->coarsen != NULL && request->rows == 0)
		selection.grid.levels = RACE_GRID_LEVELS;
	return selection;
}

bool
race_plan_share(const RaceRequest *request, const RaceParams *params,
				const RaceFederation *federation, RacePlan *plan)
{
	/* if it is open what to keep, all is kept: the parties must keep the same */
	RaceSelection	selection = {request->rows > 0 ? request->rows : params->rows, {0, 1}, 0, NULL};
	uint32_t	honest = race_honest_shares(federation->parties, federation->colluders,
											federation->dropouts);
	RaceSensitivity sensitivity;
	RaceGaussianBudget budget;

	start_plan(request, params, selection, RACE_STATUS_SHARE, plan);
	sensitivity = race_sensitivity(request->max_contributions, request->neighbors,
								   race_summary_kind(params)->squared(params, plan->selection),
								   (uint64_t) selection.rows * params->range);
	/* bound: RACE_MOMENTS_COARSEST */
	while (!race_share_budget(request->epsilon, request->delta, &sensitivity, honest,
							  gaussian_count_share(params), &budget) ||
		   !race_is_share_variance(budget.counter_variance, federation->parties) ||
		   !race_is_share_variance(budget.count_variance, federation->parties))
	{
		if (!make_coarser(params, plan))
			return false;
		sensitivity.counters = sensitivity.count * race_summary_kind(params)->squared(params, plan->selection);
	}
	use_gaussian(plan, request, &budget);
	plan->noise.parties = federation->parties;
	plan->noise.colluders = federation->colluders;
	plan->noise.dropouts = federation->dropouts;
	return true;
}

bool
race_plan_release(const RaceRequest *request, const RaceParams *params, RaceSelection selection,
				  RacePlan *plan)
{
	start_plan(request, params, selection, RACE_STATUS_PRIVATE, plan);
	/* bound: RACE_MOMENTS_COARSEST */
	while (!race_summary_kind(params)->plan(request, params, plan))
		if (!make_coarser(params, plan))
			return false;
	/* the release has the bits again, as zeros */
	plan->noise.counter_variance = ldexp(plan->noise.counter_variance, 2 * plan->selection.coarser);
	if (request->levels > 0)
		race_series_cost(&plan->noise, request->levels);
	return true;
}

/*
 * Weights have so many places between 0 and the largest, about, as far as 2^26 records of that weight fit into counters: what one
 * of them adds to a counter is limited.  A weight is rounded at random, so that the errors of n records have a standard deviation of
 * at most sqrt(n) / 2 places: below 1 / 1024 of the root of the sum of n squared weights of the largest size.  There are fewer
 * places where noise in them would be more than MORE_NOISE times as large, in records, as without places after the point: a
 * mechanism may not fit, or integers get coarser.
 */
#define WEIGHT_PLACES		1024
#define LARGEST_IN_COUNTER	(RACE_MAX_COUNT >> 26)
#define MORE_NOISE			1.01	/* of variances */

bool
race_request_weights(RaceRequest *request, const RaceParams *params, uint32_t weight_max)
{
	uint64_t	largest = race_summary_kind(params)->largest(params);
	RaceSelection	all;
	RacePlan	plan;
	double		most;

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
	while (race_largest_weight(request) < WEIGHT_PLACES && (largest * race_largest_weight(request)) << 1 <= LARGEST_IN_COUNTER &&
		   (uint64_t) request->max_contributions << (request->weight_bits + 1) <= INT32_MAX)
		request->weight_bits++;
	/* bound: one bit less each time */
	while (request->weight_bits > 0 &&
		   (!race_plan_release(request, params, all, &plan) || plan.noise.counter_variance > most))
		request->weight_bits--;
	return true;
}

/* ----------------------------------------------------------- what to keep */

double
race_usual_mass(double records)
{
	return race_kernel_mass(records) * records;
}

/*
 * A fit removes most of the sampling error of rows in one dimension: an eighth to a sixteenth of
 * them is best.  In two it removes less: of a table on a line, models of 8 and 16 rows were up to
 * four times as far off as their intervals.  In more, where points are moved, how much it removes
 * depends on the table.  With the rows that are best without it, a fit was 1 to 3.6 times better on
 * four tables; with as few as in one dimension it was 1.4 and 1.6 times worse on two of them than
 * those rows without a fit.
 */
#define FITTED_SAMPLING_IN_LINE		(1.0 / 128)
#define FITTED_SAMPLING_IN_PLANE	(1.0 / 16)

double
race_selection_noise(const RaceRequest *request, const RaceParams *params, RaceSelection selection)
{
	RacePlan	plan;

	return race_plan_release(request, params, selection, &plan) ?
		race_summary_kind(params)->noise(params, &plan) : INFINITY;
}

RaceSelection
race_choose_selection(const RaceRequest *request, const RaceParams *params, double mass)
{
	RaceSelection	all = {1, {0, 1}, 0, NULL};

	return race_summary_kind(params)->choose == NULL ? all :
		race_summary_kind(params)->choose(request, params, mass);
}

static double
grid_sampling(const RaceRequest *request, const RaceParams *params, RaceSelection selection, double mass)
{
	(void) request;
	return pow(race_grid_bias(params, selection.grid) * mass, 2);
}

/*
 * What is compared is a release of so many records for each 1 / epsilon, which lie evenly between
 * the bounds.  How many there are is not public.
 */
#define COMPARED_RECORDS	10000

/*
 * A wide kernel sums the noise of many nodes, and where bounds are far apart, cells may be coarse
 * beside a narrow one: then rows are better.  In 8 of 11 cases of a table this chose what was better
 * on it, and in none what had three times the error of the other (test/bench/LEARN-CONDITIONAL.md).
 */
static bool
grid_beats_rows(const RaceParams *params, const RaceRequest *pure, const RaceParams *grid,
				double noise)
{
	RaceGridChoice finest = {0, 1};
	double		unit = (double) race_record_unit(grid);
	RaceSelection selection;
	RaceGrid	nodes;
	double		mass;

	/* a typical kernel sum: the root mean square of the kernel, where nodes are finest */
	race_grid_of(grid, &nodes);
	mass = COMPARED_RECORDS / pure->epsilon *
		sqrt(race_grid_noise_variance(grid, finest, RACE_GRID_ANYWHERE, unit * unit, INFINITY) / nodes.nodes);
	selection = race_grid_choose(pure, grid, mass);

	/* all rows are kept, and a fit then leaves as little in more dimensions */
	return race_selection_noise(pure, grid, selection) + grid_sampling(pure, grid, selection, mass) <
		noise + race_sampling_variance(params, params->rows, mass) * FITTED_SAMPLING_IN_LINE;
}

/*
 * In two dimensions grids have smaller errors of densities in most tables, whatever epsilon is: on five made
 * tables rows had .6 to 2.8 times their error at epsilon .1, and .6 to 2.1 times at 1.
 */
#define GRID_IN_PLANE	2

bool
race_pure_serves(const RaceRequest *request, const RaceParams *params, double pure_epsilon,
				 const RaceParams *pure_params, bool densities)
{
	RaceRequest pure = *request;
	RaceSelection	all = {params->rows, {0, 1}, 0, NULL};
	RacePlan	asked_plan;
	RacePlan	pure_plan;
	double		noise;

	pure.epsilon = pure_epsilon;
	pure.delta = 0;
	pure.fit = false;
	if (!race_plan_release(&pure, pure_params, race_largest_selection(&pure, pure_params), &pure_plan) ||
		!race_plan_release(request, params, all, &asked_plan))
		return false;
	noise = race_summary_kind(params)->noise(params, &asked_plan);
	if (race_summary_kind(params) == race_summary_kind(pure_params))
		return race_selection_noise(&pure, pure_params, all) < noise;
	return (densities && params->dims == GRID_IN_PLANE) || grid_beats_rows(params, &pure, pure_params, noise);
}

/* ------------------------------------------------------------------ draws */

/*
 * What depends on data: the noisy counters, the noisy count, noisy norms, and what is computed
 * from that count and these norms.  All else depends on the arguments and public parameters alone.
 */

/* Numbers that are drawn between two looks at interrupts */
#define DRAWS_A_STEP	4096

static int64_t
noisy(RaceRandom *random, int64_t value, const RacePlan *plan, uint64_t noise)
{
	return race_shift_rounded(race_clamped_sum(race_noisy(random, value, (RaceMechanism) plan->noise.mechanism, noise), 0),
							  plan->weight_bits);
}

int64_t
race_draw_count(RaceRandom *random, const RaceExact *exact, const RacePlan *plan)
{
	return noisy(random, exact->count, plan, plan->count_noise);
}

/* Add noise to counters of rows or cells. */
static void
add_noise(RaceRandom *random, const RacePlan *plan, size_t n, int64_t *counters)
{
	for (size_t i = 0; i < n; i++)
	{
		if (i % DRAWS_A_STEP == 0)
			race_look_for_interrupts();
		counters[i] = noisy(random, counters[i], plan, plan->counter_noise);
	}
}

/* No weight of a record is negative, and each row, table or level has a unit of them. */
static uint64_t
squared_by_unit(const RaceParams *params, RaceSelection selection)
{
	return race_summary_kind(params)->unit(params) * race_summary_kind(params)->weight(params, selection);
}

/* ------------------------------------------------------------------- rows */

static const char *
rows_problem(const RaceParams *params, char *message, size_t length)
{
	return race_is_surrogate(params) ? race_surrogate_problem(params, message, length) : NULL;
}

static uint64_t
one(const RaceParams *params)
{
	(void) params;
	return 1;
}

/* A record is in one counter of each row. */
static uint64_t
rows_weight(const RaceParams *params, RaceSelection selection)
{
	(void) params;
	return selection.rows;
}

/* The norm of each row changes by 1 at most. */
static uint64_t
rows_look(const RaceParams *params)
{
	return params->rows > 1 ? params->rows : 0;
}

/*
 * A surrogate loss has a counter for each combination of signs.  Without a radius of queries,
 * theirs is that of coefficients between -1 and 1.
 */
static void
rows_shape(RaceParams *part, const double **arrays, double *space)
{
	(void) arrays;
	(void) space;
	if (!race_is_surrogate(part))
		return;
	if (part->power <= RACE_MAX_SURROGATE_POWER)
		part->range = 1 << part->power;
	if (part->query_radius == 0)
		part->query_radius = sqrt(part->dims);
}

static double
rows_noise(const RaceParams *params, const RacePlan *plan)
{
	(void) params;
	return plan->noise.counter_variance / plan->selection.rows;
}

/* What is left of the sampling variance of rows if they are fitted */
static double
fitted_sampling(const RaceParams *params)
{
	if (race_model_moves(params))
		return 1;
	return race_model_is_of_vectors(params) && params->dims == 2 ? FITTED_SAMPLING_IN_PLANE :
		FITTED_SAMPLING_IN_LINE;
}

static double
rows_sampling(const RaceRequest *request, const RaceParams *params, RaceSelection selection, double mass)
{
	return race_sampling_variance(params, selection.rows, mass) *
		(request->fit ? fitted_sampling(params) : 1);
}

/*
 * Corollary 3.5 minimizes a/R + 2R/epsilon^2. Here the minimum is taken over powers
 * of two and all rows, with the exact noise. Gaussian noise in a kernel sum does
 * not grow with R, so all rows are best.  A model that is tested by too few rows is not asked, so
 * a release that will be fitted keeps enough of them.
 */
static RaceSelection
rows_choose(const RaceRequest *request, const RaceParams *params, double mass)
{
	RaceSelection	best = {params->rows, {0, 1}, 0, NULL};
	uint32_t	enough = request->fit ? race_model_least_rows(params) : 1;
	double		least = INFINITY;
	RaceSelection	selection = {1, {0, 1}, 0, NULL};

	if (request->delta > 0)
		return best;
	/* bound: twice the rows each time, up to all */
	for (;;)
	{
		double		variance = race_selection_noise(request, params, selection) +
			rows_sampling(request, params, selection, mass);

		if ((selection.rows >= enough || selection.rows == params->rows) && variance < least)
		{
			least = variance;
			best = selection;
		}
		if (selection.rows == params->rows)
			return best;
		selection.rows = selection.rows > params->rows / 2 ? params->rows : 2 * selection.rows;
	}
}

/*
 * How many records a typical kernel sum is: half of the root mean square of what rows say at an average record, which
 * norms of order 3 tell (their cubes, without collisions, over the records).
 */
static double
mass_of_norm(double norm, double noise, const RaceParams *params, double records)
{
	double		collisions = race_collision_probability(params) * records;

	return sqrt(fmax(pow(norm, 3) / records - collisions * collisions, pow(noise, 3) / records)) / 2;
}

/* Where noise drowns the norms, what is usual counts for more, unless they exclude it. */
static double
mass_by_norms(RaceRandom *random, const RaceExact *exact, int n, const RacePlan *plan,
			  double records)
{
	const RaceParams *params = exact->params;
	double		noise = ldexp(sqrt(race_discrete_laplace_variance(plan->choice_noise)), -(int) plan->weight_bits) /
		(n * (double) params->rows);
	int64_t		sum = 0;
	double		norm;
	double		usual;
	double		doubt;
	double		trust;

	for (int i = 0; i < n; i++)
		sum += race_counters_norms(exact[i].counters, exact[i].width, params->rows,
								   params->range);
	norm = fmax(noisy(random, sum, plan, plan->choice_noise) / (n * (double) params->rows), noise);
	usual = fmin(race_usual_mass(records), mass_of_norm(norm + 2 * noise, noise, params, records));
	/* the standard deviation of the logarithm of the mass */
	doubt = 1.5 * noise / norm;
	trust = 1 / (1 + doubt * doubt);
	return pow(mass_of_norm(norm, noise, params, records), trust) * pow(usual, 1 - trust);
}

static RaceSelection
rows_select(RaceRandom *random, const RaceExact *exact, int n, const RaceRequest *request,
			const RacePlan *plan, double records, int64_t *workspace)
{
	(void) workspace;
	return rows_choose(request, exact->params, plan->choice_noise > 0 ?
					   mass_by_norms(random, exact, n, plan, records) : race_usual_mass(records));
}

static void
rows_draw(RaceRandom *random, const RaceExact *exact, const RacePlan *plan, void *workspace,
		  int64_t *counters)
{
	size_t		n = (size_t) plan->selection.rows * exact->params->range;

	(void) workspace;
	race_counters_load(exact->counters, exact->width, 0, n, counters);
	add_noise(random, plan, n, counters);
}

/* --------------------------------------------------- tables of categories */

/* Tables of counts are one row of as many counters as they have cells; none if that is wrong. */
static void
tables_shape(RaceParams *part, const double **arrays, double *space)
{
	RaceContingency tables = {
		.dims = part->dims, .cells = arrays[RACE_KEY_CELLS], .groups = arrays[RACE_KEY_GROUPS],
		.workload = arrays[RACE_KEY_WORKLOAD], .n_workload = part->workload,
		.joined = arrays[RACE_KEY_JOINED], .n_joined = part->joined,
		.measured = arrays[RACE_KEY_MEASURED], .n_measured = part->measured
	};

	(void) space;
	part->rows = 1;
	part->rehash = RACE_REHASH_FOLD;
	race_contingency_set(&tables);
	part->range = race_contingency_counters(&tables);
}

static uint64_t
tables_unit(const RaceParams *params)
{
	RaceContingency tables;

	race_contingency_of(params, &tables);
	return tables.unit;
}

/* A record is in one cell of each table. */
static uint64_t
tables_weight(const RaceParams *params, RaceSelection selection)
{
	RaceContingency tables;

	(void) selection;
	race_contingency_of(params, &tables);
	return tables.unit * race_contingency_tables(&tables);
}

static void
tables_count(const RaceParams *params, const RaceBatch *batch)
{
	race_contingency_count(params, batch->numbers, batch->n, batch->weight, batch->counters, batch->workspace);
}

/* The budget is divided as tables are measured; none of it is spent twice (contingency_select.c). */
static bool
tables_plan(const RaceRequest *request, const RaceParams *params, RacePlan *plan)
{
	double		cost;
	bool		pure = request->delta == 0;

	plan->count_noise = race_measure_count(request, params, &plan->noise.counter_variance, &cost);
	if (plan->count_noise == 0)
		return false;
	if (plan->selection.tables != NULL)
	{
		plan->noise.counter_variance = plan->selection.tables->tables.measured[2];
		cost = plan->selection.tables->cost;
	}
	plan->noise.mechanism = pure ? RACE_MECHANISM_LAPLACE : RACE_MECHANISM_GAUSSIAN;
	plan->noise.delta = request->delta;
	plan->noise.rho = pure ? race_rho_of_pure(cost) : cost;
	plan->noise.epsilon = fmin(request->epsilon, pure ? cost :
							   race_epsilon_of_rho(cost, request->delta));
	plan->noise.count_variance = race_weighted_variance(pure ? race_discrete_laplace_variance(plan->count_noise) :
														(double) plan->count_noise, request->weight_bits);
	return true;
}

/*
 * Scores cost pure releases more.  With this, of 36 tables of 2 to 9 columns of Adult and two others at epsilon .1 to 10
 * those were off less, by up to a half, that have less noise without a delta, but for two of 6 % more.
 */
#define PURE_SCORES	1.25

/* Not of a kernel sum, but of all tables, squared: with few of them, noise without a delta is less. */
static double
tables_noise(const RaceParams *params, const RacePlan *plan)
{
	RaceRequest request = {
		.epsilon = plan->noise.epsilon, .delta = plan->noise.delta, .max_contributions = plan->noise.max_contributions,
		.neighbors = plan->noise.neighbors
	};
	double		noise = race_measure_noise(&request, params) * (request.delta == 0 ? PURE_SCORES : 1);

	return noise * noise;
}

static RaceSelection
tables_select(RaceRandom *random, const RaceExact *exact, int n, const RaceRequest *request,
			  const RacePlan *plan, double records, int64_t *workspace)
{
	RaceSelection	selection = plan->selection;

	(void) n;
	selection.tables = race_measure(random, exact, request, records, workspace);
	return selection;
}

/* The tables that were measured when the plan was made; of a noise share all of them */
static void
tables_draw(RaceRandom *random, const RaceExact *exact, const RacePlan *plan, void *workspace,
			int64_t *counters)
{
	const RaceMeasuring *tables = plan->selection.tables;

	if (tables == NULL)
		rows_draw(random, exact, plan, workspace, counters);
	else
		memcpy(counters, tables->counters,
			   race_contingency_counters(&tables->tables) * sizeof(int64_t));
}

/* -------------------------------------------------------- tables of cells */

/*
 * A grid has one row, and as many counters as its cells say.  Cells that are not stated are
 * chosen, if the bounds are such that they can be; what is wrong is found later.
 */
static void
grid_shape(RaceParams *part, const double **arrays, double *space)
{
	const double *lower = arrays[RACE_KEY_LOWER];
	const double *upper = arrays[RACE_KEY_UPPER];
	uint64_t	nodes;

	if (part->dims < 1 || part->dims > RACE_GRID_DIMS || lower == NULL || upper == NULL ||
		race_kernel_type(part->kernel)->of_distance == NULL || part->power == 0 ||
		!(part->bandwidth > 0))
		return;
	if (arrays[RACE_KEY_CELLS] == NULL)
	{
		race_grid_choose_cells(part, arrays[RACE_KEY_BANDWIDTHS], lower, upper, space);
		arrays[RACE_KEY_CELLS] = space;
	}
	part->rows = 1;
	nodes = race_grid_nodes(arrays[RACE_KEY_CELLS], part->dims, 1);
	if (nodes > 0 &&
		part->range != race_grid_nodes(arrays[RACE_KEY_CELLS], part->dims, RACE_GRID_LEVELS))
		part->range = (uint32_t) nodes;
}

static uint64_t
grid_weight(const RaceParams *params, RaceSelection selection)
{
	return race_grid_unit(params) * selection.grid.levels;
}

static void
grid_count(const RaceParams *params, const RaceBatch *batch)
{
	race_count_in_grid(params, batch->numbers, batch->n, batch->weight, batch->portions, batch->counters,
					   batch->upper);
}

/* Without what the count tells: a choice that knows it takes coarser cells, of which it underestimates what they lose. */
static double
grid_noise(const RaceParams *params, const RacePlan *plan)
{
	return race_grid_noise_variance(params, plan->selection.grid, RACE_GRID_ANYWHERE, plan->noise.counter_variance, INFINITY);
}

/* The exact counters of the levels of a grid that are kept, one after the other; their number */
static size_t
load_levels(const RaceExact *exact, const RaceSelection *selection, int64_t *nodes, int64_t *counters)
{
	int64_t    *next = counters;
	int			halvings = selection->grid.halvings;
	RaceGrid	grid;

	race_grid_of(exact->params, &grid);
	race_counters_load(exact->counters, exact->width, 0, grid.nodes, nodes);
	for (int level = 0; level < selection->grid.levels; level++, halvings = RACE_GRID_LEVEL_HALVINGS)
	{
		for (; halvings > 0; halvings--)
		{
			race_grid_coarsen(&grid, nodes, nodes);
			race_grid_halve(&grid);
		}
		memcpy(next, nodes, grid.nodes * sizeof(int64_t));
		next += grid.nodes;
	}
	return next - counters;
}

static size_t
grid_workspace(const RaceParams *params)
{
	return 2 * (size_t) params->range * sizeof(int64_t);
}

static void
grid_draw(RaceRandom *random, const RaceExact *exact, const RacePlan *plan, void *workspace,
		  int64_t *counters)
{
	add_noise(random, plan, load_levels(exact, &plan->selection, workspace, counters), counters);
}

/* ---------------------------------------------------------------- moments */

/*
 * Moments are one row of as many counters as their columns have products.  What is wrong is
 * found later.
 */
static void
moments_shape(RaceParams *part, const double **arrays, double *space)
{
	(void) arrays;
	(void) space;
	part->rows = 1;
	part->rehash = RACE_REHASH_FOLD;
	if (race_moments_columns(part) <= RACE_MOMENTS_COLUMNS)
		part->range = (uint32_t) race_moments_counters(race_moments_columns(part));
	if (part->norm == 0)
		part->norm = RACE_MOMENTS_NORM;
}

static bool
moments_draw_functions(const RaceParams *params)
{
	return params->features > 0;
}

/* More than the unit, where targets weigh more */
static uint64_t
moments_largest(const RaceParams *params)
{
	(void) params;
	return RACE_MOMENTS_ONE * RACE_MOMENTS_ONE;
}

static uint64_t
moments_weight(const RaceParams *params, RaceSelection selection)
{
	return race_moments_weight(params, selection.coarser);
}

static uint64_t
moments_squared(const RaceParams *params, RaceSelection selection)
{
	return race_moments_squares(params, selection.coarser);
}

static size_t
moments_count_workspace(const RaceParams *params, size_t n)
{
	(void) n;
	return race_moments_workspace(params);
}

static void
moments_count(const RaceParams *params, const RaceBatch *batch)
{
	race_moments_count(params, batch->functions, batch->numbers, batch->n, (int) batch->weight,
					   batch->counters.counters, batch->workspace);
}

/*
 * Moments of which all records have a small norm: a Wishart matrix, where it has less variance than
 * the Laplace noise of a plan, if there is one.
 */
static bool
plan_wishart(const RaceRequest *request, const RaceParams *params, bool laplace, RacePlan *plan)
{
	uint64_t	records = (uint64_t) units_of_person(request) * neighbors_factor(request);
	uint64_t	trace = race_moments_trace(params, plan->selection.coarser);
	RaceWishartBudget budget;

	if (records > RACE_MAX_SENSITIVITY / trace ||
		!race_wishart_budget(request->epsilon, race_moments_columns(params), records, trace,
							 &budget) ||
		(laplace && plan->noise.counter_variance <= race_weighted_variance(budget.variance, request->weight_bits)))
		return false;
	plan->counter_noise = budget.scale;
	plan->entry_noise = budget.entry_scale;
	plan->count_noise = budget.count_scale;
	plan->noise.mechanism = RACE_MECHANISM_WISHART;
	plan->noise.epsilon = budget.epsilon;
	plan->noise.rho = race_rho_of_pure(budget.epsilon);
	plan->noise.counter_variance = race_weighted_variance(budget.variance, request->weight_bits);
	plan->noise.count_variance = race_weighted_variance(race_discrete_laplace_variance(budget.count_scale),
														request->weight_bits);
	return true;
}

/* Gaussian noise on the diagonal has twice the variance. */
static bool
moments_plan(const RaceRequest *request, const RaceParams *params, RacePlan *plan)
{
	bool		laplace;

	if (request->delta > 0)
		return plan_gaussian(request, params, plan) &&
			plan->counter_noise <= RACE_MAX_VARIANCE / 2;
	laplace = plan_laplace(request, params, plan);
	return plan_wishart(request, params, laplace, plan) || laplace;
}

/* The difference of two Wishart matrices, as planned: the triangle of as many columns */
static int64_t *
wishart_noise(RaceRandom *random, uint32_t columns, const RacePlan *plan, int64_t *triangle)
{
	int64_t    *work = triangle + race_moments_counters(columns);

	memset(triangle, 0, race_moments_counters(columns) * sizeof(int64_t));
	for (int sign = -1; sign <= 1; sign += 2)
	{
		race_look_for_interrupts();
		race_wishart(random, columns, plan->counter_noise, sign, work, triangle);
	}
	return triangle;
}

/*
 * Add noise to moments, in integers that are as coarse as planned: twice the variance on the
 * diagonal, if it is Gaussian; a Wishart matrix has that by itself.  Private moments have the bits
 * again that their noise does not have, so that they can be added up; noise shares stay as coarse,
 * as their sum must be.
 */
static void
add_noise_to_moments(RaceRandom *random, uint32_t columns, const RacePlan *plan, int64_t *space,
					 int64_t *counter)
{
	bool		share = plan->noise.status == RACE_STATUS_SHARE;
	int			coarser = plan->selection.coarser;
	int64_t		limit = RACE_MAX_COUNT >> coarser;
	RaceMechanism mechanism = (RaceMechanism) plan->noise.mechanism;
	bool		wishart = mechanism == RACE_MECHANISM_WISHART;
	int64_t    *matrix = wishart ? wishart_noise(random, columns, plan, space) : NULL;
	uint64_t	noise = wishart ? plan->entry_noise : plan->counter_noise;
	uint64_t	on_diagonal = mechanism == RACE_MECHANISM_GAUSSIAN ? 2 * noise : noise;

	for (uint32_t i = 0; i < columns; i++)
	{
		race_look_for_interrupts();
		for (uint32_t j = i; j < columns; j++, counter++)
		{
			int64_t		sum = race_noisy(random, race_shift_rounded(*counter, coarser), mechanism,
										 i == j ? on_diagonal : noise);

			*counter = race_clamped_sum(sum, wishart ? *matrix++ : 0);
			if (!share)
				*counter = race_shift_rounded((*counter > limit ? limit : *counter < -limit ? -limit : *counter) *
											  ((int64_t) 1 << coarser), plan->weight_bits);
		}
	}
}

static size_t
moments_workspace(const RaceParams *params)
{
	size_t		columns = race_moments_columns(params);

	return (race_moments_counters(columns) + columns * (columns + 1)) * sizeof(int64_t);
}

static void
moments_draw(RaceRandom *random, const RaceExact *exact, const RacePlan *plan, void *workspace,
			 int64_t *counters)
{
	race_counters_load(exact->counters, exact->width, 0, exact->params->range, counters);
	add_noise_to_moments(random, race_moments_columns(exact->params), plan, workspace, counters);
}

/* ------------------------------------------------------------------ table */

static bool
always(const RaceParams *params)
{
	(void) params;
	return true;
}

static bool
never(const RaceParams *params)
{
	(void) params;
	return false;
}

static const RaceSummaryKind rows = {
	.name = "rows", .hashed = true, .densities = true, .model = RACE_MODEL_POINTS,
	.look_share = {RACE_CHOICE_SHARE, RACE_CHOICE_SHARE}, .shape = rows_shape, .problem = rows_problem, .draws = always,
	.unit = one, .largest = one, .weight = rows_weight, .squared = squared_by_unit,
	.look_weight = rows_look, .plan = plan_usual, .noise = rows_noise, .sampling = rows_sampling,
	.choose = rows_choose, .select = rows_select, .draw = rows_draw
};

static const RaceSummaryKind tables_of_categories = {
	.name = "tables", .takes = RACE_TAKES_DIMS | RACE_TAKES_CELLS,
	.hint = "Tables are asked by the name of their release: race_count, race_crosstab, race_synthesize.",
	.selected = true, .model = RACE_MODEL_LOG_LINEAR, .shape = tables_shape,
	.problem = race_contingency_problem, .draws = never, .count_workspace = race_contingency_workspace,
	.count = tables_count, .unit = tables_unit, .largest = tables_unit, .weight = tables_weight,
	.squared = squared_by_unit, .plan = tables_plan, .noise = tables_noise,
	.workspace = race_measure_workspace, .select = tables_select, .draw = tables_draw
};

static const RaceSummaryKind tables_of_cells = {
	.name = "grid", .densities = true, .model = RACE_MODEL_POINTS,
	.look_share = {RACE_CHOICE_SHARE, RACE_CELLS_SHARE}, .shape = grid_shape, .problem = race_grid_problem,
	.draws = never,
	.count = grid_count, .unit = race_grid_unit, .largest = race_grid_unit, .weight = grid_weight,
	.squared = squared_by_unit, .look_weight = race_grid_look_weight, .plan = plan_usual, .noise = grid_noise,
	.sampling = grid_sampling, .choose = race_grid_choose, .workspace = grid_workspace,
	.select = race_grid_select, .draw = grid_draw, .coarsen = race_grid_apply
};

static const RaceSummaryKind moments = {
	.name = "moments",
	.takes = RACE_TAKES_DIMS | RACE_TAKES_BOUNDS | RACE_TAKES_TRANSFORM | RACE_TAKES_COLUMNS,
	.hint = "Moments are asked by race_moments_matrix, race_covariance, race_regress, race_pca and race_classify.",
	.matrix = true, .shape = moments_shape, .problem = race_moments_problem, .draws = moments_draw_functions,
	.functions = race_moments_functions, .count_workspace = moments_count_workspace,
	.count = moments_count, .unit = race_moments_unit, .largest = moments_largest,
	.weight = moments_weight, .squared = moments_squared, .least_coarse = race_moments_least_coarse,
	.plan = moments_plan, .noise = rows_noise, .workspace = moments_workspace, .draw = moments_draw
};

static const RaceSummaryKind *const kinds[] = {
	[RACE_KIND_ROWS] = &rows,
	[RACE_KIND_GRID] = &tables_of_cells,
	[RACE_KIND_TABLES] = &tables_of_categories,
	[RACE_KIND_MOMENTS] = &moments
};

#define KINDS	((int) (sizeof(kinds) / sizeof(kinds[0])))

const RaceSummaryKind *
race_summary_kind(const RaceParams *params)
{
	return params->kind < KINDS ? kinds[params->kind] : NULL;
}

int
race_kind_named(const char *name)
{
	for (int kind = 0; kind < KINDS; kind++)
		if (!kinds[kind]->densities && strcmp(kinds[kind]->name, name) == 0)
			return kind;
	return -1;
}

/* What is kept of a summary as it is: all of it */
static RaceSelection
whole_selection(const RaceParams *params)
{
	RaceSelection	all = {params->rows, {0, 1}, 0, NULL};

	if (race_summary_kind(params)->coarsen != NULL)
		all.grid.levels = race_grid_levels(params);
	if (race_summary_kind(params)->matrix)
		all.coarser = params->coarser;
	return all;
}

uint64_t
race_record_unit(const RaceParams *params)
{
	return race_summary_kind(params)->unit(params);
}

uint64_t
race_record_squared(const RaceParams *params)
{
	return race_summary_kind(params)->squared(params, whole_selection(params));
}

size_t
race_draw_workspace(const RaceParams *params)
{
	return race_summary_kind(params)->workspace == NULL ? 0 : race_summary_kind(params)->workspace(params);
}

void
race_draw_counters(RaceRandom *random, const RaceExact *exact, const RacePlan *plan,
				   void *workspace, int64_t *counters)
{
	race_summary_kind(exact->params)->draw(random, exact, plan, workspace, counters);
}

bool
race_draw_plan(RaceRandom *random, const RaceExact *exact, int n, const RaceRequest *request,
			   void *workspace, int64_t *counts, RacePlan *plan)
{
	const RaceParams *params = exact->params;
	const RaceSummaryKind *kind = race_summary_kind(params);
	double		mean = 0;

	/*
	 * the noise is largest for all rows or levels: if it is too large, the error comes
	 * before any draw
	 */
	if (!race_plan_release(request, params, race_largest_selection(request, params), plan))
		return false;
	for (int i = 0; i < n; i++)
	{
		counts[i] = race_draw_count(random, &exact[i], plan);
		mean += (double) counts[i] / n;
	}
	return request->rows > 0 ||
		race_plan_release(request, params,
						  kind->select == NULL ? race_choose_selection(request, params, fmax(mean, 1)) :
						  kind->select(random, exact, n, request, plan, fmax(mean, 1), workspace),
						  plan);
}

/* ----------------------------------------------- the rows of a fitted model */

bool
race_model_is_of_vectors(const RaceParams *params)
{
	return race_params_parts(params) == 1 && race_summary_kind(params)->model == RACE_MODEL_POINTS &&
		race_record_kind(params) == RACE_RECORD_VECTOR;
}

uint32_t
race_model_first_rows(const RaceParams *params)
{
	uint32_t	rows = params->rows < RACE_MAX_FITTED_ROWS ? params->rows : RACE_MAX_FITTED_ROWS;

	return (rows + 1) / 2;
}

bool
race_model_moves(const RaceParams *params)
{
	return race_model_is_of_vectors(params) && params->dims > RACE_MODEL_GRID_DIMS &&
		race_summary_kind(params)->hashed;
}

uint32_t
race_model_least_rows(const RaceParams *params)
{
	uint32_t	columns = 0;

	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
		columns += race_record_kind(part) == RACE_RECORD_SET ? 0 : part->dims;
	return (race_model_moves(params) ? 4 : 2) * (columns + 1);
}

bool
race_model_halves_move(const RaceParams *params)
{
	return race_model_first_rows(params) >= race_model_least_rows(params);
}
