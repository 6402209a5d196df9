/*
 * compose.c
 *		race_compose: what several releases about the same people cost together.
 *
 * The two accounts are in noise/state.h.  The smaller epsilon at a delta is reported.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"

#include "../noise/state.h"
#include "../server/argument.h"
#include "../server/result.h"
#include "checked_plan.h"

PG_FUNCTION_INFO_V1(race_compose_step);
PG_FUNCTION_INFO_V1(race_compose_final);

typedef struct State
{
	RaceTotal	total;
	double		at_delta;		/* NaN if none was given: the sum of deltas counts */
} State;

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
	MemoryContext context = race_aggregate_context(fcinfo, "race_compose");
	State	   *state = PG_ARGISNULL(0) ? NULL : (State *) PG_GETARG_POINTER(0);
	double		at_delta = target_arg(fcinfo, 4);
	double		epsilon;
	double		delta;

	if (state == NULL)
	{
		state = MemoryContextAllocZero(context, sizeof(State));
		state->at_delta = at_delta;
	}
	else if (state->at_delta != at_delta && !isnan(at_delta))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("all releases must be composed at the same delta")));
	epsilon = cost_arg(fcinfo, 1, "epsilon");
	delta = cost_arg(fcinfo, 2, "delta");
	race_total_add(&state->total, epsilon, delta, cost_arg(fcinfo, 3, "rho"));
	PG_RETURN_POINTER(state);
}

Datum
race_compose_final(PG_FUNCTION_ARGS)
{
	const State *state = PG_ARGISNULL(0) ? NULL : (State *) PG_GETARG_POINTER(0);
	RaceResultRow row;
	double		delta;
	double		basic;
	double		zcdp;

	if (state == NULL)
		PG_RETURN_NULL();
	race_row_start(&row, fcinfo);
	delta = isnan(state->at_delta) ? state->total.delta : state->at_delta;
	basic = race_total_basic(&state->total, delta);
	zcdp = race_total_zcdp(&state->total, delta);
	race_row_add(&row, Int64GetDatum(state->total.releases));
	race_row_add_text(&row, basic <= zcdp ? "basic" : "zCDP");
	race_row_add(&row, Float8GetDatum(Min(basic, zcdp)));
	race_row_add(&row, Float8GetDatum(delta));
	race_row_add(&row, Float8GetDatum(state->total.rho));
	race_row_add(&row, Float8GetDatum(basic));
	race_row_add(&row, Float8GetDatum(zcdp));
	PG_RETURN_DATUM(race_row_datum(&row));
}
