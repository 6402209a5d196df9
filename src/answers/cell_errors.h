/*
 * cell_errors.h
 *		What the cells of a grid change of a kernel sum
 *
 * A record at x changes an answer by k(x, q) - (P k)(x, q), where P k is the projection of the
 * kernel onto splines (grid_kernels.h).  Records that lie evenly within cells are summed exactly;
 * where they lie within theirs, nodes do not show.  Along an axis the change is about half of the
 * kernel's second difference times t^2 - t + 1/6, where t is the place in the cell.  Three cases
 * bound it, and intervals allow for all of them:
 *
 *	cells:	records of a node share a place, and nodes differ: squares add up over nodes.  Around a
 *			question, where the kernel has its peak, all records of a node are taken to share one:
 *			a lattice whose spacing is near a cell leaves nodes that are almost alike.
 *	planes:	records of a plane of nodes share a place along the axis across it, as where a column
 *			has a few values: changes add up within a plane, and squares over planes.
 *	whole:	records of all planes do, as on a lattice whose spacing is some cells.
 *
 * Elsewhere nodes differ from their neighbors, one or two cells away, by about what they have: so
 * only records by which nodes differ count, beyond noise.
 *
 * Positions are rounded to parts of a cell, too, and those of records that share a place alike: a
 * sum changes by the kernel's slope, in a plane or in all planes.
 */
#ifndef RACE_CELL_ERRORS_H
#define RACE_CELL_ERRORS_H

#include "postgres.h"

#include "answers/grid_kernels.h"

/* Squared changes by one level, in records; that of the whole not squared */
typedef struct RaceCellChange
{
	double cells;
	double planes;
	double whole;
	double moves;                      /* if records of each plane move by a cell across it */
	double whole_move[RACE_GRID_DIMS]; /* if all records move by a cell; not squared */
} RaceCellChange;

/* Make the errors of a level, whose kernel is not convolved yet in `kernel`. */
extern RaceCellErrors *race_cell_errors_make(const RaceGridKernel *level, const RaceRadial *kernel);

/*
 * Bound the changes of a sum at a place, in cells of the level, whose nodes add up to so many
 * records and have noise of this variance: an interval of 95 % holds the largest that any place within cells leads to.  *uneven is
 * the share of squared records of planes by which they differ from their neighbors, the largest of
 * this level and finer ones: what is uneven in fine cells is so in coarse ones, which do not show
 * it where a plane of a lattice is on each of their nodes.
 */
extern RaceCellChange race_cell_change(const RaceGridKernel *level, const double *nodes,
									   double records, double noise, const double *at,
									   double *uneven);

#endif
