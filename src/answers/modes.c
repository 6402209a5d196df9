/*
 * modes.c
 *		race_modes, race_quantile, race_typicality
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "../core/core.h"
#include "estimate.h"
#include "evaluator.h"
#include "fit.h"
#include "mmd.h"
#include "modes.h"
#include "peaks.h"
#include "row_estimator.h"
#include "sample.h"
#include "solver.h"

/*
 * race_modes: where the density is highest.
 *
 * Of vectors, modes are local maxima of what race_kde answers (modes.h).  Between each two of
 * them a straight path is looked at.  Of other records the places are the points of the
 * model, and paths lead between points that are similar: whose kernel is above e^-1, as within a
 * bandwidth, or above half of the highest that one of them has with any point.  Their saddle is
 * the less dense of both.
 */

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

/*
 * Places where an answer of a sketch is highest.
 */

#define POPULATION		1500	/* places of both kinds, where there is no model */
#define FIRST_STEP		0.5		/* of a climb, in widths, */
#define LAST_STEP		(1.0 / 128)
#define MOST_SWEEPS		1000
#define SAME			0.25	/* widths apart, maxima are the same */
#define LOOKS			4		/* at a line, in a width; at most so many: */
#define MOST_LOOKS		32

/*
 * A width is a bandwidth, in which the kernel falls to e^-1.  Where columns have none, it is a
 * small part of the box.
 */
#define PART_OF_BOX		16

static double
width_of(const RaceParams *params, uint32 i, double span)
{
	const double *factors = race_array(params, RACE_ARRAY_BANDWIDTHS);
	double		width = span / PART_OF_BOX;

	if (race_array(params, RACE_ARRAY_MATRIX) == NULL &&
		race_kernel_type(params->kernel)->of_distance != NULL)
		width = params->bandwidth * (factors == NULL ? 1 : factors[i]) / params->power;
	return width > 0 ? width : 1;
}

static void
find_cells(RaceSearch *search, const RaceParams *params)
{
	RaceGrid	grid;
	uint32		i;

	race_grid_of(params, &grid);
	search->beside = palloc(grid.dims * sizeof(double));
	search->half_cells = palloc(grid.dims * sizeof(double));
	for (i = 0; i < grid.dims; i++)
		search->half_cells[i] = grid.width[i] / 2;
}

static double
density_at_place(RaceSearch *search, const double *x)
{
	CHECK_FOR_INTERRUPTS();
	race_ask_about_vector(&search->question, x);
	return race_estimate_mean(&search->question);
}

void
race_search_start(RaceSearch *search, Datum sketch, const double *lower, const double *upper)
{
	const RaceParams *params;
	uint32		i;

	race_ask_sketch(race_call_site_create(InvalidOid, CurrentMemoryContext), sketch,
					&search->question);
	params = search->question.view.params;
	search->look = density_at_place;
	search->population = POPULATION;
	search->floor = 0;
	search->first_step = FIRST_STEP;
	search->last_step = LAST_STEP;
	search->dims = params->dims;
	search->half_cells = NULL;
	search->lower = lower;
	search->upper = upper;
	search->widths = palloc(params->dims * sizeof(double));
	for (i = 0; i < params->dims; i++)
		search->widths[i] = width_of(params, i, upper[i] - lower[i]);
	if (race_is_grid(params))
		find_cells(search, params);
}

/*
 * Answers of a grid peak a little at its nodes.  Their mean over places half a cell away along
 * each axis does not.
 */
static double
density_beside(RaceSearch *search, const double *x)
{
	double	   *at = search->beside;
	double		sum = 0;
	uint32		i;

	memcpy(at, x, search->dims * sizeof(double));
	for (i = 0; i < search->dims; i++)
	{
		at[i] = x[i] - search->half_cells[i];
		sum += density_at_place(search, at);
		at[i] = x[i] + search->half_cells[i];
		sum += density_at_place(search, at);
		at[i] = x[i];
	}
	return sum / (2 * search->dims);
}

/* The distance of two places in widths */
static double
apart(const RaceSearch *search, const double *a, const double *b)
{
	double		sum = 0;
	uint32		i;

	for (i = 0; i < search->dims; i++)
	{
		double		d = (a[i] - b[i]) / search->widths[i];

		sum += d * d;
	}
	return sqrt(sum);
}

/* --------------------------------------------------------------- populations */

static void
look_at(RaceSearch *search, RacePlaces *places, uint32 from)
{
	uint32		i;

	for (i = from; i < places->n; i++)
		places->density[i] = search->look(search, places->x + (Size) i * search->dims);
}

static void
make_places(const RaceSearch *search, RacePlaces *places, uint32 n)
{
	places->n = n;
	places->x = palloc_extended((Size) n * search->dims * sizeof(double), MCXT_ALLOC_HUGE);
	places->density = palloc(n * sizeof(double));
}

/* The points of the model, as far as they are in the box */
static void
take_points(RaceSearch *search, RacePlaces *places)
{
	const RaceView *view = &search->question.view;
	RaceColumn	column;
	uint64		i;
	uint32		j;

	make_places(search, places, view->model->points);
	race_model_columns(view->model, view->params, &column);
	for (i = 0; i < places->n; i++)
		for (j = 0; j < search->dims; j++)
			places->x[i * search->dims + j] =
				Min(Max(column.numbers[i * search->dims + j], search->lower[j]),
					search->upper[j]);
	look_at(search, places, 0);
}

/*
 * Keep the denser half of some places, and draw the others around them, by density.  False if
 * none has any.
 */
static bool
draw_around(RaceSearch *search, const RaceBox *box, int round, RacePlaces *places)
{
	double	   *weights = palloc(places->n * sizeof(double));
	double	   *space = palloc(places->n * sizeof(double));
	uint32		kept;
	uint32		i;

	for (i = 0; i < places->n; i++)
		weights[i] = Max(places->density[i] - search->floor, 0);
	kept = race_candidates_keep(search->dims, places->n / 2, places->x, weights, places->n,
								space);
	if (kept > 0)
	{
		for (i = 0; i < kept; i++)
			places->density[i] = weights[i] + search->floor;
		race_candidates_around(box, 0, round, race_candidates_jitter(box, places->n, round),
							   places->x, weights, kept, places->n - kept,
							   places->x + (Size) kept * search->dims);
		look_at(search, places, kept);
	}
	pfree(weights);
	pfree(space);
	return kept > 0;
}

/* The least of some places */
static double
least_of(const RacePlaces *places)
{
	double		least = INFINITY;
	uint32		i;

	for (i = 0; i < places->n; i++)
		least = Min(least, places->density[i]);
	return isfinite(least) ? least : 0;
}

/*
 * Places at random, which see all hills where dimensions are few; and as many again, which in
 * rounds are drawn ever more closely around the denser ones, and find a hill where they are
 * many
 */
static void
draw_places(RaceSearch *search, RacePlaces *places)
{
	RaceBox		box = {search->dims, search->lower, search->upper};
	RacePlaces	moved;
	int			round;

	make_places(search, places, 2 * search->population);
	race_candidates_uniform(&box, 0, 0, places->n, places->x);
	look_at(search, places, 0);
	if (isinf(search->floor))
		search->floor = least_of(places);
	moved.n = search->population;
	moved.x = places->x + (Size) moved.n * search->dims;
	moved.density = places->density + moved.n;
	for (round = 1; round < RACE_FIT_ROUNDS; round++)
		if (!draw_around(search, &box, round, &moved))
			return;
}

/* -------------------------------------------------------------------- climbs */

/* Try a step to both sides along each axis.  Returns the density reached. */
static double
try_axes(RaceSearch *search, double (*density_at) (RaceSearch *, const double *), double *x,
		 double density, double step)
{
	uint32		i;

	for (i = 0; i < 2 * search->dims; i++)
	{
		uint32		axis = i / 2;
		double		at = x[axis];
		double		found;

		x[axis] = at + (i % 2 == 0 ? step : -step) * search->widths[axis];
		x[axis] = Min(Max(x[axis], search->lower[axis]), search->upper[axis]);
		found = x[axis] == at ? density : density_at(search, x);
		if (found > density)
			density = found;
		else
			x[axis] = at;
	}
	return density;
}

/*
 * Climb from a place: try a step to both sides along each axis, and then the whole way of
 * such a round once more.  Where nothing is denser, halve the steps (Hooke & Jeeves 1961).
 * `space` is for 2 * dims numbers.
 */
static double
climb(RaceSearch *search, double (*density_at) (RaceSearch *, const double *), double *x,
	  double *space)
{
	double		density = density_at(search, x);
	Size		size = search->dims * sizeof(double);
	double	   *before = space;
	double	   *next = space + search->dims;
	double		step = search->first_step;
	int			sweeps;

	for (sweeps = 0; step >= search->last_step && sweeps < MOST_SWEEPS; sweeps++)
	{
		double		least = density;
		double		found;
		uint32		i;

		memcpy(before, x, size);
		density = try_axes(search, density_at, x, density, step);
		if (density == least)
		{
			step /= 2;
			continue;
		}
		for (i = 0; i < search->dims; i++)
			next[i] = Min(Max(2 * x[i] - before[i], search->lower[i]), search->upper[i]);
		found = density_at(search, next);
		if (found > density)
		{
			density = found;
			memcpy(x, next, size);
		}
	}
	return density;
}

/* Is one of the first n places in this order within so many widths of x? */
static bool
is_beaten(const RaceSearch *search, const RacePlaces *places, const RaceRanked *order,
		  uint32 n, const double *x, double within)
{
	uint32		i;

	for (i = 0; i < n; i++)
		if (apart(search, places->x + (Size) order[i].i * search->dims, x) < within)
			return true;
	return false;
}

/*
 * Of places keep those that no denser one within so many widths beats, the densest first,
 * at most `most`.
 */
static void
keep_maxima(const RaceSearch *search, const RacePlaces *places, double within, uint32 most,
			RacePlaces *maxima)
{
	RaceRanked *order = palloc(places->n * sizeof(RaceRanked));
	uint32		n = 0;
	uint32		i;

	race_rank(places->density, places->n, order);
	make_places(search, maxima, Min(most, places->n));
	for (i = 0; i < places->n && n < most; i++)
	{
		const double *x = places->x + (Size) order[i].i * search->dims;

		CHECK_FOR_INTERRUPTS();
		if (is_beaten(search, places, order, i, x, within))
			continue;
		memcpy(maxima->x + (Size) n * search->dims, x, search->dims * sizeof(double));
		maxima->density[n++] = order[i].value;
	}
	maxima->n = n;
	pfree(order);
}

static void
climb_all(RaceSearch *search, double (*density_at) (RaceSearch *, const double *),
		  RacePlaces *places)
{
	double	   *space = palloc(2 * search->dims * sizeof(double));
	uint32		i;

	for (i = 0; i < places->n; i++)
		climb(search, density_at, places->x + (Size) i * search->dims, space);
	look_at(search, places, 0);
	pfree(space);
}

void
race_search_maxima(RaceSearch *search, uint32 most, RacePlaces *maxima)
{
	RacePlaces	population;
	RacePlaces	starts;

	if (search->question.view.model != NULL)
		take_points(search, &population);
	else
		draw_places(search, &population);
	keep_maxima(search, &population, 1, most, &starts);
	climb_all(search, search->look, &starts);
	keep_maxima(search, &starts, SAME, most, maxima);
	if (search->half_cells == NULL)
		return;
	starts = *maxima;
	climb_all(search, density_beside, &starts);
	keep_maxima(search, &starts, SAME, most, maxima);
}

double
race_search_highest(RaceSearch *search, uint32 climbs, double *x)
{
	Size		size = search->dims * sizeof(double);
	double	   *space = palloc(2 * size);
	double		highest = climb(search, search->look, x, space);
	RacePlaces	population;
	RacePlaces	starts;
	uint32		i;

	draw_places(search, &population);
	keep_maxima(search, &population, 1, climbs, &starts);
	for (i = 0; i < starts.n; i++)
	{
		double	   *start = starts.x + (Size) i * search->dims;
		double		found = climb(search, search->look, start, space);

		if (found > highest)
		{
			highest = found;
			memcpy(x, start, size);
		}
	}
	pfree(space);
	return highest;
}

double
race_search_saddle(RaceSearch *search, const double *a, const double *b)
{
	int			looks = (int) Min(Max(ceil(apart(search, a, b) * LOOKS), 3), MOST_LOOKS);
	double	   *x = palloc(search->dims * sizeof(double));
	double		least = INFINITY;
	int			k;
	uint32		i;

	for (k = 1; k <= looks; k++)
	{
		double		t = (double) k / (looks + 1);

		for (i = 0; i < search->dims; i++)
			x[i] = a[i] * (1 - t) + b[i] * t;
		least = Min(least, density_at_place(search, x));
	}
	pfree(x);
	return least;
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

static void
read_shares(ArrayType *array, Quantiles *quantiles)
{
	int			i;

	deconstruct_array(array, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE,
					  &quantiles->shares, &quantiles->nulls, &quantiles->n);
	for (i = 0; i < quantiles->n; i++)
	{
		double		p = DatumGetFloat8(quantiles->shares[i]);

		if (!quantiles->nulls[i] && !(p >= 0 && p <= 1))
			ereport(ERROR,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("percentile value %g is not between 0 and 1", p)));
	}
}

static bool
error_is_known(const RaceView *view)
{
	return race_is_grid(view->params) && view->params->dims == 1;
}

/* Two-sided, 95 %: so many standard errors on each side */
#define MARGIN	1.96

/*
 * Between which nodes the quantile is: *last has clearly fewer records up to it than the share p, and
 * all up to it have; *first has clearly more up to the node before it, and all from it on have
 */
static void
enclose(const Quantiles *quantiles, const RaceGrid *grid, double p, double *last, double *first)
{
	const RaceView *view = &quantiles->fitted.view;
	RaceRecordCount count = race_record_count(view, NULL);
	double		unit = (double) race_record_unit(view->params);
	double		of_node = view->header->noise.counter_variance / (unit * unit);
	double		nodes = (double) grid->nodes;
	double		all = 0;
	double		sum = 0;
	bool		fewer = true;
	uint64		i;

	for (i = 0; i < grid->nodes; i++)
		all += race_counters_get(view->counters, view->width, i) / unit;
	*last = 0;
	*first = 1;
	for (i = 0; i < grid->nodes; i++)
	{
		double		part = (double) (i + 1) / nodes;
		double		beyond;
		double		deviation = sqrt(nodes * part * (1 - part) * of_node +
									 (part - p) * (part - p) * count.variance);

		sum += race_counters_get(view->counters, view->width, i) / unit;
		beyond = sum - part * (all - count.n) - p * count.n;
		fewer = fewer && beyond < -MARGIN * deviation;
		if (fewer)
			*last = (double) i;
		if (beyond <= MARGIN * deviation)
			*first = (double) i + 2;
	}
	*first = Min(*first, nodes - 1);
}

static double
standard_error(const Quantiles *quantiles, double p, double value)
{
	RaceGrid	grid;
	double		last;
	double		first;

	race_grid_of(quantiles->fitted.view.params, &grid);
	enclose(quantiles, &grid, p, &last, &first);
	value = (value - grid.lower[0]) / grid.width[0];
	return Max(value - last, first - value) * grid.width[0] / MARGIN;
}

static void
start_quantiles(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	Quantiles  *quantiles = palloc0(sizeof(Quantiles));
	RaceColumnPlace place;

	race_row_start(&quantiles->row, fcinfo);
	read_shares(PG_GETARG_ARRAYTYPE_P_COPY(1), quantiles);
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

	race_row_add_if(&quantiles->row, known, Float8GetDatum(p));
	race_row_add_if(&quantiles->row, known, Float8GetDatum(value));
	known = known && error_is_known(&quantiles->fitted.view);
	race_row_add_if(&quantiles->row, known,
					Float8GetDatum(known ? standard_error(quantiles, p, value) : 0));
	return race_row_datum(&quantiles->row);
}

/* race_quantile(sketch, p, column) */
Datum
race_quantile(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_quantiles, quantile_datum);
}

/*
 * race_typicality: the density at a query over that at an average record.
 *
 * The sum of the kernel over all pairs of records is what a sketch knows of the densities at
 * the records themselves (ACE's threshold: Luo & Shrivastava 2018).
 */

PG_FUNCTION_INFO_V1(race_typicality);

/* What was computed for a sketch */
typedef struct Typical
{
	RaceKnown	known;			/* must be first */
	RaceTypical typical;
} Typical;

/*
 * The mean density at a record, without the kernel of the record with itself.  It is not below
 * what one record gives, 1 / n, and not below twice its own standard error, under which it
 * says nothing.  No density is above 1.
 */
static RaceTypical
typical_of(const RaceView *view)
{
	double		n = race_count_divisor(race_record_count(view, NULL));
	double		p = race_collision_probability(view->params);
	RacePair	pair = {{view, NULL}, {n, 0}};
	RaceProducts products;
	double		mean;
	double		variance;

	race_products(&pair, &products);
	mean = n > 1 ? (products.aa - 1 / n) / (1 - 1 / n) : 0;
	mean = (mean - p) / (1 - p);
	/* products go with the square of the count */
	variance = (products.noise_variance + 4 * products.with_difference) / ((1 - p) * (1 - p)) +
		4 * mean * mean * view->header->noise.count_variance / (n * n);
	return (RaceTypical)
	{
		Min(Max(Max(mean, 2 * sqrt(variance)), 1 / n), 1),
			mean > 2 * sqrt(variance) ? sqrt(variance) : INFINITY
	};
}

static void *
create_typical(const RaceView *view, void *question, MemoryContext context, Size *size)
{
	Typical    *typical = MemoryContextAllocZero(context, sizeof(Typical));

	(void) question;
	race_known_init(&typical->known, view, context);
	typical->typical = typical_of(view);
	*size = sizeof(Typical) + race_params_size(view->params);
	return typical;
}

static const RaceDerivedKind typical_density = {"typical density", create_typical, NULL};

RaceTypical
race_typical(RaceCallSite *site, const RaceView *view)
{
	return ((Typical *) race_derived_at(site, &typical_density, view, NULL))->typical;
}

/* race_typicality(sketch, q) */
Datum
race_typicality(PG_FUNCTION_ARGS)
{
	RaceQuestion question;
	double		density;

	race_ask(fcinfo, 0, &question);
	density = race_estimate_mean(&question);
	PG_RETURN_FLOAT8(density / race_typical(question.site, &question.view).density);
}

/*
 * race_typicality_share: how many records are less typical than this one?
 *
 * The distribution of the densities of a fitted sketch at its own records: that at each point of the model,
 * for as many records as it weighs.  To ask for all of them takes long, so a session keeps them for
 * the sketches that it asked last (racepriv.cache_size).
 */

PG_FUNCTION_INFO_V1(race_typicality_share);

typedef struct Rank
{
	double		sum;			/* of kernels at a point */
	double		weight;			/* and later of all points up to this one */
} Rank;

typedef struct Ranks
{
	RaceKnown	known;			/* must be first */
	uint64		n;
	Rank		ranks[FLEXIBLE_ARRAY_MEMBER];
} Ranks;

static int
compare_ranks(const void *a, const void *b)
{
	double		x = ((const Rank *) a)->sum;
	double		y = ((const Rank *) b)->sum;

	return (x > y) - (x < y);
}

static void
ask_ranks_at_points(RaceQuestion *question, Ranks *ranks)
{
	const RaceView *view = &question->view;
	int			parts = race_params_parts(view->params);
	RaceColumn	points[RACE_MAX_PARTS];
	RaceColumn	point[RACE_MAX_PARTS];
	double		total = 0;
	uint64		i;
	int			k;

	race_model_columns(view->model, view->params, points);
	for (i = 0; i < ranks->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		for (k = 0; k < parts; k++)
			point[k] = race_column_from(&points[k], i);
		race_ask_about_columns(question, point);
		ranks->ranks[i].sum = race_estimate_sum(question);
		ranks->ranks[i].weight = race_model_weight(view->model, i);
	}
	qsort(ranks->ranks, ranks->n, sizeof(Rank), compare_ranks);
	for (i = 0; i < ranks->n; i++)
		ranks->ranks[i].weight = total += ranks->ranks[i].weight;
}

static void *
create_ranks(const RaceView *view, void *question, MemoryContext context, Size *size)
{
	Ranks	   *ranks;

	race_check_model(view);
	*size = offsetof(Ranks, ranks) + view->model->points * sizeof(Rank);
	ranks = MemoryContextAllocZero(context, *size);
	race_known_init(&ranks->known, view, context);
	ranks->n = view->model->points;
	ask_ranks_at_points((RaceQuestion *) question, ranks);
	return ranks;
}

static const RaceDerivedKind ranks_of_points = {"density ranks", create_ranks, NULL};

/* race_typicality_share(sketch, q) */
Datum
race_typicality_share(PG_FUNCTION_ARGS)
{
	RaceCallSite *site = race_call_site(fcinfo, 1);
	const Ranks *ranks;
	RaceQuestion question;
	double		total;
	double		sum;
	uint64		from = 0;
	uint64		to;

	race_ask_sketch(site, PG_GETARG_DATUM(0), &question);
	race_check_fitted(&question.view);
	ranks = race_derived_at(site, &ranks_of_points, &question.view, &question);
	race_ask_about(&question, PG_GETARG_DATUM(1));
	sum = race_estimate_sum(&question);
	total = ranks->ranks[ranks->n - 1].weight;
	/* find the first that is not below */
	for (to = ranks->n; from < to;)
	{
		uint64		middle = (from + to) / 2;

		if (ranks->ranks[middle].sum < sum)
			from = middle + 1;
		else
			to = middle;
	}
	PG_RETURN_FLOAT8(from == 0 || total == 0 ? 0 : ranks->ranks[from - 1].weight / total);
}
