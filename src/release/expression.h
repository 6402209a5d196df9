/*
 * expression.h
 *		An expression of the caller's, checked to depend on one row alone
 */
#ifndef RACE_EXPRESSION_H
#define RACE_EXPRESSION_H

#include "postgres.h"

#include "nodes/parsenodes.h"
#include "parser/parse_node.h"

#include "release/lineage.h"

/* Return the statements of a text, not yet looked up anywhere. */
extern List *race_parse(const char *text);

/* What an expression gives */
typedef enum RaceExpressionUse
{
	RACE_AS_RECORD,
	RACE_AS_LABEL,
	RACE_AS_CONDITION
} RaceExpressionUse;

/*
 * Analyze the one expression that a text is under a search_path, over the relation
 * that is alone in FROM of the query that pstate analyzes; cast to text for a label.  A
 * condition is a boolean, or error 42804 is raised.
 * *written is the expression as PostgreSQL writes it, all names qualified, so that it
 * can be analyzed again under RACE_SAFE_PATH.  Adds the functions that it calls.
 *
 * Raise 42601 if it is not one expression, 22023 if it is not of one row alone
 * (subqueries, aggregates, windows, sets, system columns, functions that are not
 * IMMUTABLE) or not lasting (temporary functions and types), and whatever PostgreSQL
 * says of it.
 */
extern Node *race_analyze_expression(ParseState *pstate, Oid relation, const char *text,
									 const char *path, RaceExpressionUse use, char **written,
									 RaceCalls *calls);

#endif
