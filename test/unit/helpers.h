/*
 * helpers.h
 *		What several unit tests share: random and reproducible data, goodness of
 *		fit, and row functions ready for use.
 */
#ifndef RACE_TEST_HELPERS_H
#define RACE_TEST_HELPERS_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "privacy/products.h"
#include "privacy/noise.h"
#include "privacy/sampler.h"
#include "hash/moment_sums.h"
#include "hash/params_check.h"
#include "hash/table.h"

/*
 * AddressSanitizer looks for errors of memory, and makes code several times slower.  With it
 * there are fewer cases of each kind, and controls that need all of them are left out.
 */
#ifdef __SANITIZE_ADDRESS__
#define SANITIZED true
#define CASES(n, fewer) (fewer)
#else
#define SANITIZED false
#define CASES(n, fewer) (n)
#endif

/* Real randomness, for a RaceRandom */
static inline void
fill_from_system(void *arg, uint8_t *bytes, size_t size)
{
	(void) arg;
	while (size > 0)
	{
		ssize_t got = getrandom(bytes, size, 0);

		if (got <= 0)
			abort();
		bytes += got;
		size -= (size_t) got;
	}
}

/* 64 well-mixed bits of a counter (splitmix64): random to us, always the same */
static inline uint64_t
mix(uint64_t counter)
{
	uint64_t x = counter * UINT64_C(0x9E3779B97F4A7C15);

	x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
	return x ^ x >> 31;
}

/* Bytes of a fixed pattern, for a RaceRandom */
static inline void
fill_from_pattern(void *arg, uint8_t *bytes, size_t size)
{
	uint64_t *position = arg;

	for (size_t i = 0; i < size; i++)
	{
		uint64_t n = (*position)++;

		bytes[i] = (uint8_t) (mix(n / 8 + 1) >> n % 8 * 8);
	}
}

/* A sampler of noise, by its scale or its variance */
typedef int64_t (*Sampler)(RaceRandom *random, uint64_t size);

/*
 * Are the first draws from a fixed tape these 12, and is this the digest of 10000, over several
 * buffers?
 */
static inline bool
draws_are(Sampler sampler, uint64_t size, const int64_t *draws, uint64_t expected)
{
	uint64_t position = 0;
	RaceRandom random = {.fill = fill_from_pattern, .arg = &position};
	uint64_t digest = 0;
	bool same = true;

	for (int i = 0; i < 10000; i++)
	{
		int64_t k = sampler(&random, size);

		same &= i >= 12 || k == draws[i];
		digest = mix(digest ^ (uint64_t) k);
	}
	return same && digest == expected;
}

/* Bytes that made a draw are secret: are those that were used wiped? */
static inline bool
wipes_bytes(Sampler sampler, uint64_t size)
{
	RaceRandom random = {.fill = fill_from_system};
	size_t most = 0;
	size_t unwiped = 0;

	/* the last draw may be one of the first from a new buffer */
	for (int i = 0; i < 100; i++)
	{
		size_t used;

		sampler(&random, size);
		used = sizeof(random.buffer) - random.left;
		most = used > most ? used : most;
		for (size_t j = 0; j < used; j++)
			unwiped += random.buffer[j] != 0;
	}
	return most > 100 && unwiped == 0;
}

/* Of these bits, a number in (-1, 1) */
static inline double
signed_unit(uint64_t bits)
{
	return (double) (int64_t) (bits << 10 | 512) * 0x1p-63;
}

/* Of these bits, a number with a logarithm that is uniform between two others */
static inline double
log_uniform(uint64_t bits, double from, double to)
{
	double x = from * pow(to / from, (signed_unit(bits) + 1) / 2);

	return fmin(fmax(x, from), to);
}

/* Pearson's statistic of counts */
static inline double
chi_square(const uint64_t *observed, const double *expected, int cells)
{
	double sum = 0;

	for (int i = 0; i < cells; i++)
	{
		double d = (double) observed[i] - expected[i];

		sum += d * d / expected[i];
	}
	return sum;
}

/*
 * The probability that a chi-square variable exceeds x, in the closed form for
 * an even number of degrees of freedom: exp(-x/2) sum of (x/2)^i / i!, i < df/2
 */
static inline double
chi_square_tail(double x, int df)
{
	double term = exp(-x / 2);
	double sum = 0;

	if (df < 2 || df % 2 != 0)
		abort();
	for (int i = 0; i < df / 2; i++)
	{
		sum += term;
		term *= x / 2 / (i + 1);
	}
	return sum;
}

/* The largest difference of two lists of numbers */
static inline double
most_apart(const double *a, const double *b, uint32_t n)
{
	double most = 0;

	for (uint32_t i = 0; i < n; i++)
		most = fmax(most, fabs(a[i] - b[i]));
	return most;
}

static inline RaceParams
l2_params(RaceSequence sequence, RaceRehash rehash, uint32_t dims, uint32_t power, uint32_t rows,
		  uint32_t range)
{
	RaceParams params;

	memset(&params, 0, sizeof(params));
	params.kernel = RACE_KERNEL_L2;
	params.sequence = sequence;
	params.rehash = rehash;
	params.dims = dims;
	params.bandwidth = 1;
	params.power = power;
	params.rows = rows;
	params.range = range;
	return params;
}

/* Parameters with bounds -1 and 2, so that 0.5 is the middle */
static inline RaceParams *
moments_params(uint32_t dims, double norm, RaceClip clip)
{
	RaceParams *params = calloc(1, sizeof(RaceParams) + 2 * dims * sizeof(double));
	double *bounds = (double *) (params + 1);

	params->kind = RACE_KIND_MOMENTS;
	params->sequence = RACE_SEQUENCE_INDEPENDENT;
	params->rehash = RACE_REHASH_FOLD;
	params->arrays = RACE_ARRAY_LOWER | RACE_ARRAY_UPPER;
	params->dims = dims;
	params->bandwidth = 1;
	params->power = 1;
	params->rows = 1;
	params->moments.norm = norm;
	params->moments.clip = (uint8_t) clip;
	params->range = (uint32_t) race_products_counters(dims + 1);
	params->more = (uint32_t) (2 * dims * sizeof(double));
	for (uint32_t i = 0; i < 2 * dims; i++)
		bounds[i] = i < dims ? -1 : 2;
	return params;
}

/* The same with a transform, a lower triangle of small and large numbers */
static inline RaceParams *
moments_with_transform(RaceParams *params)
{
	uint32_t dims = params->dims;
	double *matrix;

	params = realloc(params, sizeof(RaceParams) + ((size_t) dims + 2) * dims * sizeof(double));
	matrix = (double *) (params + 1) + 2 * dims;
	params->arrays |= RACE_ARRAY_MATRIX;
	params->outputs = dims;
	params->more += (uint32_t) ((size_t) dims * dims * sizeof(double));
	for (uint32_t i = 0; i < dims; i++)
		for (uint32_t j = 0; j < dims; j++)
			matrix[(size_t) i * dims + j] = j > i ? 0 :
				j == i                            ? pow(10, i % 5) :
													(int) ((i + j) % 3) - 1;
	return params;
}

/* Parameters of a grid between -1 and 2, with so many cells along each axis */
static inline RaceParams *
grid_of_cells(RaceKernel kernel, uint32_t dims, const double *cells, int levels)
{
	RaceParams *params = calloc(1, sizeof(RaceParams) + 3 * dims * sizeof(double));
	double *numbers = (double *) (params + 1);

	params->kernel = (uint8_t) kernel;
	params->kind = RACE_KIND_GRID;
	params->sequence = RACE_SEQUENCE_GRID;
	params->rehash = RACE_REHASH_FOLD;
	params->arrays = RACE_ARRAY_LOWER | RACE_ARRAY_UPPER | RACE_ARRAY_CELLS;
	params->dims = dims;
	params->bandwidth = 0.5;
	params->power = 1;
	params->rows = 1;
	params->more = (uint32_t) (3 * dims * sizeof(double));
	for (uint32_t i = 0; i < dims; i++)
	{
		numbers[i] = -1;
		numbers[dims + i] = 2;
		numbers[2 * dims + i] = cells[i];
	}
	params->range = (uint32_t) race_grid_nodes(cells, dims, levels);
	return params;
}

static inline RaceParams *
grid_params(RaceKernel kernel, uint32_t dims, double cells, int levels)
{
	double of_axes[RACE_GRID_DIMS] = {cells, cells, cells};

	return grid_of_cells(kernel, dims, of_axes, levels);
}

/* Row functions of these parameters, not drawn yet; the caller frees them */
static inline RaceRows *
allocate_rows(const RaceParams *params)
{
	char message[200];
	RaceRows *rows;

	if (race_params_problem(params, race_params_size(params), message, sizeof(message)) != NULL)
	{
		printf("Bail out! %s\n", message);
		exit(2);
	}
	rows = calloc(1, race_rows_size(params));
	if (rows == NULL)
		abort();
	race_rows_init(rows, params);
	return rows;
}

static inline RaceRows *
make_rows(const RaceParams *params)
{
	RaceRows *rows = allocate_rows(params);

	race_rows_generate_all(rows);
	return rows;
}

/* Where race_rows_hash_one() puts its buckets; the caller frees it */
static inline uint32_t *
make_buckets(const RaceRows *rows)
{
	uint32_t *buckets = calloc(rows->blocks * RACE_LANES, sizeof(uint32_t));

	if (buckets == NULL)
		abort();
	return buckets;
}

/* How far a rate of successes in n is from the probability, in standard errors */
static inline double
standard_errors(double rate, double probability, double n)
{
	return (rate - probability) / sqrt(probability * (1 - probability) / n);
}

/* A vector, or several one after the other */
static inline RaceColumn
vectors(uint32_t width, const double *x)
{
	RaceColumn column = {.numbers = x, .width = width};

	return column;
}

/* The buckets of a vector in all rows */
static inline void
hash_vector(const RaceRows *rows, const double *x, uint32_t *buckets)
{
	RaceColumn column = vectors(rows->params->dims, x);

	race_rows_hash_one(rows, rows->params->rows, &column, buckets);
}

/* In what share of the rows the buckets of two records are the same */
static inline double
share(const RaceRows *rows, const RaceColumn *x, const RaceColumn *y)
{
	uint32_t *a = make_buckets(rows);
	uint32_t *b = make_buckets(rows);
	uint32_t same = 0;

	race_rows_hash_one(rows, rows->params->rows, x, a);
	race_rows_hash_one(rows, rows->params->rows, y, b);
	for (uint32_t row = 0; row < rows->params->rows; row++)
		same += a[row] == b[row];
	free(b);
	free(a);
	return (double) same / rows->params->rows;
}

static inline double
share_of_vectors(const RaceRows *rows, const double *x, const double *y)
{
	RaceColumn x_column = vectors(rows->params->dims, x);
	RaceColumn y_column = vectors(rows->params->dims, y);

	return share(rows, &x_column, &y_column);
}

/* The kernel of two vectors */
static inline double
kernel_of_vectors(const RaceParams *params, const double *x, const double *y)
{
	RaceColumn x_column = vectors(params->dims, x);
	RaceColumn y_column = vectors(params->dims, y);

	return race_kernel_value(params, &x_column, &y_column);
}

#endif /* RACE_TEST_HELPERS_H */
