/*
 * classes.c
 *		Linear discriminant analysis from noisy sums of products, one for each class.
 */
#include "classes.h"

#include <math.h>
#include <string.h>

#include "../linear/eigen.h"
#include "../lsh/lsh.h"

/*
 * A direction in which the means lie apart by less than this share of the first one, or of a
 * standard deviation, is that of rounding errors.
 */
#define LEAST_APART		1e-9

static double *
take(double **space, size_t n)
{
	double	   *taken = *space;

	*space += n;
	return taken;
}

static void
lay_out(RaceClasses *classes, double *space)
{
	size_t		n = classes->n;
	size_t		dims = classes->dims;

	classes->mean = take(&space, n * dims);
	classes->all = take(&space, dims);
	classes->direction = take(&space, n * dims);
	classes->center = take(&space, n * n);
	classes->precision = take(&space, n * n * n);
	classes->log_root = take(&space, n);
	classes->count = take(&space, n);
}

/* Means, the mean of all, and W, the covariance within classes.  weight[n] is that of records. */
static void
find_spread(const RaceNoisy *noisy, RaceClasses *classes, double *w, double *weight)
{
	uint32_t	dims = classes->dims;
	double		sum = 0;
	uint32_t	c;
	size_t		i;

	memset(w, 0, (size_t) dims * dims * sizeof(double));
	memset(classes->all, 0, dims * sizeof(double));
	for (c = 0; c < classes->n; c++)
	{
		double	   *mean = classes->mean + (size_t) c * dims;

		weight[c] = race_likely_spread(&noisy[c], mean, w);
		classes->count[c] = fmax(noisy[c].count, 0);
		sum += weight[c];
		for (i = 0; i < dims; i++)
			classes->all[i] += weight[c] * mean[i];
	}
	for (i = 0; i < dims; i++)
		classes->all[i] /= sum;
	for (i = 0; i < (size_t) dims * dims; i++)
		w[i] /= sum;
}

/* The directions in which the whitened means lie apart, in rows of `apart`; how many */
static uint32_t
find_apart(const RaceClasses *classes, const double *root, const double *weight, double *apart,
		   double *lengths)
{
	uint32_t	dims = classes->dims;
	uint32_t	most = classes->n - 1 < dims ? classes->n - 1 : dims;
	double		sum = 0;
	uint32_t	kept = 0;
	uint32_t	c;
	uint32_t	i;
	uint32_t	j;

	for (c = 0; c < classes->n; c++)
	{
		sum += weight[c];
		for (i = 0; i < dims; i++)
		{
			double		z = 0;

			for (j = 0; j <= i; j++)
				z += root[(size_t) i * dims + j] *
					(classes->mean[(size_t) c * dims + j] - classes->all[j]);
			apart[(size_t) c * dims + i] = z * sqrt(weight[c]);
		}
	}
	race_jacobi(apart, classes->n, dims, lengths);
	while (kept < most && lengths[kept] > LEAST_APART * fmax(lengths[0], sqrt(sum)))
		kept++;
	return kept;
}

/* Directions of white vectors become those of vectors; the largest number is positive. */
static void
find_directions(RaceClasses *classes, const double *root, const double *apart,
				const double *lengths)
{
	uint32_t	dims = classes->dims;
	uint32_t	i;
	uint32_t	j;
	uint32_t	k;

	for (k = 0; k < classes->kept; k++)
	{
		double	   *direction = classes->direction + (size_t) k * dims;
		double		largest = 0;

		for (j = 0; j < dims; j++)
		{
			direction[j] = 0;
			for (i = j; i < dims; i++)
				direction[j] += apart[(size_t) k * dims + i] / lengths[k] *
					root[(size_t) i * dims + j];
			if (fabs(direction[j]) > fabs(largest))
				largest = direction[j];
		}
		for (j = 0; j < dims && largest < 0; j++)
			direction[j] = -direction[j];
	}
}

/* The variance of two directions within a class, times the weight of its records */
static double
product_within(const RaceNoisy *noisy, const double *mean, double weight, const double *a,
			   const double *b)
{
	uint32_t	dims = noisy->n - 1;
	double		sum = -weight * race_dot(mean, a, dims) * race_dot(mean, b, dims);
	uint32_t	i;

	for (i = 0; i < dims; i++)
		sum += a[i] * race_dot(noisy->likely + (size_t) (i + 1) * noisy->n + 1, b, dims);
	return sum;
}

/*
 * The covariance of class c in the directions, as its inverse.  Noise has the standard deviation
 * sqrt(2) other |a|^2 in direction a: so many records of covariance 1 are added.
 */
static bool
find_precision(const RaceNoisy *noisy, RaceClasses *classes, uint32_t c, double weight,
			   double *root)
{
	uint32_t	n = classes->kept;
	uint32_t	dims = classes->dims;
	double	   *precision = classes->precision + (size_t) c * n * n;
	double		more = 0;
	uint32_t	i;
	uint32_t	j;
	uint32_t	k;

	for (i = 0; i < n; i++)
		more += sqrt(2) * noisy->other / n *
			race_dot(classes->direction + (size_t) i * dims, classes->direction + (size_t) i * dims, dims);
	more = fmax(more, 1e-6 * weight);
	for (i = 0; i < n; i++)
		for (j = 0; j < n; j++)
			root[i * n + j] = (product_within(noisy, classes->mean + (size_t) c * dims, weight,
											  classes->direction + (size_t) i * dims,
											  classes->direction + (size_t) j * dims) +
							   (i == j ? more : 0)) / (weight + more);
	if (!race_inverse_root(root, n))
		return false;
	classes->log_root[c] = 0;
	for (i = 0; i < n; i++)
		classes->log_root[c] -= log(root[i * n + i]);
	for (i = 0; i < n; i++)
		for (j = 0; j < n; j++)
			for (precision[i * n + j] = 0, k = i > j ? i : j; k < n; k++)
				precision[i * n + j] += root[k * n + i] * root[k * n + j];
	return true;
}

bool
race_classes_fit(const RaceNoisy *noisy, uint32_t n, double *space, double *work,
				 RaceClasses *classes)
{
	uint32_t	dims = noisy[0].n - 1;
	double	   *w = take(&work, (size_t) dims * dims);
	double	   *apart = take(&work, (size_t) n * dims);
	double	   *lengths = take(&work, n);
	double	   *weight = take(&work, n);
	uint32_t	c;
	uint32_t	k;

	classes->n = n;
	classes->dims = dims;
	lay_out(classes, space);
	find_spread(noisy, classes, w, weight);
	if (!race_inverse_root(w, dims))
		return false;
	classes->kept = find_apart(classes, w, weight, apart, lengths);
	find_directions(classes, w, apart, lengths);
	for (c = 0; c < n; c++)
	{
		race_look_for_interrupts();
		for (k = 0; k < classes->kept; k++)
			classes->center[(size_t) c * classes->kept + k] =
				race_dot(classes->direction + (size_t) k * dims, classes->mean + (size_t) c * dims, dims) -
				race_dot(classes->direction + (size_t) k * dims, classes->all, dims);
		if (!find_precision(&noisy[c], classes, c, weight[c], apart))
			return false;
	}
	return true;
}

/* Where the densities of two classes in one direction stop to move apart, outside of both centers */
static double
hold_between(const RaceClasses *classes, double z)
{
	double		a = classes->center[0];
	double		b = classes->center[1];
	double		p = classes->precision[0];
	double		q = classes->precision[1];
	double		turn = (q * b - p * a) / (q - p);

	if (turn < fmin(a, b))
		return fmax(z, turn);
	if (turn > fmax(a, b))
		return fmin(z, turn);
	return z;
}

void
race_classes_densities(const RaceClasses *classes, const double *x, double *z,
					   double *log_density)
{
	uint32_t	n = classes->kept;
	uint32_t	c;
	uint32_t	i;
	uint32_t	j;

	for (i = 0; i < n; i++)
		z[i] = race_dot(classes->direction + (size_t) i * classes->dims, x, classes->dims) -
			race_dot(classes->direction + (size_t) i * classes->dims, classes->all, classes->dims);
	if (classes->n == 2 && n == 1)
		z[0] = hold_between(classes, z[0]);
	for (c = 0; c < classes->n; c++)
	{
		const double *center = classes->center + (size_t) c * n;
		const double *precision = classes->precision + (size_t) c * n * n;

		log_density[c] = -classes->log_root[c];
		for (i = 0; i < n; i++)
			for (j = 0; j < n; j++)
				log_density[c] -= (z[i] - center[i]) * precision[i * n + j] *
					(z[j] - center[j]) / 2;
	}
}
