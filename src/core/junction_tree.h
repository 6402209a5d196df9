/*
 * junction_tree.h
 *		Junction trees of graphs of columns
 *
 * Columns are nodes, and pairs of columns whose table is measured are edges.  Min-fill elimination
 * makes the graph chordal; its maximal cliques are the nodes of the junction tree.
 *
 * Plain C99 without PostgreSQL headers.
 */
#ifndef RACE_JUNCTION_TREE_H
#define RACE_JUNCTION_TREE_H

#include <stdint.h>

/* A set of columns, one bit each */
typedef unsigned __int128 RaceColumnSet;

#define RACE_GRAPH_COLUMNS	128
#define RACE_COLUMN(i)		((RaceColumnSet) 1 << (i))

/* The parent of a clique comes before it.  The first clique, and each that shares no column with its parent, is a root. */
typedef struct RaceJunctionTree
{
	uint32_t	cliques;
	RaceColumnSet clique[RACE_GRAPH_COLUMNS];
	RaceColumnSet separator[RACE_GRAPH_COLUMNS];	/* columns shared with the parent */
	uint32_t	parent[RACE_GRAPH_COLUMNS]; /* of the first clique: 0 */
} RaceJunctionTree;

/*
 * Find a junction tree, and return the number of cells of all its cliques.  neighbors[i] are the columns that
 * share a pair with column i; sizes are at least 1.  tree may be NULL.
 */
extern double race_junction_tree(uint32_t columns, const uint32_t *sizes, const RaceColumnSet *neighbors,
								 RaceJunctionTree *tree);

#endif
