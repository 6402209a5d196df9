/*
 * counters.c
 *		Counters of varying width: plain C
 */
#include <math.h>
#include <string.h>

#include "privacy/counters.h"

/*
 * Arrays of integers, 64 bits in meaning and as narrow as they fit.
 */

bool
race_counters_width_valid(int width)
{
	return width == 1 || width == 2 || width == 4 || width == 8;
}

int
race_counters_width_for(int64_t min, int64_t max)
{
	if (min >= INT8_MIN && max <= INT8_MAX)
		return 1;
	if (min >= INT16_MIN && max <= INT16_MAX)
		return 2;
	if (min >= INT32_MIN && max <= INT32_MAX)
		return 4;
	return 8;
}

void
race_counters_bounds(const void *counters, int width, size_t n, int64_t *min, int64_t *max)
{
	/* clang-format off */
	RACE_FOR_WIDTH(width,
		const type *c = counters;
		type low = c[0];
		type high = c[0];

		for (size_t i = 1; i < n; i++)
		{
			low = c[i] < low ? c[i] : low;
			high = c[i] > high ? c[i] : high;
		}
		*min = low;
		*max = high;
	)
	/* clang-format on */
}

void
race_counters_load(const void *counters, int width, size_t from, size_t n, int64_t *out)
{
	/* clang-format off */
	RACE_FOR_WIDTH(width,
		const type *c = (const type *) counters + from;

		for (size_t i = 0; i < n; i++)
			out[i] = c[i];
	)
	/* clang-format on */
}

void
race_counters_store(void *counters, int width, size_t from, size_t n, const int64_t *in)
{
	/* clang-format off */
	RACE_FOR_WIDTH(width,
		type *c = (type *) counters + from;

		for (size_t i = 0; i < n; i++)
			c[i] = (type) in[i];
	)
	/* clang-format on */
}

void
race_counters_convert(const void *from, int from_width, void *to, int to_width, size_t n)
{
	int64_t block[RACE_COUNTER_BLOCK];

	if (from_width == to_width)
	{
		memcpy(to, from, n * from_width);
		return;
	}
	for (size_t i = 0; i < n; i += RACE_COUNTER_BLOCK)
	{
		size_t m = n - i < RACE_COUNTER_BLOCK ? n - i : RACE_COUNTER_BLOCK;

		race_counters_load(from, from_width, i, m, block);
		race_counters_store(to, to_width, i, m, block);
	}
}

int64_t
race_counters_get(const void *counters, int width, size_t i)
{
	RACE_FOR_WIDTH(width, return ((const type *) counters)[i];)
	return 0; /* not reached */
}

double
race_counters_sum(const void *counters, int width, const uint32_t *buckets, uint32_t from,
				  uint32_t to, uint32_t range)
{
	double total = 0;
	int64_t sum = 0;

	/* clang-format off */
	RACE_FOR_WIDTH(width,
		const type *c = (const type *) counters + (size_t) from * range;

		for (uint32_t r = from; r < to; r++, c += range)
		{
			/* up to 2^25 counters of 32 bits stay below 2^56 */
			if (sizeof(type) < sizeof(int64_t))
				sum += c[buckets[r]];
			else
				total += (double) c[buckets[r]];
		}
	)
	/* clang-format on */
	return total + (double) sum;
}

/*
 * Counters beyond this count as this, and sums of cubes beyond those: so roots stay within 42 bits.
 */
#define MOST_IN_NORM (INT64_C(1) << 36)
#define MOST_CUBES ((unsigned __int128) 1 << 126)

uint64_t
race_counters_norms(const void *counters, int width, uint32_t rows, uint32_t range)
{
	uint64_t total = 0;

	/* clang-format off */
	RACE_FOR_WIDTH(width,
		const type *c = counters;

		for (uint32_t r = 0; r < rows; r++, c += range)
		{
			unsigned __int128 sum = 0;

			for (uint32_t b = 0; b < range; b++)
			{
				uint64_t		value = c[b] < 0 ? -(uint64_t) c[b] : (uint64_t) c[b];

				if (sizeof(type) == sizeof(int64_t) && value > MOST_IN_NORM)
					value = MOST_IN_NORM;
				sum += (unsigned __int128) value * value * value;
				if (sizeof(type) == sizeof(int64_t) && sum > MOST_CUBES)
					sum = MOST_CUBES;
			}
			total += race_integer_cube_root(sum);
		}
	)
	/* clang-format on */
	return total;
}

int64_t
race_counters_limit(int width)
{
	if (width == sizeof(int64_t))
		return RACE_MAX_COUNT;
	return (INT64_C(1) << (8 * width - 1)) - 1;
}

int64_t
race_clamped_sum(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return a > 0 ? RACE_MAX_COUNT : -RACE_MAX_COUNT;
	return sum > RACE_MAX_COUNT ? RACE_MAX_COUNT : sum < -RACE_MAX_COUNT ? -RACE_MAX_COUNT : sum;
}
