/*
 * graphical_model.h
 *		The distribution of maximum entropy over rows of categories, some tables of which were
 *		measured with noise (McKenna, Sheldon & Miklau: Graphical-model based estimation and
 *		inference for differential privacy, ICML 2019)
 *
 * p(x) is proportional to exp(sum over measured tables t of theta_t[cell of x in t]).  Tables of
 * one column have its cells; tables of two or three columns have groups of cells.  Within a group,
 * a cell depends on no other column.  theta has the layout of the tables; all else (junction tree,
 * cliques) is computed from it.
 *
 * Plain C99 without PostgreSQL headers.
 */
#ifndef RACE_GRAPHICAL_MODEL_H
#define RACE_GRAPHICAL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "answers/lbfgs.h"

/* The columns: at most RACE_GRAPH_COLUMNS (src/hash/contingency.h) */
typedef struct RaceGraphColumns
{
	uint32_t columns;
	const uint32_t *cells;  /* [columns]: cells of each column */
	const uint32_t *groups; /* [columns]: groups of each column, from 1 to its cells */
	/* [columns][cells]: groups; NULL for a column where cell c is group c */
	const uint32_t *const *group_of;
	/* [columns], or NULL: number of first cells that are alike if they are neighbors */
	const uint32_t *ordered;
} RaceGraphColumns;

/*
 * A measured table of one column (third == second == first, [cells]), of two (third == second,
 * [groups of first][groups of second]) or of three ([groups of first][groups of second][groups of
 * third])
 */
typedef struct RaceMarginal
{
	uint32_t first;
	uint32_t second;
	uint32_t third;
	double variance;      /* variance of the noise of a count, above 0 */
	const double *counts; /* counts of cells, for race_graph_fit() alone */
	/* neighbouring cells of one column that were counted together (contingency.h); 0 is 1 */
	uint32_t block;
	uint32_t ordinary; /* cells of one column before those of another variance */
	double single;     /* variance of cells from `ordinary` on, as a multiple; 0 is 1 */
} RaceMarginal;

typedef struct RaceGraph RaceGraph;

/*
 * Create a model with theta = 0, which is uniform.  Every column has one table of its own, and the
 * others are of different columns.  Arrays of columns and tables are used as long as the graph is.
 */
extern RaceGraph *race_graph_create(const RaceGraphColumns *columns, uint32_t n,
									const RaceMarginal *tables, RaceAllocate allocate, void *arg);

/* Return the parameters, table by table.  After a change, call race_graph_calibrate(). */
extern double *race_graph_theta(RaceGraph *graph, size_t *n);
extern void race_graph_calibrate(RaceGraph *graph);

/*
 * Fit theta, from its present value, to the counts of the tables, whose total is near `total` > 0;
 * and calibrate.  Return the number of iterations.
 */
extern uint32_t race_graph_fit(RaceGraph *graph, double total, uint32_t most_iterations);

/* Answers: probabilities of a calibrated model, which add up to 1 */

/* Compute the table of any two columns: [groups of first][groups of second], or cells. */
extern void race_graph_pair(RaceGraph *graph, uint32_t first, uint32_t second, bool cells,
							double *table);

/*
 * Compute the table [groups][groups][groups] of three columns: the distribution of maximum entropy
 * that has the tables of their pairs, by proportional fitting.  That of the model may be another
 * one.
 */
extern void race_graph_triple(RaceGraph *graph, const uint32_t *columns, double *table);

/*
 * Return the expectation of a product of weights: weights[i] is NULL, or [cells] numbers of column
 * i, from 0 to 1 each. table, if it is not NULL, becomes the same expectation for each cell of
 * column `of` (they add up to what is returned).
 */
extern double race_graph_event(RaceGraph *graph, const double *const *weights, uint32_t of,
							   double *table);

/*
 * Draw n rows, rows[i][columns].  Each row has the distribution of the model.  Rows are stratified:
 * frequencies in a clique are nearer to their expectation than those of independent rows.  uniform
 * returns numbers in [0, 1).  `space` has n (columns + RACE_GRAPH_SAMPLE) numbers.
 */
#define RACE_GRAPH_SAMPLE 4

extern void race_graph_sample(RaceGraph *graph, double (*uniform)(void *), void *arg, uint32_t n,
							  uint32_t *rows, uint32_t *space);

#endif
