/*
 * kernel_test.c
 *		The exact kernel value.
 */
#include "kernels.h"
#include "tap.h"

#include "hash/column.h"
#include "hash/kernel.h"
#include "hash/params.h"

/*
 * Kernels by their integrals (Datar et al. 2004, section 3.2), of the density of a projection of
 * length t times (1 - t), t = 0 ... 1.  Of l2 it is 2 / (sqrt(2 pi) c) exp(-t^2 / 2 c^2), with t =
 * c s; beyond s = 12 it is below 1e-31.  Of l1 it is 2 / (pi c) 1 / (1 + t^2 / c^2), with t = c
 * sinh(s).
 */
static long double
l2_integrand(long double c, long double s)
{
	return expl(-s * s / 2) * (1 - c * s) * sqrtl(2 / acosl(-1));
}

static long double
l1_integrand(long double c, long double s)
{
	return (1 - c * sinhl(s)) / coshl(s) * 2 / acosl(-1);
}

/* Simpson's rule */
static double
integrated_kernel(bool l1, double c)
{
	const int steps = 40000;
	long double end = l1 ? asinhl(1 / (long double) c) : fminl(1 / (long double) c, 12);
	long double h = end / steps;
	long double sum = 0;

	for (int i = 0; i <= steps; i++)
	{
		int weight = i == 0 || i == steps ? 1 : 2 + 2 * (i % 2);

		sum += weight * (l1 ? l1_integrand(c, i * h) : l2_integrand(c, i * h));
	}
	return (double) (sum * h / 3);
}

static double
kernel(double bandwidth, uint32_t power, double x, double y)
{
	RaceParams params =
		l2_params(RACE_SEQUENCE_INDEPENDENT, RACE_REHASH_MULTILINEAR, 1, power, 1, 2);

	params.bandwidth = bandwidth;
	return kernel_of_vectors(&params, &x, &y);
}

static void
test_integral(bool l1)
{
	static const double distances[] = {1e-6, 1e-4,  0.01, 0.05,  0.1, 0.2,    0.3, 0.5, 0.7,
									   0.9,  0.999, 1,    1.001, 1.5, 2,      3,   5,   10,
									   30,   100,   1e3,  9.9e3, 1e4, 1.01e4, 1e5, 1e6};
	double (*exact)(double) = l1 ? race_l1_kernel : race_l2_kernel;
	const char *name = l1 ? "l1" : "l2";
	const int n = sizeof(distances) / sizeof(distances[0]);
	double worst = 0;
	int rising = 0;

	for (int i = 0; i < n; i++)
	{
		worst = fmax(worst, fabs(exact(distances[i]) / integrated_kernel(l1, distances[i]) - 1));
		rising += i > 0 && exact(distances[i]) >= exact(distances[i - 1]);
	}
	printf("# largest relative error %.3g\n", worst);
	ok(worst < (l1 ? 1e-11 : 1e-12), "%s: the kernel is its integral at %d distances", name, n);
	ok(fabs(integrated_kernel(l1, 1) / exact(1.000001) - 1) > 1e-7,
	   "control: a distance off by 1e-6 shows");
	ok(rising == 0, "%s: farther is less", name);
}

static void
test_powers(void)
{
	double worst = 0;
	double c;

	for (c = 1e-6; c < 1e6; c *= 3)
	{
		double k = kernel(1, 1, 0, c);

		worst = fmax(worst, fabs(kernel(1, 2, 0, c) / (k * k) - 1));
		worst = fmax(worst, fabs(kernel(1, 3, 0, c) / (k * k * k) - 1));
	}
	ok(worst < 1e-14, "power 2 and 3 are the square and the cube");
}

static void
test_ends(void)
{
	double close = kernel(1, 1, 1, nextafter(1, 2));

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
	RaceParams params = l2_params(RACE_SEQUENCE_INDEPENDENT, RACE_REHASH_FOLD, 3, 1, 1, 2);
	double x[3] = {1, 10, -4};
	double y[3] = {3, 4, 5}; /* 11 apart */
	double k;

	params.bandwidth = 4;
	k = kernel_of_vectors(&params, x, y);
	ok(fabs(k / kernel(1, 1, 0, 2.75) - 1) < 1e-14, "the distance is Euclidean, in bandwidths");
	ok(kernel_of_vectors(&params, y, x) == k, "the kernel is symmetric");
	params.dims = 2;
	ok(kernel_of_vectors(&params, x, y) > k, "only n elements count");
}

/* ------------------------------------------------------------- other kernels */

static void
test_l1_ends(void)
{
	double c;
	double worst = 0;

	ok(race_l1_kernel(0) == 1 && race_l1_kernel(5e-324) == 1, "k = 1 at the smallest distances");
	ok(race_l1_kernel(1e-17) <= 1 && race_l1_kernel(1e-17) > 1 - 1e-15,
	   "and near them hardly less");
	ok(race_l1_kernel(INFINITY) == 0 && race_l1_kernel(1e308) >= 0, "k = 0 infinitely far");
	for (c = 1e9; c < 1e300; c *= 1e10)
		worst = fmax(worst, fabs(race_l1_kernel(c) * acos(-1) * c - 1));
	ok(worst < 1e-15, "k = 1 / (pi c) far away");
}

/* Parameters of a kernel by itself; kept until the next call */
static RaceParams *
alone(RaceKernel kernel, uint32_t dims, uint32_t power)
{
	static RaceParams *params;
	Recipe recipe = {MULTI, 2, {PART((uint8_t) kernel, IND, dims, power)}};

	free(params);
	params = make_params(&recipe, 1, 0);
	return params;
}

static void
test_l1(void)
{
	RaceParams *params = alone(L1, 3, 2);
	double x[3] = {1, 10, -4};
	double y[3] = {3, 4, 5}; /* 17 apart along axes */
	double k;

	params->bandwidth = 4;
	k = kernel_of_vectors(params, x, y);
	ok(fabs(k / pow(race_l1_kernel(4.25), 2) - 1) < 1e-14,
	   "l1: the distance is along axes, in bandwidths, and power 2 the square");
	ok(kernel_of_vectors(params, y, x) == k && kernel_of_vectors(params, x, x) == 1,
	   "symmetric, and 1 at no distance");
	params->bandwidth = RACE_MIN_BANDWIDTH;
	x[0] = 1e300;
	ok(kernel_of_vectors(params, x, y) == 0, "0 where the distance overflows");
	ok(kernel_of_vectors(params, x, x) == 1, "k(x, x) = 1 even where x overflows in bandwidths");
}

/* The angular kernel of two vectors of a plane */
static double
angular(double x0, double x1, double y0, double y1)
{
	double x[2] = {x0, x1};
	double y[2] = {y0, y1};

	return kernel_of_vectors(alone(ANGULAR, 2, 1), x, y);
}

static void
test_known_angles(void)
{
	const double pi = acos(-1);
	double worst = 0;
	double worst_scaled = 0;

	for (int i = 0; i <= 1000; i++)
	{
		double angle = pi * i / 1000;
		double c = cos(angle);
		double s = sin(angle);

		worst = fmax(worst, fabs(angular(1, 0, 3 * c, 3 * s) - (1 - i / 1000.0)));
		worst = fmax(worst, fabs(angular(c, s, -5, 0) - i / 1000.0));
		worst_scaled = fmax(worst_scaled,
							fabs(angular(1e-300, 0, 1e300 * c, 1e300 * s) - angular(1, 0, c, s)));
	}
	ok(worst < 1e-15, "angular: known angles");
	ok(worst_scaled < 1e-15, "of tiny and huge vectors, too");
	ok(angular(1, 1, 2, 2) == 1 && angular(1, 1, -2, -2) == 0, "parallel and opposite");
	ok(angular(5e-324, 0, 0, 1.7e308) == 0.5 && angular(5e-324, 0, 1.7e308, 0) == 1 &&
		   angular(1.7e308, 1.7e308, -1.7e308, 1.7e308) == 0.5,
	   "the smallest and largest doubles");
	ok(fabs((1 - angular(1, 0, 1, 1e-9)) * pi / 1e-9 - 1) < 1e-6 && angular(1, 0, 1, 1e-20) == 1,
	   "nearly parallel");
	ok(fabs(angular(1, 0, -1, 1e-9) * pi / 1e-9 - 1) < 1e-6 && angular(1, 0, -1, 1e-20) < 1e-15,
	   "nearly opposite");
	ok(angular(0, 0, 3, 4) == 0.5 && angular(3, 4, -0.0, 0) == 0.5 && angular(0, 0, -0.0, 0) == 1,
	   "the zero vector is at a right angle to all but itself");
}

static void
test_angular(void)
{
	double x[100];
	double y[100];
	double cubed;
	long double dot = 0;
	long double x_square = 0;
	long double y_square = 0;

	for (int i = 0; i < 100; i++)
	{
		x[i] = signed_unit(mix(i));
		y[i] = x[i] + signed_unit(mix(i + 100));
		dot += (long double) x[i] * y[i];
		x_square += (long double) x[i] * x[i];
		y_square += (long double) y[i] * y[i];
	}
	ok(fabs(kernel_of_vectors(alone(ANGULAR, 100, 1), x, y) -
			(double) (1 - acosl(dot / sqrtl(x_square * y_square)) / acosl(-1))) < 1e-14,
	   "in many dimensions");
	cubed = kernel_of_vectors(alone(ANGULAR, 100, 3), x, y);
	ok(fabs(cubed - pow(kernel_of_vectors(alone(ANGULAR, 100, 1), x, y), 3)) < 1e-15,
	   "power 3 is the cube");
	ok(kernel_of_vectors(alone(ANGULAR, 100, 3), y, x) == cubed, "symmetric");
}

/* One element after the other, in all the other set */
static double
plain_jaccard(const uint64_t *x, size_t n_x, const uint64_t *y, size_t n_y)
{
	size_t both = 0;

	for (size_t i = 0; i < n_x; i++)
		for (size_t j = 0; j < n_y; j++)
			both += x[i] == y[j];
	return n_x + n_y == 0 ? 1 : (double) both / (n_x + n_y - both);
}

/* Elements of a set of bits, at the ends of what there is */
static size_t
set_of_bits(uint32_t bits, uint64_t *elements)
{
	static const uint64_t of_bit[6] = {0, 1, 77, UINT64_C(1) << 63, UINT64_MAX - 1, UINT64_MAX};
	size_t n = 0;

	for (int i = 0; i < 6; i++)
		if ((bits >> i & 1) != 0)
			elements[n++] = of_bit[i];
	return n;
}

static void
test_jaccard(void)
{
	int wrong = 0;
	int wrong_power = 0;

	for (uint32_t a = 0; a < 64; a++)
		for (uint32_t b = 0; b < 64; b++)
		{
			uint64_t x[6];
			uint64_t y[7];
			size_t x_starts[2] = {0, set_of_bits(a, x)};
			size_t y_starts[2] = {1, 1 + set_of_bits(b, y + 1)};
			RaceColumn x_column = {.elements = x, .starts = x_starts};
			RaceColumn y_column = {.elements = y, .starts = y_starts};
			double k = plain_jaccard(x, x_starts[1], y + 1, y_starts[1] - 1);

			wrong += race_kernel_value(alone(JACCARD, 0, 1), &x_column, &y_column) != k;
			wrong_power +=
				fabs(race_kernel_value(alone(JACCARD, 0, 2), &x_column, &y_column) - k * k) > 1e-16;
		}
	ok(wrong == 0, "jaccard: shared elements over all, for all sets of up to six");
	ok(wrong_power == 0, "power 2 is the square");
}

static void
test_match(void)
{
	uint64_t x[4] = {1, 2, 3, UINT64_MAX};
	uint64_t y[4] = {1, 3, 2, UINT64_MAX};
	RaceColumn x_column = {.elements = x, .width = 4};
	RaceColumn y_column = {.elements = y, .width = 4};

	ok(race_kernel_value(alone(MATCH, 4, 1), &x_column, &y_column) == 0.5 &&
		   race_kernel_value(alone(MATCH, 4, 3), &x_column, &y_column) == 0.125,
	   "match: equal categories at equal places, to the power");
	ok(race_kernel_value(alone(MATCH, 4, 1), &x_column, &x_column) == 1, "all of them");
	x[0] = x[3] = 0;
	ok(race_kernel_value(alone(MATCH, 4, 1), &x_column, &y_column) == 0, "none");
}

/* ------------------------------------- products, widths of columns, transforms */

/* The kernel of some made up records, of all parts or of one by itself */
static double
kernel_of_number(const RaceParams *params, uint64_t number)
{
	RaceColumn x[RACE_MAX_PARTS] = {{0}};
	RaceColumn y[RACE_MAX_PARTS] = {{0}};
	double k;
	int p = 0;

	random_records(params, number, 1, x);
	random_records(params, number + 1000, 1, y);
	/* near each other, whatever their exponents were */
	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params), p++)
		for (uint32_t i = 0; i < part->dims; i++)
			if (race_record_kind(part) == RACE_RECORD_VECTOR)
			{
				((double *) x[p].numbers)[i] = 2 * signed_unit(mix(number * 99 + i));
				((double *) y[p].numbers)[i] = 2 * signed_unit(mix(number * 99 + i + 50));
			}
			else if (mix(number + i) % 3 > 0)
				((uint64_t *) y[p].elements)[i] = x[p].elements[i];
	k = race_kernel_value(params, x, y);
	free_records(params, x);
	free_records(params, y);
	return k;
}

static void
test_products(void)
{
	static const Recipe whole = {MULTI,
								 2,
								 {{L2, SOBOL, 3, 2, BOUNDS, 0},
								  {L1, IND, 5, 1, WIDTHS, 0},
								  PART(MATCH, IND, 6, 2),
								  {ANGULAR, IND, 4, 3, TRANSFORM, 2}}};
	RaceParams *product = make_params(&whole, 1, 0);
	double worst = 0;
	double mean = 0;

	for (uint64_t number = 0; number < 100; number++)
	{
		double k = 1;

		for (int p = 0; p < RACE_MAX_PARTS; p++)
		{
			Recipe one = {MULTI, 2, {whole.parts[p]}};
			RaceParams *params = make_params(&one, 1, 0);

			k *= kernel_of_number(params, number);
			free(params);
		}
		mean += k / 100;
		worst = fmax(worst, fabs(kernel_of_number(product, number) - k) / (k + 1e-300));
	}
	ok(worst < 1e-14 && mean > 1e-4, "a product's kernel is the product of its parts'");
	free(product);
}

/* Both records divided by the widths of columns, and hashed without */
static void
test_widths(RaceKernel kernel)
{
	Recipe recipe = {MULTI, 2, {{(uint8_t) kernel, IND, 5, 1, WIDTHS, 0}}};
	RaceParams *params = make_params(&recipe, 1, 0);
	double worst = 0;

	for (uint64_t number = 0; number < 100; number++)
	{
		double x[5];
		double y[5];
		double k;

		for (uint32_t i = 0; i < 5; i++)
		{
			x[i] = 5 * signed_unit(mix(number * 20 + i));
			y[i] = 5 * signed_unit(mix(number * 20 + i + 10));
		}
		k = kernel_of_vectors(params, x, y);
		for (uint32_t i = 0; i < 5; i++)
		{
			x[i] /= array_number(WIDTHS, i);
			y[i] /= array_number(WIDTHS, i);
		}
		worst = fmax(worst, fabs(kernel_of_vectors(alone(kernel, 5, 1), x, y) / k - 1));
	}
	ok(worst < 1e-13, "%s: widths of columns divide their numbers", race_kernel_name(kernel));
	free(params);
}

/* M (x - o) of the made up transform */
static void
transform(uint32_t dims, uint32_t outputs, const double *x, double *g)
{
	for (uint32_t i = 0; i < outputs; i++)
	{
		g[i] = 0;
		for (uint32_t j = 0; j < dims; j++)
			g[i] += array_number(RACE_ARRAY_MATRIX, i * dims + j) *
				(x[j] - array_number(RACE_ARRAY_OFFSET, j));
	}
}

static void
test_transform(RaceKernel kernel, uint32_t dims, uint32_t outputs)
{
	Recipe recipe = {MULTI, 2, {{(uint8_t) kernel, IND, dims, 1, TRANSFORM, outputs}}};
	RaceParams *params = make_params(&recipe, 1, 0);
	double worst = 0;

	for (uint64_t number = 0; number < 100; number++)
	{
		double x[8];
		double y[8];
		double g[8];
		double h[8];

		for (uint32_t i = 0; i < dims; i++)
		{
			x[i] = 5 * signed_unit(mix(number * 20 + i));
			y[i] = 5 * signed_unit(mix(number * 20 + i + 10));
		}
		transform(dims, outputs, x, g);
		transform(dims, outputs, y, h);
		worst = fmax(worst,
					 fabs(kernel_of_vectors(params, x, y) -
						  kernel_of_vectors(alone(kernel, outputs, 1), g, h)));
	}
	ok(worst < 1e-13, "%s from %u to %u dimensions: a transform comes first",
	   race_kernel_name(kernel), dims, outputs);
	free(params);
}

/* Where one array alone is there */
static void
test_part_of_transform(void)
{
	Recipe shift = {MULTI, 2, {{ANGULAR, IND, 2, 1, RACE_ARRAY_OFFSET, 0}}};
	Recipe turn = {MULTI, 2, {{L2, IND, 2, 1, RACE_ARRAY_MATRIX, 1}}};
	RaceParams *params = make_params(&shift, 1, 0);
	double *array = (double *) (params + 1);
	double x[2] = {11, 20};
	double y[2] = {10, 22};

	array[0] = 10;
	array[1] = 20;
	ok(kernel_of_vectors(params, x, y) == 0.5 && kernel_of_vectors(params, array, y) == 0.5 &&
		   kernel_of_vectors(params, array, array) == 1,
	   "an offset alone, and its own zero vector");
	free(params);

	params = make_params(&turn, 1, 0);
	array = (double *) (params + 1);
	array[0] = 2;
	array[1] = 1;
	ok(kernel_of_vectors(params, x, y) == 1, "a matrix alone, that takes two records to one");
	array[0] = 1e100;
	array[1] = -1e100;
	x[0] = x[1] = 1e300;
	ok(kernel_of_vectors(params, x, y) == 0 && kernel_of_vectors(params, x, x) == 1,
	   "0 where infinities meet in a transform, but k(x, x) = 1");
	free(params);
}

int
main(void)
{
	test_integral(false);
	test_integral(true);
	test_powers();
	test_ends();
	test_distance();
	test_l1_ends();
	test_l1();
	test_known_angles();
	test_angular();
	test_jaccard();
	test_match();
	test_products();
	test_widths(L2);
	test_widths(L1);
	test_transform(L2, 3, 8);
	test_transform(L2, 8, 3);
	test_transform(ANGULAR, 3, 8);
	test_transform(ANGULAR, 8, 2);
	test_part_of_transform();
	return done_testing();
}
