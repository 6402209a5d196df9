/*
 * signs.h
 *		Measuring signs: of each pair of columns, the sum of products of signs
 *
 * In tables of pairs (count.h) each place of a column has a sign: -1, 0 or 1.  Of a pair of columns
 * all counters are added up, times the signs of their places: one number in place of a table.  A
 * record that has the signs s adds a unit times s_i s_j, so that all sums are the entries off the
 * diagonal of a Gram matrix.
 *
 * Sensitivity: a record adds the unit to one place of each table.  So it changes the sum of each
 * pair by the unit at most.  In all tables of a column that place is the same one, whatever hash
 * functions return: so what it adds is a unit times s s', without a negative eigenvalue, of a trace
 * of a unit a column.
 */
#ifndef RACE_SIGNS_H
#define RACE_SIGNS_H

#include "privacy/account.h"
#include "privacy/exact.h"

typedef struct RaceSigns
{
	uint32_t columns;          /* number of columns that have signs, at least 2 */
	const uint32_t *column;    /* [columns]: numbers among all columns of tables, ascending */
	const uint32_t *length;    /* [columns]: places of each */
	const int8_t *const *sign; /* [columns][length]: what is below or above counts as -1 or 1 */
	uint32_t parts;            /* counters of a place, which are added up */
} RaceSigns;

/*
 * Measure the sums of all pairs, (0, 1), (0, 2), ..., (1, 2), ...: noisy[pairs]; with the digits of
 * weights, which the caller rounds off.  Set the variance of the noise of one.  It pays a price at
 * most, or what is left, for the noise with the least variance: that of entries, or with Laplace
 * accounts a difference of Wishart matrices.  `space` has race_signs_space() numbers.  False,
 * without a payment, if that cannot be paid, or if signs do not fit the tables.
 *
 * Without exact counters, or with an account without random numbers, it plans: it pays,
 * and draws nothing.  Then signs need have nothing but their number of columns.
 */
extern bool race_measure_signs(RaceAccount *account, const RaceExact *exact, const RaceSigns *signs,
							   double price, RaceSpace *space, int64_t *noisy, double *variance);

/* Return the number of pairs; and how many numbers of space race_measure_signs() needs. */
extern uint64_t race_signs_pairs(uint32_t columns);
extern size_t race_signs_space(uint32_t columns);

#endif
