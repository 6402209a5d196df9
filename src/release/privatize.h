/*
 * privatize.h
 *		race_privatize and the checks of a plan
 */
#ifndef RACE_PRIVATIZE_H
#define RACE_PRIVATIZE_H

#include "postgres.h"

#include "fmgr.h"

#include "privacy/noise.h"
#include "hash/contingency.h"
#include "hash/params.h"
#include "sketch/sketch.h"
#include "choice/plan.h"
#include "privacy/release_request.h"
#include "privacy/sampler.h"

/* Return a valid epsilon, or delta; raise 22023 for others. */
extern double race_checked_epsilon(double epsilon);
extern double race_checked_delta(double delta);

/*
 * Make a request.  rows NULL: they are to be chosen.  Raise 22023 for what is outside its limits.
 */
extern RaceRequest race_make_request(const RaceParams *params, double epsilon, double delta,
									 const int *rows, int max_contributions, const char *neighbors,
									 bool fit);

/*
 * Make a request from the arguments of a function: epsilon and delta are arguments 1 and 2; rows,
 * max_contributions and neighbors begin at `rows_arg`; fit is argument `fit_arg`, or false if that
 * is 0.  NULL rows are to be chosen.  Return false if another one of them is NULL.
 */
extern bool race_read_request(FunctionCallInfo fcinfo, const RaceParams *params, int rows_arg,
							  int fit_arg, RaceRequest *request);

/*
 * Make the plan of a release that keeps a selection, or raise 22023: its noise would be too large
 * for a counter.
 */
extern void race_check_plan(const RaceRequest *request, const RaceParams *params,
							RaceSelection selection, RacePlan *plan);

/*
 * Return the largest rho that the release of a request can have.  Where the noisy count chooses the
 * rows, the true cost depends on it a little, so this is the rho of all epsilon.
 */
extern double race_request_rho(const RaceRequest *request, const RaceParams *params);

/*
 * Make one exact sketch private (n = 1), or both halves of a pair (RACE_HALVES), which give a new
 * pair.  If the request leaves open what is kept, it is the same of both: the mean of their noisy
 * counts chooses it.  Raise 55000 for a half by itself, and 22023 for halves that do not belong
 * together.
 */
extern void race_private_sketches(const RaceView *views, int n, const RaceRequest *request,
								  MemoryContext context, RaceSketch **sketches);

/*
 * Let other noisy numbers of the categories of a column serve what was measured of tables
 * (contingency.h).
 */
extern void race_combine_column(RaceSketch *sketch, const RaceColumnNumbers *numbers);

/* Make both halves of race_build_value private: race_privatize(pair, ...). */
extern Datum race_privatize_pair(PG_FUNCTION_ARGS);

#endif
