/*
 * value_pair.c
 *		race_build_value: records with a bounded value, in two sketches.
 *
 * The share p of a record is the place of its value between the bounds.  In each row the
 * record is in one of two sketches, and in the upper one in a share p of the rows; of a grid
 * each of its weights is divided.  So it changes both sketches together by what it would
 * change one sketch, and both together cost what one costs (doc/privacy.md).
 *
 * The state is internal, since a composite value would be copied for each record.  Between
 * workers it travels as bytes.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "libpq/pqformat.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "sketch/sketch.h"
#include "hash/params.h"
#include "hash/table.h"
#include "privacy/release_request.h"
#include "privacy/sampler.h"
#include "sketch/argument.h"
#include "sketch/params_type.h"
#include "sketch/random.h"
#include "sketch/result.h"

PG_FUNCTION_INFO_V1(race_build_value_step);
PG_FUNCTION_INFO_V1(race_build_value_combine);
PG_FUNCTION_INFO_V1(race_build_value_serialize);
PG_FUNCTION_INFO_V1(race_build_value_deserialize);
PG_FUNCTION_INFO_V1(race_build_value_final);

typedef struct State
{
	RaceSketch *halves[RACE_HALVES];
	double bounds[RACE_HALVES];
} State;

void
race_check_value_bounds(double lower, double upper)
{
	if (!isfinite(lower) || !isfinite(upper) || !isfinite(upper - lower) || !(lower < upper))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("value_lower must be below value_upper, and both finite")));
}

void
race_mark_pair(RaceSketch *const *halves)
{
	uint64 id = race_random_id();

	for (int i = 0; i < RACE_HALVES; i++)
	{
		halves[i]->header.noise.pair_id = id;
		race_sketch_touch(halves[i]);
	}
}

/* Return the state of a transition, whose parameters and bounds are those of all rows. */
static State *
read_state(FunctionCallInfo fcinfo)
{
	State *state = PG_ARGISNULL(0) ? NULL : (State *) PG_GETARG_POINTER(0);
	MemoryContext context = race_aggregate_context(fcinfo, "race_build_value");
	const RaceParams *params;

	if (PG_ARGISNULL(1) || PG_ARGISNULL(4) || PG_ARGISNULL(5))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("race_build_value needs parameters and bounds, found NULL")));
	params = race_params_arg(PG_GETARG_DATUM(1));
	race_params_check_kernel(params);
	if (state == NULL)
	{
		race_check_value_bounds(PG_GETARG_FLOAT8(4), PG_GETARG_FLOAT8(5));
		state = MemoryContextAllocZero(context, sizeof(State));
		for (int i = 0; i < RACE_HALVES; i++)
		{
			state->halves[i] = race_build_create(fcinfo, params);
			state->bounds[i] = PG_GETARG_FLOAT8(4 + i);
		}
		race_sketch_make_halves(state->halves[RACE_LOWER], state->halves[RACE_UPPER]);
	}
	race_params_check_same(state->halves[RACE_LOWER]->params, params);
	if (state->bounds[RACE_LOWER] != PG_GETARG_FLOAT8(4) ||
		state->bounds[RACE_UPPER] != PG_GETARG_FLOAT8(5))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("all records must have the same bounds of their value")));
	return state;
}

/*
 * Add a record: transition of race_build_value(params, x, value, value_lower, value_upper), and of
 * _race_build_value_weighted, which also has (weight, weight_max, weight_bits).  A NULL record, and
 * one whose value is NULL or NaN, adds nothing.
 */
Datum
race_build_value_step(PG_FUNCTION_ARGS)
{
	State *state = read_state(fcinfo);
	double lower = state->bounds[RACE_LOWER];
	double upper = state->bounds[RACE_UPPER];
	int64 weight = PG_NARGS() > 6 ? race_build_weight(fcinfo, 6, state->halves, RACE_HALVES) : 1;
	RacePortion portion;

	if (!PG_ARGISNULL(2) && !PG_ARGISNULL(3) && !isnan(PG_GETARG_FLOAT8(3)))
	{
		portion.share = (Min(Max(PG_GETARG_FLOAT8(3), lower), upper) - lower) / (upper - lower);
		portion.offset = race_random_below(race_strong_random(), PG_UINT64_MAX);
		race_build_read(fcinfo, 2, state->halves[RACE_LOWER]);
		race_sketch_add_split(state->halves[RACE_LOWER], portion, weight);
	}
	PG_RETURN_POINTER(state);
}

Datum
race_build_value_combine(PG_FUNCTION_ARGS)
{
	State *state = PG_ARGISNULL(0) ? NULL : (State *) PG_GETARG_POINTER(0);
	State *other = PG_ARGISNULL(1) ? NULL : (State *) PG_GETARG_POINTER(1);
	MemoryContext context = race_aggregate_context(fcinfo, "race_build_value");
	RaceView view;

	if (other == NULL && state == NULL)
		PG_RETURN_NULL();
	if (state == NULL)
	{
		/* copy the other state, which does not last */
		state = MemoryContextAllocZero(context, sizeof(State));
		for (int i = 0; i < RACE_HALVES; i++)
		{
			race_sketch_view(RaceSketchGetDatum(other->halves[i]), &view);
			state->halves[i] = race_sketch_copy(&view, race_result_context(fcinfo));
			state->bounds[i] = other->bounds[i];
		}
		race_sketch_make_halves(state->halves[RACE_LOWER], state->halves[RACE_UPPER]);
		PG_RETURN_POINTER(state);
	}
	for (int i = 0; other != NULL && i < RACE_HALVES; i++)
		(void) DirectFunctionCall2(race_plus, RaceSketchGetDatum(state->halves[i]),
								   RaceSketchGetDatum(other->halves[i]));
	PG_RETURN_POINTER(state);
}

Datum
race_build_value_serialize(PG_FUNCTION_ARGS)
{
	State *state = (State *) PG_GETARG_POINTER(0);
	StringInfoData bytes;

	(void) race_aggregate_context(fcinfo, "race_build_value");
	pq_begintypsend(&bytes);
	for (int i = 0; i < RACE_HALVES; i++)
	{
		ExpandedObjectHeader *half = &state->halves[i]->hdr;
		Size size = EOH_get_flat_size(half);
		char *flat = palloc(size);

		EOH_flatten_into(half, flat, size);
		pq_sendfloat8(&bytes, state->bounds[i]);
		pq_sendint32(&bytes, size);
		pq_sendbytes(&bytes, flat, size);
		pfree(flat);
	}
	PG_RETURN_BYTEA_P(pq_endtypsend(&bytes));
}

Datum
race_build_value_deserialize(PG_FUNCTION_ARGS)
{
	bytea *value = PG_GETARG_BYTEA_PP(0);
	State *state = palloc0(sizeof(State));
	StringInfoData bytes;
	RaceView view;

	(void) race_aggregate_context(fcinfo, "race_build_value");
	initStringInfo(&bytes);
	appendBinaryStringInfo(&bytes, VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value));
	for (int i = 0; i < RACE_HALVES; i++)
	{
		Size size;
		char *flat;

		state->bounds[i] = pq_getmsgfloat8(&bytes);
		size = pq_getmsgint(&bytes, sizeof(int32));
		flat = palloc(size);
		pq_copymsgbytes(&bytes, flat, size);
		race_sketch_view(PointerGetDatum(flat), &view);
		state->halves[i] = race_sketch_copy(
			&view,
			AllocSetContextCreate(CurrentMemoryContext, "race_sketch", ALLOCSET_START_SMALL_SIZES));
		pfree(flat);
	}
	pq_getmsgend(&bytes);
	PG_RETURN_POINTER(state);
}

/*
 * Return both sketches, as a row.  In a window this is called again after more records, and the new
 * pair gets an id of its own.
 */
Datum
race_build_value_final(PG_FUNCTION_ARGS)
{
	State *state = PG_ARGISNULL(0) ? NULL : (State *) PG_GETARG_POINTER(0);
	RaceResultRow row;

	if (state == NULL)
		PG_RETURN_NULL();
	race_row_start(&row, fcinfo);
	race_mark_pair(state->halves);
	for (int i = 0; i < RACE_HALVES; i++)
		race_row_add(&row, EOHPGetRODatum(&state->halves[i]->hdr));
	PG_RETURN_DATUM(race_row_datum(&row));
}
