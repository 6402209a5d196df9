/*
 * packed_test.c
 *		Packed counters: what comes out is what went in, in few bytes, and nothing else does.
 */
#include <stdlib.h>
#include <string.h>

#include "../../src/core/counters.h"
#include "helpers.h"
#include "tap.h"

#define MOST	4096

static const int widths[4] = {1, 2, 4, 8};
static int64_t counters[MOST + 1];		/* aligned for any width */
static unsigned char packed[16 * MOST + 64];

static uint64_t
test_random(void)
{
	static uint64_t drawn = 0;

	return mix(++drawn);
}

/* Write a counter, of any size that fits. */
static void
set(int width, size_t i, int64_t value)
{
	race_counters_store(counters, width, i, 1, &value);
}

static size_t
pack(int width, size_t n, size_t size)
{
	RacePacking packing;

	race_packing_plan(counters, width, n, &packing);
	return race_pack(&packing, counters, width, n, packed, size);
}

/* Does it come back, in as many bytes as the plan says, and in no fewer? */
static bool
round_trips(int width, size_t n)
{
	static int64_t again[MOST + 1];
	RacePacking packing;
	size_t		size;

	race_packing_plan(counters, width, n, &packing);
	size = race_pack(&packing, counters, width, n, packed, packing.most);
	memset(again, 0, n * width);
	return size >= packing.least && size > 0 &&
		race_pack(&packing, counters, width, n, packed, size - 1) == 0 &&
		race_pack(&packing, counters, width, n, packed, size) == size &&
		race_unpack(packed, size, again, width, n) == NULL &&
		memcmp(again, counters, n * width) == 0;
}

/* Counters of every width, as many as `share` of them not zero, up to so many bits */
static void
fill(int width, size_t n, int share, int bits, bool negative)
{
	size_t		i;

	memset(counters, 0, sizeof(counters));
	for (i = 0; i < n; i++)
		if (test_random() % 256 < (uint64_t) share)
		{
			int			few = test_random() % bits;
			int64_t		size = (int64_t) (test_random() >> (63 - few));

			set(width, i, negative && test_random() % 2 ? -size : size);
		}
}

static void
test_round_trips(void)
{
	static const size_t sizes[] = {1, 2, 63, 64, 511, 512, 513, MOST};
	int			wrong = 0;
	int			tried = 0;
	size_t		s;
	int			w;
	int			share;
	int			negative;

	for (w = 0; w < 4; w++)
		for (s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
			for (share = 0; share <= 256; share += 32)
				for (negative = 0; negative < 2; negative++)
				{
					int			bits = widths[w] == 8 ? 62 : 8 * widths[w] - 1;

					fill(widths[w], sizes[s], share, bits, negative);
					wrong += !round_trips(widths[w], sizes[s]);
					tried++;
				}
	ok(wrong == 0, "%d of %d arrays come back wrong", wrong, tried);
}

static void
test_extremes(void)
{
	static const int64_t ends[] = {
		1, -1, INT8_MAX, INT8_MIN, INT16_MIN, INT32_MIN, RACE_MAX_COUNT, -RACE_MAX_COUNT
	};
	int			wrong = 0;
	size_t		i;
	size_t		j;

	for (i = 0; i < 8; i++)
		for (j = 0; j < 8; j++)
		{
			memset(counters, 0, sizeof(counters));
			counters[0] = ends[i];
			counters[MOST - 1] = ends[j];
			wrong += !round_trips(8, MOST);
			wrong += !round_trips(8, 1);
		}
	ok(wrong == 0, "the largest and smallest counters come back");
	memset(counters, 0, sizeof(counters));
	ok(round_trips(1, MOST) && pack(1, MOST, sizeof(packed)) == 6, "zeros take six bytes");
}

/* Counters of one content are the same bytes, however wide they are. */
static void
test_widths(void)
{
	unsigned char first[sizeof(packed)];
	int64_t		wide[MOST];
	size_t		size;
	int			same = 0;
	int			w;

	fill(1, MOST, 60, 7, true);
	race_counters_load(counters, 1, 0, MOST, wide);
	size = pack(1, MOST, sizeof(packed));
	memcpy(first, packed, size);
	for (w = 0; w < 4; w++)
	{
		race_counters_store(counters, widths[w], 0, MOST, wide);
		same += pack(widths[w], MOST, sizeof(packed)) == size && memcmp(packed, first, size) == 0;
	}
	ok(same == 4, "packed counters do not depend on the width");
}

/* Bytes with the orders given are never much shorter than those that are chosen. */
static void
test_orders(void)
{
	int			worst = 0;
	int			bits;

	for (bits = 1; bits <= 40; bits += 3)
	{
		RacePacking packing;
		RacePacking other;
		size_t		chosen;
		size_t		best;

		fill(8, MOST, 256 >> (bits % 6), bits, false);
		race_packing_plan(counters, 8, MOST, &packing);
		best = chosen = race_pack(&packing, counters, 8, MOST, packed, packing.most);
		for (other = packing, other.gap_order = 0; other.gap_order < 8; other.gap_order++)
			for (other.counter_order = 0; other.counter_order < 31; other.counter_order++)
			{
				size_t		size = race_pack(&other, counters, 8, MOST, packed, sizeof(packed));

				if (size > 0 && size < best)
					best = size;
			}
		if ((int) (1000 * chosen / best) > worst)
			worst = 1000 * chosen / best;
	}
	ok(worst <= 1050, "orders that are chosen take at most %d thousandths of the best", worst);
}

/* Sparse counters, for bytes that are then damaged */
static size_t
sample(void)
{
	memset(counters, 0, sizeof(counters));
	set(1, 3, 1);
	set(1, 4, 100);
	set(1, 90, 7);
	return pack(1, 100, sizeof(packed));
}

static bool
refuses(size_t size, size_t n, const char *problem)
{
	int64_t		to[MOST];
	const char *found;

	memset(to, 0, sizeof(to));
	found = race_unpack(packed, size, to, 1, n);
	return found != NULL && strstr(found, problem) != NULL;
}

static void
test_damage(void)
{
	size_t		size = sample();
	size_t		i;
	int			cut = 0;

	for (i = 0; i < size; i++)
		cut += refuses(i, 100, "cut off");
	ok(cut == (int) size, "bytes that end early are refused");
	ok(refuses(size, 90, "beyond"), "and counters beyond the last");
	ok(refuses(size, 2, "more packed counters"), "and more of them than there are");
	packed[2] = 4;
	ok(refuses(size, 100, "cut off"), "and fewer than they claim");
	sample();
	packed[0] = 32;
	ok(refuses(size, 100, "order"), "and an unknown order");
	sample();
	packed[1] |= 64;
	ok(refuses(size, 100, "order"), "of counters too");
	memset(packed, 0, 64);
	packed[2] = 1;
	ok(refuses(64, 100, "too large"), "and a number of more than 63 bits");
	counters[0] = 1000;
	ok(refuses(pack(8, 1, sizeof(packed)), 1, "too large for its width"),
	   "and a counter that is too large");
}

/* Random bytes: positions are in order and below n, counters within their bounds. */
static void
test_random_bytes(void)
{
	uint32_t	positions[RACE_COUNTER_BLOCK];
	int64_t		values[RACE_COUNTER_BLOCK];
	int			wrong = 0;
	int			good = 0;
	int			try;

	for (try = 0; try < 100000; try++)
	{
		size_t		size = test_random() % 60;
		int64_t		last = -1;
		RaceUnpacker unpacker;
		size_t		n = 1 + test_random() % 1000;
		unsigned char *bytes = malloc(size + 1);	/* for sanitizers: no byte more */
		size_t		m;
		size_t		i;

		for (i = 0; i < size; i++)
			bytes[i] = test_random();
		if (size > 6)
		{
			bytes[0] %= 34;
			bytes[1] = (bytes[1] & 128) | bytes[1] % 34;
			memset(bytes + 3, 0, 3);
		}
		race_unpack_start(&unpacker, bytes, size, n);
		while ((m = race_unpack_next(&unpacker, positions, values)) > 0)
			for (i = 0; i < m; last = positions[i++])
				wrong += (int64_t) positions[i] <= last || positions[i] >= n || values[i] == 0 ||
					values[i] > RACE_MAX_COUNT || values[i] < -RACE_MAX_COUNT;
		good += unpacker.in.problem == NULL;
		free(bytes);
	}
	ok(wrong == 0 && good > 100, "random bytes: %d are counters, %d of them wrong", good, wrong);
}

int
main(void)
{
	test_round_trips();
	test_extremes();
	test_widths();
	test_orders();
	test_damage();
	test_random_bytes();
	return done_testing();
}
