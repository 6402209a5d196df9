/*
 * waves.c
 *		Cosine transforms
 */
#include <math.h>
#include <string.h>

#include "waves.h"

#define PI				3.14159265358979323846
/* Cosines are flat where the box ends, so it ends beyond the places: by this part of their range */
#define MARGIN			0.1
#define SHRINK			0.9		/* of the highest squared frequency, until terms are few enough */
#define SHORTEST		0.25	/* half wave, in bandwidths */

/*
 * Add the terms whose squared frequency is at most `limit`.  Along the axes before this one
 * they have the half waves of term waves->n, which is the next one.  Returns whether there is
 * space for all.
 */
static int
add_terms(RaceWaves *waves, uint32_t axis, double square, double limit)
{
	uint8_t		term[RACE_WAVES_DIMS];
	int			k;

	if (axis == waves->dims)
	{
		if (waves->n == RACE_WAVES_MOST)
			return 0;
		waves->square[waves->n++] = square;
		if (waves->n < RACE_WAVES_MOST)
			memcpy(waves->half_waves[waves->n], waves->half_waves[waves->n - 1], sizeof(term));
		return 1;
	}
	for (k = 0; k < RACE_WAVES_AXIS; k++)
	{
		double		frequency = k == 0 ? 0 : PI * k / waves->range[axis];
		double		sum = square + frequency * frequency;

		if (!(sum <= limit))
			break;
		if (waves->n < RACE_WAVES_MOST)
			waves->half_waves[waves->n][axis] = (uint8_t) k;
		if (!add_terms(waves, axis + 1, sum, limit))
			return 0;
	}
	return 1;
}

void
race_waves_init(RaceWaves *waves, uint32_t dims, const double *places, size_t n)
{
	double		limit = PI * PI / (SHORTEST * SHORTEST);
	uint32_t	axis;
	size_t		j;

	memset(waves, 0, sizeof(RaceWaves));
	waves->dims = dims;
	for (axis = 0; axis < dims; axis++)
	{
		const double *x = places + axis * n;
		double		least = x[0];
		double		most = x[0];

		for (j = 1; j < n; j++)
		{
			least = fmin(least, x[j]);
			most = fmax(most, x[j]);
		}
		waves->lower[axis] = least - MARGIN * (most - least);
		waves->range[axis] = (1 + 2 * MARGIN) * (most - least);
	}
	while (!add_terms(waves, 0, 0, limit))
	{
		waves->n = 0;
		limit *= SHRINK;
	}
}

int
race_waves_cover(const RaceWaves *waves, const double *place)
{
	uint32_t	axis;

	for (axis = 0; axis < waves->dims; axis++)
		if (!(place[axis] >= waves->lower[axis] &&
			  place[axis] <= waves->lower[axis] + waves->range[axis]))
			return 0;
	return 1;
}

void
race_waves_at(const RaceWaves *waves, const double *place, size_t step, double *terms)
{
	double		cosines[RACE_WAVES_DIMS][RACE_WAVES_AXIS];
	uint32_t	axis;
	uint32_t	i;
	int			k;

	for (axis = 0; axis < waves->dims; axis++)
	{
		double		angle = waves->range[axis] > 0 ?
			PI * (place[axis * step] - waves->lower[axis]) / waves->range[axis] : 0;

		cosines[axis][0] = 1;
		cosines[axis][1] = cos(angle);
		for (k = 2; k < RACE_WAVES_AXIS; k++)
			cosines[axis][k] = 2 * cosines[axis][1] * cosines[axis][k - 1] -
				cosines[axis][k - 2];
	}
	for (i = 0; i < waves->n; i++)
	{
		terms[i] = 1;
		for (axis = 0; axis < waves->dims; axis++)
			terms[i] *= cosines[axis][waves->half_waves[i][axis]];
	}
}
