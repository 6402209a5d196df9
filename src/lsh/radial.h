/*
 * radial.h
 *		Kernels of vectors at many points, fast: by a table over the distance.
 *
 * For kernels that are functions of a distance.  The table is linear between distances
 * that lie close together, and then between reciprocals of distances: it is exact to
 * 1e-6 for power 1, and to p^2 1e-6 for power p.
 */
#ifndef RACE_RADIAL_H
#define RACE_RADIAL_H

#include "lsh.h"

#define RACE_RADIAL_NEAR	8	/* bandwidths, up to which steps are 1 / 512 */
#define RACE_RADIAL_STEPS	512
#define RACE_RADIAL_FAR		1024	/* steps between 1 / 8 and 0, reciprocals beyond */

typedef struct RaceRadial
{
	uint32_t	dims;			/* of vectors as they are measured */
	bool		euclidean;
	double		near[RACE_RADIAL_NEAR * RACE_RADIAL_STEPS + 2];
	double		far[RACE_RADIAL_FAR + 2];
} RaceRadial;

/* Is the kernel one of vectors by themselves, and a function of their distance? */
extern bool race_radial_can(const RaceParams *params);

/* Make the table of a kernel that can have one. */
extern void race_radial_init(RaceRadial *radial, const RaceParams *params);

/* The kernel at a distance in bandwidths */
extern double race_radial_value(const RaceRadial *radial, double distance);

/*
 * A vector as it is measured, [radial->dims]: transformed, and in bandwidths.  `step` is
 * where the next coordinate goes: 1, or how many vectors lie side by side.
 */
extern void race_radial_place(const RaceRadial *radial, const RaceParams *params,
							  const double *x, double *place, size_t step);

/*
 * The sum of the kernel between a place and n places, which lie side by side (coordinate
 * i of place j at places[i * n + j]), times their weights
 */
extern double race_radial_sum(const RaceRadial *radial, const double *place,
							  const double *places, const double *weights, size_t n);

#endif							/* RACE_RADIAL_H */
