/*
 * table_error.c
 *		Discretisation error of tables
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "table_error.h"

struct RaceTableError
{
	RaceGrid	grid;			/* with cells twice as wide as the sketch has */
	double	   *variance;		/* at its nodes */
};

/* A detail lies between two coarse nodes: half of its square belongs to each. */
static void
add_squares(const RaceGrid *fine, uint32 axis, const int64 *nodes, int64 *space, double unit,
			double noise, double *squares)
{
	RaceGridLines lines;
	uint64		cells = fine->cells[axis] / 2;
	uint64		o;
	uint64		i;

	race_grid_details(fine, axis, nodes, space, &lines);
	for (o = 0; o < lines.outer; o++)
	{
		const int64 *details = space + o * lines.length * lines.inner;
		double	   *line = squares + o * (cells + 1) * lines.inner;

		for (i = 0; i < cells * lines.inner; i++)
		{
			double		half = (pow((double) details[i] / unit, 2) - noise) / 2;

			line[i] += half;
			line[i + lines.inner] += half;
		}
	}
}

void
race_grid_average(const RaceGrid *grid, double *v)
{
	Size		stride = grid->nodes;
	uint32		axis;
	Size		i;
	uint32		k;

	CHECK_FOR_INTERRUPTS();
	for (axis = 0; axis < grid->dims; axis++)
	{
		uint32		n = grid->cells[axis] + 1;

		stride /= n;
		for (i = 0; i < grid->nodes; i++)
		{
			double		before = v[i];

			for (k = 0; k < n && i / stride % n == 0; k++)
			{
				double		here = v[i + k * stride];
				double		after = k + 1 < n ? v[i + (k + 1) * stride] : here;

				v[i + k * stride] = (before + 2 * here + after) / 4;
				before = here;
			}
		}
	}
}

/* The squares of details at each coarse node, less what noise adds to them */
static void
see_squares(const RaceView *view, const RaceGrid *fine, double noise, double *squares)
{
	double		unit = (double) race_record_unit(view->params);
	Size		n = fine->nodes;
	int64	   *nodes = palloc_extended(n * sizeof(int64), MCXT_ALLOC_HUGE);
	int64	   *space = palloc_extended(n * sizeof(int64), MCXT_ALLOC_HUGE);
	uint32		axis;

	race_counters_load(view->counters, view->width, 0, n, nodes);
	race_grid_clamp(nodes, n);
	for (axis = 0; axis < fine->dims; axis++)
		add_squares(fine, axis, nodes, space, unit, noise, squares);
	pfree(nodes);
	pfree(space);
}

/* Standard deviations of noise from which a node counts by itself */
#define SIGNIFICANT		4

RaceTableError *
race_table_error_create(const RaceView *view, MemoryContext context, Size *size)
{
	double		unit = (double) race_record_unit(view->params);
	double		noise;
	RaceTableError *error;
	RaceGrid	fine;
	double	   *own;
	Size		i;

	if (!race_grid_looks_at(view->params, 1))
		return NULL;
	race_grid_of(view->params, &fine);
	noise = race_grid_detail_noise(fine.dims,
								   view->header->noise.counter_variance / (unit * unit));
	error = MemoryContextAlloc(context, sizeof(RaceTableError));
	error->grid = fine;
	race_grid_halve(&error->grid);
	error->variance = MemoryContextAllocExtended(context, error->grid.nodes * sizeof(double),
												MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	*size += sizeof(RaceTableError) + error->grid.nodes * sizeof(double);
	see_squares(view, &fine, noise, error->variance);
	own = palloc_extended(error->grid.nodes * sizeof(double), MCXT_ALLOC_HUGE);
	memcpy(own, error->variance, error->grid.nodes * sizeof(double));
	race_grid_average(&error->grid, error->variance);
	for (i = 0; i < error->grid.nodes; i++)
		/* where records share a place, the error there is larger than around it */
		error->variance[i] = race_grid_lost(view->params, Max(Max(own[i] - SIGNIFICANT * noise,
																  error->variance[i]), 0));
	pfree(own);
	return error;
}

double
race_table_error_at(const RaceTableError *error, const double *x)
{
	uint32		nodes[RACE_GRID_CORNERS];
	int64		weights[RACE_GRID_CORNERS];
	int			n = race_grid_split(&error->grid, x, nodes, weights);
	double		sum = 0;
	double		all = 0;
	int			i;

	for (i = 0; i < n; i++)
	{
		sum += weights[i] * error->variance[nodes[i]];
		all += weights[i];
	}
	return sum / all;
}
