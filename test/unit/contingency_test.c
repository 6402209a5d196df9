/*
 * contingency_test.c
 *		Signs of columns in parameters of private tables: which cells have which, and how many
 *		counters there are
 */
#include "hash/contingency.h"
#include "hash/params.h"
#include "helpers.h"
#include "tap.h"

/* Columns of 7 cells in groups of 2, the last by itself; of 3; of 5, two by themselves; of a measure */
#define DIMS 4
#define COLUMNS 3

static const double cells[DIMS] = {7, 3, 5, 3};
static const double groups[RACE_GROUP_NUMBERS * DIMS] = {2, 1, 1, 0, 1, 0, 2, 0,
														 1, 1, 1, 1, 1, 0, 0, 0};
static const double joined[] = {0, 0, 1, 2, 0, 1, 1, 0, 1, 2, 2, 2};
static const double measured[] = {0, 0, 9, 1, 1, 9, 2, 2, 9, 0, 2, 9};

static RaceContingency
make_tables(const double *signs, uint32_t dims)
{
	static double own_groups[RACE_GROUP_NUMBERS * DIMS];
	RaceContingency tables = {.dims = dims,
							  .cells = cells,
							  .groups = own_groups,
							  .joined = joined,
							  .n_joined = 12,
							  .measured = measured,
							  .n_measured = 4,
							  .signs = signs,
							  .n_signs = signs == NULL ? 0 : 1 + COLUMNS};

	for (uint32_t row = 0; row < RACE_GROUP_NUMBERS; row++)
		memcpy(own_groups + row * dims, groups + row * DIMS, dims * sizeof(double));
	race_contingency_set(&tables);
	return tables;
}

static uint32_t
counters_with(double variance, double first, double second, double third, uint32_t dims)
{
	const double signs[1 + COLUMNS] = {variance, first, second, third};
	RaceContingency tables = make_tables(signs, dims);

	return race_contingency_counters(&tables);
}

static void
test_counters(uint32_t dims)
{
	RaceContingency none = make_tables(NULL, dims);
	uint32_t n = race_contingency_counters(&none);
	const double signs[1 + COLUMNS] = {5, 0, 2, 1};
	RaceContingency tables = make_tables(signs, dims);
	uint32_t columns[RACE_CONTINGENCY_COLUMNS];

	ok(n == none.parts * (7 + 3 + 5 + 3 * 3) && race_contingency_signs_at(&none) == n,
	   "%u counters of tables with %u parts", n, none.parts);
	ok(counters_with(1, 2, 1, 1, dims) == n + 3 && counters_with(1e300, 2, 2, 2, dims) == n + 3 &&
		   counters_with(5e-324, 2, 0, 1, dims) == n + 1,
	   "... and one of each pair of columns that have signs");
	ok(race_contingency_signs(&tables, columns) == 2 && columns[0] == 1 && columns[1] == 2 &&
		   race_contingency_counters(&tables) == n + 1 && race_contingency_signs_at(&tables) == n,
	   "... which come last");
	ok(race_contingency_signs(&none, columns) == 0, "... or none");
	ok(counters_with(0, 2, 1, 1, dims) == 0 && counters_with(-1, 2, 1, 1, dims) == 0 &&
		   counters_with(NAN, 2, 1, 1, dims) == 0 && counters_with(INFINITY, 2, 1, 1, dims) == 0,
	   "signs must have a variance");
	ok(counters_with(1, 3, 1, 1, dims) == 0 && counters_with(1, 2, 3, 1, dims) == 0 &&
		   counters_with(1, 2, 1, 3, dims) == 0 && counters_with(1, 2, -1, 1, dims) == 0 &&
		   counters_with(1, 2, 0.5, 1, dims) == 0 && counters_with(1, 2, NAN, 1, dims) == 0,
	   "... and begin with a group of ordinary cells, not with all of them");
	ok(counters_with(1, 2, 0, 0, dims) == 0 && counters_with(1, 0, 0, 0, dims) == 0,
	   "... of two columns");
	tables.n_signs--;
	ok(race_contingency_counters(&tables) == 0, "... one number for each column");
}

static void
test_signs_of_cells(void)
{
	static const int expected[COLUMNS][7] = {{-1, -1, -1, -1, 1, 1, 0}, {0, 0, 0}, {-1, 1, 1}};
	const double signs[1 + COLUMNS] = {5, 2, 0, 1};
	RaceContingency tables = make_tables(signs, DIMS);
	RaceContingency none = make_tables(NULL, DIMS);
	bool right = true;
	bool zero = true;

	for (uint32_t j = 0; j < COLUMNS; j++)
		for (uint32_t i = 0; i < (uint32_t) cells[j]; i++)
		{
			right &= race_contingency_sign(&tables, j, i) == expected[j][i];
			zero &= race_contingency_sign(&none, j, i) == 0;
		}
	ok(right, "cells are below or above by their groups; those by themselves have the sign 0");
	ok(zero, "without signs all are 0");
}

int
main(void)
{
	test_counters(DIMS);
	test_counters(COLUMNS);
	test_signs_of_cells();
	return done_testing();
}
