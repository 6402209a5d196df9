/*
 * hostile_test.c
 *		Parameters of any bytes: never a crash, and what is accepted can be used.
 *
 * Best with -fsanitize=address,undefined: parameters lie in memory of just their size.
 */
#include "kernels.h"
#include "tap.h"

#include "hash/column.h"
#include "hash/params.h"
#include "hash/params_check.h"
#include "hash/rows.h"

#define TRIES CASES(10000, 1000) /* of each recipe */
#define SMALL ((size_t) 4 * 1024 * 1024)

/* What became of parameters that were tried */
typedef struct Fates
{
	int refused;
	int accepted;
	int used;  /* accepted, and small enough to try */
	int wrong; /* accepted, but not what they should be */
} Fates;

/* Hash two records with the first and last block of rows: buckets must be within range */
static bool
can_be_used(const RaceParams *params)
{
	RaceRows *rows = allocate_rows(params);
	uint32_t functions = race_params_functions(params);
	uint32_t buckets[2 * RACE_LANES];
	RaceColumn columns[RACE_MAX_PARTS];
	size_t last = rows->blocks - 1;
	int beyond = 0;

	for (uint32_t j = 0; j < functions; j++)
	{
		race_rows_generate(rows, 0, j);
		race_rows_generate(rows, last, j);
	}
	random_records(params, functions, 2, columns);
	race_rows_hash(rows, 0, columns, 2, buckets);
	for (int i = 0; i < 2 * RACE_LANES; i++)
		beyond += buckets[i] >= params->range;
	race_rows_hash(rows, last, columns, 2, buckets);
	for (int i = 0; i < 2 * RACE_LANES; i++)
		beyond += buckets[i] >= params->range;
	free_records(params, columns);
	free(rows);
	return beyond == 0;
}

/* Parameters of these bytes, from a copy that ends where they do */
static void
try_bytes(const void *bytes, size_t size, Fates *fates)
{
	RaceParams *params = malloc(size + (size == 0));
	char message[300] = "";
	const char *problem;

	if (params == NULL)
		abort();
	memcpy(params, bytes, size);
	problem = race_params_problem(params, size, message, sizeof(message));
	if (problem != NULL)
	{
		fates->refused++;
		fates->wrong += problem != message || strlen(message) < 10;
		free(params);
		return;
	}
	fates->accepted++;
	fates->wrong += race_params_size(params) != size || race_params_parts(params) < 1 ||
		race_params_parts(params) > RACE_MAX_PARTS || params->range < 2 ||
		race_rows_size(params) > RACE_MAX_ROWS_BYTES;
	if (race_params_complete(params) && race_rows_size(params) <= SMALL)
	{
		fates->used++;
		fates->wrong += !can_be_used(params);
	}
	free(params);
}

/* Change a byte, a word, or a number to what may be there elsewhere */
static void
spoil(uint8_t *bytes, size_t size, uint64_t random)
{
	static const uint32_t words[] = {0, 1, 2, 3, 4, 5, 16000, 16001, 1024, 0x7FFFFFFF, 0xFFFFFFFF};
	static const double numbers[] = {0, -1, 1, 1e100, 1e-100, 1e300, -1e300, 5e-324, NAN, INFINITY};
	size_t place = (random >> 8) % size;
	uint64_t choice = random >> 40;

	switch (random % 4)
	{
		case 0:
			bytes[place] ^= 1 << choice % 8;
			break;
		case 1:
			bytes[place] = (uint8_t) choice;
			break;
		case 2:
			memcpy(bytes + place / 4 * 4, &words[choice % 11], 4);
			break;
		case 3:
			memcpy(bytes + place / 8 * 8, &numbers[choice % 10], 8);
			break;
	}
}

/*
 * One to three changes, most of them in what is not an array of the first part, and of
 * every eighth another size
 */
static void
try_changes(const RaceParams *params, int number, uint64_t *counter, Fates *fates)
{
	size_t size = race_params_size(params);
	uint8_t *bytes = calloc(1, size + 64);
	int changes = number % 3 + 1;

	if (bytes == NULL)
		abort();
	memcpy(bytes, params, size);
	while (changes-- > 0)
	{
		uint64_t random = mix((*counter)++);

		spoil(bytes, random >> 63 != 0 ? sizeof(RaceParams) : size, random);
	}
	if (number % 8 == 0)
	{
		size = mix((*counter)++) % (size + 64);
		if (number % 16 == 0 && size >= sizeof(RaceParams))
			((RaceParams *) bytes)->more = (uint32_t) (size - sizeof(RaceParams));
	}
	try_bytes(bytes, size, fates);
	free(bytes);
}

static void
test_recipe(const Recipe *recipe, uint64_t counter)
{
	RaceParams *params = make_params(recipe, 100, 7);
	Fates fates = {.refused = 0};

	for (int i = 0; i < TRIES; i++)
		try_changes(params, i, &counter, &fates);
	printf("# %d refused, %d accepted, %d of these used\n", fates.refused, fates.accepted,
		   fates.used);
	ok(fates.wrong == 0, "%s: spoiled bytes are refused or can be used", describe(params));
	ok(fates.refused > TRIES / 4 && fates.used > TRIES / 100, "there are enough of both");
	free(params);
}

/* Bytes without any sense, and too few */
static void
test_noise(void)
{
	Fates fates = {.refused = 0};
	uint64_t bytes[40];
	uint64_t counter = 0;

	for (int number = 0; number < TRIES; number++)
	{
		for (size_t i = 0; i < 40; i++)
			bytes[i] = mix(counter++);
		try_bytes(bytes, number % (sizeof(bytes) + 1), &fates);
		memset(bytes, number & 255, sizeof(bytes));
		try_bytes(bytes, number / 256 % (sizeof(bytes) + 1), &fates);
	}
	ok(fates.accepted == 0 && fates.wrong == 0, "noise is refused, of any size");
}

int
main(void)
{
	static const Recipe recipes[] = {
		{FOLD, 1000, {PART(L2, SOBOL, 3, 1)}},
		{FOLD, 64, {{L2, IND, 4, 1, TRANSFORM | BOUNDS, 2}}},
		{MULTI, 1000, {{L1, IND, 3, 2, WIDTHS | BOUNDS, 0}}},
		{FOLD, 64, {PART(ANGULAR, IND, 3, 6)}},
		{FOLD, 64, {{L2, STRUCTURED, 5, 1, WIDTHS | BOUNDS, 0}}},
		{MULTI, 100, {{ANGULAR, STRUCTURED, 3, 2, RACE_ARRAY_OFFSET, 0}}},
		{MULTI, 100, {{ANGULAR, SOBOL, 5, 2, TRANSFORM, 3}}},
		{MULTI, 64, {PART(JACCARD, IND, 0, 2)}},
		{MULTI, 64, {PART(MATCH, SOBOL, 5, 2)}},
		{MULTI, 7, {PART(MATCH, SOBOL, 5, 2), {L2, SOBOL, 3, 1, WIDTHS, 0}}},
		{MULTI,
		 64,
		 {{ANGULAR, IND, 2, 2, TRANSFORM, 2},
		  PART(JACCARD, IND, 0, 1),
		  {L1, IND, 3, 1, BOUNDS, 0},
		  PART(MATCH, IND, 2, 1)}}};

	for (size_t i = 0; i < sizeof(recipes) / sizeof(recipes[0]); i++)
		test_recipe(&recipes[i], i * 1000000);
	test_noise();
	return done_testing();
}
