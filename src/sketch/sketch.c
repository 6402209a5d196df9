/*
 * sketch.c
 *		race_sketch in memory: the expanded object, and a view for readers.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "common/int.h"
#include "utils/memutils.h"

#include "row_cache.h"
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
	race_sketch_flush(sketch);
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
	race_sketch_seal(flat);
}

static RaceSketch *
expanded_sketch(Datum value)
{
	RaceSketch *sketch = (RaceSketch *) DatumGetEOHP(value);

	Assert(sketch->magic == RACE_SKETCH_MAGIC);
	return sketch;
}

/* What was validated when it came in can still be a damaged page. */
static void
check_format(const RaceSketchDatum *flat, Size size)
{
	if (size < offsetof(RaceSketchDatum, counters) ||
		flat->version != RACE_FORMAT_VERSION ||
		!race_counters_width_valid(flat->width) ||
		size != RaceFlatSize(&flat->header, flat->width))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("race_sketch value of unknown format")));
}

void
race_sketch_view(Datum value, RaceView *view)
{
	if (VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(value)))
	{
		RaceSketch *sketch = expanded_sketch(value);

		race_sketch_flush(sketch);
		view->header = &sketch->header;
		view->counters = sketch->counters;
		view->width = sketch->width;
	}
	else
	{
		RaceSketchDatum *flat = (RaceSketchDatum *) PG_DETOAST_DATUM(value);

		check_format(flat, VARSIZE(flat));
		view->header = &flat->header;
		view->counters = flat->counters;
		view->width = flat->width;
	}
}

void
race_sketch_view_header(Datum value, RaceView *view)
{
	view->counters = NULL;
	if (VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(value)))
	{
		RaceSketch *sketch = expanded_sketch(value);

		view->header = &sketch->header;
		view->width = sketch->width;
	}
	else
	{
		const Size	size = offsetof(RaceSketchDatum, counters);
		RaceSketchDatum *flat = (RaceSketchDatum *)
			PG_DETOAST_DATUM_SLICE(value, 0, size - VARHDRSZ);

		/* the size that it says, if it says so much */
		check_format(flat, VARSIZE(flat) < size ? 0 : toast_raw_datum_size(value));
		view->header = &flat->header;
		view->width = flat->width;
	}
}

int
race_sketch_stored_width(Datum value)
{
	RaceView	view;

	if (VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(value)))
	{
		sketch_flat_size(&expanded_sketch(value)->hdr);
		return expanded_sketch(value)->flat_width;
	}
	race_sketch_view_header(value, &view);
	return view.width;
}

/* Room for counters, at most 256 MB (RACE_MAX_SKETCH_BYTES), not initialized */
static void *
allocate_counters(const RaceHeader *header, int width, MemoryContext context)
{
	return MemoryContextAlloc(context, RaceCounters(header) * width);
}

/* A sketch whose counters are yet to be filled in */
static RaceSketch *
allocate_sketch(const RaceHeader *header, int width, MemoryContext context)
{
	RaceSketch *sketch;

	race_params_check_dims(&header->params);
	sketch = MemoryContextAllocZero(context, sizeof(RaceSketch));
	EOH_init_header(&sketch->hdr, &sketch_methods, context);
	sketch->magic = RACE_SKETCH_MAGIC;
	sketch->width = width;
	sketch->header = *header;
	sketch->counters = allocate_counters(header, width, context);
	return sketch;
}

RaceSketch *
race_sketch_create(const RaceParams *params, int width, MemoryContext context)
{
	RaceHeader	header = {.params = *params};
	RaceSketch *sketch = allocate_sketch(&header, width, context);

	memset(sketch->counters, 0, RaceCounters(&header) * width);
	sketch->room = race_counters_limit(width);
	return sketch;
}

RaceSketch *
race_sketch_copy(const RaceView *view, MemoryContext context)
{
	RaceSketch *sketch = allocate_sketch(view->header, view->width, context);

	memcpy(sketch->counters, view->counters,
		   RaceCounters(view->header) * view->width);
	race_sketch_touch(sketch);
	return sketch;
}

void
race_sketch_touch(RaceSketch *sketch)
{
	sketch->flat_size = 0;
	sketch->room = 0;
	sketch->counted = sketch->header.params.range;
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

/* --------------------------------------------------------------- batches */

/*
 * A batch holds as many records as make hashing fast, but takes neither
 * more memory than half the counters (beyond a few records), nor longer to count
 * than a user should wait for an interrupt: counting does not look for any, as
 * a sketch must not be left half counted.
 */
#define MIN_RECORDS		4
#define MAX_RECORDS		512
#define MAX_BATCH_SIZE	((Size) 256 * 1024)
#define MAX_WORK		((Size) 64 * 1024 * 1024)	/* multiplications or so */

static uint32
max_batch_capacity(const RaceSketch *sketch)
{
	const RaceParams *params = &sketch->header.params;
	Size		record = params->dims * sizeof(double);
	Size		size = Min(RaceCounters(&sketch->header) * sketch->width / 2,
						   MAX_BATCH_SIZE);
	Size		capacity = Max(size / record, MIN_RECORDS);
	Size		work = (Size) params->rows * params->power * (params->dims + 8);

	capacity = Min(capacity, MAX_WORK / work);
	return Max(Min(capacity, MAX_RECORDS), 1);
}

static void
grow_batch(RaceSketch *sketch)
{
	Size		record = sketch->header.params.dims * sizeof(double);
	uint32		capacity = Min(Max(sketch->batch_capacity * 2, MIN_RECORDS),
							   max_batch_capacity(sketch));

	if (sketch->batch == NULL)
		sketch->batch = MemoryContextAlloc(sketch->hdr.eoh_context,
										   capacity * record);
	else
		sketch->batch = repalloc(sketch->batch, capacity * record);
	sketch->batch_capacity = capacity;
}

/*
 * Counting does not look whether a counter leaves its width: before it starts,
 * none must be able to.  Looking up how far counters are from there reads all of
 * them, so where that would cost more than the counting did, they are
 * widened at once.
 */
#define READS_A_RECORD	8		/* counters read in the time that one is counted */

static void
make_room(RaceSketch *sketch, uint32 n)
{
	int64		min;
	int64		max;

	if (sketch->room < n &&
		(sketch->width == sizeof(int64) ||
		 sketch->counted >= sketch->header.params.range / READS_A_RECORD))
	{
		race_counters_bounds(sketch->counters, sketch->width,
							 RaceCounters(&sketch->header), &min, &max);
		sketch->room = race_counters_limit(sketch->width) - Max(-min, max);
		sketch->counted = 0;
	}
	while (sketch->room < n)
	{
		int64		limit = race_counters_limit(sketch->width);

		if (sketch->width == sizeof(int64))
			too_many_records();
		race_sketch_widen(sketch, 2 * sketch->width);
		sketch->room = race_counters_limit(sketch->width) - limit;
	}
}

/* Records that are hashed and counted at a time, to stay in the nearest cache */
#define RECORDS_TOGETHER	64

/* Count n records in the rows of a block, once more (1) or once less (-1). */
static void
count_block(RaceSketch *sketch, const RaceRows *rows, Size block,
			const double *x, uint32 n, int delta)
{
	const RaceParams *params = &sketch->header.params;
	Size		row = block * RACE_LANES;
	uint32		buckets[RECORDS_TOGETHER * RACE_LANES];
	uint32		i;

	for (i = 0; i < n; i += RECORDS_TOGETHER)
	{
		uint32		m = Min(n - i, RECORDS_TOGETHER);

		race_rows_hash(rows, block, x + (Size) i * params->dims, m, buckets);
		race_counters_bump((char *) sketch->counters +
						   row * params->range * sketch->width,
						   sketch->width, buckets, m,
						   Min(params->rows - row, RACE_LANES),
						   params->range, delta);
	}
}

/* All that can fail comes first. */
static void
count_records(RaceSketch *sketch, const double *x, uint32 n, int delta)
{
	RaceRowsEntry *entry;
	const RaceRows *rows;
	Size		block;

	make_room(sketch, n);
	entry = race_rows_acquire(&sketch->header.params);
	rows = race_rows_of(entry);
	for (block = 0; block * RACE_LANES < sketch->header.params.rows; block++)
		count_block(sketch, rows, block, x, n, delta);
	race_rows_release(entry);
	sketch->room -= n;
	sketch->counted += n;
	sketch->flat_size = 0;
}

void
race_sketch_flush(RaceSketch *sketch)
{
	/* from the end; a few at a time while counters have room for a few only */
	while (sketch->batch_n > 0)
	{
		uint32		n = Min(sketch->batch_n,
							sketch->width == 1 ? RECORDS_TOGETHER : MAX_RECORDS);

		count_records(sketch, sketch->batch + (Size) (sketch->batch_n - n) *
					  sketch->header.params.dims, n, 1);
		sketch->batch_n -= n;
	}
}

double *
race_sketch_next(RaceSketch *sketch)
{
	if (sketch->batch_n == sketch->batch_capacity)
	{
		if (sketch->batch_capacity >= max_batch_capacity(sketch))
			race_sketch_flush(sketch);
		else
			grow_batch(sketch);
	}
	return sketch->batch + (Size) sketch->batch_n * sketch->header.params.dims;
}

void
race_sketch_add(RaceSketch *sketch)
{
	if (sketch->header.count >= RACE_MAX_COUNT)
		too_many_records();
	sketch->header.count++;
	sketch->batch_n++;
}

void
race_sketch_remove(RaceSketch *sketch)
{
	const double *x;

	if (sketch->header.count <= -RACE_MAX_COUNT)
		too_many_records();
	x = sketch->batch + (Size) sketch->batch_n * sketch->header.params.dims;
	race_sketch_flush(sketch);
	count_records(sketch, x, 1, -1);
	sketch->header.count--;
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
