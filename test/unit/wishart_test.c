/*
 * wishart_test.c
 *		Wishart matrices from exact integers, and the budget of releases with them.
 *
 * What privacy rests on: W + s v v' is exp(-s / (2 scale)) times as likely as W, if |v| = 1.  So
 * W - s v v' has no negative eigenvalue with this probability, for every v: the largest such s,
 * 1 / (v' W^-1 v), is an exponential number of the mean 2 scale.
 *
 * Draws are pseudo-random and always the same, so that nothing here is left to luck.
 */
#include "../../src/linear/factor.h"
#include "helpers.h"
#include "tap.h"

#define P			4			/* columns */
#define N			(P * (P + 1) / 2)
#define DRAWS		20000
#define SCALE		(UINT64_C(1) << 38)
#define Z_LIMIT		4.5

static uint64_t position;

static void
draw(uint32_t columns, uint64_t scale, int sign, int64_t *triangle)
{
	static RaceRandom random = {fill_from_pattern, &position, 0, {0}};
	int64_t		work[P * (P + 1)];

	race_wishart(&random, columns, scale, sign, work, triangle);
}

/* Of exponential numbers x of mean 1 by n draws: the largest z of the shares beyond some limits */
static double
largest_z(const double *x, int n)
{
	double		largest = 0;
	double		limit;

	for (limit = 0.05; limit < 6; limit *= 1.5)
	{
		double		expected = exp(-limit);
		int			beyond = 0;
		int			i;

		for (i = 0; i < n; i++)
			beyond += x[i] > limit;
		largest = fmax(largest, fabs(beyond - n * expected) /
					   sqrt(n * expected * (1 - expected)));
	}
	return largest;
}

/* 1 / (v' W^-1 v), or -1 if W has a negative eigenvalue */
static double
reach(const int64_t *triangle, const double *v)
{
	double		root[P * P];
	double		sum = 0;
	int			i;
	int			j;

	for (i = 0; i < P; i++)
		for (j = i; j < P; j++)
			root[i * P + j] = root[j * P + i] = (double) *triangle++;
	if (!race_inverse_root(root, P))
		return -1;
	for (i = 0; i < P; i++)
	{
		double		z = race_dot(root + i * P, v, i + 1);

		sum += z * z;
	}
	return 1 / sum;
}

static void
test_reach(const char *what, double x, double y, double z, double t)
{
	static double share[DRAWS];
	double		length = sqrt(x * x + y * y + z * z + t * t);
	double		v[P] = {x / length, y / length, z / length, t / length};
	int			negative = 0;
	int			i;

	for (i = 0; i < DRAWS; i++)
	{
		int64_t		w[N] = {0};

		draw(P, SCALE, 1, w);
		share[i] = reach(w, v) / (2.0 * SCALE);
		negative += share[i] <= 0;
	}
	ok(negative == 0, "%s: no negative eigenvalue, but %d", what, negative);
	ok(largest_z(share, DRAWS) < Z_LIMIT, "... and what can be taken away is exponential, z = %.1f",
	   largest_z(share, DRAWS));
	for (i = 0; i < DRAWS; i++)
		share[i] *= 0.95;
	ok(largest_z(share, DRAWS) > Z_LIMIT, "... a scale 5 %% too small is found, z = %.1f",
	   largest_z(share, DRAWS));
}

/* Of one column it is an exponential number, and the difference a Laplace number */
static void
test_one(void)
{
	static double share[DRAWS];
	int			above = 0;
	int			i;

	for (i = 0; i < DRAWS; i++)
	{
		int64_t		e = 0;

		draw(1, SCALE, 1, &e);
		draw(1, SCALE, -1, &e);
		above += e > 0;
		share[i] = fabs((double) e) / (2.0 * SCALE);
	}
	ok(largest_z(share, DRAWS) < Z_LIMIT && abs(2 * above - DRAWS) < Z_LIMIT * sqrt(DRAWS),
	   "of one column the difference is a Laplace number, z = %.1f", largest_z(share, DRAWS));
}

/* Variances of entries of the difference, in units of 2 (columns + 1) scale^2 */
static void
test_variance(void)
{
	double		sum[N] = {0};
	double		square[N] = {0};
	bool		good = true;
	int			i;
	int			k;

	for (i = 0; i < DRAWS; i++)
	{
		int64_t		e[N] = {0};

		draw(P, SCALE, 1, e);
		draw(P, SCALE, -1, e);
		for (k = 0; k < N; k++)
		{
			double		x = (double) e[k] / SCALE / sqrt(2 * (P + 1));

			sum[k] += x / DRAWS;
			square[k] += x * x / DRAWS;
		}
	}
	for (k = 0; k < N; k++)
	{
		/* places 0, 4, 7 and 9 are the diagonal; the kurtosis is at most 6 */
		double		expected = k == 0 || k == 4 || k == 7 || k == 9 ? 2 : 1;

		good = good && fabs(sum[k]) < Z_LIMIT * sqrt(expected / DRAWS) &&
			fabs(square[k] / expected - 1) < Z_LIMIT * sqrt(5.0 / DRAWS);
	}
	ok(good, "means and variances of entries");
}

/* The cost that was computed, by its formula, and what is left of epsilon */
static void
test_budget(double epsilon, uint32_t columns, uint32_t sides, uint64_t trace)
{
	RaceWishartBudget budget;
	long double cost;
	bool		found = race_wishart_budget(epsilon, columns, sides, trace, 2, &budget);

	ok(found, "a budget of epsilon %g for %u columns, trace %llu", epsilon, columns,
	   (unsigned long long) trace);
	if (!found)
		return;
	cost = (long double) trace / (2 * (long double) budget.scale) +
		(long double) columns * (columns + 1) * 66 / 0x1p48L +
		(long double) race_wishart_rounding(columns, budget.scale) * (columns * (columns + 1) / 2) *
		RACE_SCALE_DENOMINATOR / budget.entry_scale +
		2.0L * RACE_SCALE_DENOMINATOR / budget.count_scale;
	cost *= sides;
	ok(cost <= budget.epsilon && budget.epsilon <= epsilon, "... costs what it says, and not more");
	ok(budget.scale < 1000 || cost > 0.99L * epsilon, "... and uses it, %.4Lf of it", cost / epsilon);
}

int
main(void)
{
	RaceWishartBudget budget = {0};

	test_reach("one column", 0, 0, 0, 1);
	test_reach("all columns", 1, -2, 3, 1);
	test_one();
	test_variance();
	test_budget(1, 7, 1, 9500000);
	test_budget(0.001, 2, 2, 67000000);
	test_budget(3, RACE_WISHART_COLUMNS, 2, 67000000);
	test_budget(1e6, 5, 1, 9500000);
	ok(!race_wishart_budget(1, RACE_WISHART_COLUMNS + 1, 1, 1000000, 1, &budget),
	   "not of too many columns");
	ok(!race_wishart_budget(1e-6, 7, 1, 9500000, 1, &budget), "not of a scale that is too large");
	ok(!race_wishart_budget(1e-8, 100, 1, 1, 1, &budget),
	   "not where steps of normal numbers cost too much");
	return done_testing();
}
