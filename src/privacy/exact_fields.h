/*
 * exact_fields.h
 *		What exact counters are, for src/privacy alone
 */
#ifndef RACE_EXACT_FIELDS_H
#define RACE_EXACT_FIELDS_H

#include "privacy/account.h"
#include "privacy/exact.h"
#include "privacy/measure.h"

struct RaceExact
{
	const RaceShape *shape;
	int halves; /* halves that were added: 0, 1 or 2 */
	const void *counters[RACE_EXACT_HALVES];
	int width[RACE_EXACT_HALVES];
	int64_t count[RACE_EXACT_HALVES];
};

/* Return whether there is something to draw, and somewhere to draw from. */
static inline bool
race_draws(const RaceAccount *account, const RaceExact *exact)
{
	return account->random != NULL && exact->halves > 0;
}

/* Return where a block begins; and the number of its counters. */
static inline size_t
race_block_begin(const RaceShape *shape, uint32_t block)
{
	if (shape->ends == NULL)
		return (size_t) block * shape->range;
	return block == 0 ? 0 : shape->ends[block - 1];
}

static inline size_t
race_block_length(const RaceShape *shape, uint32_t block)
{
	return shape->ends == NULL ? shape->range : shape->ends[block] - race_block_begin(shape, block);
}

/*
 * Load the exact sums of a grouping; a number that is clamped is moved no farther from another one.
 * False if the grouping does not fit the block, or if there is not one whole.
 */
extern bool race_load_sums(const RaceExact *exact, const RaceGrouping *grouping, int64_t *sums);

/*
 * Set how far the exact sums of a grouping are from expected ones, in L1, with the parts of a cell
 * added up.  False if the sums cannot be loaded.  `space` has zeros after it.
 */
extern bool race_exact_distance(const RaceExact *exact, const RaceGrouping *grouping,
								const int64_t *expected, int64_t *space, int64_t *apart);

#endif
