/*
 * waves.h
 *		Cosines over a box: the terms of a smooth function of a place.
 *
 * Plain C99 without PostgreSQL headers.  A Gaussian process on a box is about a sum of its
 * cosines with independent coefficients, whose variances are the spectral density at their
 * frequencies (Solin & Sarkka 2020).  Places are in bandwidths.
 */
#ifndef RACE_WAVES_H
#define RACE_WAVES_H

#include <stddef.h>
#include <stdint.h>

#define RACE_WAVES_DIMS		8
#define RACE_WAVES_MOST		256 /* terms */
#define RACE_WAVES_AXIS		64	/* half waves along an axis */

typedef struct RaceWaves
{
	uint32_t	dims;
	uint32_t	n;				/* terms; the first one is constant */
	double		lower[RACE_WAVES_DIMS];
	double		range[RACE_WAVES_DIMS];
	uint8_t		half_waves[RACE_WAVES_MOST][RACE_WAVES_DIMS];
	double		square[RACE_WAVES_MOST];	/* of the frequency, in radians a bandwidth */
} RaceWaves;

/*
 * The terms with the lowest frequencies, and none whose half wave is shorter than a quarter of a bandwidth.
 * The box is that of n places, coordinate i of place j at places[i * n + j], and some more.
 */
extern void race_waves_init(RaceWaves *waves, uint32_t dims, const double *places, size_t n);

/* Is a place in the box? */
extern int	race_waves_cover(const RaceWaves *waves, const double *place);

/* The terms at a place, [waves->n]; coordinate i of it is at place[i * step]. */
extern void race_waves_at(const RaceWaves *waves, const double *place, size_t step,
						  double *terms);

#endif
