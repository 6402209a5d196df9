/*
 * copula.c
 *		A Gaussian copula by products of signs
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "privacy/interrupt.h"
#include "hash/quantiles.h"
#include "answers/copula.h"
#include "answers/factor.h"

/* ------------------------------------------------------------- correlation */

#define STEPS 256 /* steps of an integral to the largest correlation: off by 4e-5 at most */

/* Return the derivative of P(x > a, y > b) by the arc sine of the correlation (Plackett 1954). */
static double
orthant_slope(double a, double b, double angle)
{
	double cosine = cos(angle);

	return exp(-(a * a + b * b - 2 * a * b * sin(angle)) / (2 * cosine * cosine)) / (2 * M_PI);
}

double
race_sign_correlation(double product, double upper, double other)
{
	double p = fmin(fmax(upper, 1e-9), 1 - 1e-9);
	double q = fmin(fmax(other, 1e-9), 1 - 1e-9);
	double a = -race_inverse_normal(p);
	double b = -race_inverse_normal(q);
	double both = p * q;
	double wanted = (product + 2 * p + 2 * q - 1) / 4; /* P(both signs are 1) */
	double step = copysign(asin(RACE_MOST_CORRELATION) / STEPS, wanted - both);
	double slope = orthant_slope(a, b, 0);

	for (int i = 0; i < STEPS; i++)
	{
		double next = orthant_slope(a, b, (i + 1) * step);
		double more = step * (slope + 4 * orthant_slope(a, b, (i + 0.5) * step) + next) / 6;

		if ((wanted - both - more) * step <= 0)
			return sin((i + (more == 0 ? 0 : (wanted - both) / more)) * step);
		both += more;
		slope = next;
	}
	return copysign(RACE_MOST_CORRELATION, step);
}

double
race_sign_slope(double upper, double other)
{
	return 4 *
		orthant_slope(race_inverse_normal(fmin(fmax(upper, 1e-9), 1 - 1e-9)),
					  race_inverse_normal(fmin(fmax(other, 1e-9), 1 - 1e-9)), 0);
}

/* ------------------------------------------------- matrices of correlations */

#define LEAST_EIGENVALUE 1e-3
#define ROUNDS 50

/*
 * Make the eigenvalues of a matrix LEAST_EIGENVALUE at least.  Return whether any was below half of
 * that.  `work` is space for n (n + 1) numbers.
 */
static bool
raise_eigenvalues(double *r, uint32_t n, double *work)
{
	double *vectors = work;
	double *lengths = work + (size_t) n * n;
	double shift = n; /* no eigenvalue is below -n: the Jacobi method wants none below 0 */
	bool low = false;

	memcpy(vectors, r, (size_t) n * n * sizeof(double));
	for (uint32_t i = 0; i < n; i++)
		vectors[(size_t) i * n + i] += shift;
	race_jacobi(vectors, n, n, lengths);
	memset(r, 0, (size_t) n * n * sizeof(double));
	for (uint32_t k = 0; k < n; k++)
	{
		const double *v = vectors + (size_t) k * n;
		double value = lengths[k] - shift;
		double scale;

		low |= value < LEAST_EIGENVALUE / 2;
		scale = fmax(value, LEAST_EIGENVALUE) / (lengths[k] * lengths[k]);
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t j = 0; j < n; j++)
				r[(size_t) i * n + j] += scale * v[i] * v[j];
	}
	return low;
}

/* Divide a matrix by the roots of its diagonal. */
static void
scale_to_correlations(double *r, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++)
			if (i != j)
				r[(size_t) i * n + j] /= sqrt(r[(size_t) i * n + i] * r[(size_t) j * n + j]);
	for (uint32_t i = 0; i < n; i++)
		r[(size_t) i * n + i] = 1;
}

void
race_nearest_correlation(double *r, uint32_t n, RaceAllocate allocate, void *arg)
{
	size_t cells = (size_t) n * n;
	double *work = allocate(arg, (3 * cells + n) * sizeof(double));
	double *correction = work + cells + n; /* Dykstra's, of the matrices without low eigenvalues */
	double *before = correction + cells;

	memset(correction, 0, cells * sizeof(double));
	for (int round = 0; round < ROUNDS; round++)
	{
		bool low;

		race_look_for_interrupts();
		for (size_t i = 0; i < cells; i++)
			before[i] = r[i] -= correction[i];
		low = raise_eigenvalues(r, n, work);
		for (size_t i = 0; i < cells; i++)
			correction[i] = r[i] - before[i];
		if (!low)
			break;
		for (uint32_t i = 0; i < n; i++)
			r[(size_t) i * n + i] = 1;
	}
	(void) raise_eigenvalues(r, n, work);
	scale_to_correlations(r, n);
}
