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

#include "privacy/counters.h"
#include "hash/kernel.h"
#include "hash/kind.h"
#include "hash/params.h"
#include "hash/table.h"
#include "sketch/params_text.h"
#include "sketch/params_type.h"
#include "sketch/sketch_format.h"
#include "sketch/text.h"
#include "answers/classify.h"
#include "answers/factor.h"

/*
 * Calibration: a logistic regression of the class on the scores, from private histograms.
 *
 * A record counts for the two classes i < j whose scores are highest, at its margin s, the
 * logarithm of the ratio of their scores.  The sketch of scores of each class is a histogram of
 * these numbers.  So for each pair and each node of the margin it is known how many records are of
 * class i and of class j, with noise of a known variance.  Where both are the best, the logarithm
 * of the odds of j is taken to be
 *
 *		slope s + shift[j] - shift[i] + deviation[pair][node]
 *
 * (Platt 1999; with a slope and shifts for all pairs).  The other classes keep their scores, to the
 * power of the slope.  The derivative of the log likelihood is linear in the numbers of records: so
 * noise gives it no bias, and its variance is known.  Slope and shifts are normal around 1 and 0
 * before, and so are deviations around 0.  Their spreads are those for which what was found is
 * likeliest (empirical Bayes): where noise hides what calibration would change, the scores stay as
 * they are.
 */

/* Spreads that are tried, of the slope, of shifts and of deviations */
static const double spreads[] = {0.05, 0.1, 0.2, 0.4, 0.8, 1.6};

#define UNIT_MARGIN 2.0 /* a margin that is half way from the middle to an end of the histogram */
#define MOST_MARGIN 8.0 /* margin that larger ones count as */
#define LEAST_SLOPE 0.1
#define MOST_STEPS 30 /* most steps of Newton's method */
#define LEAST_STEP 1e-6

/* Nobody needs to know a number of records better than to one, which rounding would not bear. */
#define LEAST_VARIANCE 1.0

/* What the fit sees: [pairs][nodes] records of the lower and the higher class of a pair */
typedef struct Fit
{
	RaceCalibration *calibration;
	int n; /* number of parameters: the slope and the shifts */
	uint32 nodes;
	double *lower;
	double *higher;
	double variance;     /* variance of each number */
	double *weight;      /* [pairs][nodes]: weights of the gradients of nodes */
	double *gradient;    /* [n]: gradient of the log likelihood, weighted */
	double *information; /* [n][n]: minus the derivative of the gradient */
	double *covariance;  /* [n][n]: covariance of the gradient */
	double *work;        /* [3][n][n] */
} Fit;

static int
pairs_of(int classes)
{
	return classes * (classes - 1) / 2;
}

/* Return the place of a margin in its histogram, from 0 to 1. */
static double
place_of_margin(double margin)
{
	double ratio = margin / UNIT_MARGIN;

	return isfinite(ratio) ? (1 + ratio / (1 + fabs(ratio))) / 2 : margin > 0;
}

static double
margin_of_node(const RaceCalibration *calibration, uint32 node)
{
	double end = 1 - 0.5 / calibration->cells;
	double ratio = fmin(fmax(2.0 * node / calibration->cells - 1, -end), end);

	return fmin(fmax(UNIT_MARGIN * ratio / (1 - fabs(ratio)), -MOST_MARGIN), MOST_MARGIN);
}

static double
logistic(double x)
{
	return 1 / (1 + exp(-x));
}

/* Return the logarithm of the odds of the higher class of a pair, without the deviation. */
static double
line_at(const RaceCalibration *calibration, const RaceBestTwo *pair)
{
	return calibration->slope * pair->margin + calibration->shift[pair->higher] -
		calibration->shift[pair->lower];
}

/* Compute the gradient of a node in the logarithm of odds, its information and its variance. */
static void
evaluate_node(const Fit *fit, size_t place, double log_odds, double *gradient, double *information,
			  double *variance)
{
	double p = logistic(log_odds);

	*gradient = fit->higher[place] * (1 - p) - fit->lower[place] * p;
	*information = fmax(fit->higher[place] + fit->lower[place], 0) * p * (1 - p);
	*variance = *information + fit->variance * (p * p + (1 - p) * (1 - p));
}

/*
 * Weigh the gradients of nodes by their information over their variance, as the scores say it:
 * nodes without records have as much noise as others.  How many records a node has is told by the
 * other nodes of its pair, nearer ones more.  Their noise is independent of its own, so weights
 * give no bias.
 */
static void
find_weights(Fit *fit)
{
	size_t places = (size_t) pairs_of(fit->calibration->classes) * fit->nodes;

	for (size_t place = 0; place < places; place++)
	{
		int node = place % fit->nodes;
		double p = logistic(margin_of_node(fit->calibration, node));
		double records = 0;
		double sum = 0;
		double information;

		for (int other = 0; other < (int) fit->nodes; other++)
			if (other != node)
			{
				size_t there = place - node + other;

				records += (fit->lower[there] + fit->higher[there]) / abs(other - node);
				sum += 1.0 / abs(other - node);
			}
		information = fmax(records / sum, 0) * p * (1 - p);
		fit->weight[place] =
			information / (information + fit->variance * (p * p + (1 - p) * (1 - p)));
	}
}

static void
add_product(double *matrix, int n, const int *index, const double *x, double factor)
{
	for (int a = 0; a < 3; a++)
		for (int b = 0; b < 3; b++)
			matrix[index[a] * n + index[b]] += factor * x[a] * x[b];
}

/* Evaluate the gradient of slope and shifts. */
static void
evaluate_gradient(Fit *fit)
{
	const RaceCalibration *calibration = fit->calibration;
	int n = fit->n;
	RaceBestTwo pair;
	size_t place = 0;

	memset(fit->gradient, 0, n * sizeof(double));
	memset(fit->information, 0, (Size) n * n * sizeof(double));
	memset(fit->covariance, 0, (Size) n * n * sizeof(double));
	for (int i = 0; i < n; i++)
		fit->covariance[i * n + i] = LEAST_VARIANCE;
	for (pair.higher = 1; pair.higher < calibration->classes; pair.higher++)
		for (pair.lower = 0; pair.lower < pair.higher; pair.lower++)
			for (uint32 node = 0; node < fit->nodes; node++, place++)
			{
				const int index[3] = {0, 1 + pair.lower, 1 + pair.higher};
				double x[3] = {0, -1, 1};
				double weight = fit->weight[place];
				double gradient;
				double information;
				double variance;

				x[0] = pair.margin = margin_of_node(calibration, node);
				evaluate_node(fit, place, line_at(calibration, &pair), &gradient, &information,
							  &variance);
				for (int a = 0; a < 3; a++)
					fit->gradient[index[a]] += weight * gradient * x[a];
				add_product(fit->information, n, index, x, weight * information);
				add_product(fit->covariance, n, index, x, weight * weight * variance);
			}
}

/*
 * Find a step of Newton's method, from slope and shifts with precisions before.  With S the
 * gradient, V its covariance, F the information, it is the solution of (F V^-1 F + P) step = F V^-1
 * S - P (now - before).  Return -2 times the logarithm of the evidence there.
 */
static double
find_step(Fit *fit, const double *precision, const double *from_prior, double *step)
{
	size_t n = fit->n;
	double *inverse = fit->work;    /* inverse of V, then of the matrix that is solved */
	double *half = inverse + n * n; /* F V^-1 */
	double *posterior = half + n * n;
	double *right = palloc(n * sizeof(double));
	double evidence = 0;

	if (!race_inverse_root(fit->covariance, n))
		elog(ERROR, "the covariance of a gradient has no inverse");
	race_root_product(fit->covariance, n, inverse);
	for (size_t i = 0; i < n * n; i++)
		half[i] = race_dot(fit->information + i / n * n, inverse + i % n * n, n);
	for (size_t i = 0; i < n * n; i++)
		posterior[i] = race_dot(half + i / n * n, fit->information + i % n * n, n) +
			(i / n == i % n ? precision[i / n] : 0);
	for (size_t i = 0; i < n; i++)
	{
		right[i] = race_dot(half + i * n, fit->gradient, n) - precision[i] * from_prior[i];
		evidence += fit->gradient[i] * race_dot(inverse + i * n, fit->gradient, n) +
			precision[i] * from_prior[i] * from_prior[i] - log(precision[i]);
	}
	if (!race_inverse_root(posterior, n))
		elog(ERROR, "the information of a calibration has no inverse");
	race_root_product(posterior, n, inverse);
	for (size_t i = 0; i < n; i++)
	{
		step[i] = race_dot(inverse + i * n, right, n);
		evidence -= 2 * log(posterior[i * n + i]); /* the determinant */
	}
	pfree(right);
	return evidence;
}

/* Find the likeliest slope and shifts for their spreads, from the present ones; see find_step. */
static double
fit_line(Fit *fit, double slope_spread, double shift_spread)
{
	RaceCalibration *calibration = fit->calibration;
	int n = fit->n;
	double *precision = palloc(3 * n * sizeof(double));
	double *from_prior = precision + n;
	double *step = from_prior + n;
	double evidence = 0;
	double largest = INFINITY;

	for (int i = 0; i < n; i++)
	{
		precision[i] = pow(i == 0 ? slope_spread : shift_spread, -2);
		from_prior[i] = i == 0 ? calibration->slope - 1 : calibration->shift[i - 1];
	}
	for (int steps = 0; steps < MOST_STEPS && largest > LEAST_STEP; steps++)
	{
		CHECK_FOR_INTERRUPTS();
		calibration->slope = 1 + from_prior[0];
		memcpy(calibration->shift, from_prior + 1, calibration->classes * sizeof(double));
		evaluate_gradient(fit);
		evidence = find_step(fit, precision, from_prior, step);
		largest = 0;
		for (int i = 0; i < n; i++)
			largest = fmax(largest, fabs(step[i]));
		for (int i = 0; i < n; i++)
			from_prior[i] += step[i] * fmin(1, 0.5 / largest);
		from_prior[0] = fmax(from_prior[0], LEAST_SLOPE - 1);
	}
	pfree(precision);
	return evidence;
}

/* Find the likeliest deviation of a node for a spread.  Return -2 log of its evidence. */
static double
fit_node(const Fit *fit, size_t place, double line, double spread, double *deviation)
{
	double precision = 1 / (spread * spread);
	double gradient = 0;
	double information = 0;
	double variance = 1;

	*deviation = 0;
	for (int steps = 0; steps < MOST_STEPS; steps++)
	{
		double step;

		evaluate_node(fit, place, line + *deviation, &gradient, &information, &variance);
		step = (information / variance * gradient - precision * *deviation) /
			(information / variance * information + precision);
		*deviation += fmin(fmax(step, -1), 1);
		if (fabs(step) < LEAST_STEP)
			break;
	}
	return gradient * gradient / variance + precision * *deviation * *deviation +
		log(information / variance * information / precision + 1);
}

/* Find the deviations of all nodes for a spread. */
static double
fit_nodes(Fit *fit, double spread)
{
	RaceCalibration *calibration = fit->calibration;
	double evidence = 0;
	RaceBestTwo pair;
	size_t place = 0;

	for (pair.higher = 1; pair.higher < calibration->classes; pair.higher++)
		for (pair.lower = 0; pair.lower < pair.higher; pair.lower++)
			for (uint32 node = 0; node < fit->nodes; node++, place++)
			{
				pair.margin = margin_of_node(calibration, node);
				evidence += fit_node(fit, place, line_at(calibration, &pair), spread,
									 &calibration->deviation[place]);
			}
	return evidence;
}

/* Fit the line, and then deviations from it, with the spreads that have the most evidence. */
static void
fit_best(Fit *fit)
{
	const size_t n = lengthof(spreads);
	double least = INFINITY;
	size_t best = 0;

	for (size_t i = 0; i < n * n; i++)
	{
		double evidence = fit_line(fit, spreads[i / n], spreads[i % n]);

		if (evidence < least)
		{
			least = evidence;
			best = i;
		}
	}
	(void) fit_line(fit, spreads[best / n], spreads[best % n]);
	least = INFINITY;
	for (size_t i = 0; i < n; i++)
	{
		double evidence = fit_nodes(fit, spreads[i]);

		if (evidence < least)
		{
			least = evidence;
			best = i;
		}
	}
	(void) fit_nodes(fit, spreads[best]);
}

/* Return the number of cells of a margin in a sketch of scores: a grid from 0 to 2 pairs - 1. */
static uint32
cells_of(int classes, const RaceParams *params)
{
	uint32 length = 2 * pairs_of(classes) - 1;
	RaceGrid grid;

	if (race_grid_of(params, &grid) && grid.dims == 1 && grid.lower[0] == 0 &&
		fabs(grid.cells[0] * grid.width[0] - length) < 1e-6 && (uint32) grid.cells[0] % length == 0)
		return (uint32) grid.cells[0] / length;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the scores of this release cannot be read"),
			 errdetail("Scores of %d classes have the parameters %s.", classes,
					   race_params_brief(params)),
			 errhint("Make the release again; race_kde answers about its sketches.")));
	return 0; /* not reached */
}

/*
 * Read from a sketch of scores how many records of its class have each node of the margin to
 * another one.
 */
static void
read_scores(const RaceView *view, int first, uint32 cells, double *records)
{
	for (uint32 node = 0; node <= cells; node++)
		records[node] =
			race_counters_get(view->counters, view->width, (size_t) first * cells + node) /
			(double) race_record_unit(view->params);
}

RaceCalibration *
race_calibration_create(int classes, const RaceView *sketches, const RaceView *scores,
						MemoryContext context)
{
	MemoryContext old = MemoryContextSwitchTo(context);
	RaceCalibration *calibration = palloc(sizeof(RaceCalibration));
	Fit fit = {.calibration = calibration, .n = classes + 1};
	size_t places;

	calibration->classes = classes;
	calibration->cells = cells_of(classes, scores[0].params);
	calibration->slope = 1;
	calibration->totals = palloc0(2 * classes * sizeof(double));
	calibration->shift = calibration->totals + classes;
	fit.nodes = calibration->cells + 1;
	places = (size_t) pairs_of(classes) * fit.nodes;
	calibration->deviation = palloc_extended(places * sizeof(double), MCXT_ALLOC_HUGE);
	fit.lower = palloc_extended(3 * places * sizeof(double), MCXT_ALLOC_HUGE);
	fit.higher = fit.lower + places;
	fit.weight = fit.higher + places;
	for (int i = 0; i < classes; i++)
	{
		race_params_check_same(scores[0].params, scores[i].params);
		calibration->totals[i] = Max(sketches[i].header->count, 0);
		fit.variance = Max(fit.variance, scores[i].header->noise.counter_variance);
	}
	fit.variance =
		Max(fit.variance / pow((double) race_record_unit(scores[0].params), 2), LEAST_VARIANCE);
	for (int j = 1; j < classes; j++)
		for (int i = 0; i < j; i++)
		{
			int pair = pairs_of(j) + i;

			read_scores(&scores[i], 2 * pair, calibration->cells,
						fit.lower + (size_t) pair * fit.nodes);
			read_scores(&scores[j], 2 * pair, calibration->cells,
						fit.higher + (size_t) pair * fit.nodes);
		}
	fit.gradient = palloc((fit.n + 5 * (Size) fit.n * fit.n) * sizeof(double));
	fit.information = fit.gradient + fit.n;
	fit.covariance = fit.information + (Size) fit.n * fit.n;
	fit.work = fit.covariance + (Size) fit.n * fit.n;
	find_weights(&fit);
	fit_best(&fit);
	pfree(fit.lower);
	pfree(fit.gradient);
	MemoryContextSwitchTo(old);
	return calibration;
}

/* ----------------------------------------------------------------- questions */

/* Return the two classes with the highest scores; among equals, the first ones. */
static RaceBestTwo
best_pair(const RaceScores *scores)
{
	const RaceScore *list = scores->list;
	RaceBestTwo pair = {0, 1, 0};
	int best = list[1].score > list[0].score;
	int second = 1 - best;

	for (int i = 2; i < scores->n; i++)
		if (list[i].score > list[best].score)
		{
			second = best;
			best = i;
		}
		else if (list[i].score > list[second].score)
			second = i;
	pair.lower = Min(best, second);
	pair.higher = Max(best, second);
	if (list[best].score > 0)
		pair.margin = log(list[pair.higher].score / list[pair.lower].score);
	return pair;
}

double
race_scores_number(const RaceScores *scores)
{
	RaceBestTwo pair = best_pair(race_scores_sharpen(scores));

	return 2 * (pairs_of(pair.higher) + pair.lower) + place_of_margin(pair.margin);
}

/* Return the deviation at a margin: it is linear between nodes. */
static double
deviation_at(const RaceCalibration *calibration, const RaceBestTwo *pair)
{
	double place = place_of_margin(pair->margin) * calibration->cells;
	uint32 node = Min((uint32) place, calibration->cells - 1);
	const double *deviation = calibration->deviation +
		(size_t) (pairs_of(pair->higher) + pair->lower) * (calibration->cells + 1) + node;

	return deviation[0] + (place - node) * (deviation[1] - deviation[0]);
}

void
race_calibration_apply(const RaceCalibration *calibration, RaceScores *scores)
{
	const RaceScores *sharp = race_scores_sharpen(scores);
	RaceBestTwo pair = best_pair(sharp);
	double highest = Max(sharp->list[pair.lower].score, sharp->list[pair.higher].score);
	double both;

	for (int i = 0; i < scores->n; i++)
	{
		RaceScore *score = &scores->list[i];

		score->score = highest > 0 ? pow(sharp->list[i].score / highest, calibration->slope) : 1;
		score->count = calibration->totals[i];
		score->flatness = 0;
	}
	both = scores->list[pair.lower].score + scores->list[pair.higher].score;
	scores->list[pair.higher].score =
		both * logistic(line_at(calibration, &pair) + deviation_at(calibration, &pair));
	scores->list[pair.lower].score = both - scores->list[pair.higher].score;
	scores->prior = RACE_PRIOR_COUNTS;
}

/*
 * Classes with scores: the best one, and probabilities.
 */

RacePrior
race_read_prior(text *name)
{
	char *prior = text_to_cstring(name);

	if (strcmp(prior, "uniform") == 0)
		return RACE_PRIOR_UNIFORM;
	if (strcmp(prior, "counts") == 0)
		return RACE_PRIOR_COUNTS;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unknown prior \"%s\"", race_cut(prior)),
			 errhint("Use uniform (maximum likelihood) or counts (maximum a posteriori).")));
	return RACE_PRIOR_UNIFORM; /* not reached */
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
		scores->list = repalloc(scores->list, 2 * (Size) scores->capacity * sizeof(RaceScore));
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
#define TAILS 2.0

double
race_flatness(double typical_density, uint32 dims)
{
	double ratio = (pow(typical_density, -2.0 / dims) - 1) / 2;

	return isfinite(ratio) ? TAILS / (TAILS + Max(ratio, 0)) : 0;
}

uint32
race_scores_sharp_dims(const RaceParams *params)
{
	if (!race_kernel_type(params->kernel)->euclidean || race_params_parts(params) > 1)
		return 0;
	return params->outputs > 0 ? params->outputs : params->dims;
}

/* A power beyond this is not told from it. */
#define MOST_FLAT 0.999

/*
 * Return the mean flatness of all classes.  Those whose noise hides it are taken to be as flat as
 * the others.  If it hides all, the most that it may be is taken: then no prior is better than a
 * wrong one.
 */
static double
mean_flatness(const RaceScores *scores)
{
	double known = 0;
	double sum = 0;
	double count = 0;
	double most = 0;

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
	double flatness = mean_flatness(scores);
	double highest = 0;

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
		RaceScore *score = &sharp->list[i];

		*score = scores->list[i];
		score->score = Max(score->count, 1) * pow(density_of(score) / highest, sharp->power);
	}
	return sharp;
}

FmgrInfo *
race_scores_comparison(const RaceScores *scores)
{
	TypeCacheEntry *type = lookup_type_cache(scores->label_type, TYPECACHE_CMP_PROC_FINFO);

	if (!OidIsValid(type->cmp_proc_finfo.fn_oid))
		ereport(
			ERROR,
			(errcode(ERRCODE_UNDEFINED_FUNCTION),
			 errmsg("could not identify a comparison function for type %s",
					format_type_be(scores->label_type)),
			 errhint("Classes with equal scores are told apart by the order of their labels.")));
	return &type->cmp_proc_finfo;
}

RaceScore *
race_scores_best(const RaceScores *scores, FmgrInfo *compare, Oid collation)
{
	RaceScore *best = &scores->list[0];

	if (!OidIsValid(collation))
		collation = DEFAULT_COLLATION_OID;
	for (int i = 1; i < scores->n; i++)
	{
		RaceScore *score = &scores->list[i];

		CHECK_FOR_INTERRUPTS();
		if (score->score != best->score ?
				score->score > best->score :
				score->count != best->count ?
				score->count > best->count :
				DatumGetInt32(FunctionCall2Coll(compare, collation, best->label, score->label)) > 0)
			best = score;
	}
	return best;
}

/* jsonb_in does not check for interrupts, so a posterior has a limit. */
#define MAX_CLASSES 100000

static void
check_posterior(int n, Size bytes)
{
	if (n > MAX_CLASSES || bytes > RACE_MAX_TEXT)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("the posterior is too large"),
				 errdetail("It can have at most %d classes and %zu bytes.", MAX_CLASSES,
						   RACE_MAX_TEXT)));
}

/*
 * Return {label: probability}.  If all scores are zero there is no evidence, and the prior remains;
 * without any records, the uniform prior.
 */
Datum
race_scores_posterior(const RaceScores *scores)
{
	double score_sum = 0;
	double count_sum = 0;
	StringInfoData json;
	FmgrInfo output;
	Oid function;
	bool varlena;
	char **labels;

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
						 score_sum > 0 ? scores->list[i].score / score_sum :
							 scores->prior == RACE_PRIOR_COUNTS && count_sum > 0 ?
										 scores->list[i].count / count_sum :
										 1.0 / scores->n);
	}
	appendStringInfoChar(&json, '}');
	qsort(labels, scores->n, sizeof(char *), pg_qsort_strcmp);
	for (int i = 1; i < scores->n; i++)
		if (strcmp(labels[i - 1], labels[i]) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("label \"%s\" stands for more than one class", race_cut(labels[i]))));
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data));
}
