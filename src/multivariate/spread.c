/*
 * spread.c
 *		Covariances, correlations and principal components from noisy sums of products.
 */
#include "spread.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "../linear/eigen.h"

/* A variance below this share of the mean square is that of rounding errors. */
#define LEAST_VARIANCE		1e-12

/* ------------------------------------------------------------- two columns */

/* The sums that tell of two columns: of 1, of each column, and of products */
enum
{
	ALL, FIRST, SECOND, FIRST_FIRST, FIRST_SECOND, SECOND_SECOND, SUMS
};

typedef struct Pair
{
	double		sum[SUMS];
	double		deviation[SUMS];	/* of noise */
	double		slope[SUMS];	/* of what is measured */
	double		count;
} Pair;

static void
open_pair(const RaceNoisy *noisy, uint32_t i, uint32_t j, Pair *pair)
{
	const uint32_t row[SUMS] = {0, 0, 0, i, i, j};
	const uint32_t column[SUMS] = {0, i, j, i, j, j};
	int			s;

	for (s = 0; s < SUMS; s++)
	{
		pair->sum[s] = noisy->m[(size_t) row[s] * noisy->n + column[s]];
		pair->deviation[s] = row[s] == column[s] ? noisy->diagonal : noisy->other;
		pair->slope[s] = 0;
	}
	pair->count = fmax(noisy->count, 1);
}

/* The covariance of columns with sums a, b and products p; its slopes, times `factor`, are added. */
static double
covariance(Pair *pair, int a, int b, int p, double factor)
{
	const double *sum = pair->sum;
	double		n = sum[ALL];
	double		value = sum[p] / n - sum[a] / n * (sum[b] / n);

	pair->slope[ALL] += factor * (sum[a] / n * (sum[b] / n) - value) / n;
	pair->slope[a] -= factor * sum[b] / n / n;
	pair->slope[b] -= factor * sum[a] / n / n;
	pair->slope[p] += factor / n;
	return value;
}

/* What was measured, if the number of records stands out of its noise */
static RaceMeasured
measured(const Pair *pair, double value, double sampling)
{
	RaceMeasured result = {true, value, sampling};
	int			s;

	for (s = 0; s < SUMS; s++)
		result.error += pair->slope[s] * pair->slope[s] *
			pair->deviation[s] * pair->deviation[s];
	result.error = sqrt(result.error);
	result.known = pair->sum[ALL] > 2 * pair->deviation[ALL] && isfinite(result.error) &&
		isfinite(value);
	return result;
}

RaceMeasured
race_measure_covariance(const RaceNoisy *noisy, uint32_t i, uint32_t j)
{
	Pair		pair;
	double		value;
	double		squares;

	open_pair(noisy, i, j, &pair);
	squares = fmax(covariance(&pair, FIRST, FIRST, FIRST_FIRST, 0), 0) *
		fmax(covariance(&pair, SECOND, SECOND, SECOND_SECOND, 0), 0);
	if (i == j)
		value = covariance(&pair, FIRST, FIRST, FIRST_FIRST, 1);
	else
		value = covariance(&pair, FIRST, SECOND, FIRST_SECOND, 1);
	return measured(&pair, value, (squares + value * value) / pair.count);
}

RaceMeasured
race_measure_correlation(const RaceNoisy *noisy, uint32_t i, uint32_t j)
{
	RaceMeasured unknown = {false, 0, INFINITY};
	Pair		pair;
	double		first;
	double		second;
	double		root;
	double		value;

	open_pair(noisy, i, j, &pair);
	first = covariance(&pair, FIRST, FIRST, FIRST_FIRST, 0);
	second = covariance(&pair, SECOND, SECOND, SECOND_SECOND, 0);
	if (!(first > 0 && second > 0))
		return unknown;
	root = sqrt(first) * sqrt(second);
	value = covariance(&pair, FIRST, SECOND, FIRST_SECOND, 1 / root) / root;
	covariance(&pair, FIRST, FIRST, FIRST_FIRST, -value / 2 / first);
	covariance(&pair, SECOND, SECOND, SECOND_SECOND, -value / 2 / second);
	if (i == j)
		return (RaceMeasured) {true, 1, 0};
	return measured(&pair, value, pow(fmax(1 - value * value, 0), 2) / pair.count);
}

/* ---------------------------------------------------------------- components */

double
race_likely_deviation(const RaceNoisy *noisy, uint32_t i)
{
	double		weight = fmax(noisy->likely[0], DBL_MIN);
	double		mean = noisy->likely[i] / weight;
	double		square = noisy->likely[(size_t) i * noisy->n + i] / weight;

	return sqrt(fmax(square - mean * mean, fmax(square, DBL_MIN) * LEAST_VARIANCE));
}

/* Make v[n] a unit vector whose largest number is positive. */
static void
normalize(double *v, uint32_t n)
{
	double		square = 0;
	double		largest = 0;
	uint32_t	i;

	for (i = 0; i < n; i++)
	{
		square += v[i] * v[i];
		if (fabs(v[i]) > fabs(largest))
			largest = v[i];
	}
	for (i = 0; i < n && square > 0; i++)
		v[i] *= copysign(1 / sqrt(square), largest);
}

/*
 * The standard error of the variance along a vector: E changes it by t' E t / weight, where t is
 * the vector and, for the constant, what centers it, and by -variance E[0][0] / weight.
 */
static double
component_error(const RaceNoisy *noisy, const double *scale, const double *mean, double weight,
				const double *vector, double variance, double *t, double *entries)
{
	uint32_t	n = noisy->n;
	uint32_t	i;
	uint32_t	j;

	t[0] = 0;
	for (i = 1; i < n; i++)
	{
		t[i] = vector[i - 1] * scale[i - 1];
		t[0] -= t[i] * mean[i - 1];
	}
	for (i = 0; i < n; i++)
		for (j = 0; j < n; j++)
			entries[(size_t) i * n + j] = t[i] * t[j] / weight;
	entries[0] -= variance / weight;
	return sqrt(race_noise_variance(noisy, entries) +
				2 * variance * variance / fmax(noisy->count, 1));
}

void
race_components(const RaceNoisy *noisy, const double *scale, double *work, double *vector,
				RaceMeasured *variance)
{
	uint32_t	dims = noisy->n - 1;
	double	   *mean = work;
	double	   *t = mean + dims;
	double	   *entries = t + noisy->n;
	double	   *lengths = entries;
	double		weight;
	uint32_t	i;
	uint32_t	j;

	memset(vector, 0, (size_t) dims * dims * sizeof(double));
	weight = race_likely_spread(noisy, mean, vector);
	for (i = 0; i < dims; i++)
		for (j = 0; j < dims; j++)
			vector[(size_t) i * dims + j] *= scale[i] * scale[j] / weight;
	race_jacobi(vector, dims, dims, lengths);
	for (i = 0; i < dims; i++)
		variance[i].value = lengths[i];
	for (i = 0; i < dims; i++)
	{
		normalize(vector + (size_t) i * dims, dims);
		variance[i].known = true;
		variance[i].error = component_error(noisy, scale, mean, weight,
											vector + (size_t) i * dims, variance[i].value, t,
											entries);
	}
}
