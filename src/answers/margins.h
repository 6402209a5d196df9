/*
 * margins.h
 *		Shares of the cells of one column, by noisy counts
 *
 * Plain C99 without PostgreSQL headers.
 */
#ifndef RACE_MARGINS_H
#define RACE_MARGINS_H

#include <stdint.h>

#include "answers/lbfgs.h"

/* Noisy counts of the cells of a column */
typedef struct RaceNoisyColumn
{
	uint32_t n;
	uint32_t ordered; /* number of first cells that are in order */
	uint32_t block;   /* these were counted together, so many at a time */
	double variance;  /* variance of the noise of a block, or of a cell by itself */
	double total;     /* number of records */
} RaceNoisyColumn;

/*
 * Set shares[n], which add up to 1 and are above 0, by counts of cells.  Of those in order noise is
 * taken away by thresholds of Haar wavelets, in the mean over all shifts (Coifman & Donoho 1995).
 */
extern void race_margin(const RaceNoisyColumn *column, const double *counts, double *shares,
						RaceAllocate allocate, void *arg);

#endif
