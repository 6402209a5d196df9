/*
 * modes.c
 *		race_modes, race_quantile
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/memutils.h"

#include "../core/core.h"
#include "estimate.h"
#include "evaluator.h"
#include "fit.h"
#include "modes.h"
#include "sample.h"

/*
 * race_modes: where the density of vectors is highest.
 *
 * From the points of the model that no denser one is near, a search climbs in ever smaller steps.  It
 * needs no derivatives (Coleman & Shrivastava 2021, section 4).  The prominence of a mode is its density
 * less the least one on the way to a denser mode, over those straight lines between modes on which that is
 * highest.
 */

PG_FUNCTION_INFO_V1(race_modes);

#define MOST_MODES		100
#define STARTS(most)	(3 * (most) + 10)	/* of climbs, as several reach the same mode */
#define FIRST_STEP		0.5		/* of a climb, in widths */
#define LAST_STEP		(1.0 / 128)
#define MOST_SWEEPS		1000
#define NEAR			1.0		/* widths: a denser point as near leaves no start */
#define SAME			0.25	/* widths apart, maxima are the same */
#define SADDLE_STEPS	4		/* on a line, in a width; at most MOST_SADDLE_STEPS */
#define MOST_SADDLE_STEPS	32
#define PART_OF_BOX		16		/* a width, where columns have no bandwidth */

typedef struct Maximum
{
	double	   *x;
	double		density;
	double		prominence;
} Maximum;

typedef struct Modes
{
	RaceSearch	search;
	Maximum	   *modes;
	uint32		n;
	RaceResultRow row;
} Modes;

/* ---------------------------------------------------------------------- box */

/* Set bounds from the arguments, else of the parameters, else around the points. */
static void
find_box(FunctionCallInfo fcinfo, const RaceView *view, RaceFitRequest *box)
{
	uint32		dims = view->params->dims;
	const double *bounds[2];
	double	   *around[2];
	RaceColumn	column;

	memset(box, 0, sizeof(RaceFitRequest));
	for (uint64 i = 0; i < 2; i++)
		bounds[i] = PG_ARGISNULL(2 + i) ? NULL : race_vector_new(FLOAT8ARRAYOID, PG_GETARG_DATUM(2 + i), dims);
	if (!race_fit_bounds(view->params, bounds[0], bounds[1], box))
	{
		if (view->model == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("race_modes needs bounds, or a sketch with a fitted model"),
					 errhint("Give lower and upper, or parameters that have them, or call race_fit first.")));
		race_model_columns(view->model, view->params, &column);
		for (uint64 i = 0; i < 2; i++)
			around[i] = memcpy(palloc(dims * sizeof(double)), column.numbers, dims * sizeof(double));
		for (uint64 i = 0; i < view->model->points * dims; i++)
		{
			around[0][i % dims] = Min(around[0][i % dims], column.numbers[i]);
			around[1][i % dims] = Max(around[1][i % dims], column.numbers[i]);
		}
		box->lower = around[0];
		box->upper = around[1];
	}
	race_fit_check_box(view->params, box);
}

/* ------------------------------------------------------------------- climbs */

/* Try a step to both sides along each axis.  Return the density reached. */
static double
try_axes(RaceSearch *search, double *x, double density, double step)
{
	for (uint32 i = 0; i < 2 * search->dims; i++)
	{
		uint32		axis = i / 2;
		double		at = x[axis];
		double		found;

		x[axis] = at + (i % 2 == 0 ? step : -step) * search->widths[axis];
		x[axis] = Min(Max(x[axis], search->lower[axis]), search->upper[axis]);
		found = x[axis] == at ? density : search->height(search, x);
		if (found > density)
			density = found;
		else
			x[axis] = at;
	}
	return density;
}

double
race_search_climb(RaceSearch *search, double *x)
{
	double		density = search->height(search, x);
	Size		size = search->dims * sizeof(double);
	double	   *before = palloc(2 * size);
	double	   *next = before + search->dims;
	double		step = search->first_step;

	for (int sweeps = 0; step >= search->last_step && sweeps < MOST_SWEEPS; sweeps++)
	{
		double		least = density;
		double		found;

		memcpy(before, x, size);
		density = try_axes(search, x, density, step);
		if (density == least)
		{
			step /= 2;
			continue;
		}
		for (uint32 i = 0; i < search->dims; i++)
			next[i] = Min(Max(2 * x[i] - before[i], search->lower[i]), search->upper[i]);
		found = search->height(search, next);
		if (found > density)
		{
			density = found;
			memcpy(x, next, size);
		}
	}
	pfree(before);
	return density;
}

/* -------------------------------------------------------------------- modes */

static double
density_at(RaceSearch *search, const double *x)
{
	CHECK_FOR_INTERRUPTS();
	race_ask_about_vector(&search->question, x);
	return race_estimate_mean(&search->question);
}

/* Return the distance of two places in widths. */
static double
apart(const RaceSearch *search, const double *a, const double *b)
{
	double		sum = 0;

	for (uint32 i = 0; i < search->dims; i++)
		sum += pow((a[i] - b[i]) / search->widths[i], 2);
	return sqrt(sum);
}

static int
compare_densities(const void *a, const void *b)
{
	const Maximum *x = (const Maximum *) a;
	const Maximum *y = (const Maximum *) b;

	if (x->density != y->density)
		return x->density < y->density ? 1 : -1;
	return (x->x > y->x) - (x->x < y->x);
}

static int
compare_prominences(const void *a, const void *b)
{
	double		x = ((const Maximum *) a)->prominence;
	double		y = ((const Maximum *) b)->prominence;

	return x != y ? (x < y ? 1 : -1) : compare_densities(a, b);
}

/* Sort places, and keep at most `most` of those to which no denser one is as near.  Return how many. */
static uint32
keep_maxima(const RaceSearch *search, Maximum *places, uint32 n, double near, uint32 most)
{
	Maximum	   *kept = palloc(Min(n, most) * sizeof(Maximum));
	uint32		n_kept = 0;
	uint32		j;

	qsort(places, n, sizeof(Maximum), compare_densities);
	for (uint32 i = 0; i < n && n_kept < most; i++)
	{
		CHECK_FOR_INTERRUPTS();
		for (j = 0; j < i && !(apart(search, places[j].x, places[i].x) < near); j++)
			;
		if (j == i)
			kept[n_kept++] = places[i];
	}
	memcpy(places, kept, n_kept * sizeof(Maximum));
	pfree(kept);
	return n_kept;
}

/* Return the least density on the line between two places. */
static double
saddle_between(RaceSearch *search, const Maximum *a, const Maximum *b)
{
	int			steps = (int) Min(Max(ceil(apart(search, a->x, b->x) * SADDLE_STEPS), 3), MOST_SADDLE_STEPS);
	double	   *x = palloc(search->dims * sizeof(double));
	double		least = Min(a->density, b->density);

	for (int k = 1; k <= steps; k++)
	{
		double		t = (double) k / (steps + 1);

		for (uint32 i = 0; i < search->dims; i++)
			x[i] = a->x[i] * (1 - t) + b->x[i] * t;
		least = Min(least, density_at(search, x));
	}
	pfree(x);
	return least;
}

/* Set the prominences of modes, the densest of which is first. */
static void
find_prominences(RaceSearch *search, Maximum *modes, uint32 n)
{
	double	   *level = palloc((Size) n * n * sizeof(double));	/* the highest on which one gets there */

	for (uint32 i = 0; i < n; i++)
		for (uint32 j = 0; j <= i; j++)
			level[i * n + j] = level[j * n + i] = saddle_between(search, &modes[i], &modes[j]);
	for (uint32 k = 0; k < n; k++)
		for (uint32 i = 0; i < n; i++)
			for (uint32 j = 0; j < n; j++)
				level[i * n + j] = Max(level[i * n + j], Min(level[i * n + k], level[k * n + j]));
	for (uint32 i = 0; i < n; i++)
	{
		modes[i].prominence = modes[i].density;
		for (uint32 j = 0; j < i; j++)
			modes[i].prominence = Min(modes[i].prominence, modes[i].density - level[i * n + j]);
	}
	pfree(level);
}

/* Find at most `most` modes in a box, the most prominent first.  Noise can make densities negative. */
static void
find_modes(Modes *found, Datum sketch, const RaceView *view, const RaceFitRequest *box, uint32 most)
{
	RaceSearch *search = &found->search;
	const RaceParams *params = view->params;
	uint32		dims = params->dims;
	const double *factors = race_array(params, RACE_ARRAY_BANDWIDTHS);
	/* in which the kernel falls to e^-1, where it depends on the distance of columns */
	double		bandwidth = race_array(params, RACE_ARRAY_MATRIX) == NULL &&
		race_kernel_type(params->kernel)->of_distance != NULL ? params->bandwidth / params->power : 0;
	RaceColumn	column;
	double	   *x;
	uint64		i;

	race_ask_sketch(race_call_site_create(InvalidOid, CurrentMemoryContext), sketch, &search->question);
	*search = (RaceSearch) {density_at, FIRST_STEP, LAST_STEP, search->question, dims, box->lower, box->upper,
		palloc(dims * sizeof(double))};
	for (i = 0; i < dims; i++)
	{
		search->widths[i] = bandwidth > 0 ? bandwidth * (factors == NULL ? 1 : factors[i]) :
			(box->upper[i] - box->lower[i]) / PART_OF_BOX;
		if (!(search->widths[i] > 0))
			search->widths[i] = 1;
	}
	race_model_columns(view->model, view->params, &column);
	found->n = view->model->points;
	found->modes = palloc(found->n * sizeof(Maximum));
	x = palloc_extended(found->n * dims * sizeof(double), MCXT_ALLOC_HUGE);
	for (i = 0; i < found->n * dims; i++)
		x[i] = Min(Max(column.numbers[i], box->lower[i % dims]), box->upper[i % dims]);
	for (i = 0; i < found->n; i++)
		found->modes[i] = (Maximum) {x + i * dims, density_at(search, x + i * dims), 0};
	found->n = keep_maxima(search, found->modes, found->n, NEAR, STARTS(most));
	for (i = 0; i < found->n; i++)
		found->modes[i].density = race_search_climb(search, found->modes[i].x);
	found->n = keep_maxima(search, found->modes, found->n, SAME, STARTS(most));
	find_prominences(search, found->modes, found->n);
	qsort(found->modes, found->n, sizeof(Maximum), compare_prominences);
	for (i = 0; i < Min(found->n, most) && found->modes[i].prominence > 0 && found->modes[i].density > 0; i++)
		;
	found->n = i;
}

static void
start_modes(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	Datum		sketch;
	RaceFitRequest box;
	RaceView	view;
	Modes	   *found;
	int32		most;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		return;
	sketch = PointerGetDatum(PG_GETARG_VARLENA_P(0));
	most = PG_GETARG_INT32(1);
	found = palloc(sizeof(Modes));
	if (most < 1 || most > MOST_MODES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("max must be between 1 and %d", MOST_MODES)));
	race_row_start(&found->row, fcinfo);
	race_sketch_view(sketch, &view);
	race_check_askable(&view.header->noise);
	if (!race_model_is_of_vectors(view.params))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("race_modes needs a kernel of vectors by itself"),
				 errdetail("The parameters are %s.", race_params_brief(view.params)),
				 errhint("Of other records, look at race_points of a fitted sketch, by weight.")));
	if (view.model != NULL)
		race_check_model(&view);
	find_box(fcinfo, &view, &box);
	if (view.model == NULL)
		race_sketch_view(PointerGetDatum(race_fit_box(&view, &box)), &view);
	find_modes(found, sketch, &view, &box, most);
	call->max_calls = found->n;
	call->user_fctx = found;
}

static Datum
mode_datum(void *state, uint64 i)
{
	Modes	   *found = (Modes *) state;
	const Maximum *mode = &found->modes[i];

	race_row_add_numbers(&found->row, mode->x, found->search.dims);
	race_row_add(&found->row, Float8GetDatum(mode->density));
	race_row_add(&found->row, Float8GetDatum(mode->prominence));
	return race_row_datum(&found->row);
}

/* race_modes(sketch, max, lower, upper) */
Datum
race_modes(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_modes, mode_datum);
}

/*
 * race_quantile: quantiles of a column of the records, from the model of a sketch.
 *
 * Of a grid in one dimension the standard error is known, whatever the model is.  Records up to a
 * node are in it and in the nodes before it, and these have none beyond the next node.  Each node
 * has noise of its own, so the number of records in the first k of K nodes has k times its variance; as
 * the number of all records is known apart, k (K - k) / K times.  So where sums of nodes are clearly less,
 * or more, than the share that is asked about, the quantile is beyond, or before.  A model may be as wrong
 * as the nodes between: where records share a value, errors are not normal.
 */

PG_FUNCTION_INFO_V1(race_quantile);

typedef struct Quantiles
{
	RaceFitted	fitted;
	RaceMarginal *marginal;
	RaceResultRow row;
	Datum	   *shares;			/* p */
	bool	   *nulls;
	int			n;
} Quantiles;

/* Two-sided, 95 %: so many standard errors on each side */
#define MARGIN	1.96

/*
 * Half of the width in which the quantile is, as a standard error.  It is beyond the last node up to which, and up to all
 * before, there are clearly fewer records than the share p; and before the first node with clearly more.
 */
static double
quantile_error(const RaceView *view, const RaceGrid *grid, double p, double value)
{
	RaceRecordCount count = race_record_count(view, NULL);
	double		unit = (double) race_record_unit(view->params);
	double		node_variance = view->header->noise.counter_variance / (unit * unit);
	double		nodes = (double) grid->nodes;
	double		all = 0;
	double		sum = 0;
	double		last = 0;
	double		first = 1;
	bool		fewer = true;

	for (uint64 i = 0; i < grid->nodes; i++)
		all += race_counters_get(view->counters, view->width, i) / unit;
	for (uint64 i = 0; i < grid->nodes; i++)
	{
		double		part = (double) (i + 1) / nodes;
		double		beyond;
		double		deviation = sqrt(nodes * part * (1 - part) * node_variance +
									 (part - p) * (part - p) * count.variance);

		sum += race_counters_get(view->counters, view->width, i) / unit;
		beyond = sum - part * (all - count.n) - p * count.n;
		fewer = fewer && beyond < -MARGIN * deviation;
		if (fewer)
			last = (double) i;
		if (beyond <= MARGIN * deviation)
			first = (double) i + 2;
	}
	first = Min(first, nodes - 1);
	value = (value - grid->lower[0]) / grid->width[0];
	return Max(value - last, first - value) * grid->width[0] / MARGIN;
}

static void
start_quantiles(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	Quantiles  *quantiles = palloc0(sizeof(Quantiles));
	RaceColumnPlace place;

	race_row_start(&quantiles->row, fcinfo);
	deconstruct_array(PG_GETARG_ARRAYTYPE_P_COPY(1), FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE,
					  &quantiles->shares, &quantiles->nulls, &quantiles->n);
	for (int i = 0; i < quantiles->n; i++)
	{
		double		p = DatumGetFloat8(quantiles->shares[i]);

		if (!quantiles->nulls[i] && !(p >= 0 && p <= 1))
			ereport(ERROR,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("percentile value %g is not between 0 and 1", p)));
	}
	race_fitted_open(PointerGetDatum(PG_GETARG_VARLENA_P(0)), &quantiles->fitted);
	place = race_find_column(quantiles->fitted.view.params, PG_GETARG_INT32(2));
	quantiles->marginal = race_marginal_create(&quantiles->fitted, &place);
	call->max_calls = quantiles->n;
	call->user_fctx = quantiles;
}

static Datum
quantile_datum(void *state, uint64 i)
{
	Quantiles  *quantiles = (Quantiles *) state;
	bool		known = !quantiles->nulls[i];
	double		p = known ? DatumGetFloat8(quantiles->shares[i]) : 0;
	double		value = race_marginal_quantile(quantiles->marginal, p);
	RaceGrid	grid;

	race_row_add_if(&quantiles->row, known, Float8GetDatum(p));
	race_row_add_if(&quantiles->row, known, Float8GetDatum(value));
	known = known && race_grid_of(quantiles->fitted.view.params, &grid) && grid.dims == 1;
	race_row_add_if(&quantiles->row, known,
					Float8GetDatum(known ? quantile_error(&quantiles->fitted.view, &grid, p, value) : 0));
	return race_row_datum(&quantiles->row);
}

/* race_quantile(sketch, p, column) */
Datum
race_quantile(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_quantiles, quantile_datum);
}
