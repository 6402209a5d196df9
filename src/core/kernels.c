/*
 * kernels.c
 *		The table of kernels: values, collision probabilities, quantiles, sampling constants
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "loss_rows.h"
#include "lsh.h"
#include "table.h"

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
