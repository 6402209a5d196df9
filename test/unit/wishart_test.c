/*
 * wishart_test.c
 *		Wishart matrices from exact integers, and the budget and the noise of releases with them.
 *
 * What privacy rests on: W + s v v' is exp(-s / (2 scale)) times as likely as W, if |v| = 1.  So
 * W - s v v' has no negative eigenvalue with this probability, for every v: the largest such s,
 * 1 / (v' W^-1 v), is an exponential number of the mean 2 scale.
 *
 * Draws are pseudo-random and always the same, so that nothing here is left to luck.
 */
#include "privacy/budget.h"
#include "privacy/counters.h"
#include "privacy/exact.h"
#include "privacy/exact_fields.h"
#include "privacy/noise.h"
#include "privacy/release_request.h"
#include "privacy/sampler.h"
#include "privacy/wishart.h"
#include "hash/kernel.h"
#include "hash/params.h"
#include "choice/plan.h"
#include "answers/factor.h"
#include "helpers.h"
#include "tap.h"
#include "wide.h"

#define P 4 /* columns */
#define N (P * (P + 1) / 2)
#define DRAWS CASES(20000, 2000)
#define SCALE (UINT64_C(1) << 38)
#define Z_LIMIT 4.5

static uint64_t position;
static RaceRandom pattern = {fill_from_pattern, &position, 0, {0}};

static void
draw(uint32_t columns, uint64_t scale, int sign, int64_t *triangle)
{
	int64_t work[P * (P + 1)];

	race_wishart(&pattern, columns, scale, sign, work, triangle);
}

/* Of exponential numbers x of mean 1 by n draws: the largest z of the shares beyond some limits */
static double
largest_z(const double *x, int n)
{
	double largest = 0;
	double limit;

	for (limit = 0.05; limit < 6; limit *= 1.5)
	{
		double expected = exp(-limit);
		int beyond = 0;

		for (int i = 0; i < n; i++)
			beyond += x[i] > limit;
		largest = fmax(largest, fabs(beyond - n * expected) / sqrt(n * expected * (1 - expected)));
	}
	return largest;
}

/* 1 / (v' W^-1 v), or -1 if W has a negative eigenvalue */
static double
reach(const int64_t *triangle, const double *v)
{
	double root[P * P];
	double sum = 0;

	for (int i = 0; i < P; i++)
		for (int j = i; j < P; j++)
			root[i * P + j] = root[j * P + i] = (double) *triangle++;
	if (!race_inverse_root(root, P))
		return -1;
	for (int i = 0; i < P; i++)
	{
		double z = race_dot(root + i * P, v, i + 1);

		sum += z * z;
	}
	return 1 / sum;
}

static void
test_reach(const char *what, double x, double y, double z, double t)
{
	static double share[DRAWS];
	double length = sqrt(x * x + y * y + z * z + t * t);
	double v[P] = {x / length, y / length, z / length, t / length};
	int negative = 0;

	for (int i = 0; i < DRAWS; i++)
	{
		int64_t w[N] = {0};

		draw(P, SCALE, 1, w);
		share[i] = reach(w, v) / (2.0 * SCALE);
		negative += share[i] <= 0;
	}
	ok(negative == 0, "%s: no negative eigenvalue, but %d", what, negative);
	ok(largest_z(share, DRAWS) < Z_LIMIT, "... and what can be taken away is exponential, z = %.1f",
	   largest_z(share, DRAWS));
	for (int i = 0; i < DRAWS; i++)
		share[i] *= 0.95;
	ok(SANITIZED || largest_z(share, DRAWS) > Z_LIMIT,
	   "... a scale 5 %% too small is found, z = %.1f", largest_z(share, DRAWS));
}

/* Of one column it is an exponential number, and the difference a Laplace number */
static void
test_one(void)
{
	static double share[DRAWS];
	int above = 0;

	for (int i = 0; i < DRAWS; i++)
	{
		int64_t e = 0;

		draw(1, SCALE, 1, &e);
		draw(1, SCALE, -1, &e);
		above += e > 0;
		share[i] = fabs((double) e) / (2.0 * SCALE);
	}
	ok(largest_z(share, DRAWS) < Z_LIMIT && abs(2 * above - DRAWS) < Z_LIMIT * sqrt(DRAWS),
	   "of one column the difference is a Laplace number, z = %.1f", largest_z(share, DRAWS));
}

/* Variances of entries of the difference, in units of 2 (columns + 1) scale^2 */
static void
test_variance(void)
{
	double sum[N] = {0};
	double square[N] = {0};
	bool good = true;

	for (int i = 0; i < DRAWS; i++)
	{
		int64_t e[N] = {0};

		draw(P, SCALE, 1, e);
		draw(P, SCALE, -1, e);
		for (int k = 0; k < N; k++)
		{
			double x = (double) e[k] / SCALE / sqrt(2 * (P + 1));

			sum[k] += x / DRAWS;
			square[k] += x * x / DRAWS;
		}
	}
	for (int k = 0; k < N; k++)
	{
		/* places 0, 4, 7 and 9 are the diagonal; the kurtosis is at most 6 */
		double expected = k == 0 || k == 4 || k == 7 || k == 9 ? 2 : 1;

		good = good && fabs(sum[k]) < Z_LIMIT * sqrt(expected / DRAWS) &&
			fabs(square[k] / expected - 1) < Z_LIMIT * sqrt(5.0 / DRAWS);
	}
	ok(good, "means and variances of entries");
}

/* ------------------------------------------------------------------- rounding */

/* Normal numbers are truncated; here they have such bits more, and products twice as many. */
#define MORE_BITS 8
#define PLACES (2 * (RACE_WISHART_BITS + MORE_BITS))

/* What is known of the numbers before they were truncated */
typedef enum Kind
{
	DRAWN,
	ANYWHERE,
	LARGEST,
	OPPOSITE,
	SMALLEST,
	KINDS
} Kind;

static int64_t
normal_number(Kind kind, size_t k)
{
	switch (kind)
	{
		case ANYWHERE:
			return (race_random_below(&pattern, 2) == 1 ? 1 : -1) *
				(int64_t) race_random_below(&pattern, RACE_WISHART_LARGEST + 1);
		case LARGEST:
			return RACE_WISHART_LARGEST;
		case OPPOSITE:
			return k % 2 == 1 ? RACE_WISHART_LARGEST : -RACE_WISHART_LARGEST;
		default:
			return 0;
	}
}

/* By how much an entry that was computed differs from the ideal one, times 2^PLACES */
static Wide
entry_error(const int64_t *x, const int64_t *y, const uint8_t *x_more, const uint8_t *y_more,
			uint32_t n, uint64_t scale, int64_t computed)
{
	Wide ideal[2] = {{{0}}, {{0}}}; /* what is positive, and what is negative */

	for (uint32_t k = 0; k < n; k++)
	{
		Wide *side = &ideal[(x[k] < 0) != (y[k] < 0)];

		*side = sum(*side,
					times(product(((uint64_t) llabs(x[k]) << MORE_BITS) + x_more[k],
								  ((uint64_t) llabs(y[k]) << MORE_BITS) + y_more[k]),
						  scale));
	}
	ideal[computed > 0] =
		sum(ideal[computed > 0], times_power_of_2(wide((uint64_t) llabs(computed)), PLACES));
	return order(ideal[0], ideal[1]) > 0 ? minus(ideal[0], ideal[1]) : minus(ideal[1], ideal[0]);
}

/*
 * The largest error of entries, as a part of what each of two matrices may be off: half of
 * what race_wishart_rounding() says, which is 1 more for sums in coarser integers
 */
static double
largest_error(Kind kind, uint32_t columns, uint64_t scale, bool *within)
{
	uint32_t n = columns + 1;
	size_t numbers = (size_t) columns * n;
	int64_t *normal = malloc(numbers * sizeof(int64_t));
	uint8_t *more = malloc(numbers);
	int64_t *triangle = calloc(columns * n / 2, sizeof(int64_t));
	Wide allowed = times_power_of_2(wide((race_wishart_rounding(columns, scale) - 1) / 2), PLACES);
	Wide largest = {{0}};
	uint32_t i;
	size_t k;

	race_wishart(&pattern, columns, scale, 1, normal, triangle);
	for (k = 0; k < numbers; k++)
	{
		if (kind != DRAWN)
			normal[k] = normal_number(kind, k);
		more[k] = kind == DRAWN || kind == ANYWHERE ? mix(k) : UINT8_MAX;
	}
	memset(triangle, 0, columns * n / 2 * sizeof(int64_t));
	race_wishart_square(normal, columns, scale, 1, triangle);
	/* of many columns, the first rows of the matrix suffice */
	for (i = 0, k = 0; i < columns && i < 8; i++)
		for (uint32_t j = i; j < columns; j++, k++)
		{
			Wide error = entry_error(normal + i * n, normal + j * n, more + i * n, more + j * n, n,
									 scale, triangle[k]);

			if (order(error, largest) > 0)
				largest = error;
		}
	*within &= order(largest, allowed) <= 0;
	free(normal);
	free(more);
	free(triangle);
	return approximate(largest) / approximate(allowed);
}

static void
test_rounding(uint32_t columns)
{
	static const uint64_t scales[] = {1, 2, 1000003, SCALE + 1, RACE_MAX_WISHART_SCALE};
	bool within = true;
	double largest = 0;

	for (int i = 0; i < 5; i++)
		for (int kind = 0; kind < KINDS; kind++)
			largest = fmax(largest, largest_error(kind, columns, scales[i], &within));
	ok(within, "%u columns: entries are as near to the ideal ones as is claimed", columns);
	ok(largest > 0.3, "... and some are off by %.2f of that", largest);
}

/* theta of doc/privacy.md: (2 |x| + 1) / 2 in units of a step, of the largest x */
static void
test_steps(void)
{
	double step = 1 / ldexp(1, RACE_WISHART_BITS);
	double each = (RACE_WISHART_LARGEST * step + 0.5 * step) * step;

	ok(race_wishart_steps(7) >= 56 * each && race_wishart_steps(7) < 1.1 * 56 * each,
	   "steps cost what those of the largest numbers do");
}

/* ---------------------------------------------------------------------- noise */

#define CELLS 31 /* from -15 or less to 15 or more */
#define FAR 400  /* what is beyond has no probability to speak of */

/*
 * The probability of an integer in an entry on the diagonal of a Wishart matrix of two columns and
 * scale 1: its whole part is a chi-square number of three degrees of freedom, rounded down.
 */
static double
whole_probability(int k)
{
	double below = 0;
	double x;

	for (x = k; x <= k + 1; x++)
		below = erf(sqrt(x / 2)) - sqrt(2 * x / RACE_PI) * exp(-x / 2) - (x > k ? below : 0);
	return below;
}

static double
laplace_probability(double b, int k)
{
	return tanh(0.5 / b) * exp(-abs(k) / b);
}

/*
 * The probability that what was observed is the difference of two such entries and noise of scale b
 */
static double
noise_fits(const uint64_t *observed, double b)
{
	double expected[CELLS] = {0};
	double difference[2 * FAR + 1] = {0};

	for (int i = 0; i <= FAR; i++)
		for (int j = 0; j <= FAR; j++)
			difference[FAR + i - j] += whole_probability(i) * whole_probability(j);
	for (int i = -FAR; i <= FAR; i++)
		for (int j = -FAR; j <= FAR; j++)
		{
			int cell = i + j + CELLS / 2;

			expected[cell < 0          ? 0 :
						 cell >= CELLS ? CELLS - 1 :
										 cell] +=
				DRAWS * difference[FAR + i] * laplace_probability(b, j);
		}
	return chi_square_tail(chi_square(observed, expected, CELLS), CELLS - 1);
}

static RaceRequest
request_moments(double epsilon)
{
	return (RaceRequest){.epsilon = epsilon,
						 .rows = 1,
						 .max_contributions = 1,
						 .neighbors = RACE_NEIGHBORS_ADD_REMOVE};
}

static RacePlan
plan_moments(const RaceParams *params, double epsilon)
{
	RaceRequest request = request_moments(epsilon);
	RacePlan plan;

	if (!race_plan_release(&request, params, race_largest_selection(&request, params), &plan))
		abort();
	return plan;
}

/*
 * The first number of a release of moments of which this is the first exact one, and others are 0.
 * Its noise must be that of the plan.
 */
static int64_t
draw_first(const RaceParams *params, const RacePlan *plan, double epsilon, int64_t first)
{
	int64_t *counters = calloc(params->range, sizeof(int64_t));
	int64_t *noisy = malloc(params->range * sizeof(int64_t));
	RaceRequest request = request_moments(epsilon);
	RaceExactMemory memory;
	RaceShape shape;
	RaceRelease release = {.params = params,
						   .request = &request,
						   .workspace = malloc(race_draw_workspace(params))};
	RaceExact *exact;
	int64_t records;

	race_moments_shape(params, &shape);
	exact = race_exact_begin(&memory, &shape);
	race_exact_add(exact, counters, sizeof(int64_t), 0, 1);
	release.exact = exact;
	counters[0] = first;
	if (!race_release_begin(&release, &pattern, &records) ||
		!race_release_counters(&release, noisy) ||
		release.plan.products.noise != plan->products.noise ||
		release.plan.products.entry_noise != plan->products.entry_noise)
		abort();
	first = noisy[0];
	free(counters);
	free(noisy);
	free(release.workspace);
	return first;
}

/* The epsilon at which moments get this price, beside the number of records */
static double
epsilon_of(double price)
{
	return price * RACE_COUNT_SHARE / (RACE_COUNT_SHARE - 1) * (1 + 1e-12);
}

/*
 * At this epsilon a record moves each of three entries by 7 through rounding, and noise of scale 1
 * spends 5 / 304 of it: as little noise of entries as there can be, and as little of the matrices.
 */
static void
test_noise(void)
{
	RaceParams *params = moments_params(1, 0.006, RACE_CLIP_NORM);
	double epsilon = epsilon_of(3 * 7 * 304 / 5.0);
	RacePlan plan = plan_moments(params, epsilon);
	uint64_t observed[CELLS] = {0};

	ok(plan.noise.mechanism == RACE_MECHANISM_WISHART && plan.products.noise == 1 &&
		   plan.products.entry_noise == RACE_SCALE_DENOMINATOR,
	   "a plan with the least noise");
	for (int i = 0; i < DRAWS; i++)
	{
		int64_t noise = draw_first(params, &plan, epsilon, 0);

		observed[noise < -(CELLS / 2) ? 0 : noise > CELLS / 2 ? CELLS - 1 : noise + CELLS / 2]++;
	}
	ok(noise_fits(observed, 1) > 1e-3, "its noise is that of two matrices and of entries, p = %.2g",
	   noise_fits(observed, 1));
	ok(SANITIZED || noise_fits(observed, 0.25) < 1e-9,
	   "... a quarter of the noise of entries is not, p = %.2g", noise_fits(observed, 0.25));
	ok(SANITIZED || noise_fits(observed, 1e-3) < 1e-9, "... nor is none of it, p = %.2g",
	   noise_fits(observed, 1e-3));
	free(params);
}

/*
 * An exact number at the limit stays there with half of all noise, if this is added up before it is
 * clamped.  Here the noise of entries is as large as that of matrices.
 */
static void
test_clamp(void)
{
	RaceParams *params = moments_params(2, 0.005, RACE_CLIP_NORM);
	RacePlan plan = plan_moments(params, 1);
	int stay = 0;
	int stay_between = 0;

	for (int i = 0; i < DRAWS; i++)
	{
		int64_t matrices[6] = {0};
		int64_t entry = race_discrete_laplace(&pattern, plan.products.entry_noise);

		stay += draw_first(params, &plan, 1, RACE_MAX_COUNT) == RACE_MAX_COUNT;
		draw(3, plan.products.noise, 1, matrices);
		draw(3, plan.products.noise, -1, matrices);
		stay_between += (entry < 0 ? entry : 0) + matrices[0] >= 0;
	}
	ok(plan.noise.mechanism == RACE_MECHANISM_WISHART && plan.products.coarser == 0 &&
		   fabs(standard_errors((double) stay / DRAWS, 0.5, DRAWS)) < Z_LIMIT,
	   "numbers are clamped after all noise was added: %d of %d at the limit", stay, DRAWS);
	ok(SANITIZED || fabs(standard_errors((double) stay_between / DRAWS, 0.5, DRAWS)) > Z_LIMIT,
	   "... clamped before they would be %d", stay_between);
	free(params);
}

/* --------------------------------------------------------------------- budget */

/* The cost that was computed, by its formula, and what is left of epsilon */
static void
test_budget(double epsilon, uint32_t columns, uint64_t records, uint64_t trace)
{
	RaceWishartBudget budget;
	long double cost;
	bool found = race_wishart_budget(epsilon, columns, records, trace, &budget);

	ok(found, "a budget of epsilon %g for %u columns, %llu records of trace %llu", epsilon, columns,
	   (unsigned long long) records, (unsigned long long) trace);
	if (!found)
		return;
	cost = (long double) trace / (2 * (long double) budget.scale) +
		(long double) columns * (columns + 1) * 66 / 0x1p48L +
		(long double) race_wishart_rounding(columns, budget.scale) * (columns * (columns + 1) / 2) *
			RACE_SCALE_DENOMINATOR / budget.entry_scale;
	cost *= records;
	ok(cost <= budget.epsilon && budget.epsilon <= epsilon, "... costs what it says, and not more");
	ok(budget.scale < 1000 || cost > 0.99L * epsilon, "... and uses it, %.4Lf of it",
	   cost / epsilon);
}

/*
 * A source that gives the bytes of a tape from a place on, and the first normal number that it
 * makes
 */
static RaceRandom
from_tape(const uint8_t *tape, size_t place)
{
	RaceRandom random = {fill_from_pattern, &position, sizeof(random.buffer) - place, {0}};

	memcpy(random.buffer, tape, sizeof(random.buffer));
	return random;
}

static int64_t
normal_from_tape(const uint8_t *tape, size_t place)
{
	RaceRandom random = from_tape(tape, place);
	int64_t normal[2];
	int64_t square = 0;

	race_wishart(&random, 1, 1, 1, normal, &square);
	return normal[0];
}

/*
 * What follows the high bits of a normal number: its low bits, and a bit after 13 bytes of a
 * comparison
 */
#define LOW_BYTES 3
#define COMPARED_BYTES 13

/*
 * Low bits are dropped with a probability below 2^-20, which no sample shows.  So this gives them
 * bytes by which they are dropped: all 0 is below any probability, and 1 then ends the series of
 * race_bernoulli_exp() at an even place.  The number must be the one that the next bytes make.
 */
static void
test_low_bits(void)
{
	uint8_t tape[sizeof(((RaceRandom *) 0)->buffer)];
	size_t place = 0;
	size_t end = 0;
	int64_t high = 0;

	fill_from_pattern(&position, tape, sizeof(tape));
	for (; high <= 0; place++)
	{
		RaceRandom random = from_tape(tape, place);

		high = race_discrete_gaussian(&random, UINT64_C(1) << 56);
		end = sizeof(tape) - random.left + LOW_BYTES;
	}
	place--;
	ok(llabs(normal_from_tape(tape, place)) >> 20 == high,
	   "a normal number has the bits of a discrete Gaussian");
	memset(tape + end, 0, COMPARED_BYTES);
	tape[end + COMPARED_BYTES] = 1;
	ok(normal_from_tape(tape, place) == normal_from_tape(tape, end + COMPARED_BYTES + 1),
	   "... and is drawn anew if its low bits are dropped");
}

int
main(void)
{
	RaceWishartBudget budget = {0};

	test_reach("one column", 0, 0, 0, 1);
	test_reach("all columns", 1, -2, 3, 1);
	test_one();
	test_variance();
	test_rounding(1);
	test_rounding(2);
	test_rounding(7);
	test_rounding(RACE_WISHART_COLUMNS);
	test_steps();
	test_noise();
	test_low_bits();
	test_clamp();
	test_budget(1, 7, 1, 9500000);
	test_budget(0.001, 2, 2, 67000000);
	test_budget(3, RACE_WISHART_COLUMNS, 100, 67000000);
	test_budget(1e6, 5, 1, 9500000);
	ok(!race_wishart_budget(1, RACE_WISHART_COLUMNS + 1, 1, 1000000, &budget),
	   "not of too many columns");
	ok(!race_wishart_budget(1e-6, 7, 1, 9500000, &budget), "not of a scale that is too large");
	ok(!race_wishart_budget(1e-8, 100, 1, 1, &budget) &&
		   !race_wishart_budget(1, 100, 10000000, 1, &budget),
	   "not where steps of normal numbers cost too much");
	return done_testing();
}
