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

/* What is known of the columns of vectors */
typedef struct RaceColumns
{
	double		deviation[RACE_SCATTER_DIMS];	/* 0 = constant */
	bool		keep[RACE_SCATTER_DIMS];
	uint32		kept[RACE_SCATTER_DIMS];	/* numbers of those kept, */
	uint32		n;				/* and how many they are */
} RaceColumns;

/*
 * Whitening of the columns kept, none of them constant.  `ridge` is added to the diagonal of
 * their correlations; it must not be 0 if there are linear combinations.  False if there is no
 * such transform.
 */
extern bool race_whiten_columns(const RaceScatter *scatter, const RaceColumns *columns,
								double ridge, RaceWhitening *whitening);

/*
 * Whitening by the scatter within classes.  Raises 22023 if there is none.  A NOTICE names
 * columns that are left out; `aggregate` is the name of the aggregate.
 */
extern void race_whitening_of(const RaceScatter *scatter, const char *aggregate,
						RaceWhitening *whitening);

/* z = M x */
extern void race_whitening_apply(const RaceWhitening *whitening, const double *x, double *z);

/* Keep these directions of white vectors alone: M = directions[n][outputs] M. */
extern void race_whitening_keep(RaceWhitening *whitening, const double *directions, uint32 n);

/*
 * A race_transform, which the function is declared to return, of a whitening.  Its offset is the
 * mean of all vectors, or the one that is given.
 */
extern Datum race_transform_datum(FunctionCallInfo fcinfo, const RaceScatter *scatter,
								  const RaceWhitening *whitening);
extern Datum race_transform_of(FunctionCallInfo fcinfo, const RaceWhitening *whitening,
							   const double *offset);

#endif							/* RACE_WHITEN_H */
