/*
 * select_search.h
 *		Which sets of three columns depend on each other beyond their pairs, and are measured
 *
 * All sets of three searched columns (contingency.h) are looked at before any pair is measured.  A
 * look selects the set whose contrast is farthest from what pairs can tell, or none; it is paid once,
 * however many sets there are.  If none is found at the first look, that look is all that the search
 * costs.  Else a part of the budget is held back for the tables of what was found.
 *
 *		race_select_search()			the price of a look, or 0
 *		race_select_contrast()			what raises the score of a set: its contrasts
 *		race_select_candidate()			its candidate
 *		then up to RACE_FOUND times:
 *			select the best (select.h)
 *			race_select_find()			add it to what was found; false: none
 *		race_select_hold()				hold back what their tables get
 *		race_select_connect_found()		before pairs are chosen that must be in a small junction tree, too
 *		race_select_take_found()		the noise of the tables of what was found, after all others; draw them
 *
 * Plain C99 without PostgreSQL headers.
 */
#ifndef RACE_SELECT_SEARCH_H
#define RACE_SELECT_SEARCH_H

#include "choice/select_tables.h"

#define RACE_SPLITS 3 /* ways to split the groups of a column into two sides, at most */

/* A way to split the groups of a column into two sides */
typedef struct RaceSides
{
	double center[RACE_SEARCHED_GROUPS]; /* side of each group, -1 or 1, less the mean of sides */
	double upper;                        /* share of the side 1, by the noisy table of the column */
	double most;                         /* largest center, in absolute value */
} RaceSides;

typedef struct RaceSplits
{
	uint32_t n;
	RaceSides sides[RACE_SPLITS];
	double noise; /* deviation of the share of a side */
} RaceSplits;

/* A search: what is looked at, and what looks cost */
typedef struct RaceSearch
{
	double price;                          /* of a look; 0: there is none */
	double scale;                          /* of qualities, in records */
	uint32_t sets;                         /* number of sets that are looked at, */
	double contrasts;                      /* and of contrasts of all of them */
	RaceSplits splits[RACE_GRAPH_COLUMNS]; /* of searched columns */
} RaceSearch;

/*
 * Begin a search by noisy counts of finest groups, in units: plan its first look.  Return its price;
 * 0: there are no sets, or noise would hide all.
 */
extern double race_select_search(RaceSelect *select, const int64_t *counts, RaceSearch *search);

/* Return the number of contrasts of a set; set the weights of its cells in one, and its contrast. */
extern uint32_t race_select_contrasts(const RaceSearch *search, const RaceTable *set);
extern void race_select_contrast(const RaceSelect *select, const RaceSearch *search,
								 const RaceTable *set, uint32_t number, int32_t *weight,
								 RaceContrast *contrast);

/*
 * Return the candidate of a set, whose score has this number.  Its penalty is what it must tell, and
 * grows with what was found before.
 */
extern RaceCandidate race_select_candidate(const RaceSelect *select, const RaceSearch *search,
										   const RaceTable *set, uint32_t score);

/* Plan another look.  Return false if nothing more is looked for. */
extern bool race_select_search_on(RaceSelect *select, const RaceSearch *search);

/* Add a set to those that were found; return whether it is among them. */
extern void race_select_find(RaceSelect *select, const RaceTable *set);
extern bool race_select_is_found(const RaceSelect *select, const RaceTable *set);

/* Hold back a part of the budget for the tables of what was found. */
extern void race_select_hold(RaceSelect *select);

/*
 * Connect the columns of what was found, beside those of tables that are measured; without sets with
 * which the junction tree would not stay small.
 */
extern void race_select_connect_found(RaceSelect *select);

/*
 * Spend what was held back on the tables of what was found: set their prices, table[], from the
 * number that was `measured` before.
 */
extern void race_select_take_found(RaceSelect *select);

#endif
