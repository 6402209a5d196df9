/*
 * counters_test.c
 *		Arrays of counters against a model that takes one at a time, in 64 bits.
 */
#include "privacy/counters.h"
#include "hash/rows.h"
#include "helpers.h"
#include "privacy/count.h"
#include "tap.h"

static const int widths[4] = {1, 2, 4, 8};

/* Can an integer be had in so many bytes?  Written anew, with shifts. */
static bool
fits(int64_t value, int width)
{
	int bits = 64 - 8 * width;

	return (int64_t) ((uint64_t) value << bits) >> bits == value;
}

/* The lowest and highest integer of a width */
static int64_t
lowest(int width)
{
	return INT64_MIN >> (64 - 8 * width);
}

static int64_t
highest(int width)
{
	return INT64_MAX >> (64 - 8 * width);
}

/* An integer between -limit and limit */
static int64_t
within(uint64_t bits, int64_t limit)
{
	return (int64_t) (bits % (2 * (uint64_t) limit + 1)) - limit;
}

static void
test_widths(void)
{
	static const int64_t edges[] = {0, INT8_MAX, INT16_MAX, INT32_MAX, RACE_MAX_COUNT};
	int wrong = 0;
	int w;

	/* all ranges with ends at, just below or just above an edge */
	for (size_t i = 0; i < 5; i++)
		for (size_t j = 0; j < 5; j++)
			for (int a = -2; a <= 2; a++)
				for (int b = -2; b <= 2; b++)
				{
					int64_t min = -edges[i] + a;
					int64_t max = edges[j] + b;
					int width = race_counters_width_for(min, max);

					for (w = 0; w < 4 && widths[w] < width; w++)
						wrong += fits(min, widths[w]) && fits(max, widths[w]);
					wrong +=
						!fits(min, width) || !fits(max, width) || !race_counters_width_valid(width);
				}
	ok(wrong == 0, "the width is the narrowest that holds all");

	for (wrong = 0, w = -1; w < 300; w++)
		wrong += race_counters_width_valid(w) != (w == 1 || w == 2 || w == 4 || w == 8);
	ok(wrong == 0, "1, 2, 4 and 8 are widths, others are not");

	for (w = 0; w < 4; w++)
	{
		int64_t limit = race_counters_limit(widths[w]);

		ok(fits(limit, widths[w]) && fits(-limit, widths[w]) && limit <= RACE_MAX_COUNT &&
			   (!fits(limit + 1, widths[w]) || limit == RACE_MAX_COUNT),
		   "width %d: the limit is as far as counters go on both sides", widths[w]);
	}
}

/* ------------------------------------------- loading, storing, converting */

#define CONVERTED (2 * RACE_COUNTER_BLOCK + 3)

/* As many as blocks are long, one less and one more, and parts of a block */
static const size_t lengths[] = {0,
								 1,
								 7,
								 RACE_COUNTER_BLOCK - 1,
								 RACE_COUNTER_BLOCK,
								 RACE_COUNTER_BLOCK + 1,
								 2 * RACE_COUNTER_BLOCK,
								 CONVERTED};

#define LENGTHS (sizeof(lengths) / sizeof(lengths[0]))

/* n counters come out of one width and into another, and none more */
static bool
converts(int from_width, int to_width, size_t n)
{
	int narrow = from_width < to_width ? from_width : to_width;
	int64_t values[CONVERTED] = {0};
	int64_t from[CONVERTED] = {0};
	int64_t to[CONVERTED + 1];
	unsigned char *end = (unsigned char *) to + n * to_width;
	bool good = true;

	for (size_t i = 0; i < n; i++)
		values[i] = i % 5 == 0 ? lowest(narrow) :
			i % 7 == 0         ? highest(narrow) :
								 (int64_t) mix(i) >> (64 - 8 * narrow);
	race_counters_store(from, from_width, 0, n, values);
	memset(to, 0xA5, sizeof(to));
	race_counters_convert(from, from_width, to, to_width, n);
	for (size_t i = 0; i < n; i++)
		good &= race_counters_get(to, to_width, i) == values[i];
	for (size_t i = 0; i < 8; i++)
		good &= end[i] == 0xA5;
	return good;
}

static void
test_convert(void)
{
	for (int a = 0; a < 4; a++)
		for (int b = 0; b < 4; b++)
		{
			int wrong = 0;

			for (size_t i = 0; i < LENGTHS; i++)
				wrong += !converts(widths[a], widths[b], lengths[i]);
			ok(wrong == 0, "from width %d to %d", widths[a], widths[b]);
		}
}

/* Parts of an array, wherever they begin */
static void
test_parts(int width)
{
	int64_t counters[40];
	int64_t part[40];
	int wrong = 0;

	for (size_t from = 0; from < 40; from++)
		for (size_t n = 0; from + n <= 40; n++)
		{
			for (size_t i = 0; i < 40; i++)
				part[i] = (int64_t) i;
			race_counters_store(counters, width, 0, 40, part);
			for (size_t i = 0; i < n; i++)
				part[i] = lowest(width) + (int64_t) i;
			race_counters_store(counters, width, from, n, part);
			memset(part, 0, sizeof(part));
			race_counters_load(counters, width, from, n, part);
			for (size_t i = 0; i < 40; i++)
			{
				bool inside = i >= from && i < from + n;
				int64_t expected = inside ? lowest(width) + (int64_t) (i - from) : (int64_t) i;

				wrong += race_counters_get(counters, width, i) != expected;
				wrong += part[i] != (i < n ? lowest(width) + (int64_t) i : 0);
			}
		}
	ok(wrong == 0, "width %d: parts are stored and loaded where they belong", width);
}

/* --------------------------------------------------------- bounds and sums */

#define BOUNDED 200 /* several vectors of the narrowest, and some left over */

static void
test_bounds(int width)
{
	int64_t values[BOUNDED];
	int64_t counters[BOUNDED];
	int64_t min;
	int64_t max;
	int wrong = 0;

	/* the smallest at every place, the largest half of the array away from it */
	for (size_t n = 1; n <= BOUNDED; n++)
		for (size_t low = 0; low < n; low++)
		{
			size_t high = (low + n / 2) % n;

			for (size_t i = 0; i < n; i++)
				values[i] = within(mix(n * BOUNDED + i), 100);
			values[high] = highest(width) - (int64_t) (n % 3);
			values[low] = n == 1 ? values[high] : lowest(width) + (int64_t) (n % 5);
			race_counters_store(counters, width, 0, n, values);
			race_counters_bounds(counters, width, n, &min, &max);
			wrong += min != values[low] || max != values[high];
		}
	ok(wrong == 0, "width %d: bounds", width);
}

#define SUM_ROWS 150
#define SUM_RANGE 9

static void
test_sum(int width)
{
	int64_t values[SUM_ROWS * SUM_RANGE];
	int64_t counters[SUM_ROWS * SUM_RANGE];
	uint32_t buckets[SUM_ROWS];
	int wrong = 0;
	int same = 0;

	/* wide ones are multiples of 2^20, so that a double holds any sum */
	for (size_t i = 0; i < SUM_ROWS * SUM_RANGE; i++)
		values[i] = width < 8 ? (int64_t) mix(i) >> (64 - 8 * width) :
								within(mix(i), INT64_C(1) << 42) * (1 << 20);
	for (uint32_t r = 0; r < SUM_ROWS; r++)
		buckets[r] = mix(r + 7) % SUM_RANGE;
	race_counters_store(counters, width, 0, SUM_ROWS * SUM_RANGE, values);
	for (uint32_t from = 0; from < SUM_ROWS; from += CASES(1, 10))
		for (uint32_t to = from; to <= SUM_ROWS; to++)
		{
			double sum = race_counters_sum(counters, width, buckets, from, to, SUM_RANGE);
			__int128 expected = 0;
			__int128 next = 0;

			for (uint32_t r = from; r < to; r++)
			{
				expected += values[r * SUM_RANGE + buckets[r]];
				next += values[r * SUM_RANGE + (buckets[r] + 1) % SUM_RANGE];
			}
			wrong += sum != (double) expected;
			same += to > from + 10 && sum == (double) next;
		}
	ok(wrong == 0, "width %d: sums over rows", width);
	ok(same < 100, "control: of other buckets they are others");
}

/* -------------------------------------------------------------- counting */

#define MAX_RECORDS 70
#define MAX_RANGE 67
#define MAX_COUNTERS ((RACE_LANES + 1) * MAX_RANGE) /* a row more than there may be */

static uint32_t buckets[MAX_RECORDS * RACE_LANES];
static int64_t model[MAX_COUNTERS];
static int64_t counters[MAX_COUNTERS];
static int64_t counted[MAX_COUNTERS];

/*
 * How many counters are not what the model says, after n records in so many
 * rows?  It counts `modelled` of them.  The row after the last, into which
 * buckets of lanes without a row would go, must stay as it is.  Counters begin
 * as near to the limit as they may; with `together` all records are in one bucket
 * of such a counter.
 */
static int
bump_differs(int width, uint32_t rows, uint32_t range, size_t n, size_t modelled, int64_t delta,
			 bool together)
{
	size_t all = (size_t) (rows + 1) * range;
	int64_t limit = race_counters_limit(width) - (int64_t) n * (delta < 0 ? -delta : delta);
	uint64_t number = (uint64_t) width << 48 | (uint64_t) rows << 32 | range << 16 | n << 1;
	int differs = 0;

	for (size_t i = 0; i < n * RACE_LANES; i++)
		buckets[i] = together ? range - 1 : mix(number * MAX_COUNTERS + i) % range;
	for (size_t i = 0; i < all; i++)
		model[i] = together ? (delta < 0 ? -limit : limit) : within(mix(number + i), limit);
	race_counters_store(counters, width, 0, all, model);
	race_count_rows((RaceCounterArray){counters, width}, buckets, n, rows, range, delta);

	for (size_t i = 0; i < modelled; i++)
		for (uint32_t r = 0; r < rows; r++)
			model[(size_t) r * range + buckets[i * RACE_LANES + r]] += delta;
	race_counters_load(counters, width, 0, all, counted);
	for (size_t i = 0; i < all; i++)
		differs += counted[i] != model[i];
	return differs;
}

static void
test_bump(int width)
{
	static const uint32_t ranges[] = {2, 7, MAX_RANGE};
	int wrong = 0;
	int at_limit = 0;
	int weighted = 0;
	int forgotten = 0;

	for (int i = 0; i < 3; i++)
		for (uint32_t rows = 1; rows <= RACE_LANES; rows++)
			for (size_t n = 0; n <= MAX_RECORDS; n++)
			{
				int64_t delta = n % 2 == 0 ? 1 : -1;
				int64_t weight = race_counters_limit(width) / (int64_t) (n + 1);

				wrong += bump_differs(width, rows, ranges[i], n, n, delta, false);
				wrong += bump_differs(width, rows, ranges[i], n, n, -delta, false);
				at_limit += bump_differs(width, rows, ranges[i], n, n, delta, true);
				at_limit += bump_differs(width, rows, ranges[i], n, n, -delta, true);
				weighted += bump_differs(width, rows, ranges[i], n, n, weight, false);
				weighted += bump_differs(width, rows, ranges[i], n, n, -weight, true);
				if (n > 0 && n % 10 == 0)
					forgotten +=
						bump_differs(width, rows, ranges[i], n, n - 1, delta, false) != (int) rows;
			}
	ok(wrong == 0, "width %d: records are counted, and counted back", width);
	ok(at_limit == 0, "width %d: up to the limit", width);
	ok(weighted == 0, "width %d: with weights as large as there is space for", width);
	ok(forgotten == 0, "control: a record that is forgotten makes a difference in each row");
}

/* Buckets beyond the range, whatever made them, count in the last counter of their row. */
static void
test_beyond(int width)
{
	static const uint32_t beyond[] = {MAX_RANGE, MAX_RANGE + 1, UINT32_MAX / 2, UINT32_MAX};
	int wrong = 0;

	for (uint32_t rows = 1; rows <= RACE_LANES; rows++)
		for (int i = 0; i < 4; i++)
		{
			int64_t sum = 0;

			for (int k = 0; k < RACE_LANES; k++)
				buckets[k] = k % 3 == 0 ? beyond[i] : 5;
			memset(counters, 0, sizeof(counters));
			race_count_rows((RaceCounterArray){counters, width}, buckets, 1, rows, MAX_RANGE, 1);
			race_counters_load(counters, width, 0, MAX_COUNTERS, counted);
			for (uint32_t r = 0; r < rows; r++)
				wrong += counted[r * MAX_RANGE + (r % 3 == 0 ? MAX_RANGE - 1 : 5)] != 1;
			for (size_t k = 0; k < MAX_COUNTERS; k++)
				sum += counted[k];
			wrong += sum != rows;
		}
	ok(wrong == 0, "width %d: buckets beyond the range count in its last counter", width);
}

/* The same of cells, and of shares of a grid */
static void
test_counts(void)
{
	RaceShape cells = {.blocks = 2, .unit = 10, .range = 6};
	RaceShape grid = {.blocks = 1, .unit = 64, .range = 5, .nodes = {1, {4}}, .halvings = 2};
	int64_t counter[16] = {0};
	RaceCounterArray counters = {counter, 8};
	bool right;

	race_count_cells(&cells, counters, 1, (uint32_t[]){0, 7, 1, 2},
					 (int64_t[]){4, 6, 3, 7, 11, -1, 5, 6}, 2, 4, 3);
	ok(counter[6] == 12 && counter[7] == 18 && counter[8] == 30 && counter[9] == 0 &&
		   counter[10] == 30 + 9 && counter[11] == 21,
	   "parts that do not add up to the unit, or are negative, count as the first part; cells beyond are the last");

	memset(counter, 0, sizeof(counter));
	race_count_split(&grid, (uint32_t[]){0, 9}, (int64_t[]){24, 40}, 2, 2, counters);
	right = counter[0] == 48 && counter[4] == 80;
	/* more than the unit, a negative share, and no multiples of 4 */
	race_count_split(&grid, (uint32_t[]){1, 2}, (int64_t[]){24, 44}, 2, 1, counters);
	race_count_split(&grid, (uint32_t[]){1, 2}, (int64_t[]){-4, 68}, 2, 1, counters);
	race_count_split(&grid, (uint32_t[]){1, 2}, (int64_t[]){22, 42}, 2, 1, counters);
	ok(right && counter[1] == 0 && counter[2] == 0,
	   "shares of a grid that are not those of one record are left out");
	race_count_split(&grid, (uint32_t[]){1, 2}, (int64_t[]){24, 40}, 2, 1, counters);
	ok(counter[1] == 24 && counter[2] == 40, "control: others are counted");
}

#define NORM_ROWS 7
#define NORM_RANGE 33

static double
real_norms(const int64_t *values)
{
	double total = 0;

	for (int r = 0; r < NORM_ROWS; r++)
	{
		double sum = 0;

		for (int b = 0; b < NORM_RANGE; b++)
			sum += pow((double) values[r * NORM_RANGE + b], 3);
		total += cbrt(sum);
	}
	return total;
}

/* Norms of rows, and by how much m records change them; all rows at their worst as well */
static void
test_norms(int width)
{
	int64_t values[NORM_ROWS * NORM_RANGE];
	int64_t counters[NORM_ROWS * NORM_RANGE];
	double most = fmin((double) highest(width) / 4, 1e6);
	int wrong = 0;
	int largest = 0;

	for (uint64_t i = 0; i < 2000; i++)
	{
		int m = 1 + (int) (mix(i) % 5);
		bool together = i % 2 == 0;
		uint64_t before;
		int change;

		for (int k = 0; k < NORM_ROWS * NORM_RANGE; k++)
			values[k] = (int64_t) (mix(i * 1000 + k) % (uint64_t) most) * (mix(k + i) % 8 == 0) *
				(i % 4 != 0);
		race_counters_store(counters, width, 0, NORM_ROWS * NORM_RANGE, values);
		before = race_counters_norms(counters, width, NORM_ROWS, NORM_RANGE);
		wrong += !(real_norms(values) - before >= -1e-6 && real_norms(values) - before < NORM_ROWS);
		for (int k = 0; k < NORM_ROWS * m; k++)
			values[(k % NORM_ROWS) * NORM_RANGE +
				   (together ? 0 : mix(i + k * 7919) % NORM_RANGE)]++;
		race_counters_store(counters, width, 0, NORM_ROWS * NORM_RANGE, values);
		change = abs((int) (race_counters_norms(counters, width, NORM_ROWS, NORM_RANGE) - before));
		wrong += change > NORM_ROWS * m;
		if (m == 1 && change > largest)
			largest = change;
	}
	ok(wrong == 0,
	   "width %d: norms are rounded down, and m records change those of 7 rows by 7m at most",
	   width);
	ok(largest == NORM_ROWS, "width %d: control: one record changes all of them by 1", width);
}

static void
test_large_norms(void)
{
	int64_t values[3] = {INT64_C(3) << 30, -(INT64_C(4) << 30), INT64_C(5) << 30};

	ok(race_counters_norms(values, 8, 1, 3) == UINT64_C(6) << 30,
	   "norms of large counters are exact");
	values[0] = RACE_MAX_COUNT;
	values[1] = 0;
	ok(race_counters_norms(values, 8, 2, 1) == UINT64_C(1) << 36,
	   "counters beyond 2^36 count as 2^36");
}

int
main(void)
{
	test_widths();
	test_convert();
	for (int w = 0; w < 4; w++)
	{
		test_parts(widths[w]);
		test_bounds(widths[w]);
		test_sum(widths[w]);
		test_bump(widths[w]);
		test_beyond(widths[w]);
		test_norms(widths[w]);
	}
	test_counts();
	test_large_norms();
	return done_testing();
}
