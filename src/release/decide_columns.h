/*
 * decide_columns.h
 *		Deciding what a release by columns measures: their tables, or their moments
 */
#ifndef RACE_DECIDE_COLUMNS_H
#define RACE_DECIDE_COLUMNS_H

#include "postgres.h"

#include "release/release_plan.h"

/*
 * Let a release count the cells of its columns; a label, or NULL, and a workload, text[] or 0, say
 * what matters most.
 */
extern void race_plan_use_columns(const RaceLedger *ledger, const RaceDataset *dataset,
								  RaceReleasePlan *plan, const char *label, Datum workload);

/* Let a release be of moments of its columns: of numbers, and of 0 or 1 for each category. */
extern void race_plan_use_vector(const RaceLedger *ledger, const RaceDataset *dataset,
								 RaceReleasePlan *plan);

/* Let parameters have the cells of columns whose categories were chosen. */
extern void race_plan_use_chosen_cells(RaceReleasePlan *plan);

#endif
