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
 *		race_select_begin()				the budget and the noise of one-way tables; then draw these
 *		race_select_groups()			which cells are one in tables of two columns
 *		for each round < rounds:
 *			race_select_scores()		the noise of scores
 *			draw a score of each pair: sum of |counter - reference| + noise
 *			race_select_choose()		the tables that this round measures, with their noise; then draw these
 *
 * Plain C99 without PostgreSQL headers.
 */
#ifndef RACE_CONTINGENCY_SELECT_H
#define RACE_CONTINGENCY_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "junction_tree.h"

#define RACE_SELECT_ROUNDS	3
#define RACE_SELECT_PAIRS	512	/* at most so many tables of two columns are measured */

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
	const uint32_t *finest;		/* [columns]: groups in which pairs are counted, <= cells; contiguous (contingency.h) */
	const bool *ordered;		/* [columns]: neighboring cells are alike */
	const double *weights;		/* [columns], how much a column matters, 1 as a rule; or NULL: all 1 */
	bool		pure;
	double		budget;			/* epsilon or rho */
	uint32_t	most_contributions; /* records of a person */
	bool		substitute;		/* neighbors replace a person's records */

	/* results */
	double		cost;			/* so far, rounded up, never above the budget */
	double		allotted;		/* at least the cost */
	uint32_t	rounds;
	uint64_t	one_way[RACE_GRAPH_COLUMNS];	/* noise */
	uint64_t	score;			/* noise of scores of the present round; 0: no scores, go on to the next */
	uint32_t	groups[RACE_GRAPH_COLUMNS];
	uint32_t   *group_of[RACE_GRAPH_COLUMNS];	/* [finest]: the group of each of the finest groups */
	uint32_t	measured;		/* tables of two columns, in the order in which they were chosen */
	RaceSelectPair pairs[RACE_SELECT_PAIRS];
	double		total;			/* estimate of the number of records */

	/* in between */
	RaceColumnSet neighbors[RACE_GRAPH_COLUMNS];
	uint32_t	round;
} RaceSelect;

/* Limits: of finest, so that cliques of two columns stay small */
#define RACE_SELECT_CLIQUE_CELLS	1000000.0	/* of all cliques of the junction tree */

/* How many numbers the caller allocates for group_of, all columns together: sum of finest */

/* False if the noise would be too large.  The request is set, all else is 0 but group_of. */
extern bool race_select_begin(RaceSelect *select);

/* Noisy tables of one column, one after the other */
extern void race_select_groups(RaceSelect *select, const int64_t *one_ways);

extern bool race_select_scores(RaceSelect *select);

/*
 * Noisy scores of all pairs, in the order (0,1), (0,2), ..., (1,2), ...  Chosen tables are pairs[] from the
 * number that was `measured` before.  Ends the round.
 */
extern bool race_select_choose(RaceSelect *select, const int64_t *scores);

/* The variance of the noise of a counter, from its `noise` */
extern double race_select_variance(const RaceSelect *select, uint64_t noise);

#endif
