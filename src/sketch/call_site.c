/*
 * call_site.c
 *		What a place in a statement keeps between its calls.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "call_site.h"
#include "params.h"

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
	race_stored_release(&site->stored);
}

RaceCallSite *
race_call_site_create(Oid type, MemoryContext context)
{
	RaceCallSite *site = MemoryContextAllocZero(context, sizeof(RaceCallSite));

	race_vector_prepare(&site->reader, type, context);
	site->context = context;
	site->release.func = release_all;
	site->release.arg = site;
	MemoryContextRegisterResetCallback(context, &site->release);
	return site;
}

RaceCallSite *
race_call_site(FunctionCallInfo fcinfo, int arg)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;

	if (flinfo->fn_extra == NULL)
		flinfo->fn_extra = race_call_site_create(get_fn_expr_argtype(flinfo, arg),
												 flinfo->fn_mcxt);
	return (RaceCallSite *) flinfo->fn_extra;
}

void
race_call_site_view(RaceCallSite *site, Datum sketch, RaceView *view)
{
	if (race_is_stored(sketch))
	{
		race_stored_hold(&site->stored, sketch, false);
		sketch = race_stored_datum(site->stored);
	}
	race_sketch_view(sketch, view);
}

Datum
race_call_site_array(RaceCallSite *site, Datum array)
{
	if (!race_is_stored(array))
		return array;
	race_stored_hold(&site->stored, array, true);
	return race_stored_datum(site->stored);
}

static void
use_rows(RaceCallSite *site, const RaceParams *params)
{
	Size		vector = params->dims * sizeof(double);
	Size		lanes = TYPEALIGN(RACE_LANES, params->rows);

	release_rows(site);
	if (site->space != NULL)
		pfree(site->space);
	site->space = NULL;			/* an error may come from here on */
	site->space = MemoryContextAlloc(site->context,
									 2 * vector + lanes * sizeof(uint32));
	site->x = (double *) site->space;
	site->next = (double *) (site->space + vector);
	site->buckets = (uint32 *) (site->space + 2 * vector);
	site->params = *params;
	site->rows = race_rows_acquire(params);
}

void
race_call_site_hold_rows(RaceCallSite *site, const RaceParams *params)
{
	if (site->rows == NULL || site->params.rows < params->rows ||
		!race_params_same_rows(&site->params, params))
		use_rows(site, params);
}

/* Buckets of the vector in site->next */
static const uint32 *
hash_next(RaceCallSite *site, const RaceParams *params)
{
	double	   *x = site->next;

	if (site->rows_hashed >= params->rows &&
		memcmp(x, site->x, params->dims * sizeof(double)) == 0)
		return site->buckets;

	race_rows_hash_one(race_rows_of(site->rows), params->rows, x, site->buckets);
	site->rows_hashed = params->rows;
	site->next = site->x;
	site->x = x;
	return site->buckets;
}

const uint32 *
race_call_site_hash(RaceCallSite *site, const RaceParams *params,
					const double *x)
{
	race_call_site_hold_rows(site, params);
	memcpy(site->next, x, params->dims * sizeof(double));
	return hash_next(site, params);
}

const uint32 *
race_call_site_buckets(RaceCallSite *site, const RaceParams *params, Datum x)
{
	race_params_check_dims(params);
	race_call_site_hold_rows(site, params);
	race_vector_read_into(&site->reader, x, params->dims, site->next);
	return hash_next(site, params);
}
