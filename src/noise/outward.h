/*
 * outward.h
 *		Rounding that can only err towards more noise and a higher cost.
 */
#ifndef RACE_OUTWARD_H
#define RACE_OUTWARD_H

#include <math.h>

/*
 * What a formula with logarithms or exponentials may be wrong by, relative to the
 * size of its terms: thousands of ulps
 */
#define RACE_MARGIN		1e-12

/* At least, and at most, the number that x was rounded from */
static inline double
race_up(double x)
{
	return nextafter(x, INFINITY);
}

static inline double
race_down(double x)
{
	return nextafter(x, -INFINITY);
}

#endif							/* RACE_OUTWARD_H */
