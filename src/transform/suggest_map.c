/*
 * suggest_map.c
 *		Transforms that race_suggest tries, learned from examples.
 *
 * All begin by giving vectors covariance 1 within classes (whiten.h).  Some go on to keep only
 * the directions in which classes differ.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "discriminant.h"
#include "suggest.h"

/* A column that varies less than this is constant.  It is divided by so much. */
#define LEAST_DEVIATION		1e-50
#define CONSTANT			1e50

/* A direction of which less is left, after those before it, is one of them. */
#define LEAST_LENGTH		1e-6

/* Added to the diagonal of correlations: columns that are sums of others do no harm. */
#define RIDGE				1e-6

#define SPREAD_OUTPUTS		2	/* directions of different covariance */
#define POWER_STEPS			60	/* to find one */

static RaceScatter *
scatter_of(const RaceExamples *e)
{
	RaceScatter *scatter = race_scatter_create(e->dims, CurrentMemoryContext);
	int			i;

	for (i = 0; i < e->n; i++)
		race_scatter_add(scatter, e->label[i], 1, e->x + i * e->dims);
	return scatter;
}

/* All columns are kept: volumes are those of all dimensions. */
static void
find_columns(const RaceScatter *scatter, RaceColumns *columns)
{
	uint32		i;

	columns->n = scatter->dims;
	for (i = 0; i < scatter->dims; i++)
	{
		double		deviation = race_scatter_deviation(scatter, i);

		columns->deviation[i] = deviation >= LEAST_DEVIATION ? deviation : CONSTANT;
		columns->keep[i] = true;
		columns->kept[i] = i;
	}
}

static void
scale_columns(const RaceColumns *columns, RaceWhitening *map)
{
	uint32		n = columns->n;
	uint32		i;

	map->dims = map->outputs = n;
	map->matrix = palloc0(n * n * sizeof(double));
	for (i = 0; i < n; i++)
		map->matrix[i * n + i] = 1 / columns->deviation[i];
}

/* log |det M|, of M that is lower triangular */
static double
log_volume_of(const RaceWhitening *map)
{
	double		sum = 0;
	uint32		i;

	for (i = 0; i < map->dims; i++)
		sum += log(map->matrix[i * map->dims + i]);
	return sum;
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

/* The scatter of white vectors in each class; NULL for a class without any */
static RaceScatter **
scatters_of_classes(const RaceExamples *e, const double *z)
{
	RaceScatter **scatters = palloc0(e->classes * sizeof(RaceScatter *));
	int			i;

	for (i = 0; i < e->n; i++)
	{
		RaceScatter **scatter = &scatters[e->label[i]];

		if (*scatter == NULL)
			*scatter = race_scatter_create(e->dims, CurrentMemoryContext);
		race_scatter_add(*scatter, 0, 1, z + i * e->dims);
	}
	return scatters;
}

/* The covariance, [d][d] */
static void
covariance_of(const RaceScatter *scatter, double *s)
{
	uint32		d = scatter->dims;
	uint32		j;
	uint32		k;

	for (j = 0; j < d; j++)
		for (k = 0; k < d; k++)
			s[j * d + k] = race_scatter_product(scatter, j, k) / race_scatter_n(scatter);
}

/* Add the square of a symmetric matrix [d][d]. */
static void
add_square(const double *s, int d, double *sum)
{
	int			i;
	int			j;
	int			k;

	CHECK_FOR_INTERRUPTS();
	for (j = 0; j < d; j++)
		for (i = 0; i < d; i++)
			for (k = 0; k < d; k++)
				sum[j * d + k] += s[j * d + i] * s[i * d + k];
}

/*
 * The sum over classes of (S_c - S)^2, where S_c is the covariance of a class and S their
 * mean: [d][d]
 */
static double *
covariance_differences(const RaceExamples *e, const double *z)
{
	int			d = e->dims;
	RaceScatter **scatters = scatters_of_classes(e, z);
	double	   *mean = palloc0(d * d * sizeof(double));
	double	   *s = palloc(d * d * sizeof(double));
	double	   *result = palloc0(d * d * sizeof(double));
	int			c;
	int			j;

	for (c = 0; c < e->classes; c++)
	{
		if (scatters[c] == NULL)
			continue;
		covariance_of(scatters[c], s);
		for (j = 0; j < d * d; j++)
			mean[j] += s[j] / e->classes;
	}
	for (c = 0; c < e->classes; c++)
	{
		if (scatters[c] == NULL)
			continue;
		covariance_of(scatters[c], s);
		for (j = 0; j < d * d; j++)
			s[j] -= mean[j];
		add_square(s, d, result);
	}
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
	return n;
}

/* Of a map that makes vectors white keep only the directions in which classes differ. */
static void
keep_directions(RaceTransformKind kind, const RaceExamples *e, const RaceScatter *scatter,
				RaceWhitening *map)
{
	int			d = e->dims;
	double	   *basis = palloc((Max(d, RACE_SUGGEST_CLASSES) + 1) * d * sizeof(double));
	int			n = race_discriminant_directions(scatter, map, basis);

	if (kind == RACE_TRANSFORM_SPREAD)
	{
		double	   *z = palloc((Size) e->n * d * sizeof(double));
		int			means = n;
		int			i;

		for (i = 0; i < e->n; i++)
			race_whitening_apply(map, e->x + i * d, z + i * d);
		n = spread_directions(e, z, basis, n);
		if (n == means)
			n = 0;				/* the same as without */
	}
	/* all directions are no choice */
	race_whitening_keep(map, basis, n < d ? n : 0);
}

/* Returns the logarithm of the volume.  The map has no outputs if there is no such map. */
static double
learn(RaceTransformKind kind, const RaceExamples *e, RaceWhitening *map)
{
	RaceScatter *scatter = scatter_of(e);
	RaceColumns *columns = palloc(sizeof(RaceColumns));
	double		log_volume;

	find_columns(scatter, columns);
	if (kind == RACE_TRANSFORM_SCALE)
		scale_columns(columns, map);
	else if (e->dims == 1 ||	/* the same as scaled */
			 race_scatter_freedom(scatter) < 1 ||
			 !race_whiten_columns(scatter, columns, RIDGE, map))
	{
		map->outputs = 0;
		return 0;
	}
	log_volume = log_volume_of(map);
	if (kind >= RACE_TRANSFORM_FISHER)
		keep_directions(kind, e, scatter, map);
	return log_volume;
}

void
race_map_learn(RaceTransformKind kind, const RaceExamples *examples, RaceMap *map)
{
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext, "race suggest, map",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(work);

	map->log_volume = learn(kind, examples, &map->m);
	MemoryContextSwitchTo(old);
	map->m.dims = examples->dims;
	if (map->m.outputs > 0)
		memcpy(map->numbers, map->m.matrix,
			   map->m.outputs * map->m.dims * sizeof(double));
	map->m.matrix = map->numbers;
	MemoryContextDelete(work);
}
