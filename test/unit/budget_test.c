/*
 * budget_test.c
 *		Scales and recorded costs, against exact rational arithmetic.
 */
#include "helpers.h"
#include "tap.h"
#include "wide.h"
#include "privacy/budget.h"
#include "privacy/sampler.h"

/* Negative, 0 or positive as x is below, at or above numerator / denominator */
static int
compare(double x, Wide numerator, Wide denominator)
{
	int			exponent;
	uint64_t	mantissa = (uint64_t) ldexp(frexp(x, &exponent), 53);

	denominator = times(denominator, mantissa);
	denominator = times_power_of_2(denominator, exponent - 53);
	numerator = times_power_of_2(numerator, 53 - exponent);
	return order(denominator, numerator);
}

/*
 * Does a scale t suffice for a share `part` / 20 of epsilon?
 * 256 S / t <= part epsilon / 20
 */
static bool
suffices(uint64_t t, double epsilon, uint64_t sensitivity, int part)
{
	return compare(epsilon, product(256 * 20, sensitivity), product(t, part)) >= 0;
}

static bool
smallest(uint64_t t, double epsilon, uint64_t sensitivity, int part)
{
	return t >= 1 && t <= RACE_MAX_SCALE &&
		suffices(t, epsilon, sensitivity, part) &&
		(t == 1 || !suffices(t - 1, epsilon, sensitivity, part));
}

/* Is the recorded cost the true one, rounded up by at most `ulps` of 2^-52? */
static bool
rounded_up(double recorded, Wide numerator, Wide denominator, int ulps)
{
	uint64_t	one = (uint64_t) 1 << 52;

	return compare(recorded, numerator, denominator) >= 0 &&
		compare(recorded, times(numerator, one + ulps), times(denominator, one)) <= 0;
}

/* What was found wrong, in how many budgets */
typedef struct Findings
{
	int			budgets;
	int			refused;
	int			bad_refusals;
	int			bad_scales;
	int			bad_costs;
	int			exact;			/* of Gaussian noise, in the exact account */
} Findings;

static void
check_budget(double epsilon, uint64_t s1, uint64_t s2, Findings *findings)
{
	RaceLaplaceBudget budget;
	uint64_t	t1;
	uint64_t	t2;

	findings->budgets++;
	if (!race_laplace_budget(epsilon, s1, s2, &budget))
	{
		findings->refused++;
		findings->bad_refusals += suffices(RACE_MAX_SCALE, epsilon, s1, 19) &&
			suffices(RACE_MAX_SCALE, epsilon, s2, 1);
		return;
	}
	t1 = budget.counter_scale;
	t2 = budget.count_scale;
	findings->bad_scales += !smallest(t1, epsilon, s1, 19) ||
		!smallest(t2, epsilon, s2, 1);
	findings->bad_costs += budget.epsilon > epsilon ||
		!rounded_up(budget.epsilon,
					times(sum(product(s1, t2), product(s2, t1)), 256),
					product(t1, t2), 5);
}

static void
report(const Findings *findings, const char *what, const char *parameter)
{
	printf("# %s: %d budgets, %d of them refused\n", what, findings->budgets,
		   findings->refused);
	ok(findings->bad_refusals == 0, "%s: refused only beyond the largest %s", what, parameter);
	ok(findings->bad_scales == 0, "%s: each %s is the smallest that suffices", what, parameter);
	ok(findings->bad_costs == 0,
	   "%s: the recorded cost is the true one, rounded up, and at most what was asked", what);
	ok(findings->refused > 0 && findings->refused < findings->budgets / 2,
	   "%s: some are refused, most are not", what);
}

/* Numbers that rounding goes wrong at: all pairs of them */
static void
test_awkward(void)
{
	static const double epsilons[] = {
		RACE_MIN_EPSILON, 1e-6, 0.001, 0.1, 0.3, 1.0 / 3, 0.5, 0.7, 0.95, 1, 20.0 / 19,
		2, M_PI, 5, 10, 19, 20, 100, 256, 5120, 5120.0 / 19, 1e5, 1e9, 0x1p49, RACE_MAX_EPSILON
	};
	static const uint64_t sensitivities[] = {
		1, 2, 3, 5, 7, 19, 20, 256, 1000, 1024, 65535, 1048583, UINT64_C(1) << 32,
		(UINT64_C(1) << 44) * 19, (UINT64_C(1) << 50) - 1, RACE_MAX_SENSITIVITY
	};
	const int	n_epsilons = sizeof(epsilons) / sizeof(epsilons[0]);
	const int	n_sensitivities = sizeof(sensitivities) / sizeof(sensitivities[0]);
	Findings	findings = {0};

	for (int i = 0; i < n_epsilons; i++)
		for (int j = 0; j < n_sensitivities; j++)
			for (int k = 0; k < n_sensitivities; k++)
			{
				double		below = nextafter(epsilons[i], 0);
				double		above = nextafter(epsilons[i], INFINITY);

				check_budget(epsilons[i], sensitivities[j], sensitivities[k], &findings);
				if (below >= RACE_MIN_EPSILON)
					check_budget(below, sensitivities[j], sensitivities[k], &findings);
				if (above <= RACE_MAX_EPSILON)
					check_budget(above, sensitivities[j], sensitivities[k], &findings);
			}
	report(&findings, "awkward numbers", "scale");
}

static void
test_random(void)
{
	Findings	findings = {0};

	for (uint64_t i = 0; i < 600000; i += 3)
		check_budget(log_uniform(mix(i), RACE_MIN_EPSILON, RACE_MAX_EPSILON),
					 (uint64_t) log_uniform(mix(i + 1), 1, 0x1p50),
					 (uint64_t) log_uniform(mix(i + 2), 1, 0x1p20), &findings);
	report(&findings, "random numbers", "scale");
}

static bool
gives(double epsilon, uint64_t s1, uint64_t s2, uint64_t t1, uint64_t t2)
{
	RaceLaplaceBudget budget;

	return race_laplace_budget(epsilon, s1, s2, &budget) &&
		budget.counter_scale == t1 && budget.count_scale == t2;
}

static void
test_known(void)
{
	RaceLaplaceBudget budget;
	double		smallest_epsilon = 0x1p-20;

	ok(gives(1, 19, 1, 5120, 5120), "quotients without a remainder stay as they are");
	ok(gives(nextafter(1, 0), 19, 1, 5121, 5121), "one ulp less epsilon rounds up");
	ok(gives(nextafter(1, 2), 19, 1, 5120, 5120), "so does one ulp more");
	ok(gives(1, 1000, 1, 269474, 5120), "R = 1000, epsilon = 1");
	ok(gives(RACE_MAX_EPSILON, 1, 1, 1, 1), "the largest epsilon: the smallest scale");
	ok(race_laplace_budget(1, 19, 1, &budget) && budget.epsilon == 1,
	   "a cost without remainders is recorded as what was asked");

	/* the largest scale is reached exactly by 5120 S / epsilon = 2^56 */
	ok(gives(5 * smallest_epsilon, 1, UINT64_C(1) << 26, 56512728, RACE_MAX_SCALE),
	   "the largest scale is accepted");
	ok(!race_laplace_budget(nextafter(5 * smallest_epsilon, 0), 1, UINT64_C(1) << 26, &budget),
	   "an ulp beyond the largest count scale is refused");
	ok(!race_laplace_budget(RACE_MIN_EPSILON, RACE_MAX_SENSITIVITY, 1, &budget),
	   "so is too large a counter scale");
}

/* 256 S / t <= epsilon / 50, by the smallest t; and the rest is at most 49 / 50, nearly that */
static void
test_choice(uint32_t share)
{
	int			bad_scales = 0;
	int			bad_costs = 0;
	int			bad_rests = 0;
	int			refused = 0;

	for (uint64_t i = 0; i < 200000; i += 2)
	{
		double		epsilon = log_uniform(mix(i), RACE_MIN_EPSILON, RACE_MAX_EPSILON);
		uint64_t	s = (uint64_t) log_uniform(mix(i + 1), 1, 0x1p50);
		Wide		cost = product(256 * share, s);
		RaceChoiceBudget budget;

		if (!race_choice_budget(epsilon, share, s, &budget))
		{
			refused++;
			bad_scales += compare(epsilon, cost, wide(RACE_MAX_SCALE)) >= 0;
			continue;
		}
		bad_scales += compare(epsilon, cost, wide(budget.scale)) < 0 ||
			(budget.scale > 1 && compare(epsilon, cost, wide(budget.scale - 1)) >= 0);
		bad_costs += compare(budget.cost, product(256, s), wide(budget.scale)) < 0 ||
			budget.cost > epsilon / share * (1 + 1e-15);
		bad_rests += !(budget.rest * share <= epsilon * (share - 1) * (1 + 1e-16) &&
					   budget.rest >= epsilon * (share - 1) / share * (1 - 1e-15));
	}
	ok(bad_scales == 0, "choice: each scale is the smallest that suffices for 1 / %u of epsilon", share);
	ok(bad_costs == 0, "choice: the cost is rounded up, and at most this");
	ok(bad_rests == 0, "choice: the rest is at most the rest, rounded down");
	ok(refused > 0 && refused < 50000, "choice: some are refused, most are not");
}

static void
test_sums(void)
{
	int			bad_rho = 0;
	int			bad_sum = 0;

	for (uint64_t i = 0; i < 400000; i += 2)
	{
		double		a = log_uniform(mix(i), RACE_MIN_EPSILON, RACE_MAX_EPSILON);
		double		b = log_uniform(mix(i + 1), RACE_MIN_EPSILON, 2 * a);
		Wide		sum_2_100;
		Wide		square_2_200;
		int			exponent;
		uint64_t	mantissa = (uint64_t) ldexp(frexp(a, &exponent), 53);

		/* a >= 2^-30 is an integer times 2^-83, so of 2^-100 */
		sum_2_100 = times_power_of_2(wide(mantissa), exponent - 53 + 100);
		square_2_200 = times_power_of_2(product(mantissa, mantissa),
										2 * (exponent - 53) + 200);
		bad_rho += !rounded_up(race_rho_of_pure(a), square_2_200,
							   times_power_of_2(wide(2), 200), 4);

		mantissa = (uint64_t) ldexp(frexp(b, &exponent), 53);
		sum_2_100 = sum(sum_2_100, times_power_of_2(wide(mantissa), exponent - 53 + 100));
		bad_sum += !rounded_up(race_cost_sum(a, b), sum_2_100,
							   times_power_of_2(wide(1), 100), 3);
	}
	ok(bad_rho == 0, "rho of a pure cost is epsilon^2 / 2, rounded up");
	ok(bad_sum == 0, "sums of costs are rounded up");
	ok(race_cost_sum(0, 0.1) == 0.1 && race_cost_sum(0.1, 0) == 0.1 &&
	   race_cost_sum(0, 0) == 0, "nothing and a cost are that cost");
}

/* ------------------------------------------------------------- Gaussian */

typedef unsigned __int128 uint128;

/*
 * Does a variance suffice for `part` of so many parts of rho?
 * squared / (2 variance) <= part rho / parts
 */
static bool
variance_suffices(uint64_t variance, double rho, uint128 squared, int part, int parts)
{
	return compare(rho, times(wide_128(squared), parts), times(product(variance, part), 2)) >= 0;
}

static bool
smallest_variance(uint64_t variance, double rho, uint128 squared, int part, int parts)
{
	return variance >= 1 && variance <= RACE_MAX_VARIANCE &&
		variance_suffices(variance, rho, squared, part, parts) &&
		(variance == 1 || !variance_suffices(variance - 1, rho, squared, part, parts));
}

/*
 * `findings` are as for Laplace, with variances for scales.  That rho_allowed and
 * epsilon_of_rho are what they should be is for zcdp_test.c.
 */
static void
check_gaussian(double epsilon, double delta, uint128 s1, uint128 s2, int share, bool exact,
			   Findings *findings)
{
	RaceGaussianBudget budget;
	RaceGaussianAccount account = race_gaussian_account(epsilon, delta, exact,
														fmin((double) s1 * share / (share - 1), (double) s2 * share));
	double		allowed = account.allowed;
	uint64_t	v1;
	uint64_t	v2;

	findings->budgets++;
	findings->exact += account.added > 0;
	findings->bad_scales += account.added > 0 ? allowed != race_gaussian_allowed(epsilon, delta) || !exact :
		allowed != race_rho_allowed(epsilon, delta);
	if (!race_gaussian_budget(epsilon, delta, exact, s1, s2, share, &budget))
	{
		findings->refused++;
		findings->bad_refusals +=
			variance_suffices(RACE_MAX_VARIANCE, allowed, s1, share - 1, share) &&
			variance_suffices(RACE_MAX_VARIANCE, allowed, s2, 1, share);
		return;
	}
	v1 = budget.counter_variance;
	v2 = budget.count_variance;
	findings->bad_scales += !smallest_variance(v1 - account.added, allowed, s1, share - 1, share) ||
		!smallest_variance(v2 - account.added, allowed, s2, 1, share);
	findings->bad_costs += budget.rho > allowed || budget.epsilon > epsilon ||
		budget.epsilon < fmin(epsilon, race_epsilon_of_rho(budget.rho, delta)) ||
		!rounded_up(budget.rho,
					sum(times(wide_128(s1), v2), times(wide_128(s2), v1)),
					times(product(v1, v2), 2), 7);
}

static void
test_gaussian_awkward(int share)
{
	static const double epsilons[] = {RACE_MIN_EPSILON, 0.01, 1, 3, 1e9, RACE_MAX_EPSILON};
	static const double deltas[] = {RACE_MIN_DELTA, 1e-6, 0.3};
	const uint128 squares[] = {
		1, 2, 3, 9 * 1000, ((uint64_t) 1 << 53) + 1, ((uint64_t) 1 << 57) - 1,
		((uint128) 1 << 87) / 1000, ((uint128) 1 << 100) - 1
	};
	Findings	findings = {0};

	for (int i = 0; i < 6; i++)
		for (int j = 0; j < 3; j++)
			for (int k = 0; k < 8; k++)
				for (int l = 0; l < 8; l++)
					check_gaussian(epsilons[i], deltas[j], squares[k], squares[l], share, (i + j) % 2 == 0,
								   &findings);
	printf("# Gaussian, awkward numbers: %d budgets, %d of them refused\n", findings.budgets,
		   findings.refused);
	ok(findings.bad_refusals == 0 && findings.bad_scales == 0 && findings.bad_costs == 0 &&
	   findings.refused > 0 && findings.refused < findings.budgets,
	   "Gaussian, awkward numbers: smallest variances, refusals where there is none, costs rounded up");
}

/* Squared sensitivities as releases have them: m^2 or 2 m^2, and R times that */
static void
test_gaussian_random(int share)
{
	Findings	findings = {0};

	for (uint64_t i = 0; i < 4000; i += 4)
	{
		uint64_t	m = (uint64_t) log_uniform(mix(i), 1, 0x1p31);
		uint128		s2 = (uint128) m * m * (1 + mix(i) % 2);
		uint64_t	rows = (uint64_t) log_uniform(mix(i + 1), 1, 0x1p25);

		check_gaussian(log_uniform(mix(i + 2), 1e-3, 1e14),
					   log_uniform(mix(i + 3), 1e-30, 0.9), s2 * rows, s2, share, i % 8 == 0, &findings);
	}
	report(&findings, "Gaussian, random numbers", "variance");
	ok(findings.exact > 100 && findings.exact < findings.budgets - 100, "Gaussian, random numbers: in zCDP and in the exact account");
}

/* The largest square that has a variance */
static uint128
largest_square(double rho, int part, int parts)
{
	uint128		largest = 0;

	for (uint128 step = (uint128) 1 << 99; step > 0; step >>= 1)
		if (variance_suffices(RACE_MAX_VARIANCE, rho, largest + step, part, parts))
			largest += step;
	return largest;
}

/* Variances near and at the largest, where doubles no longer hold them */
static void
test_gaussian_largest(int share)
{
	static const double epsilons[] = {1, 1e9};	/* one more is many, or none */
	Findings	findings = {0};
	RaceGaussianBudget budget;
	int			wrong = 0;

	for (int i = 0; i < 2; i++)
	{
		double		allowed = race_rho_allowed(epsilons[i], 1e-6);
		uint128		counters = largest_square(allowed, share - 1, share);
		uint128		count = largest_square(allowed, 1, share);

		wrong += !race_gaussian_budget(epsilons[i], 1e-6, false, counters, count, share, &budget) ||
			race_gaussian_budget(epsilons[i], 1e-6, false, counters + 1, 1, share, &budget) ||
			race_gaussian_budget(epsilons[i], 1e-6, false, 1, count + 1, share, &budget);
		for (uint64_t j = 0; j < 400; j++)
			check_gaussian(epsilons[i], 1e-6, counters - counters / (2 + (mix(j) >> 5 * j % 64)),
						   count - count / (2 + (mix(j + 1) >> 7 * j % 64)), share, false, &findings);
	}
	ok(wrong == 0, "the largest variance is accepted, and one more is refused");
	ok(findings.bad_refusals == 0 && findings.bad_scales == 0 && findings.bad_costs == 0 &&
	   findings.refused == 0, "large variances: the smallest that suffice, costs rounded up");
}

/*
 * Known variances and costs: rho is 0.0243559703595383727962... for (1, 1e-6) and
 * 0.107886584338860703124... for (3, 1e-10)
 */
static void
test_gaussian_known(void)
{
	RaceGaussianBudget budget;

	ok(race_gaussian_budget(1, 1e-6, false, 1000, 1, RACE_COUNT_SHARE, &budget) &&
	   budget.counter_variance == 21610 && budget.count_variance == 411 &&
	   fabs(budget.rho / (500.0 / 21610 + 0.5 / 411) - 1) < 1e-15 &&
	   budget.epsilon < 1 && budget.epsilon > 0.999,
	   "R = 1000, epsilon = 1, delta = 1e-6");
	ok(race_gaussian_budget(1, 1e-6, false, 2 * 9 * 16, 2 * 9, RACE_COUNT_SHARE, &budget) &&
	   budget.counter_variance == 6224 && budget.count_variance == 7391,
	   "R = 16, three contributions, substituted");
	ok(race_gaussian_budget(3, 1e-10, false, 2, 1, RACE_COUNT_SHARE, &budget) &&
	   budget.counter_variance == 10 && budget.count_variance == 93,
	   "R = 2, epsilon = 3, delta = 1e-10");
	ok(race_gaussian_budget(RACE_MAX_EPSILON, 0.5, false, 1, 1, RACE_COUNT_SHARE, &budget) &&
	   budget.counter_variance == 1 && budget.count_variance == 1 && budget.rho >= 1 &&
	   budget.rho < 1.000001, "the largest epsilon: the smallest variances");
}

static void
test_gaussian_shares(int share)
{
	printf("# Gaussian, 1 / %d of rho for the count\n", share);
	test_gaussian_awkward(share);
	test_gaussian_random(share);
	test_gaussian_largest(share);
}

int
main(void)
{
	test_awkward();
	test_random();
	test_known();
	test_choice(RACE_CHOICE_SHARE);
	test_choice(RACE_CELLS_SHARE);
	test_sums();
	test_gaussian_shares(RACE_COUNT_SHARE);
	test_gaussian_shares(RACE_COUNT_SHARE_ROWS);
	test_gaussian_known();
	return done_testing();
}
