/*
 * proportion.c
 *		Conditional means: the mean of a bounded value near a query
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"

#include "../core/core.h"
#include "estimate.h"
#include "evaluator.h"
#include "proportion.h"
#include "proportion_gp.h"

/*
 * race_conditional_mean: the mean of a bounded value near a query.
 *
 * The values lie between L and U, and the share (value - L) / (U - L) of each record is in
 * the upper of two sketches, the rest in the lower one.  So with f the kernel sum of a
 * sketch, the share s = f_U / (f_L + f_U) estimates that for which L + (U - L) s is the mean
 * of the values, weighted by the kernel (Nadaraya 1964, Watson 1964).
 *
 * The interval is Fieller's: all shares s for which (1 - s) f_U - s f_L is within its noise
 * of zero.  Noise and rows, and which of them a record is in, give it the variance
 * (1 - s)^2 v_U + s^2 v_L - 2 s (1 - s) c.
 *
 * Where there is a Gaussian-process prediction m (proportion_gp.h), the residual of the sums is
 * e = (f_U - m (f_L + f_U)) / (f_L + f_U).  It has a variance v of noise and the nugget b, the
 * variance of shares around the prediction.  So m + b / (b + v) e has the least error.
 */

PG_FUNCTION_INFO_V1(race_conditional_mean);

/* Standard deviations of its noise above which a sum has information */
#define LEAST_SUM		2.0

/* The variance of a sum of records whose shares are rounded to steps in a grid: at most */
#define GRID_SPLIT	(0.25 / (RACE_GRID_STEPS * RACE_GRID_STEPS))

void
race_half_sites_create(RaceHalfSites *sites, Oid type, MemoryContext context)
{
	for (int i = 0; i < RACE_HALVES; i++)
		sites->sites[i] = race_call_site_create(type, context);
}

/*
 * Both must have the same rows: those that one of them lacks have the rest of its records.
 * Sketches of whole records are halves, too, if each record is in one of them.
 */
static void
check_pair(const RaceView *lower, const RaceView *upper)
{
	race_params_check_same(lower->params, upper->params);
	if (lower->header->noise.half == RACE_UPPER_HALF ||
		upper->header->noise.half == RACE_LOWER_HALF)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the lower half must come first, and then the upper half")));
	race_check_belong(lower->header, upper->header);
}

/* The regression asks about places of its own, before the query is asked about. */
static const RaceProportion *
ask(RaceHalfSites *sites, const RaceValuePair *pair, Datum query,
	RaceQuestion questions[RACE_HALVES])
{
	const RaceProportion *proportion;

	for (int i = 0; i < RACE_HALVES; i++)
		race_ask_sketch(sites->sites[i], pair->sketches[i], &questions[i]);
	check_pair(&questions[RACE_LOWER].view, &questions[RACE_UPPER].view);
	proportion = race_proportion_at(questions);
	for (int i = 0; i < RACE_HALVES; i++)
		race_ask_about(&questions[i], query);
	return proportion;
}

/*
 * The share of the upper sketch in the sum of both.  True sums are not negative, so to cut
 * off what is brings estimates nearer to them.
 */
static RaceRatio
share_of_upper(const RaceDensity densities[RACE_HALVES], bool hashed, double covariance)
{
	double		lower = Max(densities[RACE_LOWER].kernel_sum, 0);
	double		upper = Max(densities[RACE_UPPER].kernel_sum, 0);
	RaceRatio	share;

	share.a = upper;
	share.b = lower + upper;
	share.a_variance = densities[RACE_UPPER].sum_variance +
		(hashed ? 0 : GRID_SPLIT * (lower + upper));
	share.b_variance = densities[RACE_LOWER].sum_variance +
		densities[RACE_UPPER].sum_variance + 2 * covariance;
	share.covariance = densities[RACE_UPPER].sum_variance + covariance;
	return share;
}

static double
within(const RaceValuePair *pair, double share)
{
	double		lower = pair->bounds[RACE_LOWER];
	double		upper = pair->bounds[RACE_UPPER];

	return share >= 1 ? upper : share <= 0 ? lower : lower + (upper - lower) * share;
}

typedef struct Estimate
{
	bool		known;			/* else there is only an interval */
	double		share;
	double		deviation;
	double		lower;
	double		upper;
} Estimate;

static Estimate
estimate_by_ratio(const RaceRatio *share, double t)
{
	/* the variance of the sum, at least that of one sketch */
	double		variance = Max(share->b_variance, share->a_variance);
	double		s = share->a / share->b;
	Estimate	estimate = {share->b > LEAST_SUM * sqrt(variance), 0, 0, 0, 1};

	if (estimate.known)
	{
		estimate.share = s;
		estimate.deviation = sqrt(Max(share->a_variance - 2 * s * share->covariance +
									  s * s * share->b_variance, 0)) / share->b;
	}
	if (!race_ratio_bounds(share, t, &estimate.lower, &estimate.upper))
	{
		estimate.lower = 0;
		estimate.upper = 1;
	}
	return estimate;
}

/* A squared residual that is so many times the variance of noise counts as a nugget. */
#define OUTLIER		16.0

/* The variance of a sum by noise alone */
static double
noise_of(const RaceQuestion *question, const RaceDensity *density)
{
	return race_summary_kind(question->view.params)->hashed ? density->sum_variance :
		race_gridded_noise(race_evaluator_grid(race_evaluator_at(question->site, &question->view)));
}

/*
 * Noise alone weighs the sums against the prediction.  The error of cells counts for the interval alone: it
 * is a bound for all places, and nearly cancels in shares.
 *
 * The error of the prediction and that of the sums are not independent; their covariance is at most
 * the variance of the prediction.
 */
static Estimate
estimate_by_prediction(const RaceQuestion questions[RACE_HALVES],
					   const RaceDensity densities[RACE_HALVES], const RaceRatio *share,
					   const RacePrediction *prediction, double t)
{
	double		m = prediction->share;
	double		whole = Max(share->b, LEAST_SUM * sqrt(share->b_variance));
	double		e = ((1 - m) * densities[RACE_UPPER].kernel_sum -
					 m * densities[RACE_LOWER].kernel_sum) / whole;
	double		v = Max(share->a_variance - 2 * m * share->covariance +
						m * m * share->b_variance, 0) / (whole * whole);
	double		noise = Min(((1 - m) * (1 - m) * noise_of(&questions[RACE_UPPER], &densities[RACE_UPPER]) +
							 m * m * noise_of(&questions[RACE_LOWER], &densities[RACE_LOWER])) /
							(whole * whole), v);
	double		nugget = Max(prediction->nugget, e * e - OUTLIER * v);
	double		part = isfinite(v) && nugget + noise > 0 ? nugget / (nugget + noise) : 0;
	Estimate	estimate;

	estimate.known = true;
	estimate.share = Max(Min(m + part * e, 1), 0);
	estimate.deviation = sqrt((part > 0 ? part * (noise + part * (v - noise)) : nugget) +
							  (1 - part * part) * prediction->variance);
	estimate.lower = estimate.share - t * estimate.deviation;
	estimate.upper = estimate.share + t * estimate.deviation;
	return estimate;
}

static Estimate
estimate_share(RaceQuestion questions[RACE_HALVES], const RaceProportion *proportion, double confidence)
{
	RaceDensity densities[RACE_HALVES];
	double		covariance = race_estimate_two(questions, densities);
	RaceRatio	share = share_of_upper(densities, race_summary_kind(questions[0].view.params)->hashed,
									   covariance);
	RaceColumn	record[RACE_MAX_PARTS];
	RacePrediction prediction;
	double		t = 0;

	for (int i = 0; i < RACE_HALVES; i++)
	{
		race_estimate_warn(&questions[i], &densities[i]);
		questions[RACE_UPPER].site->warned |= questions[RACE_LOWER].site->warned;
		t = Max(t, race_estimate_reach(&questions[i].view, confidence));
	}
	if (proportion == NULL)
		return estimate_by_ratio(&share, t);
	race_question_record(&questions[RACE_LOWER], record);
	return race_proportion_predict(proportion, record[0].numbers, &prediction) ?
		estimate_by_prediction(questions, densities, &share, &prediction, t) :
		estimate_by_ratio(&share, t);
}

static void
add_results(RaceResultRow *row, const RaceValuePair *pair, const Estimate *estimate)
{
	double		range = pair->bounds[RACE_UPPER] - pair->bounds[RACE_LOWER];

	race_row_add_if(row, estimate->known, Float8GetDatum(within(pair, estimate->share)));
	race_row_add_if(row, estimate->known, Float8GetDatum(range * estimate->deviation));
	race_row_add(row, Float8GetDatum(within(pair, estimate->lower)));
	race_row_add(row, Float8GetDatum(within(pair, estimate->upper)));
}

Datum
race_conditional_mean_row(FunctionCallInfo fcinfo, RaceHalfSites *sites,
						  const RaceValuePair *pair, Datum query, double confidence)
{
	RaceQuestion questions[RACE_HALVES];
	RaceResultRow row;
	const RaceProportion *proportion;
	Estimate	estimate;

	race_check_confidence(confidence);
	race_check_value_bounds(pair->bounds[RACE_LOWER], pair->bounds[RACE_UPPER]);
	race_row_start(&row, fcinfo);
	proportion = ask(sites, pair, query, questions);
	estimate = estimate_share(questions, proportion, confidence);
	add_results(&row, pair, &estimate);
	return race_row_datum(&row);
}

/*
 * race_conditional_mean(lower_sketch, upper_sketch, q, value_lower, value_upper,
 * confidence)
 */
Datum
race_conditional_mean(PG_FUNCTION_ARGS)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;
	RaceValuePair pair;

	if (flinfo->fn_extra == NULL)
	{
		RaceHalfSites *sites = MemoryContextAlloc(flinfo->fn_mcxt, sizeof(RaceHalfSites));

		race_half_sites_create(sites, race_argument_type(flinfo, 2), flinfo->fn_mcxt);
		flinfo->fn_extra = sites;
	}
	for (int i = 0; i < RACE_HALVES; i++)
	{
		pair.sketches[i] = PG_GETARG_DATUM(i);
		pair.bounds[i] = PG_GETARG_FLOAT8(3 + i);
	}
	return race_conditional_mean_row(fcinfo, (RaceHalfSites *) flinfo->fn_extra, &pair,
									 PG_GETARG_DATUM(2), PG_GETARG_FLOAT8(5));
}
