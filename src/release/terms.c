/*
 * terms.c
 *		The terms of a release: its request, with all that was left open decided from public facts
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
#include "release/terms.h"
#include "sketch/params_draft.h"
#include "sketch/params_text.h"
#include "sketch/params_type.h"

/* All private sketches of a release are in memory at once. */
#define MOST_BYTES INT64CONST(1000000000)

#define MOST_LABELS 100000

/* Raise what is wrong with a label without a list, or a list without a label. */
static void
check_label(const RaceReleaseTerms *terms, int64 bytes)
{
	bool listed = terms->labels != 0;

	if (terms->kept.label == NULL && listed)
		race_refuse_arguments(
			"labels need a label",
			"label is the expression that gives the label of a row: label => 'town'.");
	if (terms->kept.label == NULL || listed)
		return;
	if (terms->kept.delta == 0)
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
order_labels(RaceReleaseTerms *terms)
{
	int64 bytes = (int64) (RaceCounters(terms->params) * sizeof(int64)) * RaceHalvesOf(terms);
	ArrayType *array;
	List *labels;
	int n;

	check_label(terms, bytes);
	if (RaceLabelsArePrivate(terms))
	{
		terms->choices = list_make1(terms->kept.label);
		terms->max_categories = (int) Min(RACE_MOST_CHOSEN, MOST_BYTES / bytes - 1);
	}
	if (terms->labels == 0)
		return;
	array = DatumGetArrayTypeP(terms->labels);
	n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	if (n > MOST_LABELS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a release can have at most %d labels", MOST_LABELS)));
	labels = race_texts_list(terms->labels);
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
	terms->kept.labels = terms->labels = race_texts_array(labels);
}

/* As many parts are fitted by default: a fit takes up to some seconds. */
#define USUAL_FITS 32

bool
race_pure_is_better(const RaceDataset *dataset, double epsilon, double delta, uint32 levels,
					const RaceParams *params, const RaceParams *pure_params, bool densities)
{
	RaceRequest request;
	RacePlan asked_plan;

	if (delta == 0 || dataset->in_zcdp)
		return false;
	request = race_make_request(params, race_part_of_series(epsilon, delta, levels), delta, NULL,
								dataset->max_contributions, dataset->neighbors, true);
	race_check_plan(&request, params, race_largest_selection(&request, params), &asked_plan);
	return race_pure_serves(&request, params, race_part_of_series(epsilon, 0, levels), pure_params,
							densities);
}

/*
 * Return whether, with a delta, a pure release of other parameters, or of the same, serves better
 * than what was asked.
 */
static bool
pure_is_better(const RaceDataset *dataset, const RaceReleaseTerms *terms, const RaceParams *params,
			   const RaceParams *pure_params)
{
	RaceDataset weighted = *dataset;

	if (terms->kept.weight != NULL)
		weighted.max_contributions =
			(int) Min((int64) dataset->max_contributions * terms->kept.weight_max, INT32_MAX);
	/* to choose labels takes a delta; of a series it is told when its lengths are */
	return RaceRowsAreChosen(terms) && (terms->kept.series == 0) == (terms->interval.levels == 0) &&
		!RaceLabelsArePrivate(terms) && terms->choices == NIL &&
		race_pure_is_better(&weighted, terms->kept.epsilon, terms->kept.delta,
							terms->interval.levels, params, pure_params, terms->kept.value == NULL);
}

/*
 * Make a grid of the kernel where that is asked for, or usual: where its errors are smaller, unless
 * the request states rows, for pure privacy, and where it may spare the delta.  In three dimensions
 * it depends on the table whether fitted rows or a grid is better.
 */
static void
choose_grid(const RaceDataset *dataset, RaceReleaseTerms *terms)
{
	bool wanted = terms->kept.grid;
	bool usual = RaceRowsAreChosen(terms) &&
		(terms->kept.delta == 0 || terms->kept.value != NULL || terms->params->dims <= 2 ||
		 !race_summary_kind(terms->params)->hashed);
	RaceParams *grid = wanted || (!race_is_given(&terms->kept, RACE_ARG_GRID) && usual) ?
		race_params_as_grid(terms->params) :
		NULL;
	bool pure;

	if (wanted && grid == NULL)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg(
				 "a grid needs kernel l2 or l1 by itself, 1 to %d dims and finite bounds, and no transform",
				 RACE_GRID_DIMS),
			 errdetail("The parameters are %s.", race_params_brief(terms->params))));
	if (grid == NULL)
		return;
	if (terms->kept.value != NULL && race_summary_kind(terms->params)->hashed)
		race_grid_round_for_halves(grid);
	pure = pure_is_better(dataset, terms, wanted ? grid : terms->params, grid);
	if (wanted || pure || terms->kept.delta == 0)
	{
		RaceParamsDatum *datum = race_params_datum(grid);

		terms->kept.params = terms->params_datum = PointerGetDatum(datum);
		terms->params = &datum->params;
	}
	if (pure)
		terms->kept.delta = 0;
}

/*
 * Decide whether models are fitted.  By default a model is fitted where the parameters have
 * bounds.  But of a pair of grids, the nodes give better means than two models, which err each by
 * itself.
 */
static void
choose_fit(RaceReleaseTerms *terms)
{
	bool possible = race_models->can_fit(terms->params);
	int labels = terms->choices != NIL ? terms->max_categories + 1 :
		terms->labels == 0             ? 1 :
										 ArrayGetNItems(ARR_NDIM(DatumGetArrayTypeP(terms->labels)),
														ARR_DIMS(DatumGetArrayTypeP(terms->labels)));
	bool usual = possible && labels * RaceHalvesOf(terms) <= USUAL_FITS &&
		terms->kept.series == 0 &&
		(race_summary_kind(terms->params)->hashed || terms->kept.value == NULL);

	if (!race_is_given(&terms->kept, RACE_ARG_FIT))
		race_argument_set(&terms->kept, RACE_ARG_FIT, BoolGetDatum(usual), false);
	if (terms->kept.fit && !possible)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("only a kernel of vectors by itself, with finite bounds, can be fitted"),
				 errdetail("The parameters are %s.", race_params_brief(terms->params))));
}

static void
check_value(const RaceReleaseTerms *terms)
{
	if (race_is_given(&terms->kept, RACE_ARG_VALUE) !=
			race_is_given(&terms->kept, RACE_ARG_VALUE_LOWER) ||
		race_is_given(&terms->kept, RACE_ARG_VALUE) !=
			race_is_given(&terms->kept, RACE_ARG_VALUE_UPPER))
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("value, value_lower and value_upper go together"),
			 errhint(
				 "The bounds are declared, because the least and the largest value are private.")));
	if (terms->kept.value != NULL)
		race_check_value_bounds(terms->kept.value_bounds[RACE_LOWER],
								terms->kept.value_bounds[RACE_UPPER]);
}

static void
check_weight(const RaceReleaseTerms *terms)
{
	if (race_is_given(&terms->kept, RACE_ARG_WEIGHT) !=
		race_is_given(&terms->kept, RACE_ARG_WEIGHT_MAX))
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("weight and weight_max go together"),
			 errdetail(
				 "Noise hides the largest weight, which is declared, because that of the data is private."),
			 errhint("Write weight => 'w', weight_max => 20, for example.")));
	if (race_is_given(&terms->kept, RACE_ARG_WEIGHT_MAX) && terms->kept.weight_max < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("weight_max must be at least 1"),
				 errhint("Multiply weights that are all smaller by a public number.")));
}

static void
check_calibrate(const RaceReleaseTerms *terms)
{
	if (!race_is_given(&terms->kept, RACE_ARG_CALIBRATE))
		return;
	if (!(terms->kept.calibrate > 0 && terms->kept.calibrate < 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("calibrate must be a share of epsilon, above 0 and below 1")));
	if (terms->labels == 0 || terms->kept.value != NULL ||
		!(race_summary_kind(terms->params)->densities || race_summary_kind(terms->params)->matrix))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("only sketches or moments of labels, without a value, can be calibrated")));
}

/* Bytes of the name or the unit of a column, and of a description */
#define MOST_NAME 200
#define MOST_DESCRIPTION 10000

static bool
matches(const char *string, const char *pattern)
{
	return DatumGetBool(DirectFunctionCall2Coll(textregexeq, DEFAULT_COLLATION_OID,
												CStringGetTextDatum(string),
												CStringGetTextDatum(pattern)));
}

static void
check_name(const char *name)
{
	if (matches(name, "^\\s*$"))
		race_refuse_arguments("a release needs a name",
							  "Answers are asked by it, as in race_count('visits 2026').");
	if (matches(name, "\\[[^][(),]*,[^][(),]*[])]$"))
		race_refuse_arguments("the name of a release must not end like a period of a series",
							  "Readers of a series would take it for one: leave out [from,to).");
}

/* Check that a list of texts, or 0, has one for each column of a record, and for the value. */
static List *
read_column_texts(Datum texts, int n)
{
	ArrayType *array = texts == 0 ? NULL : DatumGetArrayTypeP(texts);
	List *list = array == NULL ? NIL : race_texts_list(texts);
	ListCell *cell;

	if (array != NULL &&
		(ARR_NDIM(array) != 1 || ARR_LBOUND(array)[0] != 1 || ARR_DIMS(array)[0] != n))
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("columns and units must be lists of %d texts", n),
			 errhint(
				 "There is one for each column of a record, and one more for the value if there is one.")));
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
		good = good && !matches(lfirst(cell), "^ *-?[0-9]* *$");
	if (!good)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the names of columns must be different texts, and no numbers")));
}

/* Raise what is wrong with texts that readers are shown. */
static void
check_description(const RaceReleaseTerms *terms)
{
	int n = race_params_columns(terms->params) + race_is_given(&terms->kept, RACE_ARG_VALUE);
	List *columns;
	List *units;
	ListCell *cell;

	check_name(terms->kept.name);
	if (terms->kept.description != NULL && strlen(terms->kept.description) > MOST_DESCRIPTION)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a description can have at most %d bytes", MOST_DESCRIPTION)));
	if (terms->kept.units != 0 && terms->kept.columns == 0)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("units need columns")));
	columns = read_column_texts(terms->kept.columns, n);
	units = read_column_texts(terms->kept.units, n);
	race_check_text_shown("a name or a unit", terms->kept.name, true);
	foreach (cell, units)
		race_check_text_shown("a name or a unit", lfirst(cell), true);
	if (terms->labels != 0)
		foreach (cell, race_texts_list(terms->labels))
			race_check_text_shown("a label or a column", lfirst(cell), false);
	foreach (cell, columns)
		race_check_text_shown("a label or a column", lfirst(cell), false);
	race_check_lines_shown("a description", terms->kept.description);
	if (terms->kept.columns != 0)
		check_columns(columns, n);
}

/*
 * Prepare a release of moments.  rows, grid, fit and value mean nothing to moments, which are
 * always all of themselves.  With too many columns for a Wishart matrix, pure noise is Laplace
 * noise: then sums of absolute values are clipped, unless the parameters say how.
 */
static void
prepare_moments(const RaceDataset *dataset, RaceReleaseTerms *terms)
{
	if (!race_summary_kind(terms->params)->matrix)
		return;
	race_params_check_exact(terms->params);
	if (race_is_given(&terms->kept, RACE_ARG_ROWS) || race_is_given(&terms->kept, RACE_ARG_GRID) ||
		race_is_given(&terms->kept, RACE_ARG_FIT) || race_is_given(&terms->kept, RACE_ARG_VALUE))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("rows, grid, fit and value are for releases of sketches"),
				 errdetail("The parameters are %s.", race_params_brief(terms->params))));
	if (pure_is_better(dataset, terms, terms->params, terms->params))
		terms->kept.delta = 0;
	else if (terms->params->moments.clip == 0 && terms->kept.delta == 0 &&
			 race_moments_columns(terms->params) > RACE_WISHART_COLUMNS)
	{
		/* params_datum is our own copy */
		((RaceParamsDatum *) DatumGetPointer(terms->params_datum))->params.moments.clip =
			RACE_CLIP_ABSOLUTE;
	}
}

void
race_release_terms_use(RaceReleaseTerms *terms, char *path)
{
	terms->params_datum = terms->kept.params;
	terms->params = race_params_arg(terms->params_datum);
	terms->labels = terms->kept.labels;
	terms->path = path;
}

/* Let a release be of a series that was declared, and of its first value. */
static void
use_series(const RaceLedger *ledger, const RaceDataset *dataset, RaceReleaseTerms *terms,
		   Datum declared)
{
	char *closes;

	terms->kept.series = race_series_complete(ledger, dataset, declared, terms->kept.delta);
	(void) race_series_use(ledger, terms->kept.series, 1, &terms->interval, &closes);
}

/*
 * Prepare a release of a series.  Values of a series are added up, so public facts alone say what
 * they keep: the cells that the parameters state, or the rows that are asked for.  Sums are fitted
 * when they are asked.
 */
static void
prepare_series(const RaceLedger *ledger, const RaceDataset *dataset, RaceReleaseTerms *terms)
{
	Datum declared;

	if (terms->kept.series == 0)
		return;
	if (terms->kept.fit || race_is_given(&terms->kept, RACE_ARG_CALIBRATE))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a series can be neither fitted nor calibrated")));
	if (RaceLabelsArePrivate(terms) || terms->choices != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a series cannot choose labels or categories"),
				 errhint("State labels, or CALL race_describe(%s, column, categories => ...).",
						 quote_literal_cstr(terms->kept.dataset))));
	if (RaceRowsAreChosen(terms) && race_summary_kind(terms->params)->hashed &&
		terms->kept.delta == 0)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("a series of sketches without a delta needs rows"),
			 errdetail(
				 "Its values are added up, so they must have the same rows, which noisy counts must not choose."),
			 errhint(
				 "race_privacy_cost shows how many rows are good, of epsilon / 3 for a year of days.")));
	declared = terms->kept.series;
	use_series(ledger, dataset, terms, declared);
	if (!race_summary_kind(terms->params)->hashed &&
		pure_is_better(dataset, terms, terms->params, terms->params))
	{
		/* fewer lengths may be better, too */
		terms->kept.delta = 0;
		use_series(ledger, dataset, terms, declared);
	}
	if (RaceRowsAreChosen(terms) && race_summary_kind(terms->params)->densities)
		race_argument_set(&terms->kept, RACE_ARG_ROWS, Int32GetDatum(terms->params->rows), false);
}

/*
 * Tell where epsilon and delta look swapped: legal, since delta alone allows some noise, but seldom
 * meant.
 */
static void
check_order_of_costs(const RaceReleaseTerms *terms)
{
	if (terms->kept.delta >= terms->kept.epsilon && terms->kept.epsilon >= RACE_MIN_EPSILON &&
		terms->kept.delta < 1)
		ereport(NOTICE,
				(errmsg("epsilon %g is not above delta %g", terms->kept.epsilon, terms->kept.delta),
				 errdetail("Delta is the probability that epsilon does not hold."),
				 errhint("They may be swapped: a usual epsilon is 1, a usual delta 1e-6.")));
}

void
race_release_terms_decide(const RaceLedger *ledger, const RaceDataset *dataset,
						  RaceReleaseTerms *terms)
{
	race_release_terms_use(terms, terms->run_path);
	check_order_of_costs(terms);
	check_weight(terms);
	prepare_moments(dataset, terms);
	if (race_summary_kind(terms->params)->selected &&
		pure_is_better(dataset, terms, terms->params, terms->params))
		terms->kept.delta = 0;
	check_value(terms);
	choose_grid(dataset, terms);
	order_labels(terms);
	check_calibrate(terms);
	choose_fit(terms);
	check_description(terms);
	prepare_series(ledger, dataset, terms);
}
