/*
 * triangle.c
 *		Sums of products of columns of 16-bit integers.
 *
 * A product has at most 26 bits, so that 31 of them fit into 32 bits: sums of pairs are
 * added up in 32 bits for a while, and then in 64.  Integers have no rounding: all code here
 * gives the same sums.
 */
#include "moments.h"

#include <string.h>

#include "hash.h"

#define TOGETHER	RACE_MOMENTS_TOGETHER

/* Columns i ... i + TILE_ROWS - 1 times j ... j + TILE_COLUMNS - 1 at a time */
#define TILE_ROWS		2
#define TILE_COLUMNS	4

typedef void (*Tile) (const int16_t *const *a, const int16_t *const *b, size_t n,
					  int64_t sums[TILE_ROWS][TILE_COLUMNS]);

/* Records in a run, whose products are added up in 32 bits */
#define RUN		24

static void
tile_portable(const int16_t *const *a, const int16_t *const *b, size_t n,
			  int64_t sums[TILE_ROWS][TILE_COLUMNS])
{
	int			i;
	int			j;
	size_t		from;
	int			r;

	for (i = 0; i < TILE_ROWS; i++)
		for (j = 0; j < TILE_COLUMNS; j++)
		{
			int64_t		sum = 0;

			for (from = 0; from < n; from += RUN)
			{
				int32_t		part = 0;

				for (r = 0; r < RUN; r++)
					part += (int32_t) a[i][from + r] * b[j][from + r];
				sum += part;
			}
			sums[i][j] = sum;
		}
}

#ifdef RACE_HAVE_X86

#include <immintrin.h>

#define TARGET	__attribute__((target("avx2,fma")))
#define LANES	16				/* records in a vector */
#define STEPS	15				/* vectors whose products are added up in 32 bits */

/* The sums of pairs of 32-bit lanes, in 64 bits */
TARGET static inline __m256i
widen(__m256i sums)
{
	return _mm256_add_epi64(_mm256_cvtepi32_epi64(_mm256_castsi256_si128(sums)),
							_mm256_cvtepi32_epi64(_mm256_extracti128_si256(sums, 1)));
}

TARGET static inline int64_t
add_lanes(__m256i sums)
{
	__m128i		half = _mm_add_epi64(_mm256_castsi256_si128(sums),
									 _mm256_extracti128_si256(sums, 1));

	return _mm_cvtsi128_si64(half) + _mm_cvtsi128_si64(_mm_unpackhi_epi64(half, half));
}

TARGET static void
tile_avx2(const int16_t *const *a, const int16_t *const *b, size_t n,
		  int64_t sums[TILE_ROWS][TILE_COLUMNS])
{
	__m256i		totals[TILE_ROWS][TILE_COLUMNS];
	size_t		from;
	size_t		r;
	int			i;
	int			j;

	memset(totals, 0, sizeof(totals));
	for (from = 0; from < n; from += STEPS * LANES)
	{
		__m256i		s[TILE_ROWS][TILE_COLUMNS];
		size_t		end = n < from + STEPS * LANES ? n : from + STEPS * LANES;

		memset(s, 0, sizeof(s));
		for (r = from; r < end; r += LANES)
		{
			__m256i		x = _mm256_loadu_si256((const __m256i *) (a[0] + r));
			__m256i		y = _mm256_loadu_si256((const __m256i *) (a[1] + r));

#pragma GCC unroll 4
			for (j = 0; j < TILE_COLUMNS; j++)
			{
				__m256i		z = _mm256_loadu_si256((const __m256i *) (b[j] + r));

				s[0][j] = _mm256_add_epi32(s[0][j], _mm256_madd_epi16(x, z));
				s[1][j] = _mm256_add_epi32(s[1][j], _mm256_madd_epi16(y, z));
			}
		}
#pragma GCC unroll 2
		for (i = 0; i < TILE_ROWS; i++)
#pragma GCC unroll 4
			for (j = 0; j < TILE_COLUMNS; j++)
				totals[i][j] = _mm256_add_epi64(totals[i][j], widen(s[i][j]));
	}
	for (i = 0; i < TILE_ROWS; i++)
		for (j = 0; j < TILE_COLUMNS; j++)
			sums[i][j] = add_lanes(totals[i][j]);
}

static Tile
best_tile(void)
{
	return race_hash_path() == &race_hash_portable ? tile_portable : tile_avx2;
}
#else
static Tile
best_tile(void)
{
	return tile_portable;
}
#endif

/* Columns from number `first` on; beyond the last one, the last again */
static void
take_columns(const int16_t *v, uint32_t columns, uint32_t first, int n, const int16_t **out)
{
	int			i;

	for (i = 0; i < n; i++)
		out[i] = v + (size_t) (first + i < columns ? first + i : columns - 1) * TOGETHER;
}

void
race_triangle_add(const int16_t *v, uint32_t columns, size_t n, int sign, int64_t *counters)
{
	Tile		tile = best_tile();
	size_t		rounded = (n + 47) / 48 * 48;	/* whole runs, and whole vectors */
	const int16_t *a[TILE_ROWS];
	const int16_t *b[TILE_COLUMNS];
	int64_t		sums[TILE_ROWS][TILE_COLUMNS];
	uint32_t	i;
	uint32_t	j;
	uint32_t	k;
	uint32_t	l;

	for (i = 0; i < columns; i += TILE_ROWS)
		for (j = i; j < columns; j += TILE_COLUMNS)
		{
			take_columns(v, columns, i, TILE_ROWS, a);
			take_columns(v, columns, j, TILE_COLUMNS, b);
			tile(a, b, rounded, sums);
			for (k = i; k < columns && k < i + TILE_ROWS; k++)
				for (l = j; l < columns && l < j + TILE_COLUMNS; l++)
					if (l >= k && l > 0)
						counters[race_moments_counter(columns, k, l)] +=
							sign * sums[k - i][l - j];
		}
}
