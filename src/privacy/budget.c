/*
 * budget.c
 *		From a cost to the least noise that costs no more, and back
 */
#include <math.h>

#include "privacy/budget.h"

/*
 * From epsilon to the scale of noise, and back to the true cost.
 *
 * What decides about noise is exact integer arithmetic; what is only reported
 * is rounded up.
 */

/*
 * Return ceil(dividend / (divisor * x)), exactly; 0 when that is above `limit`, which is below
 * 2^63, or x is not positive and below 2^53.  dividend is below 2^110.
 */
static uint64_t
divide_up(unsigned __int128 dividend, uint32_t divisor, double x, uint64_t limit)
{
	int exponent;
	uint64_t mantissa;
	unsigned __int128 denominator;
	unsigned __int128 quotient;
	unsigned __int128 rest;

	if (!(x > 0 && x < 0x1p53))
		return 0;
	mantissa = (uint64_t) ldexp(frexp(x, &exponent), 53);
	denominator = (unsigned __int128) mantissa * divisor;
	quotient = dividend / denominator;
	rest = dividend % denominator;
	/* x is mantissa / 2^(53 - exponent): long division, a binary digit at a time */
	for (int shift = 53 - exponent; shift > 0; shift--)
	{
		rest <<= 1;
		quotient <<= 1;
		if (rest >= denominator)
		{
			rest -= denominator;
			quotient++;
		}
		if (quotient > limit)
			return 0;
	}
	if (rest > 0)
		quotient++;
	return quotient > limit ? 0 : (uint64_t) quotient;
}

/* Return the scale that spends multiplier / divisor of epsilon on a sensitivity. */
static uint64_t
scale_for(double epsilon, uint64_t sensitivity, uint32_t multiplier, uint32_t divisor)
{
	return divide_up((unsigned __int128) sensitivity * multiplier * RACE_SCALE_DENOMINATOR, divisor,
					 epsilon, RACE_MAX_SCALE);
}

uint64_t
race_variance_for_rho(double rho, unsigned __int128 squared)
{
	return divide_up(squared, 2, rho, RACE_MAX_VARIANCE);
}

/* Return the epsilon that a scale costs, sensitivity / b, rounded up. */
static double
epsilon_of_scale(uint64_t sensitivity, uint64_t scale)
{
	return race_up(race_up((double) sensitivity * RACE_SCALE_DENOMINATOR) / (double) scale);
}

/* Of 304 parts noise that hides rounding gets 5, and the steps of normal numbers 1. */
#define WISHART_PARTS 304
#define WISHART_TRACE_PARTS 298
#define WISHART_ENTRY_PARTS 5

/*
 * Find the least noise.  The cost of all is `records` times that of one record, in each part, so
 * that labels can share it.
 */
bool
race_wishart_budget(double epsilon, uint32_t columns, uint64_t records, uint64_t trace,
					RaceWishartBudget *budget)
{
	uint64_t entries = (uint64_t) columns * (columns + 1) / 2;
	double steps = race_up((double) records * race_wishart_steps(columns));
	uint64_t rounding;

	if (columns > RACE_WISHART_COLUMNS || records > RACE_MAX_SENSITIVITY / trace ||
		steps > epsilon / WISHART_PARTS * (1 - RACE_MARGIN))
		return false;
	trace *= records;
	budget->scale = divide_up((unsigned __int128) trace * WISHART_PARTS, 2 * WISHART_TRACE_PARTS,
							  epsilon, RACE_MAX_WISHART_SCALE);
	if (budget->scale == 0)
		return false;
	rounding = race_wishart_rounding(columns, budget->scale) * entries * records;
	budget->entry_scale = scale_for(epsilon, rounding, WISHART_PARTS, WISHART_ENTRY_PARTS);
	if (budget->entry_scale == 0)
		return false;
	budget->epsilon =
		race_cost_sum(race_cost_sum(race_up((double) trace / (2 * (double) budget->scale)), steps),
					  epsilon_of_scale(rounding, budget->entry_scale));
	budget->epsilon = fmin(epsilon, budget->epsilon);
	budget->variance = 2 * (columns + 1.0) * (double) budget->scale * (double) budget->scale +
		race_discrete_laplace_variance(budget->entry_scale);
	return true;
}

bool
race_choice_budget(double epsilon, uint32_t share, uint64_t sensitivity, RaceChoiceBudget *budget)
{
	budget->scale = scale_for(epsilon, sensitivity, share, 1);
	budget->rest = race_down(race_down(epsilon * (share - 1)) / share);
	if (budget->scale == 0)
		return false;
	budget->cost = fmin(race_up(epsilon / share), epsilon_of_scale(sensitivity, budget->scale));
	return true;
}

RaceGaussianAccount
race_gaussian_account(double epsilon, double delta, bool exact, double squared)
{
	RaceGaussianAccount zcdp = {race_rho_allowed(epsilon, delta), 0};
	RaceGaussianAccount account = {exact ? race_gaussian_allowed(epsilon, delta) : 0,
								   RACE_GAUSSIAN_ROUNDING};

	return exact &&
			squared / (2 * account.allowed) + RACE_GAUSSIAN_ROUNDING <
				squared / (2 * zcdp.allowed) ?
		account :
		zcdp;
}

RaceSensitivity
race_sensitivity(uint32_t max_contributions, RaceNeighbors neighbors, uint64_t squared,
				 uint64_t counters)
{
	RaceSensitivity result;

	/* at most 2^62 * 2 * 2^37 */
	result.count = (unsigned __int128) max_contributions * max_contributions *
		(neighbors == RACE_NEIGHBORS_SUBSTITUTE ? 2 : 1);
	result.counters = result.count * squared;
	result.cells = counters;
	return result;
}
