/*
 * cost.c
 *		What a budget holds in rho of zero-concentrated privacy, and for which units.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"

#include "../noise/noise.h"
#include "../privacy/checked_plan.h"

PG_FUNCTION_INFO_V1(race_check_unit);
PG_FUNCTION_INFO_V1(race_rho_limit);
PG_FUNCTION_INFO_V1(race_rho_epsilon);

/*
 * race_check_unit(max_contributions, neighbors): raise what a release of such units
 * would
 */
Datum
race_check_unit(PG_FUNCTION_ARGS)
{
	int			rows = 1;
	RaceParams	any = {.rows = rows};

	(void) race_make_request(&any, 1, 0, &rows, PG_GETARG_INT32(0),
							 text_to_cstring(PG_GETARG_TEXT_PP(1)), false);
	PG_RETURN_VOID();
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
