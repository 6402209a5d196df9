/*
 * values.h
 *		Sketches of records with a bounded value: a pair, one for each bound.
 */
#ifndef RACE_VALUES_H
#define RACE_VALUES_H

/* The halves of a pair, in this order wherever there are both */
enum
{
	RACE_LOWER, RACE_UPPER, RACE_HALVES
};

/* Raise 22023 unless a value can lie between these bounds. */
extern void race_check_value_bounds(double lower, double upper);

#endif							/* RACE_VALUES_H */
