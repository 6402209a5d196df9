/*
 * calibration.h
 *		How many records of each class have a score, by private sketches of the scores.
 *
 * A score, as race_scores_number() has it, says which class is best, and its lead.  A sketch
 * of scores is a grid: so it says how many records of a class have which best class and about
 * which lead, with noise.  Taken as they are, the largest of such shares would be too sure: it is
 * the one that noise made largest.  So shares are curves of the lead (curves.h): that of the best
 * class is expected to be the same whatever class that is, and the others to be shared out as
 * all records are.
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
	double	   *records;		/* [class][best class][cells + 1], more than 0 in all */
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

/* Records of each class with a score, [classes]: about as many, in likely shares */
extern void race_calibration_ask(const RaceCalibration *calibration, double score,
								 double *records);

#endif							/* RACE_CALIBRATION_H */
