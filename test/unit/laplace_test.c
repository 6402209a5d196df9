/*
 * laplace_test.c
 *		The exact discrete Laplace sampler.
 *
 * False alarms: two scales, each with a chi-square test at 1e-11 and a test of
 * the mean at 7 standard errors (2.6e-12), so 2.6e-11 for the program.  The
 * controls are rejected by so much that they add nothing to it.
 */
#include "helpers.h"
#include "privacy/noisy.h"
#include "tap.h"

#define DRAWS ((uint64_t) 1 << CASES(23, 17))
#define P_LIMIT 1e-11
#define Z_LIMIT 7.0

/* Of each sign, at most this many cells of equal mass; and one for zero */
#define SIDE_CELLS 14

/* Draws of one scale, counted; what lies beyond the span counts at its ends */
typedef struct Sample
{
	uint64_t n;
	int64_t span;    /* 64 b: e^-64 of the draws lie beyond */
	uint64_t *count; /* of -span ... span, at its middle */
} Sample;

static Sample
draw_sample(uint64_t scale)
{
	RaceRandom random = {.fill = fill_from_system};
	Sample sample;

	sample.n = DRAWS;
	sample.span = (int64_t) (64 * scale / RACE_SCALE_DENOMINATOR);
	sample.count = calloc(2 * (size_t) sample.span + 1, sizeof(uint64_t));
	if (sample.count == NULL)
		abort();
	sample.count += sample.span;
	for (uint64_t i = 0; i < DRAWS; i++)
	{
		int64_t k = race_discrete_laplace(&random, scale);

		k = k > sample.span ? sample.span : k;
		k = k < -sample.span ? -sample.span : k;
		sample.count[k]++;
	}
	return sample;
}

static void
free_sample(Sample *sample)
{
	free(sample->count - sample->span);
}

/*
 * Is this a sample of the scale?  Chi-square, with zero in a cell of its own
 * because that is where signs can go wrong, and the mean of |k|.
 */
static bool
fits(const Sample *sample, uint64_t scale)
{
	long double rate = (long double) RACE_SCALE_DENOMINATOR / scale;
	long double q = expl(-rate);
	long double mass = -expm1l(-rate) / (1 + q);
	uint64_t observed[1 + 2 * SIDE_CELLS] = {0};
	double expected[1 + 2 * SIDE_CELLS] = {0};
	int cells = 1;
	int side_cell = -1;
	long double q_to_k = 1;
	long double mean = 0;
	long double square = 0;
	long double sum = 0;
	double p;
	double z;

	observed[0] = sample->count[0];
	expected[0] = (double) (sample->n * mass);
	for (int64_t k = 1; k <= sample->span; k++)
	{
		int c = (int) (SIDE_CELLS * (1 - q_to_k));

		c = c < SIDE_CELLS ? c : SIDE_CELLS - 1;
		if (c != side_cell)
			cells += 2;
		side_cell = c;
		q_to_k *= q;
		observed[cells - 2] += sample->count[k];
		observed[cells - 1] += sample->count[-k];
		expected[cells - 2] += (double) (sample->n * mass * q_to_k);
		expected[cells - 1] = expected[cells - 2];
		mean += 2 * k * mass * q_to_k;
		square += 2 * k * (long double) k * mass * q_to_k;
		sum += k * (long double) (sample->count[k] + sample->count[-k]);
	}

	p = chi_square_tail(chi_square(observed, expected, cells), cells - 1);
	z = (double) ((sum / sample->n - mean) / sqrtl((square - mean * mean) / sample->n));
	printf("# against scale %llu, %d cells: p = %.3g, mean |k| off by %.2f standard errors\n",
		   (unsigned long long) scale, cells, p, z);
	return p > P_LIMIT && fabs(z) < Z_LIMIT;
}

static void
test_fit(uint64_t scale)
{
	Sample sample = draw_sample(scale);
	uint64_t zeros = sample.count[0];
	uint64_t percent = (scale + 50) / 100;

	ok(fits(&sample, scale), "scale %llu: draws have their distribution",
	   (unsigned long long) scale);
	ok(SANITIZED || !fits(&sample, scale + percent), "control: a scale 1 %% more is rejected");
	ok(SANITIZED || !fits(&sample, scale - percent), "control: a scale 1 %% less is rejected");

	/* a sampler that does not start again at a negative zero */
	sample.count[0] += zeros;
	sample.n += zeros;
	ok(SANITIZED || !fits(&sample, scale), "control: zero counted twice is rejected");

	/* and, of that one, floor of a negative number instead of truncation */
	if (scale < 10 * RACE_SCALE_DENOMINATOR)
	{
		sample.count[0] -= zeros;
		for (int64_t k = -sample.span; k < -1; k++)
			sample.count[k] = sample.count[k + 1];
		sample.count[-1] = zeros;
		ok(SANITIZED || !fits(&sample, scale),
		   "control: floor of a continuous variable is rejected");
	}
	free_sample(&sample);
}

/* Known answers, from a second implementation of the algorithm (in Python) */
static void
test_known_answers(void)
{
	static const struct
	{
		uint64_t scale;
		int64_t draws[12];
		uint64_t digest; /* of 10000 draws, over several buffers */
	} known[] = {{256, {-2, -1, 4, -1, 1, 0, 0, 1, 2, 0, -1, 0}, UINT64_C(0x9e963f2aa8d0e720)},
				 {300, {0, 1, 1, 2, -2, 0, 0, -2, 0, 0, 0, 1}, UINT64_C(0xf188f97109eaa3a6)},
				 {256000,
				  {973, 632, -748, 628, 1287, 900, -229, 433, 63, 85, -1022, -130},
				  UINT64_C(0x9bf14dbdf6617aa3)},
				 {RACE_MAX_SCALE,
				  {-474770474482088, 10445769262086, -55272466717314, -152596993046757,
				   67831439682686, -318335185664664, 710832105918487, -293639051805147,
				   233102854945615, 206908848410837, -313716999407091, 61232180840710},
				  UINT64_C(0x8ef59656f33a0579)}};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		ok(draws_are(race_discrete_laplace, known[i].scale, known[i].draws, known[i].digest),
		   "scale %llu: known answers on a tape", (unsigned long long) known[i].scale);
}

/*
 * Bytes that make the magnitude `more` times the scale, for scale 2^56, with
 * the sign asked for: u = 0 is accepted at once; (0, 1) accepts another
 * exp(-1), 1 ends that.
 */
typedef struct Tape
{
	uint64_t position;
	uint64_t more;
	uint8_t sign;
} Tape;

static void
fill_from_tape(void *arg, uint8_t *bytes, size_t size)
{
	Tape *tape = arg;

	for (size_t i = 0; i < size; i++)
	{
		uint64_t n = tape->position++;

		bytes[i] = 0;
		if (n >= 14 + 2 * tape->more)
			bytes[i] = n == 14 + 2 * tape->more ? 1 : tape->sign;
		else if (n >= 14)
			bytes[i] = n % 2;
	}
}

static int64_t
draw_far(uint64_t more, uint8_t sign)
{
	Tape tape = {0, more, sign};
	RaceRandom random = {.fill = fill_from_tape, .arg = &tape};

	return race_discrete_laplace(&random, RACE_MAX_SCALE);
}

static void
test_limits(void)
{
	RaceRandom random = {.fill = fill_from_system};
	int nonzero = 0;

	ok(draw_far(3, 0) == (int64_t) 3 << 48 && draw_far(3, 1) == -((int64_t) 3 << 48),
	   "a tape for 3 b and -3 b");
	ok(draw_far(32767, 0) == (int64_t) 32767 << 48, "the last b before 2^63");
	ok(draw_far(32768, 0) == INT64_MAX && draw_far(40000, 1) == -INT64_MAX,
	   "beyond 64 bits, draws are clamped");

	/* P[k != 0] = 2 e^-256 for b = 1/256 */
	for (int i = 0; i < 1000; i++)
		nonzero += race_discrete_laplace(&random, 1) != 0;
	ok(nonzero == 0, "the smallest scale gives zeros");
}

/* The variance against the sum of k^2 over the distribution */
static void
test_variance(void)
{
	static const uint64_t scales[] = {1, 16, 100, 256, 300, 1000, 25601, 256000, 25600000};
	double big = 0x1p48; /* b of the largest scale */
	double worst = 0;

	for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++)
	{
		long double rate = (long double) RACE_SCALE_DENOMINATOR / scales[i];
		long double mass = -expm1l(-rate) / (1 + expl(-rate));
		long double sum = 0;

		for (int64_t k = (int64_t) (80 / rate) + 3; k > 0; k--)
			sum += 2 * k * (long double) k * mass * expl(-rate * k);
		worst = fmax(worst, fabs((double) (race_discrete_laplace_variance(scales[i]) / sum - 1)));
	}
	printf("# largest relative error %.3g\n", worst);
	ok(worst < 1e-14, "the variance is that of the distribution");
	ok(fabs(race_discrete_laplace_variance(RACE_MAX_SCALE) / (2 * big * big) - 1) < 1e-14,
	   "the variance at the largest scale is 2 b^2");
}

/* An exact number is never its own noisy one. */
static void
test_no_noise(void)
{
	RaceRandom random = {.fill = fill_from_system};

	ok(race_noisy(&random, 4711, RACE_MECHANISM_LAPLACE, 0) == 0 &&
		   race_noisy(&random, 4711, RACE_MECHANISM_GAUSSIAN, 0) == 0,
	   "without noise there is no number");
}

int
main(void)
{
	test_fit(300);
	test_fit(256123);
	test_known_answers();
	test_limits();
	ok(wipes_bytes(race_discrete_laplace, 256000), "used bytes are wiped");
	test_no_noise();
	test_variance();
	return done_testing();
}
