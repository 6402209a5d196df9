/*
 * shares.h
 *		Noise shares of several parties: their noise, and what the sum of honest ones costs
 */
#ifndef RACE_SHARES_H
#define RACE_SHARES_H

#include <stdbool.h>
#include <stdint.h>

#include "privacy/budget.h"
#include "privacy/noise.h"

/*
 * Noise shares: each of several parties adds its draws to its own counters and
 * count, and only the sum is seen.  A party that colludes knows its own draws.  So only
 * the draws of honest parties protect: those who take part, add the noise that they
 * should, and tell nobody.
 */

/*
 * Return rho of a vector of integers, `cells` long, that changes by `squared` at most in squared L2
 * norm, under the sum of as many independent draws as there are shares, each of this variance;
 * rounded up.  One draw alone is what a release has (and then cells do not matter); no draw, or no
 * variance, costs INFINITY.
 */
extern double race_rho_of_sum(unsigned __int128 squared, uint64_t cells, uint64_t variance,
							  uint32_t shares);

/*
 * Return the number of honest shares in the sum, without those that collude or drop out; may be 0.
 */
extern uint32_t race_honest_shares(uint32_t parties, uint32_t colluders, uint32_t dropouts);

/*
 * With a smaller variance, a sum of discrete Gaussians is too different from one
 * (shares.c).
 */
#define RACE_MIN_SHARE_VARIANCE 4

/*
 * Find the noise of one share, and the cost of the sum of so many honest ones.  The count is served
 * first, with its part of rho; it takes less where the smallest variance is more noise than it
 * needs, and the counters get what is left.
 *
 * Return false for what is not a number within the limits above, when no share is honest, and when
 * the noise would be too large.
 */
extern bool race_share_budget(double epsilon, double delta, const RaceSensitivity *sensitivity,
							  uint32_t honest, uint32_t count_share, RaceGaussianBudget *budget);

/*
 * Return rho of a sum with so many honest shares of that noise, rounded up.  More of them never
 * cost more.  With one: what a share tells of its party to whoever sees it.
 */
extern double race_share_rho(const RaceSensitivity *sensitivity, const RaceGaussianBudget *budget,
							 uint32_t honest);

/* Return the variance of each of n shares, of which this is the sum; 0 if there is none. */
extern uint64_t race_share_variance(double sum, uint32_t n);

/*
 * Return whether each party can have a share of that variance.  A RaceNoise must hold the variance
 * of all shares together exactly, so that it stays a multiple of the variance of one share.
 */
extern bool race_is_share_variance(uint64_t variance, uint32_t parties);

/*
 * Return the number of shares that a sum needs before it may be asked; and whether it has as many.
 * Values that are not sums of shares need none.
 */
static inline uint32_t
race_shares_needed(const RaceNoise *noise)
{
	return noise->parties - noise->dropouts;
}

static inline bool
race_has_enough_noise(const RaceNoise *noise)
{
	return noise->status != RACE_STATUS_SHARE || noise->releases >= race_shares_needed(noise);
}

/* Return whether the shares of both were made for the same sum. */
extern bool race_shares_match(const RaceNoise *a, const RaceNoise *b);

/*
 * Write the ids of both, in ascending order, into `ids`, which has space for all of
 * them. False if an id is in both.
 */
extern bool race_merge_share_ids(const RaceNoise *a, const uint64_t *a_ids, const RaceNoise *b,
								 const uint64_t *b_ids, uint64_t *ids);

/*
 * Change the noise of a sum of shares to what it is after the other's shares were
 * added.
 */
extern void race_add_shares(RaceNoise *noise, const RaceNoise *other, uint64_t squared,
							uint64_t counters);

#endif
