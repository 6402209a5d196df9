/*
 * choose_rows.c
 *		How many rows a release keeps
 */
#include <math.h>

#include "privacy/budget.h"
#include "privacy/look.h"
#include "privacy/sampler.h"
#include "hash/model_rows.h"
#include "hash/sampling_variance.h"
#include "choice/release_kind.h"

/*
 * A fit removes most of the sampling error of rows in one dimension: an eighth to a sixteenth of
 * them is best.  In two it removes less: of a table on a line, models of 8 and 16 rows were up to
 * four times as far off as their intervals.  In more, where points are moved, how much it removes
 * depends on the table.  With the rows that are best without it, a fit was 1 to 3.6 times better on
 * four tables; with as few as in one dimension it was 1.4 and 1.6 times worse on two of them than
 * those rows without a fit.
 */
#define FITTED_SAMPLING_IN_PLANE (1.0 / 16)

static double
rows_noise(const RaceParams *params, const RacePlan *plan)
{
	(void) params;
	return plan->noise.counter_variance / plan->selection.rows;
}

/* Return what is left of the sampling variance of rows if they are fitted. */
static double
fitted_sampling(const RaceParams *params)
{
	if (race_model_moves(params))
		return 1;
	return race_model_is_of_vectors(params) && params->dims == 2 ? FITTED_SAMPLING_IN_PLANE :
																   RACE_FITTED_SAMPLING;
}

static double
rows_sampling(const RaceRequest *request, const RaceParams *params, RaceSelection selection,
			  double mass)
{
	return race_sampling_variance(params, selection.rows, mass) *
		(request->fit ? fitted_sampling(params) : 1);
}

/*
 * Choose rows.  Corollary 3.5 minimizes a/R + 2R/epsilon^2.  Here the minimum is taken over powers
 * of two and all rows, with the exact noise.  Gaussian noise in a kernel sum does not grow with R,
 * so all rows are best.  A model that is tested by too few rows is not asked, so a release that
 * will be fitted keeps enough of them.
 */
static RaceSelection
choose_rows(const RaceRequest *request, const RaceParams *params, double mass)
{
	RaceSelection best = {params->rows, {0, 1}, NULL};
	uint32_t enough = request->fit ? race_model_least_rows(params) : 1;
	double least = INFINITY;
	RaceSelection selection = {1, {0, 1}, NULL};

	if (request->delta > 0)
		return best;
	/* bound: twice the rows each time, up to all */
	for (;;)
	{
		double variance = race_kind_noise(&race_release_rows, request, params, selection) +
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
 * Return how many records a typical kernel sum is: half of the root mean square of what rows say at
 * an average record, which norms of order 3 tell (their cubes, without collisions, over the
 * records).
 */
static double
mass_of_norm(double norm, double noise, const RaceParams *params, double records)
{
	double collisions = race_collision_probability(params) * records;

	return sqrt(fmax(pow(norm, 3) / records - collisions * collisions, pow(noise, 3) / records)) /
		2;
}

/*
 * Return the same by noisy norms.  Where noise drowns the norms, what is usual counts for more,
 * unless they exclude it.  The noisy sum of norms is over all rows.
 */
static double
mass_by_norms(const RaceRelease *release, uint64_t look_noise, int64_t sum, double records)
{
	const RaceParams *params = release->params;
	double n = params->rows;
	double noise = ldexp(sqrt(race_discrete_laplace_variance(look_noise)),
						 -(int) release->request->weight_bits) /
		n;
	double norm = fmax((double) sum / n, noise);
	double usual =
		fmin(race_usual_mass(records), mass_of_norm(norm + 2 * noise, noise, params, records));
	/* the standard deviation of the logarithm of the mass */
	double doubt = 1.5 * noise / norm;
	double trust = 1 / (1 + doubt * doubt);

	return pow(mass_of_norm(norm, noise, params, records), trust) * pow(usual, 1 - trust);
}

static RaceSelection
select_rows(RaceRelease *release, double records)
{
	double mass = race_usual_mass(records);
	int64_t sum = 0;

	if (release->plan.look_price > 0)
	{
		uint64_t noise =
			race_look_norms(&release->account, release->exact, release->plan.look_price, &sum);

		if (noise > 0)
			mass = mass_by_norms(release, noise, sum, records);
	}
	return choose_rows(release->request, release->params, mass);
}

/* Return what a record changes of all norms.  The norm of each row changes by 1 at most. */
static uint64_t
rows_look_change(const RaceParams *params)
{
	RaceShape shape;

	race_shape_of(params, NULL, &shape);
	return race_norms_change(&shape);
}

static bool
draw_rows(RaceRelease *release, double price, int64_t *counters)
{
	return race_measure_blocks(&release->account, release->exact, release->plan.selection.rows,
							   price, counters) > 0;
}

static uint64_t
pay_look_at_rows(RaceAccount *account, const RaceExact *planned, double price)
{
	return race_look_norms(account, planned, price, NULL);
}

static uint64_t
pay_rows(RaceAccount *account, const RaceExact *planned, RaceSelection kept, double price)
{
	return race_measure_blocks(account, planned, kept.rows, price, NULL);
}

static uint64_t
rows_squared(const RaceParams *params, RaceSelection kept, int coarser)
{
	(void) coarser;
	return race_kept_squared(params, kept.rows);
}

const RaceReleaseKind race_release_rows = {.count_share = {RACE_COUNT_SHARE, RACE_COUNT_SHARE_ROWS},
										   .look_share = {RACE_LOOK_SHARE, RACE_LOOK_SHARE},
										   .pay_look = pay_look_at_rows,
										   .pay_blocks = pay_rows,
										   .squared = rows_squared,
										   .look_change = rows_look_change,
										   .open = race_plan_open,
										   .plan = race_plan_blocks,
										   .noise = rows_noise,
										   .sampling = rows_sampling,
										   .choose = choose_rows,
										   .select = select_rows,
										   .draw = draw_rows};
