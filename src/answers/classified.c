/*
 * classified.c
 *		race_classify and race_posterior of a release with labels, by its name.
 *
 * The sketches of the labels say which label is likely, and how surely: a score.  If the
 * release is calibrated, it is known about how many records of each label have this score.
 * Otherwise the likelihoods are all that is known.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "../core/core.h"
#include "../release/ledger.h"
#include "released.h"
#include "classify.h"

PG_FUNCTION_INFO_V1(race_classify_released);
PG_FUNCTION_INFO_V1(race_posterior_released);

/* What a call site keeps: the release that it found last */
typedef struct Classified
{
	RaceNamed	named;
	Datum	   *sketches;		/* of each label */
	Datum	   *scores;			/* of each label, or NULL */
	RaceClasses *classes;		/* which are asked about the query */
	RaceCalibration *calibration;	/* by the scores, or NULL */
	MemoryContext context;		/* of all this */
} Classified;

static Classified *
classified_site(FmgrInfo *flinfo)
{
	Classified *site = (Classified *) flinfo->fn_extra;

	if (site == NULL)
	{
		site = MemoryContextAllocZero(flinfo->fn_mcxt, sizeof(Classified));
		site->context = AllocSetContextCreate(flinfo->fn_mcxt, "race_classify of a release",
											  ALLOCSET_SMALL_SIZES);
		flinfo->fn_extra = site;
	}
	return site;
}

/* The labels of the latest version, in their order */
static void
query_labels(const char *name)
{
	const char *query = "SELECT sketch, label, value_bound, scores FROM " RACE_SCHEMA ".race_releases "
		"WHERE name OPERATOR(pg_catalog.=) $1 AND version OPERATOR(pg_catalog.=) "
		"(SELECT pg_catalog.max(version) FROM " RACE_SCHEMA ".race_releases WHERE name OPERATOR(pg_catalog.=) $1) "
		"ORDER BY part";
	Oid			type = TEXTOID;
	Datum		value = CStringGetTextDatum(name);

	if (SPI_execute_with_args(query, 1, &type, &value, NULL, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not look up a release");
	if (SPI_processed == 0)
		race_named_refuse(name);
}

/* A column, copied to the current memory context.  A sketch out of line stays there. */
static Datum
copied(int row, int i, bool *isnull)
{
	Datum		value = SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, i, isnull);

	if (*isnull || i == 3)
		return value;
	return datumCopy(value, false, -1);
}

/* Are there scores of it? */
static bool
take_label(Classified *site, const char *name, int i, Datum *labels)
{
	RaceView	view;
	bool		isnull;
	bool		no_label;
	bool		no_value;
	bool		no_scores;

	site->sketches[i] = copied(i, 1, &isnull);
	race_sketch_view_header(site->sketches[i], &view);
	labels[i] = copied(i, 2, &no_label);
	(void) copied(i, 3, &no_value);
	site->scores[i] = copied(i, 4, &no_scores);
	if (no_label || !no_value)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("release \"%s\" has not one sketch for each label", race_cut(name))));
	return !no_scores;
}

/* Find the latest version in the ledger of the extension that the function belongs to. */
static void
look_up(Classified *site, const FmgrInfo *flinfo, const char *name)
{
	MemoryContext old;
	bool		calibrated = true;
	Datum	   *labels;
	int			n;
	int			i;

	(void) race_schema_of(flinfo->fn_oid);
	SPI_connect();
	query_labels(name);
	n = SPI_processed;
	old = MemoryContextSwitchTo(site->context);
	labels = palloc(n * sizeof(Datum));
	site->sketches = palloc(n * sizeof(Datum));
	site->scores = palloc(n * sizeof(Datum));
	for (i = 0; i < n; i++)
		calibrated &= take_label(site, name, i, labels);
	if (!calibrated)
		site->scores = NULL;
	site->classes = race_classes_create(n, TEXTOID, labels, race_argument_type(flinfo, 1),
										site->context);
	site->calibration = NULL;
	MemoryContextSwitchTo(old);
	SPI_finish();
}

static RaceCalibration *
calibrate(const Classified *site)
{
	int			n = site->classes->n;
	RaceView   *views = palloc(2 * n * sizeof(RaceView));
	RaceCalibration *calibration;
	int			i;

	for (i = 0; i < n; i++)
	{
		race_sketch_view_header(site->sketches[i], &views[i]);
		race_sketch_view(site->scores[i], &views[n + i]);
	}
	calibration = race_calibration_create(n, views, views + n, site->context);
	pfree(views);
	return calibration;
}

/* The site of a call, which is about the release in argument 0 */
static Classified *
find(FunctionCallInfo fcinfo)
{
	Classified *site = classified_site(fcinfo->flinfo);
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(0));

	if (!race_named_is(&site->named, name))
	{
		site->named.name = NULL;
		MemoryContextReset(site->context);
		look_up(site, fcinfo->flinfo, name);
		if (site->scores != NULL)
			site->calibration = calibrate(site);
		race_named_set(&site->named, name, site->context);
	}
	return site;
}

/* The labels of the release, whose sketches were asked about the query in argument 1 */
static Classified *
ask(FunctionCallInfo fcinfo)
{
	Classified *site = find(fcinfo);

	race_classes_ask(site->classes, site->sketches, PG_GETARG_DATUM(1),
					 site->calibration != NULL ? RACE_PRIOR_COUNTS : RACE_PRIOR_UNIFORM);
	return site;
}

/* race_classify(name, q) */
Datum
race_classify_released(PG_FUNCTION_ARGS)
{
	Classified *site = ask(fcinfo);
	Datum		best = site->calibration == NULL ? race_classes_best(site->classes) :
		race_classes_best_calibrated(site->classes, site->calibration);

	PG_RETURN_DATUM(datumCopy(best, false, -1));
}

/* race_posterior(name, q) */
Datum
race_posterior_released(PG_FUNCTION_ARGS)
{
	Classified *site = ask(fcinfo);

	if (site->calibration != NULL)
		race_classes_calibrate(site->classes, site->calibration);
	PG_RETURN_DATUM(race_scores_posterior(site->classes->scores));
}
