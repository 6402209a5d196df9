/*
 * choose_categories.c
 *		Which part of the budget chooses categories, and which counts them
 */
#include <math.h>

#include "choice/choose_categories.h"
#include "privacy/budget.h"

/*
 * Shares of the budget that are tried. A 32nd of it at least is left for the number of records,
 * and for what is counted together: a threshold is a whole number, and for one person less all but
 * nothing might be taken.
 */
#define SHARES 64
#define LARGEST_SHARE 62

/*
 * Return the variance of a cell's number of records, in one of so many tables of one column that
 * share a budget evenly.
 */
static double
table_variance(const RaceChoiceRequest *request, double epsilon, double delta)
{
	double m = request->records;
	double n = request->substitute ? 2 : 1;
	double scale = n * m * request->columns / epsilon;
	double squared = n * m * m * request->columns;

	if (delta == 0)
		return 2 * scale * scale;
	return squared /
		(2 * race_gaussian_account(epsilon, delta, !request->substitute, squared).allowed);
}

/*
 * Return the expected squared error of a plan, with this variance of a cell's number of records.  A
 * category that is a measurement has the error of its number of persons, as the persons that it
 * needs are: how many records each of them has does not weigh thresholds less.
 */
static double
plan_error(const RaceChoiceRequest *request, const RaceThreshold *threshold, double of_cell)
{
	double choices = request->choices;
	double of_category = of_cell;

	if (request->summed > 0)
		of_category = 1 / (1 / of_cell + 1 / race_threshold_variance(threshold));
	return choices * ((double) threshold->least * (double) threshold->least + of_category) +
		(choices * RACE_OTHERS_READ / RACE_CATEGORIES_READ + request->columns - choices) * of_cell;
}

/*
 * Plan with a share of the budget for all choices; returns the expected squared error, infinite if
 * noise would be too large.
 */
static double
plan_share(const RaceChoiceRequest *request, int share, bool pure, RaceChoicePlan *plan)
{
	double choices = request->choices;

	plan->joint_squared = plan->joint_variance = 0;
	plan->epsilon = race_down(race_down(request->epsilon * share) / SHARES / choices);
	plan->delta = pure ? race_down(request->delta / choices) :
						 race_down(race_down(request->delta * share) / SHARES / choices);
	plan->rest_epsilon = race_down(race_down(request->epsilon * (SHARES - share)) / SHARES);
	plan->rest_delta = pure ? 0 : race_down(race_down(request->delta * (SHARES - share)) / SHARES);
	if (!race_threshold_plan(plan->epsilon, plan->delta, request->numbers, !request->substitute,
							 &plan->threshold))
		return INFINITY;
	return plan_error(request, &plan->threshold,
					  table_variance(request, plan->rest_epsilon, plan->rest_delta));
}

/*
 * Plan the same where choices and tables share what one account of Gaussian noise allows, of all of
 * epsilon and half of delta: squared costs add up, where an epsilon of each adds up itself.  The
 * other half of delta is for categories of one person.
 */
static double
plan_joint(const RaceChoiceRequest *request, int share, RaceChoicePlan *plan)
{
	double m = request->records;
	RaceRequest tables = {.epsilon = request->epsilon,
						  .delta = race_down(request->delta / 2),
						  .max_contributions = request->records,
						  .neighbors = request->substitute ? RACE_NEIGHBORS_SUBSTITUTE :
															 RACE_NEIGHBORS_ADD_REMOVE};
	RaceAccount account;

	race_account_open(&account, NULL, &tables, request->columns);
	plan->epsilon = 0;
	plan->delta = race_down(tables.delta / request->choices);
	plan->rest_epsilon = tables.epsilon;
	plan->rest_delta = tables.delta;
	if (!race_threshold_plan_paid(
			&account, race_down(race_account_allowed(&account) * share / SHARES), request->choices,
			request->numbers, plan->delta, &plan->threshold))
		return INFINITY;
	plan->joint_squared = (uint64_t) request->choices * request->numbers;
	plan->joint_variance = plan->threshold.noise;
	return plan_error(request, &plan->threshold,
					  (request->substitute ? 2 : 1) * m * m * request->columns /
						  (2 * race_account_left(&account)));
}

bool
race_choice_plan(const RaceChoiceRequest *request, RaceChoicePlan *plan)
{
	double least = INFINITY;

	for (int share = 1; share <= LARGEST_SHARE; share++)
		/* apart; of tables also apart without a delta, and jointly */
		for (int way = 0; way < (request->tables ? 3 : 1); way++)
		{
			RaceChoicePlan next;
			double error = way == 2 ? plan_joint(request, share, &next) :
									  plan_share(request, share, way == 1, &next);

			if (error < least)
			{
				least = error;
				*plan = next;
			}
		}
	return isfinite(least);
}
