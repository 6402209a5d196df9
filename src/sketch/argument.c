/*
 * argument.c
 *		Arguments of SQL functions
 */
#include "postgres.h"

#include "utils/lsyscache.h"

#include "sketch/argument.h"

Oid
race_argument_type(const FmgrInfo *flinfo, int arg)
{
	Oid type = get_fn_expr_argtype(unconstify(FmgrInfo *, flinfo), arg);

	if (!OidIsValid(type))
		ereport(
			ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("could not determine the type of argument %d of %s", arg + 1,
					get_func_name(flinfo->fn_oid)),
			 errhint(
				 "Across servers (Citus) use aggregates of race_record: race_build_records(params, race_record(params, x)).")));
	return type;
}

MemoryContext
race_aggregate_context(FunctionCallInfo fcinfo, const char *aggregates)
{
	MemoryContext context;

	if (!AggCheckCallContext(fcinfo, &context))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("this function cannot be called outside of an aggregate"),
				 errhint("Call the aggregate itself: %s.", aggregates)));
	return context;
}
