/*
 * excluded.h
 *		Rows that a release leaves out, as far as types and constants tell.
 */
#ifndef RACE_EXCLUDED_H
#define RACE_EXCLUDED_H

#include "postgres.h"

#include "request.h"

/*
 * Which rows a checked request may leave out: "the record is NULL or a number is NaN", for example;
 * NULL if there can be none.  Raises 22023 if it would leave out every row.
 */
extern char *race_excluded(const RaceAsked *asked, const RaceChecked *checked);

#endif							/* RACE_EXCLUDED_H */
