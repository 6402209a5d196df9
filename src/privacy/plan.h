/*
 * plan.h
 *		What a release is to cost, and the noise that makes it so.
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

/* A delta, if it is one that there may be; else raises 22023 */
extern double race_checked_delta(double delta);

/*
 * A request for noise; rows NULL: they are to be chosen.  Raises 22023 for what is
 * out of its limits.
 */
extern RaceRequest race_make_request(const RaceParams *params, double epsilon,
									 double delta, const int *rows,
									 int max_contributions, const char *neighbors);

/*
 * The same from arguments of a function: epsilon and delta from 1 on; rows,
 * max_contributions and neighbors from `rows_arg` on.  NULL rows are to be chosen; any
 * other NULL up to the last gives false.
 */
extern bool race_read_request(FunctionCallInfo fcinfo, const RaceParams *params,
							  int rows_arg, RaceRequest *request);

/*
 * rho of the release that a request makes of any data, at most.  Where rows are chosen
 * by the noisy count, the true cost depends a little on it, so it is that of all
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
 * The noise of one share, of a party among several; rows that are to be chosen are
 * all.  Raises 22023 as above.
 */
extern void race_plan_share(const RaceRequest *request, const RaceParams *params,
							const RaceFederation *federation, RacePlan *plan);

/*
 * The rows to keep of those that there are: the power of two (or all) for which
 * the expected error of a kernel sum is least, for a (noisy) number of records
 */
extern uint32 race_choose_rows(const RaceRequest *request,
							   const RaceParams *params, double records);

#endif							/* RACE_PLAN_H */
