/*
 * domain_choice.c
 *		Domains that are chosen from private data: categories by a threshold, bounds by noisy counts
 */
#include <string.h>

#include "privacy/budget.h"
#include "privacy/cost.h"
#include "privacy/noise.h"
#include "privacy/noisy.h"
#include "privacy/sampler.h"
#include "privacy/shares.h"
#include "hash/kernel.h"
#include "choice/domain_choice.h"

/* Larger numbers of persons are not exact as doubles. */
#define MOST_PERSONS	0x1p52

/*
 * Laplace noise between -k and k: k has the probability q^k (1 - q) / (1 + q - 2 q^(k+1)), q = e^(-1/b), which the
 * least k solves for delta / categories.  With k of at least b, two thirds of all draws are kept.
 */
static bool
plan_laplace(double epsilon, double delta, uint64_t categories, RaceThreshold *threshold)
{
	RaceChoiceBudget budget;
	double		b;
	double		q;
	double		odds;
	double		k;

	if (!race_choice_budget(epsilon, 1, categories, &budget))
		return false;
	delta = delta / (double) categories * (1 - RACE_MARGIN);
	b = (double) budget.scale / RACE_SCALE_DENOMINATOR;
	q = exp(-1 / b);
	odds = log((2 * q * delta - expm1(-1 / b)) / (delta * (1 + q)));
	k = ceil(fmax(b * (odds + RACE_MARGIN * (1 + fabs(odds))), fmax(b, 1)));
	if (!(k < MOST_PERSONS))
		return false;
	threshold->mechanism = RACE_MECHANISM_LAPLACE;
	threshold->noise = budget.scale;
	threshold->reach = (int64_t) k;
	threshold->least = threshold->reach + 1;
	threshold->rho = race_rho_of_pure(epsilon);
	return true;
}

/* The probability that a normal number is z or more */
static double
normal_tail(double z)
{
	return erfc(z / sqrt(2)) / 2;
}

/*
 * Of sums of discrete Gaussian numbers: how far the probabilities are from those of one such number, at most, as a part, with
 * what rounding does to them.  A sum of two is one but for a theta function, 1 within 2.1 e^(-2 pi^2 v), v = a b / (a + b), of variances
 * a and b (Poisson's summation), which is at least half of the smaller one.
 */
#define SUM_PART		1e-11

/*
 * An upper bound of the delta of discrete Gaussian noise of this variance in so many numbers that each differ by 1.  The loss
 * follows from the sum of the noise alone, and passes epsilon where that is above t - n, or t, by turns with the person and
 * without, t = epsilon variance + n / 2.  From a deviation on the density is convex: sums of its values are between
 * integrals.  Fewer numbers, or some with another sign, say no more.
 */
static double
delta_of_numbers(double epsilon, double variance, double n)
{
	double		deviation = sqrt(n * variance);
	double		first = floor(epsilon * variance - n / 2) + 1;
	double		other = first + n;
	double		density = exp(-other * other / (2 * n * variance)) / (deviation * sqrt(2 * RACE_PI));

	if (2.1 * n * exp(-RACE_PI * RACE_PI * variance) > SUM_PART / 2 || first - 1 < deviation)
		return 1;
	return normal_tail((first - 0.5) / deviation) * (1 + SUM_PART) -
		exp(epsilon) * (normal_tail(other / deviation) + density / 2) * (1 - SUM_PART);
}

/* The least variance that costs at most epsilon and delta, as far as that bound tells and below a given one */
static uint64_t
variance_of_numbers(double epsilon, double delta, uint64_t n, uint64_t enough)
{
	uint64_t	low = 0;

	/* bound: the bits of a variance, which each step halves */
	while (low + 1 < enough)
	{
		uint64_t	middle = low + (enough - low) / 2;

		if (delta_of_numbers(epsilon, (double) middle, (double) n) <= delta * (1 - RACE_MARGIN))
			enough = middle;
		else
			low = middle;
	}
	return enough;
}

/*
 * Half of delta is for the noise, half for categories of one person.  Discrete Gaussian noise is k or more with at most the
 * probability that a normal number is k - 1/2 or more, if that is a deviation or more: the density is convex there, so each
 * term is at most the integral around it, and the sum of all terms is at least that of the density (Canonne, Kamath &
 * Steinke 2020, fact 18).
 */
static bool
plan_gaussian(double epsilon, double delta, uint64_t categories, bool exact, RaceThreshold *threshold)
{
	double		tail = delta / 2 / (double) categories * (1 - RACE_MARGIN);
	RaceGaussianAccount account = race_gaussian_account(epsilon, delta / 2, exact, (double) categories);
	double		deviation;
	double		low = 1;
	double		high = 37;		/* erfc is above 0 there */

	threshold->noise = account.allowed > 0 ? race_variance_for_rho(account.allowed, categories) : 0;
	if (threshold->noise == 0 || threshold->noise > RACE_MAX_VARIANCE - account.added || normal_tail(high) > tail)
		return false;
	threshold->noise += account.added;
	if (exact)
		threshold->noise = variance_of_numbers(epsilon, delta / 2, categories, threshold->noise);
	for (int i = 0; i < 100; i++)
	{
		double		middle = (low + high) / 2;

		if (normal_tail(middle) > tail)
			low = middle;
		else
			high = middle;
	}
	deviation = race_up(sqrt((double) threshold->noise));
	threshold->mechanism = RACE_MECHANISM_GAUSSIAN;
	threshold->reach = 0;
	threshold->least = 1 + (int64_t) ceil(high * (1 + RACE_MARGIN) * deviation + 0.5);
	threshold->rho = race_rho_of_sum(categories, 1, threshold->noise, 1);
	return true;
}

double
race_threshold_variance(const RaceThreshold *threshold)
{
	/* Laplace noise that is cut has less */
	return threshold->mechanism == RACE_MECHANISM_GAUSSIAN ? (double) threshold->noise :
		race_discrete_laplace_variance(threshold->noise);
}

/* The expected squared error of a category: of the persons that it needs, and of their number where it passes */
static double
threshold_error(const RaceThreshold *threshold)
{
	return (double) threshold->least * (double) threshold->least + race_threshold_variance(threshold);
}

bool
race_threshold_plan(double epsilon, double delta, uint64_t categories, bool exact, RaceThreshold *threshold)
{
	RaceThreshold gaussian;
	bool		laplace = plan_laplace(epsilon, delta, categories, threshold);

	if (plan_gaussian(epsilon, delta, categories, exact, &gaussian) &&
		(!laplace || threshold_error(&gaussian) < threshold_error(threshold)))
		*threshold = gaussian;
	else if (!laplace)
		return false;
	return true;
}

/*
 * Shares of the budget that are tried: the least is left for the number of records, and for what is counted together.
 */
#define SHARES		32

/* The variance of a cell's number of records, in one of so many tables of one column that share a budget evenly */
static double
table_variance(const RaceChoiceRequest *request, double epsilon, double delta)
{
	double		m = (double) request->records;
	double		n = request->substitute ? 2 : 1;
	double		scale = n * m * request->columns / epsilon;
	double		squared = n * m * m * request->columns;

	if (delta == 0)
		return 2 * scale * scale;
	return squared / (2 * race_gaussian_account(epsilon, delta, !request->substitute, squared).allowed);
}

/* Plan with a share of the budget for all choices; returns the expected squared error, infinite if noise would be too large. */
static double
plan_share(const RaceChoiceRequest *request, int share, bool pure, RaceChoicePlan *plan)
{
	double		choices = request->choices;
	double		of_category;
	double		of_cell;

	plan->epsilon = race_down(race_down(request->epsilon * share) / SHARES / choices);
	plan->delta = pure ? race_down(request->delta / choices) : race_down(race_down(request->delta * share) / SHARES / choices);
	plan->rest_epsilon = race_down(race_down(request->epsilon * (SHARES - share)) / SHARES);
	plan->rest_delta = pure ? 0 : race_down(race_down(request->delta * (SHARES - share)) / SHARES);
	if (!race_threshold_plan(plan->epsilon, plan->delta, request->numbers, !request->substitute, &plan->threshold))
		return INFINITY;
	of_cell = of_category = table_variance(request, plan->rest_epsilon, plan->rest_delta);
	if (request->measured)
		of_category = 1 / (1 / of_cell + 1 / race_threshold_variance(&plan->threshold));
	return choices * ((double) plan->threshold.least * (double) plan->threshold.least + of_category) +
		(request->columns - choices) * of_cell;
}

bool
race_choice_plan(const RaceChoiceRequest *request, RaceChoicePlan *plan)
{
	double		least = INFINITY;

	for (int share = 1; share < SHARES; share++)
		for (int pure = 0; pure <= request->may_be_pure; pure++)
		{
			RaceChoicePlan next;
			double		error = plan_share(request, share, pure != 0, &next);

			if (error < least)
			{
				least = error;
				*plan = next;
			}
		}
	return isfinite(least);
}

bool
race_threshold_passes(RaceRandom *random, const RaceThreshold *threshold, int64_t persons, int64_t *noisy)
{
	/* bound: two thirds of all draws are kept */
	do
		*noisy = race_noisy(random, persons, threshold->mechanism, threshold->noise);
	while (threshold->reach > 0 && (*noisy < persons - threshold->reach || *noisy > persons + threshold->reach));
	return *noisy >= threshold->least;
}

/*
 * Bounds.
 */

/* Parts of epsilon, of eight */
static const int stage_part[RACE_BOUNDS_STAGES] = {1, 1, 6};

#define STAGE_PARTS			8

/* Of all counters without a number, one has more than the noise allows this often */
#define FALSE_ALARM			1e-6

/*
 * The least noisy counter, in scales of noise, beside an octave that passes, which then passes, too.  One without a number does in 1 % of
 * searches, and makes bounds twice as wide.  On 10,000 log-normal numbers and epsilon .05, 1.4 % are beyond the bounds then; without
 * this rule 7.3 % (test/bench/BOUNDS.md).
 */
#define LEAST_BESIDE		4

/* Counters of octaves: of negative distances down to 0, then of others; the first is below 2^LEAST_EXPONENT. */
#define OCTAVES_OF_SIGN		(RACE_BOUNDS_OCTAVES / 2)
#define LEAST_EXPONENT		(-63)

/* The lower end of octave k, which is the upper end of k - 1 */
static double
octave_edge(int k)
{
	if (k == OCTAVES_OF_SIGN)
		return 0;
	return k > OCTAVES_OF_SIGN ? ldexp(1, k - 1 - OCTAVES_OF_SIGN + LEAST_EXPONENT) :
		-ldexp(1, OCTAVES_OF_SIGN - 1 - k + LEAST_EXPONENT);
}

static int
octave_of(double distance)
{
	int			exponent = OCTAVES_OF_SIGN - 1 + LEAST_EXPONENT;
	int			i;

	if (fabs(distance) < ldexp(1, exponent))
		(void) frexp(distance, &exponent);
	i = distance == 0 || exponent < LEAST_EXPONENT ? 0 : exponent - LEAST_EXPONENT;
	return distance < 0 ? OCTAVES_OF_SIGN - 1 - i : OCTAVES_OF_SIGN + i;
}

bool
race_bounds_start(RaceBounds *bounds, double epsilon, uint64_t numbers)
{
	memset(bounds, 0, sizeof(RaceBounds));
	bounds->lower = -INFINITY;
	bounds->upper = INFINITY;
	for (int i = 0; i < RACE_BOUNDS_STAGES; i++)
	{
		RaceChoiceBudget budget;

		if (!race_choice_budget(race_down(epsilon * stage_part[i]) / STAGE_PARTS, 1, numbers, &budget))
			return false;
		bounds->scale[i] = budget.scale;
	}
	return true;
}

int
race_bounds_counter(const RaceBounds *bounds, double x)
{
	double		cell;

	if (!isfinite(x))
		return -1;
	if (bounds->stage != RACE_BOUNDS_CENTRE)
		return octave_of(x - bounds->centre);
	cell = floor((x - bounds->start) / bounds->width);
	return cell >= 0 && cell < RACE_BOUNDS_CELLS ? (int) cell : -1;
}

/* The widest bounds that are needed, within what is known; cells between them must differ as doubles. */
static void
set_bounds(RaceBounds *bounds, double lower, double upper)
{
	double		least = fmax(fabs(lower), fabs(upper)) * 0x1p-30;

	bounds->found = true;
	if (upper - lower < least)
	{
		lower -= least;
		upper += least;
	}
	if (bounds->whole)
	{
		lower = fmax(floor(lower), -0x1p53);
		upper = fmin(ceil(upper), 0x1p53);
	}
	/* noise may have put all of them beyond what is known */
	lower = fmin(fmax(lower, bounds->lower), bounds->upper);
	bounds->upper = fmax(fmin(upper, bounds->upper), lower);
	bounds->lower = lower;
}

static void
conclude(RaceBounds *bounds, const int64_t *counters, double threshold)
{
	double		deviation = sqrt(race_discrete_laplace_variance(bounds->scale[RACE_BOUNDS_REACH]));
	double		beside = LEAST_BESIDE * (double) bounds->scale[RACE_BOUNDS_REACH] / RACE_SCALE_DENOMINATOR;
	int			first = RACE_BOUNDS_OCTAVES;
	int			last = -1;
	double		all = 0;
	double		beyond = 0;

	for (int k = 0; k < RACE_BOUNDS_OCTAVES; k++)
		if ((double) counters[k] >= threshold)
		{
			first = first < k ? first : k;
			last = k;
		}
	if (last < 0)
		return;
	/* bound: the octaves */
	while (first > 0 && (double) counters[first - 1] >= beside)
		first--;
	/* bound: the octaves */
	while (last < RACE_BOUNDS_OCTAVES - 1 && (double) counters[last + 1] >= beside)
		last++;
	for (int k = 0; k < RACE_BOUNDS_OCTAVES; k++)
	{
		all += (double) counters[k];
		beyond += k < first || k > last ? (double) counters[k] : 0;
	}
	all = fmax(all, 1);
	bounds->beyond = fmin(fmax(beyond / all, 0), 1);
	bounds->beyond_error = fmin(2 * deviation * sqrt(RACE_BOUNDS_OCTAVES - (last - first + 1)) / all, 1);
	set_bounds(bounds, bounds->centre + octave_edge(first), bounds->centre + octave_edge(last + 1));
}

bool
race_bounds_read(RaceRandom *random, RaceBounds *bounds, int64_t *counters)
{
	int			n = bounds->stage == RACE_BOUNDS_CENTRE ? RACE_BOUNDS_CELLS : RACE_BOUNDS_OCTAVES;
	uint64_t	scale = bounds->scale[bounds->stage];
	double		threshold = log(n / (2 * FALSE_ALARM)) * (double) scale / RACE_SCALE_DENOMINATOR;
	int			best = 0;

	for (int k = 0; k < n; k++)
	{
		counters[k] = race_noisy(random, counters[k], RACE_MECHANISM_LAPLACE, scale);
		if (counters[k] > counters[best])
			best = k;
	}
	switch (bounds->stage)
	{
		case RACE_BOUNDS_PLACE:
			bounds->start = octave_edge(best);
			bounds->width = (octave_edge(best + 1) - bounds->start) / RACE_BOUNDS_CELLS;
			/* of too few numbers no centre can be told: it is 0 */
			bounds->stage = (double) counters[best] >= threshold ? RACE_BOUNDS_CENTRE : RACE_BOUNDS_REACH;
			return true;
		case RACE_BOUNDS_CENTRE:
			bounds->centre = bounds->start + (best + 0.5) * bounds->width;
			bounds->stage = RACE_BOUNDS_REACH;
			return true;
		default:
			conclude(bounds, counters, threshold);
			return false;
	}
}
