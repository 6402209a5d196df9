/*
 * kernel.c
 *		The table of kernels, and their exact values
 */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "privacy/interrupt.h"
#include "hash/column.h"
#include "hash/kernel.h"
#include "hash/loss_rows.h"
#include "hash/params.h"
#include "hash/quantiles.h"

#if FLT_EVAL_METHOD != 0
#error "racepriv needs plain IEEE double arithmetic (on x86-32: -msse2 -mfpmath=sse)"
#endif

/*
 * Exact values of kernels, of power 1.
 */

/*
 * Return the distance in bandwidths of M (x - o) and M (y - o), in which the offset cancels:
 * Euclidean, or else the sum of distances along axes.  It is infinite where it overflows.
 */
static double
distance_in_bandwidths(const RaceParams *part, const RaceColumn *x, const RaceColumn *y,
					   bool euclidean)
{
	const double *matrix = race_array(part, RACE_ARRAY_MATRIX);
	const double *bandwidths = race_array(part, RACE_ARRAY_BANDWIDTHS);
	uint32_t m = part->outputs > 0 ? part->outputs : x->width;
	double sum = 0;

	for (uint32_t i = 0; i < m; i++)
	{
		double d = matrix == NULL ? x->numbers[i] - y->numbers[i] : 0;

		for (uint32_t j = 0; matrix != NULL && j < part->dims; j++)
			d += matrix[(size_t) i * part->dims + j] * (x->numbers[j] - y->numbers[j]);
		d /= part->bandwidth;
		if (bandwidths != NULL)
			d /= bandwidths[i];
		sum += euclidean ? d * d : fabs(d);
	}
	if (isnan(sum)) /* infinities of both signs met in a transform */
		return INFINITY;
	return euclidean ? sqrt(sum) : sum;
}

double
race_transformed(const RaceParams *part, const double *x, uint32_t i)
{
	const double *matrix = race_array(part, RACE_ARRAY_MATRIX);
	const double *offset = race_array(part, RACE_ARRAY_OFFSET);
	double sum = 0;

	if (matrix == NULL)
		return offset == NULL ? x[i] : x[i] - offset[i];
	for (uint32_t j = 0; j < part->dims; j++)
		sum += matrix[(size_t) i * part->dims + j] * (offset == NULL ? x[j] : x[j] - offset[j]);
	return sum;
}

/* Return the length of g(x) in units of its largest absolute value, which *largest gets. */
static double
length_of(const RaceParams *part, const double *x, uint32_t n, double *largest)
{
	double sum = 0;

	*largest = 0;
	for (uint32_t i = 0; i < n; i++)
		*largest = fmax(*largest, fabs(race_transformed(part, x, i)));
	for (uint32_t i = 0; i<n && * largest> 0; i++)
	{
		double d = race_transformed(part, x, i) / *largest;

		sum += d * d;
	}
	return sqrt(sum);
}

/*
 * Return 1 - angle / pi, by the half angle of unit vectors u and v, 2 atan(|u - v| / |u + v|),
 * which keeps all digits of small and of large ones.  The zero vector is at a right angle to all
 * but itself, as its sign says nothing.
 */
static double
angular_value(const RaceParams *part, const RaceColumn *x, const RaceColumn *y)
{
	uint32_t m = part->outputs > 0 ? part->outputs : x->width;
	double x_largest;
	double y_largest;
	double x_length = length_of(part, x->numbers, m, &x_largest);
	double y_length = length_of(part, y->numbers, m, &y_largest);
	double minus = 0;
	double plus = 0;

	if (x_length == 0 && y_length == 0)
		return 1;
	if (!(x_length * y_length > 0 && isfinite(x_largest) && isfinite(y_largest)))
		return 0.5;
	for (uint32_t i = 0; i < m; i++)
	{
		double u = race_transformed(part, x->numbers, i) / x_largest / x_length;
		double v = race_transformed(part, y->numbers, i) / y_largest / y_length;

		minus += (u - v) * (u - v);
		plus += (u + v) * (u + v);
	}
	return 1 - 2 * atan2(sqrt(minus), sqrt(plus)) / RACE_PI;
}

/* Return shared elements over all elements; the kernel of two empty sets is 1. */
static double
jaccard_value(const RaceParams *part, const RaceColumn *x, const RaceColumn *y)
{
	size_t i = x->starts[0];
	size_t j = y->starts[0];
	size_t shared = 0;
	size_t all = 0;

	(void) part;
	/* bound: the elements of both sets, one or two of them each time */
	while (i < x->starts[1] || j < y->starts[1])
	{
		bool has_x = j == y->starts[1] || (i < x->starts[1] && x->elements[i] <= y->elements[j]);
		bool has_y = i == x->starts[1] || (j < y->starts[1] && y->elements[j] <= x->elements[i]);

		shared += has_x && has_y;
		i += has_x;
		j += has_y;
		if (++all % RACE_STEP == 0)
			race_look_for_interrupts();
	}
	return all == 0 ? 1 : (double) shared / all;
}

static double
match_value(const RaceParams *part, const RaceColumn *x, const RaceColumn *y)
{
	uint32_t same = 0;

	(void) part;
	for (uint32_t i = 0; i < x->width; i++)
		same += x->elements[i] == y->elements[i];
	return (double) same / x->width;
}

/* --------------------------------------------------- by the distance in bandwidths */

/*
 * l2(c)^2, about, as a sum of P[|h(x) - h(y)| = i]: to .003 + 5 % from c = .1 on, by least
 * squares (RaceKernelType)
 */
static const double l2_square[] = {0.963, -0.516, 0.173, -0.052, -0.075};

double
race_l2_kernel(double c)
{
	static const double sqrt_half = 0.70710678118654752440;
	static const double sqrt_2_over_pi = 0.79788456080286535588;
	double t = 1 / c; /* infinite at c = 0, which does no harm */

	if (t == 0)
		return 0; /* c is infinite, and inf * 0 is not a number */
	/* erf and expm1 keep all digits where t is small: k ~ t / sqrt(2 pi) */
	return erf(t * sqrt_half) + sqrt_2_over_pi * c * expm1(-0.5 * t * t);
}

double
race_l1_kernel(double c)
{
	double t = 1 / c; /* infinite near c = 0 */

	if (c == 0)
		return 1;
	/* both terms are near 2t here; this is their difference */
	if (t < 1e-4)
		return t / RACE_PI * (1 - t * t / 6);
	if (c < 1) /* where t^2 might overflow */
		return (2 * atan(t) - c * (log1p(c * c) - 2 * log(c))) / RACE_PI;
	return (2 * atan(t) - c * log1p(t * t)) / RACE_PI;
}

/*
 * The table of kernels.
 */

/* Return whether codes are those of one projection: neighboring codes get different buckets. */
static bool
is_one_projection(uint32_t power, uint32_t range)
{
	(void) range;
	return power == 1;
}

/*
 * Return whether the signs of all functions of a row fit: each combination has a bucket of its own.
 */
static bool
are_all_signs(uint32_t power, uint32_t range)
{
	return power < 32 && (UINT64_C(1) << power) <= range;
}

/* Return k to a power.  pow() takes as long for 1 as for others, and most powers are 1. */
static double
raise_to_power(double k, uint32_t power)
{
	return power == 1 ? k : pow(k, power);
}

double
race_kernel_at(const RaceParams *part, double distance)
{
	return raise_to_power(race_kernel_type(part->kernel)->of_distance(distance), part->power);
}

#define DISTANCES \
	(RACE_TAKES_FUNCTIONS | RACE_TAKES_DIMS | RACE_TAKES_BANDWIDTH | RACE_TAKES_BOUNDS)
#define ISOTROPIC (RACE_TAKES_TRANSFORM | RACE_TAKES_STRUCTURED)
#define SURROGATES (RACE_TAKES_FUNCTIONS | RACE_TAKES_DIMS | RACE_TAKES_BOUNDS | RACE_TAKES_RADIUS)

/* Codes of l1 are not folded: the tails of Cauchy's distribution are too long. */
static const RaceKernelType kernels[] = {
	[0] = {.name = NULL, .record = RACE_RECORD_VECTOR},
	[RACE_KERNEL_L2] = {.name = "l2",
						.record = RACE_RECORD_VECTOR,
						.takes = DISTANCES | ISOTROPIC,
						.quantile = race_inverse_normal,
						.can_fold = is_one_projection,
						.of_distance = race_l2_kernel,
						.euclidean = true,
						.square = l2_square},
	[RACE_KERNEL_L1] = {.name = "l1",
						.record = RACE_RECORD_VECTOR,
						.takes = DISTANCES,
						.quantile = race_inverse_cauchy,
						.of_distance = race_l1_kernel},
	[RACE_KERNEL_ANGULAR] = {.name = "angular",
							 .record = RACE_RECORD_VECTOR,
							 .takes = RACE_TAKES_FUNCTIONS | RACE_TAKES_DIMS | RACE_TAKES_BOUNDS |
								 ISOTROPIC,
							 .signs = true,
							 .quantile = race_inverse_normal,
							 .can_fold = are_all_signs,
							 .value = angular_value},
	[RACE_KERNEL_JACCARD] = {.name = "jaccard",
							 .record = RACE_RECORD_SET,
							 .takes = RACE_TAKES_FUNCTIONS,
							 .value = jaccard_value},
	[RACE_KERNEL_MATCH] = {.name = "match",
						   .record = RACE_RECORD_ROW,
						   .takes = RACE_TAKES_FUNCTIONS | RACE_TAKES_DIMS | RACE_TAKES_NULLS,
						   .value = match_value},
	[RACE_KERNEL_LEAST_SQUARES] = {.name = "least_squares",
								   .record = RACE_RECORD_VECTOR,
								   .takes = SURROGATES,
								   .signs = true,
								   .quantile = race_inverse_normal,
								   .can_fold = are_all_signs,
								   .value = race_surrogate_kernel,
								   .queries = 2},
	[RACE_KERNEL_MARGIN] = {.name = "margin",
							.record = RACE_RECORD_VECTOR,
							.takes = SURROGATES,
							.signs = true,
							.quantile = race_inverse_normal,
							.can_fold = are_all_signs,
							.value = race_surrogate_kernel,
							.queries = 1},
};

#define KERNELS ((int) (sizeof(kernels) / sizeof(kernels[0])))

const RaceKernelType *
race_kernel_type(int kernel)
{
	if (kernel < 0 || kernel >= KERNELS || (kernel > 0 && kernels[kernel].name == NULL))
		return NULL;
	return &kernels[kernel];
}

const char *
race_kernel_name(int kernel)
{
	const RaceKernelType *type = race_kernel_type(kernel);

	return type != NULL ? type->name : NULL;
}

const char *
race_kernel_list(uint32_t takes, char *list, size_t length)
{
	size_t used = 0;
	int left = 0;

	/* the first pass counts, the second writes */
	list[0] = '\0';
	for (int pass = 0; pass < 2; pass++)
		for (int kernel = 1; kernel < KERNELS; kernel++)
		{
			const RaceKernelType *type = race_kernel_type(kernel);
			const char *separator = ", ";

			if (type == NULL || (type->takes & takes) == 0)
				continue;
			left += pass == 0 ? 1 : -1;
			if (left <= 1)
				separator = left == 1 ? " and " : "";
			if (pass == 1 && used < length)
				used += snprintf(list + used, length - used, "%s%s", type->name, separator);
		}
	return list;
}

double
race_kernel_value(const RaceParams *params, const RaceColumn *x, const RaceColumn *y)
{
	double k = 1;

	for (const RaceParams *part = params; part != NULL;
		 part = race_params_next(part, params), x++, y++)
	{
		const RaceKernelType *type = race_kernel_type(part->kernel);

		if (race_column_is_any(y))
			continue;
		k *= raise_to_power(type->of_distance != NULL ? type->of_distance(distance_in_bandwidths(
															part, x, y, type->euclidean)) :
														type->value(part, x, y),
							part->power);
	}
	return k;
}
