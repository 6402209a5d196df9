/* Series: which intervals values have, what they cost together, and the weights of periods */
#include "privacy/cost.h"
#include "privacy/exact.h"
#include "privacy/exact_fields.h"
#include "privacy/noise.h"
#include "privacy/release_request.h"
#include "privacy/sampler.h"
#include "privacy/series.h"
#include "hash/kernel.h"
#include "hash/params.h"
#include "choice/plan.h"
#include "answers/period.h"
#include "helpers.h"
#include "tap.h"

#define INTERVALS 75
#define LEVELS 3
#define VALUES (INTERVALS + INTERVALS / 4)

static uint32_t first[VALUES + 1];
static uint32_t length[VALUES + 1];

/*
 * All values after n intervals, as a scheduler would make them: after each interval those that it
 * completes
 */
static bool
values_are_in_order(uint32_t levels)
{
	uint32_t number = 0;
	bool good = true;

	for (uint32_t n = 1; n <= 1000; n++)
		for (uint32_t l = 1, level = 0; n % l == 0 && level < levels;
			 l *= RACE_SERIES_BASE, level++)
		{
			uint32_t f;
			uint32_t k;

			race_series_value(++number, levels, &f, &k);
			good = good && f == n - l && k == l &&
				l <= (uint32_t) pow(RACE_SERIES_BASE, race_series_levels(n, 1) - 1) &&
				race_series_closed(n - 1, levels) < number;
			if (n <= INTERVALS)
			{
				first[number] = f;
				length[number] = k;
			}
		}
	return good;
}

/* The variance of the best linear unbiased estimate: r' (X'X)^-1 r, by elimination */
static double
best_variance(uint32_t n, uint32_t values, uint32_t from, uint32_t to)
{
	double a[INTERVALS][INTERVALS + 1] = {{0}};
	double variance = 0;

	for (uint32_t v = 1; v <= values; v++)
		for (uint32_t i = first[v]; i < first[v] + length[v]; i++)
			for (uint32_t j = first[v]; j < first[v] + length[v]; j++)
				a[i][j]++;
	for (uint32_t i = from; i < to; i++)
		a[i][n] = 1;
	for (uint32_t p = 0; p < n; p++)
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t j = n + 1; i != p && j-- > p;)
				a[i][j] -= a[i][p] / a[p][p] * a[p][j];
	for (uint32_t i = from; i < to; i++)
		variance += a[i][n] / a[i][i];
	return variance;
}

/*
 * Of all periods: does every interval count once within, and not at all without?  The largest
 * variance, in those of the best
 */
static double
try_periods(uint32_t values, uint32_t n, bool *unbiased)
{
	double most = 0;
	double weights[VALUES];

	for (uint32_t from = 0; from < n; from++)
		for (uint32_t to = from + 1; to <= n; to++)
		{
			double squares = race_period_weights(values, LEVELS, from, to, weights);
			double sum = 0;

			for (uint32_t i = 0; i < n; i++)
			{
				double times = 0;

				for (uint32_t v = 1; v <= values; v++)
					times += i >= first[v] && i < first[v] + length[v] ? weights[v - 1] : 0;
				*unbiased = *unbiased && fabs(times - (i >= from && i < to)) < 1e-12;
			}
			for (uint32_t v = 0; v < values; v++)
				sum += weights[v] * weights[v];
			*unbiased = *unbiased && fabs(sum - squares) < 1e-12;
			most = fmax(most, squares / best_variance(n, values, from, to));
		}
	return most;
}

/*
 * What the values of a row cost together: never more than what was asked, and no less than all but
 * a millionth of it
 */
static bool
cost_is_right(double epsilon, double delta, uint32_t levels)
{
	double each = race_series_epsilon(epsilon, delta, levels);
	RaceNoise noise = {.epsilon = each, .delta = delta};
	RaceNoise in_zcdp = {.epsilon = each,
						 .delta = delta,
						 .rho = delta > 0 ? race_rho_allowed(each, delta) : 0};

	noise.rho = delta > 0 ? race_gaussian_allowed(each, delta) : race_rho_of_pure(each);
	race_series_cost(&noise, levels);
	race_series_cost(&in_zcdp, levels);
	return noise.epsilon <= epsilon && noise.epsilon > epsilon * (1 - 1e-6) &&
		(delta > 0 ?
			 noise.rho <= race_gaussian_allowed(epsilon, delta) && in_zcdp.epsilon <= epsilon :
			 each * levels <= epsilon && noise.rho < race_rho_of_pure(epsilon) * 1.0001);
}

/* ------------------------------------------------------------------- an audit */

#define RELEASES CASES(150000, 3000)
#define DEVIATIONS 6.5 /* of the logarithm of a ratio: false alarms are below 1e-9 */

/*
 * A value of one row of two counters, in which the person has a record or not: what an attacker
 * learns, in logarithms
 */
static double
play(RaceRandom *random, const RaceParams *params, const RaceRequest *request, bool there)
{
	const int64_t without[] = {3, 5};
	int64_t counters[] = {3 + there, 5};
	int64_t drawn[2];
	int64_t count;
	RaceExactMemory memory;
	RaceShape shape;
	RaceRelease release = {.params = params, .request = request};
	RaceExact *exact;

	race_shape_of(params, NULL, &shape);
	exact = race_exact_begin(&memory, &shape);
	race_exact_add(exact, counters, sizeof(int64_t), 8 + there, 1);
	release.exact = exact;
	if (!race_release_begin(&release, random, &count) || !race_release_counters(&release, drawn))
		abort();
	return ((double) (llabs(drawn[0] - without[0]) - llabs(drawn[0] - without[0] - 1)) /
				(double) release.plan.counter_noise +
			(double) (llabs(count - 8) - llabs(count - 9)) / (double) release.plan.count_noise) *
		RACE_SCALE_DENOMINATOR;
}

/*
 * A lower bound of the epsilon of a series of 8 intervals, from what the person's interval and the
 * value of all 8 show: the two that have the record.  With `part` of the epsilon that each of them
 * may cost.
 */
static double
attack(double epsilon, double part)
{
	static const RaceParams params =
		{.kernel = RACE_KERNEL_L2, .dims = 1, .bandwidth = 1, .power = 1, .rows = 1, .range = 2};
	RaceRandom random = {.fill = fill_from_system};
	RaceRequest request = {.epsilon =
							   part * race_series_epsilon(epsilon, 0, race_series_levels(8, 1)),
						   .rows = 1,
						   .max_contributions = 1,
						   .neighbors = RACE_NEIGHBORS_ADD_REMOVE,
						   .levels = race_series_levels(8, 1)};
	double sure[2] = {0, 0};

	for (int there = 0; there < 2; there++)
		for (int i = 0; i < RELEASES; i++)
			sure[there] +=
				play(&random, &params, &request, there) + play(&random, &params, &request, there) >
				0.9 * part * epsilon;
	return log(sure[1] / sure[0]) - DEVIATIONS * sqrt(1 / sure[1] + 1 / sure[0]);
}

int
main(void)
{
	double found;
	double doubled;
	bool unbiased = true;
	double most = 0;
	bool good = true;
	uint32_t last = race_series_closed(INTERVALS, LEVELS);
	uint32_t n = 0;

	ok(values_are_in_order(1) && values_are_in_order(2) && values_are_in_order(LEVELS),
	   "values are those of 1, 8, 64, ... intervals, in the order in which they close");
	for (uint32_t values = 1; values <= last; values++)
	{
		n += length[values] == 1;
		if (values < last - 1 && values % 21 > 0)
			continue;
		most = fmax(most, try_periods(values, n, &unbiased));
	}
	ok(unbiased,
	   "each period has its intervals once, and no others, also while some values of an interval are missing");
	ok(most >= 1 - 1e-9 && most < 1.15,
	   "its variance is that of the best linear unbiased estimate, or 15 %% more (%.3f)", most);
	for (uint32_t levels = 1; levels <= 17; levels++)
		for (double epsilon = 0.01; epsilon < 200; epsilon *= 3)
			good =
				good && cost_is_right(epsilon, 0, levels) && cost_is_right(epsilon, 1e-6, levels);
	ok(good, "all values of a row cost together what was asked");
	found = attack(1, 1);
	doubled = attack(1, 2);
	ok(found <= 1 && (SANITIZED || found > 0.7),
	   "who sees all values of a series learns no more than epsilon = 1 (at least %.2f)", found);
	ok(SANITIZED || doubled > 1.2,
	   "control: with the noise of twice the part it is more (at least %.2f)", doubled);
	return done_testing();
}
