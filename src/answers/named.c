/*
 * named.c
 *		Answers by the name of a release
 *
 * A function by the name of a release is one line of SQL, and this.  _racepriv._NAME answers with
 * the same arguments where all versions or labels are asked.  Else it is the function of the same
 * name that takes a value, with the value that the name stands for, and with the arguments that
 * have its names and types.  Where sketches are asked in another way than values of columns, the
 * value decides: of sketches _racepriv._NAME_of_sketches answers, for each label; of columns the
 * function of a value, whose rows become rows of the function by name, column by column.
 *
 * Each runs in settings that are always the same, and its errors do not show the statements and
 * lines that led to them.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "nodes/makefuncs.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "hash/params.h"
#include "release/ledger.h"
#include "release/lineage.h"
#include "sketch/settings.h"
#include "sketch/sketch.h"
#include "sketch/text.h"
#include "answers/released.h"

PG_FUNCTION_INFO_V1(race_answer);

/* The arguments of a function that go in */
typedef struct Arguments
{
	int n;
	char **names;
	const Oid *types;
} Arguments;

/* What a call site keeps of a function by the name of a release */
typedef struct Answer
{
	Arguments given;
	int release;             /* number of the argument that is the name */
	FmgrInfo internal;       /* _NAME or _NAME_of_sketches; its OID is invalid if there is none */
	FmgrInfo value;          /* the function of a value; its OID is invalid if _NAME answers */
	int n;                   /* arguments of that, */
	int from[FUNC_MAX_ARGS]; /* and which of those given each of them is */
	bool of_columns;         /* does it give the rows of this call? */
	FmgrInfo released;       /* finds values */
	/* how a row of a value becomes one of the function by name */
	Oid row_type;
	int32 row_typmod;
	TupleDesc row;
	TupleDesc wanted;
	int *column; /* [wanted->natts]: number of the column of the row, from 1 on, or 0 */
} Answer;

/* ------------------------------------------------------------------ functions */

/* Read the arguments of a function that go in.  All of ours have names. */
static void
read_arguments(HeapTuple function, Arguments *arguments)
{
	Form_pg_proc declared = (Form_pg_proc) GETSTRUCT(function);
	bool isnull;
	Datum names = SysCacheGetAttr(PROCOID, function, Anum_pg_proc_proargnames, &isnull);
	Datum modes;

	if (isnull)
		elog(ERROR, "function %s has no names of arguments", NameStr(declared->proname));
	modes = SysCacheGetAttr(PROCOID, function, Anum_pg_proc_proargmodes, &isnull);
	arguments->n = get_func_input_arg_names(names, isnull ? (Datum) 0 : modes, &arguments->names);
	arguments->types = buildoidvector(declared->proargtypes.values, arguments->n)->values;
}

/*
 * Find for each argument of a function of a value the given one with its name and type; the sketch
 * has the place of the name.  Return how many there are, or 0 if one has none.
 */
static int
match_arguments(const Answer *answer, const Arguments *taken, Oid sketch, int *from)
{
	const Arguments *given = &answer->given;

	for (int i = 0; i < taken->n; i++)
	{
		from[i] = taken->types[i] == sketch ? answer->release : -1;
		for (int k = 0; k < given->n && from[i] < 0; k++)
			if (taken->types[i] == given->types[k] && strcmp(taken->names[i], given->names[k]) == 0)
				from[i] = k;
		if (from[i] < 0)
			return 0;
	}
	return taken->n;
}

/* Find the function of a value that takes most of the given arguments; return its OID. */
static Oid
find_value_function(Answer *answer, Oid schema, const char *name)
{
	Oid found = InvalidOid;
	Oid sketch;
	ListCell *cell;

	foreach (cell, race_library_functions(schema, name, &sketch))
	{
		HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(lfirst_oid(cell)));
		Arguments taken;
		int from[FUNC_MAX_ARGS];
		int n;

		if (!HeapTupleIsValid(tuple))
			continue;
		read_arguments(tuple, &taken);
		ReleaseSysCache(tuple);
		n = match_arguments(answer, &taken, sketch, from);
		if (n <= answer->n)
			continue;
		found = lfirst_oid(cell);
		answer->n = n;
		memcpy(answer->from, from, sizeof(from));
	}
	if (!OidIsValid(found))
		race_refuse_dropped(psprintf("function %s", name));
	return found;
}

/* Set the function of a value, with an expression that says which types its arguments have. */
static void
set_value_function(Answer *answer, FmgrInfo *by_name, Oid function)
{
	MemoryContext old = MemoryContextSwitchTo(by_name->fn_mcxt);
	List *arguments = NIL;

	fmgr_info(function, &answer->value);
	for (int i = 0; i < answer->n; i++)
	{
		Oid type = get_fn_expr_argtype(by_name, answer->from[i]);

		arguments =
			lappend(arguments, makeNullConst(OidIsValid(type) ? type : UNKNOWNOID, -1, InvalidOid));
	}
	fmgr_info_set_expr((Node *) makeFuncExpr(function, get_func_rettype(function), arguments,
											 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL),
					   &answer->value);
	MemoryContextSwitchTo(old);
}

/* Find the function whose name begins with "_" and ends so, with the same arguments. */
static bool
find_internal(Answer *answer, FmgrInfo *by_name, Form_pg_proc declared, const char *end)
{
	Oid function = GetSysCacheOid3(
		PROCNAMEARGSNSP, Anum_pg_proc_oid,
		CStringGetDatum(psprintf("_%s%s", NameStr(declared->proname), end)),
		PointerGetDatum(&declared->proargtypes), ObjectIdGetDatum(race_schema_of(by_name->fn_oid)));

	if (OidIsValid(function))
	{
		fmgr_info_cxt(function, &answer->internal, by_name->fn_mcxt);
		fmgr_info_set_expr(by_name->fn_expr, &answer->internal);
	}
	return OidIsValid(function);
}

/* Return how to compute an answer, which a call site looks up once. */
static Answer *
find_answer(FmgrInfo *by_name)
{
	MemoryContext old = MemoryContextSwitchTo(by_name->fn_mcxt);
	Answer *answer = palloc0(sizeof(Answer));
	HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(by_name->fn_oid));
	Form_pg_proc declared;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", by_name->fn_oid);
	declared = (Form_pg_proc) GETSTRUCT(tuple);
	if (!find_internal(answer, by_name, declared, ""))
	{
		read_arguments(tuple, &answer->given);
		/* bound: one of our arguments has this name */
		while (strcmp(answer->given.names[answer->release], "release") != 0)
			answer->release++;
		set_value_function(answer, by_name,
						   find_value_function(answer, race_schema_of(by_name->fn_oid),
											   NameStr(declared->proname)));
		(void) find_internal(answer, by_name, declared, "_of_sketches");
		fmgr_info_copy(&answer->released, by_name, by_name->fn_mcxt);
		answer->released.fn_addr = race_released;
	}
	ReleaseSysCache(tuple);
	MemoryContextSwitchTo(old);
	return answer;
}

/* --------------------------------------------------------------------- values */

/* Return the value of a release, or of any of its labels. */
static NullableDatum
find_value(Answer *answer, FunctionCallInfo fcinfo, PGFunction find)
{
	LOCAL_FCINFO(call, 2);
	NullableDatum value;

	answer->released.fn_addr = find;
	InitFunctionCallInfoData(*call, &answer->released, 2, InvalidOid, NULL, NULL);
	call->args[0] = fcinfo->args[answer->release];
	call->args[1].isnull = true;
	value.value = FunctionCallInvoke(call);
	value.isnull = call->isnull;
	return value;
}

/* Refuse a condition on a release without columns; one that is empty is none. */
static void
check_no_condition(const Arguments *given, FunctionCallInfo fcinfo, const char *release)
{
	for (int i = 0; i < given->n; i++)
	{
		const Jsonb *where;

		if (strcmp(given->names[i], "where") != 0 || fcinfo->args[i].isnull)
			continue;
		where = DatumGetJsonbP(fcinfo->args[i].value);
		if (!JB_ROOT_IS_OBJECT(where) || JB_ROOT_COUNT(where) > 0)
			ereport(
				ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("release \"%s\" has no tables of columns", release),
				 errhint(
					 "This is asked of releases that race_release made, of columns of a dataset: race_catalog shows which these are.")));
	}
}

/* Refuse what a release of columns does not take: a label, or smoothing. */
static void
check_no_others(const Answer *answer, FunctionCallInfo fcinfo, const char *release)
{
	for (int i = 0; i < answer->given.n; i++)
	{
		bool taken = fcinfo->args[i].isnull || i == answer->release;

		for (int k = 0; k < answer->n && !taken; k++)
			taken = answer->from[k] == i;
		if (!taken && answer->given.types[i] == TEXTOID)
		{
			const char *label = race_cut(text_to_cstring(DatumGetTextPP(fcinfo->args[i].value)));

			ereport(
				ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("release \"%s\" has no label \"%s\"", release, label),
				 errhint(
					 "It was made by columns. Where there is a condition, it says which records: \"where\" => '{\"column\": \"%s\"}'.",
					 label)));
		}
		if (!taken)
			ereport(
				ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("release \"%s\" counts columns: it has no smoothing", release),
				 errhint(
					 "Leave smoothing out; with fewer steps or bins there is less noise in each.")));
	}
}

/* Decide whether the value of a release has columns; refuse arguments that it does not take. */
static bool
has_columns(Answer *answer, FunctionCallInfo fcinfo)
{
	NullableDatum value = find_value(answer, fcinfo, race_released_any);
	const char *release;
	RaceView view;

	if (value.isnull)
		return false;
	release = race_cut(text_to_cstring(DatumGetTextPP(fcinfo->args[answer->release].value)));
	race_sketch_view_columns(value.value, &view);
	if (view.columns_size > 0 && view.params->kind == RACE_KIND_TABLES)
	{
		check_no_others(answer, fcinfo, release);
		return true;
	}
	check_no_condition(&answer->given, fcinfo, release);
	return false;
}

/* ----------------------------------------------------------------------- rows */

/* Find for each column of a row by name that of a row of a value. */
static void
match_columns(Answer *answer, FunctionCallInfo fcinfo, HeapTupleHeader row)
{
	MemoryContext old = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
	TupleDesc desc =
		lookup_rowtype_tupdesc(HeapTupleHeaderGetTypeId(row), HeapTupleHeaderGetTypMod(row));

	answer->row_type = HeapTupleHeaderGetTypeId(row);
	answer->row_typmod = HeapTupleHeaderGetTypMod(row);
	answer->row = CreateTupleDescCopy(desc);
	ReleaseTupleDesc(desc);
	(void) get_call_result_type(fcinfo, NULL, &answer->wanted);
	answer->wanted = BlessTupleDesc(CreateTupleDescCopy(answer->wanted));
	answer->column = palloc0(answer->wanted->natts * sizeof(int));
	for (int i = 0; i < answer->wanted->natts; i++)
		for (int k = 0; k < answer->row->natts; k++)
			if (strcmp(NameStr(TupleDescAttr(answer->wanted, i)->attname),
					   NameStr(TupleDescAttr(answer->row, k)->attname)) == 0)
				answer->column[i] = k + 1;
	MemoryContextSwitchTo(old);
}

/* Return a row of a value as one of the function by name, with NULL for columns of sketches. */
static Datum
convert_row(Answer *answer, FunctionCallInfo fcinfo, Datum datum)
{
	HeapTupleHeader row = DatumGetHeapTupleHeader(datum);
	HeapTupleData tuple = {.t_len = HeapTupleHeaderGetDatumLength(row), .t_data = row};
	Datum values[MaxTupleAttributeNumber];
	bool nulls[MaxTupleAttributeNumber];
	Datum *wanted;
	bool *missing;

	if (answer->row == NULL || answer->row_type != HeapTupleHeaderGetTypeId(row) ||
		answer->row_typmod != HeapTupleHeaderGetTypMod(row))
		match_columns(answer, fcinfo, row);
	heap_deform_tuple(&tuple, answer->row, values, nulls);
	wanted = palloc(answer->wanted->natts * sizeof(Datum));
	missing = palloc(answer->wanted->natts * sizeof(bool));
	for (int i = 0; i < answer->wanted->natts; i++)
	{
		int column = answer->column[i];

		missing[i] = column == 0 || nulls[column - 1];
		wanted[i] = missing[i] ? (Datum) 0 : values[column - 1];
	}
	return HeapTupleGetDatum(heap_form_tuple(answer->wanted, wanted, missing));
}

/* -------------------------------------------------------------------- answers */

/* Call the internal function with the same arguments, and the place of its result rows. */
static Datum
call_internal(Answer *answer, FunctionCallInfo fcinfo)
{
	LOCAL_FCINFO(call, FUNC_MAX_ARGS);
	Datum result;

	InitFunctionCallInfoData(*call, &answer->internal, fcinfo->nargs, fcinfo->fncollation, NULL,
							 fcinfo->resultinfo);
	for (int i = 0; i < fcinfo->nargs; i++)
		call->args[i] = fcinfo->args[i];
	result = FunctionCallInvoke(call);
	fcinfo->isnull = call->isnull;
	return result;
}

/* Call the function of a value with the arguments that it takes. */
static Datum
call_value_function(Answer *answer, FunctionCallInfo fcinfo)
{
	LOCAL_FCINFO(call, FUNC_MAX_ARGS);
	Datum result;

	InitFunctionCallInfoData(*call, &answer->value, answer->n, fcinfo->fncollation, NULL,
							 fcinfo->resultinfo);
	for (int i = 0; i < answer->n; i++)
		call->args[i] = answer->from[i] == answer->release ?
			find_value(answer, fcinfo, race_released) :
			fcinfo->args[answer->from[i]];
	result = FunctionCallInvoke(call);
	fcinfo->isnull = call->isnull;
	return answer->of_columns && !fcinfo->isnull ? convert_row(answer, fcinfo, result) : result;
}

static Datum
call_answer(FunctionCallInfo fcinfo)
{
	Answer *answer = (Answer *) fcinfo->flinfo->fn_extra;
	int level = race_settings_fix();
	bool by_value;
	Datum result;

	if (answer == NULL)
		fcinfo->flinfo->fn_extra = answer = find_answer(fcinfo->flinfo);
	/* what gives the first of many rows gives all of them */
	if (OidIsValid(answer->value.fn_oid) && OidIsValid(answer->internal.fn_oid) &&
		!(fcinfo->flinfo->fn_retset && answer->value.fn_extra != NULL))
		answer->of_columns = has_columns(answer, fcinfo);
	by_value = answer->of_columns || !OidIsValid(answer->internal.fn_oid);
	result = by_value ? call_value_function(answer, fcinfo) : call_internal(answer, fcinfo);
	race_settings_restore(level);
	return result;
}

/* Implement race_count(release, ...) etc.; errors keep only the caller's lines. */
Datum
race_answer(PG_FUNCTION_ARGS)
{
	MemoryContext caller = CurrentMemoryContext;
	volatile Datum result = (Datum) 0;

	PG_TRY();
	{
		/* the lines of the caller are added when the error is raised again */
		error_context_stack = NULL;
		result = call_answer(fcinfo);
	}
	PG_CATCH();
	{
		race_rethrow_without_context(caller);
	}
	PG_END_TRY();
	return result;
}
