/*
 * collision_test.c
 *		How often two records share a bucket, over many rows.
 *
 * Row functions are fixed by seeds, so there are no false alarms: these tests
 * pass always or never.  Limits are 6.7 standard errors of independent rows;
 * Sobol' and structured rows, and those of sequence grouped, must be within them, too.
 */
#include "kernels.h"
#include "tap.h"

#include "hash/column.h"
#include "hash/elements.h"
#include "hash/kernel.h"
#include "hash/params.h"
#include "hash/rows.h"

#define ROWS CASES(100000, 10000)
#define LIMIT 6.7
#define DISTANCES 10

static const double distances[DISTANCES] = {0.01, 0.1, 0.25, 0.5, 0.8, 1.2, 2, 3, 5, 10};

#define PAIRS 10

/* Two records of one part, and what a control takes for the second one */
typedef struct Pair
{
	RaceColumn x;
	RaceColumn y;
	RaceColumn other;
} Pair;

/*
 * Vectors at distances near and far, in bandwidths; a control's are 8 % longer.  Of
 * angles, the first is one with the zero vector.
 */
static void
pair_of_vectors(const RaceParams *part, int number, Pair *pair)
{
	double *x = (double *) pair->x.numbers;
	double *y = (double *) pair->y.numbers;
	double *other = (double *) pair->other.numbers;
	double length = part->kernel == L1 ? part->dims : sqrt(part->dims);

	for (uint32_t i = 0; i < part->dims; i++)
	{
		double difference = part->bandwidth * distances[number] / length * 2 *
			signed_unit(mix(number * 1000 + i + 500000));

		x[i] = part->kernel == ANGULAR && number == 0 ? 0 : 2 * signed_unit(mix(number * 1000 + i));
		y[i] = x[i] + difference;
		other[i] = x[i] + 1.08 * difference;
	}
}

/* So many elements of both sets, of the first, and of the second */
static const int set_shapes[PAIRS][3] = {{0, 0, 0},    {0, 0, 5},     {1, 0, 0},   {0, 3, 3},
										 {1, 1, 1},    {20, 1, 0},    {30, 0, 70}, {200, 50, 50},
										 {290, 10, 0}, {50, 150, 100}};

/* A set of the integers shared ... and those from `from` on, in order */
static void
make_set(RaceColumn *column, int shared, int from, int more)
{
	uint64_t *elements = (uint64_t *) column->elements;

	for (int i = 0; i < shared; i++)
		elements[i] = race_element_of_integer(7, i);
	for (int i = 0; i < more; i++)
		elements[shared + i] = race_element_of_integer(7, from + i);
	((size_t *) column->starts)[1] = (size_t) shared + more;
	qsort(elements, shared + more, sizeof(uint64_t), compare_elements);
}

/* A control's second set has a tenth more elements, and one. */
static void
pair_of_sets(int number, Pair *pair)
{
	const int *shape = set_shapes[number];

	make_set(&pair->x, shape[0], 1000, shape[1]);
	make_set(&pair->y, shape[0], 2000, shape[2]);
	make_set(&pair->other, shape[0], 2000, shape[2] + (shape[0] + shape[2]) / 10 + 1);
}

/* Rows of which a growing part is equal; of a control's, one category in ten less, and one */
static void
pair_of_categories(const RaceParams *part, int number, Pair *pair)
{
	uint32_t same = (part->dims * (uint32_t) number + 4) / (PAIRS - 1);
	uint32_t less = same / 10 + 1;

	for (uint32_t i = 0; i < part->dims; i++)
	{
		uint64_t x = race_element_of_integer(7, i % 5);
		uint64_t y = race_element_of_integer(7, i % 5 + 10);

		((uint64_t *) pair->x.elements)[i] = x;
		((uint64_t *) pair->y.elements)[i] = i < same ? x : y;
		((uint64_t *) pair->other.elements)[i] = i + less < same ? x : y;
	}
}

/* Pair `number` of a part; parts of a product are near where others are far */
static Pair
make_pair(const RaceParams *part, int place, int number)
{
	const size_t most = 400;
	Pair pair = {allocate_column(part, 1, most), allocate_column(part, 1, most),
				 allocate_column(part, 1, most)};

	number = (number + 3 * place) % PAIRS;
	if (race_record_kind(part) == RACE_RECORD_VECTOR)
		pair_of_vectors(part, number, &pair);
	else if (race_record_kind(part) == RACE_RECORD_SET)
		pair_of_sets(number, &pair);
	else
		pair_of_categories(part, number, &pair);
	return pair;
}

/* Beyond this, anything would show the difference between two kernel values. */
#define SLIGHTLY 0.2

/*
 * How far, in standard errors, records meet from what the kernel says of them, and
 * from what it says of a control's that are slightly different
 */
static void
measure_pair(const RaceRows *rows, int number, double *error, double *control)
{
	double collision = race_collision_probability(rows->params);
	RaceColumn x[RACE_MAX_PARTS];
	RaceColumn y[RACE_MAX_PARTS];
	RaceColumn other[RACE_MAX_PARTS];
	double rate;
	double k;
	double k_other;

	for (int p = 0; p < rows->parts; p++)
	{
		Pair pair = make_pair(rows->part[p].params, p, number);

		x[p] = pair.x;
		y[p] = pair.y;
		other[p] = pair.other;
	}
	rate = share(rows, x, y);
	k = race_kernel_value(rows->params, x, y);
	k_other = race_kernel_value(rows->params, x, other);
	k += (1 - k) * collision;
	k_other += (1 - k_other) * collision;
	/* where the kernel is 0 or 1 there is no error at all */
	*error = rate == k ? 0 : fabs(standard_errors(rate, k, ROWS));
	*control = k_other == 0 || k_other == 1 || fabs(k_other - k) > SLIGHTLY ?
		0 :
		fabs(standard_errors(rate, k_other, ROWS));
	free_records(rows->params, x);
	free_records(rows->params, y);
	free_records(rows->params, other);
}

static void
test_recipe(const Recipe *recipe, bool has_control)
{
	RaceParams *params = make_params(recipe, ROWS, 7);
	RaceRows *rows = make_rows(params);
	double worst = 0;
	double worst_control = 0;

	for (int i = 0; i < PAIRS; i++)
	{
		double error;
		double control;

		measure_pair(rows, i, &error, &control);
		worst = fmax(worst, error);
		worst_control = fmax(worst_control, control);
	}
	printf("# off by up to %.2f standard errors, a control by %.2f\n", worst, worst_control);
	ok(worst < LIMIT, "%s: records meet as the kernel says", describe(params));
	if (has_control)
		ok(SANITIZED || worst_control > LIMIT, "control: not as it says of others");
	free(rows);
	free(params);
}

static const Recipe recipes[] = {
	{FOLD, 256, {PART(L2, IND, 3, 1)}},
	{FOLD, 256, {PART(L2, SOBOL, 3, 1)}},
	{FOLD, 256, {PART(L2, STRUCTURED, 3, 1)}},
	{MULTI, 16, {PART(L2, IND, 3, 2)}},
	{MULTI, 16, {PART(L2, SOBOL, 3, 2)}},
	{MULTI, 16, {PART(L2, STRUCTURED, 3, 2)}},
	{MULTI, 16, {PART(L1, IND, 3, 1)}},
	{MULTI, 300, {PART(L1, SOBOL, 1, 1)}},
	{MULTI, 64, {PART(L1, SOBOL, 4, 3)}},
	{MULTI, 16, {PART(L1, IND, 30, 2)}},
	{FOLD, 2, {PART(ANGULAR, IND, 3, 1)}},
	{FOLD, 10, {PART(ANGULAR, SOBOL, 3, 3)}},
	{MULTI, 16, {PART(ANGULAR, IND, 40, 3)}},
	{MULTI, 2, {PART(ANGULAR, SOBOL, 2, 1)}},
	{MULTI, 16, {PART(JACCARD, IND, 0, 1)}},
	{MULTI, 300, {PART(JACCARD, IND, 0, 2)}},
	{MULTI, 16, {PART(JACCARD, GROUPED, 0, 1)}},
	{MULTI, 300, {PART(JACCARD, GROUPED, 0, 2)}},
	{MULTI, 16, {PART(MATCH, SOBOL, 7, 1)}},
	{MULTI, 300, {PART(MATCH, SOBOL, 7, 2)}},
	{MULTI, 16, {PART(MATCH, IND, 100, 1)}},
	{MULTI, 300, {PART(MATCH, IND, 100, 2)}},
	{MULTI, 300, {PART(MATCH, SOBOL, 100, 1)}},
	{MULTI, 16, {PART(MATCH, SOBOL, 100, 2)}},
	{MULTI, 16, {PART(L2, SOBOL, 3, 1), PART(MATCH, SOBOL, 5, 1)}},
	{MULTI, 300, {PART(ANGULAR, IND, 8, 1), PART(JACCARD, IND, 0, 1)}},
	{MULTI, 16, {PART(L1, IND, 2, 1), PART(MATCH, IND, 10, 2), PART(JACCARD, IND, 0, 1)}},
	/* of the same kernel twice: were its functions the same, k would be, too */
	{MULTI, 300, {PART(L2, SOBOL, 2, 1), PART(L2, SOBOL, 2, 1)}},
	{MULTI, 300, {PART(MATCH, SOBOL, 10, 1), PART(MATCH, SOBOL, 10, 1)}},
	{MULTI, 300, {PART(JACCARD, IND, 0, 1), PART(JACCARD, IND, 0, 1)}},
	{MULTI, 300, {PART(JACCARD, GROUPED, 0, 1), PART(JACCARD, GROUPED, 0, 1)}},
	{FOLD, 300, {{L2, SOBOL, 5, 1, WIDTHS, 0}}},
	{MULTI, 300, {{L1, IND, 5, 1, WIDTHS, 0}}},
	{FOLD, 300, {{L2, IND, 8, 1, TRANSFORM, 3}}},
	{FOLD, 300, {{L2, IND, 3, 1, TRANSFORM, 8}}},
	{MULTI, 16, {{L2, SOBOL, 8, 2, TRANSFORM | BOUNDS, 2}}},
	{FOLD, 300, {{ANGULAR, SOBOL, 8, 2, TRANSFORM, 3}}},
	{FOLD, 300, {{ANGULAR, IND, 3, 1, RACE_ARRAY_MATRIX, 8}}},
	{FOLD, 300, {{ANGULAR, IND, 3, 1, RACE_ARRAY_OFFSET, 0}}},
	{FOLD, 300, {PART(L2, STRUCTURED, 1, 1)}},
	{FOLD, 300, {PART(L2, STRUCTURED, 300, 1)}},
	{MULTI, 16, {PART(L2, STRUCTURED, 40, 3)}},
	{FOLD, 300, {{L2, STRUCTURED, 5, 1, WIDTHS, 0}}},
	{FOLD, 300, {{L2, STRUCTURED, 5, 1, RACE_ARRAY_OFFSET, 0}}},
	{FOLD, 2, {PART(ANGULAR, STRUCTURED, 3, 1)}},
	{FOLD, 4, {PART(ANGULAR, STRUCTURED, 40, 2)}},
	{FOLD, 256, {PART(ANGULAR, STRUCTURED, 300, 1)}},
	{MULTI, 16, {PART(ANGULAR, STRUCTURED, 300, 3)}},
	{MULTI, 300, {PART(ANGULAR, STRUCTURED, 8, 1), PART(JACCARD, IND, 0, 1)}},
	{MULTI, 300, {PART(L2, STRUCTURED, 20, 1), PART(L2, STRUCTURED, 20, 1)}}};

/* Of one number or category, where nothing is slightly different */
static const Recipe coarse[] = {{FOLD, 256, {PART(ANGULAR, IND, 1, 2)}},
								{MULTI, 16, {PART(ANGULAR, SOBOL, 1, 2)}},
								{MULTI, 16, {PART(MATCH, IND, 1, 1)}},
								{MULTI, 300, {PART(MATCH, SOBOL, 1, 2)}}};

int
main(void)
{
	for (size_t i = 0; i < sizeof(recipes) / sizeof(recipes[0]); i++)
		test_recipe(&recipes[i], true);
	for (size_t i = 0; i < sizeof(coarse) / sizeof(coarse[0]); i++)
		test_recipe(&coarse[i], false);
	return done_testing();
}
