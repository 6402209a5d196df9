/*
 * value_columns.h
 *		The columns of a value: their names, types and domains
 */
#ifndef RACE_VALUE_COLUMNS_H
#define RACE_VALUE_COLUMNS_H

#include "postgres.h"

#include "hash/params.h"
#include "sketch/domain.h"
#include "sketch/sketch_format.h"

/*
 * A value of a release by columns carries their domains (domain.h), as the JSON array that
 * race_domains_write() writes: the same domains are the same bytes.  They are public.
 */

/*
 * Return what is wrong with columns from outside, of a value with these parameters, or NULL.
 * Nothing else reads them before.
 */
extern const char *race_columns_problem(const char *text, Size size, const RaceParams *params);

/* Return the domains of the columns of a view, *n of them; NULL if it has none. */
extern RaceDomain *race_columns_read(const RaceView *view, int *n);

/* Raise 22023 unless two values have the same columns, or both none. */
extern void race_columns_check_same(const RaceView *a, const RaceView *b);

/* Return a value as it is stored, with columns of these domains, jsonb. */
extern Datum race_columns_set(Datum value, Datum domains);

#endif
