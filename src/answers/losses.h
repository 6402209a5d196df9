/*
 * losses.h
 *		Losses of linear models
 */
#ifndef RACE_LOSSES_H
#define RACE_LOSSES_H

#include "postgres.h"

#include "question.h"

/* Raise 22023 for parameters that are not those of a surrogate loss. */
extern void race_loss_check(const RaceParams *params);

/*
 * The queries of theta, [queries][race_hashed_width], in `lifted`.  Raises 22023 if theta is
 * not within the radius of queries.
 */
extern void race_loss_lift(const RaceParams *params, const double *theta, double *lifted);

/* The mean loss of the records; the queries of theta are lifted. */
extern double race_loss_estimate(RaceQuestion *question, const double *lifted);

/* The standard deviation that the noise of the rows gives the mean loss */
extern double race_loss_noise(const RaceView *view);

#endif
