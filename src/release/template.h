/*
 * template.h
 *		The queries of a release, made of a template of ours and of expressions of the caller's
 */
#ifndef RACE_TEMPLATE_H
#define RACE_TEMPLATE_H

#include "postgres.h"

#include "release/release_plan.h"

/*
 * Analyze the query of a release, or of the values of a column whose bounds are wanted.  Set query,
 * rows and what is written.
 */
extern void race_template_analyze(const RaceLedger *ledger, RaceReleasePlan *plan);

/*
 * Analyze the other queries of a release, where there are such: of its parts, its choices and its
 * scores.
 */
extern void race_template_analyze_others(const RaceLedger *ledger, RaceReleasePlan *plan);

#endif
