/*
 * fill.h
 *		Drawn records as rows of a table.
 *
 * The values of a record fill the columns in order: a column of an array type takes a whole
 * part of the record, any other column one number of a vector, one category, or a whole set.
 * They go through the input functions of the types; numbers for integers are rounded.
 * Columns that are left keep what they have in a given row, or are NULL.
 */
#ifndef RACE_FILL_H
#define RACE_FILL_H

#include "postgres.h"

#include "access/htup.h"
#include "access/tupdesc.h"

#include "draw.h"

typedef struct RaceFill RaceFill;

/*
 * Of this row type; `base` gives the columns that are left, or is NULL.  In the current
 * memory context.  Raises 42804 if the type has too few columns.
 */
extern RaceFill *race_fill_create(TupleDesc desc, HeapTupleHeader base,
								  const RaceFitted *fitted);

/* The row of a record */
extern Datum race_fill_row(RaceFill *fill, const RaceDrawn *drawn);

#endif							/* RACE_FILL_H */
