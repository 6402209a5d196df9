/*
 * kernels.h
 *		Parameters of all kernels, made of short recipes, and records for them.
 */
#ifndef RACE_TEST_KERNELS_H
#define RACE_TEST_KERNELS_H

#include "helpers.h"

#include "hash/column.h"
#include "hash/fields.h"
#include "hash/kernel.h"
#include "hash/params.h"

#define IND RACE_SEQUENCE_INDEPENDENT
#define GROUPED RACE_SEQUENCE_GROUPED
#define SOBOL RACE_SEQUENCE_SOBOL
#define STRUCTURED RACE_SEQUENCE_STRUCTURED
#define FOLD RACE_REHASH_FOLD
#define MULTI RACE_REHASH_MULTILINEAR
#define L2 RACE_KERNEL_L2
#define L1 RACE_KERNEL_L1
#define ANGULAR RACE_KERNEL_ANGULAR
#define JACCARD RACE_KERNEL_JACCARD
#define MATCH RACE_KERNEL_MATCH
#define WIDTHS RACE_ARRAY_BANDWIDTHS
#define BOUNDS (RACE_ARRAY_LOWER | RACE_ARRAY_UPPER)
#define TRANSFORM (RACE_ARRAY_MATRIX | RACE_ARRAY_OFFSET)

typedef struct PartRecipe
{
	uint8_t kernel; /* 0 after the last part */
	uint8_t sequence;
	uint32_t dims;
	uint32_t power;
	uint16_t arrays;
	uint32_t outputs;
} PartRecipe;

/* A part without arrays */
#define PART(kernel, sequence, dims, power) \
	{ \
		kernel, sequence, dims, power, 0, 0 \
	}

typedef struct Recipe
{
	uint8_t rehash;
	uint32_t range;
	PartRecipe parts[RACE_MAX_PARTS];
} Recipe;

/* Number i of an array: made up, and such as it must be */
static inline double
array_number(int array, uint64_t i)
{
	double unit = signed_unit(mix(array * 1000003 + i));

	switch (array)
	{
		case RACE_ARRAY_BANDWIDTHS:
			return 1 + unit / 2;
		case RACE_ARRAY_LOWER:
			return i % 3 == 0 ? -INFINITY : -5 + unit;
		case RACE_ARRAY_UPPER:
			return i % 4 == 0 ? INFINITY : 5 + unit;
		case RACE_ARRAY_MATRIX:
			return unit;
		default:
			return 3 * unit;
	}
}

/* One part at its place, with its arrays; returns its size */
static inline size_t
write_part(const PartRecipe *recipe, void *place)
{
	RaceParams *part = place;
	double *numbers = (double *) (part + 1);

	memset(part, 0, sizeof(RaceParams));
	part->kernel = recipe->kernel;
	part->sequence = recipe->sequence;
	part->dims = recipe->dims;
	part->bandwidth = recipe->kernel == L2 || recipe->kernel == L1 ? 2.5 : 1;
	part->power = recipe->power;
	part->arrays = recipe->arrays;
	part->outputs = recipe->outputs;
	for (int array = 1; array <= RACE_ARRAY_OFFSET; array *= 2)
	{
		uint64_t n = (recipe->arrays & array) == 0 ? 0 :
			array == RACE_ARRAY_MATRIX             ? recipe->outputs * recipe->dims :
													 recipe->dims;

		for (uint64_t i = 0; i < n; i++)
			*numbers++ = array_number(array, i);
	}
	return (char *) numbers - (char *) part;
}

/* All parts; the caller frees them */
static inline RaceParams *
make_params(const Recipe *recipe, uint32_t rows, int64_t seed)
{
	RaceParams *params = malloc(sizeof(RaceParams) + RACE_MAX_MORE);
	size_t size = 0;

	if (params == NULL)
		abort();
	for (int p = 0; p < RACE_MAX_PARTS && recipe->parts[p].kernel != 0; p++)
		size += write_part(&recipe->parts[p], (char *) params + size);
	params->more = (uint32_t) (size - sizeof(RaceParams));
	params->rehash = recipe->rehash;
	params->range = recipe->range;
	params->rows = rows;
	params->seed = seed;
	return params;
}

/* What they are, in a few words; kept until the next call */
static inline const char *
describe(const RaceParams *params)
{
	static char text[500];
	size_t size = 0;

	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
	{
		size += snprintf(text + size, sizeof(text) - size, "%s%s(%u)^%u %s",
						 part == params ? "" : " * ", race_kernel_name(part->kernel), part->dims,
						 part->power, race_choice_name(RACE_KEY_SEQUENCE, part->sequence));
		if (part->arrays != 0)
			size += snprintf(text + size, sizeof(text) - size, " arrays %u", part->arrays);
	}
	snprintf(text + size, sizeof(text) - size, ", %s, range %u",
			 race_choice_name(RACE_KEY_REHASH, params->rehash), params->range);
	return text;
}

/* ------------------------------------------------------------------ records */

/* A column of up to n records of a part, in memory that free_column() frees */
static inline RaceColumn
allocate_column(const RaceParams *part, size_t n, size_t elements)
{
	RaceColumn column = {.width = part->dims};

	if (race_record_kind(part) == RACE_RECORD_VECTOR)
		column.numbers = calloc(n * part->dims, sizeof(double));
	else
		column.elements = calloc(elements + 1, sizeof(uint64_t));
	if (race_record_kind(part) == RACE_RECORD_SET)
		column.starts = calloc(n + 1, sizeof(size_t));
	if (column.numbers == NULL && column.elements == NULL)
		abort();
	return column;
}

static inline void
free_column(RaceColumn *column)
{
	free((void *) column->numbers);
	free((void *) column->elements);
	free((void *) column->starts);
}

/* Elements in order, for qsort() */
static inline int
compare_elements(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *) a;
	uint64_t y = *(const uint64_t *) b;

	return (x > y) - (x < y);
}

/*
 * Vectors near each other and far, some beyond the largest code: exponents from -20
 * to 52, with one in 64 beyond, and of these every other where products are infinite;
 * and one in 32 zero
 */
static inline void
random_vector(uint64_t number, uint32_t dims, double *x)
{
	uint64_t bits = mix(number * 16);
	int exponent = bits % 128 == 0 ? 1023 : bits % 64 == 0 ? 900 : (int) (bits >> 6) % 73 - 20;

	for (uint32_t i = 0; i < dims; i++)
		x[i] = bits % 32 == 1 ? 0 : ldexp(signed_unit(mix(number * 16 + 1 + i)), exponent);
}

#define MAX_SET 12

/* Records number, number + 1 ... of one part, such as may be met */
static inline RaceColumn
random_column(const RaceParams *part, uint64_t number, size_t n)
{
	size_t width = race_record_kind(part) == RACE_RECORD_SET ? MAX_SET : part->dims;
	RaceColumn column = allocate_column(part, n, n * width);
	double *numbers = (double *) column.numbers;
	uint64_t *elements = (uint64_t *) column.elements;
	size_t *starts = (size_t *) column.starts;

	for (size_t i = 0; i < n; i++)
	{
		uint64_t bits = mix((number + i) * 64 + 5);

		if (race_record_kind(part) == RACE_RECORD_SET)
		{
			width = bits % (MAX_SET + 1);
			starts[i + 1] = starts[i] + width;
		}
		if (race_record_kind(part) == RACE_RECORD_VECTOR)
			random_vector(number + i, part->dims, numbers + i * width);
		else
			for (uint32_t e = 0; e < width; e++)
				*elements++ = bits % 5 == 0 ? e : mix(bits + e);
	}
	return column;
}

static inline void
random_records(const RaceParams *params, uint64_t number, size_t n, RaceColumn *columns)
{
	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
		*columns++ = random_column(part, number, n);
}

static inline void
free_records(const RaceParams *params, RaceColumn *columns)
{
	int parts = race_params_parts(params);

	while (parts-- > 0)
		free_column(columns++);
}

/*
 * Where an element stands in a random order: Philox2x32 (Salmon et al. 2011) of a few
 * rounds, with keys that come in at the beginning alone
 */
static inline uint64_t
plain_place(uint64_t element, uint64_t key0, uint64_t key1)
{
	uint32_t low = (uint32_t) (element ^ key0);
	uint32_t high = (uint32_t) (element >> 32 ^ key1);

	for (uint32_t round = 1; round <= 4; round++)
	{
		uint64_t product = UINT64_C(0xD256D193) * high;

		high = (uint32_t) (product >> 32) ^ low ^ UINT32_C(0x9E3779B9) * round;
		low = (uint32_t) product;
	}
	return (uint64_t) high << 32 | low;
}

#endif /* RACE_TEST_KERNELS_H */
