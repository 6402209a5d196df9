/*
 * choose_cells.c
 *		Which cells of a grid a release keeps
 *
 * Fine cells have more noise in a kernel sum, and coarse ones lose more of the table.  How much
 * that is depends on the table: a flat one loses nothing for cells that a line cannot do with.  So
 * a pure release looks at what cells a little coarser than usual would lose, with noise, and takes
 * those whose error is then expected to be least.  What follows from noisy numbers and public ones
 * is post-processing.
 */
#include <math.h>

#include "choice/release_kind.h"
#include "privacy/budget.h"
#include "privacy/look.h"
#include "privacy/sampler.h"

/* ------------------------------------------------------ errors by a look */

/*
 * A kernel sum is expected to change by this, in records, for each wavelet that is lost, times the
 * step in bandwidths; and by this at bounds, where half hats are moved, times its square.  No
 * script here prints these numbers.
 */
static const double of_wavelet[RACE_GRID_DIMS + 1] = {0, 0.032, 0.045, 0.05};
static const double of_bounds[RACE_GRID_DIMS + 1] = {0, 0.03, 0.05, 0.07};

/* A look has wavelets of integers, which are so many times as large as those (look.c). */
#define TIMES_DETAIL 6.0

/*
 * Return the cells after these halvings; steps are parts of the bandwidth if a kernel is sharper.
 */
static RaceGrid
halve_grid(const RaceParams *params, int halvings)
{
	double sharpness = params->power;
	RaceGrid grid;

	race_grid_of(params, &grid);
	while (halvings-- > 0)
		race_grid_halve(&grid);
	for (uint32_t i = 0; i < grid.dims; i++)
		grid.step[i] *= sharpness;
	grid.mean_step *= sharpness;
	return grid;
}

static double
peak_of(const RaceParams *params)
{
	return race_kernel_type(params->kernel)->euclidean ? 1 : RACE_L1_BIAS;
}

/*
 * Return the root mean square change of a kernel sum over the box, after so many halvings, for each
 * record of a detail that the last halving loses.
 */
static double
loss_of_detail(const RaceParams *params, int halvings)
{
	RaceGrid grid = halve_grid(params, halvings);
	double wavelets = 1;

	for (uint32_t i = 0; i < grid.dims; i++)
		wavelets *= 2.0 * grid.cells[i];
	return of_wavelet[grid.dims] * peak_of(params) * grid.mean_step / TIMES_DETAIL / sqrt(wavelets);
}

/* Return the same near the bounds, for each record of a table that is uniform. */
static double
loss_at_bounds(const RaceParams *params, int halvings)
{
	RaceGrid grid = halve_grid(params, halvings);
	double box = 1;
	double near_bounds = 0;

	for (uint32_t i = 0; i < grid.dims; i++)
	{
		box *= grid.step[i] * grid.cells[i];
		near_bounds += 2.0 / grid.cells[i];
	}
	return of_bounds[grid.dims] * peak_of(params) * grid.mean_step * grid.mean_step *
		sqrt(near_bounds) / box;
}

#define MOST_CELLS 32 /* most choices of halvings and levels */

static double
cells_sampling(const RaceRequest *request, const RaceParams *params, RaceSelection selection,
			   double mass)
{
	(void) request;
	return pow(race_grid_bias(params, selection.grid) * mass, 2);
}

/* All that a release may keep of a grid, and the variance of noise in a kernel sum then */
typedef struct Cells
{
	int n;
	RaceSelection selection[MOST_CELLS];
	double noise[MOST_CELLS];
	RaceSelection usual; /* the best of tables as they usually are */
	int halvings;        /* halvings of the best of one level */
	double loss;         /* loss that is expected of usual tables after these halvings */
} Cells;

static void
list_cells(const RaceRequest *request, const RaceParams *params, double mass, Cells *cells)
{
	RaceSelection selection = {1, {0, 1}, NULL};
	double least = INFINITY;

	cells->n = 0;
	cells->usual = selection;
	for (; selection.grid.levels <= RACE_GRID_LEVELS; selection.grid.levels++)
	{
		/* bound: MOST_CELLS */
		for (selection.grid.halvings = 0;
			 race_grid_allows(params, selection.grid) && cells->n < MOST_CELLS;
			 selection.grid.halvings++)
		{
			double noise = race_kind_noise(&race_release_cells, request, params, selection);
			double variance = noise + cells_sampling(request, params, selection, mass);

			cells->selection[cells->n] = selection;
			cells->noise[cells->n++] = noise;
			if (variance < least)
			{
				least = variance;
				cells->usual = selection;
			}
		}
		if (selection.grid.levels == 1)
		{
			cells->halvings = cells->usual.grid.halvings;
			cells->loss = sqrt(cells_sampling(request, params, cells->usual, mass));
		}
	}
}

static RaceSelection
choose_cells(const RaceRequest *request, const RaceParams *params, double mass)
{
	Cells cells;

	list_cells(request, params, mass, &cells);
	return cells.usual;
}

/*
 * What was seen after so many halvings, with discrete Laplace noise of a scale, which is given as a
 * real number
 */
typedef struct Seen
{
	int halvings;
	double detail; /* detail of the last halving, as in RaceDetails, in records */
	double spread;
	double scale;
} Seen;

/* Look at what the last of so many halvings loses, with noise.  False if it cannot be paid. */
static bool
look_at_grid(RaceRelease *release, int halvings, Seen *seen)
{
	double digits = ldexp(1, -(int) release->request->weight_bits); /* of weights */
	RaceDetails details;
	uint64_t noise = race_look_details(&release->account, release->exact, halvings,
									   release->plan.look_price, release->workspace, &details);

	*seen = (Seen){halvings, digits * (double) details.detail, digits * (double) details.spread,
				   (double) noise / RACE_SCALE_DENOMINATOR * digits};
	return noise > 0;
}

/*
 * Losses are A 2^(p h) after h halvings: A is lognormal around what is usual, and p is any of
 * these.  A smooth table loses with the fourth power of cells, few places with the first.  The
 * deviation of A is assumed.
 */
#define FACTORS 73    /* factors of A that are tried, from 2^-9 to 2^9 */
#define STEPS 4       /* factors to the next power of 2 */
#define DEVIATION 2.0 /* standard deviation of its logarithm to base 2 */

static const double powers[] = {1, 1.5, 2, 2.5, 3, 4};

#define POWERS ((int) (sizeof(powers) / sizeof(powers[0])))

/* What is seen is taken to be the true loss but for such a part, beside its noise. */
#define OFF 0.2

typedef struct Losses
{
	double usual; /* mean over the box, after `from` halvings */
	int from;
	double concentration;           /* least concentration of records */
	double weight[FACTORS][POWERS]; /* probabilities a posteriori; they add up to 1 */
} Losses;

static double
factor_of(int factor)
{
	return exp2((double) (factor - FACTORS / 2) / STEPS);
}

static double
loss_after(const Losses *losses, int factor, int power, int halvings)
{
	return losses->usual * factor_of(factor) * exp2(powers[power] * (halvings - losses->from));
}

/*
 * Half of all questions are taken to be asked where records are.  So many times as much as on
 * average over the box, squared, is assumed to be lost there, or as much more often as records lie
 * closer together.
 */
#define USUAL_CONCENTRATION (3.3 * 3.3)

/* Return the square of losses where questions are asked, over that on average over the box. */
static double
loss_where_asked(double concentration)
{
	return (1 + concentration) / 2;
}

/*
 * Return the square of the root mean square of nodes over their mean, if it is seen.  In two and
 * three dimensions records are often near a line, which may lose little.
 */
static double
seen_concentration(const RaceParams *params, const Seen *seen, double records)
{
	double times = race_spread_factor(params->dims);
	double norm = times == 0 ? 0 : fmax((seen->spread - seen->scale) / times, 0);
	RaceGrid grid;

	race_grid_of(params, &grid);
	for (int i = 0; i < seen->halvings; i++)
		race_grid_halve(&grid);
	return fmax(pow(norm / records, 2) * grid.nodes, params->dims > 1 ? USUAL_CONCENTRATION : 1);
}

/*
 * Infer what a table loses, whose usual loss is `usual` after so many halvings, by what was seen of
 * it.
 */
static void
infer_losses(Losses *losses, const RaceParams *params, const Cells *cells, const Seen *seen,
			 double records)
{
	double seen_loss = loss_of_detail(params, seen->halvings);
	double scale = hypot(seen->scale, OFF * seen->detail);
	double most = -INFINITY;
	double sum = 0;

	losses->usual = cells->loss / sqrt(loss_where_asked(USUAL_CONCENTRATION));
	losses->from = cells->halvings;
	losses->concentration = seen_concentration(params, seen, records);
	for (int i = 0; i < FACTORS; i++)
		for (int j = 0; j < POWERS; j++)
		{
			double off = (double) (i - FACTORS / 2) / STEPS / DEVIATION;
			double detail = loss_after(losses, i, j, seen->halvings) / seen_loss;

			losses->weight[i][j] = -off * off / 2 - fabs(seen->detail - detail) / scale;
			most = fmax(most, losses->weight[i][j]);
		}
	for (int i = 0; i < FACTORS; i++)
		for (int j = 0; j < POWERS; j++)
			sum += losses->weight[i][j] = exp(losses->weight[i][j] - most);
	for (int i = 0; i < FACTORS; i++)
		for (int j = 0; j < POWERS; j++)
			losses->weight[i][j] /= sum;
}

/*
 * Return the expected error: a root, so that great losses that are unlikely do not decide.  A table
 * that loses less than usual has its records less close together: the square of what is lost grows
 * with their concentration.
 */
static double
expected_error(const Losses *losses, RaceGridChoice choice, double variance)
{
	double sum = 0;

	for (int i = 0; i < FACTORS; i++)
	{
		double less = fmin(pow(factor_of(i), 2), 1);
		double where =
			loss_where_asked(fmax(losses->concentration, 1 + (USUAL_CONCENTRATION - 1) * less));

		for (int j = 0; j < POWERS; j++)
		{
			double lost = loss_after(losses, i, j, choice.halvings);

			sum += losses->weight[i][j] * sqrt(variance + where * lost * lost);
		}
	}
	return sum;
}

/*
 * Return after how many halvings a release looks.  In two and three dimensions what is seen is
 * large beside its noise from the next coarser cells on.  In one dimension, where numbers are often
 * round, it is better to see what the usual cells lose.
 */
static int
halvings_of_look(const RaceParams *params, const Cells *cells)
{
	int halvings = params->dims > 1 ? cells->halvings + 1 : cells->halvings;
	RaceShape shape;

	if (halvings < 1)
		halvings = 1;
	race_grid_shape(params, &shape);
	/* bound: one halving less each time */
	while (halvings > 0 && !race_can_look(&shape, halvings))
		halvings--;
	return halvings;
}

/* Return the cells whose error is expected to be least, by what was seen. */
static RaceSelection
best_cells(const RaceParams *params, const Cells *cells, const Seen *seen, double records)
{
	RaceSelection best = cells->usual;
	double least = INFINITY;
	Losses losses;

	infer_losses(&losses, params, cells, seen, records);
	for (int i = 0; i < cells->n; i++)
	{
		RaceGridChoice choice = cells->selection[i].grid;
		double error = expected_error(
			&losses, choice,
			cells->noise[i] + pow(loss_at_bounds(params, choice.halvings) * records, 2));

		if (error < least)
		{
			least = error;
			best = cells->selection[i];
		}
	}
	return best;
}

static RaceSelection
select_cells(RaceRelease *release, double records)
{
	const RaceParams *params = release->params;
	Cells cells;
	Seen seen;
	int halvings;

	list_cells(release->request, params, race_usual_mass(records), &cells);
	halvings = halvings_of_look(params, &cells);
	if (release->plan.look_price > 0 && halvings > 0 && look_at_grid(release, halvings, &seen))
		return best_cells(params, &cells, &seen, records);
	return cells.usual;
}

/*
 * Return the variance of a kernel sum by noise, without what the count tells: a choice that knows
 * it takes coarser cells, of which it underestimates what they lose.
 */
static double
cells_noise(const RaceParams *params, const RacePlan *plan)
{
	return race_grid_noise_variance(params, plan->selection.grid, RACE_GRID_ANYWHERE,
									plan->noise.counter_variance, INFINITY);
}

static uint64_t
cells_look_change(const RaceParams *params)
{
	RaceShape shape;

	race_grid_shape(params, &shape);
	return race_details_change(&shape);
}

static size_t
cells_workspace(const RaceParams *params)
{
	return 2 * (size_t) params->range * sizeof(int64_t);
}

/* Measure the levels that are kept: the second one has nodes four times as far apart. */
static bool
draw_cells(RaceRelease *release, double price, int64_t *counters)
{
	RaceGridChoice kept = release->plan.selection.grid;
	int halvings[RACE_LEVELS] = {kept.halvings, kept.halvings + RACE_GRID_LEVEL_HALVINGS};

	return race_measure_levels(&release->account, release->exact, halvings, kept.levels, price,
							   release->workspace, counters) > 0;
}

static uint64_t
pay_look_at_cells(RaceAccount *account, const RaceExact *planned, double price)
{
	return race_look_details(account, planned, 1, price, NULL, NULL);
}

static uint64_t
pay_levels(RaceAccount *account, const RaceExact *planned, RaceSelection kept, double price)
{
	static const int halvings[RACE_LEVELS] = {0, 0};

	return race_measure_levels(account, planned, halvings, kept.grid.levels, price, NULL, NULL);
}

static uint64_t
cells_squared(const RaceParams *params, RaceSelection kept, int coarser)
{
	(void) coarser;
	return race_kept_squared(params, (uint64_t) kept.grid.levels);
}

const RaceReleaseKind race_release_cells = {.count_share = {RACE_COUNT_SHARE, RACE_COUNT_SHARE},
											.pay_look = pay_look_at_cells,
											.pay_blocks = pay_levels,
											.squared = cells_squared,
											.look_share = {RACE_LOOK_SHARE, RACE_LOOK_SHARE_CELLS},
											.look_change = cells_look_change,
											.open = race_plan_open,
											.plan = race_plan_blocks,
											.noise = cells_noise,
											.sampling = cells_sampling,
											.choose = choose_cells,
											.workspace = cells_workspace,
											.select = select_cells,
											.draw = draw_cells};
