/*
 * marginal.c
 *		The distribution of one number of the records.
 */
#include "postgres.h"

#include <math.h>

#include "marginal.h"

/* The distribution function is linear between knots. */
typedef struct Knot
{
	double		x;
	double		share;			/* of all records, below x */
} Knot;

struct RaceMarginal
{
	uint64		n;
	Knot		knots[FLEXIBLE_ARRAY_MEMBER];
};

typedef struct Value
{
	double		x;
	double		weight;
} Value;

static int
compare_values(const void *a, const void *b)
{
	double		x = ((const Value *) a)->x;
	double		y = ((const Value *) b)->x;

	return (x > y) - (x < y);
}

/* The values of all points in order, each once; returns how many */
static uint64
collect(const RaceFitted *fitted, int part, uint32 element, Value *values)
{
	uint64		points = fitted->view.model->points;
	uint64		n = 0;
	uint64		i;

	for (i = 0; i < points; i++)
	{
		values[i].x = race_fitted_vector(fitted, part, i)[element];
		values[i].weight = race_fitted_weight(fitted, i);
	}
	qsort(values, points, sizeof(Value), compare_values);
	for (i = 1; i < points; i++)
		if (values[i].x == values[n].x)
			values[n].weight += values[i].weight;
		else
			values[++n] = values[i];
	return n + 1;
}

/* As far as a value is spread at most: half a bandwidth, where the number has one */
static double
reach_of(const RaceParams *part, uint32 element)
{
	const double *factors = race_array(part, RACE_ARRAY_BANDWIDTHS);

	if (race_array(part, RACE_ARRAY_MATRIX) != NULL ||
		race_kernel_type(part->kernel)->of_distance == NULL)
		return INFINITY;
	return part->bandwidth * (factors == NULL ? 1 : factors[element]) / part->power / 2;
}

RaceMarginal *
race_marginal_create(const RaceFitted *fitted, const RaceColumnPlace *place)
{
	double		lower = race_column_bound(place, RACE_ARRAY_LOWER, -INFINITY);
	double		upper = race_column_bound(place, RACE_ARRAY_UPPER, INFINITY);
	double		reach = reach_of(place->params, place->element);
	Value	   *values = palloc(fitted->view.model->points * sizeof(Value));
	uint64		n = collect(fitted, place->part, place->element, values);
	RaceMarginal *marginal = palloc(offsetof(RaceMarginal, knots) + 3 * n * sizeof(Knot));
	Knot	   *knot = marginal->knots;
	double		passed = 0;
	uint64		i;

	for (i = 0; i < n; i++)
	{
		double		x = values[i].x;
		/* halves before they are subtracted do not overflow */
		double		below = i == 0 ? 0 : x / 2 - values[i - 1].x / 2;
		double		above = i == n - 1 ? below : values[i + 1].x / 2 - x / 2;

		if (i == 0)
			below = above;
		knot->x = Min(Max(x - Min(below, reach), lower), x);
		(knot++)->share = passed / fitted->total;
		knot->x = x;
		(knot++)->share = (passed + values[i].weight / 2) / fitted->total;
		passed += values[i].weight;
		knot->x = Max(Min(x + Min(above, reach), upper), x);
		(knot++)->share = passed / fitted->total;
	}
	marginal->n = 3 * n;
	pfree(values);
	return marginal;
}

/* ----------------------------------------------------------------- questions */

double
race_marginal_quantile(const RaceMarginal *marginal, double p)
{
	const Knot *knots = marginal->knots;
	uint64		from = 1;
	uint64		to = marginal->n - 1;
	const Knot *below;
	const Knot *above;
	double		t;

	/* the first that at least a share p lies below */
	while (from < to)
	{
		uint64		middle = (from + to) / 2;

		if (knots[middle].share >= p)
			to = middle;
		else
			from = middle + 1;
	}
	below = &knots[from - 1];
	above = &knots[from];
	t = above->share > below->share ? (p - below->share) / (above->share - below->share) : 1;
	t = Min(Max(t, 0), 1);
	/* not beyond them by rounding */
	return Min(Max(below->x * (1 - t) + above->x * t, below->x), above->x);
}
