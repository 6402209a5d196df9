/*
 * conditional_mean.c
 *		race_conditional_mean: the mean of a bounded value near a query.
 *
 * The values lie between L and U, and the share (value - L) / (U - L) of each record is in
 * the upper of two sketches, the rest in the lower one.  So with f the kernel sum of a
 * sketch, the share s = f_U / (f_L + f_U) estimates that for which L + (U - L) s is the mean
 * of the values, weighted by the kernel (Nadaraya 1964, Watson 1964).
 *
 * The interval is Fieller's: all shares s for which (1 - s) f_U - s f_L is within its noise
 * of zero.  Noise and rows, and which of them a record is in, give it the variance
 *		(1 - s)^2 v_U + s^2 v_L - 2 s (1 - s) c.
 *
 * Where the sketches have a trend (trend.h), it is the first guess m.  What the sums say beyond
 * it, e = (f_U - m (f_L + f_U)) / (f_L + f_U), has a variance v of noise and the variance b that
 * shares have beyond the trend.  So m + b / (b + v) e has the least error.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"

#include "../fit/gridded.h"
#include "../fit/ready.h"
#include "../lsh/grid.h"
#include "../query/estimate.h"
#include "../server/argument.h"
#include "../server/result.h"
#include "conditional_mean.h"
#include "trend.h"

PG_FUNCTION_INFO_V1(race_conditional_mean);

/* A sum below so many standard deviations of its noise says nothing. */
#define NOTHING		2.0

/* The variance of a sum of records whose shares are rounded to steps in a grid: at most */
#define GRID_SPLIT	(0.25 / (RACE_GRID_STEPS * RACE_GRID_STEPS))

void
race_half_sites_create(RaceHalfSites *sites, Oid type, MemoryContext context)
{
	int			i;

	for (i = 0; i < RACE_HALVES; i++)
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

/* The trend asks about places of its own, before the query is asked about. */
static const RaceTrend *
ask(RaceHalfSites *sites, const RaceValuePair *pair, Datum query,
	RaceQuestion questions[RACE_HALVES])
{
	const RaceTrend *trend;
	int			i;

	for (i = 0; i < RACE_HALVES; i++)
		race_ask_sketch(sites->sites[i], pair->sketches[i], &questions[i]);
	check_pair(&questions[RACE_LOWER].view, &questions[RACE_UPPER].view);
	trend = race_trend_at(questions);
	for (i = 0; i < RACE_HALVES; i++)
		race_ask_about(&questions[i], query);
	return trend;
}

/*
 * The share of the upper sketch in the sum of both.  True sums are not negative, so to cut
 * off what is brings estimates nearer to them.
 */
static RaceRatio
share_of_upper(const RaceDensity densities[RACE_HALVES], bool grid, double covariance)
{
	double		lower = Max(densities[RACE_LOWER].kernel_sum, 0);
	double		upper = Max(densities[RACE_UPPER].kernel_sum, 0);
	RaceRatio	share;

	share.a = upper;
	share.b = lower + upper;
	share.a_variance = densities[RACE_UPPER].sum_variance +
		(grid ? GRID_SPLIT * (lower + upper) : 0);
	share.b_variance = densities[RACE_LOWER].sum_variance +
		densities[RACE_UPPER].sum_variance + 2 * covariance;
	share.covariance = densities[RACE_UPPER].sum_variance + covariance;
	return share;
}

/* The standard deviation of the share, if the sum is far enough from zero */
static double
deviation_of(const RaceRatio *share)
{
	double		s = share->a / share->b;

	return sqrt(Max(share->a_variance - 2 * s * share->covariance +
					s * s * share->b_variance, 0)) / share->b;
}

static double
within(const RaceValuePair *pair, double share)
{
	double		lower = pair->bounds[RACE_LOWER];
	double		upper = pair->bounds[RACE_UPPER];

	return share >= 1 ? upper : share <= 0 ? lower : lower + (upper - lower) * share;
}

/* A share, and what is known of it */
typedef struct Estimate
{
	bool		known;			/* else there is only an interval */
	double		share;
	double		deviation;
	double		lower;
	double		upper;
} Estimate;

/* Without a trend */
static Estimate
estimate_by_ratio(const RaceRatio *share, double t)
{
	/* the variance of the sum, at least that of one sketch */
	double		variance = Max(share->b_variance, share->a_variance);
	Estimate	estimate = {share->b > NOTHING * sqrt(variance), 0, 0, 0, 1};

	if (estimate.known)
	{
		estimate.share = share->a / share->b;
		estimate.deviation = deviation_of(share);
	}
	if (!race_ratio_bounds(share, t, &estimate.lower, &estimate.upper))
	{
		estimate.lower = 0;
		estimate.upper = 1;
	}
	return estimate;
}

/* A square that is so many times the variance of noise is not noise: it is believed. */
#define TOO_LARGE	16.0

/* The variance of a sum that is noise */
static double
noise_of(const RaceQuestion *question, const RaceDensity *density)
{
	return race_is_grid(question->view.params) ?
		race_gridded_noise(race_ready_grid(race_ready_at(question->site, &question->view))) :
		density->sum_variance;
}

/*
 * Noise weighs the sums against the trend.  What cells may change counts for the interval alone: it
 * is a bound for all places, and nearly cancels in shares.
 *
 * The error of the trend and that of the sums are not independent; their covariance is at most
 * the variance of the trend.  What cells move in the sums of nodes is more than what they move in
 * those of their projection (fit/gridded.c), so the interval holds it once.
 */
static Estimate
estimate_by_trend(const RaceQuestion questions[RACE_HALVES],
				  const RaceDensity densities[RACE_HALVES], const RaceRatio *share,
				  const RaceTrendShare *trend, double t)
{
	double		m = trend->share;
	double		whole = Max(share->b, NOTHING * sqrt(share->b_variance));
	double		e = ((1 - m) * densities[RACE_UPPER].kernel_sum -
					 m * densities[RACE_LOWER].kernel_sum) / whole;
	double		v = Max(share->a_variance - 2 * m * share->covariance +
						m * m * share->b_variance, 0) / (whole * whole);
	double		noise = ((1 - m) * (1 - m) * noise_of(&questions[RACE_UPPER], &densities[RACE_UPPER]) +
						 m * m * noise_of(&questions[RACE_LOWER], &densities[RACE_LOWER])) /
		(whole * whole);
	double		beyond;
	double		part;
	Estimate	estimate;

	noise = Min(noise, v);
	beyond = Max(trend->beyond * (race_is_grid(questions[0].view.params) ? sqrt(noise) : 1),
				 e * e - TOO_LARGE * v);
	part = isfinite(v) && beyond + noise > 0 ? beyond / (beyond + noise) : 0;
	estimate.known = true;
	estimate.share = Max(Min(m + part * e, 1), 0);
	estimate.deviation = sqrt((part > 0 ? part * (noise + part * (v - noise)) : beyond) +
							  (1 - part * part) * trend->variance + trend->moved * trend->moved);
	estimate.lower = estimate.share - t * estimate.deviation;
	estimate.upper = estimate.share + t * estimate.deviation;
	return estimate;
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

/* The trend at the query; false if there is none */
static bool
find_trend(RaceQuestion questions[RACE_HALVES], const RaceTrend *trend, RaceTrendShare *share)
{
	RaceColumn	record[RACE_MAX_PARTS];

	if (trend == NULL)
		return false;
	race_question_record(&questions[RACE_LOWER], record);
	return race_trend_share(trend, record[0].numbers, share);
}

static Estimate
estimate(RaceQuestion questions[RACE_HALVES], const RaceTrend *trend, double confidence)
{
	RaceDensity densities[RACE_HALVES];
	double		covariance = race_estimate_two(questions, densities);
	RaceRatio	share = share_of_upper(densities, race_is_grid(questions[0].view.params),
									   covariance);
	RaceTrendShare trend_share;
	double		t = 0;
	int			i;

	for (i = 0; i < RACE_HALVES; i++)
	{
		race_estimate_warn(&questions[i], &densities[i]);
		questions[RACE_UPPER].site->warned |= questions[RACE_LOWER].site->warned;
		t = Max(t, race_estimate_reach(&questions[i].view, confidence));
	}
	return find_trend(questions, trend, &trend_share) ?
		estimate_by_trend(questions, densities, &share, &trend_share, t) :
		estimate_by_ratio(&share, t);
}

Datum
race_conditional_mean_row(FunctionCallInfo fcinfo, RaceHalfSites *sites,
						  const RaceValuePair *pair, Datum query, double confidence)
{
	RaceQuestion questions[RACE_HALVES];
	RaceResultRow row;
	const RaceTrend *trend;
	Estimate	found;

	race_check_confidence(confidence);
	race_check_value_bounds(pair->bounds[RACE_LOWER], pair->bounds[RACE_UPPER]);
	race_row_start(&row, fcinfo);
	trend = ask(sites, pair, query, questions);
	found = estimate(questions, trend, confidence);
	add_results(&row, pair, &found);
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
	int			i;

	if (flinfo->fn_extra == NULL)
	{
		RaceHalfSites *sites = MemoryContextAlloc(flinfo->fn_mcxt, sizeof(RaceHalfSites));

		race_half_sites_create(sites, race_argument_type(flinfo, 2), flinfo->fn_mcxt);
		flinfo->fn_extra = sites;
	}
	for (i = 0; i < RACE_HALVES; i++)
	{
		pair.sketches[i] = PG_GETARG_DATUM(i);
		pair.bounds[i] = PG_GETARG_FLOAT8(3 + i);
	}
	return race_conditional_mean_row(fcinfo, (RaceHalfSites *) flinfo->fn_extra, &pair,
									 PG_GETARG_DATUM(2), PG_GETARG_FLOAT8(5));
}
