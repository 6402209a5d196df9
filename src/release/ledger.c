/*
 * ledger.c
 *		Statements on the tables of the ledger, with the rights of their owner.
 */
#include "postgres.h"

#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
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

/* Return an object.  Raise 55000 unless it belongs to the extension. */
static Oid
member(Oid class, Oid object, Oid extension)
{
	if (!OidIsValid(object) || !OidIsValid(extension) ||
		getExtensionOfObject(class, object) != extension)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the objects of extension racepriv in this database are not those of its library"),
				 errdetail("They are of another version, or they were moved or renamed."),
				 errhint("ALTER EXTENSION racepriv UPDATE brings an earlier version up to date.")));
	return object;
}

Oid
race_schema_of(Oid function)
{
	return member(NamespaceRelationId, get_namespace_oid(RACE_SCHEMA, true),
				  getExtensionOfObject(ProcedureRelationId, function));
}

static Oid
owner_of(Oid relation)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for relation %u", relation);
	owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	ReleaseSysCache(tuple);
	return owner;
}

static Oid
type_named(const char *name, Oid schema, Oid extension)
{
	return member(TypeRelationId,
				  GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, CStringGetDatum(name),
								  ObjectIdGetDatum(schema)),
				  extension);
}

void
race_ledger_open(RaceLedger *ledger, FunctionCallInfo fcinfo)
{
	Oid			function = fcinfo->flinfo->fn_oid;
	Oid			schema = race_schema_of(function);

	ledger->extension = getExtensionOfObject(ProcedureRelationId, function);
	ledger->public_schema = get_func_namespace(function);
	ledger->owner = owner_of(member(RelationRelationId,
									get_relname_relid("race_charges", schema),
									ledger->extension));
	ledger->params_type = type_named("race_params", ledger->public_schema, ledger->extension);
	ledger->sketch_type = type_named("race_sketch", ledger->public_schema, ledger->extension);
	race_ledger_run(ledger, "SELECT _racepriv._race_check_ledger()", 0, NULL);
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
	(void) member(NamespaceRelationId, get_namespace_oid(RACE_SCHEMA, true), ledger->extension);
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
	if (SPI_execute_with_args(statement, n, types, values, nulls,
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
					" _racepriv._race_with_parts(ARRAY(SELECT to_regclass(t) FROM unnest(public_tables) t)), budget"
					" FROM _racepriv._race_dataset($1)", 1, &name);
	result->relation = DatumGetObjectId(race_ledger_value(1, &isnull));
	result->unit_column = race_ledger_text(2);
	result->max_contributions = DatumGetInt32(race_ledger_value(3, &isnull));
	result->neighbors = race_ledger_text(4);
	result->public_tables = race_oids_of(DatumGetArrayTypeP(race_ledger_value(5, &isnull)));
	result->budget = race_ledger_text(6);
	SPI_freetuptable(SPI_tuptable);
	return result;
}

RaceParameter
race_ledger_role(Oid role)
{
	Name		name = palloc(sizeof(NameData));

	namestrcpy(name, GetUserNameFromId(role, false));
	return (RaceParameter)
	{
		NAMEOID, NameGetDatum(name), false
	};
}
