/*
 * series_units.h
 *		The units of a series: how many records of each are in its values
 *
 * A unit is a hash of 16 bytes, so that memory and the ledger do not depend on how long its text
 * is.  The query of a value reads the units of earlier values as the table RACE_EARLIER_UNITS, and
 * adds those that it takes to another one by an aggregate.  Both are in its query environment, and
 * spill to disk at work_mem.
 */
#ifndef RACE_SERIES_UNITS_H
#define RACE_SERIES_UNITS_H

#include "postgres.h"

#include "utils/queryenvironment.h"

#include "release/ledger.h"

/* What the query of a value calls the units of earlier values: (unit uuid, records bigint) */
#define RACE_EARLIER_UNITS "race_earlier_units"

typedef struct RaceUnits RaceUnits;

/* Return units of which there are none so far. */
extern RaceUnits *race_units_create(void);

/* Return the environment in which the query of a value is analyzed and run; NULL without units. */
extern QueryEnvironment *race_units_environment(const RaceUnits *units);

/*
 * Load the units of earlier values of as many intervals, a batch at a time.  Until the transaction
 * ends nothing is counted, and no temporary file logged, since sizes are exact.
 */
extern void race_units_load(RaceUnits *units, const RaceLedger *ledger, const char *name,
							int length);

/* Store the units that the query took, and free all of them. */
extern void race_units_store(RaceUnits *units, const RaceLedger *ledger, const char *name,
							 int length);

#endif
