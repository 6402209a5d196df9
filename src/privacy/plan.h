/*
 * plan.h
 *		The cost of a release, and how much noise that means.
 *
 * A plan depends on what is asked and on public parameters alone.
 */
#ifndef RACE_PLAN_H
#define RACE_PLAN_H

#include "postgres.h"

#include "fmgr.h"

#include "../lsh/grid.h"
#include "../noise/state.h"
#include "../params/params.h"

/* What the caller asks of a release, checked */
typedef struct RaceRequest
{
	double		epsilon;
	double		delta;
	uint32		rows;			/* 0: to be chosen */
	bool		fit;			/* will a model be fitted to the release? */
	uint32		max_contributions;
	RaceNeighbors neighbors;
} RaceRequest;

/* Who adds up noise shares (noise/sum.c) */
typedef struct RaceFederation
{
	uint32		parties;
	uint32		colluders;
	uint32		dropouts;
} RaceFederation;

/* What a release keeps of a sketch: the first rows, or cells of a grid */
typedef struct RaceKept
{
	uint32		rows;
	RaceGridChoice grid;		/* of a grid, which has 1 row */
	int			coarser;		/* of moments: bits that counters lack while noise is drawn */
} RaceKept;

typedef struct RacePlan
{
	RaceKept	kept;
	/*
	 * Scale of discrete Laplace, or variance of discrete Gaussian noise, as noise.h has them.
	 * In moments, Gaussian noise on the diagonal has twice the variance; and of a Wishart matrix it
	 * is the scale, and entry_noise that of the Laplace noise beside it.
	 */
	uint64		counter_noise;
	uint64		entry_noise;
	uint64		count_noise;
	uint64		choice_noise;	/* scale of discrete Laplace, or 0 (noise.h): no choice */
	RaceNoise	noise;			/* what the sketch will say of it */
} RacePlan;

/* Returns a valid delta; raises 22023 for others. */
extern double race_checked_delta(double delta);

/*
 * Make a request. rows NULL: they are to be chosen. Raises 22023 for what is
 * outside its limits.
 */
extern RaceRequest race_make_request(const RaceParams *params, double epsilon,
									 double delta, const int *rows,
									 int max_contributions, const char *neighbors,
									 bool fit);

/*
 * Make a request from the arguments of a function: epsilon and delta are arguments
 * 1 and 2; rows, max_contributions and neighbors begin at `rows_arg`; fit is argument
 * `fit_arg`, or false if that is 0. NULL rows are to be chosen. Returns false if another
 * one of them is NULL.
 */
extern bool race_read_request(FunctionCallInfo fcinfo, const RaceParams *params,
							  int rows_arg, int fit_arg, RaceRequest *request);

/*
 * The largest rho that the release of a request can have. Where the noisy count
 * chooses the rows, the true cost depends on it a little, so this is the rho of all
 * epsilon.
 */
extern double race_request_rho(const RaceRequest *request, const RaceParams *params);

/*
 * The noise for a release that keeps so much.  That of the count does not depend on
 * what is kept.  Raises 22023 when it would be too large for a counter.
 */
extern void race_plan_release(const RaceRequest *request, const RaceParams *params,
							  RaceKept kept, RacePlan *plan);

/* What a request keeps that has the most noise: what it asks for, or all rows or levels */
extern RaceKept race_most_kept(const RaceRequest *request, const RaceParams *params);

/*
 * The noise of one share, for one of several parties. If rows are to be chosen, all
 * are kept. Raises 22023 as above.
 */
extern void race_plan_share(const RaceRequest *request, const RaceParams *params,
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

/* That of noise alone, after the fit that the request tells of */
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
