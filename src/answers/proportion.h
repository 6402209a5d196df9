/*
 * proportion.h
 *		Conditional means: Gaussian-process regression of a proportion
 */
#ifndef RACE_PROPORTION_H
#define RACE_PROPORTION_H

#include "postgres.h"

#include "fmgr.h"

#include "../core/core.h"
#include "question.h"

/*
 * The mean of a value near a query, from a pair of sketches.
 */

/* Both sketches are asked at call sites of their own. */
typedef struct RaceHalfSites
{
	RaceCallSite *sites[RACE_HALVES];
} RaceHalfSites;

/* Call sites in a memory context, for queries of this type */
extern void race_half_sites_create(RaceHalfSites *sites, Oid type, MemoryContext context);

/* The pair, and the bounds that its sketches stand for */
typedef struct RaceValuePair
{
	Datum		sketches[RACE_HALVES];
	double		bounds[RACE_HALVES];
} RaceValuePair;

/* The row that race_conditional_mean returns */
extern Datum race_conditional_mean_row(FunctionCallInfo fcinfo, RaceHalfSites *sites,
									   const RaceValuePair *pair, Datum query,
									   double confidence);

/*
 * Local observations of a proportion.
 *
 * The share is that of the upper sketch in both.  Of a grid the places are nodes, and what they
 * say has noise of its own each.  Of rows they are the points of the models, and what is
 * said is kernel sums, whose noise is correlated as the kernel is.
 */

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

/*
 * Gaussian-process regression of a proportion.
 *
 * Where there are few records, a share is told by what is around.  So its dependence on the
 * place is fitted: a smooth function, a priori a Gaussian process whose scale and smoothness
 * the sketches tell themselves.
 */

typedef struct RaceTrend RaceTrend;

/*
 * The trend of two sketches, which were asked at these call sites; or NULL if they have none:
 * grids and fitted sketches of vectors have one, if there is noise.  It stays as long as the
 * first site asks the same sketches.  Later queries come after this call.
 */
extern const RaceTrend *race_trend_at(RaceQuestion questions[RACE_HALVES]);

/* What it says of a kernel-weighted mean */
typedef struct RaceTrendShare
{
	double		share;
	double		variance;		/* of what was fitted */
	/* the variance of shares around it; of a grid in parts of the standard deviation of noise */
	double		beyond;
	double		moved;			/* by how much cells had changed it, about */
} RaceTrendShare;

/* At a vector.  False if it lies outside of what the trend covers. */
extern bool race_trend_share(const RaceTrend *trend, const double *x, RaceTrendShare *share);

#endif
