/*
 * table_error.c
 *		Discretisation error of tables
 */
#include "postgres.h"

#include <math.h>

#include "table_error.h"

struct RaceLost
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

/* So many times, so that noise averages out */
#define SPREADS			2

/* Spread along one axis with the weights 1/4, 1/2, 1/4; at the bounds 1/2, 1/2. */
static void
spread(double *line, Size stride, uint32 cells)
{
	double		before = line[0];
	uint32		k;

	for (k = 0; k <= cells; k++)
	{
		double		here = line[k * stride];
		double		after = k < cells ? line[(k + 1) * stride] : here;

		line[k * stride] = (before + 2 * here + after) / 4;
		before = here;
	}
}

static void
spread_all(const RaceGrid *grid, double *squares)
{
	Size		stride = grid->nodes;
	uint32		axis;

	for (axis = 0; axis < grid->dims; axis++)
	{
		Size		block = stride;
		Size		from;
		Size		i;
		int			times;

		stride /= grid->cells[axis] + 1;
		for (from = 0; from < grid->nodes; from += block)
			for (i = 0; i < stride; i++)
				for (times = 0; times < SPREADS; times++)
					spread(squares + from + i, stride, grid->cells[axis]);
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

/* What a node shows by itself is believed from so many standard deviations of noise on. */
#define BEYOND_NOISE	2

/*
 * Where records share a place, what is lost is lost there, and that is more than around it.  So what
 * a node shows counts, or what is seen around it, if that is more.
 */
static void
set_variance(RaceLost *lost, const RaceParams *params, double noise)
{
	Size		n = lost->grid.nodes;
	double	   *around = palloc_extended(n * sizeof(double), MCXT_ALLOC_HUGE);
	double		within_noise = BEYOND_NOISE * noise * sqrt(lost->grid.dims);
	Size		i;

	memcpy(around, lost->variance, n * sizeof(double));
	spread_all(&lost->grid, around);
	for (i = 0; i < n; i++)
		lost->variance[i] = race_grid_lost(params, Max(Max(lost->variance[i] - within_noise,
														   around[i]), 0));
	pfree(around);
}

RaceLost *
race_lost_create(const RaceView *view, MemoryContext context, Size *size)
{
	double		unit = (double) race_record_unit(view->params);
	double		noise;
	RaceLost   *lost;
	RaceGrid	fine;

	if (!race_grid_looks_at(view->params, 1))
		return NULL;
	race_grid_of(view->params, &fine);
	noise = race_grid_detail_noise(fine.dims,
								   view->header->noise.counter_variance / (unit * unit));
	lost = MemoryContextAlloc(context, sizeof(RaceLost));
	lost->grid = fine;
	race_grid_halve(&lost->grid);
	lost->variance = MemoryContextAllocExtended(context, lost->grid.nodes * sizeof(double),
												MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	*size += sizeof(RaceLost) + lost->grid.nodes * sizeof(double);
	see_squares(view, &fine, noise, lost->variance);
	set_variance(lost, view->params, noise);
	return lost;
}

double
race_lost_near(const RaceLost *lost, const double *x)
{
	uint32		nodes[RACE_GRID_CORNERS];
	int64		weights[RACE_GRID_CORNERS];
	int			n = race_grid_split(&lost->grid, x, nodes, weights);
	double		sum = 0;
	double		all = 0;
	int			i;

	for (i = 0; i < n; i++)
	{
		sum += weights[i] * lost->variance[nodes[i]];
		all += weights[i];
	}
	return sum / all;
}
