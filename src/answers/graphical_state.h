/*
 * graphical_state.h
 *		A graphical model: cliques, tables and parameters
 *
 * A factor is a table over a set of columns, in groups.  Its columns are in the order of graph->order; the last one
 * varies fastest.
 */
#ifndef RACE_GRAPHICAL_STATE_H
#define RACE_GRAPHICAL_STATE_H

#include "hash/contingency.h"
#include "answers/graphical_model.h"

/*
 * A factor between a clique and its tables: potentials of tables are added up to it, and marginals come from it.  Those
 * that it is made of follow it.
 */
typedef struct Sum
{
	RaceColumnSet set;
	uint32_t	next;			/* the number of the first that is not below it */
	const struct Table *table;	/* that it is, or NULL */
} Sum;

typedef struct Clique
{
	RaceColumnSet set;
	RaceColumnSet separator;
	uint32_t	parent;
	size_t		cells;
	size_t		separator_cells;
	double	   *belief;
	double	   *message;		/* to the parent; then the separator's belief */
	uint32_t	first_sum;		/* the sums of its tables, */
	uint32_t	last_sum;		/* and of those behind them */
} Clique;

#define TABLE_COLUMNS	3

typedef struct Table
{
	RaceColumnSet set;
	uint32_t	columns;
	uint32_t	column[TABLE_COLUMNS];
	size_t		size[TABLE_COLUMNS];	/* groups of each column, 1 of those that it does not have */
	size_t		step[TABLE_COLUMNS];	/* and how far they are apart in a factor over the set */
	uint32_t	clique;			/* that contains it */
	size_t		cells;
	double	   *theta;
} Table;

struct RaceGraph
{
	const RaceGraphColumns *columns;
	const RaceMarginal *marginals;
	uint32_t	tables;
	Table	   *table;
	uint32_t	cliques;
	Clique	   *clique;
	uint32_t	sums;
	Sum		   *sum;
	uint32_t   *order;			/* columns, fewest groups first */
	uint32_t   *home;			/* a clique of each column */
	double	  **within;			/* [column][cell]: probability of a cell in its group */
	double	  **group_log;		/* [column][group] */
	size_t		parameters;
	double	   *theta;
	double		log_partition;
	double	   *work;			/* a number of each group of the largest column */
	double	   *scratch;		/* grows */
	size_t		scratch_size;
	size_t		scratch_used;
	RaceAllocate allocate;
	void	   *arg;
};

/* The group of a cell */
static inline uint32_t
race_graph_group(const RaceGraph *graph, uint32_t column, uint32_t cell)
{
	const uint32_t *map = graph->columns->group_of[column];

	return map == NULL ? cell : map[cell];
}

/* The place of a column among those of a table; TABLE_COLUMNS if it is none of them */
static inline uint32_t
race_graph_place(const Table *table, uint32_t column)
{
	for (uint32_t k = 0; k < table->columns; k++)
		if (table->column[k] == column)
			return k;
	return TABLE_COLUMNS;
}

/* The group, of the column in this place, that has a cell of a table */
static inline size_t
race_graph_group_in(const RaceGraph *graph, const Table *table, uint32_t place, size_t cell)
{
	if (table->columns == 1)
		return race_graph_group(graph, table->column[0], (uint32_t) cell);
	for (uint32_t k = TABLE_COLUMNS - 1; k > place; k--)
		cell /= table->size[k];
	return cell % table->size[place];
}

/* The cells of a factor over a set of columns */
extern size_t race_graph_cells(const RaceGraph *graph, RaceColumnSet set);

/*
 * Space for n numbers, until scratch_used is set back.  What was given out before stays where it is, even when the space
 * grows.
 */
extern double *race_graph_scratch(RaceGraph *graph, size_t n);

/* The marginal of a factor over `all`, in scratch space */
extern double *race_graph_marginal(RaceGraph *graph, RaceColumnSet set, const double *factor, RaceColumnSet all);

/* The probabilities of the cells of all measured tables, in the layout of theta */
extern void race_graph_tables(RaceGraph *graph, double *out);

/* The sum of numbers, and of products, in four sums each */
extern double race_graph_sum(const double *x, size_t n);

#endif
