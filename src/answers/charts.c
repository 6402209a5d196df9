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

#include "hash/kernel.h"
#include "hash/kind.h"
#include "hash/params.h"
#include "hash/table.h"
#include "sketch/array_reader.h"
#include "sketch/params_text.h"
#include "sketch/params_type.h"
#include "sketch/record.h"
#include "sketch/result.h"
#include "sketch/sketch.h"
#include "sketch/sketch_format.h"
#include "answers/classify.h"
#include "answers/distributions.h"
#include "answers/estimate.h"
#include "answers/evaluator.h"
#include "answers/sample.h"

/*
 * Curves, heat maps and histograms of columns: points of a model, each as a normal distribution.
 * What one has beyond the bounds of its axis is mirrored at them.
 *
 * Standard errors.  Of a grid, each node has noise of its own.  What is told at a place is a
 * sum of nodes with known weights, so its variance is known; a fit takes some of it away, which
 * makes it an upper bound.  Of rows, a model has weights from each half of the rows: half of the
 * difference of what both tell has the variance of their mean.  Such a difference alone is one
 * draw, so its square is averaged over what lies within about a bandwidth.  What both miss
 * alike is taken to be the share of an answer that the model misses.
 */

PG_FUNCTION_INFO_V1(race_curve);
PG_FUNCTION_INFO_V1(race_heatmap);
PG_FUNCTION_INFO_V1(race_histogram);

#define MOST_AXES 2
#define MOST_STEPS 10000
#define MOST_MAP_STEPS 500
#define LEAST_SMOOTHING 1e-6
#define REACH 8.5 /* standard deviations beyond which there is less than 1e-16 */

/* Degrees of freedom: noise is known, and halves of rows differ at a few places independently */
#define GRID_DEGREES 1e6
#define ROWS_DEGREES 4

/*
 * Smoothing that nobody asked for, in bandwidths: the least of these whose standard error is so
 * small a part of the peak
 */
static const double smoothings[] = {0.25, 0.5, 1};

#define SMALL_PART 0.05

typedef struct Axis
{
	RaceColumnPlace place;
	double bandwidth;
	double width; /* standard deviation around points */
	double lower; /* lower bound; infinite without */
	double upper;
	bool cells; /* true for the n cells of a histogram, false for n places */
	uint32 n;
	double *at;     /* [n] places, or [n + 1] edges of cells; they ascend */
	double *values; /* [n]: values of one point or node; 0 elsewhere */
} Axis;

typedef struct Chart
{
	RaceFitted fitted;
	int n_axes;
	Axis axes[MOST_AXES];
	uint32 lines;     /* places of the first axis; 1 without a second one */
	uint32 length;    /* places of the second axis in each line; 1 without one */
	double *share;    /* [lines][length]: shares of all records, or densities */
	double *variance; /* [lines][length]: variances of the shares; NULL where unknown */
	RaceRecordCount count;
	double records; /* number of records, as a divisor */
	double z;       /* half width of intervals, in standard errors */
	RaceResultRow row;
} Chart;

/* --------------------------------------------------------------------- axes */

/*
 * Start a chart of the columns in arguments 1 ... axes.  Smoothing is in an argument, which may be
 * NULL.
 */
static Chart *
open_chart(FunctionCallInfo fcinfo, int axes, int smoothing)
{
	Chart *chart = palloc0(sizeof(Chart));
	Datum sketch = PointerGetDatum(PG_GETARG_VARLENA_P(0));
	double factor = PG_ARGISNULL(smoothing) ? smoothings[0] : PG_GETARG_FLOAT8(smoothing);
	RaceView view;

	/* squares of densities stay finite */
	if (!(factor >= LEAST_SMOOTHING && factor <= 100))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("smoothing must be a number from %g to 100", LEAST_SMOOTHING)));
	race_row_start(&chart->row, fcinfo);
	race_sketch_view_header(sketch, &view);
	view.params = race_params_copy(view.params, CurrentMemoryContext);
	chart->n_axes = axes;
	for (int i = 0; i < axes; i++)
	{
		Axis *axis = &chart->axes[i];
		RaceColumnPlace place = race_find_column(view.params, PG_GETARG_INT32(1 + i));
		const double *bandwidths = race_array(place.params, RACE_ARRAY_BANDWIDTHS);

		if ((race_kernel_type(place.params->kernel)->takes & RACE_TAKES_BANDWIDTH) == 0 ||
			race_array(place.params, RACE_ARRAY_MATRIX) != NULL)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("a probability density needs kernel l2 or l1, without a transform"),
					 errdetail("The parameters are %s.", race_params_brief(view.params))));
		axis->place = place;
		axis->bandwidth =
			place.params->bandwidth * (bandwidths == NULL ? 1 : bandwidths[place.element]);
		axis->width = factor * axis->bandwidth;
		axis->lower = race_column_bound(&place, RACE_ARRAY_LOWER, -INFINITY);
		axis->upper = race_column_bound(&place, RACE_ARRAY_UPPER, INFINITY);
		if (axis->lower >= axis->upper)
		{
			axis->lower = -INFINITY;
			axis->upper = INFINITY;
		}
	}
	/* after columns were checked: where one has no density, a model would not help */
	race_fitted_open(sketch, &chart->fitted);
	return chart;
}

static double
coordinate_of_point(const Chart *chart, const Axis *axis, uint64 point)
{
	return race_fitted_vector(&chart->fitted, axis->place.part, point)[axis->place.element];
}

/* Set n places: between these bounds, those of the column, or around the points. */
static void
set_places(const Chart *chart, Axis *axis, const double *lower, const double *upper, uint32 n,
		   bool middles)
{
	double first = axis->lower;
	double last = axis->upper;
	double half;
	uint64 i;

	if (!isfinite(first))
		for (first = INFINITY, i = 0; i < chart->fitted.view.model->points; i++)
			first = Min(first, coordinate_of_point(chart, axis, i) - 3 * axis->width);
	if (!isfinite(last))
		for (last = -INFINITY, i = 0; i < chart->fitted.view.model->points; i++)
			last = Max(last, coordinate_of_point(chart, axis, i) + 3 * axis->width);
	first = lower == NULL ? first : *lower;
	last = upper == NULL ? last : *upper;
	if (!isfinite(first) || !isfinite(last) || !isfinite(last - first) || first >= last)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the lower bound of a chart must be below the upper one")));
	half = middles ? (last - first) / n / 2 : 0;
	axis->n = n;
	axis->at = palloc(n * sizeof(double));
	for (uint32 k = 0; k < n; k++)
		axis->at[k] =
			(first + half) * (1 - (double) k / (n - 1)) + (last - half) * ((double) k / (n - 1));
}

/* Add what places or cells *from ... *to - 1 have of a normal distribution around x. */
static void
add_normal(const Axis *axis, double width, double x, uint32 *from, uint32 *to)
{
	uint32 low = 0;
	uint32 high = axis->n;
	uint32 k;

	while (low < high) /* the first place from x - REACH * width on */
	{
		uint32 middle = low + (high - low) / 2;

		if (axis->at[middle] >= x - REACH * width)
			high = middle;
		else
			low = middle + 1;
	}
	if (axis->cells && low > 0)
		low--;
	for (k = low; k < axis->n && axis->at[k] <= x + REACH * width; k++)
	{
		double z = (axis->at[k] - x) / width;

		if (axis->cells)
			axis->values[k] +=
				(erfc((x - Min(Max(axis->at[k + 1], axis->lower), axis->upper)) /
					  (width * sqrt(2))) -
				 erfc((x - Min(Max(axis->at[k], axis->lower), axis->upper)) / (width * sqrt(2)))) /
				2;
		else if (axis->at[k] >= axis->lower && axis->at[k] <= axis->upper)
			axis->values[k] += exp(-z * z / 2) / (sqrt(2 * RACE_PI) * width);
	}
	*from = Min(*from, low);
	*to = Max(*to, k);
}

/* Add the same with mirror images at the bounds.  A wide distribution is even between them. */
static void
add_mirrored(const Axis *axis, double x, uint32 *from, uint32 *to)
{
	double range = axis->upper - axis->lower;
	double width = Min(axis->width, range / 2);
	int images = isfinite(range) ? (int) ceil(REACH * width / range / 2) + 1 : 0;

	*from = axis->n;
	*to = 0;
	for (int i = -images; i <= images; i++)
	{
		double shift = i == 0 ? 0 : 2 * range * i;

		add_normal(axis, width, x + shift, from, to);
		if (isfinite(axis->lower))
			add_normal(axis, width, 2 * axis->lower - x + shift, from, to);
		else if (isfinite(axis->upper))
			add_normal(axis, width, 2 * axis->upper - x, from, to);
	}
	*from = Min(*from, *to);
}

static void
clear_values(const Axis *axis, uint32 from, uint32 to)
{
	memset(axis->values + from, 0, (to - from) * sizeof(double));
}

/* ---------------------------------------------------------------- densities */

/* Set the variances of a grid: the noise of the nodes that a place sums up, and of the count. */
static void
find_noise(Chart *chart)
{
	const RaceView *view = &chart->fitted.view;
	double unit = (double) race_record_unit(view->params);
	double variance = view->header->noise.counter_variance / (unit * unit);
	double *squares[MOST_AXES]; /* sums of squared values of the nodes at each place */
	RaceGrid grid;
	uint32 from;
	uint32 to;

	race_grid_of(view->params, &grid);
	variance *= (double) grid.nodes;
	for (int a = 0; a < chart->n_axes; a++)
	{
		Axis *axis = &chart->axes[a];
		uint32 element = axis->place.element;

		squares[a] = palloc0(axis->n * sizeof(double));
		variance /= grid.cells[element] + 1.0;
		for (uint32 node = 0; node <= grid.cells[element]; node++)
		{
			CHECK_FOR_INTERRUPTS();
			add_mirrored(axis, grid.lower[element] + node * grid.width[element], &from, &to);
			for (uint32 k = from; k < to; k++)
				squares[a][k] += axis->values[k] * axis->values[k];
			clear_values(axis, from, to);
		}
	}
	for (Size at = 0; at < (Size) chart->lines * chart->length; at++)
		chart->variance[at] = (variance * squares[0][at / chart->length] *
								   (chart->n_axes == 1 ? 1 : squares[1][at % chart->length]) +
							   pow(chart->share[at], 2) * view->header->noise.count_variance) /
			pow(chart->records, 2);
}

/* Average values[k * stride] at the places of an axis, weighted over a bandwidth. */
static void
average_places(const Axis *axis, double *values, uint32 stride)
{
	double *space = palloc(axis->n * sizeof(double));
	double *place = palloc(axis->n * sizeof(double));
	uint32 first = 0;

	for (uint32 k = 0; k < axis->n; k++)
	{
		space[k] = values[(Size) k * stride];
		place[k] = axis->cells ? axis->at[k] / 2 + axis->at[k + 1] / 2 : axis->at[k];
	}
	for (uint32 k = 0; k < axis->n; k++)
	{
		double sum = 0;
		double weights = 0;

		CHECK_FOR_INTERRUPTS();
		while (place[first] < place[k] - 3 * axis->bandwidth)
			first++;
		for (uint32 other = first;
			 other < axis->n && place[other] <= place[k] + 3 * axis->bandwidth; other++)
		{
			double weight = exp(-pow((place[other] - place[k]) / axis->bandwidth, 2) / 2);

			sum += weight * space[other];
			weights += weight;
		}
		values[(Size) k * stride] = sum / weights;
	}
	pfree(place);
	pfree(space);
}

/* Set the variances of rows: how much both halves differ around a place, and what both miss. */
static void
find_disagreement(Chart *chart, const double *differences)
{
	double misfit = chart->fitted.view.model->misfit;
	Size n = (Size) chart->lines * chart->length;

	for (Size at = 0; at < n; at++)
		chart->variance[at] = differences[at] * differences[at];
	for (uint32 i = 0; i < chart->length; i++)
		average_places(&chart->axes[0], chart->variance + i, chart->length);
	for (uint32 i = 0; i < chart->lines && chart->n_axes > 1; i++)
		average_places(&chart->axes[1], chart->variance + (Size) i * chart->length, 1);
	for (Size at = 0; at < n && misfit < RACE_UNTESTED; at++)
		chart->variance[at] += pow(misfit * chart->share[at], 2);
}

/* Find shares and variances.  Return whether noise is a small part of the result. */
static bool
fill_chart(Chart *chart)
{
	const RaceView *view = &chart->fitted.view;
	const RaceModel *model = view->model;
	bool hashed = race_summary_kind(view->params)->hashed;
	double *differences = NULL;
	double highest = 0;
	double mean = 0;
	Size n;

	chart->lines = chart->axes[0].n;
	chart->length = chart->n_axes == 1 ? 1 : chart->axes[1].n;
	n = (Size) chart->lines * chart->length;
	for (int a = 0; a < chart->n_axes; a++)
		chart->axes[a].values = palloc0(chart->axes[a].n * sizeof(double));
	chart->count = race_record_count(view, NULL);
	chart->records = race_count_divisor(chart->count);
	chart->share = palloc0(n * sizeof(double));
	if (!hashed || view->params->rows > 1)
		chart->variance = palloc0(n * sizeof(double));
	if (hashed && view->params->rows > 1)
		differences = palloc0(n * sizeof(double));
	for (uint64 p = 0; p < model->points; p++)
	{
		double weight = race_model_weight(model, p) / chart->fitted.total;
		double difference = (race_model_weights(model, RACE_FOLD_FIRST)[p] -
							 race_model_weights(model, RACE_FOLD_SECOND)[p]) /
			2 / chart->fitted.total;
		uint32 from[MOST_AXES] = {0, 0};
		uint32 to[MOST_AXES] = {1, 1};

		CHECK_FOR_INTERRUPTS();
		for (int a = 0; a < chart->n_axes; a++)
			add_mirrored(&chart->axes[a], coordinate_of_point(chart, &chart->axes[a], p), &from[a],
						 &to[a]);
		for (uint32 i = from[0]; i < to[0]; i++)
			for (uint32 k = from[1]; k < to[1]; k++)
			{
				double value =
					chart->axes[0].values[i] * (chart->n_axes == 1 ? 1 : chart->axes[1].values[k]);

				chart->share[(Size) i * chart->length + k] += weight * value;
				if (differences != NULL)
					differences[(Size) i * chart->length + k] += difference * value;
			}
		for (int a = 0; a < chart->n_axes; a++)
			clear_values(&chart->axes[a], from[a], to[a]);
	}
	if (!hashed)
		find_noise(chart);
	else if (differences != NULL)
		find_disagreement(chart, differences);
	for (uint64 i = 0; chart->variance != NULL && i < n; i++)
	{
		highest = Max(highest, chart->share[i]);
		mean += chart->variance[i] / n;
	}
	return sqrt(mean) <= SMALL_PART * highest;
}

/* Find the same with the least smoothing that suits, unless the caller asked for one. */
static void
fill_smoothly(Chart *chart, bool asked)
{
	for (int i = 1; !fill_chart(chart) && !asked && i < (int) lengthof(smoothings); i++)
		for (int a = 0; a < chart->n_axes; a++)
			chart->axes[a].width = smoothings[i] * chart->axes[a].bandwidth;
}

/* ------------------------------------------------------------------- curves */

static void
check_steps(int32 steps, int32 most)
{
	if (steps < 2 || steps > most)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("steps must be between 2 and %d", most)));
}

static void
start_curve(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	Chart *chart;
	double lower = PG_ARGISNULL(3) ? 0 : PG_GETARG_FLOAT8(3);
	double upper = PG_ARGISNULL(4) ? 0 : PG_GETARG_FLOAT8(4);

	for (int i = 0; i < PG_NARGS(); i++)
		if (PG_ARGISNULL(i) && i != 3 && i != 4 && i != 6)
			return;
	check_steps(PG_GETARG_INT32(2), MOST_STEPS);
	race_check_confidence(PG_GETARG_FLOAT8(5));
	chart = open_chart(fcinfo, 1, 6);
	chart->z = race_student_two_sided(
		1 - PG_GETARG_FLOAT8(5),
		race_summary_kind(chart->fitted.view.params)->hashed ? ROWS_DEGREES : GRID_DEGREES);
	set_places(chart, &chart->axes[0], PG_ARGISNULL(3) ? NULL : &lower,
			   PG_ARGISNULL(4) ? NULL : &upper, PG_GETARG_INT32(2), false);
	fill_smoothly(chart, !PG_ARGISNULL(6));
	call->max_calls = chart->lines;
	call->user_fctx = chart;
}

static Datum
curve_datum(void *state, uint64 i)
{
	Chart *chart = (Chart *) state;
	double density = chart->share[i];
	bool known = chart->variance != NULL;
	double reach = known ? chart->z * sqrt(chart->variance[i]) : 0;

	race_row_add(&chart->row, Float8GetDatum(chart->axes[0].at[i]));
	race_row_add(&chart->row, Float8GetDatum(density));
	race_row_add_if(&chart->row, known, Float8GetDatum(Max(density - reach, 0)));
	race_row_add_if(&chart->row, known, Float8GetDatum(density + reach));
	return race_row_datum(&chart->row);
}

/* Implement _race_curve(sketch, column, steps, lower, upper, confidence, smoothing). */
Datum
race_curve(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_curve, curve_datum);
}

/* ---------------------------------------------------------------- heat maps */

static void
start_heatmap(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	Chart *chart;
	const double *bounds[2] = {NULL, NULL};

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2) || PG_ARGISNULL(3))
		return;
	check_steps(PG_GETARG_INT32(3), MOST_MAP_STEPS);
	if (PG_GETARG_INT32(1) == PG_GETARG_INT32(2))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a heat map needs two different columns")));
	for (int i = 0; i < 2; i++)
		if (!PG_ARGISNULL(4 + i))
			bounds[i] = race_vector_new(FLOAT8ARRAYOID, PG_GETARG_DATUM(4 + i), MOST_AXES);
	chart = open_chart(fcinfo, MOST_AXES, 6);
	for (int i = 0; i < MOST_AXES; i++)
		set_places(chart, &chart->axes[i], bounds[0] == NULL ? NULL : &bounds[0][i],
				   bounds[1] == NULL ? NULL : &bounds[1][i], PG_GETARG_INT32(3), true);
	fill_smoothly(chart, !PG_ARGISNULL(6));
	call->max_calls = (uint64) chart->lines * chart->length;
	call->user_fctx = chart;
}

static Datum
heatmap_datum(void *state, uint64 i)
{
	Chart *chart = (Chart *) state;

	race_row_add(&chart->row, Float8GetDatum(chart->axes[0].at[i / chart->length]));
	race_row_add(&chart->row, Float8GetDatum(chart->axes[1].at[i % chart->length]));
	race_row_add(&chart->row, Float8GetDatum(chart->share[i]));
	race_row_add_if(&chart->row, chart->variance != NULL,
					Float8GetDatum(chart->variance != NULL ? sqrt(chart->variance[i]) : 0));
	return race_row_datum(&chart->row);
}

/* Implement _race_heatmap(sketch, column1, column2, steps, lower, upper, smoothing). */
Datum
race_heatmap(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_heatmap, heatmap_datum);
}

/* --------------------------------------------------------------- histograms */

/*
 * Add two errors of the count of a range that noise does not explain.  Records near an edge are on
 * either side of it, and the chart has part of each on both.  Were they placed at random with
 * density f, spread by a standard deviation s, then the variance of that would be N f s times the
 * integral of (F(t) - [t > 0])^2, F being the normal distribution function, which is (sqrt(2) - 1)
 * / sqrt(pi).  And spreading moves s^2 / 2 times the slope of f across an edge, so the bias of a
 * range is the difference of that at its edges.  Linear splitting spreads by 1/6 of a squared cell.
 * A density that is narrower than cells would show the nodes.
 */
static void
add_edges(Chart *chart)
{
	const RaceView *view = &chart->fitted.view;
	Axis edges = chart->axes[0];
	double spread = edges.width * edges.width;
	double *density[2];
	double *at = edges.at;
	RaceGrid grid;

	if (race_grid_of(view->params, &grid))
	{
		spread += pow(grid.width[edges.place.element], 2) / 6;
		edges.width = hypot(edges.width, grid.width[edges.place.element]);
	}
	edges.cells = false;
	edges.n++;
	edges.at = palloc(edges.n * sizeof(double));
	edges.values = palloc0(edges.n * sizeof(double));
	for (int side = 0; side < 2; side++)
	{
		density[side] = palloc0(edges.n * sizeof(double));
		for (uint32 k = 0; k < edges.n; k++)
			edges.at[k] = Max(Min(at[k] + (side - 0.5) * edges.width, edges.upper), edges.lower);
		for (uint64 i = 0; i < view->model->points; i++)
		{
			uint32 from;
			uint32 to;

			add_mirrored(&edges, coordinate_of_point(chart, &edges, i), &from, &to);
			for (uint32 k = from; k < to; k++)
				density[side][k] +=
					edges.values[k] * race_model_weight(view->model, i) / chart->fitted.total;
			clear_values(&edges, from, to);
		}
	}
	for (uint32 k = 0; k < edges.n - 1; k++)
	{
		double slopes =
			(density[1][k + 1] - density[0][k + 1] - density[1][k] + density[0][k]) / edges.width;
		double both = (density[0][k] + density[1][k] + density[0][k + 1] + density[1][k + 1]) / 2;

		chart->variance[k] += both * sqrt(spread) * (sqrt(2) - 1) / sqrt(RACE_PI) / chart->records +
			pow(spread / 2 * slopes, 2);
	}
}

static void
start_histogram(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	Chart *chart = open_chart(fcinfo, 1, 3);
	Axis *axis = &chart->axes[0];
	ArrayType *edges = PG_GETARG_ARRAYTYPE_P(2);
	int n = ArrayGetNItems(ARR_NDIM(edges), ARR_DIMS(edges));

	if (n < 2 || n > MOST_STEPS + 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a histogram needs 2 to %d edges", MOST_STEPS + 1)));
	axis->at = race_vector_new(FLOAT8ARRAYOID, PointerGetDatum(edges), (uint32) n);
	for (int k = 1; k < n; k++)
		if (axis->at[k] <= axis->at[k - 1])
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("the edges of a histogram must ascend")));
	axis->cells = true;
	axis->n = (uint32) n - 1;
	(void) fill_chart(chart);
	if (chart->variance != NULL)
		add_edges(chart);
	call->max_calls = chart->lines;
	call->user_fctx = chart;
}

static Datum
histogram_datum(void *state, uint64 i)
{
	Chart *chart = (Chart *) state;

	race_row_add(&chart->row, Float8GetDatum(chart->axes[0].at[i]));
	race_row_add(&chart->row, Float8GetDatum(chart->axes[0].at[i + 1]));
	/* the number of all records has noise, too */
	race_row_add(&chart->row, Float8GetDatum(chart->share[i] * Max(chart->count.n, 0)));
	race_row_add_if(&chart->row, chart->variance != NULL,
					Float8GetDatum(chart->variance != NULL ?
									   hypot(chart->records * sqrt(chart->variance[i]),
											 chart->share[i] * sqrt(chart->count.variance)) :
									   0));
	race_row_add(&chart->row, Float8GetDatum(chart->share[i]));
	return race_row_datum(&chart->row);
}

/* Implement _race_histogram(sketch, column, edges, smoothing). */
Datum
race_histogram(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_histogram, histogram_datum);
}
