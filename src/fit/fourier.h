/*
 * fourier.h
 *		Discrete Fourier transforms of arrays in up to three dimensions.
 *
 * Plain C99 without PostgreSQL headers.  Sizes are products of 2, 3 and 5.
 */
#ifndef RACE_FOURIER_H
#define RACE_FOURIER_H

#include <stddef.h>
#include <stdint.h>

#define RACE_FOURIER_DIMS	3

typedef struct RaceComplex
{
	double		re;
	double		im;
} RaceComplex;

/* The least size from n on that can be transformed */
extern size_t race_fourier_size(size_t n);

/* Numbers of space that a transform of these sizes needs */
extern size_t race_fourier_space(const size_t *sizes);

/*
 * Transform x [sizes[0]][sizes[1]][sizes[2]] in its place: the sum of x e^(-i w k), or for
 * the inverse of x e^(i w k), not divided by the number of elements.  Interruptible.
 */
extern void race_fourier(RaceComplex *x, const size_t *sizes, int inverse,
						 RaceComplex *space);

#endif							/* RACE_FOURIER_H */
