/*
 * wishart.h
 *		Noise for sums of v v': differences of Wishart matrices
 */
#ifndef RACE_WISHART_H
#define RACE_WISHART_H

#include <stddef.h>
#include <stdint.h>

#include "privacy/sampler.h"

/*
 * Add sign times a Wishart matrix to a triangle, the entries on and above the diagonal row by row:
 * columns + 1 degrees of freedom, of the matrix scale I, so that its trace has the mean
 * scale columns (columns + 1).  scale is at most RACE_MAX_WISHART_SCALE; work has
 * columns (columns + 1) numbers.
 */
#define RACE_MAX_WISHART_SCALE ((uint64_t) 1 << 40)
#define RACE_WISHART_COLUMNS 256

extern void race_wishart(RaceRandom *random, uint32_t columns, uint64_t scale, int sign,
						 int64_t *work, int64_t *triangle);

/*
 * Draw the difference of two of them: return a triangle, which begins `space`, and lasts as long.
 * The space has race_wishart_space() numbers.
 */
extern int64_t *race_wishart_difference(RaceRandom *random, uint32_t columns, uint64_t scale,
										int64_t *space);
extern size_t race_wishart_space(uint32_t columns);

/*
 * Add the same of given normal numbers: `columns` rows of columns + 1, in steps of which a standard
 * deviation has 2^RACE_WISHART_BITS.  Each is at most RACE_WISHART_LARGEST.
 */
#define RACE_WISHART_BITS 48
#define RACE_WISHART_LARGEST ((INT64_C(64) << 48) + (INT64_C(65) << 20) - 1)

extern void race_wishart_square(const int64_t *normal, uint32_t columns, uint64_t scale, int sign,
								int64_t *triangle);

/*
 * Return by how much rounding moves each entry of sums of products with the difference of two
 * Wishart matrices, beside the same sums with more records; and what the steps of normal numbers
 * cost.
 */
extern uint64_t race_wishart_rounding(uint32_t columns, uint64_t scale);
extern double race_wishart_steps(uint32_t columns);

#endif
