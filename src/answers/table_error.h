/*
 * table_error.h
 *		Discretisation error of tables
 *
 * Where records share a few places, the functions that are linear between nodes tell these apart
 * worst.  Nodes show what cells twice as wide would lose there (lsh/grid.h), and so about what
 * these do, which a question asked nearby errs by.
 */
#ifndef RACE_TABLE_ERROR_H
#define RACE_TABLE_ERROR_H

#include "../core/core.h"

typedef struct RaceLost RaceLost;

/* Of the nodes of a sketch, in a memory context, whose size it adds; NULL if there are too few */
extern RaceLost *race_lost_create(const RaceView *view, MemoryContext context, Size *size);

/* The variance that it gives a kernel sum at x, which lies within the bounds */
extern double race_lost_near(const RaceLost *lost, const double *x);

/* Average over neighbors with the weights 1/4, 1/2, 1/4 along each axis; at the bounds 3/4, 1/4. */
extern void race_grid_average(const RaceGrid *grid, double *v);

#endif
