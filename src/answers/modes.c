/*
 * modes.c
 *		Search for the highest density, or the least loss: race_modes, race_loss, race_minimize
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/memutils.h"

#include "hash/column.h"
#include "hash/kernel.h"
#include "hash/loss_rows.h"
#include "hash/model_rows.h"
#include "hash/params.h"
#include "sketch/array_reader.h"
#include "sketch/call_site.h"
#include "sketch/params_text.h"
#include "sketch/record.h"
#include "sketch/result.h"
#include "sketch/sketch.h"
#include "sketch/sketch_format.h"
#include "answers/estimate.h"
#include "answers/evaluator.h"
#include "answers/factor.h"
#include "answers/fit.h"

/* A search for a place where an answer of a sketch is highest, without derivatives */
typedef struct Search
{
	/* what is to be high: the density, or a function of what this is a part of */
	double (*height)(struct Search *search, const double *x);
	double first_step; /* first step of a climb, in widths */
	double last_step;
	RaceQuestion question;
	uint32 dims;
	const double *lower; /* [dims]: the box that is searched */
	const double *upper;
	double *widths; /* [dims]: lengths that count as near, about a bandwidth */
} Search;

/*
 * race_modes: where the density of vectors is highest.
 *
 * From the points of the model that no denser one is near, a search climbs in ever smaller steps.
 * It needs no derivatives (Coleman & Shrivastava 2021, section 4).  The prominence of a mode is its
 * density less the least one on the way to a denser mode, over those straight lines between modes
 * on which that is highest.
 */

PG_FUNCTION_INFO_V1(race_modes);

#define MOST_MODES 100
#define STARTS(most) (3 * (most) + 10) /* number of climbs, as several reach the same mode */
#define FIRST_STEP 0.5                 /* first step of a climb, in widths */
#define LAST_STEP (1.0 / 128)
#define MOST_SWEEPS 1000
#define NEAR 1.0       /* widths within which a denser point leaves no start */
#define SAME 0.25      /* widths within which maxima are the same */
#define SADDLE_STEPS 4 /* steps on a line, in a width; at most MOST_SADDLE_STEPS */
#define MOST_SADDLE_STEPS 32
#define PART_OF_BOX 16 /* widths in the box, where columns have no bandwidth */

typedef struct Maximum
{
	double *x;
	double density;
	double prominence;
} Maximum;

typedef struct Modes
{
	Search search;
	Maximum *modes;
	uint32 n;
	RaceResultRow row;
} Modes;

/* ---------------------------------------------------------------------- box */

/* Set bounds from the arguments, else of the parameters, else around the points. */
static void
find_box(FunctionCallInfo fcinfo, const RaceView *view, RaceFitRequest *box)
{
	uint32 dims = view->params->dims;
	const double *bounds[2];
	double *around[2];
	RaceColumn column;

	memset(box, 0, sizeof(RaceFitRequest));
	for (uint64 i = 0; i < 2; i++)
		bounds[i] = PG_ARGISNULL(2 + i) ?
			NULL :
			race_vector_new(FLOAT8ARRAYOID, PG_GETARG_DATUM(2 + i), dims);
	if (!race_fit_bounds(view->params, bounds[0], bounds[1], box))
	{
		if (view->model == NULL)
			ereport(
				ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("race_modes needs bounds, or a sketch with a fitted model"),
				 errhint(
					 "Give lower and upper, or parameters that have them, or call race_fit first.")));
		race_model_columns(view->model, view->params, &column);
		for (uint64 i = 0; i < 2; i++)
			around[i] =
				memcpy(palloc(dims * sizeof(double)), column.numbers, dims * sizeof(double));
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
try_axes(Search *search, double *x, double density, double step)
{
	for (uint32 i = 0; i < 2 * search->dims; i++)
	{
		uint32 axis = i / 2;
		double at = x[axis];
		double found;

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

/*
 * Climb from x: try a step to both sides along each axis, and then the whole way of such a round
 * once more.  Where nothing is higher, halve the steps (Hooke & Jeeves 1961).  Return what is
 * reached.
 */
static double
climb_to_maximum(Search *search, double *x)
{
	double density = search->height(search, x);
	Size size = search->dims * sizeof(double);
	double *before = palloc(2 * size);
	double *next = before + search->dims;
	double step = search->first_step;

	for (int sweeps = 0; step >= search->last_step && sweeps < MOST_SWEEPS; sweeps++)
	{
		double least = density;
		double found;

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
density_at(Search *search, const double *x)
{
	CHECK_FOR_INTERRUPTS();
	race_ask_about_vector(&search->question, x);
	return race_estimate_mean(&search->question);
}

/* Return the distance of two places in widths. */
static double
distance_in_widths(const Search *search, const double *a, const double *b)
{
	double sum = 0;

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
	double x = ((const Maximum *) a)->prominence;
	double y = ((const Maximum *) b)->prominence;

	return x != y ? (x < y ? 1 : -1) : compare_densities(a, b);
}

/*
 * Sort places, and keep at most `most` of those to which no denser one is as near.  Return how
 * many.
 */
static uint32
keep_maxima(const Search *search, Maximum *places, uint32 n, double near, uint32 most)
{
	Maximum *kept = palloc(Min(n, most) * sizeof(Maximum));
	uint32 n_kept = 0;
	uint32 j;

	qsort(places, n, sizeof(Maximum), compare_densities);
	for (uint32 i = 0; i < n && n_kept < most; i++)
	{
		CHECK_FOR_INTERRUPTS();
		for (j = 0; j < i && !(distance_in_widths(search, places[j].x, places[i].x) < near); j++)
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
saddle_between(Search *search, const Maximum *a, const Maximum *b)
{
	int steps = (int) Min(Max(ceil(distance_in_widths(search, a->x, b->x) * SADDLE_STEPS), 3),
						  MOST_SADDLE_STEPS);
	double *x = palloc(search->dims * sizeof(double));
	double least = Min(a->density, b->density);

	for (int k = 1; k <= steps; k++)
	{
		double t = (double) k / (steps + 1);

		for (uint32 i = 0; i < search->dims; i++)
			x[i] = a->x[i] * (1 - t) + b->x[i] * t;
		least = Min(least, density_at(search, x));
	}
	pfree(x);
	return least;
}

/* Set the prominences of modes, the densest of which is first. */
static void
find_prominences(Search *search, Maximum *modes, uint32 n)
{
	double *level = palloc((Size) n * n * sizeof(double)); /* the highest on which one gets there */

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

/*
 * Find at most `most` modes in a box, the most prominent first.  Noise can make densities negative.
 */
static void
find_modes(Modes *found, Datum sketch, const RaceView *view, const RaceFitRequest *box, uint32 most)
{
	Search *search = &found->search;
	const RaceParams *params = view->params;
	uint32 dims = params->dims;
	const double *factors = race_array(params, RACE_ARRAY_BANDWIDTHS);
	/* the distance at which the kernel falls to e^-1, where it depends on that of columns */
	double bandwidth = race_array(params, RACE_ARRAY_MATRIX) == NULL &&
			race_kernel_type(params->kernel)->of_distance != NULL ?
		params->bandwidth / params->power :
		0;
	RaceColumn column;
	double *x;
	uint64 i;

	race_ask_sketch(race_call_site_create(InvalidOid, CurrentMemoryContext), sketch,
					&search->question);
	*search = (Search){density_at, FIRST_STEP, LAST_STEP,  search->question,
					   dims,       box->lower, box->upper, palloc(dims * sizeof(double))};
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
		found->modes[i] = (Maximum){x + i * dims, density_at(search, x + i * dims), 0};
	found->n = keep_maxima(search, found->modes, found->n, NEAR, STARTS(most));
	for (i = 0; i < found->n; i++)
		found->modes[i].density = climb_to_maximum(search, found->modes[i].x);
	found->n = keep_maxima(search, found->modes, found->n, SAME, STARTS(most));
	find_prominences(search, found->modes, found->n);
	qsort(found->modes, found->n, sizeof(Maximum), compare_prominences);
	for (i = 0;
		 i < Min(found->n, most) && found->modes[i].prominence > 0 && found->modes[i].density > 0;
		 i++)
		;
	found->n = i;
}

static void
start_modes(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	Datum sketch;
	RaceFitRequest box;
	RaceView view;
	Modes *found;
	int32 most;

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
	Modes *found = (Modes *) state;
	const Maximum *mode = &found->modes[i];

	race_row_add_numbers(&found->row, mode->x, found->search.dims);
	race_row_add(&found->row, Float8GetDatum(mode->density));
	race_row_add(&found->row, Float8GetDatum(mode->prominence));
	return race_row_datum(&found->row);
}

/* Implement race_modes(sketch, max, lower, upper). */
Datum
race_modes(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_modes, mode_datum);
}

/*
 * race_loss: the mean surrogate loss of the records for a model theta.
 */

PG_FUNCTION_INFO_V1(race_loss);

static void
check_loss(const RaceParams *params)
{
	if (!race_is_surrogate(params))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("only kernels least_squares and margin have a loss"),
				 errdetail("The parameters are %s.", race_params_brief(params))));
}

static double *
new_lifted(const RaceParams *params)
{
	return palloc(race_kernel_type(params->kernel)->queries * race_hashed_width(params) *
				  sizeof(double));
}

/* Compute the queries of theta, [queries][race_hashed_width]; return false if theta is too long. */
static bool
lift_theta(const RaceParams *params, const double *theta, double *lifted)
{
	for (uint32 i = 0; i < race_kernel_type(params->kernel)->queries; i++)
		if (!race_surrogate_query(params, theta, i, lifted + i * race_hashed_width(params)))
			return false;
	return true;
}

/* Return the mean loss of the records. */
static double
estimate_loss(RaceQuestion *question, const double *lifted)
{
	const RaceParams *params = question->view.params;
	uint32 width = race_hashed_width(params);
	double sum = 0;

	for (uint32 i = 0; i < race_kernel_type(params->kernel)->queries; i++)
	{
		RaceColumn query = {lifted + i * width, NULL, NULL, width};

		race_ask_about_lifted(question, &query);
		sum += race_estimate_mean(question);
	}
	return sum;
}

/* Implement race_loss(sketch, theta). */
Datum
race_loss(PG_FUNCTION_ARGS)
{
	RaceQuestion question;
	const RaceParams *params;
	double *lifted;

	race_ask_sketch(race_call_site(fcinfo, 1), PG_GETARG_DATUM(0), &question);
	params = question.view.params;
	check_loss(params);
	lifted = new_lifted(params);
	if (!lift_theta(params, race_vector_new(FLOAT8ARRAYOID, PG_GETARG_DATUM(1), params->dims - 1),
					lifted))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("theta is longer than the query_radius of the parameters allows"),
				 errdetail("The query_radius is %g.", params->loss.query_radius)));
	PG_RETURN_FLOAT8(estimate_loss(&question, lifted));
}

/*
 * race_minimize: the coefficients of the least loss, by a search without derivatives
 * among all that query_radius allows, whatever their signs.
 */

PG_FUNCTION_INFO_V1(race_minimize);

#define LOSS_PART_OF_BOX 8            /* widths of the search in the box */
#define LOSS_LAST_STEP (1.0 / 131072) /* last step of a climb, in widths */
#define MOST_ASKED 20000

typedef struct Minimize
{
	Search search; /* must be first; it maximizes the negative loss */
	int asked;
	double *theta;
	double *lifted;
} Minimize;

/* Lengthen theta as far as queries may be: the margin loss falls with it, the classifier stays. */
static void
lengthen_theta(const RaceParams *params, double *theta)
{
	double length = sqrt(race_dot(theta, theta, params->dims - 1));

	if (race_kernel_type(params->kernel)->queries > 1)
		return;
	for (uint32 i = 0; i + 1 < params->dims && length > 0; i++)
		theta[i] *= params->loss.query_radius / length * (1 - 1e-9);
}

static double
ask_loss(Minimize *minimize, const double *x)
{
	const RaceParams *params = minimize->search.question.view.params;

	memcpy(minimize->theta, x, minimize->search.dims * sizeof(double));
	lengthen_theta(params, minimize->theta);
	(void) lift_theta(params, minimize->theta, minimize->lifted);
	return estimate_loss(&minimize->search.question, minimize->lifted);
}

/*
 * Return the height of a place for the search, or 0 once it has asked the maximal number of places.
 */
static double
loss_height(Search *search, const double *x)
{
	Minimize *minimize = (Minimize *) search;

	CHECK_FOR_INTERRUPTS();
	return minimize->asked++ < MOST_ASKED ? -ask_loss(minimize, x) : -INFINITY;
}

/*
 * Warn where a minimum is not significant: noise in the mean of a loss that is not small beside
 * what the loss falls from theta = 0, and rows alone, which vary more than a loss does.
 */
static void
warn_of_loss(Minimize *minimize, double value)
{
	const RaceView *view = &minimize->search.question.view;
	uint32 queries = race_kernel_type(view->params->kernel)->queries;
	double *zero = palloc0(minimize->search.dims * sizeof(double));
	double noise = sqrt(queries * view->header->noise.counter_variance / view->params->rows) /
		race_count_divisor(race_record_count(view, NULL));
	double fall = fabs(ask_loss(minimize, zero) - value);

	if (view->model == NULL)
		ereport(WARNING,
				(errmsg("the rows of a sketch alone say little of the minimum of a loss"),
				 errhint("Fit the sketch first: race_minimize(race_fit(sketch)).")));
	else if (fall < noise)
		ereport(
			WARNING,
			(errmsg("noise may be larger than what the coefficients explain"),
			 errdetail(
				 "The mean loss falls by %.2g from that of coefficients of 0, and its noise has a standard deviation of %.2g.",
				 fall, noise),
			 errhint("Use more records, or a larger epsilon.")));
}

/* Implement race_minimize(sketch). */
Datum
race_minimize(PG_FUNCTION_ARGS)
{
	Minimize *minimize = palloc0(sizeof(Minimize));
	Search *search = &minimize->search;
	const RaceParams *params;
	RaceResultRow row;
	double *bounds;
	double *x;
	double rest;
	double value;

	race_ask_sketch(race_call_site_create(InvalidOid, CurrentMemoryContext), PG_GETARG_DATUM(0),
					&search->question);
	params = search->question.view.params;
	check_loss(params);
	rest = params->loss.query_radius * params->loss.query_radius -
		(race_kernel_type(params->kernel)->queries > 1 ? 1 : 0);
	search->height = loss_height;
	search->first_step = 1;
	search->last_step = LOSS_LAST_STEP;
	search->dims = params->dims - 1;
	search->lower = bounds = palloc(2 * search->dims * sizeof(double));
	search->upper = bounds + search->dims;
	search->widths = palloc(search->dims * sizeof(double));
	for (uint32 i = 0; i < search->dims; i++)
	{
		bounds[search->dims + i] = sqrt(rest / search->dims) * (1 - 1e-9);
		bounds[i] = -search->upper[i];
		search->widths[i] = 2 * search->upper[i] / LOSS_PART_OF_BOX;
	}
	minimize->theta = palloc(search->dims * sizeof(double));
	minimize->lifted = new_lifted(params);
	x = palloc0(search->dims * sizeof(double));
	value = -climb_to_maximum(search, x);
	lengthen_theta(params, x);
	warn_of_loss(minimize, value);
	race_row_start(&row, fcinfo);
	race_row_add_numbers(&row, x, search->dims);
	race_row_add(&row, Float8GetDatum(value));
	return race_row_datum(&row);
}
