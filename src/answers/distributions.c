/*
 * distributions.c
 *		Quantiles of Student's t distribution, and tails of the normal and of gamma distributions
 */
#include <math.h>

#include "hash/kernel.h"
#include "hash/quantiles.h"
#include "answers/distributions.h"

/* Compute Hill's expansion around the normal quantile, for all but the far tails. */
static double
central_quantile(double p, double n, double a, double b, double c, double d)
{
	double x = race_inverse_normal(p / 2);
	double y = x * x;

	if (n < 5)
		c += 0.3 * (n - 4.5) * (x + 0.6);
	c += (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b;
	y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * x;
	return expm1(a * y * y);
}

/* Compute Hill's expansion around infinity. */
static double
far_tail(double y, double n, double d)
{
	double near = 1 / (((n + 6) / (n * y) - 0.089 * d - 0.822) * (n + 2) * 3);

	return ((near + 0.5 / (n + 4)) * y - 1) * (n + 1) / (n + 2) + 1 / y;
}

double
race_student_two_sided(double p, double df)
{
	double n = df;
	double a;
	double b;
	double c;
	double d;
	double y;

	if (n == 1)
		return 1 / tan(p * (RACE_PI / 2));
	if (n == 2)
		return sqrt(2 / (p * (2 - p)) - 2);

	a = 1 / (n - 0.5);
	b = 48 / (a * a);
	c = ((20700 * a / b - 98) * a - 16) * a + 96.36;
	d = ((94.5 / (b + c) - 3) / b + 1) * sqrt(a * (RACE_PI / 2)) * n;
	y = pow(d * p, 2 / n);
	y = y > 0.05 + a ? central_quantile(p, n, a, b, c, d) : far_tail(y, n, d);
	return sqrt(n * y);
}

double
race_normal_tail(double x)
{
	return 0.5 * erfc(x / sqrt(2));
}

/* Larger shapes are close enough to normal: Wilson & Hilferty 1931 */
#define LARGE_SHAPE 10000.0
#define MAX_TERMS 100000
#define PRECISION 1e-10

/* Return 1 - P(G > x), by its series; for x below shape + 1. */
static double
gamma_series(double shape, double x)
{
	double term = 1 / shape;
	double sum = term;

	for (int n = 1; n < MAX_TERMS && term > sum * PRECISION; n++)
	{
		term *= x / (shape + n);
		sum += term;
	}
	return sum * exp(shape * log(x) - x - lgamma(shape));
}

/* Return P(G > x), by Lentz's continued fraction; for x from shape + 1 on. */
static double
gamma_fraction(double shape, double x)
{
	double b = x + 1 - shape;
	double c = 1e300;
	double d = 1 / b;
	double h = d;

	for (int n = 1; n < MAX_TERMS; n++)
	{
		double a = -n * (n - shape);
		double change;

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
	double spread = 1 / (9 * shape);

	if (!(x > 0))
		return 1;
	if (shape > LARGE_SHAPE)
		return race_normal_tail((cbrt(x / shape) - 1 + spread) / sqrt(spread));
	return x < shape + 1 ? 1 - gamma_series(shape, x) : gamma_fraction(shape, x);
}

double
race_skew_tail(double x, double variance, double skewness)
{
	double deviations = x / sqrt(variance);
	double shape = 4 / (skewness * skewness);

	if (!(skewness > 1e-4))
		return race_normal_tail(deviations);
	return race_gamma_tail(shape, shape + deviations * sqrt(shape));
}
