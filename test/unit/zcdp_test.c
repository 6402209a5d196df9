/*
 * zcdp_test.c
 *		Between rho and (epsilon, delta), against references that share no code.
 */
#include "helpers.h"
#include "tap.h"
#include "privacy/budget.h"
#include "privacy/payment.h"

#define TOLERANCE 1e-9 /* relative */

/* ------------------------------------------------------------- reference */

/*
 * log delta at one order alpha = 1 + a, as in Canonne, Kamath & Steinke 2020,
 * corollary 13
 */
static long double
order(long double a, long double rho, long double epsilon)
{
	return a * ((1 + a) * rho - epsilon) - (1 + a) * log1pl(1 / a) - logl(a);
}

/* epsilon, where the third argument is log delta */
static long double
order_for_epsilon(long double a, long double rho, long double log_delta)
{
	return (1 + a) * rho - ((1 + a) * log1pl(1 / a) + logl(a) + log_delta) / a;
}

/* The least of one of them: a grid over log a, and finer ones where it is least */
static long double
least_on_grids(long double (*f)(long double, long double, long double), long double x,
			   long double y)
{
	long double low = -60;
	long double high = 400;
	int points = 1000;
	long double best = INFINITY;

	while (high - low > 1e-9L)
	{
		long double step = (high - low) / points;
		long double where = low;

		best = INFINITY;
		for (int i = 0; i <= points; i++)
		{
			long double value = f(expl(low + i * step), x, y);

			if (value < best)
			{
				best = value;
				where = low + i * step;
			}
		}
		low = where - 2 * step;
		high = where + 2 * step;
		points = 40;
	}
	return best;
}

static long double
true_log_delta(double rho, double epsilon)
{
	return least_on_grids(order, rho, epsilon);
}

static long double
true_epsilon(double rho, double delta)
{
	return fmaxl(least_on_grids(order_for_epsilon, rho, logl(delta)), 0);
}

/* x at most relative TOLERANCE below, or above, what is true; and never beyond */
static bool
just_below(double x, long double exact)
{
	return x <= exact && x >= exact * (1 - TOLERANCE);
}

static bool
just_above(double x, long double exact)
{
	return x >= exact && x <= exact * (1 + TOLERANCE);
}

/* ----------------------------------------------------------------- tests */

/* With 40 digits, by Python's mpmath */
static void
test_known(void)
{
	static const struct
	{
		double epsilon;
		double delta;
		long double rho;
	} rhos[] = {{1, 1e-6, 0.0243559703595383727962L},        {1, 1e-5, 0.0305565951976395658859L},
				{0.1, 1e-6, 0.000321047690345740128885L},    {10, 1e-6, 1.53927876386672851063L},
				{3, 1e-10, 0.107886584338860703124L},        {1, 0.5, 1.01636434203787487589L},
				{1e-9, 1e-300, 3.77721286682183889495e-22L}, {1e-9, 0.5, 0.38575589441447657698L},
				{0.001, 1e-12, 1.54046426243434606299e-8L},  {100, 1e-9, 42.3802117218930644242L},
				{1e6, 1e-6, 992600.303862711105667L},        {1e15, 1e-6, 999999764921244.53983L},
				{1e15, 1e-300, 999998337743260.28184L},      {0.5, 0.99, 5.05534019080002072273L},
				{20, 0.01, 8.86612762727517008684L}};
	static const struct
	{
		double rho;
		double delta;
		long double epsilon;
	} epsilons[] = {
		{2.56, 1e-10, 17.1583087121047461659L},      {0.5, 1e-6, 5.22153444453016905344L},
		{0.07, 1e-10, 2.38727517671797408964L},      {1e-6, 1e-9, 0.00680406082220621853686L},
		{1e-20, 1e-300, 5.15170082840398379942e-9L}, {100, 1e-5, 165.621904032445195906L},
		{1e12, 1e-8, 1000008583850.74638162L},       {0.0225, 1e-6, 0.958459050188250905703L},
		{5, 0.1, 10.0732523676809014891L},           {1e29, 1e-6, 1.00000000000002342221e29L}};
	static const struct
	{
		double rho;
		double epsilon;
		long double delta;
	} deltas[] = {
		{0.5, 3, 0.00514318406386214929118L},      {0.5, 10, 9.25112319055653597951e-22L},
		{0.02, 1, 8.82525498722115300139e-8L},     {1e-6, 0.01, 1.01691807234765063745e-15L},
		{10, 10, 0.788311676666225141445L},        {3, 50, 4.99172430861507119432e-82L},
		{1e-18, 1e-8, 1.01184642870114033873e-21L}};
	int wrong = 0;

	for (size_t i = 0; i < sizeof(rhos) / sizeof(rhos[0]); i++)
		wrong += !just_below(race_rho_allowed(rhos[i].epsilon, rhos[i].delta), rhos[i].rho);
	ok(wrong == 0, "known values of the rho that is allowed, rounded down");

	wrong = 0;
	for (size_t i = 0; i < sizeof(epsilons) / sizeof(epsilons[0]); i++)
		wrong += !just_above(race_epsilon_of_rho(epsilons[i].rho, epsilons[i].delta),
							 epsilons[i].epsilon) ||
			fabsl(true_epsilon(epsilons[i].rho, epsilons[i].delta) / epsilons[i].epsilon - 1) >
				1e-13L;
	ok(wrong == 0, "known values of epsilon, rounded up, and of the reference");

	wrong = 0;
	for (size_t i = 0; i < sizeof(deltas) / sizeof(deltas[0]); i++)
		wrong += fabsl(expl(true_log_delta(deltas[i].rho, deltas[i].epsilon)) / deltas[i].delta -
					   1) > 1e-13L;
	ok(wrong == 0, "known values of delta, of the reference");
}

/* Is this rho the largest allowed, rounded down? */
static bool
largest_allowed(double rho, double epsilon, double delta)
{
	return rho > 0 && isfinite(rho) && true_log_delta(rho, epsilon) <= logl(delta) &&
		true_log_delta(rho * (1 + TOLERANCE), epsilon) > logl(delta);
}

static void
test_rho_allowed(void)
{
	int wrong = 0;
	int too_close = 0;

	for (uint64_t i = 0; i < 1600; i += 2)
	{
		double epsilon = log_uniform(mix(i), 1e-4, 1e4);
		double delta = log_uniform(mix(i + 1), 1e-20, 0.9);
		double rho = race_rho_allowed(epsilon, delta);

		wrong += !largest_allowed(rho, epsilon, delta);
		/* the simple conversion rho + 2 sqrt(rho log(1 / delta)), and others */
		too_close += largest_allowed(pow(sqrt(epsilon - log(delta)) - sqrt(-log(delta)), 2),
									 epsilon, delta) ||
			largest_allowed(rho * (1 + 2e-9), epsilon, delta) ||
			largest_allowed(rho * (1 - 2e-9), epsilon, delta);
	}
	ok(wrong == 0, "rho is the largest that random epsilon and delta allow");
	ok(too_close == 0, "control: that of Bun & Steinke's conversion, or 2e-9 off, is not");
}

/* All pairs of the limits and what lies between */
static void
test_extremes(void)
{
	static const double epsilons[] = {
		RACE_MIN_EPSILON, 1e-7, 1e-5, 1e-3, 0.03, 0.5, 1, 5, 40, 1e3, 1e5, 1e7, 1e9, 1e12,
		RACE_MAX_EPSILON};
	static const double deltas[] = {RACE_MIN_DELTA, 1e-200, 1e-100, 1e-40, 1e-16, 1e-9,
									1e-5,           1e-3,   0.1,    0.5,   0.9,   0.99};
	const int n_epsilons = sizeof(epsilons) / sizeof(epsilons[0]);
	const int n_deltas = sizeof(deltas) / sizeof(deltas[0]);
	int wrong = 0;
	int wrong_way_back = 0;

	for (int i = 0; i < n_epsilons; i++)
		for (int j = 0; j < n_deltas; j++)
		{
			double rho = race_rho_allowed(epsilons[i], deltas[j]);
			double epsilon = race_epsilon_of_rho(rho, deltas[j]);

			if (!largest_allowed(rho, epsilons[i], deltas[j]))
			{
				printf("# epsilon %g, delta %g: not rho %.17g\n", epsilons[i], deltas[j], rho);
				wrong++;
			}

			/* epsilon may be a small difference of numbers near 1 */
			if (!(epsilon >= true_epsilon(rho, deltas[j]) &&
				  fabs(epsilon - epsilons[i]) < 1e-8 * epsilons[i] + 1e-11))
			{
				printf("# epsilon %g, delta %g, rho %.17g: back epsilon %.17g\n", epsilons[i],
					   deltas[j], rho, epsilon);
				wrong_way_back++;
			}
		}
	ok(wrong == 0, "rho is the largest allowed, from the smallest to the largest arguments");
	ok(wrong_way_back == 0, "and the way back leads where it came from, from above");

	ok(race_epsilon_of_rho(0, 1e-6) == 0 && race_epsilon_of_rho(INFINITY, 1e-6) == INFINITY &&
		   race_epsilon_of_rho(1e-9, 0.5) == 0 && race_epsilon_of_rho(5e-324, 1e-300) > 0,
	   "no cost costs nothing, and enormous costs are bounds");
}

static void
test_epsilon(void)
{
	int wrong = 0;

	for (uint64_t i = 0; i < 3000; i += 3)
	{
		double rho = log_uniform(mix(i), 1e-8, 1e4);
		double delta = log_uniform(mix(i + 1), 1e-20, 1e-2);
		double epsilon = race_epsilon_of_rho(rho, delta);
		long double exact = true_epsilon(rho, delta);

		/* a small epsilon is a difference of numbers of its order times log delta */
		wrong += !(epsilon >= exact && epsilon <= exact * (1 + TOLERANCE) + 1e-12);
	}
	ok(wrong == 0, "epsilon of rho is the least, rounded up");
}

/* ------------------------------------------------------ the exact account */

#define EXACT_TOLERANCE 1e-7 /* where epsilon is small, delta is a difference of larger numbers */

static void
test_gaussian_known(void)
{
	/* with 400 digits, by series, in Python's decimal */
	static const struct
	{
		double epsilon;
		double delta;
		long double allowed;
	} known[] = {
		{1, 1e-6, 0.0280144819126303384190L},         {1, 1e-5, 0.0359257023274182172686L},
		{0.1, 1e-6, 0.0003793538785273965284L},       {10, 1e-6, 1.7077963249967538842836L},
		{3, 1e-10, 0.1175671636670091519492L},        {1, 0.5, 1.9446555227322320293062L},
		{0.001, 1e-12, 1.7068915554104763514942e-8L}, {20, 0.01, 10.262592230730739998452L},
		{100, 1e-9, 44.310272916735057338571L},       {1e-9, 0.5, 0.9098728473004096248794L},
		{0.5, 1e-60, 0.0004865393984637421113L}};
	int wrong = 0;
	int wrong_way_back = 0;
	double allowed = race_gaussian_allowed(1000, 1e-6);

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
	{
		double x = race_gaussian_allowed(known[i].epsilon, known[i].delta);
		double epsilon = race_gaussian_epsilon(x, known[i].delta);

		wrong += !(x <= known[i].allowed && x > known[i].allowed * (1 - EXACT_TOLERANCE));
		wrong_way_back +=
			fabs(epsilon - known[i].epsilon) > EXACT_TOLERANCE * known[i].epsilon + 1e-10;
	}
	ok(wrong == 0, "known values of what the exact account allows, rounded down");
	ok(wrong_way_back == 0, "and the way back");
	ok(allowed == race_rho_allowed(1000, 1e-6) &&
		   fabs(race_gaussian_epsilon(allowed, 1e-6) - 1000) < 1e-6,
	   "where epsilon is large, it is zCDP");
}

#define MOST_CHANGES 16
#define REACH 14 /* deviations: what is beyond has a probability below 1e-42 */

/* The probabilities of a sum from -most to most */
typedef struct Sum
{
	int most;
	long double *p;
} Sum;

/* Add a discrete Gaussian draw, so many times. */
static void
add_draw(Sum *sum, int times, uint64_t variance)
{
	int reach = REACH * ((int) sqrt((double) variance) + 1);
	int most = sum->most + reach * abs(times);
	long double *p = calloc(2 * (size_t) most + 1, sizeof(long double));
	long double total = 0;

	for (int x = -reach; x <= reach; x++)
		total += expl(-(long double) x * x / (2 * (long double) variance));
	for (int x = -reach; x <= reach; x++)
	{
		long double at = expl(-(long double) x * x / (2 * (long double) variance)) / total;

		for (int i = 0; i <= 2 * sum->most; i++)
			p[i - sum->most + x * times + most] += sum->p[i] * at;
	}
	free(sum->p);
	sum->p = p;
	sum->most = most;
}

/* The variances that an account pays for, with an eighth for the count */
#define COUNT_SHARE 8

static bool
pay_release(double epsilon, double delta, uint64_t squares, RaceGaussianBudget *budget)
{
	RaceRequest request = {.epsilon = epsilon,
						   .delta = delta,
						   .max_contributions = 1,
						   .neighbors = RACE_NEIGHBORS_ADD_REMOVE};
	RaceAccount account;

	race_account_open(&account, NULL, &request,
					  COUNT_SHARE * fmin((double) squares / (COUNT_SHARE - 1), 1));
	budget->count_variance = race_pay(&account, race_account_allowed(&account) / COUNT_SHARE,
									  race_change_of_counters(&account, 1, 1));
	budget->counter_variance = race_pay(&account, race_account_left(&account),
										race_change_of_counters(&account, squares, squares));
	budget->rho = race_account_cost(&account);
	return budget->count_variance > 0 && budget->counter_variance > 0;
}

/* The exact delta of counters that change by so much, and of a count that changes by 1 */
static long double
enumerate(const RaceGaussianBudget *budget, const int *change, int n, long double epsilon)
{
	long double v = (long double) budget->counter_variance;
	long double w = (long double) budget->count_variance;
	Sum counters = {0, calloc(1, sizeof(long double))};
	Sum count = {0, calloc(1, sizeof(long double))};
	long double squares = 0;
	long double delta = 0;

	counters.p[0] = count.p[0] = 1;
	add_draw(&count, 1, budget->count_variance);
	for (int i = 0; i < n; i++)
	{
		add_draw(&counters, change[i], budget->counter_variance);
		squares += (long double) change[i] * change[i];
	}
	for (int i = -counters.most; i <= counters.most; i++)
		for (int j = -count.most; j <= count.most; j++)
		{
			long double loss = (squares - 2 * i) / (2 * v) + (1 - 2 * (long double) j) / (2 * w);

			if (loss <= epsilon)
				break; /* it falls with j */
			delta -=
				counters.p[i + counters.most] * count.p[j + count.most] * expm1l(epsilon - loss);
		}
	free(counters.p);
	free(count.p);
	return delta;
}

/* Small releases, against all outcomes that are likely at all */
static void
test_enumerated(void)
{
	static const struct
	{
		double epsilon;
		double delta;
		int n;
		int change[MOST_CHANGES];
	} cases[] = {{1, 1e-6, 8, {1, 1, 1, 1, 1, 1, 1, 1}},
				 {1, 1e-6, 2, {1, 1}},
				 {0.5, 1e-4, 3, {1, 1, 1}},
				 {2, 1e-6, 12, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
				 {1, 1e-6, 3, {3, -1, 2}},
				 {1, 1e-9, 1, {5}},
				 {0.7, 0.01, 4, {1, 2, 3, -4}},
				 {0.3, 1e-3, 1, {1}}};
	int wrong = 0;
	int in_zcdp = 0;
	int caught = 0;
	int n_cases = sizeof(cases) / sizeof(cases[0]);

	for (int i = 0; i < n_cases; i++)
	{
		RaceGaussianBudget budget = {0};
		uint64_t squares = 0;
		long double delta;

		for (int j = 0; j < cases[i].n; j++)
			squares += (uint64_t) (cases[i].change[j] * cases[i].change[j]);
		wrong += !pay_release(cases[i].epsilon, cases[i].delta, squares, &budget);
		in_zcdp += budget.rho <= race_rho_allowed(cases[i].epsilon, cases[i].delta);
		delta = enumerate(&budget, cases[i].change, cases[i].n, cases[i].epsilon);
		printf("# epsilon %g, variances %llu and %llu: %.3Lf of delta\n", cases[i].epsilon,
			   (unsigned long long) budget.counter_variance,
			   (unsigned long long) budget.count_variance, delta / cases[i].delta);
		wrong += !(delta <= cases[i].delta && delta > 0.1L * cases[i].delta);
		budget.counter_variance -= budget.counter_variance / 4;
		budget.count_variance -= budget.count_variance / 4;
		caught +=
			enumerate(&budget, cases[i].change, cases[i].n, cases[i].epsilon) > cases[i].delta;
	}
	ok(wrong == 0, "of small releases, delta is at most what was asked, by enumeration");
	ok(in_zcdp == 0, "which zCDP does not say of them");
	ok(caught == n_cases, "control: three quarters of the variance are too little");
}

int
main(void)
{
	test_known();
	test_rho_allowed();
	test_extremes();
	test_epsilon();
	test_gaussian_known();
	test_enumerated();
	return done_testing();
}
