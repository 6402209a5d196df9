/*
 * loss.c
 *		race_loss: the mean surrogate loss of the records for a model theta.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"

#include "../fit/answers.h"
#include "../lsh/surrogate.h"
#include "../query/estimate.h"
#include "../record/vector.h"
#include "loss.h"

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
		race_answers_divisor(race_answers_count(view, NULL));
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
