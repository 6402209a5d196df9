/*
 * margins_test.c
 *		Shares of the cells of a column by noisy counts: what is there stays, and noise goes
 *
 * Noise is pseudo-random and always the same.
 */
#include "answers/margins.h"
#include "hash/quantiles.h"
#include "helpers.h"
#include "memory.h"
#include "tap.h"

#define MOST_CELLS 1100

static uint64_t seed;

static double
normal(void)
{
	return race_inverse_normal((signed_unit(mix(++seed)) + 1) / 2);
}

/*
 * Counts of records with given shares, and noise: of a block in its first cell, whence its cells
 * divide it
 */
static void
make_counts(const RaceNoisyColumn *column, const double *truth, double *counts)
{
	for (uint32_t i = 0; i < column->n; i++)
		counts[i] = column->total * truth[i];
	for (uint32_t i = 0; i < column->n; i++)
		if (i >= column->ordered || i % column->block == 0)
			counts[i] += sqrt(column->variance) * normal();
}

/* How far shares are from the truth in the mean, as a total variation distance */
static double
error_of(const RaceNoisyColumn *column, const double *truth, int draws)
{
	static double counts[MOST_CELLS];
	static double shares[MOST_CELLS];
	double sum = 0;

	for (int k = 0; k < draws; k++)
	{
		make_counts(column, truth, counts);
		race_margin(column, counts, shares, from_memory, NULL);
		free_memory();
		for (uint32_t i = 0; i < column->n; i++)
			sum += fabs(shares[i] - truth[i]) / 2 / draws;
	}
	return sum;
}

/* The error with all that is in order, and where each cell is by itself */
static void
compare(const char *name, RaceNoisyColumn column, const double *truth, double at_most)
{
	double error = error_of(&column, truth, CASES(30, 5));
	double raw;

	column.ordered = 0;
	raw = error_of(&column, truth, CASES(30, 5));
	ok(error < at_most * raw, "%s: %.5f off, where each cell by itself is %.5f", name, error, raw);
}

static void
test_densities(void)
{
	static double truth[MOST_CELLS];
	RaceNoisyColumn column = {256, 256, 1, 900, 1e5};
	double sum = 0;

	for (uint32_t i = 0; i < 256; i++)
		truth[i] = 1.0 / 256;
	compare("a constant", column, truth, 0.15);
	for (uint32_t i = 0; i < 256; i++)
		truth[i] = (i < 100 ? 1 : i < 170 ? 5 : 2) / 622.0;
	compare("two steps", column, truth, 0.5);
	for (uint32_t i = 0; i < 256; i++)
		sum += truth[i] = exp(-pow((i - 120.0) / 40, 2) / 2);
	for (uint32_t i = 0; i < 256; i++)
		truth[i] /= sum;
	compare("a smooth density", column, truth, 0.65);
	column.n = column.ordered = 200;
	sum = 0;
	for (uint32_t i = 0; i < 200; i++)
		sum += truth[i] = exp(-(double) i / 30);
	for (uint32_t i = 0; i < 200; i++)
		truth[i] /= sum;
	compare("a density with a step at its end, of 200 cells", column, truth, 0.8);
	for (uint32_t i = 0; i < 200; i++)
		truth[i] = i == 77 ? 0.5 : 0.5 / 199;
	compare("a spike", column, truth, 0.5);
	/* what is uneven everywhere is no worse than it was */
	for (uint32_t i = 0; i < 200; i++)
		truth[i] = (i % 2 == 0 ? 2 : 0.5) / 250;
	compare("values that alternate", column, truth, 1.05);
}

/* A spike is kept whatever is around it, and does not touch cells by themselves. */
static void
test_spike(void)
{
	static double truth[MOST_CELLS];
	static double counts[MOST_CELLS];
	static double shares[MOST_CELLS];
	RaceNoisyColumn column = {130, 128, 1, 400, 1e5};
	double most = 0;

	for (int k = 0; k < 20; k++)
	{
		uint32_t at = (uint32_t) (mix(++seed) % 128);

		for (uint32_t i = 0; i < 130; i++)
			truth[i] = i == at ? 0.3 : i == 128 ? 0.2 : i == 129 ? 0.1 : 0.4 / 127;
		make_counts(&column, truth, counts);
		race_margin(&column, counts, shares, from_memory, NULL);
		free_memory();
		most = fmax(most, fabs(shares[at] - 0.3));
		most = fmax(most, fmax(fabs(shares[128] - 0.2), fabs(shares[129] - 0.1)));
	}
	/* thresholds of 9 levels take 3.1 deviations each, in halves of roots of 2 */
	ok(most < 250 / 1e5, "a spike stays, and so do cells by themselves (%.5f off)", most);
}

/* Are shares above 0, and do they add up to 1? */
static bool
are_shares(const double *shares, uint32_t n)
{
	double sum = 0;
	bool above = true;

	for (uint32_t i = 0; i < n; i++)
	{
		above &= shares[i] > 0 && shares[i] <= 1;
		sum += shares[i];
	}
	return above && fabs(sum - 1) < 1e-9;
}

static void
test_sizes(void)
{
	static double counts[MOST_CELLS];
	static double shares[MOST_CELLS];
	static const uint32_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 31, 33, 100, 1000, 1025};
	static const double scales[] = {0, 1e-300, 1, 1e6, 1e15, 1e18};
	bool are = true;

	for (int k = 0; k < 13; k++)
		for (uint32_t single = 0; single <= sizes[k]; single += 1 + single)
			for (uint32_t block = 1; block <= sizes[k] + 1; block *= 3)
				for (int s = 0; s < 6; s++)
				{
					RaceNoisyColumn column = {.n = sizes[k],
											  .ordered = sizes[k] - single,
											  .block = block,
											  .variance = scales[s] > 1e16 ? 1 : scales[s],
											  .total = s % 2 == 0 ? 1 : 1e4};

					for (uint32_t i = 0; i < sizes[k]; i++)
						counts[i] = scales[s] * (normal() - (k % 3 == 0));
					race_margin(&column, counts, shares, from_memory, NULL);
					free_memory();
					are &= are_shares(shares, sizes[k]);
				}
	ok(are, "of all sizes, blocks and noise they add up to 1");
	for (int s = 0; s < 2; s++)
	{
		for (uint32_t i = 0; i < 100; i++)
			counts[i] = s == 0 ? 0 : -1e9;
		race_margin(&(RaceNoisyColumn){100, 100, 1, 1, 1}, counts, shares, from_memory, NULL);
		free_memory();
		are &= are_shares(shares, 100) && fabs(shares[50] - 0.01) < 1e-6;
	}
	ok(are, "counts of nothing are alike");
}

static void
test_exact(void)
{
	static double counts[MOST_CELLS];
	static double shares[MOST_CELLS];
	double most = 0;

	for (uint32_t i = 0; i < 100; i++)
		counts[i] = 1 + (double) (mix(i) % 100);
	for (uint32_t ordered = 0; ordered <= 100; ordered += 50)
	{
		double total = 0;

		for (uint32_t i = 0; i < 100; i++)
			total += counts[i];
		race_margin(&(RaceNoisyColumn){100, ordered, 1, 0, total}, counts, shares, from_memory,
					NULL);
		free_memory();
		for (uint32_t i = 0; i < 100; i++)
			most = fmax(most, fabs(shares[i] - counts[i] / total));
	}
	ok(most < 1e-6, "without noise they are what was counted (%.1g off)", most);
}

/* Cells that were counted together are alike, the last ones too, and have the noise of their block. */
static void
test_blocks(void)
{
	static double truth[MOST_CELLS];
	static double counts[MOST_CELLS];
	static double shares[MOST_CELLS];
	RaceNoisyColumn column = {1003, 1001, 8, 900, 1e5};
	RaceNoisyColumn cells = column;
	bool alike = true;
	double sum = 0;

	for (uint32_t i = 0; i < 1001; i++)
		sum += truth[i] = exp(-pow((i - 500.0) / 150, 2) / 2);
	for (uint32_t i = 0; i < 1001; i++)
		truth[i] *= 0.7 / sum;
	truth[1001] = 0.3;
	truth[1002] = 0;
	make_counts(&column, truth, counts);
	race_margin(&column, counts, shares, from_memory, NULL);
	free_memory();
	for (uint32_t i = 0; i < 1001; i++)
		alike &= fabs(shares[i] - shares[i - i % 8]) < 1e-12;
	ok(alike && fabs(shares[1001] - 0.3) < 0.003 && shares[1002] < 0.003,
	   "cells of a block are alike, and others are by themselves");
	cells.block = 1;
	ok(error_of(&column, truth, CASES(20, 3)) < 0.8 * error_of(&cells, truth, CASES(20, 3)),
	   "blocks have less noise");
}

int
main(void)
{
	test_densities();
	test_spike();
	test_sizes();
	test_exact();
	test_blocks();
	return done_testing();
}
