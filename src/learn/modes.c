/*
 * modes.c
 *		race_modes: where the density is highest.
 *
 * Of vectors, modes are local maxima of what race_kde answers (search.h).  Between each two of
 * them a straight path is looked at.  Of other records the places are the points of the
 * model, and paths lead between points that are similar: whose kernel is above e^-1, as within a
 * bandwidth, or above half of the highest that one of them has with any point.  Their saddle is
 * the less dense of both.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "../fit/answers.h"
#include "../fit/fit.h"
#include "../fit/ready.h"
#include "../record/vector.h"
#include "../server/result.h"
#include "fitted.h"
#include "peaks.h"
#include "search.h"

PG_FUNCTION_INFO_V1(race_modes);

#define MOST_MODES		100
#define SIMILAR			0.3679	/* e^-1 */
#define STARTS(most)	(3 * (most) + 10)	/* of climbs, as several reach the same mode */

typedef struct Modes
{
	uint32		n;
	uint32		dims;
	RacePlaces	places;			/* of vectors, */
	RaceFitted	fitted;			/* or of other records */
	double	   *density;		/* [n], as the following */
	double	   *prominence;
	RaceRanked *order;			/* the most prominent first */
	RaceResultRow row;
} Modes;

/* ------------------------------------------------------------------- vectors */

static const double *
read_bounds(FunctionCallInfo fcinfo, int arg, uint32 dims)
{
	return PG_ARGISNULL(arg) ? NULL :
		race_vector_new(FLOAT8ARRAYOID, PG_GETARG_DATUM(arg), dims);
}

/* The smallest box around the points of a model */
static void
box_of_points(const RaceView *view, RaceFitRequest *box)
{
	uint32		dims = view->params->dims;
	double	   *lower = palloc(dims * sizeof(double));
	double	   *upper = palloc(dims * sizeof(double));
	RaceColumn	column;
	uint64		i;
	uint32		j;

	race_model_columns(view->model, view->params, &column);
	memcpy(lower, column.numbers, dims * sizeof(double));
	memcpy(upper, column.numbers, dims * sizeof(double));
	for (i = 1; i < view->model->points; i++)
		for (j = 0; j < dims; j++)
		{
			lower[j] = Min(lower[j], column.numbers[i * dims + j]);
			upper[j] = Max(upper[j], column.numbers[i * dims + j]);
		}
	box->lower = lower;
	box->upper = upper;
}

/* Bounds from the arguments, else of the parameters, else around the points */
static void
find_box(FunctionCallInfo fcinfo, const RaceView *view, RaceFitRequest *box)
{
	uint32		dims = view->params->dims;

	memset(box, 0, sizeof(RaceFitRequest));
	if (!race_fit_bounds(view->params, read_bounds(fcinfo, 2, dims),
						 read_bounds(fcinfo, 3, dims), box))
	{
		if (view->model == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("race_modes needs bounds, or a sketch with a fitted model"),
					 errhint("Give lower and upper, or parameters that have them, or call race_fit first.")));
		box_of_points(view, box);
	}
	race_fit_check_box(view->params, box);
}

static void
find_prominences(Modes *modes, RacePath *paths, Size n_paths)
{
	modes->prominence = palloc(modes->n * sizeof(double));
	race_prominences(modes->density, modes->n, paths, n_paths,
					 palloc(modes->n * sizeof(uint32)), modes->prominence);
}

static void
find_in_box(FunctionCallInfo fcinfo, Datum sketch, const RaceView *view, uint32 most,
			Modes *modes)
{
	RacePlaces *places = &modes->places;
	RaceFitRequest box;
	RaceSearch	search;
	RacePath   *paths;
	Size		n = 0;
	uint32		i;
	uint32		j;

	find_box(fcinfo, view, &box);
	race_search_start(&search, sketch, box.lower, box.upper);
	race_search_maxima(&search, STARTS(most), places);
	modes->dims = search.dims;
	modes->n = places->n;
	modes->density = places->density;
	paths = palloc((Size) modes->n * modes->n * sizeof(RacePath));
	for (i = 0; i < modes->n; i++)
		for (j = 0; j < i; j++)
		{
			paths[n].a = j;
			paths[n].b = i;
			paths[n++].saddle = Min(modes->density[i],
									race_search_saddle(&search,
													   places->x + (Size) i * search.dims,
													   places->x + (Size) j * search.dims));
		}
	find_prominences(modes, paths, n);
}

/* -------------------------------------------------------------------- points */

/* What race_kde answers at the points */
static void
ask_at_points(Datum sketch, Modes *modes)
{
	RaceQuestion question;
	RaceColumn	columns[RACE_MAX_PARTS];
	uint32		i;
	int			k;

	race_ask_sketch(race_call_site_create(InvalidOid, CurrentMemoryContext), sketch,
					&question);
	for (i = 0; i < modes->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		for (k = 0; k < race_params_parts(question.view.params); k++)
			columns[k] = race_column_from(&modes->fitted.columns[k], i);
		race_ask_about_columns(&question, columns);
		modes->density[i] = race_estimate_mean(&question);
	}
}

/* The kernel of all pairs of points, [n][n], as far as i > j; and the highest of each */
static float *
compare_points(const Modes *modes, float *highest)
{
	Size		n = modes->n;
	float	   *kernels = palloc_extended(n * n * sizeof(float), MCXT_ALLOC_HUGE);
	Size		i;
	Size		j;

	for (i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		highest[i] = 0;
		for (j = 0; j < i; j++)
		{
			float		k = (float) exp(-race_fitted_apart(&modes->fitted, i, j));

			kernels[i * n + j] = k;
			highest[i] = Max(highest[i], k);
			highest[j] = Max(highest[j], k);
		}
	}
	return kernels;
}

static void
find_in_points(Datum sketch, Modes *modes)
{
	RacePath   *paths;
	float	   *kernels;
	float	   *highest;
	Size		n_paths = 0;
	uint32		i;
	uint32		j;

	race_fitted_open(sketch, &modes->fitted);
	modes->n = (uint32) modes->fitted.view.model->points;
	modes->density = palloc(modes->n * sizeof(double));
	ask_at_points(sketch, modes);
	highest = palloc(modes->n * sizeof(float));
	kernels = compare_points(modes, highest);
	paths = palloc_extended(((Size) modes->n * modes->n / 2 + 1) * sizeof(RacePath),
							MCXT_ALLOC_HUGE);
	for (i = 0; i < modes->n; i++)
		for (j = 0; j < i; j++)
			if (kernels[(Size) i * modes->n + j] >
				Min(SIMILAR, Min(highest[i], highest[j]) / 2))
			{
				paths[n_paths].a = j;
				paths[n_paths].b = i;
				paths[n_paths++].saddle = Min(modes->density[i], modes->density[j]);
			}
	find_prominences(modes, paths, n_paths);
	pfree(paths);
	pfree(kernels);
}

/* -------------------------------------------------------------------- results */

/* The most prominent first; none without prominence, nor where noise makes a density negative */
static void
sort_modes(Modes *modes)
{
	uint32		n = 0;
	uint32		i;

	modes->order = palloc(modes->n * sizeof(RaceRanked));
	race_rank(modes->prominence, modes->n, modes->order);
	for (i = 0; i < modes->n && modes->order[i].value > 0; i++)
		if (modes->density[modes->order[i].i] > 0)
			modes->order[n++] = modes->order[i];
	modes->n = n;
}

static void
start_modes(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	Datum		sketch;
	int32		most;
	Modes	   *modes;
	RaceView	view;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		return;
	sketch = PointerGetDatum(PG_GETARG_VARLENA_P(0));
	most = PG_GETARG_INT32(1);
	modes = palloc0(sizeof(Modes));
	if (most < 1 || most > MOST_MODES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("max must be between 1 and %d", MOST_MODES)));
	race_row_start(&modes->row, fcinfo);
	race_sketch_view(sketch, &view);
	race_check_askable(&view.header->noise);
	if (view.model != NULL)
		race_check_model(&view);
	if (race_model_is_of_vectors(view.params))
		find_in_box(fcinfo, sketch, &view, most, modes);
	else
		find_in_points(sketch, modes);
	sort_modes(modes);
	call->max_calls = Min(modes->n, (uint32) most);
	call->user_fctx = modes;
}

static Datum
mode_datum(void *state, uint64 i)
{
	Modes	   *modes = (Modes *) state;
	uint32		mode = modes->order[i].i;

	if (modes->places.x != NULL)
	{
		race_row_add_numbers(&modes->row, modes->places.x + (Size) mode * modes->dims,
							 modes->dims);
		race_row_add_null(&modes->row);
	}
	else
	{
		const RaceView *view = &modes->fitted.view;
		Size		length;
		const char *text = race_model_text(view->model, view->params, mode, &length);

		race_row_add_null(&modes->row);
		race_row_add(&modes->row, PointerGetDatum(cstring_to_text_with_len(text, length)));
	}
	race_row_add(&modes->row, Float8GetDatum(modes->density[mode]));
	race_row_add(&modes->row, Float8GetDatum(modes->prominence[mode]));
	return race_row_datum(&modes->row);
}

/* race_modes(sketch, max, lower, upper) */
Datum
race_modes(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_modes, mode_datum);
}
