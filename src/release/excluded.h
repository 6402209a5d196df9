/*
 * excluded.h
 *		Rows that a release leaves out, as far as types and constants tell
 */
#ifndef RACE_EXCLUDED_H
#define RACE_EXCLUDED_H

#include "postgres.h"

#include "release/release_plan.h"

/*
 * Return which rows a planned release may leave out: "the record is NULL or a number is NaN", for
 * example; NULL if there can be none.  Raise 22023 if it would leave out every row.
 */
extern char *race_excluded(const RaceReleasePlan *plan);

#endif
