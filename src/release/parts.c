/*
 * parts.c
 *		Relations whose rows lie on other servers, and how they are read there.
 *
 * PostgreSQL sends no partial aggregates to other servers.  So a release of a partitioned
 * table with foreign partitions asks each for its sketch.  Citus does send them, but of
 * flat queries only.
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "distributed.h"
#include "parts.h"

/* Do two relations have the same columns in the same places? */
static bool
same_columns(Oid a, Oid b)
{
	Relation	x = relation_open(a, AccessShareLock);
	Relation	y = relation_open(b, AccessShareLock);
	bool		same = RelationGetNumberOfAttributes(x) == RelationGetNumberOfAttributes(y);
	int			i;

	for (i = 0; same && i < RelationGetNumberOfAttributes(x); i++)
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

/* The partitions that have rows, if some are foreign and all have the columns of the whole */
static List *
foreign_partitions(Oid relid)
{
	List	   *parts = NIL;
	bool		foreign = false;
	ListCell   *cell;

	foreach(cell, find_all_inheritors(relid, AccessShareLock, NULL))
	{
		Oid			part = lfirst_oid(cell);
		char		kind = get_rel_relkind(part);

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
	ListCell   *cell;

	foreach(cell, plan->rtable)
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
