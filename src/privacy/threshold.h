/*
 * threshold.h
 *		Categories by a threshold: noise of numbers of persons, and which of these are seen
 *
 * Plain C99.
 */
#ifndef RACE_THRESHOLD_H
#define RACE_THRESHOLD_H

#include "privacy/account.h"
#include "privacy/noise.h"
#include "privacy/sampler.h"

/*
 * Categories that nobody has listed.  One is chosen if the noisy number of persons who have it
 * reaches a threshold; of what no person has nothing is drawn.  Neighbors differ by one person in
 * each of so many categories.
 *
 * Laplace noise is cut at the threshold, so that a category of one person passes with the
 * probability of its last number alone: for one category that is the best mechanism that there is
 * (Desfontaines, Voss, Gipson & Mandayam 2022).  Gaussian noise needs fewer persons where a person
 * may have many categories.  The numbers that pass are published.
 */
typedef struct RaceThreshold
{
	RaceMechanism mechanism;
	uint64_t noise; /* scale or variance of the noise of a number of persons */
	int64_t reach;  /* largest Laplace noise; 0 of Gaussian noise */
	int64_t least;  /* least noisy number of persons that passes */
	double rho;     /* cost in zCDP, without the delta that it does not cover */
	double epsilon; /* cost of a choice; 0 where an account of Gaussian noise paid for all */
	double delta;
} RaceThreshold;

/*
 * Plan Laplace or Gaussian noise, this by the exact account if that may be used: what has the
 * smaller error, of the persons that a category needs and of the number of those that pass,
 * squared.  False when the noise would be too large; epsilon and delta as in noise.h, categories
 * from 1 to 2^32.
 */
extern bool race_threshold_plan(double epsilon, double delta, uint64_t categories, bool exact,
								RaceThreshold *threshold);

/*
 * Plan Gaussian noise that an account pays, of so many choices together for at most this price.
 * Its delta is that of the account; this one is for categories of one person alone, in each
 * choice.  False as above.
 */
extern bool race_threshold_plan_paid(RaceAccount *account, double price, uint64_t choices,
									 uint64_t categories, double delta, RaceThreshold *threshold);

/* Return the variance of the noise, at most. */
extern double race_threshold_variance(const RaceThreshold *threshold);

/*
 * The choices of a release: they share its epsilon and delta with what is counted after them.
 * Fields are for src/privacy alone.
 */
typedef struct RaceChoices
{
	const struct RaceChoices *self; /* a copy is not this one: it draws nothing */
	RaceRandom *random;
	RaceThreshold threshold;
	uint32_t left;   /* number of choices that may still begin */
	bool open;       /* whether one has begun */
	uint64_t passed; /* categories of it that passed, whose records are not drawn yet */
} RaceChoices;

/* The budget of a release, and what its choices leave of it */
typedef struct RaceChoicesBudget
{
	double epsilon;
	double delta;
	double rest_epsilon;
	double rest_delta;
} RaceChoicesBudget;

/*
 * Open so many choices by a threshold.  Return false, and let none begin, if they and the rest cost
 * more than the budget.
 */
extern bool race_choices_open(RaceChoices *choices, RaceRandom *random,
							  const RaceThreshold *threshold, uint32_t n,
							  const RaceChoicesBudget *budget);

/* Begin the next choice.  Return false if no more are paid for. */
extern bool race_choices_begin(RaceChoices *choices);

/*
 * Return whether a category of `persons` persons, at least one, passes in the choice that has
 * begun; each category is asked once.  Draws noise; *noisy gets the number with it, 0 without a
 * choice.
 */
extern bool race_threshold_passes(RaceChoices *choices, int64_t persons, int64_t *noisy);

/*
 * Where a person may have several records of a category, a number counts the persons with a first
 * record of it, another one those with a second one, and so on: so many of these as a person may
 * have records add up to the number of records.  With noise of its own in each, a person changes as
 * many of them as she has records, whatever these are: they cost no more than the first numbers
 * alone.
 *
 * Return the sum of the noisy numbers of a category that passed: of `noisy` persons, with `further`
 * records.  There are no more sums than categories that passed: others are `noisy`.
 */
#define RACE_MOST_SUMMED 1000

extern int64_t race_threshold_records(RaceChoices *choices, uint64_t summed, int64_t noisy,
									  int64_t further);

#endif
