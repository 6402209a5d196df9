/*
 * proportion_gp.h
 *		Gaussian-process regression of proportions
 */
#ifndef RACE_PROPORTION_GP_H
#define RACE_PROPORTION_GP_H

#include "postgres.h"

#include "question.h"

/*
 * The share of the upper sketch of a pair in both, as a function of the place.
 *
 * Where there are few records, a share is predicted from those around.  A priori the function is
 * a Gaussian process, whose scale and smoothness the sketches determine.
 */
typedef struct RaceProportion RaceProportion;

/*
 * Return the function of two sketches, which were asked at these call sites; or NULL if there is none:
 * grids and fitted sketches of vectors have one, if there is noise.  It stays as long as the
 * first site asks the same sketches.  Later queries come after this call.
 */
extern const RaceProportion *race_proportion_at(RaceQuestion questions[RACE_HALVES]);

/* Prediction of a kernel-weighted mean of shares */
typedef struct RacePrediction
{
	double		share;
	double		variance;		/* of the regression */
	double		nugget;			/* variance of shares around the smooth function */
} RacePrediction;

/* Predict at a vector.  Return false if it lies outside of the box of the regression. */
extern bool race_proportion_predict(const RaceProportion *proportion, const double *x,
									RacePrediction *prediction);

#endif
