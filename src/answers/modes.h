/*
 * modes.h
 *		Search for the highest density, or the least loss
 */
#ifndef RACE_MODES_H
#define RACE_MODES_H

#include "postgres.h"

#include "../core/core.h"
#include "estimate.h"

/* A search for a place where an answer of a sketch is highest, without derivatives */
typedef struct RaceSearch
{
	/* what is to be high: the density, or a function of what this is a part of */
	double		(*height) (struct RaceSearch *search, const double *x);
	double		first_step;		/* of a climb, in widths, */
	double		last_step;
	RaceQuestion question;
	uint32		dims;
	const double *lower;		/* [dims]: the box that is searched */
	const double *upper;
	double	   *widths;			/* [dims]: of what counts as near, about a bandwidth */
} RaceSearch;

/*
 * Climb from x: try a step to both sides along each axis, and then the whole way of such a round once
 * more.  Where nothing is higher, halve the steps (Hooke & Jeeves 1961).  Return what is reached.
 */
extern double race_search_climb(RaceSearch *search, double *x);

#endif
