/*
 * gaussian_test.c
 *		The exact discrete Gaussian sampler.  (Small variances, path by path:
 *		enumerate_test.c.)
 *
 * False alarms: three variances, each with a chi-square test at 1e-11 and tests
 * of two means at 7 standard errors (2.6e-12), so 4.6e-11 for the program.  The
 * controls are rejected by so much (29 standard errors for a standard deviation
 * 1 % off) that they add nothing to it.
 */
#include "helpers.h"
#include "tap.h"
#include "privacy/sampler.h"

#define DRAWS ((uint64_t) 1 << CASES(22, 15))
#define P_LIMIT 1e-11
#define Z_LIMIT 7.0

/* Of each sign, at most this many cells of equal mass; and one for zero */
#define SIDE_CELLS 14

/* Draws, counted by the nearest multiple of the step, at most BINS steps away */
#define BINS 8192
#define BINS_A_SIGMA 512 /* so that e^-128 of the draws lie beyond */

typedef struct Sample
{
	uint64_t n;
	uint64_t step; /* odd; 1 for small variances */
	uint64_t count[2 * BINS + 1];
	long double sum;
	long double sum_of_squares;
} Sample;

static void
draw_sample(uint64_t variance, Sample *sample)
{
	RaceRandom random = {.fill = fill_from_system};

	memset(sample, 0, sizeof(Sample));
	sample->n = DRAWS;
	sample->step = (uint64_t) (sqrt((double) variance) / BINS_A_SIGMA) | 1;
	for (uint64_t i = 0; i < DRAWS; i++)
	{
		int64_t k = race_discrete_gaussian(&random, variance);
		uint64_t bin = ((uint64_t) llabs(k) + sample->step / 2) / sample->step;

		bin = bin < BINS ? bin : BINS;
		sample->count[k < 0 ? BINS - bin : BINS + bin]++;
		sample->sum += k;
		sample->sum_of_squares += (long double) k * k;
	}
}

/* The probability of a bin */
static double
bin_mass(int bin, uint64_t step, double variance)
{
	double root = sqrt(2 * variance);
	double sum = 1;

	/* a small step compared to the deviation: sums are integrals */
	if (step > 1)
		return (erfc((bin - 0.5) * step / root) - erfc((bin + 0.5) * step / root)) / 2;
	if (variance > 100) /* 1 / sum = 1 / sqrt(2 pi variance), to e^-2000 */
		sum = sqrt(M_PI) * root;
	else
		for (int k = 1; k < 200; k++)
			sum += 2 * exp(-k * k / (2 * variance));
	return exp(-(double) bin * bin / (2 * variance)) / sum;
}

/*
 * Is this a sample of the variance?  Chi-square, with zero in a cell of its own
 * because that is where signs can go wrong, and the means of k and k^2.  From
 * variance 2 on, k^2 has mean and standard deviation of the continuous Gaussian,
 * to e^-34.
 */
static bool
fits(const Sample *sample, double variance)
{
	uint64_t observed[1 + 2 * SIDE_CELLS] = {0};
	double expected[1 + 2 * SIDE_CELLS] = {0};
	double n = (double) sample->n;
	double zero = bin_mass(0, sample->step, variance);
	double below = 0; /* mass of bins from 1 on, of those before */
	int cells = 1;
	int side_cell = -1;
	double p;
	double z;
	double z_of_squares;

	observed[0] = sample->count[BINS];
	expected[0] = n * zero;
	for (int bin = 1; bin <= BINS; bin++)
	{
		double mass = bin_mass(bin, sample->step, variance);
		int c = (int) (SIDE_CELLS * below / ((1 - zero) / 2));

		c = c < SIDE_CELLS ? c : SIDE_CELLS - 1;
		if (c > side_cell && (1 - zero) / 2 - below > 1e-4)
		{
			cells += 2;
			side_cell = c;
		}
		below += mass;
		observed[cells - 2] += sample->count[BINS + bin];
		observed[cells - 1] += sample->count[BINS - bin];
		expected[cells - 2] += n * mass;
		expected[cells - 1] = expected[cells - 2];
	}

	p = chi_square_tail(chi_square(observed, expected, cells), cells - 1);
	z = (double) (sample->sum / n) / sqrt(variance / n);
	z_of_squares = ((double) (sample->sum_of_squares / n) / variance - 1) / sqrt(2 / n);
	printf(
		"# against variance %.6g, %d cells: p = %.3g, means of k and k^2 off by %.2f and %.2f standard errors\n",
		variance, cells, p, z, z_of_squares);
	return p > P_LIMIT && fabs(z) < Z_LIMIT && fabs(z_of_squares) < Z_LIMIT;
}

static void
test_fit(uint64_t variance)
{
	static Sample sample;
	uint64_t zeros;

	draw_sample(variance, &sample);
	ok(fits(&sample, (double) variance), "variance %llu: draws have their distribution",
	   (unsigned long long) variance);
	ok(SANITIZED || !fits(&sample, variance * 1.01 * 1.01),
	   "control: a standard deviation 1 %% more is rejected");
	ok(SANITIZED || !fits(&sample, variance * 0.99 * 0.99),
	   "control: a standard deviation 1 %% less is rejected");
	if (sample.step > 1)
		return;

	/* a sampler that does not start again at a negative zero */
	zeros = sample.count[BINS];
	sample.count[BINS] += zeros;
	sample.n += zeros;
	ok(SANITIZED || !fits(&sample, variance), "control: zero counted twice is rejected");

	/* and, of that one, floor of a negative number instead of truncation */
	if (variance > 10)
		return;
	sample.count[BINS] -= zeros;
	for (int bin = 0; bin < BINS - 1; bin++)
		sample.count[bin] = sample.count[bin + 1];
	sample.count[BINS - 1] = zeros;
	sample.sum = 0;
	sample.sum_of_squares = 0;
	for (int bin = 0; bin <= 2 * BINS; bin++)
	{
		long double k = bin - BINS;

		sample.sum += k * sample.count[bin];
		sample.sum_of_squares += k * k * sample.count[bin];
	}
	ok(SANITIZED || !fits(&sample, variance),
	   "control: floor of a continuous variable is rejected");
}

/* Known answers, from a second implementation of the algorithm (in Python) */
static void
test_known_answers(void)
{
	static const struct
	{
		uint64_t variance;
		int64_t draws[12];
		uint64_t digest; /* of 10000 draws, over several buffers */
	} known[] = {
		{1, {1, 0, -1, -1, 1, -1, 1, 0, 0, -1, -1, -1}, UINT64_C(0x103acc027831efc1)},
		{2, {1, 0, 3, 0, -1, 1, -2, 1, 0, -1, -2, 1}, UINT64_C(0x8521d9a8e0abdf6a)},
		{3, {1, 0, -1, 1, 0, 0, -4, -3, -1, 0, -1, 2}, UINT64_C(0xe717c941af98432e)},
		{24, {-6, 10, -2, -7, 2, -3, 4, -1, -4, -1, -1, -1}, UINT64_C(0xf9eb94b67d297bbe)},
		{1000, {25, -75, 50, 33, 9, 30, 44, 4, -28, 61, -16, -9}, UINT64_C(0x56c72f3023ee29dc)},
		/* from here on, 2 variance t^2 needs 128 bits */
		{UINT64_C(2147483647),
		 {45005, -16288, -20149, 20369, -55837, -27121, -3939, 83230, -28751, -14036, 806, -62464},
		 UINT64_C(0xd4e2692c85c9e792)},
		{UINT64_C(1099511640121),
		 {-545130, 617007, 842737, 189608, 223619, -555042, -1713888, 333647, -1026089, -946086,
		  -1451306, -1364286},
		 UINT64_C(0x64d08656b03391a8)},
		{RACE_MAX_VARIANCE - 1,
		 {23764600, 169051333, 210060378, -517095446, -174278918, -84894569, 364909112, 108517970,
		  -327472643, 136923555, -242042482, -277670860},
		 UINT64_C(0x50c2a6ca2e8d56b6)},
		{RACE_MAX_VARIANCE,
		 {23764600, 261194656, 256695281, -74709673, 103848086, -161677374, -398656387, 138166386,
		  -80821665, 169659371, -274145381, -58392536},
		 UINT64_C(0xfbe9a39365fc6e54)}};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		ok(draws_are(race_discrete_gaussian, known[i].variance, known[i].draws, known[i].digest),
		   "variance %llu: known answers on a tape", (unsigned long long) known[i].variance);
}

/* -------------------------------------------------------------- limits */

/* Bytes for a draw of the largest variance, where t = 2^28 + 1 */
typedef struct Tape
{
	size_t bytes;
	uint8_t byte[8192];
} Tape;

#define LARGEST_T (((int64_t) 1 << 28) + 1)

static void
put(Tape *tape, uint8_t byte, int times)
{
	while (times-- > 0)
		tape->byte[tape->bytes++] = byte;
}

/* exp(-1) comes true so many times: k ends at 3 */
static void
put_exp_1(Tape *tape, int times)
{
	while (times-- > 0)
	{
		put(tape, 0, 1);
		put(tape, 1, 1);
	}
}

/* A discrete Laplace draw of v t, or -v t: u = 0, accepted at once */
static void
put_laplace(Tape *tape, int v, bool negative)
{
	put(tape, 0, 5); /* of the 2^36 + 2^8 choices */
	put(tape, 0, 5); /* not below 0 */
	put_exp_1(tape, v);
	put(tape, 1, 1);
	put(tape, negative, 1);
}

/* It is kept: so many factors exp(-1), and one more that stops at k = 1 */
static void
put_kept(Tape *tape, int factors)
{
	put_exp_1(tape, factors);
	/* of 2 variance t^2 = 2^113 + 2^86 + 2^57, something larger than the half */
	put(tape, 1, 1);
	put(tape, 0xff, 14);
}

/* Does the tape, to its last byte, give that draw? */
static bool
gives(const Tape *tape, int64_t draw)
{
	uint64_t position = 0;
	RaceRandom random = {.fill = fill_from_pattern, .arg = &position};
	int64_t got;

	random.left = tape->bytes;
	memcpy(random.buffer + sizeof(random.buffer) - tape->bytes, tape->byte, tape->bytes);
	got = race_discrete_gaussian(&random, RACE_MAX_VARIANCE);
	return got == draw && random.left == 0 && position == 0;
}

static void
test_limits(void)
{
	Tape tape;

	/* (3 - 1 + ...)^2 / 2 is a little more than 2 */
	tape.bytes = 0;
	put_laplace(&tape, 3, true);
	put_kept(&tape, 2);
	ok(gives(&tape, -3 * LARGEST_T), "a tape for -3 t");

	/* 63^2 / 2 = 1984.5 */
	tape.bytes = 0;
	put_laplace(&tape, 64, false);
	put_kept(&tape, 1984);
	ok(gives(&tape, 64 * LARGEST_T), "the largest draw is 64 t");

	tape.bytes = 0;
	put_laplace(&tape, 65, false);
	put_laplace(&tape, 3, false);
	put_kept(&tape, 2);
	ok(gives(&tape, 3 * LARGEST_T), "larger ones start again");
}

int
main(void)
{
	test_fit(3);
	test_fit(1000);
	test_fit(RACE_MAX_VARIANCE);
	test_known_answers();
	test_limits();
	ok(wipes_bytes(race_discrete_gaussian, RACE_MAX_VARIANCE), "used bytes are wiped");
	return done_testing();
}
