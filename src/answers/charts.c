/*
 * charts.c
 *		Charts of sketches
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"

#include "../core/core.h"
#include "charts.h"
#include "distributions.h"
#include "estimate.h"
#include "row_estimator.h"

/*
 * Curves, heat maps and histograms of columns, from densities (charts.h).
 */

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

/*
 * The densities of a chart, and what noise and rows do to them.
 *
 * Standard errors.  Of a grid, each node has noise of its own.  What is told at a place is a
 * sum of nodes with known weights, so its variance is known; a fit takes some of it away, which
 * makes it an upper bound.  Of rows, a model has weights from each half of the rows: half of the
 * difference of what both tell has the variance of their mean.  Such a difference alone is one
 * draw, so its square is averaged over what lies within about a bandwidth.  What both miss
 * alike is taken to be the share of an answer that the model misses.
 */

/* What a small error is, of the highest density */
#define SMALL_PART		0.05

/* ------------------------------------------------------------------------ axes */

/* Does a part of the kernel have a bandwidth along each axis of its records? */
static bool
has_widths(const RaceParams *part)
{
	return (race_kernel_type(part->kernel)->takes & RACE_TAKES_BANDWIDTH) != 0 &&
		race_array(part, RACE_ARRAY_MATRIX) == NULL;
}

/* Return the standard deviation, along an axis, of the normal distribution around a point. */
static double
density_width(const RaceParams *part, uint32 axis, double smoothing)
{
	const double *bandwidths = race_array(part, RACE_ARRAY_BANDWIDTHS);

	return smoothing * part->bandwidth * (bandwidths == NULL ? 1 : bandwidths[axis]);
}

/* A column that can have a density */
static RaceColumnPlace
find_column(const RaceParams *params, int32 column)
{
	RaceColumnPlace place = race_find_column(params, column);

	if (!has_widths(place.params))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a probability density needs kernel l2 or l1, without a transform"),
				 errdetail("The parameters are %s.", race_params_brief(params))));
	return place;
}

void
race_chart_open(RaceChart *chart, Datum sketch, const int32 *columns, int n)
{
	RaceView	view;
	int			i;

	memset(chart, 0, sizeof(RaceChart));
	/* where a column has no density, a model would not help */
	race_sketch_view_header(sketch, &view);
	for (i = 0; i < n; i++)
		(void) find_column(view.params, columns[i]);
	race_fitted_open(sketch, &chart->fitted);
}

/* The least and the largest value of the points */
static void
range_of_points(const RaceFitted *fitted, const RaceColumnPlace *place, double *lower,
				double *upper)
{
	uint64		i;

	*lower = INFINITY;
	*upper = -INFINITY;
	for (i = 0; i < fitted->view.model->points; i++)
	{
		double		x = race_fitted_vector(fitted, place->part, i)[place->element];

		*lower = Min(*lower, x);
		*upper = Max(*upper, x);
	}
}

RaceChartAxis *
race_chart_axis(RaceChart *chart, int32 column, double smoothing)
{
	RaceChartAxis *axis = &chart->axes[chart->n_axes++];
	RaceSpread *spread = &axis->spread;

	axis->place = find_column(chart->fitted.view.params, column);
	spread->width = density_width(axis->place.params, axis->place.element, smoothing);
	spread->lower = race_column_bound(&axis->place, RACE_ARRAY_LOWER, -INFINITY);
	spread->upper = race_column_bound(&axis->place, RACE_ARRAY_UPPER, INFINITY);
	if (spread->lower >= spread->upper)
	{
		spread->lower = -INFINITY;
		spread->upper = INFINITY;
	}
	return axis;
}

/* Places of an axis: between these bounds, those of the column, or those of the points */
void
race_chart_places(RaceChart *chart, RaceChartAxis *axis, const double *lower, const double *upper,
				  uint32 n, bool middles)
{
	RaceSpread *spread = &axis->spread;
	double		first = spread->lower;
	double		last = spread->upper;

	if (!isfinite(first) || !isfinite(last))
	{
		double		least;
		double		largest;

		range_of_points(&chart->fitted, &axis->place, &least, &largest);
		first = isfinite(first) ? first : least - 3 * spread->width;
		last = isfinite(last) ? last : largest + 3 * spread->width;
	}
	first = lower == NULL ? first : *lower;
	last = upper == NULL ? last : *upper;
	if (!isfinite(first) || !isfinite(last) || !isfinite(last - first) || first >= last)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the lower bound of a chart must be below the upper one")));
	if (middles)
	{
		double		half = (last - first) / n / 2;

		first += half;
		last -= half;
	}
	race_spread_places(spread, first, last, n);
}

/* -------------------------------------------------------------------- densities */

/* Add `weight` of what a point or a node is on both axes. */
static void
add_product(RaceChart *chart, const uint32 from[RACE_CHART_AXES], const uint32 to[RACE_CHART_AXES],
			double weight, double *out)
{
	const double *line = chart->axes[0].values;
	const double *places = chart->axes[1].values;
	uint32		i;
	uint32		k;

	for (i = from[0]; i < to[0]; i++)
		for (k = from[1]; k < to[1]; k++)
			out[(Size) i * chart->length + k] += weight * line[i] * (places == NULL ? 1 : places[k]);
}

static void
add_point(RaceChart *chart, uint64 point, double *differences)
{
	const RaceModel *model = chart->fitted.view.model;
	double		difference = race_model_weights(model, RACE_HALF_FIRST)[point] -
		race_model_weights(model, RACE_HALF_SECOND)[point];
	uint32		from[RACE_CHART_AXES] = {0, 0};
	uint32		to[RACE_CHART_AXES] = {1, 1};
	int			a;

	for (a = 0; a < chart->n_axes; a++)
	{
		RaceChartAxis	   *axis = &chart->axes[a];

		race_spread_add(&axis->spread,
						race_fitted_vector(&chart->fitted, axis->place.part, point)[axis->place.element],
						axis->values, &from[a], &to[a]);
	}
	add_product(chart, from, to, race_fitted_weight(&chart->fitted, point) / chart->fitted.total,
				chart->share);
	if (differences != NULL)
		add_product(chart, from, to, difference / 2 / chart->fitted.total, differences);
	for (a = 0; a < chart->n_axes; a++)
		if (from[a] < to[a])
			memset(chart->axes[a].values + from[a], 0, (to[a] - from[a]) * sizeof(double));
}

/* The sum over the nodes of an axis of what each is at its places, squared */
static double *
squares_of_nodes(const RaceChartAxis *axis, const RaceGrid *grid)
{
	uint32		element = axis->place.element;
	double	   *squares = palloc0(axis->spread.n * sizeof(double));
	uint32		node;
	uint32		from;
	uint32		to;
	uint32		k;

	for (node = 0; node <= grid->cells[element]; node++)
	{
		CHECK_FOR_INTERRUPTS();
		race_spread_add(&axis->spread, grid->lower[element] + node * grid->width[element],
						axis->values, &from, &to);
		for (k = from; k < to; k++)
		{
			squares[k] += axis->values[k] * axis->values[k];
			axis->values[k] = 0;
		}
	}
	return squares;
}

/* Of a grid: the noise of the nodes that a place sums up, and of the count */
static void
find_noise(RaceChart *chart)
{
	const RaceView *view = &chart->fitted.view;
	double		unit = (double) race_record_unit(view->params);
	double		variance = view->header->noise.counter_variance / (unit * unit);
	double	   *squares[RACE_CHART_AXES] = {NULL, NULL};
	RaceGrid	grid;
	uint32		i;
	uint32		k;
	int			a;

	race_grid_of(view->params, &grid);
	variance *= (double) grid.nodes;
	for (a = 0; a < chart->n_axes; a++)
	{
		squares[a] = squares_of_nodes(&chart->axes[a], &grid);
		variance /= grid.cells[chart->axes[a].place.element] + 1.0;
	}
	for (i = 0; i < chart->lines; i++)
		for (k = 0; k < chart->length; k++)
		{
			Size		at = (Size) i * chart->length + k;

			chart->variance[at] = (variance * squares[0][i] * (squares[1] == NULL ? 1 : squares[1][k]) +
								   pow(chart->share[at], 2) * view->header->noise.count_variance) /
				pow(chart->records, 2);
		}
}

/* Of rows: how much both halves of them differ around a place, and what both miss */
static void
find_disagreement(RaceChart *chart, const double *differences)
{
	double	   *space = palloc(Max(chart->lines, chart->length) * sizeof(double));
	double		misfit = chart->fitted.view.model->misfit;
	Size		n = (Size) chart->lines * chart->length;
	Size		at;
	int			a;

	for (at = 0; at < n; at++)
		chart->variance[at] = differences[at] * differences[at];
	for (a = 0; a < chart->n_axes; a++)
	{
		const RaceChartAxis *axis = &chart->axes[a];
		uint32		others = a == 0 ? chart->length : chart->lines;
		uint32		i;

		for (i = 0; i < others; i++)
			race_spread_average(&axis->spread,
								density_width(axis->place.params, axis->place.element, 1),
								chart->variance + (a == 0 ? i : (Size) i * chart->length),
								a == 0 ? chart->length : 1, space);
	}
	for (at = 0; at < n && misfit < RACE_UNTESTED; at++)
		chart->variance[at] += pow(misfit * chart->share[at], 2);
	pfree(space);
}

void
race_chart_fill(RaceChart *chart)
{
	const RaceView *view = &chart->fitted.view;
	bool		grid = race_is_grid(view->params);
	double	   *differences = NULL;
	Size		n;
	uint64		i;
	int			a;

	chart->lines = chart->axes[0].spread.n;
	chart->length = chart->n_axes == 1 ? 1 : chart->axes[1].spread.n;
	n = (Size) chart->lines * chart->length;
	for (a = 0; a < chart->n_axes; a++)
		chart->axes[a].values = palloc0(chart->axes[a].spread.n * sizeof(double));
	chart->records = race_count_divisor(race_record_count(view, NULL));
	chart->share = palloc0(n * sizeof(double));
	if (grid || view->params->rows > 1)
		chart->variance = palloc0(n * sizeof(double));
	if (!grid && view->params->rows > 1)
		differences = palloc0(n * sizeof(double));
	for (i = 0; i < view->model->points; i++)
	{
		CHECK_FOR_INTERRUPTS();
		add_point(chart, i, differences);
	}
	if (grid)
		find_noise(chart);
	else if (differences != NULL)
		find_disagreement(chart, differences);
}

/* Is noise a small part of what is seen? */
static bool
is_quiet(const RaceChart *chart)
{
	Size		n = (Size) chart->lines * chart->length;
	double		highest = 0;
	double		mean = 0;
	Size		at;

	for (at = 0; chart->variance != NULL && at < n; at++)
	{
		highest = Max(highest, chart->share[at]);
		mean += chart->variance[at] / n;
	}
	return sqrt(mean) <= SMALL_PART * highest;
}

void
race_chart_fill_smoothly(RaceChart *chart)
{
	static const double choices[] = {RACE_LEAST_SMOOTHING, 0.5, 1};
	int			i;
	int			a;

	race_chart_fill(chart);
	for (i = 1; i < (int) lengthof(choices) && !is_quiet(chart); i++)
	{
		for (a = 0; a < chart->n_axes; a++)
			chart->axes[a].spread.width =
				density_width(chart->axes[a].place.params, chart->axes[a].place.element, choices[i]);
		race_chart_fill(chart);
	}
}
