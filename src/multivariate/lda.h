/*
 * lda.h
 *		The state of aggregates over classes, each with its moments.
 */
#ifndef RACE_LDA_H
#define RACE_LDA_H

#include "postgres.h"

#include "fmgr.h"
#include "utils/array.h"

#include "../learn/scores.h"
#include "classes.h"
#include "likely.h"

typedef struct RaceClassMoments
{
	RaceScores *scores;			/* labels, the prior */
	struct varlena **moments;	/* of each label, copies */
	uint32		capacity;
	Size		bytes;			/* of all copies */
	ArrayType  *x;				/* a copy, or NULL */
} RaceClassMoments;

typedef struct RaceClassModel
{
	RaceLikely *likely;			/* of each class */
	RaceClasses classes;
} RaceClassModel;

/*
 * Transition of an aggregate (label, moments [, x [, prior]]).  Rows with a NULL are left out.
 * Raises 22023 if classes differ in x or prior.
 */
extern Datum race_class_moments_step(FunctionCallInfo fcinfo);

/*
 * Linear discriminant analysis of the classes; all is palloc'd.  Raises 22023 for moments with different
 * parameters, 55000 for exact moments that tell nothing within classes.
 */
extern void race_class_model(const RaceClassMoments *state, bool columns_alone,
							 RaceClassModel *model);

#endif							/* RACE_LDA_H */
