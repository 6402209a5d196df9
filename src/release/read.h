/*
 * read.h
 *		The read phase of a release: the query runs, and noise is drawn.
 */
#ifndef RACE_READ_H
#define RACE_READ_H

#include "postgres.h"

#include "nodes/parsenodes.h"

#include "request.h"

/*
 * Raise what planning says of a query of a request, 42501 unless the current user has the rights
 * that running it takes (of partitions alone it takes none, parts.h), and 22023 if it reads tables
 * that are not in the lineage.  Sets checked->parts and checked->probes.
 */
extern void race_read_check(RaceChecked *checked, Query *query, bool of_partitions);

/* Raise what a server says that does not answer, or that lacks a table or a right to it. */
extern void race_read_probe(const List *probes);

/*
 * Run the query of a request, and draw noise: private sketches for each of n labels (one, if
 * labels is NULL): one, or with a value one for each of its bounds.  The caller's functions run under her search_path.  Raises
 * 22000, or 57014 if it was cancelled, for everything that goes wrong while rows are
 * read, with no more said: it may depend on the rows.  Adds the tables that the plan reads to
 * checked->tables.
 */
extern Datum *race_read_private(const RaceAsked *asked, RaceChecked *checked, int n,
								Datum *labels);

/*
 * The same of the scores that the private sketches of the n labels give each record: private
 * sketches of the scores of each label
 */
extern Datum *race_read_scores(const RaceAsked *asked, RaceChecked *checked, int n,
							   Datum *labels, Datum *sketches);

#endif							/* RACE_READ_H */
