/*
 * noisy.c
 *		Sums of products with noise, and the exact ones that they most likely come from.
 */
#include "noisy.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "../linear/eigen.h"
#include "../lsh/lsh.h"

/*
 * Noise is taken to move eigenvalues by so many root mean squares of those that it has alone.  On
 * made-up tables .75 to 1 had the least errors.
 */
#define MOVED				0.85

/* Below so many standard deviations a series is used, which is more exact there. */
#define FAR_BELOW			-20

/* Eigenvalues below this share of the largest one are those of rounding errors. */
#define LEAST_EIGENVALUE	1e-12

static double
frobenius(const double *m, uint32_t n)
{
	double		sum = 0;
	size_t		i;

	for (i = 0; i < (size_t) n * n; i++)
		sum += m[i] * m[i];
	return sqrt(sum);
}

/* m = sum of value[k] v v' / |v|^2 over the rows v of `vectors` */
static void
compose(const double *vectors, const double *value, uint32_t n, double *m)
{
	uint32_t	i;
	uint32_t	j;
	uint32_t	k;

	memset(m, 0, (size_t) n * n * sizeof(double));
	for (k = 0; k < n; k++)
	{
		const double *v = vectors + (size_t) k * n;
		double		square = 0;

		race_look_for_interrupts();
		for (i = 0; i < n; i++)
			square += v[i] * v[i];
		for (i = 0; i < n && square > 0; i++)
			for (j = 0; j <= i; j++)
				m[(size_t) i * n + j] += value[k] / square * v[i] * v[j];
	}
	for (i = 0; i < n; i++)
		for (j = 0; j < i; j++)
			m[(size_t) j * n + i] = m[(size_t) i * n + j];
}

/* The mean of a normal distribution around x, without what is below 0 */
static double
positive_mean(double x, double deviation)
{
	double		z = x / deviation;

	if (!(deviation > 0))
		return fmax(x, 0);
	if (z < FAR_BELOW)
		return deviation * (2 / (z * z) - 1) / z;
	return x + deviation * sqrt(2 / RACE_PI) * exp(-z * z / 2) / erfc(-z / sqrt(2));
}

void
race_likely_moments(RaceNoisy *noisy, double *work)
{
	uint32_t	n = noisy->n;
	double		moved = MOVED * sqrt(n) * noisy->other;
	double	   *vectors = work;
	double	   *values = work + (size_t) n * n;
	double		shift = frobenius(noisy->m, n);
	double		largest = 0;
	uint32_t	k;

	/* with this shift no eigenvalue is negative, as race_jacobi() wants it */
	memcpy(vectors, noisy->m, (size_t) n * n * sizeof(double));
	for (k = 0; k < n; k++)
		vectors[(size_t) k * n + k] += shift;
	race_jacobi(vectors, n, n, values);
	for (k = 0; k < n; k++)
	{
		values[k] = positive_mean(values[k] - shift, moved);
		largest = fmax(largest, values[k]);
	}
	for (k = 0; k < n; k++)
		values[k] = fmax(values[k], largest * LEAST_EIGENVALUE);
	compose(vectors, values, n, noisy->likely);
}

double
race_noise_variance(const RaceNoisy *noisy, const double *weight)
{
	uint32_t	n = noisy->n;
	double		diagonal = 0;
	double		other = 0;
	uint32_t	i;
	uint32_t	j;

	for (i = 0; i < n; i++)
	{
		diagonal += weight[(size_t) i * n + i] * weight[(size_t) i * n + i];
		for (j = 0; j < i; j++)
		{
			double		both = weight[(size_t) i * n + j] + weight[(size_t) j * n + i];

			other += both * both;
		}
	}
	return diagonal * noisy->diagonal * noisy->diagonal + other * noisy->other * noisy->other;
}

double
race_likely_spread(const RaceNoisy *noisy, double *mean, double *scatter)
{
	uint32_t	dims = noisy->n - 1;
	double		weight = fmax(noisy->likely[0], DBL_MIN);
	uint32_t	i;
	uint32_t	j;

	for (i = 0; i < dims; i++)
		mean[i] = noisy->likely[i + 1] / weight;
	for (i = 0; i < dims; i++)
		for (j = 0; j < dims; j++)
			scatter[(size_t) i * dims + j] +=
				noisy->likely[(size_t) (i + 1) * noisy->n + j + 1] - weight * mean[i] * mean[j];
	return weight;
}
