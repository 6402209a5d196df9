/*
 * rows_test.c
 *		Row functions: the same bits everywhere, whatever computes them.  (known_test.c has known
 *		answers.)
 */
#include "privacy/interrupt.h"
#include "hash/column.h"
#include "hash/hash_path.h"
#include "hash/kernel.h"
#include "hash/params.h"
#include "hash/philox.h"
#include "hash/rows.h"
#include "hash/structured.h"
#include "kernels.h"
#include "tap.h"

/* The answers to all zeros, key and counter, and to digits of pi: Random123 */
static void
test_philox(void)
{
	static const uint32_t zeros[4] = {0};
	static const uint32_t pi[4] = {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344};
	uint64_t out[2];

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
	uint64_t rows[RACE_LANES];
	uint64_t bits[RACE_LANES];

	for (int p = 0; race_hash_path_name(p) != NULL; p++)
	{
		int wrong = 0;
		int same = 0;

		if (!race_hash_has(race_hash_path_name(p)))
			continue;
		race_hash_force(race_hash_path_name(p));
		for (uint32_t round = 0; round < 1000; round++)
		{
			int64_t seed = (int64_t) mix(round);

			for (int i = 0; i < RACE_LANES; i++)
				rows[i] = (uint32_t) mix(round * RACE_LANES + i);
			race_philox_lanes(seed, RACE_STREAM_REHASH, rows, ~round, round, bits);
			for (int i = 0; i < RACE_LANES; i++)
			{
				uint32_t row = (uint32_t) rows[i];

				wrong += bits[i] != race_philox_bits(seed, RACE_STREAM_REHASH, row, ~round, round);
				same +=
					bits[i] == race_philox_bits(seed, RACE_STREAM_REHASH, row + 1, ~round, round);
			}
		}
		ok(wrong == 0 && same == 0, "%s code gives the bits of Philox", race_hash_path_name(p));
	}
	race_hash_force("auto");
}

/* Projections by function j of all parts, of the record that is hashed and the first rows */
static double projections[16][2048];

/* The Hadamard matrix times n numbers, by its definition */
static void
plain_hadamard(double *z, uint32_t n)
{
	if (n == 1)
		return;
	plain_hadamard(z, n / 2);
	plain_hadamard(z + n / 2, n / 2);
	for (uint32_t i = 0; i < n / 2; i++)
	{
		double x = z[i];

		z[i] = x + z[n / 2 + i];
		z[n / 2 + i] = x - z[n / 2 + i];
	}
}

static void
plain_project(const RaceParams *part, const uint64_t *signs, const double *x, double *z)
{
	const double *origin = race_array(part, RACE_ARRAY_OFFSET);
	const double *widths = race_array(part, RACE_ARRAY_BANDWIDTHS);
	uint32_t n = race_structured_length(part);

	for (uint32_t i = 0; i < n; i++)
		z[i] = i >= part->dims ?
			0 :
			(x[i] - (origin == NULL ? 0 : origin[i])) / (widths == NULL ? 1 : widths[i]);
	for (int round = 0; round < 3; round++, signs += n / 64)
	{
		for (uint32_t i = 0; i < n; i++)
			z[i] = (signs[i / 64] >> i % 64 & 1) != 0 ? -z[i] : z[i];
		plain_hadamard(z, n);
	}
}

static void
plain_projections(const RaceRows *rows, const RaceColumn *x)
{
	for (int p = 0; p < rows->parts; p++)
		for (uint32_t j = 0;
			 j < rows->part[p].params->power && race_is_structured(rows->part[p].params); j++)
			plain_project(rows->part[p].params,
						  race_rows_signs(rows, rows->part[p].function + j, 0), x[p].numbers,
						  projections[rows->part[p].function + j]);
}

/* A projection that is structured, and moved to its offset */
static double
plain_sum(const RaceRows *rows, const RaceParams *part, uint32_t row, uint32_t j, bool fused)
{
	double z = projections[j][row];
	double offset;
	double scale;

	if (part->kernel == ANGULAR)
		return z;
	offset = *race_rows_coefficient(rows, row, j, 0);
	scale = *race_rows_coefficient(rows, row, j, 1);
	return fused ? fma(z, scale, offset) : z * scale + offset;
}

/* The code of a set in one row of sequence grouped, as hash_path.h describes it */
static uint64_t
plain_grouped(const RaceRows *rows, uint32_t row, uint32_t j, const RaceColumn *x)
{
	static const uint64_t turns[8] = {0, 4, 2, 6, 1, 5, 3, 7};
	uint32_t group = row / RACE_LANES * RACE_LANES + row % RACE_LANES / 8;
	const uint64_t *words = (const uint64_t *) race_rows_coefficient(rows, group, j, 0);
	uint64_t least = UINT64_MAX;

	for (size_t i = x->starts[0]; i < x->starts[1]; i++)
	{
		uint64_t code =
			plain_place(x->elements[i], words[0], words[RACE_LANES]) ^ turns[row % 8] << 61;

		least = code < least ? code : least;
	}
	return least;
}

/* The code of function j in one row, as rows.h describes it; `fused` as it must be, or not */
static uint64_t
plain_code(const RaceRows *rows, const RaceParams *part, uint32_t row, uint32_t j,
		   const RaceColumn *x, bool fused)
{
	uint64_t *words = (uint64_t *) race_rows_coefficient(rows, row, j, 0);
	uint64_t least = UINT64_MAX;
	double sum;

	if (part->kernel == MATCH)
		return x->elements[words[0]];
	if (part->sequence == GROUPED)
		return plain_grouped(rows, row, j, x);
	if (part->kernel == JACCARD)
	{
		for (size_t i = x->starts[0]; i < x->starts[1]; i++)
		{
			uint64_t place = plain_place(x->elements[i], words[0], words[RACE_LANES]);

			least = place < least ? place : least;
		}
		return least;
	}
	sum = race_is_structured(part) ? plain_sum(rows, part, row, j, fused) :
									 *race_rows_coefficient(rows, row, j, 0);
	for (size_t i = 0; i < part->dims && !race_is_structured(part); i++)
	{
		double c = *race_rows_coefficient(rows, row, j, i + 1);

		sum = fused ? fma(c, x->numbers[i], sum) : sum + c * x->numbers[i];
	}
	if (part->kernel == ANGULAR)
		return sum >= 0;
	return (int64_t) fmin(fmax(floor(sum), -RACE_MAX_CODE), RACE_MAX_CODE);
}

/* What is multiplied by keys: codes of numbers as the bits of a double, elements as such */
static uint64_t
plain_words(const RaceParams *part, uint64_t code)
{
	double shifted = (double) ((int64_t) code + ((int64_t) 3 << 51));
	uint64_t bits;

	if (race_record_kind(part) != RACE_RECORD_VECTOR)
		return code;
	memcpy(&bits, &shifted, sizeof(bits));
	return bits;
}

/* The bucket of one row, as rows_hash.c describes it */
static uint32_t
plain_bucket(const RaceRows *rows, uint32_t row, const RaceColumn *x, bool fused)
{
	const RaceParams *params = rows->params;
	int64_t range = params->range;
	uint64_t hash = params->rehash == MULTI ? *race_rows_key(rows, row, 0) : 0;
	uint32_t first = 0;

	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params), x++)
	{
		for (uint32_t j = first; j < first + part->power; j++)
		{
			uint64_t code = plain_code(rows, part, row, j, x, fused);
			uint64_t words = plain_words(part, code);

			if (params->rehash == FOLD)
				hash = part->kernel == ANGULAR ?
					hash << 1 | code :
					(uint64_t) (((int64_t) code % range + range) % range);
			else
				hash += *race_rows_key(rows, row, 1 + 2 * j) * (words & 0xFFFFFFFF) +
					*race_rows_key(rows, row, 2 + 2 * j) * (words >> 32);
		}
		first += part->power;
	}
	return (uint32_t) (params->rehash == FOLD ? hash : (hash >> 32) * range >> 32);
}

/* Row functions against their definition, and all vector code against portable */
#define ROWS 128
#define PLAIN_RECORDS CASES(300, 100)
#define MAX_PATHS 8
#define MAX_BATCH 70 /* whole tiles of records, and some left over */

/* The vector code that this machine has, and how much of it there is */
static int
vector_paths(const char **paths)
{
	int n = 0;

	for (int i = 1; race_hash_path_name(i) != NULL; i++)
		if (race_hash_has(race_hash_path_name(i)) && n < MAX_PATHS)
			paths[n++] = race_hash_path_name(i);
	return n;
}

/*
 * The buckets of n records, all rows of one and then of the next: in one call for
 * each block of rows, as batches are hashed
 */
static void
hash_batch(const RaceRows *rows, const RaceColumn *columns, size_t n, uint32_t *buckets)
{
	uint32_t *block_buckets = calloc(n * RACE_LANES, sizeof(uint32_t));

	if (block_buckets == NULL)
		abort();
	for (size_t block = 0; block < rows->blocks; block++)
	{
		race_rows_hash(rows, block, columns, n, block_buckets);
		for (size_t i = 0; i < n; i++)
			memcpy(buckets + (i * rows->blocks + block) * RACE_LANES,
				   block_buckets + i * RACE_LANES, RACE_LANES * sizeof(uint32_t));
	}
	free(block_buckets);
}

/* Which record of a batch */
static void
one_of(const RaceRows *rows, const RaceColumn *columns, size_t i, RaceColumn *one)
{
	for (int p = 0; p < rows->parts; p++)
		one[p] = race_column_from(&columns[p], i);
}

typedef struct Differences
{
	int path[MAX_PATHS]; /* batches that differ from portable code */
	int one;             /* records alone that differ from batches */
	int plain;           /* buckets that are not as defined */
	int unfused;         /* or would not be without fused multiply-add */
} Differences;

static void
nothing(void)
{
}

static void
compare_batch(const RaceRows *rows, const RaceColumn *columns, size_t n, bool plain,
			  Differences *differences)
{
	static uint32_t portable[MAX_BATCH * ROWS];
	static uint32_t buckets[MAX_BATCH * ROWS];
	const char *paths[MAX_PATHS];
	int n_paths = vector_paths(paths);
	RaceColumn one[RACE_MAX_PARTS];

	race_hash_force("portable");
	hash_batch(rows, columns, n, portable);
	for (int p = 0; p < n_paths; p++)
	{
		race_hash_force(paths[p]);
		hash_batch(rows, columns, n, buckets);
		differences->path[p] += memcmp(buckets, portable, n * ROWS * sizeof(uint32_t)) != 0;
	}
	race_hash_force("auto");
	one_of(rows, columns, n - 1, one);
	race_interrupt_hook = nothing;
	race_rows_hash_one(rows, ROWS, one, buckets);
	race_interrupt_hook = NULL;
	differences->one += memcmp(buckets, portable + (n - 1) * ROWS, ROWS * sizeof(uint32_t)) != 0;
	for (size_t i = 0; i < n && plain; i++)
	{
		one_of(rows, columns, i, one);
		plain_projections(rows, one);
		for (uint32_t row = 0; row < ROWS; row++)
		{
			differences->plain += portable[i * ROWS + row] != plain_bucket(rows, row, one, true);
			differences->unfused += portable[i * ROWS + row] != plain_bucket(rows, row, one, false);
		}
	}
}

static void
test_paths(const Recipe *recipe, uint64_t records)
{
	RaceParams *params = make_params(recipe, ROWS, 0);
	RaceRows *rows = make_rows(params);
	Differences differences = {.one = 0};
	const char *paths[MAX_PATHS];
	uint64_t number;
	size_t n;

	/* batches of 1, 2, ... MAX_BATCH records, over and over */
	for (number = 0, n = 1; number < records; number += n, n = n % MAX_BATCH + 1)
	{
		RaceColumn columns[RACE_MAX_PARTS];

		random_records(params, number, n, columns);
		compare_batch(rows, columns, n, number < PLAIN_RECORDS, &differences);
		free_records(params, columns);
	}
	ok(differences.plain == 0, "%s: buckets are as defined", describe(params));
	if (recipe->parts[0].kernel == L2 || recipe->parts[0].kernel == L1)
		ok(differences.unfused > 0, "control: without fused multiply-add they are not");
	ok(differences.one == 0, "a record alone gets the buckets that it gets in a batch");
	for (int p = 0; p < vector_paths(paths); p++)
		ok(differences.path[p] == 0, "%s code gives the buckets of portable code", paths[p]);
	free(rows);
	free(params);
}

static RaceParams *
copy_params(const RaceParams *params)
{
	RaceParams *copy = malloc(race_params_size(params));

	if (copy == NULL)
		abort();
	return memcpy(copy, params, race_params_size(params));
}

/* Are the first `few` of these rows those that are made alone, last to first? */
static bool
is_prefix(const RaceRows *rows, uint32_t few)
{
	RaceParams *params = copy_params(rows->params);
	uint32_t functions = race_params_functions(params);
	uint32_t *all_buckets = make_buckets(rows);
	uint32_t *buckets;
	RaceRows *alone;
	int different = 0;

	params->rows = few;
	alone = allocate_rows(params);
	for (uint64_t i = alone->blocks * functions; i-- > 0;)
		race_rows_generate(alone, i / functions, i % functions);
	buckets = make_buckets(alone);
	for (uint64_t i = 0; i < CASES(200, 20); i++)
	{
		RaceColumn x[RACE_MAX_PARTS];

		random_records(params, i, 1, x);
		race_rows_hash_one(rows, rows->params->rows, x, all_buckets);
		race_rows_hash_one(alone, few, x, buckets);
		different += memcmp(buckets, all_buckets, few * sizeof(uint32_t)) != 0;
		free_records(params, x);
	}
	free(buckets);
	free(all_buckets);
	free(alone);
	free(params);
	return different == 0;
}

static void
test_prefix(const Recipe *recipe)
{
	RaceParams *params = make_params(recipe, 300, 0);
	RaceRows *rows = make_rows(params);

	ok(is_prefix(rows, 1) && is_prefix(rows, 64) && is_prefix(rows, 100) && is_prefix(rows, 299),
	   "%s: fewer rows are the first of more", describe(params));
	rows->params->seed++;
	ok(!is_prefix(rows, 64), "control: with another seed they are not");
	free(rows);
	free(params);
}

/* In how many words the functions a and b, of `words` each in 70 rows, are the same */
static int
same_words(const RaceRows *rows_a, uint32_t a, const RaceRows *rows_b, uint32_t b, uint32_t words)
{
	int same = 0;

	for (uint32_t row = 0; row < 70; row++)
		for (uint32_t i = 0; i < words; i++)
			same += memcmp(race_rows_coefficient(rows_a, row, a, i),
						   race_rows_coefficient(rows_b, row, b, i), sizeof(uint64_t)) == 0;
	return same;
}

/*
 * A part alone has the functions, and the keys, that it has as the first of a
 * product; when it is there twice, its functions differ.  (That they are independent
 * is for collision_test.c to say.)
 */
static void
test_product(const PartRecipe *part, uint32_t words)
{
	Recipe alone_recipe = {MULTI, 1000, {*part}};
	Recipe twice_recipe = {MULTI, 1000, {*part, *part}};
	RaceParams *alone_params = make_params(&alone_recipe, 70, 11);
	RaceParams *twice_params = make_params(&twice_recipe, 70, 11);
	RaceRows *alone = make_rows(alone_params);
	RaceRows *twice = make_rows(twice_params);
	int other_keys = 0;
	int all = 70 * (int) words;

	for (uint32_t j = 0; j < 70; j++)
		for (uint32_t k = 0; k < 1 + 2 * part->power; k++)
			other_keys += *race_rows_key(alone, j, k) != *race_rows_key(twice, j, k);
	ok(other_keys == 0, "%s: a part alone has the keys of the first of a product",
	   describe(alone_params));
	for (uint32_t j = 0; j < part->power; j++)
	{
		ok(same_words(alone, j, twice, j, words) == all, "and function %u of it", j);
		for (uint32_t k = 0; k < 2 * part->power; k++)
			if (k != j)
				ok(same_words(twice, j, twice, k, words) * 4 < all, "but not function %u", k);
	}
	free(twice);
	free(alone);
	free(twice_params);
	free(alone_params);
}

int
main(void)
{
	static const Recipe shapes[] = {
		{FOLD, 1000, {PART(L2, IND, 3, 1)}},
		{FOLD, 1024, {PART(L2, SOBOL, 8, 1)}},
		{MULTI, 1000, {PART(L2, IND, 3, 3)}},
		{MULTI, 7, {{L2, SOBOL, 2, 2, WIDTHS, 0}}},
		{FOLD, 1024, {{L2, IND, 8, 1, TRANSFORM, 3}}},
		{MULTI, 1024, {{L1, IND, 5, 2, WIDTHS | BOUNDS, 0}}},
		{MULTI, 1000, {PART(L1, SOBOL, 3, 1)}},
		{FOLD, 1000, {PART(ANGULAR, IND, 20, 9)}},
		{FOLD, 2, {PART(ANGULAR, SOBOL, 4, 1)}},
		{MULTI, 64, {{ANGULAR, IND, 4, 2, TRANSFORM, 7}}},
		{MULTI, 1000, {PART(JACCARD, IND, 0, 1)}},
		{MULTI, 1024, {PART(JACCARD, IND, 0, 3)}},
		{MULTI, 64, {PART(MATCH, SOBOL, 3, 1), PART(JACCARD, GROUPED, 0, 2)}},
		{MULTI, 1000, {PART(MATCH, IND, 7, 1)}},
		{MULTI, 256, {PART(MATCH, SOBOL, 100, 2)}},
		{MULTI, 1000, {PART(L2, SOBOL, 2, 1), PART(MATCH, SOBOL, 4, 2)}},
		{MULTI, 512, {PART(ANGULAR, IND, 6, 2), PART(JACCARD, IND, 0, 1)}},
		{MULTI,
		 3,
		 {{L1, IND, 2, 1, WIDTHS, 0},
		  PART(MATCH, SOBOL, 3, 1),
		  PART(JACCARD, IND, 0, 2),
		  {L2, IND, 3, 1, TRANSFORM, 2}}},
		{FOLD, 1024, {PART(L2, STRUCTURED, 8, 1)}},
		{FOLD, 1000, {{L2, STRUCTURED, 300, 1, WIDTHS, 0}}},
		{MULTI, 64, {PART(L2, STRUCTURED, 8, 3)}},
		{FOLD, 1000, {{ANGULAR, STRUCTURED, 8, 9, RACE_ARRAY_OFFSET, 0}}},
		{MULTI, 1000, {PART(ANGULAR, STRUCTURED, 1100, 2)}},
		{MULTI,
		 512,
		 {PART(ANGULAR, STRUCTURED, 600, 2), PART(JACCARD, IND, 0, 1), PART(L2, STRUCTURED, 3, 1),
		  PART(L2, SOBOL, 3, 1)}},
		/* wider than RACE_WIDE */
		{FOLD, 1000, {PART(L2, IND, 300, 1)}},
		{FOLD, 1024, {PART(L2, IND, 129, 1)}},
		{FOLD, 1000, {PART(ANGULAR, IND, 300, 9)}},
		{MULTI, 1000, {PART(L1, IND, 130, 2)}},
		{MULTI, 1000, {PART(ANGULAR, IND, 260, 2), PART(JACCARD, IND, 0, 1)}}};
	static const PartRecipe parts[] = {PART(L2, SOBOL, 2, 2),      PART(L2, IND, 5, 1),
									   {L1, IND, 3, 1, WIDTHS, 0}, PART(ANGULAR, IND, 4, 2),
									   PART(JACCARD, IND, 0, 2),   PART(MATCH, SOBOL, 100, 3),
									   PART(L2, STRUCTURED, 5, 2)};
	static const uint32_t words[] = {3, 6, 4, 5, 2, 1, 2};

	test_philox();
	test_philox_lanes();
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		test_paths(&shapes[i], CASES(i < 4 ? 50000 : i < 16 ? 10000 : 1000, i < 16 ? 2500 : 200));
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		test_prefix(&shapes[i]);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		test_product(&parts[i], words[i]);
	return done_testing();
}
