/*
 * relations.c
 *		Lists of relations: with their parts, as arrays, locked
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/syscache.h"

#include "release/lineage.h"
#include "release/relations.h"

/* ------------------------------------------------------------------- parts */

/*
 * Return the relations that inherit from one, or that it inherits from.  A partition that is being
 * detached is one still: find_all_inheritors() leaves it out.
 */
static List *
find_related(Relation inheritance, Oid relation, bool parents)
{
	List *related = NIL;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple tuple;

	ScanKeyInit(&key, parents ? Anum_pg_inherits_inhrelid : Anum_pg_inherits_inhparent,
				BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relation));
	scan =
		systable_beginscan(inheritance, parents ? InheritsRelidSeqnoIndexId : InheritsParentIndexId,
						   true, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_inherits link = (Form_pg_inherits) GETSTRUCT(tuple);

		related = lappend_oid(related, parents ? link->inhparent : link->inhrelid);
	}
	systable_endscan(scan);
	return related;
}

/* Append those of some relations that are not in a list yet. */
static List *
append_new(List *found, HTAB *seen, const List *relations)
{
	ListCell *cell;

	foreach (cell, relations)
	{
		Oid relation = lfirst_oid(cell);
		bool known;

		(void) hash_search(seen, &relation, HASH_ENTER, &known);
		if (!known)
			found = lappend_oid(found, relation);
	}
	return found;
}

/*
 * Return relations with all that are below them, or above; *ends becomes those that have no further
 * ones.
 */
static List *
follow_inheritance(const List *relations, bool parents, List **ends)
{
	Relation inheritance = table_open(InheritsRelationId, AccessShareLock);
	HASHCTL control = {.keysize = sizeof(Oid),
					   .entrysize = sizeof(Oid),
					   .hcxt = CurrentMemoryContext};
	HTAB *seen = hash_create("relations", 64, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	List *found = append_new(NIL, seen, relations);

	/* bound: the relations, each once */
	for (int i = 0; i < list_length(found); i++)
	{
		List *related;

		CHECK_FOR_INTERRUPTS();
		related = find_related(inheritance, list_nth_oid(found, i), parents);
		if (related == NIL)
			*ends = lappend_oid(*ends, list_nth_oid(found, i));
		found = append_new(found, seen, related);
	}
	hash_destroy(seen);
	table_close(inheritance, AccessShareLock);
	return found;
}

List *
race_list_with_parts(const List *relations)
{
	List *leaves = NIL;

	return follow_inheritance(relations, false, &leaves);
}

/* ---------------------------------------------------------- unique indexes */

/*
 * Return whether an index lets each pair of values of two columns occur once: it is unique, over
 * one or both of them, and all rows.
 */
static bool
is_index_unique_over(Oid index, AttrNumber unit, AttrNumber column)
{
	HeapTuple tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
	Form_pg_index facts;
	bool unique;

	if (!HeapTupleIsValid(tuple))
		return false;
	facts = (Form_pg_index) GETSTRUCT(tuple);
	unique = facts->indisunique && facts->indisvalid &&
		heap_attisnull(tuple, Anum_pg_index_indpred, NULL);
	for (int i = 0; i < facts->indnkeyatts; i++)
		unique = unique && facts->indkey.values[i] > 0 &&
			(facts->indkey.values[i] == unit || facts->indkey.values[i] == column);
	ReleaseSysCache(tuple);
	return unique;
}

bool
race_is_unique_over(Relation relation, AttrNumber unit, AttrNumber column)
{
	bool whole = relation->rd_rel->relkind == RELKIND_PARTITIONED_TABLE ||
		list_length(race_list_with_parts(list_make1_oid(RelationGetRelid(relation)))) == 1;
	ListCell *index;

	/* an index sees no rows of tables that inherit from its own */
	foreach (index, whole ? RelationGetIndexList(relation) : NIL)
		if (is_index_unique_over(lfirst_oid(index), unit, column))
			return true;
	return false;
}

/* ------------------------------------------------------------------ arrays */

List *
race_oids_of(ArrayType *array)
{
	Datum *values;
	bool *nulls;
	int n;
	List *list = NIL;

	deconstruct_array(array, REGCLASSOID, sizeof(Oid), true, TYPALIGN_INT, &values, &nulls, &n);
	for (int i = 0; i < n; i++)
		if (!nulls[i])
			list = lappend_oid(list, DatumGetObjectId(values[i]));
	return list;
}

ArrayType *
race_oids_array(const List *oids)
{
	Datum *values = palloc(Max(list_length(oids), 1) * sizeof(Datum));
	int n = 0;
	ListCell *cell;

	foreach (cell, oids)
		values[n++] = ObjectIdGetDatum(lfirst_oid(cell));
	return construct_array(values, n, REGCLASSOID, sizeof(Oid), true, TYPALIGN_INT);
}

char *
race_full_name(Oid relation)
{
	char *name = get_rel_name(relation);

	if (name == NULL)
		race_refuse_dropped("a relation");
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)), name);
}

/* ------------------------------------------------------------------- locks */

/*
 * Take a lock of the kind that the server takes on objects, named by the table of the ledger and
 * the private table.  No SQL statement takes such a lock, so that nobody can hold one but through
 * us, and it concerns one private table alone.
 */
bool
race_lock_table(Oid ledger, Oid table, bool wait)
{
	LOCKTAG tag;

	SET_LOCKTAG_OBJECT(tag, MyDatabaseId, ledger, table, 0);
	return LockAcquire(&tag, ExclusiveLock, false, !wait) != LOCKACQUIRE_NOT_AVAIL;
}

/* --------------------------------------------------------- functions of SQL */

PG_FUNCTION_INFO_V1(race_with_parts);
PG_FUNCTION_INFO_V1(race_topmost);
PG_FUNCTION_INFO_V1(race_lock_tables);

/*
 * Return tables with their partitions and the tables that inherit from them:
 * _race_with_parts(tables).
 */
Datum
race_with_parts(PG_FUNCTION_ARGS)
{
	PG_RETURN_ARRAYTYPE_P(
		race_oids_array(race_list_with_parts(race_oids_of(PG_GETARG_ARRAYTYPE_P(0)))));
}

/*
 * Return the tables that these are partitions of, or inherit from, or themselves:
 * _race_topmost(tables).
 */
Datum
race_topmost(PG_FUNCTION_ARGS)
{
	List *topmost = NIL;

	(void) follow_inheritance(race_oids_of(PG_GETARG_ARRAYTYPE_P(0)), true, &topmost);
	PG_RETURN_ARRAYTYPE_P(race_oids_array(topmost));
}

/*
 * Lock tables until the transaction ends: _race_lock_tables(ledger, tables, wait).  Return those
 * that are locked: all, or without waiting those that nobody else has locked.  The order is that of
 * OIDs, so that nobody waits in a circle.
 */
Datum
race_lock_tables(PG_FUNCTION_ARGS)
{
	List *tables = race_oids_of(PG_GETARG_ARRAYTYPE_P(1));
	List *locked = NIL;
	ListCell *cell;

	list_sort(tables, list_oid_cmp);
	foreach (cell, tables)
	{
		CHECK_FOR_INTERRUPTS();
		if (race_lock_table(PG_GETARG_OID(0), lfirst_oid(cell), PG_GETARG_BOOL(2)))
			locked = lappend_oid(locked, lfirst_oid(cell));
	}
	PG_RETURN_ARRAYTYPE_P(race_oids_array(locked));
}
