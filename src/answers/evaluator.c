/*
 * evaluator.c
 *		Cached evaluator of a sketch
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "../core/core.h"
#include "evaluator.h"
#include "fit.h"
#include "point_masses.h"

/*
 * Cached evaluator of a sketch.
 */

struct RaceEvaluator
{
	RaceDerived	derived;			/* must be first */
	RaceGridded *gridded;		/* or NULL */
	RaceModel  *model;			/* or NULL; then all that follows is not there */
	RaceColumn	columns[RACE_MAX_PARTS];	/* of its points */
	double	   *weights;		/* of its points */
	double	   *differences;	/* of their weights by the first and the second half of the rows */
	/* for kernels that are functions of a distance; else NULL */
	RaceRadial *radial;
	double	   *places;			/* [radial->dims][points] */
	double	   *place;			/* of a record */
	RaceRadial *sharp;			/* of a higher power; NULL before it is asked for */
	/* the counters less the model's, [rows][range] */
	float	   *residuals;
	Size		size;			/* of all this, about */
};

static void
place_points(RaceEvaluator *evaluator, MemoryContext context)
{
	const RaceModel *model = evaluator->model;

	if (!race_radial_can(evaluator->derived.params))
		return;
	evaluator->radial = MemoryContextAlloc(context, sizeof(RaceRadial));
	race_radial_init(evaluator->radial, evaluator->derived.params);
	evaluator->place = MemoryContextAlloc(context, evaluator->radial->dims * sizeof(double));
	evaluator->places = MemoryContextAllocHuge(context, model->points * evaluator->radial->dims *
											sizeof(double));
	for (uint64 i = 0; i < model->points; i++)
		race_radial_place(evaluator->radial, evaluator->derived.params,
						  evaluator->columns[0].numbers + i * evaluator->derived.params->dims,
						  evaluator->places + i, model->points);
}

/*
 * Set the residuals: the counters less those of the model.  In a row a point counts as many records as its
 * weight by the other half of the rows.
 */
static void
find_residuals(RaceEvaluator *evaluator, const RaceView *view, MemoryContext context)
{
	const RaceParams *params = evaluator->derived.params;
	bool		together = race_rows_together(params);
	uint32		line = together ? TYPEALIGN(RACE_LANES, params->rows) : RACE_LANES;
	uint32		at_once = together ? 1 : RACE_RECORDS_TOGETHER;
	uint32		half = race_model_first_rows(params);
	Size		range = params->range;
	uint32	   *buckets = palloc_extended((Size) at_once * line * sizeof(uint32), MCXT_ALLOC_HUGE);
	RaceRowsEntry *rows = race_rows_acquire(params);
	RaceColumn	columns[RACE_MAX_PARTS];

	PG_TRY();
	{
		evaluator->residuals = MemoryContextAllocExtended(context, RaceCounters(params) * sizeof(float),
													  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
		for (Size row = 0; row < params->rows; row += line)
		{
			Size		end = Min(row + line, params->rows);

			for (uint64 from = 0; from < evaluator->model->points; from += at_once)
			{
				uint32		n = Min(evaluator->model->points - from, at_once);

				CHECK_FOR_INTERRUPTS();
				for (int k = 0; k < race_params_parts(params); k++)
					columns[k] = race_column_from(&evaluator->columns[k], from);
				if (together)
					race_rows_hash_one(race_rows_of(rows), params->rows, columns, buckets);
				else
					race_rows_hash(race_rows_of(rows), row / RACE_LANES, columns, n, buckets);
				for (uint32 i = 0; i < n; i++)
					for (Size r = row; r < end; r++)
					{
						RaceFold	other = r < half ? RACE_FOLD_SECOND : RACE_FOLD_FIRST;

						evaluator->residuals[r * range + buckets[i * line + r - row]] += (float)
							race_model_weights(evaluator->model, other)[from + i];
					}
			}
			for (Size c = row * range; c < end * range; c++)
				evaluator->residuals[c] = (float)
					((double) race_counters_get(view->counters, view->width, c) - evaluator->residuals[c]);
		}
	}
	PG_FINALLY();
	{
		race_rows_release(rows);
	}
	PG_END_TRY();
	pfree(buckets);
}

/* A model was validated when it came in, but its page may have been damaged since. */
void
race_check_model(const RaceView *view)
{
	if (race_model_problem(view->model, view->model_size, view->params) != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("the model of a race_sketch is damaged")));
}

static void
place_model(RaceEvaluator *evaluator, const RaceView *view, MemoryContext context)
{
	race_check_model(view);
	evaluator->model = MemoryContextAllocHuge(context, view->model_size);
	memcpy(evaluator->model, view->model, view->model_size);
	race_model_columns(evaluator->model, evaluator->derived.params, evaluator->columns);
	evaluator->weights = MemoryContextAlloc(context, evaluator->model->points * sizeof(double));
	evaluator->differences = MemoryContextAlloc(context, evaluator->model->points * sizeof(double));
	for (uint64 i = 0; i < evaluator->model->points; i++)
	{
		evaluator->weights[i] = race_model_weight(evaluator->model, i);
		evaluator->differences[i] = race_model_weights(evaluator->model, RACE_FOLD_FIRST)[i] -
			race_model_weights(evaluator->model, RACE_FOLD_SECOND)[i];
	}
	place_points(evaluator, context);
	evaluator->size += view->model_size + (evaluator->radial == NULL ? 0 :
									   2 * sizeof(RaceRadial) + evaluator->model->points *
									   evaluator->radial->dims * sizeof(double));
	if (evaluator->gridded != NULL)
		return;
	find_residuals(evaluator, view, context);
	evaluator->size += RaceCounters(view->params) * sizeof(float);
}

RaceEvaluator *
race_evaluator_create(const RaceView *view, MemoryContext context)
{
	RaceEvaluator *evaluator = MemoryContextAllocZero(context, sizeof(RaceEvaluator));

	race_derived_init(&evaluator->derived, view, context);
	if (!race_summary_kind(view->params)->hashed)
		evaluator->gridded = race_gridded_create(view, context, &evaluator->size);
	if (view->model != NULL)
		place_model(evaluator, view, context);
	return evaluator;
}

const RaceGridded *
race_evaluator_grid(const RaceEvaluator *evaluator)
{
	return evaluator->gridded;
}

/* ------------------------------------------------------------------- cache */

static void *
create_evaluator(const RaceView *view, void *question, MemoryContext context, Size *size)
{
	RaceEvaluator *evaluator = race_evaluator_create(view, context);

	(void) question;
	*size = evaluator->size;
	return evaluator;
}

static const RaceDerivedKind evaluator_kind = {"evaluator", create_evaluator, NULL};

RaceEvaluator *
race_evaluator_at(RaceCallSite *site, const RaceView *view)
{
	return race_derived_at(site, &evaluator_kind, view, NULL);
}

/* --------------------------------------------------------------- questions */

/* Return the elements of a set in order, as the kernel compares them; in memory of the caller's. */
static RaceColumn
normalized(const RaceColumn *record, size_t starts[2])
{
	RaceColumn	column = *record;
	uint64	   *elements;

	starts[0] = 0;
	starts[1] = record->starts[1] - record->starts[0];
	elements = palloc_extended((starts[1] + 1) * sizeof(uint64), MCXT_ALLOC_HUGE);
	memcpy(elements, record->elements + record->starts[0], starts[1] * sizeof(uint64));
	race_normalize_set(elements, &starts[1]);
	column.elements = elements;
	column.starts = starts;
	return column;
}

/* Any kernel: point by point */
static double
sum_of_kernels(RaceEvaluator *evaluator, const RaceColumn *record, const double *weights)
{
	const RaceParams *params = evaluator->derived.params;
	RaceColumn	columns[RACE_MAX_PARTS];
	RaceColumn	points[RACE_MAX_PARTS];
	size_t		starts[RACE_MAX_PARTS][2];
	double		sum = 0;
	int			parts = 0;

	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params), parts++)
		columns[parts] = race_record_kind(part) == RACE_RECORD_SET &&
			!race_column_is_any(&record[parts]) ?
			normalized(&record[parts], starts[parts]) : record[parts];
	for (uint64 i = 0; i < evaluator->model->points; i++)
	{
		CHECK_FOR_INTERRUPTS();
		for (int k = 0; k < parts; k++)
			points[k] = race_column_from(&evaluator->columns[k], i);
		sum += weights[i] * race_kernel_value(params, points, columns);
	}
	for (int k = 0; k < parts; k++)
		if (columns[k].elements != record[k].elements)
			pfree((void *) columns[k].elements);
	return sum;
}

static double
sum_with(RaceEvaluator *evaluator, const RaceColumn *record, const double *weights)
{
	if (evaluator->radial == NULL)
		return sum_of_kernels(evaluator, record, weights);
	race_radial_place(evaluator->radial, evaluator->derived.params, record[0].numbers, evaluator->place, 1);
	return race_radial_sum(evaluator->radial, evaluator->place, evaluator->places,
						   weights, evaluator->model->points);
}

double
race_evaluator_sum(RaceEvaluator *evaluator, const RaceColumn *record)
{
	return sum_with(evaluator, record, evaluator->weights);
}

/*
 * Kernels of small powers have long tails: a density of them is flat.  Points are where the
 * records are, so they can be asked with a higher power than the rows.
 */
#define SHARP_POWER		8

bool
race_evaluator_sharp_sum(RaceEvaluator *evaluator, const RaceColumn *record, double *sum)
{
	if (evaluator->radial == NULL || evaluator->gridded != NULL)
		return false;
	if (evaluator->sharp == NULL)
	{
		RaceParams *params = race_params_copy(evaluator->derived.params, CurrentMemoryContext);
		RaceRadial *sharp = MemoryContextAlloc(GetMemoryChunkContext(evaluator),
											   sizeof(RaceRadial));

		params->power = Max(params->power, SHARP_POWER);
		race_radial_init(sharp, params);
		evaluator->sharp = sharp;
		pfree(params);
	}
	race_radial_place(evaluator->sharp, evaluator->derived.params, record[0].numbers, evaluator->place, 1);
	*sum = race_radial_sum(evaluator->sharp, evaluator->place, evaluator->places, evaluator->weights,
						   evaluator->model->points);
	return true;
}

double
race_evaluator_disagreement(RaceEvaluator *evaluator, const RaceColumn *record)
{
	return sum_with(evaluator, record, evaluator->differences);
}

/*
 * _race_model: a sketch that has a model; one without is fitted first.
 *
 * A fit takes up to some seconds, and a page of charts asks many times.  So a session keeps
 * the models that it made of sketches without one (racepriv.cache_size).
 */

PG_FUNCTION_INFO_V1(race_model);

typedef struct FittedModel
{
	RaceDerived	derived;			/* must be first */
	RaceSketchDatum *fitted;
} FittedModel;

static void *
create_model(const RaceView *view, void *request, MemoryContext context, Size *size)
{
	MemoryContext old = MemoryContextSwitchTo(context);
	FittedModel *cached = palloc0(sizeof(FittedModel));

	race_derived_init(&cached->derived, view, context);
	cached->fitted = race_fit_box(view, (const RaceFitRequest *) request);
	MemoryContextSwitchTo(old);
	*size = VARSIZE(cached->fitted);
	return cached;
}

static const RaceDerivedKind model = {"fitted model", create_model, NULL};

/* _race_model(sketch) */
Datum
race_model(PG_FUNCTION_ARGS)
{
	Datum		sketch = PointerGetDatum(PG_GETARG_VARLENA_P(0));
	RaceView	view;
	RaceFitRequest request = {0};
	FittedModel *cached;
	struct varlena *result;

	race_sketch_view(sketch, &view);
	race_check_askable(&view.header->noise);
	if (view.model != NULL || !race_fit_bounds(view.params, NULL, NULL, &request))
		PG_RETURN_DATUM(sketch);
	cached = race_derived_acquire(&model, &view, &request);
	result = palloc(VARSIZE(cached->fitted));
	memcpy(result, cached->fitted, VARSIZE(cached->fitted));
	race_derived_release(cached);
	PG_RETURN_POINTER(result);
}

/*
 * The answers of a grid.
 */

/* ------------------------------------------------------------ projection */

/*
 * A record adds to each node what the node's hat function is where the record lies: 1 at the
 * node, falling linearly to 0 at its neighbours.  So the nodes have the inner products of the
 * table with the hats, and what they say of it is its orthogonal projection on the functions
 * that are linear between nodes.  A kernel sum is asked of this projection P:
 *
 *		sum over records of k(x, q)  ~  integral of (P records)(x) k(x, q) dx
 *
 * What it errs by is the product of what P leaves of the table and of what it leaves of the
 * kernel.  So where both are smooth it falls with the fourth power of the cells, while the
 * sum of the kernel over nodes falls with the second.
 */

#define OUTSIDE_NODES	3	/* hats beyond each bound */

/* ------------------------------------------------------------------- nodes */

/*
 * Solve for the coefficients of a line of n hats, whose Gram matrix has 2/3 on the diagonal and 1/6
 * beside it: a filter in both directions, for a line that goes on with 0 (Unser 1999).
 */
static void
project_line(double *line, Size stride, Size n)
{
	const double pole = sqrt(3) - 2;

	for (Size k = 1; k < n; k++)
		line[k * stride] += pole * line[(k - 1) * stride];
	line[(n - 1) * stride] *= -pole / (1 - pole * pole);
	for (Size k = n - 1; k-- > 0;)
		line[k * stride] = pole * (line[(k + 1) * stride] - line[k * stride]);
	for (Size k = 0; k < n; k++)
		line[k * stride] *= 6;
	/* what goes on beyond both ends falls by the pole; all of it lies there */
	line[0] /= 1 - pole;
	line[(n - 1) * stride] /= 1 - pole;
}

static void
widen_grid(const RaceGrid *grid, RaceGrid *wide)
{
	*wide = *grid;
	wide->nodes = 1;
	for (uint32 axis = 0; axis < grid->dims; axis++)
	{
		wide->cells[axis] += 2 * OUTSIDE_NODES;
		wide->lower[axis] -= OUTSIDE_NODES * wide->width[axis];
		wide->nodes *= wide->cells[axis] + 1;
	}
}

/* Project nodes, in their places of a wider grid. */
static void
project_nodes(const RaceGrid *grid, const double *nodes, const RaceGrid *wide, double *out)
{
	uint32		last = grid->dims - 1;
	uint32		line = grid->cells[last] + 1;
	Size		stride;

	memset(out, 0, wide->nodes * sizeof(double));
	for (Size from = 0; from < grid->nodes; from += line)
	{
		Size		rest = from / line;
		Size		to = OUTSIDE_NODES;

		stride = wide->cells[last] + 1;
		for (uint32 axis = last; axis-- > 0;)
		{
			to += (rest % (grid->cells[axis] + 1) + OUTSIDE_NODES) * stride;
			rest /= grid->cells[axis] + 1;
			stride *= wide->cells[axis] + 1;
		}
		memcpy(out + to, nodes + from, line * sizeof(double));
	}
	stride = wide->nodes;
	for (uint32 axis = 0; axis < grid->dims; axis++)
	{
		Size		block = stride;

		stride /= wide->cells[axis] + 1;
		for (Size from = 0; from < wide->nodes; from += block)
		{
			CHECK_FOR_INTERRUPTS();
			for (Size i = 0; i < stride; i++)
				project_line(out + from + i, stride, wide->cells[axis] + 1);
		}
	}
}

/* ------------------------------------------------------------------ kernel */

/* Pieces of equal mass that a hat is cut into along each axis, by the number of axes */
static const int pieces_of[RACE_GRID_DIMS + 1] = {0, 64, 16, 8};

#define MAX_PIECES		64

/* Where the pieces are, in cells, with the variance of a hat, which is 1/6 */
static void
cut_hat(int n, double *pieces)
{
	double		variance = 0;

	for (int i = 0; i < n; i++)
	{
		double		p = (i + 0.5) / n;

		pieces[i] = p < 0.5 ? sqrt(2 * p) - 1 : 1 - sqrt(2 * (1 - p));
		variance += pieces[i] * pieces[i] / n;
	}
	for (int i = 0; i < n; i++)
		pieces[i] *= sqrt(1 / (6 * variance));
}

/* The mean of a kernel over a hat that lies at `place`, [dims], in bandwidths */
static double
mean_over_hat(const RaceGrid *grid, const RaceRadial *kernel, const double *place)
{
	double		pieces[MAX_PIECES];
	int			n = pieces_of[grid->dims];
	int			all = 1;
	double		sum = 0;

	cut_hat(n, pieces);
	for (uint32 axis = 0; axis < grid->dims; axis++)
		all *= n;
	for (int i = 0; i < all; i++)
	{
		double		distance = 0;
		int			rest = i;

		for (uint32 axis = 0; axis < grid->dims; axis++, rest /= n)
		{
			double		x = place[axis] + grid->step[axis] * pieces[rest % n];

			distance += kernel->euclidean ? x * x : fabs(x);
		}
		sum += race_radial_value(kernel, kernel->euclidean ? sqrt(distance) : distance);
	}
	return sum / all;
}

/*
 * Directions that stand for all, evenly by multiples of an irrational number for each axis (Roberts 2018).
 * Signs do not matter.  Of l1 they are of length 1 by that distance.
 */
#define DIRECTIONS		8

static const double irrational[RACE_GRID_DIMS] = {0.8191725134, 0.6710436067, 0.5497004779};

static double
mean_over_directions(const RaceGrid *grid, const RaceRadial *kernel, double distance)
{
	int			directions = grid->dims == 1 ? 1 : DIRECTIONS;
	double		sum = 0;

	for (int i = 0; i < directions; i++)
	{
		double		place[RACE_GRID_DIMS];
		double		length = 0;

		for (uint32 axis = 0; axis < grid->dims; axis++)
		{
			double		u = 0.5 + (i + 1) * irrational[axis];

			u -= floor(u);
			place[axis] = kernel->euclidean ? race_inverse_normal(u) : -log(u);
			length += kernel->euclidean ? place[axis] * place[axis] : place[axis];
		}
		for (uint32 axis = 0; axis < grid->dims; axis++)
			place[axis] *= distance / (kernel->euclidean ? sqrt(length) : length);
		sum += mean_over_hat(grid, kernel, place) / directions;
	}
	return sum;
}

/*
 * Far from a node a hat does what its variance does: moves along each axis, one of them
 * that of the distance
 */
static double
mean_far_away(const RaceGrid *grid, const RaceRadial *kernel, double distance)
{
	double		move = grid->mean_step * sqrt(grid->dims / 6.0);
	double		along = race_radial_value(kernel, distance - move) +
		race_radial_value(kernel, distance + move);
	double		aside = kernel->euclidean ?
		2 * race_radial_value(kernel, sqrt(distance * distance + move * move)) : along;

	return (along + (grid->dims - 1) * aside) / (2 * grid->dims);
}

#define NEAR_STEPS		6
#define NEAR_DISTANCES	256

static void
project_kernel(const RaceGrid *grid, const RaceRadial *kernel, RaceRadial *projected)
{
	double		near[NEAR_DISTANCES + 1];
	double		reach = NEAR_STEPS * grid->mean_step;

	for (int i = 0; i <= NEAR_DISTANCES; i++)
	{
		CHECK_FOR_INTERRUPTS();
		near[i] = mean_over_directions(grid, kernel, reach * i / NEAR_DISTANCES);
	}
	*projected = *kernel;
	for (int i = 0; i < race_radial_nodes(); i++)
	{
		double		distance = race_radial_distance(i);
		double		at = distance / reach * NEAR_DISTANCES;
		double	   *value = race_radial_node(projected, i);

		if (at < NEAR_DISTANCES)
			*value = near[(int) at] + (at - (int) at) * (near[(int) at + 1] - near[(int) at]);
		else if (isfinite(distance))
			*value = mean_far_away(grid, kernel, distance);
	}
}

/* ---------------------------------------------------------------- levels */

/*
 * So that it need not visit all nodes, the kernel is split by distance, as the multilevel summation
 * method does (Hardy 2006): the fine nodes sum what is near, coarser ones the smooth rest.  The sketch
 * has one or two levels, and others follow from these exactly.  Each level answers for what its nodes say
 * of the table but for point masses (point_masses.h).
 */

typedef struct Level
{
	RaceGrid	grid;			/* wider than the bounds by OUTSIDE_NODES at each, once it is projected */
	double		smooth;			/* the step whose peak finer levels sum; 0 for the first */
	double	   *records;		/* at the nodes */
	double		reach;			/* where its kernel ends, in bandwidths; INFINITY */
	RaceRadial *kernel;			/* of this level */
	double	   *by_square;		/* the same by the square of the distance, or NULL: */
	double		squares;		/* so many entries for each square bandwidth */
} Level;

#define MOST_LEVELS	16

typedef struct Levels
{
	int			n;
	Level  *level[MOST_LEVELS];
	/* point masses that were taken out of the nodes: */
	size_t		masses;
	double	   *mass_places;	/* in bandwidths from the first node on */
	double	   *mass_records;
	RaceRadial *kernel;			/* of the point masses; NULL if there are none */
} Levels;

/* A level with more nodes than this is split by distance, if it can be; by dims. */
static const uint64 nodes_to_visit[RACE_GRID_DIMS + 1] = {0, 256, 4000, 4000};

/* ----------------------------------------------------------------- kernels */

/*
 * A kernel that was projected is smooth in the square of the distance, which needs no root and no
 * choice between tables: a node takes half of the time.
 */
#define SQUARES_OF_STEP		32
#define MOST_SQUARES		(32 * 1024)

static void
tabulate_by_square(Level *level, MemoryContext context, Size *size)
{
	const RaceGrid *grid = &level->grid;
	double		last = 0;		/* the square of the largest distance in the level, */
	int			n;

	for (int i = 0; i < (int) grid->dims; i++)
		last += pow(grid->step[i] * grid->cells[i], 2);
	level->squares = SQUARES_OF_STEP / pow(grid->mean_step, 2);
	last = Min(last, level->reach * level->reach) * level->squares;	/* in entries */
	if (!level->kernel->euclidean || !(last < MOST_SQUARES))
		return;
	n = (int) last + 3;			/* and one more, for what rounding adds */
	level->by_square = MemoryContextAlloc(context, n * sizeof(double));
	for (int i = 0; i < n; i++)
		level->by_square[i] = race_radial_value(level->kernel, sqrt(i / level->squares));
	*size += n * sizeof(double);
}

/*
 * The kernel of a level: without its peak if the level before sums that, and without what
 * the next, coarser level sums (step `coarser`, or 0)
 */
static void
make_kernel(Level *level, const RaceParams *params, double coarser, MemoryContext context,
			Size *size)
{
	RaceRadial *kernel = palloc(sizeof(RaceRadial));

	level->kernel = MemoryContextAlloc(context, sizeof(RaceRadial));
	race_radial_init_shape(kernel, params, level->smooth, coarser);
	project_kernel(&level->grid, kernel, level->kernel);
	/* a hat reaches so far, but for its corners, which weigh little */
	level->reach = coarser == 0 ? INFINITY : RACE_GRID_REACH * coarser + level->grid.mean_step;
	pfree(kernel);
	*size += sizeof(RaceRadial);
	tabulate_by_square(level, context, size);
}

/* ------------------------------------------------------------------ levels */

/*
 * Levels that are derived from finer ones only save time.  They leave so many times more of the kernel's
 * slope to these, by dims.
 */
static const double without_more[RACE_GRID_DIMS + 1] = {0, 8, 2, 1.5};

/*
 * Levels between two that the sketch has, by dims: a level leaves no more of the kernel than the next, or
 * what is left to a coarser one beyond its reach would be lost.
 */
static const int derived_between[RACE_GRID_DIMS + 1] = {0, 0, 1, 1};

static Level *
add_level(Levels *levels, const RaceGrid *grid, bool derived, MemoryContext context,
		  Size *size)
{
	Level  *level = MemoryContextAllocZero(context, sizeof(Level));

	level->grid = *grid;
	level->smooth = levels->n == 0 ? 0 : grid->mean_step * (derived ? without_more[grid->dims] : 1);
	level->records = MemoryContextAllocHuge(context, grid->nodes * sizeof(double));
	*size += sizeof(Level) + grid->nodes * sizeof(double);
	levels->level[levels->n++] = level;
	return level;
}

/*
 * A level that the sketch has, from counter number `from` on, in records.  A record adds 1 to its nodes
 * together, so what they have beyond all records is noise.  Least squares take the same off each.
 */
static void
load_level(Levels *levels, const RaceView *view, double records, const RaceGrid *grid,
		   uint64 from, MemoryContext context, Size *size)
{
	double		unit = (double) race_record_unit(view->params);
	Level  *level = add_level(levels, grid, false, context, size);
	double		beyond = -records;

	for (uint64 k = 0; k < grid->nodes; k++)
	{
		level->records[k] = race_counters_get(view->counters, view->width, from + k) / unit;
		beyond += level->records[k];
	}
	if (view->header->noise.counter_variance == 0)
		return;
	for (uint64 k = 0; k < grid->nodes; k++)
		level->records[k] -= beyond / grid->nodes;
}

/* Add coarser levels, `most` of them or fewer, so that a question visits few nodes of each. */
static void
derive_levels(Levels *levels, int most, MemoryContext context, Size *size)
{
	Level  *last = levels->level[levels->n - 1];

	while (most-- > 0 && last->grid.nodes > nodes_to_visit[last->grid.dims] &&
		   last->grid.halvings > 0)
	{
		RaceGrid	grid = last->grid;
		double	   *space = palloc_extended(grid.nodes * sizeof(double), MCXT_ALLOC_HUGE);
		Level  *next;

		race_grid_coarsen_real(&last->grid, last->records, space);
		race_grid_halve(&grid);
		next = add_level(levels, &grid, true, context, size);
		memcpy(next->records, space, grid.nodes * sizeof(double));
		pfree(space);
		last = next;
	}
}

/*
 * In coarser cells than this, a cluster is often narrower than a cell, and a point mass is not known from it.
 * Means of values are ratios of two halves, which must not have different point masses.
 */
#define COARSEST_FOR_MASSES	0.25	/* of a bandwidth */

/* Take the point masses out of the only level of a sketch in one dimension. */
static void
take_point_masses(Levels *levels, const RaceView *view, MemoryContext context, Size *size)
{
	const RaceParams *params = view->params;
	Level	   *level = levels->level[0];
	Size		n = level->grid.nodes;
	double		unit = (double) race_record_unit(params);
	RacePointMass *masses;
	double	   *space;

	if (params->dims != 1 || race_grid_levels(params) != 1 || view->header->noise.half != RACE_WHOLE ||
		level->grid.mean_step * params->power > COARSEST_FOR_MASSES)
		return;
	masses = palloc_extended((n / 3 + 1) * sizeof(RacePointMass), MCXT_ALLOC_HUGE);
	space = palloc_extended(n * sizeof(double), MCXT_ALLOC_HUGE);
	levels->masses = race_point_masses_take(level->records, n,
											view->header->noise.counter_variance / (unit * unit),
											masses, space);
	if (levels->masses > 0)
	{
		levels->kernel = MemoryContextAlloc(context, sizeof(RaceRadial));
		race_radial_init(levels->kernel, params);
		levels->mass_places = MemoryContextAllocHuge(context, levels->masses * sizeof(double));
		levels->mass_records = MemoryContextAllocHuge(context, levels->masses * sizeof(double));
		*size += sizeof(RaceRadial) + 2 * levels->masses * sizeof(double);
	}
	for (Size i = 0; i < levels->masses; i++)
	{
		levels->mass_places[i] = masses[i].place * level->grid.step[0];
		levels->mass_records[i] = masses[i].records;
	}
	pfree(masses);
	pfree(space);
}

static void
project_level(Level *level, MemoryContext context, Size *size)
{
	double	   *records = level->records;
	RaceGrid	wide;

	widen_grid(&level->grid, &wide);
	level->records = MemoryContextAllocHuge(context, wide.nodes * sizeof(double));
	project_nodes(&level->grid, records, &wide, level->records);
	*size += (wide.nodes - level->grid.nodes) * sizeof(double);
	level->grid = wide;
	pfree(records);
}

static void
make_levels(const RaceView *view, double records, Levels *levels, MemoryContext context,
				 Size *size)
{
	bool		euclidean = race_kernel_type(view->params->kernel)->euclidean;
	int			stored = race_grid_levels(view->params);
	uint64		from = 0;
	RaceGrid	grid;

	memset(levels, 0, sizeof(Levels));
	race_grid_of(view->params, &grid);
	for (int i = 0; i < stored; i++)
	{
		bool		last = i + 1 == stored;

		load_level(levels, view, records, &grid, from, context, size);
		if (i == 0)
			take_point_masses(levels, view, context, size);
		if (euclidean)
			derive_levels(levels, last ? MOST_LEVELS - levels->n : derived_between[grid.dims],
						  context, size);
		from += grid.nodes;
		for (int halvings = 0; !last && halvings < RACE_GRID_LEVEL_HALVINGS; halvings++)
			race_grid_halve(&grid);
	}
	for (int i = 0; i < levels->n; i++)
	{
		project_level(levels->level[i], context, size);
		make_kernel(levels->level[i], view->params,
					i + 1 < levels->n ? levels->level[i + 1]->smooth : 0, context, size);
	}
}

/* ----------------------------------------------------------------- grids */

struct RaceGridded
{
	const RaceParams *params;
	Levels	levels;
	double		noise;
	double		bias;			/* relative, squared */
	RaceRecordCount count;
};

/*
 * The noisy count, and the sums of the levels that the sketch has, weighted by how little noise they
 * have
 */
static RaceRecordCount
count_records(const RaceView *view)
{
	const RaceNoise *noise = &view->header->noise;
	RaceRecordCount count = {view->header->count, noise->count_variance};
	double		unit = (double) race_record_unit(view->params);
	double		of_node = noise->counter_variance / (unit * unit);
	int			levels = race_grid_levels(view->params);
	double		precision;
	uint64		from = 0;
	RaceGrid	grid;

	if (count.variance == 0 || of_node == 0)
		return count;
	precision = 1 / count.variance;
	count.n *= precision;
	race_grid_of(view->params, &grid);
	for (;;)
	{
		double		of_level = 1 / (grid.nodes * of_node);
		double		sum = 0;

		for (uint64 k = 0; k < grid.nodes; k++)
			sum += race_counters_get(view->counters, view->width, from + k) / unit;
		count.n += of_level * sum;
		precision += of_level;
		if (--levels == 0)
			break;
		from += grid.nodes;
		for (int i = 0; i < RACE_GRID_LEVEL_HALVINGS; i++)
			race_grid_halve(&grid);
	}
	count.n /= precision;
	count.variance = 1 / precision;
	return count;
}

RaceGridded *
race_gridded_create(const RaceView *view, MemoryContext context, Size *size)
{
	RaceGridded *gridded = MemoryContextAllocZero(context, sizeof(RaceGridded));
	RaceGridChoice choice = {0, race_grid_levels(view->params)};

	*size = sizeof(RaceGridded);
	gridded->params = race_params_copy(view->params, context);
	gridded->count = count_records(view);
	make_levels(view, gridded->count.n, &gridded->levels, context, size);
	gridded->noise = race_grid_noise_variance(view->params, choice, RACE_GRID_MIDDLE,
											  view->header->noise.counter_variance);
	gridded->bias = pow(race_grid_most_bias(view->params), 2);
	return gridded;
}

/* --------------------------------------------------------------- questions */

/* race_radial_sum_line, of a kernel by the square of the distance */
static double
sum_line(const Level *level, double x, double step, double across, const double *weights,
		 uint32 n)
{
	double		sum = 0;

	for (uint32 i = 0; i < n; i++)
	{
		double		d = x + (double) (int) i * step;
		double		at = (across + d * d) * level->squares;
		const double *entry = level->by_square + (int) at;

		sum += weights[i] * (entry[0] + (at - (int) at) * (entry[1] - entry[0]));
	}
	return sum;
}

/* The sum over all nodes in reach, axis by axis.  `at` is x in cells. */
static double
sum_axes(const Level *level, const double *at, uint32 axis, uint64 node, double across)
{
	const RaceGrid *grid = &level->grid;
	double		step = grid->step[axis];
	double		reach = level->kernel->euclidean && isfinite(level->reach) ?
		sqrt(Max(level->reach * level->reach - across, 0)) : level->reach;
	double		first = Max(ceil(at[axis] - reach / step), 0);
	double		last = Min(floor(at[axis] + reach / step), grid->cells[axis]);
	uint32		from = (uint32) Min(first, grid->cells[axis]);
	uint32		n = last < first ? 0 : (uint32) (last - first) + 1;
	double		sum = 0;

	node *= grid->cells[axis] + 1;
	if (axis == grid->dims - 1)
	{
		double		x = (from - at[axis]) * step;
		const double *weights = level->records + node + from;

		return level->by_square != NULL ? sum_line(level, x, step, across, weights, n) :
			race_radial_sum_line(level->kernel, x, step, across, weights, n);
	}
	for (uint32 i = from; i < from + n; i++)
	{
		double		x = ((double) i - at[axis]) * step;

		sum += sum_axes(level, at, axis + 1, node + i,
						across + (level->kernel->euclidean ? x * x : fabs(x)));
	}
	return sum;
}

double
race_gridded_sum(const RaceGridded *gridded, const double *x)
{
	double		sum = 0;

	for (int i = 0; i < gridded->levels.n; i++)
	{
		const Level *level = gridded->levels.level[i];
		double		at[RACE_GRID_DIMS];

		CHECK_FOR_INTERRUPTS();
		for (uint32 axis = 0; axis < level->grid.dims; axis++)
		{
			at[axis] = (x[axis] - level->grid.lower[axis]) / level->grid.width[axis];
			at[axis] = Min(Max(at[axis], OUTSIDE_NODES),
						   level->grid.cells[axis] - (double) OUTSIDE_NODES);
		}
		sum += sum_axes(level, at, 0, 0, 0);
		if (i == 0 && gridded->levels.masses > 0)
		{
			double		place = (at[0] - OUTSIDE_NODES) * level->grid.step[0];

			sum += race_radial_sum(gridded->levels.kernel, &place, gridded->levels.mass_places,
								   gridded->levels.mass_records, gridded->levels.masses);
		}
	}
	return sum;
}

double
race_gridded_noise(const RaceGridded *gridded)
{
	return gridded->noise;
}

double
race_gridded_bias(const RaceGridded *gridded)
{
	return gridded->bias;
}

/*
 * Means over the rows of a sketch, and their variance.
 */

double
race_estimator_mean(const RaceView *view, const RaceEvaluator *fitted,
				  const uint32 *buckets, uint32 from, uint32 to)
{
	Size		range = view->params->range;
	double		sum = 0;

	if (fitted == NULL)
		return race_counters_sum(view->counters, view->width, buckets, from, to, range) / (to - from);
	for (uint32 row = from; row < to; row++)
		sum += fitted->residuals[row * range + buckets[row]];
	return sum / (to - from);
}

/*
 * Blocks are consecutive rows.  Independent rows are a block each.  Rows of a Sobol'
 * sequence balance each other, so the variance between them would be far too large; the
 * variance between 16 blocks is only a little too large.  With few rows, blocks are
 * pairs at least.
 */
uint32
race_estimator_blocks(const RaceParams *params, uint32 rows)
{
	if (race_params_sequence(params) == RACE_SEQUENCE_INDEPENDENT)
		return rows;
	return Min(rows, rows < 32 ? 8 : 16);
}

double
race_estimator_variance(const RaceView *view, const RaceEvaluator *fitted,
					  const uint32 *buckets, uint32 from, uint32 to, double mean,
					  double least)
{
	uint64		rows = to - from;
	uint32		blocks = race_estimator_blocks(view->params, rows);
	double		sum = 0;

	if (blocks < 2)
		return INFINITY;
	for (uint32 i = 0; i < blocks; i++)
	{
		double		d = race_estimator_mean(view, fitted, buckets,
										  from + i * rows / blocks,
										  from + (i + 1) * rows / blocks) - mean;

		sum += d * d;
	}
	return Max(sum / (blocks - 1) / blocks, least);
}

double
race_correct_collisions(const RaceParams *params, double mean, double n)
{
	double		p = race_collision_probability(params);

	return (mean - p * n) / (1 - p);
}

bool
race_rows_hide_errors(const RaceParams *params)
{
	return race_model_moves(params) && !race_model_halves_move(params);
}

RaceRecordCount
race_record_count(const RaceView *view, const RaceGridded *gridded)
{
	RaceRecordCount count = {view->header->count, view->header->noise.count_variance};

	return gridded != NULL ? gridded->count : count;
}

double
race_count_divisor(RaceRecordCount count)
{
	double		noise = Min(2 * sqrt(count.variance), (double) RACE_MAX_COUNT);

	return Max(Max(count.n, 1), noise);
}

void
race_check_fitted(const RaceView *view)
{
	if (view->model == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the sketch has no fitted model"),
				 errhint("race_fit makes one. Merging or changing a sketch drops it.")));
}
