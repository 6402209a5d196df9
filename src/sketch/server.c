/*
 * server.c
 *		Arguments, result rows, progress and texts of SQL functions; session caches; call sites
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/htup_details.h"
#include "access/parallel.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/proc.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "sketch/params.h"
#include "sketch/server.h"
#include "hash/kind.h"

/* ------------------------------------------------------------- arguments */

Oid
race_argument_type(const FmgrInfo *flinfo, int arg)
{
	Oid			type = get_fn_expr_argtype(unconstify(FmgrInfo *, flinfo), arg);

	if (!OidIsValid(type))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("could not determine the type of argument %d of %s", arg + 1,
						get_func_name(flinfo->fn_oid)),
				 errhint("Where parts of an aggregate run on other servers, as in Citus, use aggregates of race_record, such as race_build_records(params, race_record(params, x)).")));
	return type;
}

MemoryContext
race_aggregate_context(FunctionCallInfo fcinfo, const char *aggregates)
{
	MemoryContext context;

	if (!AggCheckCallContext(fcinfo, &context))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("this function cannot be called outside of an aggregate"),
				 errhint("Call the aggregate itself: %s.", aggregates)));
	return context;
}

#define MAX_QUOTED	64

bool
race_check_text(const char *text, Size most, const char *what, Node *escontext)
{
	if (strnlen(text, most + 1) > most)
		ereturn(escontext, false,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the text of %s is too long", what),
				 errdetail("It can have at most %zu bytes.", most)));
	return true;
}

const char *
race_cut(const char *text)
{
	/* enough bytes to find the end of the last character */
	int			n = (int) strnlen(text, 2 * MAX_QUOTED);

	if (n <= MAX_QUOTED)
		return text;
	return psprintf("%.*s...", pg_mbcliplen(text, n, MAX_QUOTED), text);
}

/* -------------------------------------------------------------- settings */

/* Settings that the texts of values, or how texts and statements are read, depend on */
static const struct
{
	const char *name;
	const char *value;
}			fixed_settings[] =
{
	{"array_nulls", "on"},
	{"bytea_output", "hex"},
	{"DateStyle", "ISO, YMD"},
	{"extra_float_digits", "1"},
	{"IntervalStyle", "postgres"},
	{"quote_all_identifiers", "off"},
	{"standard_conforming_strings", "on"},
	{"TimeZone", "UTC"},
	{"timezone_abbreviations", "Default"},
	{"transform_null_equals", "off"},
	{"xmloption", "content"},
};

int
race_settings_fix(void)
{
	int			level = NewGUCNestLevel();

	for (size_t i = 0; i < lengthof(fixed_settings); i++)
	{
		const char *present = GetConfigOption(fixed_settings[i].name, false, false);

		if (strcmp(present, fixed_settings[i].value) != 0)
			(void) set_config_option(fixed_settings[i].name, fixed_settings[i].value, PGC_USERSET,
									 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	}
	return level;
}

void
race_settings_restore(int level)
{
	AtEOXact_GUC(true, level);
}

/* -------------------------------------------------------------- progress */

void
race_check_for_interrupts(void)
{
	CHECK_FOR_INTERRUPTS();
}

bool		race_progress = false;

void
race_tell(const char *format,...)
{
	char		text[1024];
	va_list		arguments;
	int			level;

	if (!race_progress)
		return;
	va_start(arguments, format);
	(void) vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	text[pg_mbcliplen(text, strlen(text), sizeof(text) - 1)] = '\0';

	level = NewGUCNestLevel();
	(void) set_config_option("log_min_messages", "panic", PGC_SUSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	ereport(INFO, (errmsg_internal("%s", text)));
	AtEOXact_GUC(false, level);
}

/* ------------------------------------------------------------------ rows */

void
race_row_start(RaceResultRow *row, FunctionCallInfo fcinfo)
{
	TupleDesc	desc;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	if (desc->natts > RACE_MAX_COLUMNS)
		elog(ERROR, "return type has too many columns");
	row->desc = BlessTupleDesc(desc);
	row->n = 0;
}

void
race_row_add_if(RaceResultRow *row, bool is, Datum value)
{
	Assert(row->n < row->desc->natts);
	row->values[row->n] = value;
	row->nulls[row->n++] = !is;
}

void
race_row_add(RaceResultRow *row, Datum value)
{
	race_row_add_if(row, true, value);
}

void
race_row_add_text(RaceResultRow *row, const char *text)
{
	race_row_add(row, CStringGetTextDatum(text));
}

void
race_row_add_numbers(RaceResultRow *row, const double *x, uint32 n)
{
	Datum	   *elements = palloc(n * sizeof(Datum));

	for (uint32 i = 0; i < n; i++)
		elements[i] = Float8GetDatum(x[i]);
	race_row_add(row, PointerGetDatum(construct_array(elements, n, FLOAT8OID, sizeof(float8),
													  FLOAT8PASSBYVAL, TYPALIGN_DOUBLE)));
}

void
race_row_add_null(RaceResultRow *row)
{
	race_row_add_if(row, false, (Datum) 0);
}

Datum
race_row_datum(RaceResultRow *row)
{
	if (row->n != row->desc->natts)
		elog(ERROR, "a row of %d columns was given %d", row->desc->natts, row->n);
	row->n = 0;
	return HeapTupleGetDatum(heap_form_tuple(row->desc, row->values, row->nulls));
}

Datum
race_results(FunctionCallInfo fcinfo,
			 void (*start) (FunctionCallInfo fcinfo, FuncCallContext *call),
			 Datum (*next) (void *state, uint64 i))
{
	FuncCallContext *call;
	Datum		result;

	if (SRF_IS_FIRSTCALL())
	{
		MemoryContext old;

		call = SRF_FIRSTCALL_INIT();
		old = MemoryContextSwitchTo(call->multi_call_memory_ctx);
		start(fcinfo, call);
		MemoryContextSwitchTo(old);
	}
	call = SRF_PERCALL_SETUP();
	if (call->call_cntr >= call->max_calls)
		SRF_RETURN_DONE(call);
	/* the macro counts the call before it looks at the result */
	result = next(call->user_fctx, call->call_cntr);
	SRF_RETURN_NEXT(call, result);
}

Tuplestorestate *
race_store_start(FunctionCallInfo fcinfo)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext old;

	if (result == NULL || !IsA(result, ReturnSetInfo) || !(result->allowedModes & SFRM_Materialize))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("this function returns rows"),
				 errhint("Write it in FROM: SELECT * FROM %s(...).", get_func_name(fcinfo->flinfo->fn_oid))));
	old = MemoryContextSwitchTo(result->econtext->ecxt_per_query_memory);
	result->returnMode = SFRM_Materialize;
	result->setResult = tuplestore_begin_heap((result->allowedModes & SFRM_Materialize_Random) != 0, false, work_mem);
	result->setDesc = CreateTupleDescCopy(result->expectedDesc);
	MemoryContextSwitchTo(old);
	return result->setResult;
}

/* ---------------------------------------------------------------- caches */

int			race_cache_size = 64 * 1024;

/* Count an entry as this size at least, so that there are few entries to search. */
#define MINIMAL_SIZE	((Size) 128 * 1024)

static void
delete_entry(RaceCacheEntry *entry)
{
	Assert(entry->users == 0);
	dlist_delete(&entry->node);
	entry->cache->idle_size -= entry->size;
	MemoryContextDelete(entry->context);
}

void
race_cache_add(RaceCache *cache, RaceCacheEntry *entry, Size size)
{
	entry->cache = cache;
	entry->users = 1;
	entry->size = Max(size, MINIMAL_SIZE);
	entry->stale = false;
	MemoryContextSetParent(entry->context, TopMemoryContext);
	dlist_push_head(&cache->entries, &entry->node);
}

void
race_cache_acquire(RaceCacheEntry *entry)
{
	dlist_move_head(&entry->cache->entries, &entry->node);
	if (entry->users++ == 0)
		entry->cache->idle_size -= entry->size;
}

void
race_cache_release(RaceCacheEntry *entry)
{
	RaceCache  *cache = entry->cache;
	dlist_node *before;

	Assert(entry->users > 0);
	if (--entry->users > 0)
		return;
	cache->idle_size += entry->size;
	if (entry->stale)
		delete_entry(entry);
	if (dlist_is_empty(&cache->entries))
		return;
	/* delete idle entries, from the end of the list, until the rest is in bounds */
	/* bound: the entries: those without users have all of the idle size */
	for (dlist_node *node = dlist_tail_node(&cache->entries);
		 cache->idle_size > (Size) race_cache_size * 1024; node = before)
	{
		RaceCacheEntry *last = dlist_container(RaceCacheEntry, node, node);

		before = node->prev;
		if (last->users == 0)
			delete_entry(last);
	}
}

/*
 * Snapshot keys.
 */

bool
race_snapshot_key_get(RaceSnapshotKey *key)
{
	Snapshot	snapshot = ActiveSnapshotSet() ? GetActiveSnapshot() : NULL;

	memset(key, 0, sizeof(RaceSnapshotKey));
	if (snapshot == NULL || snapshot->snapshot_type != SNAPSHOT_MVCC)
		return false;
	key->transaction = race_local_transaction();
	key->command = snapshot->curcid;
	key->xmin = snapshot->xmin;
	key->xmax = snapshot->xmax;
	key->running = snapshot->xcnt;
	key->running_subtransactions = snapshot->subxcnt;
	return true;
}

bool
race_snapshot_key_same(const RaceSnapshotKey *a, const RaceSnapshotKey *b)
{
	return memcmp(a, b, sizeof(RaceSnapshotKey)) == 0;
}

/*
 * Row functions, made once a backend for each parameter value in use.
 *
 * Drawing the functions of 1024 rows costs as much as hashing thousands of
 * records, so groups, partitions and statements share them.
 */

struct RaceRowsEntry
{
	RaceCacheEntry base;		/* must be first */
	RaceRows   *rows;
};

static RaceCache rows_cache = RACE_CACHE_INIT(rows_cache);

/*
 * Row functions that are larger than the cache go when a statement ends, and the next one
 * makes them anew.  That takes long, so say how to avoid it: once, the second time.
 */
static void
warn_of_large_rows(Size size)
{
	static int	made = 0;

	if (size / 1024 <= (Size) race_cache_size || IsParallelWorker() || made > 1)
		return;
	if (++made == 2)
		ereport(WARNING,
				(errmsg("row functions do not fit into racepriv.cache_size, so every statement makes them anew"),
				 errdetail("They take %zu MB.", (size >> 20) + 1),
				 errhint("Set racepriv.cache_size to '%zuMB' or more. Sequence \"structured\", for new sketches, needs a thousandth of it.",
						 (size >> 20) + 1)));
}

static RaceRowsEntry *
make_entry(const RaceParams *params)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "race row functions",
												  ALLOCSET_SMALL_SIZES);
	RaceRowsEntry *entry = MemoryContextAllocZero(context, sizeof(RaceRowsEntry));
	Size		size = race_rows_size(params);

	warn_of_large_rows(size);
	entry->base.context = context;
	entry->rows = MemoryContextAllocHuge(context, size);
	race_rows_init(entry->rows, params);
	race_rows_generate_all(entry->rows);
	race_cache_add(&rows_cache, &entry->base, size);
	return entry;
}

RaceRowsEntry *
race_rows_acquire(const RaceParams *params)
{
	RaceParams	functions;
	dlist_iter	iter;

	if (race_summary_kind(params)->functions != NULL)
	{
		race_summary_kind(params)->functions(params, &functions);
		params = &functions;
	}
	dlist_foreach(iter, &rows_cache.entries)
	{
		RaceRowsEntry *entry = dlist_container(RaceRowsEntry, base.node, iter.cur);

		if (entry->rows->params->rows >= params->rows &&
			race_params_same_rows(entry->rows->params, params))
		{
			race_cache_acquire(&entry->base);
			return entry;
		}
	}
	return make_entry(params);
}

const RaceRows *
race_rows_of(const RaceRowsEntry *entry)
{
	return entry->rows;
}

void
race_rows_release(RaceRowsEntry *entry)
{
	race_cache_release(&entry->base);
}

/*
 * Large stored values, detoasted once: for a statement, and for the next.
 *
 * Putting a sketch of 4 MB together from its 2,000 chunks takes a thousand times as
 * long as asking it a question.
 *
 * A toast pointer says where a value is, not what it is.  After DELETE, VACUUM and a
 * wrap-around of OIDs, another value of the same size may be there.  This cannot happen
 * while the snapshot key is the same, so an entry is valid for the snapshot in which it
 * was fetched or last checked.  In another snapshot it is checked first: the first bytes
 * of the stored value, its identity, must be those of the entry.  They are in the first
 * chunk, so this is cheap.
 */

struct RaceStoredEntry
{
	RaceCacheEntry base;		/* must be first */
	struct varatt_external pointer;
	RaceSnapshotKey key;		/* of the last snapshot in which the value was checked */
	struct varlena *value;
};

static RaceCache stored_cache = RACE_CACHE_INIT(stored_cache);

/*
 * Is the value valid in the present snapshot? Check it, if it was not checked in
 * this one.
 */
static bool
is_current(RaceStoredEntry *entry, Datum value, Size identity)
{
	RaceSnapshotKey key;
	struct varlena *slice;
	bool		same;

	if (race_snapshot_key_get(&key) && race_snapshot_key_same(&entry->key, &key))
		return true;
	slice = detoast_attr_slice((struct varlena *) DatumGetPointer(value), 0,
							   identity);
	same = VARSIZE(slice) == identity + VARHDRSZ &&
		VARSIZE(entry->value) > identity + VARHDRSZ &&
		memcmp(VARDATA(slice), VARDATA(entry->value), identity) == 0;
	pfree(slice);
	if (same)
		entry->key = key;
	return same;
}

static RaceStoredEntry *
fetch(Datum value, const struct varatt_external *pointer)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "race_sketch cache",
												  ALLOCSET_START_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	RaceStoredEntry *entry = palloc0(sizeof(RaceStoredEntry));

	entry->base.context = context;
	entry->pointer = *pointer;
	(void) race_snapshot_key_get(&entry->key);
	entry->value = detoast_attr((struct varlena *) DatumGetPointer(value));
	MemoryContextSwitchTo(old);
	race_cache_add(&stored_cache, &entry->base, VARSIZE(entry->value));
	return entry;
}

/* Return the entry of a stored value, if there is a valid one.  One that is not is never found again. */
static RaceStoredEntry *
find(Datum value, const struct varatt_external *pointer, Size identity)
{
	dlist_iter	iter;

	dlist_foreach(iter, &stored_cache.entries)
	{
		RaceStoredEntry *entry = dlist_container(RaceStoredEntry, base.node,
												 iter.cur);

		if (entry->base.stale || memcmp(&entry->pointer, pointer, sizeof(*pointer)) != 0)
			continue;
		if (is_current(entry, value, identity))
			return entry;
		entry->base.stale = true;
		if (entry->base.users == 0)
			delete_entry(&entry->base);
		return NULL;
	}
	return NULL;
}

/*
 * Call sites: what a place in a statement keeps between its calls.
 */

static void
release_rows(RaceCallSite *site)
{
	if (site->rows != NULL)
		race_rows_release(site->rows);
	site->rows = NULL;
	site->rows_hashed = 0;
}

static void
release_all(void *arg)
{
	RaceCallSite *site = (RaceCallSite *) arg;

	release_rows(site);
	if (site->stored != NULL)
		race_cache_release(&site->stored->base);
	/* bound: the list, which holds each kind once */
	for (RaceHeld *held = site->held; held != NULL; held = held->next)
		if (held->entry != NULL)
			race_cache_release(held->entry);
}

RaceCallSite *
race_call_site_create(Oid type, MemoryContext context)
{
	RaceCallSite *site = MemoryContextAllocZero(context, sizeof(RaceCallSite));

	site->context = context;
	site->release.func = release_all;
	site->release.arg = site;
	MemoryContextRegisterResetCallback(context, &site->release);
	race_record_prepare(&site->reader, type, context);
	return site;
}

RaceCallSite *
race_call_site(FunctionCallInfo fcinfo, int arg)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;

	if (flinfo->fn_extra == NULL)
		flinfo->fn_extra = race_call_site_create(race_argument_type(flinfo, arg), flinfo->fn_mcxt);
	return (RaceCallSite *) flinfo->fn_extra;
}

Datum
race_call_site_fetch(RaceCallSite *site, Datum value, Size identity)
{
	struct varatt_external pointer;
	RaceStoredEntry *before = site->stored;
	RaceStoredEntry *entry;

	if (!VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(value)))
		return value;
	VARATT_EXTERNAL_GET_POINTER(pointer, DatumGetPointer(value));
	entry = find(value, &pointer, identity);
	if (entry != NULL)
		race_cache_acquire(&entry->base);
	else
		entry = fetch(value, &pointer);
	site->stored = entry;
	if (before != NULL)
		race_cache_release(&before->base);
	return PointerGetDatum(site->stored->value);
}

void
race_call_site_hold_rows(RaceCallSite *site, const RaceParams *params)
{
	MemoryContext space = site->space;

	if (space != NULL && site->params->rows >= params->rows &&
		race_params_same_rows(site->params, params))
		return;
	release_rows(site);
	site->space = NULL;			/* an error may come from here on */
	if (space != NULL)
		MemoryContextDelete(space);
	space = AllocSetContextCreate(site->context, "race call site",
								  ALLOCSET_START_SMALL_SIZES);
	site->params = race_params_copy(params, space);
	site->next = race_records_create(params, space);
	site->last = race_records_create(params, space);
	site->next->are_queries = true;
	site->last->are_queries = true;
	race_records_reserve(site->next, 1);
	race_records_reserve(site->last, 1);
	site->buckets = MemoryContextAllocZero(space, TYPEALIGN(RACE_LANES, params->rows) *
									   sizeof(uint32));
	if (race_summary_kind(params)->hashed)
		site->rows = race_rows_acquire(params);
	site->space = space;
}

/* Buckets of the record in site->next */
static const uint32 *
hash_next(RaceCallSite *site, const RaceParams *params)
{
	RaceRecords *next = site->next;
	RaceColumn	columns[RACE_MAX_PARTS];

	if (next->any == 0 && site->rows_hashed >= params->rows &&
		race_records_same(next, site->last))
		return site->buckets;

	site->rows_hashed = 0;
	site->next = site->last;
	site->last = next;
	if (next->any != 0)
		return NULL;
	race_records_columns(next, 0, columns);
	if (site->rows != NULL)
		race_rows_hash_one(race_rows_of(site->rows), params->rows, columns, site->buckets);
	site->rows_hashed = params->rows;
	return site->buckets;
}

const uint32 *
race_call_site_hash(RaceCallSite *site, const RaceParams *params,
					const double *x)
{
	double	   *next;

	race_call_site_hold_rows(site, params);
	next = race_records_vector(site->next, 0);
	memcpy(next, x, params->dims * sizeof(double));
	race_vector_clip(params, next, params->dims);
	return hash_next(site, params);
}

const uint32 *
race_call_site_hash_columns(RaceCallSite *site, const RaceParams *params,
							const RaceColumn *columns)
{
	race_call_site_hold_rows(site, params);
	race_records_copy(site->next, columns);
	return hash_next(site, params);
}

const uint32 *
race_call_site_hash_lifted(RaceCallSite *site, const RaceParams *params,
						   const RaceColumn *query)
{
	race_call_site_hold_rows(site, params);
	site->rows_hashed = 0;
	race_rows_hash_one(race_rows_of(site->rows), params->rows, query, site->buckets);
	return site->buckets;
}

const uint32 *
race_call_site_buckets(RaceCallSite *site, const RaceParams *params, Datum x)
{
	race_params_check_complete(params);
	race_call_site_hold_rows(site, params);
	site->reader.is_query = true;
	race_record_read(&site->reader, params, x, site->next, false);
	return hash_next(site, params);
}

void
race_call_site_record(const RaceCallSite *site, RaceColumn *columns)
{
	race_records_columns(site->last, 0, columns);
}

RaceCacheEntry **
race_call_site_held(RaceCallSite *site, const void *kind)
{
	RaceHeld   *held = site->held;

	/* bound: the list, which holds each kind once */
	while (held != NULL && held->kind != kind)
		held = held->next;
	if (held == NULL)
	{
		held = MemoryContextAllocZero(site->context, sizeof(RaceHeld));
		held->kind = kind;
		held->next = site->held;
		site->held = held;
	}
	return &held->entry;
}
