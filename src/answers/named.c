/*
 * named.c
 *		Answers by the name of a release: those of its value, by the function of the same name
 *		that takes a value; or of all its labels, values or versions, by an internal function in
 *		PL/pgSQL.  Each runs in settings that are always the same, and its errors do not show the
 *		statements and lines that led to them.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/syscache.h"

#include "release/ledger.h"
#include "sketch/settings.h"
#include "answers/released.h"

PG_FUNCTION_INFO_V1(race_answer);

/* What a call site keeps of a function by the name of a release */
typedef struct Answer
{
	FmgrInfo body;     /* _racepriv._NAME, or the function NAME of a value */
	int release;       /* the argument that a value takes the place of; -1 for _racepriv._NAME */
	FmgrInfo released; /* race_released, which finds the value */
} Answer;

/*
 * Return the OID of _racepriv._NAME with the same arguments as the function NAME; or that of the
 * function NAME with a value in place of the first text, whose number *release becomes.
 */
static Oid
find_body(Oid function, int *release)
{
	Oid schema = race_schema_of(function);
	HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Form_pg_proc declared;
	Oid body;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	declared = (Form_pg_proc) GETSTRUCT(tuple);
	*release = -1;
	body = GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid,
						   CStringGetDatum(psprintf("_%s", NameStr(declared->proname))),
						   PointerGetDatum(&declared->proargtypes), ObjectIdGetDatum(schema));
	if (!OidIsValid(body))
	{
		*release = declared->proargtypes.values[0] == TEXTOID ? 0 : 1;
		body = race_library_function(schema, NameStr(declared->proname), &declared->proargtypes,
									 *release);
	}
	ReleaseSysCache(tuple);
	return body;
}

/* Return how to compute an answer, which a call site looks up once. */
static Answer *
find_answer(FmgrInfo *function)
{
	Answer *answer = (Answer *) function->fn_extra;

	if (answer == NULL)
	{
		answer = MemoryContextAllocZero(function->fn_mcxt, sizeof(Answer));
		fmgr_info_cxt(find_body(function->fn_oid, &answer->release), &answer->body,
					  function->fn_mcxt);
		fmgr_info_set_expr(function->fn_expr, &answer->body);
		fmgr_info_copy(&answer->released, function, function->fn_mcxt);
		answer->released.fn_addr = race_released;
		function->fn_extra = answer;
	}
	return answer;
}

/* Put the value of a release in the place of its name. */
static void
find_value(Answer *answer, NullableDatum *argument)
{
	LOCAL_FCINFO(call, 2);

	InitFunctionCallInfoData(*call, &answer->released, 2, InvalidOid, NULL, NULL);
	call->args[0] = *argument;
	call->args[1].isnull = true;
	argument->value = FunctionCallInvoke(call);
	argument->isnull = call->isnull;
}

/* Call the body of a function with its arguments, and the place of its result rows. */
static Datum
call_body(FunctionCallInfo fcinfo)
{
	LOCAL_FCINFO(call, FUNC_MAX_ARGS);
	Answer *answer = find_answer(fcinfo->flinfo);
	int level = race_settings_fix();
	Datum result;

	InitFunctionCallInfoData(*call, &answer->body, fcinfo->nargs, fcinfo->fncollation, NULL,
							 fcinfo->resultinfo);
	for (int i = 0; i < fcinfo->nargs; i++)
		call->args[i] = fcinfo->args[i];
	if (answer->release >= 0)
		find_value(answer, &call->args[answer->release]);
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
