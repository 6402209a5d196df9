/*
 * column.h
 *		Records as they are hashed: a column for each part of the kernel
 */
#ifndef RACE_COLUMN_H
#define RACE_COLUMN_H

#include "hash/kernel.h"
#include "hash/params.h"

/*
 * Records as they are hashed, of one part of the kernel.  Vectors: numbers, finite
 * and clipped.  Rows of categories: elements.  Sets: record i has the elements
 * starts[i] ... starts[i + 1] - 1.
 */
typedef struct RaceColumn
{
	const double *numbers; /* [n][width] */
	/* [n][width]: elements of rows, or those of all sets one after the other */
	const uint64_t *elements;
	const size_t *starts; /* [n + 1] */
	uint32_t width;       /* length of a vector or row */
} RaceColumn;

/* Return the column without its first i records. */
extern RaceColumn race_column_from(const RaceColumn *column, size_t i);

/*
 * Return whether a column is one without anything.  A question about a product may leave out parts
 * of its record: what they are does not matter, and their kernel is 1.
 */
static inline bool
race_column_is_any(const RaceColumn *column)
{
	return column->numbers == NULL && column->elements == NULL && column->starts == NULL;
}

/* Clip n numbers to the bounds of a part, which may have both, one or none. */
extern void race_vector_clip(const RaceParams *part, double *x, uint32_t n);

/* Return what kind of record a part has. */
extern RaceRecordKind race_record_kind(const RaceParams *part);

/* Return how many columns a part has, a set being one; and all parts together. */
extern uint32_t race_part_elements(const RaceParams *part);
extern uint32_t race_params_columns(const RaceParams *params);

/* Return whether all parts state their dims, if they have dims: all but sets. */
extern bool race_params_complete(const RaceParams *params);

#endif
