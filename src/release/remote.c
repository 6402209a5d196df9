/*
 * remote.c
 *		Foreign tables and shards: probes and distributed builds
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "executor/executor.h"
#include "foreign/foreign.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/planner.h"
#include "parser/parse_relation.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "release/lineage.h"
#include "release/remote.h"

/*
 * Relations whose rows lie on other servers, and how they are read there.
 *
 * PostgreSQL sends no partial aggregates to other servers.  So a release of a partitioned
 * table with foreign partitions asks each for its sketch.  Citus does send them, but of
 * flat queries only.
 */

static bool is_distributed(Oid relid);

/* Return whether two relations have the same columns in the same places. */
static bool
same_columns(Oid a, Oid b)
{
	Relation x = race_relation_open(a);
	Relation y = race_relation_open(b);
	bool same = RelationGetNumberOfAttributes(x) == RelationGetNumberOfAttributes(y);

	for (int i = 0; same && i < RelationGetNumberOfAttributes(x); i++)
	{
		Form_pg_attribute p = TupleDescAttr(RelationGetDescr(x), i);
		Form_pg_attribute q = TupleDescAttr(RelationGetDescr(y), i);

		same = p->attisdropped == q->attisdropped &&
			(p->attisdropped || strcmp(NameStr(p->attname), NameStr(q->attname)) == 0);
	}
	relation_close(y, NoLock);
	relation_close(x, NoLock);
	return same;
}

/*
 * Return the partitions that have rows, if some are foreign and all have the columns of the whole.
 */
static List *
foreign_partitions(Oid relid)
{
	List *parts = NIL;
	bool foreign = false;
	ListCell *cell;

	foreach (cell, find_all_inheritors(relid, AccessShareLock, NULL))
	{
		Oid part = lfirst_oid(cell);
		char kind = get_rel_relkind(part);

		if (kind == RELKIND_PARTITIONED_TABLE)
			continue;
		foreign |= kind == RELKIND_FOREIGN_TABLE;
		if (!same_columns(relid, part))
			return NIL;
		parts = lappend_oid(parts, part);
	}
	return foreign ? parts : NIL;
}

List *
race_parts_of(Oid relid, bool labels)
{
	if (is_distributed(relid))
		return list_make1_oid(relid);
	if (labels)
		return NIL;
	switch (get_rel_relkind(relid))
	{
		case RELKIND_FOREIGN_TABLE:
			return list_make1_oid(relid);
		case RELKIND_PARTITIONED_TABLE:
			return foreign_partitions(relid);
		default:
			return NIL;
	}
}

void
race_parts_need_no_rights(PlannedStmt *plan)
{
	ListCell *cell;

	foreach (cell, plan->rtable)
	{
#if PG_VERSION_NUM >= 160000
		lfirst_node(RangeTblEntry, cell)->perminfoindex = 0;
	}
	plan->permInfos = NIL;
#else
		lfirst_node(RangeTblEntry, cell)->requiredPerms = 0;
	}
#endif
}

/* ----------------------------------------------------------------- probes */

/* Return the query SELECT columns FROM ONLY relation, as a user (invalid: the current one). */
static Query *
select_from(Oid relid, Oid user, List *columns)
{
	ParseState *pstate = make_parsestate(NULL);
	Relation relation = race_relation_open(relid);
	Query *query = makeNode(Query);
	RangeTblRef *reference = makeNode(RangeTblRef);
	ListCell *cell;

	(void) addRangeTableEntryForRelation(pstate, relation, AccessShareLock, NULL, false, false);
	relation_close(relation, NoLock);
	reference->rtindex = 1;
	query->commandType = CMD_SELECT;
	query->querySource = QSRC_ORIGINAL;
	query->canSetTag = true;
	query->rtable = pstate->p_rtable;
#if PG_VERSION_NUM >= 160000
	query->rteperminfos = pstate->p_rteperminfos;
	linitial_node(RTEPermissionInfo, query->rteperminfos)->checkAsUser = user;
#else
	linitial_node(RangeTblEntry, query->rtable)->checkAsUser = user;
#endif
	query->jointree = makeFromExpr(list_make1(reference), NULL);
	foreach (cell, columns)
		query->targetList =
			lappend(query->targetList,
					makeTargetEntry((Expr *) lfirst(cell), list_length(query->targetList) + 1,
									pstrdup("probe"), false));
	free_parsestate(pstate);
	return query;
}

static List *
add_probe(List *probes, Query *query, char *place)
{
	RaceProbe *probe = palloc(sizeof(RaceProbe));

	probe->query = query;
	probe->place = place;
	return lappend(probes, probe);
}

/* Return the columns of a relation, by its index, that a scan gets from the server. */
static List *
columns_of(const ForeignScan *scan, int index)
{
	List *got = scan->fdw_scan_tlist != NIL ?
		scan->fdw_scan_tlist :
		list_concat_copy(scan->scan.plan.targetlist, scan->scan.plan.qual);
	List *columns = NIL;
	ListCell *cell;

	foreach (cell,
			 pull_var_clause((Node *) got,
							 PVC_RECURSE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS |
								 PVC_RECURSE_PLACEHOLDERS))
	{
		Var *var = copyObject(lfirst_node(Var, cell));

		if ((int) var->varno != index)
			continue;
		var->varno = 1;
#if PG_VERSION_NUM >= 160000
		var->varnullingrels = NULL;
#endif
		columns = list_append_unique(columns, var);
	}
	return columns;
}

/*
 * Return conditions on what the aggregates of a scan are given, so that the server looks up the
 * functions that it is to call.
 */
static Node *
calls_of(const ForeignScan *scan, int index)
{
	List *calls = NIL;
	ListCell *cell;
	ListCell *argument;

	foreach (cell,
			 pull_var_clause((Node *) scan->fdw_scan_tlist,
							 PVC_INCLUDE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS |
								 PVC_RECURSE_PLACEHOLDERS))
	{
		if (!IsA(lfirst(cell), Aggref) || bms_membership(scan->fs_relids) != BMS_SINGLETON)
			continue;
		foreach (argument, lfirst_node(Aggref, cell)->args)
		{
			NullTest *call = makeNode(NullTest);

			call->arg = copyObject(lfirst_node(TargetEntry, argument)->expr);
			call->nulltesttype = IS_NOT_NULL;
			call->location = -1;
			ChangeVarNodes((Node *) call, index, 1, 0);
			calls = lappend(calls, call);
		}
	}
	return calls == NIL ? NULL : (Node *) make_ands_explicit(calls);
}

/*
 * Add a probe of a foreign table: LIMIT 0 is sent to the server, which looks up the table, the
 * rights and functions, and reads nothing.
 */
static List *
probe_foreign(List *probes, const ForeignScan *scan, int index, const RangeTblEntry *entry)
{
#if PG_VERSION_NUM >= 160000
	Oid user = scan->checkAsUser;
#else
	Oid user = entry->checkAsUser;
#endif
	Query *query = select_from(entry->relid, user, columns_of(scan, index));
	ForeignServer *server = GetForeignServer(GetForeignTable(entry->relid)->serverid);

	query->jointree->quals = calls_of(scan, index);
	query->limitCount = (Node *) makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(0),
										   false, FLOAT8PASSBYVAL);
	query->limitOption = LIMIT_OPTION_COUNT;
	return add_probe(probes, query,
					 psprintf("foreign table \"%s\" of server \"%s\"", get_rel_name(entry->relid),
							  server->servername));
}

/*
 * Add a probe of a table that Citus has distributed.  Citus asks nobody where it sees that there
 * are no rows.  It leaves now() to the servers, each of which sees then that there are none.
 */
static List *
probe_distributed(List *probes, Oid relid)
{
	Query *query = select_from(relid, InvalidOid, list_make1(makeBoolConst(true, false)));
	NullTest *never = makeNode(NullTest);

	never->arg = (Expr *) makeFuncExpr(F_NOW, TIMESTAMPTZOID, NIL, InvalidOid, InvalidOid,
									   COERCE_EXPLICIT_CALL);
	never->nulltesttype = IS_NULL;
	never->location = -1;
	query->jointree->quals = (Node *) never;
	return add_probe(probes, query, psprintf("distributed table \"%s\"", get_rel_name(relid)));
}

static bool
add_scans(PlanState *plan, void *context)
{
	if (IsA(plan, ForeignScanState))
	{
		const ForeignScan *scan = (ForeignScan *) plan->plan;
		List **probes = (List **) context;
		int index = -1;

		/* bound: the relations of the scan */
		while ((index = bms_next_member(scan->fs_relids, index)) >= 0)
		{
			const RangeTblEntry *entry = exec_rt_fetch(index, plan->state);

			if (entry->rtekind == RTE_RELATION)
				*probes = probe_foreign(*probes, scan, index, entry);
		}
	}
	return planstate_tree_walker(plan, add_scans, context);
}

List *
race_parts_probes(PlanState *plan, const List *relations)
{
	List *probes = NIL;
	ListCell *cell;

	(void) add_scans(plan, &probes);
	foreach (cell, relations)
		if (is_distributed(lfirst_oid(cell)))
			probes = probe_distributed(probes, lfirst_oid(cell));
	return probes;
}

/*
 * Tables that Citus has distributed, and queries over them.
 *
 * Citus calls an aggregate in parts if its arguments are of exactly the declared types, which
 * no type is of "any"; and it sends functions to the servers, where there are no releases.  So
 * queries are changed before Citus plans them.  Its planner was there first, because it is
 * preloaded, and so this comes before it.
 */

static planner_hook_type next_planner = NULL;

/* ------------------------------------------------------------------ tables */

/* Return where Citus lists its tables; invalid without Citus. */
static Oid
list_of_tables(void)
{
	return get_relname_relid("pg_dist_partition", PG_CATALOG_NAMESPACE);
}

/*
 * Return whether Citus has distributed a table.  Of a reference table each server has all rows: it
 * is not.
 */
static bool
is_distributed(Oid relid)
{
	Oid list = list_of_tables();
	bool found = false;
	AttrNumber method;
	Relation table;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple tuple;

	if (!OidIsValid(list))
		return false;
	method = get_attnum(list, "partmethod");
	ScanKeyInit(&key, get_attnum(list, "logicalrelid"), BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(relid));
	table = table_open(list, AccessShareLock);
	scan = systable_beginscan(table, InvalidOid, false, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		bool isnull;
		Datum value = heap_getattr(tuple, method, RelationGetDescr(table), &isnull);

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
			is_distributed(((RangeTblEntry *) node)->relid);
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
	if (OidIsValid(list_of_tables()) && !is_insert_of_values(query) &&
		has_ours((Node *) query, NULL) && reads_distributed((Node *) query, NULL))
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
