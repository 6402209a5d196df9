/*
 * questions.h
 *		The questions as functions, for those who ask them of a release by name.
 */
#ifndef RACE_QUESTIONS_H
#define RACE_QUESTIONS_H

#include "postgres.h"

#include "fmgr.h"

extern Datum race_count(PG_FUNCTION_ARGS);
extern Datum race_kernel_sum(PG_FUNCTION_ARGS);
extern Datum race_kernel_sum_mom(PG_FUNCTION_ARGS);
extern Datum race_kde(PG_FUNCTION_ARGS);
extern Datum race_estimate(PG_FUNCTION_ARGS);
extern Datum race_kde_grid(PG_FUNCTION_ARGS);
extern Datum race_info(PG_FUNCTION_ARGS);
extern Datum race_classify_array(PG_FUNCTION_ARGS);

/* (sketches, q, prior, labels text[]) -> jsonb */
extern Datum race_posterior_array(PG_FUNCTION_ARGS);

#endif							/* RACE_QUESTIONS_H */
