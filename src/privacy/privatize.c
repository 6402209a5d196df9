/*
 * privatize.c
 *		race_privatize: noise, once, for everything that is asked later.
 *
 * Privacy (Coleman & Shrivastava 2021, theorem 3.2, with an integer mechanism
 * and a count of its own): a record is in one counter of each row, so adding
 * or removing a person with at most m records changes the R rows by at most mR
 * in L1, and the count by at most m.  Discrete Laplace noise of scale b on
 * integers of sensitivity D is D / b differentially private (Canonne, Kamath &
 * Steinke 2020); counters and count compose to the sum of both.
 *
 * Substituting the records of a person is removing and adding: everything
 * doubles.  Within one table the count would not change; but where tables are
 * split by class or shard a record may leave one sketch for another, and then
 * its count costs what adding and removing cost in two.
 *
 * What depends on data: the noisy counters and the noisy count.  All else,
 * errors included, depends on the arguments and public parameters alone.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "../noise/noise.h"
#include "../sketch/pool.h"
#include "../sketch/sketch.h"
#include "random.h"

PG_FUNCTION_INFO_V1(race_privatize);

/* What the caller asks of a release, checked */
typedef struct Request
{
	double		epsilon;
	uint32		rows;
	uint32		max_contributions;
	RaceNeighbours neighbours;
} Request;

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

static void
check_delta(double delta)
{
	if (!(delta >= 0 && delta < 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("delta must be at least 0 and below 1")));
	if (delta > 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("delta > 0 is not supported yet"),
				 errhint("Use delta => 0, which is pure epsilon-differential privacy.")));
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

static RaceNeighbours
checked_neighbours(const char *name)
{
	if (strcmp(name, "add_remove") == 0)
		return RACE_NEIGHBOURS_ADD_REMOVE;
	if (strcmp(name, "substitute") == 0)
		return RACE_NEIGHBOURS_SUBSTITUTE;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unknown neighbours \"%s\"", name),
			 errhint("Use add_remove or substitute.")));
	return 0;					/* not reached */
}

/* Arguments 1 to 5 of race_privatize, none of them NULL but perhaps rows */
static void
read_request(FunctionCallInfo fcinfo, const RaceParams *params,
			 Request *request)
{
	request->epsilon = checked_epsilon(PG_GETARG_FLOAT8(1));
	check_delta(PG_GETARG_FLOAT8(2));
	if (PG_ARGISNULL(3))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("choosing the number of rows is not supported yet"),
				 errhint("Give rows, a power of two up to the %u rows of the sketch: more rows mean less sampling error and more noise.",
						 params->rows)));
	request->rows = checked_rows(PG_GETARG_INT32(3), params->rows);
	if (PG_GETARG_INT32(4) < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("max_contributions must be at least 1")));
	request->max_contributions = PG_GETARG_INT32(4);
	request->neighbours =
		checked_neighbours(text_to_cstring(PG_GETARG_TEXT_PP(5)));
}

static void
plan_noise(const Request *request, RaceLaplaceBudget *budget)
{
	uint64		count_sensitivity = (uint64) request->max_contributions *
		(request->neighbours == RACE_NEIGHBOURS_SUBSTITUTE ? 2 : 1);

	/* at most 2^31 * 2 * 2^25; beyond the limit the noise is too large */
	if (count_sensitivity > RACE_MAX_SENSITIVITY / request->rows ||
		!race_laplace_budget(request->epsilon,
							 count_sensitivity * request->rows,
							 count_sensitivity, budget))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the noise would be too large for a counter"),
				 errdetail("epsilon is %g, rows %u, max_contributions %u.",
						   request->epsilon, request->rows,
						   request->max_contributions)));
}

static void
describe_noise(RaceNoise *noise, const Request *request,
			   const RaceLaplaceBudget *budget)
{
	noise->status = RACE_STATUS_PRIVATE;
	noise->mechanism = RACE_MECHANISM_LAPLACE;
	noise->neighbours = request->neighbours;
	noise->max_contributions = request->max_contributions;
	noise->releases = 1;
	noise->epsilon = budget->epsilon;
	noise->delta = 0;
	noise->rho = race_rho_of_pure(budget->epsilon);
	noise->counter_variance = race_discrete_laplace_variance(budget->counter_scale);
	noise->count_variance = race_discrete_laplace_variance(budget->count_scale);
}

static int64
noisy(int64 value, uint64 scale)
{
	return race_bounded_sum(value,
							race_discrete_laplace(race_strong_random(), scale),
							false);
}

/* The first rows of `exact` with noise, as a new sketch */
static RaceSketch *
release(const RaceView *exact, const Request *request,
		const RaceLaplaceBudget *budget, MemoryContext context)
{
	RaceParams	params = exact->header->params;
	RaceSketch *sketch;
	int64	   *counters;
	Size		i = 0;
	uint32		row;

	params.rows = request->rows;
	sketch = race_sketch_create(&params, sizeof(int64), context);
	describe_noise(&sketch->header.noise, request, budget);
	sketch->header.count = noisy(exact->header->count, budget->count_scale);

	counters = (int64 *) sketch->counters;
	for (row = 0; row < params.rows; row++)
	{
		Size		end = i + params.range;

		CHECK_FOR_INTERRUPTS();
		for (; i < end; i++)
			counters[i] = noisy(race_counters_get(exact->counters, exact->width, i),
								budget->counter_scale);
	}
	return sketch;
}

/*
 * race_privatize(sketch, epsilon, delta, rows, max_contributions, neighbours)
 */
Datum
race_privatize(PG_FUNCTION_ARGS)
{
	RaceView	exact;
	Request		request;
	RaceLaplaceBudget budget;
	int			i;

	for (i = 0; i < PG_NARGS(); i++)
		if (i != 3 && PG_ARGISNULL(i))
			PG_RETURN_NULL();

	race_sketch_view(PG_GETARG_DATUM(0), &exact);
	race_check_exact(exact.header, "made private again");
	read_request(fcinfo, &exact.header->params, &request);
	plan_noise(&request, &budget);
	return RaceSketchGetDatum(release(&exact, &request, &budget,
									  race_result_context(fcinfo)));
}
