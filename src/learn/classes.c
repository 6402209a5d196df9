/*
 * classes.c
 *		The sketches of all classes, asked together about the same query.
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
 * no harm.  Sketches of scores say how frequent scores are as they are.
 *
 * A release that is calibrated scores each private record by the sketches that it has just
 * made.  The query that does it has them as a constant, and calls race_score_of.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "nodes/primnodes.h"
#include "utils/array.h"

#include "../query/estimate.h"
#include "../server/argument.h"
#include "classes.h"
#include "typicality.h"

PG_FUNCTION_INFO_V1(race_score_of);

/*
 * How flat is the density that a sketch tells?  Rather too flat: what is not flat enough lets the larger
 * classes win.
 */
static double
flatness_of(const RaceQuestion *question)
{
	uint32		dims = race_scores_sharp_dims(question->view.params);
	RaceTypical typical;

	if (dims == 0)
		return 0;
	typical = race_typical(question->site, &question->view);
	if (isinf(typical.error))
		return -race_flatness(typical.density, dims);
	return race_flatness(Min(typical.density + 2 * typical.error, 1), dims);
}

/*
 * The count of a class with few records may be far too low by noise, and then its density would be
 * high everywhere.  Two standard deviations of it are added, which large classes do not feel.
 */
#define DOUBT	4			/* variances of it */

RaceScore
race_class_score(const RaceQuestion *question, RacePrior prior)
{
	const RaceHeader *header = question->view.header;
	double		sum;
	RaceScore	score;

	score.label = (Datum) 0;
	score.count = Max(header->count, 0);
	score.divisor = sqrt(score.count * score.count + DOUBT * header->noise.count_variance);
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
race_classes_create(int n, Oid label_type, const Datum *labels, Oid query,
					MemoryContext context)
{
	MemoryContext old = MemoryContextSwitchTo(context);
	RaceClasses *classes = palloc(sizeof(RaceClasses));
	int			i;

	classes->n = n;
	classes->labels = labels;
	classes->scores = race_scores_create(label_type, context);
	classes->comparison = race_scores_comparison(classes->scores);
	classes->sites = palloc(n * sizeof(RaceCallSite *));
	for (i = 0; i < n; i++)
		classes->sites[i] = race_call_site_create(query, context);
	MemoryContextSwitchTo(old);
	return classes;
}

void
race_classes_ask(RaceClasses *classes, const Datum *sketches, Datum query, RacePrior prior)
{
	RaceQuestion question;
	int			i;

	race_scores_clear(classes->scores, prior);
	for (i = 0; i < classes->n; i++)
	{
		RaceScore	score;

		race_ask_sketch(classes->sites[i], sketches[i], &question);
		race_ask_about(&question, query);
		score = race_class_score(&question, prior);
		score.label = classes->labels[i];
		race_scores_add(classes->scores, score);
	}
}

void
race_classes_calibrate(RaceClasses *classes, const RaceCalibration *calibration)
{
	RaceScores *scores = classes->scores;
	double	   *records = palloc(classes->n * sizeof(double));
	int			i;

	race_calibration_ask(calibration, race_classes_number(classes), records);
	scores->prior = RACE_PRIOR_COUNTS;
	for (i = 0; i < classes->n; i++)
	{
		scores->list[i].score = records[i];
		scores->list[i].count = calibration->totals[i];
		scores->list[i].flatness = 0;
	}
	pfree(records);
}

Datum
race_classes_best(const RaceClasses *classes)
{
	return race_scores_best(classes->scores, classes->comparison, C_COLLATION_OID)->label;
}

Datum
race_classes_best_calibrated(RaceClasses *classes, const RaceCalibration *calibration)
{
	int			best = (int) (race_classes_number(classes) / 2);

	race_classes_calibrate(classes, calibration);
	classes->scores->list[best].score += calibration->margin;
	return race_classes_best(classes);
}

double
race_classes_number(const RaceClasses *classes)
{
	return race_scores_number(classes->scores, classes->comparison, C_COLLATION_OID);
}

/* ------------------------------------------------------ sketches in an array */

/* What a call of race_score_of keeps: the constant array, taken apart */
typedef struct ScoreOf
{
	Datum	   *sketches;
	RaceClasses *classes;		/* whose labels are 0, 1, ... */
} ScoreOf;

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

static ScoreOf *
score_of(FunctionCallInfo fcinfo)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;
	MemoryContext old = MemoryContextSwitchTo(flinfo->fn_mcxt);
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(0);
	ScoreOf    *state = palloc(sizeof(ScoreOf));
	Datum	   *labels;
	int			n;
	int			i;

	check_constant(flinfo);
	if (ARR_HASNULL(array))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("each class must have a sketch")));
	deconstruct_array(array, ARR_ELEMTYPE(array), -1, false, TYPALIGN_DOUBLE,
					  &state->sketches, NULL, &n);
	if (n == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("there must be at least one class")));
	labels = palloc(n * sizeof(Datum));
	for (i = 0; i < n; i++)
		labels[i] = Int32GetDatum(i);
	state->classes = race_classes_create(n, INT4OID, labels, race_argument_type(flinfo, 1),
										 flinfo->fn_mcxt);
	MemoryContextSwitchTo(old);
	flinfo->fn_extra = state;
	return state;
}

/* race_score_of(sketches, q): race_score with prior "counts" of classes in the order of an array */
Datum
race_score_of(PG_FUNCTION_ARGS)
{
	ScoreOf    *state = (ScoreOf *) fcinfo->flinfo->fn_extra;

	if (state == NULL)
		state = score_of(fcinfo);
	race_classes_ask(state->classes, state->sketches, PG_GETARG_DATUM(1), RACE_PRIOR_COUNTS);
	PG_RETURN_FLOAT8(race_classes_number(state->classes));
}
