/*
 * cost.c
 *		What a release is charged, and what a budget holds, in rho of
 *		zero-concentrated privacy.
 */
#include "postgres.h"

#include "fmgr.h"

#include "../noise/noise.h"
#include "../privacy/plan.h"

PG_FUNCTION_INFO_V1(race_charge_rho);
PG_FUNCTION_INFO_V1(race_rho_limit);
PG_FUNCTION_INFO_V1(race_rho_epsilon);

/*
 * race_charge_rho(params, epsilon, delta, rows, max_contributions, neighbours):
 * rho of the release that race_privatize would make of any data, at most, or the
 * error that it would raise.  Where rows are chosen by the noisy count, the true
 * cost depends a little on it, so it is that of all epsilon.
 */
Datum
race_charge_rho(PG_FUNCTION_ARGS)
{
	const RaceParams *params;
	RaceRequest request;
	RacePlan	plan;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	params = race_params_arg(PG_GETARG_DATUM(0));
	race_params_check_complete(params);
	if (!race_read_request(fcinfo, params, 3, &request))
		PG_RETURN_NULL();
	race_plan_release(&request, request.rows > 0 ? request.rows : params->rows,
					  &plan);
	PG_RETURN_FLOAT8(request.delta > 0 ? plan.noise.rho :
					 race_rho_of_pure(request.epsilon));
}

/* race_rho_limit(epsilon, delta): the largest rho that they allow */
Datum
race_rho_limit(PG_FUNCTION_ARGS)
{
	double		epsilon = PG_GETARG_FLOAT8(0);
	double		delta = PG_GETARG_FLOAT8(1);

	if (!(epsilon >= RACE_MIN_EPSILON && epsilon <= RACE_MAX_EPSILON) ||
		!(delta >= RACE_MIN_DELTA && delta < 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a budget of zCDP needs epsilon between %g and %g, and delta above 0 and below 1",
						RACE_MIN_EPSILON, RACE_MAX_EPSILON)));
	PG_RETURN_FLOAT8(race_rho_allowed(epsilon, delta));
}

/* race_rho_epsilon(rho, delta): the smallest epsilon that rho implies at delta */
Datum
race_rho_epsilon(PG_FUNCTION_ARGS)
{
	double		rho = PG_GETARG_FLOAT8(0);
	double		delta = PG_GETARG_FLOAT8(1);

	if (!(rho >= 0) || !(delta >= RACE_MIN_DELTA && delta < 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("rho must be at least 0, and delta above 0 and below 1")));
	PG_RETURN_FLOAT8(race_epsilon_of_rho(rho, delta));
}
