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
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"

#include "../lsh/grid.h"
#include "../query/estimate.h"
#include "../server/argument.h"
#include "../server/result.h"
#include "conditional_mean.h"

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
}

static void
ask(RaceHalfSites *sites, const RaceValuePair *pair, Datum query,
	RaceQuestion questions[RACE_HALVES])
{
	int			i;

	for (i = 0; i < RACE_HALVES; i++)
		race_ask_sketch(sites->sites[i], pair->sketches[i], &questions[i]);
	check_pair(&questions[RACE_LOWER].view, &questions[RACE_UPPER].view);
	for (i = 0; i < RACE_HALVES; i++)
		race_ask_about(&questions[i], query);
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

static void
add_results(RaceResultRow *row, const RaceValuePair *pair, const RaceRatio *share, double t)
{
	/* the variance of the sum, at least that of one sketch */
	double		variance = Max(share->b_variance, share->a_variance);
	bool		known = share->b > NOTHING * sqrt(variance);
	double		range = pair->bounds[RACE_UPPER] - pair->bounds[RACE_LOWER];
	double		lower;
	double		upper;

	if (known)
	{
		race_row_add(row, Float8GetDatum(within(pair, share->a / share->b)));
		race_row_add(row, Float8GetDatum(range * deviation_of(share)));
	}
	else
	{
		race_row_add_null(row);
		race_row_add_null(row);
	}
	if (!race_ratio_bounds(share, t, &lower, &upper))
	{
		lower = 0;
		upper = 1;
	}
	race_row_add(row, Float8GetDatum(within(pair, lower)));
	race_row_add(row, Float8GetDatum(within(pair, upper)));
}

Datum
race_conditional_mean_row(FunctionCallInfo fcinfo, RaceHalfSites *sites,
						  const RaceValuePair *pair, Datum query, double confidence)
{
	RaceQuestion questions[RACE_HALVES];
	RaceDensity densities[RACE_HALVES];
	RaceResultRow row;
	RaceRatio	share;
	double		covariance;
	double		t = 0;
	int			i;

	race_check_confidence(confidence);
	race_check_value_bounds(pair->bounds[RACE_LOWER], pair->bounds[RACE_UPPER]);
	race_row_start(&row, fcinfo);
	ask(sites, pair, query, questions);
	covariance = race_estimate_two(questions, densities);
	share = share_of_upper(densities, race_is_grid(questions[0].view.params), covariance);
	for (i = 0; i < RACE_HALVES; i++)
	{
		race_estimate_warn(&questions[i], &densities[i]);
		questions[RACE_UPPER].site->warned |= questions[RACE_LOWER].site->warned;
		t = Max(t, race_estimate_reach(&questions[i].view, confidence));
	}
	add_results(&row, pair, &share, t);
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
