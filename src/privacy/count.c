/*
 * count.c
 *		Counting records: what one adds is bounded here, whatever is passed in
 *
 * Sensitivity (doc/privacy.md): a record adds a unit to each block, in non-negative integers.
 */
#include "privacy/count.h"
#include "privacy/exact_fields.h"

#define INLINE	static inline __attribute__((always_inline))

/*
 * Count in a few rows at a time. Their counters stay in the nearest cache, and
 * successive records that fall into the same bucket do not wait for each other.
 */
#define ROWS_TOGETHER	8

INLINE uint32_t
within(uint32_t counter, uint32_t range)
{
	return counter < range ? counter : range - 1;
}

INLINE void
bump_rows(RaceCounterArray array, size_t from, const uint32_t *buckets, size_t n, int rows, uint32_t range,
		  int64_t weight)
{
	RACE_FOR_WIDTH(array.width,
				   type *c = (type *) array.counters + from;

				   for (size_t i = 0; i < n; i++, buckets += RACE_LANES)
					   _Pragma("GCC unroll 8") for (int k = 0; k < rows; k++)
						   c[(size_t) k * range + within(buckets[k], range)] += (type) weight;
		)
}

void
race_count_rows(RaceCounterArray counters, const uint32_t *buckets, size_t n, uint32_t rows, uint32_t range,
				int64_t weight)
{
	uint32_t	r = 0;

	for (; r + ROWS_TOGETHER <= rows; r += ROWS_TOGETHER)
		bump_rows(counters, (size_t) r * range, buckets + r, n, ROWS_TOGETHER, range, weight);
	for (; r < rows; r++)
		bump_rows(counters, (size_t) r * range, buckets + r, n, 1, range, weight);
}

void
race_count_halves(const uint32_t *buckets, size_t row, uint32_t rows, uint32_t range,
				  const RacePortion *portion, int64_t weight, RaceCounterArray lower, RaceCounterArray upper)
{
	uint64_t	limit = race_dither_limit(portion->share);
	RaceCounterArray halves[RACE_EXACT_HALVES] = {lower, upper};
	bool		up[RACE_LANES];

	for (uint32_t r = 0; r < rows; r++)
		up[r] = race_dither_up(limit, portion->offset, row + r);
	for (int half = 0; half < RACE_EXACT_HALVES; half++)
		RACE_FOR_WIDTH(halves[half].width,
					   type *c = halves[half].counters;

					   for (uint32_t r = 0; r < rows; r++, c += range)
						   c[within(buckets[r], range)] += up[r] == (half == 1) ? weight : 0;
			)
}

/* Are n numbers not negative, and is this their sum? */
static bool
add_up_to(const int64_t *numbers, int n, uint64_t unit)
{
	uint64_t	sum = 0;

	for (int i = 0; i < n; i++)
	{
		if (numbers[i] < 0 || (uint64_t) numbers[i] > unit)
			return false;
		sum += (uint64_t) numbers[i];
	}
	return sum == unit;
}

void
race_count_cells(const RaceShape *shape, RaceCounterArray counters, uint32_t block, const uint32_t *cell,
				 const int64_t *part, uint32_t parts, size_t n, int64_t weight)
{
	size_t		begin = race_block_begin(shape, block);
	uint32_t	cells = (uint32_t) (race_block_length(shape, block) / parts);

	for (size_t i = 0; i < n; i++, part += parts)
	{
		size_t		at = begin + (size_t) within(cell[i], cells) * parts;

		if (!add_up_to(part, (int) parts, shape->unit))
			race_counters_add(counters.counters, counters.width, at, weight * (int64_t) shape->unit);
		else
			for (uint32_t k = 0; k < parts; k++)
				race_counters_add(counters.counters, counters.width, at + k, weight * part[k]);
	}
}

/* Are n numbers multiples of what so many halvings of a grid divide them by? */
static bool
are_multiples(const int64_t *numbers, int n, uint32_t halvings, uint32_t dims)
{
	for (int i = 0; i < n; i++)
		if (numbers[i] % (INT64_C(1) << halvings * dims) != 0)
			return false;
	return true;
}

/* Is each of n numbers between 0 and another one? */
static bool
are_between(const int64_t *numbers, const int64_t *most, int n)
{
	for (int i = 0; i < n; i++)
		if (numbers[i] < 0 || numbers[i] > most[i])
			return false;
	return true;
}

void
race_count_split(const RaceShape *shape, const uint32_t *node, const int64_t *share, const int64_t *up, int n,
				 int64_t weight, RaceCounterArray lower, RaceCounterArray upper)
{
	uint32_t	nodes = (uint32_t) race_block_length(shape, 0);
	uint32_t	dims = shape->nodes.dims;

	if (!add_up_to(share, n, shape->unit) || !are_multiples(share, n, shape->halvings, dims) ||
		(up != NULL && (!are_between(up, share, n) || !are_multiples(up, n, shape->half_halvings, dims))))
		return;
	for (int i = 0; i < n; i++)
	{
		uint32_t	at = within(node[i], nodes);

		race_counters_add(lower.counters, lower.width, at, weight * (share[i] - (up == NULL ? 0 : up[i])));
		if (up != NULL)
			race_counters_add(upper.counters, upper.width, at, weight * up[i]);
	}
}
