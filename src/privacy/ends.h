/*
 * ends.h
 *		Measuring ends: how the records of a table of one column divide between its two ends
 *
 * Of n places, a record in place i gives i shares to the upper end and n - 1 - i to the lower one.
 * So both ends have the number of records and the sum of their places, which a table has with the
 * noise of all of its cells.
 *
 * Sensitivity: a record adds the unit to one place.  It adds n - 1 units to both ends together, in
 * integers that are not negative.
 */
#ifndef RACE_ENDS_H
#define RACE_ENDS_H

#include "privacy/account.h"
#include "privacy/exact.h"

#define RACE_ENDS 2

typedef struct RaceEnds
{
	uint32_t block;  /* the table, whose places have one counter each */
	uint32_t length; /* number of first places that count, 2 or more; others give nothing */
} RaceEnds;

/*
 * Measure both ends, the lower one first, in shares; with the digits of weights, which the caller
 * rounds off.  Pay a price at most and return the noise of each, a scale or variance; 0 if it drew
 * nothing, as noise would be too large, or the block has no such places.
 *
 * Without exact counters, or with an account without random numbers, it plans: it pays,
 * and draws nothing.
 */
extern uint64_t race_measure_ends(RaceAccount *account, const RaceExact *exact,
								  const RaceEnds *ends, double price, int64_t *noisy);

#endif
