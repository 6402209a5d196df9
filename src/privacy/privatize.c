/*
 * privatize.c
 *		race_privatize adds noise to a sketch; race_share adds one party's share of it.
 *
 * What depends on data: the noisy counters, the noisy count, noisy norms, and what is computed
 * from that count and these norms.  All else, errors included, depends on the arguments
 * and public parameters alone.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "../lsh/moments.h"
#include "../noise/noise.h"
#include "../sketch/pool.h"
#include "../sketch/sketch.h"
#include "cells.h"
#include "plan.h"
#include "privatize.h"
#include "random.h"

PG_FUNCTION_INFO_V1(race_privatize);
PG_FUNCTION_INFO_V1(race_privatize_moments);
PG_FUNCTION_INFO_V1(race_share);
PG_FUNCTION_INFO_V1(race_share_moments);

/* `value` plus noise of the scale or variance in the plan */
static int64
noisy(int64 value, const RacePlan *plan, uint64 noise)
{
	RaceRandom *random = race_strong_random();
	int64		draw = plan->noise.mechanism == RACE_MECHANISM_GAUSSIAN ?
		race_discrete_gaussian(random, noise) :
		race_discrete_laplace(random, noise);

	return race_bounded_sum(value, draw, false);
}

/* Counters that are drawn between two looks at interrupts */
#define COUNTERS_A_STEP		4096

/* Parameters of a release, which keeps fewer rows or cells; rows are counted apart */
static const RaceParams *
kept_params(const RaceParams *params, const RaceKept *kept)
{
	RaceParams *copy = race_params_copy(params, CurrentMemoryContext);

	if (race_is_grid(params))
		race_grid_apply(copy, kept->grid);
	return copy;
}

/* The exact counters of the levels of a grid that are kept, one after the other */
static void
fill_levels(const RaceView *exact, const RaceKept *kept, int64 *counters)
{
	int64	   *nodes;
	int64	   *next = counters;
	int			halvings = kept->grid.halvings;
	RaceGrid	grid;
	int			level;

	race_grid_of(exact->params, &grid);
	nodes = palloc_extended(grid.nodes * sizeof(int64), MCXT_ALLOC_HUGE);
	race_counters_load(exact->counters, exact->width, 0, grid.nodes, nodes);
	for (level = 0; level < kept->grid.levels; level++, halvings = RACE_GRID_LEVEL_HALVINGS)
	{
		for (; halvings > 0; halvings--)
		{
			race_grid_coarsen(&grid, nodes, nodes);
			race_grid_halve(&grid);
		}
		memcpy(next, nodes, grid.nodes * sizeof(int64));
		next += grid.nodes;
	}
	pfree(nodes);
}

/* What is kept of `exact`, without noise yet; the status is already that of a release. */
static RaceSketch *
keep(const RaceView *exact, const RacePlan *plan, MemoryContext context)
{
	const RaceParams *params = kept_params(exact->params, &plan->kept);
	RaceSketch *sketch = race_sketch_create(params, plan->kept.rows, sizeof(int64), context);

	sketch->header.noise = plan->noise;
	if (race_is_grid(params))
		fill_levels(exact, &plan->kept, (int64 *) sketch->counters);
	else
		race_counters_load(exact->counters, exact->width, 0, RaceCounters(sketch->params),
						   (int64 *) sketch->counters);
	return sketch;
}

/* Add noise to the counters of rows or grids. */
static void
add_noise(RaceSketch *sketch, const RacePlan *plan)
{
	int64	   *counters = (int64 *) sketch->counters;
	Size		i;

	for (i = 0; i < RaceCounters(sketch->params); i++)
	{
		if (i % COUNTERS_A_STEP == 0)
			CHECK_FOR_INTERRUPTS();
		counters[i] = noisy(counters[i], plan, plan->counter_noise);
	}
}

/* The difference of two Wishart matrices, as planned: the triangle of as many columns */
static int64 *
wishart_noise(uint32 columns, const RacePlan *plan)
{
	int64	   *triangle = palloc0(race_moments_counters(columns) * sizeof(int64));
	int64	   *work = palloc((Size) columns * (columns + 1) * sizeof(int64));
	int			sign;

	for (sign = -1; sign <= 1; sign += 2)
	{
		CHECK_FOR_INTERRUPTS();
		race_wishart(race_strong_random(), columns, plan->counter_noise, sign, work, triangle);
	}
	pfree(work);
	return triangle;
}

/*
 * Add noise to moments, in integers that are as coarse as planned: twice the variance on the
 * diagonal, if it is Gaussian; a Wishart matrix has that by itself.  Private moments have the bits
 * again that their noise does not have, so that they can be added up; noise shares stay as coarse,
 * as their sum must be.
 */
static void
add_noise_to_moments(RaceSketch *sketch, const RacePlan *plan)
{
	int64	   *counter = (int64 *) sketch->counters;
	uint32		columns = race_moments_columns(sketch->params);
	bool		share = plan->noise.status == RACE_STATUS_SHARE;
	int			coarser = plan->kept.coarser;
	int64		limit = RACE_MAX_COUNT >> coarser;
	bool		wishart = plan->noise.mechanism == RACE_MECHANISM_WISHART;
	int64	   *matrix = wishart ? wishart_noise(columns, plan) : NULL;
	uint64		noise = wishart ? plan->entry_noise : plan->counter_noise;
	uint64		on_diagonal = plan->noise.mechanism == RACE_MECHANISM_GAUSSIAN ? 2 * noise : noise;
	uint32		i;
	uint32		j;

	for (i = 0; i < columns; i++)
	{
		CHECK_FOR_INTERRUPTS();
		for (j = i; j < columns; j++, counter++)
		{
			*counter = noisy(race_moments_coarsen(*counter, coarser), plan,
							 i == j ? on_diagonal : noise);
			if (wishart)
				*counter = race_bounded_sum(*counter, *matrix++, false);
			if (!share)
				*counter = Max(Min(*counter, limit), -limit) * ((int64) 1 << coarser);
		}
	}
	if (share)
		sketch->params->coarser = (uint8) coarser;
}

/* What is kept of `exact` with noise, as a new sketch */
static RaceSketch *
release(const RaceView *exact, const RacePlan *plan, int64 noisy_count,
		MemoryContext context)
{
	RaceSketch *sketch = keep(exact, plan, context);

	sketch->header.count = noisy_count;
	if (race_is_moments(sketch->params))
		add_noise_to_moments(sketch, plan);
	else
		add_noise(sketch, plan);
	race_sketch_touch(sketch);
	return sketch;
}

/*
 * How many records a typical kernel sum is: half of the sum at an average record, which the
 * norms of rows tell (their squares, without collisions, over the records).  In 35 of 36 cases
 * this chose rows whose error is at most 1.25 times that of the best (test/bench/ROWS.md).  Where
 * noise drowns the norms, what is usual counts for more.
 */
static double
mass_by_norms(const RaceView *exact, int n, const RacePlan *plan, double records)
{
	const RaceParams *params = exact->params;
	double		noise = sqrt(race_discrete_laplace_variance(plan->choice_noise)) /
		(n * (double) params->rows);
	int64		sum = 0;
	double		norm;
	double		square;
	double		doubt;
	double		trust;
	int			i;

	for (i = 0; i < n; i++)
		sum += race_counters_norms(exact[i].counters, exact[i].width, params->rows,
								   params->range);
	norm = noisy(sum, plan, plan->choice_noise) / (n * (double) params->rows);
	square = norm * norm - noise * noise -
		race_collision_probability(params) * records * records;
	/* the standard deviation of its logarithm */
	doubt = norm > noise ? 2 * noise / norm : 2;
	trust = 1 / (1 + doubt * doubt);
	return pow(Max(square, noise * noise) / (2 * records), trust) *
		pow(race_usual_mass(records), 1 - trust);
}

/*
 * A mean of values is a ratio of sums.  Its error is largest where there are few records, and what
 * cells change is the same in both sums and nearly cancels.  So cells are chosen as for sums of
 * this part of a usual one.  On 6 real and 9 made tables these parts came near the best histogram
 * where others were farther from it: of 1/6 to 1/24 in one dimension, of 1/4 to 1/100 in two, of 1/16
 * to 1/100 in three, where smaller ones serve sharp edges and larger ones what is smooth.
 */
static const double part_of_halves[RACE_GRID_DIMS + 1] = {0, 1.0 / 12, 1.0 / 8, 1.0 / 100};

/*
 * The sum of the exact nodes of n halves, which is that of the whole, or the nodes of one sketch;
 * `space` has as many.
 */
static void
load_nodes(const RaceView *exact, int n, int64 *nodes, int64 *space)
{
	Size		range = exact->params->range;
	Size		k;
	int			i;

	race_counters_load(exact->counters, exact->width, 0, range, nodes);
	for (i = 1; i < n; i++)
	{
		race_counters_load(exact[i].counters, exact[i].width, 0, range, space);
		for (k = 0; k < range; k++)
			nodes[k] = race_bounded_sum(nodes[k], space[k], false);
	}
}

/* A look at a grid, which costs what the plan says whatever is seen */
static RaceCellsSeen
look_at_grid(const RaceView *exact, int n, const RacePlan *plan, int halvings)
{
	Size		size = exact->params->range * sizeof(int64);
	int64	   *nodes = palloc_extended(size, MCXT_ALLOC_HUGE);
	int64	   *space = palloc_extended(size, MCXT_ALLOC_HUGE);
	RaceCellsSeen seen;
	RaceGridLook look;

	load_nodes(exact, n, nodes, space);
	race_grid_look(exact->params, halvings, nodes, space, &look);
	pfree(nodes);
	pfree(space);
	seen.halvings = halvings;
	seen.detail = noisy((int64) look.detail, plan, plan->choice_noise);
	seen.spread = noisy((int64) look.spread, plan, plan->choice_noise);
	seen.scale = (double) plan->choice_noise / RACE_SCALE_DENOMINATOR;
	return seen;
}

/* Halves of a grid are exact in fewer halvings. */
static RaceKept
choose_cells(const RaceView *exact, int n, const RaceRequest *request, const RacePlan *plan,
			 double records)
{
	const RaceParams *params = exact->params;
	bool		halves = exact->header->noise.half != RACE_WHOLE;
	double		part = halves ? part_of_halves[params->dims] : 1;
	RaceKept	kept;
	RaceCells	cells;
	RaceGrid	grid;
	int			halvings;

	race_cells_list(request, params, race_usual_mass(records) * part, &cells);
	halvings = plan->choice_noise > 0 ? race_cells_look_at(params, &cells) : 0;
	kept = cells.usual;
	if (halvings > 0)
	{
		RaceCellsSeen seen = look_at_grid(exact, n, plan, halvings);

		kept = race_cells_choose(params, &cells, &seen, records, part);
	}
	if (halves)
	{
		race_grid_of(params, &grid);
		kept.grid.halvings = Min(kept.grid.halvings, race_grid_split_halvings(&grid) -
								 RACE_GRID_LEVEL_HALVINGS * (kept.grid.levels - 1));
	}
	return kept;
}

/* What to keep, if the request leaves it open */
static RaceKept
choose(const RaceView *exact, int n, const RaceRequest *request, const RacePlan *plan,
	   double records)
{
	if (race_is_grid(exact->params))
		return choose_cells(exact, n, request, plan, records);
	return race_choose_kept(request, exact->params, plan->choice_noise > 0 ?
							mass_by_norms(exact, n, plan, records) : race_usual_mass(records));
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
race_private_sketches(const RaceView *exact, int n, const RaceRequest *request,
					  MemoryContext context, RaceSketch **sketches)
{
	const RaceParams *params = exact[0].params;
	int64		counts[RACE_HALVES];
	double		mean = 0;
	RacePlan	plan;
	int			i;

	if (n == 1)
		refuse_half(exact);
	else
		race_check_belong(exact[RACE_LOWER].header, exact[RACE_UPPER].header);

	/*
	 * the noise is largest for all rows or levels: if it is too large, the error comes
	 * before any draw
	 */
	race_plan_release(request, params, race_most_kept(request, params), &plan);
	for (i = 0; i < n; i++)
	{
		counts[i] = noisy(exact[i].header->count, &plan, plan.count_noise);
		mean += (double) counts[i] / n;
	}
	if (request->rows == 0)
		race_plan_release(request, params, choose(exact, n, request, &plan, Max(mean, 1)),
						  &plan);
	for (i = 0; i < n; i++)
	{
		sketches[i] = release(&exact[i], &plan, counts[i],
							  AllocSetContextCreate(context, "private sketch",
													ALLOCSET_START_SMALL_SIZES));
		sketches[i]->header.noise.half = exact[i].header->noise.half;
	}
	if (n > 1)
		race_mark_pair(sketches);
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
	race_sketch_view(PG_GETARG_DATUM(0), &exact);
	race_check_exact(exact.header, "made private again");
	if (!race_read_request(fcinfo, exact.params, 3, 6, &request))
		PG_RETURN_NULL();
	return RaceSketchGetDatum(race_private_sketch(&exact, &request, CurrentMemoryContext));
}

/*
 * race_privatize(moments, epsilon, delta, max_contributions, neighbors)
 */
Datum
race_privatize_moments(PG_FUNCTION_ARGS)
{
	RaceView	exact;
	RaceRequest request;

	race_sketch_view(PG_GETARG_DATUM(0), &exact);
	race_check_exact(exact.header, "made private again");
	request = race_make_request(exact.params, PG_GETARG_FLOAT8(1), PG_GETARG_FLOAT8(2), NULL,
								PG_GETARG_INT32(3), text_to_cstring(PG_GETARG_TEXT_PP(4)), false);
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
make_share(FunctionCallInfo fcinfo, const RaceView *exact, const RaceRequest *request)
{
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
	race_plan_share(request, exact->params, &federation, &plan);

	sketch = release(exact, &plan, noisy(exact->header->count, &plan, plan.count_noise),
					 race_result_context(fcinfo));
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
	race_sketch_view(PG_GETARG_DATUM(0), &exact);
	race_check_exact(exact.header, "given noise again");
	refuse_half(&exact);
	if (!race_read_request(fcinfo, exact.params, 6, 0, &request))
		PG_RETURN_NULL();
	return make_share(fcinfo, &exact, &request);
}

/*
 * race_share(moments, epsilon, delta, parties, colluders, dropouts, max_contributions,
 * neighbors)
 */
Datum
race_share_moments(PG_FUNCTION_ARGS)
{
	RaceView	exact;
	RaceRequest request;

	race_sketch_view(PG_GETARG_DATUM(0), &exact);
	race_check_exact(exact.header, "given noise again");
	request = race_make_request(exact.params, PG_GETARG_FLOAT8(1), PG_GETARG_FLOAT8(2), NULL,
								PG_GETARG_INT32(6), text_to_cstring(PG_GETARG_TEXT_PP(7)), false);
	return make_share(fcinfo, &exact, &request);
}
