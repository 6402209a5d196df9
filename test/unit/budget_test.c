/*
 * budget_test.c
 *		Noise of prices, and recorded costs, against exact rational arithmetic.
 *
 * Accounts pay for the count first, 1 / RACE_COUNT_SHARE of what is allowed, and then for counters
 * what is left.
 */
#include <float.h>

#include "choice/plan.h"
#include "helpers.h"
#include "privacy/budget.h"
#include "privacy/payment.h"
#include "tap.h"
#include "wide.h"

/* Negative, 0 or positive as x is below, at or above numerator / denominator */
static int
compare(double x, Wide numerator, Wide denominator)
{
	int exponent;
	uint64_t mantissa = (uint64_t) ldexp(frexp(x, &exponent), 53);

	denominator = times(denominator, mantissa);
	denominator = times_power_of_2(denominator, exponent - 53);
	numerator = times_power_of_2(numerator, 53 - exponent);
	return order(denominator, numerator);
}

/* Does a scale t suffice for a price?  256 S / t <= price */
static bool
suffices(uint64_t t, double price, uint64_t sensitivity)
{
	return compare(price, product(256, sensitivity), wide(t)) >= 0;
}

static bool
smallest(uint64_t t, double price, uint64_t sensitivity)
{
	return t >= 1 && t <= RACE_MAX_SCALE && suffices(t, price, sensitivity) &&
		(t == 1 || !suffices(t - 1, price, sensitivity));
}

/* Is the recorded cost the true one, rounded up by at most `ulps` of 2^-52? */
static bool
rounded_up(double recorded, Wide numerator, Wide denominator, int ulps)
{
	uint64_t one = (uint64_t) 1 << 52;

	return compare(recorded, numerator, denominator) >= 0 &&
		compare(recorded, times(numerator, one + ulps), times(denominator, one)) <= 0;
}

/* What was found wrong, in how many budgets */
typedef struct Findings
{
	int budgets;
	int refused;
	int bad_refusals;
	int bad_scales;
	int bad_costs;
	int exact; /* of Gaussian noise, in the exact account */
} Findings;

static RaceAccount
open_account(double epsilon, double delta, bool exact, double squared)
{
	RaceRequest request = {.epsilon = epsilon,
						   .delta = delta,
						   .max_contributions = 1,
						   .neighbors = RACE_NEIGHBORS_ADD_REMOVE,
						   .zcdp = !exact};
	RaceAccount account;

	race_account_open(&account, NULL, &request, squared);
	return account;
}

/* What records change: of Laplace noise in L1, of Gaussian noise squared in L2 */
static RaceChange
change_by(unsigned __int128 size)
{
	return (RaceChange){size, size};
}

/* Laplace noise: of a count that changes by s2 first, then of counters that change by s1 */
static void
check_budget(double epsilon, uint64_t s1, uint64_t s2, Findings *findings)
{
	RaceAccount account = open_account(epsilon, 0, false, 1);
	double price = epsilon / RACE_COUNT_SHARE;
	uint64_t t2 = race_pay(&account, price, change_by(s2));
	double left = race_account_left(&account);
	uint64_t t1 = race_pay(&account, left, change_by(s1));

	findings->budgets++;
	if (t1 == 0 || t2 == 0)
	{
		findings->refused++;
		findings->bad_refusals += (t1 == 0 && suffices(RACE_MAX_SCALE, left, s1)) ||
			(t2 == 0 && suffices(RACE_MAX_SCALE, price, s2));
		return;
	}
	findings->bad_scales += !smallest(t1, left, s1) || !smallest(t2, price, s2) ||
		!(left <= epsilon - price) || left < (epsilon - price) * (1 - 1e-15);
	findings->bad_costs += race_account_cost(&account) > epsilon ||
		race_account_left(&account) > 0 ||
		!rounded_up(race_account_cost(&account), times(sum(product(s1, t2), product(s2, t1)), 256),
					product(t1, t2), 5);
}

static void
report(const Findings *findings, const char *what, const char *parameter)
{
	printf("# %s: %d budgets, %d of them refused\n", what, findings->budgets, findings->refused);
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
	static const double epsilons[] = {RACE_MIN_EPSILON,
									  1e-6,
									  0.001,
									  0.1,
									  0.3,
									  1.0 / 3,
									  0.5,
									  0.7,
									  0.95,
									  1,
									  20.0 / 19,
									  2,
									  M_PI,
									  5,
									  10,
									  19,
									  20,
									  100,
									  256,
									  5120,
									  5120.0 / 19,
									  1e5,
									  1e9,
									  0x1p49,
									  RACE_MAX_EPSILON};
	static const uint64_t sensitivities[] = {1,
											 2,
											 3,
											 5,
											 7,
											 19,
											 20,
											 256,
											 1000,
											 1024,
											 65535,
											 1048583,
											 UINT64_C(1) << 32,
											 (UINT64_C(1) << 44) * 19,
											 (UINT64_C(1) << 50) - 1,
											 RACE_MAX_SENSITIVITY};
	const int n_epsilons = sizeof(epsilons) / sizeof(epsilons[0]);
	const int n_sensitivities = sizeof(sensitivities) / sizeof(sensitivities[0]);
	Findings findings = {0};

	for (int i = 0; i < n_epsilons; i++)
		for (int j = 0; j < n_sensitivities; j++)
			for (int k = 0; k < n_sensitivities; k++)
			{
				double below = nextafter(epsilons[i], 0);
				double above = nextafter(epsilons[i], INFINITY);

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
	Findings findings = {0};

	for (uint64_t i = 0; i < 600000; i += 3)
		check_budget(log_uniform(mix(i), RACE_MIN_EPSILON, RACE_MAX_EPSILON),
					 (uint64_t) log_uniform(mix(i + 1), 1, 0x1p50),
					 (uint64_t) log_uniform(mix(i + 2), 1, 0x1p20), &findings);
	report(&findings, "random numbers", "scale");
}

/* Does a price of Laplace noise buy this scale? */
static bool
gives(double price, uint64_t sensitivity, uint64_t scale)
{
	RaceAccount account = open_account(1e3, 0, false, 1);

	return race_pay(&account, price, change_by(sensitivity)) == scale;
}

static void
test_known(void)
{
	RaceAccount account = open_account(1, 0, false, 1);
	double smallest_price = 0x1p-20;

	ok(gives(0.25, 19, 4 * 19 * 256) && gives(0.25, 1, 1024),
	   "quotients without a remainder stay as they are");
	ok(gives(nextafter(0.25, 0), 19, 4 * 19 * 256 + 1), "one ulp less of a price rounds up");
	ok(gives(nextafter(0.25, 2), 19, 4 * 19 * 256), "so does one ulp more");
	ok(gives(0.95, 1000, 269474) && gives(0.05, 1, 5120), "R = 1000, epsilon = 1");
	ok(gives(1e3, 1, 1), "a large price: the smallest scale");
	ok(race_pay(&account, 0.25, change_by(19)) > 0 &&
		   race_account_cost(&account) <= 0.25 * (1 + 1e-15),
	   "a cost without remainders is recorded as the price, but for a unit of the last place");
	ok(race_pay(&account, 5, change_by(1)) == 342 && race_account_left(&account) <= 0 &&
		   race_account_cost(&account) <= 1 && race_pay(&account, 1e-9, change_by(1)) == 0,
	   "a price above what is left buys what is left, and then there is nothing");

	/* the largest scale is reached exactly by 256 S / price = 2^56 */
	ok(gives(smallest_price, UINT64_C(1) << 28, RACE_MAX_SCALE), "the largest scale is accepted");
	ok(gives(nextafter(smallest_price, 0), UINT64_C(1) << 28, 0),
	   "an ulp beyond the largest scale is refused");
	ok(gives(1e3, RACE_MAX_SENSITIVITY + 1, 0) && !gives(1e3, RACE_MAX_SENSITIVITY, 0),
	   "so is too large a change");
	account = open_account(1, 0, false, 1);
	ok(race_pay(&account, nextafter(smallest_price, 0), change_by(UINT64_C(1) << 28)) == 0 &&
		   race_account_cost(&account) == 0 && race_account_left(&account) >= nextafter(1, 0) &&
		   race_pay(&account, NAN, change_by(1)) == 0 &&
		   race_pay(&account, -1, change_by(1)) == 0 && race_pay(&account, 0, change_by(1)) == 0 &&
		   race_account_cost(&account) == 0,
	   "what is refused costs nothing, and no price buys nothing");
}

/* What a person changes: its records, and twice as much where neighbors replace them */
static void
test_changes(void)
{
	RaceRequest request = {.epsilon = 1,
						   .max_contributions = 7,
						   .neighbors = RACE_NEIGHBORS_ADD_REMOVE,
						   .weight_bits = 2};
	RaceAccount account;
	RaceChange change;

	race_account_open(&account, NULL, &request, 1);
	change = race_change_of_counters(&account, 3, 5);
	ok(change.l1 == 28 * 3 && change.squared == 28 * 28 * 5,
	   "the records of a person, with the digits of weights");
	change = race_change_of_score(&account, 3);
	ok(change.l1 == 28 * 3 && change.squared == 28 * 28 * 9, "they change a score as much");
	request.neighbors = RACE_NEIGHBORS_SUBSTITUTE;
	race_account_open(&account, NULL, &request, 1);
	change = race_change_of_counters(&account, 3, 5);
	ok(change.l1 == 2 * 28 * 3 && change.squared == 2 * 28 * 28 * 5,
	   "records that are replaced cost twice as much of both");
	change = race_change_of_score(&account, 3);
	ok(change.l1 == 2 * 28 * 3 && change.squared == 4 * 28 * 28 * 9,
	   "but change a score to both sides");
}

/*
 * Many prices: the exact sum of costs is at most what the account states, and that is at most the
 * budget.
 */
#define PRICES 50

static void
test_many(double delta, bool exact)
{
	int over = 0;
	int left_over = 0;
	int twice = 0;

	for (uint64_t seed = 0; seed < 20000; seed += PRICES)
	{
		double epsilon = log_uniform(mix(seed), 1e-3, 1e3);
		RaceAccount account = open_account(epsilon, delta, exact, 1e4);
		double allowed = race_account_allowed(&account);
		long double cost = 0;
		long double half = 0;

		for (uint64_t i = 0; i < PRICES; i++)
		{
			uint64_t size = (uint64_t) log_uniform(mix(seed + i) + 1, 1, 1e6);
			double left = race_account_left(&account);
			double price = allowed * log_uniform(mix(seed + i) + 2, 1e-6, 0.2);
			uint64_t noise = race_pay(&account, price, change_by(size));

			/* what is left is rounded down before and after */
			left_over +=
				race_account_left(&account) > left - fmin(price, left) + allowed * 0x1p-50 ||
				(noise == 0 && left > allowed * 1e-6);
			if (noise == 0)
				break;
			cost += delta == 0 ? (long double) size * 256 / noise :
								 (long double) size / (2 * (long double) (noise - account.added));
			half += delta == 0 ? (long double) size * 256 / noise :
								 (long double) size / (2 * (long double) noise);
			if (race_account_left(&account) <= 0)
				break;
		}
		over += cost > (long double) allowed * (1 + 1e-17L) ||
			race_account_cost(&account) > allowed ||
			half > (long double) race_account_cost(&account) * (1 + 1e-17L);
		twice += 2 * cost > allowed;
	}
	ok(over == 0, "%s: the sum of costs is at most what is stated, and that is at most the budget",
	   delta == 0 ? "Laplace" :
		   exact  ? "exact account" :
					"zCDP");
	ok(left_over == 0, "and each price is taken off");
	ok(twice > 100, "control: twice the costs are above it");
}

/* An account that has paid epsilon for what costs less */
static void
test_pay_epsilon(void)
{
	RaceAccount account = open_account(1, 0, false, 1);
	RaceAccount gaussian = open_account(1, 1e-6, false, 1);

	ok(race_pay_epsilon(&account, 0.75, 0.5) && race_account_left(&account) <= 0.25 &&
		   race_account_left(&account) > 0.2499 && race_account_cost(&account) == 0.5,
	   "a price is taken off, and its cost added");
	ok(!race_pay_epsilon(&account, 0.2, 0.21) && !race_pay_epsilon(&account, 0.3, 0.2) &&
		   !race_pay_epsilon(&account, 0.2, NAN) && !race_pay_epsilon(&gaussian, 0.001, 0.001),
	   "not a cost above the price, a price above what is left, or of Gaussian noise");
	ok(race_pay_epsilon(&account, 0.2, 0.2) && race_account_cost(&account) >= 0.7,
	   "control: others are paid");
}

/* A noise share pays for one count, and once for counters. */
static void
test_share(void)
{
	RaceRequest request = {.epsilon = 1,
						   .delta = 1e-6,
						   .max_contributions = 1,
						   .neighbors = RACE_NEIGHBORS_ADD_REMOVE};
	RaceAccount account;

	race_account_open_share(&account, NULL, &request, 11, 13, 4);
	ok(race_pay(&account, 1, change_by(2)) == 0 && race_pay(&account, 1, change_by(1)) == 11 &&
		   race_pay(&account, 1, change_by(5)) == 0 && race_pay(&account, 1, change_by(4)) == 13 &&
		   race_pay(&account, 1, change_by(1)) == 0 && race_pay(&account, 1, change_by(1)) == 0,
	   "a share pays twice, for no more than was planned, and no more often");
}

/* 256 S / t <= epsilon, by the smallest t */
static void
test_scales(void)
{
	int bad_scales = 0;
	int bad_costs = 0;
	int refused = 0;

	for (uint64_t i = 0; i < 200000; i += 2)
	{
		double epsilon = log_uniform(mix(i), RACE_MIN_EPSILON, RACE_MAX_EPSILON);
		uint64_t s = (uint64_t) log_uniform(mix(i + 1), 1, 0x1p50);
		Wide cost = product(256, s);
		uint64_t scale = race_scale_for_epsilon(epsilon, s);
		double stated;

		if (scale == 0)
		{
			refused++;
			bad_scales += compare(epsilon, cost, wide(RACE_MAX_SCALE)) >= 0;
			continue;
		}
		stated = race_epsilon_of_draw(s, scale);
		bad_scales += compare(epsilon, cost, wide(scale)) < 0 ||
			(scale > 1 && compare(epsilon, cost, wide(scale - 1)) >= 0);
		bad_costs +=
			compare(stated, cost, wide(scale)) < 0 || stated > epsilon * (1 + 4 * DBL_EPSILON);
	}
	ok(bad_scales == 0, "each scale is the smallest that suffices for epsilon");
	ok(bad_costs == 0, "its cost is rounded up, and at most epsilon, but for rounding");
	ok(refused > 0 && refused < 50000, "some scales are refused, most are not");
}

static void
test_sums(void)
{
	int bad_rho = 0;
	int bad_sum = 0;

	for (uint64_t i = 0; i < 400000; i += 2)
	{
		double a = log_uniform(mix(i), RACE_MIN_EPSILON, RACE_MAX_EPSILON);
		double b = log_uniform(mix(i + 1), RACE_MIN_EPSILON, 2 * a);
		Wide sum_2_100;
		Wide square_2_200;
		int exponent;
		uint64_t mantissa = (uint64_t) ldexp(frexp(a, &exponent), 53);

		/* a >= 2^-30 is an integer times 2^-83, so of 2^-100 */
		sum_2_100 = times_power_of_2(wide(mantissa), exponent - 53 + 100);
		square_2_200 = times_power_of_2(product(mantissa, mantissa), 2 * (exponent - 53) + 200);
		bad_rho +=
			!rounded_up(race_rho_of_pure(a), square_2_200, times_power_of_2(wide(2), 200), 4);

		mantissa = (uint64_t) ldexp(frexp(b, &exponent), 53);
		sum_2_100 = sum(sum_2_100, times_power_of_2(wide(mantissa), exponent - 53 + 100));
		bad_sum += !rounded_up(race_cost_sum(a, b), sum_2_100, times_power_of_2(wide(1), 100), 3);
	}
	ok(bad_rho == 0, "rho of a pure cost is epsilon^2 / 2, rounded up");
	ok(bad_sum == 0, "sums of costs are rounded up");
	ok(race_cost_sum(0, 0.1) == 0.1 && race_cost_sum(0.1, 0) == 0.1 && race_cost_sum(0, 0) == 0,
	   "nothing and a cost are that cost");
}

/* ------------------------------------------------------------- Gaussian */

typedef unsigned __int128 uint128;

/* Does a variance suffice for a price?  squared / (2 variance) <= price */
static bool
variance_suffices(uint64_t variance, double price, uint128 squared)
{
	return compare(price, wide_128(squared), times(wide(variance), 2)) >= 0;
}

static bool
smallest_variance(uint64_t variance, double price, uint128 squared)
{
	return variance >= 1 && variance <= RACE_MAX_VARIANCE &&
		variance_suffices(variance, price, squared) &&
		(variance == 1 || !variance_suffices(variance - 1, price, squared));
}

/*
 * `findings` are as for Laplace, with variances for scales.  That rho_allowed and
 * epsilon_of_rho are what they should be is for zcdp_test.c.
 */
static void
check_gaussian(double epsilon, double delta, uint128 s1, uint128 s2, int share, bool exact,
			   Findings *findings)
{
	RaceAccount account = open_account(
		epsilon, delta, exact, fmin((double) s1 * share / (share - 1), (double) s2 * share));
	double allowed = race_account_allowed(&account);
	uint64_t most = RACE_MAX_VARIANCE - account.added;
	double price = allowed / share;
	uint64_t v2 = race_pay(&account, price, change_by(s2));
	double left = race_account_left(&account);
	uint64_t v1 = race_pay(&account, left, change_by(s1));
	double rho = race_account_cost(&account);

	findings->budgets++;
	findings->exact += account.added > 0;
	findings->bad_scales += account.added > 0 ?
		allowed != race_gaussian_allowed(epsilon, delta) || !exact :
		allowed != race_rho_allowed(epsilon, delta);
	if (v1 == 0 || v2 == 0)
	{
		findings->refused++;
		findings->bad_refusals += (v1 == 0 && variance_suffices(most, left, s1)) ||
			(v2 == 0 && variance_suffices(most, price, s2));
		return;
	}
	findings->bad_scales += !smallest_variance(v1 - account.added, left, s1) ||
		!smallest_variance(v2 - account.added, price, s2) || left > allowed - price ||
		left < (allowed - price) * (1 - 1e-15);
	findings->bad_costs += rho > allowed || race_account_left(&account) > 0 ||
		!rounded_up(rho, sum(times(wide_128(s1), v2), times(wide_128(s2), v1)),
					times(product(v1, v2), 2), 7);
}

static void
test_gaussian_awkward(int share)
{
	static const double epsilons[] = {RACE_MIN_EPSILON, 0.01, 1, 3, 1e9, RACE_MAX_EPSILON};
	static const double deltas[] = {RACE_MIN_DELTA, 1e-6, 0.3};
	const uint128 squares[] = {1,
							   2,
							   3,
							   9 * 1000,
							   ((uint64_t) 1 << 53) + 1,
							   ((uint64_t) 1 << 57) - 1,
							   ((uint128) 1 << 87) / 1000,
							   ((uint128) 1 << 100) - 1};
	Findings findings = {0};

	for (int i = 0; i < 6; i++)
		for (int j = 0; j < 3; j++)
			for (int k = 0; k < 8; k++)
				for (int l = 0; l < 8; l++)
					check_gaussian(epsilons[i], deltas[j], squares[k], squares[l], share,
								   (i + j) % 2 == 0, &findings);
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
	Findings findings = {0};

	for (uint64_t i = 0; i < 4000; i += 4)
	{
		uint64_t m = (uint64_t) log_uniform(mix(i), 1, 0x1p31);
		uint128 s2 = (uint128) m * m * (1 + mix(i) % 2);
		uint64_t rows = (uint64_t) log_uniform(mix(i + 1), 1, 0x1p25);

		check_gaussian(log_uniform(mix(i + 2), 1e-3, 1e14), log_uniform(mix(i + 3), 1e-30, 0.9),
					   s2 * rows, s2, share, i % 8 == 0, &findings);
	}
	report(&findings, "Gaussian, random numbers", "variance");
	ok(findings.exact > 100 && findings.exact < findings.budgets - 100,
	   "Gaussian, random numbers: in zCDP and in the exact account");
}

/* The largest square that has a variance */
static uint128
largest_square(double price)
{
	uint128 largest = 0;

	for (uint128 step = (uint128) 1 << 99; step > 0; step >>= 1)
		if (variance_suffices(RACE_MAX_VARIANCE, price, largest + step))
			largest += step;
	return largest;
}

/* The variance that all of what zCDP allows buys */
static uint64_t
bought(double epsilon, uint128 squared)
{
	RaceAccount account = open_account(epsilon, 1e-6, false, 1);

	return race_pay(&account, race_account_allowed(&account), change_by(squared));
}

/* Variances near and at the largest, where doubles no longer hold them */
static void
test_gaussian_largest(int share)
{
	static const double epsilons[] = {1, 1e9}; /* one more is many, or none */
	Findings findings = {0};
	int wrong = 0;

	for (int i = 0; i < 2; i++)
	{
		RaceAccount account = open_account(epsilons[i], 1e-6, false, 1);
		double allowed = race_account_left(&account);
		double price = race_account_allowed(&account) / share;
		uint128 all = largest_square(allowed);
		uint128 count = largest_square(price);
		uint128 counters;

		race_pay(&account, price, change_by(1));
		counters = largest_square(race_account_left(&account));
		wrong += bought(epsilons[i], all) == 0 || bought(epsilons[i], all + 1) != 0;
		for (uint64_t j = 0; j < 400; j++)
			check_gaussian(epsilons[i], 1e-6, counters - counters / (2 + (mix(j) >> 5 * j % 64)),
						   count - count / (2 + (mix(j + 1) >> 7 * j % 64)), share, false,
						   &findings);
	}
	ok(wrong == 0, "the largest variance is accepted, and one more is refused");
	ok(findings.bad_refusals == 0 && findings.bad_scales == 0 && findings.bad_costs == 0 &&
		   findings.refused == 0,
	   "large variances: the smallest that suffice, costs rounded up");
}

/* Do all but a share of what zCDP allows, and the share, buy these variances? */
static bool
variances_are(double epsilon, double delta, uint128 counters, uint128 count,
			  uint64_t counter_variance, uint64_t count_variance, double *rho)
{
	RaceAccount account = open_account(epsilon, delta, false, 1);
	uint64_t second =
		race_pay(&account, race_account_allowed(&account) / RACE_COUNT_SHARE, change_by(count));
	uint64_t first = race_pay(&account, race_account_left(&account), change_by(counters));

	*rho = race_account_cost(&account);
	return first == counter_variance && second == count_variance;
}

/*
 * Known variances and costs: rho is 0.0243559703595383727962... for (1, 1e-6) and
 * 0.107886584338860703124... for (3, 1e-10)
 */
static void
test_gaussian_known(void)
{
	double rho;

	ok(variances_are(1, 1e-6, 1000, 1, 21610, 411, &rho) &&
		   fabs(rho / (500.0 / 21610 + 0.5 / 411) - 1) < 1e-15 &&
		   race_epsilon_of_rho(rho, 1e-6) < 1 && race_epsilon_of_rho(rho, 1e-6) > 0.999,
	   "R = 1000, epsilon = 1, delta = 1e-6");
	ok(variances_are(1, 1e-6, 2 * 9 * 16, 2 * 9, 6224, 7391, &rho),
	   "R = 16, three contributions, substituted");
	ok(variances_are(3, 1e-10, 2, 1, 10, 93, &rho), "R = 2, epsilon = 3, delta = 1e-10");
	ok(variances_are(RACE_MAX_EPSILON, 0.5, 1, 1, 1, 1, &rho) && rho >= 1 && rho < 1.000001,
	   "the largest epsilon: the smallest variances");
}

/* The edges of epsilon and delta, where an account still pays, or does not */
static void
test_edges(void)
{
	static const double epsilons[] = {RACE_MIN_EPSILON, 1, RACE_MAX_EPSILON};
	static const double deltas[] = {0, RACE_MIN_DELTA, 1e-6, 0.999999};
	int wrong = 0;

	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 8; j++)
		{
			RaceAccount account = open_account(epsilons[i], deltas[j / 2], j % 2 == 1, 1);
			double allowed = race_account_allowed(&account);
			uint64_t noise;

			wrong += !(allowed > 0 && isfinite(allowed)) ||
				account.mechanism !=
					(deltas[j / 2] == 0 ? RACE_MECHANISM_LAPLACE : RACE_MECHANISM_GAUSSIAN);
			noise = race_pay(&account, INFINITY, change_by(1));
			/* of the least epsilon and delta rho is so small that no variance has it */
			wrong += (noise == 0) != (0.5 / allowed > (double) RACE_MAX_VARIANCE) ||
				race_account_cost(&account) > allowed;
		}
	ok(wrong == 0, "edges of epsilon and delta: an account pays all that is allowed, and no more");
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
	test_changes();
	test_many(0, false);
	test_many(1e-6, false);
	test_many(1e-6, true);
	test_pay_epsilon();
	test_share();
	test_edges();
	test_scales();
	test_sums();
	test_gaussian_shares(RACE_COUNT_SHARE);
	test_gaussian_shares(RACE_COUNT_SHARE_ROWS);
	test_gaussian_known();
	return done_testing();
}
