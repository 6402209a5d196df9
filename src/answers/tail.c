/*
 * tail.c
 *		Tails of the normal and of gamma distributions.
 */
#include <math.h>

#include "tail.h"

double
race_normal_tail(double x)
{
	return 0.5 * erfc(x / sqrt(2));
}

/* Larger shapes are close enough to normal: Wilson & Hilferty 1931 */
#define LARGE_SHAPE		10000.0
#define MAX_TERMS		100000
#define PRECISION		1e-10

/* 1 - P(G > x), by its series; for x below shape + 1 */
static double
gamma_series(double shape, double x)
{
	double		term = 1 / shape;
	double		sum = term;
	int			n;

	for (n = 1; n < MAX_TERMS && term > sum * PRECISION; n++)
	{
		term *= x / (shape + n);
		sum += term;
	}
	return sum * exp(shape * log(x) - x - lgamma(shape));
}

/* P(G > x), by Lentz's continued fraction; for x from shape + 1 on */
static double
gamma_fraction(double shape, double x)
{
	double		b = x + 1 - shape;
	double		c = 1e300;
	double		d = 1 / b;
	double		h = d;
	int			n;

	for (n = 1; n < MAX_TERMS; n++)
	{
		double		a = -n * (n - shape);
		double		change;

		b += 2;
		d = 1 / (a * d + b);
		c = b + a / c;
		change = c * d;
		h *= change;
		if (fabs(change - 1) < PRECISION)
			break;
	}
	return h * exp(shape * log(x) - x - lgamma(shape));
}

double
race_gamma_tail(double shape, double x)
{
	double		spread = 1 / (9 * shape);

	if (!(x > 0))
		return 1;
	if (shape > LARGE_SHAPE)
		return race_normal_tail((cbrt(x / shape) - 1 + spread) / sqrt(spread));
	return x < shape + 1 ? 1 - gamma_series(shape, x) : gamma_fraction(shape, x);
}

double
race_skew_tail(double x, double variance, double skewness)
{
	double		deviations = x / sqrt(variance);
	double		shape = 4 / (skewness * skewness);

	if (!(skewness > 1e-4))
		return race_normal_tail(deviations);
	return race_gamma_tail(shape, shape + deviations * sqrt(shape));
}
