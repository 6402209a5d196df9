/*
 * sketch.c
 *		race_sketch in memory: the expanded object, and a view for readers.
 */
#include "postgres.h"

#include "common/int.h"
#include "utils/memutils.h"

#include "sketch.h"

#define RACE_SKETCH_MAGIC	0x52414345	/* RACE */

static Size sketch_flat_size(ExpandedObjectHeader *eohptr);
static void sketch_flatten(ExpandedObjectHeader *eohptr, void *result,
						   Size allocated_size);

static const ExpandedObjectMethods sketch_methods = {
	sketch_flat_size,
	sketch_flatten
};

static Size
sketch_flat_size(ExpandedObjectHeader *eohptr)
{
	RaceSketch *sketch = (RaceSketch *) eohptr;
	int64		min;
	int64		max;

	Assert(sketch->magic == RACE_SKETCH_MAGIC);
	if (sketch->flat_size == 0)
	{
		race_counters_bounds(sketch->counters, sketch->width,
							 RaceCounters(&sketch->header), &min, &max);
		sketch->flat_width = race_counters_width_for(min, max);
		sketch->flat_size = RaceFlatSize(&sketch->header, sketch->flat_width);
	}
	return sketch->flat_size;
}

static void
sketch_flatten(ExpandedObjectHeader *eohptr, void *result, Size allocated_size)
{
	RaceSketch *sketch = (RaceSketch *) eohptr;
	RaceSketchDatum *flat = (RaceSketchDatum *) result;

	Assert(sketch->magic == RACE_SKETCH_MAGIC);
	Assert(allocated_size == sketch->flat_size);
	memset(flat, 0, offsetof(RaceSketchDatum, counters));
	SET_VARSIZE(flat, allocated_size);
	flat->version = RACE_FORMAT_VERSION;
	flat->width = sketch->flat_width;
	flat->header = sketch->header;
	race_counters_convert(sketch->counters, sketch->width,
						  flat->counters, flat->width,
						  RaceCounters(&sketch->header));
}

void
race_sketch_view(Datum value, RaceView *view)
{
	if (VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(value)))
	{
		RaceSketch *sketch = (RaceSketch *) DatumGetEOHP(value);

		Assert(sketch->magic == RACE_SKETCH_MAGIC);
		view->header = &sketch->header;
		view->counters = sketch->counters;
		view->width = sketch->width;
	}
	else
	{
		RaceSketchDatum *flat = (RaceSketchDatum *) PG_DETOAST_DATUM(value);

		/* what was validated when it came in can still be a damaged page */
		if (VARSIZE(flat) < offsetof(RaceSketchDatum, counters) ||
			flat->version != RACE_FORMAT_VERSION ||
			!race_counters_width_valid(flat->width) ||
			VARSIZE(flat) != RaceFlatSize(&flat->header, flat->width))
			ereport(ERROR,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg("race_sketch value of unknown format")));
		view->header = &flat->header;
		view->counters = flat->counters;
		view->width = flat->width;
	}
}

static void *
allocate_counters(const RaceHeader *header, int width, MemoryContext context)
{
	/* at most 256 MB: RACE_MAX_SKETCH_BYTES */
	return MemoryContextAllocZero(context, RaceCounters(header) * width);
}

RaceSketch *
race_sketch_create(const RaceParams *params, int width, MemoryContext context)
{
	RaceSketch *sketch;

	race_params_check_dims(params);
	sketch = MemoryContextAllocZero(context, sizeof(RaceSketch));
	EOH_init_header(&sketch->hdr, &sketch_methods, context);
	sketch->magic = RACE_SKETCH_MAGIC;
	sketch->width = width;
	sketch->header.params = *params;
	sketch->counters = allocate_counters(&sketch->header, width, context);
	return sketch;
}

RaceSketch *
race_sketch_copy(const RaceView *view, MemoryContext context)
{
	RaceSketch *sketch = race_sketch_create(&view->header->params, view->width,
											context);

	sketch->header = *view->header;
	memcpy(sketch->counters, view->counters,
		   RaceCounters(view->header) * view->width);
	return sketch;
}

void
race_sketch_touch(RaceSketch *sketch)
{
	sketch->flat_size = 0;
}

void
race_sketch_widen(RaceSketch *sketch, int width)
{
	void	   *wider;

	if (width <= sketch->width)
		return;
	wider = allocate_counters(&sketch->header, width, sketch->hdr.eoh_context);
	race_counters_convert(sketch->counters, sketch->width, wider, width,
						  RaceCounters(&sketch->header));
	pfree(sketch->counters);
	sketch->counters = wider;
	sketch->width = width;
}

static void
too_many_records(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
			 errmsg("a sketch cannot hold more than 2^62 records")));
}

int64
race_bounded_sum(int64 a, int64 b, bool exact)
{
	int64		sum;

	if (pg_add_s64_overflow(a, b, &sum))
		sum = a > 0 ? PG_INT64_MAX : PG_INT64_MIN;
	if (exact && (sum > RACE_MAX_COUNT || sum < -RACE_MAX_COUNT))
		too_many_records();
	return Max(Min(sum, RACE_MAX_COUNT), -RACE_MAX_COUNT);
}

void
race_sketch_count(RaceSketch *sketch, const uint32 *buckets, int delta)
{
	const RaceParams *params = &sketch->header.params;

	if (sketch->header.count * delta >= RACE_MAX_COUNT)
		too_many_records();
	while (!race_counters_bump(sketch->counters, sketch->width, buckets,
							   params->rows, params->range, delta))
	{
		if (sketch->width == 8)
			too_many_records();
		race_sketch_widen(sketch, sketch->width * 2);
	}
	race_sketch_touch(sketch);
	sketch->header.count += delta;
}

void
race_check_exact(const RaceHeader *header, const char *action)
{
	if (header->noise.status != RACE_STATUS_EXACT)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("a private sketch cannot be %s", action),
				 errdetail("Its noise protects the records it was made from, and no others."),
				 errhint("Go back to the exact sketch, and release it once.")));
}
