/*
 * distributed.c
 *		Tables that Citus has distributed, and queries over them.
 *
 * Citus calls an aggregate in parts if its arguments are of exactly the declared types, which
 * no type is of "any"; and it sends functions to the servers, where there are no releases.  So
 * queries are changed before Citus plans them.  Its planner was there first, because it is
 * preloaded, and so this comes before it.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/planner.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "distributed.h"

static planner_hook_type next_planner = NULL;

/* ------------------------------------------------------------------ tables */

/* Where Citus lists its tables; invalid without Citus */
static Oid
list_of_tables(void)
{
	return get_relname_relid("pg_dist_partition", PG_CATALOG_NAMESPACE);
}

bool
race_is_distributed(Oid relid)
{
	Oid			list = list_of_tables();
	bool		found = false;
	AttrNumber	method;
	Relation	table;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	if (!OidIsValid(list))
		return false;
	method = get_attnum(list, "partmethod");
	ScanKeyInit(&key, get_attnum(list, "logicalrelid"), BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(relid));
	table = table_open(list, AccessShareLock);
	scan = systable_beginscan(table, InvalidOid, false, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		bool		isnull;
		Datum		value = heap_getattr(tuple, method, RelationGetDescr(table), &isnull);

		/* n: a reference table, or one of the coordinator */
		found = !isnull && DatumGetChar(value) != 'n';
	}
	systable_endscan(scan);
	table_close(table, AccessShareLock);
	return found;
}

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

static bool
is_ours(Oid function, const char *name)
{
	char	   *found = get_func_name(function);

	return found != NULL && strcmp(found, name) == 0 &&
		getExtensionOfObject(ProcedureRelationId, function) == get_extension_oid("racepriv", true);
}

/* An aggregate that Citus would call in parts, and could not */
static bool
is_build(Node *node)
{
	Aggref	   *aggref = (Aggref *) node;

	return IsA(node, Aggref) && list_length(aggref->args) == 2 &&
		aggref->aggdistinct == NIL && aggref->aggorder == NIL &&
		lsecond_oid(aggref->aggargtypes) != UNKNOWNOID &&
		is_ours(aggref->aggfnoid, "race_build");
}

/* A release that is the same for the whole query */
static bool
is_released(Node *node)
{
	ListCell   *cell;

	if (!IsA(node, FuncExpr) || !is_ours(((FuncExpr *) node)->funcid, "race_released"))
		return false;
	foreach(cell, ((FuncExpr *) node)->args)
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
	Oid			types[2] = {first, second};

	return GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid, CStringGetDatum(name),
						   PointerGetDatum(buildoidvector(types, 2)), ObjectIdGetDatum(schema));
}

/* ----------------------------------------------------------------- queries */

/*
 * race_build_records(params, race_record(params, x)) for race_build(params, x), and of moments
 * likewise
 */
static Node *
build_of_records(Aggref *aggref)
{
	Oid			schema = get_func_namespace(aggref->aggfnoid);
	Oid			params = linitial_oid(aggref->aggargtypes);
	Oid			record = GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid,
										 CStringGetDatum("race_record"), ObjectIdGetDatum(schema));
	Oid			prepare = function_of("race_record", schema, params, ANYOID);
	Oid			build = function_of(psprintf("%s_records", get_func_name(aggref->aggfnoid)),
									schema, params, record);
	TargetEntry *x = lsecond_node(TargetEntry, aggref->args);

	if (!OidIsValid(prepare) || !OidIsValid(build))
		return (Node *) aggref;
	x->expr = (Expr *) makeFuncExpr(prepare, record,
									list_make2(copyObject(linitial_node(TargetEntry, aggref->args)->expr),
											   x->expr),
									InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
	aggref->aggfnoid = build;
	aggref->aggargtypes = list_make2_oid(params, record);
	return (Node *) aggref;
}

/* (SELECT expression) */
static Node *
looked_up(Node *expression)
{
	SubLink    *sublink = makeNode(SubLink);
	Query	   *query = makeNode(Query);

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

/* The same query in a form that Citus can split; *context says whether there was a SubLink. */
static Node *
split(Node *node, void *context)
{
	bool	   *sublinks = (bool *) context;

	if (node == NULL)
		return NULL;
	if (is_released(node))
	{
		*sublinks = true;
		return looked_up(copyObject(node));
	}
	if (IsA(node, Query))
	{
		bool		here = false;
		Query	   *query = query_tree_mutator((Query *) node, split, &here, 0);

		query->hasSubLinks |= here;
		return (Node *) query;
	}
	if (is_build(node))
		return build_of_records((Aggref *) expression_tree_mutator(node, split, context));
	return expression_tree_mutator(node, split, context);
}

/* Citus computes what is inserted by VALUES on the coordinator, and takes no subqueries there. */
static bool
is_insert_of_values(const Query *query)
{
	ListCell   *cell;

	foreach(cell, query->rtable)
		if (lfirst_node(RangeTblEntry, cell)->rtekind == RTE_SUBQUERY)
			return false;
	return query->commandType == CMD_INSERT;
}

static PlannedStmt *
plan(Query *query, const char *text, int options, ParamListInfo parameters)
{
	if (OidIsValid(list_of_tables()) && !is_insert_of_values(query) &&
		has_ours((Node *) query, NULL) && reads_distributed((Node *) query, NULL))
		query = (Query *) split((Node *) query, NULL);
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
	planner_hook = plan;
}
