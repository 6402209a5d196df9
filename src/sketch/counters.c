/*
 * counters.c
 *		Arrays of integers, 64 bits in meaning and as narrow as they fit.
 */
#include "postgres.h"

#include "counters.h"

/* Expands `action` with `type` bound to the integer type of `width` bytes. */
#define FOR_WIDTH(width, action) \
	Assert(race_counters_width_valid(width)); \
	switch (width) \
	{ \
		case 1: { typedef int8 type; action } break; \
		case 2: { typedef int16 type; action } break; \
		case 4: { typedef int32 type; action } break; \
		default: { typedef int64 type; action } break; \
	}

bool
race_counters_width_valid(int width)
{
	return width == 1 || width == 2 || width == 4 || width == 8;
}

int
race_counters_width_for(int64 min, int64 max)
{
	if (min >= PG_INT8_MIN && max <= PG_INT8_MAX)
		return 1;
	if (min >= PG_INT16_MIN && max <= PG_INT16_MAX)
		return 2;
	if (min >= PG_INT32_MIN && max <= PG_INT32_MAX)
		return 4;
	return 8;
}

void
race_counters_bounds(const void *counters, int width, Size n,
					 int64 *min, int64 *max)
{
	Size		i;

	FOR_WIDTH(width,
			  const type *c = counters;
			  type low = c[0];
			  type high = c[0];

			  for (i = 1; i < n; i++)
			  {
				  low = Min(low, c[i]);
				  high = Max(high, c[i]);
			  }
			  *min = low;
			  *max = high;
		)
}

void
race_counters_load(const void *counters, int width, Size from, Size n,
				   int64 *out)
{
	Size		i;

	FOR_WIDTH(width,
			  const type *c = (const type *) counters + from;

			  for (i = 0; i < n; i++)
				  out[i] = c[i];
		)
}

void
race_counters_store(void *counters, int width, Size from, Size n,
					const int64 *in)
{
	Size		i;

	FOR_WIDTH(width,
			  type *c = (type *) counters + from;

			  for (i = 0; i < n; i++)
				  c[i] = (type) in[i];
		)
}

void
race_counters_convert(const void *from, int from_width,
					  void *to, int to_width, Size n)
{
	int64		block[RACE_COUNTER_BLOCK];
	Size		i;

	if (from_width == to_width)
	{
		memcpy(to, from, n * from_width);
		return;
	}
	for (i = 0; i < n; i += RACE_COUNTER_BLOCK)
	{
		Size		m = Min(n - i, RACE_COUNTER_BLOCK);

		race_counters_load(from, from_width, i, m, block);
		race_counters_store(to, to_width, i, m, block);
	}
}

int64
race_counters_get(const void *counters, int width, Size i)
{
	FOR_WIDTH(width, return ((const type *) counters)[i];)
	return 0;					/* not reached */
}

bool
race_counters_bump(void *counters, int width, const uint32 *buckets,
				   uint32 rows, uint32 range, int delta)
{
	int64		max = width == 8 ? RACE_MAX_COUNT :
		(INT64CONST(1) << (8 * width - 1)) - 1;
	int64		limit = delta > 0 ? max : width == 8 ? -max : -max - 1;
	uint32		r;

	FOR_WIDTH(width,
			  type *c = (type *) counters;

			  for (r = 0; r < rows && c[buckets[r]] != (type) limit; r++, c += range)
				  c[buckets[r]] += delta;
		)
	if (r == rows)
		return true;

	/* take back what is done, which meets no limit */
	race_counters_bump(counters, width, buckets, r, range, -delta);
	return false;
}
