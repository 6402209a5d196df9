/*
 * answers_test.c
 *		What answers have in plain C: Fourier transforms, tails of distributions, squares of
 *		kernels, and masses that are taken out of the nodes of a grid.
 */
#include "hash/kernel.h"
#include "answers/distributions.h"
#include "answers/point_masses.h"
#include "answers/solver.h"
#include "helpers.h"
#include "tap.h"

/* ---------------------------------------------------------------- transforms */

/* The transform at frequency (u, v, w), term by term */
static RaceComplex
direct(const RaceComplex *x, const size_t *sizes, size_t u, size_t v, size_t w)
{
	RaceComplex sum = {0, 0};

	for (size_t i = 0; i < sizes[0] * sizes[1] * sizes[2]; i++)
	{
		double angle = -2 * RACE_PI *
			((double) (u * (i / sizes[2] / sizes[1])) / sizes[0] +
			 (double) (v * (i / sizes[2] % sizes[1])) / sizes[1] +
			 (double) (w * (i % sizes[2])) / sizes[2]);

		sum.re += x[i].re * cos(angle) - x[i].im * sin(angle);
		sum.im += x[i].re * sin(angle) + x[i].im * cos(angle);
	}
	return sum;
}

static void
test_transform(size_t a, size_t b, size_t c)
{
	const size_t sizes[] = {a, b, c};
	size_t n = a * b * c;
	RaceComplex *x = malloc(n * sizeof(RaceComplex));
	RaceComplex *y = malloc(n * sizeof(RaceComplex));
	RaceComplex *space = malloc(race_fourier_space(sizes) * sizeof(RaceComplex));
	double error = 0;
	double back = 0;

	for (size_t i = 0; i < n; i++)
	{
		x[i].re = y[i].re = i % 3 == 0 ? 0 : sin((double) i);
		x[i].im = y[i].im = cos((double) i * 0.7);
	}
	race_fourier_prepare(sizes, space);
	race_fourier(y, sizes, 0, space);
	for (size_t i = 0; i < n; i += 1 + n / 200)
	{
		RaceComplex right = direct(x, sizes, i / c / b, i / c % b, i % c);

		error = fmax(error, fabs(y[i].re - right.re) + fabs(y[i].im - right.im));
	}
	race_fourier(y, sizes, 1, space);
	for (size_t i = 0; i < n; i++)
		back = fmax(back, fabs(y[i].re / n - x[i].re) + fabs(y[i].im / n - x[i].im));
	ok(error < 1e-10 * n, "a transform of %zu x %zu x %zu: error %g", a, b, c, error);
	ok(back < 1e-12, "and back: error %g", back);
	free(x);
	free(y);
	free(space);
}

/* --------------------------------------------------------------------- tails */

static void
test_tails(void)
{
	/* from SciPy: gamma.sf(x, shape) */
	static const double known[][3] = {
		{0.5, 1, 0.15729920705028513},  {0.5, 10, 7.74421643104408e-06},
		{1, 3, 0.049787068367863944},   {5, 1, 0.9963401531726563},
		{5, 15, 0.000856641210775301},  {100, 100, 0.4867012107286556},
		{100, 130, 0.0027504083673065},
	};
	double shape;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
	{
		double tail = race_gamma_tail(known[i][0], known[i][1]);

		ok(fabs(tail / known[i][2] - 1) < 1e-6, "gamma of shape %g beyond %g: %.17g", known[i][0],
		   known[i][1], tail);
	}
	ok(race_gamma_tail(3, 0) == 1 && race_gamma_tail(3, -1) == 1 && race_gamma_tail(3, NAN) == 1,
	   "below 0 there is all");
	ok(fabs(race_normal_tail(1.96) - 0.024997895) < 1e-8, "a normal tail");
	/* two ways meet at large shapes, and both are normal in the end */
	shape = 10000;
	ok(fabs(race_gamma_tail(shape, shape + 200) -
			race_gamma_tail(shape * 1.0001, shape * 1.0001 + 200)) < 1e-4,
	   "large shapes: %g and %g", race_gamma_tail(shape, shape + 200),
	   race_gamma_tail(shape * 1.0001, shape * 1.0001 + 200));
	ok(fabs(race_skew_tail(3, 4, 0) - race_normal_tail(1.5)) < 1e-12, "without skewness");
	ok(fabs(race_skew_tail(3, 4, 0.01) - race_normal_tail(1.5)) < 1e-3, "with little of it");
	/* a chi-squared variable with one degree of freedom: variance 2, skewness sqrt(8) */
	ok(fabs(race_skew_tail(3.841459 - 1, 2, sqrt(8)) - 0.05) < 1e-6, "chi-squared");
}

/* ------------------------------------------------------------ squared kernels */

/* P[|floor(x) - floor(y)| = i], for x - y normal with this standard deviation: a sum */
static double
apart(int i, double c)
{
	double sum = 0;

	for (int k = -8000; k <= 8000; k++)
	{
		double z = k / 1000.0;
		double density = exp(-z * z / 2) / sqrt(2 * RACE_PI) / 1000;
		double p = fmax(1 - fabs(fabs(z * c) - i), 0);

		sum += density * p;
	}
	return sum;
}

static void
test_square(void)
{
	const double *square = race_kernel_type(RACE_KERNEL_L2)->square;
	double c;
	double worst = 0;

	for (c = 0.1; c < 50; c *= 1.3)
	{
		double right = pow(race_l2_kernel(c), 2);
		double sum = 0;

		for (int i = 0; i <= RACE_SQUARE_LAGS; i++)
			sum += square[i] * apart(i, c);
		worst = fmax(worst, (fabs(sum - right) - 0.003) / right);
	}
	ok(worst < 0.07, "the square of l2 by probabilities of codes: to 0.003 + %.2g %%", 100 * worst);
	ok(race_kernel_type(RACE_KERNEL_L1)->square == NULL, "l1 has none");
}

/* ------------------------------------------------- masses in nodes of a grid */

#define NODES 101

/* Split records at a place, in cells, over the two nodes around it. */
static void
put(double *nodes, double place, double records)
{
	size_t k = (size_t) place;

	nodes[k] += (1 - (place - k)) * records;
	if (place > k)
		nodes[k + 1] += (place - k) * records;
}

static size_t
take(double *nodes, double noise, RacePointMass *masses)
{
	double space[NODES];

	return race_point_masses_take(nodes, NODES, noise, masses, space);
}

static void
test_one_mass(double place, double ground)
{
	RacePointMass masses[NODES / 3 + 1];
	double nodes[NODES];
	size_t found;
	double off = 0;

	for (size_t k = 0; k < NODES; k++)
		nodes[k] = ground;
	put(nodes, place, 1e6);
	found = take(nodes, 1, masses);
	for (size_t k = 0; k < NODES; k++)
		off = fmax(off, fabs(nodes[k] - ground));
	ok(found == 1 && fabs(masses[0].place - place) < 1e-9 && fabs(masses[0].records - 1e6) < 1e-3 &&
		   off < 1e-3,
	   "a point mass at %g on %g a node is found where it is, and the rest stays", place, ground);
}

/* Records of a normal distribution that is so many cells wide */
static void
test_no_mass(double width, const char *what)
{
	RacePointMass masses[NODES / 3 + 1];
	double nodes[NODES] = {0};

	for (int i = -4000; i <= 4000; i++)
		put(nodes, 50.3 + i / 1000.0 * width, 1e3 * exp(-i / 1000.0 * (i / 1000.0) / 2));
	ok(take(nodes, 1, masses) == 0, "%s is no point mass", what);
}

/* In the noise of a release; the control is the same noise with masses of 100 deviations. */
static void
test_noise(void)
{
	RacePointMass masses[NODES / 3 + 1];
	double nodes[NODES];
	double with_masses[NODES];
	size_t of_noise;

	for (size_t k = 0; k < NODES; k++)
	{
		double u = ((double) (mix(k + 1) >> 11) + 0.5) / 9007199254740992.0 - 0.5;

		nodes[k] = (u < 0 ? 1 : -1) * log(1 - 2 * fabs(u)) / sqrt(2);
		with_masses[k] = nodes[k];
	}
	for (size_t k = 5; k + 6 < NODES; k += 10)
		put(with_masses, k + 0.5, 100);
	of_noise = take(nodes, 1, masses);
	ok(of_noise == 0, "no masses in noise: %zu", of_noise);
	ok(take(with_masses, 1, masses) == 9, "and all 9 that stand out of it");
}

/* Nothing is lost or moved: sums and centers stay. */
static void
test_nothing_is_lost(void)
{
	RacePointMass masses[NODES / 3 + 1];
	double nodes[NODES];
	double sum = 0;
	double center = 0;
	size_t found;

	for (size_t k = 0; k < NODES; k++)
	{
		nodes[k] = (double) (mix(k) % 7) * (mix(k + NODES) % 5 == 0 ? 1000 : 1);
		sum += nodes[k];
		center += k * nodes[k];
	}
	found = take(nodes, 0.01, masses);
	for (size_t k = 0; k < NODES; k++)
	{
		sum -= nodes[k];
		center -= k * nodes[k];
	}
	for (size_t k = 0; k < found; k++)
	{
		sum -= masses[k].records;
		center -= masses[k].place * masses[k].records;
	}
	ok(found > 3 && fabs(sum) < 1e-6 && fabs(center) < 1e-4,
	   "%zu masses and what is left add up to what there was", found);
}

static void
test_masses(void)
{
	double two[2] = {1000, 500};
	double space[2];
	RacePointMass mass[1];

	test_one_mass(50, 0);
	test_one_mass(50, 40);
	test_one_mass(20.25, 0);
	test_one_mass(20.5, 40);
	test_one_mass(0, 0);
	test_one_mass(NODES - 1, 0);
	test_one_mass(NODES - 1.5, 0);
	test_no_mass(1, "a cluster as wide as a cell");
	test_no_mass(3, "a wider one");
	test_no_mass(12, "a smooth table");
	test_noise();
	test_nothing_is_lost();
	ok(race_point_masses_take(two, 2, 1, mass, space) == 1 && fabs(mass[0].place - 1 / 3.0) < 1e-9,
	   "two nodes are enough");
}

int
main(void)
{
	ok(race_fourier_size(1) == 1 && race_fourier_size(7) == 8 && race_fourier_size(17) == 32 &&
		   race_fourier_size(1025) == 2048,
	   "sizes of transforms");
	test_transform(1, 1, 1);
	test_transform(1, 1, 64);
	test_transform(1, 16, 32);
	test_transform(8, 2, 4);
	test_transform(1, 1, 1024);
	test_transform(4, 1, 64);
	test_tails();
	test_square();
	test_masses();
	return done_testing();
}
