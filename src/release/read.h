/*
 * read.h
 *		Reading the records of a release
 */
#ifndef RACE_READ_H
#define RACE_READ_H

#include "postgres.h"

#include "nodes/parsenodes.h"

#include "choice/choose_bounds.h"
#include "privacy/threshold.h"
#include "release/release_plan.h"

/*
 * The read phase of a release: the query runs, and noise is drawn.
 */

/* What was read so far, and later readings need */
typedef struct RaceReading
{
	List *tables; /* OIDs of the tables in the queries that ran */
	/* RaceColumnNumbers * of each column whose categories were measured as they were chosen */
	List *numbers;
	RaceChoices choices; /* choices of labels or categories */
	RaceBounds bounds;   /* bounds of the column that they are wanted of */
} RaceReading;

/*
 * Raise what planning says of a query of a release, 42501 unless the current user has the rights
 * that running it takes (of partitions alone it takes none, remote.h), and 22023 if it reads tables
 * that are not in the lineage.  Set plan->parts and plan->probes.
 */
extern void race_read_check(RaceReleasePlan *plan, Query *query, bool of_partitions);

/* Raise what a server says that does not answer, or that lacks a table or a right to it. */
extern void race_read_probe(const RaceReleasePlan *plan);

/*
 * Run the query of a release, and draw noise: private sketches for each of n labels (one, if labels
 * is NULL): one, or with a value one for each of its bounds.  The caller's functions run under her
 * search_path.  Raise 22000, or 57014 if it was cancelled, for everything that goes wrong while
 * rows are read, with no more said: it may depend on the rows.
 */
extern Datum *race_read_private(const RaceReleasePlan *plan, RaceReading *reading, int n,
								Datum *labels);

/*
 * Run the query of a column of a type whose bounds are wanted, as often as it takes, and set
 * reading->bounds.
 */
extern void race_read_bounds(const RaceReleasePlan *plan, RaceReading *reading, Oid type);

/*
 * Run query number i of what a release chooses.  Return a text[] of the values that enough persons
 * have, of too many the most frequent ones, in the order of the collation "C".  Set their noisy
 * numbers of persons, and of records where these add up to them.
 */
extern Datum race_read_chosen(const RaceReleasePlan *plan, RaceReading *reading, int i,
							  int64 **persons, RaceColumnNumbers *numbers);

/*
 * Do the same for the scores that the private sketches of the n labels give each record.  Return
 * private sketches of the scores of each label.
 */
extern Datum *race_read_scores(const RaceReleasePlan *plan, RaceReading *reading, int n,
							   Datum *labels, Datum *sketches);

#endif
