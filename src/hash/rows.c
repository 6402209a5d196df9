/*
 * rows.c
 *		Row functions: drawn from the seed, and from a record to its buckets by the best instruction set
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
#include <stddef.h>
#include <string.h>

#include "hash/hash.h"
#include "hash/loss_rows.h"
#include "hash/lsh.h"
#include "hash/sequences.h"
#include "hash/table.h"

/* Coefficients are aligned to cache lines and to the widest vectors. */
#define ALIGNMENT	64

/* --------------------------------------------------------- Sobol' points */

/*
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

/* ------------------------------------------- projections at right angles */

/*
 * Signs and Hadamard transforms.  The transforms add and subtract in an order that their definition fixes, so the bits are
 * the same everywhere.
 */

uint32_t
race_structured_length(const RaceParams *part)
{
	uint32_t	length = RACE_STRUCTURED_LEAST;

	if (!race_is_structured(part))
		return 0;
	/* bound: twice as long each time, up to dims */
	while (length < part->dims)
		length *= 2;
	return length;
}

/* Return the number of words of signs of `rows` rows. */
static size_t
count_structured_words(const RaceParams *part, uint32_t rows)
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

/* ------------------------------------------------------------------ places */

static size_t
blocks_of(const RaceParams *params)
{
	return ((size_t) params->rows + RACE_LANES - 1) / RACE_LANES;
}

/*
 * How many keys a row needs: two for each function, as a code has two words of 32
 * bits, and one more
 */
static size_t
keys_of(const RaceParams *params)
{
	if (params->rehash != RACE_REHASH_MULTILINEAR)
		return 0;
	return 1 + 2 * (size_t) race_params_functions(params);
}

/* How many words a function of a part takes in a row */
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
larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* What all functions need */
typedef struct Space
{
	size_t		words;			/* in a row */
	size_t		signs;			/* words in all */
	size_t		workspace;		/* vectors of RACE_LANES */
} Space;

static Space
space_of(const RaceParams *params)
{
	Space		space = {0, 0, 0};

	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
	{
		space.words += part->power * words_of_function(part);
		space.signs += count_structured_words(part, params->rows);
		space.workspace = larger(space.workspace, part->outputs);
		space.workspace = larger(space.workspace,
								 2 * race_structured_length(part) / RACE_LANES);
	}
	return space;
}

size_t
race_rows_size(const RaceParams *params)
{
	/* far below 2^63 for any rows, within the limits of dims, power and parts */
	Space		space = space_of(params);

	return sizeof(RaceRows) + race_params_size(params) + ALIGNMENT + 8 * space.signs +
		8 * RACE_LANES * (blocks_of(params) * (space.words + keys_of(params)) +
						  space.workspace);
}

void
race_rows_init(RaceRows *rows, const RaceParams *params)
{
	size_t		size = race_params_size(params);
	uintptr_t	start = (uintptr_t) (rows + 1) + size;
	Space		space = space_of(params);
	RaceRowsPart next = {0};

	memset(rows, 0, sizeof(RaceRows));
	rows->params = memcpy(rows + 1, params, size);
	rows->blocks = blocks_of(params);
	/* number the functions of each part, and find their place in memory */
	for (const RaceParams *part = rows->params; part != NULL; part = race_params_next(part, rows->params))
	{
		next.params = part;
		next.words = words_of_function(part);
		rows->part[rows->parts++] = next;
		next.signs += count_structured_words(part, params->rows);
		next.function += part->power;
		next.position += part->power * next.words;
		if (part->sequence == RACE_SEQUENCE_SOBOL)
			next.dimension += race_sobol_dimensions(part);
		rows->together = larger(rows->together, race_structured_length(part));
	}
	rows->block_words = next.position;
	rows->workspace =
		(double *) ((start + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
	rows->coefficients = rows->workspace + RACE_LANES * space.workspace;
	rows->keys = (uint64_t *) (rows->coefficients +
							   RACE_LANES * rows->blocks * space.words);
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

/* The part that has function j */
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
	size_t		vector = row / RACE_LANES * rows->block_words +
		part->position + (j - part->function) * part->words + i;

	return rows->coefficients + vector * RACE_LANES + row % RACE_LANES;
}

uint64_t *
race_rows_key(const RaceRows *rows, uint32_t row, uint32_t i)
{
	size_t		vector = row / RACE_LANES * keys_of(rows->params) + i;

	return rows->keys + vector * RACE_LANES + row % RACE_LANES;
}

/* -------------------------------------------------------------- randomness */

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
element_bits(const RaceRows *rows, size_t block, uint32_t j, uint32_t element,
			 uint64_t *bits)
{
	const RaceRowsPart *part = part_of(rows, j);
	const RaceParams *params = part->params;
	uint32_t	first = block * RACE_LANES;
	uint64_t	row[RACE_LANES];
	RaceSobol	sequence;

	if (params->sequence == RACE_SEQUENCE_SOBOL)
	{
		uint32_t	a_function = race_sobol_dimensions(params) / params->power;

		/* a sign has no offset, so its numbers begin one place earlier */
		race_sobol_start(&sequence, rows->params->seed, part->dimension +
						 (j - part->function) * a_function + element -
						 race_kernel_type(params->kernel)->signs);
		race_sobol_lanes(&sequence, first, bits);
		return;
	}
	for (int i = 0; i < RACE_LANES; i++)
		row[i] = first + i;
	race_philox_lanes(rows->params->seed, RACE_STREAM_FUNCTION, row, j, element,
					  bits);
}

/* ------------------------------------------------------------- projections */

/* Replace a by M'a, lane by lane: projections[dims]. */
static void
transform(const RaceParams *params, const double *a, double *projections)
{
	const double *matrix = race_array(params, RACE_ARRAY_MATRIX);

	memset(projections, 0, params->dims * RACE_LANES * sizeof(double));
	for (uint32_t output = 0; output < params->outputs; output++, a += RACE_LANES)
		for (uint32_t column = 0; column < params->dims; column++)
		{
			double	   *sum = projections + (size_t) column * RACE_LANES;
			double		x = *matrix++;

			for (int i = 0; i < RACE_LANES; i++)
				sum[i] += x * a[i];
		}
}

static void
generate_projection(RaceRows *rows, const RaceRowsPart *part, size_t block,
					uint32_t j)
{
	const RaceParams *params = part->params;
	double	   *offsets = race_rows_coefficient(rows, block * RACE_LANES, j, 0);
	double	   *projections = offsets + RACE_LANES;
	double	   *a = params->outputs > 0 ? rows->workspace : projections;
	uint32_t	m = params->outputs > 0 ? params->outputs : race_hashed_width(params);
	const RaceKernelType *type = race_kernel_type(params->kernel);
	const double *bandwidths = race_array(params, RACE_ARRAY_BANDWIDTHS);
	const double *origin = race_array(params, RACE_ARRAY_OFFSET);
	uint64_t	bits[RACE_LANES];

	memset(offsets, 0, RACE_LANES * sizeof(double));
	if (!type->signs)
	{
		element_bits(rows, block, j, 0, bits);
		for (int i = 0; i < RACE_LANES; i++)
			offsets[i] = half_open_uniform(bits[i]);
	}
	for (uint32_t element = 0; element < m; element++)
	{
		double		w = params->bandwidth * (bandwidths != NULL ? bandwidths[element] : 1);

		element_bits(rows, block, j, element + 1, bits);
		for (int i = 0; i < RACE_LANES; i++)
			a[(size_t) element * RACE_LANES + i] = type->quantile(open_uniform(bits[i])) / w;
	}
	if (params->outputs > 0)
		transform(params, a, projections);
	/* a.(x - o) = a.x - a.o */
	for (uint32_t element = 0; origin != NULL && element < params->dims; element++)
		for (int i = 0; i < RACE_LANES; i++)
			offsets[i] -= projections[(size_t) element * RACE_LANES + i] * origin[element];
}

uint64_t *
race_rows_signs(const RaceRows *rows, uint32_t j, uint32_t row)
{
	const RaceRowsPart *part = part_of(rows, j);
	uint32_t	length = race_structured_length(part->params);
	size_t		groups = ((size_t) rows->params->rows + length - 1) / length;

	return rows->signs + part->signs +
		((j - part->function) * groups + row / length) * race_structured_words(part->params);
}

/* The first block of a group also draws the signs of all. */
static void
generate_structured(RaceRows *rows, const RaceRowsPart *part, size_t block, uint32_t j)
{
	const RaceParams *params = part->params;
	uint32_t	first = block * RACE_LANES;
	double	   *offsets = race_rows_coefficient(rows, first, j, 0);
	uint64_t	bits[RACE_LANES];

	if (first % race_structured_length(params) == 0)
	{
		uint64_t   *signs = race_rows_signs(rows, j, first);

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
	uint32_t	first = block * RACE_LANES;
	uint64_t	bits[RACE_LANES];

	for (uint32_t i = 0; j == 0 && i < keys_of(rows->params); i++)
	{
		uint64_t	row[RACE_LANES];

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
		uint64_t   *words = (uint64_t *) race_rows_coefficient(rows, first, j, 0);

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

/*
 * The best vector code that the machine has.
 */

static const RaceHashPath *const paths[] = {
	&race_hash_portable,
#ifdef RACE_HAVE_X86
	&race_hash_avx2,
	&race_hash_avx512,
#endif
};

#define PATHS	(sizeof(paths) / sizeof(paths[0]))

static const RaceHashPath *chosen = NULL;

/*
 * The path with this name; for "auto" the best one. NULL if the machine does not
 * have it.
 */
static const RaceHashPath *
find_path(const char *name)
{
	bool		any = strcmp(name, "auto") == 0;

	for (size_t i = PATHS; i-- > 0;)
		if ((any || strcmp(name, paths[i]->name) == 0) &&
			paths[i]->available())
			return paths[i];
	return NULL;
}

const char *
race_hash_path_name(int i)
{
	return (size_t) i < PATHS ? paths[i]->name : NULL;
}

bool
race_hash_has(const char *name)
{
	return find_path(name) != NULL;
}

void
race_hash_force(const char *name)
{
	chosen = find_path(name);
}

const RaceHashPath *
race_hash_path(void)
{
	if (chosen == NULL)
		chosen = find_path("auto");
	return chosen;
}

void
race_philox_lanes(int64_t seed, RaceStream stream, const uint64_t *rows,
				  uint32_t function, uint32_t element, uint64_t *bits)
{
	race_hash_path()->philox((uint64_t) seed, stream, rows, function, element, bits);
}

/*
 * Elements of sets and categories, as 64 bits that are hashed further.
 *
 * Philox serves as the keyed function: the seed is the key, and a text is chained
 * through it in blocks of 8 bytes.  An integer is one block of another stream, so it
 * never equals a text.
 */

/* One step of a chain: from a state and a block of 8 bytes to the next state */
static void
chain(int64_t seed, uint64_t state[2], uint64_t block)
{
	uint32_t	counter[4];

	block ^= state[0];
	counter[0] = (uint32_t) block;
	counter[1] = (uint32_t) (block >> 32);
	counter[2] = (uint32_t) state[1];
	counter[3] = (uint32_t) (state[1] >> 32);
	race_philox((uint64_t) seed, counter, state);
}

uint64_t
race_element_of_integer(int64_t seed, int64_t value)
{
	uint64_t	state[2] = {0, RACE_STREAM_INTEGER};

	chain(seed, state, (uint64_t) value);
	return state[0];
}

uint64_t
race_element_of_null(int64_t seed, bool equals_nothing)
{
	uint64_t	state[2] = {0, RACE_STREAM_NULL};

	chain(seed, state, equals_nothing);
	return state[0];
}

/* Hash the length first, so that no text is the beginning of another. */
uint64_t
race_element_of_bytes(int64_t seed, const void *bytes, size_t size)
{
	const unsigned char *next = bytes;
	const unsigned char *end = next + size;
	uint64_t	state[2] = {0, RACE_STREAM_BYTES};
	size_t		blocks = 0;

	chain(seed, state, size);
	/* bound: the bytes */
	while (next < end)
	{
		uint64_t	block = 0;

		for (int i = 0; i < 8 && next < end; i++)
			block |= (uint64_t) *next++ << 8 * i;
		chain(seed, state, block);
		if (++blocks % (RACE_STEP / 8) == 0)
			race_look_for_interrupts();
	}
	return state[0];
}

/*
 * From records to buckets.
 *
 * The codes of a row's functions go to one of `range` buckets, by one of two ways.
 *
 * fold: code mod range.  Neighboring codes stay apart, so nothing needs
 * correction as long as vectors within reach of the kernel span fewer than
 * `range` codes: from range 16 on the bias is below 7.5e-4 of k for distances up
 * to range / 4 bandwidths (range 8: 9e-4, 4: 2e-3), and grows beyond, where k
 * itself is near 0.  Signs are a bit each, and have a bucket for all their values.
 *
 * multilinear: the words w1 ... wm of the codes of all `power` functions go to
 * (k0 + sum of ki wi mod 2^64) / 2^32, which is strongly universal (Lemire &
 * Kaser 2014), and from there to bucket floor(that * range / 2^32).  Two
 * different codes meet with probability 1 / range: exactly for a power of
 * two, else within (range / 2^33)^2 of it, relatively.  Estimates correct
 * for that.
 */

/* What the vector code needs to know about a part, in a block of rows */
static RaceHashBlock
block_of(const RaceRows *rows, const RaceRowsPart *part, size_t block,
		 bool interruptible)
{
	const RaceParams *params = part->params;
	uint32_t	first = block * RACE_LANES;
	uint32_t	range = rows->params->range;
	bool		fold = rows->params->rehash == RACE_REHASH_FOLD;
	bool		signs = race_kernel_type(params->kernel)->signs;
	RaceHashBlock result;

	result.mode = !fold ? signs ? RACE_HASH_SUM_SIGNS : RACE_HASH_SUM_FLOORS :
		signs ? RACE_HASH_SIGNS :
		(range & (range - 1)) == 0 ? RACE_HASH_MASK : RACE_HASH_FOLD;
	result.width = race_record_kind(params) == RACE_RECORD_VECTOR ?
		race_hashed_width(params) : params->dims;
	result.power = params->power;
	result.range = range;
	result.coefficients = race_rows_coefficient(rows, first, part->function, 0);
	result.keys = fold ? NULL :
		race_rows_key(rows, first, 1 + 2 * part->function);
	result.interruptible = interruptible;
	result.sequence = params->sequence;
	return result;
}

/* Add the codes of a part, multiplied by their keys, to the sums of n records. */
static void
sum_part(const RaceRows *rows, const RaceRowsPart *part, size_t block,
		 const RaceColumn *column, size_t n, bool interruptible, uint64_t *sums)
{
	const RaceHashPath *path = race_hash_path();
	RaceHashBlock b = block_of(rows, part, block, interruptible);

	switch (race_record_kind(part->params))
	{
		case RACE_RECORD_VECTOR:
			path->vectors(&b, column, n, sums);
			break;
		case RACE_RECORD_SET:
			path->sum_sets(&b, column, n, sums);
			break;
		case RACE_RECORD_ROW:
			path->sum_categories(&b, column, n, sums);
			break;
	}
}

RaceColumn
race_column_from(const RaceColumn *column, size_t i)
{
	RaceColumn	result = *column;

	if (column->numbers != NULL)
		result.numbers += i * column->width;
	else if (column->starts != NULL)
		result.starts += i;
	else
		result.elements += i * column->width;
	return result;
}

/*
 * Project a record by all functions of a structured part, and hash it in so many blocks.
 * `out` is what RaceHashPath.projection computes, of `size` bytes a row.
 */
static void
hash_structured(const RaceRows *rows, const RaceRowsPart *part, size_t first, size_t blocks,
				const double *x, bool interruptible, size_t size, void *out)
{
	uint32_t	length = race_structured_length(part->params);
	double	   *z = rows->workspace;

	for (uint32_t j = part->function; j < part->function + part->params->power; j++)
		for (size_t block = first; block < first + blocks; block++)
		{
			size_t		row = block * RACE_LANES;
			RaceHashBlock b = block_of(rows, part, block, interruptible);

			b.coefficients = race_rows_coefficient(rows, row, j, 0);
			if (b.keys != NULL)
				b.keys = race_rows_key(rows, row, 1 + 2 * j);
			if (block == first || row % length == 0)
			{
				if (interruptible)
					race_look_for_interrupts();
				race_structured_project(part->params, race_rows_signs(rows, j, row), x, z);
			}
			race_hash_path()->projection(&b, z + row % length,
										 (char *) out + (block - first) * RACE_LANES * size);
		}
}

/*
 * Hash one record in blocks that share transforms: none of them crosses a multiple of
 * rows->together.
 */
static void
hash_together(const RaceRows *rows, size_t first, size_t blocks, const RaceColumn *columns,
			  bool interruptible, uint32_t *buckets)
{
	bool		fold = rows->params->rehash == RACE_REHASH_FOLD;
	uint64_t   *sums = (uint64_t *) (rows->workspace + rows->together);
	size_t		size = fold && !race_kernel_type(rows->params->kernel)->signs ?
		sizeof(uint32_t) : sizeof(uint64_t);

	if (fold)
		memset(sums, 0, blocks * RACE_LANES * sizeof(uint64_t));
	for (size_t i = 0; i < blocks && !fold; i++)
		memcpy(sums + i * RACE_LANES, race_rows_key(rows, (first + i) * RACE_LANES, 0),
			   RACE_LANES * sizeof(uint64_t));
	for (int p = 0; p < rows->parts; p++)
		if (race_is_structured(rows->part[p].params))
			hash_structured(rows, &rows->part[p], first, blocks, columns[p].numbers, interruptible,
							size, size == sizeof(uint32_t) ? (void *) buckets : (void *) sums);
		else
			for (size_t i = 0; i < blocks; i++)
				sum_part(rows, &rows->part[p], first + i, &columns[p], 1, interruptible,
						 sums + i * RACE_LANES);
	if (!fold)
		race_hash_path()->reduce(rows->params->range, sums, blocks, buckets);
	for (size_t i = 0; fold && size == sizeof(uint64_t) && i < blocks * RACE_LANES; i++)
		buckets[i] = (uint32_t) sums[i];
}

/*
 * Hash vectors that have a bucket for all their codes.  Those of a surrogate loss are lifted
 * first, a few at a time; its queries come lifted.
 */
static void
hash_by_fold(const RaceRows *rows, size_t block, const RaceColumn *column, size_t n,
			 bool interruptible, uint32_t *buckets)
{
	const RaceParams *params = rows->params;
	RaceHashBlock b = block_of(rows, &rows->part[0], block, interruptible);
	double		lifted[RACE_LIFTED_TOGETHER];
	size_t		together;

	if (!race_is_surrogate(params) || column->width == b.width)
	{
		race_hash_path()->vectors(&b, column, n, buckets);
		return;
	}
	together = RACE_LIFTED_TOGETHER / b.width;
	for (size_t i = 0; i < n; i += together)
	{
		RaceColumn	some = {lifted, NULL, NULL, b.width};
		size_t		m = n - i < together ? n - i : together;

		for (size_t k = 0; k < m; k++)
			race_surrogate_lift(params, column->numbers + (i + k) * params->dims,
								lifted + k * b.width);
		race_hash_path()->vectors(&b, &some, m, buckets + i * RACE_LANES);
	}
}

/* A sum takes twice as much space as a bucket. */
#define SUMS_TOGETHER	(RACE_RECORDS_TOGETHER / 2)

/*
 * Hash n records with a block of rows: by folding, or by the sums of the codes of all parts, each
 * multiplied by its key.
 */
static void
hash(const RaceRows *rows, size_t block, const RaceColumn *columns, size_t n,
	 bool interruptible, uint32_t *buckets)
{
	uint64_t	sums[SUMS_TOGETHER * RACE_LANES];

	if (rows->params->rehash == RACE_REHASH_FOLD)
	{
		hash_by_fold(rows, block, columns, n, interruptible, buckets);
		return;
	}
	for (size_t from = 0; from < n; from += SUMS_TOGETHER)
	{
		size_t		m = n - from < SUMS_TOGETHER ? n - from : SUMS_TOGETHER;

		for (size_t i = 0; i < m; i++)
			memcpy(sums + i * RACE_LANES, race_rows_key(rows, block * RACE_LANES, 0),
				   RACE_LANES * sizeof(uint64_t));
		for (int p = 0; p < rows->parts; p++)
		{
			RaceColumn	some = race_column_from(&columns[p], from);

			sum_part(rows, &rows->part[p], block, &some, m, interruptible, sums);
		}
		race_hash_path()->reduce(rows->params->range, sums, m, buckets + from * RACE_LANES);
	}
}

void
race_rows_hash(const RaceRows *rows, size_t block, const RaceColumn *columns,
			   size_t n, uint32_t *buckets)
{
	RaceColumn	one[RACE_MAX_PARTS];

	if (rows->together == 0)
	{
		hash(rows, block, columns, n, false, buckets);
		return;
	}
	for (size_t i = 0; i < n; i++)
	{
		for (int p = 0; p < rows->parts; p++)
			one[p] = race_column_from(&columns[p], i);
		hash_together(rows, block, 1, one, false, buckets + i * RACE_LANES);
	}
}

void
race_rows_hash_one(const RaceRows *rows, uint32_t n, const RaceColumn *columns,
				   uint32_t *buckets)
{
	size_t		all = ((size_t) n + RACE_LANES - 1) / RACE_LANES;
	size_t		blocks = rows->together == 0 ? 1 : rows->together / RACE_LANES;

	for (size_t block = 0; block < all; block += blocks)
	{
		race_look_for_interrupts();
		if (rows->together == 0)
			hash(rows, block, columns, 1, true, buckets + block * RACE_LANES);
		else
			hash_together(rows, block, blocks < all - block ? blocks : all - block, columns,
						  true, buckets + block * RACE_LANES);
	}
}
