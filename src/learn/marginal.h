/*
 * marginal.h
 *		The distribution of one number of the records, from the model of a sketch.
 *
 * The points have values of this number.  Half of the weight of a value is spread evenly up
 * to the middle between it and the next value above, the other half to the next below; but
 * not farther than half a bandwidth, and at both ends as far as on the other side, within the
 * bounds.  So the distribution function is continuous.
 */
#ifndef RACE_MARGINAL_H
#define RACE_MARGINAL_H

#include "postgres.h"

#include "columns.h"
#include "fitted.h"

typedef struct RaceMarginal RaceMarginal;

/* Of a column; in the current memory context */
extern RaceMarginal *race_marginal_create(const RaceFitted *fitted,
										  const RaceColumnPlace *place);

/* The value below which a share p of all records lies, 0 <= p <= 1 */
extern double race_marginal_quantile(const RaceMarginal *marginal, double p);

#endif							/* RACE_MARGINAL_H */
