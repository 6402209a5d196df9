/*
 * measure.h
 *		Measuring: sums of exact counters, with noise, paid from an account
 *
 * Each call pays a price at most and returns the noise that it drew, a scale or variance; 0 if it
 * drew nothing, since nothing was left or the noise would be too large.  Without exact
 * counters, or with an account without random numbers, it plans: it pays, and draws nothing.  Noisy
 * numbers are written to memory of the caller's, and nothing else is, but to a `space`.
 *
 * Sensitivity: what is measured is linear, and each counter is in at most one sum of a block.  So a
 * record changes the sums of a block by its unit at most, as it changes the counters.
 */
#ifndef RACE_MEASURE_H
#define RACE_MEASURE_H

#include "privacy/account.h"
#include "privacy/exact.h"

/* Measure the number of records. */
extern uint64_t race_measure_count(RaceAccount *account, const RaceExact *exact, double price,
								   int64_t *noisy);

/* Measure the first blocks, such as rows: noisy gets all of their counters. */
extern uint64_t race_measure_blocks(RaceAccount *account, const RaceExact *exact, uint32_t blocks,
									double price, int64_t *noisy);

/* Return what a record changes of so many blocks, in L1 and in L2 squared. */
extern uint64_t race_blocks_l1(const RaceShape *shape, uint32_t blocks);
extern uint64_t race_blocks_squared(const RaceShape *shape, uint32_t blocks);

/*
 * Measure levels of a grid: after so many halvings, in ascending order, at most RACE_LEVELS.
 * noisy gets the nodes of one level after those of the other.  `space` has as many numbers as
 * the grid has nodes.  0 also if the grid cannot be halved so often.
 */
#define RACE_LEVELS 2

extern uint64_t race_measure_levels(RaceAccount *account, const RaceExact *exact,
									const int *halvings, int levels, double price, RaceSpace *space,
									int64_t *noisy);

/*
 * Which counters of a block are added up.  They lie along up to three axes, the last of which runs
 * fastest, and each has parts, which stay apart.  A place along an axis is in a group: by itself
 * where there are none.  What is beyond the groups is in the last one.  There are no more groups
 * than places.
 */
#define RACE_GROUPING_AXES 3

typedef struct RaceGrouping
{
	uint32_t block;
	uint32_t parts;
	uint32_t length[RACE_GROUPING_AXES]; /* places along an axis; 1 of an axis that is not there */
	const uint32_t *group[RACE_GROUPING_AXES]; /* [length]: the group of each place, or NULL */
	uint32_t groups[RACE_GROUPING_AXES];       /* number of groups; without groups the length */
} RaceGrouping;

/* Return how many sums a grouping has. */
extern size_t race_grouping_sums(const RaceGrouping *grouping);

/*
 * Measure the sums of a block: noisy[sums]; with the digits of weights, which the caller rounds
 * off.  `space` has as many numbers.
 */
extern uint64_t race_measure_sums(RaceAccount *account, const RaceExact *exact,
								  const RaceGrouping *grouping, double price, RaceSpace *space,
								  int64_t *noisy);

/* The noise of moments */
typedef struct RaceProductsNoise
{
	RaceMechanism mechanism; /* discrete Laplace, discrete Gaussian or Wishart */
	uint64_t noise;          /* scale or variance of an entry; scale of a Wishart matrix */
	uint64_t entry_noise;    /* scale of the Laplace noise that a Wishart matrix has besides */
	int coarser;             /* bits that integers lack while noise is drawn */
	double variance;         /* variance of an entry off the diagonal, in these coarser integers */
} RaceProductsNoise;

/*
 * Plan the noise of moments for a price: the mechanism with the least variance, in integers that
 * are as coarse as is needed.  False if it would be too large.
 */
extern bool race_plan_products(const RaceAccount *account, const RaceShape *shape, double price,
							   RaceProductsNoise *noise);

/*
 * Measure moments with planned noise: noisy[counters].  Gaussian noise has twice the variance on
 * the diagonal; a Wishart matrix has that by itself.  Private moments have the bits again that
 * their noise lacks, as zeros, so that they can be added up; with `share` they stay as coarse, as a
 * sum of noise shares must be.  `space` has race_products_space() numbers.  False if it cannot be
 * paid.
 */
extern bool race_measure_products(RaceAccount *account, const RaceExact *exact, double price,
								  const RaceProductsNoise *noise, bool share, RaceSpace *space,
								  int64_t *noisy);

/* Return how many numbers of space race_measure_products() needs. */
extern size_t race_products_space(const RaceShape *shape);

#endif
