/*
 * choose_categories.h
 *		Which part of the budget chooses categories, and which counts them
 *
 * It holds public facts alone.  Plain C99.
 */
#ifndef RACE_CHOOSE_CATEGORIES_H
#define RACE_CHOOSE_CATEGORIES_H

#include "privacy/threshold.h"

/* What a release chooses, and what it counts: public facts */
typedef struct RaceChoiceRequest
{
	double epsilon; /* epsilon of choices and tables together */
	double delta;
	int choices;
	/* Number of columns whose tables are counted, with those whose categories are chosen */
	int columns;
	uint64_t numbers; /* numbers of persons that neighbors change by one in each choice */
	uint32_t records; /* records of a person, with weights */
	bool substitute;
	/*
	 * Numbers of persons that add up to one of records, a measurement, too
	 * (race_threshold_records()); or 0
	 */
	uint64_t summed;
	/*
	 * Whether tables are counted.  They may have no delta, or share an account of Gaussian noise
	 * with choices.
	 */
	bool tables;
} RaceChoiceRequest;

/*
 * What is read of a column: categories, and three more cells, the others together, what is
 * missing, and all records. How many categories there will be is not public; they are taken to be
 * as many as a release keeps. Then a threshold of the only column is that of all of the budget, or
 * at most 5 % or one person more, with m of 1, 10 and 30, epsilon of .1, 1, 3 and 10 and delta of
 * 1e-5 and 1e-6; with 64 categories up to 12 %. A cell of the others has a standard deviation of
 * 13 to 23, 172 to 201 and 537 to 602 records at epsilon 1, by m. Of three tables the root of the
 * sum of squared errors is 15 % above that with the best share in hindsight, with 64 categories
 * 2 %, at an epsilon of 1 or 10, but 81 and 16 % at .1 (test/bench/choice.py, CHOICE.md).
 */
#define RACE_CATEGORIES_READ 1024.0
#define RACE_OTHERS_READ 3.0

typedef struct RaceChoicePlan
{
	double epsilon;      /* epsilon of each choice; 0 where choices share an account */
	double delta;        /* delta of each choice; a shared account has no part of it */
	double rest_epsilon; /* epsilon of what is counted */
	double rest_delta;
	uint64_t joint_squared;  /* squared change of all choices in a shared account; or 0 */
	uint64_t joint_variance; /* variance of the noise of these choices; or 0 */
	RaceThreshold threshold;
} RaceChoicePlan;

/*
 * Divide a budget between choices and what is counted so that the sum of expected squared errors is
 * least: of a category of each choice, the persons that it needs, and the noise of its number; of
 * its other cells, and of a cell of each other column, the noise.  False when the noise would be
 * too large.
 */
extern bool race_choice_plan(const RaceChoiceRequest *request, RaceChoicePlan *plan);

#endif
