/*
 * moments_psd.h
 *		Projection of a noisy second-moment matrix onto positive semidefinite ones, ridge,
 *		discriminant: plain C
 */
#ifndef RACE_MOMENTS_PSD_H
#define RACE_MOMENTS_PSD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Sums of products with noise, and the exact ones that they most likely come from.
 *
 * Let M be the sum of v v' over records v, the first number of which is the constant 1.  A
 * release tells M + E.  E is symmetric, and its entries are independent.  M has no negative
 * eigenvalue, but M + E may have some, and its inverse is mostly one of noise.
 *
 * Plain C99 without PostgreSQL headers.
 */

typedef struct RaceSecondMoments
{
	uint32_t n;        /* number of columns, with the constant */
	double count;      /* number of records */
	double diagonal;   /* standard deviation of noise on the diagonal */
	double other;      /* standard deviation of noise elsewhere; 0 of exact sums */
	double *m;         /* [n][n]: M + E */
	double *projected; /* [n][n]: estimate of M */
	const double
		*map; /* [n][n]: columns are a linear map of the numbers that noise was added to; or NULL */
	const double *prior; /* [n][n]: mean products of columns of public rows, or NULL */
	double prior_count;  /* records that the prior stands for in `projected` */
} RaceSecondMoments;

#define RACE_PSD_WORK(n) (((size_t) (n) + 1) * (n))

/*
 * Fill `projected`.  It has the eigenvectors of m, and for each eigenvalue l its mean given that it
 * is positive, if noise moves eigenvalues by a normal number and all positive ones are as likely
 * before.  Eigenvalues of noise alone have the mean square n other^2 (Wigner 1955).  Large
 * eigenvalues stay, and those that noise has made become about a third of the largest that it has.
 * Exact sums stay as they are, but for eigenvalues that are 0 but for rounding.  Then both matrices
 * become those of columns.
 */
extern void race_project_psd(RaceSecondMoments *sums, double *work);

/*
 * Return the variance that noise gives to a linear combination of entries: the sum of weight[i][j]
 * E[i][j] over all i and j.
 */
extern double race_noise_variance(const RaceSecondMoments *sums, const double *weight);

/*
 * Compute from the projected sums the means of the n - 1 columns after the constant, and the sums
 * of products around these, which are added to scatter[n - 1][n - 1].  Return the weight of the
 * records, which is more than 0.
 */
extern double race_psd_scatter(const RaceSecondMoments *sums, double *mean, double *scatter);

/*
 * Linear regression from noisy sums of products.
 *
 * Plain C99 without PostgreSQL headers.
 */

/* Of the columns of noisy sums: which one is explained by which others */
typedef struct RaceRidge
{
	uint32_t target;
	uint32_t n;                 /* number of predictors, with the constant */
	const uint32_t *predictors; /* [n] */
	double *coefficients;       /* [n] */
	double *covariance;         /* [n][n]: covariance of the coefficients */
	double residual;            /* mean square of the residuals */
} RaceRidge;

/* Of n predictors, among `columns` columns */
#define RACE_RIDGE_WORK(n, columns) ((3 * (size_t) (n) + 1) * (n) + 2 * (size_t) (columns))

/*
 * Fill the coefficients, the least squares of the projected sums, which act as ridge regression
 * does: what noise hides is shrunken.  Their covariance holds three things.  With t the
 * coefficients and
 * -1 for the target, noise moves the coefficients by A^-1 E t; the records are a sample,
 * residual A^-1; and what the projected sums are away from the noisy ones moves them by
 * A^-1 (projected - m) t.  False if the projected sums have no inverse.
 *
 * With a prior, so many public records are added to the projected sums that the estimated risk is
 * least: the mean square of what is left, t' m t, and 2 tr(A^-1 C), by which the fit to noise makes
 * that too small, where C is the covariance of E t.  The covariance is then that of the Bayesian
 * posterior with this prior: in place of one of both A^-1 stands that without the prior.
 */
extern bool race_ridge_fit(RaceSecondMoments *sums, RaceRidge *ridge, double *work);

/*
 * Linear discriminant analysis from noisy sums of products, one for each class.
 *
 * Plain C99 without PostgreSQL headers.
 */

/* Means and covariances in units of the columns without the constant, which are `dims` */
typedef struct RaceDiscriminants
{
	uint32_t n; /* number of classes */
	uint32_t dims;
	uint32_t kept;     /* number of directions: at most n - 1 */
	double *mean;      /* [n][dims]: mean of each class */
	double *all;       /* [dims]: mean of all classes */
	double *direction; /* [kept][dims]; the variance within classes is 1 in each */
	double *center;    /* [n][kept]: mean of each class in these directions */
	double *precision; /* [n][kept][kept]: inverse covariance of each class in these directions */
	double *log_root;  /* [n]: half of the logarithm of its determinant */
	double *count;     /* [n]: records of each class */
} RaceDiscriminants;

/* Numbers that the arrays of RaceDiscriminants need together, and those of work space */
#define RACE_CLASSES_SPACE(n, dims) \
	((size_t) (n) * (2 * (size_t) (dims) + (size_t) (n) * (n) + (n) + 2) + (dims))
#define RACE_CLASSES_WORK(n, dims) \
	((size_t) (dims) * (dims) + (dims) + (size_t) (n) * ((dims) + (size_t) (n) + 2))

/*
 * Fit Fisher's discriminant of classes, whose projected sums are known.  In its directions each
 * class has a covariance of its own, moved towards that within all classes by as much as noise
 * hides it.  The arrays of the result lie in `space`.  Return false if the covariance within
 * classes has no inverse.
 */
extern bool race_classes_fit(const RaceSecondMoments *sums, uint32_t n, double *space, double *work,
							 RaceDiscriminants *classes);

/*
 * Compute the logarithm of the density of each class at x[dims], without what all classes have in
 * common: normal in the directions.  Where one of two classes is wider, it would win again far
 * beyond the other one: from there on the difference stays.  `z` is space for n numbers.
 */
extern void race_classes_densities(const RaceDiscriminants *classes, const double *x, double *z,
								   double *log_density);

/*
 * Covariances, correlations and principal components from noisy sums of products.
 *
 * Plain C99 without PostgreSQL headers.
 */

/* A number with its standard error: noise, and that records are a sample of normal ones */
typedef struct RaceMomentEstimate
{
	bool known; /* true unless noise hides it */
	double value;
	double error;
} RaceMomentEstimate;

/* Estimate the covariance of two columns of the noisy sums, which are not the constant. */
extern RaceMomentEstimate race_estimate_covariance(const RaceSecondMoments *sums, uint32_t i,
												   uint32_t j);
extern RaceMomentEstimate race_estimate_correlation(const RaceSecondMoments *sums, uint32_t i,
													uint32_t j);

/* Return the standard deviation of a column by the projected sums; more than 0. */
extern double race_psd_deviation(const RaceSecondMoments *sums, uint32_t i);

#define RACE_COMPONENTS_WORK(n) (((size_t) (n) + 2) * (n))

/*
 * Find the principal components of the columns after the constant, each multiplied by scale[n - 1]:
 * unit vectors in the rows of vector[n - 1][n - 1], and the variances along them, the largest
 * first.  The largest number of a vector is positive.
 */
extern void race_components(const RaceSecondMoments *sums, const double *scale, double *work,
							double *vector, RaceMomentEstimate *variance);

#endif
