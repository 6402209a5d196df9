/*
 * estimate.c
 *		race_kde, race_estimate and their intervals
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "../core/core.h"
#include "distributions.h"
#include "estimate.h"
#include "evaluator.h"
#include "row_estimator.h"
#include "solver.h"

/*
 * Kernel sums and densities: race_count, race_kernel_sum,
 * race_kde, race_estimate.
 *
 * Row r says S[r, h_r(q)], the number of records in the query's bucket, plus
 * noise.  Its mean over rows is f + p (N - f), where p is the probability that
 * two different codes share a bucket (0 if codes are not rehashed), so
 * (mean - p N) / (1 - p) is unbiased for f (Coleman & Shrivastava 2021, theorem
 * 2.5, and the correction of collisions).
 */

PG_FUNCTION_INFO_V1(race_count);
PG_FUNCTION_INFO_V1(race_kernel_sum);
PG_FUNCTION_INFO_V1(race_kde);
PG_FUNCTION_INFO_V1(race_estimate);

/*
 * A fitted sketch is asked for its model, and for what the rows say beyond it:
 *
 *		f(q) = sum of w_j k(x_j, q) + weight * (mean of the residuals at q)
 *
 * With weight 1 the model is a control variate; with 0 the model is trusted.  What the
 * model misses has about the square e; the residual tells it with a variance v, of noise and
 * of sampling.  The weight e / (e + v) makes the error least.  A surrogate loss is asked for
 * differences that are far smaller than v: its weight is 0.  A grid is good by itself: its model serves
 * samples, quantiles and charts, and is not asked.
 *
 * A query that leaves out parts of a product is answered by the model alone: a row hashes all parts of a
 * record together, and the kernel of a part that is left out is 1.
 */
typedef struct Parts
{
	double		model;			/* 0 without a model */
	double		weight;			/* of the rows; 1 without a model */
	double		mean;			/* of the rows, or of their residuals */
	const RaceModel *trusted;	/* the model, if it is asked; else NULL */
	RaceEvaluator *evaluator;			/* or NULL */
	const RaceGridded *gridded; /* or NULL */
	RaceRecordCount count;
} Parts;

/* Residuals whose square is so many times their variance are not noise: they are believed. */
#define TOO_LARGE			9.0

static double
weight_of_residual(const Parts *parts, double answer, double residual)
{
	double		v = parts->trusted->residual_variance;
	double		e = Max(pow(parts->trusted->misfit * answer, 2), residual * residual - TOO_LARGE * v);

	return !isfinite(e) ? 1 : e > 0 ? e / (e + v) : 0;
}

/* What the rows, or the nodes of a grid, say beyond the model */
static double
residual_of(const RaceQuestion *question, const Parts *parts, const RaceColumn *record)
{
	const RaceView *view = &question->view;

	if (parts->gridded != NULL)
		return race_gridded_sum(parts->gridded, record[0].numbers);
	return race_estimator_mean(view, parts->trusted != NULL ? parts->evaluator : NULL,
							 question->buckets, 0, view->params->rows);
}

static Parts
take_apart(const RaceQuestion *question)
{
	const RaceView *view = &question->view;
	Parts		parts = {0, 1, 0, NULL, NULL, NULL, {0, 0}};
	RaceColumn	record[RACE_MAX_PARTS];

	if (view->model != NULL || !race_summary_kind(view->params)->hashed)
	{
		race_question_record(question, record);
		parts.evaluator = race_evaluator_at(question->site, view);
		parts.gridded = race_evaluator_grid(parts.evaluator);
	}
	parts.count = race_record_count(view, parts.gridded);
	if (question->partial ||
		(view->model != NULL && parts.gridded == NULL && view->model->misfit < RACE_UNTESTED))
	{
		parts.trusted = view->model;
		parts.model = race_evaluator_sum(parts.evaluator, record);
	}
	if (question->partial || (parts.trusted != NULL && question->lifted != NULL))
	{
		parts.weight = 0;
		return parts;
	}
	parts.mean = residual_of(question, &parts, record);
	if (parts.trusted != NULL)
		parts.weight = weight_of_residual(&parts, parts.model, parts.mean);
	return parts;
}

/*
 * The number of records that collisions are corrected for: residuals are of none, but for
 * what the weights of the model do not add up to.
 */
static double
records_of(const Parts *parts)
{
	return parts->trusted == NULL ? parts->count.n :
		Min(parts->count.n - race_count_divisor(parts->count), 0);
}

static double
put_together(const RaceView *view, const Parts *parts)
{
	return parts->model + parts->weight *
		race_correct_collisions(view->params, parts->mean, records_of(parts));
}

/*
 * A lower bound of the variance of the mean of rows: the noise that is known to be in
 * it. A few rows that balance each other cannot show their own variance. For those of
 * a private sketch, the prior by which the rows were chosen is added, or what was
 * found when the model was fitted.
 */
static double
least_variance(const RaceQuestion *question, const Parts *parts)
{
	const RaceView *view = &question->view;
	const RaceParams *params = view->params;
	double		noise = view->header->noise.counter_variance / params->rows;
	double		records = race_count_divisor(parts->count);

	if (params->rows >= RACE_ROWS_FOR_INTERVALS ||
		race_params_sequence(params) == RACE_SEQUENCE_INDEPENDENT)
		return noise;
	if (view->model != NULL)
		return Max(noise, view->model->residual_variance);
	return noise == 0 ? 0 : noise +
		race_sampling_variance(params, params->rows, race_kernel_mass(records) * records);
}

/*
 * Points that should fill a plane are often too many, and moved then.  Few rows see a narrow table
 * as a wide one, both halves alike: on a line of records models of 16 to 128 rows were off by half
 * of 1 / sqrt(rows) of an answer, whatever residuals showed.  This is the square of that half.
 */
#define UNSHOWN_IN_PLANE	0.25
#define ROWS_FOR_PLANE		512

/* What few rows do not show of the error of a model, besides what residuals show */
static double
variance_of_few_rows(const RaceQuestion *question, const Parts *parts, double shown)
{
	const RaceParams *params = question->view.params;
	double		variance = race_rows_hide_errors(params) ? RACE_HIDDEN_VARIANCE * shown : 0;
	bool		in_plane = race_model_is_of_vectors(params) && params->dims == 2;
	double		missed = pow(parts->trusted->misfit, 2) +
		(in_plane ? UNSHOWN_IN_PLANE / params->rows : 0);

	if (params->rows >= (in_plane ? ROWS_FOR_PLANE : RACE_ROWS_FOR_INTERVALS))
		return variance;
	return variance + missed * parts->model * parts->model / 2;
}

/* A query that leaves out a part sums about so many answers to whole records. */
#define WHOLE_ANSWERS		4

/*
 * The variance of the model and the weighted rows together, in terms of the mean of rows.
 * What the weight leaves of the error of the model is (1 - weight)^2 (e + v), which is
 * (1 - weight) v: the model has taken in some of the noise, at most all of it.
 */
static double
variance_of_mean(const RaceQuestion *question, const Parts *parts, double variance)
{
	double		shown;

	if (question->partial)
		return parts->trusted->misfit >= RACE_UNTESTED ? INFINITY :
			WHOLE_ANSWERS * parts->trusted->residual_variance + pow(parts->trusted->misfit * parts->model, 2);
	if (parts->trusted == NULL)
		return variance;
	/* the variance of one row is infinite, and the square of a small weight may be 0 */
	shown = (parts->weight > 0 ? parts->weight * (parts->weight * variance) : 0) +
		(1 - parts->weight) * parts->trusted->residual_variance;
	return shown + variance_of_few_rows(question, parts, shown);
}

/* What the rows, or the nodes of a grid, add to the mean, and how much that varies */
static void
describe_rows(const RaceQuestion *question, const Parts *parts, RaceDensity *result)
{
	result->weight = parts->weight;
	result->least_variance = least_variance(question, parts);
	result->rows_variance = 0;
	if (parts->gridded != NULL)
		result->rows_variance = race_gridded_noise(parts->gridded) +
			race_gridded_bias(parts->gridded) * pow(parts->model + parts->mean, 2);
	else if (!question->partial)
		result->rows_variance = race_estimator_variance(&question->view, parts->trusted != NULL ? parts->evaluator : NULL,
													  question->buckets,
													  0, question->view.params->rows, parts->mean,
													  result->least_variance);
}

double
race_estimate_sum(const RaceQuestion *question)
{
	Parts		parts = take_apart(question);

	return put_together(&question->view, &parts);
}

double
race_estimate_mean(const RaceQuestion *question)
{
	Parts		parts = take_apart(question);

	return put_together(&question->view, &parts) / race_count_divisor(parts.count);
}

bool
race_estimate_sharp_sum(const RaceQuestion *question, double *sum)
{
	const RaceModel *model = question->view.model;
	RaceColumn	record[RACE_MAX_PARTS];

	if (model == NULL || model->misfit >= RACE_UNTESTED)
		return false;
	race_call_site_record(question->site, record);
	return race_evaluator_sharp_sum(race_evaluator_at(question->site, &question->view), record, sum);
}

static void
density_of(const RaceQuestion *question, const Parts *parts, RaceDensity *result)
{
	const RaceView *view = &question->view;
	double		p = race_collision_probability(view->params);
	double		ratio;

	result->noise_variance = view->header->noise.counter_variance / view->params->rows;
	describe_rows(question, parts, result);
	result->mean_variance = variance_of_mean(question, parts, result->rows_variance);
	result->records = parts->count.n;
	result->n = race_count_divisor(parts->count);
	result->n_variance = parts->count.variance;

	result->kernel_sum = put_together(view, parts);
	result->sum_variance = (result->mean_variance + p * p * result->n_variance) /
		((1 - p) * (1 - p));
	result->density = result->kernel_sum / result->n;
	result->mean = parts->trusted == NULL ? parts->mean :
		(1 - p) * result->kernel_sum + p * parts->count.n;
	ratio = result->mean / result->n;
	result->standard_error =
		sqrt(result->mean_variance + ratio * ratio * result->n_variance) /
		result->n / (1 - p);
}

void
race_estimate_density(const RaceQuestion *question, RaceDensity *result)
{
	Parts		parts = take_apart(question);

	density_of(question, &parts, result);
}

/* ------------------------------------------------------------- two sketches */

static double
deviation_of_block(const RaceQuestion *question, const Parts *parts, uint32 from, uint32 to)
{
	return race_estimator_mean(&question->view, parts->trusted != NULL ? parts->evaluator : NULL,
							 question->buckets, from, to) - parts->mean;
}

/* As race_estimator_variance(): from the blocks of rows, which are the same in both */
static double
covariance_of_blocks(const RaceQuestion questions[2], const Parts parts[2])
{
	uint64		rows = questions[0].view.params->rows;
	uint32		blocks = race_estimator_blocks(questions[0].view.params, rows);
	double		sum = 0;

	if (blocks < 2)
		return 0;				/* the variances are infinite */
	for (uint32 i = 0; i < blocks; i++)
	{
		uint32		from = i * rows / blocks;
		uint32		to = (i + 1) * rows / blocks;

		sum += deviation_of_block(&questions[0], &parts[0], from, to) *
			deviation_of_block(&questions[1], &parts[1], from, to);
	}
	return sum / (blocks - 1) / blocks;
}

/*
 * The same row functions err alike, in either direction; others do not, nor do grids.
 */
static double
covariance(const RaceQuestion questions[2], const Parts parts[2])
{
	const RaceParams *a = questions[0].view.params;
	double		p = race_collision_probability(a);

	if (parts[0].gridded != NULL || !race_params_same(a, questions[1].view.params) || questions[0].buckets == NULL ||
		parts[0].weight == 0 || parts[1].weight == 0)
		return 0;
	return parts[0].weight * parts[1].weight *
		covariance_of_blocks(questions, parts) / ((1 - p) * (1 - p));
}

double
race_estimate_two(const RaceQuestion questions[2], RaceDensity results[2])
{
	Parts		parts[2];

	for (int i = 0; i < 2; i++)
	{
		parts[i] = take_apart(&questions[i]);
		density_of(&questions[i], &parts[i], &results[i]);
	}
	return covariance(questions, parts);
}

/* ---------------------------------------------------------------- intervals */

void
race_check_confidence(double confidence)
{
	if (!(confidence > 0 && confidence < 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("confidence must be between 0 and 1")));
}

/* The variance of a grid is known, and not estimated from a few blocks. */
#define KNOWN	1000000

double
race_estimate_reach(const RaceView *view, double confidence)
{
	const RaceParams *params = view->params;
	uint32		blocks = race_summary_kind(params)->hashed ? race_estimator_blocks(params, params->rows) : KNOWN;

	return blocks < 2 ? INFINITY : race_student_two_sided(1 - confidence, blocks - 1);
}

bool
race_ratio_bounds(const RaceRatio *ratio, double t, double *lower, double *upper)
{
	double		a = ratio->b * ratio->b - t * t * ratio->b_variance;
	double		b = ratio->a * ratio->b - t * t * ratio->covariance;
	double		root = t * sqrt(a * ratio->a_variance + ratio->a * ratio->a * ratio->b_variance -
								ratio->covariance * (2 * ratio->a * ratio->b -
													 t * t * ratio->covariance));

	if (!isfinite(root) || !(a > 0))
		return false;
	*lower = (b - root) / a;
	*upper = (b + root) / a;
	return true;
}

/*
 * A few rows of a sequence vary less among each other than their mean varies. Where
 * there is little noise, no method can tell. The warning is given once for a call
 * site.
 */
void
race_estimate_warn(const RaceQuestion *question, const RaceDensity *estimate)
{
	const RaceParams *params = question->view.params;
	int			sequence = race_params_sequence(params);

	if (question->site->warned || sequence == RACE_SEQUENCE_INDEPENDENT ||
		sequence == RACE_SEQUENCE_GRID ||
		params->rows >= RACE_ROWS_FOR_INTERVALS ||
		estimate->noise_variance > estimate->mean_variance / 2)
		return;
	question->site->warned = true;
	ereport(WARNING,
			(errmsg("intervals of fewer than %d rows may be too short",
					RACE_ROWS_FOR_INTERVALS),
			 errdetail("The sketch has %u rows, with sequence \"%s\".", params->rows,
					   race_sequence_name(sequence))));
}

static void
bounds_of(const RaceQuestion *question, const RaceDensity *estimate,
					 double confidence, double *lower, double *upper)
{
	const RaceView *view = &question->view;
	/* 1 unless the count is too small to divide by */
	double		whole = estimate->records / estimate->n;
	RaceRatio	ratio = {estimate->mean, estimate->n, estimate->mean_variance,
	estimate->n_variance, 0};

	if (race_ratio_bounds(&ratio, race_estimate_reach(view, confidence), lower, upper))
	{
		*lower = race_correct_collisions(view->params, *lower, whole);
		*upper = race_correct_collisions(view->params, *upper, whole);
		return;
	}
	*lower = -INFINITY;
	*upper = INFINITY;
}

/* ------------------------------------------------------------------ SQL */

Datum
race_count(PG_FUNCTION_ARGS)
{
	RaceQuestion question;

	race_ask_header(PG_GETARG_DATUM(0), &question);
	PG_RETURN_FLOAT8(question.view.header->count);
}

/* The median of the means of `groups` groups of rows */
static double
median_of_means(const RaceQuestion *question, uint32 groups)
{
	uint64		rows = question->view.params->rows;
	double	   *means = palloc(groups * sizeof(double));

	for (uint32 i = 0; i < groups; i++)
		means[i] = race_estimator_mean(&question->view, NULL, question->buckets,
									 i * rows / groups, (i + 1) * rows / groups);
	race_sort_descending(means, groups);
	return (means[(groups - 1) / 2] + means[groups / 2]) / 2;
}

/* race_kernel_sum(sketch, q, groups) */
Datum
race_kernel_sum(PG_FUNCTION_ARGS)
{
	int			groups = PG_NARGS() > 2 ? PG_GETARG_INT32(2) : 1;	/* 0.2.0 had no groups */
	RaceQuestion question;
	const RaceView *view = &question.view;

	if (groups < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("groups must be at least 1")));
	race_ask(fcinfo, 0, &question);
	if (groups == 1 || !race_summary_kind(view->params)->hashed || question.partial)
		PG_RETURN_FLOAT8(race_estimate_sum(&question));
	PG_RETURN_FLOAT8(race_correct_collisions(view->params,
										  median_of_means(&question, Min(groups, view->params->rows)),
										  view->header->count));
}

Datum
race_kde(PG_FUNCTION_ARGS)
{
	RaceQuestion question;

	race_ask(fcinfo, 0, &question);
	PG_RETURN_FLOAT8(race_estimate_mean(&question));
}

/* race_estimate(sketch, q, confidence) */
Datum
race_estimate(PG_FUNCTION_ARGS)
{
	double		confidence = PG_GETARG_FLOAT8(2);
	RaceQuestion question;
	RaceDensity estimate;
	RaceResultRow row;
	double		lower;
	double		upper;

	race_check_confidence(confidence);
	race_row_start(&row, fcinfo);
	race_ask(fcinfo, 0, &question);
	race_estimate_density(&question, &estimate);
	race_estimate_warn(&question, &estimate);
	bounds_of(&question, &estimate, confidence, &lower, &upper);
	race_row_add(&row, Float8GetDatum(estimate.kernel_sum));
	race_row_add(&row, Float8GetDatum(estimate.density));
	race_row_add(&row, Float8GetDatum(estimate.standard_error));
	race_row_add(&row, Float8GetDatum(lower));
	race_row_add(&row, Float8GetDatum(upper));
	PG_RETURN_DATUM(race_row_datum(&row));
}
