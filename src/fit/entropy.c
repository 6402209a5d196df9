/*
 * entropy.c
 *		Accelerated mirror descent on the simplex.
 */
#include "entropy.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "../lsh/lsh.h"

#define FIRST_SCALE		0x1p-8
#define ITERATIONS		400
#define ENOUGH			1e-7	/* what is gained between two looks, in parts, that ends it */
#define CHECKED			20		/* iterations between two looks at that */
#define LEAST_PRIOR		1e-300
#define LEAST_EXPONENT	-100	/* below, probabilities are 0: products of tiny ones are slow */

/*
 * What is minimized, for probabilities p = w / total: p'Mp / 2 - a'p + gamma KL(p | prior).  M p is
 * kept for all three sequences: x, z and, in between, where the gradient is taken.
 */
typedef struct Descent
{
	const RaceGram *gram;
	const double *answers;		/* a times `total` */
	double		total;
	double		gamma;
	double		scale;			/* L: steps are safe if it is 1, the largest kernel; less may do */
	double	   *log_prior;
	double	   *x;
	double	   *x_product;
	double	   *log_z;
	double	   *z;
	double	   *z_product;
	double	   *log_next;		/* z after a step */
	double	   *next;
	double	   *next_product;
} Descent;

/* Replace v by probabilities that are as exp(v), and v by their logarithms. */
static void
normalize(double *v, double *p, size_t m)
{
	double		largest = -INFINITY;
	double		sum = 0;
	size_t		i;

	for (i = 0; i < m; i++)
		largest = fmax(largest, v[i]);
	for (i = 0; i < m; i++)
		sum += p[i] = v[i] - largest < LEAST_EXPONENT ? 0 : exp(v[i] - largest);
	for (i = 0; i < m; i++)
	{
		p[i] /= sum;
		v[i] -= largest + log(sum);
	}
}

/*
 * Where a step leads from z.  Returns whether it is safe: the curvature along it is at most that
 * of the divergence times the scale.
 */
static bool
try_step(Descent *descent, double theta)
{
	size_t		m = descent->gram->m;
	double		pull = descent->gamma + theta * descent->scale;
	double		curvature = 0;
	double		moved = 0;
	size_t		i;

	for (i = 0; i < m; i++)
	{
		double		gradient = (1 - theta) * descent->x_product[i] + theta * descent->z_product[i] -
			descent->answers[i] / descent->total;

		descent->log_next[i] = (descent->gamma * descent->log_prior[i] +
								theta * descent->scale * descent->log_z[i] - gradient) / pull;
	}
	normalize(descent->log_next, descent->next, m);
	race_gram_multiply(descent->gram, descent->next, descent->next_product);
	for (i = 0; i < m; i++)
	{
		curvature += (descent->next[i] - descent->z[i]) *
			(descent->next_product[i] - descent->z_product[i]);
		moved += descent->next[i] * (descent->log_next[i] - descent->log_z[i]);
	}
	return descent->scale >= 1 || curvature <= 2 * descent->scale * moved;
}

static void
swap(double **a, double **b)
{
	double	   *old = *a;

	*a = *b;
	*b = old;
}

/* A step of z, and x along with it */
static void
step(Descent *descent, double theta)
{
	size_t		i;

	while (!try_step(descent, theta))
		descent->scale *= 2;
	swap(&descent->z, &descent->next);
	swap(&descent->log_z, &descent->log_next);
	swap(&descent->z_product, &descent->next_product);
	for (i = 0; i < descent->gram->m; i++)
	{
		descent->x[i] += theta * (descent->z[i] - descent->x[i]);
		descent->x_product[i] += theta * (descent->z_product[i] - descent->x_product[i]);
	}
}

/* What is minimized, at x */
static double
misfit(const Descent *descent)
{
	double		sum = 0;
	size_t		i;

	for (i = 0; i < descent->gram->m; i++)
	{
		double		x = descent->x[i];

		sum += x * (descent->x_product[i] / 2 - descent->answers[i] / descent->total);
		if (x > 0)
			sum += x * descent->gamma * (log(x) - descent->log_prior[i]);
	}
	return sum;
}

void
race_entropy_weights(const RaceGram *gram, const double *answers, double total,
					 double strictness, const double *prior, double *weights, double *space)
{
	size_t		m = gram->m;
	Descent		descent = {gram, answers, total, strictness / total, FIRST_SCALE,
		space, space + m, space + 2 * m, space + 3 * m, space + 4 * m, space + 5 * m, space + 6 * m,
		space + 7 * m, space + 8 * m};
	double		last;
	double		theta = 1;
	int			k;
	size_t		i;

	for (i = 0; i < m; i++)
		descent.log_prior[i] = log(fmax(prior[i], LEAST_PRIOR));
	normalize(descent.log_prior, descent.x, m);
	memcpy(descent.log_z, descent.log_prior, m * sizeof(double));
	memcpy(descent.z, descent.x, m * sizeof(double));
	race_gram_multiply(gram, descent.x, descent.x_product);
	memcpy(descent.z_product, descent.x_product, m * sizeof(double));
	last = misfit(&descent);
	for (k = 1; k <= ITERATIONS; k++)
	{
		race_look_for_interrupts();
		step(&descent, theta);
		/* theta of the next step: (1 - t') / t'^2 = 1 / t^2 */
		theta = theta * (sqrt(theta * theta + 4) - theta) / 2;
		if (k % CHECKED == 0)
		{
			double		now = misfit(&descent);

			/* momentum that leads uphill is dropped */
			if (now > last)
				theta = 1;
			else if (last - now < ENOUGH * fabs(now))
				break;
			last = now;
		}
	}
	for (i = 0; i < m; i++)
		weights[i] = total * descent.x[i];
}
