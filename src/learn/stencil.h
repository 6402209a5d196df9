/*
 * stencil.h
 *		A kernel between the nodes of a grid, and sums over all pairs of them.
 */
#ifndef RACE_STENCIL_H
#define RACE_STENCIL_H

#include "postgres.h"

#include "../fit/fourier.h"
#include "../lsh/grid.h"

/*
 * A kernel between nodes so many cells apart, up to lags[axis] - 1 along each axis; beyond, it
 * is 0, or there are no nodes.  Arrays have RACE_FOURIER_DIMS axes, the first ones of size 1 if
 * there are fewer.
 */
typedef struct RaceStencil
{
	size_t		lags[RACE_FOURIER_DIMS];
	size_t		nodes[RACE_FOURIER_DIMS];	/* of the grid */
	size_t		sizes[RACE_FOURIER_DIMS];	/* of a transform */
	double		step[RACE_FOURIER_DIMS];
	double		smooth;			/* mean step of a level with the smooth rest alone, or 0 */
	double		coarser;		/* and that of the level that has it, or 0 */
} RaceStencil;

/* How many numbers an array of these sizes has */
extern Size race_volume(const size_t *sizes);

/* Of a level; `smooth` if it is a coarse one, and `coarser` is 0 if there is none such */
extern RaceStencil race_stencil_of(const RaceGrid *grid, bool smooth, double coarser);

/* The kernel between nodes, [lags], or its square */
extern double *race_stencil_kernel(const RaceStencil *stencil, const RaceParams *params,
								   bool squared);

/* -------------------------------------------------------------- transforms */

/* Transform an array [sizes] in place. */
extern void race_stencil_fourier(RaceComplex *x, const RaceStencil *stencil, bool inverse);

/* The transform of two arrays [nodes], one in the real and one in the imaginary part */
extern RaceComplex *race_transform_nodes(const RaceStencil *stencil, const double *re,
										 const double *im);

/* The transform of a kernel, and of another or NULL in the imaginary part: both are even */
extern RaceComplex *race_transform_kernels(const RaceStencil *stencil, const double *re,
										   const double *im);

/* Where the node of this number is in an array that is transformed */
extern Size race_place_of(const RaceStencil *stencil, Size node);

/* |X|^2, |Y|^2 and the real part of X* Y, at a frequency of the transform of x + iy */
extern void race_powers_at(const RaceComplex *transformed, const size_t *sizes, Size i,
						   double *xx, double *yy, double *xy);

/* ------------------------------------------- sums over all pairs of nodes */

/* Of the squares of the kernel */
extern double race_sum_of_squares(const RaceStencil *stencil, const double *kernel);

/* Of the kernel times noise, which had variance 1 before cells were halved so often */
extern double race_noise_trace(const RaceStencil *stencil, const double *kernel, int halvings);

/*
 * The kernel times the covariance of noise along each axis: where cells were halved, noise is
 * larger, and alike at neighbors.
 */
extern double *race_blurred(const RaceStencil *stencil, const double *kernel, int halvings);

#endif							/* RACE_STENCIL_H */
