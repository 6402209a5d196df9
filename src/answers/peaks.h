/*
 * peaks.h
 *		Which of several places of known density are modes, and how prominent.
 *
 * Plain C99 without PostgreSQL headers.  Places are joined by paths, each with a saddle: the
 * least density on it.  From a place one can walk to another at the level of the lowest saddle
 * on the way.  The prominence of a place is its density less the highest level at which one
 * can walk to a denser place; without a way to one it is its density.  A place with a
 * denser one next to it, over a saddle as high as itself, has none: it is no mode.
 */
#ifndef RACE_PEAKS_H
#define RACE_PEAKS_H

#include <stddef.h>
#include <stdint.h>

typedef struct RacePath
{
	uint32_t	a;
	uint32_t	b;
	double		saddle;
} RacePath;

/*
 * The prominence of each of n places.  Of equally dense ones the first counts as denser.  Paths
 * are sorted on the way; `group` is space for n numbers.
 */
extern void race_prominences(const double *density, uint32_t n, RacePath *paths,
							 size_t n_paths, uint32_t *group, double *prominence);

/* Values with their numbers, the largest first; of equal ones the first first */
typedef struct RaceRanked
{
	double		value;
	uint32_t	i;
} RaceRanked;

extern void race_rank(const double *values, uint32_t n, RaceRanked *ranked);

#endif
