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

#include "../noise/state.h"
#include "../params/params.h"

/* What the caller asks of a release, checked */
typedef struct RaceRequest
{
	double		epsilon;
	double		delta;
	uint32		rows;			/* 0: to be chosen */
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

typedef struct RacePlan
{
	uint32		rows;
	uint64		counter_noise;	/* scale of discrete Laplace, or variance of */
	uint64		count_noise;	/* discrete Gaussian, as noise.h has them */
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
									 int max_contributions, const char *neighbors);

/*
 * Make a request from the arguments of a function: epsilon and delta are arguments
 * 1 and 2; rows, max_contributions and neighbors begin at `rows_arg`. NULL rows are
 * to be chosen. Returns false if another one of them is NULL.
 */
extern bool race_read_request(FunctionCallInfo fcinfo, const RaceParams *params,
							  int rows_arg, RaceRequest *request);

/*
 * The largest rho that the release of a request can have. Where the noisy count
 * chooses the rows, the true cost depends on it a little, so this is the rho of all
 * epsilon.
 */
extern double race_request_rho(const RaceRequest *request, const RaceParams *params);

/*
 * The noise for a release of so many rows.  That of the count does not depend on
 * rows.  Raises 22023 when it would be too large for a counter.
 */
extern void race_plan_release(const RaceRequest *request, uint32 rows,
							  RacePlan *plan);

/*
 * The noise of one share, for one of several parties. If rows are to be chosen, all
 * are kept. Raises 22023 as above.
 */
extern void race_plan_share(const RaceRequest *request, const RaceParams *params,
							const RaceFederation *federation, RacePlan *plan);

/*
 * How many of the rows to keep: the power of two (or all) for which the expected
 * error of a kernel sum is least, given a (noisy) number of records
 */
extern uint32 race_choose_rows(const RaceRequest *request,
							   const RaceParams *params, double records);

#endif							/* RACE_PLAN_H */
