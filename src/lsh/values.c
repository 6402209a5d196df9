/*
 * values.c
 *		Exact values of kernels, of power 1.
 */
#include "values.h"

#include <math.h>

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
	uint32_t	j;

	if (matrix == NULL)
		return x[i] - y[i];
	for (j = 0; j < part->dims; j++)
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
	uint32_t	i;

	for (i = 0; i < m; i++)
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
	uint32_t	j;

	if (matrix == NULL)
		return shifted(x, offset, i);
	for (j = 0; j < part->dims; j++)
		sum += matrix[(size_t) i * part->dims + j] * shifted(x, offset, j);
	return sum;
}

/* The largest absolute value and, in units of it, the length of g(x) */
static double
length_of(const RaceParams *part, const double *x, uint32_t n, double *largest)
{
	double		sum = 0;
	uint32_t	i;

	*largest = 0;
	for (i = 0; i < n; i++)
		*largest = fmax(*largest, fabs(race_transformed(part, x, i)));
	for (i = 0; i < n && *largest > 0; i++)
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
	uint32_t	i;

	if (x_length == 0 && y_length == 0)
		return 1;
	if (!(x_length * y_length > 0 && isfinite(x_largest) && isfinite(y_largest)))
		return 0.5;
	for (i = 0; i < m; i++)
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
	uint32_t	i;

	(void) part;
	for (i = 0; i < x->width; i++)
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
