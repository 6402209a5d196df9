/*
 * gaussian_smoothing.h
 *		Values as normal distributions, seen at places along an axis.
 *
 * What a distribution has beyond the bounds of its axis is mirrored at them, so that all of it
 * lies between them.
 */
#ifndef RACE_GAUSSIAN_SMOOTHING_H
#define RACE_GAUSSIAN_SMOOTHING_H

#include "postgres.h"

typedef struct RaceSpread
{
	double		width;			/* the standard deviation */
	double		lower;			/* the bounds; infinite without */
	double		upper;
	bool		cells;			/* is it the mass in n cells, or the density at n places? */
	uint32		n;
	double	   *at;				/* [n] places, or [n + 1] edges of cells; they ascend */
} RaceSpread;

/* n places from first to last, both included */
extern void race_spread_places(RaceSpread *spread, double first, double last, uint32 n);

/*
 * Add what value number k of n places or cells has of a distribution around x to out[k], for
 * *from <= k < *to: elsewhere nothing is added.
 */
extern void race_spread_add(const RaceSpread *spread, double x, double *out, uint32 *from,
							uint32 *to);

/* The mean of the values around each place, values[k * stride], weighted over a distance */
extern void race_spread_average(const RaceSpread *spread, double distance, double *values,
								uint32 stride, double *space);

#endif
