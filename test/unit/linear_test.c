/*
 * linear_test.c
 *		Linear algebra of covariances: columns that are combinations of others, singular
 *		vectors, shrinkage, inverses.
 */
#include "../../src/answers/factor.h"
#include "helpers.h"
#include "tap.h"
#include "answers/factor.h"

#define MOST 40

/* A matrix a[rows][n] of numbers between -1 and 1 */
static void
fill(double *a, uint32_t rows, uint32_t n, uint64_t seed)
{
	for (uint32_t i = 0; i < rows * n; i++)
		a[i] = 2 * (double) (mix(seed * 100000 + i) >> 11) / 9007199254740992.0 - 1;
}

/* c = a' a, [n][n] */
static void
gram(const double *a, uint32_t rows, uint32_t n, double *c)
{
	uint32_t k;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++)
			for (c[i * n + j] = 0, k = 0; k < rows; k++)
				c[i * n + j] += a[k * n + i] * a[k * n + j];
}

/* The correlations of columns of a */
static void
correlate(const double *a, uint32_t rows, uint32_t n, double *r)
{
	double length[MOST];

	gram(a, rows, n, r);
	for (uint32_t i = 0; i < n; i++)
		length[i] = sqrt(r[i * n + i]);
	for (uint32_t i = 0; i < n * n; i++)
		r[i] /= length[i / n] * length[i % n];
}

/* ------------------------------------------------------------------ Jacobi */

static void
test_rows(uint32_t rows, uint32_t n, uint32_t rank, uint64_t seed)
{
	double w[MOST * MOST];
	double before[MOST * MOST];
	double after[MOST * MOST];
	double lengths[MOST];
	double most = 0;
	bool sorted = true;

	fill(w, rows, n, seed);
	for (uint32_t i = rank; i < rows; i++)
		for (uint32_t j = 0; j < n; j++)
			w[i * n + j] = w[i % rank * n + j] * (i + 1.5) - w[j];
	gram(w, rows, n, before);
	race_jacobi(w, rows, n, lengths);
	gram(w, rows, n, after);
	for (uint32_t i = 0; i < rows; i++)
	{
		sorted &= i == 0 || lengths[i] <= lengths[i - 1];
		for (uint32_t j = 0; j < i && j < rank && i < rank; j++)
		{
			double sum = 0;

			for (uint32_t k = 0; k < n; k++)
				sum += w[i * n + k] * w[j * n + k];
			most = fmax(most, fabs(sum) / lengths[i] / lengths[j]);
		}
	}
	ok(most < 1e-12 && sorted, "%u x %u, rank %u: rows at right angles, sorted", rows, n, rank);
	ok(most_apart(before, after, n * n) < 1e-11 * before[0] * n, "... which were turned only");
	ok(rank >= rows || lengths[rank] < 1e-10 * lengths[0], "... of which %u have a length", rank);
}

static void
test_eigenvectors(void)
{
	double a[] = {2, 1, 0, 1, 2, 0, 0, 0, 7};
	double zero[9] = {0};
	double values[3];

	race_jacobi(a, 3, 3, values);
	ok(fabs(values[0] - 7) < 1e-14 && fabs(values[1] - 3) < 1e-14 && fabs(values[2] - 1) < 1e-14,
	   "eigenvalues 7, 3, 1");
	ok(fabs(fabs(a[2]) - 7) < 1e-14 && fabs(a[3] - a[4]) < 1e-14 && fabs(a[6] + a[7]) < 1e-14,
	   "... and their vectors");
	race_jacobi(zero, 3, 3, values);
	ok(values[0] == 0 && values[2] == 0, "zeros stay");
}

/* ----------------------------------------------------- combinations, inverses */

static void
test_independent(void)
{
	double a[100 * 6];
	double r[36];
	double work[RACE_LINEAR_WORK(6)];
	bool keep[6];

	fill(a, 100, 6, 1);
	for (int i = 0; i < 100; i++)
	{
		a[6 * i + 2] = a[6 * i] - 3 * a[6 * i + 1];
		a[6 * i + 5] = a[6 * i + 4];
	}
	correlate(a, 100, 6, r);
	ok(race_independent(r, 6, 99, work, keep) == 4 && keep[0] && keep[1] && !keep[2] && keep[3] &&
		   keep[4] && !keep[5],
	   "combinations of columns before them are not kept");
	for (int i = 0; i < 100; i++)
		a[6 * i + 2] += 1e-4 * a[6 * i + 5] * a[6 * i];
	correlate(a, 100, 6, r);
	ok(race_independent(r, 6, 99, work, keep) == 5 && keep[2],
	   "... but are if they differ a little");
	fill(a, 3, 6, 2);
	correlate(a, 3, 6, r);
	ok(race_independent(r, 6, 3, work, keep) == 6,
	   "... and if there is no telling, for lack of rows");
	ok(race_independent(r, 6, 99, work, keep) == 3, "control: if it is told by that many rows");
}

static void
test_inverse(uint32_t n)
{
	double a[MOST * MOST];
	double c[MOST * MOST];
	double m[MOST * MOST];
	double most = 0;
	bool lower = true;

	fill(a, MOST, n, 3);
	gram(a, MOST, n, c);
	memcpy(m, c, sizeof(m));
	ok(race_inverse_root(m, n), "%u x %u has a root", n, n);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++)
		{
			double sum = -(double) (i == j);

			for (uint32_t k = 0; k < n; k++)
				for (uint32_t l = 0; l < n; l++)
					sum += m[i * n + k] * c[k * n + l] * m[j * n + l];
			most = fmax(most, fabs(sum));
			lower &= j <= i ? j < i || m[i * n + j] > 0 : m[i * n + j] == 0;
		}
	ok(most < 1e-9, "... M C M' = 1");
	ok(lower, "... M is lower triangular, with a positive diagonal");
}

/* Solutions of C x = b, and the inverse of C, by its factor */
static void
test_factor(uint32_t n)
{
	double a[MOST * MOST];
	double c[MOST * MOST];
	double factor[MOST * MOST];
	double inverse[MOST * MOST];
	double x[MOST];
	double most = 0;
	double apart = 0;

	fill(a, MOST, n, 12);
	gram(a, MOST, n, c);
	memcpy(factor, c, sizeof(c));
	ok(race_factorize(factor, n, 1e-9), "%u x %u has a factor", n, n);
	memcpy(x, a, n * sizeof(double));
	race_solve_lower(factor, n, x);
	race_solve_upper(factor, n, x);
	for (uint32_t i = 0; i < n; i++)
	{
		double left = race_dot(c + (size_t) i * n, x, n) - a[i];

		most = fmax(most, fabs(left));
	}
	ok(most < 1e-9, "... which solves equations");
	race_invert_lower(factor, n);
	race_root_product(factor, n, inverse);
	for (uint32_t i = 0; i < n; i++)
	{
		double left = -x[i];

		for (uint32_t j = 0; j < n; j++)
			left += inverse[i * n + j] * a[j];
		apart = fmax(apart, fabs(left));
	}
	ok(apart < 1e-9, "... as its inverse does");
}

static void
test_least(void)
{
	double c[] = {4, 0, 2, 1}; /* the square of its last number is 0 */

	ok(!race_factorize(c, 2, 0.25) && c[0] == 2 && c[2] == 1 && c[3] == 0.5,
	   "a square below the least one is made that");
}

/* --------------------------------------------------------------- shrinkage */

static void
test_known(void)
{
	double r[] = {1, 0.6, 0.2, 0.6, 1, -0.3, 0.2, -0.3, 1};
	/* by the authors' formulas in NumPy, with the eigenvectors of numpy.linalg.eigh */
	const double known[] = {0.9400673767,  0.1300281043, 0.1741047886,  0.1300281043, 0.8992042245,
							-0.1385677262, 0.1741047886, -0.1385677262, 1.1607283988};
	double work[RACE_LINEAR_WORK(3)];
	double singular[] = {1, -0.9819805060619657, -0.4038903479179, -0.9819805060619657,
						 1, 0.5694947974514993,  -0.4038903479179, 0.5694947974514993,
						 1};
	const double more_columns[] = {1.1328401073,  0.35730788,   -0.2397917081,
								   0.35730788,    1.2670193285, 0.0118813204,
								   -0.2397917081, 0.0118813204, 0.6001405642};

	race_shrink(r, 3, 5, work);
	ok(most_apart(r, known, 9) < 1e-9, "five degrees of freedom, three columns");
	race_shrink(singular, 3, 2, work);
	ok(most_apart(singular, more_columns, 9) < 1e-8, "two degrees of freedom, three columns");
}

static void
test_shrink(uint32_t n, double freedom, double change)
{
	double a[MOST * MOST];
	double r[MOST * MOST];
	double shrunken[MOST * MOST];
	double work[RACE_LINEAR_WORK(MOST)];
	double trace = 0;
	double commute = 0;
	uint32_t rows = freedom < MOST ? (uint32_t) freedom : MOST;

	fill(a, rows, n, 4);
	correlate(a, rows, n, r);
	memcpy(shrunken, r, sizeof(r));
	race_shrink(shrunken, n, freedom, work);
	for (uint32_t i = 0; i < n; i++)
	{
		trace += shrunken[i * n + i];
		for (uint32_t j = 0; j < n; j++)
		{
			double sum = 0;

			for (uint32_t k = 0; k < n; k++)
				sum += shrunken[i * n + k] * r[k * n + j] - r[i * n + k] * shrunken[k * n + j];
			commute = fmax(commute, fabs(sum));
		}
	}
	ok(fabs(trace - n) < 1e-9, "%u columns, %g degrees of freedom: the trace stays", n, freedom);
	ok(commute < 1e-9, "... and the eigenvectors");
	ok(most_apart(shrunken, r, n * n) < change, "... the change is below %g", change);
	ok(race_inverse_root(shrunken, n), "... it can be inverted");
}

int
main(void)
{
	test_rows(5, 5, 5, 5);
	test_rows(40, 40, 40, 6);
	test_rows(3, 30, 3, 7);
	test_rows(30, 3, 3, 8);
	test_rows(20, 20, 4, 9);
	test_rows(2, 7, 1, 10);
	test_rows(1, 7, 1, 11);
	test_eigenvectors();
	test_independent();
	test_inverse(1);
	test_inverse(2);
	test_inverse(30);
	test_factor(1);
	test_factor(30);
	test_least();
	test_known();
	test_shrink(1, 1, 1e-15);
	test_shrink(30, 35, 2);
	test_shrink(30, 1e4, 1e-2);
	test_shrink(30, 1e8, 1e-6);
	test_shrink(30, 7, 2);
	test_shrink(30, 1, 2);
	return done_testing();
}
