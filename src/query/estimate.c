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

#include "access/htup_details.h"
#include "fmgr.h"
#include "funcapi.h"

#include "../privacy/plan.h"
#include "../sketch/call_site.h"
#include "../sketch/share.h"
#include "estimate.h"
#include "student.h"

PG_FUNCTION_INFO_V1(race_count);
PG_FUNCTION_INFO_V1(race_kernel_sum);
PG_FUNCTION_INFO_V1(race_kernel_sum_mom);
PG_FUNCTION_INFO_V1(race_kde);
PG_FUNCTION_INFO_V1(race_estimate);

/* Rows of a sequence that tell their own variance */
#define ROWS_FOR_INTERVALS	128

/* Mean over rows from ... to - 1 */
static double
mean_of_rows(const RaceView *view, const uint32 *buckets,
			 uint32 from, uint32 to)
{
	return race_counters_sum(view->counters, view->width, buckets, from, to,
							 view->params->range) / (to - from);
}

static double
mean_of_all_rows(const RaceView *view, const uint32 *buckets)
{
	return mean_of_rows(view, buckets, 0, view->params->rows);
}

/*
 * Blocks of consecutive rows whose means are compared to learn the variance of
 * the mean of all.  Independent rows are a block each.  Rows of a Sobol'
 * sequence balance each other, so the variance between them would be far too
 * large; that between 16 blocks is only a little.  Few rows make pairs at least.
 */
static uint32
variance_blocks(const RaceParams *params)
{
	if (race_params_sequence(params) == RACE_SEQUENCE_INDEPENDENT)
		return params->rows;
	return Min(params->rows, params->rows < 32 ? 8 : 16);
}

/*
 * What the variance of the mean of rows is at least: the noise that is known to be
 * in it.  A few rows that balance each other cannot tell their own variance; those
 * of a private sketch get the prior that they were chosen by.
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
 * Variance of the mean of rows: it holds sampling and noise alike, and is never
 * below what is known of it.  One block alone does not tell.
 */
static double
variance_of_mean(const RaceView *view, const uint32 *buckets, double mean,
				 double known)
{
	uint64		rows = view->params->rows;
	uint32		blocks = variance_blocks(view->params);
	double		sum = 0;
	uint32		i;

	if (blocks < 2)
		return INFINITY;
	for (i = 0; i < blocks; i++)
	{
		double		d = mean_of_rows(view, buckets, i * rows / blocks,
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
race_estimate_sum(const RaceView *view, const uint32 *buckets)
{
	return correct_collisions(view->params, mean_of_all_rows(view, buckets),
							  view->header->count);
}

double
race_estimate_divisor(const RaceHeader *header)
{
	return Max(header->count, 1);
}

void
race_estimate_density(const RaceView *view, const uint32 *buckets,
					  RaceDensity *result)
{
	const RaceHeader *header = view->header;
	double		ratio;

	result->mean = mean_of_all_rows(view, buckets);
	result->noise_variance = header->noise.counter_variance / view->params->rows;
	result->mean_variance = variance_of_mean(view, buckets, result->mean,
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
void
race_estimate_bounds(const RaceView *view, const RaceDensity *estimate,
					 double confidence, double *lower, double *upper)
{
	uint32		blocks = variance_blocks(view->params);
	/* 1, but for counts below 1 */
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
	RaceView	view;

	race_sketch_view_header(PG_GETARG_DATUM(0), &view);
	race_check_askable(view.header);
	PG_RETURN_FLOAT8(view.header->count);
}

/* View argument 0 and hash argument 1 */
static const uint32 *
look_up(FunctionCallInfo fcinfo, RaceView *view)
{
	RaceCallSite *site = race_call_site(fcinfo, 1, 1);

	race_call_site_view(site, PG_GETARG_DATUM(0), view);
	race_check_askable(view->header);
	return race_call_site_buckets(site, view->params,
								  PG_GETARG_DATUM(1));
}

Datum
race_kernel_sum(PG_FUNCTION_ARGS)
{
	RaceView	view;
	const uint32 *buckets = look_up(fcinfo, &view);

	PG_RETURN_FLOAT8(race_estimate_sum(&view, buckets));
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
median_of_means(const RaceView *view, const uint32 *buckets, uint32 groups)
{
	uint64		rows = view->params->rows;
	double	   *means = palloc(groups * sizeof(double));
	uint32		i;

	for (i = 0; i < groups; i++)
		means[i] = mean_of_rows(view, buckets, i * rows / groups,
								(i + 1) * rows / groups);
	qsort(means, groups, sizeof(double), compare_doubles);
	return (means[(groups - 1) / 2] + means[groups / 2]) / 2;
}

/* race_kernel_sum_mom(sketch, q, failure_probability) */
Datum
race_kernel_sum_mom(PG_FUNCTION_ARGS)
{
	double		failure = PG_GETARG_FLOAT8(2);
	RaceView	view;
	const uint32 *buckets;
	uint32		groups;

	if (!(failure >= 1e-300 && failure < 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("failure_probability must be between 0 and 1")));
	buckets = look_up(fcinfo, &view);
	groups = Min((uint32) ceil(-8 * log(failure)), view.params->rows);
	PG_RETURN_FLOAT8(correct_collisions(view.params,
										median_of_means(&view, buckets, Max(groups, 1)),
										view.header->count));
}

Datum
race_kde(PG_FUNCTION_ARGS)
{
	RaceView	view;
	const uint32 *buckets = look_up(fcinfo, &view);

	PG_RETURN_FLOAT8(race_estimate_sum(&view, buckets) /
					 race_estimate_divisor(view.header));
}

/*
 * A few rows of a sequence, with little noise to hide them, vary less among each
 * other than their mean varies: no method knows.  Said once for a call site.
 */
static void
warn_of_few_rows(RaceCallSite *site, const RaceParams *params,
				 const RaceDensity *estimate)
{
	int			sequence = race_params_sequence(params);

	if (site->warned || sequence == RACE_SEQUENCE_INDEPENDENT ||
		params->rows >= ROWS_FOR_INTERVALS ||
		estimate->noise_variance > estimate->mean_variance / 2)
		return;
	site->warned = true;
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
	RaceView	view;
	RaceDensity estimate;
	double		lower;
	double		upper;
	const uint32 *buckets;
	TupleDesc	tupdesc;
	Datum		values[5];
	bool		nulls[5] = {false};

	if (!(confidence > 0 && confidence < 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("confidence must be between 0 and 1")));
	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");

	buckets = look_up(fcinfo, &view);
	race_estimate_density(&view, buckets, &estimate);
	warn_of_few_rows(race_call_site(fcinfo, 1, 1), view.params, &estimate);
	race_estimate_bounds(&view, &estimate, confidence, &lower, &upper);
	values[0] = Float8GetDatum(estimate.kernel_sum);
	values[1] = Float8GetDatum(estimate.density);
	values[2] = Float8GetDatum(estimate.standard_error);
	values[3] = Float8GetDatum(lower);
	values[4] = Float8GetDatum(upper);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(tupdesc),
													  values, nulls)));
}
