/*
 * ledger.c
 *		The ledger: its statements, who may change it, and acts on it
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "hash/params.h"
#include "sketch/authority.h"
#include "release/ledger.h"
#include "release/lineage.h"
#include "release/relations.h"
#include "release/settings.h"
#include "sketch/snapshot_key.h"
#include "sketch/text.h"
#include "release/privatize.h"

/*
 * Statements on the tables of the ledger, with the rights of their owner.
 */

/* Return an object.  Raise 55000 unless it belongs to the extension. */
static Oid
member_object(Oid class, Oid object, Oid extension)
{
	if (!OidIsValid(object) || !OidIsValid(extension) ||
		getExtensionOfObject(class, object) != extension)
		ereport(
			ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg(
				 "the objects of extension racepriv_release in this database are not those of its library"),
			 errdetail("They are of another version, or they were moved or renamed."),
			 errhint(
				 "Update older ones: ALTER EXTENSION racepriv UPDATE; ALTER EXTENSION racepriv_release UPDATE.")));
	return object;
}

Oid
race_schema_of(Oid function)
{
	return member_object(NamespaceRelationId, get_namespace_oid(RACE_SCHEMA, true),
						 getExtensionOfObject(ProcedureRelationId, function));
}

Oid
race_owner_of(Oid relation)
{
	HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
	Oid owner;

	if (!HeapTupleIsValid(tuple))
		race_refuse_dropped("a relation");
	owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	ReleaseSysCache(tuple);
	return owner;
}

static Oid
type_named(const char *name, Oid schema, Oid extension)
{
	return member_object(TypeRelationId,
						 GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, CStringGetDatum(name),
										 ObjectIdGetDatum(schema)),
						 extension);
}

/*
 * Find the types of racepriv, wherever it was moved to, by the type of the sketches in
 * race_releases.
 */
static void
find_library(RaceLedger *ledger, Oid releases)
{
	Oid type = get_atttype(releases, get_attnum(releases, "sketch"));
	HeapTuple tuple;
	Form_pg_type sketch;

	ledger->library = getExtensionOfObject(TypeRelationId, type);
	ledger->sketch_type = member_object(TypeRelationId, type, ledger->library);
	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(ledger->sketch_type));
	if (!HeapTupleIsValid(tuple))
		race_refuse_dropped("a type");
	sketch = (Form_pg_type) GETSTRUCT(tuple);
	ledger->library_schema = sketch->typnamespace;
	ledger->library_owner = sketch->typowner;
	ReleaseSysCache(tuple);
	ledger->params_type = type_named("race_params", ledger->library_schema, ledger->library);
}

List *
race_library_functions(Oid schema, const char *name, Oid *sketch_type)
{
	RaceLedger ledger;
	CatCList *named = SearchSysCacheList1(PROCNAMEARGSNSP, CStringGetDatum(name));
	List *functions = NIL;

	find_library(&ledger, get_relname_relid("race_releases", schema));
	*sketch_type = ledger.sketch_type;
	/* bound: how many functions of this name there are */
	for (int i = 0; i < named->n_members; i++)
	{
		Form_pg_proc function = (Form_pg_proc) GETSTRUCT(&named->members[i]->tuple);

		if (function->pronamespace == ledger.library_schema &&
			function->prokind == PROKIND_FUNCTION &&
			getExtensionOfObject(ProcedureRelationId, function->oid) == ledger.library)
			functions = lappend_oid(functions, function->oid);
	}
	ReleaseSysCacheList(named);
	return functions;
}

void
race_ledger_open(RaceLedger *ledger, FunctionCallInfo fcinfo)
{
	Oid function = fcinfo->flinfo->fn_oid;
	Oid schema = race_schema_of(function);

	ledger->extension = getExtensionOfObject(ProcedureRelationId, function);
	ledger->owner = race_owner_of(member_object(
		RelationRelationId, get_relname_relid("race_charges", schema), ledger->extension));
	find_library(ledger,
				 member_object(RelationRelationId, get_relname_relid("race_releases", schema),
							   ledger->extension));
	race_ledger_run(ledger,
					"SELECT _racepriv._race_check_ledger(), _racepriv._race_check_invariants()", 0,
					NULL);
}

void
race_rethrow_without_context(MemoryContext caller)
{
	ErrorData *error;

	MemoryContextSwitchTo(caller);
	error = CopyErrorData();
	FlushErrorState();
	if (error->sqlerrcode != ERRCODE_INTERNAL_ERROR)
		error->context = NULL;
	if (error->sqlerrcode == ERRCODE_INSUFFICIENT_PRIVILEGE && error->hint == NULL &&
		strstr(error->message, "race_releases") != NULL)
		error->hint =
			psprintf("A superuser lets you ask releases: CALL race_grant(%s, 'analyst').",
					 quote_literal_cstr(quote_identifier(GetUserNameFromId(GetUserId(), false))));
	ThrowErrorData(error);
}

void
race_ledger_run(const RaceLedger *ledger, const char *statement, int n,
				const RaceParameter *parameters)
{
	MemoryContext caller = CurrentMemoryContext;
	Oid types[FUNC_MAX_ARGS];
	Datum values[FUNC_MAX_ARGS];
	char nulls[FUNC_MAX_ARGS];
	RaceAuthority before;

	Assert(n <= FUNC_MAX_ARGS);
	(void) member_object(NamespaceRelationId, get_namespace_oid(RACE_SCHEMA, true),
						 ledger->extension);
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
	TupleDesc row = SPI_tuptable->tupdesc;
	Datum value = SPI_getbinval(SPI_tuptable->vals[0], row, i, isnull);

	if (*isnull)
		return (Datum) 0;
	if (TupleDescAttr(row, i - 1)->attlen == -1)
		return PointerGetDatum(PG_DETOAST_DATUM_COPY(value));
	return datumCopy(value, TupleDescAttr(row, i - 1)->attbyval, TupleDescAttr(row, i - 1)->attlen);
}

char *
race_ledger_text(int i)
{
	return SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, i);
}

Datum
race_ledger_params(const RaceLedger *ledger, char *written)
{
	Oid input;
	Oid parameter;

	getTypeInputInfo(ledger->params_type, &input, &parameter);
	return OidInputFunctionCall(input, written, parameter, -1);
}

void
race_refuse_arguments(const char *message, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s", message), errhint("%s", hint)));
}

RaceParameter
race_ledger_role(Oid role)
{
	Name name = palloc(sizeof(NameData));

	namestrcpy(name, GetUserNameFromId(role, false));
	return (RaceParameter){NAMEOID, NameGetDatum(name), false};
}

/*
 * Duties: who may call what the ledger is changed by.
 */

bool
race_has_duty(Oid function, Oid role)
{
	HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	bool isnull;
	bool found;
	Datum rights;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	found = has_privs_of_role(role, ((Form_pg_proc) GETSTRUCT(tuple))->proowner);
	rights = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_proacl, &isnull);
	if (!isnull && !found)
	{
		Acl *acl = DatumGetAclPCopy(rights);

		for (int i = 0; i < ACL_NUM(acl) && !found; i++)
		{
			const AclItem *item = &ACL_DAT(acl)[i];

			found = item->ai_grantee != ACL_ID_PUBLIC &&
				(ACLITEM_GET_PRIVS(*item) & ACL_EXECUTE) != 0 &&
				has_privs_of_role(role, item->ai_grantee);
		}
	}
	ReleaseSysCache(tuple);
	return found;
}

void
race_check_duty(FunctionCallInfo fcinfo, const char *duty)
{
	Oid function = fcinfo->flinfo->fn_oid;

	if (!race_has_duty(function, GetUserId()))
		ereport(
			ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied for %s %s",
					get_func_prokind(function) == PROKIND_PROCEDURE ? "procedure" : "function",
					get_func_name(function)),
			 errhint("A superuser makes you %s: CALL race_grant(%s, '%s').",
					 strcmp(duty, "owner") == 0 ? "an owner" : "a curator",
					 quote_literal_cstr(quote_identifier(GetUserNameFromId(GetUserId(), false))),
					 duty)));
}

/*
 * Acts on the ledger for whoever calls them.
 *
 * They are not SECURITY DEFINER: such a function cannot tell who called it, only whose
 * session it is.  These know the current user, say so to the internal function of the
 * same name, which checks that user's rights, and run it with the rights of the owner of
 * the ledger.  So a function that acts for its own owner acts for nobody else.
 */

/* Has this transaction acted on the ledger? */
static bool acted = false;

/*
 * Refuse PREPARE TRANSACTION.  A prepared transaction holds its locks until somebody ends it, in
 * whatever session, and releases of the same budget would wait for that.
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
		ereport(
			ERROR,
			(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
			 errmsg("budgets cannot be changed in a transaction of this isolation level"),
			 errhint(
				 "BEGIN ISOLATION LEVEL READ COMMITTED, or set default_transaction_isolation.")));
	if (change && !registered)
		RegisterXactCallback(refuse_prepare, NULL);
	if (change)
		registered = acted = true;

	/*
	 * ANALYZE, VACUUM, REINDEX and REFRESH call functions in the indexes and views of any owner,
	 * and a foreign key fires the triggers of whoever refers to a table.
	 */
	if (InSecurityRestrictedOperation() || InNoForceRLSOperation())
		ereport(
			ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("budgets cannot be used while the server acts for the owner of a table"),
			 errdetail(
				 "Functions of indexes and views, and triggers behind a foreign key, run in sessions of others.")));
	SPI_connect();
	race_ledger_open(ledger, fcinfo);
}

void
race_act_check_owner(Oid relation)
{
	if (!has_privs_of_role(GetUserId(), race_owner_of(relation)))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be owner of relation \"%s\"", race_full_name(relation))));
}
