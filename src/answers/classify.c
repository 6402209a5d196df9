/*
 * classify.c
 *		Classification and calibration
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "nodes/primnodes.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "hash/column.h"
#include "hash/kernel.h"
#include "hash/kind.h"
#include "hash/params.h"
#include "sketch/argument.h"
#include "sketch/call_site.h"
#include "sketch/params_text.h"
#include "sketch/params_type.h"
#include "sketch/result.h"
#include "sketch/sketch.h"
#include "sketch/sketch_format.h"
#include "answers/classify.h"
#include "answers/estimate.h"
#include "answers/mmd.h"

/*
 * The sketches of all classes, asked together about the same query.
 *
 * Each class has a sketch.  Its score is the likelihood of the query, the
 * density of the class at q; with the prior "counts" the score is density times
 * record count, the kernel sum.  Noise can push scores out of their range, so
 * they are clamped: a density to [0, 1], a kernel sum to at least 0.
 *
 * Flat kernels give flat densities, which counts of classes outweigh everywhere.  So with the
 * prior "counts" a fitted model is asked alone, with a kernel that falls faster: on four tables
 * that was up to 6 points better, and never worse.  Other densities of l2 are taken to a power
 * (race_scores_sharpen): on five tables posteriors were calibrated far better, and the prior did
 * no harm.
 *
 * A release that is calibrated scores each private record by the sketches that it has just
 * made.  The query that does it has them as a constant, and calls race_score_of.
 */

/*
 * Return how flat the density of a sketch is.  Rather overestimate it: what is not flat enough lets
 * the larger classes win.
 */
static double
flatness_of(const RaceQuestion *question)
{
	uint32 dims = race_scores_sharp_dims(question->view.params);
	const RaceTypical *typical;

	if (dims == 0)
		return 0;
	typical = race_typical(question->site, &question->view);
	if (isinf(typical->error))
		return -race_flatness(typical->density, dims);
	return race_flatness(Min(typical->density + 2 * typical->error, 1), dims);
}

/*
 * The count of a class with few records may be far too low by noise, and then its density would be
 * high everywhere.  So this number of variances of the noise of a count is added to the square of
 * the divisor of a density.
 */
#define COUNT_VARIANCES 4

/* Return the score of a class, whose sketch was asked about a query.  The label is left out. */
static RaceScore
score_of_class(const RaceQuestion *question, RacePrior prior)
{
	const RaceHeader *header = question->view.header;
	double sum;
	RaceScore score;

	score.label = (Datum) 0;
	score.count = Max(header->count, 0);
	score.divisor =
		sqrt(score.count * score.count + COUNT_VARIANCES * header->noise.count_variance);
	score.flatness = 0;
	if (prior == RACE_PRIOR_COUNTS && race_estimate_sharp_sum(question, &sum))
		score.score = sum;
	else if (prior == RACE_PRIOR_COUNTS)
	{
		score.score = Max(race_estimate_sum(question), 0);
		score.flatness = flatness_of(question);
	}
	else
		score.score = Min(Max(race_estimate_mean(question), 0), 1);
	return score;
}

RaceClasses *
race_classes_create(int n, const Datum *sketches, Oid label_type, const Datum *labels, Oid query,
					MemoryContext context)
{
	MemoryContext old = MemoryContextSwitchTo(context);
	RaceClasses *classes = palloc0(sizeof(RaceClasses));
	RaceView view;

	classes->n = n;
	classes->sketches = sketches;
	classes->labels = labels;
	classes->query = query;
	classes->scores = race_scores_create(label_type, context);
	race_sketch_view_header_any(sketches[0], &view);
	if (race_summary_kind(view.params)->matrix)
		classes->model = race_class_model_create(n, sketches, context);
	classes->sites = palloc(n * sizeof(RaceCallSite *));
	for (int i = 0; i < n && classes->model == NULL; i++)
		classes->sites[i] = race_call_site_create(query, context);
	MemoryContextSwitchTo(old);
	return classes;
}

void
race_classes_ask(RaceClasses *classes, Datum query, RacePrior prior)
{
	RaceQuestion question;

	race_scores_clear(classes->scores, prior);
	for (int i = 0; i < classes->n; i++)
	{
		RaceScore score = {0};

		if (classes->model == NULL)
		{
			race_ask_sketch(classes->sites[i], classes->sketches[i], &question);
			race_ask_about(&question, query);
			score = score_of_class(&question, prior);
		}
		score.label = classes->labels[i];
		race_scores_add(classes->scores, score);
	}
	if (classes->model != NULL)
		race_class_model_ask(classes->model, classes->query, query, classes->scores);
}

Datum
race_classes_best(const RaceClasses *classes)
{
	return race_scores_best(classes->scores, race_scores_comparison(classes->scores),
							C_COLLATION_OID)
		->label;
}

/*
 * race_classify and race_posterior: which class is a query from?
 *
 * The highest score wins; among equals the class with more records, then the
 * smaller label.  Where no class has records near q, all scores are zero, and the
 * answer is the largest class.
 *
 * The state holds labels and scores, and no sketch, but for copies of moments.
 */

PG_FUNCTION_INFO_V1(race_classify_step);
PG_FUNCTION_INFO_V1(race_classify_final);
PG_FUNCTION_INFO_V1(race_posterior_final);

/* Read the prior, which the declaration leaves open: of an aggregate no argument has a default. */
static RacePrior
prior_argument(FunctionCallInfo fcinfo)
{
	Oid type = race_argument_type(fcinfo->flinfo, 4);

	if (PG_NARGS() > 5 || (type != TEXTOID && type != UNKNOWNOID))
		ereport(
			ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg(
				 "the arguments must be a label, a sketch, a query and, if any, a prior of type text")));
	return race_read_prior(type == TEXTOID ? PG_GETARG_TEXT_PP(4) :
											 cstring_to_text(PG_GETARG_CSTRING(4)));
}

/* ----------------------------------------------------------- aggregates */

/*
 * Add a row (label, sketch, q [, prior]) to the state of race_classify or race_posterior.  A row
 * with a NULL among them is left out.
 */
Datum
race_classify_step(PG_FUNCTION_ARGS)
{
	RaceScores *scores = PG_ARGISNULL(0) ? NULL : (RaceScores *) PG_GETARG_POINTER(0);
	RacePrior prior = RACE_PRIOR_UNIFORM;
	MemoryContext context = race_aggregate_context(fcinfo, "race_classify or race_posterior");
	RaceCallSite *site;
	RaceQuestion question;
	RaceView view;
	Datum sketch;

	if (scores == NULL)
		scores = race_scores_create(race_argument_type(fcinfo->flinfo, 1), context);
	for (int i = 1; i < PG_NARGS(); i++)
		if (PG_ARGISNULL(i))
			PG_RETURN_POINTER(scores);

	if (PG_NARGS() > 4)
		prior = prior_argument(fcinfo);
	race_scores_set_prior(scores, prior);

	site = race_call_site(fcinfo, 3);
	sketch = race_call_site_fetch(site, PG_GETARG_DATUM(2), sizeof(RaceSketchDatum) - VARHDRSZ);
	race_sketch_view_header_any(sketch, &view);
	if (scores->n > 0 && (scores->moments != NULL) != race_summary_kind(view.params)->matrix)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("classes with moments and classes with sketches cannot be compared")));
	if (race_summary_kind(view.params)->matrix)
		race_class_moments_add(fcinfo, scores, &view, sketch, context);
	else
	{
		race_ask_sketch(site, sketch, &question);
		race_ask_about(&question, PG_GETARG_DATUM(3));
		race_scores_append(scores, score_of_class(&question, prior), PG_GETARG_DATUM(1), context);
	}
	PG_RETURN_POINTER(scores);
}

/* Return the scores of a state, or NULL if there are none. */
static const RaceScores *
final_scores(FunctionCallInfo fcinfo)
{
	RaceScores *scores = PG_ARGISNULL(0) ? NULL : (RaceScores *) PG_GETARG_POINTER(0);

	if (scores == NULL || scores->n == 0)
		return NULL;
	if (scores->moments == NULL)
		return race_scores_sharpen(scores);
	race_class_moments_score(fcinfo->flinfo, scores);
	return scores;
}

Datum
race_classify_final(PG_FUNCTION_ARGS)
{
	const RaceScores *scores = final_scores(fcinfo);

	if (scores == NULL)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(
		race_scores_best(scores, race_scores_comparison(scores), PG_GET_COLLATION())->label);
}

Datum
race_posterior_final(PG_FUNCTION_ARGS)
{
	const RaceScores *scores = final_scores(fcinfo);

	if (scores == NULL)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(race_scores_posterior(scores));
}

/* ------------------------------------------------------ sketches in an array */

static void
check_constant(const FmgrInfo *flinfo)
{
	/* another array would need another state, and a parameter may be another one next time */
	if (flinfo->fn_expr == NULL || !IsA(flinfo->fn_expr, FuncExpr) ||
		!IsA(linitial(((FuncExpr *) flinfo->fn_expr)->args), Const))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("the sketches of the classes must be a constant")));
}

/* Return the classes of the constant array, whose labels are 0, 1, ... */
static RaceClasses *
constant_classes(FunctionCallInfo fcinfo)
{
	FmgrInfo *flinfo = fcinfo->flinfo;
	MemoryContext old = MemoryContextSwitchTo(flinfo->fn_mcxt);
	ArrayType *array = PG_GETARG_ARRAYTYPE_P(0);
	RaceClasses *classes;
	Datum *sketches;
	Datum *labels;
	int n;

	check_constant(flinfo);
	if (ARR_HASNULL(array))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("each class must have a sketch")));
	deconstruct_array(array, ARR_ELEMTYPE(array), -1, false, TYPALIGN_DOUBLE, &sketches, NULL, &n);
	if (n < 2)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("there must be at least two classes")));
	labels = palloc(n * sizeof(Datum));
	for (int i = 0; i < n; i++)
		labels[i] = Int32GetDatum(i);
	classes = race_classes_create(n, sketches, INT4OID, labels, race_argument_type(flinfo, 1),
								  flinfo->fn_mcxt);
	MemoryContextSwitchTo(old);
	flinfo->fn_extra = classes;
	return classes;
}

Datum
race_classes_score(FunctionCallInfo fcinfo)
{
	RaceClasses *classes = (RaceClasses *) fcinfo->flinfo->fn_extra;

	if (classes == NULL)
		classes = constant_classes(fcinfo);
	race_classes_ask(classes, PG_GETARG_DATUM(1), RACE_PRIOR_COUNTS);
	PG_RETURN_FLOAT8(race_scores_number(classes->scores));
}

/*
 * Records as rows of columns.
 */

PG_FUNCTION_INFO_V1(race_columns);

/* Find the place of a column of any kind.  Return false if there is no such column. */
static bool
place_of(const RaceParams *params, int32 column, RaceColumnPlace *place)
{
	int64 element = (int64) column - 1;

	place->part = 0;
	for (place->params = params; place->params != NULL && element >= 0; place->part++)
	{
		uint32 n = race_part_elements(place->params);

		place->element = (uint32) element;
		if (element < n)
			return true;
		element -= n;
		place->params = race_params_next(place->params, params);
	}
	return false;
}

RaceColumnPlace
race_find_column(const RaceParams *params, int32 column)
{
	RaceColumnPlace place;

	if (!place_of(params, column, &place) || race_record_kind(place.params) != RACE_RECORD_VECTOR)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("column %d of the records is not a number", column),
				 errdetail("The parameters are %s.", race_params_brief(params))));
	return place;
}

double
race_column_bound(const RaceColumnPlace *place, RaceArray bounds, double otherwise)
{
	const double *array = race_array(place->params, bounds);

	return array == NULL ? otherwise : array[place->element];
}

/* ---------------------------------------------------------------------- SQL */

typedef struct Columns
{
	const RaceParams *params;
	RaceResultRow row;
} Columns;

static void
start_columns(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	Columns *columns = palloc(sizeof(Columns));
	RaceView view;

	race_row_start(&columns->row, fcinfo);
	race_sketch_view_header_any(PG_GETARG_DATUM(0), &view);
	columns->params = race_params_copy(view.params, CurrentMemoryContext);
	call->max_calls = race_params_columns(columns->params);
	call->user_fctx = columns;
}

static void
add_bound(RaceResultRow *row, const RaceColumnPlace *place, RaceArray bounds)
{
	double bound = race_column_bound(place, bounds, INFINITY);

	race_row_add_if(row, isfinite(bound), Float8GetDatum(bound));
}

static Datum
column_datum(void *state, uint64 i)
{
	static const char *const kinds[] = {[RACE_RECORD_VECTOR] = "number",
										[RACE_RECORD_SET] = "set",
										[RACE_RECORD_ROW] = "category"};
	Columns *columns = (Columns *) state;
	RaceColumnPlace place;

	if (!place_of(columns->params, (int32) i + 1, &place))
		elog(ERROR, "there is no column " UINT64_FORMAT, i);
	race_row_add(&columns->row, Int32GetDatum((int32) i + 1));
	race_row_add_text(&columns->row, kinds[race_record_kind(place.params)]);
	add_bound(&columns->row, &place, RACE_ARRAY_LOWER);
	add_bound(&columns->row, &place, RACE_ARRAY_UPPER);
	return race_row_datum(&columns->row);
}

/* Implement _race_columns(sketch). */
Datum
race_columns(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_columns, column_datum);
}
