/*
 * columns_measured.h
 *		What a release by columns measures: domains of columns, and the tables of them that are
 *		counted
 */
#ifndef RACE_COLUMNS_MEASURED_H
#define RACE_COLUMNS_MEASURED_H

#include "postgres.h"

#include "sketch/domain.h"
#include "release/dataset.h"

/* The columns of a release, in its order, and a measure after them */
typedef struct RaceColumnsMeasured
{
	RaceDomain *domains;
	int n;
	Datum names;   /* text[]: names of the numbers of a record */
	Datum units;   /* text[]: units of these numbers; 0 if none was stated */
	Datum sources; /* jsonb: where domains come from, by columns; 0 if none has a source */
	char *params;  /* race_params of moments of a vector, as text; else NULL */
} RaceColumnsMeasured;

/*
 * Look up columns (text[]) and a measure, or NULL.  Without a list, categories may be chosen.
 * Raise 22023 for a column without a domain, 42703 if there is none of a name.
 */
extern void race_columns_measure(const RaceLedger *ledger, const RaceDataset *dataset,
								 Datum columns, const char *measure, bool may_choose,
								 RaceColumnsMeasured *measured);

/* Do the same for columns whose values are numbers of a vector. */
extern void race_columns_measure_vector(const RaceLedger *ledger, const RaceDataset *dataset,
										Datum columns, RaceColumnsMeasured *measured);

/*
 * Raise 55000 if a column has another domain than when a release was made, whose domains (jsonb)
 * these are.  Return where the domains come from (jsonb), or 0.
 */
extern Datum race_columns_check_again(const RaceLedger *ledger, const RaceDataset *dataset,
									  const char *release, Datum domains);

/* What a release by columns counts */
typedef struct RaceCounted
{
	int chosen;           /* columns whose categories the release chooses */
	RaceDomain *domains;  /* [n]: domains of the columns, and of a measure after them */
	int n;                /* columns, with a measure */
	int columns;          /* columns, without a measure */
	int pairs;            /* tables of two columns */
	int triples;          /* tables of three columns */
	uint32 searched;      /* sets of three columns among which dependence is looked for */
	int workload_triples; /* tables of three columns that the workload names */
	int sets;             /* tables that the workload names, or a label has with others */
	double counters;      /* counters of all tables */
	double megabytes;     /* memory of a release, at most */
	char *params;         /* race_params of the tables, as text */
} RaceCounted;

/*
 * Set what counts columns with these domains, a label or NULL, and a workload (text[] or 0), of
 * which tables are chosen, or all.  Raise 42703 if these name no columns, 22023 for another
 * workload, 54000 if the counters do not fit into a value.
 */
extern void race_columns_count(RaceDomain *domains, int n, const char *label, Datum workload,
							   bool chosen, RaceCounted *counted);

#endif
