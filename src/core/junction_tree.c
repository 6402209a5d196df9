/*
 * junction_tree.c
 *		Junction trees of graphs of columns
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "junction_tree.h"
#include "lsh.h"

static uint32_t
set_size(RaceColumnSet set)
{
	return (uint32_t) (__builtin_popcountll((uint64_t) set) +
					   __builtin_popcountll((uint64_t) (set >> 64)));
}

static uint32_t
first_of(RaceColumnSet set)
{
	return (uint32_t) ((uint64_t) set != 0 ? __builtin_ctzll((uint64_t) set) :
					   64 + __builtin_ctzll((uint64_t) (set >> 64)));
}

/* The cells of a table of these columns */
static double
cells_of(RaceColumnSet set, const uint32_t *sizes)
{
	double		cells = 1;

	for (; set != 0; set &= set - 1)
		cells *= sizes[first_of(set)];
	return cells;
}

/* The cells of the tables of all pairs that elimination of a column would add */
static double
fill_of(RaceColumnSet neighbors, const RaceColumnSet *graph, const uint32_t *sizes)
{
	double		fill = 0;

	for (RaceColumnSet rest = neighbors; rest != 0; rest &= rest - 1)
	{
		uint32_t	i = first_of(rest);
		RaceColumnSet missing = rest & (rest - 1) & ~graph[i];

		for (; missing != 0; missing &= missing - 1)
			fill += (double) sizes[i] * sizes[first_of(missing)];
	}
	return fill;
}

/* The column to eliminate next: least fill, then smallest clique */
static uint32_t
next_column(RaceColumnSet left, const RaceColumnSet *graph, const uint32_t *sizes, const double *fill)
{
	uint32_t	best = first_of(left);
	double		best_cells = INFINITY;

	for (RaceColumnSet rest = left; rest != 0; rest &= rest - 1)
	{
		uint32_t	i = first_of(rest);
		double		cells;

		if (fill[i] > fill[best])
			continue;
		cells = cells_of(graph[i] | RACE_COLUMN(i), sizes);
		if (fill[i] < fill[best] || cells < best_cells)
		{
			best = i;
			best_cells = cells;
		}
	}
	return best;
}

/* Connect cliques by a spanning tree with the largest separators (Prim's algorithm), parents first. */
static void
connect(RaceJunctionTree *tree)
{
	for (uint32_t n = 0; n < tree->cliques; n++)
	{
		uint32_t	best = n;
		uint32_t	best_parent = 0;
		int			most = -1;
		RaceColumnSet clique;

		for (uint32_t i = n; i < tree->cliques; i++)
			for (uint32_t j = 0; j < n; j++)
			{
				int			common = (int) set_size(tree->clique[i] & tree->clique[j]);

				if (common > most)
				{
					most = common;
					best = i;
					best_parent = j;
				}
			}
		clique = tree->clique[best];
		tree->clique[best] = tree->clique[n];
		tree->clique[n] = clique;
		tree->parent[n] = best_parent;
		tree->separator[n] = n == 0 ? 0 : clique & tree->clique[best_parent];
	}
}

double
race_junction_tree(uint32_t columns, const uint32_t *sizes, const RaceColumnSet *neighbors,
				   RaceJunctionTree *tree)
{
	RaceColumnSet graph[RACE_GRAPH_COLUMNS];
	RaceColumnSet cliques[RACE_GRAPH_COLUMNS];
	double		fill[RACE_GRAPH_COLUMNS];
	RaceColumnSet left = 0;
	RaceColumnSet changed = 0;
	uint32_t	n = 0;
	double		cells = 0;

	memcpy(graph, neighbors, columns * sizeof(RaceColumnSet));
	for (uint32_t i = 0; i < columns; i++)
		left |= RACE_COLUMN(i);
	changed = left;
	race_look_for_interrupts();
	while (left != 0)
	{
		uint32_t	column;
		RaceColumnSet clique;
		bool		maximal = true;

		for (RaceColumnSet rest = changed & left; rest != 0; rest &= rest - 1)
			fill[first_of(rest)] = fill_of(graph[first_of(rest)], graph, sizes);
		column = next_column(left, graph, sizes, fill);
		clique = graph[column] | RACE_COLUMN(column);
		changed = clique;
		left &= ~RACE_COLUMN(column);
		for (RaceColumnSet rest = graph[column]; rest != 0; rest &= rest - 1)
		{
			uint32_t	i = first_of(rest);

			graph[i] = (graph[i] | clique) & ~(RACE_COLUMN(column) | RACE_COLUMN(i));
			changed |= graph[i];
		}
		for (uint32_t i = 0; i < n; i++)
			maximal &= (clique & ~cliques[i]) != 0;
		if (!maximal)
			continue;
		cliques[n++] = clique;
		cells += cells_of(clique, sizes);
	}
	if (tree != NULL)
	{
		tree->cliques = n;
		memcpy(tree->clique, cliques, n * sizeof(RaceColumnSet));
		connect(tree);
	}
	return cells;
}
