/*
 * modes.h
 *		race_modes, race_quantile, race_typicality
 */
#ifndef RACE_MODES_H
#define RACE_MODES_H

#include "postgres.h"

#include "../core/core.h"
#include "estimate.h"

/*
 * Places where an answer of a sketch is highest, such as the density of vectors.
 *
 * No derivatives are needed (Coleman & Shrivastava 2021, section 4): a population of places
 * is looked at, and from those that no near one beats a search climbs in ever smaller
 * steps.
 */

typedef struct RaceSearch
{
	/* what is to be high: the density, or a function of what this is a part of */
	double		(*look) (struct RaceSearch *search, const double *x);
	uint32		population;		/* places that are looked at before a climb, of both kinds */
	double		floor;			/* around places above it others are drawn; -INFINITY:
								 * above the least that is found */
	double		first_step;		/* of a climb, in widths, */
	double		last_step;
	RaceQuestion question;		/* of a density */
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
	double	   *density;		/* [n]: what is high, a density or another answer */
} RacePlaces;

/* Of a sketch that is asked about vectors, in a box; in the current memory context */
extern void race_search_start(RaceSearch *search, Datum sketch, const double *lower,
							  const double *upper);

/* Local maxima in the box, at most so many, the densest first */
extern void race_search_maxima(RaceSearch *search, uint32 most, RacePlaces *maxima);

/*
 * Of any answer: climb from the highest places of a population in a box, and from x, which
 * becomes the highest place that was found.  Returns what is there.
 */
extern double race_search_highest(RaceSearch *search, uint32 climbs, double *x);

/* The least density on the line between two places, of which neither is */
extern double race_search_saddle(RaceSearch *search, const double *a, const double *b);

/*
 * The mean density of a sketch at its own records.
 */

typedef struct RaceTypical
{
	double		density;		/* at least twice its standard error */
	double		error;			/* this standard error; INFINITY if it is not above that by itself */
} RaceTypical;

/* Computed once for a sketch */
extern RaceTypical race_typical(RaceCallSite *site, const RaceView *view);

#endif
