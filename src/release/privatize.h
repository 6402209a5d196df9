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

/* Make an exact sketch private. */
extern RaceSketch *race_private_sketch(const RaceView *view, const RaceRequest *request,
									   MemoryContext context);

/*
 * Let other noisy numbers of the categories of a column serve what was measured of tables
 * (contingency.h).
 */
extern void race_combine_column(RaceSketch *sketch, const RaceColumnNumbers *numbers);

#endif
