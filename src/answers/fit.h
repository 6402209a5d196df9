/*
 * fit.h
 *		race_fit: models of sketches
 */
#ifndef RACE_FIT_H
#define RACE_FIT_H

#include "postgres.h"

#include "hash/params.h"
#include "sketch/call_site.h"
#include "sketch/record.h"
#include "sketch/records.h"
#include "sketch/sketch_format.h"
#include "answers/evaluator.h"
#include "answers/radial.h"
#include "answers/solver.h"

/*
 * Fitting a model to a sketch (design: race_fit).
 *
 * A sketch is R noisy histograms of the same records, seen through known hash functions.
 * A model is the non-negative distribution over points that explains all its counters
 * best (solver.h).  It costs no privacy, as it is computed from the sketch alone.
 */

#define RACE_MAX_CANDIDATES 65536  /* most points that a model is chosen from */
#define RACE_MAX_DENSE_POINTS 4096 /* most points whose Gram matrix is computed */

typedef struct RaceFitRequest
{
	const double *lower; /* [dims]: lower bounds, finite */
	const double *upper;
	uint32 points; /* most points; 0 for the usual number */
	int64 seed;
} RaceFitRequest;

/*
 * Find the bounds of points: those given, NULL for those of the parameters.  Return false if there
 * are none, or if the kernel does not compare vectors by themselves.
 */
extern bool race_fit_bounds(const RaceParams *params, const double *lower, const double *upper,
							RaceFitRequest *request);

/* Raise 22023 unless each lower bound is at most the upper one, and not too far from it. */
extern void race_fit_check_box(const RaceParams *params, const RaceFitRequest *request);

/* Return the sketch with a model whose points lie within bounds. */
extern RaceSketchDatum *race_fit_box(const RaceView *view, const RaceFitRequest *request);

/* Return whether sketches can have a model within their parameters' bounds; or fit one. */
extern bool race_fit_has_bounds(const RaceParams *params);
extern Datum race_fit_private(Datum sketch);

/* A fit while it is being made: points, what a sketch answers at them, and weights */
typedef struct RaceFitState
{
	const RaceView *view;
	RaceCallSite *site;         /* call site, which has the row functions */
	const RaceGridded *gridded; /* grid of the sketch, or NULL */
	uint32 rows;                /* number of first rows that weights are fitted to */
	uint32 first;               /* first row that points are moved to fit */
	uint32 end;                 /* row after the last one that points are moved to fit */
	double records;             /* sum of all weights */
	RaceRecords *points;
	bool complete;   /* whether the points are all that there may be */
	double *weights; /* [capacity]: weights by the first half of the rows */
	double *second;  /* [capacity]: weights by the second half */
	double *answers;
	uint16 *codes; /* [capacity][line] */
	RaceGram gram;
	const RaceRadial *radial; /* table of the kernel of a grid, or NULL */
	double *space;
} RaceFitState;

/*
 * Points that move to where records are
 *
 * Points at random find records that lie close together in few columns only, where the others are
 * wide.  So they are moved, all of the same weight.  What the counters hold beyond the points is a
 * landscape, which the points go up, with momentum: the flow of the maximum mean discrepancy
 * (Arbel, Korba, Salim & Gretton 2019).  It finds shapes and tails, but slowly where points are
 * much too wide in a direction.  Therefore all points are also mapped at once, to the mean and
 * covariance that explain the counters best (fit_flow.c).
 */

/* Return whether points of the sketch can flow: it compares distances, in blocks of rows. */
extern bool race_flow_can(const RaceParams *params);

/*
 * Move all points of the fit, as if each weighed the same.  Those of a surrogate loss are mapped
 * alone.  Return false if there are too many columns to map them.
 */
extern bool race_flow(RaceFitState *fit, const RaceBox *box);

#endif
