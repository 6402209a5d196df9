/*
 * estimate.c
 *		The entry for all questions to a sketch; race_kde, race_estimate and their intervals,
 *		race_difference, race_kde_grid, race_kernel, race_info
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "utils/memutils.h"

#include "privacy/noise.h"
#include "privacy/shares.h"
#include "hash/column.h"
#include "hash/fields.h"
#include "hash/kernel.h"
#include "hash/kind.h"
#include "hash/model_rows.h"
#include "hash/params.h"
#include "hash/rows.h"
#include "hash/sampling_variance.h"
#include "sketch/argument.h"
#include "sketch/array_reader.h"
#include "sketch/call_site.h"
#include "sketch/params_text.h"
#include "sketch/params_type.h"
#include "sketch/record.h"
#include "sketch/records.h"
#include "sketch/result.h"
#include "sketch/sketch.h"
#include "sketch/sketch_format.h"
#include "answers/distributions.h"
#include "answers/estimate.h"
#include "answers/evaluator.h"
#include "answers/solver.h"

/* ---------------------------------------------------------------- questions */

void
race_ask_sketch(RaceCallSite *site, Datum sketch, RaceQuestion *question)
{
	question->site = site;
	question->buckets = NULL;
	question->partial = false;
	question->lifted = NULL;
	race_sketch_view_at(site, sketch, &question->view);
	race_check_askable(&question->view.header->noise);
}

void
race_ask_about(RaceQuestion *question, Datum query)
{
	question->buckets = race_call_site_buckets(question->site, question->view.params, query);
	question->partial = question->buckets == NULL;
	if (question->partial && question->view.model == NULL)
		ereport(
			ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("only a fitted sketch can be asked about a part of a product"),
			 errdetail("The query has a NULL, but the rows of a sketch hash all parts together."),
			 errhint(
				 "Fit a model to public or made-up records by race_fit(sketch, record), or add up the answers for all categories.")));
}

void
race_ask_about_vector(RaceQuestion *question, const double *x)
{
	question->buckets = race_call_site_hash(question->site, question->view.params, x);
}

void
race_ask_about_columns(RaceQuestion *question, const RaceColumn *columns)
{
	question->buckets = race_call_site_hash_columns(question->site, question->view.params, columns);
}

void
race_ask_about_lifted(RaceQuestion *question, const RaceColumn *query)
{
	question->buckets = race_call_site_hash_lifted(question->site, question->view.params, query);
	question->lifted = query;
}

/* Set columns to the record of the query. */
static void
record_of_query(const RaceQuestion *question, RaceColumn *columns)
{
	if (question->lifted != NULL)
		columns[0] = *question->lifted;
	else
		race_call_site_record(question->site, columns);
}

/* Open the sketch in the first argument and read the query in the second one. */
static void
start_question(FunctionCallInfo fcinfo, RaceQuestion *question)
{
	race_ask_sketch(race_call_site(fcinfo, 1), PG_GETARG_DATUM(0), question);
	race_ask_about(question, PG_GETARG_DATUM(1));
}

void
race_ask_pair(FunctionCallInfo fcinfo, Oid query, RaceQuestion *a, RaceQuestion *b)
{
	FmgrInfo *flinfo = fcinfo->flinfo;
	RaceCallSite **sites = (RaceCallSite **) flinfo->fn_extra;

	if (sites == NULL)
	{
		sites = MemoryContextAlloc(flinfo->fn_mcxt, 2 * sizeof(RaceCallSite *));
		for (int i = 0; i < 2; i++)
			sites[i] = race_call_site_create(query, flinfo->fn_mcxt);
		flinfo->fn_extra = sites;
	}
	race_ask_sketch(sites[0], PG_GETARG_DATUM(0), a);
	race_ask_sketch(sites[1], PG_GETARG_DATUM(1), b);
	if ((a->view.header->noise.status == RACE_STATUS_EXACT) !=
		(b->view.header->noise.status == RACE_STATUS_EXACT))
		ereport(
			ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("an exact and a private sketch cannot be compared"),
			 errhint(
				 "What comes out would not be private. Compare two private sketches, or two exact ones.")));
}

/* --------------------------------------------------- kernel sums and densities */

/*
 * Kernel sums and densities.
 *
 * Row r says S[r, h_r(q)], the number of records in the query's bucket, plus
 * noise.  Its mean over rows is f + p (N - f), where p is the probability that
 * two different codes share a bucket (0 if codes are not rehashed), so
 * (mean - p N) / (1 - p) is unbiased for f (Coleman & Shrivastava 2021, theorem
 * 2.5, and the correction of collisions).
 *
 * A fitted sketch is asked for its model, and for what the rows say beyond it:
 *
 *		f(q) = sum of w_j k(x_j, q) + weight * (mean of the residuals at q)
 *
 * With weight 1 the model is a control variate; with 0 the model is trusted.  What the model misses
 * has about the square e; the residual tells it with a variance v, of noise and of sampling.  The
 * weight e / (e + v) makes the error least.  A surrogate loss is asked for differences that are far
 * smaller than v: its weight is 0.  A grid is good by itself: its model serves samples, quantiles
 * and charts, and is not asked.
 *
 * A query that leaves out parts of a product is answered by the model alone: a row hashes all parts
 * of a record together, and the kernel of a part that is left out is 1.
 */
typedef struct Terms
{
	double model;               /* sum by the model; 0 without a model */
	double weight;              /* weight of the rows; 1 without a model */
	double mean;                /* mean of the rows, or of their residuals; or the sum of a grid */
	const RaceModel *trusted;   /* the model, if it is used; else NULL */
	RaceEvaluator *evaluator;   /* cached evaluator of the sketch, or NULL */
	RaceEvaluator *residuals;   /* the evaluator, if rows add residuals of the model; or NULL */
	const RaceGridded *gridded; /* grid of the sketch, or NULL */
	RaceRecordCount count;
} Terms;

/* A residual whose square exceeds its variance by this factor is not noise: 3 standard errors. */
#define SIGNIFICANT_SQUARE 9.0

static Terms
find_terms(const RaceQuestion *question)
{
	const RaceView *view = &question->view;
	Terms terms = {.weight = 1};
	RaceColumn record[RACE_MAX_PARTS];

	if (view->model != NULL || !race_summary_kind(view->params)->hashed)
	{
		record_of_query(question, record);
		terms.evaluator = race_evaluator_at(question->site, view);
		terms.gridded = race_evaluator_grid(terms.evaluator);
	}
	terms.count = race_record_count(view, terms.gridded);
	if (question->partial ||
		(view->model != NULL && terms.gridded == NULL && view->model->misfit < RACE_UNTESTED))
	{
		terms.trusted = view->model;
		terms.residuals = terms.evaluator;
		terms.model = race_evaluator_sum(terms.evaluator, record);
	}
	if (question->partial || (terms.trusted != NULL && question->lifted != NULL))
	{
		terms.weight = 0;
		return terms;
	}
	terms.mean = terms.gridded != NULL ?
		race_gridded_sum(terms.gridded, record[0].numbers) :
		race_estimator_mean(view, terms.residuals, question->buckets, 0, view->params->rows);
	if (terms.trusted != NULL)
	{
		double v = terms.trusted->residual_variance;
		double e = Max(pow(terms.trusted->misfit * terms.model, 2),
					   terms.mean * terms.mean - SIGNIFICANT_SQUARE * v);

		terms.weight = !isfinite(e) ? 1 : e > 0 ? e / (e + v) : 0;
	}
	return terms;
}

static double
sum_of_terms(const RaceView *view, const Terms *terms)
{
	/* residuals are of no records, but for what the weights of the model do not add up to */
	double records = terms->trusted == NULL ?
		terms->count.n :
		Min(terms->count.n - race_count_divisor(terms->count), 0);

	return terms->model +
		terms->weight * race_correct_collisions(view->params, terms->mean, records);
}

double
race_estimate_sum(const RaceQuestion *question)
{
	Terms terms = find_terms(question);

	return sum_of_terms(&question->view, &terms);
}

double
race_estimate_mean(const RaceQuestion *question)
{
	Terms terms = find_terms(question);

	return sum_of_terms(&question->view, &terms) / race_count_divisor(terms.count);
}

bool
race_estimate_sharp_sum(const RaceQuestion *question, double *sum)
{
	const RaceModel *model = question->view.model;
	RaceColumn record[RACE_MAX_PARTS];

	if (model == NULL || model->misfit >= RACE_UNTESTED)
		return false;
	race_call_site_record(question->site, record);
	return race_evaluator_sharp_sum(race_evaluator_at(question->site, &question->view), record,
									sum);
}

/* ---------------------------------------------------------------- variances */

/*
 * Return a lower bound of the variance of the mean of rows: the noise that is known to be in it.  A
 * few rows that balance each other cannot show their own variance.  For those of a private sketch,
 * the prior by which the rows were chosen is added, or what was found when the model was fitted.
 */
static double
least_variance(const RaceQuestion *question, const Terms *terms)
{
	const RaceView *view = &question->view;
	const RaceParams *params = view->params;
	double noise = view->header->noise.counter_variance / params->rows;
	double records = race_count_divisor(terms->count);

	if (params->rows >= RACE_ROWS_FOR_INTERVALS ||
		race_params_sequence(params) == RACE_SEQUENCE_INDEPENDENT)
		return noise;
	if (view->model != NULL)
		return Max(noise, view->model->residual_variance);
	return noise == 0 ?
		0 :
		noise + race_sampling_variance(params, params->rows, race_kernel_mass(records) * records);
}

/*
 * Points that should fill a plane are often too many, and moved then.  Few rows see a narrow table
 * as a wide one, both halves alike: on a line of records models of 16 to 128 rows were off by half
 * of 1 / sqrt(rows) of an answer, whatever residuals showed.  This is the square of that half.
 */
#define UNSHOWN_IN_PLANE 0.25
#define ROWS_FOR_PLANE 512

/* A query that leaves out a part sums about this number of answers to whole records. */
#define WHOLE_ANSWERS 4

/*
 * Return the variance of the model and the weighted rows together, in terms of the mean of rows.
 * What the weight leaves of the error of the model is (1 - weight)^2 (e + v), which is (1 - weight)
 * v: the model has taken in some of the noise, at most all of it.
 */
static double
variance_of_terms(const RaceQuestion *question, const Terms *terms, double rows_variance)
{
	const RaceParams *params = question->view.params;
	const RaceModel *model = terms->trusted;
	bool in_plane = race_model_is_of_vectors(params) && params->dims == 2;
	double variance;

	if (question->partial)
		return model->misfit >= RACE_UNTESTED ?
			INFINITY :
			WHOLE_ANSWERS * model->residual_variance + pow(model->misfit * terms->model, 2);
	if (model == NULL)
		return rows_variance;
	/* the variance of one row is infinite, and the square of a small weight may be 0 */
	variance = (terms->weight > 0 ? terms->weight * (terms->weight * rows_variance) : 0) +
		(1 - terms->weight) * model->residual_variance;
	/* few rows do not show all of it */
	if (race_rows_hide_errors(params))
		variance += RACE_HIDDEN_VARIANCE * variance;
	if (params->rows < (in_plane ? ROWS_FOR_PLANE : RACE_ROWS_FOR_INTERVALS))
		variance += (pow(model->misfit, 2) + (in_plane ? UNSHOWN_IN_PLANE / params->rows : 0)) *
			terms->model * terms->model / 2;
	return variance;
}

static void
describe_terms(const RaceQuestion *question, const Terms *terms, RaceDensity *result)
{
	const RaceView *view = &question->view;
	double p = race_collision_probability(view->params);
	RaceColumn record[RACE_MAX_PARTS];
	double ratio;

	result->noise_variance = view->header->noise.counter_variance / view->params->rows;
	result->weight = terms->weight;
	result->least_variance = least_variance(question, terms);
	result->rows_variance = 0;
	if (terms->gridded != NULL)
	{
		record_of_query(question, record);
		result->rows_variance = race_gridded_variance(terms->gridded, record[0].numbers);
	}
	else if (!question->partial)
		result->rows_variance =
			race_estimator_variance(view, terms->residuals, question->buckets, 0,
									view->params->rows, terms->mean, result->least_variance);
	result->mean_variance = variance_of_terms(question, terms, result->rows_variance);
	result->records = terms->count.n;
	result->n = race_count_divisor(terms->count);
	result->n_variance = terms->count.variance;

	result->kernel_sum = sum_of_terms(view, terms);
	result->sum_variance =
		(result->mean_variance + p * p * result->n_variance) / ((1 - p) * (1 - p));
	result->density = result->kernel_sum / result->n;
	result->mean =
		terms->trusted == NULL ? terms->mean : (1 - p) * result->kernel_sum + p * terms->count.n;
	ratio = result->mean / result->n;
	result->standard_error =
		sqrt(result->mean_variance + ratio * ratio * result->n_variance) / result->n / (1 - p);
}

static void
estimate_density(const RaceQuestion *question, RaceDensity *result)
{
	Terms terms = find_terms(question);

	describe_terms(question, &terms, result);
}

/*
 * Return the covariance of two means of rows.  The same row functions err alike, in either
 * direction; others do not, nor do grids.  The blocks of rows are those of
 * race_estimator_variance(); of less than two of them the variances are infinite.
 */
static double
covariance_of_means(const RaceQuestion questions[2], const Terms terms[2])
{
	const RaceParams *params = questions[0].view.params;
	uint64 rows = params->rows;
	uint32 blocks = race_estimator_blocks(params, rows);
	double p = race_collision_probability(params);
	double sum = 0;

	if (terms[0].gridded != NULL || !race_params_same(params, questions[1].view.params) ||
		questions[0].buckets == NULL || terms[0].weight == 0 || terms[1].weight == 0 || blocks < 2)
		return 0;
	for (uint32 b = 0; b < blocks; b++)
	{
		double product = 1;

		for (int i = 0; i < 2; i++)
			product *=
				race_estimator_mean(&questions[i].view, terms[i].residuals, questions[i].buckets,
									b * rows / blocks, (b + 1) * rows / blocks) -
				terms[i].mean;
		sum += product;
	}
	return terms[0].weight * terms[1].weight * (sum / (blocks - 1) / blocks) / ((1 - p) * (1 - p));
}

/*
 * Estimate two sketches for the same query.  Return the covariance of their kernel sums.
 */
static double
estimate_two(const RaceQuestion questions[2], RaceDensity results[2])
{
	Terms terms[2];

	for (int i = 0; i < 2; i++)
	{
		terms[i] = find_terms(&questions[i]);
		describe_terms(&questions[i], &terms[i], &results[i]);
	}
	return covariance_of_means(questions, terms);
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

/*
 * The variance of a grid is known: degrees of freedom with which Student's distribution is the
 * normal one
 */
#define KNOWN 1000000

/*
 * Fewer degrees of freedom reach further than the one error that all answers of a release may
 * share: 1.645 times 1.96.
 */
#define LEAST_DEGREES 3.0

/*
 * Return how many standard errors an interval reaches.  In one release, answers by rows err alike:
 * places share an error as far as they share buckets, which is their kernel.  The count's error is
 * shared by all.  So an answer shares its error with a part of the records that is about its
 * density, and a release has about 1 / density independent errors.  With k of them, 90 % of the
 * answers of 19 in 20 releases are within 1.645 sqrt(x / k) standard errors, where x is the .95
 * quantile of chi square with k degrees of freedom: 2.12, 2.23 and 2.45 for k = 15, 10 and 5.
 * Student's distribution with k degrees reaches 2.13, 2.23 and 2.57.  The blocks of rows have
 * degrees of their own: relative variances add, as Satterthwaite has it.
 */
static double
standard_errors_of(const RaceView *view, double confidence, double density)
{
	const RaceParams *params = view->params;
	bool hashed = race_summary_kind(params)->hashed;
	uint32 blocks = hashed ? race_estimator_blocks(params, params->rows) : KNOWN;
	double degrees = blocks - 1.0;

	if (hashed && density > 0)
		degrees = Max(1 / (1 / degrees + density), Min(degrees, LEAST_DEGREES));
	return blocks < 2 ? INFINITY : race_student_two_sided(1 - confidence, degrees);
}

/* Two noisy numbers, of which each has noise of its own */
typedef struct Ratio
{
	double a;
	double b;
	double a_variance;
	double b_variance;
} Ratio;

/*
 * Compute Fieller's interval for a / b: all x with (a - x b)^2 <= t^2 variance of (a - x b).
 * Return false if b is within its noise of zero: then there is no interval.
 */
static bool
bound_ratio(const Ratio *ratio, double t, double *lower, double *upper)
{
	double a = ratio->b * ratio->b - t * t * ratio->b_variance;
	double b = ratio->a * ratio->b;
	double root = t * sqrt(a * ratio->a_variance + ratio->a * ratio->a * ratio->b_variance);

	if (!isfinite(root) || !(a > 0))
		return false;
	*lower = (b - root) / a;
	*upper = (b + root) / a;
	return true;
}

/*
 * Warn that few rows cannot measure their variance.  A few rows of a sequence vary less among each
 * other than their mean varies.  Where there is little noise, no method can tell.  The warning is
 * given once for a call site.
 */
static void
warn_of_rows(const RaceQuestion *question, const RaceDensity *estimate)
{
	const RaceParams *params = question->view.params;
	int sequence = race_params_sequence(params);

	if (question->site->warned || sequence == RACE_SEQUENCE_INDEPENDENT ||
		!race_summary_kind(params)->hashed || params->rows >= RACE_ROWS_FOR_INTERVALS ||
		estimate->noise_variance > estimate->mean_variance / 2)
		return;
	question->site->warned = true;
	ereport(WARNING,
			(errmsg("intervals of fewer than %d rows may be too short", RACE_ROWS_FOR_INTERVALS),
			 errdetail("The sketch has %u rows, with sequence \"%s\".", params->rows,
					   race_choice_name(RACE_KEY_SEQUENCE, sequence))));
}

/* ------------------------------------------------------------ sums and densities */

PG_FUNCTION_INFO_V1(race_count);
PG_FUNCTION_INFO_V1(race_kernel_sum);
PG_FUNCTION_INFO_V1(race_kde);
PG_FUNCTION_INFO_V1(race_estimate);

/* Implement race_count(sketch): of a stored sketch, read only the header. */
Datum
race_count(PG_FUNCTION_ARGS)
{
	RaceView view;

	race_sketch_view_header_any(PG_GETARG_DATUM(0), &view);
	race_check_askable(&view.header->noise);
	PG_RETURN_FLOAT8(view.header->count);
}

/* Implement race_kernel_sum(sketch, q, groups): return the median of means of groups of rows. */
Datum
race_kernel_sum(PG_FUNCTION_ARGS)
{
	int groups = PG_GETARG_INT32(2);
	RaceQuestion question;
	const RaceView *view = &question.view;
	uint64 rows;
	double *means;

	if (groups < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("groups must be at least 1")));
	start_question(fcinfo, &question);
	if (groups == 1 || !race_summary_kind(view->params)->hashed || question.partial)
		PG_RETURN_FLOAT8(race_estimate_sum(&question));
	rows = view->params->rows;
	groups = Min(groups, rows);
	means = palloc(groups * sizeof(double));
	for (int i = 0; i < groups; i++)
		means[i] = race_estimator_mean(view, NULL, question.buckets, i * rows / groups,
									   (i + 1) * rows / groups);
	race_sort_descending(means, groups);
	PG_RETURN_FLOAT8(race_correct_collisions(
		view->params, (means[(groups - 1) / 2] + means[groups / 2]) / 2, view->header->count));
}

Datum
race_kde(PG_FUNCTION_ARGS)
{
	RaceQuestion question;

	start_question(fcinfo, &question);
	PG_RETURN_FLOAT8(race_estimate_mean(&question));
}

/*
 * Estimate the density with a Gaussian kernel of this bandwidth in place of the kernel of the
 * sketch.
 */
static void
estimate_gaussian(const RaceQuestion *question, double bandwidth, RaceDensity *result)
{
	const RaceView *view = &question->view;
	RaceEvaluator *evaluator;
	RaceRecordCount count;
	RaceColumn record[RACE_MAX_PARTS];
	double peak;

	if (!(bandwidth > 0 && isfinite(bandwidth)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("bandwidth must be a positive number")));
	if (!race_model_is_of_vectors(view->params))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a Gaussian kernel needs a sketch of vectors by themselves"),
				 errdetail("The parameters are %s.", race_params_brief(view->params))));
	if (race_summary_kind(view->params)->hashed)
		race_check_fitted(view);
	record_of_query(question, record);
	evaluator = race_evaluator_at(question->site, view);
	count = race_record_count(view, race_evaluator_grid(evaluator));
	result->mean = result->kernel_sum = race_evaluator_gaussian(
		evaluator, record[0].numbers, bandwidth, &peak, &result->mean_variance);
	if (race_summary_kind(view->params)->hashed)
	{
		/*
		 * the model errs as it does with its own kernel, and rows do not tell where records are
		 * within a bandwidth
		 */
		Terms terms = {.model = result->kernel_sum / peak, .trusted = view->model};
		double narrower = pow(Max(view->params->bandwidth / view->params->power / bandwidth, 1),
							  view->params->dims);

		result->mean_variance += pow(peak * narrower, 2) *
			(variance_of_terms(question, &terms, 0) + pow(view->model->misfit * terms.model, 2));
		if (view->model->misfit >= RACE_UNTESTED)
			result->mean_variance = INFINITY;
	}
	result->n = race_count_divisor(count);
	result->n_variance = count.variance;
	result->density = result->kernel_sum / result->n;
	result->standard_error =
		sqrt(result->mean_variance + pow(result->density, 2) * count.variance) / result->n;
}

/* Implement race_estimate(sketch, q, confidence, bandwidth). */
Datum
race_estimate(PG_FUNCTION_ARGS)
{
	bool gaussian = !PG_ARGISNULL(3);
	double confidence = PG_ARGISNULL(2) ? 0 : PG_GETARG_FLOAT8(2);
	double lower = -INFINITY;
	double upper = INFINITY;
	double reach;
	RaceQuestion question;
	RaceDensity estimate;
	RaceResultRow row;
	Ratio ratio;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2))
		PG_RETURN_NULL();
	race_check_confidence(confidence);
	race_row_start(&row, fcinfo);
	start_question(fcinfo, &question);
	if (gaussian)
		estimate_gaussian(&question, PG_GETARG_FLOAT8(3), &estimate);
	else
	{
		estimate_density(&question, &estimate);
		warn_of_rows(&question, &estimate);
	}
	ratio = (Ratio){estimate.mean, estimate.n, estimate.mean_variance, estimate.n_variance};
	reach = standard_errors_of(&question.view, confidence, gaussian ? 0 : estimate.density);
	if (bound_ratio(&ratio, reach, &lower, &upper) && !gaussian)
	{
		/* 1 unless the count is too small to divide by */
		double whole = estimate.records / estimate.n;

		lower = race_correct_collisions(question.view.params, lower, whole);
		upper = race_correct_collisions(question.view.params, upper, whole);
	}
	race_row_add(&row, Float8GetDatum(estimate.kernel_sum));
	race_row_add(&row, Float8GetDatum(estimate.density));
	race_row_add(&row, Float8GetDatum(estimate.standard_error));
	race_row_add(&row, Float8GetDatum(lower));
	race_row_add(&row, Float8GetDatum(upper));
	PG_RETURN_DATUM(race_row_datum(&row));
}

/*
 * race_difference: by how much two sketches differ at a query.
 *
 * The rows of sketches with the same parameters have the same functions, so what sampling
 * adds to both is much alike, and goes when they are subtracted row by row.  Noise and what
 * models miss is each sketch's own.
 */

PG_FUNCTION_INFO_V1(race_difference);

/* Implement race_difference(a, b, q, confidence). */
Datum
race_difference(PG_FUNCTION_ARGS)
{
	double confidence = PG_GETARG_FLOAT8(3);
	RaceQuestion questions[2];
	RaceDensity densities[2];
	RaceResultRow row;
	double covariance;
	double difference;
	double variance;
	double reach;
	double t;

	race_check_confidence(confidence);
	race_row_start(&row, fcinfo);
	race_ask_pair(fcinfo, race_argument_type(fcinfo->flinfo, 2), &questions[0], &questions[1]);
	if (!race_params_same_kernel(questions[0].view.params, questions[1].view.params))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("densities of different kernels cannot be compared"),
				 errdetail_internal("%s",
									race_params_difference(questions[0].view.params,
														   questions[1].view.params,
														   RACE_FIELDS_OF_KERNEL))));
	for (int i = 0; i < 2; i++)
		race_ask_about(&questions[i], PG_GETARG_DATUM(2));
	covariance = estimate_two(questions, densities);
	difference = densities[0].density - densities[1].density;
	variance = pow(densities[0].standard_error, 2) + pow(densities[1].standard_error, 2);
	if (isfinite(variance) && covariance != 0)
	{
		double least = 0; /* what the rows of each have beyond their noise may go, and no more */

		for (int i = 0; i < 2; i++)
			if (densities[i].weight > 0)
				least += pow(densities[i].weight / densities[i].n /
								 (1 - race_collision_probability(questions[i].view.params)),
							 2) *
					(densities[i].least_variance - densities[i].rows_variance);
		variance += Max(-2 * covariance / densities[0].n / densities[1].n, least);
	}
	t = Max(standard_errors_of(&questions[0].view, confidence, densities[0].density),
			standard_errors_of(&questions[1].view, confidence, densities[1].density));
	reach = t * sqrt(Max(variance, 0));
	/* a density says nothing if the number of records is within its noise of zero */
	for (int i = 0; i < 2; i++)
		if (!(densities[i].n > t * sqrt(densities[i].n_variance)))
			reach = INFINITY;

	race_row_add(&row, Float8GetDatum(difference));
	race_row_add(&row, Float8GetDatum(sqrt(Max(variance, 0))));
	race_row_add(&row, Float8GetDatum(difference - reach));
	race_row_add(&row, Float8GetDatum(difference + reach));
	PG_RETURN_DATUM(race_row_datum(&row));
}

/*
 * race_kde_grid: the density at all points of a grid.
 */

PG_FUNCTION_INFO_V1(race_kde_grid);

#define MAX_SPAN 1e100 /* an axis this long still divides into steps */

typedef struct Grid
{
	RaceQuestion question;
	RaceResultRow row;
	uint32 dims;
	double *lower;
	double *upper;
	uint32 *steps;
	double *x; /* the current point */
} Grid;

static void
start_grid(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	Grid *grid = palloc(sizeof(Grid));
	const RaceParams *params;
	double *steps;

	race_row_start(&grid->row, fcinfo);
	race_ask_sketch(race_call_site_create(FLOAT8ARRAYOID, CurrentMemoryContext), PG_GETARG_DATUM(0),
					&grid->question);
	params = grid->question.view.params;
	if (race_record_kind(params) != RACE_RECORD_VECTOR || race_params_parts(params) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a grid needs a kernel of vectors by itself"),
				 errdetail("The parameters are %s.", race_params_brief(params))));
	grid->dims = params->dims;
	grid->lower = race_vector_new(FLOAT8ARRAYOID, PG_GETARG_DATUM(1), grid->dims);
	grid->upper = race_vector_new(FLOAT8ARRAYOID, PG_GETARG_DATUM(2), grid->dims);
	steps = race_vector_new(INT4ARRAYOID, PG_GETARG_DATUM(3), grid->dims);
	grid->steps = palloc(grid->dims * sizeof(uint32));
	grid->x = palloc(grid->dims * sizeof(double));
	call->user_fctx = grid;
	call->max_calls = 1;
	for (uint32 i = 0; i < grid->dims; i++)
	{
		if (steps[i] < 1)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("a grid needs at least 1 step along each axis")));
		if (grid->lower[i] > grid->upper[i] || grid->upper[i] - grid->lower[i] > MAX_SPAN)
			ereport(
				ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the lower bound of a grid must be at most the upper, and within %g of it",
						MAX_SPAN)));
		grid->steps[i] = (uint32) steps[i];
		call->max_calls *= grid->steps[i];
		if (call->max_calls > PG_INT32_MAX)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("a grid can have at most %d points", PG_INT32_MAX)));
	}
}

/* Return the point with this number; the last axis runs fastest. */
static Datum
next_point(void *state, uint64 i)
{
	Grid *grid = (Grid *) state;
	RaceDensity estimate;

	for (uint32 axis = grid->dims; axis-- > 0;)
	{
		uint32 steps = grid->steps[axis];
		uint32 step = i % steps;
		double lower = grid->lower[axis];
		double upper = grid->upper[axis];

		if (steps == 1)
			grid->x[axis] = lower + (upper - lower) / 2;
		else if (step == steps - 1)
			grid->x[axis] = upper; /* exactly */
		else
			grid->x[axis] = lower + (upper - lower) * step / (steps - 1);
		i /= steps;
	}
	race_ask_about_vector(&grid->question, grid->x);
	estimate_density(&grid->question, &estimate);
	race_row_add_numbers(&grid->row, grid->x, grid->dims);
	race_row_add(&grid->row, Float8GetDatum(estimate.density));
	race_row_add(&grid->row, Float8GetDatum(estimate.standard_error));
	return race_row_datum(&grid->row);
}

/* Implement race_kde_grid(sketch, lower, upper, steps). */
Datum
race_kde_grid(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_grid, next_point);
}

/*
 * race_kernel: the exact kernel value, ground truth for estimates.
 */

PG_FUNCTION_INFO_V1(race_kernel);

/* How both records are read, and space for them, kept between calls */
typedef struct KernelSite
{
	RaceRecordReader x_reader;
	RaceRecordReader y_reader;
	MemoryContext space; /* memory of one call */
	RaceRecords *x;
	RaceRecords *y;
} KernelSite;

/* Set columns to one record, valid until the next call. */
static void
read_one(RaceRecordReader *reader, const RaceParams *params, Datum value, RaceRecords *records,
		 RaceColumn *columns)
{
	race_record_read(reader, params, value, records, false);
	for (int i = 0; i < records->n_parts; i++)
		if (records->parts[i].kind == RACE_RECORD_SET && (records->any >> i & 1) == 0)
			race_normalize_set(records->parts[i].elements, &records->parts[i].starts[1]);
	race_records_columns(records, 0, columns);
}

/* Implement race_kernel(params, x, y). */
Datum
race_kernel(PG_FUNCTION_ARGS)
{
	const RaceParams *params = race_params_arg(PG_GETARG_DATUM(0));
	FmgrInfo *flinfo = fcinfo->flinfo;
	KernelSite *site = (KernelSite *) flinfo->fn_extra;
	RaceColumn x[RACE_MAX_PARTS];
	RaceColumn y[RACE_MAX_PARTS];

	race_params_check_kernel(params);
	if (site == NULL)
	{
		site = MemoryContextAllocZero(flinfo->fn_mcxt, sizeof(KernelSite));
		race_record_prepare(&site->x_reader, race_argument_type(flinfo, 1), flinfo->fn_mcxt);
		race_record_prepare(&site->y_reader, race_argument_type(flinfo, 2), flinfo->fn_mcxt);
		site->y_reader.is_query = true;
		site->space =
			AllocSetContextCreate(flinfo->fn_mcxt, "race_kernel", ALLOCSET_START_SMALL_SIZES);
		flinfo->fn_extra = site;
	}
	MemoryContextReset(site->space);
	site->x = race_records_create(params, site->space);
	site->y = race_records_create(params, site->space);
	site->y->are_queries = true;
	race_records_reserve(site->x, 1);
	race_records_reserve(site->y, 1);
	read_one(&site->x_reader, params, PG_GETARG_DATUM(1), site->x, x);
	/* if the parameters do not state dims, y must have as many as x */
	for (int i = 0; i < site->x->n_parts; i++)
		if (site->y->parts[i].width == 0)
		{
			site->y->parts[i].width = site->x->parts[i].width;
			race_records_reserve(site->y, 1);
		}
	read_one(&site->y_reader, params, PG_GETARG_DATUM(2), site->y, y);
	PG_RETURN_FLOAT8(race_kernel_value(params, x, y));
}

/*
 * race_info: what a sketch is, in one row.
 */

PG_FUNCTION_INFO_V1(race_info);

static void
add_params(RaceResultRow *row, const RaceParams *params)
{
	const RaceKernelType *type = race_kernel_type(params->kernel);
	bool product = race_params_parts(params) > 1;
	bool functions = (type->takes & RACE_TAKES_FUNCTIONS) != 0;
	StringInfoData name;

	initStringInfo(&name);
	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
		appendStringInfo(&name, "%s%s", part == params ? "" : " * ", race_part_name(part));
	race_row_add_text(row, name.data);
	race_row_add_if(row, !product && params->dims > 0, Int32GetDatum(params->dims));
	race_row_add_if(row, !product && (type->takes & RACE_TAKES_BANDWIDTH) != 0,
					Float8GetDatum(params->bandwidth));
	race_row_add_if(row, functions && !product, Int32GetDatum(params->power));
	race_row_add(row, Int32GetDatum(params->rows));
	race_row_add(row, Int32GetDatum(params->range));
	race_row_add(row, Int64GetDatum(params->seed));
	if (product)
		race_row_add_null(row);
	else
		race_row_add_text(row, race_choice_name(RACE_KEY_SEQUENCE, params->sequence));
	race_row_add_text(row, race_choice_name(RACE_KEY_REHASH, params->rehash));
}

static void
add_noise(RaceResultRow *row, const RaceNoise *noise, double unit)
{
	if (noise->status == RACE_STATUS_EXACT)
	{
		race_row_add_text(row, "exact");
		for (int i = 0; i < 9; i++)
			race_row_add_null(row);
		return;
	}
	race_row_add_text(row, race_has_enough_noise(noise) ? "private" : "share");
	race_row_add_text(row, race_mechanism_name(noise->mechanism));
	race_row_add(row, Float8GetDatum(noise->epsilon));
	race_row_add(row, Float8GetDatum(noise->delta));
	race_row_add(row, Float8GetDatum(noise->rho));
	race_row_add(row, Int32GetDatum(noise->max_contributions));
	race_row_add_text(row, race_neighbors_name(noise->neighbors));
	race_row_add(row, Int32GetDatum(noise->releases));
	race_row_add(row, Float8GetDatum(sqrt(noise->counter_variance) / unit));
	race_row_add(row, Float8GetDatum(sqrt(noise->count_variance)));
}

Datum
race_info(PG_FUNCTION_ARGS)
{
	RaceView view;
	RaceResultRow row;
	int width;
	Size size;

	race_row_start(&row, fcinfo);
	race_sketch_stored_size(PG_GETARG_DATUM(0), &width, &size);
	race_sketch_view_header_any(PG_GETARG_DATUM(0), &view);

	add_params(&row, view.params);
	race_row_add_if(&row, race_has_enough_noise(&view.header->noise),
					Int64GetDatum(view.header->count));
	race_row_add(&row, Int32GetDatum(width));
	race_row_add(&row, Int64GetDatum((int64) size));
	add_noise(&row, &view.header->noise, (double) race_record_unit(view.params));
	if (view.model_size > 0 && race_summary_kind(view.params)->model == RACE_MODEL_POINTS)
	{
		/* a model comes last in a sketch, so that all of it is read */
		race_sketch_view(PG_GETARG_DATUM(0), &view);
		race_row_add(&row, Int32GetDatum((int32) view.model->points));
		race_row_add(&row, Float8GetDatum(view.model->misfit));
	}
	else
	{
		race_row_add_null(&row);
		race_row_add_null(&row);
	}
	PG_RETURN_DATUM(race_row_datum(&row));
}
