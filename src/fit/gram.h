/*
 * gram.h
 *		The Gram matrix of points: symmetric and positive semidefinite.
 *
 * Plain C99 without PostgreSQL headers.
 */
#ifndef RACE_GRAM_H
#define RACE_GRAM_H

#include <stddef.h>
#include <stdint.h>

#include "../lsh/radial.h"
#include "fourier.h"

/*
 * Codes of a point take a line of so many: a multiple of RACE_GRAM_LINE, of which those
 * after the last row are never equal to another.
 */
#define RACE_GRAM_LINE	64

extern size_t race_gram_line(uint32_t rows);

/*
 * Pack the buckets of a point, of so many rows, into its line; `point` is its number.  Buckets
 * above 2^16 are folded, so that of 2^16 pairs one may be taken for equal.
 */
extern void race_gram_pack(const uint32_t *buckets, uint32_t rows, size_t point,
						   uint16_t *line);

/*
 * In the matrix [m][m], gram[i][j] = the share of rows in which points i and j have the same bucket.
 * Interruptible.
 */
extern void race_gram_of_codes(const uint16_t *codes, size_t m, uint32_t rows,
							   float *gram);

/*
 * gram[i][j] = the exact kernel of places i and j, which lie side by side as
 * race_radial_sum() has them.  Interruptible.
 */
extern void race_gram_of_places(const RaceRadial *radial, const double *places, size_t m,
								float *gram);

/*
 * The kernel between two points of a grid depends on how many steps they are apart, so that the product
 * of their Gram matrix with a vector is a convolution, which Fourier transforms do without the matrix.
 */
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

/*
 * Of m points: the matrix [m][m], or without it that of a grid, or of few rows, whose codes stand
 * row by row, with space for sums
 */
typedef struct RaceGram
{
	size_t		m;
	const float *dense;			/* or NULL */
	const RaceLattice *lattice; /* or NULL */
	const uint16_t *codes;		/* [rows][m], or NULL */
	uint32_t	rows;
	double	   *sums;			/* [RACE_GRAM_CODES] */
} RaceGram;

#define RACE_GRAM_CODES	65536

/* out = gram v */
extern void race_gram_multiply(const RaceGram *gram, const double *v, double *out);

#endif							/* RACE_GRAM_H */
