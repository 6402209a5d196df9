/*
 * lbfgs.c
 *		Minimizing a smooth function by the limited-memory BFGS method (Liu & Nocedal 1989)
 */
#include <math.h>
#include <string.h>

#include "answers/lbfgs.h"

#define HISTORY 8

/*
 * The most that a step changes a number.  Where cells are empty, a longer step makes parameters of
 * hundreds, which cancel in the distribution but not in arithmetic, and not when another tree of
 * cliques goes on from them.
 */
#define LONGEST_STEP 3.0

/* The sufficient decrease of Armijo's rule, and the shortest step */
#define DECREASE 1e-4
#define SHORTEST 1e-6

typedef struct Search
{
	const RaceLbfgs *of;
	double *gradient;
	double *direction;
	double *before; /* x before a step */
	double *next;   /* the gradient after a step */
	double *steps[HISTORY];
	double *changes[HISTORY];
	double products[HISTORY];
	uint32_t history;
} Search;

double
race_dot_product(const double *x, const double *y, size_t n)
{
	double sums[4] = {0, 0, 0, 0};
	size_t i;

	for (i = 0; i + 4 <= n; i += 4)
		for (int j = 0; j < 4; j++)
			sums[j] += x[i + j] * y[i + j];
	for (; i < n; i++)
		sums[0] += x[i] * y[i];
	return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/* Set the direction, in scaled numbers first. */
static void
set_direction(Search *search)
{
	const double *scale = search->of->scale;
	size_t n = search->of->n;
	double *d = search->direction;
	uint32_t used = search->history < HISTORY ? search->history : HISTORY;
	double alpha[HISTORY];

	for (size_t i = 0; i < n; i++)
		d[i] = -search->gradient[i] * scale[i];
	for (uint32_t k = 1; k <= used; k++)
	{
		uint32_t j = (search->history - k) % HISTORY;

		alpha[j] = race_dot_product(search->steps[j], d, n) / search->products[j];
		for (size_t i = 0; i < n; i++)
			d[i] -= alpha[j] * search->changes[j][i];
	}
	if (used > 0)
	{
		uint32_t j = (search->history - 1) % HISTORY;
		double gamma =
			search->products[j] / race_dot_product(search->changes[j], search->changes[j], n);

		for (size_t i = 0; i < n; i++)
			d[i] *= gamma;
	}
	for (uint32_t k = used; k >= 1; k--)
	{
		uint32_t j = (search->history - k) % HISTORY;
		double beta = race_dot_product(search->changes[j], d, n) / search->products[j];

		for (size_t i = 0; i < n; i++)
			d[i] += (alpha[j] - beta) * search->steps[j][i];
	}
	for (size_t i = 0; i < n; i++)
		d[i] *= scale[i];
}

/*
 * Shorten what is longer than the longest step, number by number: one that goes far away does not
 * hold the others.  Return the slope along the direction.  Where it would rise, that of the gradient
 * takes its place.
 */
static double
shorten_direction(Search *search)
{
	double *d = search->direction;
	const double *scale = search->of->scale;
	size_t n = search->of->n;
	double slope;

	for (size_t i = 0; i < n; i++)
		d[i] = fmin(fmax(d[i], -LONGEST_STEP), LONGEST_STEP);
	slope = race_dot_product(d, search->gradient, n);
	if (slope < 0)
		return slope;
	for (size_t i = 0; i < n; i++)
		d[i] = fmin(fmax(-search->gradient[i] * scale[i] * scale[i], -LONGEST_STEP), LONGEST_STEP);
	return race_dot_product(d, search->gradient, n);
}

/* Go along the direction until the value has fallen enough; return the value there. */
static double
take_step(Search *search, double *x, double value, double *length)
{
	const RaceLbfgs *of = search->of;
	double slope = shorten_direction(search);
	double next;

	memcpy(search->before, x, of->n * sizeof(double));
	for (*length = 1;; *length /= 2)
	{
		for (size_t i = 0; i < of->n; i++)
			x[i] = search->before[i] + *length * search->direction[i];
		next = of->evaluate(of->state, x, search->next);
		if (next <= value + DECREASE * *length * slope || *length < SHORTEST)
			return next;
	}
}

/* Remember a step, in scaled numbers, and go on from its gradient. */
static void
remember_step(Search *search, double length)
{
	const double *scale = search->of->scale;
	uint32_t j = search->history % HISTORY;

	for (size_t i = 0; i < search->of->n; i++)
	{
		search->steps[j][i] = length * search->direction[i] / scale[i];
		search->changes[j][i] = (search->next[i] - search->gradient[i]) * scale[i];
	}
	search->products[j] = race_dot_product(search->steps[j], search->changes[j], search->of->n);
	/* where the function is not convex, or by rounding: what was in that place is lost */
	search->history = search->products[j] > 0 ? search->history + 1 : 0;
	memcpy(search->gradient, search->next, search->of->n * sizeof(double));
}

uint32_t
race_lbfgs(const RaceLbfgs *of, double *x, RaceAllocate allocate, void *arg)
{
	Search search = {.of = of};
	double **arrays[] = {&search.gradient, &search.direction, &search.before, &search.next};
	double value;
	uint32_t steps;

	for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
		*arrays[i] = allocate(arg, of->n * sizeof(double));
	for (uint32_t i = 0; i < HISTORY; i++)
	{
		search.steps[i] = allocate(arg, of->n * sizeof(double));
		search.changes[i] = allocate(arg, of->n * sizeof(double));
	}
	value = of->evaluate(of->state, x, search.gradient);
	for (steps = 0; of->go_on(of->state, x, search.gradient) && steps < of->most; steps++)
	{
		double length;
		double next;

		set_direction(&search);
		next = take_step(&search, x, value, &length);
		/* only rounding errors are left to gain, or the value is not a number */
		if (!(next <= value))
			break;
		remember_step(&search, length);
		value = next;
	}
	return steps;
}
