/*
 * nodes.h
 *		The nodes of a grid, and of those with half as many cells
 *
 * Linear weights nest: a coarse node has its own fine one, and halves of the fine ones beside it.
 * So what a record adds keeps its sum, and no number becomes negative.
 */
#ifndef RACE_NODES_H
#define RACE_NODES_H

#include <stdint.h>

#define RACE_NODES_AXES 3

/* Cells along each axis, which has one node more; the last axis runs fastest */
typedef struct RaceNodes
{
	uint32_t dims;
	uint32_t cells[RACE_NODES_AXES];
} RaceNodes;

/* Return the number of nodes. */
extern uint64_t race_nodes_count(const RaceNodes *nodes);

/* Halve the number of cells of each axis, which is even. */
extern void race_nodes_halve(RaceNodes *nodes);

/*
 * Set the counters of the grid with half as many cells.  Exact for counters without noise; else
 * rounded.  `out` may be `in`.
 */
extern void race_nodes_coarsen(const RaceNodes *fine, const int64_t *in, int64_t *out);
extern void race_nodes_coarsen_real(const RaceNodes *fine, const double *in, double *out);

/*
 * Coarsen along one axis of n cells.  What comes before it is `outer` lines, what comes after it is
 * `inner` nodes side by side.
 */
extern void race_nodes_coarsen_axis(const int64_t *in, int64_t *out, uint64_t outer, uint64_t n,
									uint64_t inner);

#endif
