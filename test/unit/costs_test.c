/*
 * costs_test.c
 *		Every function of costs on a grid of all arguments: each ends, and no recorded cost is
 *		above what was asked.
 *
 * Arguments include numbers outside of the limits that callers check: there a function may give any
 * answer that costs no more, but must end.  A call that takes more than LIMIT seconds of processor
 * time, thousands of times what it needs, fails the test.  test/t/009_bounds.pl looks that no
 * function is missing.
 */
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "privacy/account.h"
#include "privacy/budget.h"
#include "privacy/cost.h"
#include "privacy/noise.h"
#include "privacy/release_request.h"
#include "privacy/sampler.h"
#include "privacy/series.h"
#include "privacy/shares.h"
#include "privacy/threshold.h"
#include "privacy/wishart.h"
#include "hash/contingency.h"
#include "hash/kernel.h"
#include "hash/kind.h"
#include "hash/params.h"
#include "choice/choose_bounds.h"
#include "choice/plan.h"
#include "choice/choose_tables.h"
#include "choice/release_kind.h"
#include "privacy/look.h"
#include "privacy/payment.h"
#include "privacy/score.h"
#include "privacy/select.h"
#include "privacy/signs.h"
#include "helpers.h"
#include "tap.h"

#define LIMIT 10 /* seconds; found out after at most twice as many */
#define N(array) ((int) (sizeof(array) / sizeof((array)[0])))

static const double epsilons[] = {
	-1,  0,   5e-324, 1e-310,           1e-300, 1e-15, RACE_MIN_EPSILON, 1e-6, 0.001, 0.1, 1, 10,
	500, 501, 1e6,    RACE_MAX_EPSILON, 1e17,   1e300, INFINITY,         NAN};
static const double deltas[] = {0,    -1,  5e-324, RACE_MIN_DELTA, 1e-100, 1e-15, 1e-6,
								0.01, 0.3, 0.5,    0.999999,       1,      2,     NAN};
static const double rhos[] = {0, 5e-324, 1e-300, 1e-20, 1e-6, 1, 1e6, 1e30};

/* ------------------------------------------------------ the limit of time */

static volatile sig_atomic_t calls = 0;
static const char *volatile asked = "";
static volatile double asked_epsilon;
static volatile double asked_delta;

/* Fail if the call that ran at the last tick still runs. */
static void
tick(int number)
{
	static sig_atomic_t before = -1;
	char line[200];

	(void) number;
	if (calls == before)
	{
		int n = snprintf(line, sizeof(line), "not ok - %s does not end at epsilon %g, delta %g\n",
						 asked, asked_epsilon, asked_delta);

		if (write(1, line, (size_t) n) < 0)
			_exit(2);
		_exit(1);
	}
	before = calls;
}

static void
start_limit(void)
{
	struct itimerval every = {{LIMIT, 0}, {LIMIT, 0}};

	signal(SIGVTALRM, tick);
	if (setitimer(ITIMER_VIRTUAL, &every, NULL) != 0)
		abort();
}

/* Call a function, with a note of it */
#define ASK(function, ...) (calls++, asked = #function, function(__VA_ARGS__))

/* ------------------------------------------------------------ what is wrong */

static int wrong = 0;
static int good = 0;

static void
check(bool right, const char *what)
{
	if (right)
		good++;
	else if (wrong++ < 20)
		printf("# %s: %s, epsilon %g, delta %g\n", asked, what, asked_epsilon, asked_delta);
}

/* What was found since the last time: nothing wrong, and at least so many answers */
static void
found(int least, const char *what)
{
	ok(wrong == 0 && good >= least, "%s: %d answers, %d wrong", what, good, wrong);
	wrong = good = 0;
}

static bool
is_epsilon(double epsilon)
{
	return epsilon >= RACE_MIN_EPSILON && epsilon <= RACE_MAX_EPSILON;
}

static bool
is_delta(double delta)
{
	return delta >= RACE_MIN_DELTA && delta < 1;
}

/* Is a recorded cost a number that is not above what was asked? */
static bool
costs(double recorded, double most)
{
	return isfinite(recorded) && recorded >= 0 && recorded <= most;
}

typedef void Try(double epsilon, double delta);

static void
on_grid(Try *try)
{
	for (int i = 0; i < N(epsilons); i++)
		for (int j = 0; j < N(deltas); j++)
		{
			asked_epsilon = epsilons[i];
			asked_delta = deltas[j];
			try(epsilons[i], deltas[j]);
		}
}

/* ----------------------------------------------------------------- accounts */

static void
try_accounts(double epsilon, double delta)
{
	double rho = ASK(race_rho_allowed, epsilon, delta);
	double allowed = ASK(race_gaussian_allowed, epsilon, delta);
	double squares[] = {1, 1e-300, 1e30};
	bool valid = is_epsilon(epsilon) && is_delta(delta);

	if (valid)
	{
		check(isfinite(rho) && rho >= 0, "rho");
		check(isfinite(allowed) && allowed >= rho, "more than zCDP");
		check(ASK(race_epsilon_of_rho, rho, delta) <= epsilon * (1 + 1e-9) + 1e-9,
			  "there and back in zCDP");
		check(ASK(race_gaussian_epsilon, allowed, delta) <= epsilon * (1 + 1e-9) + 1e-9,
			  "there and back");
	}
	for (int i = 0; i < 2 * N(squares); i++)
	{
		RaceGaussianAccount account =
			ASK(race_gaussian_account, epsilon, delta, i % 2 == 1, squares[i / 2]);

		check(!valid || (isfinite(account.allowed) && account.allowed <= allowed), "account");
	}
	check(!is_epsilon(epsilon) || ASK(race_rho_of_pure, epsilon) >= epsilon * epsilon / 2,
		  "rho of pure epsilon");
	for (int i = 0; i < N(rhos); i++)
	{
		RaceTotal total = {0, 0, 0, 0};
		double in_zcdp = ASK(race_epsilon_of_rho, rhos[i], delta);
		double exact = ASK(race_gaussian_epsilon, rhos[i], delta);

		ASK(race_total_add, &total, epsilon, delta, rhos[i]);
		check(!is_delta(delta) || costs(in_zcdp, 1e31), "epsilon of rho");
		check(!is_delta(delta) || (exact >= 0 && exact <= in_zcdp * (1 + 1e-9) + 1e-9),
			  "exact epsilon");
		check(ASK(race_total_zcdp, &total, delta) >= 0, "total in zCDP");
		check(!is_epsilon(epsilon) || !(delta >= 0) ||
				  ASK(race_total_basic, &total, delta) >= epsilon,
			  "total");
	}
}

/* ------------------------------------------------------------------ budgets */

static const uint64_t sensitivities[] = {1, 3, 1000, (uint64_t) 1 << 31, RACE_MAX_SENSITIVITY};

static bool
is_scale(uint64_t scale)
{
	return scale >= 1 && scale <= RACE_MAX_SCALE && ASK(race_discrete_laplace_variance, scale) >= 0;
}

static void
try_pure(double epsilon, double delta)
{
	(void) delta;
	for (int i = 0; i < N(sensitivities); i++)
	{
		uint64_t scale = ASK(race_scale_for_epsilon, epsilon, sensitivities[i]);
		RaceRequest request = {.epsilon = epsilon,
							   .neighbors = RACE_NEIGHBORS_SUBSTITUTE,
							   .max_contributions = sensitivities[i] <= INT32_MAX ?
								   (uint32_t) sensitivities[i] :
								   INT32_MAX};
		RaceBounds bounds;

		check(scale == 0 ||
				  (is_scale(scale) &&
				   costs(race_epsilon_of_draw(sensitivities[i], scale), race_up(race_up(epsilon)))),
			  "a scale");
		check(ASK(race_bounds_start, &bounds, &request) ?
				  epsilon > 0 :
				  !(epsilon >= 1 && epsilon <= RACE_MAX_EPSILON),
			  "bounds");
	}
}

static void
try_wishart(double epsilon, double delta)
{
	static const uint32_t columns[] = {1, 2, 33, RACE_WISHART_COLUMNS, RACE_WISHART_COLUMNS + 1};
	static const uint64_t traces[] = {1, 1000, (uint64_t) 1 << 19};

	(void) delta;
	for (int i = 0; i < N(columns); i++)
		for (int j = 0; j < N(traces); j++)
			for (uint64_t records = 1; records <= (uint64_t) 1 << 31; records <<= 10)
			{
				RaceWishartBudget budget;

				if (ASK(race_wishart_budget, epsilon, columns[i], records, traces[j], &budget))
					check(costs(budget.epsilon, epsilon) && is_scale(budget.entry_scale) &&
							  is_scale(budget.scale) && isfinite(budget.variance),
						  "budget");
				check(isfinite(ASK(race_wishart_steps, columns[i])), "steps");
			}
}

/* ----------------------------------------------------------------- payments */

/* Exact counters of each kind of summary, without any: rows, tables, a grid and moments */
static const RaceShape shapes[] = {
	{.blocks = 16, .unit = 1, .range = 16},
	{.blocks = 3, .unit = 4096, .range = 24},
	{.blocks = 1, .unit = 4096, .range = 17 * 17, .nodes = {2, {16, 16}}, .halvings = 3},
	{.columns = 4, .squared = UINT64_C(70000000)},
	{.columns = RACE_WISHART_COLUMNS, .squared = UINT64_C(70000000), .absolute = true}};

static const RaceShape *paid_shape; /* of what is paid for */

typedef uint64_t Payment(RaceAccount *account, const RaceExact *exact, double price);

static uint64_t
pay_number(RaceAccount *account, const RaceExact *exact, double price)
{
	(void) exact;
	return ASK(race_pay, account, price, race_change_of_counters(account, 3, 5));
}

static uint64_t
pay_largest(RaceAccount *account, const RaceExact *exact, double price)
{
	(void) exact;
	return ASK(race_pay, account, price, race_change_of_score(account, UINT32_MAX));
}

static uint64_t
pay_epsilon(RaceAccount *account, const RaceExact *exact, double price)
{
	(void) exact;
	return ASK(race_pay_epsilon, account, price, price > 0 ? price / 2 : 1e-300);
}

static uint64_t
pay_count(RaceAccount *account, const RaceExact *exact, double price)
{
	return ASK(race_measure_count, account, exact, price, NULL);
}

static uint64_t
pay_blocks(RaceAccount *account, const RaceExact *exact, double price)
{
	return ASK(race_measure_blocks, account, exact, 2, price, NULL);
}

static uint64_t
pay_levels(RaceAccount *account, const RaceExact *exact, double price)
{
	static const int halvings[] = {1, 3};

	return ASK(race_measure_levels, account, exact, halvings, 2, price, NULL, NULL);
}

static uint64_t
pay_sums(RaceAccount *account, const RaceExact *exact, double price)
{
	return ASK(race_measure_sums, account, exact, NULL, price, NULL, NULL);
}

static uint64_t
pay_products(RaceAccount *account, const RaceExact *exact, double price)
{
	RaceProductsNoise noise = {0};

	return paid_shape->columns > 0 && ASK(race_plan_products, account, paid_shape, price, &noise) &&
			ASK(race_measure_products, account, exact, price, &noise, false, NULL, NULL) ?
		noise.noise :
		0;
}

static uint64_t
pay_signs(RaceAccount *account, const RaceExact *exact, double price)
{
	RaceSigns signs = {.columns = 5};
	double variance = NAN;

	return ASK(race_measure_signs, account, exact, &signs, price, NULL, NULL, &variance) &&
		variance > 0;
}

static uint64_t
pay_norms(RaceAccount *account, const RaceExact *exact, double price)
{
	return ASK(race_look_norms, account, exact, price, NULL);
}

static uint64_t
pay_details(RaceAccount *account, const RaceExact *exact, double price)
{
	return ASK(race_look_details, account, exact, 1, price, NULL, NULL);
}

static uint64_t
pay_distance(RaceAccount *account, const RaceExact *exact, double price)
{
	return ASK(race_score_distance, account, exact, NULL, NULL, price, NULL, NULL);
}

static uint64_t
pay_unevenness(RaceAccount *account, const RaceExact *exact, double price)
{
	return ASK(race_score_unevenness, account, exact, 0, 0, 4, price, NULL, NULL);
}

static uint64_t
pay_select(RaceAccount *account, const RaceExact *exact, double price)
{
	static const RaceCandidate candidates[] = {{0, 3, 100}, {1, 1, 0}, {RACE_NO_SCORE, 0, 0}};

	return ASK(race_select, account, exact, NULL, candidates, 3, price, NULL);
}

static uint64_t
pay_selection(RaceAccount *account, const RaceExact *exact, double price)
{
	(void) exact;
	return ASK(race_pay_selection, account, price, race_change_of_score(account, 6));
}

static Payment *const payments[] = {pay_selection, pay_number,     pay_largest, pay_epsilon,
									pay_count,     pay_blocks,     pay_levels,  pay_sums,
									pay_products,  pay_signs,      pay_norms,   pay_details,
									pay_distance,  pay_unevenness, pay_select};

/* Pay all kinds of prices from an account, one after the other, some of them more than is left. */
static void
try_account(RaceAccount account, bool valid)
{
	double all = race_account_allowed(&account);
	double prices[] = {-1,         0,        NAN,     5e-324,  1e-300,
					   all / 1000, all / 20, all / 2, 2 * all, INFINITY};
	double left = race_account_left(&account);

	check(!valid ||
			  (ASK(race_price_within, &account, 2 * all) == left &&
			   race_price_within(&account, all / 2) == all / 2),
		  "a price above what is left");
	for (int i = 0; i < N(prices); i++)
		for (int j = 0; j < N(payments); j++)
		{
			RaceExactMemory memory;
			uint64_t noise;

			paid_shape = &shapes[(i + j) % N(shapes)];
			noise = payments[j](&account, race_exact_begin(&memory, paid_shape), prices[i]);
			if (!valid)
				continue;
			check(noise <= RACE_MAX_SCALE &&
					  race_account_variance(&account, noise > 0 ? noise : 1) >= 0,
				  "noise");
			check(noise == 0 || prices[i] > 0, "noise for no price");
			check(race_account_left(&account) <= left, "more is left after a payment");
			check(costs(race_account_cost(&account), all), "payments cost more");
			left = race_account_left(&account);
		}
	check(!valid || account.records > 1 || all < 1e-12 || race_account_left(&account) <= all * 1e-9,
		  "a price above what is left takes all");
}

static void
try_payments(double epsilon, double delta)
{
	static const double squares[] = {0, 1, 1e30};
	bool valid = is_epsilon(epsilon) && (delta == 0 || is_delta(delta));

	for (int i = 0; i < 4 * N(squares); i++)
	{
		RaceRequest request = {.epsilon = epsilon,
							   .delta = delta,
							   .max_contributions = i % 3 == 0 ? INT32_MAX : 1,
							   .zcdp = i % 2 == 1,
							   .neighbors = i / 2 % 2 == 0 ? RACE_NEIGHBORS_ADD_REMOVE :
															 RACE_NEIGHBORS_SUBSTITUTE};
		RaceAccount account;

		ASK(race_account_open, &account, NULL, &request, squares[i / 4]);
		check(!valid ||
				  costs(race_account_allowed(&account),
						fmax(epsilon, race_gaussian_allowed(epsilon, delta))),
			  "allowance");
		try_account(account, valid);
		ASK(race_account_open_share, &account, NULL, &request, 7, 9, 1);
		check(race_pay(&account, 0, race_change_of_counters(&account, 1, 1)) == 7 &&
				  race_pay(&account, 0, race_change_of_counters(&account, 1, 1)) == 9 &&
				  race_pay(&account, 1, race_change_of_counters(&account, 1, 1)) == 0,
			  "a share is drawn twice");
	}
}

static void
try_shares(double epsilon, double delta)
{
	static const uint32_t parties[] = {0, 1, 2, 3, RACE_MAX_PARTIES};

	for (int i = 0; i < N(parties); i++)
		for (int j = 0; j < N(sensitivities); j++)
		{
			unsigned __int128 one = sensitivities[j];
			RaceSensitivity sensitivity = {one * one, one, sensitivities[j]};
			uint32_t honest = ASK(race_honest_shares, parties[i], i % 2, 0);
			RaceGaussianBudget budget;

			if (!ASK(race_share_budget, epsilon, delta, &sensitivity, honest, RACE_COUNT_SHARE,
					 &budget))
				continue;
			check(costs(budget.epsilon, epsilon) &&
					  costs(budget.rho, ASK(race_rho_allowed, epsilon, delta)),
				  "budget");
			check(costs(ASK(race_share_rho, &sensitivity, &budget, honest), budget.rho), "rho");
			check(!isnan(ASK(race_rho_of_sum, one, 7, budget.counter_variance, honest)),
				  "rho of a sum");
		}
}

static void
try_variances(double rho, double delta)
{
	(void) delta;
	for (int i = 0; i < 110; i += 7)
	{
		uint64_t variance = ASK(race_variance_for_rho, rho, (unsigned __int128) 1 << i);

		check(variance == 0 || ldexp(1, i) / (2 * (double) variance) <= rho * (1 + 1e-12),
			  "variance");
	}
}

static void
try_threshold(double epsilon, double delta)
{
	static const uint64_t categories[] = {1, 30, 1000000, (uint64_t) 1 << 32};

	for (int i = 0; i < N(categories); i++)
	{
		RaceThreshold threshold;

		for (int exact = 0; exact <= 1; exact++)
			if (ASK(race_threshold_plan, epsilon, delta, categories[i], exact, &threshold))
				check(threshold.noise >= 1 && threshold.least >= 1 && threshold.reach >= 0 &&
						  (!is_epsilon(epsilon) || !is_delta(delta) || isfinite(threshold.rho)),
					  "threshold");
	}
}

/* What choices cost that pay from the account of what is counted, after others took a part of it */
static void
try_joint(const RaceRequest *request, double squared)
{
	double most = race_gaussian_allowed(request->epsilon, request->delta);
	double taken = request->chosen_variance == 0 ?
		0 :
		race_rho_of_draw(request->chosen_squared, request->chosen_variance);
	RaceAccount account;
	RaceThreshold threshold;

	ASK(race_account_open, &account, NULL, request, squared);
	check(costs(race_account_allowed(&account), taken == 0 ? most : fmax(most - taken, 0)),
		  "what others leave");
	for (int i = 1; i <= 3; i++)
		if (ASK(race_threshold_plan_paid, &account, race_account_allowed(&account) * i / 3, 2,
				request->max_contributions, request->delta, &threshold))
			check(threshold.mechanism == RACE_MECHANISM_GAUSSIAN && threshold.noise >= 1 &&
					  threshold.least >= 1 && threshold.reach == 0 && isfinite(threshold.rho),
				  "threshold");
	check(costs(race_account_cost(&account), race_account_allowed(&account)), "choices cost more");
	ASK(race_account_open_share, &account, NULL, request, 1, 1, 1);
	check(race_account_allowed(&account) == 0, "a share buys more");
}

static void
try_choices(double epsilon, double delta)
{
	static const uint64_t variances[] = {0, 1, 5, 1000, (uint64_t) 1 << 40};
	static const uint32_t persons[] = {1, 7, INT32_MAX};

	if (!is_epsilon(epsilon) || !is_delta(delta))
		return;
	for (int i = 0; i < N(persons) * N(variances) * 4; i++)
	{
		RaceRequest request = {.epsilon = epsilon,
							   .delta = delta,
							   .max_contributions = persons[i % N(persons)],
							   .neighbors = i / N(persons) % 2 == 0 ? RACE_NEIGHBORS_ADD_REMOVE :
																	  RACE_NEIGHBORS_SUBSTITUTE,
							   .zcdp = i / N(persons) / 2 % 2 == 0,
							   .chosen_variance = variances[i / N(persons) / 4]};

		request.chosen_squared = request.chosen_variance > 0 ? 30 : 0;
		try_joint(&request, 1);
		try_joint(&request, 1e6);
	}
}

/* ------------------------------------------------------------------- series */

static const uint32_t levels[] = {1, 2, 3, 6, 17};

/* The cost of all values together, if each has what a length may cost in one of the accounts */
static void
check_together(double each, double rho, double epsilon, double delta, uint32_t lengths)
{
	RaceNoise noise = {.epsilon = each, .delta = delta, .rho = rho};

	ASK(race_series_cost, &noise, lengths);
	check(costs(noise.epsilon, epsilon), "all values cost more");
	check(isfinite(noise.rho) && (delta == 0 || noise.rho <= race_gaussian_allowed(epsilon, delta)),
		  "all values cost more rho");
}

static void
try_series(double epsilon, double delta)
{
	for (int i = 0; i < N(levels); i++)
	{
		double each = ASK(race_series_epsilon, epsilon, delta, levels[i]);

		if (!is_epsilon(epsilon) || (delta != 0 && !is_delta(delta)))
			continue;
		check(each == 0 || (is_epsilon(each) && each <= epsilon), "epsilon of each");
		check(each > 0 || epsilon < 1e-8 || (delta > 0 && epsilon < 1000 * delta), "refused");
		if (each == 0)
			continue;
		check_together(each,
					   delta > 0 ? race_gaussian_allowed(each, delta) : race_rho_of_pure(each),
					   epsilon, delta, levels[i]);
		if (delta > 0)
			check_together(each, race_rho_allowed(each, delta), epsilon, delta, levels[i]);
	}
}

static void
try_intervals(void)
{
	static const uint32_t intervals[] = {0, 1, 7, 8, 365, 65536, UINT32_MAX};
	static const uint32_t numbers[] = {1, 2, 9, 1000, 74896, INT32_MAX, UINT32_MAX};

	for (int i = 0; i < N(intervals); i++)
		for (uint32_t least = 0; least < 9; least++)
		{
			uint32_t lengths = ASK(race_series_levels, intervals[i], least);

			check(lengths >= 1 && lengths <= 11, "lengths");
			check(ASK(race_series_closed, intervals[i], lengths) >= intervals[i] ||
					  intervals[i] > INT32_MAX,
				  "closed values");
		}
	for (int i = 0; i < N(numbers); i++)
		for (int k = 0; k < N(levels); k++)
		{
			uint32_t first;
			uint32_t length;

			ASK(race_series_value, numbers[i], levels[k], &first, &length);
			check(length >= 1 && (uint64_t) first + length <= numbers[i], "intervals of a value");
		}
}

/* -------------------------------------------------------------------- plans */

static const uint32_t contributions[] = {1, 7, INT32_MAX};
static const uint32_t weights[] = {0, 1, 1000, 1 << 20};

#define LENGTHS 3 /* of the values of a series */

/* The parameters of each kind of summary */
static const RaceParams *
params_of(int kind)
{
	static RaceParams rows;
	static RaceParams *made[3];
	static const double numbers[] = {3, 4, 1, 1, 0, 0, 1, 1, 0, 0};
	RaceContingency tables;

	if (made[0] == NULL)
	{
		rows = l2_params(RACE_SEQUENCE_INDEPENDENT, RACE_REHASH_FOLD, 2, 1, 16, 16);
		made[0] = grid_params(RACE_KERNEL_L2, 1, 20, 1);
		made[1] = moments_params(3, 1, RACE_CLIP_NORM);
		made[2] = calloc(1, sizeof(RaceParams) + sizeof(numbers));
		made[2]->kind = RACE_KIND_TABLES;
		made[2]->sequence = RACE_SEQUENCE_INDEPENDENT;
		made[2]->rehash = RACE_REHASH_FOLD;
		made[2]->arrays = RACE_ARRAY_CELLS | RACE_ARRAY_GROUPS;
		made[2]->dims = 2;
		made[2]->bandwidth = made[2]->power = made[2]->rows = 1;
		made[2]->more = sizeof(numbers);
		memcpy(made[2] + 1, numbers, sizeof(numbers));
		race_contingency_of(made[2], &tables);
		made[2]->range = race_contingency_counters(&tables);
	}
	return kind == 0 ? &rows : made[kind - 1];
}

static void
check_plan(const RacePlan *plan, double epsilon, double delta)
{
	const char *problem = race_noise_problem(&plan->noise);

	check(problem == NULL, problem);
	check(costs(plan->noise.epsilon, epsilon), "a plan costs more");
	check(plan->noise.delta <= delta && isfinite(plan->noise.rho), "delta or rho of a plan");
}

/* Rounds of a selection of tables, whose scores are large */
static void
try_rounds(RaceSelect *select)
{
	static uint32_t groups[RACE_GRAPH_COLUMNS][64];
	static int64_t counts[RACE_GRAPH_COLUMNS * 64];
	static int64_t scores[RACE_SELECT_SCORES];
	static RaceCandidate candidates[RACE_SELECT_SCORES + 1];
	double price;

	for (uint32_t i = 0; i < select->columns; i++)
		select->group_of[i] = groups[i];
	for (int i = 0; i < N(counts); i++)
		counts[i] = 1000 * (int64_t) select->unit;
	for (int i = 0; i < N(scores); i++)
		scores[i] = 10000 * (int64_t) select->unit;
	if (!race_select_one_ways(select, 100000))
		return;
	race_select_join(select, counts);
	race_select_all(select);
	/* bound: the rounds of a selection */
	while ((price = race_select_round(select)) > 0)
	{
		if (select->pure)
			(void) ASK(race_select_qualities, select, price, candidates);
		ASK(race_select_suppose, select, price, scores, candidates);
	}
	check(costs(race_account_cost(&select->planned), race_account_allowed(&select->planned)),
		  "rounds cost more");
}

/* The table of kinds of releases */
static void
try_kind(const RaceParams *params, const RaceRequest *request, double epsilon)
{
	RacePlan plan = {.selection = race_largest_selection(request, params)};
	RaceAccount account;

	if (race_summary_kind(params)->selected)
	{
		RaceSelectArrays arrays;
		RaceSelect *select = calloc(1, sizeof(RaceSelect));
		RaceContingency tables;

		race_contingency_of(params, &tables);
		if (ASK(race_tables_begin, request, &tables, race_record_unit(params), &arrays, select) > 0)
			check(
				costs(race_account_cost(&select->planned), race_account_allowed(&select->planned)),
				"a selection costs more");
		if (select->count.noise > 0)
			try_rounds(select);
		ASK(race_select_begin, select, request,
			&(RaceShape){.blocks = 1, .unit = 4096, .range = 1});
		check(race_account_cost(&select->planned) == 0, "a selection begins anew");
		ASK(race_select_open, &account, NULL, request, tables.columns, 4096);
		check(race_account_cost(&account) <= race_account_allowed(&account),
			  "an account of tables costs more");
		free(select);
		return;
	}
	ASK(race_plan_start, request, ASK(race_largest_selection, request, params), RACE_STATUS_PRIVATE,
		&plan);
	ASK(race_plan_open, race_release_kind(params), request, params, NULL, &account, &plan);
	check(ASK(race_look_change, race_release_kind(params), request, params) < RACE_MAX_SENSITIVITY,
		  "change of a look");
	check(plan.count_price + plan.look_price <= race_account_allowed(&account), "first prices");
	if (race_summary_kind(params)->matrix ||
		!ASK(race_plan_blocks, race_release_kind(params), request, params, &plan))
		return;
	check(costs(plan.noise.epsilon, epsilon), "blocks cost more");
	ASK(race_plan_state, request, &account, race_account_allowed(&account), 1, &plan);
	check(costs(plan.noise.epsilon, epsilon) && isfinite(plan.noise.rho), "a plan states more");
	ASK(race_plan_state_series, request, &plan);
	check(plan.noise.epsilon >= 0, "a value of a series");
}

static void
try_plan(const RaceParams *params, RaceRequest request, double epsilon, double delta)
{
	RaceFederation federation = {3, 1, 0};
	RacePlan plan;
	RaceSelection all = ASK(race_largest_selection, &request, params);

	if (ASK(race_plan_release, &request, params, all, &plan))
		check_plan(&plan, epsilon, delta);
	check(ASK(race_selection_noise, &request, params, all) >= 0, "noise");
	check(ASK(race_kind_noise, race_release_kind(params), &request, params, all) >= 0,
		  "noise of a kind");
	if (ASK(race_plan_kind, race_release_kind(params), &request, params, all, &plan))
		check_plan(&plan, epsilon, delta);
	if (request.weight_max == 0 && ASK(race_plan_share, &request, params, &federation, &plan))
		check_plan(&plan, request.epsilon, delta);
	all = ASK(race_choose_selection, &request, params, ASK(race_usual_mass, 1e4));
	if (ASK(race_plan_release, &request, params, all, &plan))
		check_plan(&plan, epsilon, delta);
	check(all.grid.levels >= 0, "selection");
	try_kind(params, &request, epsilon);
	if (delta > 0 && !race_summary_kind(params)->selected)
		(void) ASK(race_pure_serves, &request, params, request.epsilon, params);
	(void) ASK(race_request_exact, &request);
	check(ASK(race_person_records, &request) >= ASK(race_largest_weight, &request),
		  "records of a person");
	check(ASK(race_weight_unit, &request) <= UINT64_C(1) << 62, "weight of a record");
}

static void
try_plans(double epsilon, double delta)
{
	double part;

	/* callers check these limits */
	if (!is_epsilon(epsilon) || (delta != 0 && !is_delta(delta)))
		return;
	part = race_series_epsilon(epsilon, delta, LENGTHS);
	for (int kind = 0; kind < 4; kind++)
		for (int i = 0; i < N(contributions) * N(weights) * 4; i++)
		{
			RaceRequest request = {.delta = delta,
								   .max_contributions = contributions[i % N(contributions)],
								   .neighbors = i / (N(contributions) * N(weights)) % 2 == 0 ?
									   RACE_NEIGHBORS_ADD_REMOVE :
									   RACE_NEIGHBORS_SUBSTITUTE,
								   .levels = i / (N(contributions) * N(weights)) / 2 * LENGTHS,
								   .zcdp = i % 5 == 0};
			uint32_t weight = weights[i / N(contributions) % N(weights)];

			request.epsilon = request.levels == 0 ? epsilon : part;
			if (request.epsilon > 0 &&
				(weight == 0 || ASK(race_request_weights, &request, params_of(kind), weight)))
				try_plan(params_of(kind), request, epsilon, delta);
		}
}

int
main(void)
{
	start_limit();
	on_grid(try_accounts);
	found(1000, "accounts of rho, epsilon and delta");
	on_grid(try_pure);
	found(1000, "choices and bounds by Laplace noise");
	on_grid(try_wishart);
	found(1000, "budgets of Wishart noise");
	on_grid(try_payments);
	found(100000, "payments of accounts");
	on_grid(try_shares);
	found(100, "budgets of noise shares");
	on_grid(try_variances);
	found(1000, "variances of rho");
	on_grid(try_threshold);
	found(100, "thresholds of categories");
	on_grid(try_choices);
	found(1000, "choices that share an account");
	on_grid(try_series);
	try_intervals();
	found(1000, "series");
	on_grid(try_plans);
	found(1000, "plans of releases");
	check(costs(1.1, 1), "control");
	ok(wrong == 1, "control: a cost above what was asked is wrong");
	return done_testing();
}
