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
	const void *counters; /* NULL before they are added */
	int width;            /* bytes a counter */
	int64_t count;        /* number of records */
	uint64_t weight;      /* largest weight of a record, in places of its last digit */
	uint64_t *payer;      /* number of the account that draws; 0 before the first draw */
};

/*
 * Return whether there is something to draw, and somewhere to draw from: what a copy pays is not
 * taken off of the account.  Bind the counters to the account, which alone pays for them.
 */
static inline bool
race_draws(const RaceAccount *account, const RaceExact *exact)
{
	if (account->random == NULL || account->self != account || exact->counters == NULL ||
		exact->weight > account->weight)
		return false;
	if (*exact->payer == 0)
		*exact->payer = account->number;
	return *exact->payer == account->number;
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
 * Return the n numbers of a space; NULL if one of them is a counter, too, which would be counted
 * more than once.
 */
extern int64_t *race_space_numbers(const RaceExact *exact, RaceSpace *space, size_t n);

/*
 * Load the exact sums of a grouping; a number that is clamped is moved no farther from another one.
 * NULL if the grouping does not fit the block or the space, or if there are no counters.
 */
extern int64_t *race_load_sums(const RaceExact *exact, const RaceGrouping *grouping,
							   RaceSpace *space);

/*
 * Set how far the exact sums of a grouping are from expected ones, in L1, with the parts of a cell
 * added up.  False if the sums cannot be loaded.  `space` has zeros after it.
 */
extern bool race_exact_distance(const RaceExact *exact, const RaceGrouping *grouping,
								const int64_t *expected, RaceSpace *space, int64_t *apart);

#endif
