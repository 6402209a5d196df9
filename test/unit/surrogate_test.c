/*
 * surrogate_test.c
 *		Surrogate losses: what is lifted, and that the expected loss is its formula.
 *
 * Row functions have fixed seeds: nothing here fails by luck.
 */
#include "hash/hash_path.h"
#include "hash/loss_rows.h"
#include "hash/params_check.h"
#include "hash/rows.h"
#include "helpers.h"
#include "tap.h"

#define DIMS 4
#define ROWS 32768
#define RADIUS 2.0

static RaceParams
loss_params(RaceKernel kernel, uint32_t power, RaceSequence sequence)
{
	RaceParams params =
		l2_params(sequence, RACE_REHASH_FOLD, DIMS, power, ROWS, UINT32_C(1) << power);

	params.kernel = kernel;
	params.seed = 20261122;
	params.loss.radius = RADIUS;
	params.loss.query_radius = 2.5;
	return params;
}

static double
dot(const double *a, const double *b, int n)
{
	return n == 0 ? 0 : a[0] * b[0] + dot(a + 1, b + 1, n - 1);
}

/* The loss by its formula; theta has DIMS - 1 numbers, and `radius` is that of records. */
static double
formula(const RaceParams *params, const double *x, const double *theta, double radius)
{
	bool margin = params->kernel == RACE_KERNEL_MARGIN;
	double sign = margin && x[DIMS - 1] <= 0 ? -1 : 1;
	double length = sqrt(dot(x, x, DIMS - margin));
	double clipped = fmax(length, radius);
	double residual = sign * dot(x, theta, DIMS - 1) - (margin ? 0 : x[DIMS - 1]);
	double angle = asin(residual / clipped / params->loss.query_radius) / acos(-1);

	return pow(0.5 - angle, params->power) + (margin ? 0 : pow(0.5 + angle, params->power));
}

/* The mean over rows of how many queries of theta share the bucket of x */
static double
mean_of_rows(const RaceRows *rows, const double *x, const double *theta)
{
	const RaceParams *params = rows->params;
	static uint32_t record_buckets[ROWS];
	static uint32_t query_buckets[ROWS];
	double lifted[DIMS + 2];
	RaceColumn record = {x, NULL, NULL, DIMS};
	RaceColumn query = {lifted, NULL, NULL, DIMS + 2};
	long met = 0;

	race_rows_hash_one(rows, ROWS, &record, record_buckets);
	for (uint32_t q = 0; q < race_kernel_type(params->kernel)->queries; q++)
	{
		if (!race_surrogate_query(params, theta, q, lifted))
			abort();
		race_rows_hash_one(rows, ROWS, &query, query_buckets);
		for (uint32_t r = 0; r < ROWS; r++)
			met += record_buckets[r] == query_buckets[r];
	}
	return (double) met / ROWS;
}

/* How far the mean over records is from the formula, in standard errors of independent rows */
static double
distance_from_formula(const RaceParams *params, double radius)
{
	const double theta[DIMS - 1] = {0.7, -0.4, 1.1};
	RaceRows *rows = malloc(race_rows_size(params));
	double worst = 0;

	if (rows == NULL)
		abort();
	race_rows_init(rows, params);
	race_rows_generate_all(rows);
	for (int i = 0; i < 20; i++)
	{
		double x[DIMS];
		double expected;

		for (int k = 0; k < DIMS; k++)
			x[k] = (i < 15 ? 1.2 : 3) * signed_unit(mix(i * 16 + k));
		expected = formula(params, x, theta, radius);
		worst = fmax(worst,
					 fabs(mean_of_rows(rows, x, theta) - expected) /
						 sqrt(expected * (1 - fmin(expected, 1)) / ROWS + 1e-12));
	}
	free(rows);
	return worst;
}

static void
test_expected(RaceKernel kernel, uint32_t power)
{
	RaceParams independent = loss_params(kernel, power, RACE_SEQUENCE_INDEPENDENT);
	const char *name = race_kernel_name(kernel);
	double z = distance_from_formula(&independent, RADIUS);

	ok(z < 5, "%s, power %u: the expected loss is its formula (%.1f)", name, power, z);
	z = distance_from_formula(&independent, RADIUS * 2);
	ok(z > 6, "control: a radius twice as large shows (%.1f)", z);
}

static void
test_exact(RaceKernel kernel, uint32_t power)
{
	RaceParams params = loss_params(kernel, power, RACE_SEQUENCE_INDEPENDENT);
	const double theta[DIMS - 1] = {0.2, -1.4, 0.1};
	double lifted[2 * (DIMS + 2)];
	double worst = 0;

	for (uint32_t q = 0; q < race_kernel_type(kernel)->queries; q++)
		if (!race_surrogate_query(&params, theta, q, lifted + q * (DIMS + 2)))
			abort();
	for (int i = 0; i < 1000; i++)
	{
		double x[DIMS];
		RaceColumn record = {x, NULL, NULL, DIMS};
		double loss = 0;

		for (int k = 0; k < DIMS; k++)
			x[k] = 2 * signed_unit(mix(i * 16 + k));
		for (uint32_t q = 0; q < race_kernel_type(kernel)->queries; q++)
		{
			RaceColumn query = {lifted + q * (DIMS + 2), NULL, NULL, DIMS + 2};

			loss += pow(race_surrogate_kernel(&params, &record, &query), power);
		}
		worst = fmax(worst, fabs(loss - formula(&params, x, theta, RADIUS)));
	}
	ok(worst < 1e-14, "%s, power %u: the kernels of its queries add up to the formula (%.2g)",
	   race_kernel_name(kernel), power, worst);
}

/* A record, whatever its numbers are, is lifted to the unit sphere. */
static void
test_lift(void)
{
	static const double sizes[] = {0, 5e-324, 1e-200, 1e-9, 0.5, 1, 2, 1e3, 1e160, 1.7e308};
	RaceParams params = loss_params(RACE_KERNEL_LEAST_SQUARES, 3, RACE_SEQUENCE_INDEPENDENT);
	double lifted[DIMS + 2];
	double worst = 0;
	int outside = 0;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (int k = 0; k < 3; k++)
		{
			double x[DIMS] = {sizes[i], k < 1 ? 0 : -sizes[i], k < 2 ? 0.1 : sizes[i], 0};

			params.loss.radius = k == 0 ? RACE_MIN_BANDWIDTH : k == 1 ? 2 : RACE_MAX_BANDWIDTH;
			race_surrogate_lift(&params, x, lifted);
			worst = fmax(worst, fabs(dot(lifted, lifted, DIMS + 2) - 1));
			outside += lifted[DIMS + 1] != 0 || !(lifted[DIMS] >= 0);
		}
	ok(worst < 1e-14 && outside == 0, "lifted records are unit vectors (%.2g)", worst);
}

static void
test_labels(void)
{
	RaceParams params = loss_params(RACE_KERNEL_MARGIN, 4, RACE_SEQUENCE_INDEPENDENT);
	static const double labels[] = {1, 0.5, 1e300, -1, 0, -1e300};
	double lifted[DIMS + 2];
	int wrong = 0;

	for (int i = 0; i < 6; i++)
	{
		double x[DIMS] = {0.5, -0.25, 1, labels[i]};
		double sign = i < 3 ? 1 : -1;

		race_surrogate_lift(&params, x, lifted);
		wrong += lifted[0] != sign * 0.25 || lifted[1] != sign * -0.125 ||
			lifted[2] != sign * 0.5 || lifted[3] != 0;
	}
	ok(wrong == 0, "a label counts by its sign alone, and 0 is not above 0");
}

static void
test_queries(void)
{
	RaceParams params = loss_params(RACE_KERNEL_LEAST_SQUARES, 3, RACE_SEQUENCE_INDEPENDENT);
	double theta[DIMS - 1] = {0, 0, 0};
	double a[DIMS + 2];
	double b[DIMS + 2];
	bool opposite = true;

	theta[1] = sqrt(params.loss.query_radius * params.loss.query_radius - 1) - 1e-9;
	ok(race_surrogate_query(&params, theta, 0, a) && race_surrogate_query(&params, theta, 1, b),
	   "theta as long as it may be");
	for (int k = 0; k < DIMS; k++)
		opposite &= a[k] == -b[k];
	ok(opposite && a[DIMS] == 0 && a[DIMS + 1] == b[DIMS + 1] && a[DIMS - 1] == -0.4,
	   "both queries of least squares are opposite, but for what lifts them");
	theta[1] += 1e-8;
	ok(!race_surrogate_query(&params, theta, 0, a), "a little longer is too long");
	theta[1] = NAN;
	ok(!race_surrogate_query(&params, theta, 0, a), "as is what is no number");
	theta[1] = INFINITY;
	ok(!race_surrogate_query(&params, theta, 0, a), "or infinite");
}

/* All vector code gives the same buckets for records, alone and together, and for queries. */
static void
test_paths(void)
{
	RaceParams params = loss_params(RACE_KERNEL_LEAST_SQUARES, 4, RACE_SEQUENCE_INDEPENDENT);
	const size_t n = RACE_RECORDS_TOGETHER;
	double x[RACE_RECORDS_TOGETHER * DIMS];
	uint32_t first[RACE_RECORDS_TOGETHER * RACE_LANES];
	uint32_t buckets[RACE_RECORDS_TOGETHER * RACE_LANES];
	RaceColumn column = {x, NULL, NULL, DIMS};
	uint64_t sum = 0;
	RaceRows *rows;

	params.rows = RACE_LANES;
	rows = malloc(race_rows_size(&params));
	race_rows_init(rows, &params);
	race_rows_generate_all(rows);
	for (size_t i = 0; i < n * DIMS; i++)
		x[i] = 3 * signed_unit(mix(i));
	for (int path = 0; race_hash_path_name(path) != NULL; path++)
	{
		bool same = true;

		if (!race_hash_has(race_hash_path_name(path)))
			continue;
		race_hash_force(race_hash_path_name(path));
		race_rows_hash(rows, 0, &column, n, path == 0 ? first : buckets);
		for (size_t i = 0; i < n * RACE_LANES && path > 0; i++)
			same &= first[i] == buckets[i];
		for (size_t i = 0; i < n; i++)
		{
			RaceColumn one = race_column_from(&column, i);

			race_rows_hash(rows, 0, &one, 1, buckets);
			same &= memcmp(buckets, first + i * RACE_LANES, RACE_LANES * sizeof(uint32_t)) == 0;
		}
		ok(same, "%s: the same buckets", race_hash_path_name(path));
	}
	race_hash_force("auto");
	for (size_t i = 0; i < n * RACE_LANES; i++)
		sum = mix(sum + first[i]);
	ok(sum == UINT64_C(0x963fa8dc8c140a9c), "golden buckets: %llx", (unsigned long long) sum);
	free(rows);
}

static void
test_limits(void)
{
	RaceParams good = loss_params(RACE_KERNEL_LEAST_SQUARES, 3, RACE_SEQUENCE_INDEPENDENT);
	RaceParams bad;
	char message[256];

#define REFUSED(field, value, part) \
	bad = good; \
	bad.field = value; \
	ok(race_params_problem(&bad, sizeof(bad), message, sizeof(message)) != NULL && \
		   strstr(message, part) != NULL, \
	   "%s = %s is refused", #field, #value)

	good.rows = 8;
	ok(race_params_problem(&good, sizeof(good), message, sizeof(message)) == NULL, "good ones");
	REFUSED(power, 1, "power between 2 and 16");
	REFUSED(power, 17, "power between 2 and 16");
	REFUSED(dims, 1, "dims between 2 and 1000");
	REFUSED(dims, 1001, "dims between 2 and 1000");
	REFUSED(loss.radius, 0, "needs a radius");
	REFUSED(loss.radius, NAN, "needs a radius");
	REFUSED(loss.radius, 1e101, "needs a radius");
	REFUSED(loss.query_radius, 1, "query_radius above 1");
	REFUSED(loss.query_radius, -2, "query_radius");
	REFUSED(rehash, RACE_REHASH_MULTILINEAR, "rehash \"fold\"");
	good.kernel = RACE_KERNEL_MARGIN;
	good.power = 1;
	good.loss.query_radius = 0.1;
	ok(race_params_problem(&good, sizeof(good), message, sizeof(message)) == NULL,
	   "margin, power 1 and a short query_radius");
}

int
main(void)
{
	test_expected(RACE_KERNEL_LEAST_SQUARES, 2);
	test_expected(RACE_KERNEL_LEAST_SQUARES, 3);
	test_expected(RACE_KERNEL_LEAST_SQUARES, 4);
	test_expected(RACE_KERNEL_MARGIN, 1);
	test_expected(RACE_KERNEL_MARGIN, 4);
	test_expected(RACE_KERNEL_MARGIN, 8);
	test_exact(RACE_KERNEL_LEAST_SQUARES, 3);
	test_exact(RACE_KERNEL_MARGIN, 4);
	test_lift();
	test_labels();
	test_queries();
	test_paths();
	test_limits();
	return done_testing();
}
