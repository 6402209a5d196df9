/*
 * moments_answers.h
 *		Regression, discriminants, components and covariances from moments
 */
#ifndef RACE_MOMENTS_ANSWERS_H
#define RACE_MOMENTS_ANSWERS_H

#include "postgres.h"

#include "fmgr.h"
#include "utils/array.h"

#include "../core/core.h"
#include "classify.h"
#include "moments_psd.h"

/*
 * Moments as answers ask them: with the likely exact sums, and by columns of the record.
 *
 * Every answer from moments begins here.  Places count the numbers of v; place 0 is the constant
 * (moments/moments.h).  Columns count those of the record, from 1 on.
 */

typedef struct RaceLikely
{
	RaceMoments moments;
	RaceNoisy	noisy;			/* of v */
} RaceLikely;

/*
 * Look into moments.  `noisy` is palloc'd; the rest stays valid as long as the datum, which is
 * detoasted, is.  Raises 55000 for shares of which there are too few.
 */
extern void race_likely_open(Datum value, RaceLikely *likely);

/* The same without the likely sums, which take a decomposition of the matrix */
extern void race_noisy_open(Datum value, RaceLikely *likely);

/* The same for answers about columns alone: 22023 if there are features. */
extern void race_likely_open_columns(Datum value, RaceLikely *likely);

/* The place of a column; 22023 if there is none */
extern uint32 race_likely_place(const RaceLikely *likely, int column);

/* The number in v at a place is slope * x + shift; of features it is x itself. */
extern double race_likely_slope(const RaceLikely *likely, uint32 place);
extern double race_likely_shift(const RaceLikely *likely, uint32 place);

/* The column at a place, or 0 of the constant and of features */
extern int	race_likely_column(const RaceLikely *likely, uint32 place);

/*
 * A vector of finite numbers, one for each column, without NULLs: 22023.  `what` is for messages.
 */
extern const double *race_likely_vector(Datum array, uint32 n, const char *what);

/*
 * Principal components of moments.
 */

typedef struct RaceFoundComponents
{
	RaceLikely	likely;
	double	   *scale;			/* a unit of a column in that of components, over its slope */
	double	   *vectors;		/* of length 1, [dims][dims], in rows */
	RaceMeasured *variances;	/* [dims] */
} RaceFoundComponents;

/* Of columns in their units, or in their standard deviations.  All is palloc'd. */
extern void race_find_components(Datum moments, bool standardize, RaceFoundComponents *found);

/*
 * The state of aggregates over classes, each with its moments.
 */

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
	RaceDiscriminants classes;
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

/*
 * A column of moments, explained by the others.
 */

typedef struct RaceRegression
{
	RaceLikely	likely;
	RaceRidge	ridge;			/* the constant is its first predictor */
} RaceRegression;

/*
 * Explain a column by these columns and all features, or by all other columns if `predictors`
 * is NULL.  What is palloc'd stays.  Raises 22023 for columns that are not there, that come twice, or
 * that are the target.
 */
extern void race_regression_fit(Datum moments, int target, ArrayType *predictors,
								RaceRegression *regression);

/* The fitted value of a record's u (moments/moments.h), in units of the target, within its bounds */
extern double race_regression_value(const RaceRegression *regression, const double *u);

#endif
