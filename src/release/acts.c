/*
 * acts.c
 *		race_protect, race_budget_limit, race_budget_adopt and race_refreshes_left: acts on
 *		the ledger for whoever calls them.
 *
 * They are not SECURITY DEFINER: such a function cannot tell who called it, only whose
 * session it is.  These know the current user, say so to the internal function of the
 * same name, which checks that user's rights, and run it with the rights of the owner of
 * the ledger.  So a function that acts for its own owner acts for nobody else.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "ledger.h"
#include "lineage.h"
#include "oids.h"

PG_FUNCTION_INFO_V1(race_protect);
PG_FUNCTION_INFO_V1(race_budget_limit);
PG_FUNCTION_INFO_V1(race_budget_adopt);
PG_FUNCTION_INFO_V1(race_refreshes_left);

/*
 * ANALYZE, VACUUM, REINDEX and REFRESH call functions in the indexes and views of any
 * owner, and a foreign key fires the triggers of whoever refers to a table.
 */
static void
check_context(void)
{
	if (InSecurityRestrictedOperation() || InNoForceRLSOperation())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("budgets cannot be used while the server acts for the owner of a table"),
				 errdetail("Functions of indexes and views, and triggers behind a foreign key, run in sessions of others.")));
}

/* _racepriv._NAME($1, $2, ...), with n parameters */
static char *
statement_for(const char *name, int n)
{
	StringInfoData text;
	int			i;

	initStringInfo(&text);
	appendStringInfo(&text, "SELECT _racepriv._%s($1", name);
	for (i = 2; i <= n; i++)
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

/* An older snapshot would not show rights, triggers and budgets of other sessions. */
static void
begin_change(void)
{
	static bool registered = false;

	if (IsolationUsesXactSnapshot())
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("budgets cannot be changed in a transaction of this isolation level"),
				 errhint("BEGIN ISOLATION LEVEL READ COMMITTED, or set default_transaction_isolation.")));
	if (!registered)
		RegisterXactCallback(refuse_prepare, NULL);
	registered = acted = true;
}

static void
begin(RaceLedger *ledger, FunctionCallInfo fcinfo)
{
	check_context();
	SPI_connect();
	race_ledger_open(ledger, fcinfo);
}

/*
 * Call the internal function of this name with the arguments of this call, and one more
 * if it is not NULL.
 */
static void
act(const RaceLedger *ledger, FunctionCallInfo fcinfo, const char *name,
	const RaceParameter *more, NullableDatum *result)
{
	RaceParameter parameters[FUNC_MAX_ARGS];
	int			n = 0;
	int			i;

	parameters[n++] = race_ledger_role(GetUserId());
	for (i = 0; i < PG_NARGS(); i++)
		parameters[n++] = argument(fcinfo, i);
	if (more != NULL)
		parameters[n++] = *more;
	race_ledger_run(ledger, statement_for(name, n), n, parameters);
	result->value = race_ledger_value(1, &result->isnull);
	SPI_finish();
}

/*
 * The private tables of the relation in argument 1.  Its definition is looked at by the
 * current user, who must own it: nothing of it is for the owner of the ledger to run.
 */
static RaceParameter
private_tables(const RaceLedger *ledger, FunctionCallInfo fcinfo)
{
	RaceParameter result = {get_array_type(REGCLASSOID), (Datum) 0, true};
	RaceParameter owner[] = {race_ledger_role(GetUserId()), argument(fcinfo, 1)};
	RaceParameter public_tables = argument(fcinfo, 8);
	bool		isnull;
	RaceLineage *lineage;

	if (owner[1].isnull || public_tables.isnull)
		return result;			/* an error of the internal function */
	if (!SearchSysCacheExists1(RELOID, owner[1].value))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", DatumGetObjectId(owner[1].value))));
	race_ledger_run(ledger, "SELECT _racepriv._race_check_owner($1, ARRAY[$2])", 2, owner);
	race_ledger_run(ledger, "SELECT _racepriv._race_with_parts($1)", 1, &public_tables);
	lineage = race_lineage(PG_GETARG_OID(1),
						   PG_ARGISNULL(4) ? NULL : NameStr(*PG_GETARG_NAME(4)),
						   race_oids_of(DatumGetArrayTypeP(race_ledger_value(1, &isnull))));
	result.value = PointerGetDatum(race_oids_array(lineage->private_tables));
	result.isnull = false;
	return result;
}

Datum
race_protect(PG_FUNCTION_ARGS)
{
	RaceLedger	ledger;
	RaceParameter tables;
	NullableDatum nothing;

	begin_change();
	begin(&ledger, fcinfo);
	tables = private_tables(&ledger, fcinfo);
	act(&ledger, fcinfo, "race_protect", &tables, &nothing);
	PG_RETURN_VOID();
}

Datum
race_budget_limit(PG_FUNCTION_ARGS)
{
	RaceLedger	ledger;
	NullableDatum nothing;

	begin_change();
	begin(&ledger, fcinfo);
	act(&ledger, fcinfo, "race_budget_limit", NULL, &nothing);
	PG_RETURN_VOID();
}

Datum
race_budget_adopt(PG_FUNCTION_ARGS)
{
	RaceLedger	ledger;
	NullableDatum nothing;

	begin_change();
	begin(&ledger, fcinfo);
	act(&ledger, fcinfo, "race_budget_adopt", NULL, &nothing);
	PG_RETURN_VOID();
}

/* race_refreshes_left(name): a bigint, passed by value */
Datum
race_refreshes_left(PG_FUNCTION_ARGS)
{
	RaceLedger	ledger;
	NullableDatum left;

	begin(&ledger, fcinfo);
	act(&ledger, fcinfo, "race_refreshes_left", NULL, &left);
	if (left.isnull)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(left.value);
}
