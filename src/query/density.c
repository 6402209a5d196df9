/*
 * density.c
 *		race_probability_density: a density in the sense of probability, which integrates
 *		to one.
 *
 * Kernels of power 1 fall like one over the distance, so what race_kde answers is a mean
 * kernel value and no density of probability.  Of a fitted model there is one: each point
 * stands for a normal distribution around it, as wide as a part of the bandwidth.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"

#include "../fit/answers.h"
#include "density.h"
#include "question.h"

PG_FUNCTION_INFO_V1(race_probability_density);

bool
race_has_widths(const RaceParams *part)
{
	return (race_kernel_type(part->kernel)->takes & RACE_TAKES_BANDWIDTH) != 0 &&
		race_array(part, RACE_ARRAY_MATRIX) == NULL;
}

void
race_check_smoothing(double smoothing)
{
	if (!(smoothing > 0 && smoothing <= 100))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("smoothing must be a number above 0, up to 100")));
}

static void
check_kernel(const RaceParams *params)
{
	if (!race_model_is_of_vectors(params) || !race_has_widths(params))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a probability density needs kernel l2 or l1 by itself, without a transform"),
				 errdetail("The parameters are %s.", race_params_brief(params))));
}

double
race_density_width(const RaceParams *part, uint32 axis, double smoothing)
{
	const double *bandwidths = race_array(part, RACE_ARRAY_BANDWIDTHS);

	return smoothing * part->bandwidth * (bandwidths == NULL ? 1 : bandwidths[axis]);
}

static double
density_at(const RaceView *view, const double *q, double smoothing)
{
	const RaceParams *params = view->params;
	double		unit = 1;
	double		sum = 0;
	double		total = 0;
	RaceColumn	column;
	uint64		i;
	uint32		axis;

	race_model_columns(view->model, params, &column);
	for (axis = 0; axis < params->dims; axis++)
		unit *= sqrt(2 * RACE_PI) * race_density_width(params, axis, smoothing);
	for (i = 0; i < view->model->points; i++)
	{
		const double *x = column.numbers + i * params->dims;
		double		weight = race_model_weight(view->model, i);
		double		squares = 0;

		for (axis = 0; axis < params->dims; axis++)
			squares += pow((q[axis] - x[axis]) / race_density_width(params, axis, smoothing), 2);
		sum += weight * exp(-squares / 2);
		total += weight;
	}
	return sum / total / unit;
}

/* race_probability_density(sketch, q, smoothing) */
Datum
race_probability_density(PG_FUNCTION_ARGS)
{
	double		smoothing = PG_GETARG_FLOAT8(2);
	RaceQuestion question;
	RaceColumn	record[RACE_MAX_PARTS];

	race_check_smoothing(smoothing);
	race_ask(fcinfo, 0, &question);
	check_kernel(question.view.params);
	race_check_fitted(&question.view);
	(void) race_ready_at(question.site, &question.view);	/* checks the model */
	race_call_site_record(question.site, record);
	PG_RETURN_FLOAT8(density_at(&question.view, record[0].numbers, smoothing));
}
