/*
 * choose_tables.h
 *		Contingency tables of a release: of columns, then of those several columns that are chosen
 *
 * Plain C99 without PostgreSQL headers.
 */
#ifndef RACE_CHOOSE_TABLES_H
#define RACE_CHOOSE_TABLES_H

#include "choice/select_signs.h"
#include "choice/select_tables.h"
#include "hash/contingency.h"
#include "privacy/release_request.h"

/* What was measured of exact tables.  All of it is private. */
typedef struct RaceMeasuring
{
	double total;           /* estimate of the number of records */
	RaceContingency tables; /* tables with joined groups, those that were measured */
	int64_t *counters;
} RaceMeasuring;

/*
 * The reference of scores: what was measured says of a table of several columns.  It is computed
 * from private numbers alone, and any function of them may take its place.  _PG_init() sets it to
 * the models of src/answers; NULL: columns are independent, and signs are not measured.
 */
typedef struct RaceReference
{
	void *(*begin)(const RaceMeasuring *measuring);
	void (*table)(void *reference, const RaceTable *table, double *shares);
	void (*end)(void *reference);

	/*
	 * Set the errors of what signs were measured of, where tables of one column have `second` times
	 * the variance after a second draw.
	 */
	void (*errors)(void *reference, double second, RaceReferenceErrors *errors);

	/*
	 * Return how many records stand for all, where there are signs, of so many columns and cells of
	 * tables of several.
	 */
	uint32_t (*particles)(uint32_t columns, uint64_t cells);
} RaceReference;

extern const RaceReference *race_reference;

/* What a selection (select_tables.h) refers to */
typedef struct RaceSelectArrays
{
	uint32_t cells[RACE_CONTINGENCY_COLUMNS];
	uint32_t finest[RACE_CONTINGENCY_COLUMNS];
	uint32_t span[RACE_CONTINGENCY_COLUMNS];
	uint32_t ordered[RACE_CONTINGENCY_COLUMNS];
	uint32_t width[RACE_CONTINGENCY_COLUMNS];
	RaceSelectTable asked[RACE_WORKLOAD];
} RaceSelectArrays;

/*
 * Begin a selection among tables, to each of which a record adds this unit: all but group_of[] is
 * set.  Return the noise of the number of records; 0 if it would be too large.
 */
extern uint64_t race_tables_begin(const RaceRequest *request, const RaceContingency *tables,
								  uint64_t unit, RaceSelectArrays *arrays, RaceSelect *select);

#endif
