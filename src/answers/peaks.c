/*
 * peaks.c
 *		Which of several places of known density are modes, and how prominent.
 *
 * Paths are opened from the highest saddle to the lowest.  Places that can be reached from
 * each other are a group, which is told by its densest place.  When two groups meet, the
 * less dense of both has found its way up.
 */
#include <stdbool.h>
#include <stdlib.h>

#include "peaks.h"

static int
compare_paths(const void *a, const void *b)
{
	const RacePath *x = a;
	const RacePath *y = b;

	if (x->saddle != y->saddle)
		return x->saddle < y->saddle ? 1 : -1;
	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	return (x->b > y->b) - (x->b < y->b);
}

/* The densest place of the group of i */
static uint32_t
top_of(uint32_t *group, uint32_t i)
{
	while (group[i] != i)
		i = group[i] = group[group[i]];
	return i;
}

void
race_prominences(const double *density, uint32_t n, RacePath *paths, size_t n_paths,
				 uint32_t *group, double *prominence)
{
	size_t		k;
	uint32_t	i;

	for (i = 0; i < n; i++)
	{
		group[i] = i;
		prominence[i] = density[i];
	}
	qsort(paths, n_paths, sizeof(RacePath), compare_paths);
	for (k = 0; k < n_paths; k++)
	{
		uint32_t	a = top_of(group, paths[k].a);
		uint32_t	b = top_of(group, paths[k].b);
		bool		a_is_denser = density[a] > density[b] ||
			(density[a] == density[b] && a < b);
		uint32_t	upper = a_is_denser ? a : b;
		uint32_t	lower = a_is_denser ? b : a;

		if (a == b)
			continue;
		prominence[lower] = density[lower] - paths[k].saddle;
		group[lower] = upper;
	}
}

static int
compare_ranked(const void *a, const void *b)
{
	const RaceRanked *x = a;
	const RaceRanked *y = b;

	if (x->value != y->value)
		return x->value < y->value ? 1 : -1;
	return (x->i > y->i) - (x->i < y->i);
}

void
race_rank(const double *values, uint32_t n, RaceRanked *ranked)
{
	uint32_t	i;

	for (i = 0; i < n; i++)
	{
		ranked[i].i = i;
		ranked[i].value = values[i];
	}
	qsort(ranked, n, sizeof(RaceRanked), compare_ranked);
}
