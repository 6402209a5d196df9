/*
 * result.c
 *		Result rows of SQL functions
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "sketch/result.h"

void
race_row_start(RaceResultRow *row, FunctionCallInfo fcinfo)
{
	TupleDesc desc;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	if (desc->natts > RACE_MAX_COLUMNS)
		elog(ERROR, "return type has too many columns");
	row->desc = BlessTupleDesc(desc);
	row->n = 0;
}

void
race_row_add_if(RaceResultRow *row, bool is, Datum value)
{
	Assert(row->n < row->desc->natts);
	row->values[row->n] = value;
	row->nulls[row->n++] = !is;
}

void
race_row_add(RaceResultRow *row, Datum value)
{
	race_row_add_if(row, true, value);
}

void
race_row_add_text(RaceResultRow *row, const char *text)
{
	race_row_add(row, CStringGetTextDatum(text));
}

void
race_row_add_numbers(RaceResultRow *row, const double *x, uint32 n)
{
	Datum *elements = palloc(n * sizeof(Datum));

	for (uint32 i = 0; i < n; i++)
		elements[i] = Float8GetDatum(x[i]);
	race_row_add(row,
				 PointerGetDatum(construct_array(elements, n, FLOAT8OID, sizeof(float8),
												 FLOAT8PASSBYVAL, TYPALIGN_DOUBLE)));
}

void
race_row_add_null(RaceResultRow *row)
{
	race_row_add_if(row, false, (Datum) 0);
}

Datum
race_row_datum(RaceResultRow *row)
{
	if (row->n != row->desc->natts)
		elog(ERROR, "a row of %d columns was given %d", row->desc->natts, row->n);
	row->n = 0;
	return HeapTupleGetDatum(heap_form_tuple(row->desc, row->values, row->nulls));
}

Datum
race_results(FunctionCallInfo fcinfo, void (*start)(FunctionCallInfo fcinfo, FuncCallContext *call),
			 Datum (*next)(void *state, uint64 i))
{
	FuncCallContext *call;
	Datum result;

	if (SRF_IS_FIRSTCALL())
	{
		MemoryContext old;

		call = SRF_FIRSTCALL_INIT();
		old = MemoryContextSwitchTo(call->multi_call_memory_ctx);
		start(fcinfo, call);
		MemoryContextSwitchTo(old);
	}
	call = SRF_PERCALL_SETUP();
	if (call->call_cntr >= call->max_calls)
		SRF_RETURN_DONE(call);
	/* the macro counts the call before it looks at the result */
	result = next(call->user_fctx, call->call_cntr);
	SRF_RETURN_NEXT(call, result);
}

Tuplestorestate *
race_store_start(FunctionCallInfo fcinfo)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext old;

	if (result == NULL || !IsA(result, ReturnSetInfo) || !(result->allowedModes & SFRM_Materialize))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("this function returns rows"),
				 errhint("Write it in FROM: SELECT * FROM %s(...).",
						 get_func_name(fcinfo->flinfo->fn_oid))));
	old = MemoryContextSwitchTo(result->econtext->ecxt_per_query_memory);
	result->returnMode = SFRM_Materialize;
	result->setResult = tuplestore_begin_heap((result->allowedModes & SFRM_Materialize_Random) != 0,
											  false, work_mem);
	result->setDesc = CreateTupleDescCopy(result->expectedDesc);
	MemoryContextSwitchTo(old);
	return result->setResult;
}
