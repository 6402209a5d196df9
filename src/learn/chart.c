/*
 * chart.c
 *		Curves, heat maps and histograms of columns, as densities of probability.
 *
 * Each point of the model stands for a normal distribution around it, as in
 * race_probability_density; what would lie beyond the bounds of a column is mirrored at them.
 * Other columns are left out, so these are marginals.
 *
 * Standard errors.  Of a grid, each node has noise of its own.  What is told at a place is a
 * sum of nodes with known weights, so its variance is known; a fit takes some of it away, which
 * makes it an upper bound.  Of rows, a model has weights from each half of the rows: half of the
 * difference of what both tell has the variance of their mean.  Such a difference alone is one
 * draw, so its square is averaged over what lies within about a bandwidth.  What both miss
 * alike is taken to be the share of an answer that the model misses.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"

#include "../fit/answers.h"
#include "../lsh/grid.h"
#include "../query/density.h"
#include "../query/estimate.h"
#include "../query/student.h"
#include "../record/vector.h"
#include "../server/result.h"
#include "columns.h"
#include "fitted.h"
#include "spread.h"

PG_FUNCTION_INFO_V1(race_curve);
PG_FUNCTION_INFO_V1(race_heatmap);
PG_FUNCTION_INFO_V1(race_histogram);

#define MOST_STEPS		10000
#define MOST_MAP_STEPS	500
#define MAX_AXES		2
/* Smoothing that nobody asked for: the least that makes the error a small part of the peak */
#define LEAST_SMOOTHING	0.25
#define SMALL_PART		0.05

/* Degrees of freedom: noise is known, and halves of rows differ at a few places independently */
#define OF_GRIDS		1e6
#define OF_ROWS			4

typedef struct Axis
{
	RaceColumnPlace place;
	RaceSpread	spread;
	double	   *values;			/* [n], of one point or node; else 0 */
} Axis;

typedef struct Chart
{
	RaceFitted	fitted;
	int			n_axes;
	Axis		axes[MAX_AXES];
	uint32		lines;			/* of the first axis, */
	uint32		length;			/* and places of the second in each; 1 without one */
	double	   *share;			/* [lines][length]: of all records, or a density */
	double	   *variance;		/* the same, or NULL where nothing is known of it */
	double		records;
	double		z;				/* of an interval, in standard errors */
	RaceResultRow row;
} Chart;

/* ------------------------------------------------------------------ arguments */

static void
check_steps(int32 steps, int32 most)
{
	if (steps < 2 || steps > most)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("steps must be between 2 and %d", most)));
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

/* A column that can have a density */
static RaceColumnPlace
find_column(const RaceParams *params, int32 column)
{
	RaceColumnPlace place = race_find_column(params, column);

	if (!race_has_widths(place.params))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a probability density needs kernel l2 or l1, without a transform"),
				 errdetail("The parameters are %s.", race_params_brief(params))));
	return place;
}

static Axis *
add_axis(Chart *chart, int32 column, double smoothing)
{
	Axis	   *axis = &chart->axes[chart->n_axes++];
	RaceSpread *spread = &axis->spread;

	axis->place = find_column(chart->fitted.view.params, column);
	spread->width = race_density_width(axis->place.params, axis->place.element, smoothing);
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
static void
set_places(Chart *chart, Axis *axis, const double *lower, const double *upper, uint32 n,
		   bool middles)
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

static void
open_chart(Chart *chart, FunctionCallInfo fcinfo, int axes)
{
	Datum		sketch = PointerGetDatum(PG_GETARG_VARLENA_P(0));
	RaceView	view;
	int			i;

	memset(chart, 0, sizeof(Chart));
	race_row_start(&chart->row, fcinfo);
	/* a model would not help */
	race_sketch_view_header(sketch, &view);
	for (i = 0; i < axes; i++)
		(void) find_column(view.params, PG_GETARG_INT32(1 + i));
	race_fitted_open(sketch, &chart->fitted);
}

/* -------------------------------------------------------------------- densities */

/* Add `weight` of what a point or a node is on both axes. */
static void
add_product(Chart *chart, const uint32 from[MAX_AXES], const uint32 to[MAX_AXES],
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
add_point(Chart *chart, uint64 point, double *differences)
{
	const RaceModel *model = chart->fitted.view.model;
	double		difference = race_model_weights(model, RACE_HALF_FIRST)[point] -
		race_model_weights(model, RACE_HALF_SECOND)[point];
	uint32		from[MAX_AXES] = {0, 0};
	uint32		to[MAX_AXES] = {1, 1};
	int			a;

	for (a = 0; a < chart->n_axes; a++)
	{
		Axis	   *axis = &chart->axes[a];

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
squares_of_nodes(const Axis *axis, const RaceGrid *grid)
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
find_noise(Chart *chart)
{
	const RaceView *view = &chart->fitted.view;
	double		unit = (double) race_record_unit(view->params);
	double		variance = view->header->noise.counter_variance / (unit * unit);
	double	   *squares[MAX_AXES] = {NULL, NULL};
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
find_disagreement(Chart *chart, const double *differences)
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
		const Axis *axis = &chart->axes[a];
		uint32		others = a == 0 ? chart->length : chart->lines;
		uint32		i;

		for (i = 0; i < others; i++)
			race_spread_average(&axis->spread,
								race_density_width(axis->place.params, axis->place.element, 1),
								chart->variance + (a == 0 ? i : (Size) i * chart->length),
								a == 0 ? chart->length : 1, space);
	}
	for (at = 0; at < n && misfit < RACE_UNTESTED; at++)
		chart->variance[at] += pow(misfit * chart->share[at], 2);
	pfree(space);
}

static void
fill_chart(Chart *chart)
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
	chart->records = race_answers_divisor(race_answers_count(view, NULL));
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
is_quiet(const Chart *chart)
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

/* Fill a chart with the smoothing in an argument, or if that is NULL the least that is quiet. */
static void
fill_smoothly(Chart *chart, FunctionCallInfo fcinfo, int argument)
{
	static const double choices[] = {LEAST_SMOOTHING, 0.5, 1};
	int			i;
	int			a;

	fill_chart(chart);
	for (i = 1; i < (int) lengthof(choices) && PG_ARGISNULL(argument) && !is_quiet(chart); i++)
	{
		for (a = 0; a < chart->n_axes; a++)
			chart->axes[a].spread.width =
				race_density_width(chart->axes[a].place.params, chart->axes[a].place.element, choices[i]);
		fill_chart(chart);
	}
}

static double
smoothing_arg(FunctionCallInfo fcinfo, int argument)
{
	double		smoothing = PG_ARGISNULL(argument) ? LEAST_SMOOTHING : PG_GETARG_FLOAT8(argument);

	race_check_smoothing(smoothing);
	return smoothing;
}

static void
add_error(Chart *chart, uint64 at, double scale)
{
	bool		known = chart->variance != NULL;

	race_row_add_if(&chart->row, known,
					Float8GetDatum(known ? scale * sqrt(chart->variance[at]) : 0));
}

/* --------------------------------------------------------------------- charts */

static void
start_curve(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	Chart	   *chart = palloc(sizeof(Chart));
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
	open_chart(chart, fcinfo, 1);
	chart->z = race_student_two_sided(1 - PG_GETARG_FLOAT8(5),
									  race_is_grid(chart->fitted.view.params) ? OF_GRIDS : OF_ROWS);
	set_places(chart, add_axis(chart, PG_GETARG_INT32(1), smoothing),
			   PG_ARGISNULL(3) ? NULL : &lower, PG_ARGISNULL(4) ? NULL : &upper,
			   PG_GETARG_INT32(2), false);
	fill_smoothly(chart, fcinfo, 6);
	call->max_calls = chart->lines;
	call->user_fctx = chart;
}

static Datum
curve_datum(void *state, uint64 i)
{
	Chart	   *chart = (Chart *) state;
	double		density = chart->share[i];
	bool		known = chart->variance != NULL;
	double		reach = known ? chart->z * sqrt(chart->variance[i]) : 0;

	race_row_add(&chart->row, Float8GetDatum(chart->axes[0].spread.at[i]));
	race_row_add(&chart->row, Float8GetDatum(density));
	race_row_add_if(&chart->row, known, Float8GetDatum(Max(density - reach, 0)));
	race_row_add_if(&chart->row, known, Float8GetDatum(density + reach));
	return race_row_datum(&chart->row);
}

/* _race_curve(sketch, column, steps, lower, upper, confidence, smoothing) */
Datum
race_curve(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_curve, curve_datum);
}

static void
start_heatmap(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	Chart	   *chart = palloc(sizeof(Chart));
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
			bounds[i] = race_vector_new(FLOAT8ARRAYOID, PG_GETARG_DATUM(4 + i), MAX_AXES);
	open_chart(chart, fcinfo, MAX_AXES);
	for (i = 0; i < MAX_AXES; i++)
		set_places(chart, add_axis(chart, PG_GETARG_INT32(1 + i), smoothing),
				   bounds[0] == NULL ? NULL : &bounds[0][i],
				   bounds[1] == NULL ? NULL : &bounds[1][i], PG_GETARG_INT32(3), true);
	fill_smoothly(chart, fcinfo, 6);
	call->max_calls = (uint64) chart->lines * chart->length;
	call->user_fctx = chart;
}

static Datum
heatmap_datum(void *state, uint64 i)
{
	Chart	   *chart = (Chart *) state;

	race_row_add(&chart->row, Float8GetDatum(chart->axes[0].spread.at[i / chart->length]));
	race_row_add(&chart->row, Float8GetDatum(chart->axes[1].spread.at[i % chart->length]));
	race_row_add(&chart->row, Float8GetDatum(chart->share[i]));
	add_error(chart, i, 1);
	return race_row_datum(&chart->row);
}

/* _race_heatmap(sketch, column1, column2, steps, lower, upper, smoothing) */
Datum
race_heatmap(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_heatmap, heatmap_datum);
}

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
add_edges(Chart *chart)
{
	const RaceView *view = &chart->fitted.view;
	Axis	   *axis = &chart->axes[0];
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
	Chart	   *chart = palloc(sizeof(Chart));

	race_check_smoothing(PG_GETARG_FLOAT8(3));
	open_chart(chart, fcinfo, 1);
	read_edges(&add_axis(chart, PG_GETARG_INT32(1), PG_GETARG_FLOAT8(3))->spread,
			   PG_GETARG_ARRAYTYPE_P(2));
	fill_chart(chart);
	add_edges(chart);
	call->max_calls = chart->lines;
	call->user_fctx = chart;
}

static Datum
histogram_datum(void *state, uint64 i)
{
	Chart	   *chart = (Chart *) state;
	const double *edges = chart->axes[0].spread.at;

	race_row_add(&chart->row, Float8GetDatum(edges[i]));
	race_row_add(&chart->row, Float8GetDatum(edges[i + 1]));
	race_row_add(&chart->row, Float8GetDatum(chart->share[i] * chart->records));
	add_error(chart, i, chart->records);
	return race_row_datum(&chart->row);
}

/* _race_histogram(sketch, column, edges, smoothing) */
Datum
race_histogram(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_histogram, histogram_datum);
}
