/*
 * coarsen.h
 *		Private grids with the cells that they have in common.
 *
 * Noise and counts decide how many cells each private grid keeps (privacy/cells.c).  Linear
 * weights nest, so that a grid with noise can be made coarser, too.
 */
#ifndef RACE_COARSEN_H
#define RACE_COARSEN_H

#include "sketch.h"

/*
 * What each of two private grids keeps so that both have the same cells and levels: the finest
 * ones that can be.  False if there are none, or other parameters differ.
 */
extern bool race_grids_meet(const RaceParams *a, const RaceParams *b, RaceGridChoice choices[2]);

/*
 * Make a private grid coarser.  The noise of neighbouring nodes is correlated afterwards.  Its
 * counter_variance becomes the largest eigenvalue of its covariance, which is the variance that
 * smooth sums of nodes have for each node; no sum has more.
 */
extern void race_sketch_coarsen(RaceSketch *sketch, RaceGridChoice choice);

#endif							/* RACE_COARSEN_H */
