/*
 * fitted.c
 *		The model of a sketch, as a distribution.
 */
#include "postgres.h"

#include <math.h>

#include "../fit/answers.h"
#include "../fit/fit.h"
#include "../fit/ready.h"
#include "../lsh/grid.h"
#include "fitted.h"

static void
add_up(RaceFitted *fitted)
{
	uint64		n = fitted->view.model->points;
	uint64		i;

	fitted->passed = palloc(n * sizeof(double));
	fitted->total = 0;
	for (i = 0; i < n; i++)
		fitted->passed[i] = fitted->total += race_model_weight(fitted->view.model, i);
	if (fitted->total <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("the points of a model weigh nothing")));
}

void
race_fitted_open(Datum sketch, RaceFitted *fitted)
{
	RaceView   *view = &fitted->view;
	RaceFitRequest request;

	race_sketch_view(sketch, view);
	race_check_askable(&view->header->noise);
	memset(&request, 0, sizeof(request));
	if (view->model == NULL && race_is_grid(view->params) &&
		race_fit_bounds(view->params, NULL, NULL, &request))
		race_sketch_view(PointerGetDatum(race_fit_box(view, &request)), view);
	race_check_fitted(view);
	race_check_model(view);
	race_model_columns(view->model, view->params, fitted->columns);
	add_up(fitted);
}

double
race_fitted_weight(const RaceFitted *fitted, uint64 point)
{
	return race_model_weight(fitted->view.model, point);
}

uint64
race_fitted_at(const RaceFitted *fitted, double p)
{
	double		at = p * fitted->total;
	uint64		from = 0;
	uint64		to = fitted->view.model->points - 1;

	/* the first whose weights together are above */
	while (from < to)
	{
		uint64		middle = (from + to) / 2;

		if (fitted->passed[middle] > at)
			to = middle;
		else
			from = middle + 1;
	}
	return from;
}

const double *
race_fitted_vector(const RaceFitted *fitted, int part, uint64 point)
{
	return fitted->columns[part].numbers + point * fitted->columns[part].width;
}

double
race_fitted_apart(const RaceFitted *fitted, uint64 a, uint64 b)
{
	RaceColumn	x[RACE_MAX_PARTS];
	RaceColumn	y[RACE_MAX_PARTS];
	int			parts = race_params_parts(fitted->view.params);
	int			i;

	for (i = 0; i < parts; i++)
	{
		x[i] = race_column_from(&fitted->columns[i], a);
		y[i] = race_column_from(&fitted->columns[i], b);
	}
	return -log(race_kernel_value(fitted->view.params, x, y));
}
