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

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "ledger.h"

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

/* $schema._NAME($1, $2, ...), for the current user and n arguments */
static char *
statement_for(const char *name, int n)
{
	StringInfoData text;
	int			i;

	initStringInfo(&text);
	appendStringInfo(&text, "SELECT $schema._%s($1", name);
	for (i = 2; i <= n + 1; i++)
		appendStringInfo(&text, ", $%d", i);
	appendStringInfoChar(&text, ')');
	return text.data;
}

/* Call the internal function of this name with the arguments of this call. */
static void
act(FunctionCallInfo fcinfo, const char *name, NullableDatum *result)
{
	RaceLedger	ledger;
	RaceParameter parameters[FUNC_MAX_ARGS + 1];
	int			n = PG_NARGS();
	int			i;

	check_context();
	SPI_connect();
	race_ledger_open(&ledger, fcinfo);
	parameters[0] = (RaceParameter) RaceText(GetUserNameFromId(GetUserId(), false));
	for (i = 0; i < n; i++)
		parameters[i + 1] = (RaceParameter)
		{
			get_fn_expr_argtype(fcinfo->flinfo, i), PG_GETARG_DATUM(i), PG_ARGISNULL(i)
		};
	race_ledger_run(&ledger, statement_for(name, n), n + 1, parameters);
	result->value = race_ledger_value(1, &result->isnull);
	SPI_finish();
}

Datum
race_protect(PG_FUNCTION_ARGS)
{
	NullableDatum nothing;

	act(fcinfo, "race_protect", &nothing);
	PG_RETURN_VOID();
}

Datum
race_budget_limit(PG_FUNCTION_ARGS)
{
	NullableDatum nothing;

	act(fcinfo, "race_budget_limit", &nothing);
	PG_RETURN_VOID();
}

Datum
race_budget_adopt(PG_FUNCTION_ARGS)
{
	NullableDatum nothing;

	act(fcinfo, "race_budget_adopt", &nothing);
	PG_RETURN_VOID();
}

/* race_refreshes_left(name): a bigint, passed by value */
Datum
race_refreshes_left(PG_FUNCTION_ARGS)
{
	NullableDatum left;

	act(fcinfo, "race_refreshes_left", &left);
	if (left.isnull)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(left.value);
}
