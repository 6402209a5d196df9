/*
 * losses.c
 *		Losses of linear models, and their minimum
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

#include "../core/core.h"
#include "estimate.h"
#include "losses.h"
#include "modes.h"
#include "row_estimator.h"

/*
 * race_loss: the mean surrogate loss of the records for a model theta.
 */

PG_FUNCTION_INFO_V1(race_loss);
PG_FUNCTION_INFO_V1(race_loss_exact);

void
race_loss_check(const RaceParams *params)
{
	if (!race_is_surrogate(params))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("only kernels least_squares and margin have a loss"),
				 errdetail("The parameters are %s.", race_params_brief(params))));
}

void
race_loss_lift(const RaceParams *params, const double *theta, double *lifted)
{
	uint32		i;

	for (i = 0; i < race_kernel_type(params->kernel)->queries; i++)
		if (!race_surrogate_query(params, theta, i, lifted + i * race_hashed_width(params)))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("theta is longer than the query_radius of the parameters allows"),
					 errdetail("The query_radius is %g.", params->query_radius)));
}

double
race_loss_estimate(RaceQuestion *question, const double *lifted)
{
	const RaceParams *params = question->view.params;
	uint32		width = race_hashed_width(params);
	double		sum = 0;
	uint32		i;

	for (i = 0; i < race_kernel_type(params->kernel)->queries; i++)
	{
		RaceColumn	query = {lifted + i * width, NULL, NULL, width};

		race_ask_about_lifted(question, &query);
		sum += race_estimate_mean(question);
	}
	return sum;
}

double
race_loss_noise(const RaceView *view)
{
	uint32		queries = race_kernel_type(view->params->kernel)->queries;

	return sqrt(queries * view->header->noise.counter_variance / view->params->rows) /
		race_count_divisor(race_record_count(view, NULL));
}

/* Space for the queries of a theta, and theta itself, from an argument */
static double *
lift_argument(FunctionCallInfo fcinfo, const RaceParams *params)
{
	double	   *lifted = palloc(race_kernel_type(params->kernel)->queries *
								race_hashed_width(params) * sizeof(double));
	double	   *theta = race_vector_new(FLOAT8ARRAYOID, PG_GETARG_DATUM(1), params->dims - 1);

	race_loss_lift(params, theta, lifted);
	pfree(theta);
	return lifted;
}

/* race_loss(sketch, theta) */
Datum
race_loss(PG_FUNCTION_ARGS)
{
	RaceQuestion question;
	double	   *lifted;
	double		loss;

	race_ask_sketch(race_call_site(fcinfo, 1), PG_GETARG_DATUM(0), &question);
	race_loss_check(question.view.params);
	lifted = lift_argument(fcinfo, question.view.params);
	loss = race_loss_estimate(&question, lifted);
	pfree(lifted);
	PG_RETURN_FLOAT8(loss);
}

/* race_loss(params, theta, x) */
Datum
race_loss_exact(PG_FUNCTION_ARGS)
{
	const RaceParams *params = race_params_arg(PG_GETARG_DATUM(0));
	double	   *lifted;
	double	   *x;

	race_loss_check(params);
	lifted = lift_argument(fcinfo, params);
	x = race_vector_new(FLOAT8ARRAYOID, PG_GETARG_DATUM(2), params->dims);
	race_vector_clip(params, x, params->dims);
	PG_RETURN_FLOAT8(race_surrogate_loss(params, x, lifted));
}

/*
 * race_minimize: the point in a box at which a question has its least answer.
 */

PG_FUNCTION_INFO_V1(race_minimize);

#define PART_OF_BOX		8		/* a width of the search */
#define LAST_STEP		(1.0 / 131072)	/* of a climb, in widths */
#define CLIMBS			4		/* from the best places, for a loss 1 */
#define PART_OF_ASKED	16		/* of all evaluations, the population is at most */
#define MOST_PLACES		1500
#define PLACES_OF_LOSS	32
#define LEAST_ASKED		100
#define MOST_ASKED		100000000

typedef struct Minimize
{
	RaceSearch	search;			/* must be first; its highest is our least, but for signs */
	Datum		sketch;
	double		sign;			/* -1 to minimize, 1 to maximize */
	uint64		asked;
	uint64		most;
	double	   *theta;			/* space of a loss; else NULL, and */
	double	   *lifted;
	FmgrInfo	function;		/* what is called, */
	FunctionCallInfo call;
	ArrayType  *argument;		/* with this point */
	MemoryContext context;		/* of a call */
} Minimize;

/* ---------------------------------------------------------------- questions */

/*
 * The margin loss falls with the length of theta, and a classifier is its direction: theta is
 * made as long as queries may be.
 */
static void
lengthen(const RaceParams *params, double *theta)
{
	double		square = 0;
	uint32		i;

	if (race_kernel_type(params->kernel)->queries > 1)
		return;
	for (i = 0; i + 1 < params->dims; i++)
		square += theta[i] * theta[i];
	for (i = 0; i + 1 < params->dims && square > 0; i++)
		theta[i] *= params->query_radius / sqrt(square) * (1 - 1e-9);
}

static double
ask_loss(Minimize *minimize, const double *x)
{
	const RaceParams *params = minimize->search.question.view.params;

	memcpy(minimize->theta, x, minimize->search.dims * sizeof(double));
	lengthen(params, minimize->theta);
	race_loss_lift(params, minimize->theta, minimize->lifted);
	return race_loss_estimate(&minimize->search.question, minimize->lifted);
}

/* A NULL is no answer. */
static double
ask_function(Minimize *minimize, const double *x)
{
	MemoryContext old = MemoryContextSwitchTo(minimize->context);
	FunctionCallInfo call = minimize->call;
	Datum		answer;

	MemoryContextReset(minimize->context);
	memcpy(ARR_DATA_PTR(minimize->argument), x, minimize->search.dims * sizeof(double));
	call->args[0].value = minimize->sketch;
	call->args[0].isnull = false;
	call->args[1].value = PointerGetDatum(minimize->argument);
	call->args[1].isnull = false;
	call->isnull = false;
	answer = FunctionCallInvoke(call);
	MemoryContextSwitchTo(old);
	return call->isnull ? NAN : DatumGetFloat8(answer);
}

/* What the search takes for the height of a place: nothing once all evaluations are spent */
static double
look(RaceSearch *search, const double *x)
{
	Minimize   *minimize = (Minimize *) search;
	double		value;

	CHECK_FOR_INTERRUPTS();
	if (minimize->asked >= minimize->most)
		return -INFINITY;
	minimize->asked++;
	value = minimize->sign * (minimize->lifted != NULL ? ask_loss(minimize, x) :
							  ask_function(minimize, x));
	return isnan(value) ? -INFINITY : value;
}

/* Does a function ask a sketch about a vector? */
static bool
asks_vector(Oid oid, Oid sketch)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(oid));
	Form_pg_proc function;
	bool		asks;

	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("function with OID %u does not exist", oid)));
	function = (Form_pg_proc) GETSTRUCT(tuple);
	asks = function->prokind == PROKIND_FUNCTION && !function->proretset &&
		function->prorettype == FLOAT8OID && function->pronargs == 2 &&
		function->proargtypes.values[0] == sketch &&
		(function->proargtypes.values[1] == FLOAT8ARRAYOID ||
		 function->proargtypes.values[1] == ANYOID);
	ReleaseSysCache(tuple);
	return asks;
}

/* Call a function for each point.  The sketch of our own call says what type it has. */
static void
use_function(Minimize *minimize, Oid oid, Oid sketch)
{
	Node	   *sketch_node = (Node *) makeNullConst(sketch, -1, InvalidOid);
	Node	   *point = (Node *) makeNullConst(FLOAT8ARRAYOID, -1, InvalidOid);
	uint32		dims = minimize->search.dims;
	Datum	   *zeros = palloc(dims * sizeof(Datum));
	AclResult	allowed;
	uint32		i;

	if (!asks_vector(oid, sketch))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("function %s is not a question about a sketch and a vector",
						format_procedure(oid)),
				 errhint("Its arguments must be (race_sketch, float8[]) or (race_sketch, \"any\"), and its result float8.")));
	allowed = race_function_aclcheck(oid);
	if (allowed != ACLCHECK_OK)
		aclcheck_error(allowed, OBJECT_FUNCTION, get_func_name(oid));
	InvokeFunctionExecuteHook(oid);
	fmgr_info(oid, &minimize->function);
	fmgr_info_set_expr((Node *) makeFuncExpr(oid, FLOAT8OID, list_make2(sketch_node, point),
											 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL),
					   &minimize->function);
	minimize->call = palloc0(SizeForFunctionCallInfo(2));
	InitFunctionCallInfoData(*minimize->call, &minimize->function, 2, InvalidOid, NULL, NULL);
	for (i = 0; i < dims; i++)
		zeros[i] = Float8GetDatum(0);
	minimize->argument = construct_array(zeros, dims, FLOAT8OID, sizeof(float8),
										 FLOAT8PASSBYVAL, TYPALIGN_DOUBLE);
	minimize->context = AllocSetContextCreate(CurrentMemoryContext, "race_minimize",
											  ALLOCSET_DEFAULT_SIZES);
}

/* ------------------------------------------------------------------- losses */

/* Coefficients that the radius of queries allows, whatever their signs */
static void
bound_coefficients(const RaceParams *params, double *lower, double *upper)
{
	uint32		n = params->dims - 1;
	double		rest = params->query_radius * params->query_radius -
		(race_kernel_type(params->kernel)->queries > 1 ? 1 : 0);
	uint32		i;

	for (i = 0; i < n; i++)
	{
		upper[i] = sqrt(rest / n) * (1 - 1e-9);
		lower[i] = -upper[i];
	}
}

/* Raise 22023 if theta may be too long in some corner of the box. */
static void
check_corner(Minimize *minimize, const RaceParams *params)
{
	double	   *corner = palloc(minimize->search.dims * sizeof(double));
	uint32		i;

	for (i = 0; i < minimize->search.dims; i++)
		corner[i] = fmax(fabs(minimize->search.lower[i]), fabs(minimize->search.upper[i]));
	lengthen(params, corner);
	race_loss_lift(params, corner, minimize->lifted);
	pfree(corner);
}

static void
use_loss(Minimize *minimize)
{
	const RaceParams *params = minimize->search.question.view.params;

	minimize->theta = palloc(minimize->search.dims * sizeof(double));
	minimize->lifted = palloc(race_kernel_type(params->kernel)->queries *
							  race_hashed_width(params) * sizeof(double));
	check_corner(minimize, params);
}

/*
 * Tell where a minimum says little: noise in the mean of a loss that is not small beside what
 * the loss falls from theta = 0, and rows alone, which vary more than a loss does.
 */
static void
warn_of_loss(Minimize *minimize, double value)
{
	RaceQuestion *question = &minimize->search.question;
	const RaceView *view = &question->view;
	double	   *zero = palloc0(minimize->search.dims * sizeof(double));
	double		noise = race_loss_noise(view);
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
	pfree(zero);
}

/* --------------------------------------------------------------------- SQL */

/* A bound of the box; how many numbers it has is fixed by a loss, or by the lower one */
static double *
read_bound(FunctionCallInfo fcinfo, int arg, uint32 *dims)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(arg);

	if (*dims == 0)
		*dims = ARR_NDIM(array) == 1 ? ARR_DIMS(array)[0] : 0;
	if (*dims < 1 || *dims > RACE_MAX_DIMS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("bounds must be between 1 and %d numbers", RACE_MAX_DIMS)));
	return race_vector_new(FLOAT8ARRAYOID, PointerGetDatum(array), *dims);
}

static void
check_box(const RaceSearch *search)
{
	uint32		i;

	for (i = 0; i < search->dims; i++)
		if (!(search->lower[i] <= search->upper[i] &&
			  search->upper[i] - search->lower[i] <= RACE_MAX_BOUND))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("a lower bound is above the upper one, or too far from it")));
}

/* The box of arguments 1 and 2, which a loss can do without */
static void
read_box(FunctionCallInfo fcinfo, Minimize *minimize, bool is_loss)
{
	RaceSearch *search = &minimize->search;
	const RaceParams *params = search->question.view.params;

	if (is_loss)
		search->dims = params->dims - 1;
	if (!PG_ARGISNULL(1) && !PG_ARGISNULL(2))
	{
		search->lower = read_bound(fcinfo, 1, &search->dims);
		search->upper = read_bound(fcinfo, 2, &search->dims);
	}
	else if (is_loss && PG_ARGISNULL(1) && PG_ARGISNULL(2))
	{
		double	   *lower = palloc(search->dims * sizeof(double));
		double	   *upper = palloc(search->dims * sizeof(double));

		bound_coefficients(params, lower, upper);
		search->lower = lower;
		search->upper = upper;
	}
	else
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("race_minimize needs lower and upper bounds")));
	check_box(search);
}

/* The search, and where it begins: the middle of the box, in x */
static double *
start_search(Minimize *minimize, bool is_loss)
{
	RaceSearch *search = &minimize->search;
	double	   *x = palloc(search->dims * sizeof(double));
	uint32		i;

	search->look = look;
	search->population = is_loss ? PLACES_OF_LOSS :
		Min(MOST_PLACES, minimize->most / PART_OF_ASKED);
	search->floor = -INFINITY;
	search->first_step = 1;
	search->last_step = LAST_STEP;
	search->widths = palloc(search->dims * sizeof(double));
	for (i = 0; i < search->dims; i++)
	{
		search->widths[i] = (search->upper[i] - search->lower[i]) / PART_OF_BOX;
		if (search->widths[i] == 0)
			search->widths[i] = 1;	/* no step leaves the box */
		x[i] = search->lower[i] + (search->upper[i] - search->lower[i]) / 2;
	}
	return x;
}

static Datum
result_of(FunctionCallInfo fcinfo, const Minimize *minimize, const double *x, double value)
{
	RaceResultRow row;

	race_row_start(&row, fcinfo);
	race_row_add_numbers(&row, x, minimize->search.dims);
	race_row_add_if(&row, isfinite(value), Float8GetDatum(value));
	race_row_add(&row, Int32GetDatum((int32) minimize->asked));
	return race_row_datum(&row);
}

/* race_minimize(sketch, lower, upper, question, maximize, evaluations) */
Datum
race_minimize(PG_FUNCTION_ARGS)
{
	bool		is_loss = PG_ARGISNULL(3);
	Minimize   *minimize = palloc0(sizeof(Minimize));
	double	   *x;
	double		value;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(4) || PG_ARGISNULL(5))
		PG_RETURN_NULL();
	if (PG_GETARG_INT32(5) < LEAST_ASKED || PG_GETARG_INT32(5) > MOST_ASKED)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("evaluations must be between %d and %d", LEAST_ASKED, MOST_ASKED)));
	minimize->sketch = PG_GETARG_DATUM(0);
	minimize->sign = PG_GETARG_BOOL(4) ? 1 : -1;
	minimize->most = PG_GETARG_INT32(5);
	race_ask_sketch(race_call_site_create(InvalidOid, CurrentMemoryContext), minimize->sketch,
					&minimize->search.question);
	if (is_loss)
		race_loss_check(minimize->search.question.view.params);
	read_box(fcinfo, minimize, is_loss);
	if (is_loss)
		use_loss(minimize);
	else
		use_function(minimize, PG_GETARG_OID(3), get_fn_expr_argtype(fcinfo->flinfo, 0));
	x = start_search(minimize, is_loss);
	value = minimize->sign * race_search_highest(&minimize->search, is_loss ? 1 : CLIMBS, x);
	if (is_loss)
	{
		lengthen(minimize->search.question.view.params, x);
		warn_of_loss(minimize, value);
	}
	PG_RETURN_DATUM(result_of(fcinfo, minimize, x, value));
}
