/*
 * rows.c
 *		Row functions: drawn from the seed.
 *
 * A row's code is floor(a.x / w + b): a is standard normal, b uniform in
 * [0, 1).  hash.c says how it becomes a bucket.
 */
#include "lsh.h"

#include <string.h>

#include "normal.h"
#include "orthogonal.h"
#include "philox.h"
#include "sobol.h"

/* Coefficients begin where cache lines and the widest vectors do. */
#define ALIGNMENT	64

static size_t
blocks_of(const RaceParams *params)
{
	return ((size_t) params->rows + RACE_LANES - 1) / RACE_LANES;
}

/* words of 32 bits that the codes of a row's functions have, and one key more */
static size_t
keys_of(const RaceParams *params)
{
	if (params->rehash != RACE_REHASH_MULTILINEAR)
		return 0;
	return 1 + 2 * (size_t) params->power;
}

static size_t
coefficients_of(const RaceParams *params)
{
	return (size_t) params->power * (params->dims + 1);
}

size_t
race_rows_size(const RaceParams *params)
{
	/* far below 2^63 for any rows, within the limits of dims and power */
	return sizeof(RaceRows) + ALIGNMENT + 8 * RACE_LANES * blocks_of(params) *
		(coefficients_of(params) + keys_of(params));
}

void
race_rows_init(RaceRows *rows, const RaceParams *params)
{
	uintptr_t	start = (uintptr_t) (rows + 1);

	memset(rows, 0, sizeof(RaceRows));
	rows->params = *params;
	rows->blocks = blocks_of(params);
	rows->coefficients =
		(double *) ((start + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
	rows->keys = (uint64_t *) (rows->coefficients +
							   RACE_LANES * rows->blocks * coefficients_of(params));
}

double *
race_rows_coefficient(const RaceRows *rows, uint32_t row, uint32_t j,
					  uint32_t element)
{
	size_t		vector = row / RACE_LANES * coefficients_of(&rows->params) +
		(size_t) j * (rows->params.dims + 1) + element;

	return rows->coefficients + vector * RACE_LANES + row % RACE_LANES;
}

uint64_t *
race_rows_key(const RaceRows *rows, uint32_t row, uint32_t i)
{
	size_t		vector = row / RACE_LANES * keys_of(&rows->params) + i;

	return rows->keys + vector * RACE_LANES + row % RACE_LANES;
}

/* 2^-52 (bits + 1/2): in (0, 1), symmetric, never rounded */
static double
open_uniform(uint64_t bits)
{
	return ((double) (bits >> 12) + 0.5) * 0x1p-52;
}

/* 2^-53 bits: in [0, 1) */
static double
half_open_uniform(uint64_t bits)
{
	return (double) (bits >> 11) * 0x1p-53;
}

/* 64 random bits for an element of function j, in each row of a block */
static void
element_bits(const RaceParams *params, size_t block, uint32_t j,
			 uint32_t element, uint64_t *bits)
{
	uint32_t	first = block * RACE_LANES;
	uint64_t	rows[RACE_LANES];
	RaceSobol	sequence;
	int			i;

	if (params->sequence == RACE_SEQUENCE_SOBOL)
	{
		race_sobol_start(&sequence, params->seed,
						 j * (params->dims + 1) + element);
		race_sobol_lanes(&sequence, first, bits);
		return;
	}
	for (i = 0; i < RACE_LANES; i++)
		rows[i] = first + i;
	race_philox_lanes(params->seed, RACE_STREAM_FUNCTION, rows, j, element, bits);
}

static void
generate_keys(RaceRows *rows, uint32_t row)
{
	uint32_t	i;

	for (i = 0; i < keys_of(&rows->params); i++)
		*race_rows_key(rows, row, i) =
			race_philox_bits(rows->params.seed, RACE_STREAM_REHASH, row, 0, i);
}

void
race_rows_generate(RaceRows *rows, size_t block, uint32_t j)
{
	const RaceParams *params = &rows->params;
	uint32_t	first = block * RACE_LANES;
	double	   *offsets = race_rows_coefficient(rows, first, j, 0);
	double	   *projections = offsets + RACE_LANES;
	uint64_t	bits[RACE_LANES];
	uint32_t	element;
	size_t		i;

	element_bits(params, block, j, 0, bits);
	for (i = 0; i < RACE_LANES; i++)
		offsets[i] = half_open_uniform(bits[i]);
	for (element = 1; element <= params->dims; element++)
	{
		element_bits(params, block, j, element, bits);
		for (i = 0; i < RACE_LANES; i++)
			offsets[(size_t) element * RACE_LANES + i] =
				race_inverse_normal(open_uniform(bits[i]));
	}
	if (params->sequence == RACE_SEQUENCE_ORTHOGONAL)
		race_orthogonalize(projections, params->dims);
	for (i = 0; i < (size_t) params->dims * RACE_LANES; i++)
		projections[i] /= params->bandwidth;
	for (i = 0; j == 0 && i < RACE_LANES; i++)
		generate_keys(rows, first + i);
}

void
race_rows_generate_all(RaceRows *rows)
{
	size_t		block;
	uint32_t	j;

	for (block = 0; block < rows->blocks; block++)
		for (j = 0; j < rows->params.power; j++)
			race_rows_generate(rows, block, j);
}
