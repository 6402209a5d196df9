/*
 * lock.c
 *		race_lock_tables: who enters tables into the ledger does so alone.
 *
 * The lock is of the kind that the server takes on objects, named by the table of the
 * ledger and the private table.  No SQL statement takes such a lock, so that nobody
 * can hold one but through us, and it concerns one private table alone.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/lock.h"

#include "oids.h"

PG_FUNCTION_INFO_V1(race_lock_tables);

static bool
lock_table(Oid ledger, Oid table, bool wait)
{
	LOCKTAG		tag;

	SET_LOCKTAG_OBJECT(tag, MyDatabaseId, ledger, table, 0);
	return LockAcquire(&tag, ExclusiveLock, false, !wait) != LOCKACQUIRE_NOT_AVAIL;
}

/*
 * race_lock_tables(ledger, tables, wait): lock tables until the transaction ends, and
 * return those that are locked: all, or without waiting those that nobody else has
 * locked.  The order is that of OIDs, so that nobody waits in a circle.
 */
Datum
race_lock_tables(PG_FUNCTION_ARGS)
{
	Oid			ledger = PG_GETARG_OID(0);
	List	   *tables = race_oids_of(PG_GETARG_ARRAYTYPE_P(1));
	bool		wait = PG_GETARG_BOOL(2);
	List	   *locked = NIL;
	ListCell   *cell;

	list_sort(tables, list_oid_cmp);
	foreach(cell, tables)
	{
		CHECK_FOR_INTERRUPTS();
		if (lock_table(ledger, lfirst_oid(cell), wait))
			locked = lappend_oid(locked, lfirst_oid(cell));
	}
	PG_RETURN_ARRAYTYPE_P(race_oids_array(locked));
}
