/*
 * distributed_query.c
 *		Queries over tables that Citus has distributed
 */
#include "postgres.h"

#include "catalog/dependency.h"
#include "catalog/pg_proc.h"
#include "commands/extension.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/planner.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "answers/distributed_query.h"
#include "release/distributed.h"

/*
 * Citus calls an aggregate in parts if its arguments are of exactly the declared types, which
 * no type is of "any"; and it sends functions to the servers, where there are no releases.  So
 * queries are changed before Citus plans them.  Its planner was there first, because it is
 * preloaded, and so this comes before it.
 */

static planner_hook_type next_planner = NULL;

static bool
reads_distributed(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
		return ((RangeTblEntry *) node)->rtekind == RTE_RELATION &&
			race_is_distributed(((RangeTblEntry *) node)->relid);
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, reads_distributed, context,
								 QTW_EXAMINE_RTES_BEFORE);
	return expression_tree_walker(node, reads_distributed, context);
}

/* --------------------------------------------------------------- functions */

/* Return whether a function is the one of this name that an extension has. */
static bool
is_of(Oid function, const char *name, const char *extension)
{
	char *found = get_func_name(function);
	Oid owner;

	if (found == NULL || strcmp(found, name) != 0)
		return false;
	owner = getExtensionOfObject(ProcedureRelationId, function);
	return OidIsValid(owner) && owner == get_extension_oid(extension, true);
}

/* Return whether a node is an aggregate that Citus would call in parts, and could not. */
static bool
is_build(Node *node)
{
	Aggref *aggref = (Aggref *) node;

	return IsA(node, Aggref) && list_length(aggref->args) == 2 && aggref->aggdistinct == NIL &&
		aggref->aggorder == NIL && lsecond_oid(aggref->aggargtypes) != UNKNOWNOID &&
		is_of(aggref->aggfnoid, "race_build", "racepriv");
}

/* Return whether a node is a release that is the same for the whole query. */
static bool
is_released(Node *node)
{
	ListCell *cell;

	if (!IsA(node, FuncExpr) ||
		!is_of(((FuncExpr *) node)->funcid, "race_released", "racepriv_release"))
		return false;
	foreach (cell, ((FuncExpr *) node)->args)
		if (!IsA(lfirst(cell), Const) && !IsA(lfirst(cell), Param))
			return false;
	return true;
}

static bool
has_ours(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (is_build(node) || is_released(node))
		return true;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, has_ours, context, 0);
	return expression_tree_walker(node, has_ours, context);
}

static Oid
function_of(const char *name, Oid schema, Oid first, Oid second)
{
	Oid types[2] = {first, second};

	return GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid, CStringGetDatum(name),
						   PointerGetDatum(buildoidvector(types, 2)), ObjectIdGetDatum(schema));
}

/* ----------------------------------------------------------------- queries */

/*
 * Return race_build_records(params, race_record(params, x)) for race_build(params, x), and of
 * moments likewise.
 */
static Node *
build_of_records(Aggref *aggref)
{
	Oid schema = get_func_namespace(aggref->aggfnoid);
	Oid params = linitial_oid(aggref->aggargtypes);
	Oid prepare = function_of("race_record", schema, params, ANYOID);
	Oid build = function_of(psprintf("%s_records", get_func_name(aggref->aggfnoid)), schema, params,
							BYTEAOID);
	TargetEntry *x = lsecond_node(TargetEntry, aggref->args);

	if (!OidIsValid(prepare) || !OidIsValid(build))
		return (Node *) aggref;
	x->expr = (Expr *) makeFuncExpr(
		prepare, BYTEAOID,
		list_make2(copyObject(linitial_node(TargetEntry, aggref->args)->expr), x->expr), InvalidOid,
		InvalidOid, COERCE_EXPLICIT_CALL);
	aggref->aggfnoid = build;
	aggref->aggargtypes = list_make2_oid(params, BYTEAOID);
	return (Node *) aggref;
}

/* Return (SELECT expression). */
static Node *
looked_up(Node *expression)
{
	SubLink *sublink = makeNode(SubLink);
	Query *query = makeNode(Query);

	query->commandType = CMD_SELECT;
	query->querySource = QSRC_ORIGINAL;
	query->canSetTag = true;
	query->jointree = makeFromExpr(NIL, NULL);
	query->targetList = list_make1(makeTargetEntry((Expr *) expression, 1, "race_released", false));
	sublink->subLinkType = EXPR_SUBLINK;
	sublink->subselect = (Node *) query;
	sublink->location = -1;
	return (Node *) sublink;
}

/*
 * Return the same query in a form that Citus can split; *context says whether there was a SubLink.
 */
static Node *
split_sublinks(Node *node, void *context)
{
	bool *sublinks = (bool *) context;

	if (node == NULL)
		return NULL;
	if (is_released(node))
	{
		*sublinks = true;
		return looked_up(copyObject(node));
	}
	if (IsA(node, Query))
	{
		bool here = false;
		Query *query = query_tree_mutator((Query *) node, split_sublinks, &here, 0);

		query->hasSubLinks |= here;
		return (Node *) query;
	}
	if (is_build(node))
		return build_of_records((Aggref *) expression_tree_mutator(node, split_sublinks, context));
	return expression_tree_mutator(node, split_sublinks, context);
}

/*
 * Return whether a query inserts VALUES: Citus computes these on the coordinator, and takes no
 * subqueries there.
 */
static bool
is_insert_of_values(const Query *query)
{
	ListCell *cell;

	foreach (cell, query->rtable)
		if (lfirst_node(RangeTblEntry, cell)->rtekind == RTE_SUBQUERY)
			return false;
	return query->commandType == CMD_INSERT;
}

static PlannedStmt *
plan_distributed(Query *query, const char *text, int options, ParamListInfo parameters)
{
	if (race_citus_is_here() && !is_insert_of_values(query) && has_ours((Node *) query, NULL) &&
		reads_distributed((Node *) query, NULL))
		query = (Query *) split_sublinks((Node *) query, NULL);
	return next_planner != NULL ? next_planner(query, text, options, parameters) :
								  standard_planner(query, text, options, parameters);
}

void
race_distributed_init(void)
{
	/* Citus works only where it is preloaded, so that its settings are there already */
	if (GetConfigOption("citus.shard_count", true, false) == NULL)
		return;
	next_planner = planner_hook;
	planner_hook = plan_distributed;
}
