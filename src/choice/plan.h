/*
 * plan.h
 *		The plan of a private release, what it keeps, and its draws
 *
 * A plan is the cost of a release, and how much noise that means.  It depends on what is asked and
 * on public parameters alone.  A release opens an account, measures the number of records, looks at
 * exact counters where that helps it to choose what it keeps, and measures that.  All that it knows
 * of a table is noisy.  Plain C99 without PostgreSQL headers.
 */
#ifndef RACE_PLAN_H
#define RACE_PLAN_H

#include <math.h>

#include "hash/kind.h"
#include "privacy/account.h"
#include "privacy/exact.h"
#include "privacy/measure.h"
#include "privacy/release_request.h"

/* What a release keeps of a summary: the first rows, cells of a grid, or some tables */
typedef struct RaceSelection
{
	uint32_t rows;
	RaceGridChoice grid; /* cells and levels of a grid, which has 1 row */
	const struct RaceMeasuring
		*tables; /* of tables: what was measured (choose_tables.h), or NULL */
} RaceSelection;

/* What a release costs, and how much noise that means.  Prices are in the unit of the account. */
typedef struct RacePlan
{
	RaceSelection selection;
	double count_price;
	double look_price;    /* 0: no look */
	uint64_t count_noise; /* scales or variances, as sampler.h has them */
	uint64_t look_noise;
	uint64_t counter_noise;
	RaceProductsNoise products; /* noise of moments, in place of counter_noise */
	RaceNoise noise;            /* noise and cost that the sketch will state */
} RacePlan;

/*
 * The count gets 1 / RACE_COUNT_SHARE of epsilon, or of rho.  Of Gaussian noise, the mean over rows
 * leaves as much in a kernel sum as the count has, times 1 / (1 - share) and 1 / share.  A density
 * f is best at a share of f / (1 + f), which is an eighth of a usual density (race_kernel_mass).
 */
#define RACE_COUNT_SHARE 20
#define RACE_COUNT_SHARE_ROWS 8

/*
 * Count records with weights from 0 to a whole number, besides what a request says.  Weights get as
 * many binary digits as the noise of these parameters leaves room for.  False if weight_max is too
 * large for counters or noise.
 */
extern bool race_request_weights(RaceRequest *request, const RaceParams *params,
								 uint32_t weight_max);

/*
 * Return the variance of a noisy number whose binary digits after the point were rounded off, in
 * whole numbers.
 */
static inline double
race_weighted_variance(double variance, uint32_t bits)
{
	return bits == 0 ? variance : ldexp(variance, -2 * (int) bits) + 1.0 / 12;
}

/* Who adds up noise shares (shares.h) */
typedef struct RaceFederation
{
	uint32_t parties;
	uint32_t colluders;
	uint32_t dropouts;
} RaceFederation;

/*
 * Plan the noise for a release that keeps so much.  That of the count does not depend on what is
 * kept.  Return false when it would be too large for a counter.
 */
extern bool race_plan_release(const RaceRequest *request, const RaceParams *params,
							  RaceSelection selection, RacePlan *plan);

/* Return what a request keeps that has the most noise: what it asks for, or all rows or levels. */
extern RaceSelection race_largest_selection(const RaceRequest *request, const RaceParams *params);

/*
 * Plan the noise of one share, for one of several parties.  If rows are to be chosen, all are
 * kept.  Return false as above.
 */
extern bool race_plan_share(const RaceRequest *request, const RaceParams *params,
							const RaceFederation *federation, RacePlan *plan);

/*
 * Choose what to keep, if the request leaves it open: the power of two of rows (or all), or the
 * cells and levels of a grid, for which the expected error of a kernel sum is least, where a
 * typical kernel sum is so many records.
 */
extern RaceSelection race_choose_selection(const RaceRequest *request, const RaceParams *params,
										   double mass);

/* Return the variance of a kernel sum by noise; INFINITY if it would be too large for a counter. */
extern double race_selection_noise(const RaceRequest *request, const RaceParams *params,
								   RaceSelection selection);

/*
 * Return whether a pure release, which is (epsilon, delta) private, too, serves better with this
 * epsilon than what is asked for with a delta: the same moments or grid, or a grid in place of
 * rows.  It depends on public facts alone.
 */
extern bool race_pure_serves(const RaceRequest *request, const RaceParams *params,
							 double pure_epsilon, const RaceParams *pure_params);

/* Factor of the variance by sampling rows if a model is fitted to them, in one dimension */
#define RACE_FITTED_SAMPLING (1.0 / 128)

/*
 * Return how many records a typical kernel sum is, of a table of which nothing is known but how
 * many records it has.
 */
extern double race_usual_mass(double records);

/* Return the bytes of the workspace of a release, which is aligned to 8. */
extern size_t race_draw_workspace(const RaceParams *params);

/* A release on its way: the account that it pays from, and what is released */
typedef struct RaceRelease
{
	RaceAccount account;
	const RaceExact *exact;
	const RaceParams *params;
	const RaceRequest *request;
	void *workspace;
	RacePlan plan;
} RaceRelease;

/*
 * Begin a release: draw the noisy number of records, and choose what is kept if the
 * request leaves it open.  The release has its exact counters, parameters, request and workspace.
 * False if the noise would be too large, whatever the counters hold: then nothing was drawn.
 */
extern bool race_release_begin(RaceRelease *release, RaceRandom *random, int64_t *count);

/*
 * Begin the release of a noise share, for one of several parties: all is kept, since all must keep
 * the same.
 */
extern bool race_share_begin(RaceRelease *release, RaceRandom *random,
							 const RaceFederation *federation, int64_t *count);

/*
 * Draw the counters that are kept: rows, the levels of a grid one after the other,
 * tables, or moments.  False if the account cannot pay them, which no plan leads to.
 */
extern bool race_release_counters(RaceRelease *release, int64_t *counters);

#endif
