/*
 * measure.h
 *		Measuring contingency tables: noisy tables of columns, then of several columns
 *
 * Plain C99 without PostgreSQL headers.
 */
#ifndef RACE_MEASURE_H
#define RACE_MEASURE_H

#include "hash/contingency.h"
#include "choice/contingency_select.h"
#include "choice/summary.h"
#include "privacy/sampler.h"

/* What was measured of exact tables.  All of it is private. */
typedef struct RaceMeasuring
{
	double		cost;			/* epsilon or rho, with that of the count, rounded up, at most the budget */
	double		total;			/* estimate of the number of records */
	RaceContingency tables;		/* with joined groups and measured tables */
	int64_t    *counters;
} RaceMeasuring;

/*
 * The reference of scores: what the tables that were measured say of one of several columns.  It is
 * computed from private numbers alone, and any function of them may take its place.  _PG_init() sets
 * it to the graphical model; NULL: columns are independent.
 */
typedef struct RaceReference
{
	void	   *(*begin) (const RaceMeasuring *measuring);
	void		(*table) (void *reference, const RaceTable *table, double *shares);
	void		(*end) (void *reference);
} RaceReference;

extern const RaceReference *race_reference;

/* What a selection (contingency_select.h) refers to */
typedef struct RaceSelectArrays
{
	uint32_t	cells[RACE_CONTINGENCY_COLUMNS];
	uint32_t	finest[RACE_CONTINGENCY_COLUMNS];
	uint32_t	ordered[RACE_CONTINGENCY_COLUMNS];
	uint32_t	width[RACE_CONTINGENCY_COLUMNS];
	RaceSelectTable asked[RACE_WORKLOAD];
} RaceSelectArrays;

/* Begin a selection among tables, all of which but group_of[] is set: the noise of the number of records, 0 if it would be too large */
extern uint64_t race_measure_begin(const RaceRequest *request, const RaceContingency *tables,
								   RaceSelectArrays *arrays, RaceSelect *select);

/*
 * The noise of the number of records, the variance of that of the table of the first column, and the budget: what
 * all tables cost at most, epsilon or rho.  0 if noise would be too large for a counter.
 */
extern uint64_t race_measure_count(const RaceRequest *request, const RaceParams *params,
								   double *variance, double *budget);

/* The expected noise of the cells of all tables, if all were measured */
extern double race_measure_noise(const RaceRequest *request, const RaceParams *params);

/* The bytes of the workspace, which is aligned to 8 and holds the result */
extern size_t race_measure_workspace(const RaceParams *params);

/* Measure exact tables, with their number of records, which is private, where race_measure_count() is not 0. */
extern const RaceMeasuring *race_measure(RaceRandom *random, const RaceExact *exact,
										 const RaceRequest *request, double records, void *workspace);

#endif
