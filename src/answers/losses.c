/*
 * losses.c
 *		Losses of linear models, and their minimum
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"

#include "../core/core.h"
#include "estimate.h"
#include "factor.h"
#include "modes.h"

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

/* The queries of theta, [queries][race_hashed_width]; false if it is longer than query_radius */
static bool
lift(const RaceParams *params, const double *theta, double *lifted)
{
	for (uint32 i = 0; i < race_kernel_type(params->kernel)->queries; i++)
		if (!race_surrogate_query(params, theta, i, lifted + i * race_hashed_width(params)))
			return false;
	return true;
}

/* The mean loss of the records */
static double
estimate_loss(RaceQuestion *question, const double *lifted)
{
	const RaceParams *params = question->view.params;
	uint32		width = race_hashed_width(params);
	double		sum = 0;

	for (uint32 i = 0; i < race_kernel_type(params->kernel)->queries; i++)
	{
		RaceColumn	query = {lifted + i * width, NULL, NULL, width};

		race_ask_about_lifted(question, &query);
		sum += race_estimate_mean(question);
	}
	return sum;
}

/* race_loss(sketch, theta) */
Datum
race_loss(PG_FUNCTION_ARGS)
{
	RaceQuestion question;
	const RaceParams *params;
	double	   *lifted;

	race_ask_sketch(race_call_site(fcinfo, 1), PG_GETARG_DATUM(0), &question);
	params = question.view.params;
	check_loss(params);
	lifted = new_lifted(params);
	if (!lift(params, race_vector_new(FLOAT8ARRAYOID, PG_GETARG_DATUM(1), params->dims - 1), lifted))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("theta is longer than the query_radius of the parameters allows"),
				 errdetail("The query_radius is %g.", params->query_radius)));
	PG_RETURN_FLOAT8(estimate_loss(&question, lifted));
}

/*
 * race_minimize: the coefficients of the least loss, by a search without derivatives (modes.h)
 * among all that query_radius allows, whatever their signs.
 */

PG_FUNCTION_INFO_V1(race_minimize_loss);

#define PART_OF_BOX		8		/* a width of the search */
#define LAST_STEP		(1.0 / 131072)	/* of a climb, in widths */
#define MOST_ASKED		20000

typedef struct Minimize
{
	RaceSearch	search;			/* must be first; its highest is our least, but for signs */
	int			asked;
	double	   *theta;
	double	   *lifted;
} Minimize;

/*
 * The margin loss falls with the length of theta, and a classifier is its direction: theta is
 * made as long as queries may be.
 */
static void
lengthen(const RaceParams *params, double *theta)
{
	double		length = sqrt(race_dot(theta, theta, params->dims - 1));

	if (race_kernel_type(params->kernel)->queries > 1)
		return;
	for (uint32 i = 0; i + 1 < params->dims && length > 0; i++)
		theta[i] *= params->query_radius / length * (1 - 1e-9);
}

static double
ask_loss(Minimize *minimize, const double *x)
{
	const RaceParams *params = minimize->search.question.view.params;

	memcpy(minimize->theta, x, minimize->search.dims * sizeof(double));
	lengthen(params, minimize->theta);
	(void) lift(params, minimize->theta, minimize->lifted);
	return estimate_loss(&minimize->search.question, minimize->lifted);
}

/* What the search takes for the height of a place: nothing once it has asked enough */
static double
height(RaceSearch *search, const double *x)
{
	Minimize   *minimize = (Minimize *) search;

	CHECK_FOR_INTERRUPTS();
	return minimize->asked++ < MOST_ASKED ? -ask_loss(minimize, x) : -INFINITY;
}

/*
 * Tell where a minimum says little: noise in the mean of a loss that is not small beside what
 * the loss falls from theta = 0, and rows alone, which vary more than a loss does.
 */
static void
warn_of_loss(Minimize *minimize, double value)
{
	const RaceView *view = &minimize->search.question.view;
	uint32		queries = race_kernel_type(view->params->kernel)->queries;
	double	   *zero = palloc0(minimize->search.dims * sizeof(double));
	double		noise = sqrt(queries * view->header->noise.counter_variance / view->params->rows) /
		race_count_divisor(race_record_count(view, NULL));
	double		fall = fabs(ask_loss(minimize, zero) - value);

	if (view->model == NULL)
		ereport(WARNING,
				(errmsg("the rows of a sketch alone say little of the minimum of a loss"),
				 errhint("Fit the sketch first: race_minimize(race_fit(sketch)).")));
	else if (fall < noise)
		ereport(WARNING,
				(errmsg("noise may be larger than what the coefficients explain"),
				 errdetail("The mean loss falls by %.2g from that of coefficients of 0, and its noise has a standard deviation of %.2g.",
						   fall, noise),
				 errhint("Use more records, or a larger epsilon.")));
}

/* race_minimize(sketch) */
Datum
race_minimize_loss(PG_FUNCTION_ARGS)
{
	Minimize   *minimize = palloc0(sizeof(Minimize));
	RaceSearch *search = &minimize->search;
	const RaceParams *params;
	RaceResultRow row;
	double	   *bounds;
	double	   *x;
	double		rest;
	double		value;

	race_ask_sketch(race_call_site_create(InvalidOid, CurrentMemoryContext), PG_GETARG_DATUM(0),
					&search->question);
	params = search->question.view.params;
	check_loss(params);
	rest = params->query_radius * params->query_radius -
		(race_kernel_type(params->kernel)->queries > 1 ? 1 : 0);
	search->height = height;
	search->first_step = 1;
	search->last_step = LAST_STEP;
	search->dims = params->dims - 1;
	search->lower = bounds = palloc(2 * search->dims * sizeof(double));
	search->upper = bounds + search->dims;
	search->widths = palloc(search->dims * sizeof(double));
	for (uint32 i = 0; i < search->dims; i++)
	{
		bounds[search->dims + i] = sqrt(rest / search->dims) * (1 - 1e-9);
		bounds[i] = -search->upper[i];
		search->widths[i] = 2 * search->upper[i] / PART_OF_BOX;
	}
	minimize->theta = palloc(search->dims * sizeof(double));
	minimize->lifted = new_lifted(params);
	x = palloc0(search->dims * sizeof(double));
	value = -race_search_climb(search, x);
	lengthen(params, x);
	warn_of_loss(minimize, value);
	race_row_start(&row, fcinfo);
	race_row_add_numbers(&row, x, search->dims);
	race_row_add(&row, Float8GetDatum(value));
	return race_row_datum(&row);
}
