/*
 * privatize.c
 *		race_privatize, race_share and race_privacy_cost
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/array.h"

#include "privacy/noise.h"
#include "privacy/release_request.h"
#include "privacy/sampler.h"
#include "hash/contingency.h"
#include "hash/kernel.h"
#include "hash/kind.h"
#include "hash/loss_rows.h"
#include "hash/params.h"
#include "sketch/argument.h"
#include "sketch/params_draft.h"
#include "sketch/params_type.h"
#include "sketch/random.h"
#include "sketch/result.h"
#include "sketch/sketch.h"
#include "sketch/text.h"
#include "choice/choose_tables.h"
#include "choice/plan.h"
#include "choice/release_kind.h"
#include "release/privatize.h"

/*
 * race_privatize adds noise to a sketch; race_share adds one party's share of it.
 *
 * What it draws, and what of that depends on data: releases.c.  All else, errors included, depends
 * on the arguments and public parameters alone.
 */

PG_FUNCTION_INFO_V1(race_privatize);
PG_FUNCTION_INFO_V1(race_share);

/* Raise 22023: noise for `rows` rows would be too large for a counter. */
static void
refuse_noise(const RaceRequest *request, uint32 rows)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("the noise would be too large for a counter"),
			 errdetail("epsilon is %g, delta %g, rows %u, max_contributions %u.", request->epsilon,
					   request->delta, rows, request->max_contributions)));
}

/* Memory of a release on its way */
typedef struct Draft
{
	RaceRelease release;
	RaceExactMemory memory;
	RaceShape shape;
	int64 count;
} Draft;

/* Prepare the release of a view: hand its counters over as exact ones. */
static void
prepare_release(const RaceView *view, const RaceRequest *request, Draft *draft)
{
	const RaceParams *params = view->params;
	RaceExact *exact;

	race_shape_of(params, palloc(race_shape_ends(params) * sizeof(size_t)), &draft->shape);
	exact = race_exact_begin(&draft->memory, &draft->shape);
	if (view->header->noise.max_contributions != race_largest_weight(request))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("a sketch of records with weights gets noise in a release alone"),
				 errhint("race_release_sketch has weight and weight_max.")));
	race_exact_add(exact, view->counters, view->width, view->header->count,
				   Max(view->header->noise.max_contributions, 1));
	draft->release =
		(RaceRelease){.exact = exact,
					  .params = params,
					  .request = request,
					  .workspace = palloc_extended(race_draw_workspace(params), MCXT_ALLOC_HUGE)};
}

/* Make a sketch for the rows, cells or tables of a plan, without counters yet. */
static RaceSketch *
make_sketch(const RaceView *view, const RacePlan *plan, int64 noisy_count, MemoryContext context)
{
	const RaceSelection *selection = &plan->selection;
	RaceParams *params = selection->tables != NULL ?
		race_params_measured(view->params, &selection->tables->tables) :
		race_params_copy(view->params, CurrentMemoryContext);
	const RaceSummaryKind *kind = race_summary_kind(params);
	RaceSketch *sketch;

	if (selection->tables == NULL && kind->coarsen != NULL)
		kind->coarsen(params, selection->grid);
	sketch = race_sketch_create(params, selection->rows, sizeof(int64), context);
	sketch->header.noise = plan->noise;
	sketch->header.count = noisy_count;
	race_sketch_set_columns(sketch, view);
	if (plan->noise.status == RACE_STATUS_SHARE && kind->matrix)
		sketch->params->moments.coarser = (uint8) plan->products.coarser;
	return sketch;
}

/* Make the sketch of a release that has begun, and draw its counters. */
static RaceSketch *
finish_release(const RaceView *view, Draft *draft, MemoryContext context)
{
	RaceSketch *sketch =
		make_sketch(view, &draft->release.plan, draft->count,
					AllocSetContextCreate(context, "private sketch", ALLOCSET_START_SMALL_SIZES));

	if (!race_release_counters(&draft->release, (int64 *) sketch->counters))
		elog(ERROR, "the account of a release cannot pay what it planned");
	race_sketch_touch(sketch);
	pfree(draft->release.workspace);
	return sketch;
}

RaceSketch *
race_private_sketch(const RaceView *view, const RaceRequest *request, MemoryContext context)
{
	Draft draft;

	prepare_release(view, request, &draft);
	if (!race_release_begin(&draft.release, race_strong_random(), &draft.count))
		refuse_noise(request, race_largest_selection(request, view->params).rows);
	return finish_release(view, &draft, context);
}

void
race_combine_column(RaceSketch *sketch, const RaceColumnNumbers *numbers)
{
	race_sketch_widen(sketch, sizeof(int64));
	race_contingency_combine(sketch->params, sketch->counters, numbers);
	race_sketch_touch(sketch);
}

/*
 * Make a request from the arguments of a function: epsilon and delta are arguments 1 and 2; rows,
 * max_contributions and neighbors begin at `rows_arg`; fit is argument `fit_arg`, or false if that
 * is 0.  NULL rows are to be chosen.  Return false if another one of them is NULL.
 */
static bool
read_request(FunctionCallInfo fcinfo, const RaceParams *params, int rows_arg, int fit_arg,
			 RaceRequest *request)
{
	int rows = PG_ARGISNULL(rows_arg) ? 0 : PG_GETARG_INT32(rows_arg);

	for (int i = 1; i < rows_arg + 3; i++)
		if (i != rows_arg && PG_ARGISNULL(i))
			return false;
	if (fit_arg > 0 && PG_ARGISNULL(fit_arg))
		return false;
	*request = race_make_request(
		params, PG_GETARG_FLOAT8(1), PG_GETARG_FLOAT8(2), PG_ARGISNULL(rows_arg) ? NULL : &rows,
		PG_GETARG_INT32(rows_arg + 1), text_to_cstring(PG_GETARG_TEXT_PP(rows_arg + 2)),
		fit_arg > 0 && PG_GETARG_BOOL(fit_arg));
	return true;
}

/*
 * Make a sketch private: race_privatize(sketch, epsilon, delta, rows, max_contributions, neighbors,
 * fit).
 */
Datum
race_privatize(PG_FUNCTION_ARGS)
{
	RaceView exact;
	RaceRequest request;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	race_sketch_view_any(PG_GETARG_DATUM(0), &exact);
	race_check_exact(exact.header, "made private again");
	if (!read_request(fcinfo, exact.params, 3, 6, &request))
		PG_RETURN_NULL();
	return RaceSketchGetDatum(race_private_sketch(&exact, &request, CurrentMemoryContext));
}

/*
 * Make a noise share of a sketch: race_share(sketch, epsilon, delta, parties, colluders, dropouts,
 * rows, max_contributions, neighbors).
 */
Datum
race_share(PG_FUNCTION_ARGS)
{
	RaceView view;
	RaceRequest request;
	RaceFederation federation;
	Draft draft;
	RaceSketch *sketch;
	int parties;
	int colluders;
	int dropouts;
	uint64 id;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	race_sketch_view_any(PG_GETARG_DATUM(0), &view);
	race_check_exact(view.header, "given noise again");
	if (!read_request(fcinfo, view.params, 6, 0, &request))
		PG_RETURN_NULL();
	if (request.delta == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("noise shares need a delta above 0"),
				 errdetail("Sums of discrete Laplace noise are no discrete Laplace noise.")));
	parties = PG_GETARG_INT32(3);
	colluders = PG_GETARG_INT32(4);
	dropouts = PG_GETARG_INT32(5);
	if (parties < 1 || parties > RACE_MAX_PARTIES || colluders < 0 || dropouts < 0 ||
		(int64) colluders + dropouts >= parties)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg(
				 "parties must be between 1 and %d, and more than colluders and dropouts together",
				 RACE_MAX_PARTIES)));
	federation = (RaceFederation){parties, colluders, dropouts};
	prepare_release(&view, &request, &draft);
	if (!race_share_begin(&draft.release, race_strong_random(), &federation, &draft.count))
		refuse_noise(&request, draft.release.plan.selection.rows);
	sketch = finish_release(&view, &draft, race_result_context(fcinfo));
	id = race_random_id();
	race_sketch_set_shares(sketch, &id);
	return RaceSketchGetDatum(sketch);
}

/*
 * Requests from the arguments of functions; plans, or an error where there is none.
 */

double
race_checked_delta(double delta)
{
	if (!(delta == 0 || (delta >= RACE_MIN_DELTA && delta < 1)))
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("delta must be 0, or a number from %g to below 1", RACE_MIN_DELTA),
			 errhint(
				 "0 promises most. 1e-6 is usual, where there are fewer than a million persons.")));
	return delta;
}

double
race_checked_epsilon(double epsilon)
{
	if (!(epsilon >= RACE_MIN_EPSILON && epsilon <= RACE_MAX_EPSILON))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("epsilon must be a number between %g and %g", RACE_MIN_EPSILON,
						RACE_MAX_EPSILON),
				 errhint("1 is usual: less is more private.")));
	return epsilon;
}

RaceRequest
race_make_request(const RaceParams *params, double epsilon, double delta, const int *rows,
				  int max_contributions, const char *neighbors, bool fit)
{
	RaceRequest request;

	request.fit = fit;
	request.epsilon = race_checked_epsilon(epsilon);
	request.delta = race_checked_delta(delta);
	request.rows = 0;
	request.levels = request.weight_max = request.weight_bits = 0;
	request.zcdp = false;
	request.chosen_squared = request.chosen_variance = 0;
	if (rows != NULL && !race_summary_kind(params)->selected)
	{
		if (*rows < 1 || (uint32) *rows > params->rows)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("rows must be between 1 and the %u rows of the sketch", params->rows)));
		if ((*rows & (*rows - 1)) != 0 && (uint32) *rows != params->rows)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("rows must be a power of two, or all %u rows of the sketch",
							params->rows)));
		request.rows = *rows;
	}
	if (max_contributions < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("max_contributions must be at least 1"),
				 errhint("It is how many rows of one person count: 1, if nobody has more.")));
	request.max_contributions = max_contributions;
	request.neighbors = strcmp(neighbors, "substitute") == 0 ? RACE_NEIGHBORS_SUBSTITUTE :
															   RACE_NEIGHBORS_ADD_REMOVE;
	if (strcmp(neighbors, race_neighbors_name(request.neighbors)) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unknown neighbors \"%s\"", race_cut(neighbors)),
				 errhint("Use add_remove or substitute.")));
	return request;
}

void
race_check_plan(const RaceRequest *request, const RaceParams *params, RaceSelection selection,
				RacePlan *plan)
{
	if (!race_plan_release(request, params, selection, plan))
		refuse_noise(request, selection.rows);
}

double
race_request_rho(const RaceRequest *request, const RaceParams *params)
{
	RaceSelection selection = race_largest_selection(request, params);
	RacePlan plan;
	double rho;

	race_check_plan(request, params, selection, &plan);
	if (request->delta == 0 && request->levels == 0)
		return race_rho_of_pure(request->epsilon);
	/* rounding is not the same for each number of levels */
	rho = plan.noise.rho;
	/* bound: RACE_GRID_LEVELS */
	while (--selection.grid.levels > 0)
	{
		race_check_plan(request, params, selection, &plan);
		rho = Max(rho, plan.noise.rho);
	}
	return rho;
}

/*
 * What a release would cost, and how wrong its answers would be, before there
 * is one: race_privacy_cost.
 */

PG_FUNCTION_INFO_V1(race_privacy_cost);

/*
 * The standard deviation of noise in a mean surrogate loss above which race_privacy_cost warns, in
 * the unit of the loss, a kernel sum for each record.  A rule of thumb for losses that fall by
 * twice as much at most from coefficients of 0 to the best ones; no script here prints it.
 */
#define MOST_LOSS_STDDEV 1e-3

/*
 * Return what a release costs: race_privacy_cost(params, epsilon, delta, rows, max_contributions,
 * neighbors, records, fit).
 */
Datum
race_privacy_cost(PG_FUNCTION_ARGS)
{
	bool has_records = !PG_ARGISNULL(6);
	double records = has_records ? PG_GETARG_FLOAT8(6) : 0;
	const RaceParams *params;
	RaceRequest request;
	RacePlan plan;
	RaceResultRow row;
	const RaceSummaryKind *kind;
	double mass;
	double noise;
	double unit;
	double error;
	double loss_stddev;

	if (has_records && !(records >= 1 && records <= (double) RACE_MAX_COUNT))
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("records must be a number between %g and %g", 1.0, (double) RACE_MAX_COUNT)));
	race_row_start(&row, fcinfo);
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	params = race_params_arg(PG_GETARG_DATUM(0));
	if (!read_request(fcinfo, params, 3, 7, &request))
		PG_RETURN_NULL();
	kind = race_summary_kind(params);
	/* with a delta all rows are best */
	if (request.rows == 0 && !has_records && kind->densities &&
		(request.delta == 0 || !kind->hashed))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("what a release keeps depends on the number of records"),
				 errhint("Give records, as far as it is public, or rows.")));
	mass = race_usual_mass(records);
	race_check_plan(&request, params, race_largest_selection(&request, params), &plan);
	if (request.rows == 0)
		race_check_plan(&request, params, race_choose_selection(&request, params, mass), &plan);

	noise = race_release_kind(params)->noise(params, &plan);
	unit = (double) race_record_unit(params);
	error = has_records && kind->densities ?
		sqrt(noise + race_release_kind(params)->sampling(&request, params, plan.selection, mass)) /
			records :
		0;
	loss_stddev = sqrt(race_kernel_type(params->kernel)->queries * noise) / records;
	if (has_records && race_is_surrogate(params) && loss_stddev > MOST_LOSS_STDDEV)
		ereport(
			WARNING,
			(errmsg("records and epsilon are too few for a surrogate loss"),
			 errdetail(
				 "Noise of the mean loss has standard deviation %.2g; above %g, coefficients may be wrong by a tenth.",
				 loss_stddev, MOST_LOSS_STDDEV),
			 errhint(
				 "Use more records, a larger epsilon, a delta, or without a delta fewer rows.")));
	race_row_add_text(&row, race_mechanism_name(plan.noise.mechanism));
	race_row_add(&row, Int32GetDatum(plan.selection.rows));
	race_row_add_if(&row, plan.noise.delta == 0, Float8GetDatum(plan.noise.epsilon));
	race_row_add(&row, Float8GetDatum(plan.noise.epsilon));
	race_row_add(&row, Float8GetDatum(plan.noise.delta));
	race_row_add(&row, Float8GetDatum(plan.noise.rho));
	race_row_add(&row, Float8GetDatum(sqrt(plan.noise.counter_variance) / unit));
	race_row_add(&row, Float8GetDatum(sqrt(plan.noise.count_variance)));
	race_row_add_if(&row, kind->densities, Float8GetDatum(sqrt(noise)));
	race_row_add_if(&row, has_records && kind->densities, Float8GetDatum(error));
	PG_RETURN_DATUM(race_row_datum(&row));
}

/*
 * race_compose: what several releases about the same people cost together.
 *
 * The two accounts are in cost.h.  The smaller epsilon at a delta is reported.
 */

PG_FUNCTION_INFO_V1(race_compose_step);
PG_FUNCTION_INFO_V1(race_compose_final);

#define COSTS 4 /* epsilon, delta, rho, and perhaps at_delta */

typedef struct State
{
	RaceTotal total;
	double at_delta; /* NaN if none was given: the sum of deltas counts */
} State;

/* Check and set epsilon, delta and rho, and perhaps at_delta. */
static int
read_costs(FunctionCallInfo fcinfo, double *costs)
{
	static const char *const names[COSTS] = {"epsilon", "delta", "rho", "at_delta"};
	Datum *values;
	bool *nulls;
	int n = 0;

	if (PG_NARGS() == 2 && !PG_ARGISNULL(1))
		deconstruct_array(PG_GETARG_ARRAYTYPE_P(1), FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL,
						  TYPALIGN_DOUBLE, &values, &nulls, &n);
	if (n < COSTS - 1 || n > COSTS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("race_compose adds up epsilon, delta and rho"),
				 errhint("The delta that costs are told at can follow.")));
	for (int i = 0; i < n; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("%s of a release must not be NULL", names[i]),
					 errhint("An exact sketch has no finite cost.")));
		costs[i] = DatumGetFloat8(values[i]);
		if (!(costs[i] >= 0 && isfinite(costs[i])))
			ereport(
				ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s of a release must be a finite number that is not negative", names[i])));
	}
	return n;
}

/* Add a cost: transition of race_compose(epsilon, delta, rho [, at_delta]). */
Datum
race_compose_step(PG_FUNCTION_ARGS)
{
	MemoryContext context = race_aggregate_context(fcinfo, "race_compose");
	State *state = PG_ARGISNULL(0) ? NULL : (State *) PG_GETARG_POINTER(0);
	double costs[COSTS];
	double at_delta =
		read_costs(fcinfo, costs) < COSTS ? NAN : race_checked_delta(costs[COSTS - 1]);

	if (state == NULL)
	{
		state = MemoryContextAllocZero(context, sizeof(State));
		state->at_delta = at_delta;
	}
	else if (state->at_delta != at_delta && !isnan(at_delta))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("all releases must be composed at the same delta")));
	race_total_add(&state->total, costs[0], costs[1], costs[2]);
	PG_RETURN_POINTER(state);
}

Datum
race_compose_final(PG_FUNCTION_ARGS)
{
	const State *state = PG_ARGISNULL(0) ? NULL : (State *) PG_GETARG_POINTER(0);
	RaceResultRow row;
	double delta;
	double basic;
	double zcdp;

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
