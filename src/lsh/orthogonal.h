/*
 * orthogonal.h
 *		Projections at right angles: rows that share the work in many dimensions.
 */
#ifndef RACE_ORTHOGONAL_H
#define RACE_ORTHOGONAL_H

#include <stdint.h>

/*
 * Turn RACE_LANES independent standard normal vectors, c[dims][RACE_LANES], into
 * groups of `dims` (or as many as there are) at right angles to each other.  Each
 * by itself is standard normal as before, and depends on those before it only:
 * its direction is uniform whatever they are, and it keeps its length, which is
 * independent of directions (Yu et al. 2016, "Orthogonal Random Features").
 */
extern void race_orthogonalize(double *c, uint32_t dims);

#endif							/* RACE_ORTHOGONAL_H */
