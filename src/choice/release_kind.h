/*
 * release_kind.h
 *		The table of kinds of releases: what is measured of each kind of summary, and how it is
 *		chosen
 */
#ifndef RACE_RELEASE_KIND_H
#define RACE_RELEASE_KIND_H

#include "choice/plan.h"

/* Of epsilon, 1 / share is for the look of a pure release at what to keep. */
#define RACE_LOOK_SHARE 50
#define RACE_LOOK_SHARE_CELLS 20 /* of a grid with several axes, where more is to be gained */

typedef struct RaceReleaseKind RaceReleaseKind;

struct RaceReleaseKind
{
	/* The part of the budget that the number of records gets, as its reciprocal, by delta > 0 */
	uint32_t count_share[2];

	/* The share of a look, by dims > 1 */
	uint32_t look_share[2];

	/*
	 * Return what a record changes, in L1, of what is looked at.  0, or NULL: there is no choice.
	 */
	uint64_t (*look_change)(const RaceParams *params);

	/*
	 * Pay a price for a look, and for the blocks that are kept, by planned counters; return the
	 * noise.  NULL: there is no look, or the kind plans what it keeps by itself.
	 */
	uint64_t (*pay_look)(RaceAccount *account, const RaceExact *planned, double price);
	uint64_t (*pay_blocks)(RaceAccount *account, const RaceExact *planned, RaceSelection kept,
						   double price);

	/*
	 * Return what a record adds to all that is kept, in L2 squared; of moments in integers that are
	 * so coarse, or as little as they can be.
	 */
	uint64_t (*squared)(const RaceParams *params, RaceSelection kept, int coarser);

	/* Open the account, and set the price of the number of records and of a look. */
	void (*open)(const RaceReleaseKind *kind, const RaceRequest *request, const RaceParams *params,
				 RaceRandom *random, RaceAccount *account, RacePlan *plan);

	/* Find the noise of what is kept.  Return false if it would be too large. */
	bool (*plan)(const RaceReleaseKind *kind, const RaceRequest *request, const RaceParams *params,
				 RacePlan *plan);

	/* Return the variance of a kernel sum, by the noise of counters and by sampling or cells. */
	double (*noise)(const RaceParams *params, const RacePlan *plan);
	double (*sampling)(const RaceRequest *request, const RaceParams *params,
					   RaceSelection selection, double mass);

	/* Choose what to keep, by public numbers: where a typical kernel sum is `mass`.  NULL: all. */
	RaceSelection (*choose)(const RaceRequest *request, const RaceParams *params, double mass);

	/* Return the bytes that the next two work in, or NULL. */
	size_t (*workspace)(const RaceParams *params);

	/* Select what to keep by noisy numbers, of so many records; NULL: choose it. */
	RaceSelection (*select)(RaceRelease *release, double records);

	/* Draw the noisy counters, for a price. */
	bool (*draw)(RaceRelease *release, double price, int64_t *counters);
};

extern const RaceReleaseKind race_release_rows;
extern const RaceReleaseKind race_release_cells;
extern const RaceReleaseKind race_release_tables;
extern const RaceReleaseKind race_release_moments;

/* Return how the kind that parameters are of is released. */
extern const RaceReleaseKind *race_release_kind(const RaceParams *params);

/* Begin a plan, with nothing but what is asked. */
extern void race_plan_start(const RaceRequest *request, RaceSelection selection, RaceStatus status,
							RacePlan *plan);

/* Open the account of rows, grids or moments, and set the prices of what comes first. */
extern void race_plan_open(const RaceReleaseKind *kind, const RaceRequest *request,
						   const RaceParams *params, RaceRandom *random, RaceAccount *account,
						   RacePlan *plan);

/*
 * Return what a record changes, in L1, of what a release looks at before it chooses what it keeps;
 * 0 if it does not look.
 */
extern uint64_t race_look_change(const RaceReleaseKind *kind, const RaceRequest *request,
								 const RaceParams *params);

/* Return what a record adds to so many blocks, in L2 squared. */
extern uint64_t race_kept_squared(const RaceParams *params, uint64_t blocks);

/*
 * Begin exact counters without any, of the shape that is planned for; blocks of tables need no ends
 * for that.
 */
extern RaceExact *race_planned_exact(const RaceParams *params, RaceShape *shape,
									 RaceExactMemory *memory);

/* Pay for the number of records, and for a look. */
extern bool race_plan_first(const RaceReleaseKind *kind, RaceAccount *account,
							const RaceExact *exact, RacePlan *plan);

/*
 * Plan rows or a grid: blocks with noise of one scale or variance.  False if noise would be too
 * large.
 */
extern bool race_plan_blocks(const RaceReleaseKind *kind, const RaceRequest *request,
							 const RaceParams *params, RacePlan *plan);

/*
 * Set what a plan says of its noise: the cost, which is of the account, and the variances of a
 * counter and the count.
 */
extern void race_plan_state(const RaceRequest *request, const RaceAccount *account, double cost,
							double counter_variance, RacePlan *plan);

/* Make the cost of a value of a series that of the series. */
extern void race_plan_state_series(const RaceRequest *request, RacePlan *plan);

/*
 * Plan a release of a kind: race_plan_release(); and return the variance of a kernel sum, or
 * INFINITY.
 */
extern bool race_plan_kind(const RaceReleaseKind *kind, const RaceRequest *request,
						   const RaceParams *params, RaceSelection selection, RacePlan *plan);
extern double race_kind_noise(const RaceReleaseKind *kind, const RaceRequest *request,
							  const RaceParams *params, RaceSelection selection);

#endif
