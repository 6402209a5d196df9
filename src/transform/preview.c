/*
 * preview.c
 *		race_preview: what a release would look like, on data that are made up.
 *
 * It makes a sketch of made-up vectors, gives it noise and a model as race_release would,
 * and asks it along a line.  Beside it stands the truth, which is known of made-up data alone.
 * It sees nothing but its arguments, and spends nothing.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "../fit/fit.h"
#include "../lsh/kernels.h"
#include "../params/params.h"
#include "../privacy/privatize.h"
#include "../query/estimate.h"
#include "../server/result.h"
#include "../sketch/sketch.h"
#include "madeup.h"

PG_FUNCTION_INFO_V1(race_preview);

/*
 * Vectors that differ, and numbers in all of them: of more records each stands for several.
 * The answers do not change by that, because what they estimate is known.
 */
#define MOST_DRAWN		20000
#define MOST_NUMBERS	4000000
#define FEWEST_DRAWN	100

#define MOST_RECORDS	INT64CONST(100000000000000)
#define MOST_STEPS		100000
#define MOST_LABELS		1000
#define USUAL_FITS		32		/* as race_release */

typedef struct Preview
{
	const RaceParams *params;
	RaceShape	shape;
	RaceRequest request;
	int64		records;		/* of all labels */
	uint32		axis;
	uint32		steps;
	uint32		labels;
	double		confidence;
	int64		seed;
	RaceResultRow row;
	/* of one label */
	MemoryContext context;
	int64		count;
	RaceRecords *made_up;
	RaceQuestion question;
	double		from;
	double		to;
	double	   *x;
} Preview;

/* ----------------------------------------------------------------- arguments */

static int
read_int(FunctionCallInfo fcinfo, int arg, const char *name, int least, int most)
{
	int			value = PG_GETARG_INT32(arg);

	if (value < least || value > most)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be between %d and %d", name, least, most)));
	return value;
}

/* Parameters, as a grid where a release would make one */
static const RaceParams *
read_params(FunctionCallInfo fcinfo)
{
	const RaceParams *params = race_params_arg(PointerGetDatum(PG_DETOAST_DATUM_COPY(PG_GETARG_DATUM(0))));
	bool		wanted = PG_ARGISNULL(12) ? PG_GETARG_FLOAT8(2) == 0 && PG_ARGISNULL(4) :
		PG_GETARG_BOOL(12);
	RaceParams *grid;

	race_params_check_complete(params);
	if (!race_model_is_of_vectors(params))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("race_preview makes up vectors: it needs a kernel of vectors by itself"),
				 errdetail("The parameters are %s.", race_params_brief(params))));
	grid = wanted ? race_params_as_grid(params) : NULL;
	if (grid == NULL && wanted && !PG_ARGISNULL(12))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a grid needs kernel l2 or l1 by itself, 1 to %d dims and finite bounds, and no transform",
						RACE_GRID_DIMS),
				 errdetail("The parameters are %s.", race_params_brief(params))));
	return grid != NULL ? grid : params;
}

static bool
wants_fit(FunctionCallInfo fcinfo, const Preview *preview)
{
	RaceFitRequest request;
	bool		possible = race_fit_bounds(preview->params, NULL, NULL, &request);

	if (PG_ARGISNULL(13))
		return possible && preview->labels <= USUAL_FITS;
	if (PG_GETARG_BOOL(13) && !possible)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("only a kernel of vectors by itself, with finite bounds, can be fitted"),
				 errdetail("The parameters are %s.", race_params_brief(preview->params))));
	return PG_GETARG_BOOL(13);
}

static ArrayType *
array_arg(FunctionCallInfo fcinfo, int arg)
{
	return PG_ARGISNULL(arg) ? NULL : PG_GETARG_ARRAYTYPE_P_COPY(arg);
}

static void
read_arguments(FunctionCallInfo fcinfo, Preview *preview)
{
	int			rows;

	preview->params = read_params(fcinfo);
	preview->records = PG_GETARG_INT64(3);
	preview->labels = read_int(fcinfo, 9, "labels", 1, MOST_LABELS);
	if (preview->records < 0 || preview->records > MOST_RECORDS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("records must be between 0 and 1e14")));
	preview->axis = read_int(fcinfo, 7, "axis", 1, preview->params->dims) - 1;
	preview->steps = read_int(fcinfo, 8, "steps", 1, MOST_STEPS);
	preview->confidence = PG_GETARG_FLOAT8(14);
	race_check_confidence(preview->confidence);
	preview->seed = PG_GETARG_INT64(15);
	race_shape_read(preview->params, array_arg(fcinfo, 5), array_arg(fcinfo, 6), &preview->shape);
	rows = PG_ARGISNULL(4) ? 0 : PG_GETARG_INT32(4);
	preview->request = race_make_request(preview->params, PG_GETARG_FLOAT8(1), PG_GETARG_FLOAT8(2),
										 PG_ARGISNULL(4) ? NULL : &rows, PG_GETARG_INT32(10),
										 text_to_cstring(PG_GETARG_TEXT_PP(11)),
										 wants_fit(fcinfo, preview));
}

/* ------------------------------------------------------------------ a label */

/* How many records made-up vector number i stands for */
static int64
weight_of(const Preview *preview, uint32 i)
{
	int64		n = preview->made_up->n;

	return preview->count / n + (i < preview->count % n);
}

static const double *
vector(const Preview *preview, uint32 i)
{
	return preview->made_up->parts[0].numbers + (Size) i * preview->params->dims;
}

static RaceSketch *
build(const Preview *preview)
{
	RaceSketch *sketch = race_sketch_create(preview->params, preview->params->rows, 1,
											AllocSetContextCreate(CurrentMemoryContext, "made-up sketch",
																  ALLOCSET_START_SMALL_SIZES));
	uint32		i;

	for (i = 0; i < preview->made_up->n; i++)
	{
		RaceColumn	column[RACE_MAX_PARTS];

		CHECK_FOR_INTERRUPTS();
		race_records_columns(preview->made_up, i, column);
		race_records_copy(race_sketch_next(sketch), column);
		race_sketch_add(sketch, weight_of(preview, i));
	}
	return sketch;
}

/* As race_release does with a sketch of a label */
static Datum
release(const Preview *preview)
{
	RaceView	view;
	RaceSketch *private;
	RaceFitRequest request = {0};

	race_sketch_view(RaceSketchGetDatum(build(preview)), &view);
	private = race_private_sketch(&view, &preview->request, CurrentMemoryContext);
	if (!preview->request.fit)
		return RaceSketchGetDatum(private);
	race_sketch_view(RaceSketchGetDatum(private), &view);
	race_fit_bounds(view.params, NULL, NULL, &request);
	return PointerGetDatum(race_fit_box(&view, &request));
}

/* The line: along one column, from bound to bound or over all vectors, through their mean */
static void
find_line(Preview *preview)
{
	const double *lower = race_array(preview->params, RACE_ARRAY_LOWER);
	const double *upper = race_array(preview->params, RACE_ARRAY_UPPER);
	uint32		dims = preview->params->dims;
	uint32		i;
	uint32		j;

	preview->x = palloc0(dims * sizeof(double));
	preview->from = INFINITY;
	preview->to = -INFINITY;
	for (i = 0; i < preview->made_up->n; i++)
	{
		const double *x = vector(preview, i);

		for (j = 0; j < dims; j++)
			preview->x[j] += x[j] / preview->made_up->n;
		preview->from = Min(preview->from, x[preview->axis]);
		preview->to = Max(preview->to, x[preview->axis]);
	}
	if (lower != NULL && isfinite(lower[preview->axis]))
		preview->from = lower[preview->axis];
	if (upper != NULL && isfinite(upper[preview->axis]))
		preview->to = upper[preview->axis];
}

static void
start_label(Preview *preview, uint32 label)
{
	MemoryContext old;
	int64		most = Min(MOST_DRAWN, Max(MOST_NUMBERS / preview->params->dims, FEWEST_DRAWN));

	MemoryContextReset(preview->context);
	old = MemoryContextSwitchTo(preview->context);
	preview->count = preview->records / preview->labels +
		(label < preview->records % preview->labels);
	preview->made_up = race_shape_draw(&preview->shape, Max(Min(preview->count, most), 1),
									   preview->seed, label);
	find_line(preview);
	race_ask_sketch(race_call_site_create(FLOAT8ARRAYOID, CurrentMemoryContext),
					release(preview), &preview->question);
	MemoryContextSwitchTo(old);
}

/* -------------------------------------------------------------------- answers */

/* The mean kernel value of all records, as it is */
static double
truth(const Preview *preview)
{
	RaceColumn	q = {preview->x, NULL, NULL, preview->params->dims};
	double		sum = 0;
	uint32		i;

	for (i = 0; i < preview->made_up->n; i++)
	{
		RaceColumn	x = {vector(preview, i), NULL, NULL, preview->params->dims};

		CHECK_FOR_INTERRUPTS();
		sum += (double) weight_of(preview, i) * race_kernel_value(preview->params, &x, &q);
	}
	return sum / Max(preview->count, 1);
}

static Datum
next_point(void *state, uint64 i)
{
	Preview    *preview = (Preview *) state;
	uint32		step = i % preview->steps;
	double		share = preview->steps == 1 ? 0.5 : (double) step / (preview->steps - 1);
	RaceDensity estimate;
	double		lower;
	double		upper;
	double		is;

	if (step == 0)
		start_label(preview, i / preview->steps);
	preview->x[preview->axis] = preview->from * (1 - share) + preview->to * share;
	is = truth(preview);
	race_ask_about_vector(&preview->question, preview->x);
	race_estimate_density(&preview->question, &estimate);
	race_estimate_bounds(&preview->question, &estimate, preview->confidence, &lower, &upper);
	race_row_add(&preview->row, Int32GetDatum(i / preview->steps + 1));
	race_row_add(&preview->row, Float8GetDatum(preview->x[preview->axis]));
	race_row_add(&preview->row, Float8GetDatum(is));
	race_row_add(&preview->row, Float8GetDatum(estimate.density));
	race_row_add(&preview->row, Float8GetDatum(estimate.density - is));
	race_row_add(&preview->row, Float8GetDatum(estimate.standard_error));
	race_row_add(&preview->row, Float8GetDatum(lower));
	race_row_add(&preview->row, Float8GetDatum(upper));
	return race_row_datum(&preview->row);
}

static void
start_preview(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	Preview    *preview;
	int			i;

	/* rows, mixture, public_rows, grid and fit may be NULL */
	for (i = 0; i < PG_NARGS(); i++)
		if (PG_ARGISNULL(i) && !(i >= 4 && i <= 6) && i != 12 && i != 13)
			return;
	preview = palloc0(sizeof(Preview));
	read_arguments(fcinfo, preview);
	race_row_start(&preview->row, fcinfo);
	preview->context = AllocSetContextCreate(CurrentMemoryContext, "race_preview",
											 ALLOCSET_DEFAULT_SIZES);
	call->max_calls = (uint64) preview->labels * preview->steps;
	call->user_fctx = preview;
}

/*
 * race_preview(params, epsilon, delta, records, rows, mixture, public_rows, axis, steps, labels,
 * max_contributions, neighbors, grid, fit, confidence, seed)
 */
Datum
race_preview(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_preview, next_point);
}
