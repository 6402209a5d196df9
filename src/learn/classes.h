/*
 * classes.h
 *		The sketches of all classes, asked together about the same query.
 */
#ifndef RACE_CLASSES_H
#define RACE_CLASSES_H

#include "postgres.h"

#include "../query/question.h"
#include "calibration.h"
#include "scores.h"

/* The score of a class, whose sketch was asked about a query; the label is left out. */
extern RaceScore race_class_score(const RaceQuestion *question, RacePrior prior);

/* Classes with a call site each */
typedef struct RaceClasses
{
	int			n;
	RaceCallSite **sites;
	const Datum *labels;
	RaceScores *scores;			/* of the last query */
	FmgrInfo   *comparison;		/* of labels */
} RaceClasses;

/* Classes with these labels, which stay, in the order of "C", for queries of a type */
extern RaceClasses *race_classes_create(int n, Oid label_type, const Datum *labels, Oid query,
										MemoryContext context);

/* Score the sketches, one for each class, at a query. */
extern void race_classes_ask(RaceClasses *classes, const Datum *sketches, Datum query,
							 RacePrior prior);

/* Replace the scores by how many records of each class have the number of them. */
extern void race_classes_calibrate(RaceClasses *classes, const RaceCalibration *calibration);

/*
 * The best label after that.  Another one than before must be better by more than noise may make
 * it: the sketches have evidence, too.
 */
extern Datum race_classes_best_calibrated(RaceClasses *classes, const RaceCalibration *calibration);

/* What they say of the last query: the best label, or the number of race_scores_number() */
extern Datum race_classes_best(const RaceClasses *classes);
extern double race_classes_number(const RaceClasses *classes);

#endif							/* RACE_CLASSES_H */
