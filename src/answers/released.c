/*
 * released.c
 *		Answers of releases by name
 *
 * A name stands for the latest version that the caller's snapshot sees.  It is looked up
 * once for a call site and a snapshot, with all its labels.  The result is the sketch as it is
 * stored: what asks it finds it in the cache, as if it came from the table.
 *
 * Of a release with labels, the sketches or moments give each label a score.  If the release is
 * calibrated, scores become probabilities (calibration.c).  Otherwise they are likelihoods.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#include "privacy/counters.h"
#include "privacy/noise.h"
#include "hash/contingency.h"
#include "hash/params.h"
#include "sketch/argument.h"
#include "sketch/call_site.h"
#include "sketch/compat.h"
#include "sketch/domain.h"
#include "sketch/params_type.h"
#include "sketch/settings.h"
#include "sketch/sketch.h"
#include "sketch/sketch_format.h"
#include "sketch/text.h"
#include "sketch/value_columns.h"
#include "release/ledger.h"
#include "release/names.h"
#include "answers/classify.h"
#include "answers/estimate.h"
#include "answers/period.h"
#include "answers/released.h"
#include "answers/table_answers.h"

PG_FUNCTION_INFO_V1(race_released);
PG_FUNCTION_INFO_V1(race_classify_name);
PG_FUNCTION_INFO_V1(race_posterior);

/* A row of race_releases */
typedef struct Part
{
	Datum sketch;
	Datum label;  /* 0 without one */
	Datum scores; /* 0 without scores */
} Part;

/* What a call site keeps: all parts of the release that it found last */
typedef struct Released
{
	RaceNamed named;
	char *name; /* name of the release */
	int n;
	Part *parts;
	Part **by_label;     /* [n]: parts by label, NULL before the first question about one */
	RaceDomain *columns; /* [n_columns]: domains of the columns, or NULL before the first record */
	int n_columns;
	RaceClasses *classes;         /* classes by label, or NULL before their first use */
	Datum *sketches;              /* sketches of labels */
	RaceCalibration *calibration; /* calibration of scores, or NULL */
	MemoryContext context;        /* memory context of all fields */
} Released;

/* Return a column, copied to a context, or 0.  A sketch out of line stays there. */
static Datum
copy_column(int row, int i, MemoryContext context)
{
	MemoryContext old;
	bool isnull;
	Datum value = SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, i, &isnull);

	if (isnull)
		return (Datum) 0;
	old = MemoryContextSwitchTo(context);
	value = datumCopy(value, false, -1);
	MemoryContextSwitchTo(old);
	return value;
}

static void
run_query(const char *query, int n, Oid *types, Datum *values, const char *nulls)
{
	if (SPI_execute_with_args(query, n, types, values, nulls, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not look up a release");
}

static int
int_column(int i)
{
	bool isnull;

	return DatumGetInt32(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, i, &isnull));
}

/*
 * Return the versions that a name stands for, an array with their weights: the values of a series
 * that cover a period, or the latest version alone.  *name becomes the one in the ledger.
 */
static Datum
find_versions(Datum *name, double **weights)
{
	Oid type = TEXTOID;
	Datum *versions;
	double *all;
	int n;
	int used = 0;

	run_query(
		"SELECT p.name, CASE WHEN p.\"values\" IS NULL THEN (SELECT pg_catalog.max(r.version) FROM " RACE_SCHEMA
		".race_releases r"
		" WHERE r.name OPERATOR(pg_catalog.=) $1) ELSE p.\"values\" END, p.first, p.after, p.\"values\" IS NULL, p.levels FROM " RACE_SCHEMA
		"._race_period($1) p",
		1, &type, name, NULL);
	n = int_column(2);
	if (int_column(5))
	{
		Datum version = Int32GetDatum(n);

		*weights = NULL;
		return PointerGetDatum(
			construct_array(&version, 1, INT4OID, sizeof(int32), true, TYPALIGN_INT));
	}
	*name = copy_column(0, 1, CurrentMemoryContext);
	all = palloc(n * sizeof(double));
	*weights = palloc(n * sizeof(double));
	versions = palloc(n * sizeof(Datum));
	if (race_period_weights(n, int_column(6), int_column(3), int_column(4), all) < 0)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
	for (int i = 0; i < n; i++)
		if (all[i] != 0)
		{
			(*weights)[used] = all[i];
			versions[used++] = Int32GetDatum(i + 1);
		}
	return PointerGetDatum(
		construct_array(versions, used, INT4OID, sizeof(int32), true, TYPALIGN_INT));
}

/*
 * This is post-processing.  Values have the same parameters and the same noise, which public facts
 * alone decide, so a weighted sum of their counters is a sketch of the same kind, whose noise has a
 * known variance.
 */
#define ROUNDING_VARIANCE (1.0 / 12) /* variance of a sum that is rounded to an integer */

static int64
round_sum(double sum)
{
	return (int64) rint(Min(Max(sum, -(double) RACE_MAX_COUNT), (double) RACE_MAX_COUNT));
}

/* Add the counters of a sketch, and its count after them. */
static void
add_counters(const RaceView *view, double weight, double *sums)
{
	Size n = RaceCounters(view->params);

	for (Size i = 0; i < n; i++)
	{
		int64 counter;

		race_counters_load(view->counters, view->width, i, 1, &counter);
		sums[i] += weight * (double) counter;
	}
	sums[n] += weight * (double) view->header->count;
}

/* Set the noise to that of one value, times the sum of squared weights. */
static void
scale_noise(RaceSketch *sketch, double squares)
{
	double *measured = (double *) race_array(sketch->params, RACE_ARRAY_MEASURED);
	double *signs = (double *) race_array(sketch->params, RACE_ARRAY_SIGNS);
	RaceNoise *noise = &sketch->header.noise;

	noise->counter_variance = noise->counter_variance * squares + ROUNDING_VARIANCE;
	noise->count_variance = noise->count_variance * squares + ROUNDING_VARIANCE;
	for (uint32 i = 0; measured != NULL && i < sketch->params->tables.measured; i++)
		measured[RACE_TABLE_NUMBERS * i + 2] =
			measured[RACE_TABLE_NUMBERS * i + 2] * squares + ROUNDING_VARIANCE;
	if (signs != NULL)
		signs[0] = signs[0] * squares + ROUNDING_VARIANCE;
}

/*
 * Return the weighted sum of n private sketches with the same parameters and noise, flat.  It costs
 * what each of them says: values of a series all state the cost of the series.
 */
static Datum
weighted_sum(int n, const Datum *sketches, const double *weights)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "weighted sum", ALLOCSET_DEFAULT_SIZES);
	MemoryContext each =
		AllocSetContextCreate(CurrentMemoryContext, "value of a series", ALLOCSET_DEFAULT_SIZES);
	RaceSketch *sum = NULL;
	double *sums = NULL;
	double squares = 0;

	for (int i = 0; i < n; i++)
	{
		MemoryContext old = MemoryContextSwitchTo(each);
		RaceView view;

		CHECK_FOR_INTERRUPTS();
		race_sketch_view_any(sketches[i], &view);
		if (sum == NULL)
		{
			sum = race_sketch_create(view.params, view.params->rows, sizeof(int64), context);
			sum->header.noise = view.header->noise;
			race_sketch_set_columns(sum, &view);
			sums = MemoryContextAllocExtended(old, (RaceCounters(view.params) + 1) * sizeof(double),
											  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
		}
		else
		{
			if (!race_params_same(sum->params, view.params) ||
				sum->header.noise.counter_variance != view.header->noise.counter_variance ||
				sum->columns_size != view.columns_size ||
				(view.columns_size > 0 &&
				 memcmp(sum->columns, view.columns, view.columns_size) != 0))
				ereport(
					ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("the values of the series were not made in the same way"),
					 errhint(
						 "Another version of racepriv made some of them: ask periods from before and after apart.")));
		}
		add_counters(&view, weights[i], sums);
		squares += weights[i] * weights[i];
		MemoryContextSwitchTo(old);
		MemoryContextReset(each);
	}
	for (Size i = 0; i < RaceCounters(sum->params); i++)
		((int64 *) sum->counters)[i] = round_sum(sums[i]);
	sum->header.count = round_sum(sums[RaceCounters(sum->params)]);
	sum->header.noise.releases = n;
	scale_noise(sum, squares);
	race_sketch_touch(sum);
	pfree(sums);
	MemoryContextDelete(each);
	return datumCopy(RaceSketchGetDatum(sum), false, -1);
}

/* Replace the values of each part of a series, which follow each other, by their weighted sum. */
static void
add_values(Released *site, int values, const double *weights)
{
	Datum *sketches = palloc(values * sizeof(Datum));
	MemoryContext old;

	site->n /= values;
	for (int i = 0; i < site->n; i++)
	{
		Part part = site->parts[i * values];

		for (int k = 0; k < values; k++)
			sketches[k] = site->parts[i * values + k].sketch;
		old = MemoryContextSwitchTo(site->context);
		part.sketch = weighted_sum(values, sketches, weights);
		MemoryContextSwitchTo(old);
		site->parts[i] = part;
	}
}

/*
 * Find the parts of the latest version, or of a period of a series, in the ledger of the extension
 * that the function belongs to.
 */
static void
look_up_parts(Released *site, Oid function, const char *name)
{
	const char *query =
		"SELECT sketch, label, scores FROM " RACE_SCHEMA ".race_releases "
		"WHERE name OPERATOR(pg_catalog.=) $1 AND version OPERATOR(pg_catalog.=) ANY ($2) "
		"ORDER BY part, version";
	Oid types[2] = {TEXTOID, INT4ARRAYOID};
	Datum values[2] = {CStringGetTextDatum(name)};
	double *weights;

	(void) race_schema_of(function);
	SPI_connect();
	values[1] = find_versions(&values[0], &weights);
	run_query(query, 2, types, values, NULL);
	if (SPI_processed == 0)
		race_named_refuse(name);
	site->n = (int) SPI_processed;
	site->parts = MemoryContextAllocHuge(site->context, site->n * sizeof(Part));
	for (int i = 0; i < site->n; i++)
	{
		Part *part = &site->parts[i];

		part->sketch = copy_column(i, 1, site->context);
		part->label = copy_column(i, 2, site->context);
		part->scores = copy_column(i, 3, site->context);
	}
	if (weights != NULL)
		add_values(site, ArrayGetNItems(1, ARR_DIMS(DatumGetArrayTypeP(values[1]))), weights);
	SPI_finish();
}

/* Return what the name in argument 0 stands for. */
static Released *
find_released(FunctionCallInfo fcinfo)
{
	FmgrInfo *flinfo = fcinfo->flinfo;
	Released *site = (Released *) flinfo->fn_extra;
	char *name = text_to_cstring(PG_GETARG_TEXT_PP(0));

	if (site == NULL)
	{
		site = MemoryContextAllocZero(flinfo->fn_mcxt, sizeof(Released));
		site->context =
			AllocSetContextCreate(flinfo->fn_mcxt, "race_released", ALLOCSET_SMALL_SIZES);
		flinfo->fn_extra = site;
	}
	if (race_named_is(&site->named, name))
		return site;
	site->named.name = NULL;
	MemoryContextReset(site->context);
	site->by_label = NULL;
	site->columns = NULL;
	site->classes = NULL;
	site->calibration = NULL;
	look_up_parts(site, flinfo->fn_oid, name);
	site->name = MemoryContextStrdup(site->context, name);
	race_named_set(&site->named, name, site->context);
	return site;
}

/* Compare the label of a part with another one, byte by byte. */
static int
compare_label(const Part *part, const text *label)
{
	const text *own = DatumGetTextPP(part->label);
	Size n = VARSIZE_ANY_EXHDR(own);
	Size m = VARSIZE_ANY_EXHDR(label);
	int order = memcmp(VARDATA_ANY(own), VARDATA_ANY(label), Min(n, m));

	return order != 0 ? order : (n > m) - (n < m);
}

/* Order parts by label, and those of a label as they are stored. */
static int
compare_parts(const void *a, const void *b)
{
	const Part *x = *(Part *const *) a;
	const Part *y = *(Part *const *) b;
	int order = compare_label(x, DatumGetTextPP(y->label));

	return order != 0 ? order : (x > y) - (x < y);
}

static void
sort_by_label(Released *site)
{
	site->by_label = MemoryContextAllocHuge(site->context, site->n * sizeof(Part *));
	for (int i = 0; i < site->n; i++)
		site->by_label[i] = &site->parts[i];
	qsort(site->by_label, site->n, sizeof(Part *), compare_parts);
}

/* Return the first part of a label. */
static const Part *
find_label(Released *site, const text *label)
{
	int from = 0;
	int to = site->n; /* the first part of this label or a greater one is within from ... to */

	if (site->parts[0].label == (Datum) 0)
		to = 0;
	else if (site->by_label == NULL)
		sort_by_label(site);
	while (from < to)
	{
		int middle = from + (to - from) / 2;

		if (compare_label(site->by_label[middle], label) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	if (site->by_label == NULL || from == site->n ||
		compare_label(site->by_label[from], label) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("there is no release \"%s\" with label \"%s\"", race_cut(site->name),
						race_cut(text_to_cstring(label))),
				 errhint("race_catalog shows the labels of each release.")));
	return site->by_label[from];
}

/* Find the sketch of a label, or the only one. */
static const Part *
find_one(Released *site, const text *label)
{
	const Part *part = label == NULL ? &site->parts[0] : find_label(site, label);

	if (label == NULL && part->label != (Datum) 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("release \"%s\" has a sketch for each label", race_cut(site->name)),
				 errhint("Give a label, or ask all of them in race_latest_releases.")));
	return part;
}

Datum
race_released_any(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	PG_RETURN_DATUM(find_released(fcinfo)->parts[0].sketch);
}

/* Implement race_released(name, label). */
Datum
race_released(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	PG_RETURN_DATUM(
		find_one(find_released(fcinfo), PG_ARGISNULL(1) ? NULL : PG_GETARG_TEXT_PP(1))->sketch);
}

/* ------------------------------------------------------------------- labels */

/* Make the classes of the labels in a site, and their calibration if all have scores. */
static void
prepare_classes(Released *site, Oid query)
{
	int n = site->n;
	MemoryContext old = MemoryContextSwitchTo(site->context);
	Datum *labels = palloc(n * sizeof(Datum));
	Datum *sketches;
	RaceView *views = palloc(2 * n * sizeof(RaceView));
	RaceClasses *classes;
	bool calibrated = true;

	sketches = palloc(n * sizeof(Datum));
	for (int i = 0; i < n; i++)
	{
		const Part *part = &site->parts[i];

		if (part->label == (Datum) 0)
			ereport(
				ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("release \"%s\" has not one sketch for each label", race_cut(site->name)),
				 errhint(
					 "For a release by columns, race_classify(name, column, '{\"other\": value}') returns a share for each value.")));
		labels[i] = part->label;
		sketches[i] = part->sketch;
		race_sketch_view_header_any(part->sketch, &views[i]);
		calibrated &= part->scores != (Datum) 0;
	}
	classes = race_classes_create(n, sketches, TEXTOID, labels, query, site->context);
	for (int i = 0; i < n && calibrated; i++)
		race_sketch_view(site->parts[i].scores, &views[n + i]);
	if (calibrated)
		site->calibration = race_calibration_create(n, views, views + n, site->context);
	site->classes = classes;
	MemoryContextSwitchTo(old);
}

/*
 * Replace a query that is a JSON object of the columns of the release by the record that it stands
 * for.
 */
static void
use_columns(Released *site, Oid *type, Datum *query)
{
	int level;

	if (*type != JSONBOID && *type != UNKNOWNOID)
		return;
	if (site->columns == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(site->context);
		RaceView view;

		race_sketch_view_columns(site->parts[0].sketch, &view);
		site->columns = race_columns_read(&view, &site->n_columns);
		MemoryContextSwitchTo(old);
	}
	if (site->columns == NULL || !site->columns[0].vector)
		return;
	if (*type == UNKNOWNOID)
		*query = DirectFunctionCall1(jsonb_in, *query);
	level = race_settings_fix();
	*query = race_domains_ask(site->n_columns, site->columns, DatumGetJsonbP(*query));
	race_settings_restore(level);
	*type = FLOAT8ARRAYOID;
}

/* Ask the sketches of all labels about the query in argument 1. */
static RaceClasses *
ask_labels(FunctionCallInfo fcinfo)
{
	Released *site = find_released(fcinfo);
	Oid type = race_argument_type(fcinfo->flinfo, 1);
	Datum query = PG_GETARG_DATUM(1);

	use_columns(site, &type, &query);
	if (site->classes == NULL)
		prepare_classes(site, type);
	race_classes_ask(site->classes, query,
					 site->calibration != NULL ? RACE_PRIOR_COUNTS : RACE_PRIOR_UNIFORM);
	if (site->calibration != NULL)
		race_calibration_apply(site->calibration, site->classes->scores);
	return site->classes;
}

/* Implement race_classify(name, q). */
Datum
race_classify_name(PG_FUNCTION_ARGS)
{
	PG_RETURN_DATUM(datumCopy(race_classes_best(ask_labels(fcinfo)), false, -1));
}

/* Implement race_posterior(name, q). */
Datum
race_posterior(PG_FUNCTION_ARGS)
{
	PG_RETURN_DATUM(race_scores_posterior(ask_labels(fcinfo)->scores));
}
