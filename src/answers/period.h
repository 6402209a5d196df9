/*
 * period.h
 *		What the values of a series say of a period
 */
#ifndef RACE_PERIOD_H
#define RACE_PERIOD_H

#include <stdint.h>

/*
 * The weights of the first n values of a series, of so many lengths, so that their weighted sum is the best linear unbiased estimate of a period:
 * of the intervals from `first` on, before `after`.  All values have noise of the same variance; those of which little is to be
 * learned get 0.  Returns the sum of the squares, -1 if memory runs out.
 */
extern double race_period_weights(uint32_t n, uint32_t levels, uint32_t first, uint32_t after, double *weights);

#ifdef POSTGRES_H
/*
 * The weighted sum of n private sketches with the same parameters and noise, flat.  It costs what each of them says: values
 * of a series all state the cost of the series.
 */
extern Datum race_weighted_sum(int n, const Datum *sketches, const double *weights);
#endif

#endif
