/*
 * ridge.c
 *		Linear regression from noisy sums of products.
 */
#include "ridge.h"

#include <math.h>
#include <string.h>

#include "../linear/factor.h"
#include "../lsh/lsh.h"

/* Entry of two predictors, or of one and the target */
#define At(noisy, which, i, j)	((noisy)->which[(size_t) (i) * (noisy)->n + (j)])

static bool
invert(const RaceNoisy *noisy, const RaceRidge *ridge, double *root, double *inverse)
{
	uint32_t	n = ridge->n;
	uint32_t	i;
	uint32_t	j;

	for (i = 0; i < n; i++)
		for (j = 0; j < n; j++)
			root[(size_t) i * n + j] = At(noisy, likely, ridge->predictors[i],
										  ridge->predictors[j]);
	if (!race_inverse_root(root, n))
		return false;
	race_root_product(root, n, inverse);
	return true;
}

/* y = a x, for a symmetric matrix */
static void
multiply(const double *a, const double *x, uint32_t n, double *y)
{
	uint32_t	i;
	uint32_t	j;

	for (i = 0; i < n; i++)
		for (y[i] = 0, j = 0; j < n; j++)
			y[i] += a[(size_t) i * n + j] * x[j];
}

/* Row i of a matrix of `noisy` times t, which is the coefficients, and -1 for the target */
static double
row_times(const RaceNoisy *noisy, const double *m, const RaceRidge *ridge, uint32_t i)
{
	const double *row = m + (size_t) i * noisy->n;
	double		sum = -row[ridge->target];
	uint32_t	j;

	for (j = 0; j < ridge->n; j++)
		sum += row[ridge->predictors[j]] * ridge->coefficients[j];
	return sum;
}

static double
residual(const RaceNoisy *noisy, const RaceRidge *ridge)
{
	double		sum = -row_times(noisy, noisy->likely, ridge, ridge->target);
	uint32_t	i;

	for (i = 0; i < ridge->n; i++)
		sum += ridge->coefficients[i] *
			row_times(noisy, noisy->likely, ridge, ridge->predictors[i]);
	return fmax(sum, 0) / fmax(noisy->count - ridge->n, 1);
}

/* Entry i, j of the covariance of E t, but for the part that is the same for all i = j */
static double
noise_product(const RaceNoisy *noisy, const double *t, uint32_t i, uint32_t j)
{
	double		other = noisy->other * noisy->other;

	return t[i] * t[j] * (i == j ? noisy->diagonal * noisy->diagonal - other : other);
}

/*
 * The covariance, from the inverse of A.  Noise gives other^2 |t|^2 A^-1 A^-1, and a part that
 * noise_product() knows.  `root` and `shift` are work space.
 */
static void
find_covariance(const RaceNoisy *noisy, RaceRidge *ridge, double *root, const double *inverse,
				double *shift)
{
	uint32_t	n = ridge->n;
	const double *t = ridge->coefficients;
	double		square = 1;
	double	   *half = root;	/* A^-1 times the covariance of E t + (likely - m) t */
	uint32_t	i;
	uint32_t	j;
	uint32_t	k;

	for (i = 0; i < n; i++)
	{
		square += t[i] * t[i];
		shift[i] = row_times(noisy, noisy->likely, ridge, ridge->predictors[i]) -
			row_times(noisy, noisy->m, ridge, ridge->predictors[i]);
	}
	square *= noisy->other * noisy->other;
	for (i = 0; i < n; i++)
	{
		race_look_for_interrupts();
		for (j = 0; j < n; j++)
		{
			double		sum = square * inverse[(size_t) i * n + j];

			for (k = 0; k < n; k++)
				sum += inverse[(size_t) i * n + k] *
					(noise_product(noisy, t, k, j) + shift[k] * shift[j]);
			half[(size_t) i * n + j] = sum;
		}
	}
	for (i = 0; i < n; i++)
	{
		race_look_for_interrupts();
		for (j = 0; j < n; j++)
		{
			double		sum = ridge->residual * inverse[(size_t) i * n + j];

			for (k = 0; k < n; k++)
				sum += half[(size_t) i * n + k] * inverse[(size_t) k * n + j];
			ridge->covariance[(size_t) i * n + j] = sum;
		}
	}
}

bool
race_ridge_fit(const RaceNoisy *noisy, RaceRidge *ridge, double *work)
{
	uint32_t	n = ridge->n;
	double	   *inverse = work;
	double	   *root = inverse + (size_t) n * n;
	double	   *products = root + (size_t) n * n;
	uint32_t	i;

	if (!invert(noisy, ridge, root, inverse))
		return false;
	for (i = 0; i < n; i++)
		products[i] = At(noisy, likely, ridge->predictors[i], ridge->target);
	multiply(inverse, products, n, ridge->coefficients);
	ridge->residual = residual(noisy, ridge);
	find_covariance(noisy, ridge, root, inverse, products);
	return true;
}
