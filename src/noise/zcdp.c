/*
 * zcdp.c
 *		Zero-concentrated privacy: rho, and what it means as (epsilon, delta).
 *
 * rho-zCDP is Renyi privacy (alpha, alpha rho) for every alpha > 1, and each of
 * them implies (epsilon, delta) with
 *
 *		log delta = (alpha - 1)(alpha rho - epsilon) + alpha log(1 - 1/alpha)
 *					- log(alpha - 1)
 *
 * (Canonne, Kamath & Steinke 2020, proposition 7).  Any alpha gives a valid
 * bound, so the search for the best one need not be exact; only the value at the
 * alpha that it finds must be, and is rounded outward by far more than its
 * rounding error.
 */
#include "noise.h"

#include <math.h>

#include "outward.h"

/* alpha log(1 - 1/alpha) - log(alpha - 1), for alpha = 1 + a, rounded up */
static double
order_term(double a)
{
	/* log(1 - 1/alpha) = -log(1 + 1/a) */
	double		first = (1 + a) * log1p(1 / a);
	double		second = log(a);

	return -first - second + RACE_MARGIN * (fabs(first) + fabs(second));
}

/* epsilon at one order, rounded up */
static double
epsilon_at(double a, double rho, double log_delta)
{
	double		first = (1 + a) * rho;
	double		second = (order_term(a) - log_delta) / a;

	return first + second + RACE_MARGIN * (first + fabs(second));
}

#define LN2		0.69314718055994531

/* minus the rho that means this epsilon and log delta at one order, rounded up */
static double
minus_rho_at(double a, double epsilon, double log_delta)
{
	double		first = log_delta - order_term(a) + a * epsilon * (1 - RACE_MARGIN);

	return -first / (a * (1 + a) * (1 + RACE_MARGIN));
}

typedef double (*Bound) (double a, double x, double y);

/*
 * The least value that a bound takes over a = alpha - 1 in (0, infinity), by
 * golden sections in log a: each bound falls and then rises
 */
static double
least(Bound bound, double x, double y)
{
	const double golden = 0.6180339887498949;
	double		low = -40 * LN2;
	double		high = 1000 * LN2;
	double		best = INFINITY;
	int			i;

	for (i = 0; i < 120; i++)
	{
		double		left = high - golden * (high - low);
		double		right = low + golden * (high - low);
		double		at_left = bound(exp(left), x, y);
		double		at_right = bound(exp(right), x, y);

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
	double		log_delta = log(delta) * (1 + RACE_MARGIN);

	if (rho == 0)
		return 0;
	return fmax(least(epsilon_at, rho, log_delta), 0);
}

double
race_rho_allowed(double epsilon, double delta)
{
	/* the logarithm of delta, rounded down */
	double		log_delta = log(delta) * (1 + RACE_MARGIN);

	return -least(minus_rho_at, epsilon, log_delta);
}

double
race_rho_of_pure(double epsilon)
{
	return race_up(race_up(epsilon * epsilon) / 2);
}
