/*
 * differences.c
 *		race_difference, race_kde_grid, race_kernel, race_info
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "utils/memutils.h"

#include "../core/core.h"
#include "estimate.h"

/*
 * race_difference: by how much two sketches differ at a query.
 *
 * The rows of sketches with the same parameters have the same functions, so what sampling
 * adds to both is much alike, and goes when they are subtracted row by row.  Noise and what
 * models miss is each sketch's own.
 */

PG_FUNCTION_INFO_V1(race_difference);

static void
check_same_kernel(const RaceParams *a, const RaceParams *b)
{
	if (!race_params_same_kernel(a, b))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("densities of different kernels cannot be compared"),
				 errdetail("One side has %s, the other has %s.",
						   race_params_brief(a), race_params_brief(b))));
}

/* Is the number of records within its noise of zero?  Then a density says nothing. */
static bool
has_no_count(const RaceDensity *density, double t)
{
	return !(density->n > t * sqrt(density->n_variance));
}

/* race_difference(a, b, q, confidence) */
Datum
race_difference(PG_FUNCTION_ARGS)
{
	double		confidence = PG_GETARG_FLOAT8(3);
	RaceQuestion questions[2];
	RaceDensity densities[2];
	RaceResultRow row;
	double		covariance;
	double		difference;
	double		variance;
	double		reach;
	double		t;

	race_check_confidence(confidence);
	race_row_start(&row, fcinfo);
	race_ask_pair(fcinfo, race_argument_type(fcinfo->flinfo, 2), &questions[0], &questions[1]);
	check_same_kernel(questions[0].view.params, questions[1].view.params);
	for (int i = 0; i < 2; i++)
		race_ask_about(&questions[i], PG_GETARG_DATUM(2));
	covariance = race_estimate_two(questions, densities);
	difference = densities[0].density - densities[1].density;
	variance = pow(densities[0].standard_error, 2) + pow(densities[1].standard_error, 2);
	if (isfinite(variance) && covariance != 0)
	{
		double		least = 0;	/* what the rows of each have beyond their noise may go, and no more */

		for (int i = 0; i < 2; i++)
			if (densities[i].weight > 0)
				least += pow(densities[i].weight / densities[i].n / (1 - race_collision_probability(questions[i].view.params)), 2) *
					(densities[i].least_variance - densities[i].rows_variance);
		variance += Max(-2 * covariance / densities[0].n / densities[1].n, least);
	}
	t = Max(race_estimate_reach(&questions[0].view, confidence),
			race_estimate_reach(&questions[1].view, confidence));
	reach = has_no_count(&densities[0], t) || has_no_count(&densities[1], t) ? INFINITY : t * sqrt(Max(variance, 0));

	race_row_add(&row, Float8GetDatum(difference));
	race_row_add(&row, Float8GetDatum(sqrt(Max(variance, 0))));
	race_row_add(&row, Float8GetDatum(difference - reach));
	race_row_add(&row, Float8GetDatum(difference + reach));
	PG_RETURN_DATUM(race_row_datum(&row));
}

/*
 * race_kde_grid: the density at all points of a grid.
 */

PG_FUNCTION_INFO_V1(race_kde_grid);

#define MAX_SPAN		1e100	/* an axis this long still divides into steps */

typedef struct Grid
{
	RaceQuestion question;
	RaceResultRow row;
	uint32		dims;
	double	   *lower;
	double	   *upper;
	uint32	   *steps;
	double	   *x;				/* the current point */
} Grid;

static void
check_vectors(const RaceParams *params)
{
	if (race_record_kind(params) != RACE_RECORD_VECTOR || race_params_parts(params) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a grid needs a kernel of vectors by itself"),
				 errdetail("The parameters are %s.", race_params_brief(params))));
}

/* Number of points, checked axis by axis */
static uint64
read_grid(FunctionCallInfo fcinfo, Grid *grid)
{
	RaceCallSite *site = race_call_site_create(FLOAT8ARRAYOID, CurrentMemoryContext);
	double	   *steps;
	uint64		points = 1;

	race_ask_sketch(site, PG_GETARG_DATUM(0), &grid->question);
	check_vectors(grid->question.view.params);
	grid->dims = grid->question.view.params->dims;
	grid->lower = race_vector_new(FLOAT8ARRAYOID, PG_GETARG_DATUM(1), grid->dims);
	grid->upper = race_vector_new(FLOAT8ARRAYOID, PG_GETARG_DATUM(2), grid->dims);
	steps = race_vector_new(INT4ARRAYOID, PG_GETARG_DATUM(3), grid->dims);
	grid->steps = palloc(grid->dims * sizeof(uint32));
	grid->x = palloc(grid->dims * sizeof(double));

	for (uint32 i = 0; i < grid->dims; i++)
	{
		if (steps[i] < 1)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("a grid needs at least 1 step along each axis")));
		if (grid->lower[i] > grid->upper[i] ||
			grid->upper[i] - grid->lower[i] > MAX_SPAN)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("the lower bound of a grid must be at most the upper, and within %g of it",
							MAX_SPAN)));
		grid->steps[i] = (uint32) steps[i];
		points *= grid->steps[i];
		if (points > PG_INT32_MAX)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("a grid can have at most %d points", PG_INT32_MAX)));
	}
	return points;
}

/* Coordinates of point number i; the last axis runs fastest. */
static void
locate(Grid *grid, uint64 i)
{
	for (uint32 axis = grid->dims; axis-- > 0;)
	{
		uint32		steps = grid->steps[axis];
		uint32		step = i % steps;
		double		lower = grid->lower[axis];
		double		upper = grid->upper[axis];

		if (steps == 1)
			grid->x[axis] = lower + (upper - lower) / 2;
		else if (step == steps - 1)
			grid->x[axis] = upper;	/* exactly */
		else
			grid->x[axis] = lower + (upper - lower) * step / (steps - 1);
		i /= steps;
	}
}

static void
start_grid(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	Grid	   *grid = palloc(sizeof(Grid));

	race_row_start(&grid->row, fcinfo);
	call->max_calls = read_grid(fcinfo, grid);
	call->user_fctx = grid;
}

static Datum
next_point(void *state, uint64 i)
{
	Grid	   *grid = (Grid *) state;
	RaceDensity estimate;

	locate(grid, i);
	race_ask_about_vector(&grid->question, grid->x);
	race_estimate_density(&grid->question, &estimate);
	race_row_add_numbers(&grid->row, grid->x, grid->dims);
	race_row_add(&grid->row, Float8GetDatum(estimate.density));
	race_row_add(&grid->row, Float8GetDatum(estimate.standard_error));
	return race_row_datum(&grid->row);
}

/* race_kde_grid(sketch, lower, upper, steps) */
Datum
race_kde_grid(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_grid, next_point);
}

/*
 * race_kernel: the exact kernel value, ground truth for estimates.
 */

PG_FUNCTION_INFO_V1(race_kernel);

/* How both records are read, and space for them, kept between calls */
typedef struct KernelSite
{
	RaceRecordReader x_reader;
	RaceRecordReader y_reader;
	MemoryContext space;		/* of what follows, for a call */
	RaceRecords *x;
	RaceRecords *y;
} KernelSite;

static KernelSite *
get_site(FmgrInfo *flinfo)
{
	if (flinfo->fn_extra == NULL)
	{
		KernelSite *site = MemoryContextAllocZero(flinfo->fn_mcxt, sizeof(KernelSite));

		race_record_prepare(&site->x_reader, race_argument_type(flinfo, 1),
							flinfo->fn_mcxt);
		race_record_prepare(&site->y_reader, race_argument_type(flinfo, 2),
							flinfo->fn_mcxt);
		site->y_reader.is_query = true;
		site->space = AllocSetContextCreate(flinfo->fn_mcxt, "race_kernel",
											ALLOCSET_START_SMALL_SIZES);
		flinfo->fn_extra = site;
	}
	return (KernelSite *) flinfo->fn_extra;
}

/* Columns with one record, valid until the next call */
static void
read_one(RaceRecordReader *reader, const RaceParams *params, Datum value,
		 RaceRecords *records, RaceColumn *columns)
{
	race_record_read(reader, params, value, records, false);
	for (int i = 0; i < records->n_parts; i++)
		if (records->parts[i].kind == RACE_RECORD_SET && (records->any >> i & 1) == 0)
			race_normalize_set(records->parts[i].elements, &records->parts[i].starts[1]);
	race_records_columns(records, 0, columns);
}

/* race_kernel(params, x, y) */
Datum
race_kernel(PG_FUNCTION_ARGS)
{
	const RaceParams *params = race_params_arg(PG_GETARG_DATUM(0));
	KernelSite *site = get_site(fcinfo->flinfo);
	RaceColumn	x[RACE_MAX_PARTS];
	RaceColumn	y[RACE_MAX_PARTS];

	race_params_check_kernel(params);
	MemoryContextReset(site->space);
	site->x = race_records_create(params, site->space);
	site->y = race_records_create(params, site->space);
	site->y->are_queries = true;
	race_records_reserve(site->x, 1);
	race_records_reserve(site->y, 1);
	read_one(&site->x_reader, params, PG_GETARG_DATUM(1), site->x, x);
	/* if the parameters do not state dims, y must have as many as x */
	for (int i = 0; i < site->x->n_parts; i++)
		if (site->y->parts[i].width == 0)
		{
			site->y->parts[i].width = site->x->parts[i].width;
			race_records_reserve(site->y, 1);
		}
	read_one(&site->y_reader, params, PG_GETARG_DATUM(2), site->y, y);
	PG_RETURN_FLOAT8(race_kernel_value(params, x, y));
}

/*
 * race_info: what a sketch is, in one row.
 */

PG_FUNCTION_INFO_V1(race_info);

/* The kernels of a product, with * between */
static const char *
product_name(const RaceParams *params)
{
	StringInfoData name;

	initStringInfo(&name);
	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
		appendStringInfo(&name, "%s%s", part == params ? "" : " * ",
						 race_kernel_name(part->kernel));
	return name.data;
}

static void
add_params(RaceResultRow *row, const RaceParams *params)
{
	const RaceKernelType *type = race_kernel_type(params->kernel);
	bool		product = race_params_parts(params) > 1;
	bool		functions = (type->takes & RACE_TAKES_FUNCTIONS) != 0;

	race_row_add_text(row, product_name(params));
	race_row_add_if(row, !product && params->dims > 0, Int32GetDatum(params->dims));
	race_row_add_if(row, !product && (type->takes & RACE_TAKES_BANDWIDTH) != 0,
		   Float8GetDatum(params->bandwidth));
	race_row_add_if(row, functions && !product, Int32GetDatum(params->power));
	race_row_add(row, Int32GetDatum(params->rows));
	race_row_add(row, Int32GetDatum(params->range));
	race_row_add(row, Int64GetDatum(params->seed));
	if (product)
		race_row_add_null(row);
	else
		race_row_add_text(row, race_sequence_name(params->sequence));
	race_row_add_text(row, race_rehash_name(params->rehash));
}

static void
add_noise(RaceResultRow *row, const RaceNoise *noise, double unit)
{
	if (noise->status == RACE_STATUS_EXACT)
	{
		race_row_add_text(row, "exact");
		for (int i = 0; i < 9; i++)
			race_row_add_null(row);
		return;
	}
	race_row_add_text(row, race_has_enough_noise(noise) ? "private" : "share");
	race_row_add_text(row, race_mechanism_name(noise->mechanism));
	race_row_add(row, Float8GetDatum(noise->epsilon));
	race_row_add(row, Float8GetDatum(noise->delta));
	race_row_add(row, Float8GetDatum(noise->rho));
	race_row_add(row, Int32GetDatum(noise->max_contributions));
	race_row_add_text(row, race_neighbors_name(noise->neighbors));
	race_row_add(row, Int32GetDatum(noise->releases));
	race_row_add(row, Float8GetDatum(sqrt(noise->counter_variance) / unit));
	race_row_add(row, Float8GetDatum(sqrt(noise->count_variance)));
}

/* A model comes last in a sketch, so that all of it is read. */
static void
add_model(RaceResultRow *row, Datum sketch, bool has_model)
{
	RaceView	view;

	if (!has_model)
	{
		race_row_add_null(row);
		race_row_add_null(row);
		return;
	}
	race_sketch_view(sketch, &view);
	race_row_add(row, Int32GetDatum((int32) view.model->points));
	race_row_add(row, Float8GetDatum(view.model->misfit));
}

Datum
race_info(PG_FUNCTION_ARGS)
{
	RaceView	view;
	RaceResultRow row;
	int			width;
	Size		size;

	race_row_start(&row, fcinfo);
	race_sketch_stored_size(PG_GETARG_DATUM(0), &width, &size);
	race_sketch_view_header_any(PG_GETARG_DATUM(0), &view);

	add_params(&row, view.params);
	race_row_add_if(&row, race_has_enough_noise(&view.header->noise),
					Int64GetDatum(view.header->count));
	race_row_add(&row, Int32GetDatum(width));
	race_row_add(&row, Int64GetDatum((int64) size));
	add_noise(&row, &view.header->noise, (double) race_record_unit(view.params));
	add_model(&row, PG_GETARG_DATUM(0),
			  view.model_size > 0 && race_summary_kind(view.params)->model == RACE_MODEL_POINTS);
	PG_RETURN_DATUM(race_row_datum(&row));
}
