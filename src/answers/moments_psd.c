/*
 * moments_psd.c
 *		Projection of a noisy second-moment matrix onto positive semidefinite ones, ridge,
 *		discriminant: plain C
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "privacy/interrupt.h"
#include "hash/kernel.h"
#include "answers/factor.h"
#include "answers/moments_psd.h"

/*
 * Sums of products with noise, and the exact ones that they most likely come from.
 */

/*
 * Noise is taken to move eigenvalues by so many root mean squares of those that it has alone.  On
 * made-up tables .75 to 1 had the least errors.
 */
#define MOVED 0.85

/* Standard deviations below which a series is used, which is more exact there */
#define FAR_BELOW -20

/* Eigenvalues below this share of the largest one are those of rounding errors. */
#define LEAST_EIGENVALUE 1e-12

static double
frobenius_norm(const double *m, uint32_t n)
{
	double sum = 0;

	for (size_t i = 0; i < (size_t) n * n; i++)
		sum += m[i] * m[i];
	return sqrt(sum);
}

/* Set m = sum of value[k] v v' / |v|^2 over the rows v of `vectors`. */
static void
compose_matrix(const double *vectors, const double *value, uint32_t n, double *m)
{
	memset(m, 0, (size_t) n * n * sizeof(double));
	for (uint32_t k = 0; k < n; k++)
	{
		const double *v = vectors + (size_t) k * n;
		double square = 0;

		race_look_for_interrupts();
		for (uint32_t i = 0; i < n; i++)
			square += v[i] * v[i];
		for (uint32_t i = 0; i < n && square > 0; i++)
			for (uint32_t j = 0; j <= i; j++)
				m[(size_t) i * n + j] += value[k] / square * v[i] * v[j];
	}
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < i; j++)
			m[(size_t) j * n + i] = m[(size_t) i * n + j];
}

/* Return the mean of a normal distribution around x, without the part below 0. */
static double
positive_mean(double x, double deviation)
{
	double z = x / deviation;

	if (!(deviation > 0))
		return fmax(x, 0);
	if (z < FAR_BELOW)
		return deviation * (2 / (z * z) - 1) / z;
	return x + deviation * sqrt(2 / RACE_PI) * exp(-z * z / 2) / erfc(-z / sqrt(2));
}

/* Set m = map m map'. */
static void
map_columns(const double *map, double *m, uint32_t n, double *work)
{
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++)
			work[(size_t) i * n + j] = race_dot(map + (size_t) i * n, m + (size_t) j * n, n);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j <= i; j++)
			m[(size_t) i * n + j] = m[(size_t) j * n + i] =
				race_dot(work + (size_t) i * n, map + (size_t) j * n, n);
}

void
race_project_psd(RaceSecondMoments *sums, double *work)
{
	uint32_t n = sums->n;
	double moved = MOVED * sqrt(n) * sums->other;
	double *vectors = work;
	double *values = work + (size_t) n * n;
	double shift = frobenius_norm(sums->m, n);
	double largest = 0;

	/* with this shift no eigenvalue is negative, as race_jacobi() wants it */
	memcpy(vectors, sums->m, (size_t) n * n * sizeof(double));
	for (uint32_t k = 0; k < n; k++)
		vectors[(size_t) k * n + k] += shift;
	race_jacobi(vectors, n, n, values);
	for (uint32_t k = 0; k < n; k++)
	{
		values[k] = positive_mean(values[k] - shift, moved);
		largest = fmax(largest, values[k]);
	}
	for (uint32_t k = 0; k < n; k++)
		values[k] = fmax(values[k], largest * LEAST_EIGENVALUE);
	compose_matrix(vectors, values, n, sums->projected);
	if (sums->map != NULL)
	{
		map_columns(sums->map, sums->m, n, work);
		map_columns(sums->map, sums->projected, n, work);
	}
}

double
race_noise_variance(const RaceSecondMoments *sums, const double *weight)
{
	uint32_t n = sums->n;
	double diagonal = 0;
	double other = 0;

	for (uint32_t i = 0; i < n; i++)
	{
		diagonal += weight[(size_t) i * n + i] * weight[(size_t) i * n + i];
		for (uint32_t j = 0; j < i; j++)
		{
			double both = weight[(size_t) i * n + j] + weight[(size_t) j * n + i];

			other += both * both;
		}
	}
	return diagonal * sums->diagonal * sums->diagonal + other * sums->other * sums->other;
}

double
race_psd_scatter(const RaceSecondMoments *sums, double *mean, double *scatter)
{
	uint32_t dims = sums->n - 1;
	double weight = fmax(sums->projected[0], DBL_MIN);

	for (uint32_t i = 0; i < dims; i++)
		mean[i] = sums->projected[i + 1] / weight;
	for (uint32_t i = 0; i < dims; i++)
		for (uint32_t j = 0; j < dims; j++)
			scatter[(size_t) i * dims + j] +=
				sums->projected[(size_t) (i + 1) * sums->n + j + 1] - weight * mean[i] * mean[j];
	return weight;
}

/*
 * Linear regression from noisy sums of products.
 */

/* Numbers of public records that are tried, in parts of what the private ones weigh */
static const double public_shares[] = {0, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 100};

/* Return row i of a matrix of `sums` times t, which is the coefficients, and -1 for the target. */
static double
row_times(const RaceSecondMoments *sums, const double *m, const RaceRidge *ridge, uint32_t i)
{
	const double *row = m + (size_t) i * sums->n;
	double sum = -row[ridge->target];

	for (uint32_t j = 0; j < ridge->n; j++)
		sum += row[ridge->predictors[j]] * ridge->coefficients[j];
	return sum;
}

/* Return the sum of squares of the residuals, by a matrix of `sums`. */
static double
squares_left(const RaceSecondMoments *sums, const double *m, const RaceRidge *ridge)
{
	double sum = -row_times(sums, m, ridge, ridge->target);

	for (uint32_t i = 0; i < ridge->n; i++)
		sum += ridge->coefficients[i] * row_times(sums, m, ridge, ridge->predictors[i]);
	return sum;
}

/*
 * Find the covariance of the coefficients from the inverse of A.  Let t be the coefficients and -1
 * for the target.  Noise moves the products of predictors by G E s with s = G' t, where G is the
 * map.  E s has the covariance other^2 (|s|^2 + s s') and on the diagonal (diagonal^2 - 2 other^2)
 * s^2.  `half` is work space, `shift` and `s` too.  Return the estimated risk.
 */
static double
find_covariance(const RaceSecondMoments *sums, RaceRidge *ridge, double *half,
				const double *inverse, const double *without_prior, double *shift, double *s)
{
	uint32_t n = ridge->n;
	double other = sums->other * sums->other;
	double more = sums->diagonal * sums->diagonal - 2 * other;
	double *gs = s + sums->n;
	double risk = squares_left(sums, sums->m, ridge);
	double square = 0;

	for (uint32_t k = 0; k < sums->n; k++)
	{
		s[k] = gs[k] = 0;
		for (uint32_t i = 0; i <= n; i++)
		{
			uint32_t row = i < n ? ridge->predictors[i] : ridge->target;
			double g = sums->map != NULL ? sums->map[(size_t) row * sums->n + k] : row == k;

			s[k] += g * (i < n ? ridge->coefficients[i] : -1);
		}
		square += s[k] * s[k];
	}
	for (uint32_t i = 0; i < n; i++)
	{
		const double *map =
			sums->map == NULL ? NULL : sums->map + (size_t) ridge->predictors[i] * sums->n;

		gs[i] = map == NULL ? s[ridge->predictors[i]] : race_dot(map, s, sums->n);
		shift[i] = row_times(sums, sums->projected, ridge, ridge->predictors[i]) -
			row_times(sums, sums->m, ridge, ridge->predictors[i]);
		if (sums->prior != NULL)
			shift[i] -=
				sums->prior_count * row_times(sums, sums->prior, ridge, ridge->predictors[i]);
	}
	/* first the covariance of the products */
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++)
		{
			double sum = other * gs[i] * gs[j];

			for (uint32_t k = 0; k < sums->n && (sums->map != NULL || i == j); k++)
			{
				double g = sums->map == NULL ?
					ridge->predictors[i] == k :
					sums->map[(size_t) ridge->predictors[i] * sums->n + k] *
						sums->map[(size_t) ridge->predictors[j] * sums->n + k];

				sum += g * (other * square + more * s[k] * s[k]);
			}
			risk += 2 * inverse[(size_t) i * n + j] * sum;
			ridge->covariance[(size_t) i * n + j] = sum + shift[i] * shift[j];
		}
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++)
			half[(size_t) i * n + j] =
				race_dot(inverse + (size_t) i * n, ridge->covariance + (size_t) j * n, n);
	for (uint32_t i = 0; i < n; i++)
	{
		race_look_for_interrupts();
		for (uint32_t j = 0; j <= i; j++)
			ridge->covariance[(size_t) i * n + j] = ridge->covariance[(size_t) j * n + i] =
				ridge->residual * inverse[(size_t) i * n + j] +
				race_dot(half + (size_t) i * n, without_prior + (size_t) j * n, n) / 2 +
				race_dot(half + (size_t) j * n, without_prior + (size_t) i * n, n) / 2;
	}
	return risk;
}

/* Fit with a number of prior records, 0 in the first call.  Return false without an inverse. */
static bool
fit_with_prior(RaceSecondMoments *sums, double count, RaceRidge *ridge, double *work, double *risk)
{
	uint32_t n = ridge->n;
	double *inverse = work;
	double *root = inverse + (size_t) n * n;
	double *without_prior = root + (size_t) n * n;
	double *products = without_prior + (size_t) n * n;

	for (size_t i = 0; sums->prior != NULL && i < (size_t) sums->n * sums->n; i++)
		sums->projected[i] += (count - sums->prior_count) * sums->prior[i];
	sums->prior_count = count;
	for (uint32_t i = 0; i < n; i++)
	{
		const double *row = sums->projected + (size_t) ridge->predictors[i] * sums->n;

		for (uint32_t j = 0; j < n; j++)
			root[(size_t) i * n + j] = row[ridge->predictors[j]];
		products[i] = row[ridge->target];
	}
	if (!race_inverse_root(root, n))
		return false;
	race_root_product(root, n, inverse);
	if (count == 0)
		memcpy(without_prior, inverse, (size_t) n * n * sizeof(double));
	for (uint32_t i = 0; i < n; i++)
		ridge->coefficients[i] = race_dot(inverse + (size_t) i * n, products, n);
	ridge->residual =
		fmax(squares_left(sums, sums->projected, ridge), 0) / fmax(sums->count + count - n, 1);
	*risk = find_covariance(sums, ridge, root, inverse, without_prior, products, products + n);
	return true;
}

/*
 * Shrink the slopes to 0, and with them predictions to the mean, by the share of the squares they
 * explain that noise alone would explain (James & Stein 1961, with a positive part).  Noise
 * explains so many standard deviations more than its mean at most: where there is no more, no slope
 * is left.  The mean is shrunk to the middle of the bounds in the same way.  On 5,000 rows of 128
 * columns and pure epsilon = .1 the mean R^2 is -.005, without this -.09
 * (test/unit/multivariate_test.c).
 */
#define NOISE_DEVIATIONS 2

static void
shrink_slopes(const RaceSecondMoments *sums, RaceRidge *ridge, double risk, double *moved)
{
	double noise = (risk - squares_left(sums, sums->m, ridge)) / 2;
	double mean = sums->projected[ridge->target] / sums->projected[0];
	double explained = sums->projected[(size_t) ridge->target * sums->n + ridge->target] -
		mean * mean * sums->projected[0] - squares_left(sums, sums->projected, ridge);
	double most = noise * (1 + NOISE_DEVIATIONS * sqrt(2.0 / ridge->n));
	double kept = explained > most ? fmin(1 - most / explained, 1) : 0;

	if (sums->map == NULL && mean * mean > 0)
		mean *= fmax(1 - pow(sums->other / sums->projected[0] / mean, 2), 0);
	/* what this moves may be an error, too */
	for (uint32_t i = 0; i < ridge->n; i++)
		moved[i] = (1 - kept) * ((i == 0 ? mean : 0) - ridge->coefficients[i]);
	for (uint32_t i = 0; i < ridge->n; i++)
	{
		ridge->coefficients[i] += moved[i];
		for (uint32_t j = 0; j < ridge->n; j++)
			ridge->covariance[(size_t) i * ridge->n + j] += moved[i] * moved[j];
	}
}

bool
race_ridge_fit(RaceSecondMoments *sums, RaceRidge *ridge, double *work)
{
	double weight = sums->projected[0];
	double least = INFINITY;
	double best = 0;
	double risk;

	for (size_t i = 0; sums->prior != NULL && i < sizeof(public_shares) / sizeof(public_shares[0]);
		 i++)
	{
		double count = public_shares[i] * weight;

		if (!fit_with_prior(sums, count, ridge, work, &risk))
			return false;
		if (risk < least)
		{
			least = risk;
			best = count;
		}
	}
	if (!fit_with_prior(sums, best, ridge, work, &risk))
		return false;
	shrink_slopes(sums, ridge, risk, work);
	return true;
}

/*
 * Linear discriminant analysis from noisy sums of products, one for each class.
 */

/*
 * A direction in which the means lie apart by less than this share of the first one, or of a
 * standard deviation, is that of rounding errors.
 */
#define LEAST_APART 1e-9

static double *
take_space(double **space, size_t n)
{
	double *taken = *space;

	*space += n;
	return taken;
}

static void
lay_out(RaceDiscriminants *classes, double *space)
{
	size_t n = classes->n;
	size_t dims = classes->dims;

	classes->mean = take_space(&space, n * dims);
	classes->all = take_space(&space, dims);
	classes->direction = take_space(&space, n * dims);
	classes->center = take_space(&space, n * n);
	classes->precision = take_space(&space, n * n * n);
	classes->log_root = take_space(&space, n);
	classes->count = take_space(&space, n);
}

/* Compute the means, the mean of all, W (covariance within classes), and weight[n] of records. */
static void
find_spread(const RaceSecondMoments *sums, RaceDiscriminants *classes, double *w, double *weight)
{
	uint32_t dims = classes->dims;
	double sum = 0;

	memset(w, 0, (size_t) dims * dims * sizeof(double));
	memset(classes->all, 0, dims * sizeof(double));
	for (uint32_t c = 0; c < classes->n; c++)
	{
		double *mean = classes->mean + (size_t) c * dims;

		weight[c] = race_psd_scatter(&sums[c], mean, w);
		classes->count[c] = fmax(sums[c].count, 0);
		sum += weight[c];
		for (size_t i = 0; i < dims; i++)
			classes->all[i] += weight[c] * mean[i];
	}
	for (size_t i = 0; i < dims; i++)
		classes->all[i] /= sum;
	for (size_t i = 0; i < (size_t) dims * dims; i++)
		w[i] /= sum;
}

/*
 * Find the directions in which the means of n classes lie apart, the most informative first (Fisher
 * 1936; Rao 1948): directions[n - 1][dims].  Return how many there are.  `root`[dims][dims] makes
 * columns white within classes, `all` is the mean of all, and weights are numbers of records.
 * `work` is space for n (dims + 1) + dims numbers.
 */
static uint32_t
directions_apart(const double *means, const double *all, const double *weight, uint32_t n,
				 const double *root, uint32_t dims, double *work, double *directions)
{
	uint32_t most = n - 1 < dims ? n - 1 : dims;
	double *apart = work;
	double *lengths = apart + (size_t) n * dims;
	double *difference = lengths + n;
	double sum = 0;
	uint32_t kept = 0;

	for (uint32_t c = 0; c < n; c++)
	{
		sum += weight[c];
		for (uint32_t j = 0; j < dims; j++)
			difference[j] = (means[(size_t) c * dims + j] - all[j]) * sqrt(weight[c]);
		for (uint32_t i = 0; i < dims; i++)
			apart[(size_t) c * dims + i] = race_dot(root + (size_t) i * dims, difference, dims);
	}
	race_jacobi(apart, n, dims, lengths);
	for (; kept < most && lengths[kept] > LEAST_APART * fmax(lengths[0], sqrt(sum)); kept++)
	{
		double *direction = directions + (size_t) kept * dims;

		for (uint32_t j = 0; j < dims; j++)
		{
			direction[j] = 0;
			for (uint32_t i = 0; i < dims; i++)
				direction[j] +=
					apart[(size_t) kept * dims + i] / lengths[kept] * root[(size_t) i * dims + j];
		}
	}
	return kept;
}

/* Return the variance of two directions within a class by `sums` or m, times its weight. */
static double
product_within(const RaceSecondMoments *sums, const double *m, const double *mean, double weight,
			   const double *a, const double *b)
{
	uint32_t dims = sums->n - 1;
	double sum = -weight * race_dot(mean, a, dims) * race_dot(mean, b, dims);

	for (uint32_t i = 0; i < dims; i++)
		sum += a[i] * race_dot(m + (size_t) (i + 1) * sums->n + 1, b, dims);
	return sum;
}

/*
 * Return how wide classes are in a direction relative to the projected sums, at most 1.  Classes of
 * projected sums are too wide, since noise spreads eigenvalues, and those of the noisy ones too
 * narrow, since noise chose the direction.  Take the geometric mean of both variances.
 */
static double
width_within(const RaceSecondMoments *sums, const RaceDiscriminants *classes, const double *weight,
			 uint32_t direction)
{
	const double *a = classes->direction + (size_t) direction * classes->dims;
	double length = race_dot(a, a, classes->dims);
	double sum = 0;
	double all = 0;
	double noise = 0;

	for (uint32_t c = 0; c < classes->n; c++)
	{
		sum += product_within(&sums[c], sums[c].m, classes->mean + (size_t) c * classes->dims,
							  weight[c], a, a);
		all += weight[c];
		noise += 2 * pow(sums[c].other * length, 2);
	}
	return pow(fmin(positive_mean(sum / all, sqrt(noise) / all), 1), 0.25);
}

/*
 * Find the covariance of class c in the directions, scaled by their widths, as its inverse.  Noise
 * has the standard deviation sqrt(2) other |a|^2 in direction a: so many records of covariance 1
 * are added for each direction.
 */
static bool
find_precision(const RaceSecondMoments *sums, RaceDiscriminants *classes, uint32_t c, double weight,
			   const double *width, double *root)
{
	uint32_t n = classes->kept;
	uint32_t dims = classes->dims;
	double *precision = classes->precision + (size_t) c * n * n;
	double more = 0;

	for (uint32_t i = 0; i < n; i++)
		more += sqrt(2) * sums->other *
			race_dot(classes->direction + (size_t) i * dims, classes->direction + (size_t) i * dims,
					 dims);
	more = fmax(more, 1e-6 * weight);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++)
			root[i * n + j] = width[i] * width[j] *
				(product_within(sums, sums->projected, classes->mean + (size_t) c * dims, weight,
								classes->direction + (size_t) i * dims,
								classes->direction + (size_t) j * dims) +
				 (i == j ? more : 0)) /
				(weight + more);
	if (!race_inverse_root(root, n))
		return false;
	classes->log_root[c] = 0;
	for (uint32_t i = 0; i < n; i++)
		classes->log_root[c] -= log(root[i * n + i]);
	race_root_product(root, n, precision);
	return true;
}

bool
race_classes_fit(const RaceSecondMoments *sums, uint32_t n, double *space, double *work,
				 RaceDiscriminants *classes)
{
	uint32_t dims = sums[0].n - 1;
	double *w = take_space(&work, (size_t) dims * dims);
	double *weight = take_space(&work, n);
	double *width = take_space(&work, n);

	classes->n = n;
	classes->dims = dims;
	lay_out(classes, space);
	find_spread(sums, classes, w, weight);
	if (!race_inverse_root(w, dims))
		return false;
	classes->kept =
		directions_apart(classes->mean, classes->all, weight, n, w, dims, work, classes->direction);
	for (uint32_t k = 0; k < classes->kept; k++)
		width[k] = width_within(sums, classes, weight, k);
	for (uint32_t c = 0; c < n; c++)
	{
		race_look_for_interrupts();
		for (uint32_t k = 0; k < classes->kept; k++)
			classes->center[(size_t) c * classes->kept + k] =
				race_dot(classes->direction + (size_t) k * dims, classes->mean + (size_t) c * dims,
						 dims) -
				race_dot(classes->direction + (size_t) k * dims, classes->all, dims);
		if (!find_precision(&sums[c], classes, c, weight[c], width, work))
			return false;
	}
	return true;
}

/* Return where the densities of two classes stop to move apart, outside of both centers. */
static double
hold_between(const RaceDiscriminants *classes, double z)
{
	double a = classes->center[0];
	double b = classes->center[1];
	double p = classes->precision[0];
	double q = classes->precision[1];
	double turn = (q * b - p * a) / (q - p);

	if (turn < fmin(a, b))
		return fmax(z, turn);
	if (turn > fmax(a, b))
		return fmin(z, turn);
	return z;
}

void
race_classes_densities(const RaceDiscriminants *classes, const double *x, double *z,
					   double *log_density)
{
	uint32_t n = classes->kept;

	for (uint32_t i = 0; i < n; i++)
		z[i] = race_dot(classes->direction + (size_t) i * classes->dims, x, classes->dims) -
			race_dot(classes->direction + (size_t) i * classes->dims, classes->all, classes->dims);
	if (classes->n == 2 && n == 1)
		z[0] = hold_between(classes, z[0]);
	for (uint32_t c = 0; c < classes->n; c++)
	{
		const double *center = classes->center + (size_t) c * n;
		const double *precision = classes->precision + (size_t) c * n * n;

		log_density[c] = -classes->log_root[c];
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t j = 0; j < n; j++)
				log_density[c] -=
					(z[i] - center[i]) * precision[i * n + j] * (z[j] - center[j]) / 2;
	}
}

/*
 * Covariances, correlations and principal components from noisy sums of products.
 */

/* A variance below this share of the mean square is that of rounding errors. */
#define LEAST_VARIANCE 1e-12

/* ------------------------------------------------------------- two columns */

/* The sums that tell of two columns: of 1, of each column, and of products */
enum
{
	ALL,
	FIRST,
	SECOND,
	FIRST_FIRST,
	FIRST_SECOND,
	SECOND_SECOND,
	SUMS
};

typedef struct Pair
{
	double sum[SUMS];
	double deviation[SUMS]; /* standard deviations of noise */
	double slope[SUMS];     /* slopes of the sums */
	double count;
} Pair;

static void
open_pair(const RaceSecondMoments *sums, uint32_t i, uint32_t j, Pair *pair)
{
	const uint32_t row[SUMS] = {0, 0, 0, i, i, j};
	const uint32_t column[SUMS] = {0, i, j, i, j, j};

	for (int s = 0; s < SUMS; s++)
	{
		pair->sum[s] = sums->m[(size_t) row[s] * sums->n + column[s]];
		pair->deviation[s] = row[s] == column[s] ? sums->diagonal : sums->other;
		pair->slope[s] = 0;
	}
	pair->count = fmax(sums->count, 1);
}

/* Return the covariance of columns with sums a, b, products p.  Add its slopes, times `factor`. */
static double
covariance_of_pair(Pair *pair, int a, int b, int p, double factor)
{
	const double *sum = pair->sum;
	double n = sum[ALL];
	double value = sum[p] / n - sum[a] / n * (sum[b] / n);

	pair->slope[ALL] += factor * (sum[a] / n * (sum[b] / n) - value) / n;
	pair->slope[a] -= factor * sum[b] / n / n;
	pair->slope[b] -= factor * sum[a] / n / n;
	pair->slope[p] += factor / n;
	return value;
}

/* Return the measured value, if the number of records stands out of its noise. */
static RaceMomentEstimate
make_estimate(const Pair *pair, double value, double sampling)
{
	RaceMomentEstimate result = {true, value, sampling};

	for (int s = 0; s < SUMS; s++)
		result.error += pair->slope[s] * pair->slope[s] * pair->deviation[s] * pair->deviation[s];
	result.error = sqrt(result.error);
	result.known =
		pair->sum[ALL] > 2 * pair->deviation[ALL] && isfinite(result.error) && isfinite(value);
	return result;
}

RaceMomentEstimate
race_estimate_covariance(const RaceSecondMoments *sums, uint32_t i, uint32_t j)
{
	Pair pair;
	double value;
	double squares;

	open_pair(sums, i, j, &pair);
	squares = fmax(covariance_of_pair(&pair, FIRST, FIRST, FIRST_FIRST, 0), 0) *
		fmax(covariance_of_pair(&pair, SECOND, SECOND, SECOND_SECOND, 0), 0);
	if (i == j)
		value = covariance_of_pair(&pair, FIRST, FIRST, FIRST_FIRST, 1);
	else
		value = covariance_of_pair(&pair, FIRST, SECOND, FIRST_SECOND, 1);
	return make_estimate(&pair, value, (squares + value * value) / pair.count);
}

RaceMomentEstimate
race_estimate_correlation(const RaceSecondMoments *sums, uint32_t i, uint32_t j)
{
	RaceMomentEstimate unknown = {false, 0, INFINITY};
	Pair pair;
	double first;
	double second;
	double root;
	double value;

	open_pair(sums, i, j, &pair);
	first = covariance_of_pair(&pair, FIRST, FIRST, FIRST_FIRST, 0);
	second = covariance_of_pair(&pair, SECOND, SECOND, SECOND_SECOND, 0);
	if (!(first > 0 && second > 0))
		return unknown;
	root = sqrt(first) * sqrt(second);
	value = covariance_of_pair(&pair, FIRST, SECOND, FIRST_SECOND, 1 / root) / root;
	covariance_of_pair(&pair, FIRST, FIRST, FIRST_FIRST, -value / 2 / first);
	covariance_of_pair(&pair, SECOND, SECOND, SECOND_SECOND, -value / 2 / second);
	if (i == j)
		return (RaceMomentEstimate){true, 1, 0};
	return make_estimate(&pair, value, pow(fmax(1 - value * value, 0), 2) / pair.count);
}

/* ---------------------------------------------------------------- components */

double
race_psd_deviation(const RaceSecondMoments *sums, uint32_t i)
{
	double weight = fmax(sums->projected[0], DBL_MIN);
	double mean = sums->projected[i] / weight;
	double square = sums->projected[(size_t) i * sums->n + i] / weight;

	return sqrt(fmax(square - mean * mean, fmax(square, DBL_MIN) * LEAST_VARIANCE));
}

/* Make v[n] a unit vector whose largest number is positive. */
static void
normalize_vector(double *v, uint32_t n)
{
	double square = 0;
	double largest = 0;

	for (uint32_t i = 0; i < n; i++)
	{
		square += v[i] * v[i];
		if (fabs(v[i]) > fabs(largest))
			largest = v[i];
	}
	for (uint32_t i = 0; i < n && square > 0; i++)
		v[i] *= copysign(1 / sqrt(square), largest);
}

/*
 * Return the standard error of the variance along a vector: E changes it by t' E t / weight, where
 * t is the vector and, for the constant, what centers it, and by -variance E[0][0] / weight.
 */
static double
component_error(const RaceSecondMoments *sums, const double *scale, const double *mean,
				double weight, const double *vector, double variance, double *t, double *entries)
{
	uint32_t n = sums->n;

	t[0] = 0;
	for (uint32_t i = 1; i < n; i++)
	{
		t[i] = vector[i - 1] * scale[i - 1];
		t[0] -= t[i] * mean[i - 1];
	}
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++)
			entries[(size_t) i * n + j] = t[i] * t[j] / weight;
	entries[0] -= variance / weight;
	return sqrt(race_noise_variance(sums, entries) +
				2 * variance * variance / fmax(sums->count, 1));
}

void
race_components(const RaceSecondMoments *sums, const double *scale, double *work, double *vector,
				RaceMomentEstimate *variance)
{
	uint32_t dims = sums->n - 1;
	double *mean = work;
	double *t = mean + dims;
	double *entries = t + sums->n;
	double *lengths = entries;
	double weight;

	memset(vector, 0, (size_t) dims * dims * sizeof(double));
	weight = race_psd_scatter(sums, mean, vector);
	for (uint32_t i = 0; i < dims; i++)
		for (uint32_t j = 0; j < dims; j++)
			vector[(size_t) i * dims + j] *= scale[i] * scale[j] / weight;
	race_jacobi(vector, dims, dims, lengths);
	for (uint32_t i = 0; i < dims; i++)
		variance[i].value = lengths[i];
	for (uint32_t i = 0; i < dims; i++)
	{
		normalize_vector(vector + (size_t) i * dims, dims);
		variance[i].known = true;
		variance[i].error = component_error(sums, scale, mean, weight, vector + (size_t) i * dims,
											variance[i].value, t, entries);
	}
}
