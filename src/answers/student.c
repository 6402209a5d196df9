/*
 * student.c
 *		Quantiles of Student's t distribution.
 */
#include <math.h>

#include "../core/core.h"
#include "student.h"

/* Hill's expansion around the normal quantile, for all but the far tails */
static double
central(double p, double n, double a, double b, double c, double d)
{
	double		x = race_inverse_normal(p / 2);
	double		y = x * x;

	if (n < 5)
		c += 0.3 * (n - 4.5) * (x + 0.6);
	c += (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b;
	y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * x;
	return expm1(a * y * y);
}

/* and around infinity */
static double
tail(double y, double n, double d)
{
	double		near = 1 / (((n + 6) / (n * y) - 0.089 * d - 0.822) * (n + 2) * 3);

	return ((near + 0.5 / (n + 4)) * y - 1) * (n + 1) / (n + 2) + 1 / y;
}

double
race_student_two_sided(double p, double df)
{
	double		n = df;
	double		a;
	double		b;
	double		c;
	double		d;
	double		y;

	if (n == 1)
		return 1 / tan(p * (RACE_PI / 2));
	if (n == 2)
		return sqrt(2 / (p * (2 - p)) - 2);

	a = 1 / (n - 0.5);
	b = 48 / (a * a);
	c = ((20700 * a / b - 98) * a - 16) * a + 96.36;
	d = ((94.5 / (b + c) - 3) / b + 1) * sqrt(a * (RACE_PI / 2)) * n;
	y = pow(d * p, 2 / n);
	y = y > 0.05 + a ? central(p, n, a, b, c, d) : tail(y, n, d);
	return sqrt(n * y);
}
