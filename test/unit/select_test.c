/*
 * select_test.c
 *		Permute and flip: its distribution, and what one record can change of it.
 *
 * Exact probabilities come from all orders of the candidates.  Of all pairs of neighboring
 * qualities on a grid, no candidate is more than exp(epsilon) times likelier.  Draws have these
 * probabilities.
 *
 * False alarms: six chi-square tests at 1e-11, so 6e-11 for the program.
 */
#include "helpers.h"
#include "privacy/noisy.h"
#include "tap.h"

#define DRAWS ((uint64_t) 1 << CASES(20, 15))
#define P_LIMIT 1e-11
#define MOST 5

/*
 * Add the probabilities of each candidate to be selected after those that are out were visited, if
 * that has this probability.
 */
static void
add_orders(const double *pass, int n, unsigned out, double probability, double *selected)
{
	int left = n - __builtin_popcount(out);

	for (int i = 0; i < n; i++)
		if ((out >> i & 1) == 0)
		{
			selected[i] += probability / left * pass[i];
			if (pass[i] < 1)
				add_orders(pass, n, out | 1U << i, probability / left * (1 - pass[i]), selected);
		}
}

static void
permute_and_flip(const int *quality, int n, double scale, double *selected)
{
	double pass[MOST];
	int best = quality[0];

	for (int i = 0; i < n; i++)
		best = quality[i] > best ? quality[i] : best;
	for (int i = 0; i < n; i++)
	{
		pass[i] = exp((quality[i] - best) / scale);
		selected[i] = 0;
	}
	add_orders(pass, n, 0, 1, selected);
}

/* The exponential mechanism with the same scale, as a control */
static void
exponential(const int *quality, int n, double scale, double *selected)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += exp((quality[i] - quality[0]) / scale);
	for (int i = 0; i < n; i++)
		selected[i] = exp((quality[i] - quality[0]) / scale) / sum;
}

typedef void (*Mechanism)(const int *quality, int n, double scale, double *selected);

/* Return the p-value of draws, if they had the distribution of a mechanism. */
static double
fit(const int *quality, int n, uint64_t scale, Mechanism mechanism)
{
	RaceRandom random = {.fill = fill_from_system};
	__int128 qualities[MOST];
	uint64_t observed[MOST] = {0};
	double expected[MOST];
	uint32_t order[MOST];

	for (int i = 0; i < n; i++)
		qualities[i] = quality[i];
	for (uint64_t i = 0; i < DRAWS; i++)
		observed[race_noisy_best(&random, qualities, (uint32_t) n, scale, order)]++;
	mechanism(quality, n, (double) scale / RACE_SCALE_DENOMINATOR, expected);
	for (int i = 0; i < n; i++)
		expected[i] *= (double) DRAWS;
	return chi_square_tail(chi_square(observed, expected, n), n - 1);
}

static void
test_distribution(void)
{
	static const struct
	{
		int n;
		int quality[MOST];
		uint64_t scale;
	} cases[] = {
		{3, {0, 3, 1}, 3 * RACE_SCALE_DENOMINATOR},
		{5, {-5, 1, 0, 1, 2}, 2 * RACE_SCALE_DENOMINATOR + 77},
		{5, {10, 9, 8, 7, 6}, RACE_SCALE_DENOMINATOR},
		{5, {100, -20, 40, 99, 80}, 30 * RACE_SCALE_DENOMINATOR},
		{3, {7, 7, 7}, 1},
		{5, {0, 0, 0, 0, 12}, 4 * RACE_SCALE_DENOMINATOR},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		double p = fit(cases[i].quality, cases[i].n, cases[i].scale, permute_and_flip);
		double other = fit(cases[i].quality, cases[i].n, cases[i].scale, exponential);

		printf("# p = %.3g, of the exponential mechanism %.3g\n", p, other);
		ok(p > P_LIMIT, "draws have their distribution");
		ok(SANITIZED || i == 4 || other < P_LIMIT,
		   "control: not that of the exponential mechanism, but where all are alike");
	}
}

/* Of a record that changes each quality by one at most, at epsilon 1 the scale is 2. */
static void
test_neighbors(void)
{
	double most = 0;
	double of_half = 0; /* with half of the scale */

	for (int code = 0; code < 5 * 5 * 5 * 3 * 3 * 3; code++)
	{
		int one[3];
		int other[3];
		double p[2][3];
		int rest = code;

		for (int i = 0; i < 3; i++, rest /= 5)
			one[i] = rest % 5;
		for (int i = 0; i < 3; i++, rest /= 3)
			other[i] = one[i] + rest % 3 - 1;
		for (int half = 0; half < 2; half++)
		{
			double *worst = half ? &of_half : &most;

			permute_and_flip(one, 3, half ? 1 : 2, p[0]);
			permute_and_flip(other, 3, half ? 1 : 2, p[1]);
			for (int i = 0; i < 3; i++)
				*worst = fmax(*worst, fabs(log(p[0][i] / p[1][i])));
		}
	}
	printf("# neighbors differ by up to %.4f of epsilon 1; with half of the scale by %.4f\n", most,
		   of_half);
	ok(most <= 1 + 1e-12 && most > 0.9, "no candidate is likelier than epsilon allows");
	ok(of_half > 1, "control: half of the scale costs more");
}

int
main(void)
{
	test_distribution();
	test_neighbors();
	return done_testing();
}
