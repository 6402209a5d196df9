/*
 * series.c
 *		The values of a series: sketches of intervals of time, in the order in which they close:
 *		plain C
 */
#include <math.h>

#include "privacy/series.h"

/* What rounding may add to a sum of costs, and more */
#define ROUNDING (1 - 1e-12)
#define STEP (1 - 1e-9)

/* Of an interval of epsilon: 2^-40 of it is left */
#define BISECTIONS 40

uint32_t
race_series_levels(uint32_t intervals, uint32_t least)
{
	uint32_t levels = 1;

	/* bound: an eighth is left each time */
	for (intervals /= RACE_SERIES_BASE; intervals > 0 && intervals >= least;
		 intervals /= RACE_SERIES_BASE)
		levels++;
	return levels;
}

uint32_t
race_series_closed(uint32_t intervals, uint32_t levels)
{
	uint64_t values = 0;

	for (; levels > 0 && intervals > 0; levels--, intervals /= RACE_SERIES_BASE)
		values += intervals;
	return values < UINT32_MAX ? (uint32_t) values : UINT32_MAX;
}

void
race_series_value(uint32_t number, uint32_t levels, uint32_t *first, uint32_t *length)
{
	uint32_t before = 0; /* a number of intervals that close fewer values */
	uint32_t n = number; /* a number of intervals that close as many: each closes one at least */

	for (int bits = 32; bits > 0 && before + 1 < n; bits--)
	{
		uint32_t middle = before + (n - before) / 2;

		if (race_series_closed(middle, levels) < number)
			before = middle;
		else
			n = middle;
	}
	*length = 1;
	for (uint32_t k = race_series_closed(n - 1, levels) + 1; k < number; k++)
		*length *= RACE_SERIES_BASE;
	*first = n - *length;
}

/* What all values of a series may cost together: in the exact account, and in zCDP */
typedef struct Allowed
{
	double epsilon;
	double delta;
	double exact;
	double rho;
} Allowed;

/*
 * Return whether values of this epsilon cost no more together, where an account allows each of them
 * so much.
 */
static bool
fits_account(double epsilon, double each, double most, const Allowed *allowed, uint32_t levels)
{
	RaceNoise noise = {.epsilon = epsilon, .delta = allowed->delta, .rho = each};

	if (each * levels > most * STEP)
		return false;
	race_series_cost(&noise, levels);
	return noise.epsilon <= allowed->epsilon;
}

/* Return whether values of this epsilon cost no more together in both accounts. */
static bool
fits_accounts(double epsilon, const Allowed *allowed, uint32_t levels)
{
	return fits_account(epsilon, race_gaussian_allowed(epsilon, allowed->delta), allowed->exact,
						allowed, levels) &&
		fits_account(epsilon, race_rho_allowed(epsilon, allowed->delta), allowed->rho, allowed,
					 levels);
}

double
race_series_epsilon(double epsilon, double delta, uint32_t levels)
{
	Allowed allowed = {epsilon, delta, 0, 0};
	double low = RACE_MIN_EPSILON;
	double high;

	if (delta == 0)
		return epsilon / levels * ROUNDING >= low ? epsilon / levels * ROUNDING : 0;
	allowed.exact = race_gaussian_allowed(epsilon, delta);
	allowed.rho = race_rho_allowed(epsilon, delta);
	/*
	 * delta alone allows some noise: what is left of that for a length may suffice for no epsilon
	 */
	if (!fits_accounts(low, &allowed, levels))
		return 0;
	high = fmin(race_gaussian_epsilon(allowed.exact / levels, delta),
				race_epsilon_of_rho(allowed.rho / levels, delta));
	for (int i = 0; i < BISECTIONS && low < high; i++)
	{
		double middle = low + (high - low) / 2;

		if (fits_accounts(middle, &allowed, levels))
			low = middle;
		else
			high = middle;
	}
	return low;
}

void
race_series_cost(RaceNoise *noise, uint32_t levels)
{
	double epsilon = noise->epsilon;
	double rho = noise->rho;

	if (levels == 1)
		return;
	for (uint32_t i = 1; i < levels; i++)
	{
		noise->epsilon = race_cost_sum(noise->epsilon, epsilon);
		noise->rho = race_cost_sum(noise->rho, rho);
	}
	if (noise->delta == 0)
		return;
	noise->epsilon = race_epsilon_of_rho(noise->rho, noise->delta);
	/* more than zCDP allows one value is by the exact account, which may then state less */
	if (race_epsilon_of_rho(rho, noise->delta) > epsilon)
		noise->epsilon =
			fmin(noise->epsilon,
				 race_gaussian_epsilon(
					 race_up(levels * race_gaussian_allowed(epsilon, noise->delta)), noise->delta));
}
