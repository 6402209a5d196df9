/*
 * columns.h
 *		Records as rows of columns: each number and each category is one, a set is one.
 *
 * Columns are counted from 1 on, over all parts of a kernel, as race_sample fills them.
 */
#ifndef RACE_COLUMNS_H
#define RACE_COLUMNS_H

#include "postgres.h"

#include "../params/params.h"

typedef struct RaceColumnPlace
{
	const RaceParams *params;	/* of the part */
	int			part;			/* from 0 on */
	uint32		element;		/* of its records, from 0 on */
} RaceColumnPlace;

/* How many columns a part has */
extern uint32 race_part_elements(const RaceParams *part);

/* Where a column that is a number is.  Error 22023 for others. */
extern RaceColumnPlace race_find_column(const RaceParams *params, int32 column);

/* A bound of a column, or `otherwise` without one */
extern double race_column_bound(const RaceColumnPlace *place, RaceArray bounds, double otherwise);

#endif							/* RACE_COLUMNS_H */
