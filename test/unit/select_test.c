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
#include "hash/quantiles.h"
#include "privacy/noisy.h"
#include "privacy/payment.h"
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

/*
 * In an account of Gaussian noise a selection costs RACE_SELECTION_COST epsilon^2.  Gaussian noise of
 * that cost moves a normal number by mu = sqrt(2 cost).  No set of answers of one table may be likelier
 * in the other one than mu moves it; and answers that tell as much as epsilon allows are moved by
 * nearly that: two, of which the first is exp(epsilon) times likelier than the other.
 */
static void
test_gaussian_cost(void)
{
	double most = 0;
	double answers = 0;
	double zcdp = 0; /* as if it cost epsilon^2 / 2, which is what it costs in zCDP */

	for (int code = 0; code < 5 * 5 * 5 * 3 * 3 * 3; code++)
		for (int scale = 2; scale < 60; scale += 19)
		{
			int one[3];
			int other[3];
			double p[2][3];
			int rest = code;

			for (int i = 0; i < 3; i++, rest /= 5)
				one[i] = rest % 5;
			for (int i = 0; i < 3; i++, rest /= 3)
				other[i] = one[i] + rest % 3 - 1;
			permute_and_flip(one, 3, scale, p[0]);
			permute_and_flip(other, 3, scale, p[1]);
			for (int set = 1; set < 7; set++)
			{
				double sum[2] = {0, 0};

				for (int i = 0; i < 3; i++)
					for (int k = 0; k < 2; k++)
						sum[k] += set >> i & 1 ? p[k][i] : 0;
				most = fmax(most,
							fabs(race_inverse_normal(sum[0]) - race_inverse_normal(sum[1])) /
								(sqrt(2 * RACE_SELECTION_COST) * 2 / scale));
			}
		}
	for (double epsilon = 0.001; epsilon < 20; epsilon *= 1.1)
	{
		double mu = 2 * race_inverse_normal(1 / (1 + exp(-epsilon)));

		answers = fmax(answers, mu / (sqrt(2 * RACE_SELECTION_COST) * epsilon));
		zcdp = fmax(zcdp, mu / epsilon);
	}
	printf("# sets of answers are moved by %.4f of mu, two answers by %.6f, in zCDP %.4f\n", most,
		   answers, zcdp);
	ok(most <= 1 + 1e-9 && answers <= 1 + 1e-9 && answers > 0.999,
	   "Gaussian noise of the same cost tells as much");
	ok(zcdp > 1.2, "control: that of zCDP would be too little");
}

int
main(void)
{
	test_distribution();
	test_gaussian_cost();
	test_neighbors();
	return done_testing();
}
