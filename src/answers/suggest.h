/*
 * suggest.h
 *		Parameters suggested by public rows
 */
#ifndef RACE_SUGGEST_H
#define RACE_SUGGEST_H

#include "postgres.h"

#include "fmgr.h"

#include "../core/core.h"
#include "maps.h"

/*
 * What race_suggest chooses from, and how it scores that.
 *
 * Public examples stand for the private records.  For each transform that they can be given,
 * bandwidth, power, rows and prior are chosen that serve them best: each tenth of the
 * examples is asked about by the other nine, with the exact kernel and with the noise and the
 * sampling error that a release is expected to have.  The transform is learned from the nine
 * as well: what is learned from an example must not be tested on it.
 *
 * With labels, what a transform makes of vectors may be counted in a grid instead of rows, where
 * that is in at most 3 dimensions (suggest.c).
 */

#define RACE_SUGGEST_DIMS		64
#define RACE_SUGGEST_CLASSES	32
#define RACE_SUGGEST_EXAMPLES	2000
#define RACE_SUGGEST_LEAST		20

/* Vectors, each with the number of its class; without labels there is one class. */
typedef struct RaceExamples
{
	int			n;
	int			dims;
	int			classes;
	double	   *x;				/* [n][dims] */
	int		   *label;			/* [n] */
} RaceExamples;

typedef enum RaceTransformKind
{
	RACE_TRANSFORM_SCALE,		/* a bandwidth for each column */
	RACE_TRANSFORM_WHITE,		/* covariance 1 within classes */
	RACE_TRANSFORM_FISHER,		/* the directions in which the means of classes differ, */
	RACE_TRANSFORM_SPREAD		/* and two more, in which their covariances do */
} RaceTransformKind;

/* M (x - o), where no answer depends on o; there is none if `outputs` is 0 */
typedef struct RaceMap
{
	RaceWhitening m;			/* its matrix is `numbers` */
	double		log_volume;		/* log |det M| if there are as many outputs as dims */
	double		numbers[RACE_SUGGEST_DIMS * RACE_SUGGEST_DIMS];
} RaceMap;

/* Learn a transform from examples. */
extern void race_map_learn(RaceTransformKind kind, const RaceExamples *examples, RaceMap *map);

/*
 * Weights [classes][dims + 1], palloc'd, of a logistic regression of z [n][dims], by accelerated
 * gradient descent (Nesterov 1983; with shrinkage Beck & Teboulle 2009): with an L2 penalty, and with
 * one of the length of the weights of each column (group lasso)
 */
extern double *race_suggest_regress(const RaceExamples *e, const double *z, double penalty,
									double sparsity);

/* A number for each example, 0 to 9 and alike in all classes; and the examples that have others */
#define RACE_SUGGEST_FOLDS		10

extern int *race_suggest_folds(const RaceExamples *e);
extern RaceExamples race_suggest_others(const RaceExamples *e, const int *fold, int which);

/* What a release costs in error: the variance of a kernel sum, for 2^i rows */
#define RACE_SUGGEST_ROWS		11	/* 1 to 1024 rows */

typedef struct RaceExpected
{
	double		epsilon;
	double		delta;
	double		records;		/* of all classes */
	double		noise[RACE_SUGGEST_ROWS];
	double		count;			/* the variance of a count */
} RaceExpected;

typedef struct RaceSuggestion
{
	int			kernel;
	RaceTransformKind kind;
	double		bandwidth;		/* in units of what the map gives */
	int			power;
	int			rows;			/* 0 = a grid of what the map gives */
	bool		by_counts;		/* the prior; false without labels */
	double		score;
	double		without_noise;	/* the score that the exact kernel would have */
	double		surprise;		/* with labels: minus the mean logarithm of the posterior */
} RaceSuggestion;

/*
 * Find the best.  The score is the share of examples that are classified rightly; without
 * labels the mean logarithm of the probability density.  Fewer transforms are tried of examples that are
 * log odds already.
 */
extern void race_suggest_choose(const RaceExamples *examples, const RaceExpected *expected,
								bool are_odds, RaceSuggestion *best);

/*
 * Which of the suggestions is best: with labels, scores may differ by luck.  Of those the one whose
 * posteriors are least surprising is best.
 */
extern int	race_suggest_pick(const RaceExamples *examples, const RaceSuggestion *list, int n);

/* ------------------------------------------------------------------ grids */

/* Six digits, as the statement shows them */
extern double race_suggest_rounded(double x);

/* Sort numbers, the least first. */
extern void race_suggest_sort(double *x, int n);

/* A box a little beyond vectors [n][dims] */
extern void race_suggest_box(const double *x, int n, int dims, double *lower, double *upper);

/* Can there be a grid in a box, and the draft of one */
extern bool race_suggest_can_be_grid(int dims, const double *lower, const double *upper);
extern void race_suggest_draft_grid(RaceDraft *draft, int dims, double bandwidth, int power,
									const double *lower, const double *upper);

/*
 * The error of a kernel sum of a class with so many records, after a release chose its cells: the
 * variance of noise, and the share by which cells change it.
 */
extern void race_suggest_grid_error(RaceDraft *draft, const RaceExpected *expected,
									double records, double *noise, double *bias);

/*
 * The log odds of classes, by several logistic regressions together.
 */

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

/*
 * What all aggregates of race_suggest read: labels, and the release that is planned.
 */

typedef struct RaceSuggestState
{
	FmgrInfo	label_output;
	double		epsilon;
	double		delta;
	int64		records;
	uint64		seen;			/* rows, of which the examples are a sample */
	uint64		random;
	int			classes;		/* with a name each */
	char	   *names[RACE_SUGGEST_CLASSES];
} RaceSuggestState;

/* Labels are argument `arg`. */
extern void race_suggest_prepare_labels(RaceSuggestState *state, FunctionCallInfo fcinfo,
										int arg, MemoryContext context);

/* Read epsilon, delta and records, the last arguments; raise what is wrong with them. */
extern void race_suggest_read_request(RaceSuggestState *state, FunctionCallInfo fcinfo);

/* The number of a label, which may be a new one */
extern int	race_suggest_class(RaceSuggestState *state, Datum label, MemoryContext context);

/* Where to put the next row among n, of at most `most`; or -1 */
extern int	race_suggest_place(RaceSuggestState *state, int *n, int most);

/* What a release of the records with each number of rows has for noise */
extern void race_suggest_expect(const RaceSuggestState *state, RaceExpected *expected);

/* Raise 22023 for a number that is too large. */
extern void race_suggest_check_number(double x);

/* Raise 22023 for too few examples or classes. */
extern void race_suggest_check_examples(int n, int classes);

/*
 * The row that is returned; rows are NULL for a grid, and the prior without labels.  `statement` makes the parameters,
 * and `expression` the records.
 */
extern Datum race_suggest_row(FunctionCallInfo fcinfo, const RaceParams *params,
							  const RaceSuggestion *best, bool labelled,
							  const char *statement, const char *expression);

/*
 * Columns replaced by their places among quantiles.
 *
 * Skewed columns have their differences where few records are.  The place of a number among
 * knots, quantiles of public rows that are equally far apart in normal scores, is about
 * normally distributed, whatever the column was; and it lies between 0 and the number of knots.
 */

#define RACE_WARP_MOST	64		/* knots of a column */

/*
 * The place of x among n knots, which do not fall: linear between two, the middle of equal
 * ones.  What is not finite remains.
 */
extern double race_warp_number(const double *knots, int n, double x);

/* The knots that race_suggest tries */
#define RACE_WARP_KNOTS	10

/*
 * Learn knots from examples, [dims][RACE_WARP_KNOTS].  False if places are about linear in all
 * columns, as they are of normally distributed ones.
 */
extern bool race_warp_learn(const RaceExamples *examples, double *knots);

/* The examples with their places */
extern RaceExamples race_warp_examples(const RaceExamples *examples, const double *knots);

/*
 * Norm clipping.
 *
 * In columns with heavy tails a few far records make most of covariances and of the range that
 * a grid has to cover.  Their directions tell as much as those of other records.  So images that
 * are longer than a radius are shortened to it.
 */

typedef struct RacePull
{
	RaceMap		map;			/* white, without regard to labels */
	double		radius;
} RacePull;

/* Shorten a vector to the radius. */
extern void race_pull(double *z, int n, double radius);

/*
 * Learn a map from examples, whose center is 0, and the median length of their images for a radius.
 * False if their tails are no heavier than those of a normal distribution.
 */
extern bool race_pull_learn(const RaceExamples *examples, RacePull *pull);

/* The images of examples, pulled */
extern RaceExamples race_pull_examples(const RaceExamples *examples, const RacePull *pull);

#endif
