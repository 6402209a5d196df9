/*
 * radial.c
 *		Kernels of vectors at many points, by a table over the distance.
 */
#include "radial.h"

#include <math.h>

#include "values.h"

bool
race_radial_can(const RaceParams *params)
{
	return race_params_next(params, params) == NULL &&
		race_kernel_type(params->kernel)->of_distance != NULL;
}

void
race_radial_init(RaceRadial *radial, const RaceParams *params)
{
	const RaceKernelType *type = race_kernel_type(params->kernel);
	int			i;

	radial->dims = params->outputs > 0 ? params->outputs : params->dims;
	radial->euclidean = type->euclidean;
	for (i = 0; i < RACE_RADIAL_NEAR * RACE_RADIAL_STEPS + 2; i++)
		radial->near[i] = pow(type->of_distance((double) i / RACE_RADIAL_STEPS), params->power);
	/* beyond: by the reciprocal, down to 0, where the kernel is 0 */
	radial->far[0] = 0;
	for (i = 1; i < RACE_RADIAL_FAR + 2; i++)
		radial->far[i] = pow(type->of_distance((double) RACE_RADIAL_NEAR * RACE_RADIAL_FAR / i),
							 params->power);
}

double
race_radial_value(const RaceRadial *radial, double distance)
{
	const double *table = radial->near;
	double		at = distance * RACE_RADIAL_STEPS;
	int			i;

	if (!(distance < RACE_RADIAL_NEAR))
	{
		if (!(distance <= 1e300))
			return 0;
		table = radial->far;
		at = (double) RACE_RADIAL_NEAR * RACE_RADIAL_FAR / distance;
	}
	i = (int) at;
	return table[i] + (at - i) * (table[i + 1] - table[i]);
}

void
race_radial_place(const RaceRadial *radial, const RaceParams *params, const double *x,
				  double *place, size_t step)
{
	const double *bandwidths = race_array(params, RACE_ARRAY_BANDWIDTHS);
	uint32_t	i;

	for (i = 0; i < radial->dims; i++)
	{
		double		unit = params->bandwidth * (bandwidths == NULL ? 1 : bandwidths[i]);

		place[i * step] = race_transformed(params, x, i) / unit;
	}
}

/* Places whose distances are computed together */
#define TOGETHER	64

static void
add_distances(const RaceRadial *radial, const double *place, const double *places,
			  size_t n, size_t from, size_t count, double *distance)
{
	uint32_t	i;
	size_t		j;

	for (j = 0; j < count; j++)
		distance[j] = 0;
	for (i = 0; i < radial->dims; i++)
	{
		const double *line = places + i * n + from;

		if (radial->euclidean)
			for (j = 0; j < count; j++)
				distance[j] += (line[j] - place[i]) * (line[j] - place[i]);
		else
			for (j = 0; j < count; j++)
				distance[j] += fabs(line[j] - place[i]);
	}
	for (j = 0; radial->euclidean && j < count; j++)
		distance[j] = sqrt(distance[j]);
}

double
race_radial_sum(const RaceRadial *radial, const double *place, const double *places,
				const double *weights, size_t n)
{
	double		distance[TOGETHER];
	double		sum = 0;
	size_t		from;
	size_t		j;

	for (from = 0; from < n; from += TOGETHER)
	{
		size_t		count = n - from < TOGETHER ? n - from : TOGETHER;

		add_distances(radial, place, places, n, from, count, distance);
		for (j = 0; j < count; j++)
			sum += weights[from + j] * race_radial_value(radial, distance[j]);
	}
	return sum;
}
