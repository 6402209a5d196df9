/*
 * order_test.c
 *		The random orders that sets are hashed by: is each element as often the least?
 *
 * Few rounds make an order, which is enough for elements that are well mixed already,
 * as those of integers and texts are.  Integers as such are the control.  Seeds are
 * fixed, so these tests pass always or never.
 */
#include "kernels.h"
#include "tap.h"

#include "privacy/interrupt.h"
#include "hash/column.h"
#include "hash/elements.h"
#include "hash/kernel.h"
#include "hash/params.h"
#include "hash/rows.h"

#define ROWS CASES(500000, 20000)
#define RANGE 64
#define SEED 3
#define LIMIT 6.7
#define MAX_SIZE 100

/* A set of one element, or of several, and its buckets */
static void
hash_set(const RaceRows *rows, const uint64_t *elements, size_t n, uint32_t *buckets)
{
	size_t starts[2] = {0, n};
	RaceColumn column = {.elements = elements, .starts = starts};

	race_rows_hash_one(rows, ROWS, &column, buckets);
}

/*
 * How far, in standard errors, rows are from meeting each element of a set at rate
 * 1 / n: of all n, the sum of their squares over what it should be
 */
static double
deviation(const RaceRows *rows, const uint64_t *elements, size_t n, double *worst)
{
	uint32_t *of_set = make_buckets(rows);
	uint32_t *of_one = make_buckets(rows);
	double rate = 1.0 / n + (1 - 1.0 / n) / RANGE;
	double sum = 0;

	hash_set(rows, elements, n, of_set);
	for (size_t e = 0; e < n; e++)
	{
		uint32_t same = 0;
		double error;

		hash_set(rows, elements + e, 1, of_one);
		for (uint32_t row = 0; row < ROWS; row++)
			same += of_set[row] == of_one[row];
		error = standard_errors((double) same / ROWS, rate, ROWS);
		*worst = fmax(*worst, fabs(error));
		sum += error * error / n;
	}
	free(of_one);
	free(of_set);
	return sum;
}

/* 0, 1, 2 ... as a database has them, from `from` on in steps */
static void
make_integers(uint64_t *elements, int from, int step, size_t n, bool mixed)
{
	for (size_t i = 0; i < n; i++)
	{
		int64_t integer = from + step * (int64_t) i;

		elements[i] = mixed ? race_element_of_integer(SEED, integer) : (uint64_t) integer;
	}
}

/* Large sets and small ones: each element of each */
static void
test_sizes(const RaceRows *rows)
{
	static const size_t sizes[] = {2, 3, 4, 5, 7, 10, 33, MAX_SIZE};
	uint64_t elements[MAX_SIZE];
	double worst = 0;
	double worst_control = 0;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
	{
		make_integers(elements, 0, 1, sizes[i], true);
		deviation(rows, elements, sizes[i], &worst);
		make_integers(elements, 0, 1, sizes[i], false);
		deviation(rows, elements, sizes[i], &worst_control);
	}
	printf("# off by up to %.2f standard errors, a control by %.2f\n", worst, worst_control);
	ok(worst < LIMIT, "each of 0 ... n - 1 is the least at rate 1 / n");
	ok(SANITIZED || worst_control > LIMIT, "control: not of integers that are not mixed first");
}

/*
 * Over many sets of three: were each a little off for itself, all together would show
 * it.  Squares of deviations have mean 1 and, within a set, depend on each other:
 * taken as one number a set, their variance is below 2.
 */
#define SETS 100

static void
test_many(const RaceRows *rows)
{
	uint64_t elements[3];
	double sum = 0;
	double worst = 0;
	double error;

	for (int set = 0; set < SETS; set++)
	{
		make_integers(elements, 1000 + set, 1 << set % 20, 3, true);
		sum += deviation(rows, elements, 3, &worst);
	}
	error = (sum / SETS - 1) / sqrt(2.0 / SETS);
	printf("# squares off by %.2f standard errors, the worst element by %.2f\n", error, worst);
	ok(fabs(error) < LIMIT && worst < LIMIT, "nor are many sets a little off together");
}

static int pauses;

static void
count_pause(void)
{
	pauses++;
}

/* How many pauses there were since the last time */
static int
pauses_since(void)
{
	int n = pauses;

	pauses = 0;
	return n;
}

#define STEPS 3
#define LARGE (STEPS * RACE_STEP + 5)

/* In the middle of large sets and long texts there are pauses, which change nothing. */
static void
test_pauses(void)
{
	static uint64_t elements[LARGE];
	size_t starts[2] = {0, LARGE};
	RaceColumn set = {.elements = elements, .starts = starts};
	Recipe recipe = {MULTI, RANGE, {PART(JACCARD, IND, 0, 1)}};
	RaceParams *params = make_params(&recipe, RACE_LANES, SEED);
	RaceRows *rows = make_rows(params);
	uint32_t *buckets = make_buckets(rows);
	uint32_t *with_pauses = make_buckets(rows);
	uint64_t element;

	for (size_t i = 0; i < LARGE; i++)
		elements[i] = mix(i);
	race_rows_hash_one(rows, RACE_LANES, &set, buckets);
	element = race_element_of_bytes(SEED, elements, LARGE);
	race_interrupt_hook = count_pause;
	race_rows_hash_one(rows, RACE_LANES, &set, with_pauses);
	ok(pauses_since() >= STEPS && memcmp(buckets, with_pauses, RACE_LANES * sizeof(uint32_t)) == 0,
	   "a large set is hashed with pauses, to the same buckets");
	ok(race_kernel_value(params, &set, &set) == 1 && pauses_since() == STEPS, "and compared");
	ok(race_element_of_bytes(SEED, elements, LARGE) == element && pauses_since() == STEPS,
	   "and a long text is hashed with pauses");
	race_interrupt_hook = NULL;
	free(with_pauses);
	free(buckets);
	free(rows);
	free(params);
}

int
main(void)
{
	Recipe recipe = {MULTI, RANGE, {PART(JACCARD, IND, 0, 1)}};
	RaceParams *params = make_params(&recipe, ROWS, SEED);
	RaceRows *rows = make_rows(params);

	test_sizes(rows);
	test_many(rows);
	free(rows);
	free(params);
	test_pauses();
	return done_testing();
}
