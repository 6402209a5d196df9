/*
 * levels.h
 *		The levels of a grid that a question visits.
 *
 * So that it need not visit all nodes, the kernel is split by distance, as the multilevel summation
 * method does (Hardy 2006): the fine nodes sum what is near, coarser ones the smooth rest.  The sketch
 * has one or two levels, and others follow from these exactly.  Each level answers for what its nodes say
 * of the table (projection.h), but for heaps (heaps.h).
 */
#ifndef RACE_LEVELS_H
#define RACE_LEVELS_H

#include "postgres.h"

#include "../lsh/grid.h"
#include "../lsh/radial.h"
#include "../sketch/sketch.h"

typedef struct RaceLevel
{
	RaceGrid	grid;			/* wider than the bounds, once it is projected, */
	uint32		outside;		/* by so many nodes at each */
	double		smooth;			/* the step whose peak finer levels sum; 0 for the first */
	double	   *records;		/* at the nodes */
	double		reach;			/* where its kernel ends, in bandwidths; INFINITY */
	RaceRadial *kernel;			/* of this level */
	double	   *by_square;		/* the same by the square of the distance, or NULL: */
	double		squares;		/* so many entries for each square bandwidth */
} RaceLevel;

#define RACE_MOST_LEVELS	16

typedef struct RaceLevels
{
	int			n;
	RaceLevel  *level[RACE_MOST_LEVELS];
	/* what was taken out of the nodes: places, in bandwidths from the first node on, and records */
	size_t		heaps;
	double	   *places;
	double	   *heaped;
	RaceRadial *kernel;			/* that is asked there; NULL if there are no heaps */
} RaceLevels;

/* Of a sketch that is a grid, with so many records, in a memory context, whose size it adds */
extern void race_levels_make(const RaceView *view, double records, RaceLevels *levels,
							 MemoryContext context, Size *size);

#endif							/* RACE_LEVELS_H */
