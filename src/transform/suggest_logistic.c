/*
 * suggest_logistic.c
 *		Multinomial logistic regression of public examples.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "../linear/factor.h"
#include "suggest.h"

#define STEPS	200				/* at most; */
#define STILL	1e-5			/* fewer, if weights change by less in a step, as a part of their length */

/* Weights of classes at a row, after a step of the regression: the softmax */
static void
softmax(const double *weights, const double *z, int classes, int d, double *p)
{
	double		most = -INFINITY;
	double		sum = 0;
	int			c;

	for (c = 0; c < classes; c++)
	{
		const double *w = weights + c * (d + 1);

		p[c] = w[d] + race_dot(w, z, d);
		most = Max(most, p[c]);
	}
	for (c = 0; c < classes; c++)
		sum += p[c] = exp(p[c] - most);
	for (c = 0; c < classes; c++)
		p[c] /= sum;
}

/* A bound of the curvature of the loss, from the largest eigenvalue of z' z */
static double
curvature(const double *z, int n, int d)
{
	double		v[RACE_SUGGEST_DIMS + 1];
	double		product[RACE_SUGGEST_DIMS + 1];
	double		length = 1;
	int			step;
	int			i;
	int			j;

	for (j = 0; j <= d; j++)
		v[j] = 1 / sqrt(d + 1);
	for (step = 0; step < 20; step++)
	{
		memset(product, 0, sizeof(product));
		for (i = 0; i < n; i++)
		{
			double		along = v[d];

			for (j = 0; j < d; j++)
				along += z[i * d + j] * v[j];
			for (j = 0; j < d; j++)
				product[j] += along * z[i * d + j];
			product[d] += along;
		}
		length = 0;
		for (j = 0; j <= d; j++)
			length += product[j] * product[j];
		length = sqrt(length);
		for (j = 0; j <= d; j++)
			v[j] = product[j] / length;
	}
	return 0.5 * 1.1 * length;
}

/* The gradient of the loss of a multinomial logistic regression at `weights`, with an L2 penalty */
static void
loss_gradient(const RaceExamples *e, const double *z, const double *weights, double penalty,
			  double *gradient)
{
	int			d = e->dims;
	double		p[RACE_SUGGEST_CLASSES];
	int			c;
	int			i;
	int			j;

	for (j = 0; j < e->classes * (d + 1); j++)
		gradient[j] = j % (d + 1) == d ? 0 : penalty * weights[j];
	for (i = 0; i < e->n; i++)
	{
		softmax(weights, z + i * d, e->classes, d, p);
		p[e->label[i]]--;
		for (c = 0; c < e->classes; c++)
		{
			double	   *g = gradient + c * (d + 1);

			for (j = 0; j < d; j++)
				g[j] += p[c] * z[i * d + j];
			g[d] += p[c];
		}
	}
}

/* Shorten the weights of each column, of all classes together, by so much (group lasso). */
static void
shrink_columns(double *weights, int classes, int d, double by)
{
	int			c;
	int			j;

	for (j = 0; j < d; j++)
	{
		double		sum = 0;

		for (c = 0; c < classes; c++)
			sum += weights[c * (d + 1) + j] * weights[c * (d + 1) + j];
		for (c = 0; c < classes; c++)
			weights[c * (d + 1) + j] *= sum > by * by ? 1 - by / sqrt(sum) : 0;
	}
}

double *
race_suggest_regress(const RaceExamples *e, const double *z, double penalty, double sparsity)
{
	int			size = e->classes * (e->dims + 1);
	double	   *weights = palloc0(4 * size * sizeof(double));
	double	   *ahead = weights + size;
	double	   *gradient = ahead + size;
	double	   *next = gradient + size;
	double		steepest = curvature(z, e->n, e->dims) + penalty;
	double		t = 1;
	int			step;
	int			j;

	for (step = 0; step < STEPS; step++)
	{
		double		faster = (1 + sqrt(1 + 4 * t * t)) / 2;
		double		change = 0;
		double		length = 0;

		CHECK_FOR_INTERRUPTS();
		loss_gradient(e, z, ahead, penalty, gradient);
		for (j = 0; j < size; j++)
			next[j] = ahead[j] - gradient[j] / steepest;
		shrink_columns(next, e->classes, e->dims, sparsity / steepest);
		for (j = 0; j < size; j++)
		{
			change += (next[j] - weights[j]) * (next[j] - weights[j]);
			length += next[j] * next[j];
			ahead[j] = next[j] + (t - 1) / faster * (next[j] - weights[j]);
			weights[j] = next[j];
		}
		t = faster;
		if (change < STILL * STILL * length)
			break;
	}
	return weights;
}
