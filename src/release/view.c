/*
 * view.c
 *		What the definition of a view may have in it.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "view.h"

void
race_refuse_relation(Oid relid, const char *why)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("relation \"%s\" cannot be protected", get_rel_name(relid)),
			 errdetail("%s", why)));
}

Query *
race_view_query(Relation view)
{
	int			i;

	for (i = 0; view->rd_rules != NULL && i < view->rd_rules->numLocks; i++)
		if (view->rd_rules->rules[i]->event == CMD_SELECT)
			return linitial_node(Query, view->rd_rules->rules[i]->actions);
	elog(ERROR, "view \"%s\" has no query", RelationGetRelationName(view));
	return NULL;				/* not reached */
}

/* What a row may not depend on, because it ties rows to each other */
static const char *
what_ties_rows(const Query *query)
{
	if (query->commandType != CMD_SELECT || query->hasModifyingCTE)
		return "a statement that changes data";
	if (query->distinctClause != NIL)
		return "DISTINCT";
	if (query->hasAggs || query->groupClause != NIL ||
		query->groupingSets != NIL || query->havingQual != NULL)
		return "aggregates, GROUP BY or HAVING";
	if (query->limitCount != NULL || query->limitOffset != NULL)
		return "LIMIT or OFFSET";
	if (query->hasWindowFuncs)
		return "window functions";
	if (query->setOperations != NULL)
		return "UNION, INTERSECT or EXCEPT";
	if (query->hasSubLinks)
		return "a subquery outside FROM";
	if (query->hasTargetSRFs)
		return "set-returning functions in its SELECT list";
	if (query->hasRecursive)
		return "WITH RECURSIVE";
	if (query->rowMarks != NIL)
		return "FOR UPDATE or FOR SHARE";
	return NULL;
}

void
race_check_view_query(Oid relid, Query *query, RaceCalls *calls)
{
	const char *what = what_ties_rows(query);

	if (what != NULL)
		race_refuse_relation(relid, psprintf("Its definition has %s: each of its rows must depend on one person, and on public tables, only.",
											 what));
	race_calls_add(calls, (Node *) query);
	if (calls->mutable)
		race_refuse_relation(relid, "Its definition calls a function that is not IMMUTABLE: such a function may look at other rows, or answer differently each time.");
	if (calls->system_column)
		race_refuse_relation(relid, "Its definition has a system column: where and when a row was written depends on other rows.");
	if (calls->temporary)
		race_refuse_relation(relid, "Its definition has a temporary function or type: a budget lasts.");
}
