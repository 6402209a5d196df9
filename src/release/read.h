/*
 * read.h
 *		Reading the records of a release
 */
#ifndef RACE_READ_H
#define RACE_READ_H

#include "postgres.h"

#include "nodes/parsenodes.h"
#include "parser/parse_node.h"

#include "release/lineage.h"
#include "release/request.h"

/*
 * An expression of the caller's, checked to depend on one row alone.
 */

/* The statements of a text, not yet looked up anywhere */
extern List *race_parse(const char *text);

/* What an expression gives */
typedef enum RaceExpressionUse
{
	RACE_AS_RECORD, RACE_AS_LABEL, RACE_AS_VALUE
} RaceExpressionUse;

/*
 * Analyze the one expression that a text is under a search_path, over the relation
 * that is alone in FROM of the query that pstate analyzes; cast to text for a label, and to
 * float8 for a value.
 * *written is the expression as PostgreSQL writes it, all names qualified, so that it
 * can be analyzed again under RACE_SAFE_PATH.  Adds the functions that it calls.
 *
 * Raises 42601 if it is not one expression, 22023 if it is not of one row alone
 * (subqueries, aggregates, windows, sets, system columns, functions that are not
 * IMMUTABLE) or not lasting (temporary functions and types), and whatever PostgreSQL
 * says of it.
 */
extern Node *race_analyze_expression(ParseState *pstate, Oid relation, const char *text,
									 const char *path, RaceExpressionUse use, char **written,
									 RaceCalls *calls);

/*
 * The read phase of a release: the query runs, and noise is drawn.
 */

/*
 * Raise what planning says of a query of a request, 42501 unless the current user has the rights
 * that running it takes (of partitions alone it takes none, remote.h), and 22023 if it reads tables
 * that are not in the lineage.  Sets checked->parts and checked->probes.
 */
extern void race_read_check(RaceChecked *checked, Query *query, bool of_partitions);

/* Raise what a server says that does not answer, or that lacks a table or a right to it. */
extern void race_read_probe(const RaceChecked *checked);

/*
 * Run the query of a request, and draw noise: private sketches for each of n labels (one, if
 * labels is NULL): one, or with a value one for each of its bounds.  The caller's functions run under her search_path.  Raises
 * 22000, or 57014 if it was cancelled, for everything that goes wrong while rows are
 * read, with no more said: it may depend on the rows.  Adds the tables that the plan reads to
 * checked->tables.
 */
extern Datum *race_read_private(const RaceAsked *asked, RaceChecked *checked, int n,
								Datum *labels);

/* Run the query of a column of a type whose bounds are wanted, as often as it takes, and set checked->bounds. */
extern void race_read_bounds(const RaceAsked *asked, RaceChecked *checked, Oid type);

/*
 * Run query number i of what a request chooses: a text[] of the values that enough persons have, of too many the most
 * frequent ones, in the order of the collation "C", with their noisy numbers of persons, and of records where these add up to them
 */
extern Datum race_read_chosen(const RaceAsked *asked, RaceChecked *checked, int i, int64 **persons, RaceColumnNumbers *numbers);

/*
 * The same of the scores that the private sketches of the n labels give each record: private
 * sketches of the scores of each label
 */
extern Datum *race_read_scores(const RaceAsked *asked, RaceChecked *checked, int n,
							   Datum *labels, Datum *sketches);

/* Settings while exact numbers are at hand: nothing is logged, told or counted.  The caller makes a level of settings. */
extern void race_read_set_quiet(void);

/*
 * Rows that a release leaves out, as far as types and constants tell.
 */

/*
 * Which rows a checked request may leave out: "the record is NULL or a number is NaN", for example;
 * NULL if there can be none.  Raises 22023 if it would leave out every row.
 */
extern char *race_excluded(const RaceAsked *asked, const RaceChecked *checked);

#endif
