/*
 * known_test.c
 *		Known answers of all kernels: they pin what sketches store.
 *
 * They are from a second implementation (in Python, with exact fractions for the
 * fused multiply-add), or from a version that agreed with it; and every vector code must give them.
 */
#include "kernels.h"
#include "tap.h"

#include "hash/column.h"
#include "hash/elements.h"
#include "hash/hash_path.h"
#include "hash/params.h"
#include "hash/rows.h"

#define ROWS 70
#define RECORDS 60

typedef struct Known
{
	Recipe recipe;
	int64_t seed;
	uint64_t functions; /* digest of all words of all functions */
	uint64_t buckets;   /* digest of all buckets of the first records */
} Known;

static const Known known[] = {
	{{FOLD, 1024, {PART(L2, IND, 1, 1)}},
	 0,
	 UINT64_C(0x0c603935f6e72940),
	 UINT64_C(0xd04796208394776a)},
	{{FOLD, 1000, {PART(L2, SOBOL, 1, 1)}},
	 -1,
	 UINT64_C(0x12bf75af6ccadd13),
	 UINT64_C(0xc1888b5e91d2a673)},
	{{FOLD, 1000, {PART(L2, IND, 3, 1)}},
	 42,
	 UINT64_C(0x5a12c5e1f5fb7da5),
	 UINT64_C(0x929661af3430fa24)},
	{{FOLD, 3, {PART(L2, SOBOL, 3, 1)}},
	 0,
	 UINT64_C(0x26dc08b7efe7b565),
	 UINT64_C(0x8605c86a0832ee75)},
	{{MULTI, 1000, {PART(L2, IND, 3, 1)}},
	 42,
	 UINT64_C(0x5a12c5e1f5fb7da5),
	 UINT64_C(0x5baa9142dd74962a)},
	{{MULTI, 1024, {PART(L2, SOBOL, 3, 2)}},
	 -1,
	 UINT64_C(0x4733e325c6d7b20d),
	 UINT64_C(0xded45e908de9920b)},
	{{MULTI, 7, {PART(L2, IND, 8, 3)}},
	 0,
	 UINT64_C(0x4d7a7060f84c15f9),
	 UINT64_C(0x638af7622b2c5f31)},
	{{MULTI, 2, {PART(L2, SOBOL, 8, 2)}},
	 42,
	 UINT64_C(0x3a06ac411e93a709),
	 UINT64_C(0xd475dcac3be4a49d)},
	{{FOLD, 1024, {{L2, IND, 8, 1, TRANSFORM, 3}}},
	 1,
	 UINT64_C(0x4e558fc81a566636),
	 UINT64_C(0x2deb6b828b7ec3c5)},
	{{MULTI, 7, {{L2, SOBOL, 2, 2, WIDTHS, 0}}},
	 -5,
	 UINT64_C(0x5a2f22dbe7566c85),
	 UINT64_C(0xef1e3285bc06e18e)},
	{{MULTI, 1024, {{L1, IND, 5, 2, WIDTHS | BOUNDS, 0}}},
	 2,
	 UINT64_C(0x70b78676e7e7a848),
	 UINT64_C(0x37de92275c446d2d)},
	{{MULTI, 1000, {PART(L1, SOBOL, 3, 1)}},
	 3,
	 UINT64_C(0x2d860a294f870cae),
	 UINT64_C(0x1d941d8c9412c7c6)},
	{{FOLD, 1000, {PART(ANGULAR, IND, 20, 9)}},
	 4,
	 UINT64_C(0x3c9ab25ddb6a081c),
	 UINT64_C(0xa112e51c272c2469)},
	{{FOLD, 2, {PART(ANGULAR, SOBOL, 4, 1)}},
	 5,
	 UINT64_C(0x66e3a684d2b57ade),
	 UINT64_C(0x7406c727fe850870)},
	{{MULTI, 64, {{ANGULAR, IND, 4, 2, TRANSFORM, 7}}},
	 6,
	 UINT64_C(0x78e091eb9d8b7fe7),
	 UINT64_C(0x5979a39c16e19ecc)},
	{{MULTI, 1000, {PART(JACCARD, IND, 0, 1)}},
	 7,
	 UINT64_C(0x06368153258a1d6b),
	 UINT64_C(0x324c9c05bef2f8aa)},
	{{MULTI, 1024, {PART(JACCARD, IND, 0, 3)}},
	 INT64_C(1) << 62,
	 UINT64_C(0xbb6ee5b4fb1654ce),
	 UINT64_C(0x0329757d0e299251)},
	{{MULTI, 1000, {PART(JACCARD, GROUPED, 0, 2)}},
	 8,
	 UINT64_C(0x6f13340bab39902d),
	 UINT64_C(0x2b0e09f51d30fb03)},
	{{MULTI, 1000, {PART(MATCH, IND, 7, 1)}},
	 9,
	 UINT64_C(0xd3bce3f5e1955fb9),
	 UINT64_C(0x8bb9794c251bc1cc)},
	{{MULTI, 256, {PART(MATCH, SOBOL, 100, 2)}},
	 -10,
	 UINT64_C(0x44555c34332e0d5c),
	 UINT64_C(0x054eb87beb5707b2)},
	{{MULTI, 1000, {PART(L2, SOBOL, 2, 1), PART(MATCH, SOBOL, 4, 2)}},
	 11,
	 UINT64_C(0x908e7519488fcf1a),
	 UINT64_C(0x9d3772bb6daa1bc9)},
	{{MULTI,
	  3,
	  {{L1, IND, 2, 1, WIDTHS, 0},
	   PART(MATCH, SOBOL, 3, 1),
	   PART(JACCARD, IND, 0, 2),
	   {L2, IND, 3, 1, TRANSFORM, 2}}},
	 12,
	 UINT64_C(0x9da239abbaa3da97),
	 UINT64_C(0x55418fc77fd8f0dc)},
	/* of signs alone, no words are stored */
	{{FOLD, 1000, {PART(ANGULAR, STRUCTURED, 20, 9)}}, 13, 0, UINT64_C(0x7619f0afa390916b)},
	{{MULTI, 64, {{L2, STRUCTURED, 1100, 2, WIDTHS, 0}}},
	 14,
	 UINT64_C(0x30093156a5e2992f),
	 UINT64_C(0xa1622a7959219bb9)},
	{{FOLD, 1000, {{L2, STRUCTURED, 6, 1, RACE_ARRAY_OFFSET, 0}}},
	 -15,
	 UINT64_C(0x39cc706b29ba18dd),
	 UINT64_C(0xef842c3be0bbfbc4)}};

/* The words of a part's functions in one row, into the digest */
static uint64_t
digest_part(const RaceRows *rows, const RaceRowsPart *part, uint32_t row, uint64_t digest)
{
	for (uint32_t j = part->function; j < part->function + part->params->power; j++)
		for (uint32_t i = 0; i < part->words; i++)
		{
			uint64_t word;

			memcpy(&word, race_rows_coefficient(rows, row, j, i), sizeof(word));
			digest = mix(digest ^ word);
		}
	return digest;
}

static uint64_t
digest_functions(const RaceRows *rows)
{
	uint64_t digest = 0;

	for (uint32_t row = 0; row < ROWS; row++)
		for (int p = 0; p < rows->parts; p++)
			digest = digest_part(rows, &rows->part[p], row, digest);
	return digest;
}

static uint64_t
digest_buckets(const RaceRows *rows)
{
	uint32_t *buckets = make_buckets(rows);
	uint64_t digest = 0;

	for (uint64_t number = 0; number < RECORDS; number++)
	{
		RaceColumn columns[RACE_MAX_PARTS];

		random_records(rows->params, number, 1, columns);
		race_rows_hash_one(rows, ROWS, columns, buckets);
		for (uint32_t row = 0; row < ROWS; row++)
			digest = mix(digest ^ buckets[row]);
		free_records(rows->params, columns);
	}
	free(buckets);
	return digest;
}

static void
test_known(const Known *answer, const char *path)
{
	RaceParams *params = make_params(&answer->recipe, ROWS, answer->seed);
	RaceRows *rows = make_rows(params);

	ok(digest_functions(rows) == answer->functions, "%s code, %s: known functions", path,
	   describe(params));
	ok(digest_buckets(rows) == answer->buckets, "and known buckets");
	free(rows);
	free(params);
}

static void
test_elements(void)
{
	static const int64_t seeds[3] = {0, -1, 42};
	static const int64_t integers[5] = {0, 1, -1, INT64_MIN, INT64_MAX};
	static const uint64_t of_integers[3][5] = {
		{UINT64_C(0x8f1a3087f2237f09), UINT64_C(0x4f10102855a072ba), UINT64_C(0x0afd37060e4da271),
		 UINT64_C(0x89bb66ea427a8a12), UINT64_C(0x0c8671a93a32be5a)},
		{UINT64_C(0x2b764c5d57d4020a), UINT64_C(0xa7174d2506742a6a), UINT64_C(0xee4b24a7a5574525),
		 UINT64_C(0xb45dca5e5b286b97), UINT64_C(0x3ab3fa2a5bcacb79)},
		{UINT64_C(0xbdfc405328011911), UINT64_C(0x14909873be961592), UINT64_C(0x5932130bc1df58b8),
		 UINT64_C(0x3fb34d842ad46258), UINT64_C(0xf7c6e46ec3427346)}};
	static const size_t sizes[6] = {0, 1, 7, 8, 9, 16};
	static const uint64_t of_bytes[3][6] = {
		{UINT64_C(0xaa2cfcdacbf6940c), UINT64_C(0x26b77c20edf19766), UINT64_C(0x806f7947276710e0),
		 UINT64_C(0x22d616010efdd3e3), UINT64_C(0xc98c7cd3041735fd), UINT64_C(0x4df5e4a28ba357de)},
		{UINT64_C(0xc55de81e8356c2d2), UINT64_C(0x74df0376c6371f36), UINT64_C(0x0afe9dfe5e726794),
		 UINT64_C(0xdc95d1ef744e3cd5), UINT64_C(0x1bf6692fc3899587), UINT64_C(0x430b0f6514013023)},
		{UINT64_C(0x68b79cb47b835adf), UINT64_C(0x86bf7b45764b8eee), UINT64_C(0xb0926ada9b87fda4),
		 UINT64_C(0xa38524554181d531), UINT64_C(0xf6481ab86aecd788), UINT64_C(0x88ca7428e2d401c4)}};
	unsigned char text[16];
	int different = 0;

	for (int i = 0; i < 16; i++)
		text[i] = (unsigned char) (i * 37 + 11);
	for (int s = 0; s < 3; s++)
	{
		for (int i = 0; i < 5; i++)
			different += race_element_of_integer(seeds[s], integers[i]) != of_integers[s][i];
		for (int i = 0; i < 6; i++)
			different += race_element_of_bytes(seeds[s], text, sizes[i]) != of_bytes[s][i];
	}
	different += race_element_of_null(0, false) != UINT64_C(0xa8326e71e8daba39);
	different += race_element_of_null(0, true) != UINT64_C(0x1b1107325bfe9005);
	ok(different == 0, "known elements of integers, of bytes and of NULLs");
}

/* What is alike in bytes, in length or as a number has elements of its own. */
static void
test_distinct_elements(void)
{
	uint64_t elements[3 * 257 + 2];
	unsigned char zeros[257] = {0};
	int same = 0;
	int n = 0;

	for (int i = 0; i < 257; i++)
	{
		elements[n++] = race_element_of_integer(7, i);
		elements[n++] = race_element_of_bytes(7, zeros, (size_t) i);
		elements[n++] = race_element_of_bytes(7, (unsigned char[]){i & 255, i >> 8}, 2);
	}
	elements[n++] = race_element_of_null(7, false);
	elements[n++] = race_element_of_null(7, true);
	/* two zeros are there twice */
	qsort(elements, n, sizeof(uint64_t), compare_elements);
	for (int i = 1; i < n; i++)
		same += elements[i] == elements[i - 1];
	ok(same == 1, "different integers and texts are different elements, and so are NULLs");
	ok(race_element_of_integer(1, 5) != race_element_of_integer(2, 5) &&
		   race_element_of_bytes(1, "5", 1) != race_element_of_bytes(2, "5", 1),
	   "and others for another seed");
}

int
main(void)
{
	for (int p = 0; race_hash_path_name(p) != NULL; p++)
	{
		if (!race_hash_has(race_hash_path_name(p)))
			continue;
		race_hash_force(race_hash_path_name(p));
		for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
			test_known(&known[i], race_hash_path_name(p));
	}
	race_hash_force("auto");
	test_elements();
	test_distinct_elements();
	return done_testing();
}
