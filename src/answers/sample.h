/*
 * sample.h
 *		Synthetic records
 */
#ifndef RACE_SAMPLE_H
#define RACE_SAMPLE_H

#include "postgres.h"

#include "../core/core.h"
#include "classify.h"

/*
 * The model of a sketch, as a distribution.
 *
 * A point of a model stands for as many records as it weighs.  What is asked of the records
 * themselves (samples, quantiles, shares) is asked of the points, by weight.
 */

typedef struct RaceFitted
{
	RaceView	view;			/* of a sketch that has a model, which was checked */
	RaceColumn	columns[RACE_MAX_PARTS];	/* of its points */
	double	   *passed;			/* [points]: what points up to this one weigh together */
	double		total;			/* what all weigh, above 0 */
} RaceFitted;

/*
 * Of a sketch, in the current memory context.  A grid without a model is fitted first, as
 * it has bounds; of other sketches this raises 55000.
 */
extern void race_fitted_open(Datum sketch, RaceFitted *fitted);

/* The numbers of a point in a part that is a vector */
extern const double *race_fitted_vector(const RaceFitted *fitted, int part, uint64 point);

/*
 * The distribution of one number of the records, from the model of a sketch.
 *
 * The points have values of this number.  Half of the weight of a value is spread evenly up
 * to the middle between it and the next value above, the other half to the next below; but
 * not farther than half a bandwidth, and at both ends as far as on the other side, within the
 * bounds.  So the distribution function is continuous.
 */

typedef struct RaceMarginal RaceMarginal;

/* Of a column; in the current memory context */
extern RaceMarginal *race_marginal_create(const RaceFitted *fitted,
										  const RaceColumnPlace *place);

/* The value below which a share p of all records lies, 0 <= p <= 1 */
extern double race_marginal_quantile(const RaceMarginal *marginal, double p);

#endif
