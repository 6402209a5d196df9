/*
 * exact.c
 *		The exact counters of a summary, which nobody outside of src/privacy sees
 */
#include "privacy/exact_fields.h"
#include "privacy/products.h"

/* The last word of the memory is the number of the payer, which calls change. */
#define PAYER (sizeof(RaceExactMemory) / sizeof(uint64_t) - 1)

_Static_assert(sizeof(RaceExact) <= PAYER * sizeof(uint64_t), "exact counters need more memory");

RaceExact *
race_exact_begin(RaceExactMemory *memory, const RaceShape *shape)
{
	RaceExact *exact = (RaceExact *) memory;

	memory->words[PAYER] = 0;
	*exact = (RaceExact){.shape = shape, .payer = &memory->words[PAYER]};
	return exact;
}

/* Return the number of counters. */
static size_t
counters_of(const RaceShape *shape)
{
	return shape->columns > 0 ? race_products_counters(shape->columns) :
								race_block_begin(shape, shape->blocks);
}

/* Return whether so many bytes have some of the counters. */
static bool
overlaps_counters(const RaceExact *exact, const void *bytes, size_t n)
{
	uintptr_t begin = (uintptr_t) bytes;
	uintptr_t counters = (uintptr_t) exact->counters;
	size_t all = counters_of(exact->shape) * (size_t) exact->width;

	return exact->counters != NULL && begin < counters + all && counters < begin + n;
}

void
race_exact_add(RaceExact *exact, const void *counters, int width, int64_t count, uint64_t weight)
{
	if (exact->counters != NULL)
		return;
	exact->counters = counters;
	exact->width = width;
	exact->count = count;
	exact->weight = weight;
}

int64_t *
race_space_numbers(const RaceExact *exact, RaceSpace *space, size_t n)
{
	return overlaps_counters(exact, space, n * sizeof(int64_t)) ? NULL : (int64_t *) space;
}
