/*
 * madeup.h
 *		Vectors that are made up, to try out what a release would do.
 */
#ifndef RACE_MADEUP_H
#define RACE_MADEUP_H

#include "postgres.h"

#include "utils/array.h"

#include "../record/records.h"

/* How made-up vectors are distributed */
typedef struct RaceShape
{
	const RaceParams *params;
	uint32		rows;
	const double *numbers;		/* [rows][per_row] */
	uint32		per_row;
	bool		normal;			/* rows are {weight, means, deviations}, else they are drawn */
} RaceShape;

/*
 * A mixture of normals, {weight, means, standard deviations} in each row; or public rows; or,
 * with neither of them, three normals between the bounds of the parameters.  Raises 22023 for
 * what is no such array, for both of them, and without bounds.
 */
extern void race_shape_read(const RaceParams *params, ArrayType *mixture, ArrayType *rows,
							RaceShape *shape);

/* Draw n vectors, clipped to the bounds.  The same seed and stream give the same ones. */
extern RaceRecords *race_shape_draw(const RaceShape *shape, uint32 n, int64 seed, uint32 stream);

#endif							/* RACE_MADEUP_H */
