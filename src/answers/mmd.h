/*
 * mmd.h
 *		Sums of products of sketches: race_distance, race_typicality
 */
#ifndef RACE_MMD_H
#define RACE_MMD_H

#include "postgres.h"

#include "sketch/call_site.h"
#include "sketch/sketch.h"
#include "sketch/sketch_format.h"

/* The mean density of a sketch at its own records */
typedef struct RaceTypical
{
	RaceDerived	derived;		/* must be first */
	double		density;		/* at least twice its standard error */
	double		error;			/* this standard error; INFINITY if it is not above that by itself */
} RaceTypical;

/* Computed once for a sketch */
extern const RaceTypical *race_typical(RaceCallSite *site, const RaceView *view);

#endif
