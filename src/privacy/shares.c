/*
 * shares.c
 *		Noise shares of several parties: their noise, and what the sum of honest ones costs
 */
#include <math.h>

#include "privacy/budget.h"
#include "privacy/cost.h"
#include "privacy/shares.h"

/*
 * Noise shares: every party adds a part of the noise, and the sum protects.
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
 * tau = 10 sum of exp(-2 pi^2 s k / (k + 1)), k = 1, ..., n - 1
 *
 * (Kairouz, Liu & Steinke 2021, theorem 1 and what leads to it).  For a vector of
 * d integers that changes by D in L2, with r = D^2 / (n s), two bounds follow:
 *
 * - alpha r / 2 + tau d in Renyi divergence of order alpha: the loss differs by at
 * most tau in each of d places from the Gaussian one, and sums are as
 * subgaussian as their terms.  alpha > 1, so this is zero-concentrated for
 * rho = r / 2 + tau d.
 * - rho = (sqrt(r) + tau sqrt(d))^2 / 2, because square roots of rho obey the
 * triangle inequality, and pure privacy tau / 2 in d places has rho = tau^2 d / 8.
 *
 * Theorem 1 is often quoted with tau d / 4 in place of tau d.  That follows from
 * the divergence where alpha >= 4, not for all alpha, and is not needed: at
 * variance 4 tau is 7e-17.
 */

#define TWO_PI_SQUARED 19.7392088021787172

/* This many terms of tau are added up. None of the following terms is larger. */
#define TERMS 64

/* Return tau, rounded up; for at least two shares. */
static double
tau_of_sum(uint64_t variance, uint32_t shares)
{
	double rate = TWO_PI_SQUARED * (1 - RACE_MARGIN) * (double) variance;
	double sum = 0;
	uint32_t k;

	for (k = 1; k < shares && k < TERMS; k++)
		sum += exp(-rate * k / (k + 1));
	sum += (shares - k) * exp(-rate * k / (k + 1));
	return race_up(10 * sum * (1 + RACE_MARGIN));
}

double
race_rho_of_sum(unsigned __int128 squared, uint64_t cells, uint64_t variance, uint32_t shares)
{
	unsigned __int128 total = (unsigned __int128) variance * shares;
	double ratio;
	double tau;
	double linear;
	double quadratic;

	if (total == 0)
		return INFINITY;
	ratio = 2 * race_rho_of_draw(squared, total);
	if (shares == 1)
		return ratio / 2;

	tau = tau_of_sum(variance, shares);
	linear = tau * (double) cells;
	quadratic = tau * sqrt(ratio * (double) cells) + tau * linear / 2;
	return race_cost_sum(ratio / 2, fmin(linear, quadratic) * (1 + RACE_MARGIN));
}

uint32_t
race_honest_shares(uint32_t parties, uint32_t colluders, uint32_t dropouts)
{
	uint64_t lost = (uint64_t) colluders + dropouts;

	return lost < parties ? parties - (uint32_t) lost : 0;
}

/* Return the smallest variance of a share that spends at most rho; 0 if there is none. */
static uint64_t
share_variance(double rho, unsigned __int128 squared, uint64_t cells, uint32_t shares)
{
	uint64_t low = RACE_MIN_SHARE_VARIANCE;
	uint64_t high = RACE_MAX_VARIANCE;

	/* more variance costs less; keep the last variance that was seen to suffice */
	if (!(race_rho_of_sum(squared, cells, high, shares) <= rho))
		return 0;
	/* bound: half of the interval is left each time */
	while (low < high)
	{
		uint64_t middle = low + (high - low) / 2;

		if (race_rho_of_sum(squared, cells, middle, shares) <= rho)
			high = middle;
		else
			low = middle + 1;
	}
	return high;
}

static bool
are_within_limits(double epsilon, double delta, const RaceSensitivity *sensitivity)
{
	unsigned __int128 limit = (unsigned __int128) 1 << 100;

	return epsilon >= RACE_MIN_EPSILON && epsilon <= RACE_MAX_EPSILON && delta >= RACE_MIN_DELTA &&
		delta < 1 && sensitivity->counters >= 1 && sensitivity->counters < limit &&
		sensitivity->count >= 1 && sensitivity->count < limit && sensitivity->cells >= 1;
}

bool
race_share_budget(double epsilon, double delta, const RaceSensitivity *sensitivity, uint32_t honest,
				  uint32_t count_share, RaceGaussianBudget *budget)
{
	double allowed;
	double left;

	if (!are_within_limits(epsilon, delta, sensitivity))
		return false;
	allowed = race_rho_allowed(epsilon, delta);

	/* less by a margin, so that rounding cannot make the sum exceed it */
	budget->count_variance = share_variance(allowed / count_share, sensitivity->count, 1, honest);
	left = allowed * (1 - RACE_MARGIN) -
		race_rho_of_sum(sensitivity->count, 1, budget->count_variance, honest);
	budget->counter_variance =
		share_variance(left, sensitivity->counters, sensitivity->cells, honest);
	if (budget->count_variance == 0 || budget->counter_variance == 0)
		return false;

	budget->rho = race_share_rho(sensitivity, budget, honest);
	budget->epsilon = fmin(epsilon, race_epsilon_of_rho(budget->rho, delta));
	return true;
}

double
race_share_rho(const RaceSensitivity *sensitivity, const RaceGaussianBudget *budget,
			   uint32_t honest)
{
	return race_cost_sum(race_rho_of_sum(sensitivity->counters, sensitivity->cells,
										 budget->counter_variance, honest),
						 race_rho_of_sum(sensitivity->count, 1, budget->count_variance, honest));
}

/*
 * Sums of noise shares: what they cost, and when they are private.
 *
 * Of n parties, t may collude, and d more may drop out.  Each adds so much noise
 * that the noise of n - t - d parties is enough.  A sum may be asked when it has
 * n - d shares.  Up to t of them may come from colluders, who can subtract their own
 * noise; the noise of n - t - d others remains.  So the cost is that of all shares
 * but t.
 */

uint64_t
race_share_variance(double sum, uint32_t n)
{
	double variance = sum / n;

	if (!(n > 0 && variance >= 1 && variance <= RACE_MAX_VARIANCE) || variance != floor(variance))
		return 0;
	return (uint64_t) variance;
}

/* A float8 holds all integers up to this one */
#define MAX_EXACT_SUM ((uint64_t) 1 << 53)

bool
race_is_share_variance(uint64_t variance, uint32_t parties)
{
	return variance >= RACE_MIN_SHARE_VARIANCE && variance <= MAX_EXACT_SUM / parties;
}

bool
race_shares_match(const RaceNoise *a, const RaceNoise *b)
{
	return a->parties == b->parties && a->colluders == b->colluders && a->dropouts == b->dropouts &&
		a->delta == b->delta &&
		race_share_variance(a->counter_variance, a->releases) ==
		race_share_variance(b->counter_variance, b->releases) &&
		race_share_variance(a->count_variance, a->releases) ==
		race_share_variance(b->count_variance, b->releases);
}

bool
race_merge_share_ids(const RaceNoise *a, const uint64_t *a_ids, const RaceNoise *b,
					 const uint64_t *b_ids, uint64_t *ids)
{
	uint32_t i = 0;
	uint32_t j = 0;

	/* bound: the ids of both, one each time */
	while (i < a->releases || j < b->releases)
	{
		if (i < a->releases && j < b->releases && a_ids[i] == b_ids[j])
			return false;
		if (j == b->releases || (i < a->releases && a_ids[i] < b_ids[j]))
			*ids++ = a_ids[i++];
		else
			*ids++ = b_ids[j++];
	}
	return true;
}

void
race_add_shares(RaceNoise *noise, const RaceNoise *other, uint64_t squared, uint64_t counters)
{
	RaceSensitivity sensitivity =
		race_sensitivity(noise->max_contributions, noise->neighbors, squared, counters);
	RaceGaussianBudget share;

	share.counter_variance = race_share_variance(noise->counter_variance, noise->releases);
	share.count_variance = race_share_variance(noise->count_variance, noise->releases);
	noise->counter_variance += other->counter_variance;
	noise->count_variance += other->count_variance;
	noise->releases += other->releases;
	if (race_has_enough_noise(noise))
	{
		noise->rho = race_share_rho(&sensitivity, &share,
									race_honest_shares(noise->releases, noise->colluders, 0));
		noise->epsilon = fmin(fmin(noise->epsilon, other->epsilon),
							  race_epsilon_of_rho(noise->rho, noise->delta));
	}
	else
	{
		/*
		 * shares of one sum claim the same cost; if a forged share claims another,
		 * take the larger
		 */
		noise->rho = fmax(noise->rho, other->rho);
		noise->epsilon = fmax(noise->epsilon, other->epsilon);
	}
}
