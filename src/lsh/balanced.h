/*
 * balanced.h
 *		Rows of categories whose places are balanced: sequence "balanced".
 *
 * Plain C99 without PostgreSQL headers.  A row looks at one place of a record (power 1) or at
 * two different ones (power 2), and no other row looks at the same.  So all rows together are
 * all marginals of one or two columns.  Pairs come in rounds, in which every place is once, but
 * for one if they are odd in number.  So the first rows, too, see all columns equally often.
 *
 * The seed says with which pair of which round the rows begin.  So each row alone looks at each
 * pair with the same probability, and the kernel is the share of pairs (or places) in which
 * two records are the same.
 */
#ifndef RACE_BALANCED_H
#define RACE_BALANCED_H

#include "lsh.h"

#define RACE_BALANCED_POWER		2	/* at most */

extern bool race_is_balanced(const RaceParams *part);

/* How many rows there are, of so many places: all */
extern uint64_t race_balanced_rows(const RaceParams *part);

/* What is wrong with the parameters of all rows, or NULL: rows are all different. */
extern const char *race_balanced_problem(const RaceParams *params, char *message, size_t length);

/* How many of the first rows see all places: a round of pairs, or two if one place sits out */
extern uint32_t race_balanced_least_rows(const RaceParams *part);

/* The place that function j of a row looks at */
extern uint32_t race_balanced_place(const RaceParams *part, int64_t seed, uint32_t row,
									uint32_t j);

/* The kernel of two records */
extern double race_balanced_value(const RaceParams *part, const RaceColumn *x,
								  const RaceColumn *y);

#endif							/* RACE_BALANCED_H */
