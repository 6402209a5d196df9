/*
 * kernel_test.c
 *		The exact kernel value.
 */
#include "helpers.h"
#include "tap.h"

/*
 * The l2 kernel by its integral (Datar et al. 2004, section 3.2),
 *
 *		k(c) = integral of 2 / (sqrt(2 pi) c) exp(-t^2 / 2 c^2) (1 - t), t = 0 ... 1
 *
 * with t = c s, by Simpson's rule; beyond s = 12 the density is below 1e-31.
 */
static double
integrated_kernel(double c)
{
	const int	steps = 20000;
	long double end = 1 / c < 12 ? 1 / (long double) c : 12;
	long double h = end / steps;
	long double sum = 0;
	int			i;

	for (i = 0; i <= steps; i++)
	{
		long double s = i * h;
		int			weight = i == 0 || i == steps ? 1 : 2 + 2 * (i % 2);

		sum += weight * expl(-s * s / 2) * (1 - c * s);
	}
	return (double) (sum * h / 3 * sqrtl(2 / acosl(-1)));
}

static double
kernel(double bandwidth, uint32_t power, double x, double y)
{
	RaceParams	params = l2_params(RACE_SEQUENCE_INDEPENDENT, RACE_REHASH_MULTILINEAR,
								   1, power, 1, 2);

	params.bandwidth = bandwidth;
	return kernel_of_vectors(&params, &x, &y);
}

static void
test_integral(void)
{
	static const double distances[] = {
		1e-6, 1e-4, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 30, 100, 1e3, 1e4, 1e6
	};
	const int	n = sizeof(distances) / sizeof(distances[0]);
	double		worst = 0;
	double		worst_power = 0;
	int			rising = 0;
	int			i;

	for (i = 0; i < n; i++)
	{
		double		k = kernel(1, 1, 0, distances[i]);

		worst = fmax(worst, fabs(k / integrated_kernel(distances[i]) - 1));
		worst_power = fmax(worst_power, fabs(kernel(1, 2, 0, distances[i]) / (k * k) - 1));
		worst_power = fmax(worst_power, fabs(kernel(1, 3, 0, distances[i]) / (k * k * k) - 1));
		rising += i > 0 && k >= kernel(1, 1, 0, distances[i - 1]);
	}
	printf("# largest relative error %.3g\n", worst);
	ok(worst < 1e-12, "the kernel is its integral at %d distances", n);
	ok(fabs(integrated_kernel(1) / kernel(1, 1, 0, 1.000001) - 1) > 1e-7,
	   "control: a distance off by 1e-6 shows");
	ok(worst_power < 1e-14, "power 2 and 3 are the square and the cube");
	ok(rising == 0, "farther is less");
}

static void
test_ends(void)
{
	double		close = kernel(1, 1, 1, nextafter(1, 2));

	ok(kernel(1, 1, 5, 5) == 1 && kernel(1, 1024, -0.0, 0.0) == 1, "k(x, x) = 1");
	ok(close <= 1 && close > 1 - 1e-15, "and next to x hardly less");
	ok(kernel(1, 1, 0, 5e-324) == 1, "the smallest distance");
	ok(kernel(1, 1, -1e308, 1e308) == 0, "k = 0 where the distance overflows");
	ok(kernel(RACE_MIN_BANDWIDTH, 1, 0, 1e300) == 0, "and where it does in bandwidths");
	ok(kernel(RACE_MIN_BANDWIDTH, 1, 1e300, 1e300) == 1,
	   "k(x, x) = 1 even where x overflows in bandwidths");
	ok(kernel(RACE_MIN_BANDWIDTH, 1, 1e300, -1e300) == 0 &&
	   kernel(RACE_MIN_BANDWIDTH, 1, 1e300, nextafter(1e300, 0)) == 0,
	   "and 0 where x and y both do, and are not the same");
	ok(kernel(RACE_MAX_BANDWIDTH, 1, 0, 1) == 1, "k = 1 in the largest bandwidth");
	ok(fabs(kernel(1, 1, 0, 1e150) * 1e150 * sqrt(2 * M_PI) - 1) < 1e-14,
	   "k = 1 / (sqrt(2 pi) c) far away");
}

static void
test_distance(void)
{
	RaceParams	params = l2_params(RACE_SEQUENCE_INDEPENDENT, RACE_REHASH_FOLD, 3, 1, 1, 2);
	double		x[3] = {1, 10, -4};
	double		y[3] = {3, 4, 5};	/* 11 apart */
	double		k;

	params.bandwidth = 4;
	k = kernel_of_vectors(&params, x, y);
	ok(fabs(k / kernel(1, 1, 0, 2.75) - 1) < 1e-14,
	   "the distance is Euclidean, in bandwidths");
	ok(kernel_of_vectors(&params, y, x) == k, "the kernel is symmetric");
	params.dims = 2;
	ok(kernel_of_vectors(&params, x, y) > k, "only n elements count");
}

int
main(void)
{
	test_integral();
	test_ends();
	test_distance();
	return done_testing();
}
