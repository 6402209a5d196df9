/*
 * fitted.c
 *		A fitted sketch made ready to be asked.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "../cache/cache.h"
#include "../lsh/radial.h"
#include "../record/sort.h"
#include "fitted.h"

struct RaceFitted
{
	RaceCacheEntry base;		/* must be first */
	uint32		content_hash;	/* these two identify the sketch */
	RaceHeader	header;
	RaceParams *params;
	RaceModel  *model;
	RaceColumn	columns[RACE_MAX_PARTS];	/* of its points, */
	double	   *weights;		/* and what they weigh */
	/* for kernels that are functions of a distance; else NULL */
	RaceRadial *radial;
	double	   *places;			/* [radial->dims][points] */
	double	   *place;			/* of a record */
	/* of each part that is a set: space for so many elements */
	uint64	   *elements[RACE_MAX_PARTS];
	Size		capacity[RACE_MAX_PARTS];
	/* the model counted, [rows][range] */
	float	   *counters;
};

static RaceCache cache = RACE_CACHE_INIT(cache);

static void
place_points(RaceFitted *fitted, MemoryContext context)
{
	const RaceModel *model = fitted->model;
	uint64		i;

	if (!race_radial_can(fitted->params))
		return;
	fitted->radial = MemoryContextAlloc(context, sizeof(RaceRadial));
	race_radial_init(fitted->radial, fitted->params);
	fitted->place = MemoryContextAlloc(context, fitted->radial->dims * sizeof(double));
	fitted->places = MemoryContextAllocHuge(context, model->points * fitted->radial->dims *
											sizeof(double));
	for (i = 0; i < model->points; i++)
		race_radial_place(fitted->radial, fitted->params,
						  fitted->columns[0].numbers + i * fitted->params->dims,
						  fitted->places + i, model->points);
}

/* What a point weighs for a row: what was found from the other half of the rows */
static float
weight_in_row(const RaceFitted *fitted, uint64 point, Size row)
{
	RaceHalf	half = row < race_model_first_rows(fitted->params) ?
		RACE_HALF_SECOND : RACE_HALF_FIRST;

	return (float) race_model_weights(fitted->model, half)[point];
}

/* Count the points in the rows of a block, each as many records as it weighs. */
static void
count_block(RaceFitted *fitted, const RaceRows *rows, Size block)
{
	const RaceParams *params = fitted->params;
	uint32		in_block = Min(params->rows - block * RACE_LANES, RACE_LANES);
	uint32		buckets[RACE_RECORDS_TOGETHER * RACE_LANES];
	uint64		from;

	for (from = 0; from < fitted->model->points; from += RACE_RECORDS_TOGETHER)
	{
		uint32		n = Min(fitted->model->points - from, RACE_RECORDS_TOGETHER);
		RaceColumn	columns[RACE_MAX_PARTS];
		uint32		i;
		uint32		r;

		for (i = 0; i < (uint32) race_params_parts(params); i++)
			columns[i] = race_column_from(&fitted->columns[i], from);
		race_rows_hash(rows, block, columns, n, buckets);
		for (i = 0; i < n; i++)
			for (r = 0; r < in_block; r++)
				fitted->counters[(block * RACE_LANES + r) * params->range +
								 buckets[i * RACE_LANES + r]] +=
					weight_in_row(fitted, from + i, block * RACE_LANES + r);
	}
}

static void
count_points(RaceFitted *fitted, MemoryContext context)
{
	Size		size = RaceCounters(fitted->params) * sizeof(float);
	RaceRowsEntry *rows = race_rows_acquire(fitted->params);
	Size		block;

	PG_TRY();
	{
		fitted->counters = MemoryContextAllocExtended(context, size,
													  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
		for (block = 0; block * RACE_LANES < fitted->params->rows; block++)
		{
			CHECK_FOR_INTERRUPTS();
			count_block(fitted, race_rows_of(rows), block);
		}
	}
	PG_FINALLY();
	{
		race_rows_release(rows);
	}
	PG_END_TRY();
}

RaceFitted *
race_fitted_create(const RaceView *view, MemoryContext context)
{
	RaceFitted *fitted = MemoryContextAllocZero(context, sizeof(RaceFitted));
	uint64		i;

	fitted->content_hash = view->content_hash;
	fitted->header = *view->header;
	fitted->params = race_params_copy(view->params, context);
	fitted->model = MemoryContextAllocHuge(context, view->model_size);
	memcpy(fitted->model, view->model, view->model_size);
	race_model_columns(fitted->model, fitted->params, fitted->columns);
	fitted->weights = MemoryContextAlloc(context, fitted->model->points * sizeof(double));
	for (i = 0; i < fitted->model->points; i++)
		fitted->weights[i] = race_model_weight(fitted->model, i);
	place_points(fitted, context);
	count_points(fitted, context);
	return fitted;
}

/* ------------------------------------------------------------------- cache */

static bool
is_of(const RaceFitted *fitted, const RaceView *view)
{
	return fitted->content_hash == view->content_hash &&
		memcmp(&fitted->header, view->header, sizeof(RaceHeader)) == 0 &&
		race_params_same(fitted->params, view->params);
}

static RaceFitted *
find(const RaceView *view)
{
	dlist_iter	iter;

	dlist_foreach(iter, &cache.entries)
	{
		RaceFitted *fitted = dlist_container(RaceFitted, base.node, iter.cur);

		if (is_of(fitted, view))
			return fitted;
	}
	return NULL;
}

static void
release(void *entry)
{
	race_cache_release(&cache, (RaceCacheEntry *) entry);
}

RaceFitted *
race_fitted_at(RaceCallSite *site, const RaceView *view)
{
	RaceFitted *fitted = (RaceFitted *) site->companion.entry;

	if (fitted != NULL && is_of(fitted, view))
		return fitted;
	fitted = find(view);
	if (fitted != NULL)
		race_cache_acquire(&cache, &fitted->base);
	else
	{
		MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
													  "race fitted sketch",
													  ALLOCSET_START_SMALL_SIZES);

		fitted = race_fitted_create(view, context);
		fitted->base.context = context;
		race_cache_add(&cache, &fitted->base, view->model_size * 2 +
					   RaceCounters(view->params) * sizeof(float));
	}
	race_call_site_keep(site, fitted, release);
	return fitted;
}

/* --------------------------------------------------------------- questions */

/* The elements of a set in order, as the kernel compares them */
static RaceColumn
normalized(RaceFitted *fitted, int part, const RaceColumn *record, size_t starts[2])
{
	RaceColumn	column = *record;

	starts[0] = 0;
	starts[1] = record->starts[1] - record->starts[0];
	if (starts[1] > fitted->capacity[part])
	{
		MemoryContext context = GetMemoryChunkContext(fitted);

		if (fitted->elements[part] != NULL)
			pfree(fitted->elements[part]);
		fitted->elements[part] = NULL;
		fitted->elements[part] = MemoryContextAllocHuge(context, starts[1] * sizeof(uint64));
		fitted->capacity[part] = starts[1];
	}
	if (starts[1] > 0)
		memcpy(fitted->elements[part], record->elements + record->starts[0],
			   starts[1] * sizeof(uint64));
	race_normalize_set(fitted->elements[part], &starts[1]);
	column.elements = fitted->elements[part];
	column.starts = starts;
	return column;
}

/* Any kernel: point by point */
static double
sum_of_kernels(RaceFitted *fitted, const RaceColumn *record)
{
	const RaceParams *part;
	RaceColumn	columns[RACE_MAX_PARTS];
	RaceColumn	points[RACE_MAX_PARTS];
	size_t		starts[RACE_MAX_PARTS][2];
	double		sum = 0;
	uint64		i;
	int			parts = 0;
	int			k;

	for (part = fitted->params; part != NULL; part = race_params_next(part, fitted->params), parts++)
		columns[parts] = race_record_kind(part) == RACE_RECORD_SET ?
			normalized(fitted, parts, &record[parts], starts[parts]) : record[parts];
	for (i = 0; i < fitted->model->points; i++)
	{
		CHECK_FOR_INTERRUPTS();
		for (k = 0; k < parts; k++)
			points[k] = race_column_from(&fitted->columns[k], i);
		sum += fitted->weights[i] * race_kernel_value(fitted->params, points, columns);
	}
	return sum;
}

double
race_fitted_sum(RaceFitted *fitted, const RaceColumn *record)
{
	if (fitted->radial == NULL)
		return sum_of_kernels(fitted, record);
	race_radial_place(fitted->radial, fitted->params, record[0].numbers, fitted->place, 1);
	return race_radial_sum(fitted->radial, fitted->place, fitted->places,
						   fitted->weights, fitted->model->points);
}

double
race_fitted_counted(const RaceFitted *fitted, const uint32 *buckets, uint32 from,
					uint32 to)
{
	Size		range = fitted->params->range;
	double		sum = 0;
	uint32		row;

	for (row = from; row < to; row++)
		sum += fitted->counters[row * range + buckets[row]];
	return sum;
}
