/*
 * remote.c
 *		Foreign tables and shards: their parts, and probes of them
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "foreign/foreign.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_relation.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "release/distributed.h"
#include "release/lineage.h"
#include "release/remote.h"

/*
 * Relations whose rows lie on other servers, and how they are read there.
 *
 * PostgreSQL sends no partial aggregates to other servers.  So a release of a partitioned
 * table with foreign partitions asks each for its sketch.  Citus does send them, but of
 * flat queries only.
 */

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
	if (race_is_distributed(relid))
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
		if (race_is_distributed(lfirst_oid(cell)))
			probes = probe_distributed(probes, lfirst_oid(cell));
	return probes;
}
