/*
 * distributed.c
 *		Tables that Citus has distributed
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_namespace.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "release/distributed.h"

/* Return where Citus lists its tables; invalid without Citus. */
static Oid
list_of_tables(void)
{
	return get_relname_relid("pg_dist_partition", PG_CATALOG_NAMESPACE);
}

bool
race_citus_is_here(void)
{
	return OidIsValid(list_of_tables());
}

bool
race_is_distributed(Oid relid)
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
