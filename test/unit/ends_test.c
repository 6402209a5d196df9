/*
 * ends_test.c
 *		Ends of columns: what cannot be measured, how tables are adjusted to them, and what is known then
 *
 * Draws are pseudo-random and always the same.
 */
#include <math.h>
#include <string.h>

#include "privacy/ends.h"
#include "privacy/exact.h"
#include "choice/select_ends.h"
#include "choice/select_state.h"
#include "hash/contingency.h"
#include "helpers.h"
#include "tap.h"

#define CELLS 12
#define SINGLE 2 /* the last ones, of NULL and of others */
#define ORDINARY (CELLS - SINGLE)
#define DRAWS CASES(40000, 4000)
#define Z_LIMIT 6.2

static uint64_t position;
static RaceRandom pattern = {fill_from_pattern, &position, 0, {0}};

/* -------------------------------------------------------------- measuring */

static uint64_t
measure(const RaceEnds *ends, const int64_t *counters, double delta, int64_t *noisy)
{
	RaceShape shape = {.blocks = 1, .unit = 1, .range = CELLS};
	RaceRequest request = {.epsilon = 1, .delta = delta, .max_contributions = 1};
	RaceExactMemory memory;
	RaceExact *exact = race_exact_begin(&memory, &shape);
	RaceAccount account;

	if (counters != NULL)
		race_exact_add(exact, counters, 8, 0, 1);
	race_account_open(&account, &pattern, &request, 1);
	return race_measure_ends(&account, exact, ends, INFINITY, noisy);
}

static void
test_refusals(void)
{
	static const RaceEnds wrong[] = {{1, 4}, {0, CELLS + 1}, {0, 1}, {0, 0}, {UINT32_MAX, 4}};
	static const int64_t counters[CELLS] = {1, 2, 3};
	bool refused = true;
	int64_t noisy[RACE_ENDS] = {7, 7};
	uint64_t noise;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		refused &= measure(&wrong[i], counters, 0, noisy) == 0;
	ok(refused && noisy[0] == 7 && noisy[1] == 7,
	   "places that a block does not have, and one place, have no ends");
	ok(measure(&(RaceEnds){0, 4}, NULL, 0, noisy) > 0 && noisy[0] == 7,
	   "without counters they are planned, and nothing is drawn");
	noise = measure(&(RaceEnds){0, 4}, counters, 0, noisy);
	ok(noise >= 3 * RACE_SCALE_DENOMINATOR && noise <= 3 * RACE_SCALE_DENOMINATOR + 1,
	   "a record of four places gives three shares, which are paid");
}

/* ---------------------------------------------------------------- adjusting */

/* A table whose ordinary cells have noise, and noisy ends */
typedef struct Made
{
	RaceTable table;
	double exact[CELLS];
	int64_t cells[CELLS];
	int64_t ends[RACE_ENDS];
} Made;

#define FINE 1000.0 /* of deviations: so much larger that integers are as good as numbers */

/* A number with the mean 0 and this variance */
static double
draw_noise(double variance)
{
	double sum = 0;

	for (int i = 0; i < 12; i++)
		sum += signed_unit(mix(++position)) / 2;
	return sum * sqrt(variance);
}

/* Draw a table; blocks of cells get noise together, which their cells share. */
static void
make_table(uint32_t block, double variance, double ends, Made *made)
{
	double lower = 0;
	double upper = 0;
	double of_block = 0;

	memset(made, 0, sizeof(Made));
	made->table = (RaceTable){.variance = variance,
							  .cells = CELLS,
							  .block = block,
							  .ordinary = ORDINARY,
							  .single = 1,
							  .ends = ends};
	for (uint32_t i = 0; i < CELLS; i++)
	{
		made->exact[i] = FINE * (100 + 10 * (i % 3));
		if (i >= ORDINARY)
			of_block = draw_noise(variance * block);
		else if (i % block == 0)
			of_block = draw_noise(variance * block) / block;
		made->cells[i] = (int64_t) rint(made->exact[i] + of_block);
		lower += i < ORDINARY ? (ORDINARY - 1 - i) * made->exact[i] : 0;
		upper += i < ORDINARY ? i * made->exact[i] : 0;
	}
	made->ends[0] = (int64_t) rint(lower + draw_noise(ends));
	made->ends[1] = (int64_t) rint(upper + draw_noise(ends));
}

/* Sums that are asked: of all cells, of ordinary ones, of their places, of a few, of single ones */
#define SUMS 5

static double
weight_of(int sum, uint32_t cell)
{
	switch (sum)
	{
		case 0:
			return 1;
		case 1:
			return cell < ORDINARY;
		case 2:
			return cell < ORDINARY ? cell : 0;
		case 3:
			return cell < 5;
		default:
			return cell >= ORDINARY;
	}
}

static double
stated(const RaceTable *table, int first, int second)
{
	RaceSumsNoise noise = {0};

	for (uint32_t i = 0; i < CELLS; i++)
		race_contingency_add_noise(table, i, weight_of(first, i), weight_of(second, i), &noise);
	/* the number of all records is as precise as this table */
	return race_contingency_noise(table, &noise, race_contingency_table_variance(table));
}

static void
test_noise(const char *what, uint32_t block, double variance, double ends)
{
	double products[SUMS][SUMS] = {{0}};
	double squares[SUMS][SUMS] = {{0}};
	double most = 0;
	double least = INFINITY;
	Made made;

	for (int n = 0; n < DRAWS; n++)
	{
		double off[SUMS] = {0};

		make_table(block, variance, ends, &made);
		race_contingency_adjust(&made.table, made.ends, made.cells);
		for (int sum = 0; sum < SUMS; sum++)
			for (uint32_t i = 0; i < CELLS; i++)
				off[sum] += weight_of(sum, i) * ((double) made.cells[i] - made.exact[i]);
		for (int i = 0; i < SUMS; i++)
			for (int j = 0; j < SUMS; j++)
			{
				products[i][j] += off[i] * off[j] / DRAWS;
				squares[i][j] += pow(off[i] * off[j], 2) / DRAWS;
			}
	}
	for (int i = 0; i < SUMS; i++)
		for (int j = 0; j < SUMS; j++)
		{
			double error = sqrt((squares[i][j] - pow(products[i][j], 2)) / DRAWS);
			RaceTable without = made.table;

			without.ends = 0;
			/* of cells in blocks more is stated, but of all places */
			if (block == 1 || i == 2)
				most = fmax(most, fabs(products[i][j] - stated(&made.table, i, j)) / error);
			else if (i == j)
				most = fmax(most, (products[i][j] - stated(&made.table, i, j)) / error);
			if (i == 2 && j == 2)
				least = fabs(products[i][j] - stated(&without, i, j)) / error;
		}
	ok(most < Z_LIMIT, "%s: sums have the covariances that are stated, z = %.1f", what, most);
	ok(SANITIZED || least > Z_LIMIT, "control: not those without ends, z = %.1f", least);
}

/* No adjustment in those directions has less variance: that of least squares is a minimum. */
static void
test_least(void)
{
	RaceTable table =
		{.variance = 2, .cells = CELLS, .block = 1, .ordinary = ORDINARY, .single = 1, .ends = 90};
	RaceTable without = table;
	double own;
	double known;

	without.ends = 0;
	own = stated(&without, 1, 1);
	known = 2 * table.ends / pow(ORDINARY - 1, 2);
	ok(fabs(stated(&table, 1, 1) - own * known / (own + known)) < 1e-9,
	   "both numbers of records are weighed by precision");
	ok(stated(&table, 3, 3) < stated(&without, 3, 3) && stated(&table, 4, 4) == 2 * SINGLE,
	   "sums of some cells gain, and cells beyond do not");
}

/* Where ends have less noise than blocks, they alone say where records lie. */
static void
test_integers(void)
{
	Made made;
	int64_t records = 0;
	int64_t places = 0;

	make_table(5, 4, 0.01, &made);
	race_contingency_adjust(&made.table, made.ends, made.cells);
	for (uint32_t i = 0; i < ORDINARY; i++)
	{
		records += made.cells[i];
		places += (2 * (int64_t) i - (ORDINARY - 1)) * made.cells[i];
	}
	ok(llabs(records - (made.ends[0] + made.ends[1]) / (ORDINARY - 1)) <= 1 &&
		   llabs(places - (made.ends[1] - made.ends[0])) <= ORDINARY,
	   "rounding moves neither records nor places");
}

/* ------------------------------------------------------------------ choosing */

static double
part_of(double delta, double amount, uint32_t span, uint32_t block, double sums, bool fixed)
{
	static RaceSelect select;
	RaceRequest request = {.epsilon = 20, .delta = delta, .max_contributions = 1};
	RaceShape shape = {.blocks = 1, .unit = 1};

	memset(&select, 0, sizeof(select));
	select.columns = 1;
	select.parts = 1;
	select.span = &span;
	select.sums = &sums;
	race_select_begin(&select, &request, &shape);
	select.fixed = fixed;
	select.block[0] = block;
	return 1 - race_select_ends(&select, 0, amount, true) / amount;
}

static void
test_choice(void)
{
	ok(fabs(part_of(0, 0.1, 256, 1, 1, false) - 0.2) < 1e-9 &&
		   part_of(0, 0.1, 128, 1, 1, false) == 0 && part_of(0, 0.1, 256, 4, 1, false) == 0,
	   "with Laplace noise, ends get a part beside many cells that are counted one by one");
	ok(fabs(part_of(1e-6, 0.1, 16, 1, 1, false) - 1.0 / 6) < 1e-9 &&
		   part_of(1e-6, 0.1, 10, 1, 1, false) == 0,
	   "with Gaussian noise beside fewer");
	ok(fabs(part_of(0, 0.1, 16, 1, 4, false) - 0.75) < 1e-9 &&
		   fabs(part_of(1e-6, 0.1, 16, 1, 4, false) - 0.75) < 1e-9,
	   "sums that are asked for get most");
	ok(part_of(0, 10, 256, 1, 1, false) == 0 && part_of(0, 10, 256, 1, 4, false) == 0,
	   "where integers have hardly any noise, cells tell more");
	ok(part_of(0, 0.1, 256, 1, 0, false) == 0 && part_of(0, 0.1, 256, 1, 4, true) == 0 &&
		   part_of(0, 0.1, 1, 1, 4, false) == 0,
	   "no other column, no series and no single cell has ends");
}

int
main(void)
{
	test_refusals();
	test_noise("ends beside cells", 1, FINE * FINE, 20 * FINE * FINE);
	test_noise("precise ends", 1, FINE * FINE, 0.3 * FINE * FINE);
	test_noise("ends beside blocks", 5, FINE * FINE, 20 * FINE * FINE);
	test_least();
	test_integers();
	test_choice();
	return done_testing();
}
