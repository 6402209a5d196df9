/*
 * structured.c
 *		Projections at right angles, by fast transforms
 */
#include <math.h>
#include <string.h>

#include "hash/hash_path.h"
#include "hash/params.h"
#include "hash/structured.h"

/*
 * Signs and Hadamard transforms.  The transforms add and subtract in an order that their definition
 * fixes, so the bits are the same everywhere.
 */

uint32_t
race_structured_length(const RaceParams *part)
{
	uint32_t length = RACE_STRUCTURED_LEAST;

	if (!race_is_structured(part))
		return 0;
	/* bound: twice as long each time, up to dims */
	while (length < part->dims)
		length *= 2;
	return length;
}

size_t
race_structured_all_words(const RaceParams *part, uint32_t rows)
{
	uint32_t length = race_structured_length(part);

	if (length == 0)
		return 0;
	return part->power * (((size_t) rows + length - 1) / length) * race_structured_words(part);
}

/*
 * Return the length of a row.  It is the root of a chi-square variable with D degrees of freedom.
 * That is nearly D times the cube of a normal variable (Wilson & Hilferty 1931): with 1024 degrees,
 * its mean and the mean of its square are right to 1e-8.
 */
double
race_structured_scale(const RaceParams *part, double normal)
{
	double d = race_structured_length(part);
	double variance = 2 / (9 * d);
	double root = 1 - variance + normal * sqrt(variance);

	return sqrt(root * root * root) / d;
}

void
race_structured_project(const RaceParams *part, const uint64_t *signs, const double *x, double *z)
{
	const double *origin = race_array(part, RACE_ARRAY_OFFSET);
	const double *bandwidths = race_array(part, RACE_ARRAY_BANDWIDTHS);
	uint32_t length = race_structured_length(part);

	/* (x - o) over the width of each column, padded with zeros */
	memcpy(z, x, part->dims * sizeof(double));
	for (uint32_t i = 0; origin != NULL && i < part->dims; i++)
		z[i] -= origin[i];
	for (uint32_t i = 0; bandwidths != NULL && i < part->dims; i++)
		z[i] /= bandwidths[i];
	memset(z + part->dims, 0, (length - part->dims) * sizeof(double));
	for (int round = 0; round < RACE_STRUCTURED_ROUNDS; round++, signs += length / 64)
		race_hash_path()->transform(z, length, signs);
}
