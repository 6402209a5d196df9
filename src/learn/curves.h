/*
 * curves.h
 *		Curves of shares along a line of nodes, from noisy records of the nodes.
 *
 * Some of the records at a place of the line have a property: their share is a curve, linear
 * between nodes.  Records are split linearly over the two nodes around them.  So a node sees a
 * mean of the curve, not its value there: without regard to that coarse nodes would flatten it.
 *
 * A curve is what was expected of it and a deviation, a Gaussian process whose size is that of all
 * curves together: where noise is large, deviations are small.
 */
#ifndef RACE_CURVES_H
#define RACE_CURVES_H

#include "postgres.h"

typedef struct RaceCurves
{
	int			n;
	uint32		cells;			/* between nodes */
	double		variance;		/* of the noise of `having` */
	double	   *records;		/* [n][cells + 1]: at each node, */
	double	   *having;			/* [n][cells + 1]: and of these with the property */
	double	   *shares;			/* [n][cells + 1]: expected, between 0 and 1 */
} RaceCurves;

/* Space for n curves */
extern RaceCurves *race_curves_create(int n, uint32 cells, double variance);

/* Replace expected shares by the likeliest ones, which noise may put a little beyond 0 and 1. */
extern void race_curves_fit(RaceCurves *curves);

#endif							/* RACE_CURVES_H */
