/*
 * cosine_basis.c
 *		Posterior of a Gaussian process in a cosine basis
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "../core/core.h"
#include "cosine_basis.h"

/*
 * Posterior of a Gaussian process in a cosine basis.
 *
 * Coefficients are normal, a priori with the variances of a Matern process of smoothness 3/2
 * (Solin & Sarkka 2020), and so they are a posteriori.  Its deviation and length are not known:
 * the posteriors of all choices are averaged, weighted by their marginal likelihoods.
 */

/*
 * Lengths and deviations of the process that are tried; lengths in bandwidths.  The last deviation
 * is for the covariance alone: means with it would follow noise.
 */
static const double lengths[RACE_POSTERIOR_LENGTHS] = {0.5, 1, 2, 4, 8, 16, 32};
static const double deviations[RACE_POSTERIOR_DEVIATIONS] = {0.02, 0.05, 0.1, 0.2, 0.4, 0.8};

#define CHOICES			RACE_POSTERIOR_CHOICES
#define MEAN_CHOICES	(CHOICES - RACE_POSTERIOR_LENGTHS)

/* The standard deviation of each coefficient a priori, in choice number c */
static void
prior_deviations(const RaceWaves *waves, int c, double *prior)
{
	double		deviation = deviations[c / RACE_POSTERIOR_LENGTHS];
	double		length = lengths[c % RACE_POSTERIOR_LENGTHS];
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
	race_root_product(equations->factor, n, equations->inverse);
	for (i = 0; i < n; i++)
		for (j = 0; j < n; j++)
			covariance[i * n + j] += part * (prior[i] * prior[j] * equations->inverse[i * n + j] +
											 apart[i] * apart[j]);
}

/*
 * Dense and sparse parts of a table are seldom alike, but the likelihood is mostly that of the
 * dense ones.  So the covariance doubts it: it counts to this power.
 */
#define DOUBT		0.25

/* A choice that has less of the likelihood than this is left out of the covariance. */
#define LEAST_PART	1e-3

/* A choice whose likelihood is less by this factor, as a logarithm, is not tried again. */
#define UNLIKELY	100.0

/* Parts of n choices that add up to 1, from logarithms of their likelihoods */
static void
share_out(const double *logs, int n, double power, double *parts)
{
	double		most = -INFINITY;
	double		sum = 0;
	int			c;

	for (c = 0; c < n; c++)
		most = Max(most, logs[c]);
	for (c = 0; c < n; c++)
		sum += parts[c] = exp(power * (logs[c] - most));
	for (c = 0; c < n; c++)
		parts[c] /= sum;
}

/* The posterior means of choices, [choices][n], and logarithms of their likelihoods */
static void
try_choices(const RaceWaves *waves, RaceEquations *equations, int choices, double *means,
			double *logs)
{
	uint32		n = waves->n;
	double	   *prior = palloc(n * sizeof(double));
	double		most = -INFINITY;
	int			c;

	for (c = 0; c < choices; c++)
	{
		logs[c] = -INFINITY;
		if (equations->unlikely[c])
			continue;
		prior_deviations(waves, c, prior);
		logs[c] = find_posterior(equations, prior, means + c * n);
		most = Max(most, logs[c]);
	}
	for (c = 0; c < choices; c++)
		equations->unlikely[c] = logs[c] < most - UNLIKELY;
	pfree(prior);
}

/* Add parts of the covariances of choices, and of what their means differ from the mean. */
static void
add_covariances(const RaceWaves *waves, const RaceEquations *equations, const double *mean,
				const double *parts, double *means, double *covariance)
{
	uint32		n = waves->n;
	double	   *prior = palloc(n * sizeof(double));
	uint32		i;
	int			c;

	for (c = 0; c < CHOICES; c++)
	{
		if (parts[c] < LEAST_PART)
			continue;
		prior_deviations(waves, c, prior);
		for (i = 0; i < n; i++)
			means[c * n + i] -= mean[i];
		add_covariance(equations, prior, means + c * n, parts[c], covariance);
	}
	pfree(prior);
}

void
race_posterior(const RaceWaves *waves, RaceEquations *equations, double *mean,
			   double *covariance)
{
	uint32		n = waves->n;
	double	   *means = palloc0((Size) CHOICES * n * sizeof(double));
	double		logs[CHOICES];
	double		parts[CHOICES];
	uint32		i;
	int			c;

	try_choices(waves, equations, covariance == NULL ? MEAN_CHOICES : CHOICES, means, logs);
	share_out(logs, MEAN_CHOICES, 1, parts);
	memset(mean, 0, n * sizeof(double));
	for (c = 0; c < MEAN_CHOICES; c++)
		for (i = 0; i < n; i++)
			mean[i] += parts[c] * means[c * n + i];
	if (covariance != NULL)
	{
		share_out(logs, CHOICES, DOUBT, parts);
		add_covariances(waves, equations, mean, parts, means, covariance);
	}
	pfree(means);
}
