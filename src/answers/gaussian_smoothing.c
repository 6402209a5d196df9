/*
 * gaussian_smoothing.c
 *		Values as normal distributions, seen at places along an axis.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "../core/core.h"
#include "gaussian_smoothing.h"

#define REACH		8.5			/* standard deviations; there is less than 1e-16 beyond */
#define MOST_WIDE	3.0			/* times what is between bounds: even, up to 1e-19 */

void
race_spread_places(RaceSpread *spread, double first, double last, uint32 n)
{
	uint32		k;

	spread->n = n;
	spread->at = palloc(n * sizeof(double));
	for (k = 0; k < n; k++)
		spread->at[k] = n == 1 ? first / 2 + last / 2 :
			first * (1 - (double) k / (n - 1)) + last * ((double) k / (n - 1));
}

/* The first k with at[k] >= x, or n */
static uint32
first_from(const double *at, uint32 n, double x)
{
	uint32		from = 0;
	uint32		to = n;

	while (from < to)
	{
		uint32		middle = from + (to - from) / 2;

		if (at[middle] >= x)
			to = middle;
		else
			from = middle + 1;
	}
	return from;
}

static void
add_density(const RaceSpread *spread, double width, double x, double *out, uint32 *from,
			uint32 *to)
{
	double		height = 1 / (sqrt(2 * RACE_PI) * width);
	uint32		k = first_from(spread->at, spread->n, x - REACH * width);

	*from = Min(*from, k);
	for (; k < spread->n && spread->at[k] <= x + REACH * width; k++)
	{
		double		z = (spread->at[k] - x) / width;

		if (spread->at[k] >= spread->lower && spread->at[k] <= spread->upper)
			out[k] += height * exp(-z * z / 2);
	}
	*to = Max(*to, k);
}

/* Below an edge, as far as it is within the bounds */
static double
mass_below(const RaceSpread *spread, double width, double x, double edge)
{
	double		within = Min(Max(edge, spread->lower), spread->upper);

	return erfc((x - within) / (width * sqrt(2))) / 2;
}

static void
add_mass(const RaceSpread *spread, double width, double x, double *out, uint32 *from,
		 uint32 *to)
{
	uint32		k = first_from(spread->at, spread->n, x - REACH * width);
	double		below;

	k = k > 0 ? k - 1 : 0;
	*from = Min(*from, k);
	for (below = mass_below(spread, width, x, spread->at[k]);
		 k < spread->n && spread->at[k] <= x + REACH * width; k++)
	{
		double		above = mass_below(spread, width, x, spread->at[k + 1]);

		out[k] += above - below;
		below = above;
	}
	*to = Max(*to, k);
}

void
race_spread_add(const RaceSpread *spread, double x, double *out, uint32 *from, uint32 *to)
{
	void		(*add) (const RaceSpread *, double, double, double *, uint32 *, uint32 *) =
		spread->cells ? add_mass : add_density;
	double		range = spread->upper - spread->lower;
	double		width = Min(spread->width, MOST_WIDE * range);
	int			images = isfinite(range) ? (int) ceil(REACH * width / range / 2) + 1 : 0;
	int			i;

	*from = spread->n;
	*to = 0;
	for (i = -images; i <= images; i++)
	{
		double		shift = i == 0 ? 0 : 2 * range * i;

		/* a mirror image that is too far from the bounds reaches nothing between them */
		if (i == 0 || fabs(shift) - 2 * range <= REACH * width)
			add(spread, width, x + shift, out, from, to);
		if (i == 0 && !isfinite(range))
		{
			if (isfinite(spread->lower))
				add(spread, width, 2 * spread->lower - x, out, from, to);
			if (isfinite(spread->upper))
				add(spread, width, 2 * spread->upper - x, out, from, to);
		}
		else if (isfinite(range))
			add(spread, width, 2 * spread->lower - x + shift, out, from, to);
	}
	if (*from > *to)
		*from = *to;
}

static double
place_of(const RaceSpread *spread, uint32 k)
{
	return spread->cells ? spread->at[k] / 2 + spread->at[k + 1] / 2 : spread->at[k];
}

void
race_spread_average(const RaceSpread *spread, double distance, double *values, uint32 stride,
					double *space)
{
	uint32		k;
	uint32		first = 0;

	for (k = 0; k < spread->n; k++)
		space[k] = values[(Size) k * stride];
	for (k = 0; k < spread->n; k++)
	{
		double		x = place_of(spread, k);
		double		sum = 0;
		double		weights = 0;
		uint32		other;

		CHECK_FOR_INTERRUPTS();
		while (place_of(spread, first) < x - 3 * distance)
			first++;
		for (other = first; other < spread->n && place_of(spread, other) <= x + 3 * distance; other++)
		{
			double		z = (place_of(spread, other) - x) / distance;
			double		weight = exp(-z * z / 2);

			sum += weight * space[other];
			weights += weight;
		}
		values[(Size) k * stride] = sum / weights;
	}
}
