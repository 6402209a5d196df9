/*
 * select_ends.h
 *		Which columns of a release have ends, and what they get
 *
 * Both ends of a column (ends.h) tell the sum and the mean of its numbers with less noise than a
 * table of many cells, which gets less of the budget then.
 *
 * Plain C99 without PostgreSQL headers.
 */
#ifndef RACE_SELECT_ENDS_H
#define RACE_SELECT_ENDS_H

#include "choice/select_tables.h"

/*
 * Plan the ends of a column whose table gets an amount, with ends[column] of `select`: return what
 * is left of the amount, all of it if the column has none.  It has the same part in both draws,
 * which the first one sets.
 */
extern double race_select_ends(RaceSelect *select, uint32_t column, double amount, bool first);

#endif
