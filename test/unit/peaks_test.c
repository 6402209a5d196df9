/*
 * peaks_test.c
 *		Prominences, against a walk through all ways.
 */
#include <math.h>
#include <stdlib.h>

#include "../../src/answers/peaks.h"
#include "tap.h"

#define MOST	12

/* The highest level at which one can walk from a to b, by all ways (Floyd & Warshall) */
static void
find_levels(uint32_t n, const RacePath *paths, size_t n_paths,
			double levels[MOST][MOST])
{
	uint32_t	i,
				j,
				k;
	size_t		p;

	for (i = 0; i < n; i++)
		for (j = 0; j < n; j++)
			levels[i][j] = -INFINITY;
	for (p = 0; p < n_paths; p++)
		levels[paths[p].a][paths[p].b] = levels[paths[p].b][paths[p].a] =
			fmax(levels[paths[p].a][paths[p].b], paths[p].saddle);
	for (k = 0; k < n; k++)
		for (i = 0; i < n; i++)
			for (j = 0; j < n; j++)
				levels[i][j] = fmax(levels[i][j], fmin(levels[i][k], levels[k][j]));
}

static bool
is_denser(const double *density, uint32_t a, uint32_t b)
{
	return density[a] > density[b] || (density[a] == density[b] && a < b);
}

/* Random places and paths, with many that are equal */
static bool
agree(unsigned int seed)
{
	double		density[MOST];
	double		prominence[MOST];
	uint32_t	group[MOST];
	double		levels[MOST][MOST];
	RacePath	paths[MOST * MOST];
	uint32_t	n,
				i,
				j;
	size_t		n_paths = 0;

	srand(seed);
	n = 1 + rand() % MOST;
	for (i = 0; i < n; i++)
		density[i] = 1 + rand() % 8;
	for (i = 0; i < n; i++)
		for (j = 0; j < i; j++)
			if (rand() % 3 == 0)
			{
				double		low = fmin(density[i], density[j]);
				RacePath	path = {i, j, rand() % 2 ? low : low * (rand() % 4) / 4};

				paths[n_paths++] = path;
			}
	find_levels(n, paths, n_paths, levels);
	race_prominences(density, n, paths, n_paths, group, prominence);
	for (i = 0; i < n; i++)
	{
		double		expected = density[i];

		for (j = 0; j < n; j++)
			if (is_denser(density, j, i) && isfinite(levels[i][j]))
				expected = fmin(expected, density[i] - levels[i][j]);
		if (prominence[i] != expected)
			return false;
	}
	return true;
}

int
main(void)
{
	double		density[] = {5, 3, 4};
	RacePath	paths[] = {{0, 1, 2}, {1, 2, 1}};
	double		prominence[3];
	uint32_t	group[3];
	unsigned int seed;
	int			good = 0;

	race_prominences(density, 3, paths, 2, group, prominence);
	ok(prominence[0] == 5 && prominence[1] == 1 && prominence[2] == 3, "three hills in a row");
	for (seed = 0; seed < 5000; seed++)
		good += agree(seed);
	ok(good == 5000, "as a walk through all ways says");
	return done_testing();
}
