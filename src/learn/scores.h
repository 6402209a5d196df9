/*
 * scores.h
 *		Classes with scores: the best one, and probabilities.
 *
 * The state of an aggregate over classes: it holds labels and scores, and no sketch.
 */
#ifndef RACE_SCORES_H
#define RACE_SCORES_H

#include "postgres.h"

#include "fmgr.h"

#include "../lsh/lsh.h"

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

/* The comparison of labels; what it says of two */
extern FmgrInfo *race_scores_comparison(const RaceScores *scores);
extern int	race_compare_labels(FmgrInfo *compare, Oid collation, Datum a, Datum b);

/*
 * How flat a kernel makes the density of a class: 0 for a kernel that is narrow beside the class,
 * 1 for one that sees no difference.  The mean density at a record of the class tells.
 */
extern double race_flatness(double typical_density, uint32 dims);

/*
 * In how many dims densities of a sketch with these parameters are sharpened with prior "counts"; 0
 * for kernels and products whose are not, and for sketches of scores, which say how frequent those
 * are.
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
 * The best class, by sharpened scores, and its lead as one number: twice how many labels are smaller
 * than its own, and the lead, from 0 to 1.  So numbers of different classes are at least 1 apart.
 */
extern double race_scores_number(const RaceScores *scores, FmgrInfo *compare, Oid collation);

/* {label: probability}: scores over their sum.  Without evidence it is the prior. */
extern Datum race_scores_posterior(const RaceScores *scores);

#endif							/* RACE_SCORES_H */
