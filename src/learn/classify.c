/*
 * classify.c
 *		race_classify, race_posterior and race_score: which class is a query from?
 *
 * Each class has a sketch.  Its score is the likelihood of the query, the
 * density of the class at q; with the prior "counts" the score is density times
 * record count, the kernel sum.  Noise can push scores out of their range, so
 * they are clamped: a density to [0, 1], a kernel sum to at least 0.
 *
 * Flat kernels give flat densities, which counts of classes outweigh everywhere.  So with the
 * prior "counts" a fitted model is asked alone, with a kernel that falls faster: on four tables
 * that was up to 6 points better, and never worse.
 *
 * The highest score wins; among equals the class with more records, then the
 * smaller label.  Where no class has records near q, all scores are zero, and the
 * answer is the largest class.
 *
 * The state holds labels and scores, and no sketch.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "../query/estimate.h"
#include "../server/argument.h"
#include "../server/text.h"

PG_FUNCTION_INFO_V1(race_classify_step);
PG_FUNCTION_INFO_V1(race_classify_final);
PG_FUNCTION_INFO_V1(race_posterior_final);
PG_FUNCTION_INFO_V1(race_score_final);

typedef enum Prior
{
	PRIOR_UNIFORM,				/* maximum likelihood */
	PRIOR_COUNTS				/* maximum a posteriori */
} Prior;

typedef struct Score
{
	Datum		label;
	double		score;
	double		count;			/* records of the class, at least 0 */
} Score;

typedef struct Scores
{
	Prior		prior;
	Oid			label_type;
	int16		label_length;
	bool		label_by_value;
	int			n;
	int			capacity;
	Score	   *list;
} Scores;

static Prior
read_prior(text *name)
{
	char	   *prior = text_to_cstring(name);

	if (strcmp(prior, "uniform") == 0)
		return PRIOR_UNIFORM;
	if (strcmp(prior, "counts") == 0)
		return PRIOR_COUNTS;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unknown prior \"%s\"", race_cut(prior)),
			 errhint("Use uniform (maximum likelihood) or counts (maximum a posteriori).")));
	return PRIOR_UNIFORM;		/* not reached */
}

static Score
score_class(const RaceQuestion *question, Prior prior)
{
	const RaceHeader *header = question->view.header;
	double		sum;
	Score		score;

	score.label = (Datum) 0;
	score.count = Max(header->count, 0);
	if (prior == PRIOR_COUNTS && race_estimate_sharp_sum(question, &sum))
		score.score = sum;
	else if (prior == PRIOR_COUNTS)
		score.score = Max(race_estimate_sum(question), 0);
	else
		score.score = Min(Max(race_estimate_mean(question), 0), 1);
	return score;
}

/* > 0 when a beats b; 0 when the labels must decide */
static int
compare_scores(const Score *a, const Score *b)
{
	if (a->score != b->score)
		return a->score > b->score ? 1 : -1;
	if (a->count != b->count)
		return a->count > b->count ? 1 : -1;
	return 0;
}

/* ----------------------------------------------------------- aggregates */

static Scores *
start_scores(FunctionCallInfo fcinfo, MemoryContext context)
{
	Scores	   *scores = MemoryContextAllocZero(context, sizeof(Scores));

	scores->label_type = race_argument_type(fcinfo->flinfo, 1);
	get_typlenbyval(scores->label_type, &scores->label_length,
					&scores->label_by_value);
	scores->capacity = 4;
	scores->list = MemoryContextAlloc(context, scores->capacity * sizeof(Score));
	return scores;
}

static void
append_score(Scores *scores, Score score, Datum label, MemoryContext context)
{
	MemoryContext old = MemoryContextSwitchTo(context);

	if (scores->n == scores->capacity)
	{
		/* repalloc refuses 1 GB, which is reached before this overflows */
		scores->list = repalloc(scores->list,
								2 * (Size) scores->capacity * sizeof(Score));
		scores->capacity *= 2;
	}
	score.label = datumCopy(label, scores->label_by_value, scores->label_length);
	scores->list[scores->n++] = score;
	MemoryContextSwitchTo(old);
}

/*
 * Transition function of race_classify and race_posterior (label, sketch, q [,
 * prior]). A row with a NULL among them is left out.
 */
Datum
race_classify_step(PG_FUNCTION_ARGS)
{
	Scores	   *scores = PG_ARGISNULL(0) ? NULL : (Scores *) PG_GETARG_POINTER(0);
	Prior		prior = PRIOR_UNIFORM;
	MemoryContext context;
	RaceQuestion question;
	int			i;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "race_classify_step called in non-aggregate context");
	if (scores == NULL)
		scores = start_scores(fcinfo, context);
	for (i = 1; i < PG_NARGS(); i++)
		if (PG_ARGISNULL(i))
			PG_RETURN_POINTER(scores);

	if (PG_NARGS() > 4)
		prior = read_prior(PG_GETARG_TEXT_PP(4));
	if (scores->n > 0 && scores->prior != prior)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("all classes must have the same prior")));
	scores->prior = prior;

	race_ask(fcinfo, 2, &question);
	append_score(scores, score_class(&question, prior), PG_GETARG_DATUM(1), context);
	PG_RETURN_POINTER(scores);
}

static FmgrInfo *
label_comparison(const Scores *scores)
{
	TypeCacheEntry *type = lookup_type_cache(scores->label_type,
											 TYPECACHE_CMP_PROC_FINFO);

	if (!OidIsValid(type->cmp_proc_finfo.fn_oid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("could not identify a comparison function for type %s",
						format_type_be(scores->label_type)),
				 errhint("Classes with equal scores are told apart by the order of their labels.")));
	return &type->cmp_proc_finfo;
}

static int
compare_labels(FmgrInfo *compare, Oid collation, Datum a, Datum b)
{
	return DatumGetInt32(FunctionCall2Coll(compare,
										   OidIsValid(collation) ? collation :
										   DEFAULT_COLLATION_OID, a, b));
}

/* > 0 when a is to be preferred to b, by scores and then by labels */
static int
compare_classes(FmgrInfo *compare, Oid collation, const Score *a, const Score *b)
{
	int			order = compare_scores(a, b);

	return order != 0 ? order : compare_labels(compare, collation, b->label, a->label);
}

static Score *
best_of(const Scores *scores, FmgrInfo *compare, Oid collation)
{
	Score	   *best = &scores->list[0];
	int			i;

	for (i = 1; i < scores->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (compare_classes(compare, collation, &scores->list[i], best) > 0)
			best = &scores->list[i];
	}
	return best;
}

Datum
race_classify_final(PG_FUNCTION_ARGS)
{
	Scores	   *scores = PG_ARGISNULL(0) ? NULL : (Scores *) PG_GETARG_POINTER(0);

	if (scores == NULL || scores->n == 0)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(best_of(scores, label_comparison(scores), PG_GET_COLLATION())->label);
}

/*
 * How far the best score is ahead of the second best, from 0 to 1.  With L the logarithm of
 * their ratio it is L / (L + 1/4): flat kernels, whose L are small, spread over it as well as
 * others.
 */
static double
lead_of(double best, double second)
{
	double		l = best > 0 ? log(best / second) : 0;

	return isfinite(l) ? l / (l + 0.25) : 1;
}

/*
 * The best class and its lead as one number: twice how many labels are smaller than its own,
 * and the lead.  So numbers of different classes are at least 1 apart.
 */
Datum
race_score_final(PG_FUNCTION_ARGS)
{
	Scores	   *scores = PG_ARGISNULL(0) ? NULL : (Scores *) PG_GETARG_POINTER(0);
	FmgrInfo   *compare;
	Score	   *best;
	double		second = 0;
	double		smaller = 0;
	int			i;

	if (scores == NULL || scores->n == 0)
		PG_RETURN_NULL();
	compare = label_comparison(scores);
	best = best_of(scores, compare, PG_GET_COLLATION());
	for (i = 0; i < scores->n; i++)
	{
		const Score *other = &scores->list[i];

		CHECK_FOR_INTERRUPTS();
		if (other == best)
			continue;
		second = Max(second, other->score);
		smaller += compare_labels(compare, PG_GET_COLLATION(), other->label, best->label) < 0;
	}
	PG_RETURN_FLOAT8(2 * smaller + lead_of(best->score, second));
}

/*
 * The probability of a class. If all scores are zero there is no evidence, and the
 * prior remains; without any records, the uniform prior.
 */
static double
probability(const Scores *scores, int i, double score_sum, double count_sum)
{
	if (score_sum > 0)
		return scores->list[i].score / score_sum;
	if (scores->prior == PRIOR_COUNTS && count_sum > 0)
		return scores->list[i].count / count_sum;
	return 1.0 / scores->n;
}

static void
check_distinct(char **labels, int n)
{
	int			i;

	qsort(labels, n, sizeof(char *), pg_qsort_strcmp);
	for (i = 1; i < n; i++)
		if (strcmp(labels[i - 1], labels[i]) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("label \"%s\" stands for more than one class",
							race_cut(labels[i]))));
}

/* jsonb_in does not check for interrupts, so a posterior has a limit. */
#define MAX_CLASSES		100000

static void
check_posterior(int n, Size bytes)
{
	if (n > MAX_CLASSES || bytes > RACE_MAX_TEXT)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the posterior is too large"),
				 errdetail("It can have at most %d classes and %zu bytes.",
						   MAX_CLASSES, RACE_MAX_TEXT)));
}

/* {label: probability} */
static Datum
posterior(const Scores *scores)
{
	double		score_sum = 0;
	double		count_sum = 0;
	StringInfoData json;
	FmgrInfo	output;
	Oid			function;
	bool		varlena;
	char	  **labels;
	int			i;

	check_posterior(scores->n, 0);
	for (i = 0; i < scores->n; i++)
	{
		score_sum += scores->list[i].score;
		count_sum += scores->list[i].count;
	}

	getTypeOutputInfo(scores->label_type, &function, &varlena);
	fmgr_info(function, &output);
	labels = palloc(scores->n * sizeof(char *));
	initStringInfo(&json);
	for (i = 0; i < scores->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		labels[i] = OutputFunctionCall(&output, scores->list[i].label);
		check_posterior(i, json.len + strlen(labels[i]));
		appendStringInfoString(&json, i == 0 ? "{" : ", ");
		escape_json(&json, labels[i]);
		appendStringInfo(&json, ": %.15g",
						 probability(scores, i, score_sum, count_sum));
	}
	appendStringInfoChar(&json, '}');
	check_distinct(labels, scores->n);
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data));
}

Datum
race_posterior_final(PG_FUNCTION_ARGS)
{
	Scores	   *scores = PG_ARGISNULL(0) ? NULL : (Scores *) PG_GETARG_POINTER(0);

	if (scores == NULL || scores->n == 0)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(posterior(scores));
}
