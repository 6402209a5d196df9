/*
 * choice_test.c
 *		Categories by a threshold, and bounds by noisy counts: privacy by brute force, and what
 *		they need.
 *
 * The test has a race_noisy() of its own, which adds each number that noise could be, one after the
 * other.  With the exact probability of each, all outcomes of a category and their probabilities
 * are known, for every number of persons.
 */
#include "privacy/cost.h"
#include "privacy/noise.h"
#include "privacy/sampler.h"
#include "choice/choose_bounds.h"
#include "choice/choose_categories.h"
#include "privacy/budget.h"
#include "helpers.h"
#include "tap.h"

/* What noise is next, and what it was drawn with */
static struct
{
	int64_t noise;
	int calls;
	RaceMechanism mechanism;
	uint64_t scale;
	const int64_t *answers; /* or NULL: what is answered in any case */
} next;

/* The linker calls it in place of race_noisy() (Makefile). */
int64_t __wrap_race_noisy(RaceRandom *random, int64_t value, RaceMechanism mechanism,
						  uint64_t noise);

int64_t
__wrap_race_noisy(RaceRandom *random, int64_t value, RaceMechanism mechanism, uint64_t noise)
{
	(void) random;
	next.mechanism = mechanism;
	next.scale = noise;
	if (next.answers != NULL)
		return next.answers[next.calls++];
	/* 0 is always kept */
	return value + (next.calls++ == 0 ? next.noise : 0);
}

/* Open one choice by a threshold, and begin it. */
static void
open_one(RaceChoices *choices, const RaceThreshold *threshold)
{
	RaceChoicesBudget budget = {threshold->epsilon, threshold->delta, 0, 0};

	if (!race_choices_open(choices, NULL, threshold, 1, &budget) || !race_choices_begin(choices))
		abort();
}

/* Does noise x pass?  *kept: or is it drawn again? */
static bool
passes(const RaceThreshold *threshold, int64_t persons, int64_t x, bool *kept)
{
	RaceChoices choices;
	int64_t noisy;
	bool passed;

	open_one(&choices, threshold);
	next.noise = x;
	next.calls = 0;
	passed = race_threshold_passes(&choices, persons, &noisy);
	*kept = next.calls == 1;
	return passed;
}

#define MOST_REACH 40000

/*
 * Probability of each outcome: 0 is that a category does not pass, the others are noisy numbers
 * from the threshold on
 */
static void
outcomes(const RaceThreshold *threshold, int64_t persons, long double *probability)
{
	long double rate = (long double) RACE_SCALE_DENOMINATOR / threshold->noise;
	int64_t reach = threshold->reach;
	long double all = 0;

	memset(probability, 0, (3 * MOST_REACH + 10) * sizeof(long double));
	for (int64_t x = -reach - 2; x <= reach + 2; x++)
	{
		bool kept;
		bool passed = passes(threshold, persons, x, &kept);
		long double mass = expl(-rate * (x < 0 ? -x : x));

		if (!kept)
			continue;
		all += mass;
		probability[passed ? persons + x - threshold->least + 1 : 0] += mass;
	}
	for (int64_t i = 0; i <= 3 * reach + 5; i++)
		probability[i] /= all;
}

/* The delta that is left at e^epsilon */
static long double
divergence(const long double *p, const long double *q, int64_t n, long double factor)
{
	long double sum = 0;

	for (int64_t i = 0; i <= n; i++)
		if (p[i] > factor * q[i])
			sum += p[i] - factor * q[i];
	return sum;
}

/*
 * The most delta that one person more costs, both ways, for any number of persons; and where half
 * of the draws pass
 */
static long double
worst_delta(const RaceThreshold *threshold, int64_t *half)
{
	static long double tables[2][3 * MOST_REACH + 10];
	long double factor = expl((long double) RACE_SCALE_DENOMINATOR / threshold->noise);
	long double worst = 0;

	*half = 0;
	memset(tables[0], 0, sizeof(tables[0]));
	tables[0][0] = 1; /* of what nobody has nothing is drawn */
	for (int64_t persons = 1; persons <= 2 * threshold->reach + 3; persons++)
	{
		long double *now = tables[persons % 2];
		long double *before = tables[(persons + 1) % 2];

		outcomes(threshold, persons, now);
		worst = fmaxl(worst, divergence(now, before, 3 * threshold->reach + 5, factor));
		worst = fmaxl(worst, divergence(before, now, 3 * threshold->reach + 5, factor));
		if (*half == 0 && now[0] <= 0.5L)
			*half = persons;
	}
	return worst;
}

/*
 * The best mechanism there is for one category: Desfontaines, Voss, Gipson & Mandayam 2022, theorem
 * 1
 */
static int64_t
best_half(double epsilon, double delta)
{
	double p = 0;
	int64_t persons = 0;

	for (; p < 0.5; persons++)
		p = fmin(fmin(exp(epsilon) * p + delta, 1 - exp(-epsilon) * (1 - p - delta)), 1);
	return persons;
}

static void
check_laplace(void)
{
	static const double epsilons[] = {0.05, 0.2, 1, 3, 20};
	static const double deltas[] = {0.4, 1e-2, 1e-6, 1e-12};
	static const uint64_t categories[] = {1, 2, 5};
	bool is_private = true;
	bool attained = true;
	bool best = true;
	bool sound = true;
	int n = 0;

	for (int i = 0; i < 5 * 4 * 3; i++)
	{
		double epsilon = epsilons[i % 5];
		double delta = deltas[i / 5 % 4];
		uint64_t c = categories[i / 20];
		RaceThreshold threshold;
		int64_t half;
		long double worst;

		if (!race_threshold_plan(epsilon, delta, c, true, &threshold) ||
			threshold.mechanism != RACE_MECHANISM_LAPLACE || threshold.reach > CASES(1000, 100))
			continue;
		n++;
		worst = worst_delta(&threshold, &half);
		sound &= next.mechanism == RACE_MECHANISM_LAPLACE && next.scale == threshold.noise;
		/* c / b is at most epsilon, and all deltas together at most delta */
		is_private &= (long double) c * RACE_SCALE_DENOMINATOR <=
				(long double) epsilon * threshold.noise * (1 + 1e-15L) &&
			c * worst <= delta * (1 + 1e-9L);
		if (c == 1)
			best &= half <= fmax(best_half(epsilon, delta) + 1, ceil(1 / epsilon) + 2);
		/* a step less would cost more, unless it is so short for another reason */
		threshold.reach--;
		threshold.least--;
		if (threshold.reach >= (double) threshold.noise / RACE_SCALE_DENOMINATOR)
			attained &= c * worst_delta(&threshold, &half) > delta;
	}
	ok(sound && n >= CASES(35, 10), "noise of the plan is drawn: %d plans", n);
	ok(is_private, "one person in so many categories costs at most epsilon and delta");
	ok(attained, "with a threshold that is one less, she costs more");
	ok(best, "a category needs at most one person more than with the best mechanism");
}

/* The sum of a discrete Gaussian from `least` on */
static long double
gaussian_tail(int64_t least, uint64_t variance)
{
	int64_t end = (int64_t) (60 * sqrt((double) variance)) + 10;
	long double all = 0;
	long double tail = 0;

	for (int64_t x = -end; x <= end; x++)
	{
		long double mass = expl(-(long double) x * x / (2 * (long double) variance));

		all += mass;
		if (x >= least)
			tail += mass;
	}
	return tail / all;
}

/*
 * The probability that a normal number with this variance is z or more, at least that of discrete
 * noise from z + 1/2 on
 */
static long double
normal_at_least(double z, double variance)
{
	return erfcl((long double) z / sqrtl(2 * (long double) variance)) / 2;
}

#define MOST_SUMMED 400000

/*
 * Set the probabilities of the sum of n numbers of discrete Gaussian noise, from -side to side, by
 * adding one after the other; returns side.
 */
static int64_t
sum_gaussians(uint64_t n, uint64_t variance, long double *probability)
{
	static long double one[MOST_SUMMED];
	static long double next[MOST_SUMMED];
	int64_t reach = (int64_t) (12 * sqrt((double) variance)) + 10;
	int64_t side = reach;
	long double all = 0;

	for (int64_t x = -reach; x <= reach; x++)
		all += one[x + reach] = expl(-(long double) x * x / (2 * (long double) variance));
	for (int64_t x = 0; x <= 2 * reach; x++)
		probability[x] = one[x] /= all;
	for (uint64_t k = 1; k < n; k++)
	{
		int64_t most = (int64_t) (12 * sqrt((double) (variance * (k + 1)))) + 10;
		int64_t wider = side + reach < most ? side + reach : most;

		memset(next, 0, (2 * wider + 1) * sizeof(long double));
		for (int64_t x = -side; x <= side; x++)
			for (int64_t y = -reach; y <= reach; y++)
				if (x + y >= -wider && x + y <= wider)
					next[x + y + wider] += probability[x + side] * one[y + reach];
		side = wider;
		memcpy(probability, next, (2 * side + 1) * sizeof(long double));
	}
	return side;
}

/*
 * The delta of n numbers with this noise that differ by 1 each, which the sum of their noise tells
 */
static long double
delta_of_sum(uint64_t n, uint64_t variance, double epsilon)
{
	static long double probability[MOST_SUMMED];
	int64_t side = sum_gaussians(n, variance, probability);
	long double factor = expl(epsilon);
	long double delta = 0;

	for (int64_t s = -side; s <= side + (int64_t) n; s++)
	{
		long double with = s - (int64_t) n >= -side ? probability[s - (int64_t) n + side] : 0;
		long double without = s <= side ? probability[s + side] : 0;

		if (with > factor * without)
			delta += with - factor * without;
	}
	return delta;
}

/* Few enough terms to add up */
static bool
is_small(uint64_t categories, uint64_t variance)
{
	return categories <= 18 && categories * variance < CASES(20000, 1000);
}

/*
 * What the noise costs: of few numbers by brute force, else by zCDP or the account of the Gaussian
 * mechanism itself (noise.h), or nearly
 */
static bool
noise_is_private(const RaceThreshold *threshold, uint64_t categories, double epsilon, double delta)
{
	if (is_small(categories, threshold->noise))
		return delta_of_sum(categories, threshold->noise, epsilon) <= delta;
	return race_gaussian_epsilon((double) categories / (2 * (double) threshold->noise), delta) <=
		epsilon * (1 + 1e-5);
}

static void
check_gaussian(void)
{
	static const double epsilons[] = {0.3, 1, 3, 8};
	bool is_private = true;
	bool attained = true;
	bool control = true;
	int n = 0;

	for (int i = 0; i < 4; i++)
		for (uint64_t c = 2; c <= 2000; c *= 3)
			for (double delta = 1e-3; delta > 1e-10; delta *= 1e-3)
			{
				double epsilon = epsilons[i];
				RaceThreshold threshold;
				RaceThreshold less;
				bool kept;

				if (!race_threshold_plan(epsilon, delta, c, true, &threshold) ||
					threshold.mechanism != RACE_MECHANISM_GAUSSIAN)
					continue;
				n++;
				is_private &= noise_is_private(&threshold, c, epsilon, delta / 2) &&
					c * gaussian_tail(threshold.least - 1, threshold.noise) <= delta / 2;
				is_private &= !passes(&threshold, 1, threshold.least - 2, &kept) && kept &&
					passes(&threshold, 1, threshold.least - 1, &kept) && kept &&
					next.mechanism == RACE_MECHANISM_GAUSSIAN && next.scale == threshold.noise;
				/* one or two persons less cost more, and so does a tenth less noise */
				attained &= c * gaussian_tail(threshold.least - 3, threshold.noise) > delta / 2;
				less = threshold;
				less.noise = threshold.noise - threshold.noise / 10 - 1;
				control &= threshold.noise < 10 || !noise_is_private(&less, c, epsilon, delta / 2);
			}
	ok(n >= 40 && is_private, "Gaussian noise costs at most epsilon and delta: %d plans", n);
	ok(attained, "with a threshold that is two less, it costs more");
	ok(control, "control: with a tenth less noise, it costs more");
}

/* The standard error of a cell of the only column, with this budget in one account */
static double
cell_error(const RaceChoiceRequest *request, double epsilon, double delta, double taken)
{
	double m = (double) request->records;
	double variance = INFINITY;

	if (delta > 0)
		variance =
			m * m / (2 * (race_gaussian_account(epsilon, delta, true, m * m).allowed - taken));
	else
		variance = 2 * m * m / (epsilon * epsilon);
	return sqrt(variance);
}

/* What choices take of the account of the tables */
static double
taken_of_account(const RaceChoiceRequest *request, const RaceChoicePlan *plan)
{
	double m = (double) request->records;
	RaceGaussianAccount account =
		race_gaussian_account(request->epsilon, plan->rest_delta, true, request->columns * m * m);

	if (plan->joint_variance == 0)
		return 0;
	return (double) plan->joint_squared /
		(2 * ((double) plan->joint_variance - (double) account.added));
}

static double
rest_error(const RaceChoiceRequest *request, const RaceChoicePlan *plan)
{
	return cell_error(request, plan->rest_epsilon, plan->rest_delta,
					  taken_of_account(request, plan));
}

static double
error_of_all(const RaceChoiceRequest *request)
{
	return fmin(cell_error(request, request->epsilon, request->delta, 0),
				cell_error(request, request->epsilon, 0, 0));
}

/*
 * Of a joint plan: does each choice have the noise that is accounted, do categories of one person
 * pass with the delta of choices alone, and is something left for the tables?
 */
static bool
shares_account(const RaceChoiceRequest *request, const RaceChoicePlan *plan)
{
	double m = (double) request->records;
	double allowed =
		race_gaussian_account(request->epsilon, plan->rest_delta, true, request->columns * m * m)
			.allowed;

	return plan->threshold.mechanism == RACE_MECHANISM_GAUSSIAN &&
		plan->threshold.noise == plan->joint_variance &&
		plan->joint_squared == (uint64_t) request->choices * request->numbers &&
		plan->epsilon == 0 && taken_of_account(request, plan) <= allowed * 31 / 32 * (1 + 1e-12) &&
		request->numbers *
			(double) normal_at_least((double) plan->threshold.least - 1.5,
									 (double) plan->threshold.noise) <=
		plan->delta;
}

/* One person's records of each category cost no more than the whole budget, whatever is planned. */
static void
check_plans(void)
{
	static const double epsilons[] = {0.1, 1, 3, 20};
	bool is_private = true;
	bool spent = true;
	bool served = true;
	bool left = true;
	bool control = true;
	bool joint = true;
	int n_joint = 0;
	int n = 0;

	for (int i = 0; i < 4 * 3 * 4 * 3 * 4; i++)
	{
		RaceChoiceRequest request = {.epsilon = epsilons[i % 4],
									 .delta = i / 4 % 3 == 0 ? 1e-3 :
										 i / 4 % 3 == 1      ? 1e-5 :
															   1e-9,
									 .choices = 1 + i / 12 % 4 / 3,
									 .columns = 1 << (i / 12 % 4),
									 .numbers = i / 48 % 3 == 0 ? 1 :
										 i / 48 % 3 == 1        ? 10 :
																  30,
									 .tables = i / 288 != 0};
		RaceChoicePlan plan;
		RaceThreshold whole;

		request.records = (uint32_t) request.numbers;
		/* a unique index, or the sum of a number for each record */
		request.summed = i / 144 % 2 == 0 ? 0 : request.columns == 1 ? request.numbers : 1;
		if (!race_choice_plan(&request, &plan))
			continue;
		n++;
		is_private &=
			request.choices * (long double) plan.epsilon + plan.rest_epsilon <= request.epsilon &&
			request.choices * (long double) plan.delta + plan.rest_delta <= request.delta;
		spent &=
			request.choices * plan.epsilon + plan.rest_epsilon > request.epsilon * (1 - 1e-9) &&
			request.choices * plan.delta + plan.rest_delta > request.delta * (1 - 1e-9);
		if (plan.joint_variance > 0)
			joint &= shares_account(&request, &plan);
		n_joint += plan.joint_variance > 0;
		/*
		 * of one column, whose numbers are measurements, the choice is nearly as good as if it had
		 * all, and other cells are counted, too
		 */
		if (request.columns == 1 && request.summed > 0 && request.tables &&
			race_threshold_plan(request.epsilon, request.delta, request.numbers, true, &whole))
		{
			served &= plan.threshold.least <= 1 + 1.07 * whole.least;
			left &= rest_error(&request, &plan) <= 6 * plan.threshold.least;
			control &= 32 * error_of_all(&request) <= 6 * whole.least;
		}
	}
	ok(n > 200 && is_private,
	   "choices and what is counted cost together at most epsilon and delta: %d plans", n);
	ok(spent, "nothing is left over");
	ok(n_joint > 20 && joint,
	   "choices and tables that share an account cost no more than it allows: %d plans", n_joint);
	ok(served,
	   "where nothing else is counted, a threshold is that of all of the budget, or 7 %% and a person more");
	ok(left, "and the standard error of other cells is at most six times the threshold");
	ok(!control, "control: not with a 32nd of epsilon");
}

/*
 * The probability of x of discrete Laplace noise of this scale, all of it where reach is 0, else
 * from -reach to reach
 */
static long double
laplace_mass(uint64_t scale, int64_t reach, int64_t x)
{
	long double q = expl(-(long double) RACE_SCALE_DENOMINATOR / scale);
	long double all = reach == 0 ? 1 : 1 - 2 * powl(q, reach + 1) / (1 + q);
	int64_t distance = x < 0 ? -x : x;

	return reach > 0 && distance > reach ? 0 : (1 - q) / (1 + q) * powl(q, distance) / all;
}

/*
 * The delta that is left at epsilon of a person with two records of a category, where neighbors
 * change two numbers: of persons, and of those with a second record, whose noise has a scale of its
 * own.  Both ways, of a category that others have.
 */
static long double
delta_of_second_record(const RaceThreshold *threshold, uint64_t scale, double epsilon,
					   int64_t persons)
{
	int64_t far = 40 * (int64_t) scale / RACE_SCALE_DENOMINATOR + 10;
	long double factor = expl(epsilon);
	long double none[2] = {1, 1}; /* does not pass */
	long double delta[2] = {0, 0};

	for (int64_t noisy = threshold->least; noisy <= persons + 1 + threshold->reach; noisy++)
		for (int64_t second = -far; second <= far + 1; second++)
		{
			long double with =
				laplace_mass(threshold->noise, threshold->reach, noisy - persons - 1) *
				laplace_mass(scale, 0, second - 1);
			long double without =
				laplace_mass(threshold->noise, threshold->reach, noisy - persons) *
				laplace_mass(scale, 0, second);

			delta[0] += fmaxl(with - factor * without, 0);
			delta[1] += fmaxl(without - factor * with, 0);
			none[0] -= with;
			none[1] -= without;
		}
	delta[0] += fmaxl(none[0] - factor * none[1], 0);
	delta[1] += fmaxl(none[1] - factor * none[0], 0);
	return fmaxl(delta[0], delta[1]);
}

/* Records of one category cost no more than one record of each of so many. */
static void
check_second_records(void)
{
	static const double epsilons[] = {1, 2, 4};
	static const double deltas[] = {1e-2, 1e-4};
	bool is_private = true;
	bool control = true;
	int n = 0;

	for (int i = 0; i < 6; i++)
	{
		RaceThreshold threshold;
		long double worst = 0;
		long double less = 0;

		if (!race_threshold_plan(epsilons[i % 3], deltas[i / 3], 2, true, &threshold) ||
			threshold.mechanism != RACE_MECHANISM_LAPLACE)
			continue;
		n++;
		for (int64_t persons = 1; persons <= 2 * threshold.least; persons++)
		{
			worst = fmaxl(
				worst,
				delta_of_second_record(&threshold, threshold.noise, epsilons[i % 3], persons));
			less = fmaxl(
				less,
				delta_of_second_record(&threshold, threshold.noise / 2, epsilons[i % 3], persons));
		}
		is_private &= worst <= deltas[i / 3];
		control &= less > deltas[i / 3];
	}
	ok(n >= 3 && is_private, "two records of one category cost at most epsilon and delta: %d plans",
	   n);
	ok(control, "control: with half of the noise in the number of second records, they cost more");
}

/* What is no delta lets no category pass. */
static void
check_refusals(void)
{
	static const double deltas[] = {NAN, -1e-6, -INFINITY, 0};
	bool refuses = true;

	for (int i = 0; i < 4; i++)
	{
		RaceRequest request = {.epsilon = 1, .delta = 1e-6, .max_contributions = 1};
		RaceThreshold threshold;
		RaceAccount account;

		refuses &= !race_threshold_plan(1, deltas[i], 1, true, &threshold) &&
			!race_threshold_plan(1, deltas[i], 30, false, &threshold);
		race_account_open(&account, NULL, &request, 1);
		refuses &= !race_threshold_plan_paid(&account, INFINITY, 1, 1, deltas[i], &threshold);
	}
	ok(refuses, "what is no delta is refused");
}

/*
 * Numbers that add up to one of records: each has the noise of the threshold, and without numbers
 * nothing further is seen.  There is one sum for each category that passed.
 */
static void
check_summed(void)
{
	RaceThreshold threshold;
	bool sound = race_threshold_plan(1, 1e-6, 10, true, &threshold);
	RaceChoices choices;
	int64_t noisy;
	int draws = 0;
	bool twice = false;

	open_one(&choices, &threshold);
	for (uint64_t summed = 0; summed <= 10; summed++)
	{
		next.calls = 0;
		next.noise = 0;
		sound &= race_threshold_passes(&choices, threshold.least, &noisy) &&
			!race_threshold_passes(&choices, threshold.least - 1, &noisy);
		next.calls = 0;
		next.noise = 1000; /* of the first draw */
		sound &= race_threshold_records(&choices, summed, 50, 7) == (summed <= 1 ? 50 : 1057) &&
			next.calls == (summed <= 1 ? 0 : (int) summed - 1);
		if (summed > 1)
			sound &= next.mechanism == threshold.mechanism && next.scale == threshold.noise;
		draws += next.calls;
		if (summed > 1)
			twice |= race_threshold_records(&choices, summed, 50, 7) != 50;
		else
			open_one(&choices, &threshold);
	}
	ok(sound && draws == 45,
	   "each of the numbers that add up to one of records has noise of its own");
	ok(!twice && next.calls == 9, "... and is drawn once");
}

/* Return whether so many choices may begin, and no more, if that is what a budget pays for. */
static bool
begins(const RaceThreshold *threshold, uint32_t n, RaceChoicesBudget budget, uint32_t expected)
{
	RaceChoices choices;
	RaceChoices copy;
	int64_t noisy;
	uint32_t begun = 0;
	bool right = race_choices_open(&choices, NULL, threshold, n, &budget) == (expected > 0) &&
		!race_threshold_passes(&choices, INT64_C(1) << 40, &noisy) && noisy == 0;

	copy = choices;
	for (; begun <= n && race_choices_begin(&choices); begun++)
		copy = choices;
	next.calls = 0;
	right &= !race_threshold_passes(&copy, INT64_C(1) << 40, &noisy) && noisy == 0 &&
		race_threshold_records(&copy, 5, 7, 9) == 7 && next.calls == 0;
	return right && begun == expected;
}

/* Choices and what is counted after them cost no more than a release has, or nothing is drawn. */
static void
check_budget(void)
{
	static const struct
	{
		RaceChoicesBudget budget;
		uint32_t expected;
	} cases[] = {
		{{1, 1e-6, 0.25, 2.5e-7}, 3},    {{0x0.ffffffffffff8p0, 1e-6, 0.25, 2.5e-7}, 0},
		{{1, 0.99e-6, 0.25, 2.5e-7}, 0}, {{1, 1e-6, 0x1.0000000000001p-2, 2.5e-7}, 0},
		{{1, 1e-6, -1, 2.5e-7}, 0},      {{NAN, 1e-6, 0.25, 2.5e-7}, 0},
		{{1, 1e-6, 0.25, NAN}, 0},       {{INFINITY, 1, NAN, 0}, 0},
	};
	RaceThreshold threshold;
	bool right = race_threshold_plan(0.25, 2.5e-7, 10, true, &threshold);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		right &= begins(&threshold, 3, cases[i].budget, cases[i].expected);
	ok(right, "no choice begins that is not paid for");
}

/* Numbers in one reading after the other */
typedef struct Search
{
	RaceBounds bounds;
	int readings;
	long double cost; /* of one number more */
	bool sound;
	RaceRequest request;
} Search;

/* Run a search, with no noise or with given answers; a NaN more must change nothing. */
static void
run_search(Search *search, const double *numbers, int n, const int64_t *answers)
{
	static RaceRandom random; /* from which nothing is drawn */
	RaceAccount account;
	bool more = true;

	race_account_open(&account, &random, &search->request, 1);
	for (search->readings = 0, search->cost = 0, search->sound = true; more; search->readings++)
	{
		int64_t counters[RACE_BOUNDS_COUNTERS] = {0};
		int64_t noisy[RACE_BOUNDS_COUNTERS];
		RaceExactMemory memory;
		RaceExact *exact;
		RaceShape shape;
		int places;

		race_bounds_shape(&search->bounds, &shape);
		places = (int) shape.range;

		for (int i = 0; i < n; i++)
		{
			/* one counter, or none: a number changes a reading by 1 */
			int k = race_bounds_counter(&search->bounds, numbers[i]);

			search->sound &= k < places && k >= -1 && (isfinite(numbers[i]) || k == -1);
			if (k >= 0)
				counters[k]++;
		}
		next.calls = 0;
		next.noise = 0;
		next.answers = answers;
		exact = race_exact_begin(&memory, &shape);
		race_exact_add(exact, counters, sizeof(int64_t), 0, 1);
		more = race_bounds_read(&search->bounds, &account, exact, noisy);
		search->sound &= next.calls == places && next.mechanism == RACE_MECHANISM_LAPLACE;
		search->cost += (long double) RACE_SCALE_DENOMINATOR / next.scale;
	}
	next.answers = NULL;
}

static void
check_bounds(void)
{
	static const double hostile[] = {0,     -0.0,   5e-324,   -5e-324,      1e-300,
									 1e308, -1e308, INFINITY, -INFINITY,    NAN,
									 1,     -1,     0x1p64,   0x1.fffffp63, -0x1p-63};
	const int n = 2000;
	double numbers[2000];
	int64_t answers[RACE_BOUNDS_COUNTERS];
	bool sound = true;
	bool costs = true;
	bool attained = false;
	bool same = true;
	bool tight = true;
	double lowest = -INFINITY;

	for (int trial = 0; trial < CASES(2000, 200); trial++)
	{
		double epsilon = ldexp(1, trial % 24 - 12);
		uint64_t changed = 1 + mix(trial) % 5;
		double place = ldexp(signed_unit(mix(trial + 1000)), (int) (mix(trial + 2000) % 80) - 30);
		double spread = ldexp(1, (int) (mix(trial + 3000) % 60) - 30);
		double least = INFINITY;
		double most = -INFINITY;
		Search search[2];

		for (int i = 0; i < n; i++)
		{
			numbers[i] = place + spread * signed_unit(mix((uint64_t) trial * n + i));
			least = fmin(least, numbers[i]);
			most = fmax(most, numbers[i]);
		}
		/*
		 * without noise: all are within bounds, which are not much too wide for what a double, and
		 * 1,024 cells, can tell
		 */
		search[0].request = (RaceRequest){.epsilon = 1e6,
										  .max_contributions = 1,
										  .neighbors = RACE_NEIGHBORS_ADD_REMOVE};
		sound &= race_bounds_start(&search[0].bounds, &search[0].request);
		run_search(&search[0], numbers, n, NULL);
		tight &= search[0].bounds.found && search[0].bounds.lower <= least &&
			search[0].bounds.upper >= most &&
			search[0].bounds.upper - search[0].bounds.lower <=
				4 * (most - least) + fmax(fabs(least), fabs(most)) / 100;
		/* the answers decide, and nothing else */
		for (int i = 0; i < RACE_BOUNDS_COUNTERS; i++)
			answers[i] =
				(int64_t) (mix((uint64_t) trial * 5000 + i) % 3 == 0 ? mix(i + trial) % 1000000 :
																	   0);
		for (int i = 0; i < 2; i++)
		{
			search[i].request = (RaceRequest){.epsilon = epsilon,
											  .max_contributions = (uint32_t) changed,
											  .neighbors = RACE_NEIGHBORS_ADD_REMOVE};
			sound &= race_bounds_start(&search[i].bounds, &search[i].request);
			run_search(&search[i], i == 0 ? numbers : hostile,
					   i == 0 ? n : (int) (sizeof(hostile) / sizeof(hostile[0])), answers);
			sound &= search[i].sound && search[i].readings <= RACE_BOUNDS_STAGES;
			costs &= search[i].cost * changed <= epsilon * (1 + 1e-15L);
			attained |= search[i].cost * changed > 0.999L * epsilon;
		}
		same &= search[0].readings == search[1].readings &&
			memcmp(&search[0].bounds, &search[1].bounds, sizeof(RaceBounds)) == 0;
	}
	ok(sound, "a number is in one counter of a reading, or in none, and each counter gets noise");
	ok(costs && attained, "all readings together cost at most epsilon");
	ok(same, "nothing but noisy counts decides");
	ok(tight, "without noise, bounds hold all numbers and are at most four times as wide");
	for (int i = -70; i <= 70; i++)
	{
		RaceBounds bounds = {0};
		double x = i < 0 ? -ldexp(1, -i - 10) : ldexp(1, i - 10);

		tight = i == -70 || race_bounds_counter(&bounds, x) >= race_bounds_counter(&bounds, lowest);
		lowest = x;
		if (!tight)
			break;
	}
	ok(tight, "larger numbers are in later counters");
}

int
main(void)
{
	RaceThreshold threshold;

	check_laplace();
	check_gaussian();
	check_plans();
	check_summed();
	check_budget();
	check_second_records();
	check_bounds();
	check_refusals();
	ok(!race_threshold_plan(1e-9, 1e-300, UINT64_C(1) << 32, true, &threshold),
	   "noise that is too large is refused");
	for (uint64_t c = 1; c <= 1000; c *= 10)
		if (race_threshold_plan(1, 1e-6, c, true, &threshold))
			printf("# epsilon 1, delta 1e-6, %d categories a person: %d persons, best for one %d\n",
				   (int) c, (int) threshold.least, (int) best_half(1, 1e-6));
	return done_testing();
}
