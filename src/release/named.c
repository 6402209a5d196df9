/*
 * named.c
 *		Questions to a release by its name.
 *
 * A name stands for the latest version that the caller's snapshot sees.  It is
 * looked up once for a call site and a moment; then the question itself is called,
 * with the sketch instead of the name.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "../query/questions.h"
#include "../cache/snapshot_key.h"

PG_FUNCTION_INFO_V1(race_count_named);
PG_FUNCTION_INFO_V1(race_kernel_sum_named);
PG_FUNCTION_INFO_V1(race_kernel_sum_mom_named);
PG_FUNCTION_INFO_V1(race_kde_named);
PG_FUNCTION_INFO_V1(race_estimate_named);
PG_FUNCTION_INFO_V1(race_kde_grid_named);
PG_FUNCTION_INFO_V1(race_info_named);
PG_FUNCTION_INFO_V1(race_classify_named);
PG_FUNCTION_INFO_V1(race_posterior_named);

/* A release: labels are NULL if it has none */
typedef struct Release
{
	int			parts;
	Datum	   *labels;
	Datum	   *sketches;
	Oid			sketch_type;
} Release;

/* What a call site keeps: the release it asked last, and the question's own site */
typedef struct Named
{
	FmgrInfo	question;
	bool		valid;			/* there is a release, of this name and moment */
	char	   *name;
	RaceSnapshotKey	moment;
	Datum		value;			/* its sketch, or array of sketches */
	Datum		labels;			/* text[], where it is an array, */
	Datum		prior;			/* and the text that says uniform */
	MemoryContext context;		/* of the release */
} Named;

/* Rows (label, sketch), into the context */
static void
copy_rows(Release *release, MemoryContext context)
{
	TupleDesc	desc = SPI_tuptable->tupdesc;
	MemoryContext old = MemoryContextSwitchTo(context);
	int			i;

	release->parts = SPI_processed;
	release->labels = palloc(Max(release->parts, 1) * sizeof(Datum));
	release->sketches = palloc(Max(release->parts, 1) * sizeof(Datum));
	release->sketch_type = SPI_gettypeid(desc, 2);
	for (i = 0; i < release->parts; i++)
	{
		bool		no_label;
		bool		no_sketch;
		Datum		label = SPI_getbinval(SPI_tuptable->vals[i], desc, 1, &no_label);
		Datum		sketch = SPI_getbinval(SPI_tuptable->vals[i], desc, 2, &no_sketch);

		/* as it is stored: a sketch out of line stays there */
		release->sketches[i] = datumCopy(sketch, false, -1);
		if (no_label)
			release->labels = NULL;
		else if (release->labels != NULL)
			release->labels[i] = datumCopy(label, false, -1);
	}
	MemoryContextSwitchTo(old);
}

/* The latest version of a release, from the schema that the function is in */
static void
look_up(FunctionCallInfo fcinfo, const char *name, Release *release,
		MemoryContext context)
{
	char	   *schema = get_namespace_name(get_func_namespace(fcinfo->flinfo->fn_oid));
	char	   *table = quote_qualified_identifier(schema, "race_releases");
	char	   *query = psprintf("SELECT label, sketch FROM %s "
								 "WHERE name OPERATOR(pg_catalog.=) $1 AND version OPERATOR(pg_catalog.=) "
								 "(SELECT pg_catalog.max(version) FROM %s WHERE name OPERATOR(pg_catalog.=) $1) "
								 "ORDER BY part", table, table);
	Oid			type = TEXTOID;
	Datum		argument = CStringGetTextDatum(name);

	SPI_connect();
	if (SPI_execute_with_args(query, 1, &type, &argument, NULL, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not look up a release");
	copy_rows(release, context);
	SPI_finish();
	if (release->parts == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("there is no release \"%s\"", name)));
}

/* Keep the sketch of a release without labels. */
static void
keep_sketch(Named *named, const Release *release)
{
	if (release->labels != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("release \"%s\" has a sketch for each label", named->name),
				 errhint("Ask race_classify or race_posterior, or the sketch of a label in race_releases.")));
	named->value = release->sketches[0];
}

/* Keep sketches and labels of a release that has them. */
static void
keep_classes(Named *named, const Release *release)
{
	if (release->labels == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("release \"%s\" has no labels", named->name)));
	named->value = PointerGetDatum(construct_array(release->sketches, release->parts,
												   release->sketch_type, -1, false,
												   TYPALIGN_DOUBLE));
	named->labels = PointerGetDatum(construct_array(release->labels, release->parts,
													TEXTOID, -1, false, TYPALIGN_INT));
	named->prior = CStringGetTextDatum("uniform");
}

static Named *
named_site(FunctionCallInfo fcinfo)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;
	Named	   *named = (Named *) flinfo->fn_extra;

	if (named == NULL)
	{
		named = MemoryContextAllocZero(flinfo->fn_mcxt, sizeof(Named));
		named->context = AllocSetContextCreate(flinfo->fn_mcxt, "race release",
											   ALLOCSET_SMALL_SIZES);
		named->question = *flinfo;
		flinfo->fn_extra = named;
	}
	return named;
}

/* Have the release of this name ready, as it is at this moment. */
static void
hold_release(FunctionCallInfo fcinfo, Named *named, bool classes)
{
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	RaceSnapshotKey	moment = {0};
	bool		has_moment = race_snapshot_key_get(&moment);
	Release		release;
	MemoryContext old;

	if (named->valid && has_moment && race_snapshot_key_same(&named->moment, &moment) &&
		strcmp(named->name, name) == 0)
		return;
	named->valid = false;
	MemoryContextReset(named->context);
	named->name = MemoryContextStrdup(named->context, name);
	look_up(fcinfo, name, &release, named->context);
	old = MemoryContextSwitchTo(named->context);
	if (classes)
		keep_classes(named, &release);
	else
		keep_sketch(named, &release);
	MemoryContextSwitchTo(old);
	named->moment = moment;
	named->valid = has_moment;
}

/*
 * Ask the question of the release that argument 0 names.  A question that gives
 * a set keeps what it was first called with until it is done.
 */
static Datum
ask(FunctionCallInfo fcinfo, PGFunction question, bool classes)
{
	LOCAL_FCINFO(inner, FUNC_MAX_ARGS);
	Named	   *named = named_site(fcinfo);
	Datum		result;

	if (!fcinfo->flinfo->fn_retset || named->question.fn_extra == NULL)
		hold_release(fcinfo, named, classes);
	memcpy(inner, fcinfo, SizeForFunctionCallInfo(fcinfo->nargs));
	inner->flinfo = &named->question;
	inner->args[0].value = named->value;
	if (classes)
	{
		inner->nargs = 4;
		inner->args[2].value = named->prior;
		inner->args[2].isnull = false;
		inner->args[3].value = named->labels;
		inner->args[3].isnull = false;
	}
	result = question(inner);
	fcinfo->isnull = inner->isnull;
	return result;
}

Datum
race_count_named(PG_FUNCTION_ARGS)
{
	return ask(fcinfo, race_count, false);
}

Datum
race_kernel_sum_named(PG_FUNCTION_ARGS)
{
	return ask(fcinfo, race_kernel_sum, false);
}

Datum
race_kernel_sum_mom_named(PG_FUNCTION_ARGS)
{
	return ask(fcinfo, race_kernel_sum_mom, false);
}

Datum
race_kde_named(PG_FUNCTION_ARGS)
{
	return ask(fcinfo, race_kde, false);
}

Datum
race_estimate_named(PG_FUNCTION_ARGS)
{
	return ask(fcinfo, race_estimate, false);
}

Datum
race_kde_grid_named(PG_FUNCTION_ARGS)
{
	return ask(fcinfo, race_kde_grid, false);
}

Datum
race_info_named(PG_FUNCTION_ARGS)
{
	return ask(fcinfo, race_info, false);
}

Datum
race_posterior_named(PG_FUNCTION_ARGS)
{
	return ask(fcinfo, race_posterior_array, true);
}

/* The label of the winner, instead of its position */
Datum
race_classify_named(PG_FUNCTION_ARGS)
{
	int			position = DatumGetInt32(ask(fcinfo, race_classify_array, true));
	Named	   *named = named_site(fcinfo);
	bool		is_null;

	return array_get_element(named->labels, 1, &position, -1, -1, false,
							 TYPALIGN_INT, &is_null);
}
