/*
 * table.h
 *		Tables of counters over columns: cells, weights, selection of a resolution
 */
#ifndef RACE_TABLE_H
#define RACE_TABLE_H

#include "privacy/counters.h"
#include "privacy/exact.h"
#include "hash/params.h"

/*
 * Grids: sketches of one row whose counters are the nodes of a grid.
 *
 * In few dimensions and between public bounds, a record need not be hashed.  It is split
 * linearly over the 2^d nodes around it, in integer weights that add up to a unit.  So it
 * changes the counters by one unit in L1, however many nodes there are, and a question is asked
 * of what the nodes say of the table (evaluator.c).
 *
 * A grid has cells that can be halved in number several times, exactly: the linear weights of a
 * coarse node are 1/2, 1, 1/2 of those of its fine ones.  So the noise decides how fine a private
 * sketch is.  It may have two levels: the fine nodes, and nodes four times as far apart, with noise
 * of their own.  Least squares combine them (evaluator.c): what many fine nodes say together,
 * coarse ones say with less noise.
 *
 * Units are the same before and after: weights at the finest cells are multiples of a power
 * of two.  The number of halvings that are left follows from the number of cells.
 */

#define RACE_GRID_DIMS 3
#define RACE_GRID_CORNERS (1 << RACE_GRID_DIMS)
#define RACE_GRID_NODES ((uint64_t) 1 << 21)    /* nodes of all levels */
#define RACE_GRID_L1_NODES ((uint64_t) 1 << 16) /* nodes of a kernel whose questions visit all */
#define RACE_GRID_LEVELS 2
#define RACE_GRID_FACTOR 4         /* cells of a level over those of the next */
#define RACE_GRID_LEVEL_HALVINGS 2 /* halvings of the number of cells from a level to the next */

/* The nodes of a level, between bounds; the last axis runs fastest */
typedef struct RaceGrid
{
	uint32_t dims;
	uint32_t cells[RACE_GRID_DIMS];
	uint32_t halvings; /* halvings that are left */
	uint64_t nodes;
	double lower[RACE_GRID_DIMS];
	double width[RACE_GRID_DIMS]; /* width of a cell */
	/* the width of a cell in bandwidths, and the root mean square of all axes */
	double step[RACE_GRID_DIMS];
	double mean_step;
} RaceGrid;

/*
 * Set the finest level that parameters have; return false if they have no cells.  Return how many
 * levels they have.
 */
extern bool race_grid_of(const RaceParams *params, RaceGrid *grid);
extern int race_grid_levels(const RaceParams *params);

/* Return what the weights of a record add up to in each level. */
extern uint64_t race_grid_unit(const RaceParams *params);

/* Make the cells of a level twice as wide; the grid must have a halving left. */
extern void race_grid_halve(RaceGrid *grid);

/*
 * Choose the numbers of cells that "auto" stands for: fine parts of a bandwidth, as far as there is
 * room.  Its bandwidths and its bounds are given apart, as they may not follow part yet; all are
 * checked later.  cells is [dims].
 */
extern void race_grid_choose_cells(const RaceParams *part, const double *bandwidths,
								   const double *lower, const double *upper, double *cells);

/* Return the number of nodes of `levels` levels with these cells; 0 if cells are not valid. */
extern uint64_t race_grid_nodes(const double *cells, uint32_t dims, int levels);

/*
 * Is the kernel one of vectors by themselves, and a function of their distance, of which a table
 * can be made (radial.h)?
 */
#define RACE_RADIAL_POWER 16

extern bool race_radial_can(const RaceParams *params);

/* Return what is wrong with the grid of a part, or NULL. */
extern const char *race_grid_problem(const RaceParams *params, char *message, size_t length);

/*
 * Split a record, which lies within the bounds: the nodes around it and their weights,
 * [2^dims].  Returns how many they are.
 */
extern int race_grid_split(const RaceGrid *grid, const double *x, uint32_t *nodes,
						   int64_t *weights);

/*
 * Compute the counters of the grid with half as many cells.  The number of fine nodes is that of
 * `fine`.  Exact for counters without noise; else rounded.  `out` may be `in`.
 */
extern void race_grid_coarsen(const RaceGrid *fine, const int64_t *in, int64_t *out);
extern void race_grid_coarsen_real(const RaceGrid *fine, const double *in, double *out);

/* Where a kernel sum is asked: in the middle, where its noise is largest, or anywhere */
typedef enum RaceGridPlace
{
	RACE_GRID_MIDDLE,
	RACE_GRID_ANYWHERE
} RaceGridPlace;

/*
 * What a private sketch keeps of a grid: cells after so many halvings, in so many levels.
 * The variance of a kernel sum whose counters have noise of this variance, in units squared;
 * and by which share of it cells are expected to change it.  And the share that they may
 * change a sum of a grid as it is, which intervals allow for.
 */
typedef struct RaceGridChoice
{
	int halvings;
	int levels;
} RaceGridChoice;

/* What cells lose of l1, whose peak is sharper, beside l2 */
#define RACE_L1_BIAS 2

extern bool race_grid_allows(const RaceParams *params, RaceGridChoice choice);
extern double race_grid_noise_variance(const RaceParams *params, RaceGridChoice choice,
									   RaceGridPlace place, double counter_variance,
									   double count_variance);
extern double race_grid_bias(const RaceParams *params, RaceGridChoice choice);

/* Return the standard deviation of rounded positions along an axis, in bandwidths. */
extern double race_grid_rounding(const RaceParams *params);

/* Set the shape of exact nodes. */
extern void race_grid_shape(const RaceParams *params, RaceShape *shape);

/* Set the parameters after a choice; they take as many bytes. */
extern void race_grid_apply(RaceParams *params, RaceGridChoice choice);

/*
 * The smooth part of the kernel that a level with this mean step sums: the kernel itself from
 * RACE_GRID_REACH steps on.  Finer levels sum the rest.  Step 0 gives the whole kernel.
 */
#define RACE_GRID_REACH 2.0

typedef struct RaceGridSmooth
{
	const RaceParams *params;
	double reach;  /* of the polynomial, as a distance in bandwidths */
	double edge;   /* the kernel there */
	double second; /* coefficients, of a distance in units of the reach */
	double fourth;
} RaceGridSmooth;

extern RaceGridSmooth race_grid_smooth(const RaceParams *params, double step);
extern double race_grid_smooth_at(const RaceGridSmooth *smooth, double distance);

/*
 * Split n records over the nodes of a grid, `weight` times.  No counter may come near the limit of
 * its width: nothing is checked here.
 */
extern void race_count_in_grid(const RaceParams *params, const double *x, size_t n, int64_t weight,
							   RaceCounterArray counters);

#endif
