/*
 * search.h
 *		Places where the density of vectors is highest, found by asking the sketch alone.
 *
 * No derivatives are needed (Coleman & Shrivastava 2021, section 4): a population of places
 * is looked at, and from those that no near one beats a search climbs in ever smaller
 * steps.
 */
#ifndef RACE_SEARCH_H
#define RACE_SEARCH_H

#include "postgres.h"

#include "../query/estimate.h"

typedef struct RaceSearch
{
	RaceQuestion question;
	uint32		dims;
	const double *lower;		/* [dims]: the box that is searched */
	const double *upper;
	double	   *widths;			/* [dims]: of what counts as near, about a bandwidth */
	double	   *half_cells;		/* [dims]: of a grid, else NULL */
	double	   *beside;			/* [dims]: space for a place */
} RaceSearch;

typedef struct RacePlaces
{
	uint32		n;
	double	   *x;				/* [n][dims] */
	double	   *density;		/* [n] */
} RacePlaces;

/* Of a sketch that is asked about vectors, in a box; in the current memory context */
extern void race_search_start(RaceSearch *search, Datum sketch, const double *lower,
							  const double *upper);

extern double race_search_density(RaceSearch *search, const double *x);

/* Local maxima in the box, at most so many, the densest first */
extern void race_search_maxima(RaceSearch *search, uint32 most, RacePlaces *maxima);

/* The least density on the line between two places, of which neither is */
extern double race_search_saddle(RaceSearch *search, const double *a, const double *b);

#endif							/* RACE_SEARCH_H */
