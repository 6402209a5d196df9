/*
 * l1.c
 *		P-stable hashing for the sum of distances along axes.
 */
#include "l1.h"

#include <math.h>

#include "lsh.h"

double
race_l1_kernel(double c)
{
	double		t = 1 / c;			/* infinite near c = 0 */

	if (c == 0)
		return 1;
	/* both terms are near 2t here; this is their difference */
	if (t < 1e-4)
		return t / RACE_PI * (1 - t * t / 6);
	if (c < 1)					/* where t^2 might overflow */
		return (2 * atan(t) - c * (log1p(c * c) - 2 * log(c))) / RACE_PI;
	return (2 * atan(t) - c * log1p(t * t)) / RACE_PI;
}

/* sin(x) / x and cos(x) for 0 <= x <= pi / 4, by Taylor: the next term is below 1e-20 */
static void
sine_and_cosine(double x, double *sine, double *cosine)
{
	double		square = x * x;
	double		s = 1;
	double		c = 1;
	int			k;

	for (k = 16; k >= 2; k -= 2)
	{
		s = 1 - s * square / (k * (k + 1));
		c = 1 - c * square / (k * (k - 1));
	}
	*sine = s * x;
	*cosine = c;
}

double
race_inverse_cauchy(double p)
{
	double		v = p - 0.5;	/* exact, as are all operations until pi */
	double		w = fabs(v);
	double		sine;
	double		cosine;
	double		tangent;

	sine_and_cosine(RACE_PI * (w <= 0.25 ? w : 0.5 - w), &sine, &cosine);
	tangent = w <= 0.25 ? sine / cosine : cosine / sine;
	return v < 0 ? -tangent : tangent;
}
