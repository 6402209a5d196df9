/*
 * contingency_select.h
 *		Which tables of two and three columns a private release measures, and how it divides its budget
 *
 * Tables of one column come first.  Then rounds: noisy scores tell how far each table of two columns, and in the last
 * round each of three columns that is asked for or has a label, is from what the released numbers say so far, and some
 * tables are measured.  If a column matters more than others, a label, all of its pairs are the first round, without
 * scores.  Every decision follows from public and released numbers.
 *
 * Costs are epsilon (discrete Laplace noise; numbers `noise` are scales in 1 / RACE_SCALE_DENOMINATOR) or rho (discrete
 * Gaussian noise; they are variances).
 *
 *		race_select_count()				the noise of the number of records; then draw it
 *		race_select_one_ways()			the noise of tables of one column
 *		race_select_block()				whether neighbouring cells of a column are counted together; then draw these tables
 *		race_select_join()				which groups of cells are one in tables of two and three columns
 *		race_select_all()				few columns, or a label: the noise of all these tables, or of its pairs; then draw these
 *		while race_select_scores():		the noise of scores
 *			draw a score of each of race_select_candidates(): sum of |counter - reference| + noise
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

#include "hash/contingency.h"


#define RACE_SELECT_ASKED	128
#define RACE_SELECT_SCORES	(RACE_GRAPH_COLUMNS * (RACE_GRAPH_COLUMNS - 1) / 2 + RACE_SELECT_ASKED)
#define RACE_SELECT_TABLES	512 /* the most tables of two and three columns that are measured */

/* Most cells of all cliques of the junction tree: a fit of Adult at epsilon = 10 takes 1 s. */
#define RACE_SELECT_CLIQUES	1000000

typedef struct RaceSelectTable
{
	uint32_t	first;
	uint32_t	second;			/* first < second */
	uint32_t	third;			/* second < third; of two columns: second */
	double		weight;			/* how much it matters */
	uint64_t	noise;
} RaceSelectTable;

typedef struct RaceSelect
{
	/* the request */
	uint32_t	columns;
	const uint32_t *cells;		/* [columns]: of tables of one column */
	const uint32_t *finest;		/* [columns]: groups of cells in which pairs are counted */
	const uint32_t *ordered;	/* [columns]: the number of first groups that are alike if they are neighbors, */
	const uint32_t *width;		/* [columns]: and the number of their cells */
	const double *weights;		/* [columns], how much a column matters */
	uint32_t	n_asked;
	const RaceSelectTable *asked;	/* [n_asked]: tables that matter more, by this factor, and tables of three columns that may be
								 * chosen, with a factor of 1; those of three columns come first, and of these the former */
	uint32_t	parts;			/* counters of a cell, */
	uint64_t	unit;			/* to which a record adds so much together, with the digits of weights, */
	uint32_t	weight_bits;	/* which has the number of records, too */
	bool		pure;
	double		budget;			/* epsilon, or what an account of Gaussian noise allows, */
	uint64_t	added;			/* and what it adds to each variance (budget.h) */
	uint32_t	max_contributions;	/* records of a person */
	bool		substitute;		/* neighbors replace a person's records */
	bool		fixed;			/* measure the tables that are asked for, or all pairs, whatever counts say */

	/* results */
	double		cost;			/* so far, rounded up, never above the budget */
	double		total;			/* estimate of the number of records, at least 1 */
	uint64_t	one_way[RACE_GRAPH_COLUMNS];	/* noise */
	uint32_t	block[RACE_GRAPH_COLUMNS];	/* cells of a column that are counted together, if they are alike; 1: none */
	uint64_t	unevenness[RACE_GRAPH_COLUMNS];	/* noise of the score that tells it */
	uint32_t	groups[RACE_GRAPH_COLUMNS];
	uint32_t   *group_of[RACE_GRAPH_COLUMNS];	/* [finest]: the group of each of them; memory of the caller's */
	uint32_t	measured;		/* tables of two and three columns, in the order in which they were chosen */
	RaceSelectTable table[RACE_SELECT_TABLES];

	/* in between */
	double		allotted;		/* of the budget */
	bool		all;			/* measure all pairs? */
	uint32_t	n_fixed;		/* tables of several columns, table[], that are measured without scores, but for all pairs */
	uint32_t	round;			/* that comes next, from 0 on */
	double		score_deviation;	/* in records */
	RaceColumnSet neighbors[RACE_GRAPH_COLUMNS];
} RaceSelect;

/*
 * The noise of the number of records; 0 if it would be too large.  The request is set, and all else is 0 but
 * group_of.
 */
extern uint64_t race_select_count(RaceSelect *select);

/* With the noisy number of records.  Sets one_way[]; false if noise would be too large */
extern bool race_select_one_ways(RaceSelect *select, int64_t count);

/*
 * Blocks of so many cells as select->block[column] may be counted together: with a noisy score, how unevenly records lie
 * within them, decide whether they are.  The score is the sum over cells of |c x - s|, of a cell with x records in a block
 * of c cells with s records.
 */
extern void race_select_block(RaceSelect *select, uint32_t column, int64_t score);

/* With noisy tables of one column, in units, summed over the finest groups, one after the other.  Sets total, groups[], group_of[] */
extern void race_select_join(RaceSelect *select, const int64_t *counts);

/* Choose the tables that need no scores, table[]: all where they are good enough, or the pairs of a label; else false */
extern bool race_select_all(RaceSelect *select);

/* The noise of a score; 0: there is nothing more to select, go on to race_select_rest() */
extern uint64_t race_select_scores(RaceSelect *select);

/* How many scores there are: of all pairs, in the order (0,1), (0,2), ..., (1,2), ..., then of tables of three columns */
extern uint32_t race_select_candidates(const RaceSelect *select);

/*
 * With noisy scores, in units.  Chosen tables are table[] from the number that was `measured` before.
 */
extern void race_select_choose(RaceSelect *select, const int64_t *scores);

/* What is left of the budget buys a second draw of each table of one column, with noise[columns], if none has blocks. False: nothing is left. */
extern bool race_select_rest(RaceSelect *select, uint64_t *noise);

/* The expected noise of the cells of all tables, if all are measured: which kind of noise is better depends on it */
extern double race_select_noise(const RaceSelect *select);

/* The variance of the noise of a counter */
extern double race_select_variance(const RaceSelect *select, uint64_t noise);

#endif
