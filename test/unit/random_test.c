/*
 * random_test.c
 *		Uniform integers from random bytes.
 *
 * False alarms: five chi-square tests at 1e-11 and a test of one probability
 * at 7 standard errors (2.6e-12), so 5.3e-11 for the program.
 */
#include "helpers.h"
#include "tap.h"

#define DRAWS ((uint64_t) 1 << 22)
#define P_LIMIT 1e-11
#define Z_LIMIT 7.0
#define MAX_CELLS 257

static RaceRandom source = {.fill = fill_from_system};

/* As a control, just the bits needed, and what is too large folded */
static uint64_t
biased_below(RaceRandom *random, uint64_t n)
{
	return race_random_below(random, n == 3 ? 4 : 512) % n;
}

/*
 * Are 0 ... n - 1 equally likely, by chi-square over an odd number of cells of
 * neighbors, and is nothing beyond them?
 */
static bool
uniform(uint64_t (*below)(RaceRandom *, uint64_t), uint64_t n, int cells)
{
	uint64_t observed[MAX_CELLS] = {0};
	double expected[MAX_CELLS];
	uint64_t beyond = 0;
	double p;

	for (uint64_t i = 0; i < (uint64_t) cells; i++)
	{
		/* how many numbers v have floor(v * cells / n) = i */
		uint64_t first = (uint64_t) (((unsigned __int128) n * i + cells - 1) / cells);
		uint64_t next = (uint64_t) (((unsigned __int128) n * (i + 1) + cells - 1) / cells);

		expected[i] = (double) (next - first) / (double) n * (double) DRAWS;
	}
	for (uint64_t i = 0; i < DRAWS; i++)
	{
		uint64_t v = below(&source, n);

		if (v < n)
			observed[(unsigned __int128) v * cells / n]++;
		else
			beyond++;
	}
	p = chi_square_tail(chi_square(observed, expected, cells), cells - 1);
	printf("# n = %llu, %d cells: p = %.3g\n", (unsigned long long) n, cells, p);
	return beyond == 0 && p > P_LIMIT;
}

static void
test_uniform(void)
{
	uint64_t ones = 0;
	uint64_t beyond = 0;
	double z;

	for (uint64_t i = 0; i < DRAWS; i++)
	{
		uint64_t v = race_random_below(&source, 2);

		ones += v == 1;
		beyond += v > 1;
	}
	z = ((double) ones - DRAWS / 2.0) / sqrt(DRAWS / 4.0);
	ok(beyond == 0 && fabs(z) < Z_LIMIT, "n = 2: a fair coin");

	ok(uniform(race_random_below, 3, 3), "n = 3");
	ok(uniform(race_random_below, 5, 5), "n = 5");
	ok(uniform(race_random_below, 256, 255), "n = 256");
	ok(uniform(race_random_below, 257, 257), "n = 257");
	ok(uniform(race_random_below, RACE_MAX_SCALE, 31), "n = 2^56");

	ok(!uniform(biased_below, 3, 3), "control: 2 bits mod 3 are rejected");
	ok(!uniform(biased_below, 257, 257), "control: 9 bits mod 257 are rejected");
}

/* Each byte is one more than the one before, from a given first. */
static void
fill_counting(void *arg, uint8_t *bytes, size_t size)
{
	uint8_t *next = arg;

	while (size-- > 0)
		*bytes++ = (*next)++;
}

/* What n gives on a tape of counting bytes, and how many of them it took */
static bool
takes(uint8_t first, uint64_t n, uint64_t value, size_t bytes)
{
	RaceRandom random = {.fill = fill_counting, .arg = &first};
	uint64_t got = race_random_below(&random, n);
	size_t used = n == 1 ? 0 : sizeof(random.buffer) - random.left;

	return got == value && used == bytes;
}

/* As many bytes as n needs, and again when they make too large a number */
static void
test_bytes(void)
{
	uint8_t first = 0xfe;
	RaceRandom random = {.fill = fill_counting, .arg = &first};
	int wrong = 0;

	ok(takes(0, 1, 0, 0), "n = 1 is 0 and takes no bytes");
	ok(takes(0xfe, 2, 0, 1) && takes(0xff, 2, 1, 1), "n = 2 takes the low bit");
	ok(takes(0xff, 3, 0, 2) && takes(0xfe, 3, 2, 1), "n = 3 refuses 3");
	ok(takes(0xfb, 251, 0, 6) && takes(0xfa, 251, 250, 1), "n = 251 refuses 251 to 255");
	ok(takes(0xff, 256, 255, 1), "n = 256 takes a whole byte");
	ok(takes(0xff, 257, 0x100, 2) && takes(4, 257, 5, 2), "n = 257 takes 9 bits of two bytes");
	ok(takes(0x12, UINT64_C(1) << 56, UINT64_C(0x12131415161718), 7),
	   "n = 2^56 takes 7 bytes, the highest first");
	ok(takes(0x12, UINT64_MAX, UINT64_C(0x1213141516171819), 8), "n = 2^64 - 1 takes 8 bytes");

	for (uint64_t n = 1; n <= 4096; n++)
		wrong += race_random_below(&random, n) >= n;
	for (uint64_t n = RACE_MAX_SCALE - 1000; n <= RACE_MAX_SCALE; n++)
		wrong += race_random_below(&random, n) >= n;
	ok(wrong == 0, "all is below n, whatever n is");
}

int
main(void)
{
	test_uniform();
	test_bytes();
	return done_testing();
}
