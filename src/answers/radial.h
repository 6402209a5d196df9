/*
 * radial.h
 *		Kernels of vectors at many points, fast: by a table over the distance.
 *
 * For kernels that are functions of a distance.  The table is linear between distances
 * that lie close together, and then between reciprocals of distances: it is exact to
 * 1e-6 for power 1, and to p^2 1e-6 for power p.  High powers have none.
 */
#ifndef RACE_RADIAL_H
#define RACE_RADIAL_H

#include "hash/params.h"

/*
 * Distances of a table, in bandwidths.  There are four ranges, each in steps of its own: of the
 * square root of the distance up to CLOSE, since the slope of l1 is infinite at 0; of the distance
 * up to NEAR, and, wider, up to MIDDLE; and of the reciprocal of the distance beyond.
 */
#define RACE_RADIAL_CLOSE 0.5625 /* its root times ROOTS is a whole number */
#define RACE_RADIAL_ROOTS 4096   /* steps of the square root from 0 to 1 */
#define RACE_RADIAL_NEAR 8
#define RACE_RADIAL_STEPS 512 /* steps of a bandwidth up to NEAR */
#define RACE_RADIAL_MIDDLE 64
#define RACE_RADIAL_WIDE 32 /* steps of a bandwidth from NEAR to MIDDLE */
#define RACE_RADIAL_FAR 256 /* steps of the reciprocal from that of MIDDLE to 0 */

typedef struct RaceRadial
{
	uint32_t dims; /* length of vectors, as they are measured */
	bool euclidean;
	double close[RACE_RADIAL_ROOTS * 3 / 4 + 2];
	double near[RACE_RADIAL_NEAR * RACE_RADIAL_STEPS + 2];
	double middle[(RACE_RADIAL_MIDDLE - RACE_RADIAL_NEAR) * RACE_RADIAL_WIDE + 2];
	double far[RACE_RADIAL_FAR + 2];
} RaceRadial;

/* Make the table of a kernel that can have one. */
extern void race_radial_init(RaceRadial *radial, const RaceParams *params);

/*
 * Make the table of the difference of two smooth parts of a kernel (race_grid_smooth): with steps
 * `from` and `less`, which is nothing where it is 0.
 */
extern void race_radial_init_shape(RaceRadial *radial, const RaceParams *params, double from,
								   double less);

/* Return the number of entries of a table, the place of one, or its distance, perhaps infinite. */
extern int race_radial_nodes(void);
extern double *race_radial_node(RaceRadial *radial, int i);
extern double race_radial_distance(int i);

/* Return the kernel at a distance in bandwidths. */
extern double race_radial_value(const RaceRadial *radial, double distance);

/*
 * Set a place: the vector as it is measured, [radial->dims], transformed, and in bandwidths.
 * `step` is where the next coordinate goes: 1, or how many vectors lie side by side.
 */
extern void race_radial_place(const RaceRadial *radial, const RaceParams *params, const double *x,
							  double *place, size_t step);

/*
 * Return the sum of the kernel between a place and n places, which lie side by side (coordinate i
 * of place j at places[i * n + j]), times their weights
 */
extern double race_radial_sum(const RaceRadial *radial, const double *place, const double *places,
							  const double *weights, size_t n);

/*
 * Compute the same for places along a line: place i is at x + i * step of it, and the line is
 * `across` away, which is a squared distance if distances are Euclidean
 */
extern double race_radial_sum_line(const RaceRadial *radial, double x, double step, double across,
								   const double *weights, size_t n);

/* Return the distance between two of n places that lie side by side. */
extern double race_radial_apart(const RaceRadial *radial, const double *places, size_t n, size_t i,
								size_t j);

#endif
