/*
 * share.c
 *		Noise shares: every party adds a part of the noise, and the sum protects.
 *
 * A sum of discrete Gaussians is almost a discrete Gaussian.  The product of the
 * probabilities of y and x - y under variances s and k s is the right Gaussian in x
 * times a Gaussian in y of variance s k / (k + 1), whose center is rarely an
 * integer.  Summed over all y, the last factor depends on x only through its Fourier
 * coefficients q^(j^2), q = exp(-2 pi^2 s k / (k + 1)), so its largest value is at most
 * e^(5q) times its smallest.  Adding one share after the other, log (probability in
 * the sum of n / probability in the discrete Gaussian of variance n s) stays within
 * tau / 2 of 0, where
 *
 *		tau = 10 sum of exp(-2 pi^2 s k / (k + 1)), k = 1, ..., n - 1
 *
 * (Kairouz, Liu & Steinke 2021, theorem 1 and what leads to it).  For a vector of
 * d integers that changes by D in L2, with r = D^2 / (n s), two bounds follow:
 *
 * - alpha r / 2 + tau d in Renyi divergence of order alpha: the loss differs by at
 *	 most tau in each of d places from the Gaussian one, and sums are as
 *	 subgaussian as their terms.  alpha > 1, so this is zero-concentrated for
 *	 rho = r / 2 + tau d.
 * - rho = (sqrt(r) + tau sqrt(d))^2 / 2, because square roots of rho obey the
 *	 triangle inequality, and pure privacy tau / 2 in d places has rho = tau^2 d / 8.
 *
 * Theorem 1 is often quoted with tau d / 4 in place of tau d.  That follows from
 * the divergence where alpha >= 4, not for all alpha, and is not needed: at
 * variance 4 tau is 7e-17.
 */
#include "noise.h"

#include <math.h>

#include "outward.h"

#define TWO_PI_SQUARED	19.7392088021787172

/* This many terms of tau are added up. None of the following terms is larger. */
#define TERMS	64

/* tau, rounded up; at least two shares */
static double
deviation(uint64_t variance, uint32_t shares)
{
	double		rate = TWO_PI_SQUARED * (1 - RACE_MARGIN) * (double) variance;
	double		sum = 0;
	uint32_t	k;

	for (k = 1; k < shares && k < TERMS; k++)
		sum += exp(-rate * k / (k + 1));
	sum += (shares - k) * exp(-rate * k / (k + 1));
	return race_up(10 * sum * (1 + RACE_MARGIN));
}

double
race_rho_of_sum(unsigned __int128 squared, uint64_t cells, uint64_t variance,
				uint32_t shares)
{
	unsigned __int128 total = (unsigned __int128) variance * shares;
	double		ratio;
	double		tau;
	double		linear;
	double		quadratic;

	if (total == 0)
		return INFINITY;
	ratio = race_up(race_up((double) squared) / race_down((double) total));
	if (shares == 1)
		return ratio / 2;

	tau = deviation(variance, shares);
	linear = tau * (double) cells;
	quadratic = tau * sqrt(ratio * (double) cells) + tau * linear / 2;
	return race_cost_sum(ratio / 2, fmin(linear, quadratic) * (1 + RACE_MARGIN));
}

uint32_t
race_honest_shares(uint32_t parties, uint32_t colluders, uint32_t dropouts)
{
	uint64_t	lost = (uint64_t) colluders + dropouts;

	return lost < parties ? parties - (uint32_t) lost : 0;
}

/* The smallest variance of a share that spends at most rho; 0 if there is none */
static uint64_t
share_variance(double rho, unsigned __int128 squared, uint64_t cells,
			   uint32_t shares)
{
	uint64_t	low = RACE_MIN_SHARE_VARIANCE;
	uint64_t	high = RACE_MAX_VARIANCE;

	/* more variance costs less; keep the last variance that was seen to suffice */
	if (!(race_rho_of_sum(squared, cells, high, shares) <= rho))
		return 0;
	while (low < high)
	{
		uint64_t	middle = low + (high - low) / 2;

		if (race_rho_of_sum(squared, cells, middle, shares) <= rho)
			high = middle;
		else
			low = middle + 1;
	}
	return high;
}

static bool
within_limits(double epsilon, double delta, const RaceSensitivity *sensitivity)
{
	unsigned __int128 limit = (unsigned __int128) 1 << 100;

	return epsilon >= RACE_MIN_EPSILON && epsilon <= RACE_MAX_EPSILON &&
		delta >= RACE_MIN_DELTA && delta < 1 &&
		sensitivity->counters >= 1 && sensitivity->counters < limit &&
		sensitivity->count >= 1 && sensitivity->count < limit &&
		sensitivity->cells >= 1;
}

bool
race_share_budget(double epsilon, double delta,
				  const RaceSensitivity *sensitivity, uint32_t honest,
				  RaceGaussianBudget *budget)
{
	double		allowed;
	double		left;

	if (!within_limits(epsilon, delta, sensitivity))
		return false;
	allowed = race_rho_allowed(epsilon, delta);

	/* less by a margin, so that rounding cannot make the sum exceed it */
	budget->count_variance = share_variance(allowed / RACE_COUNT_SHARE,
											sensitivity->count, 1, honest);
	left = allowed * (1 - RACE_MARGIN) -
		race_rho_of_sum(sensitivity->count, 1, budget->count_variance, honest);
	budget->counter_variance = share_variance(left, sensitivity->counters,
											  sensitivity->cells, honest);
	if (budget->count_variance == 0 || budget->counter_variance == 0)
		return false;

	budget->rho = race_share_rho(sensitivity, budget, honest);
	budget->epsilon = fmin(epsilon, race_epsilon_of_rho(budget->rho, delta));
	return true;
}

double
race_share_rho(const RaceSensitivity *sensitivity,
			   const RaceGaussianBudget *budget, uint32_t honest)
{
	return race_cost_sum(race_rho_of_sum(sensitivity->counters, sensitivity->cells,
										 budget->counter_variance, honest),
						 race_rho_of_sum(sensitivity->count, 1,
										 budget->count_variance, honest));
}
