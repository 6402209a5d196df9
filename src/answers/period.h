/*
 * period.h
 *		The weights of the values of a series in the estimate of a period
 */
#ifndef RACE_PERIOD_H
#define RACE_PERIOD_H

#include <stdint.h>

/*
 * Compute the weights of the first n values of a series, of so many lengths, so that their weighted
 * sum is the best linear unbiased estimate of a period: of the intervals from `first` on, before
 * `after`.  All values have noise of the same variance; those that add little information get 0.
 * Return the sum of the squares, -1 if memory runs out.
 */
extern double race_period_weights(uint32_t n, uint32_t levels, uint32_t first, uint32_t after,
								  double *weights);

#endif
