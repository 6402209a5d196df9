/*
 * cost.c
 *		Costs: epsilon, delta and rho, what one implies of another, and their sums
 */
#include <float.h>
#include <math.h>

#include "privacy/cost.h"

/*
 * Zero-concentrated privacy: rho, and what it means as (epsilon, delta).
 *
 * rho-zCDP is Renyi privacy (alpha, alpha rho) for every alpha > 1, and each of
 * them implies (epsilon, delta) with
 *
 * log delta = (alpha - 1)(alpha rho - epsilon) + alpha log(1 - 1/alpha)
 * - log(alpha - 1)
 *
 * (Canonne, Kamath & Steinke 2020, proposition 7).  Any alpha gives a valid
 * bound, so the search for the best one need not be exact; only the value at the
 * alpha that it finds must be, and is rounded outward by far more than its
 * rounding error.
 */

/* Return alpha log(1 - 1/alpha) - log(alpha - 1), for alpha = 1 + a, rounded up. */
static double
order_term(double a)
{
	/* log(1 - 1/alpha) = -log(1 + 1/a) */
	double first = (1 + a) * log1p(1 / a);
	double second = log(a);

	return -first - second + RACE_MARGIN * (fabs(first) + fabs(second));
}

/* Return epsilon at one order, rounded up. */
static double
epsilon_at(double a, double rho, double log_delta)
{
	double first = (1 + a) * rho;
	double second = (order_term(a) - log_delta) / a;

	return first + second + RACE_MARGIN * (first + fabs(second));
}

#define LN2 0.69314718055994531

/* Return minus the rho that means this epsilon and log delta at one order, rounded up. */
static double
minus_rho_at(double a, double epsilon, double log_delta)
{
	double first = log_delta - order_term(a) + a * epsilon * (1 - RACE_MARGIN);

	return -first / (a * (1 + a) * (1 + RACE_MARGIN));
}

typedef double (*Bound)(double a, double x, double y);

/*
 * Return the least value that a bound takes over a = alpha - 1 in (0, infinity), by golden sections
 * in log a: each bound falls and then rises.
 */
static double
least_bound(Bound bound, double x, double y)
{
	const double golden = 0.6180339887498949;
	double low = -40 * LN2;
	double high = 1000 * LN2;
	double best = INFINITY;

	for (int i = 0; i < 120; i++)
	{
		double left = high - golden * (high - low);
		double right = low + golden * (high - low);
		double at_left = bound(exp(left), x, y);
		double at_right = bound(exp(right), x, y);

		best = fmin(best, fmin(at_left, at_right));
		if (!(at_left > at_right))
			high = right;
		else
			low = left;
	}
	return best;
}

double
race_epsilon_of_rho(double rho, double delta)
{
	/* the logarithm of delta, rounded down */
	double log_delta = log(delta) * (1 + RACE_MARGIN);

	if (rho == 0)
		return 0;
	return fmax(least_bound(epsilon_at, rho, log_delta), 0);
}

double
race_rho_allowed(double epsilon, double delta)
{
	/* the logarithm of delta, rounded down */
	double log_delta = log(delta) * (1 + RACE_MARGIN);

	return -least_bound(minus_rho_at, epsilon, log_delta);
}

/*
 * The exact account.
 *
 * The Gaussian mechanism with change D and deviation s is (epsilon, delta) private for mu = D / s
 * and
 *
 *		delta = P(Z > epsilon / mu - mu / 2) - e^epsilon P(Z > epsilon / mu + mu / 2),
 *
 * Z normal, and for no less (Balle & Wang 2018, theorem 8).  Draws of integers, whose probabilities
 * are within a factor e^1e-12 of those of real numbers that were rounded at random, have this delta
 * at epsilon + 1e-12, times e^1e-12.
 */
#define ROUNDING_COST 1e-12 /* cost of rounding fewer than 2^70 integers */
/* relative error of erfc(x), x < 27: x has errors of some ulps, times 2 x^2 */
#define TAIL_MARGIN 1e-11
#define MOST_EXACT_EPSILON 500 /* largest epsilon whose exponential is a double */

/* Return delta at twice this rho = mu^2, rounded up. */
static double
gaussian_delta(double rho, double epsilon)
{
	double mu = sqrt(2 * rho);
	double at = (epsilon - ROUNDING_COST) / mu;
	double first = erfc((at - mu / 2) * sqrt(0.5)) / 2;
	double second = erfc((at + mu / 2) * sqrt(0.5)) / 2;

	/* numbers below have fewer digits; 0 rounds up */
	second = second < DBL_MIN ? 0 : exp(epsilon - ROUNDING_COST) * second;
	return (first * (1 + TAIL_MARGIN) - second * (1 - TAIL_MARGIN)) * (1 + TAIL_MARGIN);
}

double
race_gaussian_allowed(double epsilon, double delta)
{
	double low = race_rho_allowed(epsilon, delta);
	double high = 1000 * low;

	/* keep what suffices, or zCDP: then errors of the search do not matter */
	for (int i = 0; i < 100 && epsilon <= MOST_EXACT_EPSILON; i++)
	{
		double middle = low + (high - low) / 2;

		if (gaussian_delta(middle, epsilon) <= delta)
			low = middle;
		else
			high = middle;
	}
	return low;
}

double
race_gaussian_epsilon(double allowed, double delta)
{
	double low = 0;
	double high = race_epsilon_of_rho(allowed, delta) + ROUNDING_COST;

	/* zCDP may state more than the exact account can */
	if (high > MOST_EXACT_EPSILON && gaussian_delta(allowed, MOST_EXACT_EPSILON) <= delta)
		high = MOST_EXACT_EPSILON;
	for (int i = 0; i < 100 && high <= MOST_EXACT_EPSILON; i++)
	{
		double middle = low + (high - low) / 2;

		if (gaussian_delta(allowed, middle) <= delta)
			high = middle;
		else
			low = middle;
	}
	return high;
}

double
race_rho_of_draw(unsigned __int128 squared, unsigned __int128 variance)
{
	return race_up(race_up((double) squared) / race_down((double) variance)) / 2;
}

double
race_rho_of_pure(double epsilon)
{
	return race_up(race_up(epsilon * epsilon) / 2);
}

/*
 * What several releases cost together.
 */

double
race_cost_sum(double a, double b)
{
	if (a == 0 || b == 0)
		return a + b;
	return race_up(a + b);
}

void
race_total_add(RaceTotal *total, double epsilon, double delta, double rho)
{
	total->releases++;
	total->epsilon = race_cost_sum(total->epsilon, epsilon);
	total->delta = race_cost_sum(total->delta, delta);
	total->rho = race_cost_sum(total->rho, rho);
}

double
race_total_basic(const RaceTotal *total, double delta)
{
	return total->delta <= delta ? total->epsilon : INFINITY;
}

double
race_total_zcdp(const RaceTotal *total, double delta)
{
	return delta >= RACE_MIN_DELTA && delta < 1 ? race_epsilon_of_rho(total->rho, delta) : INFINITY;
}
