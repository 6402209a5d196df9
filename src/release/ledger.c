/*
 * ledger.c
 *		Statements on the tables of the ledger, with the rights of their owner.
 */
#include "postgres.h"

#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "ledger.h"
#include "oids.h"
#include "settings.h"

static Oid
owner_of(Oid relation)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "the ledger is gone");
	owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	ReleaseSysCache(tuple);
	return owner;
}

static Oid
type_named(const char *name, Oid schema)
{
	return GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, CStringGetDatum(name),
						   ObjectIdGetDatum(schema));
}

void
race_ledger_open(RaceLedger *ledger, FunctionCallInfo fcinfo)
{
	Oid			function = fcinfo->flinfo->fn_oid;
	Oid			schema = get_func_namespace(function);

	ledger->schema_id = schema;
	ledger->schema = pstrdup(quote_identifier(get_namespace_name(schema)));
	ledger->extension = getExtensionOfObject(ProcedureRelationId, function);
	ledger->owner = owner_of(get_relname_relid("race_charges", schema));
	ledger->params_type = type_named("race_params", schema);
	ledger->sketch_type = type_named("race_sketch", schema);
	ledger->moments_type = type_named("race_moments", schema);
}

/* The statement with the schema in it */
static char *
in_schema(const RaceLedger *ledger, const char *statement)
{
	StringInfoData text;
	const char *place;

	initStringInfo(&text);
	while ((place = strstr(statement, "$schema")) != NULL)
	{
		appendBinaryStringInfo(&text, statement, place - statement);
		appendStringInfoString(&text, ledger->schema);
		statement = place + strlen("$schema");
	}
	appendStringInfoString(&text, statement);
	return text.data;
}

void
race_ledger_run(const RaceLedger *ledger, const char *statement,
				int n, const RaceParameter *parameters)
{
	Oid			types[FUNC_MAX_ARGS];
	Datum		values[FUNC_MAX_ARGS];
	char		nulls[FUNC_MAX_ARGS];
	Oid			user;
	int			context;
	int			level = NewGUCNestLevel();
	int			i;

	Assert(n <= FUNC_MAX_ARGS);
	for (i = 0; i < n; i++)
	{
		types[i] = parameters[i].type;
		values[i] = parameters[i].value;
		nulls[i] = parameters[i].isnull ? 'n' : ' ';
	}
	/* an error ends the transaction, and that restores user and settings */
	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(ledger->owner, context | SECURITY_LOCAL_USERID_CHANGE);
	race_set_path(RACE_SAFE_PATH);
	race_set_plain();
	if (SPI_execute_with_args(in_schema(ledger, statement), n, types, values, nulls,
							  false, 0) < 0)
		elog(ERROR, "SPI_execute_with_args failed: %s",
			 SPI_result_code_string(SPI_result));
	AtEOXact_GUC(true, level);
	SetUserIdAndSecContext(user, context);
}

Datum
race_ledger_value(int i, bool *isnull)
{
	TupleDesc	row = SPI_tuptable->tupdesc;
	Datum		value = SPI_getbinval(SPI_tuptable->vals[0], row, i, isnull);

	if (*isnull)
		return (Datum) 0;
	if (TupleDescAttr(row, i - 1)->attlen == -1)
		return PointerGetDatum(PG_DETOAST_DATUM_COPY(value));
	return datumCopy(value, TupleDescAttr(row, i - 1)->attbyval,
					 TupleDescAttr(row, i - 1)->attlen);
}

char *
race_ledger_text(int i)
{
	return SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, i);
}

RaceDataset *
race_ledger_dataset(const RaceLedger *ledger, const char *dataset)
{
	RaceDataset *result = palloc(sizeof(RaceDataset));
	RaceParameter name = RaceText(dataset);
	bool		isnull;

	race_ledger_run(ledger, "SELECT relation, unit_column, max_contributions, neighbors,"
					" $schema._race_with_parts(ARRAY(SELECT to_regclass(t) FROM unnest(public_tables) t)), budget"
					" FROM $schema._race_dataset($1)", 1, &name);
	result->relation = DatumGetObjectId(race_ledger_value(1, &isnull));
	result->unit_column = race_ledger_text(2);
	result->max_contributions = DatumGetInt32(race_ledger_value(3, &isnull));
	result->neighbors = race_ledger_text(4);
	result->public_tables = race_oids_of(DatumGetArrayTypeP(race_ledger_value(5, &isnull)));
	result->budget = race_ledger_text(6);
	SPI_freetuptable(SPI_tuptable);
	return result;
}
