/*
 * released.c
 *		Answers of released values by name
 * release with a value.
 *
 * A name stands for the latest version that the caller's snapshot sees.  It is looked up
 * once for a call site and a snapshot.  The result is the sketch as it is stored: what
 * asks it finds it in the cache, as if it came from the table.
 *
 * Of a release with a value, each half has a part of each record only.  So the name alone
 * stands for the sum of both, and nobody takes a half for the whole.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "../core/core.h"
#include "../release/ledger.h"
#include "proportion.h"
#include "released.h"

PG_FUNCTION_INFO_V1(race_released);
PG_FUNCTION_INFO_V1(race_released_mean);

/* Which sketch of a release with a value */
typedef enum Bound
{
	BOUND_LOWER = RACE_LOWER, BOUND_UPPER = RACE_UPPER, BOUND_NONE = RACE_HALVES
} Bound;

/* What is stored under a name, and perhaps a label */
typedef struct Found
{
	bool		pair;			/* is it of a release with a value? */
	RaceValuePair halves;		/* without a value, the first sketch alone */
	Datum		sum;			/* of both, or 0 while nobody has asked for it */
} Found;

/* What a call site keeps: what it found last */
typedef struct Released
{
	RaceNamed	named;
	char	   *name;			/* of the release */
	char	   *label;			/* or NULL, of a release without labels */
	Found		found;
	MemoryContext context;		/* of all this */
	RaceHalfSites *halves;		/* of race_released_mean; else NULL */
} Released;

/* -------------------------------------------------------------- names */

bool
race_named_is(const RaceNamed *named, const char *name)
{
	RaceSnapshotKey key = {0};

	return named->name != NULL && strcmp(named->name, name) == 0 &&
		named->role == GetUserId() && race_snapshot_key_get(&key) &&
		race_snapshot_key_same(&named->key, &key);
}

void
race_named_set(RaceNamed *named, const char *name, MemoryContext context)
{
	RaceSnapshotKey key = {0};

	/* without a key it will not be found again */
	named->name = race_snapshot_key_get(&key) ? MemoryContextStrdup(context, name) : NULL;
	named->role = GetUserId();
	named->key = key;
}

void
race_named_refuse(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("there is no release \"%s\"", race_cut(name)),
			 errhint(RACE_NAMED_HINT)));
}

/* -------------------------------------------------------------- sites */

static Released *
released_site(FmgrInfo *flinfo)
{
	Released   *site = (Released *) flinfo->fn_extra;

	if (site == NULL)
	{
		site = MemoryContextAllocZero(flinfo->fn_mcxt, sizeof(Released));
		site->context = AllocSetContextCreate(flinfo->fn_mcxt, "race_released",
											  ALLOCSET_SMALL_SIZES);
		flinfo->fn_extra = site;
	}
	return site;
}

static bool
same_text(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* Say why there is no such sketch. */
static void
refuse(const char *name, const char *label, bool has_labels)
{
	if (has_labels && label == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("release \"%s\" has a sketch for each label", race_cut(name)),
				 errhint("Give a label, or ask all of them in race_latest_releases.")));
	if (label != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("there is no release \"%s\" with label \"%s\"",
						race_cut(name), race_cut(label)),
				 errhint(RACE_NAMED_HINT)));
	race_named_refuse(name);
}

/* Query the parts of the latest version, in their order; more than a pair has are not read. */
static void
query_parts(const char *name, const char *label)
{
	const char *query = "SELECT sketch, label IS NOT NULL, value_bound FROM " RACE_SCHEMA ".race_releases "
		"WHERE name OPERATOR(pg_catalog.=) $1 AND version OPERATOR(pg_catalog.=) "
		"(SELECT pg_catalog.max(version) FROM " RACE_SCHEMA ".race_releases WHERE name OPERATOR(pg_catalog.=) $1) "
		"AND ($2 IS NULL OR label OPERATOR(pg_catalog.=) $2) "
		"ORDER BY part";
	Oid			types[2] = {TEXTOID, TEXTOID};
	Datum		values[2] = {CStringGetTextDatum(name), label == NULL ? (Datum) 0 : CStringGetTextDatum(label)};
	char		nulls[2] = {' ', label == NULL ? 'n' : ' '};

	if (SPI_execute_with_args(query, 2, types, values, nulls, true, RACE_HALVES) != SPI_OK_SELECT)
		elog(ERROR, "could not look up a release");
}

static Datum
column(int row, int i, bool *isnull)
{
	return SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, i, isnull);
}

/* Copy what the query found.  A sketch out of line stays there. */
static void
take_parts(Found *found, const char *name)
{
	bool		isnull;
	int			i;

	(void) column(0, 3, &isnull);
	found->pair = !isnull;
	if (found->pair && SPI_processed < RACE_HALVES)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("release \"%s\" lacks a sketch of its pair", race_cut(name))));
	for (i = 0; i < (found->pair ? RACE_HALVES : 1); i++)
	{
		found->halves.sketches[i] = datumCopy(column(i, 1, &isnull), false, -1);
		found->halves.bounds[i] = DatumGetFloat8(column(i, 3, &isnull));
	}
}

/* Find the latest version in the ledger of the extension that the function belongs to. */
static void
look_up(Oid function, const char *name, const char *label, MemoryContext context, Found *found)
{
	bool		has_labels = false;
	bool		isnull;
	MemoryContext old;

	(void) race_schema_of(function);
	SPI_connect();
	query_parts(name, label);
	if (SPI_processed > 0)
		has_labels = DatumGetBool(column(0, 2, &isnull));
	if (SPI_processed == 0 || (has_labels && label == NULL))
		refuse(name, label, has_labels);
	memset(found, 0, sizeof(Found));
	old = MemoryContextSwitchTo(context);
	take_parts(found, name);
	MemoryContextSwitchTo(old);
	SPI_finish();
}

/* What the name in argument 0 and the label stand for */
static Released *
find(FunctionCallInfo fcinfo, const char *label)
{
	Released   *site = released_site(fcinfo->flinfo);
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(0));

	if (!race_named_is(&site->named, name) || !same_text(site->label, label))
	{
		site->named.name = NULL;
		MemoryContextReset(site->context);
		look_up(fcinfo->flinfo->fn_oid, name, label, site->context,
				&site->found);
		site->label = label == NULL ? NULL : MemoryContextStrdup(site->context, label);
		site->name = MemoryContextStrdup(site->context, name);
		race_named_set(&site->named, name, site->context);
	}
	return site;
}

/* The sketch of all records of a pair, whose halves cost together what each of them costs */
static Datum
sum_of(Released *site)
{
	Found	   *found = &site->found;
	MemoryContext old;

	if (found->sum == (Datum) 0)
	{
		Datum		sum = DirectFunctionCall2(race_plus_disjoint,
											  found->halves.sketches[RACE_LOWER],
											  found->halves.sketches[RACE_UPPER]);

		old = MemoryContextSwitchTo(site->context);
		found->sum = datumCopy(sum, false, -1);
		MemoryContextSwitchTo(old);
	}
	return found->sum;
}

static char *
text_arg(FunctionCallInfo fcinfo, int i)
{
	return PG_ARGISNULL(i) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(i));
}

static Bound
bound_named(const char *bound)
{
	if (bound == NULL)
		return BOUND_NONE;
	if (strcmp(bound, "lower") == 0)
		return BOUND_LOWER;
	if (strcmp(bound, "upper") == 0)
		return BOUND_UPPER;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unknown bound \"%s\"", race_cut(bound)),
			 errhint("Use lower or upper.")));
	return BOUND_NONE;			/* not reached */
}

static void
check_pair(const Released *site)
{
	if (!site->found.pair)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("release \"%s\" was made without a value", race_cut(site->name))));
}

/* race_released(name, label, bound) */
Datum
race_released(PG_FUNCTION_ARGS)
{
	Released   *site;
	Bound		bound;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	bound = bound_named(text_arg(fcinfo, 2));
	site = find(fcinfo, text_arg(fcinfo, 1));
	if (bound != BOUND_NONE)
	{
		check_pair(site);
		PG_RETURN_DATUM(site->found.halves.sketches[bound]);
	}
	PG_RETURN_DATUM(site->found.pair ? sum_of(site) : site->found.halves.sketches[0]);
}

/* race_released_mean(name, q, label, confidence) */
Datum
race_released_mean(PG_FUNCTION_ARGS)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;
	Released   *site;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(3))
		PG_RETURN_NULL();
	site = find(fcinfo, text_arg(fcinfo, 2));
	check_pair(site);
	if (site->halves == NULL)
	{
		RaceHalfSites *halves = MemoryContextAlloc(flinfo->fn_mcxt, sizeof(RaceHalfSites));

		race_half_sites_create(halves, race_argument_type(flinfo, 1), flinfo->fn_mcxt);
		site->halves = halves;
	}
	return race_conditional_mean_row(fcinfo, site->halves, &site->found.halves,
									 PG_GETARG_DATUM(1), PG_GETARG_FLOAT8(3));
}
