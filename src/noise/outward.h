/*
 * outward.h
 *		Rounding outward: an error can only mean more noise, or a higher cost.
 */
#ifndef RACE_OUTWARD_H
#define RACE_OUTWARD_H

#include <math.h>

/*
 * How wrong a formula with logarithms or exponentials may be, relative to the size
 * of its terms: thousands of ulps
 */
#define RACE_MARGIN		1e-12

/*
 * A number that is not above, and one that is not below, the exact value that was
 * rounded to x
 */
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
