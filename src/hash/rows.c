/*
 * rows.c
 *		Row functions: their place in memory, and drawing them from the seed
 *
 * l2, l1		floor(a.x / w + b), a normal or Cauchy, b uniform in [0, 1)
 * angular		is a.x at least 0?  a normal; surrogate losses too, of lifted vectors
 * jaccard		the least element of the set in a random order
 * match		the category at a random place
 *
 * A transform goes into a and b, so that it costs nothing later:
 * a.(M (x - o)) = (M'a).x - (M'a).o.  (So where M (x - o) is 0, rounding decides
 * about its sign.)  Of structured projections, only signs, offsets and lengths are
 * drawn here.
 */
#include <math.h>
#include <string.h>

#include "privacy/interrupt.h"
#include "hash/column.h"
#include "hash/kernel.h"
#include "hash/loss_rows.h"
#include "hash/params.h"
#include "hash/philox.h"
#include "hash/quantiles.h"
#include "hash/rows.h"
#include "hash/sobol.h"
#include "hash/structured.h"

/* Coefficients are aligned to cache lines and to the widest vectors. */
#define ALIGNMENT 64

/* ---------------------------------------------------------------- places */

static size_t
blocks_of(const RaceParams *params)
{
	return ((size_t) params->rows + RACE_LANES - 1) / RACE_LANES;
}

/*
 * Return how many keys a row needs: two for each function, for both words of a code, and one more.
 */
static size_t
keys_of(const RaceParams *params)
{
	if (params->rehash != RACE_REHASH_MULTILINEAR)
		return 0;
	return 1 + 2 * (size_t) race_params_functions(params);
}

/* Return how many words a function of a part takes in a row. */
static size_t
words_of_function(const RaceParams *part)
{
	switch (race_record_kind(part))
	{
		case RACE_RECORD_VECTOR:
			if (race_is_structured(part))
				return race_kernel_type(part->kernel)->signs ? 0 : 2;
			return (size_t) race_hashed_width(part) + 1;
		case RACE_RECORD_SET:
			return 2;
		default:
			return 1;
	}
}

static size_t
larger_size(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* What all functions need */
typedef struct Space
{
	size_t words;     /* words in a row */
	size_t signs;     /* words in all */
	size_t workspace; /* vectors of RACE_LANES */
} Space;

static Space
space_of(const RaceParams *params)
{
	Space space = {0, 0, 0};

	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
	{
		space.words += part->power * words_of_function(part);
		space.signs += race_structured_all_words(part, params->rows);
		space.workspace = larger_size(space.workspace, part->outputs);
		space.workspace =
			larger_size(space.workspace, 2 * race_structured_length(part) / RACE_LANES);
	}
	return space;
}

size_t
race_rows_size(const RaceParams *params)
{
	/* far below 2^63 for any rows, within the limits of dims, power and parts */
	Space space = space_of(params);

	return sizeof(RaceRows) + race_params_size(params) + ALIGNMENT + 8 * space.signs +
		8 * RACE_LANES * (blocks_of(params) * (space.words + keys_of(params)) + space.workspace);
}

void
race_rows_init(RaceRows *rows, const RaceParams *params)
{
	size_t size = race_params_size(params);
	uintptr_t start = (uintptr_t) (rows + 1) + size;
	Space space = space_of(params);
	RaceRowsPart next = {0};

	memset(rows, 0, sizeof(RaceRows));
	rows->params = memcpy(rows + 1, params, size);
	rows->blocks = blocks_of(params);
	/* number the functions of each part, and find their place in memory */
	for (const RaceParams *part = rows->params; part != NULL;
		 part = race_params_next(part, rows->params))
	{
		next.params = part;
		next.words = words_of_function(part);
		rows->part[rows->parts++] = next;
		next.signs += race_structured_all_words(part, params->rows);
		next.function += part->power;
		next.position += part->power * next.words;
		if (part->sequence == RACE_SEQUENCE_SOBOL)
			next.dimension += race_sobol_dimensions(part);
		rows->together = larger_size(rows->together, race_structured_length(part));
	}
	rows->block_words = next.position;
	rows->workspace = (double *) ((start + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
	rows->coefficients = rows->workspace + RACE_LANES * space.workspace;
	rows->keys = (uint64_t *) (rows->coefficients + RACE_LANES * rows->blocks * space.words);
	rows->signs = rows->keys + RACE_LANES * rows->blocks * keys_of(params);
}

bool
race_rows_together(const RaceParams *params)
{
	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
		if (race_is_structured(part))
			return true;
	return false;
}

/* Return the part that has function j. */
static const RaceRowsPart *
part_of(const RaceRows *rows, uint32_t j)
{
	const RaceRowsPart *part = &rows->part[rows->parts - 1];

	/* bound: the parts, of which the first has function 0 */
	while (part->function > j)
		part--;
	return part;
}

double *
race_rows_coefficient(const RaceRows *rows, uint32_t row, uint32_t j, uint32_t i)
{
	const RaceRowsPart *part = part_of(rows, j);
	size_t vector = row / RACE_LANES * rows->block_words + part->position +
		(j - part->function) * part->words + i;

	return rows->coefficients + vector * RACE_LANES + row % RACE_LANES;
}

uint64_t *
race_rows_key(const RaceRows *rows, uint32_t row, uint32_t i)
{
	size_t vector = row / RACE_LANES * keys_of(rows->params) + i;

	return rows->keys + vector * RACE_LANES + row % RACE_LANES;
}

/* -------------------------------------------------------------- randomness */

/* Return 2^-52 (bits + 1/2): in (0, 1), symmetric, never rounded. */
static double
open_uniform(uint64_t bits)
{
	return ((double) (bits >> 12) + 0.5) * 0x1p-52;
}

/* Return 2^-53 bits: in [0, 1). */
static double
half_open_uniform(uint64_t bits)
{
	return (double) (bits >> 11) * 0x1p-53;
}

/* Set 64 random bits for an element of function j, in each row of a block. */
static void
element_bits(const RaceRows *rows, size_t block, uint32_t j, uint32_t element, uint64_t *bits)
{
	const RaceRowsPart *part = part_of(rows, j);
	const RaceParams *params = part->params;
	uint32_t first = block * RACE_LANES;
	uint64_t row[RACE_LANES];
	RaceSobol sequence;

	if (params->sequence == RACE_SEQUENCE_SOBOL)
	{
		uint32_t a_function = race_sobol_dimensions(params) / params->power;

		/* a sign has no offset, so its numbers begin one place earlier */
		race_sobol_start(&sequence, rows->params->seed,
						 part->dimension + (j - part->function) * a_function + element -
							 race_kernel_type(params->kernel)->signs);
		race_sobol_lanes(&sequence, first, bits);
		return;
	}
	for (int i = 0; i < RACE_LANES; i++)
		row[i] = first + i;
	race_philox_lanes(rows->params->seed, RACE_STREAM_FUNCTION, row, j, element, bits);
}

/* ------------------------------------------------------------- projections */

/* Replace a by M'a, lane by lane: projections[dims]. */
static void
multiply_by_matrix(const RaceParams *params, const double *a, double *projections)
{
	const double *matrix = race_array(params, RACE_ARRAY_MATRIX);

	memset(projections, 0, params->dims * RACE_LANES * sizeof(double));
	for (uint32_t output = 0; output < params->outputs; output++, a += RACE_LANES)
		for (uint32_t column = 0; column < params->dims; column++)
		{
			double *sum = projections + (size_t) column * RACE_LANES;
			double x = *matrix++;

			for (int i = 0; i < RACE_LANES; i++)
				sum[i] += x * a[i];
		}
}

static void
generate_projection(RaceRows *rows, const RaceRowsPart *part, size_t block, uint32_t j)
{
	const RaceParams *params = part->params;
	double *offsets = race_rows_coefficient(rows, block * RACE_LANES, j, 0);
	double *projections = offsets + RACE_LANES;
	double *a = params->outputs > 0 ? rows->workspace : projections;
	uint32_t m = params->outputs > 0 ? params->outputs : race_hashed_width(params);
	const RaceKernelType *type = race_kernel_type(params->kernel);
	const double *bandwidths = race_array(params, RACE_ARRAY_BANDWIDTHS);
	const double *origin = race_array(params, RACE_ARRAY_OFFSET);
	uint64_t bits[RACE_LANES];

	memset(offsets, 0, RACE_LANES * sizeof(double));
	if (!type->signs)
	{
		element_bits(rows, block, j, 0, bits);
		for (int i = 0; i < RACE_LANES; i++)
			offsets[i] = half_open_uniform(bits[i]);
	}
	for (uint32_t element = 0; element < m; element++)
	{
		double w = params->bandwidth * (bandwidths != NULL ? bandwidths[element] : 1);

		element_bits(rows, block, j, element + 1, bits);
		for (int i = 0; i < RACE_LANES; i++)
			a[(size_t) element * RACE_LANES + i] = type->quantile(open_uniform(bits[i])) / w;
	}
	if (params->outputs > 0)
		multiply_by_matrix(params, a, projections);
	/* a.(x - o) = a.x - a.o */
	for (uint32_t element = 0; origin != NULL && element < params->dims; element++)
		for (int i = 0; i < RACE_LANES; i++)
			offsets[i] -= projections[(size_t) element * RACE_LANES + i] * origin[element];
}

uint64_t *
race_rows_signs(const RaceRows *rows, uint32_t j, uint32_t row)
{
	const RaceRowsPart *part = part_of(rows, j);
	uint32_t length = race_structured_length(part->params);
	size_t groups = ((size_t) rows->params->rows + length - 1) / length;

	return rows->signs + part->signs +
		((j - part->function) * groups + row / length) * race_structured_words(part->params);
}

/* Generate a structured part.  The first block of a group also draws the signs of all. */
static void
generate_structured(RaceRows *rows, const RaceRowsPart *part, size_t block, uint32_t j)
{
	const RaceParams *params = part->params;
	uint32_t first = block * RACE_LANES;
	double *offsets = race_rows_coefficient(rows, first, j, 0);
	uint64_t bits[RACE_LANES];

	if (first % race_structured_length(params) == 0)
	{
		uint64_t *signs = race_rows_signs(rows, j, first);

		/* elements 0 and 1 of a row are its offset and its length */
		for (size_t k = 0; k < race_structured_words(params); k++)
			signs[k] = race_philox_bits(rows->params->seed, RACE_STREAM_FUNCTION, first, j, 2 + k);
	}
	if (race_kernel_type(params->kernel)->signs)
		return;
	element_bits(rows, block, j, 0, bits);
	for (int i = 0; i < RACE_LANES; i++)
		offsets[i] = half_open_uniform(bits[i]);
	element_bits(rows, block, j, 1, bits);
	for (int i = 0; i < RACE_LANES; i++)
		offsets[RACE_LANES + i] =
			race_structured_scale(params, race_inverse_normal(open_uniform(bits[i]))) /
			params->bandwidth;
}

void
race_rows_generate(RaceRows *rows, size_t block, uint32_t j)
{
	const RaceRowsPart *part = part_of(rows, j);
	const RaceParams *params = part->params;
	uint32_t first = block * RACE_LANES;
	uint64_t bits[RACE_LANES];

	for (uint32_t i = 0; j == 0 && i < keys_of(rows->params); i++)
	{
		uint64_t row[RACE_LANES];

		for (uint32_t lane = 0; lane < RACE_LANES; lane++)
			row[lane] = first + lane;
		race_philox_lanes(rows->params->seed, RACE_STREAM_REHASH, row, 0, i,
						  race_rows_key(rows, first, i));
	}
	if (race_is_structured(params))
		generate_structured(rows, part, block, j);
	else if (race_record_kind(params) == RACE_RECORD_VECTOR)
		generate_projection(rows, part, block, j);
	else
	{
		uint64_t *words = (uint64_t *) race_rows_coefficient(rows, first, j, 0);

		element_bits(rows, block, j, 0, bits);
		for (int lane = 0; lane < RACE_LANES; lane++)
			if (race_record_kind(params) == RACE_RECORD_SET)
			{
				/* the keys of a random order of elements */
				words[lane] = bits[lane] & 0xFFFFFFFF;
				words[RACE_LANES + lane] = bits[lane] >> 32;
			}
			else
				/* a place in the row, nearly uniform: 2^32 is no multiple of dims */
				words[lane] = (bits[lane] >> 32) * params->dims >> 32;
	}
}

void
race_rows_generate_all(RaceRows *rows)
{
	for (size_t block = 0; block < rows->blocks; block++)
		for (uint32_t j = 0; j < race_params_functions(rows->params); j++)
		{
			race_look_for_interrupts();
			race_rows_generate(rows, block, j);
		}
}
