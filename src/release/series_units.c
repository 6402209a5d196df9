/*
 * series_units.c
 *		The units of a series: how many records of each are in its values
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/tuplestore.h"
#include "utils/uuid.h"

#include "release/settings.h"
#include "release/read.h"
#include "release/series_units.h"

#define TAKEN_UNITS "race_taken_units"

/* Units of a batch from the ledger */
#define BATCH 8192

/* What the planner expects: it must not see exact numbers, and must not think of a few rows */
#define EXPECTED 1e6

/* A table in the environment of a query, in memory or on disk */
typedef struct UnitTable
{
	EphemeralNamedRelationData relation;
	Tuplestorestate *rows;
} UnitTable;

struct RaceUnits
{
	QueryEnvironment *environment;
	UnitTable earlier; /* (unit, records) */
	UnitTable taken;   /* (unit), of each record */
};

static void
create_table(UnitTable *table, const char *name, int columns, QueryEnvironment *environment)
{
	EphemeralNamedRelationMetadata facts = &table->relation.md;

	table->rows = tuplestore_begin_heap(false, false, work_mem);
	table->relation.reldata = table->rows;
	facts->name = pstrdup(name);
	facts->reliddesc = InvalidOid;
	facts->enrtype = ENR_NAMED_TUPLESTORE;
	facts->enrtuples = EXPECTED;
	facts->tupdesc = CreateTemplateTupleDesc(columns);
	TupleDescInitEntry(facts->tupdesc, 1, "unit", UUIDOID, -1, 0);
	if (columns > 1)
		TupleDescInitEntry(facts->tupdesc, 2, "records", INT8OID, -1, 0);
	register_ENR(environment, &table->relation);
}

RaceUnits *
race_units_create(void)
{
	RaceUnits *units = palloc0(sizeof(RaceUnits));

	units->environment = create_queryEnv();
	create_table(&units->earlier, RACE_EARLIER_UNITS, 2, units->environment);
	create_table(&units->taken, TAKEN_UNITS, 1, units->environment);
	return units;
}

QueryEnvironment *
race_units_environment(const RaceUnits *units)
{
	return units == NULL ? NULL : units->environment;
}

/*
 * Append the units of a batch; return the last one of a full batch, or NULL after the last batch.
 */
static pg_uuid_t *
append_batch(UnitTable *table, pg_uuid_t *last)
{
	uint64 n = SPI_processed;
	bool isnull;

	for (uint64 i = 0; i < n; i++)
	{
		Datum values[2];
		bool nulls[2] = {false, false};

		for (int k = 0; k < 2; k++)
			values[k] = SPI_getbinval(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, k + 1, &isnull);
		tuplestore_putvalues(table->rows, table->relation.md.tupdesc, values, nulls);
		if (i + 1 == BATCH)
			*last = *DatumGetUUIDP(values[0]);
	}
	SPI_freetuptable(SPI_tuptable);
	return n == BATCH ? last : NULL;
}

void
race_units_load(RaceUnits *units, const RaceLedger *ledger, const char *name, int length)
{
	pg_uuid_t buffer;
	pg_uuid_t *last = NULL;
	int level;

	race_set_local("log_temp_files", "-1");
	race_set_local("track_counts", "off");
	level = NewGUCNestLevel();
	race_set_quiet();
	do /* bound: each batch begins after the last unit of the one before */
	{
		RaceParameter parameters[] = {RaceText(name),
									  {INT4OID, Int32GetDatum(length), false},
									  {UUIDOID, UUIDPGetDatum(last), last == NULL},
									  {INT4OID, Int32GetDatum(BATCH), false}};

		CHECK_FOR_INTERRUPTS();
		race_ledger_run(
			ledger,
			"SELECT s.unit, s.records FROM _racepriv.race_series_units s WHERE s.name = $1 AND s.length = $2"
			" AND ($3 IS NULL OR s.unit > $3) ORDER BY s.unit LIMIT $4",
			lengthof(parameters), parameters);
		last = append_batch(&units->earlier, &buffer);
	} while (last != NULL);
	AtEOXact_GUC(false, level);
}

void
race_units_store(RaceUnits *units, const RaceLedger *ledger, const char *name, int length)
{
	RaceParameter parameters[] = {RaceText(name), {INT4OID, Int32GetDatum(length), false}};
	int level = NewGUCNestLevel();

	race_set_quiet();
	if (SPI_register_relation(&units->taken.relation) != SPI_OK_REL_REGISTER)
		elog(ERROR, "SPI_register_relation failed");
	race_ledger_run(
		ledger,
		"INSERT INTO _racepriv.race_series_units AS s (name, length, unit, records)"
		" SELECT $1, $2, t.unit, count(*) FROM " TAKEN_UNITS " t GROUP BY t.unit"
		" ON CONFLICT (name, length, unit) DO UPDATE SET records = s.records + excluded.records",
		lengthof(parameters), parameters);
	(void) SPI_unregister_relation(TAKEN_UNITS);
	tuplestore_end(units->earlier.rows);
	tuplestore_end(units->taken.rows);
	AtEOXact_GUC(false, level);
}

/*
 * Functions of the query of a value.
 */

PG_FUNCTION_INFO_V1(race_series_unit);
PG_FUNCTION_INFO_V1(race_series_take_state);

/*
 * Return a hash of a unit: _race_series_unit(series, unit), the first half of SHA-256 of the series
 * and of SHA-256 of the text.
 */
Datum
race_series_unit(PG_FUNCTION_ARGS)
{
	const pg_uuid_t *series = PG_GETARG_UUID_P(0);
	bytea *text = DatumGetByteaPP(DirectFunctionCall1(sha256_bytea, PG_GETARG_DATUM(1)));
	Size size = VARSIZE_ANY_EXHDR(text);
	bytea *keyed = palloc(VARHDRSZ + UUID_LEN + size);
	pg_uuid_t *unit = palloc(sizeof(pg_uuid_t));

	SET_VARSIZE(keyed, VARHDRSZ + UUID_LEN + size);
	memcpy(VARDATA(keyed), series->data, UUID_LEN);
	memcpy(VARDATA(keyed) + UUID_LEN, VARDATA_ANY(text), size);
	text = DatumGetByteaPP(DirectFunctionCall1(sha256_bytea, PointerGetDatum(keyed)));
	memcpy(unit->data, VARDATA_ANY(text), UUID_LEN);
	PG_RETURN_UUID_P(unit);
}

/*
 * Return the table of taken units of the query that an aggregate runs in; NULL if it is no query of
 * a value.
 */
static EphemeralNamedRelation
taken_units(FunctionCallInfo fcinfo)
{
	QueryEnvironment *environment;
	EphemeralNamedRelation relation;

	if (AggCheckCallContext(fcinfo, NULL) != AGG_CONTEXT_AGGREGATE)
		return NULL;
	environment = ((AggState *) fcinfo->context)->ss.ps.state->es_queryEnv;
	relation = environment == NULL ? NULL : get_ENR(environment, TAKEN_UNITS);
	/* a trigger may call a transition table so, which is of a relation */
	return relation != NULL && !OidIsValid(relation->md.reliddesc) ? relation : NULL;
}

/* Add a unit to those that the value has: _race_series_take(state, unit). */
Datum
race_series_take_state(PG_FUNCTION_ARGS)
{
	EphemeralNamedRelation relation = taken_units(fcinfo);
	Datum unit = PG_GETARG_DATUM(1);
	bool isnull = false;

	if (relation == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("only a value of a series takes units")));
	tuplestore_putvalues(relation->reldata, relation->md.tupdesc, &unit, &isnull);
	PG_RETURN_BOOL(true);
}
