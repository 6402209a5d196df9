/*
 * privatize.c
 *		race_privatize adds noise to a sketch; race_share adds one party's share of it.
 *
 * What it draws, and what of that depends on data: draw.c.  All else, errors included, depends on
 * the arguments and public parameters alone.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/memutils.h"

#include "../lsh/moments.h"
#include "../noise/noise.h"
#include "../sketch/pool.h"
#include "../sketch/sketch.h"
#include "checked_plan.h"
#include "draw.h"
#include "privatize.h"
#include "random.h"

PG_FUNCTION_INFO_V1(race_privatize);
PG_FUNCTION_INFO_V1(race_share);

/* Parameters of a release, which keeps fewer rows or cells; rows are counted apart */
static const RaceParams *
kept_params(const RaceParams *params, const RaceKept *kept)
{
	RaceParams *copy = race_params_copy(params, CurrentMemoryContext);

	if (race_is_grid(params))
		race_grid_apply(copy, kept->grid);
	return copy;
}

static RaceExact
exact_of(const RaceView *view)
{
	bool		is_half = view->header->noise.half != RACE_WHOLE;
	RaceExact	exact = {view->params, view->counters, view->width, is_half, view->header->count};

	return exact;
}

/* Memory that draws work in */
static void *
workspace_for(const RaceParams *params)
{
	return palloc_extended(race_draw_workspace(params), MCXT_ALLOC_HUGE);
}

/* What is kept of `exact` with noise, as a new sketch */
static RaceSketch *
release(const RaceView *view, const RacePlan *plan, int64 noisy_count, void *workspace,
		MemoryContext context)
{
	RaceExact	exact = exact_of(view);
	RaceSketch *sketch = race_sketch_create(kept_params(view->params, &plan->kept),
											plan->kept.rows, sizeof(int64), context);

	sketch->header.noise = plan->noise;
	sketch->header.noise.half = view->header->noise.half;
	sketch->header.count = noisy_count;
	race_draw_counters(race_strong_random(), &exact, plan, workspace,
					   (int64 *) sketch->counters);
	if (plan->noise.status == RACE_STATUS_SHARE && race_is_moments(sketch->params))
		sketch->params->coarser = (uint8) plan->kept.coarser;
	race_sketch_touch(sketch);
	return sketch;
}

/*
 * What a half costs by itself does not tell what both cost together: with other rows in
 * each, a record may be in the rows that both keep, and cost twice.
 */
static void
refuse_half(const RaceView *exact)
{
	race_check_whole(exact->header, "given noise by itself",
					 "Give race_privatize both halves, as race_build_value returns them.");
}

void
race_private_sketches(const RaceView *views, int n, const RaceRequest *request,
					  MemoryContext context, RaceSketch **sketches)
{
	const RaceParams *params = views[0].params;
	void	   *workspace = workspace_for(params);
	RaceExact	exact[RACE_HALVES];
	int64		counts[RACE_HALVES];
	RacePlan	plan;
	int			i;

	if (n == 1)
		refuse_half(views);
	else
		race_check_belong(views[RACE_LOWER].header, views[RACE_UPPER].header);
	for (i = 0; i < n; i++)
		exact[i] = exact_of(&views[i]);
	if (!race_draw_plan(race_strong_random(), exact, n, request, workspace, counts, &plan))
		race_refuse_noise(request, race_most_kept(request, params).rows);
	for (i = 0; i < n; i++)
		sketches[i] = release(&views[i], &plan, counts[i], workspace,
							  AllocSetContextCreate(context, "private sketch",
													ALLOCSET_START_SMALL_SIZES));
	if (n > 1)
		race_mark_pair(sketches);
	pfree(workspace);
}

RaceSketch *
race_private_sketch(const RaceView *exact, const RaceRequest *request,
					MemoryContext context)
{
	RaceSketch *sketch;

	race_private_sketches(exact, 1, request, context, &sketch);
	return sketch;
}

/*
 * race_privatize(sketch, epsilon, delta, rows, max_contributions, neighbors, fit)
 */
Datum
race_privatize(PG_FUNCTION_ARGS)
{
	RaceView	exact;
	RaceRequest request;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	race_sketch_view_any(PG_GETARG_DATUM(0), &exact);
	race_check_exact(exact.header, "made private again");
	if (!race_read_request(fcinfo, exact.params, 3, 6, &request))
		PG_RETURN_NULL();
	return RaceSketchGetDatum(race_private_sketch(&exact, &request, CurrentMemoryContext));
}

/* The number of parties, of colluders and of dropouts */
static RaceFederation
read_federation(FunctionCallInfo fcinfo)
{
	int			parties = PG_GETARG_INT32(3);
	int			colluders = PG_GETARG_INT32(4);
	int			dropouts = PG_GETARG_INT32(5);
	RaceFederation federation;

	if (parties < 1 || parties > RACE_MAX_PARTIES || colluders < 0 || dropouts < 0 ||
		(int64) colluders + dropouts >= parties)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("parties must be between 1 and %d, and more than colluders and dropouts together",
						RACE_MAX_PARTIES)));
	federation.parties = parties;
	federation.colluders = colluders;
	federation.dropouts = dropouts;
	return federation;
}

/* The share of one party, and its noise, for a request that was checked */
static Datum
make_share(FunctionCallInfo fcinfo, const RaceView *view, const RaceRequest *request)
{
	RaceExact	exact = exact_of(view);
	RaceFederation federation;
	RacePlan	plan;
	RaceSketch *sketch;
	uint64		id;

	if (request->delta == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("noise shares need a delta above 0"),
				 errdetail("Sums of discrete Laplace noise are no discrete Laplace noise.")));
	federation = read_federation(fcinfo);
	if (!race_plan_share(request, view->params, &federation, &plan))
		race_refuse_noise(request, plan.kept.rows);

	sketch = release(view, &plan, race_draw_count(race_strong_random(), &exact, &plan),
					 workspace_for(view->params), race_result_context(fcinfo));
	id = race_random_id();
	race_sketch_set_shares(sketch, &id);
	return RaceSketchGetDatum(sketch);
}

/*
 * race_share(sketch, epsilon, delta, parties, colluders, dropouts, rows,
 * max_contributions, neighbors)
 */
Datum
race_share(PG_FUNCTION_ARGS)
{
	RaceView	exact;
	RaceRequest request;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	race_sketch_view_any(PG_GETARG_DATUM(0), &exact);
	race_check_exact(exact.header, "given noise again");
	refuse_half(&exact);
	if (!race_read_request(fcinfo, exact.params, 6, 0, &request))
		PG_RETURN_NULL();
	return make_share(fcinfo, &exact, &request);
}
