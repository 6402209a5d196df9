/*
 * classify.h
 *		Classification and calibration
 */
#ifndef RACE_CLASSIFY_H
#define RACE_CLASSIFY_H

#include "postgres.h"

#include "fmgr.h"

#include "hash/params.h"
#include "sketch/call_site.h"
#include "sketch/sketch_format.h"
#include "answers/estimate.h"

/*
 * Classes with scores: the best one, and probabilities.
 *
 * The state of an aggregate over classes: it holds labels and scores, and no sketch.
 */

typedef enum RacePrior
{
	RACE_PRIOR_UNIFORM, /* maximum likelihood */
	RACE_PRIOR_COUNTS   /* maximum a posteriori */
} RacePrior;

typedef struct RaceScore
{
	Datum label;
	double score;
	double count;    /* records of the class, at least 0 */
	double divisor;  /* divisor of the score, for a density that no noise in the count makes high */
	double flatness; /* race_flatness() of the class; minus a bound if noise hides it */
} RaceScore;

typedef struct RaceScores
{
	RacePrior prior;
	Oid label_type;
	int16 label_length;
	bool label_by_value;
	int n;
	int capacity;
	RaceScore *list;
	double power;                     /* exponent of sharpened densities, else 1 */
	struct RaceClassMoments *moments; /* moments of the classes, or NULL */
} RaceScores;

/* Return the prior of this name.  Raise 22023 for an unknown one. */
extern RacePrior race_read_prior(text *name);

/* Set the prior.  Raise 22023 if scores were added with another one. */
extern void race_scores_set_prior(RaceScores *scores, RacePrior prior);

/* Create a list of scores for labels of a type.  Or append a score, whose label is copied. */
extern RaceScores *race_scores_create(Oid label_type, MemoryContext context);
extern void race_scores_append(RaceScores *scores, RaceScore score, Datum label,
							   MemoryContext context);

/* Remove all scores.  Or add one, whose label stays where it is. */
extern void race_scores_clear(RaceScores *scores, RacePrior prior);
extern void race_scores_add(RaceScores *scores, RaceScore score);

/* Return the comparison of labels. */
extern FmgrInfo *race_scores_comparison(const RaceScores *scores);

/*
 * Return how flat a kernel makes the density of a class: 0 for a kernel that is narrow beside the
 * class, 1 for one that sees no difference.  The mean density at a record of the class determines
 * it.
 */
extern double race_flatness(double typical_density, uint32 dims);

/*
 * Return the number of dims in which densities of a sketch with these parameters are sharpened with
 * prior "counts".  Return 0 for kernels and products whose densities are not.
 */
extern uint32 race_scores_sharp_dims(const RaceParams *params);

/*
 * Return the same scores by densities that are not flat.  With prior "counts" and flat kernels the
 * larger classes would win everywhere: densities differ less than counts.
 */
extern const RaceScores *race_scores_sharpen(const RaceScores *scores);

/* Return the highest score; among equals the class with more records, then the smaller label. */
extern RaceScore *race_scores_best(const RaceScores *scores, FmgrInfo *compare, Oid collation);

/*
 * Return as one number which two classes have the highest sharpened scores, and their margin: twice
 * the number of the pair, and from 0 to 1 the margin.  So numbers of different pairs are at least 1
 * apart.
 */
extern double race_scores_number(const RaceScores *scores);

/* Return {label: probability}: scores over their sum.  Without evidence it is the prior. */
extern Datum race_scores_posterior(const RaceScores *scores);

/*
 * Calibrated scores.
 *
 * A score is the pair of classes that are likeliest, and how much one is ahead.  A sketch of scores
 * is a histogram of them: so it says about how many records of a class have which score.
 */

typedef struct RaceBestTwo
{
	int lower; /* < higher */
	int higher;
	double margin; /* the logarithm of the score of the higher class over that of the lower */
} RaceBestTwo;

typedef struct RaceCalibration
{
	int classes;
	uint32 cells;  /* cells that margins are divided into */
	double slope;  /* factor of the logarithms of scores */
	double *shift; /* [classes]: added to the logarithms of scores */
	/* [pairs][cells + 1]: deviations of the logarithm of the odds of the higher class */
	double *deviation;
	double *totals; /* [classes]: records */
} RaceCalibration;

/* Create a calibration from the sketches of the classes (their counts) and of their scores. */
extern RaceCalibration *race_calibration_create(int classes, const RaceView *sketches,
												const RaceView *scores, MemoryContext context);

/* Replace scores by numbers in proportion to probabilities. */
extern void race_calibration_apply(const RaceCalibration *calibration, RaceScores *scores);

/*
 * The sketches of all classes, asked together about the same query.
 */

/* Classes with a call site each, or with a model of their moments */
typedef struct RaceClasses
{
	int n;
	const Datum *sketches;
	const Datum *labels;
	Oid query; /* type of queries */
	RaceCallSite **sites;
	struct RaceClassModel *model; /* model of the moments of all classes, or NULL */
	RaceScores *scores;           /* scores of the last query */
} RaceClasses;

/* Create classes with these sketches and labels, which stay, for queries of a type. */
extern RaceClasses *race_classes_create(int n, const Datum *sketches, Oid label_type,
										const Datum *labels, Oid query, MemoryContext context);

/* Score the classes at a query. */
extern void race_classes_ask(RaceClasses *classes, Datum query, RacePrior prior);

/* Return the best label of the last query. */
extern Datum race_classes_best(const RaceClasses *classes);

/*
 * Implement _race_score_of(sketches, q): return race_scores_number() of the classes of a constant
 * array, with prior "counts".
 */
extern Datum race_classes_score(FunctionCallInfo fcinfo);

/*
 * Records as rows of columns: each number and each category is one, a set is one.
 *
 * Columns are counted from 1 on, over all parts of a kernel, as race_sample fills them.
 */

typedef struct RaceColumnPlace
{
	const RaceParams *params; /* parameters of the part */
	int part;                 /* number of the part, from 0 on */
	uint32 element;           /* number in a record of the part, from 0 on */
} RaceColumnPlace;

/* Find the place of a column that is a number.  Raise 22023 for others. */
extern RaceColumnPlace race_find_column(const RaceParams *params, int32 column);

/* Return a bound of a column, or `otherwise` without one. */
extern double race_column_bound(const RaceColumnPlace *place, RaceArray bounds, double otherwise);

/*
 * Linear discriminant analysis of classes with moments (moments_answers.c).
 */

/*
 * Add the class in arguments 1 and 2, a label and moments, to the scores; argument 3 is the record
 * that all classes are asked about.
 */
extern void race_class_moments_add(FunctionCallInfo fcinfo, RaceScores *scores,
								   const RaceView *header, Datum moments, MemoryContext context);

/* Fill in the scores: densities relative to the highest, times counts if that is the prior. */
extern void race_class_moments_score(FmgrInfo *flinfo, RaceScores *scores);

/* Do the same by a model of n classes with moments, for a record that is a datum of a type. */
extern struct RaceClassModel *race_class_model_create(int n, const Datum *moments,
													  MemoryContext context);
extern void race_class_model_ask(struct RaceClassModel *model, Oid type, Datum record,
								 RaceScores *scores);

#endif
