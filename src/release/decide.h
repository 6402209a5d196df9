/*
 * decide.h
 *		Deciding what the request of a release leaves open, from public facts
 */
#ifndef RACE_DECIDE_H
#define RACE_DECIDE_H

#include "postgres.h"

#include "release/dataset.h"
#include "release/ledger.h"
#include "release/release_plan.h"

/*
 * Let parameters and labels be those of the request, whose expressions are written for a
 * search_path.
 */
extern void race_plan_use_request(RaceReleasePlan *plan, char *path);

/* Decide what a new request leaves open, and raise what is wrong with it. */
extern void race_plan_decide(const RaceLedger *ledger, const RaceDataset *dataset,
							 RaceReleasePlan *plan);

/*
 * Return whether, with a delta, a pure release with other parameters, or the same, serves better
 * than these; for a series, whether its values do, of so many lengths (else 0).  A budget in zCDP charges more for it: then not.
 */
extern bool race_pure_is_better(const RaceDataset *dataset, double epsilon, double delta,
								uint32 levels, const RaceParams *params,
								const RaceParams *pure_params);

#endif
