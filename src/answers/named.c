/*
 * named.c
 *		Answers by the name of a release, computed by internal functions in PL/pgSQL: each runs in
 *		settings that are always the same, and its errors do not show the statements and lines
 *		that led to them.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_proc.h"
#include "fmgr.h"
#include "utils/syscache.h"

#include "release/ledger.h"
#include "sketch/settings.h"

PG_FUNCTION_INFO_V1(race_answer);

/* Return the OID of _racepriv._NAME with the same arguments as the function NAME. */
static Oid
find_body(Oid function)
{
	Oid schema = race_schema_of(function);
	HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Form_pg_proc declared;
	Oid body;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	declared = (Form_pg_proc) GETSTRUCT(tuple);
	body = GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid,
						   CStringGetDatum(psprintf("_%s", NameStr(declared->proname))),
						   PointerGetDatum(&declared->proargtypes), ObjectIdGetDatum(schema));
	if (!OidIsValid(body))
		elog(ERROR, "function %u has no body in schema " RACE_SCHEMA, function);
	ReleaseSysCache(tuple);
	return body;
}

/* Return how to call the body of a function, which a call site looks up once. */
static FmgrInfo *
body_of(FmgrInfo *function)
{
	FmgrInfo *body = (FmgrInfo *) function->fn_extra;

	if (body == NULL)
	{
		body = MemoryContextAlloc(function->fn_mcxt, sizeof(FmgrInfo));
		fmgr_info_cxt(find_body(function->fn_oid), body, function->fn_mcxt);
		fmgr_info_set_expr(function->fn_expr, body);
		function->fn_extra = body;
	}
	return body;
}

/* Call the body of a function with its arguments, and the place of its result rows. */
static Datum
call_body(FunctionCallInfo fcinfo)
{
	LOCAL_FCINFO(call, FUNC_MAX_ARGS);
	FmgrInfo *body = body_of(fcinfo->flinfo);
	int level = race_settings_fix();
	Datum result;

	InitFunctionCallInfoData(*call, body, fcinfo->nargs, fcinfo->fncollation, NULL,
							 fcinfo->resultinfo);
	for (int i = 0; i < fcinfo->nargs; i++)
		call->args[i] = fcinfo->args[i];
	result = FunctionCallInvoke(call);
	fcinfo->isnull = call->isnull;
	race_settings_restore(level);
	return result;
}

/* Implement race_count(release, ...) etc. by their bodies; errors keep only the caller's lines. */
Datum
race_answer(PG_FUNCTION_ARGS)
{
	MemoryContext caller = CurrentMemoryContext;
	volatile Datum result = (Datum) 0;

	PG_TRY();
	{
		/* the lines of the caller are added when the error is raised again */
		error_context_stack = NULL;
		result = call_body(fcinfo);
	}
	PG_CATCH();
	{
		race_rethrow_without_context(caller);
	}
	PG_END_TRY();
	return result;
}
