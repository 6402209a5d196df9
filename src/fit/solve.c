/*
 * solve.c
 *		Accelerated projected gradient on the simplex.
 */
#include "solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../linear/factor.h"
#include "../lsh/lsh.h"

static int
compare_descending(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x < y) - (x > y);
}

void
race_sort_descending(double *v, size_t n)
{
	qsort(v, n, sizeof(double), compare_descending);
}

/*
 * The same amount is taken off all, so that what is left above 0 has the right sum.  The
 * largest comes off first, so that no digits are lost where all are large.
 */
void
race_simplex_project(double *v, size_t n, double total, double *sorted)
{
	double		largest = v[0];
	double		sum = 0;
	double		excess = 0;
	size_t		i;

	for (i = 1; i < n; i++)
		largest = fmax(largest, v[i]);
	for (i = 0; i < n; i++)
		v[i] -= largest;
	memcpy(sorted, v, n * sizeof(double));
	race_sort_descending(sorted, n);
	for (i = 0; i < n; i++)
	{
		sum += sorted[i];
		if (i > 0 && sorted[i] <= (sum - total) / (double) (i + 1))
			break;
		excess = (sum - total) / (double) (i + 1);
	}
	for (i = 0; i < n; i++)
		v[i] = v[i] > excess ? v[i] - excess : 0;
}

/* The largest eigenvalue of the Gram matrix, or a little more: power iterations */
#define POWER_ITERATIONS	15
#define POWER_MARGIN		1.05

static double
largest_eigenvalue(const RaceGram *gram, double *v, double *next)
{
	size_t		m = gram->m;
	double		length = 1;
	int			k;
	size_t		i;

	for (i = 0; i < m; i++)
		v[i] = 1 / sqrt((double) m);
	for (k = 0; k < POWER_ITERATIONS; k++)
	{
		race_gram_multiply(gram, v, next);
		length = sqrt(race_dot(next, next, m));
		if (length == 0)
			return 1;
		for (i = 0; i < m; i++)
			v[i] = next[i] / length;
	}
	return POWER_MARGIN * length;
}

/* The gradient of the misfit at a point; `space` is for m numbers */
static void
find_gradient(const RaceGram *gram, const double *answers, RaceMisfit misfit,
			  const double *point, double *gradient, double *space)
{
	double	   *excess = misfit == RACE_MISFIT_COUNTERS ? gradient : space;
	size_t		i;

	race_gram_multiply(gram, point, excess);
	for (i = 0; i < gram->m; i++)
		excess[i] -= answers[i];
	if (misfit == RACE_MISFIT_ANSWERS)
		race_gram_multiply(gram, excess, gradient);
}

void
race_solve_weights(const RaceGram *gram, const double *answers,
				   double total, RaceMisfit misfit, int iterations, double *weights,
				   double *space)
{
	size_t		m = gram->m;
	double	   *point = space;	/* where the gradient is taken */
	double	   *gradient = point + m;
	double	   *next = gradient + m;
	double	   *sorted = next + m;
	double		largest = largest_eigenvalue(gram, point, next);
	double		step = 1 / (misfit == RACE_MISFIT_COUNTERS ? largest : largest * largest);
	double		t = 1;
	int			k;
	size_t		i;

	memcpy(point, weights, m * sizeof(double));
	for (k = 0; k < iterations; k++)
	{
		double		t_next = (1 + sqrt(1 + 4 * t * t)) / 2;
		double		uphill = 0;

		race_look_for_interrupts();
		find_gradient(gram, answers, misfit, point, gradient, sorted);
		for (i = 0; i < m; i++)
			next[i] = point[i] - step * gradient[i];
		race_simplex_project(next, m, total, sorted);

		/* momentum that leads uphill is dropped */
		for (i = 0; i < m; i++)
			uphill += (point[i] - next[i]) * (next[i] - weights[i]);
		if (uphill > 0)
			t = t_next = 1;
		for (i = 0; i < m; i++)
		{
			point[i] = next[i] + (t - 1) / t_next * (next[i] - weights[i]);
			weights[i] = next[i];
		}
		t = t_next;
	}
}
