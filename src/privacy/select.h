/*
 * select.h
 *		The best of many candidates, which is paid once, however many there are
 *
 * The quality of a candidate is a weight times an exact score, less a public penalty.  Permute and
 * flip (McKenna & Sheldon 2020) selects one: candidates come in random order, and the first one is
 * taken that passes a coin with probability exp(-(best quality - its own) / scale), where the scale
 * is twice what a person changes of a quality, over the price.  That costs the price in epsilon.
 * The expected quality is at least that of the exponential mechanism at the same price.
 *
 * In an account of Gaussian noise it costs RACE_SELECTION_COST epsilon^2 (payment.h).  Of few
 * candidates noisy scores (score.h) are better there: n of them have the noise of n changes.
 *
 * Scores are as exact as counters: they stay in an opaque type.
 */
#ifndef RACE_SELECT_H
#define RACE_SELECT_H

#include "privacy/measure.h"

typedef struct RaceScores RaceScores;

/*
 * A candidate.  Its quality is `weight` times the score with this number, less the penalty; or, of
 * RACE_NO_SCORE, the penalty alone, such as that of none of the others.
 */
#define RACE_NO_SCORE UINT32_MAX

typedef struct RaceCandidate
{
	uint32_t score;
	uint32_t weight;
	int64_t penalty;
} RaceCandidate;

/* Return the bytes, aligned to 16, that n scores need, and as many candidates and one more. */
extern size_t race_scores_size(uint32_t n);

/*
 * Begin n scores of exact counters in such a space; each is 0 until it is set.  NULL if the space
 * is not apart from the counters: then nothing can be set or selected.
 */
extern RaceScores *race_scores_begin(RaceSpace *space, const RaceExact *exact, uint32_t n);

/*
 * Set a score: how far the sums of a block are from given ones, as race_score_distance() has it.  A
 * record changes it by a unit at most.  `space` has race_grouping_sums() numbers, and zeros after
 * it.  A score whose grouping does not fit the block stays 0.
 */
extern void race_scores_set(RaceScores *scores, uint32_t number, const RaceGrouping *grouping,
							const int64_t *expected, RaceSpace *space);

/*
 * A contrast: the sum over the cells of a block, whose parts are added up, of weight[cell] /
 * RACE_CONTRAST times the cell, where weights are cut to -RACE_CONTRAST and RACE_CONTRAST.  Its excess
 * is by how much more than `explained` it is off from `expected`, both in units.
 */
#define RACE_CONTRAST 65536

typedef struct RaceContrast
{
	const int32_t *weight; /* [cells] */
	int64_t expected;
	int64_t explained;
} RaceContrast;

/*
 * Raise a score to the excess of a contrast, if that is more: so it becomes the largest of all that
 * it is raised to.  A record changes each of them, and so the score, by a unit at most.  `space`
 * is as above.
 */
extern void race_scores_raise(RaceScores *scores, uint32_t number, const RaceGrouping *grouping,
							  const RaceContrast *contrast, RaceSpace *space);

/*
 * Select one of n candidates, at most one more than there are scores, for a price: its place in the
 * array.  Return the scale, in parts of RACE_SCALE_DENOMINATOR; 0 if nothing was selected, since
 * nothing was left, the scale would be too large, or scores are of other counters.  Without
 * exact counters, or with an account without random numbers, it plans: it pays, and needs no scores.
 */
extern uint64_t race_select(RaceAccount *account, const RaceExact *exact, RaceScores *scores,
							const RaceCandidate *candidates, uint32_t n, double price,
							uint32_t *selected);

/* End: overwrite scores and qualities with zeros. */
extern void race_scores_end(RaceScores *scores);

#endif
