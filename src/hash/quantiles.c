/*
 * quantiles.c
 *		Quantiles, with which coefficients are drawn: from exact operations only
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "hash/kernel.h"
#include "hash/quantiles.h"

/*
 * Return the natural logarithm of a normal double, by 2 atanh((m - 1) / (m + 1)) for the mantissa m
 * in [1/sqrt 2, sqrt 2).  libm's log may differ between machines in its last bit; this one may not.
 */
static double
portable_log(double x)
{
	uint64_t bits;
	int exponent;
	double m;
	double s;
	double s2;
	double sum = 0;

	memcpy(&bits, &x, sizeof(bits));
	exponent = (int) (bits >> 52) - 1022;
	bits = (bits & UINT64_C(0xFFFFFFFFFFFFF)) | UINT64_C(0x3FE0000000000000);
	memcpy(&m, &bits, sizeof(m)); /* in [1/2, 1) */
	if (m < 0.70710678118654752)
	{
		m *= 2;
		exponent--;
	}

	s = (m - 1) / (m + 1);
	s2 = s * s;
	for (int k = 23; k >= 1; k -= 2) /* s2 < 0.03, so s2^12 / 25 < 1e-19 */
		sum = sum * s2 + 1.0 / k;

	return exponent * 0.69314718055994530942 + 2 * s * sum;
}

/* Evaluate a polynomial by Horner's rule over 8 coefficients, the highest first. */
static double
evaluate_polynomial(const double c[8], double x)
{
	double sum = c[0];

	for (int i = 1; i < 8; i++)
		sum = sum * x + c[i];
	return sum;
}

double
race_inverse_normal(double p)
{
	static const double central_num[8] = {
		2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
		13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608};
	static const double central_den[8] = {
		5226.495278852854561,  28729.085735721942674, 39307.89580009271061,  21213.794301586595867,
		5394.1960214247511077, 687.1870074920579083,  42.313330701600911252, 1};
	static const double middle_num[8] = {7.7454501427834140764e-4, 0.0227238449892691845833,
										 0.24178072517745061177,   1.27045825245236838258,
										 3.64784832476320460504,   5.7694972214606914055,
										 4.6303378461565452959,    1.42343711074968357734};
	static const double middle_den[8] = {1.05075007164441684324e-9, 5.475938084995344946e-4,
										 0.0151986665636164571966,  0.14810397642748007459,
										 0.68976733498510000455,    1.6763848301838038494,
										 2.05319162663775882187,    1};
	static const double tail_num[8] = {2.01033439929228813265e-7, 2.71155556874348757815e-5,
									   0.0012426609473880784386,  0.026532189526576123093,
									   0.29656057182850489123,    1.7848265399172913358,
									   5.4637849111641143699,     6.6579046435011037772};
	static const double tail_den[8] = {2.04426310338993978564e-15, 1.4215117583164458887e-7,
									   1.8463183175100546818e-5,   7.868691311456132591e-4,
									   0.0148753612908506148525,   0.13692988092273580531,
									   0.59983220655588793769,     1};
	double q = p - 0.5;
	double r;
	double z;

	if (fabs(q) <= 0.425)
	{
		r = 0.180625 - q * q;
		return q * evaluate_polynomial(central_num, r) / evaluate_polynomial(central_den, r);
	}

	r = sqrt(-portable_log(q < 0 ? p : 1 - p));
	if (r <= 5)
		z = evaluate_polynomial(middle_num, r - 1.6) / evaluate_polynomial(middle_den, r - 1.6);
	else
		z = evaluate_polynomial(tail_num, r - 5) / evaluate_polynomial(tail_den, r - 5);
	return q < 0 ? -z : z;
}

/* Set sin(x) / x and cos(x) for 0 <= x <= pi / 4, by Taylor: the next term is below 1e-20. */
static void
sine_and_cosine(double x, double *sine, double *cosine)
{
	double square = x * x;
	double s = 1;
	double c = 1;

	for (int k = 16; k >= 2; k -= 2)
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
	double v = p - 0.5; /* exact, as are all operations until pi */
	double w = fabs(v);
	double sine;
	double cosine;
	double tangent;

	sine_and_cosine(RACE_PI * (w <= 0.25 ? w : 0.5 - w), &sine, &cosine);
	tangent = w <= 0.25 ? sine / cosine : cosine / sine;
	return v < 0 ? -tangent : tangent;
}
