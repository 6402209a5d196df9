/*
 * budget.c
 *		From epsilon to the scale of noise, and back to the true cost.
 *
 * What decides about noise is exact integer arithmetic; what is only reported
 * is rounded up.
 */
#include "noise.h"

#include <math.h>

#include "outward.h"

/*
 * ceil(dividend / (divisor * x)), exactly; 0 when that is above `limit`, which is
 * below 2^63.  x is positive and below 2^53, dividend below 2^110.
 */
static uint64_t
divide_up(unsigned __int128 dividend, uint32_t divisor, double x, uint64_t limit)
{
	int			exponent;
	uint64_t	mantissa = (uint64_t) ldexp(frexp(x, &exponent), 53);
	unsigned __int128 denominator = (unsigned __int128) mantissa * divisor;
	unsigned __int128 quotient = dividend / denominator;
	unsigned __int128 rest = dividend % denominator;

	/* x is mantissa / 2^shift, and below 2^53 */
	int			shift = 53 - exponent;

	for (; shift > 0; shift--)
	{
		/* long division, a binary digit at a time */
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

/* The scale that spends multiplier / divisor of epsilon on a sensitivity */
static uint64_t
scale_for(double epsilon, uint64_t sensitivity,
		  uint32_t multiplier, uint32_t divisor)
{
	return divide_up((unsigned __int128) sensitivity * multiplier *
					 RACE_SCALE_DENOMINATOR, divisor, epsilon, RACE_MAX_SCALE);
}

/* The variance that spends multiplier / divisor of rho on it */
static uint64_t
variance_for(double rho, unsigned __int128 squared,
			 uint32_t multiplier, uint32_t divisor)
{
	return divide_up(squared * multiplier, 2 * divisor, rho, RACE_MAX_VARIANCE);
}

/* sensitivity / b, rounded up */
static double
cost_of(uint64_t sensitivity, uint64_t scale)
{
	return race_up(race_up((double) sensitivity * RACE_SCALE_DENOMINATOR) /
				   (double) scale);
}

bool
race_laplace_budget(double epsilon, uint64_t counter_sensitivity,
					uint64_t count_sensitivity, RaceLaplaceBudget *budget)
{
	budget->counter_scale = scale_for(epsilon, counter_sensitivity,
									  RACE_COUNT_SHARE, RACE_COUNT_SHARE - 1);
	budget->count_scale = scale_for(epsilon, count_sensitivity, RACE_COUNT_SHARE, 1);
	if (budget->counter_scale == 0 || budget->count_scale == 0)
		return false;

	/*
	 * the exact cost is at most epsilon, so epsilon is an upper bound of the true
	 * cost, too
	 */
	budget->epsilon = fmin(epsilon,
						   race_cost_sum(cost_of(counter_sensitivity,
												 budget->counter_scale),
										 cost_of(count_sensitivity,
												 budget->count_scale)));
	return true;
}

/* Of 320 parts the count gets 16, noise that hides rounding 5, and the steps of normal numbers 1. */
#define WISHART_PARTS		320
#define WISHART_TRACE_PARTS	298
#define WISHART_ENTRY_SHARE	64

/* The cost of all is `records` times that of one record, in each part, so that labels can share it. */
bool
race_wishart_budget(double epsilon, uint32_t columns, uint64_t records, uint64_t trace,
					RaceWishartBudget *budget)
{
	uint64_t	entries = (uint64_t) columns * (columns + 1) / 2;
	double		steps = race_up((double) records * race_wishart_steps(columns));
	uint64_t	rounding;

	if (columns > RACE_WISHART_COLUMNS || steps > epsilon / WISHART_PARTS * (1 - RACE_MARGIN))
		return false;
	trace *= records;
	budget->scale = divide_up((unsigned __int128) trace * WISHART_PARTS, 2 * WISHART_TRACE_PARTS,
							  epsilon, RACE_MAX_WISHART_SCALE);
	if (budget->scale == 0)
		return false;
	rounding = race_wishart_rounding(columns, budget->scale) * entries * records;
	budget->entry_scale = scale_for(epsilon, rounding, WISHART_ENTRY_SHARE, 1);
	budget->count_scale = scale_for(epsilon, records, RACE_COUNT_SHARE, 1);
	if (budget->entry_scale == 0 || budget->count_scale == 0)
		return false;
	budget->epsilon = race_cost_sum(race_cost_sum(race_up((double) trace / (2 * (double) budget->scale)),
												  steps),
									race_cost_sum(cost_of(rounding, budget->entry_scale),
												  cost_of(records, budget->count_scale)));
	budget->epsilon = fmin(epsilon, budget->epsilon);
	budget->variance = 2 * (columns + 1.0) * (double) budget->scale * (double) budget->scale +
		race_discrete_laplace_variance(budget->entry_scale);
	return true;
}

bool
race_choice_budget(double epsilon, uint32_t share, uint64_t sensitivity,
				   RaceChoiceBudget *budget)
{
	budget->scale = scale_for(epsilon, sensitivity, share, 1);
	budget->rest = race_down(race_down(epsilon * (share - 1)) / share);
	if (budget->scale == 0)
		return false;
	budget->cost = fmin(race_up(epsilon / share),
						cost_of(sensitivity, budget->scale));
	return true;
}

bool
race_gaussian_budget(double epsilon, double delta,
					 unsigned __int128 counter_squared,
					 unsigned __int128 count_squared,
					 uint32_t count_share, RaceGaussianBudget *budget)
{
	double		allowed = race_rho_allowed(epsilon, delta);

	if (allowed <= 0)
		return false;
	budget->counter_variance = variance_for(allowed, counter_squared, count_share,
											count_share - 1);
	budget->count_variance = variance_for(allowed, count_squared, count_share, 1);
	if (budget->counter_variance == 0 || budget->count_variance == 0)
		return false;

	/*
	 * the exact costs are at most what is allowed and what was asked, so these are
	 * upper bounds of the true cost, too
	 */
	budget->rho = fmin(allowed,
					   race_cost_sum(race_rho_of_sum(counter_squared, 1,
													 budget->counter_variance, 1),
									 race_rho_of_sum(count_squared, 1,
													 budget->count_variance, 1)));
	budget->epsilon = fmin(epsilon, race_epsilon_of_rho(budget->rho, delta));
	return true;
}
