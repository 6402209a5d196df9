/*
 * choose_bounds.c
 *		Bounds of numbers that nobody knows, from noisy counts
 */
#include <math.h>

#include "choice/choose_bounds.h"
#include "privacy/measure.h"

/* Parts of epsilon, of eight */
static const int stage_part[RACE_BOUNDS_STAGES] = {1, 1, 6};

#define STAGE_PARTS 8

/* Of all counters without a number, one has more than the noise allows this often */
#define FALSE_ALARM 1e-6

/*
 * The least noisy counter, in scales of noise, beside an octave that passes, which then passes,
 * too.  One without a number does in 1 % of searches, and makes bounds twice as wide.  On 10,000
 * log-normal numbers and epsilon .05, 1.4 % are beyond the bounds then; without this rule 7.3 %
 * (test/bench/BOUNDS.md).
 */
#define LEAST_BESIDE 4

/*
 * Counters of octaves: of negative distances down to 0, then of others; the first is below
 * 2^LEAST_EXPONENT.
 */
#define OCTAVES_OF_SIGN (RACE_BOUNDS_OCTAVES / 2)
#define LEAST_EXPONENT (-63)

/* Return the lower end of octave k, which is the upper end of k - 1. */
static double
octave_edge(int k)
{
	if (k == OCTAVES_OF_SIGN)
		return 0;
	return k > OCTAVES_OF_SIGN ? ldexp(1, k - 1 - OCTAVES_OF_SIGN + LEAST_EXPONENT) :
								 -ldexp(1, OCTAVES_OF_SIGN - 1 - k + LEAST_EXPONENT);
}

static int
octave_of(double distance)
{
	int exponent = OCTAVES_OF_SIGN - 1 + LEAST_EXPONENT;
	int i;

	if (fabs(distance) < ldexp(1, exponent))
		(void) frexp(distance, &exponent);
	i = distance == 0 || exponent < LEAST_EXPONENT ? 0 : exponent - LEAST_EXPONENT;
	return distance < 0 ? OCTAVES_OF_SIGN - 1 - i : OCTAVES_OF_SIGN + i;
}

/* Return the largest price of a reading. */
static double
price_of_reading(const RaceAccount *account, int stage)
{
	return race_down(race_account_allowed(account) * stage_part[stage]) / STAGE_PARTS;
}

void
race_bounds_shape(const RaceBounds *bounds, RaceShape *shape)
{
	*shape = (RaceShape){.blocks = 1,
						 .unit = 1,
						 .range = bounds->stage == RACE_BOUNDS_CENTRE ? RACE_BOUNDS_CELLS :
																		RACE_BOUNDS_OCTAVES};
}

bool
race_bounds_start(RaceBounds *bounds, const RaceRequest *request)
{
	RaceExactMemory memory;
	RaceShape shape;
	RaceAccount account;

	*bounds = (RaceBounds){.lower = -INFINITY, .upper = INFINITY};
	race_bounds_shape(bounds, &shape);
	race_account_open(&account, NULL, request, 1);
	for (int i = 0; i < RACE_BOUNDS_STAGES; i++)
		if (race_measure_blocks(&account, race_exact_begin(&memory, &shape), 1,
								price_of_reading(&account, i), NULL) == 0)
			return false;
	return true;
}

int
race_bounds_counter(const RaceBounds *bounds, double x)
{
	double cell;

	if (!isfinite(x))
		return -1;
	if (bounds->stage != RACE_BOUNDS_CENTRE)
		return octave_of(x - bounds->centre);
	cell = floor((x - bounds->start) / bounds->width);
	return cell >= 0 && cell < RACE_BOUNDS_CELLS ? (int) cell : -1;
}

/*
 * Set the widest bounds that are needed, within what is known.  Their cells must differ as doubles.
 */
static void
set_bounds(RaceBounds *bounds, double lower, double upper)
{
	double least = fmax(fabs(lower), fabs(upper)) * 0x1p-30;

	bounds->found = true;
	if (upper - lower < least)
	{
		lower -= least;
		upper += least;
	}
	if (bounds->whole)
	{
		lower = fmax(floor(lower), -0x1p53);
		upper = fmin(ceil(upper), 0x1p53);
	}
	/* noise may have put all of them beyond what is known */
	lower = fmin(fmax(lower, bounds->lower), bounds->upper);
	bounds->upper = fmax(fmin(upper, bounds->upper), lower);
	bounds->lower = lower;
}

static void
conclude_reading(RaceBounds *bounds, const int64_t *counters, uint64_t scale, double threshold)
{
	double deviation = sqrt(race_discrete_laplace_variance(scale));
	double beside = LEAST_BESIDE * (double) scale / RACE_SCALE_DENOMINATOR;
	int first = RACE_BOUNDS_OCTAVES;
	int last = -1;
	double all = 0;
	double beyond = 0;

	for (int k = 0; k < RACE_BOUNDS_OCTAVES; k++)
		if ((double) counters[k] >= threshold)
		{
			first = first < k ? first : k;
			last = k;
		}
	if (last < 0)
		return;
	/* bound: the octaves */
	while (first > 0 && (double) counters[first - 1] >= beside)
		first--;
	/* bound: the octaves */
	while (last < RACE_BOUNDS_OCTAVES - 1 && (double) counters[last + 1] >= beside)
		last++;
	for (int k = 0; k < RACE_BOUNDS_OCTAVES; k++)
	{
		all += (double) counters[k];
		beyond += k < first || k > last ? (double) counters[k] : 0;
	}
	all = fmax(all, 1);
	bounds->beyond = fmin(fmax(beyond / all, 0), 1);
	bounds->beyond_error =
		fmin(2 * deviation * sqrt(RACE_BOUNDS_OCTAVES - (last - first + 1)) / all, 1);
	set_bounds(bounds, bounds->centre + octave_edge(first), bounds->centre + octave_edge(last + 1));
}

bool
race_bounds_read(RaceBounds *bounds, RaceAccount *account, const RaceExact *exact,
				 int64_t *counters)
{
	int n = bounds->stage == RACE_BOUNDS_CENTRE ? RACE_BOUNDS_CELLS : RACE_BOUNDS_OCTAVES;
	uint64_t scale =
		race_measure_blocks(account, exact, 1, price_of_reading(account, bounds->stage), counters);
	double threshold = log(n / (2 * FALSE_ALARM)) * (double) scale / RACE_SCALE_DENOMINATOR;
	int best = 0;

	if (scale == 0)
		return false;
	for (int k = 1; k < n; k++)
		if (counters[k] > counters[best])
			best = k;
	switch (bounds->stage)
	{
		case RACE_BOUNDS_PLACE:
			bounds->start = octave_edge(best);
			bounds->width = (octave_edge(best + 1) - bounds->start) / RACE_BOUNDS_CELLS;
			/* of too few numbers no centre can be told: it is 0 */
			bounds->stage =
				(double) counters[best] >= threshold ? RACE_BOUNDS_CENTRE : RACE_BOUNDS_REACH;
			return true;
		case RACE_BOUNDS_CENTRE:
			bounds->centre = bounds->start + (best + 0.5) * bounds->width;
			bounds->stage = RACE_BOUNDS_REACH;
			return true;
		default:
			conclude_reading(bounds, counters, scale, threshold);
			return false;
	}
}
