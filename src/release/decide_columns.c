/*
 * decide_columns.c
 *		Deciding what a release by columns measures: their tables, or their moments
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"

#include "hash/contingency.h"
#include "privacy/noise.h"
#include "sketch/domain.h"
#include "hash/moment_sums.h"
#include "release/columns.h"
#include "release/columns_measured.h"
#include "release/decide_columns.h"
#include "sketch/params_draft.h"
#include "sketch/params_type.h"
#include "sketch/text.h"

/* Let the release be of columns that were looked up. */
static void
use_measured(RaceReleasePlan *plan, const RaceColumnsMeasured *measured)
{
	plan->domains = race_domains_datum(measured->domains, measured->n);
	race_argument_set(&plan->request, RACE_ARG_COLUMN_UNITS, measured->units, measured->units == 0);
	race_argument_set(&plan->request, RACE_ARG_COLUMNS, measured->names, false);
	plan->sources = measured->sources;
}

/*
 * Let units keep different values first of a column that is counted alone, and whose categories a
 * release chose or will choose: so more of them are found, and later versions count the same rows.
 */
static void
spread_chosen(RaceReleasePlan *plan, const RaceDomain *domains, int n)
{
	plan->spread = n == 1 && domains[0].chosen ? pstrdup(quote_identifier(domains[0].name)) : NULL;
}

/* Set the expression of the values of columns; note those whose categories are to be chosen. */
static void
use_values(RaceReleasePlan *plan, const RaceDomain *domains, int n)
{
	StringInfoData expression;

	initStringInfo(&expression);
	appendStringInfo(&expression, RACE_SCHEMA "._race_cells($%d", RACE_GIVE_DOMAINS);
	for (int i = 0; i < n; i++)
	{
		char *column = pstrdup(quote_identifier(domains[i].name));

		appendStringInfo(&expression, ", %s", column);
		if (domains[i].chosen)
			plan->choices = lappend(plan->choices, column);
	}
	appendStringInfoChar(&expression, ')');
	spread_chosen(plan, domains, n);
	plan->max_categories = RACE_MOST_CHOSEN;
	race_argument_set(&plan->request, RACE_ARG_EXPRESSION, CStringGetTextDatum(expression.data),
					  false);
}

/*
 * Set parameters and expression of what counts the cells of the columns; note how large that is, to
 * be told before the charge.
 */
void
race_plan_use_columns(const RaceLedger *ledger, const RaceDataset *dataset, RaceReleasePlan *plan,
					  const char *label, Datum workload)
{
	RaceColumnsMeasured measured;
	RaceCounted counted;

	race_columns_measure(ledger, dataset, plan->request.columns, plan->request.measure,
						 plan->request.delta > 0, &measured);
	use_measured(plan, &measured);
	race_columns_count(measured.domains, measured.n, label, workload,
					   !race_is_given(&plan->request, RACE_ARG_SERIES), &counted);
	plan->size_notice = psprintf(
		"release \"%s\" measures columns: %d, pairs: %d, %scounters: %.0f (at most %.0f MB)",
		plan->request.name, counted.columns, counted.pairs,
		counted.triples > 0 ? psprintf("triples: %d, ", counted.triples) : "", counted.counters,
		counted.megabytes);
	if (workload != 0)
		plan->size_detail =
			psprintf("Its workload is %s.", OidOutputFunctionCall(F_ARRAY_OUT, workload));
	use_values(plan, counted.domains, counted.n);
	race_argument_set(&plan->request, RACE_ARG_PARAMS, race_ledger_params(ledger, counted.params),
					  false);
}

/*
 * Return the expression of a label that is a column.  A cast of an enum to text is not IMMUTABLE,
 * as its values may be renamed, so these are compared.
 */
static char *
label_of_column(const RaceKnownColumn *column)
{
	StringInfoData text;

	if (get_typtype(column->schema.subject.type) != TYPTYPE_ENUM || column->reason != NULL)
		return pstrdup(quote_identifier(column->schema.name));
	initStringInfo(&text);
	appendStringInfo(&text, "CASE %s::%s", quote_identifier(column->schema.name), column->type);
	for (uint32 i = 0; i < column->domain.n; i++)
		appendStringInfo(&text, " WHEN %s THEN %s",
						 quote_literal_cstr(column->domain.categories[i]),
						 quote_literal_cstr(column->domain.categories[i]));
	appendStringInfoString(&text, " END");
	return text.data;
}

/* Return the categories of a column that has some. */
static Datum
categories_of(const RaceKnownColumn *column)
{
	List *categories = NIL;

	for (uint32 i = 0; i < column->domain.n; i++)
		categories = lappend(categories, column->domain.categories[i]);
	return race_texts_array(categories);
}

/*
 * Where the label is a column, let it be that column whatever its name is, and list its
 * categories.  Return how many labels there are, or 1 for none.
 */
static int
use_column_as_label(const RaceLedger *ledger, const RaceDataset *dataset, RaceReleasePlan *plan)
{
	RaceColumnsOf of = {plan->request.dataset, dataset->relation, dataset->public_tables};
	RaceKnownColumn *column;
	bool listed;
	int n;

	if (plan->request.label == NULL)
		return 1;
	column = race_columns_find(race_columns_look_up(ledger, &of, list_make1(plan->request.label)),
							   plan->request.label);
	listed = column != NULL && column->reason == NULL && column->domain.category;
	if (listed && !race_is_given(&plan->request, RACE_ARG_LABELS))
		race_argument_set(&plan->request, RACE_ARG_LABELS, categories_of(column), false);
	if (!race_is_given(&plan->request, RACE_ARG_LABELS))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("label \"%s\" is no column with categories", race_cut(plan->request.label)),
				 errhint("List them, as in labels => '{north,south}'.")));
	if (column != NULL)
		plan->request.label = label_of_column(column);
	n = ArrayGetNItems(ARR_NDIM(DatumGetArrayTypeP(plan->request.labels)),
					   ARR_DIMS(DatumGetArrayTypeP(plan->request.labels)));
	if (n > RACE_MOMENTS_CLASSES)
		ereport(
			ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("there can be at most %d classes with moments", RACE_MOMENTS_CLASSES),
			 errdetail("Nothing was read and nothing charged."),
			 errhint("List fewer labels, or release tables of the columns: CALL race_release.")));
	return n;
}

/*
 * Without parameters and an expression, let the release be of moments of columns: of numbers, and
 * of 0 or 1 for each category.
 */
void
race_plan_use_vector(const RaceLedger *ledger, const RaceDataset *dataset, RaceReleasePlan *plan)
{
	RaceColumnsMeasured measured;
	double counters;
	int labels;

	if (race_is_given(&plan->request, RACE_ARG_COLUMN_UNITS))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("units of columns are those that race_columns shows"),
				 errhint("Their owner says them: CALL race_describe(%s, column, unit => ...).",
						 quote_literal_cstr(plan->request.dataset))));
	race_columns_measure_vector(ledger, dataset, plan->request.columns, &measured);
	use_measured(plan, &measured);
	for (int i = 0; i < measured.n && plan->request.label != NULL; i++)
		if (strcmp(measured.domains[i].name, plan->request.label) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("label \"%s\" is among the columns", race_cut(plan->request.label)),
					 errhint("Columns are those that the label is told from.")));
	labels = use_column_as_label(ledger, dataset, plan);
	use_values(plan, measured.domains, measured.n);
	race_argument_set(&plan->request, RACE_ARG_PARAMS, race_ledger_params(ledger, measured.params),
					  false);
	counters = (double) labels * RaceCounters(race_params_arg(plan->request.params));
	plan->size_notice = psprintf(
		"release \"%s\" measures columns: %d, numbers of a record: %u, %scounters: %.0f (at most %.0f MB)",
		plan->request.name, measured.n, race_params_arg(plan->request.params)->dims,
		labels > 1 ? psprintf("labels: %d, ", labels) : "", counters,
		ceil(counters * sizeof(int64) / 1e6));
}

/*
 * Set the cells of columns whose categories were chosen, of the parameters that were made without
 * these.
 */
void
race_plan_use_chosen_cells(RaceReleasePlan *plan)
{
	const RaceParams *params = race_params_arg(plan->request.params);
	uint32 d = params->dims;
	double *cells = palloc(d * sizeof(double));
	double *groups = palloc(RACE_GROUP_NUMBERS * d * sizeof(double));
	int n;
	RaceDomain *domains = race_domains_read(DatumGetJsonbP(plan->domains), &n, true);

	memcpy(cells, race_array(params, RACE_ARRAY_CELLS), d * sizeof(double));
	memcpy(groups, race_array(params, RACE_ARRAY_GROUPS), RACE_GROUP_NUMBERS * d * sizeof(double));
	for (int i = 0; i < n; i++)
		if (domains[i].chosen)
		{
			cells[i] = RaceDomainCells(&domains[i]);
			groups[i] = domains[i].group;
		}
	spread_chosen(plan, domains, n);
	plan->params_datum =
		PointerGetDatum(race_params_datum(race_params_with_cells(params, cells, groups)));
	plan->params = race_params_arg(plan->params_datum);
}
