/*
 * share.h
 *		Sums of noise shares: what they cost, and when they are private.
 */
#ifndef RACE_SHARE_H
#define RACE_SHARE_H

#include "postgres.h"

#include "../noise/noise.h"
#include "format.h"

/* What a person changes in rows of counters (plan.c says why), squared in L2 */
extern RaceSensitivity race_sensitivity(uint32 max_contributions,
										RaceNeighbours neighbours,
										uint32 rows, uint32 range);

/* The variance of each of n shares, of which this is the sum; 0 if there is none */
extern uint64 race_share_variance(double sum, uint32 n);

/*
 * Can each party have a share of that variance?  That of all shares together must be
 * exact in a header, or it is no longer a multiple of the variance of one.
 */
extern bool race_is_share_variance(uint64 variance, uint32 parties);

/* Are there enough shares for a sketch to be asked?  Others are exact or private. */
extern bool race_has_enough_noise(const RaceNoise *noise);

/* Raise 55000 unless it may be asked. */
extern void race_check_askable(const RaceHeader *header);

/* Raise 22023 unless the shares of both belong together. */
extern void race_check_shares(const RaceNoise *a, const RaceNoise *b);

/*
 * The ids of both, in `context`; raises 22023 for one that is in both, and when there
 * are more than parties.
 */
extern uint64 *race_merge_share_ids(const RaceNoise *a, const uint64 *a_ids,
									const RaceNoise *b, const uint64 *b_ids,
									MemoryContext context);

/* Say of the noise of a sum of shares that it is also that of the other. */
extern void race_add_share_noise(RaceNoise *noise, const RaceNoise *other,
								 const RaceParams *params);

#endif							/* RACE_SHARE_H */
