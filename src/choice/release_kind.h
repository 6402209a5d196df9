/*
 * release_kind.h
 *		The table of kinds of releases: what is measured of each kind of summary, and how it is chosen
 */
#ifndef RACE_RELEASE_KIND_H
#define RACE_RELEASE_KIND_H

#include "choice/plan.h"

typedef struct RaceReleaseKind
{
	/* Of a pure release, 1 / look_share[dims > 1] of epsilon is for the look at what to keep. */
	uint32_t	look_share[2];

	/* What a record changes, in L1, of what is looked at; 0, or NULL, if there is nothing to choose */
	uint64_t	(*look_change) (const RaceParams *params);

	/* Open the account, and set the price of the number of records and of a look. */
	void		(*open) (const RaceRequest *request, const RaceParams *params, RaceAccount *account, RacePlan *plan);

	/* Find the noise of what is kept; false if it would be too large. */
	bool		(*plan) (const RaceRequest *request, const RaceParams *params, RacePlan *plan);

	/* The variance of a kernel sum, by the noise of counters and by sampling or cells */
	double		(*noise) (const RaceParams *params, const RacePlan *plan);
	double		(*sampling) (const RaceRequest *request, const RaceParams *params, RaceSelection selection, double mass);

	/* What to keep, by public numbers: where a typical kernel sum is `mass`.  NULL: all */
	RaceSelection (*choose) (const RaceRequest *request, const RaceParams *params, double mass);

	/* The bytes that the next two work in, or NULL */
	size_t		(*workspace) (const RaceParams *params);

	/* Select what to keep by noisy numbers, of so many records; NULL: choose it. */
	RaceSelection (*select) (RaceRelease *release, double records);

	/* Draw the noisy counters of each half, for a price. */
	bool		(*draw) (RaceRelease *release, double price, int64_t *const *counters);
} RaceReleaseKind;

extern const RaceReleaseKind race_release_rows;
extern const RaceReleaseKind race_release_cells;
extern const RaceReleaseKind race_release_tables;
extern const RaceReleaseKind race_release_moments;

/* Return how the kind that parameters are of is released. */
extern const RaceReleaseKind *race_release_kind(const RaceParams *params);

/* The plan of rows and grids: blocks with noise of one scale or variance */
extern bool race_plan_blocks(const RaceRequest *request, const RaceParams *params, RacePlan *plan);

/* The account of rows, grids and moments, and the prices of what comes first */
extern void race_plan_open(const RaceRequest *request, const RaceParams *params, RaceAccount *account, RacePlan *plan);

/* Set what a plan says of its noise, after all was paid: the cost, and the variances of a counter and the count. */
extern void race_plan_state(const RaceRequest *request, const RaceAccount *account, double counter_variance,
							RacePlan *plan);

#endif
