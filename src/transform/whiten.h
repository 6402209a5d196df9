/*
 * whiten.h
 *		The map after which the columns of vectors are alike.
 */
#ifndef RACE_WHITEN_H
#define RACE_WHITEN_H

#include "postgres.h"

#include "fmgr.h"
#include "utils/array.h"

#include "scatter.h"

/* M, whose rows are as many as columns that were not left out */
typedef struct RaceWhitening
{
	uint32		dims;
	uint32		outputs;
	double	   *matrix;			/* [outputs][dims] */
} RaceWhitening;

/*
 * Whitening by the scatter within classes.  Raises 22023 if there is none.  A NOTICE names
 * columns that are left out; `aggregate` is the name of the aggregate.
 */
extern void race_whitening_of(const RaceScatter *scatter, const char *aggregate,
						RaceWhitening *whitening);

/*
 * A race_transform, which the function is declared to return, of a matrix [outputs][dims].
 * Its offset is the mean of all vectors.
 */
extern Datum race_transform_datum(FunctionCallInfo fcinfo, const RaceScatter *scatter,
								  const double *matrix, uint32 outputs);

#endif							/* RACE_WHITEN_H */
