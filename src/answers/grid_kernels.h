/*
 * grid_kernels.h
 *		The parts of a kernel that the levels of a grid sum, made once a backend for each parameter
 *		value in use
 *
 * They follow from the parameters alone.  A release with labels has one grid for each label, and
 * all of them share the parts.
 */
#ifndef RACE_GRID_KERNELS_H
#define RACE_GRID_KERNELS_H

#include "postgres.h"

#include "hash/params.h"
#include "hash/table.h"
#include "answers/radial.h"

#define RACE_MOST_LEVELS 16
#define RACE_OUTSIDE_NODES 3 /* nodes of splines beyond each bound */

/* Directions by multiples of an irrational number for each axis (Roberts 2018) */
extern const double race_irrational[RACE_GRID_DIMS];

/* Changes of a sum by cells, by distance (cell_errors.h) */
typedef struct RaceCellErrors RaceCellErrors;

/* What one level sums */
typedef struct RaceGridKernel
{
	RaceGrid grid;          /* nodes of the level, between the bounds */
	double smooth;          /* step whose peak finer levels sum; 0 for the first */
	double reach;           /* end of the kernel, in bandwidths, or INFINITY */
	RaceRadial *kernel;     /* the part of the kernel, convolved with a spline */
	double *by_square;      /* kernel by the square of the distance, or NULL */
	double squares;         /* entries of by_square for each square bandwidth */
	RaceCellErrors *errors; /* what cells change */
} RaceGridKernel;

typedef struct RaceGridKernels
{
	int n;
	RaceGridKernel levels[RACE_MOST_LEVELS];
} RaceGridKernels;

/* Return the kernels of a grid, valid until the memory context is reset. */
extern const RaceGridKernels *race_grid_kernels(const RaceParams *params, MemoryContext context);

/*
 * Project a line of n nodes: they become the coefficients of the splines whose inner products with
 * splines they are.
 */
extern void race_project_line(double *line, Size stride, Size n);

#endif
