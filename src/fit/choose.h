/*
 * choose.h
 *		Which of many candidates are the points of a model.
 */
#ifndef RACE_CHOOSE_H
#define RACE_CHOOSE_H

#include "work.h"

#define RACE_CHOSEN_POINTS	2000	/* fewer than RACE_MAX_DENSE_POINTS */

/*
 * Choose so many of more candidates as the points of a fit.  Returns their texts (NULL if
 * there are none).
 */
extern char *const *race_choose_points(RaceFitWork *fit, const RaceRecords *candidates,
									   char *const *texts);

/* Candidates at random, of those that came last: to look at residuals */
extern RaceRecords *race_choose_tests(const RaceRecords *candidates, const RaceParams *params);

#endif							/* RACE_CHOOSE_H */
