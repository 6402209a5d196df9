/*
 * sketch.c
 *		race_sketch as an expanded object
 */
#include "postgres.h"

#include <math.h>

#include "access/detoast.h"
#include "lib/ilist.h"
#include "port/pg_crc32c.h"
#include "utils/memutils.h"

#include "hash/column.h"
#include "hash/contingency.h"
#include "hash/fields.h"
#include "hash/kernel.h"
#include "hash/moment_sums.h"
#include "hash/params.h"
#include "hash/rows.h"
#include "sketch/cache.h"
#include "sketch/call_site.h"
#include "sketch/params_type.h"
#include "sketch/records.h"
#include "sketch/rows_cache.h"
#include "sketch/sketch.h"
#include "sketch/sketch_format.h"
#include "privacy/shares.h"
#include "hash/kind.h"
#include "hash/table.h"
#include "privacy/count.h"

/*
 * race_sketch in memory: the expanded object, and a view for readers.
 */

#define RACE_SKETCH_MAGIC 0x52414345 /* RACE */

/* Identities of contents in memory have this bit. */
#define IN_MEMORY ((uint64) 1 << 63)

static void flush_batch(RaceSketch *sketch);
static void flat_write(RaceSketchDatum *flat, Size size, const RaceView *view, int width,
					   const RaceModel *model, Size model_size);
static Size sketch_flat_size(ExpandedObjectHeader *eohptr);
static void sketch_flatten(ExpandedObjectHeader *eohptr, void *result, Size allocated_size);

static const ExpandedObjectMethods sketch_methods = {sketch_flat_size, sketch_flatten};

static RaceSketch *
expanded_sketch(Datum value)
{
	RaceSketch *sketch = (RaceSketch *) DatumGetEOHP(value);

	Assert(sketch->magic == RACE_SKETCH_MAGIC);
	return sketch;
}

static void
view_expanded(RaceSketch *sketch, RaceView *view)
{
	static uint64 last = 0;

	/* contents of sketches in memory are numbered when they are first viewed */
	if (sketch->generation == 0)
		sketch->generation = ++last;
	view->identity = IN_MEMORY | sketch->generation;
	view->header = &sketch->header;
	view->params = sketch->params;
	view->columns = sketch->columns;
	view->columns_size = sketch->columns_size;
	view->shares = sketch->shares;
	view->counters = sketch->counters;
	view->width = sketch->width;
	view->model = NULL;
	view->model_size = 0;
}

/*
 * Return the size of the flat form.  From PostgreSQL 17 on, a sort calls this in a memory context
 * where nothing can be freed.  So all work is done in that of the sketch.
 */
static Size
sketch_flat_size(ExpandedObjectHeader *eohptr)
{
	RaceSketch *sketch = (RaceSketch *) eohptr;
	MemoryContext old = MemoryContextSwitchTo(sketch->hdr.eoh_context);
	RaceView view;

	Assert(sketch->magic == RACE_SKETCH_MAGIC);
	flush_batch(sketch);
	if (sketch->flat_width == 0)
	{
		view_expanded(sketch, &view);
		sketch->flat_width = race_view_width(&view);
	}
	MemoryContextSwitchTo(old);
	return RaceFlatSize(&sketch->header, sketch->params, sketch->columns_size, sketch->flat_width,
						0);
}

/* Write the flat form.  Nothing is allocated here. */
static void
sketch_flatten(ExpandedObjectHeader *eohptr, void *result, Size allocated_size)
{
	RaceSketch *sketch = (RaceSketch *) eohptr;
	RaceView view;

	Assert(sketch->magic == RACE_SKETCH_MAGIC);
	view_expanded(sketch, &view);
	flat_write(result, allocated_size, &view, sketch->flat_width, NULL, 0);
}

/*
 * Check the format of a value.  It was validated when it came in, but its page may have been
 * damaged since.
 */
static void
check_format(const RaceSketchDatum *flat, Size size)
{
	if (size < sizeof(RaceSketchDatum) || flat->version != RACE_FORMAT_VERSION ||
		!race_counters_width_valid(flat->width) || flat->params.more > RACE_MAX_MORE ||
		race_kernel_type(flat->params.kernel) == NULL || flat->model_size > RACE_MAX_MODEL_BYTES ||
		flat->columns_size > RACE_MAX_COLUMNS_BYTES ||
		RaceCounters(&flat->params) > RACE_MAX_SKETCH_BYTES / sizeof(int64) ||
		size !=
			RaceFlatSize(&flat->header, &flat->params, flat->columns_size, flat->width,
						 flat->model_size))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED), errmsg("race_sketch value of unknown format")));
}

void
race_sketch_view_any(Datum value, RaceView *view)
{
	if (VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(value)))
	{
		flush_batch(expanded_sketch(value));
		view_expanded(expanded_sketch(value), view);
	}
	else
	{
		RaceSketchDatum *flat = (RaceSketchDatum *) PG_DETOAST_DATUM(value);

		check_format(flat, VARSIZE(flat));
		view->header = &flat->header;
		view->params = &flat->params;
		view->columns = RaceFlatColumns(flat);
		view->columns_size = flat->columns_size;
		view->shares = RaceFlatShares(flat);
		view->counters = RaceFlatCounters(flat);
		view->width = flat->width;
		view->model = RaceFlatModel(flat);
		view->model_size = flat->model_size;
		view->identity = flat->content_hash;
	}
}

/* Raise 22023 for kinds without densities. */
static void
check_densities(const RaceView *view)
{
	const RaceSummaryKind *kind = race_summary_kind(view->params);

	if (!kind->densities)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("expected a sketch of a kernel, found %s", kind->name),
				 errhint("%s", kind->hint)));
}

void
race_sketch_view(Datum value, RaceView *view)
{
	race_sketch_view_any(value, view);
	check_densities(view);
}

void
race_sketch_view_kind(Datum value, RaceKind kind, const char *hint, RaceView *view)
{
	RaceParams expected = {.kind = kind};

	race_sketch_view_any(value, view);
	if (view->params->kind != kind)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg(view->params->kernel != 0 ? "expected %s, found a sketch of kernel %s" :
													"expected %s, found %s",
						race_part_name(&expected), race_part_name(view->params)),
				 errhint("%s", hint)));
}

void
race_sketch_view_at(RaceCallSite *site, Datum value, RaceView *view)
{
	/* the header holds a hash of the content */
	race_sketch_view(race_call_site_fetch(site, value, sizeof(RaceSketchDatum) - VARHDRSZ), view);
}

/* Return the first `size` bytes of a stored sketch, or fewer if it is damaged. */
static RaceSketchDatum *
read_first_bytes(Datum value, Size size)
{
	return (RaceSketchDatum *) PG_DETOAST_DATUM_SLICE(value, 0, size - VARHDRSZ);
}

void
race_sketch_view_header(Datum value, RaceView *view)
{
	race_sketch_view_header_any(value, view);
	check_densities(view);
}

/* View what precedes the ids of shares: the columns only if they are wanted. */
static void
view_first(Datum value, bool columns, RaceView *view)
{
	if (VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(value)))
		view_expanded(expanded_sketch(value), view);
	else
	{
		Size size = sizeof(RaceSketchDatum);
		RaceSketchDatum *flat = read_first_bytes(value, size);

		/* the size that the value claims, if it is long enough to say so */
		check_format(flat, VARSIZE(flat) < size ? 0 : toast_raw_datum_size(value));
		size = columns ? RaceFlatColumnsEnd(&flat->params, flat->columns_size) :
						 RaceFlatHeaderSize(&flat->params);
		if (size > sizeof(RaceSketchDatum))
			flat = read_first_bytes(value, size);
		view->header = &flat->header;
		view->params = &flat->params;
		view->columns = columns ? RaceFlatColumns(flat) : NULL;
		view->columns_size = flat->columns_size;
		view->width = flat->width;
		view->model_size = flat->model_size;
		view->identity = flat->content_hash;
	}
	view->shares = NULL;
	view->counters = NULL;
	view->model = NULL;
}

void
race_sketch_view_header_any(Datum value, RaceView *view)
{
	view_first(value, false, view);
}

void
race_sketch_view_columns(Datum value, RaceView *view)
{
	view_first(value, true, view);
}

void
race_sketch_stored_size(Datum value, int *width, Size *size)
{
	RaceView view;

	if (VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(value)))
	{
		*size = sketch_flat_size(&expanded_sketch(value)->hdr);
		*width = expanded_sketch(value)->flat_width;
		return;
	}
	race_sketch_view_header_any(value, &view);
	*width = view.width;
	*size = RaceFlatSize(view.header, view.params, view.columns_size, view.width, view.model_size);
}

/* Return a sketch without noise or records, whose counters are yet to be filled in. */
static RaceSketch *
allocate_sketch(const RaceParams *params, uint32 rows, int width, MemoryContext context)
{
	RaceSketch *sketch;

	race_params_check_complete(params);
	sketch = MemoryContextAllocZero(context, sizeof(RaceSketch));
	EOH_init_header(&sketch->hdr, &sketch_methods, context);
	sketch->magic = RACE_SKETCH_MAGIC;
	sketch->width = width;
	sketch->params = race_params_copy(params, context);
	sketch->params->rows = rows;
	/* at most 256 MB (RACE_MAX_SKETCH_BYTES) */
	sketch->counters = MemoryContextAlloc(context, RaceCounters(sketch->params) * width);
	return sketch;
}

RaceSketch *
race_sketch_create(const RaceParams *params, uint32 rows, int width, MemoryContext context)
{
	RaceSketch *sketch = allocate_sketch(params, rows, width, context);

	memset(sketch->counters, 0, RaceCounters(sketch->params) * width);
	sketch->headroom = race_counters_limit(width);
	return sketch;
}

RaceSketch *
race_sketch_copy(const RaceView *view, MemoryContext context)
{
	RaceSketch *sketch = allocate_sketch(view->params, view->params->rows, view->width, context);

	sketch->header = *view->header;
	race_sketch_set_columns(sketch, view);
	race_sketch_set_shares(sketch, view->shares);
	memcpy(sketch->counters, view->counters, RaceCounters(view->params) * view->width);
	race_sketch_touch(sketch);
	return sketch;
}

void
race_sketch_set_columns(RaceSketch *sketch, const RaceView *view)
{
	Size size = view->columns_size;

	sketch->columns = NULL;
	sketch->columns_size = (uint32) size;
	if (size > 0)
		sketch->columns =
			memcpy(MemoryContextAlloc(sketch->hdr.eoh_context, size), view->columns, size);
}

void
race_sketch_set_shares(RaceSketch *sketch, const uint64 *shares)
{
	Size size = RaceShares(&sketch->header) * sizeof(uint64);

	if (sketch->shares != NULL)
		pfree(sketch->shares);
	sketch->shares = NULL;
	if (size > 0)
		sketch->shares = memcpy(MemoryContextAlloc(sketch->hdr.eoh_context, size), shares, size);
}

void
race_sketch_touch(RaceSketch *sketch)
{
	sketch->flat_width = 0;
	sketch->generation = 0;
	sketch->headroom = 0;
	sketch->counted = sketch->params->range;
}

void
race_sketch_widen(RaceSketch *sketch, int width)
{
	void *wider;

	if (width <= sketch->width)
		return;
	wider = MemoryContextAlloc(sketch->hdr.eoh_context, RaceCounters(sketch->params) * width);
	race_counters_convert(sketch->counters, sketch->width, wider, width,
						  RaceCounters(sketch->params));
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
	int64 sum = race_clamped_sum(a, b);

	if (exact && sum != (__int128) a + b)
		too_many_records();
	return sum;
}

/* --------------------------------------------------------------- batches */

/*
 * The size of a batch. Large batches make hashing fast. But a batch takes no more
 * memory than half of the counters do (beyond a few records). And it must be
 * counted in less time than a user should wait for an interrupt, because counting
 * does not check for interrupts: a sketch must not be left half counted.
 *
 * The coefficients of long records do not fit into caches, and are read once for each
 * batch.  So a batch of them may take twice as much memory as the counters.
 *
 * Counters of a wide range do not either.  A batch has so many records that several of them
 * meet in a part of a row while it is in the cache.
 */
#define MIN_RECORDS 4
#define MAX_RECORDS 512
#define MAX_WIDE_RECORDS 4096
#define MAX_BATCH_SIZE ((Size) 256 * 1024)
#define MAX_LONG_SIZE ((Size) 1024 * 1024)
#define MAX_WIDE_SIZE ((Size) 4 * 1024 * 1024)
#define WIDE ((Size) 512 * 1024)                /* counters of a block of rows, bytes */
#define MAX_WORK ((Size) 1024 * 1024 * 1024)    /* multiplications, about */
#define MAX_SET_WORK ((Size) 256 * 1024 * 1024) /* elements times functions */

static bool
is_wide(const RaceSketch *sketch)
{
	return RACE_LANES * (Size) sketch->params->range * sketch->width > WIDE;
}

static Size
max_batch_size(const RaceSketch *sketch)
{
	Size counters = RaceCounters(sketch->params) * sketch->width;

	if (race_summary_kind(sketch->params)->matrix)
		return MAX_BATCH_SIZE; /* few counters, too: products of many records are faster */
	for (const RaceParams *part = sketch->params; part != NULL;
		 part = race_params_next(part, sketch->params))
		if (race_record_kind(part) == RACE_RECORD_VECTOR && part->dims >= RACE_LONG_DIMS &&
			part->sequence != RACE_SEQUENCE_STRUCTURED)
			return Min(2 * counters, MAX_LONG_SIZE);
	return Min(counters / 2, is_wide(sketch) ? MAX_WIDE_SIZE : MAX_BATCH_SIZE);
}

#define WORK_OF_STRUCTURED 48 /* additions, 3 log2(d) */

static uint32
max_batch_capacity(const RaceSketch *sketch)
{
	const RaceParams *params = sketch->params;
	Size capacity = Max(max_batch_size(sketch) / race_record_size(params), MIN_RECORDS);
	Size work = 0; /* multiplications for a record, without the elements of sets */

	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
		work += part->power * params->rows *
			(race_record_kind(part) != RACE_RECORD_VECTOR   ? 8 :
				 part->sequence == RACE_SEQUENCE_STRUCTURED ? WORK_OF_STRUCTURED :
															  part->dims + 8);
	if (race_summary_kind(params)->matrix)
		work = RaceCounters(params) + (Size) params->moments.features * params->dims;
	capacity = Min(capacity, MAX_WORK / work);
	return Max(Min(capacity, is_wide(sketch) ? MAX_WIDE_RECORDS : MAX_RECORDS), 1);
}

/* Return whether the sets of n records are so large that a user should be able to interrupt. */
static bool
has_large_sets(const RaceSketch *sketch, uint32 from, uint32 n)
{
	return race_records_sets_size(sketch->batch, from, n) / sizeof(uint64) *
		race_params_functions(sketch->params) * TYPEALIGN(RACE_LANES, sketch->params->rows) >
		MAX_SET_WORK;
}

RaceRecords *
race_sketch_next(RaceSketch *sketch)
{
	RaceRecords *batch;
	bool full;

	if (sketch->batch == NULL)
		sketch->batch = race_records_create(sketch->params, sketch->hdr.eoh_context);
	batch = sketch->batch;
	full = batch->n == batch->capacity && batch->capacity >= max_batch_capacity(sketch);
	if (batch->has_sets)
		full = full || has_large_sets(sketch, 0, batch->n) ||
			(batch->n >= MIN_RECORDS &&
			 race_records_sets_size(batch, 0, batch->n) > max_batch_size(sketch));
	if (full)
		flush_batch(sketch);
	if (batch->n == batch->capacity)
		race_records_reserve(
			batch, Min(Max(batch->capacity * 2, MIN_RECORDS), max_batch_capacity(sketch)));
	return batch;
}

/*
 * Counting does not check whether a counter exceeds its width. So before it starts,
 * no counter may come close to the limit. Looking up how far the counters are from
 * it means to read all of them. If that would cost more than the counting did, they
 * are widened at once.
 */
#define READS_A_RECORD 8 /* counters that can be read while one is counted */

static void
make_headroom(RaceSketch *sketch, int64 n)
{
	int64 min;
	int64 max;

	if (sketch->headroom < n &&
		(sketch->width == sizeof(int64) ||
		 sketch->counted >= sketch->params->range / READS_A_RECORD))
	{
		race_counters_bounds(sketch->counters, sketch->width, RaceCounters(sketch->params), &min,
							 &max);
		sketch->headroom = race_counters_limit(sketch->width) - Max(-min, max);
		sketch->counted = 0;
	}
	/* bound: the widths, 1 to 8 bytes */
	while (sketch->headroom < n)
	{
		int64 limit = race_counters_limit(sketch->width);

		if (sketch->width == sizeof(int64))
			too_many_records();
		race_sketch_widen(sketch, 2 * sketch->width);
		sketch->headroom = race_counters_limit(sketch->width) - limit;
	}
}

/* Return the counters of a sketch from a row on. */
static RaceCounterArray
counters_of(const RaceSketch *sketch, Size row)
{
	Size offset = row * sketch->params->range * sketch->width;
	RaceCounterArray array = {(char *) sketch->counters + offset, sketch->width};

	return array;
}

/*
 * Count n records of the batch, from number `from` on, `weight` times, as the kind of summary does.
 */
static void
count_in_tables(RaceSketch *sketch, const RaceSummaryKind *kind, RaceRowsEntry *entry, uint32 from,
				uint32 n, int64 weight)
{
	RaceColumn column;
	RaceBatch batch = {.n = n, .weight = weight, .counters = counters_of(sketch, 0)};

	race_records_columns(sketch->batch, from, &column);
	batch.numbers = column.numbers;
	batch.functions = entry == NULL ? NULL : race_rows_of(entry);
	batch.workspace =
		kind->count_workspace == NULL ? NULL : palloc(kind->count_workspace(sketch->params, n));
	kind->count(sketch->params, &batch);
	if (batch.workspace != NULL)
		pfree(batch.workspace);
}

/* Count n records in the rows of the block that begins with `row`. */
static void
bump_block(RaceSketch *sketch, Size row, const uint32 *buckets, uint32 n, int64 weight)
{
	const RaceParams *params = sketch->params;
	uint32 rows = Min(params->rows - row, RACE_LANES);

	race_count_rows(counters_of(sketch, row), buckets, n, rows, params->range, weight);
}

/*
 * Count records in a block of rows after the other.  Buckets of a few records stay in the
 * nearest cache; where counters do not, it is better to have those of all.
 */
static void
count_by_blocks(RaceSketch *sketch, const RaceRows *rows, uint32 from, uint32 n, int64 weight)
{
	uint32 together = is_wide(sketch) ? n : Min(n, RACE_RECORDS_TOGETHER);
	uint32 *buckets = palloc(together * RACE_LANES * sizeof(uint32));
	RaceColumn columns[RACE_MAX_PARTS];

	for (Size block = 0; block * RACE_LANES < sketch->params->rows; block++)
		for (uint32 first = from; first < from + n; first += together)
		{
			uint32 end = Min(from + n, first + together);

			for (uint32 i = first; i < end; i += RACE_RECORDS_TOGETHER)
			{
				race_records_columns(sketch->batch, i, columns);
				race_rows_hash(rows, block, columns, Min(end - i, RACE_RECORDS_TOGETHER),
							   buckets + (Size) (i - first) * RACE_LANES);
			}
			bump_block(sketch, block * RACE_LANES, buckets, end - first, weight);
		}
	pfree(buckets);
}

/*
 * Count records that take long to hash, or that are best hashed in all rows at once. They
 * are before any counter changes, so that the user may interrupt until then.
 */
static void
count_by_records(RaceSketch *sketch, const RaceRows *rows, uint32 from, uint32 n, int64 weight)
{
	const RaceParams *params = sketch->params;
	Size line = TYPEALIGN(RACE_LANES, params->rows);
	uint32 *buckets = palloc_extended(n * line * sizeof(uint32), MCXT_ALLOC_HUGE);
	RaceColumn columns[RACE_MAX_PARTS];

	for (uint32 i = 0; i < n; i++)
	{
		race_records_columns(sketch->batch, from + i, columns);
		race_rows_hash_one(rows, params->rows, columns, buckets + i * line);
	}
	for (Size row = 0; row < params->rows; row += RACE_LANES)
		for (uint32 i = 0; i < n; i++)
			bump_block(sketch, row, buckets + i * line + row, 1, weight);
	pfree(buckets);
}

/*
 * Count n records of the batch, from number `from` on.  All that can fail comes
 * before the first change.
 */
static void
count_records(RaceSketch *sketch, uint32 from, uint32 n, int64 weight)
{
	const RaceSummaryKind *kind = race_summary_kind(sketch->params);
	int64 change = n * (weight < 0 ? -weight : weight) * (int64) kind->largest(sketch->params);
	RaceRowsEntry *entry;

	if (kind->matrix)
		race_sketch_widen(sketch, sizeof(int64));
	make_headroom(sketch, change);
	entry = kind->hashed || kind->functions != NULL ? race_rows_acquire(sketch->params) : NULL;
	PG_TRY();
	{
		if (kind->count != NULL)
			count_in_tables(sketch, kind, entry, from, n, weight);
		else if (race_rows_together(sketch->params) || (n == 1 && has_large_sets(sketch, from, 1)))
			count_by_records(sketch, race_rows_of(entry), from, n, weight);
		else
			count_by_blocks(sketch, race_rows_of(entry), from, n, weight);
	}
	PG_FINALLY();
	{
		if (entry != NULL)
			race_rows_release(entry);
	}
	PG_END_TRY();
	sketch->headroom -= change;
	sketch->counted += n;
	sketch->flat_width = 0;
	sketch->generation = 0;
}

/* Count the records of the batch, as many at a time as can be; raise 22003 if they are too many. */
static void
flush_batch(RaceSketch *sketch)
{
	RaceRecords *batch = sketch->batch;

	if (batch == NULL || batch->n == 0)
		return;
	/* bound: the records of the batch, one at least each time */
	while (batch->n > 0)
	{
		uint32 n = batch->n;

		if (race_rows_together(sketch->params))
			n = Min(n, Max(MAX_BATCH_SIZE / (sketch->params->rows * sizeof(uint32)), 1));
		if (sketch->width == 1)
			n = Min(n, RACE_RECORDS_TOGETHER); /* as many as the narrowest counters can hold */
		/* bound: half of the records are left each time */
		while (n > 1 && has_large_sets(sketch, batch->n - n, n))
			n = (n + 1) / 2;
		count_records(sketch, batch->n - n, n, 1);
		batch->n -= n;
	}
	race_records_clear(batch);
}

void
race_sketch_add(RaceSketch *sketch, int64 weight)
{
	int64 count = race_bounded_sum(sketch->header.count, weight, true);
	uint32 last = sketch->batch->n;

	Assert(weight <= Max((int64) sketch->header.noise.max_contributions, 1));
	if (weight == 1)
		sketch->batch->n++;
	else
	{
		/* the batch can wait: sums do not depend on the order of records */
		count_records(sketch, last, 1, weight);
		if (last == 0)
			race_records_clear(sketch->batch);
	}
	sketch->header.count = count;
}

void
race_check_exact(const RaceHeader *header, const char *action)
{
	if (header->noise.status != RACE_STATUS_EXACT)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 header->noise.status == RACE_STATUS_SHARE ?
					 errmsg("a noise share cannot be %s", action) :
					 errmsg("a private sketch cannot be %s", action),
				 errdetail("Its noise protects the records it was made from, and no others."),
				 errhint("Go back to the exact sketch, and release it once.")));
}

void
race_check_askable(const RaceNoise *noise)
{
	if (!race_has_enough_noise(noise))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("noise shares cannot be asked before there are enough of them"),
				 errdetail("The sketch has %u of %u shares, and needs %u.", noise->releases,
						   noise->parties, race_shares_needed(noise)),
				 errhint("Merge the shares of other parties with race_merge.")));
}

/*
 * A sketch as it is stored: its size, and how it is written.
 */

int
race_view_width(const RaceView *view)
{
	int64 min;
	int64 max;

	race_counters_bounds(view->counters, view->width, RaceCounters(view->params), &min, &max);
	return race_counters_width_for(min, max);
}

void
race_flat_seal(RaceSketchDatum *flat)
{
	const char *params = (const char *) &flat->params;
	pg_crc32c crc;

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, &flat->version,
				offsetof(RaceSketchDatum, content_hash) - offsetof(RaceSketchDatum, version));
	COMP_CRC32C(crc, &flat->model_size, sizeof(flat->model_size));
	COMP_CRC32C(crc, &flat->columns_size, sizeof(flat->columns_size));
	COMP_CRC32C(crc, params, VARSIZE(flat) - offsetof(RaceSketchDatum, params));
	FIN_CRC32C(crc);
	flat->content_hash = crc;
}

static void
flat_write(RaceSketchDatum *flat, Size size, const RaceView *view, int width,
		   const RaceModel *model, Size model_size)
{
	memset(flat, 0, offsetof(RaceSketchDatum, params));
	SET_VARSIZE(flat, size);
	flat->version = RACE_FORMAT_VERSION;
	flat->width = width;
	flat->model_size = model_size;
	flat->columns_size = (uint32) view->columns_size;
	flat->header = *view->header;
	memcpy(&flat->params, view->params, race_params_size(view->params));
	if (view->columns_size > 0)
	{
		char *columns = RaceFlatColumnsAt(flat);

		memset(columns, 0, TYPEALIGN(sizeof(uint64), view->columns_size));
		memcpy(columns, view->columns, view->columns_size);
	}
	if (RaceShares(view->header) > 0)
		memcpy(RaceFlatShares(flat), view->shares, RaceShares(view->header) * sizeof(uint64));
	race_counters_convert(view->counters, view->width, RaceFlatCounters(flat), width,
						  RaceCounters(view->params));
	if (model_size > 0)
	{
		char *end = RaceFlatCounters(flat) + RaceCounters(view->params) * width;
		char *last = (char *) flat + size - model_size;

		memset(end, 0, last - end);
		memcpy(last, model, model_size);
	}
	race_flat_seal(flat);
}

RaceSketchDatum *
race_flat_create(const RaceView *view, const RaceModel *model, Size model_size)
{
	int width = race_view_width(view);
	Size size = RaceFlatSize(view->header, view->params, view->columns_size, width, model_size);
	RaceSketchDatum *flat = palloc(size);

	flat_write(flat, size, view, width, model, model_size);
	return flat;
}

/*
 * One memory context for the sketches of all groups of an aggregate.
 *
 * A hash aggregate adds up the sizes of all its memory contexts at each new group.
 * With a context for each of 80,000 groups this takes 40 s, with one context for all
 * a tenth of a second.  PostgreSQL takes an expanded object as a state without copying
 * it if its context is a child of the aggregate's.  It would delete that context if a
 * transition function returned another object; ours never do.
 *
 * An executor has one aggregate context per grouping set or window aggregate, and
 * resets it when it likes.  A callback then removes the pool from the list.
 */

typedef struct Pool
{
	dlist_node node;         /* in `pools`, most recently used first */
	MemoryContext aggregate; /* parent of the context */
	MemoryContext context;   /* holds the sketches, and this struct */
	MemoryContextCallback unlink;
} Pool;

static dlist_head pools = DLIST_STATIC_INIT(pools);

static void
unlink_pool(void *arg)
{
	dlist_delete(&((Pool *) arg)->node);
}

MemoryContext
race_result_context(FunctionCallInfo fcinfo)
{
	MemoryContext aggregate;
	MemoryContext context;
	Pool *pool;
	dlist_iter iter;

	if (!AggCheckCallContext(fcinfo, &aggregate))
		return AllocSetContextCreate(CurrentMemoryContext, "race_sketch",
									 ALLOCSET_START_SMALL_SIZES);
	dlist_foreach(iter, &pools)
	{
		pool = dlist_container(Pool, node, iter.cur);
		if (pool->aggregate == aggregate)
		{
			dlist_move_head(&pools, &pool->node);
			return pool->context;
		}
	}
	context = AllocSetContextCreate(aggregate, "race_sketch pool", ALLOCSET_DEFAULT_SIZES);
	pool = MemoryContextAlloc(context, sizeof(Pool));
	pool->aggregate = aggregate;
	pool->context = context;
	pool->unlink.func = unlink_pool;
	pool->unlink.arg = pool;
	MemoryContextRegisterResetCallback(context, &pool->unlink);
	dlist_push_head(&pools, &pool->node);
	return context;
}

RaceSketch *
race_writable_arg(FunctionCallInfo fcinfo, const RaceView *view)
{
	Datum value = PG_GETARG_DATUM(0);
	RaceView own_view;

	if (VARATT_IS_EXTERNAL_EXPANDED_RW(DatumGetPointer(value)))
		return (RaceSketch *) DatumGetEOHP(value);
	if (view == NULL)
	{
		race_sketch_view_any(value, &own_view);
		view = &own_view;
	}
	return race_sketch_copy(view, race_result_context(fcinfo));
}

/*
 * The cache of derived objects.
 */

static RaceCache derived_objects = RACE_CACHE_INIT(derived_objects);

void
race_derived_init(RaceDerived *object, const RaceView *view, MemoryContext context)
{
	object->identity = view->identity;
	object->header = *view->header;
	object->params = race_params_copy(view->params, context);
}

static bool
fits_question(const RaceDerived *object, const RaceView *view, const void *question)
{
	return object->identity == view->identity &&
		memcmp(&object->header, view->header, sizeof(RaceHeader)) == 0 &&
		race_params_same(object->params, view->params) &&
		(object->kind->fits == NULL || object->kind->fits(object, question));
}

void *
race_derived_acquire(const RaceDerivedKind *kind, const RaceView *view, void *question)
{
	MemoryContext context;
	RaceDerived *object;
	dlist_iter iter;
	Size size = 0;

	dlist_foreach(iter, &derived_objects.entries)
	{
		object = dlist_container(RaceDerived, base.node, iter.cur);
		if (object->kind == kind && fits_question(object, view, question))
		{
			race_cache_acquire(&object->base);
			return object;
		}
	}
	context = AllocSetContextCreate(CurrentMemoryContext, "race_sketch, derived object",
									ALLOCSET_START_SMALL_SIZES);
	MemoryContextSetIdentifier(context, kind->name);
	object = kind->create(view, question, context, &size);
	object->kind = kind;
	object->base.context = context;
	race_cache_add(&derived_objects, &object->base, size);
	return object;
}

void
race_derived_release(void *object)
{
	race_cache_release((RaceCacheEntry *) object);
}

void *
race_derived_at(RaceCallSite *site, const RaceDerivedKind *kind, const RaceView *view,
				void *question)
{
	RaceCacheEntry **held = race_call_site_held(site, kind);
	RaceCacheEntry *before = *held;

	if (before == NULL || !fits_question((RaceDerived *) before, view, question))
	{
		*held = race_derived_acquire(kind, view, question);
		if (before != NULL)
			race_cache_release(before);
	}
	return *held;
}

/*
 * Private grids with the cells that they have in common.
 */

bool
race_grids_meet(const RaceParams *a, const RaceParams *b, RaceGridChoice choices[2])
{
	int halvings[2];

	if (!race_params_common_cells(a, b, halvings))
		return false;
	for (int i = 0; i < 2; i++)
	{
		choices[i].halvings = halvings[i];
		choices[i].levels = Min(race_grid_levels(a), race_grid_levels(b));
	}
	return true;
}

void
race_sketch_coarsen(RaceSketch *sketch, RaceGridChoice choice)
{
	Size n = RaceCounters(sketch->params);
	double *nodes = palloc_extended(n * sizeof(double), MCXT_ALLOC_HUGE);
	int64 *counters = palloc_extended(n * sizeof(int64), MCXT_ALLOC_HUGE);
	RaceGrid first;
	Size from = 0;
	Size to = 0;
	int width;
	int64 min;
	int64 max;

	race_grid_of(sketch->params, &first);
	for (int level = 0; level < choice.levels; level++)
	{
		RaceGrid grid = first;

		for (Size i = 0; i < grid.nodes; i++)
			nodes[i] = (double) race_counters_get(sketch->counters, sketch->width, from + i);
		for (int i = 0; i < choice.halvings; i++)
		{
			race_grid_coarsen_real(&grid, nodes, nodes);
			race_grid_halve(&grid);
		}
		for (Size i = 0; i < grid.nodes; i++)
			counters[to++] = (int64) rint(
				fmax(fmin(nodes[i], (double) RACE_MAX_COUNT), -(double) RACE_MAX_COUNT));
		from += first.nodes;
		for (int i = 0; i < RACE_GRID_LEVEL_HALVINGS && level + 1 < choice.levels; i++)
			race_grid_halve(&first);
	}
	race_counters_bounds(counters, sizeof(int64), to, &min, &max);
	width = race_counters_width_for(min, max);
	race_sketch_widen(sketch, width);
	race_grid_apply(sketch->params, choice);
	race_counters_store(sketch->counters, sketch->width, 0, to, counters);
	pfree(counters);
	pfree(nodes);
	/* rows of the matrix with weights 1/2, 1, 1/2, by its columns, add up to 2 for each axis */
	sketch->header.noise.counter_variance *= exp2((double) choice.halvings * first.dims);
	race_sketch_touch(sketch);
}
