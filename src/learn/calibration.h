/*
 * calibration.h
 *		How many records of each class have a score, by private sketches of the scores.
 *
 * A score, as race_scores_number() has it, says which class is best, and its lead.  A sketch
 * of scores is a grid: so it says how many records of a class have which best class and about
 * which lead, with noise.  None of these numbers is negative in truth, and those of a class
 * add up to its records, which are known with less noise.  So the nearest such numbers are
 * taken.  To set negative ones to 0 alone would add records where there are none, and more of
 * them with more classes.
 */
#ifndef RACE_CALIBRATION_H
#define RACE_CALIBRATION_H

#include "postgres.h"

#include "../sketch/sketch.h"

typedef struct RaceCalibration
{
	int			classes;
	uint32		cells;			/* of a lead, from 0 to 1 */
	double		margin;			/* a standard error of a difference between labels */
	double	   *records;		/* [class][best class][cells + 1] */
	double	   *totals;			/* [class] */
} RaceCalibration;

/* Are these the parameters of sketches of scores, for any number of classes? */
extern bool race_is_of_scores(const RaceParams *params);

/*
 * Of the sketches of the classes, of which the counts matter, and of their scores.  Raises
 * 22023 unless the latter are grids with the parameters of race_score_params.
 */
extern RaceCalibration *race_calibration_create(int classes, const RaceView *sketches,
												const RaceView *scores, MemoryContext context);

/* Records of each class with a score, [classes]: where there are none, with its best class */
extern void race_calibration_ask(const RaceCalibration *calibration, double score,
								 double *records);

#endif							/* RACE_CALIBRATION_H */
