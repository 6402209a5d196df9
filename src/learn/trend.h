/*
 * trend.h
 *		How the share of the upper one of two sketches depends on the place.
 *
 * Where there are few records, a share is told by what is around.  So its dependence on the
 * place is fitted: a smooth function, a priori a Gaussian process whose scale and smoothness
 * the sketches tell themselves.
 */
#ifndef RACE_TREND_H
#define RACE_TREND_H

#include "postgres.h"

#include "../privacy/values.h"
#include "../query/question.h"

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

#endif							/* RACE_TREND_H */
