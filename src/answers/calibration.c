/*
 * calibration.c
 *		Scores and calibrated probabilities of classes
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

#include "../core/core.h"
#include "classify.h"

/*
 * How many records of each class have a score, by private sketches of the scores.
 */

/* Shares that are expected are at most so near to 1, since nothing is certain. */
#define NEARLY_ALL		0.999

/* Nobody needs to know a number of records better than to one, which rounding would not bear. */
#define LEAST_VARIANCE	1.0

/* How many cells a lead has in a sketch of scores: a grid of the numbers from 0 to 2 classes - 1 */
static uint32
cells_of(int classes, const RaceParams *params)
{
	uint32		length = 2 * classes - 1;
	RaceGrid	grid;

	if (race_grid_of(params, &grid) && grid.dims == 1 && grid.lower[0] == 0 &&
		fabs(grid.cells[0] * grid.width[0] - length) < 1e-6 && (uint32) grid.cells[0] % length == 0)
		return (uint32) grid.cells[0] / length;
	elog(ERROR, "a sketch of scores of %d classes has the parameters %s", classes,
		 race_params_brief(params));
	return 0;					/* not reached */
}

static size_t
places_of(const RaceCalibration *calibration)
{
	return (size_t) calibration->classes * (calibration->cells + 1);
}

/* What there is of a class with a best class: at each node of the lead */
static double *
lead_of(const RaceCalibration *calibration, int class, int best)
{
	return calibration->records +
		((size_t) class * calibration->classes + best) * (calibration->cells + 1);
}

/* Read what a sketch says of a class, at each best class and node of its lead. */
static void
load(const RaceCalibration *calibration, int class, const RaceView *view)
{
	double		unit = (double) race_record_unit(view->params);

	for (int best = 0; best < calibration->classes; best++)
		for (uint32 j = 0; j <= calibration->cells; j++)
			lead_of(calibration, class, best)[j] =
				race_counters_get(view->counters, view->width,
								  (size_t) 2 * best * calibration->cells + j) / unit;
}

/* ------------------------------------------------------------------- shares */

/* How much shares differ from what is expected of them, in standard deviations of one record */
#define SPREAD			0.3

/*
 * The likeliest share, normal around what is expected, of records of which so many were seen to have
 * it, with noise of a variance
 */
static double
shrunk(double having, double records, double expected, double variance)
{
	double		prior = SPREAD * SPREAD * expected * (1 - expected);

	records = Max(records, 0);
	return (having * records * prior + expected * variance) / (records * records * prior + variance);
}

/* A share of right ones that is neither certain nor worse than luck */
static double
within(double share, int classes)
{
	return Min(Max(share, 0.5 / classes), NEARLY_ALL);
}

/* Make shares of a lead rise with it: the nearest such ones in squares, weighted by records. */
static void
make_monotone(double *shares, const double *records, uint32 n)
{
	double	   *given = memcpy(palloc(n * sizeof(double)), shares, n * sizeof(double));

	for (uint32 i = 0; i < n; i++)
	{
		/* the largest of the least means of nodes around it (Barlow et al. 1972) */
		shares[i] = 0;
		for (uint32 from = 0; from <= i; from++)
		{
			double		least = 1;
			double		sum = 0;
			double		all = 0;

			for (uint32 to = from; to < n; to++)
			{
				sum += given[to] * Max(records[to], 1);
				all += Max(records[to], 1);
				if (to >= i)
					least = Min(least, sum / all);
			}
			shares[i] = Max(shares[i], least);
		}
	}
	pfree(given);
}

/* How often the best class is right with each lead, whatever class that is: [nodes] */
static double *
rightness_of(const RaceCalibration *calibration, const double *places, double variance)
{
	int			classes = calibration->classes;
	uint32		nodes = calibration->cells + 1;
	double	   *records = palloc0(3 * nodes * sizeof(double));
	double	   *having = records + nodes;
	double	   *shares = having + nodes;
	double		right = 0;
	double		all = 0;

	for (uint32 j = 0; j < nodes; j++)
	{
		for (int best = 0; best < classes; best++)
		{
			records[j] += places[best * nodes + j];
			having[j] += lead_of(calibration, best, best)[j];
		}
		right += having[j];
		all += records[j];
	}
	for (uint32 j = 0; j < nodes; j++)
		shares[j] = within(shrunk(having[j], records[j], within(all > 0 ? right / all : 0, classes),
								  classes * variance), classes);
	make_monotone(shares, records, nodes);
	return shares;
}

/*
 * Replace what sketches say where a class is best by likely numbers of records.  Its own share is
 * shrunk to what is right on average; the others are taken to be as frequent there as anywhere.
 */
static void
share_out(RaceCalibration *calibration, int best, const double *places, const double *rightness, double variance)
{
	int			classes = calibration->classes;
	double		others = 0;

	for (int i = 0; i < classes; i++)
		others += i == best ? 0 : calibration->totals[i] + 1;
	for (uint32 j = 0; j <= calibration->cells; j++)
	{
		double		records = Max(places[j], 1);
		double		share = within(shrunk(lead_of(calibration, best, best)[j], records, rightness[j], variance), classes);

		for (int i = 0; i < classes; i++)
			lead_of(calibration, i, best)[j] = records *
				(i == best ? share : (1 - share) * (calibration->totals[i] + 1) / others);
	}
}

RaceCalibration *
race_calibration_create(int classes, const RaceView *sketches, const RaceView *scores,
						MemoryContext context)
{
	RaceCalibration *calibration = MemoryContextAlloc(context, sizeof(RaceCalibration));
	double	   *places;			/* records of all classes */
	double	   *rightness;
	double		variance = 0;

	calibration->classes = classes;
	calibration->cells = cells_of(classes, scores[0].params);
	calibration->totals = MemoryContextAlloc(context, classes * sizeof(double));
	calibration->records = MemoryContextAllocHuge(context, classes * places_of(calibration) *
												  sizeof(double));
	for (int i = 0; i < classes; i++)
	{
		race_params_check_same(scores[0].params, scores[i].params);
		load(calibration, i, &scores[i]);
		calibration->totals[i] = Max(sketches[i].header->count, 0);
		variance = Max(variance, scores[i].header->noise.counter_variance);
	}
	variance = Max(variance / pow((double) race_record_unit(scores[0].params), 2), LEAST_VARIANCE);
	calibration->margin = sqrt(2 * variance);
	places = palloc0(places_of(calibration) * sizeof(double));
	for (size_t place = 0; place < classes * places_of(calibration); place++)
		places[place % places_of(calibration)] += calibration->records[place];
	rightness = rightness_of(calibration, places, variance);
	for (int i = 0; i < classes; i++)
	{
		CHECK_FOR_INTERRUPTS();
		share_out(calibration, i, places + i * (calibration->cells + 1), rightness, variance);
	}
	return calibration;
}

/* ----------------------------------------------------------------- questions */

void
race_calibration_ask(const RaceCalibration *calibration, double score, double *records)
{
	uint32		cells = calibration->cells;
	int			best = (int) Min(Max(score / 2, 0), calibration->classes - 1);
	double		place = Min(Max(score - 2 * best, 0), 1) * cells;
	uint32		node = Min((uint32) place, cells - 1);
	double		share = place - node;
	double		sum[2] = {0, 0};

	for (int i = 0; i < calibration->classes; i++)
	{
		sum[0] += lead_of(calibration, i, best)[node];
		sum[1] += lead_of(calibration, i, best)[node + 1];
	}
	for (int i = 0; i < calibration->classes; i++)
	{
		const double *lead = lead_of(calibration, i, best) + node;

		/* shares are linear between nodes */
		records[i] = ((1 - share) * sum[0] + share * sum[1]) *
			((1 - share) * lead[0] / sum[0] + share * lead[1] / sum[1]);
	}
}

/*
 * Classes with scores: the best one, and probabilities.
 */

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
	if (params->kernel != RACE_KERNEL_L2 || race_params_parts(params) > 1)
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

	for (int i = 0; i < scores->n; i++)
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

	for (int i = 0; i < scores->n; i++)
		highest = Max(highest, density_of(&scores->list[i]));
	if (scores->prior != RACE_PRIOR_COUNTS || !(flatness > 0) || !(highest > 0))
		return scores;
	sharp = palloc(sizeof(RaceScores));
	*sharp = *scores;
	sharp->power = 1 / (1 - Min(flatness, MOST_FLAT));
	sharp->list = palloc_extended(scores->n * sizeof(RaceScore), MCXT_ALLOC_HUGE);
	for (int i = 0; i < scores->n; i++)
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

static int
compare_labels(FmgrInfo *compare, Oid collation, Datum a, Datum b)
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

	return order != 0 ? order : compare_labels(compare, collation, b->label, a->label);
}

RaceScore *
race_scores_best(const RaceScores *scores, FmgrInfo *compare, Oid collation)
{
	RaceScore  *best = &scores->list[0];

	for (int i = 1; i < scores->n; i++)
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
margin_of(double best, double second, double power)
{
	double		l = best > 0 ? log(best / second) / power : 0;

	return isfinite(l) ? l / (l + 0.25) : 1;
}

double
race_scores_number(const RaceScores *scores, FmgrInfo *compare)
{
	const RaceScores *sharp = race_scores_sharpen(scores);
	const RaceScore *best = race_scores_best(sharp, compare, C_COLLATION_OID);
	double		second = 0;

	for (int i = 0; i < sharp->n; i++)
		if (&sharp->list[i] != best)
			second = Max(second, sharp->list[i].score);
	return 2 * (best - sharp->list) + margin_of(best->score, second, sharp->power);
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
	qsort(labels, n, sizeof(char *), pg_qsort_strcmp);
	for (int i = 1; i < n; i++)
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

	check_posterior(scores->n, 0);
	for (int i = 0; i < scores->n; i++)
	{
		score_sum += scores->list[i].score;
		count_sum += scores->list[i].count;
	}

	getTypeOutputInfo(scores->label_type, &function, &varlena);
	fmgr_info(function, &output);
	labels = palloc(scores->n * sizeof(char *));
	initStringInfo(&json);
	for (int i = 0; i < scores->n; i++)
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
