/*
 * typicality.h
 *		The mean density of a sketch at its own records.
 */
#ifndef RACE_TYPICALITY_H
#define RACE_TYPICALITY_H

#include "postgres.h"

#include "../cache/call_site.h"
#include "../sketch/sketch.h"

typedef struct RaceTypical
{
	double		density;		/* at least twice its standard error */
	double		error;			/* this standard error; INFINITY if it is not above that by itself */
} RaceTypical;

/* Computed once for a sketch */
extern RaceTypical race_typical(RaceCallSite *site, const RaceView *view);

#endif							/* RACE_TYPICALITY_H */
