/*
 * sort.c
 *		Sorting that a user can interrupt.
 *
 * A radix sort in place, from the highest byte (McIlroy, Bostic & McIlroy 1993,
 * "American flag sort").  Elements are hashed, so a byte makes parts of about the
 * same size, and a million elements are small parts after two bytes.  Equal elements
 * stay together in every byte, and cost no more than others.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "sort.h"

#define FEW		256				/* qsort() is faster for up to this many elements */

static int
compare_elements(const void *a, const void *b)
{
	uint64		x = *(const uint64 *) a;
	uint64		y = *(const uint64 *) b;

	return (x > y) - (x < y);
}

#define ByteAt(x, shift)	((x) >> (shift) & 0xFF)

/*
 * Where the elements with each byte end: ends[b] is where those with byte b + 1
 * start.
 */
static void
find_ends(const uint64 *elements, size_t n, int shift, size_t *ends)
{
	size_t		sum = 0;
	size_t		i;
	int			b;

	memset(ends, 0, 256 * sizeof(size_t));
	for (i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		ends[ByteAt(elements[i], shift)]++;
	}
	for (b = 0; b < 256; b++)
		ends[b] = sum += ends[b];
}

/* Move each element to a place of its byte. */
static void
permute(uint64 *elements, int shift, const size_t *ends)
{
	size_t		next[256];
	int			b;

	next[0] = 0;
	memcpy(next + 1, ends, 255 * sizeof(size_t));
	for (b = 0; b < 256; b++)
		while (next[b] < ends[b])
		{
			size_t		from = next[b];
			uint64		x = elements[from];
			size_t		to = next[ByteAt(x, shift)]++;

			CHECK_FOR_INTERRUPTS();
			elements[from] = elements[to];
			elements[to] = x;
		}
}

/* Sort elements that are equal in all bits above the byte at `shift`. */
static void
sort_from(uint64 *elements, size_t n, int shift)
{
	size_t		ends[256];
	size_t		start = 0;
	int			b;

	if (n <= FEW)
	{
		qsort(elements, n, sizeof(uint64), compare_elements);
		return;
	}
	find_ends(elements, n, shift, ends);
	permute(elements, shift, ends);
	for (b = 0; b < 256 && shift > 0; b++)
	{
		sort_from(elements + start, ends[b] - start, shift - 8);
		start = ends[b];
	}
}

void
race_sort_elements(uint64 *elements, size_t n)
{
	sort_from(elements, n, 56);
}

void
race_normalize_set(uint64 *elements, size_t *n)
{
	size_t		distinct = 0;
	size_t		i;

	race_sort_elements(elements, *n);
	for (i = 0; i < *n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (i == 0 || elements[i] != elements[distinct - 1])
			elements[distinct++] = elements[i];
	}
	*n = distinct;
}
