/*
 * threshold.c
 *		Categories by a threshold: noise of numbers of persons, and which of these are seen
 */
#include <math.h>

#include "privacy/budget.h"
#include "privacy/counters.h"
#include "privacy/noisy.h"
#include "privacy/payment.h"
#include "privacy/threshold.h"

#define PI 3.14159265358979323846

/* Larger numbers of persons are not exact as doubles. */
#define MOST_PERSONS 0x1p52

/*
 * Plan Laplace noise between -k and k: k has the probability q^k (1 - q) / (1 + q - 2 q^(k+1)),
 * q = e^(-1/b), which the least k solves for delta / categories.  With k of at least b, two thirds
 * of all draws are kept.
 */
static bool
plan_laplace(double epsilon, double delta, uint64_t categories, RaceThreshold *threshold)
{
	uint64_t scale = race_scale_for_epsilon(epsilon, categories);
	double b;
	double q;
	double odds;
	double k;

	if (scale == 0 || !(delta > 0))
		return false;
	delta = delta / (double) categories * (1 - RACE_MARGIN);
	b = (double) scale / RACE_SCALE_DENOMINATOR;
	q = exp(-1 / b);
	odds = log((2 * q * delta - expm1(-1 / b)) / (delta * (1 + q)));
	k = ceil(fmax(b * (odds + RACE_MARGIN * (1 + fabs(odds))), fmax(b, 1)));
	if (!(k < MOST_PERSONS))
		return false;
	threshold->mechanism = RACE_MECHANISM_LAPLACE;
	threshold->noise = scale;
	threshold->reach = (int64_t) k;
	threshold->least = threshold->reach + 1;
	threshold->rho = race_rho_of_pure(epsilon);
	threshold->epsilon = epsilon;
	return true;
}

/* Return the probability that a normal number is z or more. */
static double
normal_tail(double z)
{
	return erfc(z / sqrt(2)) / 2;
}

/*
 * Of sums of discrete Gaussian numbers: how far the probabilities are from those of one such
 * number, at most, as a part, with what rounding does to them.  A sum of two is one but for a theta
 * function, 1 within 2.1 e^(-2 pi^2 v), v = a b / (a + b), of variances a and b (Poisson's
 * summation), which is at least half of the smaller one.
 */
#define SUM_PART 1e-11

/*
 * Return an upper bound of the delta of discrete Gaussian noise of this variance in so many numbers
 * that each differ by 1.  The loss follows from the sum of the noise alone, and passes epsilon
 * where that is above t - n, or t, by turns with the person and without,
 * t = epsilon variance + n / 2.  From a deviation on the density is convex: sums of its values are
 * between integrals.  Fewer numbers, or some with another sign, say no more.
 */
static double
delta_of_numbers(double epsilon, double variance, double n)
{
	double deviation = sqrt(n * variance);
	double first = floor(epsilon * variance - n / 2) + 1;
	double other = first + n;
	double density = exp(-other * other / (2 * n * variance)) / (deviation * sqrt(2 * PI));

	if (2.1 * n * exp(-PI * PI * variance) > SUM_PART / 2 || first - 1 < deviation)
		return 1;
	return normal_tail((first - 0.5) / deviation) * (1 + SUM_PART) -
		exp(epsilon) * (normal_tail(other / deviation) + density / 2) * (1 - SUM_PART);
}

/*
 * Return the least variance that costs at most epsilon and delta, as far as that bound tells and
 * below a given one.
 */
static uint64_t
variance_of_numbers(double epsilon, double delta, uint64_t n, uint64_t enough)
{
	uint64_t low = 0;

	/* bound: the bits of a variance, which each step halves */
	while (low + 1 < enough)
	{
		uint64_t middle = low + (enough - low) / 2;

		if (delta_of_numbers(epsilon, (double) middle, (double) n) <= delta * (1 - RACE_MARGIN))
			enough = middle;
		else
			low = middle;
	}
	return enough;
}

/*
 * Set the threshold that Gaussian noise takes one of so many categories of one person to with at
 * most this delta.  Discrete Gaussian noise is k or more with at most the probability that a normal
 * number is k - 1/2 or more, if that is a deviation or more: the density is convex there, so each
 * term is at most the integral around it, and the sum of all terms is at least that of the density
 * (Canonne, Kamath & Steinke 2020, fact 18).
 */
static bool
set_threshold(double delta, uint64_t categories, uint64_t variance, RaceThreshold *threshold)
{
	double tail = delta / (double) categories * (1 - RACE_MARGIN);
	double deviation = race_up(sqrt((double) variance));
	double low = 1;
	double high = 37; /* erfc is above 0 there */

	if (!(normal_tail(high) <= tail))
		return false;
	for (int i = 0; i < 100; i++)
	{
		double middle = (low + high) / 2;

		if (normal_tail(middle) > tail)
			low = middle;
		else
			high = middle;
	}
	threshold->mechanism = RACE_MECHANISM_GAUSSIAN;
	threshold->noise = variance;
	threshold->reach = 0;
	threshold->least = 1 + (int64_t) ceil(high * (1 + RACE_MARGIN) * deviation + 0.5);
	threshold->rho = race_rho_of_draw(categories, variance);
	threshold->epsilon = 0;
	threshold->delta = delta;
	return true;
}

/* Plan Gaussian noise.  Half of delta is for the noise, half for categories of one person. */
static bool
plan_gaussian(double epsilon, double delta, uint64_t categories, bool exact,
			  RaceThreshold *threshold)
{
	RaceGaussianAccount account =
		race_gaussian_account(epsilon, delta / 2, exact, (double) categories);
	uint64_t variance =
		account.allowed > 0 ? race_variance_for_rho(account.allowed, categories) : 0;

	if (variance == 0 || variance > RACE_MAX_VARIANCE - account.added)
		return false;
	variance += account.added;
	if (exact)
		variance = variance_of_numbers(epsilon, delta / 2, categories, variance);
	return set_threshold(delta / 2, categories, variance, threshold);
}

double
race_threshold_variance(const RaceThreshold *threshold)
{
	/* Laplace noise that is cut has less */
	return threshold->mechanism == RACE_MECHANISM_GAUSSIAN ?
		(double) threshold->noise :
		race_discrete_laplace_variance(threshold->noise);
}

/*
 * Return the expected squared error of a category: of the persons that it needs, and of their
 * number where it passes.
 */
static double
threshold_error(const RaceThreshold *threshold)
{
	return (double) threshold->least * (double) threshold->least +
		race_threshold_variance(threshold);
}

bool
race_threshold_plan(double epsilon, double delta, uint64_t categories, bool exact,
					RaceThreshold *threshold)
{
	RaceThreshold gaussian;
	bool laplace = plan_laplace(epsilon, delta, categories, threshold);

	if (plan_gaussian(epsilon, delta, categories, exact, &gaussian) &&
		(!laplace || threshold_error(&gaussian) < threshold_error(threshold)))
		*threshold = gaussian;
	else if (!laplace)
		return false;
	threshold->epsilon = epsilon;
	threshold->delta = delta;
	return true;
}

bool
race_threshold_plan_paid(RaceAccount *account, double price, uint64_t choices, uint64_t categories,
						 double delta, RaceThreshold *threshold)
{
	unsigned __int128 changed = (unsigned __int128) choices * categories;
	uint64_t variance = account->mechanism != RACE_MECHANISM_GAUSSIAN ?
		0 :
		race_pay(account, price, (RaceChange){changed, changed});

	return variance > 0 && set_threshold(delta, categories, variance, threshold);
}

/* A sum of long doubles is exact here but for its last digits, and rounded to no more than a limit. */
bool
race_choices_open(RaceChoices *choices, RaceRandom *random, const RaceThreshold *threshold,
				  uint32_t n, const RaceChoicesBudget *budget)
{
	long double number = n;

	*choices = (RaceChoices){.self = choices, .random = random, .threshold = *threshold};
	if (!(budget->rest_epsilon >= 0) || !(budget->rest_delta >= 0) || !(threshold->epsilon >= 0) ||
		!(threshold->delta >= 0) ||
		!(number * threshold->epsilon + budget->rest_epsilon <= budget->epsilon) ||
		!(number * threshold->delta + budget->rest_delta <= budget->delta))
		return false;
	choices->left = n;
	return true;
}

bool
race_choices_begin(RaceChoices *choices)
{
	choices->open = choices->self == choices && choices->left > 0;
	choices->left -= choices->open;
	choices->passed = 0;
	return choices->open;
}

bool
race_threshold_passes(RaceChoices *choices, int64_t persons, int64_t *noisy)
{
	const RaceThreshold *threshold = &choices->threshold;

	*noisy = 0;
	if (!choices->open || choices->self != choices)
		return false;
	/* bound: two thirds of all draws are kept */
	do
		*noisy = race_noisy(choices->random, persons, threshold->mechanism, threshold->noise);
	while (threshold->reach > 0 &&
		   (*noisy < persons - threshold->reach || *noisy > persons + threshold->reach));
	choices->passed += *noisy >= threshold->least;
	return *noisy >= threshold->least;
}

int64_t
race_threshold_records(RaceChoices *choices, uint64_t summed, int64_t noisy, int64_t further)
{
	const RaceThreshold *threshold = &choices->threshold;

	/* further records would have no noise, or noise a second time */
	if (summed <= 1 || summed > RACE_MOST_SUMMED || !choices->open || choices->self != choices ||
		choices->passed == 0)
		return noisy;
	choices->passed--;
	/* bound: RACE_MOST_SUMMED */
	for (uint64_t i = 1; i < summed; i++)
		further = race_noisy(choices->random, further, threshold->mechanism, threshold->noise);
	return race_clamped_sum(noisy, further);
}
