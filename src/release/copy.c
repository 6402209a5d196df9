/*
 * copy.c
 *		Which of the copies that a database may have this one is: restored, promoted, cloned
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xlog.h"
#if PG_VERSION_NUM >= 150000
#include "access/xlogrecovery.h"
#endif
#include "catalog/namespace.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"

#include "release/names.h"

/* The fields of _racepriv.race_identity, from 0 on */
enum
{
	SYSTEM,
	DATABASE,
	TIMELINE,
	LEDGER,
	IDENTITY_FIELDS
};

/* Return the timeline that this server writes, or during recovery replays. */
static TimeLineID
get_timeline(void)
{
	TimeLineID timeline;

	if (RecoveryInProgress())
		(void) GetXLogReplayRecPtr(&timeline);
	else
#if PG_VERSION_NUM >= 150000
		timeline = GetWALInsertionTimeLine();
#else
		timeline = ThisTimeLineID;
#endif
	return timeline;
}

/* Set the fields of the identity of this copy. */
static void
get_identity(Datum *fields)
{
	fields[SYSTEM] = Int64GetDatum((int64) GetSystemIdentifier());
	fields[DATABASE] = ObjectIdGetDatum(MyDatabaseId);
	fields[TIMELINE] = Int32GetDatum((int32) get_timeline());
	fields[LEDGER] =
		ObjectIdGetDatum(get_relname_relid("race_charges", get_namespace_oid(RACE_SCHEMA, false)));
}

PG_FUNCTION_INFO_V1(race_identity);
PG_FUNCTION_INFO_V1(race_is_here);

/* Return which copy of the database this is: _race_identity(). */
Datum
race_identity(PG_FUNCTION_ARGS)
{
	Datum fields[IDENTITY_FIELDS];
	bool nulls[IDENTITY_FIELDS] = {false};
	TupleDesc row;

	if (get_call_result_type(fcinfo, NULL, &row) != TYPEFUNC_COMPOSITE ||
		row->natts != IDENTITY_FIELDS)
		elog(ERROR, "race_identity must return a row of %d fields", IDENTITY_FIELDS);
	get_identity(fields);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(row), fields, nulls)));
}

/*
 * Return whether OIDs that were recorded in a copy of the database mean the same in this one:
 * _race_is_here(identity).
 */
Datum
race_is_here(PG_FUNCTION_ARGS)
{
	static const int fields[] = {SYSTEM, DATABASE, LEDGER};
	HeapTupleHeader identity = PG_GETARG_HEAPTUPLEHEADER(0);
	Datum now[IDENTITY_FIELDS];
	bool here = true;

	get_identity(now);
	for (size_t i = 0; i < lengthof(fields); i++)
	{
		bool isnull;
		Datum value = GetAttributeByNum(identity, fields[i] + 1, &isnull);

		if (isnull)
			PG_RETURN_NULL();
		here = here &&
			(fields[i] == SYSTEM ? DatumGetInt64(value) == DatumGetInt64(now[SYSTEM]) :
								   DatumGetObjectId(value) == DatumGetObjectId(now[fields[i]]));
	}
	PG_RETURN_BOOL(here);
}
