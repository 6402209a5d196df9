/*
 * suggest_fitting.h
 *		Which kernels fit records, by their type and by the first of them.
 */
#ifndef RACE_SUGGEST_FITTING_H
#define RACE_SUGGEST_FITTING_H

#include "postgres.h"

#include "../lsh/lsh.h"

#define RACE_FITTING_KERNELS	16	/* products can have more: these are the first ones */

/*
 * Parameters of the kernels that fit a record of this type: of vectors l2, l1 and angular, of other
 * arrays match and jaccard, and of a row the products of what fits its columns.  Raises the errors
 * of race_record_read() if there is none.
 */
extern int	race_fitting_kernels(Oid type, Datum record, RaceParams **fitting);

/*
 * The same parameters with scales and bounds for vectors, from n records [n][RACE_MAX_PARTS]:
 * bandwidths are about a median distance
 */
extern RaceParams *race_fitting_scaled(const RaceParams *params, const RaceColumn *columns, int n);

#endif							/* RACE_SUGGEST_FITTING_H */
