/*
 * split_aggregate.c
 *		A module for tests: runs an aggregate in parts, as engines of several servers do.
 *
 * It follows what Citus 13 does on workers and on the coordinator.  The functions of an
 * aggregate are looked up by its OID in pg_aggregate, and called with an FmgrInfo that is new
 * for each row and has no expression; arguments must have exactly the declared types; a state
 * travels as the text of its type, or in binary form.
 *
 *	split_part(aggregate, arguments)			arguments: one value, or ROW(...) of several
 *	split_part_binary(aggregate, arguments)		the same in binary form
 *	split_part_unchecked(aggregate, arguments)	without a check of types
 *	split_whole(aggregate, part, null)			from parts; null is of the result's type
 *	split_whole_binary(aggregate, part, null)
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/expandeddatum.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(split_part_step);
PG_FUNCTION_INFO_V1(split_part_unchecked_step);
PG_FUNCTION_INFO_V1(split_part_text);
PG_FUNCTION_INFO_V1(split_part_binary);
PG_FUNCTION_INFO_V1(split_whole_step);
PG_FUNCTION_INFO_V1(split_whole_binary_step);
PG_FUNCTION_INFO_V1(split_whole_final);

#define MAX_ARGUMENTS 8

typedef struct Split
{
	FormData_pg_aggregate form;
	int16 length; /* of the state's type */
	bool by_value;
	NullableDatum state;
} Split;

static Split *
get_split(FunctionCallInfo fcinfo)
{
	MemoryContext context;
	HeapTuple tuple;
	Split *split;

	if (!PG_ARGISNULL(0))
		return (Split *) PG_GETARG_POINTER(0);
	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "not called as an aggregate");
	split = MemoryContextAllocZero(context, sizeof(Split));
	tuple = SearchSysCache1(AGGFNOID, PG_GETARG_DATUM(1));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "this is no aggregate");
	memcpy(&split->form, GETSTRUCT(tuple), sizeof(FormData_pg_aggregate));
	ReleaseSysCache(tuple);
	get_typlenbyval(split->form.aggtranstype, &split->length, &split->by_value);
	split->state.isnull = true;
	return split;
}

/* A call by a new FmgrInfo, within this aggregate */
static NullableDatum
call(FunctionCallInfo fcinfo, Oid function, const NullableDatum *arguments, int n)
{
	LOCAL_FCINFO(inner, MAX_ARGUMENTS + 1);
	FmgrInfo info;
	NullableDatum result;

	fmgr_info(function, &info);
	InitFunctionCallInfoData(*inner, &info, n, fcinfo->fncollation, fcinfo->context,
							 fcinfo->resultinfo);
	memcpy(inner->args, arguments, n * sizeof(NullableDatum));
	result.value = FunctionCallInvoke(inner);
	result.isnull = inner->isnull;
	return result;
}

/* Take a new state, which the next call must find in the aggregate's memory. */
static void
keep_state(FunctionCallInfo fcinfo, Split *split, NullableDatum state)
{
	MemoryContext context;

	AggCheckCallContext(fcinfo, &context);
	if (!split->by_value && state.value != split->state.value)
	{
		MemoryContext old = MemoryContextSwitchTo(context);
		bool ours = !state.isnull &&
			DatumIsReadWriteExpandedObject(state.value, false, split->length) &&
			MemoryContextGetParent(DatumGetEOHP(state.value)->eoh_context) == context;

		if (!state.isnull && !ours)
			state.value = datumCopy(state.value, false, split->length);
		MemoryContextSwitchTo(old);
		if (split->state.isnull)
			/* nothing to free */;
		else if (DatumIsReadWriteExpandedObject(split->state.value, false, split->length))
			DeleteExpandedObject(split->state.value);
		else
			pfree(DatumGetPointer(split->state.value));
	}
	split->state = state;
}

/*
 * Call a transition or combine function with the state and n arguments.  A strict one leaves
 * NULLs out, and begins with the first value.
 */
static void
advance(FunctionCallInfo fcinfo, Split *split, Oid function, NullableDatum *arguments, int n)
{
	arguments[0] = split->state;
	if (func_strict(function))
	{
		for (int i = 1; i <= n; i++)
			if (arguments[i].isnull)
				return;
		if (split->state.isnull)
		{
			keep_state(fcinfo, split, arguments[1]);
			return;
		}
	}
	keep_state(fcinfo, split, call(fcinfo, function, arguments, n + 1));
}

/* ------------------------------------------------------------------- parts */

static void
check_type(const Split *split, int i, Oid type)
{
	Oid *declared;
	int n;

	get_func_signature(split->form.aggfnoid, &declared, &n);
	if (i >= n || declared[i] != type)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("argument %d is not exactly of the declared type", i + 1)));
}

/* Argument 2, taken apart if it is a row without a type; how many there are */
static int
take_arguments(FunctionCallInfo fcinfo, const Split *split, bool check, NullableDatum *out)
{
	Oid type = get_fn_expr_argtype(fcinfo->flinfo, 2);
	HeapTupleHeader header;
	HeapTupleData tuple;
	TupleDesc row;
	int n;

	if (type != RECORDOID)
	{
		if (check)
			check_type(split, 0, type);
		out[0] = fcinfo->args[2];
		return 1;
	}
	header = PG_GETARG_HEAPTUPLEHEADER(2);
	row =
		lookup_rowtype_tupdesc(HeapTupleHeaderGetTypeId(header), HeapTupleHeaderGetTypMod(header));
	n = Min(row->natts, MAX_ARGUMENTS);
	tuple.t_len = HeapTupleHeaderGetDatumLength(header);
	tuple.t_data = header;
	for (int i = 0; i < n; i++)
	{
		if (check)
			check_type(split, i, TupleDescAttr(row, i)->atttypid);
		out[i].value = heap_getattr(&tuple, i + 1, row, &out[i].isnull);
	}
	ReleaseTupleDesc(row);
	return n;
}

static Datum
part_step(FunctionCallInfo fcinfo, bool check)
{
	Split *split = get_split(fcinfo);
	NullableDatum arguments[MAX_ARGUMENTS + 1];
	int n = take_arguments(fcinfo, split, check, arguments + 1);

	advance(fcinfo, split, split->form.aggtransfn, arguments, n);
	PG_RETURN_POINTER(split);
}

Datum
split_part_step(PG_FUNCTION_ARGS)
{
	return part_step(fcinfo, true);
}

Datum
split_part_unchecked_step(PG_FUNCTION_ARGS)
{
	return part_step(fcinfo, false);
}

/* The state as its type writes it */
static NullableDatum
written(FunctionCallInfo fcinfo, bool binary)
{
	Split *split = PG_ARGISNULL(0) ? NULL : (Split *) PG_GETARG_POINTER(0);
	NullableDatum none = {0, true};
	Oid function;
	bool is_varlena;

	if (split == NULL || split->state.isnull)
		return none;
	if (binary)
		getTypeBinaryOutputInfo(split->form.aggtranstype, &function, &is_varlena);
	else
		getTypeOutputInfo(split->form.aggtranstype, &function, &is_varlena);
	return call(fcinfo, function, &split->state, 1);
}

Datum
split_part_text(PG_FUNCTION_ARGS)
{
	NullableDatum text = written(fcinfo, false);

	if (text.isnull)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(CStringGetTextDatum(DatumGetCString(text.value)));
}

Datum
split_part_binary(PG_FUNCTION_ARGS)
{
	NullableDatum bytes = written(fcinfo, true);

	if (bytes.isnull)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(bytes.value);
}

/* ------------------------------------------------------------------- wholes */

static NullableDatum
read_part(FunctionCallInfo fcinfo, const Split *split, bool binary)
{
	NullableDatum arguments[3] = {{0, false}};
	StringInfoData bytes;
	Oid function;
	Oid ioparam;

	if (binary)
	{
		bytea *value = PG_GETARG_BYTEA_PP(2);

		initStringInfo(&bytes);
		appendBinaryStringInfo(&bytes, VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value));
		arguments[0].value = PointerGetDatum(&bytes);
		getTypeBinaryInputInfo(split->form.aggtranstype, &function, &ioparam);
	}
	else
	{
		arguments[0].value = CStringGetDatum(TextDatumGetCString(PG_GETARG_DATUM(2)));
		getTypeInputInfo(split->form.aggtranstype, &function, &ioparam);
	}
	arguments[1].value = ObjectIdGetDatum(ioparam);
	arguments[2].value = Int32GetDatum(-1);
	return call(fcinfo, function, arguments, 3);
}

static Datum
whole_step(FunctionCallInfo fcinfo, bool binary)
{
	Split *split = get_split(fcinfo);
	NullableDatum arguments[2];

	if (PG_ARGISNULL(2))
		PG_RETURN_POINTER(split);
	arguments[1] = read_part(fcinfo, split, binary);
	advance(fcinfo, split, split->form.aggcombinefn, arguments, 1);
	PG_RETURN_POINTER(split);
}

Datum
split_whole_step(PG_FUNCTION_ARGS)
{
	return whole_step(fcinfo, false);
}

Datum
split_whole_binary_step(PG_FUNCTION_ARGS)
{
	return whole_step(fcinfo, true);
}

Datum
split_whole_final(PG_FUNCTION_ARGS)
{
	Split *split = PG_ARGISNULL(0) ? NULL : (Split *) PG_GETARG_POINTER(0);
	NullableDatum result;

	if (split == NULL || split->state.isnull)
		PG_RETURN_NULL();
	result = split->state;
	if (OidIsValid(split->form.aggfinalfn))
		result = call(fcinfo, split->form.aggfinalfn, &split->state, 1);
	if (result.isnull)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(result.value);
}
