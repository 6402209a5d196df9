/*
 * mutable.c
 *		What an expression calls besides what it says.
 *
 * contain_mutable_functions sees the functions that a parsed expression names.  Arguments
 * that are left to their defaults are filled in by the planner, and a domain
 * is checked by the executor: both can look at other rows, and so must be looked for.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "mutable.h"

static bool
has_mutable_default(FuncExpr *call)
{
	Node	   *planned;

	if (get_func_nargs(call->funcid) == list_length(call->args))
		return false;
	planned = (Node *) expression_planner((Expr *) copyObject(call));
	return race_calls_mutable(planned);
}

static bool
has_mutable_check(Oid domain)
{
	DomainConstraintRef *checks = palloc(sizeof(DomainConstraintRef));
	ListCell   *cell;

	/* belongs to its memory context, until that goes */
	InitDomainConstraintRef(domain, checks, CurrentMemoryContext, false);
	foreach(cell, checks->constraints)
	{
		DomainConstraintState *check = (DomainConstraintState *) lfirst(cell);

		if (race_calls_mutable((Node *) check->check_expr))
			return true;
	}
	return false;
}

static bool
calls_unseen(Node *node, void *context)
{
	check_stack_depth();
	if (node == NULL)
		return false;
	if (IsA(node, FuncExpr) && has_mutable_default((FuncExpr *) node))
		return true;
	if (IsA(node, CoerceToDomain) &&
		has_mutable_check(((CoerceToDomain *) node)->resulttype))
		return true;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, calls_unseen, context, 0);
	return expression_tree_walker(node, calls_unseen, context);
}

bool
race_calls_mutable(Node *node)
{
	return contain_mutable_functions(node) || calls_unseen(node, NULL);
}
