/*
 * radial_test.c
 *		Kernels by a table over the distance, against the kernels themselves.
 */
#include "../../src/answers/radial.h"
#include "kernels.h"
#include "tap.h"
#include "answers/radial.h"

#include "hash/kernel.h"
#include "hash/params.h"

/* One kernel alone, with arrays or not; the caller frees it */
static RaceParams *
alone(RaceKernel kernel, uint32_t dims, uint32_t power, uint16_t arrays, uint32_t outputs)
{
	Recipe recipe = {MULTI, 2, {{(uint8_t) kernel, IND, dims, power, arrays, outputs}}};

	return make_params(&recipe, 1, 0);
}

static void
test_values(RaceKernel kernel, double (*exact)(double), uint32_t power)
{
	RaceParams *params = alone(kernel, 2, power, 0, 0);
	static RaceRadial radial;
	double worst = 0;
	double worst_edge = 0;
	int outside = 0;
	int rising = 0;
	double before = 2;

	race_radial_init(&radial, params);
	for (int i = 0; i <= 200000; i++)
	{
		/* near, beyond, and far away */
		double c = i < 100000 ? i * 1e-4 : pow(10, (i - 100000) * 3e-4) * 10;
		double k = race_radial_value(&radial, c);

		worst = fmax(worst, fabs(k - pow(exact(c), power)));
		outside += !(k >= 0 && k <= 1);
		rising += k > before;
		before = k;
	}
	for (int i = 0; i < 4096; i++)
	{
		double at = (double) i / RACE_RADIAL_STEPS;

		worst_edge = fmax(
			worst_edge,
			fabs(race_radial_value(&radial, nextafter(at, 0)) - race_radial_value(&radial, at)));
	}
	ok(worst < 1e-6 * power * power, "%s, power %u: the kernel at distances from 0 to 1e31 (%.2g)",
	   race_kernel_name(kernel), power, worst);
	ok(outside == 0 && rising == 0, "between 0 and 1, and farther is no more");
	ok(worst_edge < 1e-12, "without gaps between steps (%.2g)", worst_edge);
	ok(race_radial_value(&radial, 0) == 1, "1 at no distance");
	ok(fabs(race_radial_value(&radial, nextafter(RACE_RADIAL_NEAR, 0)) -
			race_radial_value(&radial, RACE_RADIAL_NEAR)) < 1e-9,
	   "without a gap between both tables");
	free(params);
}

static void
test_ends(void)
{
	RaceParams *params = alone(L2, 2, 1, 0, 0);
	static RaceRadial radial;

	race_radial_init(&radial, params);
	ok(race_radial_value(&radial, 5e-324) == 1, "the smallest distance");
	ok(race_radial_value(&radial, 1e300) >= 0 && race_radial_value(&radial, 1e300) < 1e-290,
	   "a large one");
	ok(race_radial_value(&radial, 1.7e308) == 0 && race_radial_value(&radial, INFINITY) == 0 &&
		   race_radial_value(&radial, NAN) == 0,
	   "0 where there is none");
	ok(fabs(race_radial_value(&radial, 1e10) * 1e10 * sqrt(2 * M_PI) - 1) < 1e-3,
	   "1 / (sqrt(2 pi) c) far away");
	free(params);
}

static void
test_can(void)
{
	static const Recipe recipe = {MULTI, 2, {PART(L2, IND, 2, 1), PART(L2, IND, 2, 1)}};
	RaceParams *product = make_params(&recipe, 1, 0);
	RaceKernel kernel;

	for (kernel = L2; kernel <= MATCH; kernel++)
	{
		RaceParams *params = alone(kernel, kernel == JACCARD ? 0 : 2, 1, 0, 0);

		ok(race_radial_can(params) == (kernel == L2 || kernel == L1), "%s: %s",
		   race_kernel_name(kernel), race_radial_can(params) ? "by its distance" : "not so");
		free(params);
	}
	ok(!race_radial_can(product), "no product");
	free(product);
}

/* The sum over points, with all that is done to them before they are compared */
static void
test_sum(RaceKernel kernel, uint32_t dims, uint32_t power, uint16_t arrays, uint32_t outputs,
		 size_t n)
{
	RaceParams *params = alone(kernel, dims, power, arrays, outputs);
	RaceRadial *radial = malloc(sizeof(RaceRadial));
	uint32_t m = outputs > 0 ? outputs : dims;
	double *x = calloc(n * dims + 1, sizeof(double));
	double *weights = calloc(n + 1, sizeof(double));
	double *places = calloc(n * m + 1, sizeof(double));
	double *place = calloc(m, sizeof(double));
	double *q = calloc(dims, sizeof(double));
	double worst = 0;
	double largest = 0;

	if (radial == NULL || x == NULL || weights == NULL || places == NULL || place == NULL ||
		q == NULL)
		abort();
	race_radial_init(radial, params);
	for (size_t i = 0; i < n * dims; i++)
		x[i] = 4 * signed_unit(mix(i + 77)) * (i % 5 == 0 ? 100 : 1);
	for (size_t i = 0; i < n; i++)
	{
		weights[i] = i % 4 == 3 ? 0 : fabs(signed_unit(mix(i + 5))) / (double) n;
		race_radial_place(radial, params, x + i * dims, places + i, n);
	}
	for (uint64_t number = 0; number < 50; number++)
	{
		double sum = 0;

		for (uint32_t j = 0; j < dims; j++)
			q[j] = number % 10 == 0 && n > 0 ? x[number % n * dims + j] :
											   5 * signed_unit(mix(number * 64 + j));
		race_radial_place(radial, params, q, place, 1);
		for (size_t i = 0; i < n; i++)
			sum += weights[i] * kernel_of_vectors(params, x + i * dims, q);
		largest = fmax(largest, sum);
		worst = fmax(worst, fabs(race_radial_sum(radial, place, places, weights, n) - sum));
	}
	ok(radial->dims == m, "%u coordinates are measured", m);
	ok(worst < 1e-6 * power * power && (n == 0 || largest > 20 * worst),
	   "%s(%u)^%u, arrays %u, %zu points: the sum one by one (%.2g of %.2g)",
	   race_kernel_name(kernel), dims, power, arrays, n, worst, largest);
	free(q);
	free(place);
	free(places);
	free(weights);
	free(x);
	free(radial);
	free(params);
}

int
main(void)
{
	static const size_t counts[] = {0, 1, 2, 63, 64, 65, 128, 200};

	for (uint32_t power = 1; power <= 8; power *= 2)
	{
		test_values(L2, race_l2_kernel, power);
		test_values(L1, race_l1_kernel, power);
	}
	test_ends();
	test_can();
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
	{
		test_sum(L2, 2, 1, 0, 0, counts[i]);
		test_sum(L1, 3, 1, WIDTHS, 0, counts[i]);
	}
	test_sum(L2, 1, 2, WIDTHS | BOUNDS, 0, 100);
	test_sum(L2, 3, 1, TRANSFORM, 5, 100);
	test_sum(L2, 6, 1, TRANSFORM, 2, 100);
	test_sum(L2, 3, 2, RACE_ARRAY_OFFSET, 0, 100);
	test_sum(L1, 4, 3, 0, 0, 100);
	return done_testing();
}
