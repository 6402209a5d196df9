/*
 * cells_test.c
 *		Cells of numbers: edges are decimals, and each number is in the cell that its edges say.
 */
#include <math.h>
#include <stdlib.h>

#include "hash/contingency.h"
#include "helpers.h"
#include "tap.h"

/*
 * Is each decimal that is an edge the first number of its cell, and the one before in the cell
 * before?
 */
static bool
edges_hold(double start, const char *format, int first, int step, int n, double width, double upper)
{
	RaceNumberCells cells;
	char text[64];

	race_number_cells_set(&cells, start, upper, start, width, n);
	for (int i = 0; i < n; i++)
	{
		double edge;

		snprintf(text, sizeof(text), format, first + i * step);
		edge = strtod(text, NULL);
		if (race_cell_edge(&cells, i) != edge ||
			race_cell_of_number(&cells, edge) != (uint32_t) i ||
			(i > 0 && race_cell_of_number(&cells, nextafter(edge, -INFINITY)) != (uint32_t) i - 1))
			return false;
	}
	return true;
}

/* The cell that a search through all edges finds */
static uint32_t
searched(const RaceNumberCells *cells, double x)
{
	uint32_t i = 0;

	x = fmin(fmax(x, cells->lower), cells->upper);
	while (i + 1 < cells->cells && race_cell_edge(cells, i + 1) <= x)
		i++;
	return i;
}

static void
test_search(void)
{
	int wrong = 0;

	for (int trial = 0; trial < 2000; trial++)
	{
		double lower = ldexp((double) (int64_t) mix(3 * trial), -70 + (int) (mix(trial) % 60));
		double width = ldexp((double) (mix(3 * trial + 1) >> 11), -60 + (int) (mix(trial) % 50));
		uint32_t n = 1 + (uint32_t) (mix(3 * trial + 2) % 300);
		RaceNumberCells cells;

		race_number_cells_set(&cells, lower, lower + n * width, lower, width, n);
		for (int i = 0; i < 100; i++)
		{
			double x =
				lower + width * ((double) (mix(100 * trial + i) % 1000) / 1000 * (n + 2) - 1);

			wrong += race_cell_of_number(&cells, x) != searched(&cells, x);
		}
	}
	ok(wrong == 0, "2000 sets of cells: the cell is that of a search through the edges");
}

int
main(void)
{
	RaceNumberCells ages;
	RaceNumberCells one;
	double above[] = {INFINITY, 1e308, 121};
	double below[] = {-INFINITY, -1e308, -1};

	ok(edges_hold(0, "%de-1", 0, 1, 1000, 0.1, 100), "tenths");
	ok(edges_hold(0, "%de-2", 0, 5, 1000, 0.05, 50), "twentieths");
	ok(edges_hold(-1.7, "%de-1", -17, 3, 400, 0.3, 118.3), "tenths that begin at -1.7");
	ok(edges_hold(5e5, "%de5", 5, 2, 400, 2e5, 8.05e7), "large numbers");
	ok(edges_hold(1e-5, "%de-7", 100, 7, 1000, 7e-7, 7.1e-4), "small numbers");
	race_number_cells_set(&ages, 0, 120, 0, 5, 25);
	ok(race_cell_of_number(&ages, 4) == 0 && race_cell_of_number(&ages, 5) == 1 &&
		   race_cell_of_number(&ages, 119) == 23 && race_cell_of_number(&ages, 120) == 24,
	   "ages by fives");
	for (int i = 0; i < 3; i++)
		ok(race_cell_of_number(&ages, above[i]) == 24, "%g is in the last cell", above[i]);
	for (int i = 0; i < 3; i++)
		ok(race_cell_of_number(&ages, below[i]) == 0, "%g is in the first cell", below[i]);
	race_number_cells_set(&one, 7, 7, 7, 1, 1);
	ok(race_cell_of_number(&one, 7) == 0 && race_cell_of_number(&one, 9) == 0, "one cell");
	test_search();
	ok(race_round_width(1) == 1 && race_round_width(3) == 5 && race_round_width(5) == 5 &&
		   race_round_width(6) == 10 && race_round_width(11) == 20 && race_round_width(0.2) == 1,
	   "widths are round");
	ok(fabs(race_round_width(1.5e300) / 2e300 - 1) < 1e-12 &&
		   race_round_width(1.5e308) >= 1.5e308 && race_round_width(INFINITY) == INFINITY,
	   "also of spans that are no double");
	return done_testing();
}
