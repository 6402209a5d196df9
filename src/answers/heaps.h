/*
 * heaps.h
 *		Heaps of a column: round numbers that many records have
 *
 * A cell of numbers with fractions, or of several whole ones, counts as its middle.  But people and
 * instruments round: whole degrees in cells of a half are all at the lower edge of every other cell.
 * Then the counts of cells tell so.
 */
#ifndef RACE_HEAPS_H
#define RACE_HEAPS_H

#include "postgres.h"

#include "sketch/domain.h"

typedef struct RaceHeaps
{
	uint32 every; /* cells that begin with a multiple of so many widths have heaps; 0: none have */
	double share; /* share of the records of such a cell that is at its lower edge */
} RaceHeaps;

/* Find the heaps of a column, given the shares of its cells. */
extern void race_heaps_find(const RaceDomain *domain, const double *share, RaceHeaps *heaps);

/* Return the share of the records of a cell that is at its lower edge. */
extern double race_heaps_share(const RaceDomain *domain, const RaceHeaps *heaps, uint32 cell);

#endif
