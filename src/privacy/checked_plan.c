/*
 * checked_plan.c
 *		Requests from the arguments of functions; plans, or an error where there is none.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "../server/text.h"
#include "checked_plan.h"

static double
checked_epsilon(double epsilon)
{
	if (!(epsilon >= RACE_MIN_EPSILON && epsilon <= RACE_MAX_EPSILON))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("epsilon must be a number between %g and %g",
						RACE_MIN_EPSILON, RACE_MAX_EPSILON)));
	return epsilon;
}

double
race_checked_delta(double delta)
{
	if (!(delta == 0 || (delta >= RACE_MIN_DELTA && delta < 1)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("delta must be 0, or a number from %g to below 1",
						RACE_MIN_DELTA)));
	return delta;
}

static uint32
checked_rows(int rows, uint32 available)
{
	if (rows < 1 || (uint32) rows > available)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("rows must be between 1 and the %u rows of the sketch",
						available)));
	if ((rows & (rows - 1)) != 0 && (uint32) rows != available)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("rows must be a power of two, or all %u rows of the sketch",
						available)));
	return rows;
}

static uint32
checked_contributions(int max_contributions)
{
	if (max_contributions < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("max_contributions must be at least 1")));
	return max_contributions;
}

static RaceNeighbors
checked_neighbors(const char *name)
{
	if (strcmp(name, "add_remove") == 0)
		return RACE_NEIGHBORS_ADD_REMOVE;
	if (strcmp(name, "substitute") == 0)
		return RACE_NEIGHBORS_SUBSTITUTE;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unknown neighbors \"%s\"", race_cut(name)),
			 errhint("Use add_remove or substitute.")));
	return 0;					/* not reached */
}

RaceRequest
race_make_request(const RaceParams *params, double epsilon, double delta,
				  const int *rows, int max_contributions, const char *neighbors, bool fit)
{
	RaceRequest request;

	request.fit = fit;
	request.epsilon = checked_epsilon(epsilon);
	request.delta = race_checked_delta(delta);
	request.rows = rows == NULL ? 0 : checked_rows(*rows, params->rows);
	request.max_contributions = checked_contributions(max_contributions);
	request.neighbors = checked_neighbors(neighbors);
	return request;
}

bool
race_read_request(FunctionCallInfo fcinfo, const RaceParams *params, int rows_arg,
				  int fit_arg, RaceRequest *request)
{
	int			rows = PG_ARGISNULL(rows_arg) ? 0 : PG_GETARG_INT32(rows_arg);
	int			i;

	for (i = 1; i < rows_arg + 3; i++)
		if (i != rows_arg && PG_ARGISNULL(i))
			return false;
	if (fit_arg > 0 && PG_ARGISNULL(fit_arg))
		return false;
	*request = race_make_request(params, PG_GETARG_FLOAT8(1), PG_GETARG_FLOAT8(2),
								 PG_ARGISNULL(rows_arg) ? NULL : &rows,
								 PG_GETARG_INT32(rows_arg + 1),
								 text_to_cstring(PG_GETARG_TEXT_PP(rows_arg + 2)),
								 fit_arg > 0 && PG_GETARG_BOOL(fit_arg));
	return true;
}

void
race_refuse_noise(const RaceRequest *request, uint32 rows)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("the noise would be too large for a counter"),
			 errdetail("epsilon is %g, delta %g, rows %u, max_contributions %u.",
					   request->epsilon, request->delta, rows,
					   request->max_contributions)));
}

void
race_check_plan(const RaceRequest *request, const RaceParams *params, RaceKept kept,
				RacePlan *plan)
{
	if (!race_plan_release(request, params, kept, plan))
		race_refuse_noise(request, kept.rows);
}

void
race_check_usual_plan(const RaceRequest *request, const RaceParams *params, double mass,
					  RacePlan *plan)
{
	race_check_plan(request, params, race_most_kept(request, params), plan);
	if (request->rows == 0)
		race_check_plan(request, params, race_choose_kept(request, params, mass), plan);
}

double
race_request_rho(const RaceRequest *request, const RaceParams *params)
{
	RaceKept	kept = race_most_kept(request, params);
	RacePlan	plan;
	double		rho;

	race_check_plan(request, params, kept, &plan);
	if (request->delta == 0)
		return race_rho_of_pure(request->epsilon);
	/* rounding is not the same for each number of levels */
	rho = plan.noise.rho;
	while (--kept.grid.levels > 0)
	{
		race_check_plan(request, params, kept, &plan);
		rho = Max(rho, plan.noise.rho);
	}
	return rho;
}
