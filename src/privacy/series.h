/*
 * series.h
 *		The values of a series: sketches of intervals of time, in the order in which they close
 *
 * Time is divided into intervals.  A value is of 1, 8, 64, ... of them, and closes with its last
 * one; of those that close together the shorter ones come first.  So the number of a value tells
 * its intervals.  A record is in one value of each length at most.
 *
 * Plain C99 without PostgreSQL headers.
 */
#ifndef RACE_SERIES_H
#define RACE_SERIES_H

#include "privacy/noise.h"

/*
 * A value has so many times the intervals of the next shorter one.  For a year of days and Laplace
 * noise the standard deviation of a day, a week, a month and a year is .40, .55, .60 and .68 times
 * that with 2; with Gaussian noise .70, .95, 1.03 and 1.17 times.
 */
#define RACE_SERIES_BASE 8

/*
 * The least number of values of a length where each length costs epsilon.  With 12 intervals in two
 * lengths the standard deviation of one, all and any of them is 1.9, 1.3 and 1.5 times that with
 * one length, with 92 in three 1.5, 1.1 and 1.3 times that with two (test/bench/SERIES.md).  Where
 * it costs rho, a length is worth it that has one.
 */
#define RACE_SERIES_LEAST 4

/*
 * Return the number of lengths that have at least `least` values in a series of these intervals,
 * and at least one.
 */
extern uint32_t race_series_levels(uint32_t intervals, uint32_t least);

/* Return the number of values, of `levels` lengths, that are closed after these intervals. */
extern uint32_t race_series_closed(uint32_t intervals, uint32_t levels);

/* Find the intervals of a value, whose number is from 1 on: the first, from 0 on, and how many. */
extern void race_series_value(uint32_t number, uint32_t levels, uint32_t *first, uint32_t *length);

/*
 * Return the epsilon, at least RACE_MIN_EPSILON, of each of several releases that cost (epsilon,
 * delta) together; 0 if there is none, as where epsilon is not above delta or so.
 */
extern double race_series_epsilon(double epsilon, double delta, uint32_t levels);

/* Make the cost of one value that of `levels` values. */
extern void race_series_cost(RaceNoise *noise, uint32_t levels);

#endif
