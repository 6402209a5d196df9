/*
 * kernels.c
 *		The table of kernels: values, collision probabilities, sampling constants
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels.h"
#include "loss_rows.h"
#include "lsh.h"
#include "normal.h"
#include "table.h"

/*
 * The table of kernels.
 */

/* The codes of one projection: neighboring codes get different buckets. */
static bool
one_function(uint32_t power, uint32_t range)
{
	(void) range;
	return power == 1;
}

/* The signs of all functions of a row: each combination has a bucket of its own. */
static bool
all_signs(uint32_t power, uint32_t range)
{
	return power < 32 && (UINT64_C(1) << power) <= range;
}

/* pow() takes as long for 1 as for others, and most powers are 1. */
static double
to_power(double k, uint32_t power)
{
	return power == 1 ? k : pow(k, power);
}

double
race_kernel_at(const RaceParams *part, double distance)
{
	return to_power(race_kernel_type(part->kernel)->of_distance(distance), part->power);
}

#define DISTANCES	(RACE_TAKES_FUNCTIONS | RACE_TAKES_DIMS | RACE_TAKES_BANDWIDTH | RACE_TAKES_BOUNDS)
#define ISOTROPIC	(RACE_TAKES_TRANSFORM | RACE_TAKES_STRUCTURED)
#define SURROGATES \
	(RACE_TAKES_FUNCTIONS | RACE_TAKES_DIMS | RACE_TAKES_BOUNDS | RACE_TAKES_RADIUS)

/* Codes of l1 are not folded: the tails of Cauchy's distribution are too long. */
static const RaceKernelType kernels[] = {
	[RACE_KERNEL_L2] = {
		"l2", RACE_RECORD_VECTOR, DISTANCES | ISOTROPIC, false,
		race_inverse_normal, one_function, race_l2_kernel, true, NULL,
		race_l2_square, 0
	},
	[RACE_KERNEL_L1] = {
		"l1", RACE_RECORD_VECTOR, DISTANCES, false,
		race_inverse_cauchy, NULL, race_l1_kernel, false, NULL, NULL, 0
	},
	[RACE_KERNEL_ANGULAR] = {
		"angular", RACE_RECORD_VECTOR,
		RACE_TAKES_FUNCTIONS | RACE_TAKES_DIMS | RACE_TAKES_BOUNDS | ISOTROPIC, true,
		race_inverse_normal, all_signs, NULL, false, race_angular_value, NULL, 0
	},
	[RACE_KERNEL_JACCARD] = {
		"jaccard", RACE_RECORD_SET, RACE_TAKES_FUNCTIONS, false, NULL, NULL, NULL, false,
		race_jaccard_value, NULL, 0
	},
	[RACE_KERNEL_MATCH] = {
		"match", RACE_RECORD_ROW, RACE_TAKES_FUNCTIONS | RACE_TAKES_DIMS | RACE_TAKES_NULLS,
		false, NULL, NULL, NULL, false, race_match_value, NULL, 0
	},
	[RACE_KERNEL_MOMENTS] = {
		"moments", RACE_RECORD_VECTOR,
		RACE_TAKES_DIMS | RACE_TAKES_BOUNDS | RACE_TAKES_COLUMNS, false,
		NULL, NULL, NULL, false, NULL, NULL, 0
	},
	[RACE_KERNEL_LEAST_SQUARES] = {
		"least_squares", RACE_RECORD_VECTOR, SURROGATES, true, race_inverse_normal,
		all_signs, NULL, false, race_surrogate_kernel, NULL, 2
	},
	[RACE_KERNEL_MARGIN] = {
		"margin", RACE_RECORD_VECTOR, SURROGATES, true, race_inverse_normal,
		all_signs, NULL, false, race_surrogate_kernel, NULL, 1
	},
	[RACE_KERNEL_TABLES] = {
		"tables", RACE_RECORD_VECTOR, RACE_TAKES_DIMS | RACE_TAKES_CELLS, false,
		NULL, NULL, NULL, false, NULL, NULL, 0
	},
};

#define KERNELS		((int) (sizeof(kernels) / sizeof(kernels[0])))

const RaceKernelType *
race_kernel_type(int kernel)
{
	if (kernel <= 0 || kernel >= KERNELS || kernels[kernel].name == NULL)
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
	size_t		used = 0;
	int			left = 0;

	/* the first pass counts, the second writes */
	list[0] = '\0';
	for (int pass = 0; pass < 2; pass++)
		for (int kernel = 1; kernel < KERNELS; kernel++)
		{
			const RaceKernelType *type = race_kernel_type(kernel);

			if (type == NULL || (type->takes & takes) == 0)
				continue;
			left += pass == 0 ? 1 : -1;
			if (pass == 1 && used < length)
				used += snprintf(list + used, length - used, "%s%s", type->name,
								 left == 0 ? "" : left == 1 ? " and " : ", ");
		}
	return list;
}

static double
value_of_part(const RaceParams *part, const RaceColumn *x, const RaceColumn *y)
{
	const RaceKernelType *type = race_kernel_type(part->kernel);

	if (type->of_distance != NULL)
		return race_kernel_at(part, race_distance(part, x, y, type->euclidean));
	return to_power(type->value(part, x, y), part->power);
}

double
race_kernel_value(const RaceParams *params, const RaceColumn *x, const RaceColumn *y)
{
	double		k = 1;

	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params), x++, y++)
		if (!race_column_is_any(y))
			k *= value_of_part(part, x, y);
	return k;
}

/*
 * Exact values of kernels, of power 1.
 */

/* x - o, or x where there is no offset */
static double
shifted(const double *x, const double *offset, uint32_t i)
{
	return offset == NULL ? x[i] : x[i] - offset[i];
}

/* Coordinate i of g(x) - g(y) = M (x - y), in which the offset cancels */
static double
difference(const RaceParams *part, const double *x, const double *y, uint32_t i)
{
	const double *matrix = race_array(part, RACE_ARRAY_MATRIX);
	double		sum = 0;

	if (matrix == NULL)
		return x[i] - y[i];
	for (uint32_t j = 0; j < part->dims; j++)
		sum += matrix[(size_t) i * part->dims + j] * (x[j] - y[j]);
	return sum;
}

double
race_distance(const RaceParams *part, const RaceColumn *x, const RaceColumn *y,
			  bool euclidean)
{
	const double *bandwidths = race_array(part, RACE_ARRAY_BANDWIDTHS);
	uint32_t	m = part->outputs > 0 ? part->outputs : x->width;
	double		sum = 0;

	for (uint32_t i = 0; i < m; i++)
	{
		double		d = difference(part, x->numbers, y->numbers, i) / part->bandwidth;

		if (bandwidths != NULL)
			d /= bandwidths[i];
		sum += euclidean ? d * d : fabs(d);
	}
	if (isnan(sum))				/* infinities of both signs met in a transform */
		return INFINITY;
	return euclidean ? sqrt(sum) : sum;
}

double
race_transformed(const RaceParams *part, const double *x, uint32_t i)
{
	const double *matrix = race_array(part, RACE_ARRAY_MATRIX);
	const double *offset = race_array(part, RACE_ARRAY_OFFSET);
	double		sum = 0;

	if (matrix == NULL)
		return shifted(x, offset, i);
	for (uint32_t j = 0; j < part->dims; j++)
		sum += matrix[(size_t) i * part->dims + j] * shifted(x, offset, j);
	return sum;
}

/* The largest absolute value and, in units of it, the length of g(x) */
static double
length_of(const RaceParams *part, const double *x, uint32_t n, double *largest)
{
	double		sum = 0;

	*largest = 0;
	for (uint32_t i = 0; i < n; i++)
		*largest = fmax(*largest, fabs(race_transformed(part, x, i)));
	for (uint32_t i = 0; i < n && *largest > 0; i++)
	{
		double		d = race_transformed(part, x, i) / *largest;

		sum += d * d;
	}
	return sqrt(sum);
}

/*
 * 1 - angle / pi, by the half angle of unit vectors u and v, 2 atan(|u - v| / |u + v|),
 * which keeps all digits of small and of large ones.  The zero vector is at a right
 * angle to all but itself, as its sign says nothing.
 */
double
race_angular_value(const RaceParams *part, const RaceColumn *x, const RaceColumn *y)
{
	uint32_t	m = part->outputs > 0 ? part->outputs : x->width;
	double		x_largest;
	double		y_largest;
	double		x_length = length_of(part, x->numbers, m, &x_largest);
	double		y_length = length_of(part, y->numbers, m, &y_largest);
	double		minus = 0;
	double		plus = 0;

	if (x_length == 0 && y_length == 0)
		return 1;
	if (!(x_length * y_length > 0 && isfinite(x_largest) && isfinite(y_largest)))
		return 0.5;
	for (uint32_t i = 0; i < m; i++)
	{
		double		u = race_transformed(part, x->numbers, i) / x_largest / x_length;
		double		v = race_transformed(part, y->numbers, i) / y_largest / y_length;

		minus += (u - v) * (u - v);
		plus += (u + v) * (u + v);
	}
	return 1 - 2 * atan2(sqrt(minus), sqrt(plus)) / RACE_PI;
}

/* Shared elements over all elements; the kernel of two empty sets is 1 */
double
race_jaccard_value(const RaceParams *part, const RaceColumn *x, const RaceColumn *y)
{
	size_t		i = x->starts[0];
	size_t		j = y->starts[0];
	size_t		shared = 0;
	size_t		all = 0;

	(void) part;
	while (i < x->starts[1] || j < y->starts[1])
	{
		bool		has_x = j == y->starts[1] ||
			(i < x->starts[1] && x->elements[i] <= y->elements[j]);
		bool		has_y = i == x->starts[1] ||
			(j < y->starts[1] && y->elements[j] <= x->elements[i]);

		shared += has_x && has_y;
		i += has_x;
		j += has_y;
		if (++all % RACE_STEP == 0)
			race_look_for_interrupts();
	}
	return all == 0 ? 1 : (double) shared / all;
}

double
race_match_value(const RaceParams *part, const RaceColumn *x, const RaceColumn *y)
{
	uint32_t	same = 0;

	(void) part;
	for (uint32_t i = 0; i < x->width; i++)
		same += x->elements[i] == y->elements[i];
	return (double) same / x->width;
}

/* --------------------------------------------------- by the distance in bandwidths */

const double race_l2_square[] = {0.963, -0.516, 0.173, -0.052, -0.075};

double
race_l2_kernel(double c)
{
	static const double sqrt_half = 0.70710678118654752440;
	static const double sqrt_2_over_pi = 0.79788456080286535588;
	double		t = 1 / c;			/* infinite at c = 0, which does no harm */

	if (t == 0)
		return 0;				/* c is infinite, and inf * 0 is not a number */
	/* erf and expm1 keep all digits where t is small: k ~ t / sqrt(2 pi) */
	return erf(t * sqrt_half) + sqrt_2_over_pi * c * expm1(-0.5 * t * t);
}

double
race_l1_kernel(double c)
{
	double		t = 1 / c;			/* infinite near c = 0 */

	if (c == 0)
		return 1;
	/* both terms are near 2t here; this is their difference */
	if (t < 1e-4)
		return t / RACE_PI * (1 - t * t / 6);
	if (c < 1)					/* where t^2 might overflow */
		return (2 * atan(t) - c * (log1p(c * c) - 2 * log(c))) / RACE_PI;
	return (2 * atan(t) - c * log1p(t * t)) / RACE_PI;
}

/*
 * The expected error of the mean over rows.
 *
 * This is a prior, from the paper and from measurements on several tables.  It
 * chooses the rows of a release, and serves where rows cannot tell their own variance.
 */

/*
 * With independent rows the variance is at most g^2 / R, where g is the sum of
 * the square roots of the kernel (Coleman & Shrivastava 2021, theorem 2.5).  What
 * share of the records g is depends on the table and the query; the prior is
 * KERNEL_MASS for tables of up to USUAL_RECORDS, and less for larger ones, as
 * larger tables are asked at finer bandwidths (Silverman 1986: N^(-1/(d+4))).
 */
#define KERNEL_MASS			0.135
#define USUAL_RECORDS		20000.0

double
race_kernel_mass(double records)
{
	return KERNEL_MASS * fmin(1, pow(USUAL_RECORDS / records, 0.25));
}

/*
 * With rows that share the work, the error falls faster. Measured: the variance
 * falls like R^-1.15 to R^-1.33 with Sobol' rows in 1 to 15 dimensions.  At R = 1024,
 * structured rows have 0.3 to 0.8 of the variance of independent ones with power 1, and about
 * the same with power 8 (test/bench/VECTORS.md).
 */
static double
variance_exponent(int sequence)
{
	return sequence == RACE_SEQUENCE_SOBOL ? 1.2 :
		sequence == RACE_SEQUENCE_INDEPENDENT ? 1 : 1.1;
}

double
race_sampling_variance(const RaceParams *params, uint32_t rows, double mass)
{
	return mass * mass / pow(rows, variance_exponent(race_params_sequence(params)));
}
