/*
 * call_site.c
 *		Call sites: what a place in a statement keeps between its calls
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "privacy/counters.h"
#include "hash/column.h"
#include "hash/kind.h"
#include "hash/params.h"
#include "hash/rows.h"
#include "sketch/argument.h"
#include "sketch/cache.h"
#include "sketch/call_site.h"
#include "sketch/compat.h"
#include "sketch/params_type.h"
#include "sketch/record.h"
#include "sketch/records.h"
#include "sketch/rows_cache.h"
#include "sketch/stored_cache.h"

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
		race_stored_release(site->stored);
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
	FmgrInfo *flinfo = fcinfo->flinfo;

	if (flinfo->fn_extra == NULL)
		flinfo->fn_extra = race_call_site_create(race_argument_type(flinfo, arg), flinfo->fn_mcxt);
	return (RaceCallSite *) flinfo->fn_extra;
}

Datum
race_call_site_fetch(RaceCallSite *site, Datum value, Size identity)
{
	RaceStoredEntry *before = site->stored;

	if (!VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(value)))
		return value;
	site->stored = race_stored_acquire(value, identity);
	if (before != NULL)
		race_stored_release(before);
	return race_stored_value(site->stored);
}

void
race_call_site_hold_rows(RaceCallSite *site, const RaceParams *params)
{
	MemoryContext space = site->space;

	if (space != NULL && site->params->rows >= params->rows &&
		race_params_same_rows(site->params, params))
		return;
	release_rows(site);
	site->space = NULL; /* an error may come from here on */
	if (space != NULL)
		MemoryContextDelete(space);
	space = AllocSetContextCreate(site->context, "race call site", ALLOCSET_START_SMALL_SIZES);
	site->params = race_params_copy(params, space);
	site->next = race_records_create(params, space);
	site->last = race_records_create(params, space);
	site->next->are_queries = true;
	site->last->are_queries = true;
	race_records_reserve(site->next, 1);
	race_records_reserve(site->last, 1);
	site->buckets =
		MemoryContextAllocZero(space, TYPEALIGN(RACE_LANES, params->rows) * sizeof(uint32));
	if (race_summary_kind(params)->hashed)
		site->rows = race_rows_acquire(params);
	site->space = space;
}

/* Return the buckets of the record in site->next. */
static const uint32 *
hash_next(RaceCallSite *site, const RaceParams *params)
{
	RaceRecords *next = site->next;
	RaceColumn columns[RACE_MAX_PARTS];

	if (next->any == 0 && site->rows_hashed >= params->rows && race_records_same(next, site->last))
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
race_call_site_hash(RaceCallSite *site, const RaceParams *params, const double *x)
{
	double *next;

	race_call_site_hold_rows(site, params);
	next = race_records_vector(site->next, 0);
	memcpy(next, x, params->dims * sizeof(double));
	race_vector_clip(params, next, params->dims);
	return hash_next(site, params);
}

const uint32 *
race_call_site_hash_columns(RaceCallSite *site, const RaceParams *params, const RaceColumn *columns)
{
	race_call_site_hold_rows(site, params);
	race_records_copy(site->next, columns);
	return hash_next(site, params);
}

const uint32 *
race_call_site_hash_lifted(RaceCallSite *site, const RaceParams *params, const RaceColumn *query)
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
	RaceHeld *held = site->held;

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
