/*
 * sketch_build.c
 *		Building and merging sketches
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "privacy/noise.h"
#include "privacy/sampler.h"
#include "privacy/shares.h"
#include "hash/kind.h"
#include "hash/params.h"
#include "hash/table.h"
#include "sketch/argument.h"
#include "sketch/call_site.h"
#include "sketch/domain.h"
#include "sketch/params_text.h"
#include "sketch/params_type.h"
#include "sketch/prepared_record.h"
#include "sketch/random.h"
#include "sketch/record.h"
#include "sketch/sketch.h"
#include "sketch/value_columns.h"

/*
 * Records into sketches: race_build, race_add, race_remove.
 */

#if PG_VERSION_NUM >= 180000
#include "nodes/supportnodes.h"
#endif

PG_FUNCTION_INFO_V1(race_sketch);
PG_FUNCTION_INFO_V1(race_add);
PG_FUNCTION_INFO_V1(race_remove);
PG_FUNCTION_INFO_V1(race_build_step);
PG_FUNCTION_INFO_V1(race_build_undo);
PG_FUNCTION_INFO_V1(race_build_step_bytea);
PG_FUNCTION_INFO_V1(race_is_record);
PG_FUNCTION_INFO_V1(race_record);
PG_FUNCTION_INFO_V1(race_update_support);

/*
 * Make an exact sketch without records, in race_result_context().  Raise 22023 for parameters that
 * nothing can be built with.
 */
static RaceSketch *
create_empty(FunctionCallInfo fcinfo, const RaceParams *params)
{
	race_params_check_complete(params);
	race_params_check_exact(params);
	if (race_summary_kind(params)->coarsen != NULL && race_grid_levels(params) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a grid with coarse cells besides cannot be built"),
				 errdetail("The parameters are %s.", race_params_brief(params)),
				 errhint("race_privatize makes it of a grid with cells alone.")));
	return race_sketch_create(params, params->rows, 1, race_result_context(fcinfo));
}

/* Return a sketch without records: race_sketch(race_params). */
Datum
race_sketch(PG_FUNCTION_ARGS)
{
	return RaceSketchGetDatum(create_empty(fcinfo, race_params_arg(PG_GETARG_DATUM(0))));
}

/*
 * Read the record in argument `arg`, which is not NULL, as the next of a sketch, to be added at
 * once.  All errors that the record can cause come before the first change.
 */
static void
read_record(FunctionCallInfo fcinfo, int arg, RaceSketch *sketch)
{
	RaceCallSite *site = race_call_site(fcinfo, arg);

	if (race_summary_kind(sketch->params)->hashed)
		race_call_site_hold_rows(site, sketch->params);
	race_record_read(&site->reader, sketch->params, PG_GETARG_DATUM(arg), race_sketch_next(sketch),
					 false);
}

/* Add the record in argument `arg` to argument 0, or remove it. */
static Datum
change_by_record(FunctionCallInfo fcinfo, int arg, int weight)
{
	RaceSketch *sketch = race_writable_arg(fcinfo, NULL);

	race_check_exact(&sketch->header, "given other records");
	read_record(fcinfo, arg, sketch);
	race_sketch_add(sketch, weight);
	return RaceSketchGetDatum(sketch);
}

Datum
race_add(PG_FUNCTION_ARGS)
{
	return change_by_record(fcinfo, 1, 1);
}

Datum
race_remove(PG_FUNCTION_ARGS)
{
	return change_by_record(fcinfo, 1, -1);
}

/* Return the parameters of a call of this aggregate.  Nothing else may call it. */
static const RaceParams *
build_params(FunctionCallInfo fcinfo, const char *aggregate)
{
	(void) race_aggregate_context(fcinfo, aggregate);
	if (PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s needs parameters, found NULL", aggregate)));
	return race_params_arg(PG_GETARG_DATUM(1));
}

/*
 * Return how often a record counts, by the arguments (weight, weight_max, weight_bits), of which
 * weight has number 3 and weight_bits are its binary digits after the point (RaceRequest).  It is
 * in places of the last digit, rounded at random so that its mean is the weight, from 0 to the
 * largest; 0 for NULL and NaN.  Note in the sketch how much a record adds at most; so call it of
 * each row, also of one without a record.
 */
static int64
read_weight(FunctionCallInfo fcinfo, RaceSketch *sketch)
{
	int most = PG_GETARG_INT32(4);
	int bits = PG_GETARG_INT32(5);
	double weight = 0;
	double places;
	double whole;

	if (PG_ARGISNULL(4) || PG_ARGISNULL(5) || most < 1 || bits < 0 || bits > 30 ||
		most > INT32_MAX >> bits)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("weight_max must be at least 1, and at most 2^(31 - weight_bits)")));
	/* the largest of all: what a release compares with its request */
	sketch->header.noise.max_contributions =
		Max(sketch->header.noise.max_contributions, (uint32) most << bits);
	/* a numeric beyond a double becomes an infinity, or 0, without an error */
	if (!PG_ARGISNULL(3))
		weight = race_number_of(get_fn_expr_argtype(fcinfo->flinfo, 3), PG_GETARG_DATUM(3));
	/* not of a NaN */
	if (!(weight > 0))
		return 0;
	places = ldexp(Min(weight, most), bits);
	whole = floor(places);
	return (int64) whole +
		((double) race_random_below(race_strong_random(), UINT64CONST(1) << 53) <
		 ldexp(places - whole, 53));
}

/*
 * Add a record: transition of race_build(params, x), and of _race_build_weighted(params, x, weight,
 * weight_max, weight_bits).  A NULL record adds nothing, but leaves an empty sketch: an empty
 * release must still be noise, and a moving transition may not return NULL.
 */
static Datum
build_step(FunctionCallInfo fcinfo, bool prepared)
{
	const RaceParams *params = build_params(fcinfo, "race_build");
	RaceSketch *sketch;
	int64 weight;

	if (PG_ARGISNULL(0))
		sketch = create_empty(fcinfo, params);
	else
		sketch = race_writable_arg(fcinfo, NULL);
	race_check_exact(&sketch->header, "given other records");
	race_params_check_same(sketch->params, params);
	weight = PG_NARGS() > 3 ? read_weight(fcinfo, sketch) : 1;
	if (!PG_ARGISNULL(2))
	{
		/* a race_record needs no call site, and no expression that says its type */
		if (prepared)
			race_prepared_read(PG_GETARG_DATUM(2), sketch->params, race_sketch_next(sketch));
		else
			read_record(fcinfo, 2, sketch);
		race_sketch_add(sketch, weight);
	}
	return RaceSketchGetDatum(sketch);
}

Datum
race_build_step(PG_FUNCTION_ARGS)
{
	return build_step(fcinfo, false);
}

Datum
race_build_step_bytea(PG_FUNCTION_ARGS)
{
	return build_step(fcinfo, true);
}

/* Remove a record: inverse transition of race_build in a moving window. */
Datum
race_build_undo(PG_FUNCTION_ARGS)
{
	(void) build_params(fcinfo, "race_build");
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(2))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	return change_by_record(fcinfo, 2, -1);
}

/*
 * Return whether x could be added to a sketch: race_is_record(params, x).  For NULL the answer is
 * no.  A type that has no records is an error, for NULL too.
 */
Datum
race_is_record(PG_FUNCTION_ARGS)
{
	RaceCallSite *site = race_call_site(fcinfo, 1);
	const RaceParams *params;
	Datum x;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	params = race_params_arg(PG_GETARG_DATUM(0));
	race_params_check_complete(params);
	if (PG_ARGISNULL(1))
	{
		race_record_check_types(&site->reader, params);
		PG_RETURN_BOOL(false);
	}
	/* the caller will hash the record next, so prepare for that */
	race_call_site_hold_rows(site, params);
	x = PG_GETARG_DATUM(1);
	PG_RETURN_BOOL(race_record_read(&site->reader, params, x, site->next, true));
}

/* Return x as it is hashed: race_record(params, x). */
Datum
race_record(PG_FUNCTION_ARGS)
{
	RaceCallSite *site = race_call_site(fcinfo, 1);
	const RaceParams *params = race_params_arg(PG_GETARG_DATUM(0));

	race_params_check_complete(params);
	race_call_site_hold_rows(site, params);
	site->next->are_queries = false;
	race_record_read(&site->reader, params, PG_GETARG_DATUM(1), site->next, false);
	PG_RETURN_DATUM(race_prepared_datum(site->next, params));
}

/*
 * Allow plpgsql, which asks from 18 on, to change s where it is in s := race_add(s, x): an error
 * leaves s as it was (race_sketch_next).
 */
Datum
race_update_support(PG_FUNCTION_ARGS)
{
	Node *answer = NULL;

#if PG_VERSION_NUM >= 180000
	Node *request = (Node *) PG_GETARG_POINTER(0);

	if (IsA(request, SupportRequestModifyInPlace))
	{
		SupportRequestModifyInPlace *modify = (SupportRequestModifyInPlace *) request;
		Param *variable = (Param *) linitial(modify->args);

		if (variable != NULL && IsA(variable, Param) && variable->paramkind == PARAM_EXTERN &&
			variable->paramid == modify->paramid)
			answer = (Node *) variable;
	}
#endif
	(void) fcinfo;
	PG_RETURN_POINTER(answer);
}

/*
 * Sketches into sketches: +, -, race_merge and race_merge_disjoint.
 *
 * A merge adds counters.  Private sketches add their noise as well, and their
 * privacy costs by basic composition, or by the larger one when no person is
 * in both; the rows or cells that only one of them kept are dropped.  Noise shares add up to
 * the noise of one release (shares.c).
 */

PG_FUNCTION_INFO_V1(race_plus);
PG_FUNCTION_INFO_V1(race_plus_disjoint);
PG_FUNCTION_INFO_V1(race_minus);

static const char *
status_text(const RaceNoise *noise)
{
	return noise->status == RACE_STATUS_EXACT ? "exact" :
		noise->status == RACE_STATUS_SHARE    ? "a noise share" :
												"private";
}

static void
check_mergeable(const RaceView *a, const RaceView *b)
{
	const RaceNoise *x = &a->header->noise;
	const RaceNoise *y = &b->header->noise;
	RaceGridChoice choices[2];

	if (x->status != y->status)
		ereport(
			ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 x->status == RACE_STATUS_SHARE || y->status == RACE_STATUS_SHARE ?
				 errmsg("noise shares can be combined with noise shares only") :
				 errmsg("an exact and a private sketch cannot be combined"),
			 errdetail("One side is %s, the other is %s.", status_text(x), status_text(y)),
			 errhint(
				 "Merge exact sketches first and make the sum private, or make each of them private.")));
	race_columns_check_same(a, b);
	if (x->status != RACE_STATUS_PRIVATE)
		race_params_check_same(a->params, b->params);
	if (x->status == RACE_STATUS_EXACT && x->max_contributions != y->max_contributions)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("sketches of records with different largest weights cannot be combined")));
	if (x->status == RACE_STATUS_EXACT)
		return;
	if (race_params_are_measured(a->params) || race_params_are_measured(b->params))
		ereport(
			ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("private tables cannot be combined"),
			 errdetail("Each chose by itself which tables it measures, and with how much noise."),
			 errhint("Merge exact tables, or noise shares of race_share.")));

	if (!race_params_same_rows(a->params, b->params) &&
		!race_grids_meet(a->params, b->params, choices))
		race_params_check_same(a->params, b->params);
	if (!race_noise_same_unit(x, y))
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("private sketches that protect different things cannot be combined"),
			 errdetail("One side has max_contributions %u and neighbors %s, the other %u and %s.",
					   x->max_contributions, race_neighbors_name(x->neighbors),
					   y->max_contributions, race_neighbors_name(y->neighbors))));
	if (x->status == RACE_STATUS_SHARE && !race_shares_match(x, y))
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("noise shares that were made for different sums cannot be combined"),
			 errdetail(
				 "One side is for %u parties, %u colluders, %u dropouts, noise deviation %g; the other for %u, %u, %u, %g.",
				 x->parties, x->colluders, x->dropouts, sqrt(x->counter_variance / x->releases),
				 y->parties, y->colluders, y->dropouts, sqrt(y->counter_variance / y->releases)),
			 errhint("All parties must give race_share the same arguments.")));
}

/*
 * Make private grids have the same cells.  `other` becomes a view of what is in the current
 * context.
 */
static void
match_grids(RaceSketch *sketch, RaceView *other)
{
	RaceSketch *copy;
	RaceGridChoice choices[2];

	if (race_params_same(sketch->params, other->params) ||
		!race_grids_meet(sketch->params, other->params, choices))
		return;
	copy = race_sketch_copy(
		other,
		AllocSetContextCreate(CurrentMemoryContext, "racepriv coarser grid", ALLOCSET_SMALL_SIZES));
	race_sketch_coarsen(copy, choices[1]);
	race_sketch_view(RaceSketchGetDatum(copy), other);
	race_sketch_coarsen(sketch, choices[0]);
}

/* Add the counters of `other` to those of `sketch`, multiplied by sign. */
static void
add_counters(RaceSketch *sketch, const RaceView *other, int sign)
{
	bool exact = sketch->header.noise.status == RACE_STATUS_EXACT;
	Size n = RaceCounters(sketch->params);
	int64 mine[RACE_COUNTER_BLOCK];
	int64 theirs[RACE_COUNTER_BLOCK];

	race_sketch_touch(sketch);
	for (Size from = 0; from < n; from += RACE_COUNTER_BLOCK)
	{
		Size m = Min(n - from, RACE_COUNTER_BLOCK);
		bool narrow = Max(sketch->width, other->width) < (int) sizeof(int64);
		int64 min;
		int64 max;

		CHECK_FOR_INTERRUPTS();
		race_counters_load(sketch->counters, sketch->width, from, m, mine);
		race_counters_load(other->counters, other->width, from, m, theirs);
		for (Size i = 0; narrow && i < m; i++)
			mine[i] += sign * theirs[i];
		for (Size i = 0; !narrow && i < m; i++)
			mine[i] = race_bounded_sum(mine[i], sign * theirs[i], exact);
		race_counters_bounds(mine, sizeof(int64), m, &min, &max);
		race_sketch_widen(sketch, race_counters_width_for(min, max));
		race_counters_store(sketch->counters, sketch->width, from, m, mine);
	}
	sketch->header.count =
		race_bounded_sum(sketch->header.count, sign * other->header->count, exact);
}

/* Compute the noise of the sum of two private sketches. Exact ones have none. */
static void
add_noise(RaceNoise *noise, const RaceNoise *other, bool disjoint)
{
	if (noise->status == RACE_STATUS_EXACT)
		return;
	if (disjoint && !race_noise_may_be_disjoint(noise, other))
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg(
				 "parts with different kinds of noise cannot be merged as disjoint when neighbors are \"substitute\""),
			 errhint(
				 "A record that moves between them costs half of epsilon here and half of rho there. race_merge adds their costs.")));
	if (!race_noise_compose(noise, other, disjoint))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("too many private sketches are combined"),
				 errdetail("The number of releases or their privacy cost is out of range.")));
}

/* Add the shares of one sum. All errors come before the first change. */
static RaceSketch *
merge_shares(FunctionCallInfo fcinfo, const RaceView *mine, const RaceView *other, bool disjoint)
{
	const RaceNoise *x = &mine->header->noise;
	const RaceNoise *y = &other->header->noise;
	uint64 n = (uint64) x->releases + y->releases;
	RaceSketch *sketch;
	uint64 *ids;

	if (disjoint)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("noise shares are not merged as disjoint"),
				 errhint("race_merge reckons what their sum costs.")));
	if (n > x->parties)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("there are more noise shares than parties"),
				 errdetail("One side has %u shares, the other %u, of %u.", x->releases, y->releases,
						   x->parties)));
	ids = palloc(n * sizeof(uint64));
	if (!race_merge_share_ids(x, mine->shares, y, other->shares, ids))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a noise share cannot be counted twice")));
	sketch = race_writable_arg(fcinfo, mine);
	add_counters(sketch, other, 1);
	race_add_shares(&sketch->header.noise, &other->header->noise,
					race_record_squared(sketch->params), RaceCounters(sketch->params));
	race_sketch_set_shares(sketch, ids);
	pfree(ids);
	return sketch;
}

static Datum
merge_sketches(FunctionCallInfo fcinfo, bool disjoint)
{
	RaceView mine;
	RaceView other;
	RaceSketch *sketch;

	race_sketch_view_any(PG_GETARG_DATUM(0), &mine);
	race_sketch_view_any(PG_GETARG_DATUM(1), &other);
	check_mergeable(&mine, &other);

	if (mine.header->noise.status == RACE_STATUS_SHARE)
		return RaceSketchGetDatum(merge_shares(fcinfo, &mine, &other, disjoint));
	sketch = race_writable_arg(fcinfo, &mine);
	if (other.params->rows < sketch->params->rows)
	{
		/* the first rows are kept; counters lie row by row */
		sketch->params->rows = other.params->rows;
		race_sketch_touch(sketch);
	}
	match_grids(sketch, &other);
	add_counters(sketch, &other, 1);
	add_noise(&sketch->header.noise, &other.header->noise, disjoint);
	return RaceSketchGetDatum(sketch);
}

/* Add two sketches: +, and the transition and combine function of race_merge and race_build. */
Datum
race_plus(PG_FUNCTION_ARGS)
{
	return merge_sketches(fcinfo, false);
}

/* Do the same for race_merge_disjoint. */
Datum
race_plus_disjoint(PG_FUNCTION_ARGS)
{
	return merge_sketches(fcinfo, true);
}

/* Subtract a sketch: -, and the inverse transition of race_merge. */
Datum
race_minus(PG_FUNCTION_ARGS)
{
	RaceView mine;
	RaceView other;
	RaceSketch *sketch;

	race_sketch_view_any(PG_GETARG_DATUM(0), &mine);
	race_sketch_view_any(PG_GETARG_DATUM(1), &other);
	if (other.header->noise.status != RACE_STATUS_EXACT &&
		AggCheckCallContext(fcinfo, NULL) == AGG_CONTEXT_WINDOW)
		PG_RETURN_NULL(); /* these cannot be subtracted: compute the frame anew */
	race_check_exact(mine.header, "subtracted from");
	race_check_exact(other.header, "subtracted");
	check_mergeable(&mine, &other);

	sketch = race_writable_arg(fcinfo, &mine);
	add_counters(sketch, &other, -1);
	return RaceSketchGetDatum(sketch);
}
