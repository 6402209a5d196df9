/*
 * l2.c
 *		The kernel of p-stable hashing for Euclidean distance.
 */
#include "l2.h"

#include <math.h>

const double race_l2_square[] = {0.963, -0.516, 0.173, -0.052, -0.075};

double
race_l2_kernel(double c)
{
	static const double sqrt_half = 0.70710678118654752440;
	static const double sqrt_2_over_pi = 0.79788456080286535588;
	double		t = 1 / c;			/* infinite at c = 0, which does no harm */

	if (t == 0)
		return 0;				/* c is infinite, and inf * 0 is not a number */
	/* erf and expm1 keep all digits where t is small: k ~ t / sqrt(2 pi) */
	return erf(t * sqrt_half) + sqrt_2_over_pi * c * expm1(-0.5 * t * t);
}
