/*
 * rows_test.c
 *		Row functions: the same bits everywhere, whatever computes them.
 */
#include "../../src/lsh/philox.h"
#include "helpers.h"
#include "tap.h"

#define IND		RACE_SEQUENCE_INDEPENDENT
#define SOBOL	RACE_SEQUENCE_SOBOL
#define FOLD	RACE_REHASH_FOLD
#define MULTI	RACE_REHASH_MULTILINEAR

#define MAX_TEST_DIMS	8

/* The answers to all zeros, key and counter, and to digits of pi: Random123 */
static void
test_philox(void)
{
	static const uint32_t zeros[4] = {0};
	static const uint32_t pi[4] = {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344};
	uint64_t	out[2];

	race_philox(0, zeros, out);
	ok(out[0] == UINT64_C(0xe169c58d6627e8d5) && out[1] == UINT64_C(0x9b00dbd8bc57ac4c),
	   "Philox of zeros");
	race_philox(UINT64_C(0x299f31d0a4093822), pi, out);
	ok(out[0] == UINT64_C(0x94fdccebd16cfe09) && out[1] == UINT64_C(0x24126ea15001e420),
	   "Philox of the digits of pi");
}

/* All vector code against it: another counter in each lane */
static void
test_philox_lanes(void)
{
	uint64_t	rows[RACE_LANES];
	uint64_t	bits[RACE_LANES];
	int			p;
	int			i;

	for (p = 0; race_hash_paths[p] != NULL; p++)
	{
		int			wrong = 0;
		int			same = 0;
		uint32_t	round;

		if (!race_hash_has(race_hash_paths[p]))
			continue;
		race_hash_force(race_hash_paths[p]);
		for (round = 0; round < 1000; round++)
		{
			int64_t		seed = (int64_t) mix(round);

			for (i = 0; i < RACE_LANES; i++)
				rows[i] = (uint32_t) mix(round * RACE_LANES + i);
			race_philox_lanes(seed, RACE_STREAM_REHASH, rows, ~round, round, bits);
			for (i = 0; i < RACE_LANES; i++)
			{
				uint32_t	row = (uint32_t) rows[i];

				wrong += bits[i] !=
					race_philox_bits(seed, RACE_STREAM_REHASH, row, ~round, round);
				same += bits[i] ==
					race_philox_bits(seed, RACE_STREAM_REHASH, row + 1, ~round, round);
			}
		}
		ok(wrong == 0 && same == 0, "%s code gives the bits of Philox",
		   race_hash_paths[p]);
	}
	race_hash_force("auto");
}

/* Vectors that go to the limits of codes and of doubles */
#define INPUTS		6

static void
make_input(int input, uint32_t dims, double *x)
{
	uint32_t	i;

	for (i = 0; i < dims; i++)
	{
		double		values[INPUTS] = {
			0, 1.37 * i - 5, 1e300, i % 2 == 0 ? 1e300 : -1e300,
			5e-324 * (i + 1), 1e12 / (i + 1)
		};

		x[i] = values[input];
	}
}

/*
 * Known answers, from a second implementation (in Python, with exact
 * fractions): buckets of some rows of 70 for each input; the first and last
 * coefficient.
 */
static void
test_known_answers(void)
{
	static const int known_rows[6] = {0, 1, 2, 63, 64, 69};
	static const struct
	{
		struct
		{
			int			sequence;
			int			rehash;
			int			dims;
			int			power;
			int			range;
		}			shape;
		int64_t		seed;
		double		bandwidth;
		double		coefficients[2];
		uint32_t	buckets[INPUTS][6];
	}			known[] = {
		{{IND, FOLD, 1, 1, 1024}, 0, 1.0,
		{0x1.348e23f2dce70p-4, 0x1.29055a6a71202p+0}, {
			{0, 0, 0, 0, 0, 0}, {2, 1021, 12, 3, 1021, 1018},
			{0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0},
			{0, 0, 0, 0, 0, 0}, {828, 593, 666, 788, 1020, 602}
		}},
		{{SOBOL, FOLD, 1, 1, 1000}, -1, 0.1,
		{0x1.fa53a0646b5bep-1, 0x1.4fb6b3d7ce8f8p+2}, {
			{0, 0, 0, 0, 0, 0}, {59, 968, 893, 23, 996, 974},
			{752, 248, 248, 752, 248, 248}, {752, 248, 248, 752, 248, 248},
			{0, 0, 0, 0, 0, 0}, {54, 400, 426, 287, 129, 349}
		}},
		{{IND, FOLD, 3, 1, 1000}, 42, 2.5,
		{0x1.300fc04440873p-1, 0x1.91520e64c7442p-1}, {
			{0, 0, 0, 0, 0, 0}, {0, 0, 1, 998, 2, 0},
			{248, 248, 752, 248, 752, 248}, {752, 752, 248, 752, 752, 248},
			{0, 0, 0, 0, 0, 0}, {304, 565, 145, 667, 379, 933}
		}},
		{{SOBOL, FOLD, 3, 1, 3}, 0, 1.0,
		{0x1.bcab6ebaf664cp-3, 0x1.e37f420e07543p-2}, {
			{0, 0, 0, 0, 0, 0}, {0, 0, 2, 1, 0, 2},
			{2, 1, 1, 1, 1, 2}, {1, 2, 2, 1, 2, 1},
			{0, 0, 0, 0, 0, 0}, {0, 2, 1, 2, 1, 0}
		}},
		{{IND, MULTI, 3, 1, 1000}, 42, 2.5,
		{0x1.300fc04440873p-1, 0x1.91520e64c7442p-1}, {
			{289, 777, 693, 204, 350, 757}, {289, 777, 871, 217, 869, 757},
			{750, 644, 277, 103, 356, 599}, {829, 910, 110, 304, 356, 599},
			{289, 777, 693, 204, 350, 757}, {266, 375, 53, 989, 248, 996}
		}},
		{{SOBOL, MULTI, 3, 2, 1024}, -1, 1e-05,
		{0x1.fa53a0646b5bep-1, 0x1.923ba62df19c4p+16}, {
			{434, 521, 790, 717, 422, 283}, {840, 1, 1014, 594, 544, 167},
			{491, 525, 801, 862, 617, 107}, {1016, 575, 801, 831, 617, 71},
			{434, 521, 790, 717, 422, 283}, {1016, 575, 801, 862, 617, 107}
		}},
		{{IND, MULTI, 8, 3, 7}, 0, 100000.0,
		{0x1.348e23f2dce70p-4, -0x1.f7b48cca35b62p-17}, {
			{1, 6, 0, 2, 2, 0}, {1, 6, 0, 2, 2, 0},
			{1, 3, 3, 0, 3, 0}, {1, 4, 0, 6, 1, 2},
			{1, 6, 0, 2, 2, 0}, {2, 6, 4, 0, 3, 3}
		}},
		{{SOBOL, MULTI, 8, 2, 2}, 42, 1.0,
		{0x1.c8ec07a920afbp-1, -0x1.6b921f095eff9p-1}, {
			{0, 0, 0, 0, 1, 0}, {1, 1, 1, 1, 0, 0},
			{0, 1, 0, 1, 1, 0}, {1, 1, 0, 0, 1, 1},
			{0, 0, 0, 0, 1, 0}, {1, 1, 0, 0, 1, 1}
		}}
	};
	size_t		i;
	int			input;
	int			j;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
	{
		RaceParams	params = l2_params(known[i].shape.sequence, known[i].shape.rehash,
									   known[i].shape.dims, known[i].shape.power, 70,
									   known[i].shape.range);
		double		x[MAX_TEST_DIMS];
		int			different = 0;
		double		last;
		RaceRows   *rows;
		uint32_t   *buckets;

		params.seed = known[i].seed;
		params.bandwidth = known[i].bandwidth;
		rows = make_rows(&params);
		buckets = make_buckets(rows);
		for (input = 0; input < INPUTS; input++)
		{
			make_input(input, params.dims, x);
			race_rows_hash_one(rows, rows->params.rows, x, buckets);
			for (j = 0; j < 6; j++)
				different += buckets[known_rows[j]] != known[i].buckets[input][j];
		}
		last = *race_rows_coefficient(rows, 69, params.power - 1, params.dims);
		ok(rows->coefficients[0] == known[i].coefficients[0] &&
		   last == known[i].coefficients[1], "known coefficients, %d", (int) i);
		ok(different == 0, "known buckets, %d", (int) i);
		free(buckets);
		free(rows);
	}
}

/*
 * Records near each other and far, some beyond the largest code: exponents
 * from -20 to 52, and with one in 64 beyond
 */
static void
random_record(uint64_t number, uint32_t dims, double *x)
{
	uint64_t	bits = mix(number * 16);
	int			exponent = bits % 64 == 0 ? 900 : (int) (bits >> 6) % 73 - 20;
	uint32_t	i;

	for (i = 0; i < dims; i++)
		x[i] = ldexp(signed_unit(mix(number * 16 + 1 + i)), exponent);
}

/* The bucket of one row, as rows.c describes it; `fused` as it must be, or not */
static uint32_t
plain_bucket(const RaceRows *rows, uint32_t row, const double *x, bool fused)
{
	const RaceParams *params = &rows->params;
	uint64_t	hash = params->rehash == MULTI ? *race_rows_key(rows, row, 0) : 0;
	uint32_t	i;
	uint32_t	j;

	for (j = 0; j < params->power; j++)
	{
		double		sum = *race_rows_coefficient(rows, row, j, 0);
		int64_t		code;
		uint64_t	bits;

		for (i = 0; i < params->dims; i++)
		{
			double		c = *race_rows_coefficient(rows, row, j, i + 1);

			sum = fused ? fma(c, x[i], sum) : sum + c * x[i];
		}
		sum = fmin(fmax(floor(sum), -RACE_MAX_CODE), RACE_MAX_CODE);
		code = (int64_t) sum;
		if (params->rehash == FOLD)
			return (uint32_t) ((code % params->range + params->range) % params->range);

		sum = (double) (code + ((int64_t) 3 << 51));
		memcpy(&bits, &sum, sizeof(bits));
		hash += *race_rows_key(rows, row, 1 + 2 * j) * (bits & 0xFFFFFFFF);
		hash += *race_rows_key(rows, row, 2 + 2 * j) * (bits >> 32);
	}
	return (uint32_t) ((hash >> 32) * params->range >> 32);
}

/* Row functions against their definition, and all vector code against portable */
#define RECORDS			250000	/* of each of four shapes */
#define PLAIN_RECORDS	10000
#define MAX_PATHS		8
#define MAX_BATCH		33		/* whole tiles of records, and some left over */

/* The vector code that this machine has, and how much of it there is */
static int
vector_paths(const char **paths)
{
	int			n = 0;
	int			i;

	for (i = 1; race_hash_paths[i] != NULL; i++)
		if (race_hash_has(race_hash_paths[i]) && n < MAX_PATHS)
			paths[n++] = race_hash_paths[i];
	return n;
}

/*
 * The buckets of n records, all rows of one and then of the next: in one call for
 * each block of rows, as batches are hashed
 */
static void
hash_batch(const RaceRows *rows, const double *x, size_t n, uint32_t *buckets)
{
	uint32_t   *block_buckets = calloc(n * RACE_LANES, sizeof(uint32_t));
	size_t		block;
	size_t		i;

	if (block_buckets == NULL)
		abort();
	for (block = 0; block < rows->blocks; block++)
	{
		race_rows_hash(rows, block, x, n, block_buckets);
		for (i = 0; i < n; i++)
			memcpy(buckets + (i * rows->blocks + block) * RACE_LANES,
				   block_buckets + i * RACE_LANES, RACE_LANES * sizeof(uint32_t));
	}
	free(block_buckets);
}

static void
test_paths(const RaceParams *params)
{
	RaceRows   *rows = make_rows(params);
	size_t		lanes = rows->blocks * RACE_LANES;
	uint32_t	portable[MAX_BATCH * 2 * RACE_LANES];
	uint32_t	buckets[MAX_BATCH * 2 * RACE_LANES];
	const char *paths[MAX_PATHS];
	int			n_paths = vector_paths(paths);
	int			path_differs[MAX_PATHS] = {0};
	int			one_differs = 0;
	int			wrong = 0;
	int			unfused = 0;
	int			p;
	uint64_t	number;
	size_t		n;
	size_t		i;
	uint32_t	row;

	/* batches of 1, 2, ... MAX_BATCH records, over and over */
	for (number = 0, n = 1; number < RECORDS; number += n, n = n % MAX_BATCH + 1)
	{
		double		x[MAX_BATCH * MAX_TEST_DIMS];

		for (i = 0; i < n; i++)
			random_record(number + i, params->dims, x + i * params->dims);
		race_hash_force("portable");
		hash_batch(rows, x, n, portable);
		race_hash_force("auto");
		race_rows_hash_one(rows, rows->params.rows, x, buckets);
		one_differs += memcmp(buckets, portable, lanes * sizeof(uint32_t)) != 0;
		for (p = 0; p < n_paths; p++)
		{
			race_hash_force(paths[p]);
			hash_batch(rows, x, n, buckets);
			path_differs[p] += memcmp(buckets, portable,
									  n * lanes * sizeof(uint32_t)) != 0;
		}
		for (i = 0; i < n && number < PLAIN_RECORDS; i++)
			for (row = 0; row < params->rows; row++)
			{
				uint32_t	bucket = portable[i * lanes + row];

				wrong += bucket != plain_bucket(rows, row, x + i * params->dims, true);
				unfused += bucket != plain_bucket(rows, row, x + i * params->dims, false);
			}
	}

	ok(wrong == 0, "dims %u, power %u, %s, %s: buckets are as defined",
	   params->dims, params->power, race_sequence_name(params->sequence),
	   race_rehash_name(params->rehash));
	ok(unfused > 0, "control: without fused multiply-add they are not");
	ok(one_differs == 0, "a record alone gets the buckets that it gets in a batch");
	for (p = 0; p < n_paths; p++)
		ok(path_differs[p] == 0, "%s code gives the buckets of portable code", paths[p]);
	free(rows);
}

/* Are the first `few` of these rows those that are made alone, last to first? */
static bool
is_prefix(const RaceRows *rows, uint32_t few)
{
	RaceParams	params = rows->params;
	uint32_t   *all_buckets = make_buckets(rows);
	uint32_t   *buckets;
	RaceRows   *alone;
	int			different = 0;
	uint64_t	i;

	params.rows = few;
	alone = allocate_rows(&params);
	for (i = alone->blocks * params.power; i-- > 0;)
		race_rows_generate(alone, i / params.power, i % params.power);
	buckets = make_buckets(alone);
	for (i = 0; i < 1000; i++)
	{
		double		x[MAX_TEST_DIMS];

		random_record(i, params.dims, x);
		race_rows_hash_one(rows, rows->params.rows, x, all_buckets);
		race_rows_hash_one(alone, alone->params.rows, x, buckets);
		different += memcmp(buckets, all_buckets, few * sizeof(uint32_t)) != 0;
	}
	free(buckets);
	free(all_buckets);
	free(alone);
	return different == 0;
}

static void
test_prefix(const RaceParams *some_params)
{
	RaceParams	params = *some_params;
	RaceRows   *rows;

	params.rows = 300;
	rows = make_rows(&params);
	ok(is_prefix(rows, 1) && is_prefix(rows, 64) && is_prefix(rows, 100) &&
	   is_prefix(rows, 299), "dims %u, power %u, %s, %s: fewer rows are the first of more",
	   params.dims, params.power, race_sequence_name(params.sequence),
	   race_rehash_name(params.rehash));
	rows->params.seed++;
	ok(!is_prefix(rows, 64), "control: with another seed they are not");
	free(rows);
}

int
main(void)
{
	RaceParams	shapes[4];
	int			i;

	shapes[0] = l2_params(IND, FOLD, 3, 1, 64, 1000);
	shapes[1] = l2_params(SOBOL, FOLD, 8, 1, 64, 1024);
	shapes[2] = l2_params(IND, MULTI, 3, 3, 64, 1000);
	shapes[3] = l2_params(SOBOL, MULTI, 2, 2, 128, 7);

	test_philox();
	test_philox_lanes();
	test_known_answers();
	for (i = 0; i < 4; i++)
		test_paths(&shapes[i]);
	for (i = 0; i < 4; i++)
		test_prefix(&shapes[i]);
	return done_testing();
}
