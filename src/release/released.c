/*
 * released.c
 *		race_released: the sketch of a release, by its name.
 *
 * A name stands for the latest version that the caller's snapshot sees.  It is looked up
 * once for a call site and a snapshot.  The result is the sketch as it is stored: what
 * asks it finds it in the cache, as if it came from the table.
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

#include "../cache/snapshot_key.h"
#include "../server/text.h"

PG_FUNCTION_INFO_V1(race_released);

/* What a call site keeps: the sketch that it gave last */
typedef struct Released
{
	char	   *name;			/* or NULL, before the first one */
	char	   *label;			/* or NULL, of a release without labels */
	Oid			role;			/* that asked for it */
	RaceSnapshotKey key;
	Datum		sketch;
	MemoryContext context;		/* of all this */
} Released;

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
						race_cut(name), race_cut(label))));
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("there is no release \"%s\"", race_cut(name))));
}

/*
 * Find the part of the latest version in the schema that the function is in.  A sketch
 * out of line stays there.
 */
static Datum
look_up(Oid schema, const char *name, const char *label, MemoryContext context)
{
	char	   *table = quote_qualified_identifier(get_namespace_name(schema), "race_releases");
	char	   *query = psprintf("SELECT sketch, label IS NOT NULL FROM %s "
								 "WHERE name OPERATOR(pg_catalog.=) $1 AND version OPERATOR(pg_catalog.=) "
								 "(SELECT pg_catalog.max(version) FROM %s WHERE name OPERATOR(pg_catalog.=) $1) "
								 "AND ($2 IS NULL OR label OPERATOR(pg_catalog.=) $2) "
								 "ORDER BY part", table, table);
	Oid			types[2] = {TEXTOID, TEXTOID};
	Datum		values[2] = {CStringGetTextDatum(name), label == NULL ? (Datum) 0 : CStringGetTextDatum(label)};
	char		nulls[2] = {' ', label == NULL ? 'n' : ' '};
	bool		has_labels = false;
	Datum		sketch;
	bool		isnull;
	MemoryContext old;

	SPI_connect();
	if (SPI_execute_with_args(query, 2, types, values, nulls, true, 1) != SPI_OK_SELECT)
		elog(ERROR, "could not look up a release");
	if (SPI_processed > 0)
		has_labels = DatumGetBool(SPI_getbinval(SPI_tuptable->vals[0],
												SPI_tuptable->tupdesc, 2, &isnull));
	if (SPI_processed == 0 || (has_labels && label == NULL))
		refuse(name, label, has_labels);
	sketch = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull);
	old = MemoryContextSwitchTo(context);
	sketch = datumCopy(sketch, false, -1);
	MemoryContextSwitchTo(old);
	SPI_finish();
	return sketch;
}

/* race_released(name, label) */
Datum
race_released(PG_FUNCTION_ARGS)
{
	Released   *site = released_site(fcinfo->flinfo);
	RaceSnapshotKey key = {0};
	bool		has_key = race_snapshot_key_get(&key);
	char	   *name;
	char	   *label;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	label = PG_ARGISNULL(1) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(1));
	if (!has_key || site->name == NULL || site->role != GetUserId() || !race_snapshot_key_same(&site->key, &key) ||
		!same_text(site->name, name) || !same_text(site->label, label))
	{
		site->name = NULL;
		MemoryContextReset(site->context);
		site->sketch = look_up(get_func_namespace(fcinfo->flinfo->fn_oid), name, label,
							   site->context);
		site->label = label == NULL ? NULL : MemoryContextStrdup(site->context, label);
		site->name = MemoryContextStrdup(site->context, name);
		site->role = GetUserId();
		site->key = key;
	}
	PG_RETURN_DATUM(site->sketch);
}
