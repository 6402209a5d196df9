/*
 * kernels.c
 *		The table of kernels, and that of the fields of parameters, with their layout and limits
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hash/contingency.h"
#include "hash/loss_rows.h"
#include "hash/lsh.h"
#include "hash/sequences.h"
#include "hash/table.h"
#include "hash/kind.h"

#if FLT_EVAL_METHOD != 0
#error "racepriv needs plain IEEE double arithmetic (on x86-32: -msse2 -mfpmath=sse)"
#endif

/*
 * Quantiles, with which coefficients are drawn: from exact operations only.
 */

/*
 * Natural logarithm of a normal double, by 2 atanh((m - 1) / (m + 1)) for the
 * mantissa m in [1/sqrt 2, sqrt 2).  libm's log may differ between machines
 * in its last bit; this one may not.
 */
static double
portable_log(double x)
{
	uint64_t	bits;
	int			exponent;
	double		m;
	double		s;
	double		s2;
	double		sum = 0;

	memcpy(&bits, &x, sizeof(bits));
	exponent = (int) (bits >> 52) - 1022;
	bits = (bits & UINT64_C(0xFFFFFFFFFFFFF)) | UINT64_C(0x3FE0000000000000);
	memcpy(&m, &bits, sizeof(m));	/* in [1/2, 1) */
	if (m < 0.70710678118654752)
	{
		m *= 2;
		exponent--;
	}

	s = (m - 1) / (m + 1);
	s2 = s * s;
	for (int k = 23; k >= 1; k -= 2)	/* s2 < 0.03, so s2^12 / 25 < 1e-19 */
		sum = sum * s2 + 1.0 / k;

	return exponent * 0.69314718055994530942 + 2 * s * sum;
}

/* Horner's rule over 8 coefficients, the highest first */
static double
polynomial(const double c[8], double x)
{
	double		sum = c[0];

	for (int i = 1; i < 8; i++)
		sum = sum * x + c[i];
	return sum;
}

double
race_inverse_normal(double p)
{
	static const double central_num[8] = {
		2509.0809287301226727, 33430.575583588128105, 67265.770927008700853,
		45921.953931549871457, 13731.693765509461125, 1971.5909503065514427,
		133.14166789178437745, 3.387132872796366608
	};
	static const double central_den[8] = {
		5226.495278852854561, 28729.085735721942674, 39307.89580009271061,
		21213.794301586595867, 5394.1960214247511077, 687.1870074920579083,
		42.313330701600911252, 1
	};
	static const double middle_num[8] = {
		7.7454501427834140764e-4, 0.0227238449892691845833,
		0.24178072517745061177, 1.27045825245236838258,
		3.64784832476320460504, 5.7694972214606914055,
		4.6303378461565452959, 1.42343711074968357734
	};
	static const double middle_den[8] = {
		1.05075007164441684324e-9, 5.475938084995344946e-4,
		0.0151986665636164571966, 0.14810397642748007459,
		0.68976733498510000455, 1.6763848301838038494,
		2.05319162663775882187, 1
	};
	static const double tail_num[8] = {
		2.01033439929228813265e-7, 2.71155556874348757815e-5,
		0.0012426609473880784386, 0.026532189526576123093,
		0.29656057182850489123, 1.7848265399172913358,
		5.4637849111641143699, 6.6579046435011037772
	};
	static const double tail_den[8] = {
		2.04426310338993978564e-15, 1.4215117583164458887e-7,
		1.8463183175100546818e-5, 7.868691311456132591e-4,
		0.0148753612908506148525, 0.13692988092273580531,
		0.59983220655588793769, 1
	};
	double		q = p - 0.5;
	double		r;
	double		z;

	if (fabs(q) <= 0.425)
	{
		r = 0.180625 - q * q;
		return q * polynomial(central_num, r) / polynomial(central_den, r);
	}

	r = sqrt(-portable_log(q < 0 ? p : 1 - p));
	if (r <= 5)
		z = polynomial(middle_num, r - 1.6) / polynomial(middle_den, r - 1.6);
	else
		z = polynomial(tail_num, r - 5) / polynomial(tail_den, r - 5);
	return q < 0 ? -z : z;
}

/* sin(x) / x and cos(x) for 0 <= x <= pi / 4, by Taylor: the next term is below 1e-20 */
static void
sine_and_cosine(double x, double *sine, double *cosine)
{
	double		square = x * x;
	double		s = 1;
	double		c = 1;

	for (int k = 16; k >= 2; k -= 2)
	{
		s = 1 - s * square / (k * (k + 1));
		c = 1 - c * square / (k * (k - 1));
	}
	*sine = s * x;
	*cosine = c;
}

double
race_inverse_cauchy(double p)
{
	double		v = p - 0.5;	/* exact, as are all operations until pi */
	double		w = fabs(v);
	double		sine;
	double		cosine;
	double		tangent;

	sine_and_cosine(RACE_PI * (w <= 0.25 ? w : 0.5 - w), &sine, &cosine);
	tangent = w <= 0.25 ? sine / cosine : cosine / sine;
	return v < 0 ? -tangent : tangent;
}

/*
 * Exact values of kernels, of power 1.
 */

/*
 * The distance in bandwidths of M (x - o) and M (y - o), in which the offset cancels: Euclidean, or
 * else the sum of distances along axes.  It is infinite where it overflows.
 */
static double
distance(const RaceParams *part, const RaceColumn *x, const RaceColumn *y, bool euclidean)
{
	const double *matrix = race_array(part, RACE_ARRAY_MATRIX);
	const double *bandwidths = race_array(part, RACE_ARRAY_BANDWIDTHS);
	uint32_t	m = part->outputs > 0 ? part->outputs : x->width;
	double		sum = 0;

	for (uint32_t i = 0; i < m; i++)
	{
		double		d = matrix == NULL ? x->numbers[i] - y->numbers[i] : 0;

		for (uint32_t j = 0; matrix != NULL && j < part->dims; j++)
			d += matrix[(size_t) i * part->dims + j] * (x->numbers[j] - y->numbers[j]);
		d /= part->bandwidth;
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
		return offset == NULL ? x[i] : x[i] - offset[i];
	for (uint32_t j = 0; j < part->dims; j++)
		sum += matrix[(size_t) i * part->dims + j] * (offset == NULL ? x[j] : x[j] - offset[j]);
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
static double
angular_value(const RaceParams *part, const RaceColumn *x, const RaceColumn *y)
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
static double
jaccard_value(const RaceParams *part, const RaceColumn *x, const RaceColumn *y)
{
	size_t		i = x->starts[0];
	size_t		j = y->starts[0];
	size_t		shared = 0;
	size_t		all = 0;

	(void) part;
	/* bound: the elements of both sets, one or two of them each time */
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

static double
match_value(const RaceParams *part, const RaceColumn *x, const RaceColumn *y)
{
	uint32_t	same = 0;

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
		.name = "l2", .record = RACE_RECORD_VECTOR, .takes = DISTANCES | ISOTROPIC,
		.quantile = race_inverse_normal, .can_fold = one_function,
		.of_distance = race_l2_kernel, .euclidean = true, .square = l2_square
	},
	[RACE_KERNEL_L1] = {
		.name = "l1", .record = RACE_RECORD_VECTOR, .takes = DISTANCES,
		.quantile = race_inverse_cauchy, .of_distance = race_l1_kernel
	},
	[RACE_KERNEL_ANGULAR] = {
		.name = "angular", .record = RACE_RECORD_VECTOR,
		.takes = RACE_TAKES_FUNCTIONS | RACE_TAKES_DIMS | RACE_TAKES_BOUNDS | ISOTROPIC,
		.signs = true, .quantile = race_inverse_normal, .can_fold = all_signs,
		.value = angular_value
	},
	[RACE_KERNEL_JACCARD] = {
		.name = "jaccard", .record = RACE_RECORD_SET, .takes = RACE_TAKES_FUNCTIONS,
		.value = jaccard_value
	},
	[RACE_KERNEL_MATCH] = {
		.name = "match", .record = RACE_RECORD_ROW,
		.takes = RACE_TAKES_FUNCTIONS | RACE_TAKES_DIMS | RACE_TAKES_NULLS, .value = match_value
	},
	[RACE_KERNEL_MOMENTS] = {
		.name = "moments", .record = RACE_RECORD_VECTOR,
		.takes = RACE_TAKES_DIMS | RACE_TAKES_BOUNDS | RACE_TAKES_TRANSFORM | RACE_TAKES_COLUMNS
	},
	[RACE_KERNEL_LEAST_SQUARES] = {
		.name = "least_squares", .record = RACE_RECORD_VECTOR, .takes = SURROGATES,
		.signs = true, .quantile = race_inverse_normal, .can_fold = all_signs,
		.value = race_surrogate_kernel, .queries = 2
	},
	[RACE_KERNEL_MARGIN] = {
		.name = "margin", .record = RACE_RECORD_VECTOR, .takes = SURROGATES,
		.signs = true, .quantile = race_inverse_normal, .can_fold = all_signs,
		.value = race_surrogate_kernel, .queries = 1
	},
	[RACE_KERNEL_TABLES] = {
		.name = "tables", .record = RACE_RECORD_VECTOR, .takes = RACE_TAKES_DIMS | RACE_TAKES_CELLS
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

double
race_kernel_value(const RaceParams *params, const RaceColumn *x, const RaceColumn *y)
{
	double		k = 1;

	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params), x++, y++)
	{
		const RaceKernelType *type = race_kernel_type(part->kernel);

		if (race_column_is_any(y))
			continue;
		k *= to_power(type->of_distance != NULL ?
					  type->of_distance(distance(part, x, y, type->euclidean)) :
					  type->value(part, x, y), part->power);
	}
	return k;
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
 * the same with power 8.  `test/bench/run accuracy` compares Sobol' rows with independent ones.
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

/*
 * The table of fields.
 */

/* A field of RaceParams, at this position on the wire */
#define AT(field, position) \
	.offset = offsetof(RaceParams, field), \
	.size = sizeof(((RaceParams *) NULL)->field), .wire = position

const RaceField race_fields[RACE_FIELDS] = {
	[RACE_KEY_KERNEL] = {
		.name = "kernel", .type = RACE_FIELD_CHOICE, AT(kernel, 1), .what = "kernel"
	},
	[RACE_KEY_DIMS] = {
		.name = "dims", .type = RACE_FIELD_COUNT, AT(dims, 4), .optional = true,
		.takes = RACE_TAKES_DIMS, .least = 1, .most = RACE_MAX_DIMS
	},
	[RACE_KEY_BANDWIDTH] = {
		.name = "bandwidth", .type = RACE_FIELD_REAL, AT(bandwidth, 32),
		.takes = RACE_TAKES_BANDWIDTH | RACE_TAKES_COLUMNS,
		.least = RACE_MIN_BANDWIDTH, .most = RACE_MAX_BANDWIDTH
	},
	[RACE_KEY_POWER] = {
		.name = "power", .type = RACE_FIELD_COUNT, AT(power, 8),
		.takes = RACE_TAKES_FUNCTIONS, .least = 1, .most = RACE_MAX_POWER
	},
	[RACE_KEY_ROWS] = {
		.name = "rows", .type = RACE_FIELD_COUNT, AT(rows, 12), .shared = true,
		.takes = RACE_TAKES_FUNCTIONS
	},
	[RACE_KEY_RANGE] = {
		.name = "range", .type = RACE_FIELD_COUNT, AT(range, 16), .shared = true,
		.takes = RACE_TAKES_FUNCTIONS
	},
	[RACE_KEY_SEED] = {
		.name = "seed", .type = RACE_FIELD_INTEGER, AT(seed, 24), .shared = true
	},
	[RACE_KEY_SEQUENCE] = {
		.name = "sequence", .type = RACE_FIELD_CHOICE, AT(sequence, 2), .what = "row sequence",
		.names = {
			[RACE_SEQUENCE_INDEPENDENT] = "independent", [RACE_SEQUENCE_SOBOL] = "sobol",
			[RACE_SEQUENCE_GRID] = "grid", [RACE_SEQUENCE_STRUCTURED] = "structured",
			[RACE_SEQUENCE_GROUPED] = "grouped"
		}
	},
	[RACE_KEY_REHASH] = {
		.name = "rehash", .type = RACE_FIELD_CHOICE, AT(rehash, 3), .shared = true,
		.takes = RACE_TAKES_FUNCTIONS, .what = "rehash",
		.names = {[RACE_REHASH_FOLD] = "fold", [RACE_REHASH_MULTILINEAR] = "multilinear"}
	},
	[RACE_KEY_BANDWIDTHS] = {
		.name = "bandwidths", .type = RACE_FIELD_VECTOR, .array = RACE_ARRAY_BANDWIDTHS,
		.own = true, .optional = true, .takes = RACE_TAKES_BANDWIDTH
	},
	[RACE_KEY_LOWER] = {
		.name = "lower", .type = RACE_FIELD_VECTOR, .array = RACE_ARRAY_LOWER,
		.optional = true, .takes = RACE_TAKES_BOUNDS, .least = -INFINITY, .most = RACE_MAX_BOUND
	},
	[RACE_KEY_UPPER] = {
		.name = "upper", .type = RACE_FIELD_VECTOR, .array = RACE_ARRAY_UPPER,
		.optional = true, .takes = RACE_TAKES_BOUNDS, .least = -RACE_MAX_BOUND, .most = INFINITY
	},
	[RACE_KEY_MATRIX] = {
		.name = "matrix", .type = RACE_FIELD_MATRIX, .array = RACE_ARRAY_MATRIX,
		.optional = true, .takes = RACE_TAKES_TRANSFORM,
		.least = -RACE_MAX_TRANSFORM, .most = RACE_MAX_TRANSFORM
	},
	[RACE_KEY_OFFSET] = {
		.name = "offset", .type = RACE_FIELD_VECTOR, .array = RACE_ARRAY_OFFSET, .own = true,
		.optional = true, .takes = RACE_TAKES_TRANSFORM,
		.least = -RACE_MAX_TRANSFORM, .most = RACE_MAX_TRANSFORM
	},
	[RACE_KEY_CELLS] = {
		.name = "cells", .type = RACE_FIELD_VECTOR, .array = RACE_ARRAY_CELLS,
		.optional = true, .takes = RACE_TAKES_BANDWIDTH | RACE_TAKES_CELLS
	},
	[RACE_KEY_NULLS] = {
		.name = "nulls", .type = RACE_FIELD_CHOICE, AT(nulls, 45), .optional = true,
		.takes = RACE_TAKES_NULLS, .what = "meaning of nulls",
		.names = {[RACE_NULLS_DIFFERENT] = "different", [RACE_NULLS_CATEGORY] = "category"},
		.hint = "Use different or category."
	},
	[RACE_KEY_RADIUS] = {
		.name = "radius", .type = RACE_FIELD_REAL, AT(radius, 48), .own = true,
		.optional = true, .takes = RACE_TAKES_RADIUS
	},
	[RACE_KEY_QUERY_RADIUS] = {
		.name = "query_radius", .type = RACE_FIELD_REAL, AT(query_radius, 56), .own = true,
		.optional = true, .takes = RACE_TAKES_RADIUS
	},
	[RACE_KEY_NORM] = {
		.name = "norm", .type = RACE_FIELD_REAL, AT(norm, 48), .own = true,
		.takes = RACE_TAKES_COLUMNS
	},
	[RACE_KEY_FEATURES] = {
		.name = "features", .type = RACE_FIELD_COUNT, AT(features, 56), .own = true,
		.optional = true, .takes = RACE_TAKES_COLUMNS
	},
	[RACE_KEY_TARGETS] = {
		.name = "targets", .type = RACE_FIELD_COUNT, AT(targets, 58), .own = true,
		.optional = true, .takes = RACE_TAKES_COLUMNS
	},
	[RACE_KEY_CLIP] = {
		.name = "clip", .type = RACE_FIELD_CHOICE, AT(clip, 61), .own = true,
		.optional = true, .takes = RACE_TAKES_COLUMNS, .what = "clip",
		.names = {[RACE_CLIP_NORM] = "norm", [RACE_CLIP_ABSOLUTE] = "absolute"},
		.hint = "Use norm or absolute."
	},
	[RACE_KEY_COARSER] = {
		.name = "coarser", .type = RACE_FIELD_COUNT, AT(coarser, 60), .own = true,
		.optional = true, .takes = RACE_TAKES_COLUMNS
	},
	[RACE_KEY_GROUPS] = {
		.name = "groups", .type = RACE_FIELD_MATRIX, .array = RACE_ARRAY_GROUPS,
		.optional = true, .takes = RACE_TAKES_CELLS
	},
	[RACE_KEY_WORKLOAD] = {
		.name = "workload", .type = RACE_FIELD_MATRIX, .array = RACE_ARRAY_WORKLOAD, .own = true,
		.optional = true, .takes = RACE_TAKES_CELLS
	},
	[RACE_KEY_JOINED] = {
		.name = "joined", .type = RACE_FIELD_MATRIX, .array = RACE_ARRAY_JOINED, .own = true,
		.optional = true, .takes = RACE_TAKES_CELLS
	},
	[RACE_KEY_MEASURED] = {
		.name = "measured", .type = RACE_FIELD_MATRIX, .array = RACE_ARRAY_MEASURED,
		.optional = true, .takes = RACE_TAKES_CELLS
	},
	[RACE_FIELD_OUTPUTS] = {
		.name = "outputs", .type = RACE_FIELD_DERIVED, AT(outputs, 20)
	},
	[RACE_FIELD_MORE] = {
		.name = "more", .type = RACE_FIELD_DERIVED, AT(more, 40)
	},
	[RACE_FIELD_ARRAYS] = {
		.name = "arrays", .type = RACE_FIELD_DERIVED, AT(arrays, 44)
	},
	[RACE_FIELD_JOINED] = {
		.name = "joined", .type = RACE_FIELD_DERIVED, AT(joined, 48), .own = true,
		.takes = RACE_TAKES_CELLS
	},
	[RACE_FIELD_WORKLOAD] = {
		.name = "workload", .type = RACE_FIELD_DERIVED, AT(workload, 52), .own = true,
		.takes = RACE_TAKES_CELLS
	},
};

const RaceParams race_params_default = {.bandwidth = 1, .power = 1, .rows = 1024, .range = 1024};

bool
race_field_applies(const RaceField *field, int kernel)
{
	const RaceKernelType *type = race_kernel_type(kernel);

	return field->takes == 0 || (type != NULL && (type->takes & field->takes) != 0);
}

bool
race_field_is_stored(const RaceField *field, int kernel)
{
	return field->size > 0 && (!field->own || race_field_applies(field, kernel));
}

uint64_t
race_field_bits(const RaceField *field, const RaceParams *part)
{
	const char *place = (const char *) part + field->offset;

	switch (field->size)
	{
		case sizeof(uint8_t):
			return *(const uint8_t *) place;
		case sizeof(uint16_t):
			return *(const uint16_t *) place;
		case sizeof(uint32_t):
			return *(const uint32_t *) place;
		default:
			return *(const uint64_t *) place;
	}
}

void
race_field_set_bits(const RaceField *field, RaceParams *part, uint64_t bits)
{
	char	   *place = (char *) part + field->offset;

	switch (field->size)
	{
		case sizeof(uint8_t):
			*(uint8_t *) place = (uint8_t) bits;
			break;
		case sizeof(uint16_t):
			*(uint16_t *) place = (uint16_t) bits;
			break;
		case sizeof(uint32_t):
			*(uint32_t *) place = (uint32_t) bits;
			break;
		default:
			memcpy(place, &bits, sizeof(bits));
			break;
	}
}

double
race_double_of_bits(uint64_t bits)
{
	double		x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

const char *
race_choice_name(RaceFieldNumber key, int number)
{
	if (key == RACE_KEY_KERNEL)
		return race_kernel_name(number);
	return number >= 0 && number < RACE_CHOICES ? race_fields[key].names[number] : NULL;
}

/*
 * The layout of parameters: the parts of a product, and their arrays.
 */

size_t
race_params_size(const RaceParams *params)
{
	return sizeof(RaceParams) + params->more;
}

uint32_t
race_array_rows(const RaceParams *part, RaceArray array)
{
	if (array == RACE_ARRAY_WORKLOAD && part->kernel == RACE_KERNEL_TABLES)
		return part->workload;
	return array == RACE_ARRAY_MATRIX || array == RACE_ARRAY_MEASURED ? part->outputs :
		array == RACE_ARRAY_GROUPS ? RACE_GROUP_NUMBERS : 1;
}

uint32_t
race_array_columns(const RaceParams *part, RaceArray array)
{
	if (array == RACE_ARRAY_JOINED && part->kernel == RACE_KERNEL_TABLES)
		return part->joined;
	return array == RACE_ARRAY_MEASURED || (array == RACE_ARRAY_WORKLOAD && part->kernel == RACE_KERNEL_TABLES) ?
		RACE_TABLE_NUMBERS : part->dims;
}

uint64_t
race_array_length(const RaceParams *part, RaceArray array)
{
	if ((part->arrays & array) == 0)
		return 0;
	return (uint64_t) race_array_rows(part, array) * race_array_columns(part, array);
}

uint64_t
race_arrays_size(const RaceParams *part)
{
	uint64_t	n = 0;
	uint32_t	arrays;

	for (arrays = part->arrays; arrays != 0; arrays &= arrays - 1)
		n += race_array_length(part, (RaceArray) (arrays & -arrays));
	return n * sizeof(double);
}

const double *
race_array(const RaceParams *part, RaceArray array)
{
	const double *position = (const double *) (part + 1);

	if ((part->arrays & array) == 0)
		return NULL;
	for (uint32_t before = part->arrays & ((uint32_t) array - 1); before != 0; before &= before - 1)
		position += race_array_length(part, (RaceArray) (before & -before));
	return position;
}

const RaceParams *
race_params_next(const RaceParams *part, const RaceParams *params)
{
	const char *next;

	if (params->more == 0)
		return NULL;
	next = (const char *) (part + 1) + race_arrays_size(part);
	return next < (const char *) params + race_params_size(params) ?
		(const RaceParams *) next : NULL;
}

int
race_params_parts(const RaceParams *params)
{
	int			n = 0;

	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
		n++;
	return n;
}

uint32_t
race_params_functions(const RaceParams *params)
{
	uint32_t	functions = 0;

	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
		functions += part->power;
	return functions;
}

int
race_params_sequence(const RaceParams *params)
{
	int			sequence = RACE_SEQUENCE_SOBOL;

	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
	{
		if (part->sequence == RACE_SEQUENCE_INDEPENDENT ||
			part->sequence == RACE_SEQUENCE_GRID ||
			part->sequence == RACE_SEQUENCE_GROUPED)
			return part->sequence;
		if (sequence == RACE_SEQUENCE_SOBOL)
			sequence = part->sequence;
	}
	return sequence;
}

/* A NaN stays a NaN. */
void
race_vector_clip(const RaceParams *part, double *x, uint32_t n)
{
	const double *lower = race_array(part, RACE_ARRAY_LOWER);
	const double *upper = race_array(part, RACE_ARRAY_UPPER);

	for (uint32_t i = 0; lower != NULL && i < n; i++)
		x[i] = x[i] < lower[i] ? lower[i] : x[i];
	for (uint32_t i = 0; upper != NULL && i < n; i++)
		x[i] = x[i] > upper[i] ? upper[i] : x[i];
}

/*
 * What parameters stand for.
 */

RaceRecordKind
race_record_kind(const RaceParams *part)
{
	return race_kernel_type(part->kernel)->record;
}

uint32_t
race_part_elements(const RaceParams *part)
{
	return race_record_kind(part) == RACE_RECORD_SET ? 1 : part->dims;
}

uint32_t
race_params_columns(const RaceParams *params)
{
	uint32_t	n = 0;

	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
		n += race_part_elements(part);
	return n;
}

bool
race_params_complete(const RaceParams *params)
{
	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
		if (part->dims == 0 &&
			(race_kernel_type(part->kernel)->takes & RACE_TAKES_DIMS) != 0)
			return false;
	return true;
}

uint32_t
race_sobol_dimensions(const RaceParams *part)
{
	const RaceKernelType *type = race_kernel_type(part->kernel);
	uint64_t	a_function = 1;
	uint64_t	n;

	/* a projection has coefficients and, unless only its sign counts, an offset */
	if (type->record == RACE_RECORD_VECTOR)
		a_function = (uint64_t) (part->outputs > 0 ? part->outputs : race_hashed_width(part)) +
			!type->signs;
	n = part->power * a_function;

	/* the function of a set has keys; without dims its size is not known */
	if (type->record == RACE_RECORD_SET || part->dims == 0 || n > UINT32_MAX)
		return UINT32_MAX;
	return (uint32_t) n;
}

static bool
race_fits_sobol(const RaceParams *part, uint32_t taken)
{
	return taken <= RACE_SOBOL_DIMENSIONS &&
		race_sobol_dimensions(part) <= RACE_SOBOL_DIMENSIONS - taken;
}

int
race_default_sequence(const RaceParams *part, uint32_t taken)
{
	if (!race_summary_kind(part)->hashed && part->features == 0)
		return RACE_SEQUENCE_INDEPENDENT;	/* there is nothing to draw */
	if (race_fits_sobol(part, taken))
		return RACE_SEQUENCE_SOBOL;
	return (race_kernel_type(part->kernel)->takes & RACE_TAKES_STRUCTURED) != 0 &&
		part->dims > 0 && part->outputs == 0 ?
		RACE_SEQUENCE_STRUCTURED : RACE_SEQUENCE_INDEPENDENT;
}

static bool
race_can_fold(const RaceParams *params)
{
	const RaceKernelType *type = race_kernel_type(params->kernel);

	if (!race_summary_kind(params)->hashed)
		return true;			/* nothing is rehashed */
	return race_params_next(params, params) == NULL && type->can_fold != NULL &&
		type->can_fold(params->power, params->range);
}

int
race_default_rehash(const RaceParams *params)
{
	return race_can_fold(params) ? RACE_REHASH_FOLD : RACE_REHASH_MULTILINEAR;
}

double
race_collision_probability(const RaceParams *params)
{
	return params->rehash == RACE_REHASH_MULTILINEAR ? 1.0 / params->range : 0;
}

/*
 * Checks of parameters against their limits.
 */

#define PROBLEM(...) (snprintf(message, length, __VA_ARGS__), message)

#define MAX_LIST	128

/* What is wrong with the fields of a part, by the table */
static const char *
fields_problem(const RaceParams *part, bool first, char *message, size_t length)
{
	bool		has_own = false;

	if (race_kernel_type(part->kernel) == NULL)
		return PROBLEM("unknown kernel number %d", part->kernel);
	for (int key = 0; key < RACE_FIELDS; key++)
	{
		const RaceField *field = &race_fields[key];
		uint64_t	bits;
		double		x;

		if (!race_field_is_stored(field, part->kernel))
			continue;
		has_own |= field->own;
		bits = race_field_bits(field, part);
		x = field->type == RACE_FIELD_REAL ? race_double_of_bits(bits) : (double) bits;
		if (field->shared && !first && bits != 0)
			return PROBLEM("only the first kernel of a product states what all share");
		if (field->shared && !first)
			continue;
		if (!field->shared && !race_field_applies(field, part->kernel) &&
			bits != race_field_bits(field, &race_params_default))
			return PROBLEM("kernel %s has no %s", race_kernel_name(part->kernel), field->name);
		if (field->optional && bits == 0)
			continue;
		if (field->type == RACE_FIELD_CHOICE && race_choice_name(key, (int) bits) == NULL)
			return PROBLEM("unknown %s number %d", field->what, (int) bits);
		if (field->most > 0 && !(x >= field->least && x <= field->most))
			return PROBLEM(field->type == RACE_FIELD_REAL ? "%s must be a number between %g and %g" :
						   "%s must be between %.0f and %.0f", field->name, field->least, field->most);
	}
	if (part->reserved8[0] != 0 || part->reserved8[1] != 0 || part->reserved8[2] != 0 ||
		(!has_own && (part->own.bits[0] != 0 || part->own.bits[1] != 0)))
		return PROBLEM("reserved bytes are not zero");
	if (!first && part->more != 0)
		return PROBLEM("only the first kernel of a product states what all share");
	if (part->arrays != 0 && part->dims == 0)
		return PROBLEM("bandwidths, bounds and transforms need dims");
	if ((part->outputs != 0) != ((part->arrays & (RACE_ARRAY_MATRIX | RACE_ARRAY_MEASURED)) != 0) ||
		part->outputs > RACE_MAX_DIMS)
		return PROBLEM("a matrix or measured must have between 1 and %d rows", RACE_MAX_DIMS);
	return NULL;
}

/* What is wrong with the arrays of a part, whose size was checked */
static const char *
arrays_problem(const RaceParams *part, char *message, size_t length)
{
	const double *w = race_array(part, RACE_ARRAY_BANDWIDTHS);
	const double *lower = race_array(part, RACE_ARRAY_LOWER);
	const double *upper = race_array(part, RACE_ARRAY_UPPER);
	uint32_t	found = 0;

	for (int key = 0; key < RACE_KEYS; key++)
	{
		const RaceField *field = &race_fields[key];
		const double *x = race_array(part, field->array);
		uint64_t	n = race_array_length(part, field->array);

		if (x == NULL || !race_field_applies(field, part->kernel))
			continue;
		found |= field->array;
		for (uint64_t i = 0; i < n && field->most > 0; i++)
			if (!(x[i] >= field->least && x[i] <= field->most))
				return PROBLEM("%s must be numbers between %g and %g", field->name, field->least, field->most);
	}
	for (int key = 0; key < RACE_KEYS; key++)
		if ((race_fields[key].array & part->arrays & ~found) != 0)
			return PROBLEM("kernel %s has no %s", race_kernel_name(part->kernel), race_fields[key].name);
	if (!race_field_applies(&race_fields[RACE_KEY_BANDWIDTHS], part->kernel))
		w = NULL;				/* it is the workload of tables */
	else if ((found & RACE_ARRAY_CELLS) != 0 && part->sequence != RACE_SEQUENCE_GRID)
		return PROBLEM("cells are for sequence \"grid\"");
	if (w != NULL && (found & (RACE_ARRAY_MATRIX | RACE_ARRAY_OFFSET)) != 0)
		return PROBLEM("bandwidths do not go with a transform");
	for (uint32_t i = 0; w != NULL && i < part->dims; i++)
		if (!(w[i] * part->bandwidth >= RACE_MIN_BANDWIDTH &&
			  w[i] * part->bandwidth <= RACE_MAX_BANDWIDTH))
			return PROBLEM("bandwidths must be numbers between %g and %g",
						   RACE_MIN_BANDWIDTH, RACE_MAX_BANDWIDTH);
	for (uint32_t i = 0; lower != NULL && upper != NULL && i < part->dims; i++)
		if (lower[i] > upper[i])
			return PROBLEM("a lower bound is above the upper one");
	return NULL;
}

/* What is wrong with the sequence of a part, where `taken` Sobol' dimensions are taken; or NULL */
static const char *
sequence_problem(const RaceParams *part, uint32_t taken, char *message, size_t length)
{
	const RaceKernelType *type = race_kernel_type(part->kernel);
	char		list[MAX_LIST];

	if (part->sequence == RACE_SEQUENCE_STRUCTURED && (type->takes & RACE_TAKES_STRUCTURED) == 0)
		return PROBLEM("sequence \"structured\" is for kernels %s",
					   race_kernel_list(RACE_TAKES_STRUCTURED, list, sizeof(list)));
	if (part->sequence == RACE_SEQUENCE_STRUCTURED && part->outputs != 0)
		return PROBLEM("sequence \"structured\" cannot have a matrix");
	if (part->sequence == RACE_SEQUENCE_GROUPED && type->record != RACE_RECORD_SET)
		return PROBLEM("sequence \"grouped\" is for kernel jaccard");
	if (part->sequence == RACE_SEQUENCE_SOBOL && !race_fits_sobol(part, taken))
		return PROBLEM("sequence \"sobol\" needs dims, and at most %d random numbers a row: power times (dims + 1) of distances, power times dims of signs, power of categories",
					   RACE_SOBOL_DIMENSIONS);
	return NULL;
}

/*
 * Check each part, and that the sizes of all parts add up to the size of the whole.
 */
static const char *
parts_problem(const RaceParams *params, char *message, size_t length)
{
	const RaceParams *part = params;
	uint64_t	left = params->more;
	uint32_t	sobol = 0;

	/* bound: RACE_MAX_PARTS */
	for (int parts = 1;; parts++)
	{
		bool		first = part == params;

		if (fields_problem(part, first, message, length) != NULL)
			return message;
		if (race_arrays_size(part) > left)
			return PROBLEM("arrays are cut off");
		if (arrays_problem(part, message, length) != NULL ||
			sequence_problem(part, sobol, message, length) != NULL)
			return message;
		if (!first && part->sequence == RACE_SEQUENCE_GRID)
			return PROBLEM("a grid cannot be a part of a product");
		if (race_is_surrogate(part) && params->more != race_arrays_size(params))
			return PROBLEM("a surrogate loss cannot be a part of a product");
		if (!first && !race_summary_kind(part)->hashed)
			return PROBLEM("kernel %s cannot be a part of a product", race_kernel_name(part->kernel));
		if (part->sequence == RACE_SEQUENCE_SOBOL)
			sobol += race_sobol_dimensions(part);
		left -= race_arrays_size(part);
		if (left == 0)
			return NULL;
		if (left < sizeof(RaceParams) || parts == RACE_MAX_PARTS)
			return PROBLEM("a product can have up to %d kernels", RACE_MAX_PARTS);
		left -= sizeof(RaceParams);
		part = (const RaceParams *) ((const char *) (part + 1) + race_arrays_size(part));
	}
}

const char *
race_params_problem(const RaceParams *params, size_t size,
					char *message, size_t length)
{
	uint64_t	counters;

	if (size < sizeof(RaceParams) || size != race_params_size(params) ||
		params->more > RACE_MAX_MORE)
		return PROBLEM("bandwidths, bounds and transforms must be at most %d numbers",
					   (int) (RACE_MAX_MORE / sizeof(double)));
	if (parts_problem(params, message, length) != NULL ||
		race_summary_kind(params)->problem(params, message, length) != NULL)
		return message;
	if (params->rows < 1)
		return PROBLEM("rows must be at least 1");
	if (params->range < 2 && race_summary_kind(params)->hashed)
		return PROBLEM("range must be at least 2");
	counters = (RACE_MAX_SKETCH_BYTES - RACE_MAX_HEADER_BYTES - params->more) / 8;
	if ((uint64_t) params->rows * params->range > counters)
		return PROBLEM("rows times range must be at most %llu",
					   (unsigned long long) counters);
	if (race_rows_size(params) > RACE_MAX_ROWS_BYTES)
		return PROBLEM("rows times power times (dims + 1) is too large: row functions would take %llu MB, at most %llu are allowed",
					   (unsigned long long) race_rows_size(params) >> 20,
					   (unsigned long long) RACE_MAX_ROWS_BYTES >> 20);
	if (params->rehash == RACE_REHASH_FOLD && !race_can_fold(params))
		return race_kernel_type(params->kernel)->signs ?
			PROBLEM("rehash \"fold\" needs a range of at least 2^power") :
			PROBLEM("rehash \"fold\" needs power 1, and by itself a kernel that can be folded");
	return NULL;
}
