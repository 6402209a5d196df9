/*
 * privatize.c
 *		race_privatize: noise, once, for everything that is asked later.
 *
 * What depends on data: the noisy counters, the noisy count, and what is
 * computed from that count.  All else, errors included, depends on the arguments
 * and public parameters alone.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"

#include "../noise/noise.h"
#include "../sketch/pool.h"
#include "../sketch/sketch.h"
#include "plan.h"
#include "random.h"

PG_FUNCTION_INFO_V1(race_privatize);

/* `value` with noise of a scale or variance that a plan says */
static int64
noisy(int64 value, const RacePlan *plan, uint64 noise)
{
	RaceRandom *random = race_strong_random();
	int64		draw = plan->noise.mechanism == RACE_MECHANISM_LAPLACE ?
		race_discrete_laplace(random, noise) :
		race_discrete_gaussian(random, noise);

	return race_bounded_sum(value, draw, false);
}

/* Counters that are drawn between two looks at interrupts */
#define COUNTERS_A_STEP		4096

/* The first rows of `exact` with noise, as a new sketch */
static RaceSketch *
release(const RaceView *exact, const RacePlan *plan, int64 noisy_count,
		MemoryContext context)
{
	RaceSketch *sketch = race_sketch_create(exact->params, plan->rows, sizeof(int64),
											context);
	int64	   *counters = (int64 *) sketch->counters;
	Size		i;

	sketch->header.noise = plan->noise;
	sketch->header.count = noisy_count;

	for (i = 0; i < RaceCounters(sketch->params); i++)
	{
		if (i % COUNTERS_A_STEP == 0)
			CHECK_FOR_INTERRUPTS();
		counters[i] = noisy(race_counters_get(exact->counters, exact->width, i),
							plan, plan->counter_noise);
	}
	race_sketch_touch(sketch);
	return sketch;
}

/*
 * race_privatize(sketch, epsilon, delta, rows, max_contributions, neighbours)
 */
Datum
race_privatize(PG_FUNCTION_ARGS)
{
	RaceView	exact;
	RaceRequest request;
	RacePlan	plan;
	const RaceParams *params;
	int64		noisy_count;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	race_sketch_view(PG_GETARG_DATUM(0), &exact);
	params = exact.params;
	race_check_exact(exact.header, "made private again");
	if (!race_read_request(fcinfo, params, &request))
		PG_RETURN_NULL();

	/* all rows take the most noise: if they fail, it is before anything is drawn */
	race_plan_release(&request, request.rows > 0 ? request.rows : params->rows,
					  &plan);
	noisy_count = noisy(exact.header->count, &plan, plan.count_noise);
	if (request.rows == 0)
		race_plan_release(&request,
						  race_choose_rows(&request, params, noisy_count), &plan);
	return RaceSketchGetDatum(release(&exact, &plan, noisy_count,
									  race_result_context(fcinfo)));
}
