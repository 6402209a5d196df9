/*
 * decide.c
 *		Deciding what the request of a release leaves open, from public facts
 */
#include "postgres.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "hash/moment_sums.h"
#include "privacy/noise.h"
#include "release/privatize.h"
#include "privacy/wishart.h"
#include "sketch/sketch_format.h"
#include "release/models.h"
#include "release/shown.h"
#include "release/decide.h"
#include "sketch/params_draft.h"
#include "sketch/params_text.h"
#include "sketch/params_type.h"

/* All private sketches of a release are in memory at once. */
#define MOST_BYTES INT64CONST(1000000000)

#define MOST_LABELS 100000

/* Raise what is wrong with a label without a list, or a list without a label. */
static void
check_label(const RaceReleasePlan *plan, int64 bytes)
{
	bool listed = plan->labels != 0;

	if (plan->request.label == NULL && listed)
		race_refuse_arguments(
			"labels need a label",
			"label is the expression that gives the label of a row: label => 'town'.");
	if (plan->request.label == NULL || listed)
		return;
	if (plan->request.delta == 0)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("labels that are not listed need a delta"),
			 errdetail(
				 "Which labels occur is private. With a delta, those are released that enough persons have."),
			 errhint(
				 "Write labels => '{north,south}' if the list is public, or else delta => 1e-6.")));
	if (bytes > MOST_BYTES / 2)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("sketches of two labels could be larger than 1 GB together")));
}

/* Put the labels into the order of the parts; raise what is wrong with them. */
static void
order_labels(RaceReleasePlan *plan)
{
	int64 bytes = (int64) (RaceCounters(plan->params) * sizeof(int64));
	ArrayType *array;
	List *labels;
	int n;

	check_label(plan, bytes);
	if (RaceLabelsArePrivate(plan))
	{
		plan->choices = list_make1(plan->request.label);
		plan->max_categories = (int) Min(RACE_MOST_CHOSEN, MOST_BYTES / bytes - 1);
	}
	if (plan->labels == 0)
		return;
	array = DatumGetArrayTypeP(plan->labels);
	n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	if (n > MOST_LABELS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a release can have at most %d labels", MOST_LABELS)));
	labels = race_texts_list(plan->labels);
	if (list_length(labels) < n)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("a label must not be NULL")));
	if (ARR_NDIM(array) != 1 || !race_texts_differ(labels))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("labels must be a list of different labels")));
	if (bytes > MOST_BYTES / n)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("sketches of so many labels could be larger than 1 GB together")));
	list_sort(labels, race_texts_compare);
	plan->request.labels = plan->labels = race_texts_array(labels);
}

/* As many parts are fitted by default: a fit takes up to some seconds. */
#define USUAL_FITS 32

bool
race_pure_is_better(const RaceDataset *dataset, double epsilon, double delta, uint32 levels,
					const RaceParams *params, const RaceParams *pure_params)
{
	RaceRequest request;
	RacePlan asked_plan;

	if (delta == 0 || dataset->in_zcdp)
		return false;
	request = race_make_request(params, race_part_of_series(epsilon, delta, levels), delta, NULL,
								dataset->max_contributions, dataset->neighbors, true);
	race_check_plan(&request, params, race_largest_selection(&request, params), &asked_plan);
	return race_pure_serves(&request, params, race_part_of_series(epsilon, 0, levels), pure_params);
}

/*
 * Return whether, with a delta, a pure release of other parameters, or of the same, serves better
 * than what was asked.
 */
static bool
pure_is_better(const RaceDataset *dataset, const RaceReleasePlan *plan, const RaceParams *params,
			   const RaceParams *pure_params)
{
	RaceDataset weighted = *dataset;

	if (plan->request.weight != NULL)
		weighted.max_contributions =
			(int) Min((int64) dataset->max_contributions * plan->request.weight_max, INT32_MAX);
	/* to choose labels takes a delta; of a series it is told when its lengths are */
	return RaceRowsAreChosen(plan) && (plan->request.series == 0) == (plan->interval.levels == 0) &&
		!RaceLabelsArePrivate(plan) && plan->choices == NIL &&
		race_pure_is_better(&weighted, plan->request.epsilon, plan->request.delta,
							plan->interval.levels, params, pure_params);
}

/*
 * Make a grid of the kernel where that is asked for, or usual: where its errors are smaller, unless
 * the request states rows, for pure privacy, and where it may spare the delta.  In three dimensions
 * it depends on the table whether fitted rows or a grid is better.
 */
static void
choose_grid(const RaceDataset *dataset, RaceReleasePlan *plan)
{
	bool wanted = plan->request.grid;
	bool usual = RaceRowsAreChosen(plan) &&
		(plan->request.delta == 0 || plan->params->dims <= 2 ||
		 !race_summary_kind(plan->params)->hashed);
	RaceParams *grid = wanted || (!race_is_given(&plan->request, RACE_ARG_GRID) && usual) ?
		race_params_as_grid(plan->params) :
		NULL;
	bool pure;

	if (wanted && grid == NULL)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg(
				 "a grid needs kernel l2 or l1 by itself, 1 to %d dims and finite bounds, and no transform",
				 RACE_GRID_DIMS),
			 errdetail("The parameters are %s.", race_params_brief(plan->params))));
	if (grid == NULL)
		return;
	pure = pure_is_better(dataset, plan, wanted ? grid : plan->params, grid);
	if (wanted || pure || plan->request.delta == 0)
	{
		RaceParamsDatum *datum = race_params_datum(grid);

		plan->request.params = plan->params_datum = PointerGetDatum(datum);
		plan->params = &datum->params;
	}
	if (pure)
		plan->request.delta = 0;
}

/* Decide whether models are fitted: by default where the parameters have bounds. */
static void
choose_fit(RaceReleasePlan *plan)
{
	bool possible = race_models->can_fit(plan->params);
	int labels = plan->choices != NIL ? plan->max_categories + 1 :
		plan->labels == 0             ? 1 :
										ArrayGetNItems(ARR_NDIM(DatumGetArrayTypeP(plan->labels)),
													   ARR_DIMS(DatumGetArrayTypeP(plan->labels)));
	bool usual = possible && labels <= USUAL_FITS && plan->request.series == 0;

	if (!race_is_given(&plan->request, RACE_ARG_FIT))
		race_argument_set(&plan->request, RACE_ARG_FIT, BoolGetDatum(usual), false);
	if (plan->request.fit && !possible)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("only a kernel of vectors by itself, with finite bounds, can be fitted"),
				 errdetail("The parameters are %s.", race_params_brief(plan->params))));
}

static void
check_weight(const RaceReleasePlan *plan)
{
	if (race_is_given(&plan->request, RACE_ARG_WEIGHT) !=
		race_is_given(&plan->request, RACE_ARG_WEIGHT_MAX))
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("weight and weight_max go together"),
			 errdetail(
				 "Noise hides the largest weight, which is declared, because that of the data is private."),
			 errhint("Write weight => 'w', weight_max => 20, for example.")));
	if (race_is_given(&plan->request, RACE_ARG_WEIGHT_MAX) && plan->request.weight_max < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("weight_max must be at least 1"),
				 errhint("Multiply weights that are all smaller by a public number.")));
}

static void
check_calibrate(const RaceReleasePlan *plan)
{
	if (!race_is_given(&plan->request, RACE_ARG_CALIBRATE))
		return;
	if (!(plan->request.calibrate > 0 && plan->request.calibrate < 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("calibrate must be a share of epsilon, above 0 and below 1")));
	if (plan->labels == 0 ||
		!(race_summary_kind(plan->params)->densities || race_summary_kind(plan->params)->matrix))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("only sketches or moments of labels can be calibrated")));
}

/* Bytes of the name or the unit of a column, and of a description */
#define MOST_NAME 200
#define MOST_DESCRIPTION 10000

static bool
text_matches(const char *string, const char *pattern)
{
	return DatumGetBool(DirectFunctionCall2Coll(textregexeq, DEFAULT_COLLATION_OID,
												CStringGetTextDatum(string),
												CStringGetTextDatum(pattern)));
}

static void
check_name(const char *name)
{
	if (text_matches(name, "^\\s*$"))
		race_refuse_arguments("a release needs a name",
							  "Answers are asked by it, as in race_count('visits 2026').");
	if (text_matches(name, "\\[[^][(),]*,[^][(),]*[])]$"))
		race_refuse_arguments("the name of a release must not end like a period of a series",
							  "Readers of a series would take it for one: leave out [from,to).");
}

/* Check that a list of texts, or 0, has one for each column of a record. */
static List *
read_column_texts(Datum texts, int n)
{
	ArrayType *array = texts == 0 ? NULL : DatumGetArrayTypeP(texts);
	List *list = array == NULL ? NIL : race_texts_list(texts);
	ListCell *cell;

	if (array != NULL &&
		(ARR_NDIM(array) != 1 || ARR_LBOUND(array)[0] != 1 || ARR_DIMS(array)[0] != n))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("columns and units must be lists of %d texts", n),
				 errhint("There is one for each column of a record.")));
	foreach (cell, list)
		if (strlen(lfirst(cell)) > MOST_NAME)
			ereport(
				ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the name or the unit of a column can have at most %d bytes", MOST_NAME)));
	return list;
}

/*
 * Check names of columns, which are asked by: they differ from each other and from numbers of
 * columns.
 */
static void
check_columns(const List *columns, int n)
{
	bool good = list_length(columns) == n && race_texts_differ(columns);
	ListCell *cell;

	foreach (cell, columns)
		good = good && !text_matches(lfirst(cell), "^ *-?[0-9]* *$");
	if (!good)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the names of columns must be different texts, and no numbers")));
}

/* Raise what is wrong with texts that readers are shown. */
static void
check_description(const RaceReleasePlan *plan)
{
	int n = race_params_columns(plan->params);
	List *columns;
	List *units;
	ListCell *cell;

	check_name(plan->request.name);
	if (plan->request.description != NULL && strlen(plan->request.description) > MOST_DESCRIPTION)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a description can have at most %d bytes", MOST_DESCRIPTION)));
	if (plan->request.units != 0 && plan->request.columns == 0)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("units need columns")));
	columns = read_column_texts(plan->request.columns, n);
	units = read_column_texts(plan->request.units, n);
	race_check_text_shown("a name or a unit", plan->request.name, true);
	foreach (cell, units)
		race_check_text_shown("a name or a unit", lfirst(cell), true);
	if (plan->labels != 0)
		foreach (cell, race_texts_list(plan->labels))
			race_check_text_shown("a label or a column", lfirst(cell), false);
	foreach (cell, columns)
		race_check_text_shown("a label or a column", lfirst(cell), false);
	race_check_lines_shown("a description", plan->request.description);
	if (plan->request.columns != 0)
		check_columns(columns, n);
}

/*
 * Prepare a release of moments.  rows, grid, fit and value mean nothing to moments, which are
 * always all of themselves.  With too many columns for a Wishart matrix, pure noise is Laplace
 * noise: then sums of absolute values are clipped, unless the parameters say how.
 */
static void
prepare_moments(const RaceDataset *dataset, RaceReleasePlan *plan)
{
	if (!race_summary_kind(plan->params)->matrix)
		return;
	race_params_check_exact(plan->params);
	if (race_is_given(&plan->request, RACE_ARG_ROWS) ||
		race_is_given(&plan->request, RACE_ARG_GRID) || race_is_given(&plan->request, RACE_ARG_FIT))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("rows, grid and fit are for releases of sketches"),
				 errdetail("The parameters are %s.", race_params_brief(plan->params))));
	if (pure_is_better(dataset, plan, plan->params, plan->params))
		plan->request.delta = 0;
	else if (plan->params->moments.clip == 0 && plan->request.delta == 0 &&
			 race_moments_columns(plan->params) > RACE_WISHART_COLUMNS)
	{
		/* params_datum is our own copy */
		((RaceParamsDatum *) DatumGetPointer(plan->params_datum))->params.moments.clip =
			RACE_CLIP_ABSOLUTE;
	}
}

void
race_plan_use_request(RaceReleasePlan *plan, char *path)
{
	plan->params_datum = plan->request.params;
	plan->params = race_params_arg(plan->params_datum);
	plan->labels = plan->request.labels;
	plan->path = path;
}

/* Let a release be of a series that was declared, and of its first value. */
static void
use_series(const RaceLedger *ledger, const RaceDataset *dataset, RaceReleasePlan *plan,
		   Datum declared)
{
	char *closes;

	plan->request.series = race_series_complete(ledger, dataset, declared, plan->request.delta);
	(void) race_series_use(ledger, plan->request.series, 1, &plan->interval, &closes);
}

/*
 * Prepare a release of a series.  Values of a series are added up, so public facts alone say what
 * they keep: the cells that the parameters state, or the rows that are asked for.  Sums are fitted
 * when they are asked.
 */
static void
prepare_series(const RaceLedger *ledger, const RaceDataset *dataset, RaceReleasePlan *plan)
{
	Datum declared;

	if (plan->request.series == 0)
		return;
	if (plan->request.fit || race_is_given(&plan->request, RACE_ARG_CALIBRATE))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a series can be neither fitted nor calibrated")));
	if (RaceLabelsArePrivate(plan) || plan->choices != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a series cannot choose labels or categories"),
				 errhint("State labels, or CALL race_describe(%s, column, categories => ...).",
						 quote_literal_cstr(plan->request.dataset))));
	if (RaceRowsAreChosen(plan) && race_summary_kind(plan->params)->hashed &&
		plan->request.delta == 0)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("a series of sketches without a delta needs rows"),
			 errdetail(
				 "Its values are added up, so they must have the same rows, which noisy counts must not choose."),
			 errhint(
				 "race_privacy_cost shows how many rows are good, of epsilon / 3 for a year of days.")));
	declared = plan->request.series;
	use_series(ledger, dataset, plan, declared);
	if (!race_summary_kind(plan->params)->hashed &&
		pure_is_better(dataset, plan, plan->params, plan->params))
	{
		/* fewer lengths may be better, too */
		plan->request.delta = 0;
		use_series(ledger, dataset, plan, declared);
	}
	if (RaceRowsAreChosen(plan) && race_summary_kind(plan->params)->densities)
		race_argument_set(&plan->request, RACE_ARG_ROWS, Int32GetDatum(plan->params->rows), false);
}

/*
 * Tell where epsilon and delta look swapped: legal, since delta alone allows some noise, but seldom
 * meant.
 */
static void
check_order_of_costs(const RaceReleasePlan *plan)
{
	if (plan->request.delta >= plan->request.epsilon && plan->request.epsilon >= RACE_MIN_EPSILON &&
		plan->request.delta < 1)
		ereport(
			NOTICE,
			(errmsg("epsilon %g is not above delta %g", plan->request.epsilon, plan->request.delta),
			 errdetail("Delta is the probability that epsilon does not hold."),
			 errhint("They may be swapped: a usual epsilon is 1, a usual delta 1e-6.")));
}

void
race_plan_decide(const RaceLedger *ledger, const RaceDataset *dataset, RaceReleasePlan *plan)
{
	race_plan_use_request(plan, plan->run_path);
	check_order_of_costs(plan);
	check_weight(plan);
	prepare_moments(dataset, plan);
	if (race_summary_kind(plan->params)->selected &&
		pure_is_better(dataset, plan, plan->params, plan->params))
		plan->request.delta = 0;
	choose_grid(dataset, plan);
	order_labels(plan);
	check_calibrate(plan);
	choose_fit(plan);
	check_description(plan);
	prepare_series(ledger, dataset, plan);
}
