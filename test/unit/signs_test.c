/*
 * signs_test.c
 *		The noise of signs: its mean and its variance, with each mechanism, of a unit of 1 and of more
 *
 * Draws are pseudo-random and always the same.
 */
#include <math.h>

#include "privacy/count.h"
#include "privacy/exact.h"
#include "privacy/signs.h"
#include "helpers.h"
#include "tap.h"

#define MOST_COLUMNS 8
#define MOST_PAIRS (MOST_COLUMNS * (MOST_COLUMNS - 1) / 2)
#define RECORDS 1000
#define DRAWS CASES(40000, 4000) /* sums, at least */
#define Z_LIMIT 6.2

static uint64_t position;
static RaceRandom pattern = {fill_from_pattern, &position, 0, {0}};

/* Columns of two places with the signs -1 and 1, all records in the first, and their tables */
static struct
{
	size_t ends[MOST_COLUMNS + MOST_PAIRS];
	int64_t counters[2 * MOST_COLUMNS + 4 * MOST_PAIRS];
	RaceShape shape;
	uint32_t column[MOST_COLUMNS];
	uint32_t length[MOST_COLUMNS];
	const int8_t *sign[MOST_COLUMNS];
	RaceSigns signs;
} made;

static void
make_tables(uint32_t columns, uint64_t unit)
{
	static const int8_t sign[] = {-1, 1};
	uint32_t blocks = columns + columns * (columns - 1) / 2;
	uint32_t place[MOST_COLUMNS] = {0};

	memset(&made, 0, sizeof(made));
	for (uint32_t i = 0; i < blocks; i++)
		made.ends[i] = (i > 0 ? made.ends[i - 1] : 0) + (i < columns ? 2 : 4);
	for (uint32_t j = 0; j < columns; j++)
	{
		made.column[j] = j;
		made.length[j] = 2;
		made.sign[j] = sign;
	}
	made.shape = (RaceShape){.blocks = blocks, .unit = unit, .ends = made.ends, .paired = columns};
	made.signs = (RaceSigns){columns, made.column, made.length, made.sign, 1};
	race_count_pairs(unit, (RaceCounterArray){made.counters + 2 * columns, 8}, columns, made.length,
					 place, (int64_t[]){(int64_t) unit}, 1, 1, RECORDS);
}

/* Moments of the noise of all pairs and draws */
typedef struct Moments
{
	double n;
	double sum;
	double square;
	double fourth;
	double variance; /* as it is stated */
} Moments;

static bool
draw_moments(const RaceRequest *request, Moments *moments)
{
	int64_t space[MOST_PAIRS + 3 * MOST_COLUMNS * (MOST_COLUMNS + 1) / 2];
	int64_t noisy[MOST_PAIRS];
	bool drawn = race_signs_space(made.signs.columns) <= sizeof(space) / sizeof(int64_t);

	*moments = (Moments){0};
	while (moments->n < DRAWS && drawn)
	{
		RaceExactMemory memory;
		RaceExact *exact = race_exact_begin(&memory, &made.shape);
		RaceAccount account;

		race_exact_add(exact, made.counters, 8, RECORDS, 1);
		race_account_open(&account, &pattern, request, 1e20);
		drawn &= race_measure_signs(&account, exact, &made.signs, INFINITY, (RaceSpace *) space,
									noisy, &moments->variance);
		for (uint64_t k = 0; k < race_signs_pairs(made.signs.columns); k++, moments->n++)
		{
			double off = (double) (noisy[k] - RECORDS * (int64_t) made.shape.unit);

			moments->sum += off;
			moments->square += off * off;
			moments->fourth += off * off * off * off;
		}
	}
	return drawn;
}

/*
 * How many standard errors the mean square is off of a variance.  Sums of a draw are uncorrelated,
 * their squares nearly so: they count as half as many.
 */
static double
z_of_variance(const Moments *moments, double variance)
{
	double mean = moments->square / moments->n;
	double error = sqrt((moments->fourth / moments->n - mean * mean) / (moments->n / 2));

	return (mean - variance) / error;
}

static void
test_noise(const char *what, uint32_t columns, uint64_t unit, double epsilon, double delta,
		   double deviation)
{
	RaceRequest request = {.epsilon = epsilon, .delta = delta, .max_contributions = 1};
	Moments moments;
	double z;

	make_tables(columns, unit);
	ok(draw_moments(&request, &moments), "%s: %u columns", what, columns);
	z = moments.sum / sqrt(moments.n * moments.square / moments.n);
	ok(fabs(z) < Z_LIMIT, "... noise has no mean, z = %.1f", z);
	z = z_of_variance(&moments, moments.variance);
	ok(fabs(z) < Z_LIMIT, "... and the variance that is stated, z = %.1f", z);
	ok(SANITIZED || fabs(z_of_variance(&moments, moments.variance / 1.2)) > Z_LIMIT,
	   "control: not one that is a fifth smaller");
	ok(fabs(sqrt(moments.variance) / (deviation * (double) unit) - 1) < 0.02,
	   "... and a deviation of %.4g, near %g units", sqrt(moments.variance) / (double) unit,
	   deviation);
}

/* With Laplace noise of entries, deviations are about the root of 2 a pair. */
static void
test_many(void)
{
	static const struct
	{
		uint32_t columns;
		double deviation;
	} many[] = {{2, 1.36}, {3, 4.23}, {4, 6.45}, {8, 17.3}, {32, 133}, {128, 1046}};
	RaceRequest request = {.epsilon = 1, .max_contributions = 1};
	RaceShape shape = {.blocks = 1, .unit = 1};

	for (size_t i = 0; i < sizeof(many) / sizeof(many[0]); i++)
	{
		RaceExactMemory memory;
		RaceAccount account;
		double variance = 0;

		race_account_open(&account, NULL, &request, 1);
		(void) race_measure_signs(&account, race_exact_begin(&memory, &shape),
								  &(RaceSigns){.columns = many[i].columns}, INFINITY, NULL, NULL,
								  &variance);
		ok(fabs(sqrt(variance) / many[i].deviation - 1) < 0.02,
		   "%u columns, epsilon 1: a deviation of %.4g", many[i].columns, sqrt(variance));
	}
}

int
main(void)
{
	test_noise("Laplace", 2, 1, 0.1, 0, 14.1);
	test_noise("Wishart", 8, 1, 1, 0, 17.3);
	test_noise("Wishart, of a measure", 5, 4096, 0.5, 0, 17.7);
	test_noise("Gaussian", 8, 1, 1, 1e-6, 24);
	test_many();
	return done_testing();
}
