/*
 * sobol.c
 *		Sobol' sequences, from which row functions are drawn
 */
#include "hash/kernel.h"
#include "hash/loss_rows.h"
#include "hash/params.h"
#include "hash/philox.h"
#include "hash/rows.h"
#include "hash/sobol.h"

/*
 * Direction numbers: Joe & Kuo 2008 (new-joe-kuo-6).  Scrambling: nested and
 * uniform (Owen 1995), each digit flipped by a random bit that depends on all
 * digits before it.
 */

#define LEVELS RACE_SOBOL_LEVELS

/* A primitive polynomial of some degree, its coefficients, and first numbers */
typedef struct Polynomial
{
	uint8_t degree;
	uint8_t coefficients;
	uint8_t m[7];
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
	{7, 4, {1, 3, 7, 13, 13, 15, 69}}};

/* Start a sequence.  Direction number i has LEVELS binary digits: m[i] / 2^(i + 1). */
void
race_sobol_start(RaceSobol *sequence, int64_t seed, uint32_t dimension)
{
	uint32_t *v = sequence->directions;
	const Polynomial *p =
		dimension > 0 && dimension < RACE_SOBOL_DIMENSIONS ? &polynomials[dimension - 1] : NULL;

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
	uint64_t index[RACE_LANES];
	uint64_t point[RACE_LANES];
	uint64_t before[RACE_LANES];
	uint64_t random[RACE_LANES];

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
		race_philox_lanes(sequence->seed, RACE_STREAM_SCRAMBLE, before, sequence->dimension, level,
						  random);
		for (int i = 0; i < RACE_LANES; i++)
			bits[i] = bits[i] << 1 | (random[i] & 1);
	}

	/* below the last level no two points share a node: independent digits */
	race_philox_lanes(sequence->seed, RACE_STREAM_SCRAMBLE, index, sequence->dimension, LEVELS,
					  random);
	for (int i = 0; i < RACE_LANES; i++)
		bits[i] = (bits[i] ^ point[i]) << (64 - LEVELS) | random[i] >> LEVELS;
}

uint32_t
race_sobol_dimensions(const RaceParams *part)
{
	const RaceKernelType *type = race_kernel_type(part->kernel);
	uint64_t a_function = 1;
	uint64_t n;

	/* a projection has coefficients and, unless only its sign counts, an offset */
	if (type->record == RACE_RECORD_VECTOR)
		a_function =
			(uint64_t) (part->outputs > 0 ? part->outputs : race_hashed_width(part)) + !type->signs;
	n = part->power * a_function;

	/* the function of a set has keys; without dims its size is not known */
	if (type->record == RACE_RECORD_SET || part->dims == 0 || n > UINT32_MAX)
		return UINT32_MAX;
	return (uint32_t) n;
}

bool
race_sobol_fits(const RaceParams *part, uint32_t taken)
{
	return taken <= RACE_SOBOL_DIMENSIONS &&
		race_sobol_dimensions(part) <= RACE_SOBOL_DIMENSIONS - taken;
}
