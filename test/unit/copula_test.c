/*
 * copula_test.c
 *		Correlations by signs, and the nearest matrix of correlations: against closed forms, numeric
 *		integrals and published numbers
 */
#include "answers/copula.h"
#include "answers/factor.h"
#include "hash/quantiles.h"
#include "helpers.h"
#include "memory.h"
#include "tap.h"

#define MOST_COLUMNS 128

static double
normal_upper(double x)
{
	return erfc(x * M_SQRT1_2) / 2;
}

/* P(x > a, y > b) of correlated normal variables, by Simpson's rule over x */
static double
orthant(double a, double b, double r)
{
	int steps = 20000;
	double top = fmax(a, 0) + 12;
	double h = (top - a) / steps;
	double sum = 0;

	for (int i = 0; i <= steps; i++)
	{
		double x = a + i * h;

		sum += (i == 0 || i == steps ? 1 :
					i % 2 == 1       ? 4 :
									   2) *
			exp(-x * x / 2) * normal_upper((b - r * x) / sqrt(1 - r * r));
	}
	return sum * h / 3 / sqrt(2 * M_PI);
}

static double
product_of(double p, double q, double r)
{
	return 4 * orthant(-race_inverse_normal(p), -race_inverse_normal(q), r) - 2 * p - 2 * q + 1;
}

static void
test_medians(void)
{
	double most = 0;

	for (int i = -936; i <= 936; i++)
		most = fmax(most,
					fabs(race_sign_correlation(i / 1000.0, 0.5, 0.5) - sin(M_PI / 2 * i / 1000.0)));
	ok(most < 2e-6, "at medians it is the sine of a quarter turn times the product (%.1g off)",
	   most);
}

static void
test_elsewhere(void)
{
	static const double shares[] = {0.001, 0.02, 0.1, 0.3, 0.5, 0.8, 0.97};
	static const double r[] = {-0.98, -0.9, -0.6, -0.3, -0.05, 0, 0.1, 0.4, 0.7, 0.95, 0.99};
	double most = 0;
	double most_off = 0;
	double most_odd = 0;
	int n = 0;

	for (int i = 0; i < 7; i++)
		for (int j = 0; j < 7; j++)
			for (int k = 0; k < 11; k++)
			{
				double p = shares[i];
				double q = shares[j];
				double product = product_of(p, q, r[k]);
				double found = race_sign_correlation(product, p, q);
				double slope =
					(product_of(p, q, r[k] + 1e-3) - product_of(p, q, r[k] - 1e-3)) / 2e-3;

				if (SANITIZED && (i + j + k) % 7 > 0)
					continue;
				/* where correlations hardly change a product, products do not tell them */
				most_off = fmax(most_off, fabs(product_of(p, q, found) - product));
				if (slope < 0.05)
					continue;
				most = fmax(most, fabs(found - r[k]));
				most_odd = fmax(most_odd,
								fabs(race_sign_correlation(-product, 1 - p, q) + found) +
									fabs(race_sign_correlation(product, q, p) - found));
				n++;
			}
	ok(most < 2e-4 && n > (SANITIZED ? 20 : 200), "elsewhere it is as an integral says (%.1g off)",
	   most);
	ok(most_off < 1e-5, "and has the product that is given (%.1g off)", most_off);
	ok(most_odd < 1e-6, "columns may change places, and signs (%.1g off)", most_odd);
}

static void
test_ends(void)
{
	static const double shares[] = {0, 1e-12, 0.01, 0.5, 0.9, 1};
	bool within = true;
	bool rises = true;

	for (int i = 0; i < 6; i++)
		for (int j = 0; j < 6; j++)
		{
			double before = -2;

			for (int k = -120; k <= 120; k++)
			{
				double r = race_sign_correlation(k / 100.0, shares[i], shares[j]);

				within &= fabs(r) <= RACE_MOST_CORRELATION;
				rises &= r >= before;
				before = r;
			}
			within &= before == RACE_MOST_CORRELATION;
		}
	ok(within, "products that no correlation has give the largest ones");
	ok(rises, "correlations rise with products");
	ok(race_sign_correlation(0, 0.5, 0.5) == 0 && race_sign_correlation(-1, 0.5, 0.5) == -0.995,
	   "no product is no correlation");
}

/* ------------------------------------------------------------------ matrices */

/* The distance of two matrices, by the root of the sum of squares */
static double
distance(const double *a, const double *b, uint32_t n)
{
	double sum = 0;

	for (uint32_t i = 0; i < n * n; i++)
		sum += pow(a[i] - b[i], 2);
	return sqrt(sum);
}

/* Is it symmetric, with ones on the diagonal, and are all eigenvalues above this? */
static bool
is_correlation(const double *r, uint32_t n, double least)
{
	static double work[MOST_COLUMNS * MOST_COLUMNS];
	bool is = true;

	memcpy(work, r, n * n * sizeof(double));
	for (uint32_t i = 0; i < n; i++)
	{
		is &= r[i * n + i] == 1;
		work[i * n + i] -= least;
		for (uint32_t j = 0; j < n; j++)
			is &= fabs(r[i * n + j] - r[j * n + i]) < 1e-12 && fabs(r[i * n + j]) <= 1;
	}
	return is && race_factorize(work, n, 1e-300);
}

static void
set_random(double *r, uint32_t n, double size, uint64_t seed)
{
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j <= i; j++)
			r[i * n + j] = r[j * n + i] = i == j ? 1 : size * signed_unit(mix(++seed));
}

static void
test_fixed(void)
{
	static const uint32_t sizes[] = {1, 2, 3, 10, 64, CASES(128, 64)};
	double most = 0;

	for (int k = 0; k < 6; k++)
	{
		uint32_t n = sizes[k];
		double *r = from_memory(NULL, n * n * sizeof(double));
		double *before = from_memory(NULL, n * n * sizeof(double));

		/* Gershgorin: eigenvalues are .1 or more */
		set_random(r, n, 0.9 / n, n);
		memcpy(before, r, n * n * sizeof(double));
		race_nearest_correlation(r, n, from_memory, NULL);
		most = fmax(most, distance(r, before, n));
		set_random(r, n, 0, n);
		memcpy(before, r, n * n * sizeof(double));
		race_nearest_correlation(r, n, from_memory, NULL);
		most = fmax(most, distance(r, before, n));
		free_memory();
	}
	ok(most < 1e-8, "a matrix of correlations stays (%.1g off)", most);
}

/* The example of section 4 of Higham 2002; here no eigenvalue is near 0. */
static void
test_higham(void)
{
	static const double nearest[] = {1, 0.7607, 0.1573, 0.7607, 1, 0.7607, 0.1573, 0.7607, 1};
	double r[] = {1, 1, 0, 1, 1, 1, 0, 1, 1};

	race_nearest_correlation(r, 3, from_memory, NULL);
	free_memory();
	ok(most_apart(r, nearest, 9) < 2e-3 && is_correlation(r, 3, 2e-4),
	   "the nearest one is that of Higham 2002 (%.4f, %.4f)", r[1], r[2]);
}

/* To draw all correlations to 0 until eigenvalues are as large is another way, and no better. */
static void
test_nearest(void)
{
	bool are = true;
	bool nearer = true;

	for (uint64_t seed = 1; seed <= CASES(60, 6); seed++)
	{
		static double r[900];
		static double before[900];
		static double shrunk[900];
		uint32_t n = 2 + seed % 29;

		set_random(r, n, 0.995, seed << 20);
		memcpy(before, r, sizeof(r));
		race_nearest_correlation(r, n, from_memory, NULL);
		free_memory();
		are &= is_correlation(r, n, 2e-4);
		for (double scale = 1; scale > 0; scale -= 0.01)
		{
			for (uint32_t i = 0; i < n * n; i++)
				shrunk[i] = before[i] * (i % (n + 1) == 0 ? 1 : scale);
			if (is_correlation(shrunk, n, 1e-3))
				break;
		}
		nearer &= distance(r, before, n) <= distance(shrunk, before, n) + 0.01;
	}
	ok(are, "it is a matrix of correlations, without eigenvalues near 0");
	ok(nearer, "and nearer than the first one is that is drawn to 0");
}

/* Columns that cannot all be opposites of each other, as far off as can be */
static void
test_impossible(void)
{
	static double r[MOST_COLUMNS * MOST_COLUMNS];
	static const uint32_t sizes[] = {2, 3, 5, 30, CASES(128, 40)};
	bool are = true;
	double most = 0;

	for (int k = 0; k < 5; k++)
	{
		uint32_t n = sizes[k];

		for (uint32_t i = 0; i < n * n; i++)
			r[i] = i % (n + 1) == 0 ? 1 : -1;
		race_nearest_correlation(r, n, from_memory, NULL);
		free_memory();
		are &= is_correlation(r, n, 2e-4);
		for (uint32_t i = 0; i < n * n; i++)
			most = fmax(most, i % (n + 1) == 0 ? 0 : fabs(r[i] + 1.0 / (n - 1)));
		for (uint32_t i = 0; i < n * n; i++)
			r[i] = i % (n + 1) == 0 || i / n % 2 == i % n % 2 ? 1 : -1;
		race_nearest_correlation(r, n, from_memory, NULL);
		free_memory();
		are &= is_correlation(r, n, 2e-4) && r[1] < -0.99;
	}
	ok(are && most < 2e-3, "all opposites become as opposite as columns can be (%.1g off)", most);
}

int
main(void)
{
	test_medians();
	test_elsewhere();
	test_ends();
	test_fixed();
	test_higham();
	test_nearest();
	test_impossible();
	return done_testing();
}
