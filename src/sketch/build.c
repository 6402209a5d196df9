/*
 * build.c
 *		Records into sketches: race_build, race_add, race_remove.
 */
#include "postgres.h"

#include "fmgr.h"
#if PG_VERSION_NUM >= 180000
#include "nodes/supportnodes.h"
#endif

#include "../cache/call_site.h"
#include "../lsh/grid.h"
#include "../record/prepared.h"
#include "../server/argument.h"
#include "build.h"
#include "pool.h"
#include "sketch.h"

PG_FUNCTION_INFO_V1(race_sketch_empty);
PG_FUNCTION_INFO_V1(race_add);
PG_FUNCTION_INFO_V1(race_remove);
PG_FUNCTION_INFO_V1(race_build_step);
PG_FUNCTION_INFO_V1(race_build_undo);
PG_FUNCTION_INFO_V1(race_build_record_step);
PG_FUNCTION_INFO_V1(race_build_record_undo);
PG_FUNCTION_INFO_V1(race_is_record);
PG_FUNCTION_INFO_V1(race_record_make);
PG_FUNCTION_INFO_V1(race_update_support);

/*
 * A new exact sketch.  A grid of several levels cannot be built: race_privatize makes them
 * of one.
 */
RaceSketch *
race_build_create(FunctionCallInfo fcinfo, const RaceParams *params)
{
	race_params_check_complete(params);
	race_params_check_exact(params);
	if (race_is_grid(params) && race_grid_levels(params) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a grid with coarse cells besides cannot be built"),
				 errdetail("The parameters are %s.", race_params_brief(params)),
				 errhint("race_privatize makes it of a grid with cells alone.")));
	return race_sketch_create(params, params->rows, 1, race_result_context(fcinfo));
}

/* race_sketch(race_params): a sketch without records */
Datum
race_sketch_empty(PG_FUNCTION_ARGS)
{
	return RaceSketchGetDatum(race_build_create(fcinfo, race_params_arg(PG_GETARG_DATUM(0))));
}

void
race_build_read(FunctionCallInfo fcinfo, int arg, RaceSketch *sketch)
{
	RaceCallSite *site = race_call_site(fcinfo, arg);

	race_call_site_hold_rows(site, sketch->params);
	race_record_read(&site->reader, sketch->params, PG_GETARG_DATUM(arg),
					 race_sketch_next(sketch), false);
}

/* The same of a race_record.  It needs no call site, and no expression that says its type. */
static void
read_prepared(FunctionCallInfo fcinfo, int arg, RaceSketch *sketch)
{
	race_prepared_read(PG_GETARG_DATUM(arg), sketch->params, race_sketch_next(sketch));
}

typedef void (*RecordReader) (FunctionCallInfo fcinfo, int arg, RaceSketch *sketch);

/* Add the record in argument `arg` to argument 0, or remove it. */
static Datum
update(FunctionCallInfo fcinfo, int arg, RecordReader read, int weight)
{
	RaceSketch *sketch = race_writable_arg(fcinfo, NULL);

	race_check_exact(&sketch->header, "given other records");
	race_check_whole(&sketch->header, "changed record by record",
					 "Build a pair of other records, and add up both lower and both upper halves.");
	read(fcinfo, arg, sketch);
	race_sketch_add(sketch, weight);
	return RaceSketchGetDatum(sketch);
}

Datum
race_add(PG_FUNCTION_ARGS)
{
	return update(fcinfo, 1, race_build_read, 1);
}

Datum
race_remove(PG_FUNCTION_ARGS)
{
	return update(fcinfo, 1, race_build_read, -1);
}

/* The parameters of a call of this aggregate. Nothing else may call it. */
static const RaceParams *
build_params(FunctionCallInfo fcinfo, const char *aggregate)
{
	(void) race_aggregate_context(fcinfo, aggregate);
	if (PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s needs parameters, found NULL", aggregate)));
	return race_params_arg(PG_GETARG_DATUM(1));
}

/*
 * Transition of race_build(params, x).  A NULL record adds nothing, but leaves an empty sketch: an empty release must still be noise,
 * and a moving transition may not return NULL.
 */
static Datum
build_step(FunctionCallInfo fcinfo, RecordReader read)
{
	const RaceParams *params = build_params(fcinfo, "race_build");
	RaceSketch *sketch;

	if (PG_ARGISNULL(0))
		sketch = race_build_create(fcinfo, params);
	else
		sketch = race_writable_arg(fcinfo, NULL);
	race_check_exact(&sketch->header, "given other records");
	race_params_check_same(sketch->params, params);
	if (!PG_ARGISNULL(2))
	{
		read(fcinfo, 2, sketch);
		race_sketch_add(sketch, 1);
	}
	return RaceSketchGetDatum(sketch);
}

Datum
race_build_step(PG_FUNCTION_ARGS)
{
	return build_step(fcinfo, race_build_read);
}

Datum
race_build_record_step(PG_FUNCTION_ARGS)
{
	return build_step(fcinfo, read_prepared);
}

/* Inverse transition of race_build in a moving window */
static Datum
build_undo(FunctionCallInfo fcinfo, RecordReader read)
{
	(void) build_params(fcinfo, "race_build");
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(2))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	return update(fcinfo, 2, read, -1);
}

Datum
race_build_undo(PG_FUNCTION_ARGS)
{
	return build_undo(fcinfo, race_build_read);
}

Datum
race_build_record_undo(PG_FUNCTION_ARGS)
{
	return build_undo(fcinfo, read_prepared);
}

/*
 * race_is_record(params, x): could x be added to a sketch? For NULL the answer is no.
 * A type that has no records is an error, for NULL too.
 */
Datum
race_is_record(PG_FUNCTION_ARGS)
{
	RaceCallSite *site = race_call_site(fcinfo, 1);
	const RaceParams *params;
	Datum		x;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	params = race_params_arg(PG_GETARG_DATUM(0));
	race_params_check_complete(params);
	if (PG_ARGISNULL(1))
	{
		race_record_check_types(&site->reader, params);
		PG_RETURN_BOOL(false);
	}
	/* the caller will hash the record next, so prepare for that */
	race_call_site_hold_rows(site, params);
	x = PG_GETARG_DATUM(1);
	PG_RETURN_BOOL(race_record_read(&site->reader, params, x, site->next, true));
}

/* race_record(params, x): x as it is hashed */
Datum
race_record_make(PG_FUNCTION_ARGS)
{
	RaceCallSite *site = race_call_site(fcinfo, 1);
	const RaceParams *params = race_params_arg(PG_GETARG_DATUM(0));

	race_params_check_complete(params);
	race_call_site_hold_rows(site, params);
	site->next->are_queries = false;
	race_record_read(&site->reader, params, PG_GETARG_DATUM(1), site->next, false);
	PG_RETURN_DATUM(race_prepared_datum(site->next, params));
}

/*
 * From 18 on, plpgsql asks whether s := race_add(s, x) may change s where it
 * is.  It may: an error leaves s as it was (race_sketch_next).
 */
Datum
race_update_support(PG_FUNCTION_ARGS)
{
	Node	   *answer = NULL;

#if PG_VERSION_NUM >= 180000
	Node	   *request = (Node *) PG_GETARG_POINTER(0);

	if (IsA(request, SupportRequestModifyInPlace))
	{
		SupportRequestModifyInPlace *modify = (SupportRequestModifyInPlace *) request;
		Param	   *variable = (Param *) linitial(modify->args);

		if (variable != NULL && IsA(variable, Param) &&
			variable->paramkind == PARAM_EXTERN &&
			variable->paramid == modify->paramid)
			answer = (Node *) variable;
	}
#endif
	(void) fcinfo;
	PG_RETURN_POINTER(answer);
}
