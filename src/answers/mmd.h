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
	RaceDerived derived; /* must be first */
	double density;      /* density, at least twice its standard error */
	double error;        /* standard error; INFINITY if the density is not above twice it */
} RaceTypical;

/* Return the mean density at a record, computed once for a sketch. */
extern const RaceTypical *race_typical(RaceCallSite *site, const RaceView *view);

#endif
