/*
 * exact.c
 *		The exact counters of a summary, which nobody outside of src/privacy sees
 */
#include "privacy/exact_fields.h"

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
