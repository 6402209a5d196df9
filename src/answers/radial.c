/*
 * radial.c
 *		Kernels of vectors at many points, by a table over the distance.
 */
#include <math.h>

#include "hash/kernel.h"
#include "hash/table.h"
#include "answers/radial.h"

#define CLOSE_NODES (RACE_RADIAL_ROOTS * 3 / 4 + 2)
#define NEAR_NODES (RACE_RADIAL_NEAR * RACE_RADIAL_STEPS + 2)
#define MIDDLE_NODES ((RACE_RADIAL_MIDDLE - RACE_RADIAL_NEAR) * RACE_RADIAL_WIDE + 2)

int
race_radial_nodes(void)
{
	return CLOSE_NODES + NEAR_NODES + MIDDLE_NODES + RACE_RADIAL_FAR + 2;
}

double *
race_radial_node(RaceRadial *radial, int i)
{
	if (i < CLOSE_NODES)
		return &radial->close[i];
	i -= CLOSE_NODES;
	if (i < NEAR_NODES)
		return &radial->near[i];
	i -= NEAR_NODES;
	return i < MIDDLE_NODES ? &radial->middle[i] : &radial->far[i - MIDDLE_NODES];
}

double
race_radial_distance(int i)
{
	if (i < CLOSE_NODES)
		return (double) i / RACE_RADIAL_ROOTS * i / RACE_RADIAL_ROOTS;
	i -= CLOSE_NODES;
	if (i < NEAR_NODES)
		return (double) i / RACE_RADIAL_STEPS;
	i -= NEAR_NODES;
	if (i < MIDDLE_NODES)
		return RACE_RADIAL_NEAR + (double) i / RACE_RADIAL_WIDE;
	return (double) RACE_RADIAL_MIDDLE * RACE_RADIAL_FAR / (i - MIDDLE_NODES);
}

void
race_radial_init_shape(RaceRadial *radial, const RaceParams *params, double from, double less)
{
	RaceGridSmooth smooth = race_grid_smooth(params, from);
	RaceGridSmooth smoother = race_grid_smooth(params, less);

	radial->dims = params->outputs > 0 ? params->outputs : params->dims;
	radial->euclidean = race_kernel_type(params->kernel)->euclidean;
	for (int i = 0; i < race_radial_nodes(); i++)
	{
		double distance = race_radial_distance(i);
		double k = 0; /* at an infinite distance */

		if (isfinite(distance))
			k = race_grid_smooth_at(&smooth, distance) -
				(less > 0 ? race_grid_smooth_at(&smoother, distance) : 0);
		*race_radial_node(radial, i) = k;
	}
}

void
race_radial_init(RaceRadial *radial, const RaceParams *params)
{
	race_radial_init_shape(radial, params, 0, 0);
}

static inline double
look_up(const RaceRadial *radial, double distance)
{
	const double *table = radial->near;
	double at = distance * RACE_RADIAL_STEPS;
	int i;

	if (distance < RACE_RADIAL_CLOSE)
	{
		table = radial->close;
		at = sqrt(distance) * RACE_RADIAL_ROOTS;
	}
	if (!(distance < RACE_RADIAL_NEAR))
	{
		table = radial->middle;
		at = (distance - RACE_RADIAL_NEAR) * RACE_RADIAL_WIDE;
	}
	if (!(distance < RACE_RADIAL_MIDDLE))
	{
		if (!(distance <= 1e300))
			return 0;
		table = radial->far;
		at = (double) RACE_RADIAL_MIDDLE * RACE_RADIAL_FAR / distance;
	}
	i = (int) at;
	return table[i] + (at - i) * (table[i + 1] - table[i]);
}

void
race_radial_place(const RaceRadial *radial, const RaceParams *params, const double *x,
				  double *place, size_t step)
{
	const double *bandwidths = race_array(params, RACE_ARRAY_BANDWIDTHS);

	for (uint32_t i = 0; i < radial->dims; i++)
	{
		double unit = params->bandwidth * (bandwidths == NULL ? 1 : bandwidths[i]);

		place[i * step] = race_transformed(params, x, i) / unit;
	}
}

double
race_radial_value(const RaceRadial *radial, double distance)
{
	return look_up(radial, distance);
}

/* Places whose distances are computed together */
#define TOGETHER 64

static void
add_distances(const RaceRadial *radial, const double *place, const double *places, size_t n,
			  size_t from, size_t count, double *distance)
{
	if (radial->dims == 1)
	{
		for (size_t j = 0; j < count; j++)
			distance[j] = fabs(places[from + j] - *place);
		return;
	}
	for (size_t j = 0; j < count; j++)
		distance[j] = 0;
	for (uint32_t i = 0; i < radial->dims; i++)
	{
		const double *line = places + i * n + from;

		if (radial->euclidean)
			for (size_t j = 0; j < count; j++)
				distance[j] += (line[j] - place[i]) * (line[j] - place[i]);
		else
			for (size_t j = 0; j < count; j++)
				distance[j] += fabs(line[j] - place[i]);
	}
	for (size_t j = 0; radial->euclidean && j < count; j++)
		distance[j] = sqrt(distance[j]);
}

double
race_radial_sum(const RaceRadial *radial, const double *place, const double *places,
				const double *weights, size_t n)
{
	double distance[TOGETHER];
	double sum = 0;

	for (size_t from = 0; from < n; from += TOGETHER)
	{
		size_t count = n - from < TOGETHER ? n - from : TOGETHER;

		add_distances(radial, place, places, n, from, count, distance);
		for (size_t j = 0; j < count; j++)
			sum += weights[from + j] * look_up(radial, distance[j]);
	}
	return sum;
}

double
race_radial_sum_line(const RaceRadial *radial, double x, double step, double across,
					 const double *weights, size_t n)
{
	double distance[TOGETHER];
	double sum = 0;

	for (size_t from = 0; from < n; from += TOGETHER)
	{
		size_t count = n - from < TOGETHER ? n - from : TOGETHER;
		double first = x + (double) from * step;

		if (radial->euclidean && across > 0)
			for (size_t j = 0; j < count; j++)
			{
				double d = first + (double) (int) j * step;

				distance[j] = sqrt(across + d * d);
			}
		else
			for (size_t j = 0; j < count; j++)
				distance[j] = across + fabs(first + (double) (int) j * step);
		for (size_t j = 0; j < count; j++)
			sum += weights[from + j] * look_up(radial, distance[j]);
	}
	return sum;
}

double
race_radial_apart(const RaceRadial *radial, const double *places, size_t n, size_t i, size_t j)
{
	double sum = 0;

	for (uint32_t axis = 0; axis < radial->dims; axis++)
	{
		double d = places[axis * n + i] - places[axis * n + j];

		sum += radial->euclidean ? d * d : fabs(d);
	}
	return radial->euclidean ? sqrt(sum) : sum;
}
