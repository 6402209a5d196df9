/*
 * balanced_test.c
 *		Balanced places: all pairs, and all of them equally often; and weights of maximum entropy.
 */
#include <stdlib.h>
#include <string.h>

#include "../../src/answers/solver.h"
#include "../../src/core/table.h"
#include "helpers.h"
#include "tap.h"

#define MOST	9				/* places */

static RaceParams
part_of(uint32_t dims, uint32_t power)
{
	RaceParams	part;

	memset(&part, 0, sizeof(part));
	part.kernel = RACE_KERNEL_MATCH;
	part.sequence = RACE_SEQUENCE_BALANCED;
	part.dims = dims;
	part.power = power;
	return part;
}

/* All rows are all marginals, once each. */
static void
test_all(uint32_t dims, uint32_t power)
{
	RaceParams	part = part_of(dims, power);
	int			seen[MOST][MOST] = {{0}};
	uint32_t	wrong = 0;
	uint32_t	i;
	uint32_t	j;

	for (i = 0; i < race_balanced_rows(&part); i++)
	{
		uint32_t	a = race_balanced_place(&part, 7, i, 0);
		uint32_t	b = race_balanced_place(&part, 7, i, power - 1);

		seen[a < b ? a : b][a < b ? b : a]++;
	}
	for (i = 0; i < dims; i++)
		for (j = i; j < dims; j++)
			wrong += seen[i][j] != ((i == j) == (power == 1));
	ok(wrong == 0, "%u dims, power %u: all, once each", dims, power);
}

/* The first rows see all places. */
static void
test_first(uint32_t dims, uint32_t power)
{
	RaceParams	part = part_of(dims, power);
	uint32_t	unseen = 0;
	int64_t		seed;
	uint32_t	i;
	uint32_t	j;

	for (seed = 0; seed < 100; seed++)
	{
		int			seen[MOST] = {0};

		for (i = 0; i < race_balanced_least_rows(&part); i++)
			for (j = 0; j < power; j++)
				seen[race_balanced_place(&part, seed, i, j)]++;
		for (i = 0; i < dims; i++)
			unseen += seen[i] == 0;
	}
	ok(unseen == 0, "%u dims, power %u: the first rows see all places (%u)", dims, power, unseen);
}

/* Over seeds, each row sees each pair as often as another: chi-squared at fixed seeds */
static void
test_uniform(uint32_t dims, uint32_t row)
{
	RaceParams	part = part_of(dims, 2);
	int			seeds = 10000;
	int			seen[MOST][MOST] = {{0}};
	double		expected = seeds / (double) race_balanced_rows(&part);
	double		chi = 0;
	int64_t		seed;
	uint32_t	i;
	uint32_t	j;

	for (seed = 0; seed < seeds; seed++)
	{
		uint32_t	a = race_balanced_place(&part, seed, row, 0);
		uint32_t	b = race_balanced_place(&part, seed, row, 1);

		seen[a < b ? a : b][a < b ? b : a]++;
	}
	for (i = 0; i < dims; i++)
		for (j = i + 1; j < dims; j++)
			chi += (seen[i][j] - expected) * (seen[i][j] - expected) / expected;
	ok(chi < 3 * (double) race_balanced_rows(&part), "%u dims: row %u is any pair (%.1f)", dims, row, chi);
}

static void
test_value(void)
{
	RaceParams	part = part_of(4, 2);
	uint64_t	x[] = {1, 2, 3, 4};
	uint64_t	y[] = {1, 2, 3, 5};
	RaceColumn	a = {.elements = x, .width = 4};
	RaceColumn	b = {.elements = y, .width = 4};

	ok(fabs(race_balanced_value(&part, &a, &b) - 0.5) < 1e-15, "three of four: half of the pairs");
	ok(race_balanced_value(&part, &a, &a) == 1, "the same: 1");
	part.power = 1;
	ok(race_balanced_value(&part, &a, &b) == 0.75, "three of four places");
}

/* What rows do not see is sampled. */
static void
test_share(uint32_t dims, uint32_t power)
{
	RaceParams	part = part_of(dims, power);
	uint32_t	all = (uint32_t) race_balanced_rows(&part);

	ok(race_sampling_share(&part, all) == 0 && race_sampling_variance(&part, all, 1000) == 0,
	   "%u dims, power %u: all rows are no sample", dims, power);
	ok(fabs(race_sampling_share(&part, 1) - (1 - 1.0 / all)) < 1e-15,
	   "%u dims, power %u: one row is", dims, power);
}

/* ----------------------------------------------------------------- entropy */

/*
 * Two columns of two categories in rows of a column each: points 00, 01, 10, 11.  Weights with
 * given marginals that are nearest to equal ones have independent columns.
 */
static void
test_entropy(double strictness, const double prior[4], const double expected[4], const char *what)
{
	uint16_t	codes[] = {0, 0, 1, 1, 0, 1, 0, 1};
	double		sums[2];
	RaceGram	gram = {.m = 4, .codes = codes, .rows = 2, .sums = sums};
	double		first[] = {0.2, 0.8};	/* shares of the categories of 100 records */
	double		second[] = {0.4, 0.6};
	double		answers[4];
	double		weights[4];
	double		space[RACE_ENTROPY_SPACE(4)];
	double		worst = 0;
	int			i;

	for (i = 0; i < 4; i++)
		answers[i] = 100 * (first[i / 2] + second[i % 2]) / 2;
	race_entropy_weights(&gram, answers, 100, strictness, prior, weights, space);
	for (i = 0; i < 4; i++)
		worst = fmax(worst, fabs(weights[i] - expected[i]));
	ok(worst < 0.02, "maximum entropy: %s (%.3g)", what, worst);
}

int
main(void)
{
	const double equal[] = {1, 1, 1, 1};
	const double other[] = {2, 1, 1, 2};	/* odds ratio 4 */
	const double independent[] = {8, 12, 32, 48};
	const double prior[] = {25, 25, 25, 25};
	const double as_prior[] = {13.3333, 6.6667, 26.6667, 53.3333};
	uint32_t	dims;
	uint32_t	row;

	for (dims = 2; dims <= MOST; dims++)
	{
		test_all(dims, 1);
		test_all(dims, 2);
		test_first(dims, 1);
		test_first(dims, 2);
		test_share(dims, 1);
		test_share(dims, 2);
	}
	for (row = 0; row < 6; row++)
	{
		test_uniform(4, row);
		test_uniform(5, row);
	}
	test_value();
	test_entropy(0, equal, independent, "marginals, else independent");
	test_entropy(1e6, equal, prior, "a strict prior stays");
	test_entropy(0, other, as_prior, "marginals, and the odds ratio of the prior");
	return done_testing();
}
