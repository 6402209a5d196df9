/*
 * count.h
 *		Counting records: what one adds is bounded here, whatever is passed in
 *
 * A record counts `weight` times, or is taken away by a negative weight: by no more than the largest
 * weight that exact counters are declared with (race_exact_add).
 *
 * Counters are arrays of the narrowest width that holds them (counters.h).  No counter may come
 * near the limit of its width: the caller widens them first.  What lies beyond a block counts in
 * its last counter.
 */
#ifndef RACE_COUNT_H
#define RACE_COUNT_H

#include "privacy/counters.h"
#include "privacy/exact.h"

/*
 * Count n records in a few rows, at most RACE_LANES, of `range` counters each, `weight` times: in
 * counter buckets[i * RACE_LANES + row] of each.
 */
extern void race_count_rows(RaceCounterArray counters, const uint32_t *buckets, size_t n,
							uint32_t rows, uint32_t range, int64_t weight);

/*
 * Count n records in a block, `weight` times: each in cell[i].  A cell has `parts` counters, to
 * which part[i * parts] and the following are added; if one of these is negative, or if they do not
 * add up to the unit, the first part gets the unit.
 */
extern void race_count_cells(const RaceShape *shape, RaceCounterArray counters, uint32_t block,
							 const uint32_t *cell, const int64_t *part, uint32_t parts, size_t n,
							 int64_t weight);

/*
 * Count n records in the tables of all pairs of columns, (0, 1), (0, 2), ..., (1, 2), ..., which
 * lie one after the other: [length of first][length of second][parts].  place[columns][n] is where a
 * record is in a column, one place in all tables of it; those beyond the length become the last
 * place.  Parts are those of race_count_cells().
 */
extern void race_count_pairs(uint64_t unit, RaceCounterArray counters, uint32_t columns,
							 const uint32_t *length, uint32_t *place, const int64_t *part,
							 uint32_t parts, size_t n, int64_t weight);

/*
 * Split the unit of a record over n counters of a grid, `weight` times.  A record is left out whose
 * shares are negative, do not add up to the unit, or are no multiples of what the halvings of the
 * shape divide them by.
 */
extern void race_count_split(const RaceShape *shape, const uint32_t *node, const int64_t *share,
							 int n, int64_t weight, RaceCounterArray counters);

#endif
