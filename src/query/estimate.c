/*
 * estimate.c
 *		Kernel sums and densities: race_count, race_kernel_sum,
 *		race_kernel_sum_mom, race_kde, race_estimate.
 *
 * Row r says S[r, h_r(q)], the number of records in the query's bucket, plus
 * noise.  Its mean over rows is f + p (N - f), where p is the probability that
 * two different codes share a bucket (0 if codes are not rehashed), so
 * (mean - p N) / (1 - p) is unbiased for f (Coleman & Shrivastava 2021, theorem
 * 2.5, and the correction of collisions).
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"

#include "../server/result.h"
#include "estimate.h"
#include "student.h"

PG_FUNCTION_INFO_V1(race_count);
PG_FUNCTION_INFO_V1(race_kernel_sum);
PG_FUNCTION_INFO_V1(race_kernel_sum_mom);
PG_FUNCTION_INFO_V1(race_kde);
PG_FUNCTION_INFO_V1(race_estimate);

/* How many rows of a sequence are enough to estimate their own variance */
#define ROWS_FOR_INTERVALS	128

/* Mean over rows from ... to - 1 */
static double
mean_of_rows(const RaceQuestion *question, uint32 from, uint32 to)
{
	const RaceView *view = &question->view;

	return race_counters_sum(view->counters, view->width, question->buckets, from, to,
							 view->params->range) / (to - from);
}

static double
mean_of_all_rows(const RaceQuestion *question)
{
	return mean_of_rows(question, 0, question->view.params->rows);
}

/*
 * Blocks of consecutive rows whose means are compared to learn the variance of
 * the mean of all.  Independent rows are a block each.  Rows of a Sobol' sequence
 * balance each other, so the variance between them would be far too large; the
 * variance between 16 blocks is only a little too large.  With few rows, blocks are
 * pairs at least.
 */
static uint32
variance_blocks(const RaceParams *params)
{
	if (race_params_sequence(params) == RACE_SEQUENCE_INDEPENDENT)
		return params->rows;
	return Min(params->rows, params->rows < 32 ? 8 : 16);
}

/*
 * A lower bound of the variance of the mean of rows: the noise that is known to be in
 * it. A few rows that balance each other cannot show their own variance. For those of
 * a private sketch, the prior by which the rows were chosen is added.
 */
static double
least_variance(const RaceView *view)
{
	const RaceParams *params = view->params;
	double		noise = view->header->noise.counter_variance / params->rows;

	if (noise == 0 || params->rows >= ROWS_FOR_INTERVALS ||
		race_params_sequence(params) == RACE_SEQUENCE_INDEPENDENT)
		return noise;
	return noise + race_sampling_variance(params, params->rows,
										  race_estimate_divisor(view->header));
}

/*
 * The variance of the mean of rows, from sampling and noise together; never below
 * what is known of it. One block alone cannot show a variance.
 */
static double
variance_of_mean(const RaceQuestion *question, double mean, double known)
{
	uint64		rows = question->view.params->rows;
	uint32		blocks = variance_blocks(question->view.params);
	double		sum = 0;
	uint32		i;

	if (blocks < 2)
		return INFINITY;
	for (i = 0; i < blocks; i++)
	{
		double		d = mean_of_rows(question, i * rows / blocks,
									 (i + 1) * rows / blocks) - mean;

		sum += d * d;
	}
	return Max(sum / (blocks - 1) / blocks, known);
}

/* from the mean of rows to f, or from a fraction of N to a density (n = 1) */
static double
correct_collisions(const RaceParams *params, double mean, double n)
{
	double		p = race_collision_probability(params);

	return (mean - p * n) / (1 - p);
}

double
race_estimate_sum(const RaceQuestion *question)
{
	return correct_collisions(question->view.params, mean_of_all_rows(question),
							  question->view.header->count);
}

double
race_estimate_divisor(const RaceHeader *header)
{
	return Max(header->count, 1);
}

void
race_estimate_density(const RaceQuestion *question, RaceDensity *result)
{
	const RaceView *view = &question->view;
	const RaceHeader *header = view->header;
	double		ratio;

	result->mean = mean_of_all_rows(question);
	result->noise_variance = header->noise.counter_variance / view->params->rows;
	result->mean_variance = variance_of_mean(question, result->mean,
											 least_variance(view));
	result->n = race_estimate_divisor(header);
	result->n_variance = header->noise.count_variance;

	ratio = result->mean / result->n;
	result->kernel_sum = correct_collisions(view->params, result->mean, header->count);
	result->density = result->kernel_sum / result->n;
	result->standard_error =
		sqrt(result->mean_variance + ratio * ratio * result->n_variance) /
		result->n / (1 - race_collision_probability(view->params));
}

/*
 * Fieller's interval for the ratio of two noisy numbers: all ratios x with
 * (mean - x n)^2 <= t^2 (mean_variance + x^2 n_variance).  When n itself is
 * within its noise of zero, nothing can be said.
 */
static void
estimate_bounds(const RaceQuestion *question, const RaceDensity *estimate,
				double confidence, double *lower, double *upper)
{
	const RaceView *view = &question->view;
	uint32		blocks = variance_blocks(view->params);
	/* 1 unless the count is below 1 */
	double		whole = view->header->count / estimate->n;
	double		t = blocks < 2 ? INFINITY :
		race_student_two_sided(1 - confidence, blocks - 1);
	double		a = estimate->n * estimate->n - t * t * estimate->n_variance;
	double		b = estimate->mean * estimate->n;
	double		root = t * sqrt(a * estimate->mean_variance +
								estimate->mean * estimate->mean *
								estimate->n_variance);

	*lower = -INFINITY;
	*upper = INFINITY;
	if (isfinite(root) && a > 0)
	{
		*lower = correct_collisions(view->params, (b - root) / a, whole);
		*upper = correct_collisions(view->params, (b + root) / a, whole);
	}
}

/* ------------------------------------------------------------------ SQL */

Datum
race_count(PG_FUNCTION_ARGS)
{
	RaceQuestion question;

	race_ask_header(PG_GETARG_DATUM(0), &question);
	PG_RETURN_FLOAT8(question.view.header->count);
}

Datum
race_kernel_sum(PG_FUNCTION_ARGS)
{
	RaceQuestion question;

	race_ask(fcinfo, 0, &question);
	PG_RETURN_FLOAT8(race_estimate_sum(&question));
}

static int
compare_doubles(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

/* The median of the means of `groups` groups of rows */
static double
median_of_means(const RaceQuestion *question, uint32 groups)
{
	uint64		rows = question->view.params->rows;
	double	   *means = palloc(groups * sizeof(double));
	uint32		i;

	for (i = 0; i < groups; i++)
		means[i] = mean_of_rows(question, i * rows / groups, (i + 1) * rows / groups);
	qsort(means, groups, sizeof(double), compare_doubles);
	return (means[(groups - 1) / 2] + means[groups / 2]) / 2;
}

/* race_kernel_sum_mom(sketch, q, failure_probability) */
Datum
race_kernel_sum_mom(PG_FUNCTION_ARGS)
{
	double		failure = PG_GETARG_FLOAT8(2);
	RaceQuestion question;
	const RaceView *view = &question.view;
	uint32		groups;

	if (!(failure >= 1e-300 && failure < 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("failure_probability must be between 0 and 1")));
	race_ask(fcinfo, 0, &question);
	groups = Min((uint32) ceil(-8 * log(failure)), view->params->rows);
	PG_RETURN_FLOAT8(correct_collisions(view->params,
										median_of_means(&question, Max(groups, 1)),
										view->header->count));
}

Datum
race_kde(PG_FUNCTION_ARGS)
{
	RaceQuestion question;

	race_ask(fcinfo, 0, &question);
	PG_RETURN_FLOAT8(race_estimate_sum(&question) /
					 race_estimate_divisor(question.view.header));
}

/*
 * A few rows of a sequence vary less among each other than their mean varies. Where
 * there is little noise, no method can tell. The warning is given once for a call
 * site.
 */
static void
warn_of_few_rows(const RaceQuestion *question, const RaceDensity *estimate)
{
	const RaceParams *params = question->view.params;
	int			sequence = race_params_sequence(params);

	if (question->site->warned || sequence == RACE_SEQUENCE_INDEPENDENT ||
		params->rows >= ROWS_FOR_INTERVALS ||
		estimate->noise_variance > estimate->mean_variance / 2)
		return;
	question->site->warned = true;
	ereport(WARNING,
			(errmsg("intervals of fewer than %d rows may be too short",
					ROWS_FOR_INTERVALS),
			 errdetail("The sketch has %u rows, with sequence \"%s\".", params->rows,
					   race_sequence_name(sequence))));
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

	if (!(confidence > 0 && confidence < 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("confidence must be between 0 and 1")));
	race_row_start(&row, fcinfo);
	race_ask(fcinfo, 0, &question);
	race_estimate_density(&question, &estimate);
	warn_of_few_rows(&question, &estimate);
	estimate_bounds(&question, &estimate, confidence, &lower, &upper);
	race_row_add(&row, Float8GetDatum(estimate.kernel_sum));
	race_row_add(&row, Float8GetDatum(estimate.density));
	race_row_add(&row, Float8GetDatum(estimate.standard_error));
	race_row_add(&row, Float8GetDatum(lower));
	race_row_add(&row, Float8GetDatum(upper));
	PG_RETURN_DATUM(race_row_datum(&row));
}
