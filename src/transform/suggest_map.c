/*
 * suggest_map.c
 *		Transforms that race_suggest tries, learned from examples.
 *
 * All begin by giving vectors covariance 1 within classes: M = L^-1 D, where D divides
 * columns by their standard deviations, and L L' is the matrix of their correlations.  Public
 * examples may be few, so correlations are shrunk (Schaefer & Strimmer 2005).  Some go on to
 * keep only the directions in which classes differ.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "suggest.h"

/* A column that varies less than this is constant.  It is divided by so much. */
#define LEAST_DEVIATION		1e-50
#define CONSTANT			1e50

/* A direction of which less is left, after those before it, is one of them. */
#define LEAST_LENGTH		1e-6

/* Added to the diagonal of correlations: columns that are sums of others do no harm. */
#define RIDGE				1e-6

/* Logistic regression in white coordinates: L2 penalty, and steps */
#define PENALTY				1.0
#define STEPS				200

#define SPREAD_OUTPUTS		2	/* directions of different covariance */
#define POWER_STEPS			60	/* to find one */

static void
class_means(const RaceExamples *e, const double *x, double *mean, double *count)
{
	int			i;
	int			j;

	memset(mean, 0, e->classes * e->dims * sizeof(double));
	memset(count, 0, e->classes * sizeof(double));
	for (i = 0; i < e->n; i++)
	{
		count[e->label[i]]++;
		for (j = 0; j < e->dims; j++)
			mean[e->label[i] * e->dims + j] += x[i * e->dims + j];
	}
	for (i = 0; i < e->classes; i++)
		for (j = 0; j < e->dims; j++)
			mean[i * e->dims + j] /= Max(count[i], 1);
}

/* Deviations from the means of classes, [n][dims]; then in standard deviations, which are returned */
static double *
standard_residuals(const RaceExamples *e, double *residual)
{
	double	   *mean = palloc(e->classes * e->dims * sizeof(double));
	double		count[RACE_SUGGEST_CLASSES];
	double	   *deviation = palloc0(e->dims * sizeof(double));
	int			i;
	int			j;

	class_means(e, e->x, mean, count);
	for (i = 0; i < e->n; i++)
		for (j = 0; j < e->dims; j++)
		{
			double		d = e->x[i * e->dims + j] - mean[e->label[i] * e->dims + j];

			residual[i * e->dims + j] = d;
			deviation[j] += d * d;
		}
	for (j = 0; j < e->dims; j++)
	{
		deviation[j] = sqrt(deviation[j] / Max(e->n - e->classes, 1));
		if (!(deviation[j] >= LEAST_DEVIATION))
			deviation[j] = CONSTANT;
		for (i = 0; i < e->n; i++)
			residual[i * e->dims + j] /= deviation[j];
	}
	pfree(mean);
	return deviation;
}

/* The correlations of residuals, [dims][dims], shrunk by their own expected error */
static double *
shrunk_correlations(const RaceExamples *e, const double *residual)
{
	int			d = e->dims;
	double	   *r = palloc(d * d * sizeof(double));
	double		error = 0;
	double		square = 0;
	double		keep;
	int			i;
	int			j;
	int			k;

	for (j = 0; j < d; j++)
		for (k = 0; k <= j; k++)
		{
			double		sum = 0;
			double		squares = 0;

			CHECK_FOR_INTERRUPTS();
			for (i = 0; i < e->n; i++)
			{
				double		product = residual[i * d + j] * residual[i * d + k];

				sum += product;
				squares += product * product;
			}
			r[j * d + k] = r[k * d + j] = sum / e->n;
			if (j != k)
			{
				error += (squares / e->n - pow(sum / e->n, 2)) / e->n;
				square += pow(sum / e->n, 2);
			}
		}
	keep = square > 0 ? Max(1 - error / square, 0) : 0;
	for (j = 0; j < d * d; j++)
		r[j] = j % (d + 1) == 0 ? 1 + RIDGE : r[j] * keep;
	return r;
}

/* map = L^-1 D, where r = L L' (Cholesky); L takes the place of r. */
static void
whiten(double *r, const double *deviation, RaceMap *map)
{
	int			d = map->dims;
	int			i;
	int			j;
	int			k;

	for (i = 0; i < d; i++)
		for (j = 0; j <= i; j++)
		{
			for (k = 0; k < j; k++)
				r[i * d + j] -= r[i * d + k] * r[j * d + k];
			r[i * d + j] = j < i ? r[i * d + j] / r[j * d + j] :
				sqrt(Max(r[i * d + i], RIDGE));
		}
	for (i = 0; i < d; i++)
		for (j = 0; j <= i; j++)
		{
			double		sum = i == j;

			for (k = j; k < i; k++)
				sum -= r[i * d + k] * map->matrix[k * d + j] * deviation[j];
			map->matrix[i * d + j] = sum / r[i * d + i] / deviation[j];
		}
	map->outputs = d;
}

static void
learn_scale(const double *deviation, RaceMap *map)
{
	int			j;

	for (j = 0; j < map->dims; j++)
		map->matrix[j * map->dims + j] = 1 / deviation[j];
	map->outputs = map->dims;
}

static void
learn_volume(RaceMap *map)
{
	int			i;

	for (i = 0; i < map->outputs; i++)
		map->log_volume += log(map->matrix[i * map->dims + i]);
}

void
race_map_apply(const RaceMap *map, const double *x, double *z)
{
	int			i;
	int			j;

	for (i = 0; i < map->outputs; i++)
	{
		double		sum = 0;

		for (j = 0; j < map->dims; j++)
			sum += map->matrix[i * map->dims + j] * x[j];
		z[i] = sum;
	}
}

/* ------------------------------------------------- directions, of white vectors */

/*
 * Add a direction to an orthonormal basis, [n][d]: what is left of it, if that is not too
 * small.  Returns how many there are then.
 */
static int
add_direction(double *basis, int n, int d, const double *direction)
{
	double	   *next = basis + n * d;
	double		before = 0;
	double		after = 0;
	int			i;
	int			j;

	if (n == d)
		return n;
	memmove(next, direction, d * sizeof(double));
	for (j = 0; j < d; j++)
		before += next[j] * next[j];
	for (i = 0; i < n; i++)
	{
		double		along = 0;

		for (j = 0; j < d; j++)
			along += next[j] * basis[i * d + j];
		for (j = 0; j < d; j++)
			next[j] -= along * basis[i * d + j];
	}
	for (j = 0; j < d; j++)
		after += next[j] * next[j];
	if (!(after > LEAST_LENGTH * LEAST_LENGTH * before))
		return n;
	for (j = 0; j < d; j++)
		next[j] /= sqrt(after);
	return n + 1;
}

/* The directions between the means of classes */
static int
mean_directions(const RaceExamples *e, const double *z, double *basis)
{
	double	   *mean = palloc(e->classes * e->dims * sizeof(double));
	double		count[RACE_SUGGEST_CLASSES];
	int			first = 0;
	int			n = 0;
	int			c;
	int			j;

	class_means(e, z, mean, count);
	while (count[first] == 0)
		first++;
	for (c = first + 1; c < e->classes; c++)
	{
		for (j = 0; j < e->dims; j++)
			mean[c * e->dims + j] -= mean[first * e->dims + j];
		if (count[c] > 0)
			n = add_direction(basis, n, e->dims, mean + c * e->dims);
	}
	pfree(mean);
	return n;
}

/*
 * The sum over classes of (S_c - S)^2, where S_c is the covariance of a class and S their
 * mean: [d][d]
 */
static double *
covariance_differences(const RaceExamples *e, const double *z)
{
	int			d = e->dims;
	double	   *mean = palloc(e->classes * d * sizeof(double));
	double		count[RACE_SUGGEST_CLASSES];
	double	   *s = palloc0((Size) (e->classes + 1) * d * d * sizeof(double));
	double	   *all = s + e->classes * d * d;
	double	   *result = palloc0(d * d * sizeof(double));
	int			c;
	int			i;
	int			j;
	int			k;

	class_means(e, z, mean, count);
	for (i = 0; i < e->n; i++)
	{
		const double *m = mean + e->label[i] * d;

		CHECK_FOR_INTERRUPTS();
		for (j = 0; j < d; j++)
			for (k = 0; k < d; k++)
				s[e->label[i] * d * d + j * d + k] +=
					(z[i * d + j] - m[j]) * (z[i * d + k] - m[k]) / count[e->label[i]];
	}
	for (c = 0; c < e->classes; c++)
		for (j = 0; j < d * d; j++)
			all[j] += s[c * d * d + j] / e->classes;
	for (c = 0; c < e->classes; c++)
	{
		CHECK_FOR_INTERRUPTS();
		for (j = 0; j < d * d; j++)
			s[c * d * d + j] -= all[j];
		for (j = 0; j < d; j++)
			for (i = 0; i < d; i++)
				for (k = 0; k < d; k++)
					result[j * d + k] += s[c * d * d + j * d + i] * s[c * d * d + i * d + k];
	}
	pfree(mean);
	pfree(s);
	return result;
}

/* Directions in which the covariances of classes differ most, by the power method */
static int
spread_directions(const RaceExamples *e, const double *z, double *basis, int n)
{
	int			d = e->dims;
	double	   *q = covariance_differences(e, z);
	double	   *v = palloc(2 * d * sizeof(double));
	double	   *product = v + d;
	int			to = Min(n + SPREAD_OUTPUTS, d);
	int			step;
	int			i;
	int			j;

	while (n < to)
	{
		for (j = 0; j < d; j++)
			v[j] = 1 + j % 3;	/* no special direction */
		for (step = 0; step < POWER_STEPS; step++)
		{
			if (add_direction(basis, n, d, v) == n)
				break;
			memcpy(v, basis + n * d, d * sizeof(double));
			memset(product, 0, d * sizeof(double));
			for (i = 0; i < d; i++)
				for (j = 0; j < d; j++)
					product[i] += q[i * d + j] * v[j];
			memcpy(v, product, d * sizeof(double));
		}
		if (add_direction(basis, n, d, v) == n)
			break;
		n++;
	}
	pfree(q);
	pfree(v);
	return n;
}

/* Weights of classes at a row, after a step of the regression: the softmax */
static void
softmax(const double *weights, const double *z, int classes, int d, double *p)
{
	double		most = -INFINITY;
	double		sum = 0;
	int			c;
	int			j;

	for (c = 0; c < classes; c++)
	{
		const double *w = weights + c * (d + 1);

		p[c] = w[d];
		for (j = 0; j < d; j++)
			p[c] += w[j] * z[j];
		most = Max(most, p[c]);
	}
	for (c = 0; c < classes; c++)
		sum += p[c] = exp(p[c] - most);
	for (c = 0; c < classes; c++)
		p[c] /= sum;
}

/* A bound of the curvature of the loss, from the largest eigenvalue of z' z */
static double
curvature(const double *z, int n, int d)
{
	double		v[RACE_SUGGEST_DIMS + 1];
	double		product[RACE_SUGGEST_DIMS + 1];
	double		length = 1;
	int			step;
	int			i;
	int			j;

	for (j = 0; j <= d; j++)
		v[j] = 1 / sqrt(d + 1);
	for (step = 0; step < 20; step++)
	{
		memset(product, 0, sizeof(product));
		for (i = 0; i < n; i++)
		{
			double		along = v[d];

			for (j = 0; j < d; j++)
				along += z[i * d + j] * v[j];
			for (j = 0; j < d; j++)
				product[j] += along * z[i * d + j];
			product[d] += along;
		}
		length = 0;
		for (j = 0; j <= d; j++)
			length += product[j] * product[j];
		length = sqrt(length);
		for (j = 0; j <= d; j++)
			v[j] = product[j] / length;
	}
	return 0.5 * 1.1 * length + PENALTY;
}

/* The gradient of the penalized loss of a multinomial logistic regression at `weights` */
static void
loss_gradient(const RaceExamples *e, const double *z, const double *weights, double *gradient)
{
	int			d = e->dims;
	double		p[RACE_SUGGEST_CLASSES];
	int			c;
	int			i;
	int			j;

	for (j = 0; j < e->classes * (d + 1); j++)
		gradient[j] = j % (d + 1) == d ? 0 : PENALTY * weights[j];
	for (i = 0; i < e->n; i++)
	{
		softmax(weights, z + i * d, e->classes, d, p);
		p[e->label[i]]--;
		for (c = 0; c < e->classes; c++)
		{
			double	   *g = gradient + c * (d + 1);

			for (j = 0; j < d; j++)
				g[j] += p[c] * z[i * d + j];
			g[d] += p[c];
		}
	}
}

/* The directions of its weights, by accelerated gradient descent (Nesterov 1983) */
static int
logistic_directions(const RaceExamples *e, const double *z, double *basis)
{
	int			size = e->classes * (e->dims + 1);
	double	   *weights = palloc0(3 * size * sizeof(double));
	double	   *ahead = weights + size;
	double	   *gradient = ahead + size;
	double		steepest = curvature(z, e->n, e->dims);
	double		t = 1;
	int			n = 0;
	int			step;
	int			j;

	for (step = 0; step < STEPS; step++)
	{
		double		next = (1 + sqrt(1 + 4 * t * t)) / 2;

		CHECK_FOR_INTERRUPTS();
		loss_gradient(e, z, ahead, gradient);
		for (j = 0; j < size; j++)
		{
			double		w = ahead[j] - gradient[j] / steepest;

			ahead[j] = w + (t - 1) / next * (w - weights[j]);
			weights[j] = w;
		}
		t = next;
	}
	for (j = 1; j < e->classes; j++)
	{
		double	   *w = weights + j * (e->dims + 1);
		int			i;

		for (i = 0; i < e->dims; i++)
			w[i] -= weights[i];
		n = add_direction(basis, n, e->dims, w);
	}
	pfree(weights);
	return n;
}

/* Keep these directions of a map that makes vectors white: map = basis map. */
static void
keep_directions(const double *basis, int n, RaceMap *map)
{
	int			d = map->dims;
	double	   *kept = palloc0(Max(n, 1) * d * sizeof(double));
	int			i;
	int			j;
	int			k;

	for (i = 0; i < n; i++)
		for (k = 0; k < d; k++)
			for (j = 0; j < d; j++)
				kept[i * d + j] += basis[i * d + k] * map->matrix[k * d + j];
	memcpy(map->matrix, kept, n * d * sizeof(double));
	map->outputs = n;
	pfree(kept);
}

static void
learn_directions(RaceTransformKind kind, const RaceExamples *e, RaceMap *map)
{
	int			d = e->dims;
	double	   *z = palloc(e->n * d * sizeof(double));
	double	   *basis = palloc((d + 1) * d * sizeof(double));
	int			n;
	int			i;

	for (i = 0; i < e->n; i++)
		race_map_apply(map, e->x + i * d, z + i * d);
	if (kind == RACE_TRANSFORM_LOGISTIC)
		n = logistic_directions(e, z, basis);
	else
		n = mean_directions(e, z, basis);
	if (kind == RACE_TRANSFORM_SPREAD)
	{
		int			means = n;

		n = spread_directions(e, z, basis, n);
		if (n == means)
			n = 0;				/* the same as without */
	}
	/* all directions are no choice */
	keep_directions(basis, n < d ? n : 0, map);
	pfree(z);
	pfree(basis);
}

void
race_map_learn(RaceTransformKind kind, const RaceExamples *examples, RaceMap *map)
{
	double	   *residual = palloc(examples->n * examples->dims * sizeof(double));
	double	   *deviation = standard_residuals(examples, residual);

	memset(map, 0, sizeof(RaceMap));
	map->dims = examples->dims;
	if (kind == RACE_TRANSFORM_SCALE || examples->dims == 1)
		learn_scale(deviation, map);
	else
	{
		double	   *correlations = shrunk_correlations(examples, residual);

		whiten(correlations, deviation, map);
		pfree(correlations);
	}
	learn_volume(map);
	if (kind >= RACE_TRANSFORM_FISHER)
		learn_directions(kind, examples, map);
	if (kind == RACE_TRANSFORM_WHITE && examples->dims == 1)
		map->outputs = 0;		/* the same as scaled */
	pfree(residual);
	pfree(deviation);
}
