/*
 * l1_test.c
 *		The l1 kernel, and the Cauchy numbers its row functions are made of.
 */
#include "../../src/core/normal.h"
#include "../../src/core/kernels.h"
#include "helpers.h"
#include "tap.h"

/*
 * The kernel by its integral (Datar et al. 2004, section 3.2),
 *
 *		k(c) = integral of 2 / (pi c) 1 / (1 + t^2 / c^2) (1 - t), t = 0 ... 1
 *
 * with t = c sinh(u), by Simpson's rule
 */
static double
integrated_kernel(double c)
{
	const int	steps = 40000;
	long double h = asinhl(1 / (long double) c) / steps;
	long double sum = 0;

	for (int i = 0; i <= steps; i++)
	{
		long double u = i * h;
		int			weight = i == 0 || i == steps ? 1 : 2 + 2 * (i % 2);

		sum += weight * (1 - c * sinhl(u)) / coshl(u);
	}
	return (double) (sum * h / 3 * 2 / acosl(-1));
}

static void
test_integral(void)
{
	static const double distances[] = {
		1e-6, 1e-4, 0.01, 0.05, 0.1, 0.3, 0.5, 0.9, 0.999, 1, 1.001, 1.5, 2, 3, 10, 30, 100,
		1e3, 9.9e3, 1e4, 1.01e4, 1e5, 1e6
	};
	const int	n = sizeof(distances) / sizeof(distances[0]);
	double		worst = 0;
	int			rising = 0;

	for (int i = 0; i < n; i++)
	{
		double		k = race_l1_kernel(distances[i]);

		worst = fmax(worst, fabs(k / integrated_kernel(distances[i]) - 1));
		rising += i > 0 && k >= race_l1_kernel(distances[i - 1]);
	}
	printf("# largest relative error %.3g\n", worst);
	ok(worst < 1e-11, "the kernel is its integral at %d distances", n);
	ok(fabs(integrated_kernel(1) / race_l1_kernel(1.000001) - 1) > 1e-7,
	   "control: a distance off by 1e-6 shows");
	ok(rising == 0, "farther is less");
}

static void
test_ends(void)
{
	double		c;
	double		worst = 0;

	ok(race_l1_kernel(0) == 1 && race_l1_kernel(5e-324) == 1, "k = 1 at the smallest distances");
	ok(race_l1_kernel(1e-17) <= 1 && race_l1_kernel(1e-17) > 1 - 1e-15,
	   "and near them hardly less");
	ok(race_l1_kernel(INFINITY) == 0 && race_l1_kernel(1e308) >= 0, "k = 0 infinitely far");
	for (c = 1e9; c < 1e300; c *= 1e10)
		worst = fmax(worst, fabs(race_l1_kernel(c) * acos(-1) * c - 1));
	ok(worst < 1e-15, "k = 1 / (pi c) far away");
}

/* tan(pi (p - 1/2)) in more digits, where the argument is not near a pole */
static long double
inverse_cauchy(double p)
{
	long double v = p - 0.5L;
	long double w = fabsl(v);
	long double tangent = w <= 0.25L ? tanl(acosl(-1) * w) : 1 / tanl(acosl(-1) * (0.5L - w));

	return v < 0 ? -tangent : tangent;
}

static void
test_inverse(void)
{
	static const double places[] = {
		0x1p-53, 3 * 0x1p-53, 1e-10, 0.01, 0.24999, 0.25, 0.25001, 0.4, 0.5 - 0x1p-53,
		0.5 + 0x1p-53, 0.75, 0.9, 1 - 0x1p-53
	};
	double		worst = 0;
	double		asymmetry = 0;
	int			falling = 0;

	for (int i = 0; i < 1000000; i++)
	{
		/* of every second, all exponents alike */
		double		p = ldexp((double) (mix(i) >> 11), i % 2 == 0 ? -53 : -54 - i / 2 % 40);

		p = floor(p * 0x1p53 + 1) * 0x1p-53;
		if (i < (int) (sizeof(places) / sizeof(places[0])))
			p = floor(places[i] * 0x1p53) * 0x1p-53;
		if (p >= 1 || p == 0.5)
			continue;
		worst = fmax(worst, fabs((double) (race_inverse_cauchy(p) / inverse_cauchy(p) - 1)));
		asymmetry = fmax(asymmetry, fabs(race_inverse_cauchy(p) + race_inverse_cauchy(1 - p)));
		falling += race_inverse_cauchy(p) < race_inverse_cauchy(p - 0x1p-53 > 0 ? p - 0x1p-53 : p);
	}
	printf("# largest relative error %.3g\n", worst);
	ok(worst < 1e-15, "the inverse Cauchy is the tangent");
	ok(race_inverse_cauchy(0.5) == 0 && asymmetry == 0, "antisymmetric around 1/2");
	ok(falling == 0, "and never falls");
	ok(race_inverse_cauchy(1 - 0x1p-53) > 2e15 && race_inverse_cauchy(1 - 0x1p-53) < 3e15,
	   "its largest is 2^53 / pi");
}

int
main(void)
{
	test_integral();
	test_ends();
	test_inverse();
	return done_testing();
}
