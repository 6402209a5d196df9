/*
 * table_error.h
 *		Discretisation error of tables
 *
 * The error of a kernel sum is largest where records share a few places.  The nodes determine the local error of
 * cells twice as wide (core/table.h), which estimates that of these cells.
 */
#ifndef RACE_TABLE_ERROR_H
#define RACE_TABLE_ERROR_H

#include "../core/core.h"

typedef struct RaceTableError RaceTableError;

/* Create it in a memory context, and add its size; NULL if there are too few nodes. */
extern RaceTableError *race_table_error_create(const RaceView *view, MemoryContext context, Size *size);

/* The variance that it gives a kernel sum at x, which lies within the bounds */
extern double race_table_error_at(const RaceTableError *error, const double *x);

/* Average over neighbors with the weights 1/4, 1/2, 1/4 along each axis; at the bounds 3/4, 1/4. */
extern void race_grid_average(const RaceGrid *grid, double *v);

#endif
