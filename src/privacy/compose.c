/*
 * compose.c
 *		race_compose: what several releases about the same people cost together.
 *
 * Two accounts, each an upper bound.  Basic composition: epsilons and deltas add
 * up (Dwork & Roth 2014, theorem 3.16).  Zero-concentrated privacy: rhos add up
 * (Bun & Steinke 2016, lemma 2.3), and their sum means an epsilon at a delta
 * (zcdp.c).  The smaller epsilon at that delta is reported.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"

#include "../noise/noise.h"
#include "plan.h"

PG_FUNCTION_INFO_V1(race_compose_step);
PG_FUNCTION_INFO_V1(race_compose_final);

typedef struct Total
{
	int64		releases;
	double		epsilon;
	double		delta;
	double		rho;
	double		at_delta;		/* NaN: the sum of deltas */
} Total;

/* Argument `arg`, a cost; its error names it */
static double
cost_arg(FunctionCallInfo fcinfo, int arg, const char *name)
{
	double		cost;

	if (PG_ARGISNULL(arg))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s of a release must not be NULL", name),
				 errhint("An exact sketch has no finite cost.")));
	cost = PG_GETARG_FLOAT8(arg);
	if (!(cost >= 0 && isfinite(cost)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s of a release must be a finite number that is not negative",
						name)));
	return cost;
}

/* Argument `arg`, a delta; NaN if there is none */
static double
target_arg(FunctionCallInfo fcinfo, int arg)
{
	if (PG_NARGS() <= arg)
		return NAN;
	if (PG_ARGISNULL(arg))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("at_delta must not be NULL")));
	return race_checked_delta(PG_GETARG_FLOAT8(arg));
}

/* Transition of race_compose(epsilon, delta, rho [, at_delta]) */
Datum
race_compose_step(PG_FUNCTION_ARGS)
{
	Total	   *total = PG_ARGISNULL(0) ? NULL : (Total *) PG_GETARG_POINTER(0);
	double		at_delta = target_arg(fcinfo, 4);
	MemoryContext context;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "race_compose_step called in non-aggregate context");
	if (total == NULL)
	{
		total = MemoryContextAllocZero(context, sizeof(Total));
		total->at_delta = at_delta;
	}
	else if (total->at_delta != at_delta && !isnan(at_delta))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("all releases must be composed at the same delta")));
	total->releases++;
	total->epsilon = race_cost_sum(total->epsilon, cost_arg(fcinfo, 1, "epsilon"));
	total->delta = race_cost_sum(total->delta, cost_arg(fcinfo, 2, "delta"));
	total->rho = race_cost_sum(total->rho, cost_arg(fcinfo, 3, "rho"));
	PG_RETURN_POINTER(total);
}

Datum
race_compose_final(PG_FUNCTION_ARGS)
{
	const Total *total = PG_ARGISNULL(0) ? NULL : (Total *) PG_GETARG_POINTER(0);
	double		delta;
	double		basic;
	double		zcdp;
	TupleDesc	tupdesc;
	Datum		values[7];
	bool		nulls[7] = {false};

	if (total == NULL)
		PG_RETURN_NULL();
	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");

	delta = isnan(total->at_delta) ? total->delta : total->at_delta;
	basic = total->delta <= delta ? total->epsilon : INFINITY;
	zcdp = delta >= RACE_MIN_DELTA && delta < 1 ?
		race_epsilon_of_rho(total->rho, delta) : INFINITY;
	values[0] = Int64GetDatum(total->releases);
	values[1] = CStringGetTextDatum(basic <= zcdp ? "basic" : "zCDP");
	values[2] = Float8GetDatum(Min(basic, zcdp));
	values[3] = Float8GetDatum(delta);
	values[4] = Float8GetDatum(total->rho);
	values[5] = Float8GetDatum(basic);
	values[6] = Float8GetDatum(zcdp);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(tupdesc),
													  values, nulls)));
}
