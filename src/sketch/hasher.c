/*
 * hasher.c
 *		From an SQL argument to buckets, with what a call site keeps for it.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "hasher.h"
#include "params.h"

static void
release_rows(void *arg)
{
	RaceHasher *hasher = (RaceHasher *) arg;

	if (hasher->rows != NULL)
		race_rows_release(hasher->rows);
	hasher->rows = NULL;
}

RaceHasher *
race_hasher_create(Oid type, MemoryContext context)
{
	RaceHasher *hasher = MemoryContextAllocZero(context, sizeof(RaceHasher));

	race_vector_prepare(&hasher->reader, type, context);
	hasher->context = context;
	hasher->release.func = release_rows;
	hasher->release.arg = hasher;
	MemoryContextRegisterResetCallback(context, &hasher->release);
	return hasher;
}

RaceHasher *
race_hasher_of(FunctionCallInfo fcinfo, int arg)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;

	if (flinfo->fn_extra == NULL)
		flinfo->fn_extra = race_hasher_create(get_fn_expr_argtype(flinfo, arg),
											  flinfo->fn_mcxt);
	return (RaceHasher *) flinfo->fn_extra;
}

/* Hold the row functions of these parameters, and buckets for them. */
static const RaceRows *
use_params(RaceHasher *hasher, const RaceParams *params)
{
	const RaceRows *rows;

	if (hasher->rows != NULL &&
		!race_params_same(&race_rows_of(hasher->rows)->params, params))
		release_rows(hasher);
	if (hasher->rows == NULL)
		hasher->rows = race_rows_acquire(params);

	rows = race_rows_of(hasher->rows);
	if (rows->stride > hasher->capacity)
	{
		hasher->capacity = 0;
		if (hasher->buckets != NULL)
			pfree(hasher->buckets);
		hasher->buckets = NULL;
		hasher->buckets = MemoryContextAlloc(hasher->context,
											 rows->stride * sizeof(uint32));
		hasher->capacity = rows->stride;
	}
	return rows;
}

const uint32 *
race_hasher_hash(RaceHasher *hasher, const RaceParams *params, const double *x)
{
	const RaceRows *rows = use_params(hasher, params);

	race_rows_hash(rows, x, hasher->buckets);
	return hasher->buckets;
}

const uint32 *
race_hasher_buckets(RaceHasher *hasher, const RaceParams *params, Datum x)
{
	uint32		n;

	race_params_check_dims(params);
	return race_hasher_hash(hasher, params,
							race_vector_read(&hasher->reader, x, params->dims,
											 &n));
}
