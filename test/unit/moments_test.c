/*
 * moments_test.c
 *		Moments: products are the same by all vector code, in any order; no record changes
 *		them by more than the noise of a release is made for; features are cosines.
 */
#include "hash/hash_path.h"
#include "hash/moment_sums.h"
#include "helpers.h"
#include "privacy/integers.h"
#include "tap.h"

#define MOST_COLUMNS 60
#define MOST_RECORDS 1200

static void
use_features(RaceParams *params, uint16_t features, uint16_t targets, RaceSequence sequence)
{
	params->moments.features = features;
	params->moments.targets = targets;
	params->sequence = (uint8_t) sequence;
	params->range = (uint32_t) race_products_counters(race_moments_columns(params));
}

static double
random_number(uint64_t *state)
{
	return (double) (mix(++*state) >> 11) / 9007199254740992.0;
}

/* Count records with fresh memory. */
static void
count(const RaceParams *params, const RaceRows *functions, const double *x, size_t n, int sign,
	  int64_t *counters)
{
	void *workspace = malloc(race_moments_workspace(params));

	race_moments_count(params, functions, x, n, sign, counters, workspace);
	free(workspace);
}

/* --------------------------------------------------------------- products */

static void
test_triangle(uint32_t columns, size_t n, bool extreme, bool vectors)
{
	RaceShape shape = {.columns = columns,
					   .squared = (uint64_t) columns * RACE_MOMENTS_ONE * RACE_MOMENTS_ONE};
	int16_t *v = calloc((size_t) columns * RACE_PRODUCTS_TOGETHER, sizeof(int16_t));
	int64_t *counters = calloc(race_products_counters(columns), sizeof(int64_t));
	uint64_t state = columns + n;
	bool same = true;
	uint32_t i;

	for (i = 0; i < columns; i++)
		for (size_t r = 0; r < n; r++)
			v[(size_t) i * RACE_PRODUCTS_TOGETHER + r] = extreme ?
				(i % 2 ? -1 : 1) * RACE_MOMENTS_ONE :
				(int16_t) (mix(++state) % (2 * RACE_MOMENTS_ONE + 1)) - RACE_MOMENTS_ONE;
	race_count_products(&shape, v, n, 1, vectors, counters);
	for (i = 0; i < columns; i++)
		for (uint32_t j = i; j < columns; j++)
		{
			int64_t sum = 0;

			for (size_t r = 0; r < n; r++)
				sum += (int64_t) v[(size_t) i * RACE_PRODUCTS_TOGETHER + r] *
					v[(size_t) j * RACE_PRODUCTS_TOGETHER + r];
			same &= sum == counters[race_product_counter(columns, i, j)];
		}
	ok(same, "%u columns of %d%s records", columns, (int) n, extreme ? " extreme" : "");
	race_count_products(&shape, v, n, -1, vectors, counters);
	for (same = true, i = 0; i < race_products_counters(columns); i++)
		same &= counters[i] == 0;
	ok(same, "and without them again, 0");
	free(v);
	free(counters);
}

static void
test_triangles(bool vectors)
{
	static const uint32_t columns[] = {2, 3, 4, 5, 6, 9, 56, 61};

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
	{
		test_triangle(columns[i], 1 + mix(i) % RACE_PRODUCTS_TOGETHER, false, vectors);
		test_triangle(columns[i], RACE_PRODUCTS_TOGETHER, true, vectors);
	}
}

/* Sums do not depend on how records are divided into batches, nor on their order. */
static void
test_order(uint32_t dims, uint16_t features)
{
	RaceParams *params = moments_params(dims, 1.1, RACE_CLIP_ABSOLUTE);
	RaceParams of_functions;
	RaceRows *functions;
	size_t size;
	double *x = malloc(MOST_RECORDS * dims * sizeof(double));
	int64_t *whole;
	int64_t *parts;
	uint64_t state = dims;

	if (features > 0)
		use_features(params, features, 1, RACE_SEQUENCE_INDEPENDENT);
	race_moments_functions(params, &of_functions);
	functions = malloc(race_rows_size(&of_functions));
	race_rows_init(functions, &of_functions);
	race_rows_generate_all(functions);
	size = params->range * sizeof(int64_t);
	whole = calloc(1, size);
	parts = calloc(1, size);
	for (size_t i = 0; i < MOST_RECORDS * dims; i++)
		x[i] = -1 + 3 * random_number(&state);
	count(params, functions, x, MOST_RECORDS, 1, whole);
	for (size_t i = MOST_RECORDS; i-- > 0;)
		count(params, functions, x + i * dims, 1, 1, parts);
	ok(memcmp(whole, parts, size) == 0, "%u columns, %d features: one by one, from the last", dims,
	   features);
	free(functions);
	free(whole);
	free(parts);
	free(x);
	free(params);
}

/* ------------------------------------------------------------ sensitivity */

/* What the noise is made for, and by how much a record changes the counters */
typedef struct Change
{
	uint64_t weight;           /* in L1 */
	unsigned __int128 squares; /* of the whole matrix */
	uint64_t squared;          /* the norm of v */
} Change;

static Change
change_of(const RaceParams *params, const int64_t *counters)
{
	uint32_t columns = race_moments_columns(params);
	Change change = {0, 0, 0};

	for (uint32_t i = 0; i < columns; i++)
		for (uint32_t j = i; j < columns; j++)
		{
			uint64_t entry = (uint64_t) llabs(counters[race_product_counter(columns, i, j)]);

			change.weight += entry;
			change.squares += (unsigned __int128) entry * entry * (i == j ? 1 : 2);
			change.squared += i == j ? entry : 0;
		}
	return change;
}

/*
 * Records of many kinds: no one changes counters by more than promised, and the worst comes
 * close to it.
 */
static void
test_sensitivity(uint32_t dims, uint16_t targets, double norm, RaceClip clip, bool transform)
{
	RaceParams *params = transform ? moments_with_transform(moments_params(dims, norm, clip)) :
									 moments_params(dims, norm, clip);
	int64_t *counters = malloc(params->range * sizeof(int64_t));
	double x[MOST_COLUMNS];
	uint64_t state = dims;
	double weight = 0;
	double squares = 0;
	bool within = true;
	unsigned __int128 limit;
	RaceShape shape;

	params->moments.targets = targets;
	race_moments_shape(params, &shape);
	limit = (unsigned __int128) race_moments_squared(params) * race_moments_squared(params);

	for (int trial = 0; trial < 3000; trial++)
	{
		Change change;
		int used = trial % 3 == 0 ? (int) dims : 1 + (int) (mix(++state) % dims);
		double size = trial % 2 ? 1.5 : 1.5 * random_number(&state);

		for (uint32_t i = 0; i < dims; i++)
			x[i] = 0.5 +
				((int) i < used ?
					 size * (mix(++state) % 2 ? 1 : -1) * (trial % 5 ? 1 : random_number(&state)) :
					 0);
		memset(counters, 0, params->range * sizeof(int64_t));
		count(params, NULL, x, 1, 1, counters);
		change = change_of(params, counters);
		within &= change.weight <= race_products_l1(&shape, 0) &&
			change.squared <= race_moments_squared(params) && change.squares <= limit;
		weight = fmax(weight, (double) change.weight / (double) race_products_l1(&shape, 0));
		squares = fmax(squares, (double) change.squares / (double) limit);
	}
	ok(within, "%u columns, %d targets, norm %g, clip %d%s: within what noise is made for", dims,
	   targets, norm, clip, transform ? ", a transform" : "");
	ok((transform || weight > (targets > 0 ? 0.9 : 0.98)) &&
		   (clip == RACE_CLIP_ABSOLUTE || squares > 0.98),
	   "and it is the least that suffices: %.4f, %.4f", weight, squares);
	free(counters);
	free(params);
}

/*
 * Vectors of any 16-bit numbers, as no format makes them: what is counted of each keeps its norm
 * within that of the shape, and vectors that keep it are counted as they are.
 */
static void
test_cut(uint32_t columns, bool absolute, bool vectors)
{
	RaceShape shape = {.columns = columns, .squared = UINT64_C(90000001), .absolute = absolute};
	int16_t *v = calloc((size_t) columns * RACE_PRODUCTS_TOGETHER, sizeof(int16_t));
	int64_t *counters = calloc(race_products_counters(columns), sizeof(int64_t));
	uint64_t state = columns;
	bool within = true;
	bool kept = true;
	int cut = 0;

	for (int trial = 0; trial < 2000; trial++)
	{
		int64_t one = trial % 4 == 0 ? INT16_MAX :
			trial % 4 == 1           ? RACE_MOMENTS_ONE :
									   15000 / columns;
		uint64_t squares = 0;
		uint64_t sums = 0;
		uint64_t norm;
		uint64_t trace = 0;
		uint64_t weight = 0;

		memset(counters, 0, race_products_counters(columns) * sizeof(int64_t));
		for (uint32_t i = 0; i < columns; i++)
		{
			int64_t x = (int64_t) (mix(++state) % (uint64_t) (2 * one + 1)) - one;

			v[(size_t) i * RACE_PRODUCTS_TOGETHER] = (int16_t) (trial % 8 == 0 ? INT16_MIN : x);
			x = v[(size_t) i * RACE_PRODUCTS_TOGETHER];
			squares += (uint64_t) (x * x);
			sums += (uint64_t) llabs(x);
		}
		norm = absolute ? (squares + sums * sums + 1) / 2 : squares;
		race_count_products(&shape, v, 1, 1, vectors, counters);
		for (uint32_t i = 0; i < columns; i++)
			for (uint32_t j = i; j < columns; j++)
			{
				uint64_t entry = (uint64_t) llabs(counters[race_product_counter(columns, i, j)]);

				trace += i == j ? entry : 0;
				weight += entry;
			}
		within &= trace <= shape.squared && weight <= race_products_l1(&shape, 0);
		if (norm <= shape.squared && one <= RACE_MOMENTS_ONE)
			kept &= trace == squares;
		else
			cut++;
	}
	ok(within && cut > 500 && cut < 1900, "%u columns%s: vectors beyond the norm are cut to it",
	   columns, absolute ? ", absolute" : "");
	ok(kept, "and others are kept");
	free(v);
	free(counters);
}

/* Rounded counters of two states differ by at most one more than their exact ones do. */
static void
test_coarser(void)
{
	RaceParams *params = moments_params(5, 1, RACE_CLIP_NORM);
	uint64_t state = 0;
	bool near = true;
	int coarser;
	RaceShape shape;

	race_moments_shape(params, &shape);
	for (coarser = 0; coarser <= RACE_PRODUCTS_COARSEST; coarser++)
		for (int trial = 0; trial < 1000; trial++)
		{
			int64_t a = (int64_t) mix(++state) >> (2 + trial % 61);
			int64_t change = (int64_t) (mix(++state) % (UINT64_C(1) << 40));
			int64_t rounded =
				race_shift_rounded(a + change, coarser) - race_shift_rounded(a, coarser);

			near &= rounded >= 0 && (rounded << coarser) <= change + (INT64_C(1) << coarser) &&
				(coarser > 0 || rounded == change);
		}
	ok(near, "rounding moves a difference by one at most");
	for (near = true, coarser = 1; coarser <= RACE_PRODUCTS_COARSEST; coarser++)
		near &= race_products_l1(&shape, coarser) >=
				((race_products_l1(&shape, 0) - 1) >> coarser) + 1 + params->range &&
			sqrt(2.0 * (double) race_products_squared(&shape, coarser)) >=
				sqrt(2.0 * (double) race_products_squared(&shape, 0) - 1) / (1 << coarser) + 6;
	ok(near, "and sensitivities have that in them");
	for (near = true, coarser = 0; coarser <= RACE_PRODUCTS_COARSEST; coarser++)
		near &= race_products_trace(&shape, coarser) << coarser >= race_moments_squared(params) &&
			(race_products_trace(&shape, coarser) - 1) << coarser < race_moments_squared(params);
	ok(near && race_moments_squared(params) % (1 << RACE_PRODUCTS_COARSEST) != 0,
	   "and traces are rounded up");
	free(params);
}

/* --------------------------------------------------------------- features */

static void
test_features(RaceSequence sequence)
{
	RaceParams *params = moments_params(4, 2, RACE_CLIP_NORM);
	RaceParams of_functions;
	RaceRows *functions;
	double worst = 0;
	double kernel = 0;
	uint64_t state = 0;

	params->bandwidth = 0.8;
	use_features(params, 1000, 1, sequence);
	race_moments_functions(params, &of_functions);
	functions = malloc(race_rows_size(&of_functions));
	race_rows_init(functions, &of_functions);
	race_rows_generate_all(functions);
	for (int trial = 0; trial < 50; trial++)
	{
		double x[2][3];
		double phi[2][1000];
		double distance = 0;
		double product = 0;

		for (int i = 0; i < 3; i++)
		{
			x[0][i] = 2 * random_number(&state) - 1;
			x[1][i] = 2 * random_number(&state) - 1;
			distance += (x[0][i] - x[1][i]) * (x[0][i] - x[1][i]);
		}
		for (int k = 0; k < 2; k++)
			race_moments_features(params, functions, x[k], phi[k]);
		for (int i = 0; i < 1000; i++)
		{
			double turns = *race_rows_coefficient(functions, i, 0, 0);

			for (int k = 0; k < 3; k++)
				turns += *race_rows_coefficient(functions, i, 0, k + 1) * x[0][k];
			worst = fmax(
				worst, fabs(phi[0][i] - race_moments_amplitude(params) * cos(2 * RACE_PI * turns)));
			product += phi[0][i] * phi[1][i];
		}
		kernel = fmax(kernel,
					  fabs(product / RACE_FEATURES_SQUARED / sqrt(1000) -
						   exp(-distance / 2 / params->bandwidth / params->bandwidth)));
	}
	ok(worst < 1e-9, "features are cosines, up to %.1g", worst);
	ok(kernel < 0.2, "and their products the Gaussian kernel, up to %.2f", kernel);
	free(functions);
	free(params);
}

int
main(void)
{
	for (int p = 0; race_hash_path_name(p) != NULL; p++)
		if (race_hash_has(race_hash_path_name(p)))
		{
			race_hash_force(race_hash_path_name(p));
			test_triangles(strcmp(race_hash_path_name(p), "portable") != 0);
		}
	race_hash_force("auto");
	for (int i = 0; i < 4; i++)
	{
		test_cut(3, i % 2 == 1, i / 2 == 1 && race_hash_has("avx2"));
		test_cut(21, i % 2 == 1, i / 2 == 1 && race_hash_has("avx2"));
	}
	test_order(3, 0);
	test_order(55, 0);
	test_order(4, 70);
	test_sensitivity(1, 0, 1, RACE_CLIP_NORM, false);
	test_sensitivity(1, 0, 0.3, RACE_CLIP_ABSOLUTE, false);
	test_sensitivity(3, 1, 1.2345, RACE_CLIP_NORM, false);
	test_sensitivity(7, 2, 1.5, RACE_CLIP_NORM, false);
	test_sensitivity(7, 0, 100, RACE_CLIP_NORM, false);
	test_sensitivity(20, 0, 21, RACE_CLIP_ABSOLUTE, false);
	test_sensitivity(20, 1, 2, RACE_CLIP_ABSOLUTE, false);
	test_sensitivity(60, 60, 2.3, RACE_CLIP_NORM, false);
	test_sensitivity(7, 0, 1, RACE_CLIP_NORM, true);
	test_sensitivity(20, 0, 2, RACE_CLIP_ABSOLUTE, true);
	test_coarser();
	test_features(RACE_SEQUENCE_INDEPENDENT);
	test_features(RACE_SEQUENCE_SOBOL);
	return done_testing();
}
