/*
 * count.c
 *		Counting records: what one adds is bounded here, whatever is passed in
 *
 * Sensitivity (doc/privacy.md): a record adds a unit to each block, in non-negative integers.  In all
 * tables of a column it is in the same place.
 */
#include "privacy/count.h"
#include "privacy/exact_fields.h"
#include "privacy/machine.h"

#define INLINE static inline __attribute__((always_inline))

/*
 * Count in a few rows at a time. Their counters stay in the nearest cache, and
 * successive records that fall into the same bucket do not wait for each other.
 */
#define ROWS_TOGETHER 8

INLINE uint32_t
within(uint32_t counter, uint32_t range)
{
	return counter < range ? counter : range - 1;
}

#ifdef RACE_HAVE_X86

#include <immintrin.h>

/* Return the largest bucket of n records in some rows, of which there are whole vectors. */
__attribute__((target("avx2"))) static uint32_t
largest_bucket(const uint32_t *buckets, size_t n, uint32_t rows)
{
	__m256i largest = _mm256_setzero_si256();
	uint32_t lanes[ROWS_TOGETHER];

	for (size_t i = 0; i < n; i++, buckets += RACE_LANES)
		for (uint32_t r = 0; r < rows; r += ROWS_TOGETHER)
			largest =
				_mm256_max_epu32(largest, _mm256_loadu_si256((const __m256i *) (buckets + r)));
	_mm256_storeu_si256((__m256i *) lanes, largest);
	for (int i = 1; i < ROWS_TOGETHER; i++)
		lanes[0] = lanes[i] > lanes[0] ? lanes[i] : lanes[0];
	return lanes[0];
}

static bool
has_vectors(void)
{
	static int has = -1;

	if (has < 0)
		has = __builtin_cpu_supports("avx2") != 0;
	return has == 1;
}

#else
#define largest_bucket(buckets, n, rows) UINT32_MAX
#define has_vectors() false
#endif

/* Count in some rows, where a bucket may be beyond the range or was seen not to be. */
INLINE void
bump_rows(RaceCounterArray array, size_t from, const uint32_t *buckets, size_t n, int rows,
		  uint32_t range, int64_t weight, bool beyond)
{
	/* clang-format off */
	RACE_FOR_WIDTH(array.width,
		type *c = (type *) array.counters + from;

		for (size_t i = 0; i < n; i++, buckets += RACE_LANES)
			_Pragma("GCC unroll 8") for (int k = 0; k < rows; k++)
				c[(size_t) k * range + (beyond ? within(buckets[k], range) : buckets[k])] +=
					(type) weight;
	)
	/* clang-format on */
}

void
race_count_rows(RaceCounterArray counters, const uint32_t *buckets, size_t n, uint32_t rows,
				uint32_t range, int64_t weight)
{
	uint32_t together = rows - rows % ROWS_TOGETHER;
	bool beyond = !has_vectors() || largest_bucket(buckets, n, together) >= range;
	uint32_t r = 0;

	for (; r < together; r += ROWS_TOGETHER)
		if (beyond)
			bump_rows(counters, (size_t) r * range, buckets + r, n, ROWS_TOGETHER, range, weight,
					  true);
		else
			bump_rows(counters, (size_t) r * range, buckets + r, n, ROWS_TOGETHER, range, weight,
					  false);
	for (; r < rows; r++)
		bump_rows(counters, (size_t) r * range, buckets + r, n, 1, range, weight, true);
}

/* Return whether n numbers are not negative and add up to the unit. */
static bool
are_unit_parts(const int64_t *numbers, int n, uint64_t unit)
{
	uint64_t sum = 0;

	for (int i = 0; i < n; i++)
	{
		if (numbers[i] < 0 || (uint64_t) numbers[i] > unit - sum)
			return false;
		sum += (uint64_t) numbers[i];
	}
	return sum == unit;
}

void
race_count_cells(const RaceShape *shape, RaceCounterArray counters, uint32_t block,
				 const uint32_t *cell, const int64_t *part, uint32_t parts, size_t n,
				 int64_t weight)
{
	size_t begin = race_block_begin(shape, block);
	uint32_t cells = (uint32_t) (race_block_length(shape, block) / parts);
	int64_t whole = weight * (int64_t) shape->unit;

	/* clang-format off */
	RACE_FOR_WIDTH(counters.width,
		type *c = (type *) counters.counters + begin;

		for (size_t i = 0; i < n; i++, part += parts)
		{
			type *at = c + (size_t) within(cell[i], cells) * parts;

			/* one part gets the unit in any case */
			if (parts == 1 || !are_unit_parts(part, (int) parts, shape->unit))
				at[0] += (type) whole;
			else
				for (uint32_t k = 0; k < parts; k++)
					at[k] += (type) (weight * part[k]);
		}
	)
	/* clang-format on */
}

/* Cut the places of n records to the length of their column. */
static void
cut_places(uint32_t *place, size_t n, uint32_t length)
{
	for (size_t i = 0; i < n; i++)
		place[i] = within(place[i], length);
}

/* Count in the table of two columns, whose places were cut. */
static void
count_pair(const RaceShape *shape, RaceCounterArray counters, const uint32_t *first,
		   const uint32_t *second, uint32_t width, const int64_t *part, uint32_t parts, size_t n,
		   int64_t weight)
{
	uint32_t cell[RACE_COUNTER_BLOCK];

	for (size_t from = 0; from < n; from += RACE_COUNTER_BLOCK)
	{
		size_t m = n - from < RACE_COUNTER_BLOCK ? n - from : RACE_COUNTER_BLOCK;

		for (size_t i = 0; i < m; i++)
			cell[i] = first[from + i] * width + second[from + i];
		race_count_cells(shape, counters, 0, cell, part + from * parts, parts, m, weight);
	}
}

void
race_count_pairs(uint64_t unit, RaceCounterArray counters, uint32_t columns, const uint32_t *length,
				 uint32_t *place, const int64_t *part, uint32_t parts, size_t n, int64_t weight)
{
	char *at = counters.counters;

	for (uint32_t i = 0; i < columns; i++)
		cut_places(place + i * n, n, length[i]);
	for (uint32_t i = 0; i < columns; i++)
		for (uint32_t j = i + 1; j < columns; j++)
		{
			RaceShape shape = {.blocks = 1, .unit = unit, .range = length[i] * length[j] * parts};

			count_pair(&shape, (RaceCounterArray){at, counters.width}, place + i * n, place + j * n,
					   length[j], part, parts, n, weight);
			at += (size_t) shape.range * (size_t) counters.width;
		}
}

/* Return whether n numbers are not negative, and multiples of what these halvings divide by. */
static bool
are_multiples(const int64_t *numbers, int n, uint32_t halvings, uint32_t dims)
{
	int64_t any = 0;

	for (int i = 0; i < n; i++)
		any |= numbers[i];
	return (any & ((INT64_C(1) << halvings * dims) - 1)) == 0;
}

/* Add shares of n nodes, `weight` times. */
static void
add_shares(RaceCounterArray counters, const uint32_t *node, uint32_t nodes, const int64_t *share,
		   int n, int64_t weight)
{
	/* clang-format off */
	RACE_FOR_WIDTH(counters.width,
		type *c = (type *) counters.counters;

		for (int i = 0; i < n; i++)
			c[within(node[i], nodes)] += (type) (weight * share[i]);
	)
	/* clang-format on */
}

void
race_count_split(const RaceShape *shape, const uint32_t *node, const int64_t *share, int n,
				 int64_t weight, RaceCounterArray counters)
{
	if (are_unit_parts(share, n, shape->unit) &&
		are_multiples(share, n, shape->halvings, shape->nodes.dims))
		add_shares(counters, node, (uint32_t) race_block_length(shape, 0), share, n, weight);
}
