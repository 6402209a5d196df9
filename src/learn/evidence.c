/*
 * evidence.c
 *		What a pair of sketches says of a share at many places.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "../fit/answers.h"
#include "../fit/gram.h"
#include "../fit/ready.h"
#include "../lsh/grid.h"
#include "evidence.h"
#include "waves.h"

#define MOST_NODES		4096
#define MOST_POINTS		2048	/* there is a matrix of them */

/* A number of records that is so many standard deviations above 0 is believed. */
#define BELIEVED		3.0

static void
allocate(RaceEvidence *evidence, const RaceParams *params, uint32 n)
{
	int			half;

	evidence->n = n;
	evidence->x = palloc((Size) n * params->dims * sizeof(double));
	evidence->places = palloc((Size) n * evidence->radial->dims * sizeof(double));
	evidence->records = palloc0(n * sizeof(double));
	for (half = 0; half < RACE_HALVES; half++)
		evidence->said[half] = palloc0(n * sizeof(double));
}

static void
measure_places(RaceEvidence *evidence, const RaceParams *params)
{
	uint32		i;

	for (i = 0; i < evidence->n; i++)
		race_radial_place(evidence->radial, params, evidence->x + (Size) i * params->dims,
						  evidence->places + i, evidence->n);
}

/* -------------------------------------------------------------------- grids */

/*
 * The nodes of the coarsest level that a sketch has, coarser still if they are too many, in
 * records; `noise` becomes the variance of one.  Returns NULL if they stay too many.
 */
static double *
coarse_nodes(const RaceView *view, RaceGrid *grid, double *noise)
{
	double		unit = (double) race_record_unit(view->params);
	Size		from = 0;
	double	   *nodes;
	int			level;
	uint64		k;

	race_grid_of(view->params, grid);
	for (level = 1; level < race_grid_levels(view->params); level++)
	{
		from += grid->nodes;
		race_grid_halve(grid);
		race_grid_halve(grid);
	}
	nodes = palloc_extended(grid->nodes * sizeof(double), MCXT_ALLOC_HUGE);
	for (k = 0; k < grid->nodes; k++)
		nodes[k] = race_counters_get(view->counters, view->width, from + k) / unit;
	*noise = view->header->noise.counter_variance / (unit * unit);
	for (; grid->nodes > MOST_NODES; race_grid_halve(grid))
	{
		if (grid->halvings == 0)
			return NULL;
		race_grid_coarsen_real(grid, nodes, nodes);
		*noise *= pow(1.5, grid->dims);	/* weights 1/2, 1, 1/2 along each axis */
	}
	return nodes;
}

static void
place_nodes(RaceEvidence *evidence, const RaceGrid *grid)
{
	uint32		i;

	for (i = 0; i < evidence->n; i++)
	{
		uint32		rest = i;
		int			axis;

		for (axis = grid->dims - 1; axis >= 0; axis--)
		{
			uint32		side = grid->cells[axis] + 1;

			evidence->x[(Size) i * grid->dims + axis] = grid->lower[axis] +
				rest % side * grid->width[axis];
			rest /= side;
		}
	}
}

/* Replace each node of a line by 1/4, 1/2 and 1/4 of those around it. */
static void
smooth_line(double *v, uint32 n, Size step)
{
	double		before = v[0];
	uint32		i;

	for (i = 0; i < n; i++)
	{
		double		here = v[i * step];
		double		after = i + 1 < n ? v[(i + 1) * step] : here;

		v[i * step] = before / 4 + here / 2 + after / 4;
		before = here;
	}
}

static void
smooth_nodes(const RaceGrid *grid, double *v)
{
	Size		step = grid->nodes;
	uint32		axis;
	Size		i;

	CHECK_FOR_INTERRUPTS();
	for (axis = 0; axis < grid->dims; axis++)
	{
		uint32		side = grid->cells[axis] + 1;

		step /= side;
		for (i = 0; i < grid->nodes; i++)
			if (i / step % side == 0)
				smooth_line(v + i, side, step);
	}
}

/* The part of a variance that so many smoothings along an axis leave: squared binomials */
static double
left_of_variance(int smoothings)
{
	double		left = 1;
	int			i;

	/* C(4 s, 2 s) / 2^(4 s) */
	for (i = 1; i <= 2 * smoothings; i++)
		left *= (2.0 * i - 1) / (2.0 * i);
	return left;
}

/*
 * How many records nodes have: of less and less local means the first one that is far above its
 * noise.  Where none is, there are none worth to be weighed.
 */
static void
find_records(RaceEvidence *evidence, const RaceGrid *grid)
{
	static const int smoothings[] = {0, 1, 4, 16, 64};
	double	   *mean = palloc(evidence->n * sizeof(double));
	int			done = 0;
	int			i;
	uint32		k;

	for (k = 0; k < evidence->n; k++)
		mean[k] = evidence->said[RACE_LOWER][k] + evidence->said[RACE_UPPER][k];
	for (i = 0; i < (int) lengthof(smoothings); i++)
	{
		double		variance;

		for (; done < smoothings[i]; done++)
			smooth_nodes(grid, mean);
		variance = 2 * evidence->noise * pow(left_of_variance(done), grid->dims);
		for (k = 0; k < evidence->n; k++)
			if (evidence->records[k] == 0 && mean[k] > BELIEVED * sqrt(variance))
				/* less what noise adds to its square, on average */
				evidence->records[k] = mean[k] - variance / mean[k];
	}
	pfree(mean);
}

static void
gather_nodes(const RaceQuestion *questions, RaceEvidence *evidence)
{
	const RaceParams *params = questions[0].view.params;
	double	   *nodes[RACE_HALVES];
	RaceGrid	grid;
	int			half;

	for (half = 0; half < RACE_HALVES; half++)
	{
		double		noise;

		nodes[half] = coarse_nodes(&questions[half].view, &grid, &noise);
		if (nodes[half] == NULL)
			return;
		evidence->noise += noise / RACE_HALVES;
	}
	allocate(evidence, params, grid.nodes);
	for (half = 0; half < RACE_HALVES; half++)
		evidence->said[half] = nodes[half];
	memcpy(evidence->steps, grid.step, sizeof(grid.step));
	place_nodes(evidence, &grid);
	measure_places(evidence, params);
	find_records(evidence, &grid);
}

/* --------------------------------------------------------------------- rows */

typedef struct Point
{
	const double *x;
	double		records;
} Point;

static int
compare_points(const void *a, const void *b)
{
	double		x = ((const Point *) a)->records;
	double		y = ((const Point *) b)->records;

	return (x < y) - (x > y);
}

/* The points of both models that weigh something, the heaviest first */
static uint32
collect_points(const RaceQuestion *questions, Point *points)
{
	uint32		n = 0;
	int			half;
	uint64		i;

	for (half = 0; half < RACE_HALVES; half++)
	{
		const RaceView *view = &questions[half].view;
		RaceColumn	columns[RACE_MAX_PARTS];

		race_check_model(view);
		race_model_columns(view->model, view->params, columns);
		for (i = 0; i < view->model->points; i++)
		{
			points[n].x = columns[0].numbers + i * view->params->dims;
			points[n].records = race_model_weight(view->model, i);
			n += points[n].records > 0;
		}
	}
	qsort(points, n, sizeof(Point), compare_points);
	return n;
}

/* What the model says, and all that rows say beyond it */
static double
sum_of_half(RaceQuestion *question, const double *x)
{
	const RaceView *view = &question->view;
	RaceReady  *ready = race_ready_at(question->site, view);
	RaceColumn	record[RACE_MAX_PARTS];

	race_ask_about_vector(question, x);
	race_question_record(question, record);
	return race_ready_sum(ready, record) +
		race_answers_correct(view->params, race_answers_mean(view, ready, question->buckets, 0,
															 view->params->rows), 0);
}

static double
noise_of_rows(const RaceView *view)
{
	double		p = race_collision_probability(view->params);

	return Max(view->header->noise.counter_variance / view->params->rows,
			   view->model->residual_variance) / ((1 - p) * (1 - p));
}

static void
gather_points(RaceQuestion *questions, RaceEvidence *evidence)
{
	const RaceParams *params = questions[0].view.params;
	Point	   *points = palloc((questions[0].view.model->points +
								 questions[1].view.model->points + 1) * sizeof(Point));
	uint32		n = collect_points(questions, points);
	int			half;
	uint32		i;

	if (n == 0)
		return;
	allocate(evidence, params, Min(n, MOST_POINTS));
	for (i = 0; i < evidence->n; i++)
	{
		memcpy(evidence->x + (Size) i * params->dims, points[i].x,
			   params->dims * sizeof(double));
		evidence->records[i] = points[i].records;
	}
	measure_places(evidence, params);
	for (half = 0; half < RACE_HALVES; half++)
	{
		evidence->noise += noise_of_rows(&questions[half].view) / RACE_HALVES;
		for (i = 0; i < evidence->n; i++)
		{
			CHECK_FOR_INTERRUPTS();
			evidence->said[half][i] = sum_of_half(&questions[half],
												  evidence->x + (Size) i * params->dims);
		}
	}
	evidence->gram = palloc_extended((Size) evidence->n * evidence->n * sizeof(float),
									 MCXT_ALLOC_HUGE);
	race_gram_of_places(evidence->radial, evidence->places, evidence->n, evidence->gram);
	pfree(points);
}

/* --------------------------------------------------------------------- both */

static bool
has_tested_model(const RaceView *view)
{
	return view->model != NULL && view->model->misfit < RACE_UNTESTED;
}

void
race_evidence_gather(RaceQuestion questions[RACE_HALVES], RaceEvidence *evidence)
{
	const RaceParams *params = questions[0].view.params;

	memset(evidence, 0, sizeof(RaceEvidence));
	if (!race_radial_can(params))
		return;
	evidence->radial = palloc(sizeof(RaceRadial));
	race_radial_init(evidence->radial, params);
	if (evidence->radial->dims > RACE_WAVES_DIMS)
		return;
	if (race_is_grid(params))
		gather_nodes(questions, evidence);
	else if (has_tested_model(&questions[0].view) && has_tested_model(&questions[1].view))
		gather_points(questions, evidence);
}

double
race_evidence_sum(const RaceEvidence *evidence, const RaceQuestion *question, int half,
				  uint32 i, double *variance)
{
	const RaceGridded *gridded;
	double		sum;

	*variance = evidence->noise;
	if (!race_is_grid(question->view.params))
		return evidence->said[half][i];
	gridded = race_ready_grid(race_ready_at(question->site, &question->view));
	sum = race_gridded_sum(gridded, evidence->x + (Size) i * question->view.params->dims);
	*variance = race_gridded_noise(gridded);
	return sum;
}

void
race_evidence_spread(const RaceEvidence *evidence, const double *v, double *out)
{
	RaceGram	gram = {.m = evidence->n, .dense = evidence->gram};

	if (evidence->gram == NULL)
		memcpy(out, v, evidence->n * sizeof(double));
	else
		race_gram_multiply(&gram, v, out);
}
