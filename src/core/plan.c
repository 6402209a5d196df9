/*
 * plan.c
 *		The plan of a private release: sensitivity, selection, noise: plain C
 */
#include <math.h>
#include <string.h>

#include "contingency.h"
#include "count.h"
#include "measure.h"
#include "moment_sums.h"
#include "plan.h"
#include "table.h"

/*
 * The cost of a release, and how much noise that means.
 *
 * Privacy (Coleman & Shrivastava 2021, theorem 3.2, with integer mechanisms and a
 * count of its own): a record is in one counter of each row.  Adding or removing
 * a person with at most m records changes the R rows by at most mR in L1 and
 * m sqrt(R) in L2, and the count by at most m.  Discrete Laplace noise of scale b
 * on integers of sensitivity D in L1 is D / b differentially private; discrete
 * Gaussian noise of variance s^2 on integers of sensitivity D in L2 is
 * D^2 / (2 s^2) zero-concentrated private (Canonne, Kamath & Steinke 2020).
 * Counters and count compose to the sum of both.
 *
 * In a grid a record is split over nodes, in weights that add up to a unit M in each of L
 * levels.  So it changes the counters by LM in L1; and by at most sqrt(L) M in L2, as weights
 * are not negative: the L2 norm is at most the L1 norm.  Two records that replace each other
 * change them by at most sqrt(2L) M, since no product of their weights is negative.
 *
 * In moments a record adds v v' for a vector v of integers.  The noise of an entry off the
 * diagonal has half the variance of one on it: in units of its own noise, the entry counts
 * twice, since it is there twice.  So the norm of the change is that of the whole matrix, |v|^2.
 * Matrices v v' have no negative inner product, so that substituting costs what is said below
 * here, too; doc/privacy.md has the proof, and the part of rounding.  With delta 0, a difference of
 * Wishart matrices makes v v' exp(-|v|^2 / (2 scale)) times as likely (noise/wishart.c).
 *
 * Which rows serve best depends on the table.  A pure release that is to choose them spends a
 * share of epsilon on the sum over the R rows of their Euclidean norms.  Rounded down, each
 * changes by at most m, so the sum by at most mR.  Given what was drawn before, the counters cost
 * the same whatever rows are chosen, so that all three add up.  Of a grid that is to choose its cells
 * it is two norms, of what coarser cells lose and of nodes (lsh/grid_look.c).
 *
 * To substitute the records of a person is to remove and to add: this changes the
 * counters by twice as much in L1, and by sqrt(2) times as much in L2.  Within one
 * table the count would not change.  But where tables are split by class or shard, a
 * record may move from one sketch to another, and changes the counts of both.  That
 * costs half of each sketch's epsilon (Laplace) or rho (Gaussian).
 *
 * Of contingency tables, epsilon or rho is divided among the count, tables of columns, scores and tables
 * of pairs (contingency_select.c), each of which a record changes by 1.
 *
 * test/unit/greybox_test.c holds all of this against exact counters of neighbors.
 */

static void
start_plan(const RaceRequest *request, const RaceParams *params, RaceKept kept,
		   RaceStatus status, RacePlan *plan)
{
	memset(plan, 0, sizeof(RacePlan));
	plan->kept = kept;
	if (race_is_moments(params))
		plan->kept.coarser = race_moments_least_coarse(params);
	plan->noise.status = status;
	plan->noise.neighbors = request->neighbors;
	plan->noise.max_contributions = request->max_contributions;
	plan->noise.releases = 1;
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
	return request->rows > 0 || request->delta > 0 ? 0 :
		race_summary_kind(params)->look_weight(params);
}

static bool
plan_laplace(const RaceRequest *request, const RaceParams *params, RacePlan *plan)
{
	RaceChoiceBudget choice = {0, 0, request->epsilon};
	uint64_t	sensitivity = (uint64_t) request->max_contributions *
		neighbors_factor(request);
	uint64_t	weight = race_summary_kind(params)->weight(params, plan->kept);
	uint64_t	look = race_look_weight(request, params);
	uint32_t	share = race_is_grid(params) && params->dims > 1 ? RACE_CELLS_SHARE :
		RACE_CHOICE_SHARE;
	RaceLaplaceBudget budget;

	/* at most 2^31 * 2 * 2^25; beyond the limit the noise is too large */
	if (sensitivity > RACE_MAX_SENSITIVITY / weight ||
		(look > 0 &&
		 (sensitivity > RACE_MAX_SENSITIVITY / look ||
		  !race_choice_budget(request->epsilon, share, sensitivity * look, &choice))) ||
		!race_laplace_budget(choice.rest, sensitivity * weight, sensitivity, &budget))
		return false;
	plan->choice_noise = choice.scale;
	plan->counter_noise = budget.counter_scale;
	plan->count_noise = budget.count_scale;
	plan->noise.mechanism = RACE_MECHANISM_LAPLACE;
	plan->noise.epsilon = fmin(request->epsilon, race_cost_sum(budget.epsilon, choice.cost));
	plan->noise.rho = race_rho_of_pure(plan->noise.epsilon);
	plan->noise.counter_variance = race_discrete_laplace_variance(budget.counter_scale);
	plan->noise.count_variance = race_discrete_laplace_variance(budget.count_scale);
	return true;
}

/*
 * Moments of which all records have a small norm: a Wishart matrix, where it has less variance than
 * the Laplace noise of a plan, if there is one.
 */
static bool
plan_wishart(const RaceRequest *request, const RaceParams *params, bool laplace, RacePlan *plan)
{
	uint64_t	records = (uint64_t) request->max_contributions * neighbors_factor(request);
	uint64_t	trace = race_moments_trace(params, plan->kept.coarser);
	RaceWishartBudget budget;

	if (records > RACE_MAX_SENSITIVITY / trace ||
		!race_wishart_budget(request->epsilon, race_moments_columns(params), records, trace,
							 &budget) ||
		(laplace && plan->noise.counter_variance <= budget.variance))
		return false;
	plan->counter_noise = budget.scale;
	plan->entry_noise = budget.entry_scale;
	plan->count_noise = budget.count_scale;
	plan->noise.mechanism = RACE_MECHANISM_WISHART;
	plan->noise.epsilon = budget.epsilon;
	plan->noise.rho = race_rho_of_pure(budget.epsilon);
	plan->noise.counter_variance = budget.variance;
	plan->noise.count_variance = race_discrete_laplace_variance(budget.count_scale);
	return true;
}

static bool
plan_pure(const RaceRequest *request, const RaceParams *params, RacePlan *plan)
{
	bool		laplace = plan_laplace(request, params, plan);

	return (race_is_moments(params) && plan_wishart(request, params, laplace, plan)) || laplace;
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
	plan->noise.counter_variance = budget->counter_variance;
	plan->noise.count_variance = budget->count_variance;
}

/* The answers of a grid do not need the count: the sum of its nodes is one. */
static uint32_t
count_share(const RaceRequest *request, const RaceParams *params)
{
	return request->fit && !race_is_grid(params) && !race_is_moments(params) ?
		RACE_COUNT_SHARE_FITTED : RACE_COUNT_SHARE;
}

static bool
plan_gaussian(const RaceRequest *request, const RaceParams *params, RacePlan *plan)
{
	/* how many counters there are does not matter to one draw */
	RaceSensitivity sensitivity = race_sensitivity(request->max_contributions,
												   request->neighbors,
												   race_summary_kind(params)->squared(params, plan->kept), 1);
	RaceGaussianBudget budget;

	if (!race_gaussian_budget(request->epsilon, request->delta,
							  sensitivity.counters, sensitivity.count,
							  count_share(request, params), &budget) ||
		(race_is_moments(params) && budget.counter_variance > RACE_MAX_VARIANCE / 2))
		return false;
	use_gaussian(plan, request, &budget);
	return true;
}

/* The budget is divided as tables are measured; none of it is spent twice (contingency_select.c). */
static bool
plan_tables(const RaceRequest *request, const RaceParams *params, RacePlan *plan)
{
	double		cost = plan->kept.tables != NULL ? plan->kept.tables->cost :
		race_measure_budget(request);
	bool		pure = request->delta == 0;

	plan->count_noise = race_measure_count(request, params, &plan->noise.counter_variance);
	if (plan->count_noise == 0)
		return false;
	if (plan->kept.tables != NULL)
		plan->noise.counter_variance = plan->kept.tables->tables.measured[2];
	plan->noise.mechanism = pure ? RACE_MECHANISM_LAPLACE : RACE_MECHANISM_GAUSSIAN;
	plan->noise.delta = request->delta;
	plan->noise.rho = pure ? race_rho_of_pure(cost) : cost;
	plan->noise.epsilon = fmin(request->epsilon, pure ? cost :
							   race_epsilon_of_rho(cost, request->delta));
	plan->noise.count_variance = pure ? race_discrete_laplace_variance(plan->count_noise) :
		(double) plan->count_noise;
	return true;
}

/*
 * The next coarser integers, while there are some, for noise that is too large for a sampler.
 * To round costs little: less than the noise of some of the last bits.
 */
static bool
make_coarser(const RaceParams *params, RacePlan *plan)
{
	return race_is_moments(params) && plan->kept.coarser++ < RACE_MOMENTS_COARSEST;
}

RaceKept
race_most_kept(const RaceRequest *request, const RaceParams *params)
{
	RaceKept	kept = {request->rows > 0 ? request->rows : params->rows, {0, 1}, 0, NULL};

	if (race_is_grid(params) && request->rows == 0)
		kept.grid.levels = RACE_GRID_LEVELS;
	return kept;
}

/* If a share leaves open what to keep, it keeps all: the parties must keep the same. */
static RaceKept
kept_by_shares(const RaceRequest *request, const RaceParams *params)
{
	RaceKept	kept = {request->rows > 0 ? request->rows : params->rows, {0, 1}, 0, NULL};

	return kept;
}

bool
race_plan_share(const RaceRequest *request, const RaceParams *params,
				const RaceFederation *federation, RacePlan *plan)
{
	RaceKept	kept = kept_by_shares(request, params);
	uint32_t	honest = race_honest_shares(federation->parties, federation->colluders,
											federation->dropouts);
	RaceSensitivity sensitivity;
	RaceGaussianBudget budget;

	start_plan(request, params, kept, RACE_STATUS_SHARE, plan);
	sensitivity = race_sensitivity(request->max_contributions, request->neighbors,
								   race_summary_kind(params)->squared(params, plan->kept),
								   (uint64_t) kept.rows * params->range);
	while (!race_share_budget(request->epsilon, request->delta, &sensitivity, honest,
							  &budget) ||
		   !race_is_share_variance(budget.counter_variance, federation->parties) ||
		   !race_is_share_variance(budget.count_variance, federation->parties))
	{
		if (!make_coarser(params, plan))
			return false;
		sensitivity.counters = sensitivity.count * race_summary_kind(params)->squared(params, plan->kept);
	}
	use_gaussian(plan, request, &budget);
	plan->noise.parties = federation->parties;
	plan->noise.colluders = federation->colluders;
	plan->noise.dropouts = federation->dropouts;
	return true;
}

bool
race_plan_release(const RaceRequest *request, const RaceParams *params, RaceKept kept,
				  RacePlan *plan)
{
	start_plan(request, params, kept, RACE_STATUS_PRIVATE, plan);
	if (race_is_contingency(params))
		return plan_tables(request, params, plan);
	while (!(request->delta == 0 ? plan_pure(request, params, plan) :
			 plan_gaussian(request, params, plan)))
		if (!make_coarser(params, plan))
			return false;
	/* the release has the bits again, as zeros */
	plan->noise.counter_variance = ldexp(plan->noise.counter_variance, 2 * plan->kept.coarser);
	return true;
}

/* ------------------------------------------------------------- what to keep */

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
race_expected_noise(const RaceParams *params, const RacePlan *plan)
{
	return race_is_grid(params) ?
		race_grid_noise_variance(params, plan->kept.grid, RACE_GRID_ANYWHERE,
								 plan->noise.counter_variance) :
		plan->noise.counter_variance / plan->kept.rows;
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

double
race_expected_sampling(const RaceRequest *request, const RaceParams *params,
					   RaceKept kept, double mass)
{
	if (race_is_grid(params))
		return pow(race_grid_bias(params, kept.grid) * mass, 2);
	return race_sampling_variance(params, kept.rows, mass) *
		(request->fit ? fitted_sampling(params) : 1);
}

double
race_usual_mass(double records)
{
	return race_kernel_mass(records) * records;
}

/* That of noise alone; INFINITY if it would be too large for a counter */
static double
race_noise_if_kept(const RaceRequest *request, const RaceParams *params, RaceKept kept)
{
	RacePlan	plan;

	return race_plan_release(request, params, kept, &plan) ?
		race_expected_noise(params, &plan) : INFINITY;
}

/*
 * Corollary 3.5 minimizes a/R + 2R/epsilon^2. Here the minimum is taken over powers
 * of two and all rows, with the exact noise. Gaussian noise in a kernel sum does
 * not grow with R, so all rows are best.  A model that is tested by too few rows is not asked, so
 * a release that will be fitted keeps enough of them.
 */
static uint32_t
choose_rows(const RaceRequest *request, const RaceParams *params, double mass)
{
	uint32_t	best = params->rows;
	uint32_t	enough = request->fit ? race_model_least_rows(params) : 1;
	double		least = INFINITY;
	RaceKept	kept = {1, {0, 1}, 0, NULL};

	if (request->delta > 0)
		return params->rows;
	for (;;)
	{
		double		variance = race_noise_if_kept(request, params, kept) +
			race_expected_sampling(request, params, kept, mass);

		if ((kept.rows >= enough || kept.rows == params->rows) && variance < least)
		{
			least = variance;
			best = kept.rows;
		}
		if (kept.rows == params->rows)
			return best;
		kept.rows = kept.rows > params->rows / 2 ? params->rows : 2 * kept.rows;
	}
}

RaceKept
race_choose_kept(const RaceRequest *request, const RaceParams *params, double mass)
{
	RaceKept	kept = {1, {0, 1}, 0, NULL};
	RaceCells	cells;

	if (!race_summary_kind(params)->densities)
		return kept;
	if (race_is_grid(params))
	{
		race_cells_list(request, params, mass, &cells);
		return cells.usual;
	}
	kept.rows = choose_rows(request, params, mass);
	return kept;
}

/*
 * What is compared is a release of so many records for each 1 / epsilon, which lie evenly between
 * the bounds.  How many there are is not public.
 */
#define COMPARED_RECORDS	10000

/* A typical kernel sum of theirs: the root mean square of the kernel, where nodes are finest */
static double
mass_compared(const RaceRequest *request, const RaceParams *grid)
{
	RaceGridChoice finest = {0, 1};
	double		unit = (double) race_record_unit(grid);
	RaceGrid	nodes;

	race_grid_of(grid, &nodes);
	return COMPARED_RECORDS / request->epsilon *
		sqrt(race_grid_noise_variance(grid, finest, RACE_GRID_ANYWHERE, unit * unit) / nodes.nodes);
}

/*
 * A wide kernel sums the noise of many nodes, and where bounds are far apart, cells may be coarse
 * beside a narrow one: then rows are better.  In 8 of 11 cases of a table this chose what was better
 * on it, and in none what had three times the error of the other (test/bench/LEARN-CONDITIONAL.md).
 */
static bool
grid_beats_rows(const RaceParams *params, const RaceRequest *pure, const RaceParams *grid,
				double noise)
{
	double		mass = mass_compared(pure, grid);
	RaceKept	kept = race_choose_kept(pure, grid, mass);

	/* all rows are kept, and a fit then leaves as little in more dimensions */
	return race_noise_if_kept(pure, grid, kept) + race_expected_sampling(pure, grid, kept, mass) <
		noise + race_sampling_variance(params, params->rows, mass) * FITTED_SAMPLING_IN_LINE;
}

/*
 * In two dimensions grids have smaller errors of densities in most tables, whatever epsilon is: on five made
 * tables rows had .6 to 2.8 times their error at epsilon .1, and .6 to 2.1 times at 1.
 */
#define GRID_IN_PLANE	2

bool
race_pure_serves(const RaceRequest *request, const RaceParams *params,
				 const RaceParams *pure_params, bool densities)
{
	RaceRequest pure = *request;
	RaceKept	all = {params->rows, {0, 1}, 0, NULL};
	RacePlan	asked_plan;
	RacePlan	pure_plan;

	pure.delta = 0;
	pure.fit = false;
	if (!race_plan_release(&pure, pure_params, race_most_kept(&pure, pure_params), &pure_plan) ||
		!race_plan_release(request, params, all, &asked_plan))
		return false;
	if (race_is_moments(params))
		return pure_plan.noise.counter_variance < asked_plan.noise.counter_variance;
	if (race_is_grid(params))
		return race_noise_if_kept(&pure, pure_params, all) <
			race_expected_noise(params, &asked_plan);
	return (densities && params->dims == GRID_IN_PLANE) ||
		grid_beats_rows(params, &pure, pure_params, race_expected_noise(params, &asked_plan));
}

/*
 * Which cells of a grid a release keeps.
 *
 * All of this is computed from noisy numbers and public ones: post-processing.
 */

void
race_cells_list(const RaceRequest *request, const RaceParams *params, double mass,
				RaceCells *cells)
{
	RaceKept	kept = {1, {0, 1}, 0, NULL};
	RaceKept	of_one_level = kept;
	double		least = INFINITY;

	cells->n = 0;
	cells->usual = kept;
	for (kept.grid.levels = 1; kept.grid.levels <= RACE_GRID_LEVELS; kept.grid.levels++)
	{
		for (kept.grid.halvings = 0; race_grid_allows(params, kept.grid) &&
			 cells->n < RACE_MOST_CELLS; kept.grid.halvings++)
		{
			double		noise = race_noise_if_kept(request, params, kept);
			double		variance = noise + race_expected_sampling(request, params, kept, mass);

			cells->kept[cells->n] = kept;
			cells->noise[cells->n++] = noise;
			if (variance < least)
			{
				least = variance;
				cells->usual = kept;
			}
		}
		if (kept.grid.levels == 1)
			of_one_level = cells->usual;
	}
	cells->halvings = of_one_level.grid.halvings;
	cells->loss = sqrt(race_expected_sampling(request, params, of_one_level, mass));
}

/*
 * In two and three dimensions what is seen is large beside its noise from the next coarser cells
 * on.  In one dimension, where numbers are often round, it is better to see what the usual cells lose.
 */
int
race_cells_look_at(const RaceParams *params, const RaceCells *cells)
{
	int			halvings = cells->halvings + (params->dims > 1 ? 1 : 0);

	if (halvings < 1)
		halvings = 1;
	while (halvings > 0 && !race_grid_looks_at(params, halvings))
		halvings--;
	return halvings;
}

/* ------------------------------------------------------- what cells may lose */

/*
 * Losses are A 2^(p h) after h halvings: A is lognormal around what is usual, and p is any of these.
 * A smooth table loses with the fourth power of cells, few places with the first.
 */
#define FACTORS			73		/* of A, from 2^-9 to 2^9 */
#define STEPS			4		/* to the next power of 2 */
#define DEVIATION		2.0		/* of its logarithm to base 2 */

static const double powers[] = {1, 1.5, 2, 2.5, 3, 4};

#define POWERS			((int) (sizeof(powers) / sizeof(powers[0])))

/* What is seen is the true loss but for such a part, beside its noise. */
#define OFF				0.2

typedef struct Losses
{
	double		usual;			/* on average over the box, after `from` halvings */
	int			from;
	double		concentration;	/* of records, at least */
	double		weight[FACTORS][POWERS];	/* a posteriori; they add up to 1 */
} Losses;

static double
factor_of(int factor)
{
	return exp2((double) (factor - FACTORS / 2) / STEPS);
}

static double
loss(const Losses *losses, int factor, int power, int halvings)
{
	return losses->usual * factor_of(factor) *
		exp2(powers[power] * (halvings - losses->from));
}

#define USUAL_CONCENTRATION		(RACE_GRID_CONCENTRATION * RACE_GRID_CONCENTRATION)

/*
 * The square of the root mean square of nodes over their mean, if it is seen.  In two and three dimensions
 * records are often near a line, which may lose little.
 */
static double
concentration(const RaceParams *params, const RaceCellsSeen *seen, double records)
{
	double		norm = race_grid_spread_of(params, seen->spread - seen->scale);
	RaceGrid	grid;
	int			i;

	race_grid_of(params, &grid);
	for (i = 0; i < seen->halvings; i++)
		race_grid_halve(&grid);
	return fmax(pow(fmax(norm, 0) / records, 2) * grid.nodes,
				params->dims > 1 ? USUAL_CONCENTRATION : 1);
}

/* The square of losses where questions are asked, over that on average over the box */
static double
where_asked(double concentration)
{
	return (1 + concentration) / 2;
}

/*
 * A table that loses less than usual has its records less close together: the square of what is lost
 * grows with their concentration.
 */
static double
where_asked_after(const Losses *losses, int factor)
{
	double		less = fmin(pow(factor_of(factor), 2), 1);

	return where_asked(fmax(losses->concentration, 1 + (USUAL_CONCENTRATION - 1) * less));
}

static void
weigh(Losses *losses, const RaceParams *params, const RaceCellsSeen *seen, double part)
{
	double		seen_loss = race_grid_loss(params, seen->halvings) * part;
	double		scale = hypot(seen->scale, OFF * seen->detail);
	double		most = -INFINITY;
	double		sum = 0;
	int			i;
	int			j;

	for (i = 0; i < FACTORS; i++)
		for (j = 0; j < POWERS; j++)
		{
			double		off = (double) (i - FACTORS / 2) / STEPS / DEVIATION;
			double		detail = loss(losses, i, j, seen->halvings) / seen_loss;

			losses->weight[i][j] = -off * off / 2 - fabs(seen->detail - detail) / scale;
			most = fmax(most, losses->weight[i][j]);
		}
	for (i = 0; i < FACTORS; i++)
		for (j = 0; j < POWERS; j++)
			sum += losses->weight[i][j] = exp(losses->weight[i][j] - most);
	for (i = 0; i < FACTORS; i++)
		for (j = 0; j < POWERS; j++)
			losses->weight[i][j] /= sum;
}

/*
 * The coarser one of two levels sums a kernel without its peak.  It then loses such a part of what
 * it would lose otherwise: between .02 and .4 on 21 made tables.
 */
#define WITHOUT_PEAK	0.15

/* The square of what is lost near bounds, if all records lie evenly */
static double
lost_at_bounds(const RaceParams *params, RaceGridChoice choice, double records)
{
	double		lost = pow(race_grid_loss_at_bounds(params, choice.halvings) * records, 2);

	if (choice.levels > 1)
		lost += pow(WITHOUT_PEAK * records *
					race_grid_loss_at_bounds(params, choice.halvings + RACE_GRID_LEVEL_HALVINGS), 2);
	return lost;
}

/* The expected error: a root, so that great losses that are unlikely do not decide. */
static double
expected_error(const Losses *losses, RaceGridChoice choice, double variance)
{
	double		sum = 0;
	int			i;
	int			j;

	for (i = 0; i < FACTORS; i++)
	{
		double		where = where_asked_after(losses, i);

		for (j = 0; j < POWERS; j++)
		{
			double		lost = loss(losses, i, j, choice.halvings);
			double		coarse = choice.levels == 1 ? 0 : WITHOUT_PEAK *
				loss(losses, i, j, choice.halvings + RACE_GRID_LEVEL_HALVINGS);

			sum += losses->weight[i][j] *
				sqrt(variance + where * (lost * lost + coarse * coarse));
		}
	}
	return sum;
}

RaceKept
race_cells_choose(const RaceParams *params, const RaceCells *cells, const RaceCellsSeen *seen,
				  double records, double part)
{
	RaceKept	best = cells->usual;
	double		least = INFINITY;
	Losses		losses;
	int			i;

	losses.usual = cells->loss / sqrt(where_asked(USUAL_CONCENTRATION));
	losses.from = cells->halvings;
	losses.concentration = concentration(params, seen, records);
	weigh(&losses, params, seen, part);
	for (i = 0; i < cells->n; i++)
	{
		RaceGridChoice choice = cells->kept[i].grid;
		double		error = expected_error(&losses, choice, cells->noise[i] +
										   lost_at_bounds(params, choice, records * part));

		if (error < least)
		{
			least = error;
			best = cells->kept[i];
		}
	}
	return best;
}
