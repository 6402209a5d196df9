/*
 * series.c
 *		The values of a series: sketches of intervals of time, in the order in which they close: plain C
 */
#include <math.h>

#include "series.h"

/* What rounding may add to a sum of costs, and more */
#define ROUNDING		(1 - 1e-12)
#define STEP			(1 - 1e-9)

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

double
race_series_epsilon(double epsilon, double delta, uint32_t levels)
{
	double		allowed;
	double		rho;
	double		each;

	if (delta == 0)
		return epsilon / levels * ROUNDING;
	allowed = race_gaussian_allowed(epsilon, delta) / levels * STEP;
	rho = race_rho_allowed(epsilon, delta) / levels * STEP;
	each = fmin(race_gaussian_epsilon(allowed, delta), race_epsilon_of_rho(rho, delta));

	while (race_gaussian_allowed(each, delta) > allowed || race_rho_allowed(each, delta) > rho)
		each *= STEP;
	return each;
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
