/*
 * cosine_basis.c
 *		Cosine basis of smooth functions over a box
 */
#include <math.h>
#include <string.h>

#include "answers/cosine_basis.h"

#define PI 3.14159265358979323846
/* Cosines are flat where the box ends, so it ends beyond the places: by this part of their range */
#define MARGIN 0.1
#define SHRINK 0.9    /* factor of the highest squared frequency, until terms are few enough */
#define SHORTEST 0.25 /* half of the shortest wavelength, in bandwidths */

/*
 * Add the terms whose squared frequency is at most `limit`.  Along the axes before this one
 * they have the frequencies of term basis->n, which is the next one.  Return whether there is
 * space for all.
 */
static int
add_terms(RaceCosines *basis, uint32_t axis, double square, double limit)
{
	uint8_t term[RACE_COSINE_DIMS];

	if (axis == basis->dims)
	{
		if (basis->n == RACE_COSINE_TERMS)
			return 0;
		basis->square[basis->n++] = square;
		if (basis->n < RACE_COSINE_TERMS)
			memcpy(basis->frequency[basis->n], basis->frequency[basis->n - 1], sizeof(term));
		return 1;
	}
	for (int k = 0; k < RACE_COSINE_FREQUENCIES; k++)
	{
		double frequency = k == 0 ? 0 : PI * k / basis->range[axis];
		double sum = square + frequency * frequency;

		if (!(sum <= limit))
			break;
		if (basis->n < RACE_COSINE_TERMS)
			basis->frequency[basis->n][axis] = (uint8_t) k;
		if (!add_terms(basis, axis + 1, sum, limit))
			return 0;
	}
	return 1;
}

void
race_cosines_init(RaceCosines *basis, uint32_t dims, const double *places, size_t n)
{
	double limit = PI * PI / (SHORTEST * SHORTEST);

	memset(basis, 0, sizeof(RaceCosines));
	basis->dims = dims;
	for (uint32_t axis = 0; axis < dims; axis++)
	{
		const double *x = places + axis * n;
		double least = x[0];
		double most = x[0];

		for (size_t j = 1; j < n; j++)
		{
			least = fmin(least, x[j]);
			most = fmax(most, x[j]);
		}
		basis->lower[axis] = least - MARGIN * (most - least);
		basis->range[axis] = (1 + 2 * MARGIN) * (most - least);
	}
	while (!add_terms(basis, 0, 0, limit))
	{
		basis->n = 0;
		limit *= SHRINK;
	}
}

int
race_cosines_cover(const RaceCosines *basis, const double *place)
{
	for (uint32_t axis = 0; axis < basis->dims; axis++)
		if (!(place[axis] >= basis->lower[axis] &&
			  place[axis] <= basis->lower[axis] + basis->range[axis]))
			return 0;
	return 1;
}

void
race_cosines_at(const RaceCosines *basis, const double *place, size_t step, double *terms)
{
	double cosines[RACE_COSINE_DIMS][RACE_COSINE_FREQUENCIES];

	for (uint32_t axis = 0; axis < basis->dims; axis++)
	{
		double angle = basis->range[axis] > 0 ?
			PI * (place[axis * step] - basis->lower[axis]) / basis->range[axis] :
			0;

		cosines[axis][0] = 1;
		cosines[axis][1] = cos(angle);
		for (int k = 2; k < RACE_COSINE_FREQUENCIES; k++)
			cosines[axis][k] = 2 * cosines[axis][1] * cosines[axis][k - 1] - cosines[axis][k - 2];
	}
	for (uint32_t i = 0; i < basis->n; i++)
	{
		terms[i] = 1;
		for (uint32_t axis = 0; axis < basis->dims; axis++)
			terms[i] *= cosines[axis][basis->frequency[i][axis]];
	}
}
