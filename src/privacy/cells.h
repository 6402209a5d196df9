/*
 * cells.h
 *		Which cells of a grid a release keeps.
 *
 * Fine cells have more noise in a kernel sum, and coarse ones lose more of the table.  How much
 * that is depends on the table: a flat one loses nothing for cells that a line cannot do with.  So a
 * pure release looks at what cells a little coarser than usual would lose, with noise, and takes
 * those whose error is then expected to be least.
 */
#ifndef RACE_CELLS_H
#define RACE_CELLS_H

#include "plan.h"

#define RACE_MOST_CELLS		32	/* more than there are choices of halvings and levels */

/* All that a release may keep of a grid, and the variance of noise in a kernel sum then */
typedef struct RaceCells
{
	int			n;
	RaceKept	kept[RACE_MOST_CELLS];
	double		noise[RACE_MOST_CELLS];
	RaceKept	usual;			/* the best of tables as they usually are; */
	int			halvings;		/* the best of one level, */
	double		loss;			/* and what these tables are expected to lose then */
} RaceCells;

/* `mass` is how many records a typical kernel sum is. */
extern void race_cells_list(const RaceRequest *request, const RaceParams *params, double mass,
							RaceCells *cells);

/* After how many halvings to look at what the last one loses; 0: there is nothing to see */
extern int	race_cells_look_at(const RaceParams *params, const RaceCells *cells);

/* What was seen there, with discrete Laplace noise of a scale, which is given as a real number */
typedef struct RaceCellsSeen
{
	int			halvings;
	double		detail;			/* as in RaceGridLook */
	double		spread;
	double		scale;
} RaceCellsSeen;

/* The best, where sums are asked of `part` of a table with so many records */
extern RaceKept race_cells_choose(const RaceParams *params, const RaceCells *cells,
								  const RaceCellsSeen *seen, double records, double part);

#endif							/* RACE_CELLS_H */
