/*
 * moments.c
 *		Moments of a matrix that is in memory, by the extension's own code, on one thread.
 *
 *	moments ROWS COLUMNS REPEATS < matrix
 *
 * reads ROWS * COLUMNS float8 between -1 and 1, row by row, and prints the least time in
 * milliseconds, and the largest difference of an entry from the sum of exact products, as a
 * share of the number of rows.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../src/core/moment_sums.h"

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static RaceParams *
make_params(uint32_t columns)
{
	RaceParams *params = calloc(1, sizeof(RaceParams) + 2 * columns * sizeof(double));
	double	   *bounds = (double *) (params + 1);
	uint32_t	i;

	params->kernel = RACE_KERNEL_MOMENTS;
	params->sequence = RACE_SEQUENCE_INDEPENDENT;
	params->rehash = RACE_REHASH_FOLD;
	params->arrays = RACE_ARRAY_LOWER | RACE_ARRAY_UPPER;
	params->dims = columns;
	params->bandwidth = 1;
	params->power = 1;
	params->rows = 1;
	params->range = (uint32_t) race_moments_counters(columns + 1);
	params->more = 2 * columns * sizeof(double);
	params->norm = sqrt(columns + 1);
	for (i = 0; i < 2 * columns; i++)
		bounds[i] = i < columns ? -1 : 1;
	return params;
}

static double
largest_error(const double *x, size_t n, uint32_t columns, const int64_t *counters)
{
	double		largest = 0;
	uint32_t	i;
	uint32_t	j;
	size_t		r;

	for (i = 0; i < columns; i++)
		for (j = i; j < columns; j++)
		{
			double		sum = 0;

			for (r = 0; r < n; r++)
				sum += x[r * columns + i] * x[r * columns + j];
			sum -= counters[race_moments_counter(columns + 1, i + 1, j + 1)] /
				((double) RACE_MOMENTS_ONE * RACE_MOMENTS_ONE);
			largest = fmax(largest, fabs(sum) / n);
		}
	return largest;
}

int
main(int argc, char **argv)
{
	size_t		n = argc > 3 ? strtoul(argv[1], NULL, 10) : 0;
	uint32_t	columns = argc > 3 ? atoi(argv[2]) : 0;
	int			repeats = argc > 3 ? atoi(argv[3]) : 0;
	double	   *x = malloc(n * columns * sizeof(double));
	RaceParams *params = make_params(columns);
	int64_t    *counters = malloc(params->range * sizeof(int64_t));
	void	   *workspace = malloc(race_moments_workspace(params));
	double		least = INFINITY;

	if (columns == 0 || fread(x, columns * sizeof(double), n, stdin) != n)
		return 1;
	while (repeats-- > 0)
	{
		double		start = now();

		memset(counters, 0, params->range * sizeof(int64_t));
		race_moments_count(params, NULL, x, n, 1, counters, workspace);
		least = fmin(least, now() - start);
	}
	printf("%.4f %.3g\n", least, largest_error(x, n, columns, counters));
	return 0;
}
