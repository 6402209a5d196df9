/*
 * select_tables.h
 *		Which tables of two and three columns a private release measures, and how it divides its
 *		budget
 *
 * Tables of one column come first.  Then rounds: noisy scores tell how far each table of two
 * columns, and in the last round each of three columns that is asked for or has a label, is from
 * what the released numbers say so far, and some tables are measured.  If a column matters more
 * than others, a label, all of its pairs are the first round, without scores.  Every decision
 * follows from public and released numbers.
 *
 * It holds no exact number.  It plans on an account of its own, without random numbers; what is
 * drawn is paid from the account of the release, by the same prices.  Prices and noise are as
 * account.h has them.
 *
 *		race_select_begin()				the account
 *		race_select_count()				the noise of the number of records; then draw it
 *		race_select_one_ways()			the noise of tables of one column, and of their ends
 *		race_select_block()				whether neighbouring cells of a column are counted together;
 *										then draw these tables, and ends
 *		race_select_search()			where there are searched columns: the sets of three that depend on
 *										each other beyond their pairs, as select_search.h has it.  Their
 *										tables come after all others
 *		race_select_signs()				where columns of numbers have signs: the price of their
 *										products.  Draw these; if they show dependence, go on as
 *										select_signs.h has it
 *		race_select_join()				which groups of cells are one in tables of several columns
 *		race_select_all()				few columns, or a label: the noise of all these tables, or
 *										of its pairs; then draw these
 *		while race_select_round():		the price of a score, or of a selection
 *			with Gaussian noise, draw a score of each of race_select_candidates(): the sum of
 *			|counter - reference|, and noise
 *				race_select_choose()	the tables that this round measures, with their noise
 *			with Laplace noise, up to race_select_picks() times:
 *				race_select_qualities()	what a table gains, less what it costs; then select the best
 *				race_select_pick()		add that table
 *				race_select_take()		after the last one: the noise of these tables
 *			then draw these tables
 *		race_select_rest()				noise of a second draw of the tables of one column, and of
 *										their ends, where budget is left
 *
 * Plain C99 without PostgreSQL headers.
 */
#ifndef RACE_SELECT_TABLES_H
#define RACE_SELECT_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "privacy/account.h"
#include "privacy/exact.h"
#include "privacy/select.h"
#include "hash/contingency.h"

#define RACE_SELECT_ASKED 128
#define RACE_SELECT_SCORES (RACE_GRAPH_COLUMNS * (RACE_GRAPH_COLUMNS - 1) / 2 + RACE_SELECT_ASKED)
#define RACE_SELECT_TABLES 512 /* the most tables of two and three columns that are measured */

#define RACE_FOUND 8 /* the most sets of three columns that a search finds */

/* Most cells of all cliques of the junction tree: a fit of Adult at epsilon = 10 takes 1 s. */
#define RACE_SELECT_CLIQUES 1000000

/* What a draw may cost, and the noise that this buys; 0: it is not drawn */
typedef struct RacePrice
{
	double amount;
	uint64_t noise;
} RacePrice;

typedef struct RaceSelectTable
{
	uint32_t first;
	uint32_t second; /* first < second */
	uint32_t third;  /* second < third; of two columns: second */
	double weight;   /* how much it matters */
	RacePrice price;
} RaceSelectTable;

typedef struct RaceSelect
{
	/* the request */
	uint32_t columns;
	const uint32_t *cells;   /* [columns]: cells of tables of one column */
	const uint32_t *finest;  /* [columns]: groups of cells in which pairs are counted */
	const uint32_t *ordered; /* [columns]: number of first groups that are alike if neighbors */
	const uint32_t *width;   /* [columns]: the number of cells in these groups */
	const uint32_t *span;    /* [columns]: ordinary cells, of which ends are known */
	const double *weights;   /* [columns]: how much a column matters */
	const double *sums;      /* [columns]: how much the sum of a column matters, or 0; or NULL */
	uint32_t n_asked;        /* number of tables that are asked for */
	/*
	 * [n_asked]: tables that matter more, with a factor as their weight, and tables of three columns
	 * that may be chosen, with a factor of 1.  Tables of three columns come first; among them, those
	 * that matter more do.
	 */
	const RaceSelectTable *asked;
	uint32_t n_searched; /* columns among all sets of three of which dependence is looked for */
	uint32_t searched[RACE_GRAPH_COLUMNS];
	uint32_t parts;  /* counters of a cell */
	bool with_signs; /* whether signs of columns may be measured */

	/* the request, as race_select_begin() sets it */
	RaceAccount planned; /* what is left after all that is planned */
	RaceShape shape;
	RaceExactMemory memory; /* exact counters without any */
	uint64_t unit;          /* what a record adds to a cell, with the digits of weights */
	bool pure;              /* whether noise is discrete Laplace */
	bool substitute;        /* whether neighbors replace a person's records */
	bool fixed; /* measure the tables that are asked for, or all pairs, whatever counts say */
	uint32_t max_contributions; /* records of a person */

	/* results */
	RacePrice count;                       /* price of the number of records */
	double total;                          /* estimate of the number of records, at least 1 */
	RacePrice one_way[RACE_GRAPH_COLUMNS]; /* prices of tables of one column */
	RacePrice ends[RACE_GRAPH_COLUMNS];    /* prices of ends of columns, of the same draw */
	/* their parts of what tables of columns get, in each draw */
	double ends_part[RACE_GRAPH_COLUMNS];
	/* cells of a column that are counted together, if they are alike; 1: none */
	uint32_t block[RACE_GRAPH_COLUMNS];
	double unevenness[RACE_GRAPH_COLUMNS]; /* price of the score that decides this */
	uint32_t groups[RACE_GRAPH_COLUMNS];
	/* [columns][finest]: group of each finest one, in memory of the caller's */
	uint32_t *group_of[RACE_GRAPH_COLUMNS];
	/* columns whose signs are measured, if there are any, and the price of the products of all */
	uint32_t n_signs;
	uint32_t sign_column[RACE_GRAPH_COLUMNS];
	double signs_price;
	/* sets of three columns that were found to depend on each other (select_search.h) */
	uint32_t n_found;
	RaceSelectTable found[RACE_FOUND];
	uint32_t measured; /* tables of two and three columns, in the order in which they were chosen */
	RaceSelectTable table[RACE_SELECT_TABLES];

	/* the state between calls */
	bool all; /* whether all pairs are measured */
	/* number of first tables, in table[], that need no scores, where not all pairs are measured */
	uint32_t n_fixed;
	uint32_t round;  /* the next round, from 0 on */
	double held;     /* what is held back for the tables of what was found */
	double kept;     /* what this round leaves for the next one */
	uint32_t picked; /* tables of this round, table[], behind those that are measured */
	bool refused[RACE_SELECT_SCORES]; /* candidates of this round that cannot be measured */
	double score_deviation;           /* in records */
	RaceColumnSet neighbors[RACE_GRAPH_COLUMNS];
} RaceSelect;

/*
 * Open the account of tables, to each of which a record adds this unit: that of a plan, and that of
 * a release, which pays by the prices of the plan.
 */
extern void race_select_open(RaceAccount *account, RaceRandom *random, const RaceRequest *request,
							 uint32_t columns, uint64_t unit);

/* Begin to plan.  What asks comes first: the columns, with their tables that matter, and parts. */
extern void race_select_begin(RaceSelect *select, const RaceRequest *request,
							  const RaceShape *shape);

/* Return the noise of the number of records, count; 0 if it would be too large. */
extern uint64_t race_select_count(RaceSelect *select);

/* Set one_way[] and ends[], by the noisy number of records.  Return false if noise would be too large. */
extern bool race_select_one_ways(RaceSelect *select, int64_t count);

/*
 * Decide whether blocks of so many cells as select->block[column] are counted together, by a noisy
 * score: how unevenly records lie within them.  The score is the sum over cells of |c x - s|, of a
 * cell with x records in a block of c cells with s records.
 */
extern void race_select_block(RaceSelect *select, uint32_t column, int64_t score);

/*
 * Set total, groups[] and group_of[], by noisy tables of one column, in units, summed over the
 * finest groups, one after the other.
 */
extern void race_select_join(RaceSelect *select, const int64_t *counts);

/*
 * Choose the tables that need no scores, table[]: all where they are good enough, or the pairs of a
 * label.  Return false if there are none.
 */
extern bool race_select_all(RaceSelect *select);

/*
 * Begin a round: return the price of each score or, with Laplace noise, of each selection; 0: there
 * is nothing more to select, go on to race_select_rest().
 */
extern double race_select_round(RaceSelect *select);

/*
 * Return how many scores there are: of all pairs, in the order (0,1), (0,2), ..., (1,2), ..., then
 * of tables of three columns.
 */
extern uint32_t race_select_candidates(const RaceSelect *select);

/* Choose tables by noisy scores, in units: table[], from the number that was `measured` before. */
extern void race_select_choose(RaceSelect *select, const int64_t *scores);

/* Return how many tables this round may pick, one after the other. */
extern uint32_t race_select_picks(const RaceSelect *select);

/*
 * Set the candidates of a pick, of which there are race_select_candidates() and one more, which is
 * to pick none; plan their selection.  Return how many there are; 0: nothing can be paid or picked.
 */
extern uint32_t race_select_qualities(RaceSelect *select, double price, RaceCandidate *candidates);

/*
 * Add the table of a candidate to those of this round, if the junction tree stays small.  Return
 * false if it is none.
 */
extern bool race_select_pick(RaceSelect *select, const RaceCandidate *candidate);

/* End a round of picks: divide its budget among its tables. */
extern void race_select_take(RaceSelect *select);

/*
 * Choose the tables of a round, whose scores have this price, by given scores: of a plan, they are
 * public.  `candidates` has room for one more than there are scores.
 */
extern void race_select_suppose(RaceSelect *select, double price, const int64_t *scores,
								RaceCandidate *candidates);

/*
 * Spend what is left of the budget on a second draw of each table of one column, with
 * prices[columns], and of ends, with ends[].  Return false if nothing is left.
 */
extern bool race_select_rest(RaceSelect *select, RacePrice *prices);

/*
 * Return the expected noise of the cells of all tables, if all are measured: which kind of noise is
 * better depends on it.
 */
extern double race_select_noise(const RaceSelect *select);

/* Return the variance of the noise of a counter. */
extern double race_select_variance(const RaceSelect *select, uint64_t noise);

#endif
