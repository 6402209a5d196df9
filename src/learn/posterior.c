/*
 * posterior.c
 *		Waves whose sum is a Gaussian process, from equations for them.
 *
 * Coefficients are normal, a priori with the variances of a Matern process of smoothness 3/2
 * (Solin & Sarkka 2020), and so they are a posteriori.  Its deviation and length are not known:
 * the posteriors of all choices are averaged, weighted by their marginal likelihoods.
 */
#include "postgres.h"

#include <math.h>

#include "../linear/factor.h"
#include "posterior.h"

/* Deviations and lengths of the process that are tried; lengths in bandwidths */
static const double deviations[] = {0.02, 0.05, 0.1, 0.2, 0.4};
static const double lengths[] = {0.5, 1, 2, 4, 8, 16, 32};

#define CHOICES		((int) (lengthof(deviations) * lengthof(lengths)))

/* The standard deviation of each coefficient a priori, in choice number c */
static void
prior_deviations(const RaceWaves *waves, int c, double *prior)
{
	double		deviation = deviations[c % lengthof(deviations)];
	double		length = lengths[c / lengthof(deviations)];
	double		sum = 0;
	uint32		i;

	for (i = 0; i < waves->n; i++)
	{
		prior[i] = pow(1 + waves->square[i] * length * length / 3, -(3.0 + waves->dims) / 2);
		sum += prior[i];
	}
	for (i = 0; i < waves->n; i++)
		/* the constant is as uncertain again as all that varies */
		prior[i] = deviation * sqrt(prior[i] / sum + (i == 0));
}

/* The lower triangle of 1 + prior gram prior */
static void
weigh_by_prior(const RaceEquations *equations, const double *prior, double *c)
{
	uint32		n = equations->n;
	uint32		i;
	uint32		j;

	for (i = 0; i < n; i++)
		for (j = 0; j <= i; j++)
			c[i * n + j] = (i == j) + prior[i] * prior[j] * equations->gram[i * n + j];
}

/* The posterior mean of the coefficients, and the logarithm of the marginal likelihood */
static double
find_posterior(const RaceEquations *equations, const double *prior, double *mean)
{
	uint32		n = equations->n;
	double	   *factor = equations->factor;
	double		likelihood = 0;
	uint32		i;

	weigh_by_prior(equations, prior, factor);
	race_factorize(factor, n, 1);
	for (i = 0; i < n; i++)
		mean[i] = prior[i] * equations->right[i];
	race_solve_lower(factor, n, mean);
	for (i = 0; i < n; i++)
		likelihood += mean[i] * mean[i] / 2 - log(factor[i * n + i]);
	race_solve_upper(factor, n, mean);
	for (i = 0; i < n; i++)
		mean[i] *= prior[i];
	return likelihood;
}

/* Add a part of the covariance, and of the square of `apart`. */
static void
add_covariance(const RaceEquations *equations, const double *prior, const double *apart,
			   double part, double *covariance)
{
	uint32		n = equations->n;
	uint32		i;
	uint32		j;

	weigh_by_prior(equations, prior, equations->factor);
	race_factorize(equations->factor, n, 1);
	race_invert_lower(equations->factor, n);
	race_square_root(equations->factor, n, equations->inverse);
	for (i = 0; i < n; i++)
		for (j = 0; j < n; j++)
			covariance[i * n + j] += part * (prior[i] * prior[j] * equations->inverse[i * n + j] +
											 apart[i] * apart[j]);
}

/* A choice that has less of the likelihood than this is left out of the covariance. */
#define LEAST_PART	1e-3

void
race_posterior(const RaceWaves *waves, const RaceEquations *equations, double *mean,
			   double *covariance)
{
	uint32		n = waves->n;
	double	   *means = palloc((Size) CHOICES * n * sizeof(double));
	double	   *prior = palloc(n * sizeof(double));
	double		parts[CHOICES];
	double		most = -INFINITY;
	double		sum = 0;
	uint32		i;
	int			c;

	for (c = 0; c < CHOICES; c++)
	{
		prior_deviations(waves, c, prior);
		parts[c] = find_posterior(equations, prior, means + c * n);
		most = Max(most, parts[c]);
	}
	memset(mean, 0, n * sizeof(double));
	for (c = 0; c < CHOICES; c++)
		sum += parts[c] = exp(parts[c] - most);
	for (c = 0; c < CHOICES; c++)
		for (i = 0; i < n; i++)
			mean[i] += parts[c] / sum * means[c * n + i];
	for (c = 0; c < CHOICES && covariance != NULL; c++)
	{
		if (parts[c] < LEAST_PART * sum)
			continue;
		prior_deviations(waves, c, prior);
		find_posterior(equations, prior, means + c * n);
		for (i = 0; i < n; i++)
			means[c * n + i] -= mean[i];
		add_covariance(equations, prior, means + c * n, parts[c] / sum, covariance);
	}
	pfree(means);
	pfree(prior);
}
