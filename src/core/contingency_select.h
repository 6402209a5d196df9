/*
 * contingency_select.h
 *		Which tables of two columns a private release measures, and how it divides its budget
 *
 * Tables of one column come first.  Then rounds: noisy scores tell how far each table of two columns is from what the
 * released numbers say so far, and some tables are measured.  Every decision follows from public and released numbers.
 *
 * Costs are epsilon (discrete Laplace noise; numbers `noise` are scales in 1 / RACE_SCALE_DENOMINATOR) or rho (discrete
 * Gaussian noise; they are variances).
 *
 *		race_select_count()				the noise of the number of records; then draw it
 *		race_select_one_ways()			the noise of tables of one column; then draw these
 *		race_select_groups()			which cells are one in tables of two columns
 *		for each round < rounds:
 *			race_select_scores()		the noise of scores
 *			draw a score of each pair: sum of |counter - reference| + noise
 *			race_select_choose()		the tables that this round measures, with their noise; then draw these
 *		race_select_rest()				noise of a second draw of the tables of one column, where budget is left
 *
 * Plain C99 without PostgreSQL headers.
 */
#ifndef RACE_CONTINGENCY_SELECT_H
#define RACE_CONTINGENCY_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "junction_tree.h"

#define RACE_SELECT_PAIRS	512 /* at most so many tables of two columns are measured */

typedef struct RaceSelectPair
{
	uint32_t	first;
	uint32_t	second;			/* first < second */
	uint64_t	noise;
} RaceSelectPair;

typedef struct RaceSelect
{
	/* the request */
	uint32_t	columns;
	const uint32_t *cells;		/* [columns]: of tables of one column */
	const uint32_t *finest;		/* [columns]: groups in which pairs are counted, <= cells (contingency.h) */
	const bool *ordered;		/* [columns]: neighboring cells are alike */
	const double *weights;		/* [columns], how much a column matters, 1 as a rule; or NULL: all 1 */
	bool		pure;
	double		budget;			/* epsilon or rho */
	uint32_t	max_contributions;	/* records of a person */
	bool		substitute;		/* neighbors replace a person's records */

	/* results */
	double		cost;			/* so far, rounded up, never above the budget */
	uint32_t	rounds;
	double		total;			/* estimate of the number of records */
	uint64_t	one_way[RACE_GRAPH_COLUMNS];	/* noise */
	uint32_t	groups[RACE_GRAPH_COLUMNS];
	uint32_t   *group_of[RACE_GRAPH_COLUMNS];	/* [finest]: the group of each of the finest groups; memory of the caller's */
	uint32_t	measured;		/* tables of two columns, in the order in which they were chosen */
	RaceSelectPair pairs[RACE_SELECT_PAIRS];

	/* in between */
	double		allotted;		/* of the budget */
	RaceColumnSet neighbors[RACE_GRAPH_COLUMNS];
	uint32_t	round;
	double		score_deviation;
} RaceSelect;

/* Most cells of all cliques of the junction tree.  Chosen tables are within it; a single table of more is never chosen. */
#define RACE_SELECT_CLIQUE_CELLS	1000000.0

/*
 * Noise of the next draw; 0 if it would be too large, and then the request is refused before anything was drawn.
 * The request is set, and all else is 0 but group_of.
 */
extern uint64_t race_select_count(RaceSelect *select);

/* With the noisy number of records; sets one_way[], 0 and false if noise would be too large */
extern bool race_select_one_ways(RaceSelect *select, int64_t count);

/* With noisy tables of one column, one after the other; sets total, groups[], group_of[] and rounds */
extern void race_select_groups(RaceSelect *select, const int64_t *one_ways);

/* The noise of a score; 0: there is nothing more to select, go on to race_select_rest() */
extern uint64_t race_select_scores(RaceSelect *select);

/*
 * With noisy scores of all pairs, in the order (0,1), (0,2), ..., (1,2), ...  Chosen tables are pairs[] from the
 * number that was `measured` before, until measured.
 */
extern void race_select_choose(RaceSelect *select, const int64_t *scores);

/*
 * What is left of the budget buys a second draw of all tables of one column, with noise[columns].  False: nothing is
 * left.
 */
extern bool race_select_rest(RaceSelect *select, uint64_t *noise);

/* The variance of noise */
extern double race_select_variance(const RaceSelect *select, uint64_t noise);

#endif
