/*
 * heaps.c
 *		Heaps of a column: round numbers that many records have
 */
#include "postgres.h"

#include <math.h>

#include "answers/heaps.h"

/* Round numbers, in widths of cells, which are 1, 2, 2.5 or 5 times powers of ten */
static const uint32 multiples[] = {2, 4, 5, 10, 20};

/* Return whether a cell begins with a multiple of so many widths. */
static bool
begins_with(const RaceDomain *domain, uint32 cell, uint32 every)
{
	double width = domain->step.width;

	/* bounds cut the first cell */
	return (cell > 0 || domain->start == domain->lower) &&
		fmod(rint(domain->start / width) + cell, every) == 0;
}

void
race_heaps_find(const RaceDomain *domain, const double *share, RaceHeaps *heaps)
{
	RaceUnit unit = race_domain_unit(domain);
	double all = 0;
	double most = 0;

	*heaps = (RaceHeaps){0};
	if (domain->category || (unit != RACE_UNIT_NUMBER && unit != RACE_UNIT_WHOLE) ||
		!(domain->step.width > domain->finest))
		return;
	for (uint32 i = 0; i < domain->n; i++)
		all += share[i];
	for (size_t k = 0; k < lengthof(multiples) && all > 0; k++)
	{
		double expected = 1.0 / multiples[k]; /* without heaps */
		double found = 0;
		double heap;

		for (uint32 i = 0; i < domain->n; i++)
			found += begins_with(domain, i, multiples[k]) ? share[i] / all : 0;
		/* of all records; those beside heaps are in all cells alike */
		heap = (found - expected) / (1 - expected);
		if (heap > most)
		{
			most = heap;
			*heaps = (RaceHeaps){multiples[k], heap / found};
		}
	}
}

double
race_heaps_share(const RaceDomain *domain, const RaceHeaps *heaps, uint32 cell)
{
	return heaps->every > 0 && cell < domain->n && begins_with(domain, cell, heaps->every) ?
		heaps->share :
		0;
}
