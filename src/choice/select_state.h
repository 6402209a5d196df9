/*
 * select_state.h
 *		What the files of a selection of tables share: noise that amounts buy, and groups
 */
#ifndef RACE_SELECT_STATE_H
#define RACE_SELECT_STATE_H

#include "choice/select_tables.h"

/* Return exact counters of which there are none, by which a release is planned. */
static inline const RaceExact *
race_select_exact(const RaceSelect *select)
{
	return (const RaceExact *) &select->memory;
}

/* Return what is left of the budget after what is planned so far. */
extern double race_select_left(const RaceSelect *select);

/*
 * Return the expected absolute noise of a cell's number of records, if its table gets this amount.
 */
extern double race_select_expected_noise(const RaceSelect *select, double amount);

/*
 * Return how many cells a histogram should have along each of its columns, if it gets this amount.
 */
extern double race_select_best_cells(const RaceSelect *select, double dims, double amount);

extern uint32_t race_select_pairs(const RaceSelect *select);

/* Return the part of a table, in groups as they are joined by now, among those that share. */
extern double race_select_part(const RaceSelect *select, const RaceSelectTable *table);

/* Return whether any table matters more than what its columns do, or may be chosen. */
extern bool race_select_is_asked(const RaceSelect *select);

/*
 * Set total, groups[] and group_of[], by noisy counts of finest groups, in units.  Neighbors are
 * joined to about so many groups with as many records each; other groups if each has less than
 * `alone`.
 */
extern void race_select_group(RaceSelect *select, const int64_t *counts, double groups,
							  double alone);

/* Go on as if there were no signs, with what is left of the budget. */
extern void race_select_without_signs(RaceSelect *select);

/* Return whether a table is measured, or one of those that this round measures. */
extern bool race_select_is_chosen(const RaceSelect *select, const RaceSelectTable *table);

/*
 * Connect the columns of the tables that are measured with each other; then those of one more.
 * Return false, without that one, if the junction tree would not stay small.
 */
extern void race_select_connect_measured(RaceSelect *select);
extern bool race_select_connect(RaceSelect *select, const RaceSelectTable *table);

/* Divide an amount among the tables up to this number that have no noise yet. */
extern void race_select_take_tables(RaceSelect *select, uint32_t to, double amount);

#endif
