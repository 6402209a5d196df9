/*
 * plan.h
 *		The cost of a release, and how much noise that means.
 *
 * A plan depends on what is asked and on public parameters alone.  Plain C99 without PostgreSQL
 * headers.
 */
#ifndef RACE_PLAN_H
#define RACE_PLAN_H

#include "../lsh/summary.h"
#include "../noise/state.h"

/* What the caller asks of a release, checked */
typedef struct RaceRequest
{
	double		epsilon;
	double		delta;
	uint32_t	rows;			/* 0: to be chosen */
	bool		fit;			/* will a model be fitted to the release? */
	uint32_t	max_contributions;
	RaceNeighbors neighbors;
} RaceRequest;

/* Who adds up noise shares (noise/sum.c) */
typedef struct RaceFederation
{
	uint32_t	parties;
	uint32_t	colluders;
	uint32_t	dropouts;
} RaceFederation;

typedef struct RacePlan
{
	RaceKept	kept;
	/*
	 * Scale of discrete Laplace, or variance of discrete Gaussian noise, as noise.h has them.
	 * In moments, Gaussian noise on the diagonal has twice the variance; and of a Wishart matrix it
	 * is the scale, and entry_noise that of the Laplace noise beside it.
	 */
	uint64_t	counter_noise;
	uint64_t	entry_noise;
	uint64_t	count_noise;
	uint64_t	choice_noise;	/* scale of discrete Laplace, or 0 (noise.h): no choice */
	RaceNoise	noise;			/* what the sketch will say of it */
} RacePlan;

/*
 * What a record changes, in L1, of what a release looks at before it chooses what it keeps; 0 if
 * it does not look
 */
extern uint64_t race_look_weight(const RaceRequest *request, const RaceParams *params);

/*
 * The noise for a release that keeps so much.  That of the count does not depend on
 * what is kept.  False when it would be too large for a counter.
 */
extern bool race_plan_release(const RaceRequest *request, const RaceParams *params,
							  RaceKept kept, RacePlan *plan);

/* What a request keeps that has the most noise: what it asks for, or all rows or levels */
extern RaceKept race_most_kept(const RaceRequest *request, const RaceParams *params);

/*
 * The noise of one share, for one of several parties. If rows are to be chosen, all
 * are kept. False as above.
 */
extern bool race_plan_share(const RaceRequest *request, const RaceParams *params,
							const RaceFederation *federation, RacePlan *plan);

/*
 * What to keep, if the request leaves it open: the power of two of rows (or all), or the
 * cells and levels of a grid, for which the expected error of a kernel sum is least, where
 * a typical kernel sum is so many records
 */
extern RaceKept race_choose_kept(const RaceRequest *request,
								 const RaceParams *params, double mass);

/* The expected variance of a kernel sum that noise and sampling give a release */
extern double race_expected_noise(const RaceParams *params, const RacePlan *plan);
extern double race_expected_sampling(const RaceRequest *request, const RaceParams *params,
									 RaceKept kept, double mass);

/* That of noise alone; INFINITY if it would be too large for a counter */
extern double race_noise_if_kept(const RaceRequest *request, const RaceParams *params,
								 RaceKept kept);

/*
 * A pure release is (epsilon, delta) private, too.  Does it serve better than what is asked for with a
 * delta: the same moments or grid, or a grid in place of rows, for densities or for means of values?
 * This is told from public facts.
 */
extern bool race_pure_serves(const RaceRequest *request, const RaceParams *params,
							 const RaceParams *pure_params, bool densities);

/* The same number by what is usual: where nothing is known of a table but its size */
extern double race_usual_mass(double records);

#endif							/* RACE_PLAN_H */
