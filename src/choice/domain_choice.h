/*
 * domain_choice.h
 *		Domains that are chosen from private data: categories by a threshold, bounds by noisy counts
 */
#ifndef RACE_DOMAIN_CHOICE_H
#define RACE_DOMAIN_CHOICE_H

#include "privacy/noise.h"
#include "privacy/sampler.h"

/*
 * Categories that nobody has listed.  One is chosen if the noisy number of persons who have it reaches a
 * threshold; of what no person has nothing is drawn.  Neighbors differ by one person in each of so many categories.
 *
 * Laplace noise is cut at the threshold, so that a category of one person passes with the probability of its last
 * number alone: for one category that is the best mechanism that there is (Desfontaines, Voss, Gipson & Mandayam 2022).
 * Gaussian noise needs fewer persons where a person may have many categories.  The numbers that pass are published.
 */
typedef struct RaceThreshold
{
	RaceMechanism mechanism;
	uint64_t	noise;			/* of a number of persons */
	int64_t		reach;			/* how far Laplace noise goes; 0 of Gaussian noise */
	int64_t		least;			/* the noisy number of persons that passes */
	double		rho;			/* of zCDP, but for the delta that it does not cover */
} RaceThreshold;

/*
 * Plan Laplace or Gaussian noise, this by the exact account if that may be used: what has the smaller error, of the persons
 * that a category needs and of the number of those that pass, squared.  False when the
 * noise would be too large; epsilon and delta as in noise.h, categories from 1 to 2^32.
 */
extern bool race_threshold_plan(double epsilon, double delta, uint64_t categories, bool exact, RaceThreshold *threshold);

/* Return the variance of the noise, at most. */
extern double race_threshold_variance(const RaceThreshold *threshold);

/* What a release chooses, and what it counts: public facts */
typedef struct RaceChoiceRequest
{
	double		epsilon;		/* of all */
	double		delta;
	int			choices;
	int			columns;		/* whose tables are counted, with those whose categories are chosen */
	uint64_t	numbers;		/* of persons, that neighbors change by one in each choice, */
	int64_t		records;		/* and records of a person, with weights */
	bool		substitute;
	uint64_t	summed;			/* numbers of persons that add up to one of records, a measurement, too (race_threshold_records()); or 0 */
	bool		tables;			/* are tables counted?  They may have no delta, or share an account of Gaussian noise with choices. */
} RaceChoiceRequest;

/*
 * What is read of a column: categories, and three more cells, the others together, what is missing, and all records.  How many
 * categories there will be is not public; they are taken to be so many.  Of three tables, with m of 1, 10 and 30 and epsilon of .1, 1
 * and 10, the root of the sum of squared errors is 5 % above that with the best share in hindsight, with 16 categories 3 %; but
 * thresholds are 2 to 9 % above those of all of the budget, with 16 categories 5 to 19 % (test/bench/choice.py, CHOICE.md).
 */
#define RACE_CATEGORIES_READ	64.0
#define RACE_OTHERS_READ		3.0

typedef struct RaceChoicePlan
{
	double		epsilon;		/* of each choice; 0 where it shares the account of what is counted, */
	double		delta;			/* which then has no part of this */
	double		rest_epsilon;	/* of what is counted */
	double		rest_delta;
	uint64_t	joint_squared;	/* what all choices take of that account: by how much they change, squared, */
	uint64_t	joint_variance; /* with noise of this variance; or 0 */
	RaceThreshold threshold;
} RaceChoicePlan;

/*
 * Divide a budget between choices and what is counted so that the sum of expected squared errors is least: of a category of
 * each choice, the persons that it needs, and the noise of its number; of its other cells, and of a cell of each other column,
 * the noise.  False when the noise would be too large.
 */
extern bool race_choice_plan(const RaceChoiceRequest *request, RaceChoicePlan *plan);

/* Does a category of `persons` persons, at least one, pass?  Draws noise; *noisy gets the number with it. */
extern bool race_threshold_passes(RaceRandom *random, const RaceThreshold *threshold, int64_t persons, int64_t *noisy);

/*
 * Where a person may have several records of a category, a number counts the persons with a first record of it, another one those
 * with a second one, and so on: so many of these as a person may have records add up to the number of records.  With noise of
 * its own in each, a person changes as many of them as she has records, whatever these are: they cost no more than the first
 * numbers alone.
 *
 * Return the sum of the noisy numbers of a category that passed: of `noisy` persons, with `further` records.
 */
#define RACE_MOST_SUMMED	1000

extern int64_t race_threshold_records(RaceRandom *random, const RaceThreshold *threshold, uint64_t summed, int64_t noisy, int64_t further);

/*
 * Bounds of numbers that nobody knows, in up to three readings.  Counts of numbers by sign and binary exponent tell where
 * most are; counts of 1,024 cells there tell a centre; and counts by the exponent of the distance from it tell
 * how far numbers reach: to the outermost one that has more of them than noise alone would.
 */
#define RACE_BOUNDS_OCTAVES		256
#define RACE_BOUNDS_CELLS		1024
#define RACE_BOUNDS_COUNTERS	RACE_BOUNDS_CELLS	/* the most of a reading */

typedef enum RaceBoundsStage
{
	RACE_BOUNDS_PLACE, RACE_BOUNDS_CENTRE, RACE_BOUNDS_REACH, RACE_BOUNDS_STAGES
} RaceBoundsStage;

typedef struct RaceBounds
{
	int			stage;			/* of the next reading */
	uint64_t	scale[RACE_BOUNDS_STAGES];	/* of the noise of a counter */
	double		start;			/* of the cells */
	double		width;
	double		centre;
	bool		whole;			/* are the numbers whole? */
	bool		found;
	double		lower;			/* at first what is known of them, or infinite */
	double		upper;
	double		beyond;			/* the share of numbers beyond them, by noisy counts, */
	double		beyond_error;	/* and how far it may be off, with 95 % confidence */
} RaceBounds;

/* Begin a search that costs epsilon, where a person changes `numbers` of the numbers.  False when the noise would be too large */
extern bool race_bounds_start(RaceBounds *bounds, double epsilon, uint64_t numbers);

/* Which counter of a reading a number is in; -1 for none */
extern int	race_bounds_counter(const RaceBounds *bounds, double x);

/* Draw noise for the counters of a reading, which become noisy, and conclude.  True if another reading follows */
extern bool race_bounds_read(RaceRandom *random, RaceBounds *bounds, int64_t *counters);

#endif
