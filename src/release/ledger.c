/*
 * ledger.c
 *		The ledger: statements, locks, names of objects
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#if PG_VERSION_NUM >= 150000
#include "access/xlogrecovery.h"
#endif
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "sketch/authority.h"
#include "release/privatize.h"
#include "sketch/server.h"
#include "release/ledger.h"
#include "release/lineage.h"
#include "release/release.h"

/*
 * Statements on the tables of the ledger, with the rights of their owner.
 */

/* Return an object.  Raise 55000 unless it belongs to the extension. */
static Oid
member(Oid class, Oid object, Oid extension)
{
	if (!OidIsValid(object) || !OidIsValid(extension) ||
		getExtensionOfObject(class, object) != extension)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the objects of extension racepriv_release in this database are not those of its library"),
				 errdetail("They are of another version, or they were moved or renamed."),
				 errhint("ALTER EXTENSION racepriv UPDATE and ALTER EXTENSION racepriv_release UPDATE update the objects of an older version.")));
	return object;
}

Oid
race_schema_of(Oid function)
{
	return member(NamespaceRelationId, get_namespace_oid(RACE_SCHEMA, true),
				  getExtensionOfObject(ProcedureRelationId, function));
}

Oid
race_owner_of(Oid relation)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		race_refuse_dropped("a relation");
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

/* Find the types of racepriv, wherever it was moved to, by the type of the sketches in race_releases. */
static void
find_library(RaceLedger *ledger, Oid releases)
{
	Oid			type = get_atttype(releases, get_attnum(releases, "sketch"));
	HeapTuple	tuple;
	Form_pg_type sketch;

	ledger->library = getExtensionOfObject(TypeRelationId, type);
	ledger->sketch_type = member(TypeRelationId, type, ledger->library);
	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(ledger->sketch_type));
	if (!HeapTupleIsValid(tuple))
		race_refuse_dropped("a type");
	sketch = (Form_pg_type) GETSTRUCT(tuple);
	ledger->library_schema = sketch->typnamespace;
	ledger->library_owner = sketch->typowner;
	ReleaseSysCache(tuple);
	ledger->params_type = type_named("race_params", ledger->library_schema, ledger->library);
}

bool
race_ledger_has(const RaceLedger *ledger, Oid function)
{
	Oid			extension = getExtensionOfObject(ProcedureRelationId, function);
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		return false;
	owner = ((Form_pg_proc) GETSTRUCT(tuple))->proowner;
	ReleaseSysCache(tuple);
	return (extension == ledger->extension && owner == ledger->owner) ||
		(extension == ledger->library && owner == ledger->library_owner);
}

void
race_ledger_open(RaceLedger *ledger, FunctionCallInfo fcinfo)
{
	Oid			function = fcinfo->flinfo->fn_oid;
	Oid			schema = race_schema_of(function);

	ledger->extension = getExtensionOfObject(ProcedureRelationId, function);
	ledger->owner = race_owner_of(member(RelationRelationId,
									get_relname_relid("race_charges", schema),
									ledger->extension));
	find_library(ledger, member(RelationRelationId, get_relname_relid("race_releases", schema), ledger->extension));
	race_ledger_run(ledger, "SELECT _racepriv._race_check_ledger(), _racepriv._race_check_invariants()", 0, NULL);
}

void
race_rethrow_without_context(MemoryContext caller)
{
	ErrorData  *error;

	MemoryContextSwitchTo(caller);
	error = CopyErrorData();
	FlushErrorState();
	if (error->sqlerrcode != ERRCODE_INTERNAL_ERROR)
		error->context = NULL;
	if (error->sqlerrcode == ERRCODE_INSUFFICIENT_PRIVILEGE && error->hint == NULL && strstr(error->message, "race_releases") != NULL)
		error->hint = psprintf("A superuser lets you ask releases: CALL race_grant(%s, 'analyst').",
							   quote_literal_cstr(quote_identifier(GetUserNameFromId(GetUserId(), false))));
	ThrowErrorData(error);
}

void
race_ledger_run(const RaceLedger *ledger, const char *statement,
				int n, const RaceParameter *parameters)
{
	MemoryContext caller = CurrentMemoryContext;
	Oid			types[FUNC_MAX_ARGS];
	Datum		values[FUNC_MAX_ARGS];
	char		nulls[FUNC_MAX_ARGS];
	RaceAuthority before;

	Assert(n <= FUNC_MAX_ARGS);
	(void) member(NamespaceRelationId, get_namespace_oid(RACE_SCHEMA, true), ledger->extension);
	for (int i = 0; i < n; i++)
	{
		types[i] = parameters[i].type;
		values[i] = parameters[i].value;
		nulls[i] = parameters[i].isnull ? 'n' : ' ';
	}
	race_authority_begin_own(&before, ledger->owner);
	race_set_path(RACE_SAFE_PATH);
	race_set_plain();
	PG_TRY();
	{
		if (SPI_execute_with_args(statement, n, types, values, nulls, false, 0) < 0)
			elog(ERROR, "SPI_execute_with_args failed: %s", SPI_result_code_string(SPI_result));
	}
	PG_CATCH();
	{
		race_rethrow_without_context(caller);
	}
	PG_END_TRY();
	/* SPI leaves its own, which lasts until SPI_finish() */
	MemoryContextSwitchTo(caller);
	race_authority_end(&before);
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

bool
race_ledger_in_zcdp(const RaceLedger *ledger, const char *budget)
{
	RaceParameter name = RaceText(budget);
	bool		isnull;

	race_ledger_run(ledger, "SELECT accounting = 'zcdp' FROM _racepriv.race_budgets WHERE budget = $1",
					1, &name);
	return DatumGetBool(race_ledger_value(1, &isnull));
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

Datum
race_ledger_params(const RaceLedger *ledger, char *written)
{
	Oid			input;
	Oid			parameter;

	getTypeInputInfo(ledger->params_type, &input, &parameter);
	return OidInputFunctionCall(input, written, parameter, -1);
}

void
race_refuse_arguments(const char *message, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s", message),
			 errhint("%s", hint)));
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

/*
 * Duties: who may call what the ledger is changed by.
 */

bool
race_has_duty(Oid function, Oid role)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	bool		isnull;
	bool		found;
	Datum		rights;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	found = has_privs_of_role(role, ((Form_pg_proc) GETSTRUCT(tuple))->proowner);
	rights = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_proacl, &isnull);
	if (!isnull && !found)
	{
		Acl		   *acl = DatumGetAclPCopy(rights);

		for (int i = 0; i < ACL_NUM(acl) && !found; i++)
		{
			const AclItem *item = &ACL_DAT(acl)[i];

			found = item->ai_grantee != ACL_ID_PUBLIC && (ACLITEM_GET_PRIVS(*item) & ACL_EXECUTE) != 0 &&
				has_privs_of_role(role, item->ai_grantee);
		}
	}
	ReleaseSysCache(tuple);
	return found;
}

void
race_check_duty(FunctionCallInfo fcinfo, const char *duty)
{
	Oid			function = fcinfo->flinfo->fn_oid;

	if (!race_has_duty(function, GetUserId()))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for %s %s", get_func_prokind(function) == PROKIND_PROCEDURE ? "procedure" : "function",
						get_func_name(function)),
				 errhint("A superuser makes you %s: CALL race_grant(%s, '%s').", strcmp(duty, "owner") == 0 ? "an owner" : "a curator",
						 quote_literal_cstr(quote_identifier(GetUserNameFromId(GetUserId(), false))), duty)));
}

/*
 * race_protect, race_budget_limit, race_budget_adopt and race_refreshes_left: acts on
 * the ledger for whoever calls them.
 *
 * They are not SECURITY DEFINER: such a function cannot tell who called it, only whose
 * session it is.  These know the current user, say so to the internal function of the
 * same name, which checks that user's rights, and run it with the rights of the owner of
 * the ledger.  So a function that acts for its own owner acts for nobody else.
 */

PG_FUNCTION_INFO_V1(race_protect);
PG_FUNCTION_INFO_V1(race_budget_limit);
PG_FUNCTION_INFO_V1(race_budget_adopt);
PG_FUNCTION_INFO_V1(race_refreshes_left);

/* _racepriv._NAME($1, $2, ...), with n parameters */
static char *
statement_for(const char *name, int n)
{
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, "SELECT _racepriv._%s($1", name);
	for (int i = 2; i <= n; i++)
		appendStringInfo(&text, ", $%d", i);
	appendStringInfoChar(&text, ')');
	return text.data;
}

/* Has this transaction acted on the ledger? */
static bool acted = false;

/*
 * A prepared transaction holds its locks until somebody ends it, in whatever session, and
 * releases of the same budget would wait for that.
 */
static void
refuse_prepare(XactEvent event, void *arg)
{
	(void) arg;
	if (event == XACT_EVENT_PRE_PREPARE && acted)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot PREPARE a transaction that has changed a budget"),
				 errhint("COMMIT it, or change the budget in a transaction of its own.")));
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT)
		acted = false;
}

static RaceParameter
argument(FunctionCallInfo fcinfo, int i)
{
	return (RaceParameter)
	{
		get_fn_expr_argtype(fcinfo->flinfo, i), PG_GETARG_DATUM(i), PG_ARGISNULL(i)
	};
}

void
race_act_begin(RaceLedger *ledger, FunctionCallInfo fcinfo, bool change)
{
	static bool registered = false;

	if (change && RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("budgets cannot be changed during recovery"),
				 errhint("Do it on the primary server; it will appear here.")));
	/* an older snapshot would not show rights, triggers and budgets of other sessions */
	if (change && IsolationUsesXactSnapshot())
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("budgets cannot be changed in a transaction of this isolation level"),
				 errhint("BEGIN ISOLATION LEVEL READ COMMITTED, or set default_transaction_isolation.")));
	if (change && !registered)
		RegisterXactCallback(refuse_prepare, NULL);
	if (change)
		registered = acted = true;

	/*
	 * ANALYZE, VACUUM, REINDEX and REFRESH call functions in the indexes and views of any owner, and a foreign key fires
	 * the triggers of whoever refers to a table.
	 */
	if (InSecurityRestrictedOperation() || InNoForceRLSOperation())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("budgets cannot be used while the server acts for the owner of a table"),
				 errdetail("Functions of indexes and views, and triggers behind a foreign key, run in sessions of others.")));
	SPI_connect();
	race_ledger_open(ledger, fcinfo);
}

void
race_act_check_owner(const RaceLedger *ledger, Oid relation)
{
	RaceParameter parameters[] = {race_ledger_role(GetUserId()), {REGCLASSOID, ObjectIdGetDatum(relation), false}};

	race_ledger_run(ledger, "SELECT _racepriv._race_check_owner($1, ARRAY[$2])", lengthof(parameters), parameters);
}

/* Call the internal function of this name with the arguments of this call. */
static void
act(const RaceLedger *ledger, FunctionCallInfo fcinfo, const char *name, NullableDatum *result)
{
	RaceParameter parameters[FUNC_MAX_ARGS];
	int			n = 0;

	parameters[n++] = race_ledger_role(GetUserId());
	for (int i = 0; i < PG_NARGS(); i++)
		parameters[n++] = argument(fcinfo, i);
	race_ledger_run(ledger, statement_for(name, n), n, parameters);
	result->value = race_ledger_value(1, &result->isnull);
	SPI_finish();
}

/* The arguments of race_protect() */
enum
{
	PROTECT_DATASET, PROTECT_RELATION, PROTECT_UNIT = 4, PROTECT_MOST, PROTECT_NEIGHBORS, PROTECT_PUBLIC = 8,
	PROTECT_ARGUMENTS, PROTECT_COLUMNS = PROTECT_ARGUMENTS
};

/*
 * The private tables of a relation.  Its definition is looked at by the current user, who must own it:
 * nothing of it is for the owner of the ledger to run.
 */
static RaceParameter
private_tables(const RaceLedger *ledger, const RaceParameter *arguments)
{
	Oid			relation = DatumGetObjectId(arguments[PROTECT_RELATION].value);
	const RaceParameter *unit = &arguments[PROTECT_UNIT];
	bool		isnull;
	RaceLineage *lineage;

	if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relation)))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relation)));
	race_act_check_owner(ledger, relation);
	race_ledger_run(ledger, "SELECT _racepriv._race_with_parts($1)", 1, &arguments[PROTECT_PUBLIC]);
	lineage = race_lineage(relation, unit->isnull ? NULL : NameStr(*DatumGetName(unit->value)),
						   race_oids_of(DatumGetArrayTypeP(race_ledger_value(1, &isnull))));
	return (RaceParameter) {
		get_array_type(REGCLASSOID), PointerGetDatum(race_oids_array(lineage->private_tables)), false
	};
}

/*
 * race_protect(dataset, relation, epsilon_limit, delta_limit, unit_column, max_contributions, neighbors,
 * accounting, public_tables, columns).  A dataset is called like its relation, unless that is given, too.
 */
Datum
race_protect(PG_FUNCTION_ARGS)
{
	RaceLedger	ledger;
	RaceParameter parameters[1 + PROTECT_ARGUMENTS + 1];
	RaceParameter *arguments = parameters + 1;
	int			rows = 1;
	RaceParams	any = {.rows = rows};
	bool		known;
	int			i;

	race_check_duty(fcinfo, "owner");
	race_act_begin(&ledger, fcinfo, true);
	parameters[0] = race_ledger_role(GetUserId());
	for (i = 0; i < PROTECT_ARGUMENTS; i++)
		arguments[i] = argument(fcinfo, i);
	if (arguments[PROTECT_RELATION].isnull && !arguments[PROTECT_DATASET].isnull)
	{
		arguments[PROTECT_RELATION].isnull = false;
		arguments[PROTECT_RELATION].value = ObjectIdGetDatum(race_table_named(PG_GETARG_TEXT_PP(PROTECT_DATASET)));
	}
	/* raise what a release of such units would */
	if (!arguments[PROTECT_MOST].isnull && !arguments[PROTECT_NEIGHBORS].isnull)
		(void) race_make_request(&any, 1, 0, &rows, DatumGetInt32(arguments[PROTECT_MOST].value),
								 TextDatumGetCString(arguments[PROTECT_NEIGHBORS].value), false);
	/* what is NULL is an error of the internal function */
	known = !arguments[PROTECT_RELATION].isnull && !arguments[PROTECT_PUBLIC].isnull;
	arguments[i] = known ? private_tables(&ledger, arguments) :
		(RaceParameter) {get_array_type(REGCLASSOID), (Datum) 0, true};
	race_ledger_run(&ledger, statement_for("race_protect", lengthof(parameters)), lengthof(parameters), parameters);
	if (!PG_ARGISNULL(PROTECT_COLUMNS))
		race_describe_columns(&ledger, text_to_cstring(PG_GETARG_TEXT_PP(PROTECT_DATASET)),
							  DatumGetObjectId(arguments[PROTECT_RELATION].value), PG_GETARG_DATUM(PROTECT_COLUMNS));
	SPI_finish();
	if (arguments[PROTECT_UNIT].isnull)
		ereport(NOTICE,
				(errmsg("each row of \"%s\" is protected as a person of its own",
						get_rel_name(DatumGetObjectId(arguments[PROTECT_RELATION].value))),
				 errhint("If a person can have several rows, protect the table with unit_column, the column that says whose a row is.")));
	PG_RETURN_VOID();
}

Datum
race_budget_limit(PG_FUNCTION_ARGS)
{
	RaceLedger	ledger;
	NullableDatum nothing;

	race_check_duty(fcinfo, "owner");
	race_act_begin(&ledger, fcinfo, true);
	act(&ledger, fcinfo, "race_budget_limit", &nothing);
	PG_RETURN_VOID();
}

Datum
race_budget_adopt(PG_FUNCTION_ARGS)
{
	RaceLedger	ledger;
	NullableDatum nothing;

	race_check_duty(fcinfo, "owner");
	race_act_begin(&ledger, fcinfo, true);
	act(&ledger, fcinfo, "race_budget_adopt", &nothing);
	PG_RETURN_VOID();
}

/* race_refreshes_left(name): a bigint, passed by value */
Datum
race_refreshes_left(PG_FUNCTION_ARGS)
{
	RaceLedger	ledger;
	NullableDatum left;

	race_check_duty(fcinfo, "curator");
	race_act_begin(&ledger, fcinfo, false);
	act(&ledger, fcinfo, "race_refreshes_left", &left);
	if (left.isnull)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(left.value);
}

/*
 * race_lock_tables: who enters tables into the ledger does so alone.
 *
 * The lock is of the kind that the server takes on objects, named by the table of the
 * ledger and the private table.  No SQL statement takes such a lock, so that nobody
 * can hold one but through us, and it concerns one private table alone.
 */

PG_FUNCTION_INFO_V1(race_lock_tables);

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
		LOCKTAG		tag;

		CHECK_FOR_INTERRUPTS();
		SET_LOCKTAG_OBJECT(tag, MyDatabaseId, ledger, lfirst_oid(cell), 0);
		if (LockAcquire(&tag, ExclusiveLock, false, !wait) != LOCKACQUIRE_NOT_AVAIL)
			locked = lappend_oid(locked, lfirst_oid(cell));
	}
	PG_RETURN_ARRAYTYPE_P(race_oids_array(locked));
}

/*
 * Arrays of relations, regclass[], as lists, and back.
 */

List *
race_oids_of(ArrayType *array)
{
	Datum	   *values;
	bool	   *nulls;
	int			n;
	List	   *list = NIL;

	deconstruct_array(array, REGCLASSOID, sizeof(Oid), true, TYPALIGN_INT,
					  &values, &nulls, &n);
	for (int i = 0; i < n; i++)
		if (!nulls[i])
			list = lappend_oid(list, DatumGetObjectId(values[i]));
	return list;
}

ArrayType *
race_oids_array(const List *oids)
{
	Datum	   *values = palloc(Max(list_length(oids), 1) * sizeof(Datum));
	int			n = 0;
	ListCell   *cell;

	foreach(cell, oids)
		values[n++] = ObjectIdGetDatum(lfirst_oid(cell));
	return construct_array(values, n, REGCLASSOID, sizeof(Oid), true, TYPALIGN_INT);
}

/*
 * Names of releases, tables and columns
 */

bool
race_named_is(const RaceNamed *named, const char *name)
{
	RaceSnapshotKey key = {0};

	return named->name != NULL && strcmp(named->name, name) == 0 &&
		named->role == GetUserId() && race_snapshot_key_get(&key) &&
		race_snapshot_key_same(&named->key, &key);
}

void
race_named_set(RaceNamed *named, const char *name, MemoryContext context)
{
	RaceSnapshotKey key = {0};

	/* without a key it will not be found again */
	named->name = race_snapshot_key_get(&key) ? MemoryContextStrdup(context, name) : NULL;
	named->role = GetUserId();
	named->key = key;
}

const char *
race_nearest_name(const char *name, const char *const *names, uint64 n)
{
	int			length = (int) strlen(name);
	int			least = Min(length / 3 + 1, 5);
	const char *found = NULL;

	for (uint64 i = 0; i < n && length > 0 && length <= NAMEDATALEN * 2; i++)
	{
		int			distance = pg_strcasecmp(names[i], name) == 0 ? 0 :
			varstr_levenshtein_less_equal(names[i], (int) strlen(names[i]), name, length, 1, 1, 1, least, true);

		if (distance < least || (distance == least && found == NULL))
		{
			least = distance;
			found = names[i];
		}
	}
	return found;
}

/* The name that is most like this one among those that a query lists; NULL if none is like it.  An error ends the connection. */
static const char *
nearest_listed(const char *name, const char *query)
{
	const char **names;

	SPI_connect();
	if (SPI_execute(query, true, 0) != SPI_OK_SELECT)
		return NULL;
	names = palloc(SPI_processed * sizeof(char *));
	for (uint64 i = 0; i < SPI_processed; i++)
		names[i] = SPI_getvalue(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 1);
	return race_nearest_name(name, names, SPI_processed);
}

/* Skip blanks and characters beyond ASCII. */
static const char *
skip_unseen(const char *name)
{
	/* bound: the name */
	while (*name != '\0' && (*name == ' ' || IS_HIGHBIT_SET(*name)))
		name++;
	return name;
}

/* Are two names the same, apart from blanks and characters beyond ASCII? */
static bool
looks_alike(const char *a, const char *b)
{
	a = skip_unseen(a);
	b = skip_unseen(b);
	/* bound: the lengths of both names */
	while (*a == *b && *a != '\0')
	{
		a = skip_unseen(a + 1);
		b = skip_unseen(b + 1);
	}
	return *a == *b;
}

void
race_named_refuse(const char *name)
{
	const char *nearest = nearest_listed(name, "SELECT DISTINCT name FROM " RACE_SCHEMA ".race_releases "
										 "WHERE pg_catalog.octet_length(name) OPERATOR(pg_catalog.<) 200 ORDER BY name");

	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("there is no release \"%s\"", race_cut(name)),
			 nearest != NULL && looks_alike(name, nearest) ?
			 errdetail("It differs from the name of a release in blanks, or in characters that may not be shown.") : 0,
			 nearest != NULL ? errhint("Perhaps you meant \"%s\".", race_cut(nearest)) :
			 SPI_processed > 0 ? errhint("race_catalog lists the releases.") :
			 errhint("There is none that you may see in this database. " RACE_NAMED_HINT)));
}

Oid
race_table_named(const text *name)
{
	Oid			table = RangeVarGetRelid(makeRangeVarFromNameList(textToQualifiedNameList((text *) name)), NoLock, true);
	const char *nearest;

	if (OidIsValid(table))
		return table;
	nearest = nearest_listed(text_to_cstring(name), "SELECT oid::pg_catalog.regclass FROM pg_catalog.pg_class WHERE relkind::pg_catalog.text OPERATOR(pg_catalog.~) '[rpvmf]' "
							 "AND pg_catalog.pg_table_is_visible(oid) AND relnamespace OPERATOR(pg_catalog.<>) 'pg_catalog'::pg_catalog.regnamespace ORDER BY 1");
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_TABLE),
			 errmsg("relation \"%s\" does not exist", race_cut(text_to_cstring(name))),
			 nearest != NULL ? errhint("Perhaps you meant \"%s\".", race_cut(nearest)) :
			 errhint("A dataset is called like its table; or give both: race_protect('a name', 'the table', ...).")));
	return InvalidOid;			/* not reached */
}

AttrNumber
race_column_number(Oid relation, const char *name)
{
	AttrNumber	number = get_attnum(relation, name);
	const char *nearest;

	if (number > 0)
		return number;
	nearest = nearest_listed(name, psprintf("SELECT attname FROM pg_catalog.pg_attribute WHERE attrelid OPERATOR(pg_catalog.=) %u"
											" AND attnum OPERATOR(pg_catalog.>) 0 AND NOT attisdropped", relation));
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("column \"%s\" of relation \"%s\" does not exist", race_cut(name), get_rel_name(relation)),
			 nearest != NULL ? errhint("Perhaps you meant \"%s\".", race_cut(nearest)) :
			 errhint("Name a column of the table.")));
	return 0;					/* not reached */
}

/*
 * _race_timeline(): the timeline that this server writes, or during recovery replays
 */

PG_FUNCTION_INFO_V1(race_timeline);

Datum
race_timeline(PG_FUNCTION_ARGS)
{
	TimeLineID	timeline;

	if (RecoveryInProgress())
		(void) GetXLogReplayRecPtr(&timeline);
	else
#if PG_VERSION_NUM >= 150000
		timeline = GetWALInsertionTimeLine();
#else
		timeline = ThisTimeLineID;
#endif
	PG_RETURN_INT32((int32) timeline);
}
