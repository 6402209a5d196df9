/*
 * exact.c
 *		The exact counters of a summary, which nobody outside of src/privacy sees
 */
#include "privacy/exact_fields.h"
#include "privacy/products.h"

_Static_assert(sizeof(RaceExact) <= sizeof(RaceExactMemory), "exact counters need more memory");

RaceExact *
race_exact_begin(RaceExactMemory *memory, const RaceShape *shape)
{
	RaceExact *exact = (RaceExact *) memory;

	*exact = (RaceExact){.shape = shape};
	return exact;
}

void
race_exact_add(RaceExact *exact, const void *counters, int width, int64_t count)
{
	int half = exact->halves;

	if (half == RACE_EXACT_HALVES)
		return;
	exact->halves++;
	exact->counters[half] = counters;
	exact->width[half] = width;
	exact->count[half] = count;
}

int
race_exact_halves(const RaceExact *exact)
{
	return exact->halves;
}

/* Return the number of counters of a half. */
static size_t
counters_of(const RaceShape *shape)
{
	return shape->columns > 0 ? race_products_counters(shape->columns) :
								race_block_begin(shape, shape->blocks);
}

int64_t *
race_space_numbers(const RaceExact *exact, RaceSpace *space, size_t n)
{
	uintptr_t begin = (uintptr_t) space;
	uintptr_t end = begin + n * sizeof(int64_t);

	for (int half = 0; half < exact->halves; half++)
	{
		uintptr_t counters = (uintptr_t) exact->counters[half];

		if (begin < counters + counters_of(exact->shape) * (size_t) exact->width[half] &&
			counters < end)
			return NULL;
	}
	return (int64_t *) space;
}
