/*
 * products.c
 *		Moments: a record adds the products of a vector of integers with itself
 */
#include <math.h>
#include <string.h>

#include "privacy/machine.h"
#include "privacy/products.h"

uint64_t
race_products_counters(uint64_t columns)
{
	return columns * (columns + 1) / 2;
}

/*
 * Return the largest sum of absolute values of v, by Cauchy & Schwarz: the largest integer whose
 * square is at most columns times squared.
 */
static uint64_t
most_absolute(const RaceShape *shape)
{
	uint64_t square = shape->squared * shape->columns;
	uint64_t root = (uint64_t) sqrt((double) square);

	/* bound: the error of sqrt(), some units; squares are below 2^60 */
	while (root * root > square)
		root--;
	/* bound: the error of sqrt(), some units; squares are below 2^60 */
	while ((root + 1) * (root + 1) <= square)
		root++;
	return root;
}

static uint64_t
shift_up(uint64_t x, int bits)
{
	return (x >> bits) + ((x & ((UINT64_C(1) << bits) - 1)) != 0);
}

/*
 * Return a bound of the change in L1.  The entries of v v' on and above the diagonal add up to half
 * of (the sum of |v|)^2 + the sum of v^2, which is what the norm of absolute values bounds.  To
 * round a sum to coarser integers changes a difference of two of them by less than 1, in each
 * counter.
 */
uint64_t
race_products_l1(const RaceShape *shape, int coarser)
{
	uint64_t weight = shape->squared;
	uint64_t absolute = most_absolute(shape);

	if (!shape->absolute)
		weight = (absolute * absolute + weight) / 2;
	return shift_up(weight, coarser) + (coarser > 0 ? race_products_counters(shape->columns) : 0);
}

/*
 * Return the squared norm of v, which is the Frobenius norm of v v'.  The norm of absolute values
 * is not below it, because the sum of absolute values is not below the root of that of squares.
 */
static uint64_t
squared_norm(const RaceShape *shape, int coarser)
{
	return shift_up(shape->squared, coarser) + (coarser > 0 ? shape->columns : 0);
}

uint64_t
race_products_squared(const RaceShape *shape, int coarser)
{
	uint64_t norm = squared_norm(shape, coarser);

	return (norm * norm + 1) / 2;
}

uint64_t
race_products_trace(const RaceShape *shape, int coarser)
{
	/* the norm of absolute values is not below that of squares */
	return shift_up(shape->squared, coarser);
}

int
race_products_least_coarse(const RaceShape *shape)
{
	int coarser = 0;

	/* bound: the bits of a norm, half of it is left each time */
	while (squared_norm(shape, coarser) > UINT32_MAX / 2)
		coarser++;
	return coarser;
}

/*
 * Records whose numbers are looked at together, a loop of fixed length; so many divide
 * RACE_PRODUCTS_TOGETHER
 */
#define STEP 48

/* Cut some numbers to ONE, and add their squares and, or not, absolute values to sums. */
static void
cut_column(int16_t *restrict v, uint64_t *restrict squares, uint32_t *restrict absolute,
		   bool add_absolute)
{
	for (int r = 0; r < STEP; r++)
		v[r] = v[r] > RACE_PRODUCTS_ONE ? RACE_PRODUCTS_ONE :
			v[r] < -RACE_PRODUCTS_ONE   ? -RACE_PRODUCTS_ONE :
										  v[r];
	for (int r = 0; r < STEP; r++)
		squares[r] += (uint32_t) ((int32_t) v[r] * v[r]);
	for (int r = 0; add_absolute && r < STEP; r++)
		absolute[r] += (uint32_t) (v[r] < 0 ? -v[r] : v[r]);
}

/*
 * Cut numbers to ONE, and set the squares of the norms of n vectors, times 2; n is rounded up to
 * whole steps.  Squares of so many numbers, and of the sum of as many absolute values, are below
 * 2^47.
 */
static void
cut_numbers(const RaceShape *shape, int16_t *v, size_t n, uint64_t *norms)
{
	for (size_t from = 0; from < n; from += STEP)
	{
		uint32_t absolute[STEP] = {0};

		memset(norms + from, 0, STEP * sizeof(uint64_t));
		for (uint32_t i = 0; i < shape->columns; i++)
			cut_column(v + (size_t) i * RACE_PRODUCTS_TOGETHER + from, norms + from, absolute,
					   shape->absolute);
		for (int r = 0; r < STEP; r++)
			norms[from + r] = shape->absolute ?
				norms[from + r] + (uint64_t) absolute[r] * absolute[r] :
				2 * norms[from + r];
	}
}

/*
 * Scale a vector beyond the norm down to it, towards 0, by a part of 2^SCALE_BITS that is rounded
 * down.  Each number that is not 0 becomes smaller.
 */
#define SCALE_BITS 15

static void
scale_down(const RaceShape *shape, int16_t *v, uint64_t norm)
{
	int32_t part =
		(int32_t) (ldexp(1, SCALE_BITS) * sqrt((double) (2 * shape->squared) / (double) norm));

	part = part < (1 << SCALE_BITS) ? part : (1 << SCALE_BITS) - 1;
	for (uint32_t i = 0; i < shape->columns; i++, v += RACE_PRODUCTS_TOGETHER)
		*v = (int16_t) (*v * part / (1 << SCALE_BITS));
}

/* Cut n vectors down to the norm, whatever errors floating point has made. */
static void
cut_vectors(const RaceShape *shape, int16_t *v, size_t n)
{
	uint64_t norms[RACE_PRODUCTS_TOGETHER];
	bool beyond;

	/* bound: RACE_PRODUCTS_ONE, as numbers that are not 0 become smaller each time; two suffice */
	do
	{
		beyond = false;
		cut_numbers(shape, v, n, norms);
		for (size_t r = 0; r < n; r++)
			if (norms[r] > 2 * shape->squared)
			{
				scale_down(shape, v + r, norms[r]);
				beyond = true;
			}
	} while (beyond);
}

/*
 * Sums of products of columns of 16-bit integers.
 *
 * A product has at most 26 bits, so that 31 of them fit into 32 bits: sums of pairs are
 * added up in 32 bits for a while, and then in 64.  Integers have no rounding: all code here
 * gives the same sums.
 */

/* Columns i ... i + TILE_ROWS - 1 times j ... j + TILE_COLUMNS - 1 at a time */
#define TILE_ROWS 2
#define TILE_COLUMNS 4

typedef void (*Tile)(const int16_t *const *a, const int16_t *const *b, size_t n,
					 int64_t sums[TILE_ROWS][TILE_COLUMNS]);

/* Records in a run, whose products are added up in 32 bits */
#define RUN 24

static void
tile_portable(const int16_t *const *a, const int16_t *const *b, size_t n,
			  int64_t sums[TILE_ROWS][TILE_COLUMNS])
{
	for (int i = 0; i < TILE_ROWS; i++)
		for (int j = 0; j < TILE_COLUMNS; j++)
		{
			int64_t sum = 0;

			for (size_t from = 0; from < n; from += RUN)
			{
				int32_t part = 0;

				for (int r = 0; r < RUN; r++)
					part += (int32_t) a[i][from + r] * b[j][from + r];
				sum += part;
			}
			sums[i][j] = sum;
		}
}

#ifdef RACE_HAVE_X86

#include <immintrin.h>

#define TARGET __attribute__((target("avx2,fma")))
#define LANES 16 /* records in a vector */
#define STEPS 15 /* vectors whose products are added up in 32 bits */

/* Return the sums of pairs of 32-bit lanes, in 64 bits. */
TARGET static inline __m256i
widen_lanes(__m256i sums)
{
	return _mm256_add_epi64(_mm256_cvtepi32_epi64(_mm256_castsi256_si128(sums)),
							_mm256_cvtepi32_epi64(_mm256_extracti128_si256(sums, 1)));
}

TARGET static inline int64_t
add_lanes(__m256i sums)
{
	__m128i half = _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));

	return _mm_cvtsi128_si64(half) + _mm_cvtsi128_si64(_mm_unpackhi_epi64(half, half));
}

TARGET static void
tile_avx2(const int16_t *const *a, const int16_t *const *b, size_t n,
		  int64_t sums[TILE_ROWS][TILE_COLUMNS])
{
	__m256i totals[TILE_ROWS][TILE_COLUMNS];

	memset(totals, 0, sizeof(totals));
	for (size_t from = 0; from < n; from += STEPS * LANES)
	{
		__m256i s[TILE_ROWS][TILE_COLUMNS];
		size_t end = n < from + STEPS * LANES ? n : from + STEPS * LANES;

		memset(s, 0, sizeof(s));
		for (size_t r = from; r < end; r += LANES)
		{
			__m256i x = _mm256_loadu_si256((const __m256i *) (a[0] + r));
			__m256i y = _mm256_loadu_si256((const __m256i *) (a[1] + r));

#pragma GCC unroll 4
			for (int j = 0; j < TILE_COLUMNS; j++)
			{
				__m256i z = _mm256_loadu_si256((const __m256i *) (b[j] + r));

				s[0][j] = _mm256_add_epi32(s[0][j], _mm256_madd_epi16(x, z));
				s[1][j] = _mm256_add_epi32(s[1][j], _mm256_madd_epi16(y, z));
			}
		}
#pragma GCC unroll 2
		for (int i = 0; i < TILE_ROWS; i++)
#pragma GCC unroll 4
			for (int j = 0; j < TILE_COLUMNS; j++)
				totals[i][j] = _mm256_add_epi64(totals[i][j], widen_lanes(s[i][j]));
	}
	for (int i = 0; i < TILE_ROWS; i++)
		for (int j = 0; j < TILE_COLUMNS; j++)
			sums[i][j] = add_lanes(totals[i][j]);
}

#else
#define tile_avx2 tile_portable
#endif

/* Take columns from number `first` on; beyond the last one, the last again. */
static void
take_columns(const int16_t *v, uint32_t columns, uint32_t first, int n, const int16_t **out)
{
	for (int i = 0; i < n; i++)
		out[i] =
			v + (size_t) (first + i < columns ? first + i : columns - 1) * RACE_PRODUCTS_TOGETHER;
}

/* Add weight times the products of columns to the triangle. */
static void
add_triangle(const int16_t *v, uint32_t columns, size_t n, int64_t weight, Tile tile,
			 int64_t *counters)
{
	size_t rounded = (n + 47) / 48 * 48; /* whole runs, and whole vectors */
	const int16_t *a[TILE_ROWS];
	const int16_t *b[TILE_COLUMNS];
	int64_t sums[TILE_ROWS][TILE_COLUMNS];

	for (uint32_t i = 0; i < columns; i += TILE_ROWS)
		for (uint32_t j = i; j < columns; j += TILE_COLUMNS)
		{
			take_columns(v, columns, i, TILE_ROWS, a);
			take_columns(v, columns, j, TILE_COLUMNS, b);
			tile(a, b, rounded, sums);
			for (uint32_t k = i; k < columns && k < i + TILE_ROWS; k++)
				for (uint32_t l = j; l < columns && l < j + TILE_COLUMNS; l++)
					if (l >= k)
						counters[race_product_counter(columns, k, l)] +=
							weight * sums[k - i][l - j];
		}
}

void
race_count_products(const RaceShape *shape, int16_t *v, size_t n, int64_t weight, bool vectors,
					int64_t *counters)
{
	for (uint32_t i = 0; i < shape->columns && n < RACE_PRODUCTS_TOGETHER; i++)
		memset(v + (size_t) i * RACE_PRODUCTS_TOGETHER + n, 0,
			   (RACE_PRODUCTS_TOGETHER - n) * sizeof(int16_t));
	cut_vectors(shape, v, n);
	add_triangle(v, shape->columns, n, weight, vectors ? tile_avx2 : tile_portable, counters);
}
