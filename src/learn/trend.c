/*
 * trend.c
 *		How the share of the upper one of two sketches depends on the place.
 *
 * With n records and a share s at each of many places, the upper sketch says K (s n) + noise,
 * and the lower one K ((1 - s) n) + noise.  K is the kernel; of grids, which say what is at
 * their nodes, it is 1.  The noise of rows has a covariance in proportion to K.  So with s
 * near a known s0,
 *		(1 - s0) upper - s0 lower + s0 K n = K (s n) + noise,
 * which is linear in s, and an error of n matters little: where s is s0, not at all.  s is the
 * mean share of all records plus a sum of waves, whose posterior is known (posterior.h).
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "../linear/factor.h"
#include "../sketch/known.h"
#include "evidence.h"
#include "posterior.h"
#include "trend.h"

struct RaceTrend
{
	RaceKnown	known;			/* must be first: the lower sketch, */
	RaceKnown	upper;			/* and the other one */
	bool		none;			/* there is no trend, and nothing below */
	RaceRadial	radial;
	RaceWaves	waves;
	uint32		n;				/* places, */
	double	   *places;			/* [radial.dims][n], */
	double	   *records;		/* [n], */
	double	   *upper_records;	/* [n]: times the share */
	double	   *place;			/* space for one */
	double		steps[RACE_GRID_DIMS];	/* between places, if they are nodes of a grid */
	double		mean;
	double		coefficients[RACE_WAVES_MOST];
	double	   *covariance;		/* of them, [waves.n][waves.n] */
	double		beyond;			/* see RaceTrendShare */
};

#define ROUNDS		3			/* of finding s0 */

/* ---------------------------------------------------------------- equations */

static double
share_at(const RaceTrend *trend, const double *terms)
{
	double		share = trend->mean + race_dot(trend->coefficients, terms, trend->waves.n);

	return Max(Min(share, 1), 0);
}

/* The waves at all places, times their records: [waves][places] */
static double *
weigh_waves(const RaceTrend *trend)
{
	double	   *weighed = palloc_extended((Size) trend->waves.n * trend->n * sizeof(double),
										  MCXT_ALLOC_HUGE);
	double		terms[RACE_WAVES_MOST];
	uint32		i;
	uint32		j;

	for (j = 0; j < trend->n; j++)
	{
		race_waves_at(&trend->waves, trend->places + j, trend->n, terms);
		for (i = 0; i < trend->waves.n; i++)
			weighed[(Size) i * trend->n + j] = terms[i] * trend->records[j];
	}
	return weighed;
}

/* Without the variance of noise, which they are divided by */
static void
find_gram(const RaceTrend *trend, const RaceEvidence *evidence, const double *weighed,
		  double *gram)
{
	double	   *spread = palloc(trend->n * sizeof(double));
	uint32		n = trend->waves.n;
	uint32		i;
	uint32		j;

	for (i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		race_evidence_spread(evidence, weighed + (Size) i * trend->n, spread);
		for (j = 0; j <= i; j++)
			gram[i * n + j] = gram[j * n + i] =
				race_dot(spread, weighed + (Size) j * trend->n, trend->n);
	}
	pfree(spread);
}

/* The share at each place */
static void
find_shares(const RaceTrend *trend, double *shares)
{
	double		terms[RACE_WAVES_MOST];
	uint32		j;

	for (j = 0; j < trend->n; j++)
	{
		race_waves_at(&trend->waves, trend->places + j, trend->n, terms);
		shares[j] = share_at(trend, terms);
	}
}

/*
 * What is said beyond the mean share, as above, with the shares that were found before as s0.
 * Returns the variance of its noise, the mean over records.
 */
static double
find_beyond(const RaceTrend *trend, const RaceEvidence *evidence, const double *shares,
			double *beyond)
{
	double		records = 0;
	double		part = 0;
	uint32		j;

	race_evidence_spread(evidence, trend->records, beyond);
	for (j = 0; j < trend->n; j++)
	{
		double		s = shares[j];

		beyond[j] = (1 - s) * evidence->said[RACE_UPPER][j] -
			s * evidence->said[RACE_LOWER][j] + (s - trend->mean) * beyond[j];
		part += ((1 - s) * (1 - s) + s * s) * trend->records[j];
		records += trend->records[j];
	}
	return evidence->noise * part / records;
}

static void
fit_waves(RaceTrend *trend, const RaceEvidence *evidence)
{
	uint32		n = trend->waves.n;
	Size		square = (Size) n * n * sizeof(double);
	RaceEquations equations = {n, palloc(square), palloc(n * sizeof(double)), palloc(square),
	palloc(square), {false}};
	double	   *weighed = weigh_waves(trend);
	double	   *shares = palloc(trend->n * sizeof(double));
	double	   *beyond = palloc(trend->n * sizeof(double));
	double		noise = 1;
	int			round;
	uint32		i;

	find_gram(trend, evidence, weighed, equations.gram);
	for (round = 0; round < ROUNDS; round++)
	{
		double		before = noise;

		find_shares(trend, shares);
		noise = find_beyond(trend, evidence, shares, beyond);
		for (i = 0; i < n * n; i++)
			equations.gram[i] *= before / noise;
		for (i = 0; i < n; i++)
			equations.right[i] = race_dot(weighed + (Size) i * trend->n, beyond, trend->n) / noise;
		race_posterior(&trend->waves, &equations, trend->coefficients,
					   round == ROUNDS - 1 ? trend->covariance : NULL);
	}
	find_shares(trend, shares);
	for (i = 0; i < trend->n; i++)
		trend->upper_records[i] = trend->records[i] * shares[i];
}

/* ------------------------------------------------------- beyond the trend */

#define TESTS			512		/* places that are looked at, or fewer */
#define GOLDEN			0.6180339887498949
/* Standard deviations that shares may have beyond the trend: from the least, by these steps */
#define LEAST_BEYOND	1e-4
#define BEYOND_FACTOR	1.3
#define BEYONDS			32

/* How many of so many places are apart, so that they say different things */
static double
count_apart(const RaceEvidence *evidence, const uint32 *tests, uint32 n)
{
	double		sum = 0;
	uint32		i;
	uint32		j;

	for (i = 0; i < n; i++)
	{
		double		near = 0;

		CHECK_FOR_INTERRUPTS();
		for (j = 0; j < n; j++)
			near += race_radial_value(evidence->radial,
									  race_radial_apart(evidence->radial, evidence->places,
														evidence->n, tests[i], tests[j]));
		sum += 1 / near;
	}
	return sum;
}

/* Places with records, spread over all */
static uint32
choose_tests(const RaceEvidence *evidence, uint32 *tests)
{
	uint32	   *all = palloc(evidence->n * sizeof(uint32));
	uint32		n = 0;
	uint32		chosen = 0;
	uint32		i;

	for (i = 0; i < evidence->n; i++)
		if (evidence->records[i] > 0)
			all[n++] = i;
	if (n <= TESTS)
		memcpy(tests, all, n * sizeof(uint32));
	for (i = 0; n > TESTS && i < TESTS; i++)
		tests[chosen++] = all[(uint32) (n * (i * GOLDEN - floor(i * GOLDEN)))];
	pfree(all);
	return n <= TESTS ? n : chosen;
}

/* What kernel sums say at a test beyond the trend, and its variance without that of shares */
typedef struct Test
{
	double		share;
	double		variance;
} Test;

static void
look_at(const RaceTrend *trend, const RaceQuestion *questions, const RaceEvidence *evidence,
		uint32 i, Test *test)
{
	const RaceParams *params = questions[0].view.params;
	double		sums[RACE_HALVES];
	double		variances[RACE_HALVES];
	RaceTrendShare known;
	double		s;
	double		whole;
	int			half;

	for (half = 0; half < RACE_HALVES; half++)
		sums[half] = race_evidence_sum(evidence, &questions[half], half, i, &variances[half]);
	(void) race_trend_share(trend, evidence->x + (Size) i * params->dims, &known);
	s = known.share;
	whole = Max(sums[RACE_LOWER] + sums[RACE_UPPER],
				2 * sqrt(variances[RACE_LOWER] + variances[RACE_UPPER]));
	test->share = ((1 - s) * sums[RACE_UPPER] - s * sums[RACE_LOWER]) / whole;
	test->variance = ((1 - s) * (1 - s) * variances[RACE_UPPER] +
					  s * s * variances[RACE_LOWER]) / (whole * whole);
}

/* The geometric mean of the noise of all tests, as a standard deviation */
static double
typical_noise(const Test *tests, uint32 n)
{
	double		sum = 0;
	uint32		i;

	for (i = 0; i < n; i++)
		sum += log(tests[i].variance) / 2;
	return exp(sum / n);
}

/*
 * The variance of shares around the trend, in parts of the standard deviation of noise: the mean
 * over its posterior.  The trend misses more where there are fewer records, and thus more noise,
 * since it is fitted to all of them.  On real tables this was likelier than a variance that is
 * the same everywhere, and than one in proportion to that of noise.  Of rows, whose places are those of
 * a model, it is a variance that is the same everywhere: that erred less.
 */
static double
find_beyond_noise(const Test *tests, uint32 n, double apart, bool grid)
{
	double		typical = grid ? typical_noise(tests, n) : 1;
	double		logs[BEYONDS];
	double		most = -INFINITY;
	double		sum = 0;
	double		mean = 0;
	uint32		i;
	int			k;

	for (k = 0; k < BEYONDS; k++)
	{
		double		beyond = pow(LEAST_BEYOND * pow(BEYOND_FACTOR, k), 2) / typical;

		logs[k] = 0;
		for (i = 0; i < n; i++)
		{
			double		variance = beyond * (grid ? sqrt(tests[i].variance) : 1) +
				tests[i].variance;

			logs[k] -= apart / n / 2 *
				(log(variance) + tests[i].share * tests[i].share / variance);
		}
		most = Max(most, logs[k]);
	}
	for (k = 0; k < BEYONDS; k++)
	{
		/* steps are in proportion to the deviation; a priori it is uniform */
		double		deviation = LEAST_BEYOND * pow(BEYOND_FACTOR, k);
		double		part = deviation * exp(logs[k] - most);

		sum += part;
		mean += part * deviation * deviation;
	}
	return mean / sum / typical;
}

static void
find_beyond_trend(RaceTrend *trend, const RaceQuestion *questions,
				  const RaceEvidence *evidence)
{
	uint32		chosen[TESTS];
	uint32		n = choose_tests(evidence, chosen);
	Test	   *tests = palloc(TESTS * sizeof(Test));
	uint32		i;

	for (i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		look_at(trend, questions, evidence, chosen[i], &tests[i]);
	}
	trend->beyond = find_beyond_noise(tests, n, count_apart(evidence, chosen, n),
									   evidence->gram == NULL);
}

/* ------------------------------------------------------------------ making */

static double *
copy_of(const double *v, Size n)
{
	double	   *copy = palloc_extended(n * sizeof(double), MCXT_ALLOC_HUGE);

	memcpy(copy, v, n * sizeof(double));
	return copy;
}

/* The share of the upper sketch in all records */
static double
share_of_all(const RaceQuestion *questions)
{
	double		lower = Max(questions[RACE_LOWER].view.header->count, 0);
	double		upper = Max(questions[RACE_UPPER].view.header->count, 0);

	return lower + upper > 0 ? upper / (lower + upper) : 0.5;
}

/* Less noise than this part of all records is not told from rounding. */
#define LEAST_NOISE		1e-6

/* Can it be fitted: are there records anywhere? */
static bool
prepare(RaceEvidence *evidence)
{
	double		records = 0;
	uint32		i;

	for (i = 0; i < evidence->n; i++)
		records += evidence->records[i];
	evidence->noise = Max(evidence->noise, pow(LEAST_NOISE * records, 2));
	return records > 0 && isfinite(records * records) && isfinite(evidence->noise);
}

/* Fill a trend, in its own context; what is needed on the way is in another one. */
static void
make(RaceTrend *trend, RaceQuestion *questions, MemoryContext context)
{
	MemoryContext old = CurrentMemoryContext;
	RaceEvidence evidence;
	uint32		n;

	race_evidence_gather(questions, &evidence);
	trend->none = !prepare(&evidence);
	if (trend->none)
		return;
	n = trend->n = evidence.n;
	trend->radial = *evidence.radial;
	memcpy(trend->steps, evidence.steps, sizeof(evidence.steps));
	race_waves_init(&trend->waves, trend->radial.dims, evidence.places, n);
	MemoryContextSwitchTo(context);
	trend->places = copy_of(evidence.places, (Size) n * trend->radial.dims);
	trend->records = copy_of(evidence.records, n);
	trend->upper_records = copy_of(evidence.records, n);
	trend->place = palloc(trend->radial.dims * sizeof(double));
	trend->covariance = palloc0((Size) trend->waves.n * trend->waves.n * sizeof(double));
	MemoryContextSwitchTo(old);
	trend->mean = share_of_all(questions);
	fit_waves(trend, &evidence);
	find_beyond_trend(trend, questions, &evidence);
}

static void *
create_trend(const RaceView *view, void *question, MemoryContext context, Size *size)
{
	RaceQuestion *questions = (RaceQuestion *) question;
	MemoryContext space = AllocSetContextCreate(CurrentMemoryContext, "fit of a trend",
												ALLOCSET_DEFAULT_SIZES);
	RaceTrend  *trend = MemoryContextAllocZero(context, sizeof(RaceTrend));
	MemoryContext old = MemoryContextSwitchTo(space);

	race_known_init(&trend->known, view, context);
	race_known_init(&trend->upper, &questions[RACE_UPPER].view, context);
	make(trend, questions, context);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(space);
	*size = sizeof(RaceTrend) + 2 * race_params_size(trend->known.params) +
		((Size) trend->n * (trend->radial.dims + 2) +
		 (Size) trend->waves.n * trend->waves.n) * sizeof(double);
	return trend;
}

static bool
trend_fits(const void *object, const void *question)
{
	return race_known_is_of(&((const RaceTrend *) object)->upper,
							&((const RaceQuestion *) question)[RACE_UPPER].view);
}

static const RaceDerivedKind trend_of_pair = {"trend", create_trend, trend_fits};

/* The same, fitted once for a pair */
static const RaceTrend *
find(RaceQuestion *questions)
{
	return race_derived_at(questions[RACE_LOWER].site, &trend_of_pair,
						   &questions[RACE_LOWER].view, questions);
}

const RaceTrend *
race_trend_at(RaceQuestion questions[RACE_HALVES])
{
	const RaceTrend *trend;

	if (questions[0].view.header->noise.counter_variance == 0)
		return NULL;
	trend = find(questions);
	return trend->none ? NULL : trend;
}

/* --------------------------------------------------------------- questions */

/* The kernel sum of records at trend->place */
static double
sum_at_place(const RaceTrend *trend, const double *records)
{
	return race_radial_sum(&trend->radial, trend->place, trend->places, records, trend->n);
}

/*
 * Linear splitting moves records, with a variance of a sixth of a squared step along each axis.
 * That changes g, the kernel sum of records times what their share is beyond `share`, by a twelfth
 * of its second difference.  At the place itself g is 0.  To project what the trend says of nodes
 * would do the same, but isolated nodes with few records would then have a negative sum.
 */
static double
moved_by_cells(const RaceTrend *trend, double share, double records)
{
	double		sum = 0;
	uint32		axis;
	int			side;

	for (axis = 0; axis < trend->waves.dims && axis < RACE_GRID_DIMS; axis++)
	{
		double		here = trend->place[axis];

		for (side = -1; side <= 1 && trend->steps[axis] > 0; side += 2)
		{
			trend->place[axis] = here + side * trend->steps[axis];
			sum += sum_at_place(trend, trend->upper_records) -
				share * sum_at_place(trend, trend->records);
		}
		trend->place[axis] = here;
	}
	return sum / 12 / records;
}

bool
race_trend_share(const RaceTrend *trend, const double *x, RaceTrendShare *share)
{
	uint32		n = trend->waves.n;
	double		terms[RACE_WAVES_MOST];
	double		records;
	uint32		i;

	race_radial_place(&trend->radial, trend->known.params, x, trend->place, 1);
	if (!race_waves_cover(&trend->waves, trend->place))
		return false;
	race_waves_at(&trend->waves, trend->place, 1, terms);
	records = sum_at_place(trend, trend->records);
	share->share = records > 0 ? sum_at_place(trend, trend->upper_records) / records :
		share_at(trend, terms);
	share->moved = records > 0 ? moved_by_cells(trend, share->share, records) : 0;
	share->share = Max(Min(share->share - share->moved, 1), 0);
	share->variance = 0;
	for (i = 0; i < n; i++)
		share->variance += terms[i] * race_dot(trend->covariance + i * n, terms, n);
	share->variance = Max(share->variance, 0);
	share->beyond = trend->beyond;
	return true;
}
