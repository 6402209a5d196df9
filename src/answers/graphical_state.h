/*
 * graphical_state.h
 *		A graphical model: cliques, tables and parameters
 *
 * A factor is a table over a set of columns, in groups.  Its columns are in the order of
 * graph->order; the last one varies fastest.
 */
#ifndef RACE_GRAPHICAL_STATE_H
#define RACE_GRAPHICAL_STATE_H

#include "hash/contingency.h"
#include "answers/graphical_model.h"

/*
 * A factor between a clique and its tables: potentials of tables are added up to it, and marginals
 * come from it.  Those that it is made of follow it.
 */
typedef struct Sum
{
	RaceColumnSet set;
	uint32_t next;             /* number of the first sum that is not below it */
	const struct Table *table; /* table that the sum belongs to, or NULL */
} Sum;

typedef struct Clique
{
	RaceColumnSet set;
	RaceColumnSet separator;
	uint32_t parent;
	size_t cells;
	size_t separator_cells;
	double *belief;
	double *message;    /* message to the parent; then the separator's belief */
	uint32_t first_sum; /* first sum of its tables */
	uint32_t last_sum;  /* number after the last sum of its tables */
} Clique;

#define TABLE_COLUMNS 3

typedef struct Table
{
	RaceColumnSet set;
	uint32_t columns;
	uint32_t column[TABLE_COLUMNS];
	size_t size[TABLE_COLUMNS]; /* groups of each column, 1 of those that it does not have */
	size_t step[TABLE_COLUMNS]; /* distance of groups in a factor over the set */
	uint32_t clique;            /* clique that contains it */
	size_t cells;
	double *theta;
} Table;

struct RaceGraph
{
	const RaceGraphColumns *columns;
	const RaceMarginal *marginals;
	uint32_t tables;
	Table *table;
	uint32_t cliques;
	Clique *clique;
	uint32_t sums;
	Sum *sum;
	uint32_t *order;    /* columns, fewest groups first */
	uint32_t *home;     /* a clique of each column */
	double **within;    /* [column][cell]: probability of a cell in its group */
	double **group_log; /* [column][group] */
	size_t parameters;
	double *theta;
	double log_partition;
	double *work;    /* a number of each group of the largest column */
	double *scratch; /* memory of a computation; grows */
	size_t scratch_size;
	size_t scratch_used;
	RaceAllocate allocate;
	void *arg;
};

/* Return the group of a cell. */
static inline uint32_t
race_graph_group(const RaceGraph *graph, uint32_t column, uint32_t cell)
{
	const uint32_t *map = graph->columns->group_of[column];

	return map == NULL ? cell : map[cell];
}

/* Return the place of a column among those of a table; TABLE_COLUMNS if it is none of them. */
static inline uint32_t
race_graph_place(const Table *table, uint32_t column)
{
	for (uint32_t k = 0; k < table->columns; k++)
		if (table->column[k] == column)
			return k;
	return TABLE_COLUMNS;
}

/* Return the group, of the column in this place, that has a cell of a table. */
static inline size_t
race_graph_group_in(const RaceGraph *graph, const Table *table, uint32_t place, size_t cell)
{
	if (table->columns == 1)
		return race_graph_group(graph, table->column[0], (uint32_t) cell);
	for (uint32_t k = TABLE_COLUMNS - 1; k > place; k--)
		cell /= table->size[k];
	return cell % table->size[place];
}

/* Return the number of cells of a factor over a set of columns. */
extern size_t race_graph_cells(const RaceGraph *graph, RaceColumnSet set);

/*
 * Return space for n numbers, until scratch_used is set back.  Space given out before stays where
 * it is, even when the space grows.
 */
extern double *race_graph_scratch(RaceGraph *graph, size_t n);

/* Return the marginal of a factor over `all`, in scratch space. */
extern double *race_graph_marginal(RaceGraph *graph, RaceColumnSet set, const double *factor,
								   RaceColumnSet all);

/* Compute the probabilities of the cells of all measured tables, in the layout of theta. */
extern void race_graph_tables(RaceGraph *graph, double *out);

/* Return the sum of numbers, or of products, in four sums each. */
extern double race_graph_sum(const double *x, size_t n);

#endif
