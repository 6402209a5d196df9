/*
 * sequences.c
 *		Row functions drawn from sequences: scrambled Sobol' points and structured rotations
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "hash.h"
#include "lsh.h"
#include "sequences.h"

/*
 * An Owen-scrambled Sobol' sequence.
 *
 * Direction numbers: Joe & Kuo 2008 (new-joe-kuo-6).  Scrambling: nested and
 * uniform (Owen 1995), each digit flipped by a random bit that depends on all
 * digits before it.
 */

#define LEVELS	RACE_SOBOL_LEVELS

/* A primitive polynomial of some degree, its coefficients, and first numbers */
typedef struct Polynomial
{
	uint8_t		degree;
	uint8_t		coefficients;
	uint8_t		m[7];
} Polynomial;

/* for dimensions 1 and up; dimension 0 is van der Corput's sequence */
static const Polynomial polynomials[RACE_SOBOL_DIMENSIONS - 1] = {
	{1, 0, {1}},
	{2, 1, {1, 3}},
	{3, 1, {1, 3, 1}},
	{3, 2, {1, 1, 1}},
	{4, 1, {1, 1, 3, 3}},
	{4, 4, {1, 3, 5, 13}},
	{5, 2, {1, 1, 5, 5, 17}},
	{5, 4, {1, 1, 5, 5, 5}},
	{5, 7, {1, 1, 7, 11, 19}},
	{5, 11, {1, 1, 5, 1, 1}},
	{5, 13, {1, 1, 1, 3, 11}},
	{5, 14, {1, 3, 5, 5, 31}},
	{6, 1, {1, 3, 3, 9, 7, 49}},
	{6, 13, {1, 1, 1, 15, 21, 21}},
	{6, 16, {1, 3, 1, 13, 27, 49}},
	{6, 19, {1, 1, 1, 15, 7, 5}},
	{6, 22, {1, 3, 1, 15, 13, 25}},
	{6, 25, {1, 1, 5, 5, 19, 61}},
	{7, 1, {1, 3, 7, 11, 23, 15, 103}},
	{7, 4, {1, 3, 7, 13, 13, 15, 69}}
};

/* Direction number i has LEVELS binary digits: m[i] / 2^(i + 1). */
void
race_sobol_start(RaceSobol *sequence, int64_t seed, uint32_t dimension)
{
	uint32_t   *v = sequence->directions;
	const Polynomial *p = dimension > 0 && dimension < RACE_SOBOL_DIMENSIONS ?
		&polynomials[dimension - 1] : NULL;

	sequence->seed = seed;
	sequence->dimension = dimension;
	for (int i = 0; i < LEVELS; i++)
	{
		if (p == NULL)
			v[i] = 1;
		else if (i < p->degree)
			v[i] = p->m[i];
		else
		{
			v[i] = v[i - p->degree] ^ (v[i - p->degree] << p->degree);
			for (int k = 1; k < p->degree; k++)
				if ((p->coefficients >> (p->degree - 1 - k)) & 1)
					v[i] ^= v[i - k] << k;
		}
	}
	for (int i = 0; i < LEVELS; i++)
		v[i] <<= LEVELS - 1 - i;
}

void
race_sobol_lanes(const RaceSobol *sequence, uint32_t first, uint64_t *bits)
{
	uint64_t	index[RACE_LANES];
	uint64_t	point[RACE_LANES];
	uint64_t	before[RACE_LANES];
	uint64_t	random[RACE_LANES];

	for (int i = 0; i < RACE_LANES; i++)
	{
		index[i] = first + i;
		point[i] = 0;
		bits[i] = 0;
		/* LEVELS digits of the point before scrambling */
		for (int digit = 0; index[i] >> digit != 0; digit++)
			point[i] ^= sequence->directions[digit] & -(uint32_t) (index[i] >> digit & 1);
	}

	/*
	 * at each node on the path to a point, a random bit decides whether to flip the
	 * digit
	 */
	for (int level = 0; level < LEVELS; level++)
	{
		for (int i = 0; i < RACE_LANES; i++)
			before[i] = point[i] >> (LEVELS - level);
		race_philox_lanes(sequence->seed, RACE_STREAM_SCRAMBLE, before,
						  sequence->dimension, level, random);
		for (int i = 0; i < RACE_LANES; i++)
			bits[i] = bits[i] << 1 | (random[i] & 1);
	}

	/* below the last level no two points share a node: independent digits */
	race_philox_lanes(sequence->seed, RACE_STREAM_SCRAMBLE, index,
					  sequence->dimension, LEVELS, random);
	for (int i = 0; i < RACE_LANES; i++)
		bits[i] = (bits[i] ^ point[i]) << (64 - LEVELS) | random[i] >> LEVELS;
}

/*
 * Projections at right angles, by signs and Hadamard transforms.
 *
 * The transforms add and subtract in an order that their definition fixes, so the bits are
 * the same everywhere.
 */

uint32_t
race_structured_length(const RaceParams *part)
{
	uint32_t	length = RACE_STRUCTURED_LEAST;

	if (!race_is_structured(part))
		return 0;
	while (length < part->dims)
		length *= 2;
	return length;
}

size_t
race_structured_all_words(const RaceParams *part, uint32_t rows)
{
	uint32_t	length = race_structured_length(part);

	if (length == 0)
		return 0;
	return part->power * (((size_t) rows + length - 1) / length) * race_structured_words(part);
}

/*
 * The length is the root of a chi-square variable with D degrees of freedom.  That is
 * nearly D times the cube of a normal variable (Wilson & Hilferty 1931): with 1024 degrees,
 * its mean and the mean of its square are right to 1e-8.
 */
double
race_structured_scale(const RaceParams *part, double normal)
{
	double		d = race_structured_length(part);
	double		variance = 2 / (9 * d);
	double		root = 1 - variance + normal * sqrt(variance);

	return sqrt(root * root * root) / d;
}

void
race_structured_project(const RaceParams *part, const uint64_t *signs, const double *x,
						double *z)
{
	const double *origin = race_array(part, RACE_ARRAY_OFFSET);
	const double *bandwidths = race_array(part, RACE_ARRAY_BANDWIDTHS);
	uint32_t	length = race_structured_length(part);

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
