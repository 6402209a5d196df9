/*
 * budget.c
 *		From epsilon to the scale of noise, and back to the true cost.
 *
 * What decides about noise is exact integer arithmetic; what is only reported
 * is rounded up.
 */
#include "noise.h"

#include <math.h>

/* the count's share of epsilon is 1 / COUNT_SHARE */
#define COUNT_SHARE		20

/*
 * ceil(RACE_SCALE_DENOMINATOR * sensitivity * multiplier / (divisor * epsilon)),
 * exactly; 0 when that is above RACE_MAX_SCALE.
 */
static uint64_t
scale_for(double epsilon, uint64_t sensitivity,
		  uint32_t multiplier, uint32_t divisor)
{
	int			exponent;
	uint64_t	mantissa = (uint64_t) ldexp(frexp(epsilon, &exponent), 53);
	unsigned __int128 dividend;
	unsigned __int128 denominator = (unsigned __int128) mantissa * divisor;
	unsigned __int128 quotient;
	unsigned __int128 rest;

	/* epsilon is mantissa / 2^shift, and below 2^53 */
	int			shift = 53 - exponent;

	dividend = (unsigned __int128) sensitivity * multiplier *
		RACE_SCALE_DENOMINATOR;
	quotient = dividend / denominator;
	rest = dividend % denominator;
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
		if (quotient > RACE_MAX_SCALE)
			return 0;
	}
	if (rest > 0)
		quotient++;
	return quotient > RACE_MAX_SCALE ? 0 : (uint64_t) quotient;
}

static double
up(double x)
{
	return nextafter(x, INFINITY);
}

/* sensitivity / b, rounded up */
static double
cost_of(uint64_t sensitivity, uint64_t scale)
{
	return up(up((double) sensitivity * RACE_SCALE_DENOMINATOR) /
			  (double) scale);
}

bool
race_laplace_budget(double epsilon, uint64_t counter_sensitivity,
					uint64_t count_sensitivity, RaceLaplaceBudget *budget)
{
	budget->counter_scale = scale_for(epsilon, counter_sensitivity,
									  COUNT_SHARE, COUNT_SHARE - 1);
	budget->count_scale = scale_for(epsilon, count_sensitivity, COUNT_SHARE, 1);
	if (budget->counter_scale == 0 || budget->count_scale == 0)
		return false;

	/* the exact cost is at most epsilon, so epsilon bounds it as well */
	budget->epsilon = fmin(epsilon,
						   race_cost_sum(cost_of(counter_sensitivity,
												 budget->counter_scale),
										 cost_of(count_sensitivity,
												 budget->count_scale)));
	return true;
}

double
race_rho_of_pure(double epsilon)
{
	return up(up(epsilon * epsilon) / 2);
}

double
race_cost_sum(double a, double b)
{
	if (a == 0 || b == 0)
		return a + b;
	return up(a + b);
}
