/*
 * components.h
 *		Principal components of moments.
 */
#ifndef RACE_COMPONENTS_H
#define RACE_COMPONENTS_H

#include "postgres.h"

#include "likely.h"
#include "spread.h"

typedef struct RaceFoundComponents
{
	RaceLikely	likely;
	double	   *scale;			/* a unit of a column in that of components, over its slope */
	double	   *vectors;		/* of length 1, [dims][dims], in rows */
	RaceMeasured *variances;	/* [dims] */
} RaceFoundComponents;

/* Of columns in their units, or in their standard deviations.  All is palloc'd. */
extern void race_find_components(Datum moments, bool standardize, RaceFoundComponents *found);

#endif							/* RACE_COMPONENTS_H */
