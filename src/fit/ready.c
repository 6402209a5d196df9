/*
 * ready.c
 *		A sketch made ready to be asked.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "../lsh/grid.h"
#include "../lsh/radial.h"
#include "../record/sort.h"
#include "../sketch/known.h"
#include "ready.h"

struct RaceReady
{
	RaceKnown	known;			/* must be first */
	RaceGridded *gridded;		/* or NULL */
	/* NULL without a model; then all that follows is not there */
	RaceModel  *model;
	RaceColumn	columns[RACE_MAX_PARTS];	/* of its points, */
	double	   *weights;		/* what they weigh, */
	double	   *differences;	/* and how much more by the first half of the rows */
	/* for kernels that are functions of a distance; else NULL */
	RaceRadial *radial;
	double	   *places;			/* [radial->dims][points] */
	double	   *place;			/* of a record */
	RaceRadial *sharp;			/* of a higher power; NULL before it is asked for */
	/* of each part that is a set: space for so many elements */
	uint64	   *elements[RACE_MAX_PARTS];
	Size		capacity[RACE_MAX_PARTS];
	/* the counters less the model's, [rows][range] */
	float	   *residuals;
	Size		size;			/* of all this, about */
};

static void
place_points(RaceReady *ready, MemoryContext context)
{
	const RaceModel *model = ready->model;
	uint64		i;

	if (!race_radial_can(ready->known.params))
		return;
	ready->radial = MemoryContextAlloc(context, sizeof(RaceRadial));
	race_radial_init(ready->radial, ready->known.params);
	ready->place = MemoryContextAlloc(context, ready->radial->dims * sizeof(double));
	ready->places = MemoryContextAllocHuge(context, model->points * ready->radial->dims *
											sizeof(double));
	for (i = 0; i < model->points; i++)
		race_radial_place(ready->radial, ready->known.params,
						  ready->columns[0].numbers + i * ready->known.params->dims,
						  ready->places + i, model->points);
}

/* What a point weighs for a row: what was found from the other half of the rows */
static float
weight_in_row(const RaceReady *ready, uint64 point, Size row)
{
	RaceHalf	half = row < race_model_first_rows(ready->known.params) ?
		RACE_HALF_SECOND : RACE_HALF_FIRST;

	return (float) race_model_weights(ready->model, half)[point];
}

/* Count a point in n rows, from `row` on, as many records as it weighs. */
static void
count_point(RaceReady *ready, uint64 point, Size row, uint32 n, const uint32 *buckets)
{
	Size		range = ready->known.params->range;
	uint32		r;

	for (r = 0; r < n; r++)
		ready->residuals[(row + r) * range + buckets[r]] +=
			weight_in_row(ready, point, row + r);
}

static void
columns_from(const RaceReady *ready, uint64 from, RaceColumn *columns)
{
	int			parts = race_params_parts(ready->known.params);
	int			i;

	for (i = 0; i < parts; i++)
		columns[i] = race_column_from(&ready->columns[i], from);
}

/* Count the points in the rows of a block. */
static void
count_block(RaceReady *ready, const RaceRows *rows, Size block)
{
	const RaceParams *params = ready->known.params;
	uint32		in_block = Min(params->rows - block * RACE_LANES, RACE_LANES);
	uint32		buckets[RACE_RECORDS_TOGETHER * RACE_LANES];
	uint64		from;

	for (from = 0; from < ready->model->points; from += RACE_RECORDS_TOGETHER)
	{
		uint32		n = Min(ready->model->points - from, RACE_RECORDS_TOGETHER);
		RaceColumn	columns[RACE_MAX_PARTS];
		uint32		i;

		columns_from(ready, from, columns);
		race_rows_hash(rows, block, columns, n, buckets);
		for (i = 0; i < n; i++)
			count_point(ready, from + i, block * RACE_LANES, in_block,
						buckets + i * RACE_LANES);
	}
}

/* The same in all rows, where they are best hashed together */
static void
count_in_all_rows(RaceReady *ready, const RaceRows *rows)
{
	uint32		n = ready->known.params->rows;
	uint32	   *buckets = palloc_extended(TYPEALIGN(RACE_LANES, n) * sizeof(uint32),
										  MCXT_ALLOC_HUGE);
	RaceColumn	columns[RACE_MAX_PARTS];
	uint64		i;

	for (i = 0; i < ready->model->points; i++)
	{
		columns_from(ready, i, columns);
		race_rows_hash_one(rows, n, columns, buckets);
		count_point(ready, i, 0, n, buckets);
	}
	pfree(buckets);
}

/* What the counters of a block have beyond what was counted */
static void
subtract_block(RaceReady *ready, const RaceView *view, Size block)
{
	Size		range = ready->known.params->range;
	Size		end = Min((block + 1) * RACE_LANES, ready->known.params->rows) * range;
	Size		i;

	for (i = block * RACE_LANES * range; i < end; i++)
		ready->residuals[i] = (float)
			((double) race_counters_get(view->counters, view->width, i) - ready->residuals[i]);
}

static void
find_residuals(RaceReady *ready, const RaceView *view, MemoryContext context)
{
	Size		size = RaceCounters(ready->known.params) * sizeof(float);
	RaceRowsEntry *rows = race_rows_acquire(ready->known.params);
	bool		together = race_rows_together(ready->known.params);
	Size		block;

	PG_TRY();
	{
		ready->residuals = MemoryContextAllocExtended(context, size,
													  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
		for (block = 0; block * RACE_LANES < ready->known.params->rows; block++)
		{
			CHECK_FOR_INTERRUPTS();
			if (!together)
				count_block(ready, race_rows_of(rows), block);
			else if (block == 0)
				count_in_all_rows(ready, race_rows_of(rows));
			subtract_block(ready, view, block);
		}
	}
	PG_FINALLY();
	{
		race_rows_release(rows);
	}
	PG_END_TRY();
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
place_model(RaceReady *ready, const RaceView *view, MemoryContext context)
{
	uint64		i;

	race_check_model(view);
	ready->model = MemoryContextAllocHuge(context, view->model_size);
	memcpy(ready->model, view->model, view->model_size);
	race_model_columns(ready->model, ready->known.params, ready->columns);
	ready->weights = MemoryContextAlloc(context, ready->model->points * sizeof(double));
	ready->differences = MemoryContextAlloc(context, ready->model->points * sizeof(double));
	for (i = 0; i < ready->model->points; i++)
	{
		ready->weights[i] = race_model_weight(ready->model, i);
		ready->differences[i] = race_model_weights(ready->model, RACE_HALF_FIRST)[i] -
			race_model_weights(ready->model, RACE_HALF_SECOND)[i];
	}
	place_points(ready, context);
	ready->size += view->model_size + (ready->radial == NULL ? 0 :
									   2 * sizeof(RaceRadial) + ready->model->points *
									   ready->radial->dims * sizeof(double));
	if (ready->gridded != NULL)
		return;
	find_residuals(ready, view, context);
	ready->size += RaceCounters(view->params) * sizeof(float);
}

bool
race_needs_ready(const RaceView *view)
{
	return view->model != NULL || race_is_grid(view->params);
}

RaceReady *
race_ready_create(const RaceView *view, MemoryContext context)
{
	RaceReady  *ready = MemoryContextAllocZero(context, sizeof(RaceReady));

	race_known_init(&ready->known, view, context);
	if (race_is_grid(view->params))
		ready->gridded = race_gridded_create(view, context, &ready->size);
	if (view->model != NULL)
		place_model(ready, view, context);
	return ready;
}

const RaceGridded *
race_ready_grid(const RaceReady *ready)
{
	return ready->gridded;
}

/* ------------------------------------------------------------------- cache */

static void *
create_ready(const RaceView *view, void *question, MemoryContext context, Size *size)
{
	RaceReady  *ready = race_ready_create(view, context);

	(void) question;
	*size = ready->size;
	return ready;
}

static const RaceDerivedKind evaluator = {"evaluator", create_ready, NULL};

RaceReady *
race_ready_at(RaceCallSite *site, const RaceView *view)
{
	return race_derived_at(site, &evaluator, view, NULL);
}

/* --------------------------------------------------------------- questions */

/* Space for larger sets is not kept. */
#define USUAL_ELEMENTS		((Size) 16 * 1024)

static void
forget_elements(RaceReady *ready, int part)
{
	uint64	   *elements = ready->elements[part];

	ready->elements[part] = NULL;
	ready->capacity[part] = 0;
	if (elements != NULL)
		pfree(elements);
}

/* The elements of a set in order, as the kernel compares them */
static RaceColumn
normalized(RaceReady *ready, int part, const RaceColumn *record, size_t starts[2])
{
	RaceColumn	column = *record;

	starts[0] = 0;
	starts[1] = record->starts[1] - record->starts[0];
	if (starts[1] > ready->capacity[part])
	{
		MemoryContext context = GetMemoryChunkContext(ready);

		forget_elements(ready, part);
		ready->elements[part] = MemoryContextAllocHuge(context, starts[1] * sizeof(uint64));
		ready->capacity[part] = starts[1];
	}
	if (starts[1] > 0)
		memcpy(ready->elements[part], record->elements + record->starts[0],
			   starts[1] * sizeof(uint64));
	race_normalize_set(ready->elements[part], &starts[1]);
	column.elements = ready->elements[part];
	column.starts = starts;
	return column;
}

/* Any kernel: point by point.  What each of them adds goes to `each`, if it is not NULL. */
static double
sum_of_kernels(RaceReady *ready, const RaceColumn *record, const double *weights, double *each)
{
	const RaceParams *params = ready->known.params;
	const RaceParams *part;
	RaceColumn	columns[RACE_MAX_PARTS];
	RaceColumn	points[RACE_MAX_PARTS];
	size_t		starts[RACE_MAX_PARTS][2];
	double		sum = 0;
	double		added;
	uint64		i;
	int			parts = 0;
	int			k;

	for (part = params; part != NULL; part = race_params_next(part, params), parts++)
		columns[parts] = race_record_kind(part) == RACE_RECORD_SET &&
			!race_column_is_any(&record[parts]) ?
			normalized(ready, parts, &record[parts], starts[parts]) : record[parts];
	for (i = 0; i < ready->model->points; i++)
	{
		CHECK_FOR_INTERRUPTS();
		for (k = 0; k < parts; k++)
			points[k] = race_column_from(&ready->columns[k], i);
		added = weights[i] * race_kernel_value(params, points, columns);
		sum += added;
		if (each != NULL)
			each[i] = added;
	}
	for (k = 0; k < parts; k++)
		if (ready->capacity[k] > USUAL_ELEMENTS)
			forget_elements(ready, k);
	return sum;
}

static double
sum_with(RaceReady *ready, const RaceColumn *record, const double *weights)
{
	if (ready->radial == NULL)
		return sum_of_kernels(ready, record, weights, NULL);
	race_radial_place(ready->radial, ready->known.params, record[0].numbers, ready->place, 1);
	return race_radial_sum(ready->radial, ready->place, ready->places,
						   weights, ready->model->points);
}

double
race_ready_sum(RaceReady *ready, const RaceColumn *record)
{
	return sum_with(ready, record, ready->weights);
}

/*
 * Kernels of small powers have long tails: a density of them is flat.  Points are where the
 * records are, so they can be asked with a higher power than the rows.
 */
#define SHARP_POWER		8

bool
race_ready_sharp_sum(RaceReady *ready, const RaceColumn *record, double *sum)
{
	if (ready->radial == NULL || ready->gridded != NULL)
		return false;
	if (ready->sharp == NULL)
	{
		RaceParams *params = race_params_copy(ready->known.params, CurrentMemoryContext);
		RaceRadial *sharp = MemoryContextAlloc(GetMemoryChunkContext(ready),
											   sizeof(RaceRadial));

		params->power = Max(params->power, SHARP_POWER);
		race_radial_init(sharp, params);
		ready->sharp = sharp;
		pfree(params);
	}
	race_radial_place(ready->sharp, ready->known.params, record[0].numbers, ready->place, 1);
	*sum = race_radial_sum(ready->sharp, ready->place, ready->places, ready->weights,
						   ready->model->points);
	return true;
}

double
race_ready_sum_each(RaceReady *ready, const RaceColumn *record, double *each)
{
	return sum_of_kernels(ready, record, ready->weights, each);
}

double
race_ready_disagreement(RaceReady *ready, const RaceColumn *record)
{
	return sum_with(ready, record, ready->differences);
}

double
race_ready_residuals(const RaceReady *ready, const uint32 *buckets, uint32 from,
					uint32 to)
{
	Size		range = ready->known.params->range;
	double		sum = 0;
	uint32		row;

	for (row = from; row < to; row++)
		sum += ready->residuals[row * range + buckets[row]];
	return sum;
}
