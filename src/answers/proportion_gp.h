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

/*
 * Smoothed class probabilities along a score, from noisy counts of its nodes.
 *
 * Some of the records at a place have a property: their share is a curve, linear between nodes.
 * Records are split linearly over the two nodes around them, so a node has a weighted mean of the
 * curve.  A curve is an expected one and a deviation, a Gaussian process.  All curves have the
 * same standard deviation, which is not known.
 */
typedef struct RaceCurves
{
	int			n;
	uint32		cells;			/* between nodes */
	double		variance;		/* of the noise of `having` */
	double	   *records;		/* [n][cells + 1]: at each node, */
	double	   *having;			/* [n][cells + 1]: and of these with the property */
	double	   *shares;			/* [n][cells + 1]: expected, between 0 and 1 */
} RaceCurves;

/* Allocate n curves. */
extern RaceCurves *race_curves_create(int n, uint32 cells, double variance);

/* Replace expected shares by posterior means, which may be a little beyond 0 and 1. */
extern void race_curves_fit(RaceCurves *curves);

#endif
