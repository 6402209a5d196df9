/*
 * series.c
 *		The values of a series: sketches of intervals of time, in the order in which they close: plain C
 */
#include <math.h>

#include "series.h"

/* What rounding may add to a sum of costs, and more */
#define ROUNDING		(1 - 1e-12)
#define STEP			(1 - 1e-9)

/* Of an interval of epsilon: what is left is below the precision of doubles */
#define BISECTIONS		64

uint32_t
race_series_levels(uint32_t intervals, uint32_t least)
{
	uint32_t	levels = 1;

	while ((intervals /= RACE_SERIES_BASE) >= least)
		levels++;
	return levels;
}

uint32_t
race_series_closed(uint32_t intervals, uint32_t levels)
{
	uint32_t	values = 0;

	for (; levels-- > 0; intervals /= RACE_SERIES_BASE)
		values += intervals;
	return values;
}

void
race_series_value(uint32_t number, uint32_t levels, uint32_t *first, uint32_t *length)
{
	/* each interval closes one value, and fewer than 1 / (BASE - 1) more */
	uint32_t	n = (uint32_t) ((uint64_t) number * (RACE_SERIES_BASE - 1) / RACE_SERIES_BASE);

	while (race_series_closed(n, levels) < number)
		n++;
	*length = 1;
	for (uint32_t k = race_series_closed(n - 1, levels) + 1; k < number; k++)
		*length *= RACE_SERIES_BASE;
	*first = n - *length;
}

/* Does epsilon cost no more than this in both accounts? */
static bool
fits(double epsilon, double delta, double allowed, double rho)
{
	return race_gaussian_allowed(epsilon, delta) <= allowed && race_rho_allowed(epsilon, delta) <= rho;
}

double
race_series_epsilon(double epsilon, double delta, uint32_t levels)
{
	double		allowed;
	double		rho;
	double		low = RACE_MIN_EPSILON;
	double		high;

	if (delta == 0)
		return epsilon / levels * ROUNDING >= low ? epsilon / levels * ROUNDING : 0;
	allowed = race_gaussian_allowed(epsilon, delta) / levels * STEP;
	rho = race_rho_allowed(epsilon, delta) / levels * STEP;
	/* delta alone allows some noise: what is left of that for a length may suffice for no epsilon */
	if (!fits(low, delta, allowed, rho))
		return 0;
	high = fmin(race_gaussian_epsilon(allowed, delta), race_epsilon_of_rho(rho, delta));
	if (fits(high, delta, allowed, rho))
		return high;
	for (int i = 0; i < BISECTIONS && low < high; i++)
	{
		double		middle = low + (high - low) / 2;

		if (fits(middle, delta, allowed, rho))
			low = middle;
		else
			high = middle;
	}
	return low;
}

void
race_series_cost(RaceNoise *noise, uint32_t levels)
{
	double		epsilon = noise->epsilon;
	double		rho = noise->rho;

	for (uint32_t i = 1; i < levels; i++)
	{
		noise->epsilon = race_cost_sum(noise->epsilon, epsilon);
		noise->rho = race_cost_sum(noise->rho, rho);
	}
	if (noise->delta > 0)
		noise->epsilon = race_epsilon_of_rho(rho, noise->delta) <= epsilon ? race_epsilon_of_rho(noise->rho, noise->delta) :
			race_gaussian_epsilon(race_up(levels * race_gaussian_allowed(epsilon, noise->delta)), noise->delta);
}
