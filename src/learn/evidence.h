/*
 * evidence.h
 *		What a pair of sketches says of a share at many places.
 *
 * The share is that of the upper sketch in both.  Of a grid the places are nodes, and what they
 * say has noise of its own each.  Of rows they are the points of the models, and what is
 * said is kernel sums, whose noise is correlated as the kernel is.
 */
#ifndef RACE_EVIDENCE_H
#define RACE_EVIDENCE_H

#include "postgres.h"

#include "../lsh/grid.h"
#include "../lsh/radial.h"
#include "../privacy/values.h"
#include "../query/question.h"

typedef struct RaceEvidence
{
	uint32		n;				/* places, none if nothing can be said */
	double	   *x;				/* [n][dims] of the parameters */
	double	   *places;			/* the same as it is measured, [radial->dims][n] */
	double	   *records;		/* how many there are, about, and not negative */
	double	   *said[RACE_HALVES];	/* [n] */
	double		noise;			/* the variance of what one sketch says */
	double		steps[RACE_GRID_DIMS];	/* between nodes, as measured; 0 of rows */
	float	   *gram;			/* [n][n], of rows; NULL: places by themselves */
	RaceRadial *radial;
} RaceEvidence;

/* Allocate and gather it.  The sites of the questions ask about other queries afterwards. */
extern void race_evidence_gather(RaceQuestion questions[RACE_HALVES], RaceEvidence *evidence);

/*
 * The kernel sum of a half at place i without bias, and its variance.  The variance of a grid
 * is that of noise in the middle, where it is largest.
 */
extern double race_evidence_sum(const RaceEvidence *evidence, const RaceQuestion *question,
								int half, uint32 i, double *variance);

/* out = what v records at the places would say */
extern void race_evidence_spread(const RaceEvidence *evidence, const double *v, double *out);

#endif							/* RACE_EVIDENCE_H */
