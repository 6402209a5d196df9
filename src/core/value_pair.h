/*
 * value_pair.h
 *		Sketches of records with a bounded value: a pair, one for each bound.
 */
#ifndef RACE_VALUE_PAIR_H
#define RACE_VALUE_PAIR_H

#include "sketch.h"

/* The halves of a pair, in this order wherever there are both */
enum
{
	RACE_LOWER, RACE_UPPER, RACE_HALVES
};

/* Give the halves of a new pair an id, by which they are known to belong together. */
extern void race_mark_pair(RaceSketch *const *halves);

/* Raise 22023 unless a value can lie between these bounds. */
extern void race_check_value_bounds(double lower, double upper);

#endif
