/*
 * suggest_average.h
 *		The log odds of classes, by several logistic regressions together.
 */
#ifndef RACE_SUGGEST_AVERAGE_H
#define RACE_SUGGEST_AVERAGE_H

#include "suggest.h"

#define RACE_AVERAGE_VERSIONS	3

/* Examples as they are, warped and pulled; what each adds to the log odds */
typedef struct RaceAverage
{
	int			n;
	int			version[RACE_AVERAGE_VERSIONS];
	RaceMap		map[RACE_AVERAGE_VERSIONS];
	double		radius[RACE_AVERAGE_VERSIONS];	/* to which images are shortened */
} RaceAverage;

/*
 * Learn from versions of the same examples, with a center of 0, and give the log odds of all classes
 * but the first.  Those of each tenth of the examples are by the others.
 */
extern RaceExamples race_average_learn(const RaceExamples *versions, int n, RaceAverage *average);

#endif							/* RACE_SUGGEST_AVERAGE_H */
