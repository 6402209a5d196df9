/*
 * sample.c
 *		race_sample: records drawn from the model of a sketch.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"

#include "../lsh/balanced.h"
#include "../lsh/grid.h"
#include "../server/result.h"
#include "draw.h"
#include "fill.h"
#include "texts.h"

PG_FUNCTION_INFO_V1(race_sample);
PG_FUNCTION_INFO_V1(race_sample_rows);

typedef struct Sample
{
	RaceFitted	fitted;
	RaceDraws  *draws;
	RaceResultRow row;			/* of x and record, */
	RaceFill   *fill;			/* or rows of a table; else NULL */
} Sample;

/*
 * Too few rows to test a model is too few to trust samples.  Of a grid with an untested model
 * nothing is said: its points follow all nodes.  Nor of balanced rows: weights are near equal ones
 * where noise is much.
 */
static void
notice_untested(const RaceView *view)
{
	if (view->model->misfit == RACE_UNTESTED && !race_is_grid(view->params) &&
		!race_is_balanced(view->params))
		ereport(NOTICE,
				(errmsg("the sketch has too few rows to tell whether its model fits"),
				 errdetail("The records drawn may be far from the truth.")));
}

static int64
seed_of(FunctionCallInfo fcinfo, int arg)
{
	int64		seed;

	if (!PG_ARGISNULL(arg))
		return PG_GETARG_INT64(arg);
	if (!pg_strong_random(&seed, sizeof(seed)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random values")));
	return seed;
}

/* To make rows of the type of argument 0 */
static RaceFill *
start_fill(FunctionCallInfo fcinfo, const RaceFitted *fitted)
{
	TupleDesc	desc;

	/* an anonymous row need not have the columns that the query gives it */
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE ||
		(desc->tdtypeid == RECORDOID && !PG_ARGISNULL(0)))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("the first argument of race_sample must be of a row type"),
				 errhint("For the type of a table, pass a NULL of it, as in race_sample(NULL::patients, sketch, 1000).")));
	return race_fill_create(BlessTupleDesc(desc), PG_ARGISNULL(0) ? NULL :
							DatumGetHeapTupleHeaderCopy(PG_GETARG_DATUM(0)), fitted);
}

/* Arguments sketch, n and seed, after a row if there are four */
static void
start_sample(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	int			arg = PG_NARGS() - 3;
	Sample	   *sample;
	int32		n;

	if (PG_ARGISNULL(arg) || PG_ARGISNULL(arg + 1))
		return;
	n = PG_GETARG_INT32(arg + 1);
	if (n < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("n must not be negative")));
	sample = palloc0(sizeof(Sample));
	race_fitted_open(PointerGetDatum(PG_GETARG_VARLENA_P(arg)), &sample->fitted);
	notice_untested(&sample->fitted.view);
	sample->draws = race_draws_create(&sample->fitted, seed_of(fcinfo, arg + 2));
	if (arg == 0)
		race_row_start(&sample->row, fcinfo);
	else
		sample->fill = start_fill(fcinfo, &sample->fitted);
	call->max_calls = n;
	call->user_fctx = sample;
}

/* (x, record) */
static Datum
sample_datum(Sample *sample, const RaceDrawn *drawn)
{
	const RaceParams *params = sample->fitted.view.params;

	if (race_model_is_of_vectors(params))
	{
		race_row_add_numbers(&sample->row, drawn->vectors[0], params->dims);
		race_row_add_null(&sample->row);
	}
	else
	{
		race_row_add_null(&sample->row);
		race_row_add_text(&sample->row, race_drawn_text(&sample->fitted, drawn));
	}
	return race_row_datum(&sample->row);
}

static Datum
next_sample(void *state, uint64 i)
{
	Sample	   *sample = (Sample *) state;
	RaceDrawn	drawn;

	race_draw(sample->draws, (uint32) i, &drawn);
	return sample->fill != NULL ? race_fill_row(sample->fill, &drawn) :
		sample_datum(sample, &drawn);
}

/* race_sample(sketch, n, seed) */
Datum
race_sample(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_sample, next_sample);
}

/* race_sample(base, sketch, n, seed) */
Datum
race_sample_rows(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_sample, next_sample);
}
