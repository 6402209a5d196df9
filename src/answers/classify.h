/*
 * classify.h
 *		Classification and calibration
 */
#ifndef RACE_CLASSIFY_H
#define RACE_CLASSIFY_H

#include "postgres.h"

#include "fmgr.h"

#include "../core/core.h"
#include "question.h"

/*
 * How many records of each class have a score, by private sketches of the scores.
 *
 * A score, as race_scores_number() has it, says which class is best, and its lead.  A sketch
 * of scores is a grid: so it says how many records of a class have which best class and about
 * which lead, with noise.  Taken as they are, the largest of such shares would be too sure: it is
 * the one that noise made largest.  So shares are shrunk: that of the
 * best class rises with the lead and is expected to be the same whatever class that is, and the
 * others are expected to be shared out as all records are.
 */

typedef struct RaceCalibration
{
	int			classes;
	uint32		cells;			/* of a lead, from 0 to 1 */
	double		margin;			/* a standard error of a difference between labels */
	double	   *records;		/* [class][best class][cells + 1], more than 0 in all */
	double	   *totals;			/* [class] */
} RaceCalibration;

/* Of the sketches of the classes, of which the counts matter, and of their scores */
extern RaceCalibration *race_calibration_create(int classes, const RaceView *sketches,
												const RaceView *scores, MemoryContext context);

/* Records of each class with a score, [classes]: about as many, in likely shares */
extern void race_calibration_ask(const RaceCalibration *calibration, double score,
								 double *records);

/*
 * Classes with scores: the best one, and probabilities.
 *
 * The state of an aggregate over classes: it holds labels and scores, and no sketch.
 */

typedef enum RacePrior
{
	RACE_PRIOR_UNIFORM,			/* maximum likelihood */
	RACE_PRIOR_COUNTS			/* maximum a posteriori */
} RacePrior;

typedef struct RaceScore
{
	Datum		label;
	double		score;
	double		count;			/* records of the class, at least 0 */
	double		divisor;		/* of the score, for a density that no noise in the count makes high */
	double		flatness;		/* of its density, as race_flatness() says; below 0 if noise hides
								 * it, and then it is at most so much */
} RaceScore;

typedef struct RaceScores
{
	RacePrior	prior;
	Oid			label_type;
	int16		label_length;
	bool		label_by_value;
	int			n;
	int			capacity;
	RaceScore  *list;
	double		power;			/* that sharpened densities were taken to, else 1 */
	struct RaceClassMoments *moments;	/* of the classes, if these are what they have, else NULL */
} RaceScores;

/* The prior of this name; 22023 for an unknown one */
extern RacePrior race_read_prior(text *name);

/* Set the prior; 22023 if scores were added with another one. */
extern void race_scores_set_prior(RaceScores *scores, RacePrior prior);

/* No scores yet, of labels of the type of argument 1; and one more, whose label is copied */
extern RaceScores *race_scores_start(FunctionCallInfo fcinfo, MemoryContext context);
extern void race_scores_append(RaceScores *scores, RaceScore score, Datum label,
							   MemoryContext context);

/* The same of labels of a type; no scores again; and one more, whose label stays where it is */
extern RaceScores *race_scores_create(Oid label_type, MemoryContext context);
extern void race_scores_clear(RaceScores *scores, RacePrior prior);
extern void race_scores_add(RaceScores *scores, RaceScore score);

/* The comparison of labels */
extern FmgrInfo *race_scores_comparison(const RaceScores *scores);

/*
 * How flat a kernel makes the density of a class: 0 for a kernel that is narrow beside the class,
 * 1 for one that sees no difference.  The mean density at a record of the class tells.
 */
extern double race_flatness(double typical_density, uint32 dims);

/*
 * In how many dims densities of a sketch with these parameters are sharpened with prior "counts"; 0
 * for kernels and products whose are not.
 */
extern uint32 race_scores_sharp_dims(const RaceParams *params);

/*
 * The same scores by densities that are not flat.  With prior "counts" and flat kernels the larger
 * classes would win everywhere: densities differ less than counts.
 */
extern const RaceScores *race_scores_sharpen(const RaceScores *scores);

/* The highest score; among equals the class with more records, then the smaller label */
extern RaceScore *race_scores_best(const RaceScores *scores, FmgrInfo *compare, Oid collation);

/*
 * The best class, by sharpened scores, and its lead as one number: twice its place, from 0 on, and
 * the lead, from 0 to 1.  So numbers of different classes are at least 1 apart.
 */
extern double race_scores_number(const RaceScores *scores, FmgrInfo *compare);

/* {label: probability}: scores over their sum.  Without evidence it is the prior. */
extern Datum race_scores_posterior(const RaceScores *scores);

/*
 * The sketches of all classes, asked together about the same query.
 */

/* Classes with a call site each */
typedef struct RaceClasses
{
	int			n;
	RaceCallSite **sites;
	const Datum *labels;
	RaceScores *scores;			/* of the last query */
	FmgrInfo   *comparison;		/* of labels */
} RaceClasses;

/* Classes with these labels, which stay, for queries of a type */
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

/* The best label of the last query */
extern Datum race_classes_best(const RaceClasses *classes);

/*
 * Records as rows of columns: each number and each category is one, a set is one.
 *
 * Columns are counted from 1 on, over all parts of a kernel, as race_sample fills them.
 */

typedef struct RaceColumnPlace
{
	const RaceParams *params;	/* of the part */
	int			part;			/* from 0 on */
	uint32		element;		/* of its records, from 0 on */
} RaceColumnPlace;

/* Where a column that is a number is.  Error 22023 for others. */
extern RaceColumnPlace race_find_column(const RaceParams *params, int32 column);

/* A bound of a column, or `otherwise` without one */
extern double race_column_bound(const RaceColumnPlace *place, RaceArray bounds, double otherwise);

/*
 * Linear discriminant analysis of classes with moments (moments_answers.c).
 *
 * Add the class in arguments 1 and 2, a label and moments, to the scores; argument 3 is the record that all
 * classes are asked about.
 */
extern void race_class_moments_add(FunctionCallInfo fcinfo, RaceScores *scores, const RaceView *header,
								   Datum moments, MemoryContext context);

/* Fill in the scores: densities relative to the highest, times counts if that is the prior. */
extern void race_class_moments_score(FmgrInfo *flinfo, RaceScores *scores);

/* Add the moments of a class to a list, which is made if it is NULL. */
extern void race_class_moments_append(struct RaceClassMoments **list, Datum moments, MemoryContext context);

/* The transform to the directions in which classes with moments lie apart, which the function is declared to return */
extern Datum race_class_moments_discriminant(FunctionCallInfo fcinfo, const struct RaceClassMoments *list);

#endif
