/*
 * projection.h
 *		What the nodes of a grid say of a kernel sum.
 *
 * A record adds to each node what the node's hat function is where the record lies: 1 at the
 * node, falling linearly to 0 at its neighbours.  So the nodes have the inner products of the
 * table with the hats, and what they say of it is its orthogonal projection on the functions
 * that are linear between nodes.  A kernel sum is asked of this projection P:
 *
 *		sum over records of k(x, q)  ~  integral of (P records)(x) k(x, q) dx
 *
 * What it errs by is the product of what P leaves of the table and of what it leaves of the
 * kernel.  So where both are smooth it falls with the fourth power of the cells, while the
 * sum of the kernel over nodes falls with the second.
 */
#ifndef RACE_PROJECTION_H
#define RACE_PROJECTION_H

#include "postgres.h"

#include "../lsh/grid.h"
#include "../lsh/radial.h"

/*
 * Turn the nodes of a grid into the weights of as many hats, each of mass 1.  The outer halves of those
 * on the bounds are taken away: by some hats outside the bounds, on a wider grid, or by those within.
 * out is [wide->nodes].
 */
#define RACE_PROJECT_OUTSIDE	3	/* hats beyond each bound */

/* How many there must be: none, where the kernel has no peak and there are nodes enough within */
extern uint32 race_project_outside(const RaceGrid *grid, bool peak);

extern void race_project_grid(const RaceGrid *grid, uint32 outside, RaceGrid *wide);
extern void race_project_nodes(const RaceGrid *grid, const double *nodes, const RaceGrid *wide,
							   double *out);

/*
 * The mean of a kernel over a hat, for each distance between its node and the query: the mean
 * of all directions, as it depends on them little.
 */
extern void race_project_kernel(const RaceGrid *grid, const RaceRadial *kernel,
								RaceRadial *projected);

#endif							/* RACE_PROJECTION_H */
