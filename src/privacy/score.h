/*
 * score.h
 *		Noisy scores of exact tables, by which a release chooses which tables it measures
 *
 * Each call pays a price at most and returns the noise of the score, a scale or variance; 0 if it
 * drew nothing (measure.h).
 */
#ifndef RACE_SCORE_H
#define RACE_SCORE_H

#include "privacy/measure.h"

/*
 * Score how far the sums of a block are from given ones, which are made of noisy and public
 * numbers: the sum of the distances of cells, whose parts are added up, from expected[cell].  A
 * record changes it by a unit at most.  `space` has race_grouping_sums() numbers.
 */
extern uint64_t race_score_distance(RaceAccount *account, const RaceExact *exact,
									const RaceGrouping *grouping, const int64_t *expected,
									double price, RaceSpace *space, int64_t *noisy);

/*
 * Score how unevenly records lie within sets of `together` neighboring counters, among the first
 * `ordinary` ones of a block: the sum of |c x - s| over counters x, in sets of c counters with the
 * sum s.  A record changes it by 2 (c - 1) units at most: its counter's term by c - 1, and those of
 * the c - 1 others by 1.  `space` has as many numbers as the block.
 */
extern uint64_t race_score_unevenness(RaceAccount *account, const RaceExact *exact, uint32_t block,
									  uint32_t ordinary, uint32_t together, double price,
									  RaceSpace *space, int64_t *noisy);

#endif
