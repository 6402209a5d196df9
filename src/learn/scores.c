/*
 * scores.c
 *		Classes with scores: the best one, and probabilities.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_collation.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "../server/argument.h"
#include "../server/text.h"
#include "calibration.h"
#include "scores.h"

RacePrior
race_read_prior(text *name)
{
	char	   *prior = text_to_cstring(name);

	if (strcmp(prior, "uniform") == 0)
		return RACE_PRIOR_UNIFORM;
	if (strcmp(prior, "counts") == 0)
		return RACE_PRIOR_COUNTS;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unknown prior \"%s\"", race_cut(prior)),
			 errhint("Use uniform (maximum likelihood) or counts (maximum a posteriori).")));
	return RACE_PRIOR_UNIFORM;	/* not reached */
}

void
race_scores_set_prior(RaceScores *scores, RacePrior prior)
{
	if (scores->n > 0 && scores->prior != prior)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("all classes must have the same prior")));
	scores->prior = prior;
}

/* > 0 when a beats b; 0 when the labels must decide */
static int
compare_scores(const RaceScore *a, const RaceScore *b)
{
	if (a->score != b->score)
		return a->score > b->score ? 1 : -1;
	if (a->count != b->count)
		return a->count > b->count ? 1 : -1;
	return 0;
}

RaceScores *
race_scores_create(Oid label_type, MemoryContext context)
{
	RaceScores *scores = MemoryContextAllocZero(context, sizeof(RaceScores));

	scores->label_type = label_type;
	get_typlenbyval(label_type, &scores->label_length, &scores->label_by_value);
	scores->power = 1;
	scores->capacity = 4;
	scores->list = MemoryContextAlloc(context, scores->capacity * sizeof(RaceScore));
	return scores;
}

RaceScores *
race_scores_start(FunctionCallInfo fcinfo, MemoryContext context)
{
	Oid			label_type = race_argument_type(fcinfo->flinfo, 1);

	if (!OidIsValid(label_type))
		elog(ERROR, "could not determine the type of a label");
	return race_scores_create(label_type, context);
}

void
race_scores_clear(RaceScores *scores, RacePrior prior)
{
	scores->n = 0;
	scores->prior = prior;
}

void
race_scores_add(RaceScores *scores, RaceScore score)
{
	if (scores->n == scores->capacity)
	{
		/* repalloc refuses 1 GB, which is reached before this overflows */
		scores->list = repalloc(scores->list,
								2 * (Size) scores->capacity * sizeof(RaceScore));
		scores->capacity *= 2;
	}
	scores->list[scores->n++] = score;
}

void
race_scores_append(RaceScores *scores, RaceScore score, Datum label, MemoryContext context)
{
	MemoryContext old = MemoryContextSwitchTo(context);

	score.label = datumCopy(label, scores->label_by_value, scores->label_length);
	race_scores_add(scores, score);
	MemoryContextSwitchTo(old);
}

/*
 * A normal distribution of variance s^2 in each of d dims, seen with a normal kernel of variance
 * h^2, is one of variance s^2 + h^2: to the power (s^2 + h^2) / s^2 it has its shape again.  The
 * mean density at a record is then (1 + 2 s^2 / h^2)^(-d / 2).  The kernels of l2 have longer
 * tails: with twice h^2 posteriors were calibrated best on five tables.
 */
#define TAILS	2.0

double
race_flatness(double typical_density, uint32 dims)
{
	double		ratio = (pow(typical_density, -2.0 / dims) - 1) / 2;

	return isfinite(ratio) ? TAILS / (TAILS + Max(ratio, 0)) : 0;
}

uint32
race_scores_sharp_dims(const RaceParams *params)
{
	if (params->kernel != RACE_KERNEL_L2 || race_params_parts(params) > 1 ||
		race_is_of_scores(params))
		return 0;
	return params->outputs > 0 ? params->outputs : params->dims;
}

/* A power beyond this is not told from it. */
#define MOST_FLAT	0.999

/*
 * The flatness of all classes.  Those whose noise hides it are taken to be as flat as the others.
 * If it hides all, the most that it may be is taken: then no prior is better than a wrong one.
 */
static double
mean_flatness(const RaceScores *scores)
{
	double		known = 0;
	double		sum = 0;
	double		count = 0;
	double		most = 0;
	int			i;

	for (i = 0; i < scores->n; i++)
	{
		const RaceScore *score = &scores->list[i];

		count += score->count;
		most += score->count * fabs(score->flatness);
		if (score->flatness >= 0)
		{
			known += score->count;
			sum += score->count * score->flatness;
		}
	}
	if (known > 0)
		return sum / known;
	return count > 0 ? most / count : 0;
}

static double
density_of(const RaceScore *score)
{
	return Min(score->score / Max(score->divisor, 1), 1);
}

const RaceScores *
race_scores_sharpen(const RaceScores *scores)
{
	RaceScores *sharp;
	double		flatness = mean_flatness(scores);
	double		highest = 0;
	int			i;

	for (i = 0; i < scores->n; i++)
		highest = Max(highest, density_of(&scores->list[i]));
	if (scores->prior != RACE_PRIOR_COUNTS || !(flatness > 0) || !(highest > 0))
		return scores;
	sharp = palloc(sizeof(RaceScores));
	*sharp = *scores;
	sharp->power = 1 / (1 - Min(flatness, MOST_FLAT));
	sharp->list = palloc_extended(scores->n * sizeof(RaceScore), MCXT_ALLOC_HUGE);
	for (i = 0; i < scores->n; i++)
	{
		RaceScore  *score = &sharp->list[i];

		*score = scores->list[i];
		score->score = Max(score->count, 1) * pow(density_of(score) / highest, sharp->power);
	}
	return sharp;
}

FmgrInfo *
race_scores_comparison(const RaceScores *scores)
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

int
race_compare_labels(FmgrInfo *compare, Oid collation, Datum a, Datum b)
{
	return DatumGetInt32(FunctionCall2Coll(compare,
										   OidIsValid(collation) ? collation :
										   DEFAULT_COLLATION_OID, a, b));
}

/* > 0 when a is to be preferred to b, by scores and then by labels */
static int
compare_classes(FmgrInfo *compare, Oid collation, const RaceScore *a, const RaceScore *b)
{
	int			order = compare_scores(a, b);

	return order != 0 ? order : race_compare_labels(compare, collation, b->label, a->label);
}

RaceScore *
race_scores_best(const RaceScores *scores, FmgrInfo *compare, Oid collation)
{
	RaceScore  *best = &scores->list[0];
	int			i;

	for (i = 1; i < scores->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (compare_classes(compare, collation, &scores->list[i], best) > 0)
			best = &scores->list[i];
	}
	return best;
}

/*
 * How far the best score is ahead of the second best, from 0 to 1.  With L the logarithm of
 * their ratio, as it was before they were sharpened, it is L / (L + 1/4): flat kernels, whose L are
 * small, spread over it as well as others.
 */
static double
lead_of(double best, double second, double power)
{
	double		l = best > 0 ? log(best / second) / power : 0;

	return isfinite(l) ? l / (l + 0.25) : 1;
}

double
race_scores_number(const RaceScores *scores, FmgrInfo *compare, Oid collation)
{
	const RaceScores *sharp = race_scores_sharpen(scores);
	const RaceScore *best = race_scores_best(sharp, compare, collation);
	double		second = 0;
	double		smaller = 0;
	int			i;

	for (i = 0; i < sharp->n; i++)
	{
		const RaceScore *other = &sharp->list[i];

		CHECK_FOR_INTERRUPTS();
		if (other == best)
			continue;
		second = Max(second, other->score);
		smaller += race_compare_labels(compare, collation, other->label, best->label) < 0;
	}
	return 2 * smaller + lead_of(best->score, second, sharp->power);
}

/*
 * The probability of a class. If all scores are zero there is no evidence, and the
 * prior remains; without any records, the uniform prior.
 */
static double
probability(const RaceScores *scores, int i, double score_sum, double count_sum)
{
	if (score_sum > 0)
		return scores->list[i].score / score_sum;
	if (scores->prior == RACE_PRIOR_COUNTS && count_sum > 0)
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
Datum
race_scores_posterior(const RaceScores *scores)
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
