/*
 * share_test.c
 *		Noise shares: bounds against exact distributions of sums, and plans against
 *		references that share no code.  Nothing here is drawn: no false alarms.
 */
#include "choice/plan.h"
#include "helpers.h"
#include "tap.h"
#include "privacy/budget.h"
#include "privacy/shares.h"

typedef unsigned __int128 uint128;

/* ------------------------------------------- exact distributions of sums */

#define REACH 4096
#define SIGMAS 20 /* e^-200 lies beyond */
#define PI 3.14159265358979323846L

/* Probabilities of -REACH to REACH, of which the support is -reach to reach */
typedef struct Distribution
{
	int reach;
	long double p[2 * REACH + 1];
} Distribution;

static long double
probability(const Distribution *d, int x)
{
	return x < -REACH || x > REACH ? 0 : d->p[REACH + x];
}

static void
discrete_gaussian(Distribution *d, long double variance, int reach)
{
	long double sum = 0;

	memset(d, 0, sizeof(Distribution));
	d->reach = reach;
	for (int x = -reach; x <= reach; x++)
		sum += d->p[REACH + x] = expl(-x * x / (2 * variance));
	for (int x = -reach; x <= reach; x++)
		d->p[REACH + x] /= sum;
}

/* By definition: the probability of a sum is a sum over its parts */
static void
add_independent(Distribution *d, const Distribution *other)
{
	static Distribution sum;

	memset(&sum, 0, sizeof(sum));
	sum.reach = d->reach + other->reach;
	if (sum.reach > REACH)
		abort();
	for (int x = -d->reach; x <= d->reach; x++)
		for (int y = -other->reach; y <= other->reach; y++)
			sum.p[REACH + x + y] += probability(d, x) * probability(other, y);
	*d = sum;
}

static void
sum_of_shares(Distribution *d, uint64_t variance, int shares)
{
	static Distribution one;

	discrete_gaussian(&one, variance, (int) (SIGMAS * sqrt((double) variance)));
	*d = one;
	while (--shares > 0)
		add_independent(d, &one);
}

/* tau by its definition, which takes a number of steps */
static long double
tau_of(uint64_t variance, uint32_t shares)
{
	long double sum = 0;

	for (uint32_t k = 1; k < shares; k++)
		sum += expl(-2 * PI * PI * variance * k / (k + 1));
	return 10 * sum;
}

/* rho by its definition: the smaller of two bounds */
static long double
reference_rho(uint128 squared, uint64_t cells, uint64_t variance, uint32_t shares)
{
	long double ratio = (long double) squared / shares / variance;
	long double tau = tau_of(variance, shares);
	long double root = sqrtl(ratio) + tau * sqrtl(cells);

	return fminl(ratio / 2 + tau * cells, root * root / 2);
}

/*
 * The sum of n shares against the discrete Gaussian of n times the variance: the
 * logarithm of the ratio is at most tau / 2.  (It is 0.4 of that for two shares,
 * so that a third must fail.)
 */
static void
test_deviation(void)
{
	static Distribution sum;
	static Distribution gaussian;
	int above = 0;
	int above_a_third = 0;

	for (int variance = 1; variance <= 3; variance++)
		for (int shares = 2; shares <= 6; shares++)
		{
			long double tau = tau_of(variance, shares);
			long double worst = 0;

			sum_of_shares(&sum, variance, shares);
			discrete_gaussian(&gaussian, variance * shares, sum.reach);
			for (int x = 0; x * x < 100 * variance * shares; x++)
				worst = fmaxl(worst, fabsl(logl(probability(&sum, x) / probability(&gaussian, x))));
			above += worst > tau / 2;
			above_a_third += worst > tau / 6;
		}
	ok(above == 0, "a sum differs from a discrete Gaussian by a factor of at most e^(tau/2)");
	ok(above_a_third == 3, "control: for two shares, by more than e^(tau/6)");
}

/* Renyi divergence of that order between a sum and the sum shifted */
static long double
divergence(const Distribution *d, int shift, long double alpha)
{
	long double sum = 0;

	for (int x = -d->reach; x <= d->reach; x++)
		if (probability(d, x - shift) > 0)
			sum +=
				probability(d, x) * powl(probability(d, x) / probability(d, x - shift), alpha - 1);
	return logl(sum) / (alpha - 1);
}

/* The largest divergence relative to the order: what rho must not be below */
static long double
exact_rho(const Distribution *d, int shift)
{
	static const long double orders[] = {1.03125L, 1.125L, 1.5L, 2, 2.5L, 3, 4, 5, 6};
	long double largest = 0;

	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
		largest = fmaxl(largest, divergence(d, shift, orders[i]) / orders[i]);
	return largest;
}

/*
 * Differences of the order of rounding errors do not count: those that tau is for
 * are from 1e-7 on where shares have a variance of 1.
 */
static bool
exceeds(long double exact, long double bound)
{
	return exact > bound * (1 + 1e-13L);
}

static void
test_divergence(void)
{
	static Distribution sum;
	int above = 0;
	int above_no_tau = 0;
	int above_one_more = 0;
	int cases = 0;

	for (int variance = 1; variance <= 4; variance++)
		for (int shares = 1; shares <= 5; shares++)
			for (int shift = 1; shift <= 3; shift++)
			{
				uint128 squared = shift * shift;
				long double exact;

				sum_of_shares(&sum, variance, shares);
				exact = exact_rho(&sum, shift);
				cases++;
				above += exceeds(exact, race_rho_of_sum(squared, 1, variance, shares));
				above_no_tau += exceeds(exact, shift * shift / (2.0L * variance * shares));
				above_one_more += exceeds(exact, race_rho_of_sum(squared, 1, variance, shares + 1));
			}
	ok(above == 0, "rho of a sum bounds its divergence from the sum shifted");
	ok(above_no_tau > 0, "control: without tau it would not, %d times", above_no_tau);
	ok(above_one_more == cases, "control: nor with a share too few");
}

/*
 * The exact delta of counter and count together, both shifted: the probability
 * that the loss exceeds epsilon, less what is allowed for
 */
static long double
exact_delta(const Distribution *counter, const Distribution *count, int shift, long double epsilon)
{
	long double factor = expl(epsilon);
	long double delta = 0;

	for (int x = -counter->reach; x <= counter->reach; x++)
		for (int y = -count->reach; y <= count->reach; y++)
			delta +=
				fmaxl(0,
					  probability(counter, x) * probability(count, y) -
						  factor * probability(counter, x - shift) * probability(count, y - shift));
	return delta;
}

/* Plans for one row, and for people with two records */
static void
test_plans(void)
{
	static Distribution counter;
	static Distribution count;
	const RaceSensitivity sensitivity = {.counters = 4, .count = 4, .cells = 64};
	int above = 0;
	int above_fewer = 0;

	for (int honest = 4; honest <= 8; honest += 4)
	{
		RaceGaussianBudget budget;

		if (!race_share_budget(1, 1e-6, &sensitivity, honest, RACE_COUNT_SHARE, &budget))
			abort();
		for (int shares = honest * 3 / 4; shares <= honest; shares += honest / 4)
		{
			long double delta;

			sum_of_shares(&counter, budget.counter_variance, shares);
			sum_of_shares(&count, budget.count_variance, shares);
			delta = exact_delta(&counter, &count, 2, 1);
			if (shares == honest)
				above += delta > 1e-6L;
			else
				above_fewer += delta > 1e-6L;
		}
	}
	ok(above == 0, "counter and count together are (epsilon, delta) private");
	ok(above_fewer == 2, "control: with three quarters of the honest shares they are not");
}

/* ------------------------------------------------------------- the plans */

/* In 50 digits, by mpmath */
static void
test_known_sums(void)
{
	static const struct
	{
		uint64_t squared;
		uint64_t cells;
		uint64_t variance;
		uint32_t shares;
		long double rho;
	} known[] = {
		{1, 1, 1, 2, 0.25036587192149245533L},
		{1, 1, 1, 3, 0.16697656089826570887L},
		{4, 100, 2, 5, 0.20000016944495825539L},
		{1, 1 << 20, 1, 2, 0.76477801188956435697L},
		{9, 1 << 25, 1, 60, 6.3099898618717017369L},
		{1024, 1 << 20, 4, 100, 1.2800000000001172632L},
		{1, 1, 4, 1000000, 1.250000000000357859e-7L},
		{5, 7, 3, 1, 0.83333333333333333333L},
	};
	double rho;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
	{
		rho = race_rho_of_sum(known[i].squared, known[i].cells, known[i].variance, known[i].shares);
		ok(rho >= known[i].rho && rho <= known[i].rho * (1 + 1e-9L), "%u shares of variance %d",
		   known[i].shares, (int) known[i].variance);
	}

	/* the tail of a long sum is bounded rather than added up */
	rho = race_rho_of_sum(9, 1 << 25, 1, 200);
	ok(rho >= 5.7903073242452542017L && rho <= 5.85, "200 shares of variance 1, from above");
}

/* Variances in 50 digits, by mpmath; rho is tested elsewhere. */
static void
test_known_plans(void)
{
	static const struct
	{
		double epsilon;
		double delta;
		RaceSensitivity sensitivity;
		uint32_t honest;
		uint64_t counter_variance;
		uint64_t count_variance;
	} known[] = {
		{1, 1e-6, {1000, 1, 1 << 20}, 1, 21609, 411},
		{1, 1e-6, {1024, 1, 1 << 20}, 10, 2211, 42},
		{1, 1e-6, {1024, 1, 1 << 20}, 102, 215, 5},
		{1, 1e-6, {1024, 1, 1 << 20}, 103, 215, 4},
		{1, 1e-6, {1024, 1, 1 << 20}, 1000, 22, 4},
		{1, 1e-6, {1024, 1, 1 << 25}, 100000, 4, 4},
		{3, 1e-10, {2 * 9 * 16, 2 * 9, 16 * 64}, 7, 201, 239},
		{0.1, 1e-9, {4096, 1, 4096 * 1024}, 50, 243391, 1130},
		{10, 1e-6, {16, 1, 16 * 256}, 3, 4, 4},
		{1e-3, 1e-9, {1 << 25, 1, 1 << 25}, 1000000000, 661903, 4},
		{1e-6, 1e-9, {1, 1, 1 << 25}, 4000000000, 2009, 38168},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
	{
		RaceGaussianBudget budget;

		ok(race_share_budget(known[i].epsilon, known[i].delta, &known[i].sensitivity,
							 known[i].honest, RACE_COUNT_SHARE, &budget) &&
			   budget.counter_variance == known[i].counter_variance &&
			   budget.count_variance == known[i].count_variance,
		   "epsilon %g, delta %g, %u honest shares", known[i].epsilon, known[i].delta,
		   known[i].honest);
	}
}

/* The smallest variance that spends at most rho?  Ties of 1e-9 may go either way. */
static bool
smallest(uint64_t variance, long double rho, uint128 squared, uint64_t cells, uint32_t shares)
{
	return variance >= RACE_MIN_SHARE_VARIANCE &&
		reference_rho(squared, cells, variance, shares) <= rho &&
		(variance == RACE_MIN_SHARE_VARIANCE ||
		 reference_rho(squared, cells, variance - 1, shares) >= rho * (1 - 1e-9L));
}

static void
test_random_plans(void)
{
	int wrong_variance = 0;
	int wrong_cost = 0;
	int refused = 0;
	int wrongly_refused = 0;

	for (uint64_t i = 0; i < 12000; i += 6)
	{
		double epsilon = log_uniform(mix(i), 1e-7, 100);
		double delta = log_uniform(mix(i + 1), 1e-30, 0.1);
		RaceSensitivity s = {.counters = (uint128) log_uniform(mix(i + 2), 1, 0x1p40),
							 .count = (uint128) log_uniform(mix(i + 3), 1, 0x1p10),
							 .cells = (uint64_t) log_uniform(mix(i + 4), 1, 0x1p25)};
		uint32_t honest = (uint32_t) log_uniform(mix(i + 5), 1, 3000);
		double allowed = race_rho_allowed(epsilon, delta);
		RaceGaussianBudget budget;
		long double count_rho;
		long double rho;

		if (!race_share_budget(epsilon, delta, &s, honest, RACE_COUNT_SHARE, &budget))
		{
			refused++;
			wrongly_refused += s.counters / 0x1p57 / honest < 0.94 * allowed &&
				s.count / 0x1p57 / honest < 0.049 * allowed;
			continue;
		}
		count_rho = reference_rho(s.count, 1, budget.count_variance, honest);
		rho = count_rho + reference_rho(s.counters, s.cells, budget.counter_variance, honest);
		wrong_variance += !smallest(budget.count_variance, allowed / 20.0L, s.count, 1, honest) ||
			!smallest(budget.counter_variance, allowed - count_rho, s.counters, s.cells, honest);
		wrong_cost += budget.rho < rho || budget.rho > rho * (1 + 1e-11L) || budget.rho > allowed ||
			budget.epsilon > epsilon ||
			budget.epsilon < fmin(epsilon, race_epsilon_of_rho(budget.rho, delta));
	}
	printf("# %d of 2000 plans refused\n", refused);
	ok(wrong_variance == 0, "variances are the smallest that suffice");
	ok(wrong_cost == 0, "the cost is the true one, rounded up, and at most what was asked");
	ok(refused > 100 && refused < 1000 && wrongly_refused == 0,
	   "refused where the noise is too large, and only there");
}

/* What sums of more or fewer shares cost, and one share by itself */
static void
test_merged(void)
{
	const RaceSensitivity sensitivity = {.counters = 1024, .count = 1, .cells = 1 << 25};
	const uint32_t many[] = {62, 63, 64, 65, 66, 1000, 1000000, UINT32_MAX - 1, UINT32_MAX};
	RaceGaussianBudget budget;
	double before = INFINITY;
	int wrong = 0;

	if (!race_share_budget(1, 1e-6, &sensitivity, 100, RACE_COUNT_SHARE, &budget))
		abort();
	for (uint32_t i = 0; i < 60 + sizeof(many) / sizeof(many[0]); i++)
	{
		uint32_t honest = i < 60 ? i + 1 : many[i - 60];
		double rho = race_share_rho(&sensitivity, &budget, honest);

		wrong += !(rho > 0 && rho < before);
		before = rho;
	}
	ok(wrong == 0, "each further share makes the sum more private");
	ok(race_share_rho(&sensitivity, &budget, 100) == budget.rho,
	   "so many shares as were planned cost what was planned");
	ok(fabs(race_share_rho(&sensitivity, &budget, 1) / (100 * budget.rho) - 1) < 1e-9,
	   "one share of a hundred costs whoever sees it a hundred times that");
	ok(race_share_rho(&sensitivity, &budget, 0) == INFINITY,
	   "nothing protects where no share is honest");

	budget.counter_variance = budget.count_variance = RACE_MIN_SHARE_VARIANCE;
	ok(race_share_rho(&sensitivity, &budget, UINT32_MAX) <
		   race_share_rho(&sensitivity, &budget, UINT32_MAX - 1),
	   "also where variances are smallest, and sums longest");
}

/* ------------------------------------------------------ hostile arguments */

static bool
plans(double epsilon, double delta, uint128 counters, uint128 count, uint64_t cells,
	  uint32_t honest)
{
	const RaceSensitivity sensitivity = {counters, count, cells};
	RaceGaussianBudget budget;

	return race_share_budget(epsilon, delta, &sensitivity, honest, RACE_COUNT_SHARE, &budget);
}

static void
test_hostile(void)
{
	const uint128 largest = ((uint128) 1 << 100) - 1;

	ok(!plans(NAN, 1e-6, 1, 1, 1, 1) && !plans(1, NAN, 1, 1, 1, 1) &&
		   !plans(INFINITY, 1e-6, 1, 1, 1, 1) && !plans(-1, 1e-6, 1, 1, 1, 1) &&
		   !plans(0, 1e-6, 1, 1, 1, 1) && !plans(1, 0, 1, 1, 1, 1) &&
		   !plans(1, -1e-6, 1, 1, 1, 1) && !plans(1, 1, 1, 1, 1, 1),
	   "epsilon and delta outside their limits are refused");
	ok(!plans(1, 1e-6, 0, 1, 1, 1) && !plans(1, 1e-6, 1, 0, 1, 1) && !plans(1, 1e-6, 1, 1, 0, 1) &&
		   !plans(1, 1e-6, largest + 1, 1, 1, 1) && !plans(1, 1e-6, 1, ~(uint128) 0, 1, 1),
	   "so are sensitivities of nothing, and beyond their limit");
	ok(!plans(1, 1e-6, 1, 1, 1, 0), "so are sums without an honest share");
	ok(!plans(1, 1e-6, largest, 1, 1, UINT32_MAX) && !plans(1, 1e-6, 1, largest, 1, UINT32_MAX) &&
		   !plans(RACE_MIN_EPSILON, RACE_MIN_DELTA, 1, 1, 1, 1),
	   "so is noise beyond the largest variance");
	ok(plans(RACE_MAX_EPSILON, 0.5, 1, 1, UINT64_MAX, UINT32_MAX) &&
		   plans(RACE_MAX_EPSILON, RACE_MIN_DELTA, largest >> 43, 1, 1, 1),
	   "what lies just within all limits is not");
	ok(race_rho_of_sum(1, 1, 0, 5) == INFINITY && race_rho_of_sum(1, 1, 5, 0) == INFINITY &&
		   race_rho_of_sum(1, 1, UINT64_MAX, UINT32_MAX) > 0 &&
		   race_rho_of_sum(~(uint128) 0, UINT64_MAX, 1, UINT32_MAX) < INFINITY &&
		   race_rho_of_sum(0, 1, 1, 1) < 1e-300,
	   "sums of nothing, and enormous ones");
}

static void
test_honest(void)
{
	ok(race_honest_shares(10, 1, 2) == 7 && race_honest_shares(1, 0, 0) == 1 &&
		   race_honest_shares(UINT32_MAX, 0, 0) == UINT32_MAX,
	   "honest shares are those of the parties that neither collude nor drop out");
	ok(race_honest_shares(0, 0, 0) == 0 && race_honest_shares(3, 1, 2) == 0 &&
		   race_honest_shares(3, 4, 0) == 0 && race_honest_shares(5, UINT32_MAX, UINT32_MAX) == 0 &&
		   race_honest_shares(UINT32_MAX, UINT32_MAX, 2) == 0,
	   "and never fewer than none");
}

int
main(void)
{
	test_deviation();
	test_divergence();
	test_plans();
	test_known_sums();
	test_known_plans();
	test_random_plans();
	test_merged();
	test_hostile();
	test_honest();
	return done_testing();
}
