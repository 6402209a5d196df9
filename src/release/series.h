/*
 * series.h
 *		Series: releases of intervals of time for one charge
 */
#ifndef RACE_RELEASE_SERIES_H
#define RACE_RELEASE_SERIES_H

#include "postgres.h"

#include "request.h"

/* Check what is asked of a series, and complete it. */
extern void race_series_check(const RaceLedger *ledger, RaceAsked *asked);

/*
 * Set which rows a value of a series has, whose number is its version.  Is it over?  If not, *closes is when it will be,
 * NULL if there is no such value.
 */
extern bool race_series_use(const RaceLedger *ledger, RaceAsked *asked, int version, char **closes);

/* The number of the next value, which nobody else makes until the transaction ends */
extern int	race_series_next(const RaceLedger *ledger, Datum charge);

/*
 * The records of each unit in values of as many intervals: set what earlier values have in the query of a checked request,
 * and add what this one has.  Both are in the transaction that stores the value.
 */
extern void race_series_load_units(const RaceLedger *ledger, const RaceAsked *asked, const RaceChecked *checked);
extern void race_series_store_units(const RaceLedger *ledger, const RaceAsked *asked, const RaceChecked *checked);

#endif
