/*
 * cosine_basis.h
 *		Cosine basis of smooth functions over a box
 *
 * Plain C99 without PostgreSQL headers.  A Gaussian process on a box is about a sum of its
 * cosines with independent coefficients, whose variances are the spectral density at their
 * frequencies (Solin & Sarkka 2020).  Places are in bandwidths.
 */
#ifndef RACE_COSINE_BASIS_H
#define RACE_COSINE_BASIS_H

#include <stddef.h>
#include <stdint.h>

#define RACE_COSINE_DIMS 8
#define RACE_COSINE_TERMS 256      /* terms */
#define RACE_COSINE_FREQUENCIES 64 /* along an axis */

typedef struct RaceCosines
{
	uint32_t dims;
	uint32_t n; /* number of terms; the first one is constant */
	double lower[RACE_COSINE_DIMS];
	double range[RACE_COSINE_DIMS];
	/* frequencies in half waves over the range */
	uint8_t frequency[RACE_COSINE_TERMS][RACE_COSINE_DIMS];
	double square[RACE_COSINE_TERMS]; /* squared frequencies, in radians a bandwidth */
} RaceCosines;

/*
 * Choose the terms with the lowest frequencies, and none with half of a wavelength shorter than a
 * quarter of a bandwidth.  The box is that of n places, coordinate i of place j at places[i * n +
 * j], and some more.
 */
extern void race_cosines_init(RaceCosines *basis, uint32_t dims, const double *places, size_t n);

/* Return whether a place is in the box. */
extern int race_cosines_cover(const RaceCosines *basis, const double *place);

/* Compute the terms at a place, [basis->n]; coordinate i of it is at place[i * step]. */
extern void race_cosines_at(const RaceCosines *basis, const double *place, size_t step,
							double *terms);

#endif
