/*
 * grid.c
 *		race_kde_grid: the density at all points of a grid.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"

#include "../record/vector.h"
#include "../server/result.h"
#include "estimate.h"

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
	uint32		i;

	race_ask_sketch(site, PG_GETARG_DATUM(0), &grid->question);
	check_vectors(grid->question.view.params);
	grid->dims = grid->question.view.params->dims;
	grid->lower = race_vector_new(FLOAT8ARRAYOID, PG_GETARG_DATUM(1), grid->dims);
	grid->upper = race_vector_new(FLOAT8ARRAYOID, PG_GETARG_DATUM(2), grid->dims);
	steps = race_vector_new(INT4ARRAYOID, PG_GETARG_DATUM(3), grid->dims);
	grid->steps = palloc(grid->dims * sizeof(uint32));
	grid->x = palloc(grid->dims * sizeof(double));

	for (i = 0; i < grid->dims; i++)
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
	uint32		axis;

	for (axis = grid->dims; axis-- > 0;)
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
