/*
 * lattice.h
 *		The Gram matrix of points that are a grid, as a convolution.
 *
 * Plain C99 without PostgreSQL headers.  The kernel between two points of a grid depends on
 * how many steps they are apart.  So the product of their Gram matrix with a vector is a
 * convolution, which Fourier transforms do without the matrix.
 */
#ifndef RACE_LATTICE_H
#define RACE_LATTICE_H

#include <stddef.h>

#include "../lsh/radial.h"
#include "fourier.h"

#define RACE_LATTICE_DIMS	2

typedef struct RaceLattice
{
	size_t		sides[RACE_LATTICE_DIMS];	/* points along each axis; the last is next */
	size_t		sizes[RACE_FOURIER_DIMS];	/* of transforms */
	RaceComplex *numbers;		/* being transformed */
	RaceComplex *spectrum;		/* of the kernel, over the number of elements */
	RaceComplex *space;
} RaceLattice;

/* How many complex numbers of space a grid needs */
extern size_t race_lattice_space(const size_t *sides);

/*
 * A grid of sides[0] times sides[1] points, whose steps along the axes are given in
 * bandwidths.  A line has sides[0] = 1.  Interruptible.
 */
extern void race_lattice_init(RaceLattice *lattice, const RaceRadial *radial,
							  const size_t *sides, const double *steps, RaceComplex *space);

/* out = gram v.  Interruptible. */
extern void race_lattice_multiply(const RaceLattice *lattice, const double *v, double *out);

#endif							/* RACE_LATTICE_H */
