/*
 * chart.c
 *		Curves, heat maps and histograms of columns, from densities (densities.h).
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"

#include "../lsh/grid.h"
#include "../query/estimate.h"
#include "../query/student.h"
#include "../record/vector.h"
#include "../server/result.h"
#include "densities.h"

PG_FUNCTION_INFO_V1(race_curve);
PG_FUNCTION_INFO_V1(race_heatmap);
PG_FUNCTION_INFO_V1(race_histogram);

#define MOST_STEPS		10000
#define MOST_MAP_STEPS	500

/* Degrees of freedom: noise is known, and halves of rows differ at a few places independently */
#define OF_GRIDS		1e6
#define OF_ROWS			4

/* A chart on its way out, a row for each place */
typedef struct Told
{
	RaceChart	chart;
	double		z;				/* of an interval, in standard errors */
	RaceResultRow row;
} Told;

static void
check_steps(int32 steps, int32 most)
{
	if (steps < 2 || steps > most)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("steps must be between 2 and %d", most)));
}

static Told *
open_chart(FunctionCallInfo fcinfo, int axes)
{
	Told	   *told = palloc0(sizeof(Told));
	int32		columns[RACE_CHART_AXES];
	int			i;

	race_row_start(&told->row, fcinfo);
	for (i = 0; i < axes; i++)
		columns[i] = PG_GETARG_INT32(1 + i);
	race_chart_open(&told->chart, PointerGetDatum(PG_GETARG_VARLENA_P(0)), columns, axes);
	return told;
}

/* Raise 22023 unless smoothing is a number above 0, up to 100. */
static void
check_smoothing(double smoothing)
{
	if (!(smoothing > 0 && smoothing <= 100))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("smoothing must be a number above 0, up to 100")));
}

static double
smoothing_arg(FunctionCallInfo fcinfo, int argument)
{
	double		smoothing = PG_ARGISNULL(argument) ? RACE_LEAST_SMOOTHING : PG_GETARG_FLOAT8(argument);

	check_smoothing(smoothing);
	return smoothing;
}

/* With the smoothing in an argument, or if that is NULL the least that suits */
static void
fill(RaceChart *chart, FunctionCallInfo fcinfo, int argument)
{
	if (PG_ARGISNULL(argument))
		race_chart_fill_smoothly(chart);
	else
		race_chart_fill(chart);
}

static void
add_error(Told *told, uint64 at, double scale)
{
	const double *variance = told->chart.variance;

	race_row_add_if(&told->row, variance != NULL,
					Float8GetDatum(variance != NULL ? scale * sqrt(variance[at]) : 0));
}

/* ---------------------------------------------------------------------- curves */

static void
start_curve(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	Told	   *told;
	RaceChart  *chart;
	double		lower = PG_ARGISNULL(3) ? 0 : PG_GETARG_FLOAT8(3);
	double		upper = PG_ARGISNULL(4) ? 0 : PG_GETARG_FLOAT8(4);
	double		smoothing;
	int			i;

	for (i = 0; i < PG_NARGS(); i++)
		if (PG_ARGISNULL(i) && i != 3 && i != 4 && i != 6)
			return;
	check_steps(PG_GETARG_INT32(2), MOST_STEPS);
	race_check_confidence(PG_GETARG_FLOAT8(5));
	smoothing = smoothing_arg(fcinfo, 6);
	told = open_chart(fcinfo, 1);
	chart = &told->chart;
	told->z = race_student_two_sided(1 - PG_GETARG_FLOAT8(5),
									 race_is_grid(chart->fitted.view.params) ? OF_GRIDS : OF_ROWS);
	race_chart_places(chart, race_chart_axis(chart, PG_GETARG_INT32(1), smoothing),
					  PG_ARGISNULL(3) ? NULL : &lower, PG_ARGISNULL(4) ? NULL : &upper,
					  PG_GETARG_INT32(2), false);
	fill(chart, fcinfo, 6);
	call->max_calls = chart->lines;
	call->user_fctx = told;
}

static Datum
curve_datum(void *state, uint64 i)
{
	Told	   *told = (Told *) state;
	const RaceChart *chart = &told->chart;
	double		density = chart->share[i];
	bool		known = chart->variance != NULL;
	double		reach = known ? told->z * sqrt(chart->variance[i]) : 0;

	race_row_add(&told->row, Float8GetDatum(chart->axes[0].spread.at[i]));
	race_row_add(&told->row, Float8GetDatum(density));
	race_row_add_if(&told->row, known, Float8GetDatum(Max(density - reach, 0)));
	race_row_add_if(&told->row, known, Float8GetDatum(density + reach));
	return race_row_datum(&told->row);
}

/* _race_curve(sketch, column, steps, lower, upper, confidence, smoothing) */
Datum
race_curve(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_curve, curve_datum);
}

/* ------------------------------------------------------------------- heat maps */

static void
start_heatmap(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	Told	   *told;
	RaceChart  *chart;
	const double *bounds[2] = {NULL, NULL};
	double		smoothing;
	int			i;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2) || PG_ARGISNULL(3))
		return;
	check_steps(PG_GETARG_INT32(3), MOST_MAP_STEPS);
	smoothing = smoothing_arg(fcinfo, 6);
	if (PG_GETARG_INT32(1) == PG_GETARG_INT32(2))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a heat map needs two different columns")));
	for (i = 0; i < 2; i++)
		if (!PG_ARGISNULL(4 + i))
			bounds[i] = race_vector_new(FLOAT8ARRAYOID, PG_GETARG_DATUM(4 + i), RACE_CHART_AXES);
	told = open_chart(fcinfo, RACE_CHART_AXES);
	chart = &told->chart;
	for (i = 0; i < RACE_CHART_AXES; i++)
		race_chart_places(chart, race_chart_axis(chart, PG_GETARG_INT32(1 + i), smoothing),
						  bounds[0] == NULL ? NULL : &bounds[0][i],
						  bounds[1] == NULL ? NULL : &bounds[1][i], PG_GETARG_INT32(3), true);
	fill(chart, fcinfo, 6);
	call->max_calls = (uint64) chart->lines * chart->length;
	call->user_fctx = told;
}

static Datum
heatmap_datum(void *state, uint64 i)
{
	Told	   *told = (Told *) state;
	const RaceChart *chart = &told->chart;

	race_row_add(&told->row, Float8GetDatum(chart->axes[0].spread.at[i / chart->length]));
	race_row_add(&told->row, Float8GetDatum(chart->axes[1].spread.at[i % chart->length]));
	race_row_add(&told->row, Float8GetDatum(chart->share[i]));
	add_error(told, i, 1);
	return race_row_datum(&told->row);
}

/* _race_heatmap(sketch, column1, column2, steps, lower, upper, smoothing) */
Datum
race_heatmap(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_heatmap, heatmap_datum);
}

/* ------------------------------------------------------------------ histograms */

/* The edges of the cells of a histogram: finite numbers that ascend */
static void
read_edges(RaceSpread *spread, ArrayType *array)
{
	int			n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	const double *edges;
	int			k;

	if (n < 2 || n > MOST_STEPS + 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a histogram needs 2 to %d edges", MOST_STEPS + 1)));
	edges = race_vector_new(FLOAT8ARRAYOID, PointerGetDatum(array), (uint32) n);
	for (k = 1; k < n; k++)
		if (edges[k] <= edges[k - 1])
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("the edges of a histogram must ascend")));
	spread->cells = true;
	spread->n = (uint32) n - 1;
	spread->at = palloc(n * sizeof(double));
	memcpy(spread->at, edges, n * sizeof(double));
}

/*
 * Records near an edge are on either side of it, and the chart has part of each on both.  Were
 * they placed at random with density f, spread by a standard deviation s, then the variance of
 * that would be N f s times the integral of (F(t) - [t > 0])^2, F being the normal distribution
 * function, which is (sqrt(2) - 1) / sqrt(pi).  Linear splitting spreads by 1/6 of a squared cell.
 */
static void
add_edges(RaceChart *chart)
{
	const RaceView *view = &chart->fitted.view;
	const RaceChartAxis *axis = &chart->axes[0];
	RaceSpread	edges = axis->spread;
	double		spread = edges.width * edges.width;
	double	   *values;
	double	   *density;
	uint64		i;
	uint32		k;

	if (chart->variance == NULL)
		return;
	if (race_is_grid(view->params))
	{
		RaceGrid	grid;

		race_grid_of(view->params, &grid);
		spread += pow(grid.width[axis->place.element], 2) / 6;
	}
	edges.cells = false;
	edges.n++;
	values = palloc0(edges.n * sizeof(double));
	density = palloc0(edges.n * sizeof(double));
	for (i = 0; i < view->model->points; i++)
	{
		uint32		from;
		uint32		to;

		race_spread_add(&edges, race_fitted_vector(&chart->fitted, axis->place.part, i)[axis->place.element],
						values, &from, &to);
		for (k = from; k < to; k++)
		{
			density[k] += values[k] * race_fitted_weight(&chart->fitted, i) / chart->fitted.total;
			values[k] = 0;
		}
	}
	for (k = 0; k < edges.n - 1; k++)
		chart->variance[k] += (density[k] + density[k + 1]) * sqrt(spread) *
			(sqrt(2) - 1) / sqrt(RACE_PI) / chart->records;
}

static void
start_histogram(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	Told	   *told;
	RaceChart  *chart;

	check_smoothing(PG_GETARG_FLOAT8(3));
	told = open_chart(fcinfo, 1);
	chart = &told->chart;
	read_edges(&race_chart_axis(chart, PG_GETARG_INT32(1), PG_GETARG_FLOAT8(3))->spread,
			   PG_GETARG_ARRAYTYPE_P(2));
	race_chart_fill(chart);
	add_edges(chart);
	call->max_calls = chart->lines;
	call->user_fctx = told;
}

static Datum
histogram_datum(void *state, uint64 i)
{
	Told	   *told = (Told *) state;
	const RaceChart *chart = &told->chart;
	const double *edges = chart->axes[0].spread.at;

	race_row_add(&told->row, Float8GetDatum(edges[i]));
	race_row_add(&told->row, Float8GetDatum(edges[i + 1]));
	race_row_add(&told->row, Float8GetDatum(chart->share[i] * chart->records));
	add_error(told, i, chart->records);
	return race_row_datum(&told->row);
}

/* _race_histogram(sketch, column, edges, smoothing) */
Datum
race_histogram(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_histogram, histogram_datum);
}
