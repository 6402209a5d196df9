/*
 * suggest_average.c
 *		The log odds of classes, by several logistic regressions together.
 *
 * Which columns matter, and whether they are better taken as they are, warped or pulled, a few hundred
 * examples do not say for sure: to choose is to choose by luck, now and then.  So the best regressions
 * of all versions are averaged, those more that predict examples better which they have not seen.
 */
#include "postgres.h"

#include <math.h>

#include "pull.h"
#include "suggest_average.h"

/* With L2 penalties; and, times the root of examples, with one that leaves columns out */
#define METHODS		3
static const struct
{
	double		penalty;
	double		sparsity;
}			methods[METHODS] = {{1, 0}, {10, 0}, {0, 0.2}};

/*
 * Weights fall with the logarithm of the likelihood, but less: that of 500 examples differs by luck by
 * several units.  What has less than LEAST of the weight is left out.
 */
#define TRUST		0.2
#define LEAST		0.01

/* A column is constant if its variance is less, in squares of its mean. */
#define CONSTANT	1e-18

/* Log odds are multiplied by what makes them likeliest: penalties make them too small. */
#define FACTORS		9

/* Far records have long scores, which are shortened to FAR times this quantile of their lengths. */
#define QUANTILE	0.98
#define FAR			1.5

/* ------------------------------------------------------------- one regression */

/* Weights of columns [classes][dims + 1], of which the last is the constant, by a method */
static double *
regress(const RaceExamples *e, int method)
{
	int			d = e->dims;
	double	   *z = palloc((Size) e->n * d * sizeof(double));
	double	   *deviation = palloc0(d * sizeof(double));
	double	   *mean = palloc0(d * sizeof(double));
	double	   *weights;
	int			i;
	int			j;

	for (i = 0; i < e->n * d; i++)
		mean[i % d] += e->x[i] / e->n;
	for (i = 0; i < e->n * d; i++)
		deviation[i % d] += pow(e->x[i] - mean[i % d], 2) / e->n;
	for (j = 0; j < d; j++)
		/* what varies less is rounding */
		deviation[j] = deviation[j] > CONSTANT * mean[j] * mean[j] ? sqrt(deviation[j]) : INFINITY;
	for (i = 0; i < e->n * d; i++)
		z[i] = (e->x[i] - mean[i % d]) / deviation[i % d];
	weights = race_suggest_regress(e, z, methods[method].penalty,
								   methods[method].sparsity * sqrt(e->n));
	for (i = 0; i < e->classes; i++)
		for (j = 0; j < d; j++)
		{
			weights[i * (d + 1) + j] /= deviation[j];
			weights[i * (d + 1) + d] -= weights[i * (d + 1) + j] * mean[j];
		}
	pfree(z);
	pfree(deviation);
	pfree(mean);
	return weights;
}

/* What a regression says of examples */
typedef struct Regression
{
	int			method;
	double	   *scores;			/* [n][classes], each tenth by the others; without the constant, */
	double		constants[RACE_SUGGEST_FOLDS][RACE_SUGGEST_CLASSES];	/* which is this */
	double		likelihood;		/* its logarithm, at best */
	double		factor;			/* of scores, with which it is that */
	double		weight;
} Regression;

static void
ask_others(const RaceExamples *e, const int *fold, Regression *r)
{
	int			which;
	int			i;
	int			j;
	int			c;

	r->scores = palloc0((Size) e->n * e->classes * sizeof(double));
	for (which = 0; which < RACE_SUGGEST_FOLDS; which++)
	{
		RaceExamples others = race_suggest_others(e, fold, which);
		double	   *weights = regress(&others, r->method);

		for (c = 0; c < e->classes; c++)
		{
			const double *w = weights + c * (e->dims + 1);

			r->constants[which][c] = w[e->dims];
			for (i = 0; i < e->n; i++)
				for (j = 0; fold[i] == which && j < e->dims; j++)
					r->scores[i * e->classes + c] += w[j] * e->x[i * e->dims + j];
		}
		pfree(others.x);
		pfree(others.label);
		pfree(weights);
	}
}

/* The logarithm of the likelihood, if scores are larger by a factor */
static double
likelihood_of(const RaceExamples *e, const int *fold, const Regression *r, double factor)
{
	double		sum = 0;
	int			i;
	int			c;

	for (i = 0; i < e->n; i++)
	{
		const double *constants = r->constants[fold[i]];
		const double *scores = r->scores + i * e->classes;
		double		right = factor * (scores[e->label[i]] + constants[e->label[i]]);
		double		all = 0;

		for (c = 0; c < e->classes; c++)
			all += exp(Min(factor * (scores[c] + constants[c]) - right, 500));
		sum -= log(all);
	}
	return sum;
}

static void
judge(const RaceExamples *e, const int *fold, Regression *r)
{
	int			i;

	r->likelihood = -INFINITY;
	for (i = 0; i < FACTORS; i++)
	{
		double		factor = pow(2, (i - FACTORS / 2) / 2.0);
		double		likelihood = likelihood_of(e, fold, r, factor);

		if (likelihood > r->likelihood)
		{
			r->likelihood = likelihood;
			r->factor = factor;
		}
	}
}

/* The regression of a version that predicts best */
static Regression
find_best(const RaceExamples *e, const int *fold)
{
	Regression	best = {0};
	int			i;

	for (i = 0; i < METHODS; i++)
	{
		Regression	r;

		r.method = i;
		ask_others(e, fold, &r);
		judge(e, fold, &r);
		if (i == 0 || r.likelihood > best.likelihood)
		{
			if (i > 0)
				pfree(best.scores);
			best = r;
		}
		else
			pfree(r.scores);
	}
	return best;
}

/* ------------------------------------------------------------- the average */

static void
find_weights(Regression *list, int n)
{
	double		most = -INFINITY;
	double		sum = 0;
	int			i;

	for (i = 0; i < n; i++)
		most = Max(most, list[i].likelihood);
	for (i = 0; i < n; i++)
		sum += list[i].weight = exp(TRUST * (list[i].likelihood - most));
	for (i = 0; i < n; i++)
		list[i].weight = list[i].weight < LEAST * sum ? 0 : list[i].weight / sum * list[i].factor;
}

/* Shorten the longest of vectors [n][d], and return the radius. */
static double
shorten(double *z, int n, int d)
{
	double	   *length = palloc0(n * sizeof(double));
	double		radius;
	int			i;
	int			j;

	for (i = 0; i < n; i++)
	{
		for (j = 0; j < d; j++)
			length[i] += z[i * d + j] * z[i * d + j];
		length[i] = sqrt(length[i]);
	}
	race_suggest_sort(length, n);
	radius = race_suggest_rounded(FAR * length[(int) (QUANTILE * (n - 1))]);
	for (i = 0; i < n && radius > 0; i++)
		race_pull(z + i * d, d, radius);
	pfree(length);
	return radius;
}

/* Add a regression of a version: a map, and its part of the log odds [n][classes - 1] of examples. */
static void
add_version(const RaceExamples *e, int version, const Regression *r, RaceAverage *average,
			double *odds)
{
	int			outputs = e->classes - 1;
	int			d = e->dims;
	double	   *weights = regress(e, r->method);
	double	   *z = palloc((Size) e->n * outputs * sizeof(double));
	RaceMap    *map = &average->map[average->n];
	double		radius;
	int			i;
	int			j;

	map->m.dims = d;
	map->m.outputs = outputs;
	map->m.matrix = map->numbers;
	for (i = 0; i < outputs; i++)
		for (j = 0; j < d; j++)
			map->numbers[i * d + j] = race_suggest_rounded(r->weight * (weights[(i + 1) * (d + 1) + j] -
																		weights[j]));
	for (i = 0; i < e->n; i++)
		for (j = 0; j < outputs; j++)
			z[i * outputs + j] = r->weight * (r->scores[i * e->classes + j + 1] -
											  r->scores[i * e->classes]);
	radius = shorten(z, e->n, outputs);
	if (radius > 0)
	{
		for (i = 0; i < e->n * outputs; i++)
			odds[i] += z[i];
		average->version[average->n] = version;
		average->radius[average->n++] = radius;
	}
	pfree(weights);
	pfree(z);
}

RaceExamples
race_average_learn(const RaceExamples *versions, int n, RaceAverage *average)
{
	RaceExamples result = versions[0];
	int		   *fold = race_suggest_folds(&versions[0]);
	Regression	list[RACE_AVERAGE_VERSIONS];
	int			i;

	for (i = 0; i < n; i++)
		list[i] = find_best(&versions[i], fold);
	find_weights(list, n);

	result.dims = result.classes - 1;
	result.x = palloc0((Size) result.n * result.dims * sizeof(double));
	average->n = 0;
	for (i = 0; i < n; i++)
	{
		if (list[i].weight > 0)
			add_version(&versions[i], i, &list[i], average, result.x);
		pfree(list[i].scores);
	}
	pfree(fold);
	return result;
}
