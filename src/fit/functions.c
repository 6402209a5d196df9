/*
 * functions.c
 *		race_fit, the function and the aggregate, and race_points.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "../cache/call_site.h"
#include "../record/sort.h"
#include "../record/vector.h"
#include "../server/argument.h"
#include "../server/result.h"
#include "answers.h"
#include "fit.h"
#include "work.h"

PG_FUNCTION_INFO_V1(race_fit_points);
PG_FUNCTION_INFO_V1(race_fit_step);
PG_FUNCTION_INFO_V1(race_fit_final);
PG_FUNCTION_INFO_V1(race_points);

/* --------------------------------------------------------- race_fit in a box */

/* Read bounds from an argument, which may be NULL. */
static const double *
read_bounds(FunctionCallInfo fcinfo, int arg, const RaceParams *params)
{
	return PG_ARGISNULL(arg) ? NULL :
		race_vector_new(FLOAT8ARRAYOID, PG_GETARG_DATUM(arg), params->dims);
}

static void
read_request(FunctionCallInfo fcinfo, const RaceParams *params, RaceFitRequest *request)
{
	const double *lower;
	const double *upper;

	memset(request, 0, sizeof(RaceFitRequest));
	if (!race_model_is_of_vectors(params))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("only a kernel of vectors by itself can be fitted within bounds"),
				 errdetail("The parameters are %s.", race_params_brief(params)),
				 errhint("Use the aggregate: SELECT race_fit(sketch, x) over records that there might be.")));
	lower = read_bounds(fcinfo, 3, params);
	upper = read_bounds(fcinfo, 4, params);
	if (!race_fit_bounds(params, lower, upper, request))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("race_fit needs bounds"),
				 errhint("Give lower and upper, or parameters that have them. They must be public: do not take them from the data.")));
	race_fit_check_box(params, request);
	if (!PG_ARGISNULL(1))
	{
		int			points = PG_GETARG_INT32(1);

		if (points < 1 || points > RACE_MAX_DENSE_POINTS)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("points must be between 1 and %d", RACE_MAX_DENSE_POINTS)));
		request->points = points;
	}
	request->seed = PG_GETARG_INT64(2);
}

/* race_fit(sketch, points, seed, lower, upper) */
Datum
race_fit_points(PG_FUNCTION_ARGS)
{
	RaceView	view;
	RaceFitRequest request;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(2))
		PG_RETURN_NULL();
	race_sketch_view(PG_GETARG_DATUM(0), &view);
	race_check_askable(&view.header->noise);
	read_request(fcinfo, view.params, &request);
	PG_RETURN_POINTER(race_fit_box(&view, &request));
}

/* ------------------------------------------------ race_fit(sketch, x), aggregate */

typedef struct Candidates
{
	Datum		sketch;			/* of the first row, stored */
	uint64		identity;		/* and which one the last row had */
	RaceRecords *records;
	bool		has_texts;		/* are they not vectors by themselves? */
	char	  **texts;			/* then these are theirs, */
	Size		text_size;		/* so long all together */
	FmgrInfo	output;			/* of their type */
} Candidates;

static void
start_candidates(FunctionCallInfo fcinfo, Candidates *candidates, Datum sketch)
{
	Oid			output;
	bool		is_varlena;
	RaceView	view;

	/* to store one in memory counts its last records, which makes it another content */
	candidates->sketch = PointerGetDatum(PG_DETOAST_DATUM_COPY(sketch));
	race_sketch_view_header(sketch, &view);
	candidates->identity = view.identity;
	race_sketch_view(candidates->sketch, &view);
	race_check_askable(&view.header->noise);
	candidates->records = race_records_create(view.params, CurrentMemoryContext);
	if (race_model_is_of_vectors(view.params))
		return;
	getTypeOutputInfo(race_argument_type(fcinfo->flinfo, 2), &output, &is_varlena);
	fmgr_info_cxt(output, &candidates->output, CurrentMemoryContext);
	candidates->has_texts = true;
}

static void
reserve(Candidates *candidates)
{
	RaceRecords *records = candidates->records;
	uint32		capacity = Min(Max(2 * records->capacity, 64), RACE_MAX_CANDIDATES);

	if (records->n < records->capacity)
		return;
	if (records->n == RACE_MAX_CANDIDATES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a model can have at most %d candidates", RACE_MAX_CANDIDATES)));
	race_records_reserve(records, capacity);
	if (!candidates->has_texts)
		return;
	candidates->texts = candidates->texts == NULL ?
		MemoryContextAlloc(records->context, capacity * sizeof(char *)) :
		repalloc(candidates->texts, capacity * sizeof(char *));
}

/* Put the elements of sets in order, as the kernel compares them. */
static void
normalize_last(RaceRecords *records)
{
	int			i;

	for (i = 0; i < records->n_parts; i++)
	{
		RaceRecordsPart *part = &records->parts[i];
		size_t		n;

		if (part->kind != RACE_RECORD_SET)
			continue;
		n = part->starts[records->n + 1] - part->starts[records->n];
		race_normalize_set(part->elements + part->starts[records->n], &n);
		part->starts[records->n + 1] = part->starts[records->n] + n;
	}
}

/* Any of the texts may be in the model, so that all together are bounded like it. */
static void
add_text(Candidates *candidates, Datum x)
{
	char	   *text = OutputFunctionCall(&candidates->output, x);

	candidates->text_size += strlen(text) + 1;
	race_fit_check_size(candidates->text_size);
	candidates->texts[candidates->records->n] = MemoryContextStrdup(candidates->records->context,
																	text);
}

/* In the context of one row: what is read leaves copies behind. */
static void
add_candidate(FunctionCallInfo fcinfo, Candidates *candidates)
{
	RaceCallSite *site = race_call_site(fcinfo, 2);
	Datum		x = PG_GETARG_DATUM(2);
	RaceView	view;

	race_sketch_view_packed(candidates->sketch, &view);
	reserve(candidates);
	race_record_read(&site->reader, view.params, x, candidates->records, false);
	normalize_last(candidates->records);
	if (candidates->has_texts)
		add_text(candidates, x);
	candidates->records->n++;
}

/*
 * Is it the sketch of the first row?  From PostgreSQL 16 on it may be in memory, and a
 * subquery may make the same one again for each row: then contents are compared.
 */
static bool
is_same(Candidates *candidates, const RaceView *first, Datum sketch, const RaceView *view)
{
	Pointer		stored;
	RaceView	content;
	bool		same;

	if (memcmp(first->header, view->header, sizeof(RaceHeader)) != 0)
		return false;
	if (view->identity == candidates->identity)
		return true;
	stored = (Pointer) PG_DETOAST_DATUM_COPY(sketch);
	race_sketch_view(PointerGetDatum(stored), &content);
	same = content.identity == first->identity;
	pfree(stored);
	race_sketch_view_header(sketch, &content);
	candidates->identity = content.identity;
	return same;
}

/* Every row must have the same sketch. */
static void
check_same_sketch(Candidates *candidates, Datum sketch)
{
	RaceView	first;
	RaceView	view;

	race_sketch_view_packed(candidates->sketch, &first);
	race_sketch_view_header(sketch, &view);
	race_params_check_same(first.params, view.params);
	if (!is_same(candidates, &first, sketch, &view))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("race_fit needs the same sketch in every row")));
}

/* Rows without a sketch or without a record are left out. */
Datum
race_fit_step(PG_FUNCTION_ARGS)
{
	MemoryContext context = race_aggregate_context(fcinfo, "race_fit");
	MemoryContext old;
	Candidates *candidates = PG_ARGISNULL(0) ? NULL : (Candidates *) PG_GETARG_POINTER(0);

	if (PG_ARGISNULL(1) || PG_ARGISNULL(2))
	{
		if (candidates == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(candidates);
	}
	if (candidates == NULL)
	{
		old = MemoryContextSwitchTo(context);
		candidates = palloc0(sizeof(Candidates));
		start_candidates(fcinfo, candidates, PG_GETARG_DATUM(1));
		MemoryContextSwitchTo(old);
	}
	else
		check_same_sketch(candidates, PG_GETARG_DATUM(1));
	add_candidate(fcinfo, candidates);
	PG_RETURN_POINTER(candidates);
}

Datum
race_fit_final(PG_FUNCTION_ARGS)
{
	Candidates *candidates = PG_ARGISNULL(0) ? NULL : (Candidates *) PG_GETARG_POINTER(0);
	RaceView	view;

	if (candidates == NULL)
		PG_RETURN_NULL();
	race_sketch_view(candidates->sketch, &view);
	PG_RETURN_POINTER(race_fit_records(&view, candidates->records, candidates->texts));
}

/* ------------------------------------------------------------- race_points */

typedef struct Points
{
	RaceView	view;
	RaceResultRow row;
} Points;

static Datum
point_datum(void *state, uint64 i)
{
	Points	   *points = (Points *) state;
	const RaceModel *model = points->view.model;
	const RaceParams *params = points->view.params;

	if (race_model_is_of_vectors(params))
	{
		RaceColumn	column;

		race_model_columns(model, params, &column);
		race_row_add_numbers(&points->row, column.numbers + i * params->dims, params->dims);
		race_row_add_null(&points->row);
	}
	else
	{
		Size		length;
		const char *text = race_model_text(model, params, i, &length);

		race_row_add_null(&points->row);
		race_row_add(&points->row, PointerGetDatum(cstring_to_text_with_len(text, length)));
	}
	race_row_add(&points->row, Float8GetDatum(race_model_weight(model, i)));
	return race_row_datum(&points->row);
}

static void
start_points(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	Points	   *points = palloc(sizeof(Points));

	race_row_start(&points->row, fcinfo);
	race_sketch_view(PointerGetDatum(PG_GETARG_VARLENA_P(0)), &points->view);
	race_check_fitted(&points->view);
	race_check_model(&points->view);
	call->max_calls = points->view.model->points;
	call->user_fctx = points;
}

/* race_points(sketch) */
Datum
race_points(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_points, point_datum);
}
