/*
 * noise.c
 *		Exact samplers of noise; from a privacy cost to the scale of noise, and back
 */
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "privacy/noise.h"
#include "privacy/noise_state.h"
#include "choice/summary.h"

/*
 * Exact discrete Laplace noise from random bytes, in integers only.
 *
 * After Canonne, Kamath & Steinke, "The Discrete Gaussian for Differential
 * Privacy" (2020), algorithms 1 and 2.
 */

typedef unsigned __int128 uint128;

/* The next n <= 8 random bytes as an integer */
static inline uint64_t
next_bytes(RaceRandom *random, size_t n)
{
	uint8_t    *bytes;
	uint64_t	value = 0;

	if (random->left < n)
	{
		random->fill(random->arg, random->buffer, sizeof(random->buffer));
		random->left = sizeof(random->buffer);
	}
	bytes = random->buffer + sizeof(random->buffer) - random->left;
	for (size_t i = 0; i < n; i++)
	{
		value = value << 8 | bytes[i];
		bytes[i] = 0;
	}
	random->left -= n;
	return value;
}

uint64_t
race_random_below(RaceRandom *random, uint64_t n)
{
	int			bits = n > 1 ? 64 - __builtin_clzll(n - 1) : 0;
	uint64_t	value;

	/*
	 * keep only the bits that are needed, and draw again if the number is too large
	 */
	/* bound: more than half of all draws are below n */
	do
	{
		value = next_bytes(random, (bits + 7) / 8);
		if (bits < 64)
			value &= ((uint64_t) 1 << bits) - 1;
	} while (value >= n);
	return value;
}

/* True with probability u / n, u <= n <= 2^127 */
static bool
bernoulli(RaceRandom *random, uint128 u, uint128 n)
{
	uint64_t	highest;
	uint128		value;

	if (u == n)
		return true;
	if (n <= UINT64_MAX)
		return race_random_below(random, (uint64_t) n) < u;
	highest = (uint64_t) ((n - 1) >> 64);
	/* bound: more than half of all draws are below n */
	do
	{
		value = (uint128) race_random_below(random, highest + 1) << 64;
		value |= next_bytes(random, 8);
	} while (value >= n);
	return value < u;
}

bool
race_bernoulli_exp(RaceRandom *random, uint128 u, uint128 t)
{
	uint64_t	k = 0;

	/*
	 * Go on while Bernoulli(u / (t k)) is true. It is drawn as Bernoulli(1 / k) and
	 * Bernoulli(u / t), so that t k cannot overflow.
	 */
	/* bound: it goes on k times with a probability of 1 / k! */
	do
		k++;
	while ((k == 1 || race_random_below(random, k) == 0) &&
		   bernoulli(random, u, t));

	return k % 2 == 1;
}

int64_t
race_discrete_laplace(RaceRandom *random, uint64_t scale)
{
	/* bound: more than a quarter of all draws are kept */
	for (;;)
	{
		uint64_t	u = race_random_below(random, scale);
		uint64_t	v = 0;
		uint128		magnitude;
		bool		negative;

		if (!race_bernoulli_exp(random, u, scale))
			continue;
		/* bound: it goes on with a probability of 1 / e */
		while (race_bernoulli_exp(random, 1, 1))
			v++;

		magnitude = ((uint128) scale * v + u) / RACE_SCALE_DENOMINATOR;
		negative = race_random_below(random, 2) == 1;
		if (negative && magnitude == 0)
			continue;			/* zero must not count twice */
		if (magnitude > INT64_MAX)
			magnitude = INT64_MAX;
		return negative ? -(int64_t) magnitude : (int64_t) magnitude;
	}
}

double
race_discrete_laplace_variance(uint64_t scale)
{
	double		inverse_b = (double) RACE_SCALE_DENOMINATOR / (double) scale;
	double		one_minus_q = -expm1(-inverse_b);

	return 2 * exp(-inverse_b) / (one_minus_q * one_minus_q);
}

/*
 * Exact discrete Gaussian noise from random bytes, in integers only.
 *
 * After Canonne, Kamath & Steinke, "The Discrete Gaussian for Differential
 * Privacy" (2020), algorithm 3: a discrete Laplace draw, kept with the
 * probability that makes it Gaussian.
 */

/* The largest t with t^2 <= n, for n <= RACE_MAX_VARIANCE */
static uint64_t
integer_sqrt(uint64_t n)
{
	uint64_t	root = (uint64_t) sqrt((double) n);

	/* bound: the error of sqrt(), some units; n is at most 2^56 */
	while (root * root > n)
		root--;
	/* bound: the error of sqrt(), some units; n is at most 2^56 */
	while ((root + 1) * (root + 1) <= n)
		root++;
	return root;
}

/* True with probability exp(-u / t), for any u and t >= 1 */
static bool
bernoulli_exp_any(RaceRandom *random, uint128 u, uint128 t)
{
	/* one factor exp(-1) at a time */
	for (; u > t; u -= t)
		if (!race_bernoulli_exp(random, 1, 1))
			return false;
	return race_bernoulli_exp(random, u, t);
}

int64_t
race_discrete_gaussian(RaceRandom *random, uint64_t variance)
{
	uint64_t	t = integer_sqrt(variance) + 1;

	/* bound: more than a fifth of all draws are kept */
	for (;;)
	{
		int64_t		y = race_discrete_laplace(random, t * RACE_SCALE_DENOMINATOR);
		uint64_t	magnitude = y < 0 ? -(uint64_t) y : (uint64_t) y;
		int64_t		distance;

		/* a draw that would be kept with a probability below e^-1900 is dropped */
		if (magnitude > 64 * t)
			continue;

		/* exp(-(|y| - variance / t)^2 / (2 variance)), both times t^2: < 2^126 */
		distance = (int64_t) (magnitude * t) - (int64_t) variance;
		if (bernoulli_exp_any(random, (uint128) ((__int128) distance * distance),
							  (uint128) 2 * variance * t * t))
			return y;
	}
}

/*
 * Noise for sums of v v': the difference of two Wishart matrices, by exact integers.
 *
 * X is a matrix of p rows and p + 1 columns of independent normal numbers of variance c.  Then the
 * density of W = X X' is proportional to exp(-trace(W) / (2 c)) on all matrices without a negative
 * eigenvalue (Wishart 1928; with p + 1 degrees of freedom the power of the determinant is 0).  So
 * W + v v' is exp(-|v|^2 / (2 c)) times as likely as W, for every W.  doc/privacy.md concludes what
 * the difference of two of them costs, and what it costs that X is drawn in steps and W is rounded.
 */

typedef __int128 int128;

/* The sampler of discrete Gaussians lacks the last bits. */
#define STEP_BITS		20
#define COARSE_VARIANCE	(UINT64_C(1) << 2 * (RACE_WISHART_BITS - STEP_BITS))

/*
 * A normal number towards 0: of |x| the integer below it, with probability proportional to
 * exp(-x^2 / 2^97).  All bits but the last ones are those of a discrete Gaussian.
 */
static int64_t
draw_normal(RaceRandom *random)
{
	/* bound: more than a fifth of all draws are kept */
	for (;;)
	{
		int64_t		high = race_discrete_gaussian(random, COARSE_VARIANCE);
		uint64_t	low;

		if (high < 0)
			continue;			/* the sign is drawn apart */
		high <<= STEP_BITS;
		low = race_random_below(random, UINT64_C(1) << STEP_BITS);
		/* (high + low)^2 - high^2, below 2^76 */
		if (!race_bernoulli_exp(random, (uint128) low * (2 * (uint64_t) high + low),
								(uint128) 1 << (2 * RACE_WISHART_BITS + 1)))
			continue;
		high += low;
		return race_random_below(random, 2) == 1 ? -high : high;
	}
}

void
race_wishart_square(const int64_t *normal, uint32_t columns, uint64_t scale, int sign,
					int64_t *triangle)
{
	size_t		n = (size_t) columns + 1;

	for (size_t i = 0; i < columns; i++)
		for (size_t j = i; j < columns; j++)
		{
			int128		sum = 0;

			for (size_t k = 0; k < n; k++)
				sum += (int128) normal[i * n + k] * normal[j * n + k];
			/* below 2^117: after the shift and the scale below 2^109, and 2^61 are left */
			sum = (sum >> RACE_WISHART_BITS) * (int128) scale >> RACE_WISHART_BITS;
			*triangle++ += sign * (int64_t) sum;
		}
}

void
race_wishart(RaceRandom *random, uint32_t columns, uint64_t scale, int sign, int64_t *work,
			 int64_t *triangle)
{
	for (size_t k = 0; k < (size_t) columns * (columns + 1); k++)
		work[k] = draw_normal(random);
	race_wishart_square(work, columns, scale, sign, triangle);
}

uint64_t
race_wishart_rounding(uint32_t columns, uint64_t scale)
{
	/* no number of X is above 64.1 standard deviations, and each is at most 1 nearer to 0 */
	uint128		truncated = (uint128) scale * (columns + 1) * 131;

	return 2 * (3 + (uint64_t) (truncated >> RACE_WISHART_BITS)) + 1;
}

double
race_wishart_steps(uint32_t columns)
{
	return (double) columns * (columns + 1) * 66 / ((uint64_t) 1 << RACE_WISHART_BITS);
}


int64_t
race_noisy(RaceRandom *random, int64_t value, RaceMechanism mechanism, uint64_t noise)
{
	int64_t		draw = mechanism == RACE_MECHANISM_GAUSSIAN ?
		race_discrete_gaussian(random, noise) :
		race_discrete_laplace(random, noise);

	if (__builtin_add_overflow(value, draw, &value))
		return draw > 0 ? INT64_MAX : -INT64_MAX;
	return value;
}

/*
 * Checks of the noise that a value from outside claims to have.
 */

/* Is x a finite number that is not negative?  -0 is: fmax(0, -0) depends on their order. */
static bool
is_cost(double x)
{
	return isfinite(x) && !signbit(x);
}

/* A sum of several mechanisms has one with a delta, or is one of pure ones. */
static bool
is_pure(const RaceNoise *noise)
{
	return noise->mechanism == RACE_MECHANISM_LAPLACE ||
		noise->mechanism == RACE_MECHANISM_WISHART ||
		(noise->mechanism == RACE_MECHANISM_SEVERAL && noise->delta == 0);
}

/* Return the variance of each of n shares whose noise sums to `sum`; 0 if there is none. */
static uint64_t
variance_of_share(double sum, uint32_t n)
{
	double		variance = sum / n;

	if (!(n > 0 && variance >= 1 && variance <= RACE_MAX_VARIANCE) ||
		variance != floor(variance))
		return 0;
	return (uint64_t) variance;
}

/* Can a sketch have these shares?  They are Gaussian, of integer variance. */
static bool
are_shares(const RaceNoise *noise)
{
	return noise->parties >= 1 && noise->parties <= RACE_MAX_PARTIES &&
		(uint64_t) noise->colluders + noise->dropouts < noise->parties &&
		noise->releases <= noise->parties &&
		noise->mechanism == RACE_MECHANISM_GAUSSIAN &&
		race_is_share_variance(variance_of_share(noise->counter_variance, noise->releases),
							   noise->parties) &&
		race_is_share_variance(variance_of_share(noise->count_variance, noise->releases),
							   noise->parties);
}

const char *
race_noise_problem(const RaceNoise *noise)
{
	RaceNoise	none = {0};

	if (noise->half > RACE_UPPER_HALF)
		return "Unknown half.";
	none.half = noise->half;
	none.max_contributions = noise->max_contributions;
	if (noise->status == RACE_STATUS_EXACT)
		return memcmp(noise, &none, sizeof(none)) == 0 ? NULL :
			"An exact sketch claims to carry noise.";
	if (noise->status == RACE_STATUS_SHARE ?
		!are_shares(noise) : noise->parties != 0 || noise->colluders != 0 ||
		noise->dropouts != 0)
		return "Numbers of parties are out of range.";
	if (noise->status == RACE_STATUS_SHARE && noise->half != RACE_WHOLE)
		return "A noise share is a half.";
	if (noise->status != RACE_STATUS_SHARE && noise->status != RACE_STATUS_PRIVATE)
		return "Unknown status.";
	if (race_mechanism_name(noise->mechanism) == NULL)
		return "Unknown mechanism.";
	if (noise->neighbors != RACE_NEIGHBORS_ADD_REMOVE &&
		noise->neighbors != RACE_NEIGHBORS_SUBSTITUTE)
		return "Unknown kind of neighbors.";
	if (noise->max_contributions < 1 || noise->max_contributions > INT32_MAX ||
		noise->releases < 1 || noise->releases > INT32_MAX)
		return "A count of contributions or releases is out of range.";
	/* epsilon may be 0 where a large delta pays for all of the noise */
	if (!is_cost(noise->epsilon) || !is_cost(noise->delta) ||
		(noise->epsilon == 0 && noise->delta == 0) ||
		(noise->delta == 0) != is_pure(noise) ||
		!is_cost(noise->rho) ||
		!is_cost(noise->counter_variance) || !is_cost(noise->count_variance))
		return "A privacy cost or variance is out of range.";
	return NULL;
}

/*
 * From epsilon to the scale of noise, and back to the true cost.
 *
 * What decides about noise is exact integer arithmetic; what is only reported
 * is rounded up.
 */

/*
 * ceil(dividend / (divisor * x)), exactly; 0 when that is above `limit`, which is
 * below 2^63, or x is not positive and below 2^53.  dividend is below 2^110.
 */
static uint64_t
divide_up(unsigned __int128 dividend, uint32_t divisor, double x, uint64_t limit)
{
	int			exponent;
	uint64_t	mantissa;
	unsigned __int128 denominator;
	unsigned __int128 quotient;
	unsigned __int128 rest;

	if (!(x > 0 && x < 0x1p53))
		return 0;
	mantissa = (uint64_t) ldexp(frexp(x, &exponent), 53);
	denominator = (unsigned __int128) mantissa * divisor;
	quotient = dividend / denominator;
	rest = dividend % denominator;
	/* x is mantissa / 2^(53 - exponent): long division, a binary digit at a time */
	for (int shift = 53 - exponent; shift > 0; shift--)
	{
		rest <<= 1;
		quotient <<= 1;
		if (rest >= denominator)
		{
			rest -= denominator;
			quotient++;
		}
		if (quotient > limit)
			return 0;
	}
	if (rest > 0)
		quotient++;
	return quotient > limit ? 0 : (uint64_t) quotient;
}

/* The scale that spends multiplier / divisor of epsilon on a sensitivity */
static uint64_t
scale_for(double epsilon, uint64_t sensitivity,
		  uint32_t multiplier, uint32_t divisor)
{
	return divide_up((unsigned __int128) sensitivity * multiplier *
					 RACE_SCALE_DENOMINATOR, divisor, epsilon, RACE_MAX_SCALE);
}

/* The variance that spends multiplier / divisor of rho on it */
static uint64_t
variance_for(double rho, unsigned __int128 squared,
			 uint32_t multiplier, uint32_t divisor)
{
	return divide_up(squared * multiplier, 2 * divisor, rho, RACE_MAX_VARIANCE);
}

uint64_t
race_variance_for_rho(double rho, unsigned __int128 squared)
{
	return variance_for(rho, squared, 1, 1);
}

/* sensitivity / b, rounded up */
static double
cost_of(uint64_t sensitivity, uint64_t scale)
{
	return race_up(race_up((double) sensitivity * RACE_SCALE_DENOMINATOR) /
				   (double) scale);
}

bool
race_laplace_budget(double epsilon, uint64_t counter_sensitivity,
					uint64_t count_sensitivity, RaceLaplaceBudget *budget)
{
	budget->counter_scale = scale_for(epsilon, counter_sensitivity,
									  RACE_COUNT_SHARE, RACE_COUNT_SHARE - 1);
	budget->count_scale = scale_for(epsilon, count_sensitivity, RACE_COUNT_SHARE, 1);
	if (budget->counter_scale == 0 || budget->count_scale == 0)
		return false;

	/*
	 * the exact cost is at most epsilon, so epsilon is an upper bound of the true
	 * cost, too
	 */
	budget->epsilon = fmin(epsilon,
						   race_cost_sum(cost_of(counter_sensitivity,
												 budget->counter_scale),
										 cost_of(count_sensitivity,
												 budget->count_scale)));
	return true;
}

/* Of 320 parts the count gets 16, noise that hides rounding 5, and the steps of normal numbers 1. */
#define WISHART_PARTS		320
#define WISHART_TRACE_PARTS	298
#define WISHART_ENTRY_SHARE	64

/* The cost of all is `records` times that of one record, in each part, so that labels can share it. */
bool
race_wishart_budget(double epsilon, uint32_t columns, uint64_t records, uint64_t trace,
					RaceWishartBudget *budget)
{
	uint64_t	entries = (uint64_t) columns * (columns + 1) / 2;
	double		steps = race_up((double) records * race_wishart_steps(columns));
	uint64_t	rounding;

	if (columns > RACE_WISHART_COLUMNS || steps > epsilon / WISHART_PARTS * (1 - RACE_MARGIN))
		return false;
	trace *= records;
	budget->scale = divide_up((unsigned __int128) trace * WISHART_PARTS, 2 * WISHART_TRACE_PARTS,
							  epsilon, RACE_MAX_WISHART_SCALE);
	if (budget->scale == 0)
		return false;
	rounding = race_wishart_rounding(columns, budget->scale) * entries * records;
	budget->entry_scale = scale_for(epsilon, rounding, WISHART_ENTRY_SHARE, 1);
	budget->count_scale = scale_for(epsilon, records, RACE_COUNT_SHARE, 1);
	if (budget->entry_scale == 0 || budget->count_scale == 0)
		return false;
	budget->epsilon = race_cost_sum(race_cost_sum(race_up((double) trace / (2 * (double) budget->scale)),
												  steps),
									race_cost_sum(cost_of(rounding, budget->entry_scale),
												  cost_of(records, budget->count_scale)));
	budget->epsilon = fmin(epsilon, budget->epsilon);
	budget->variance = 2 * (columns + 1.0) * (double) budget->scale * (double) budget->scale +
		race_discrete_laplace_variance(budget->entry_scale);
	return true;
}

bool
race_choice_budget(double epsilon, uint32_t share, uint64_t sensitivity,
				   RaceChoiceBudget *budget)
{
	budget->scale = scale_for(epsilon, sensitivity, share, 1);
	budget->rest = race_down(race_down(epsilon * (share - 1)) / share);
	if (budget->scale == 0)
		return false;
	budget->cost = fmin(race_up(epsilon / share),
						cost_of(sensitivity, budget->scale));
	return true;
}

bool
race_gaussian_budget(double epsilon, double delta, bool exact,
					 unsigned __int128 counter_squared,
					 unsigned __int128 count_squared,
					 uint32_t count_share, RaceGaussianBudget *budget)
{
	RaceGaussianAccount account = race_gaussian_account(epsilon, delta, exact,
														count_share * fmin((double) counter_squared / (count_share - 1),
																		   (double) count_squared));

	if (account.allowed <= 0)
		return false;
	budget->counter_variance = variance_for(account.allowed, counter_squared, count_share,
											count_share - 1);
	budget->count_variance = variance_for(account.allowed, count_squared, count_share, 1);
	if (budget->counter_variance == 0 || budget->counter_variance > RACE_MAX_VARIANCE - account.added ||
		budget->count_variance == 0 || budget->count_variance > RACE_MAX_VARIANCE - account.added)
		return false;
	budget->counter_variance += account.added;
	budget->count_variance += account.added;

	/*
	 * the exact costs are at most what is allowed and what was asked, so these are
	 * upper bounds of the true cost, too
	 */
	budget->rho = fmin(account.allowed,
					   race_cost_sum(race_rho_of_sum(counter_squared, 1,
													 budget->counter_variance, 1),
									 race_rho_of_sum(count_squared, 1,
													 budget->count_variance, 1)));
	budget->epsilon = fmin(epsilon, race_epsilon_of_rho(budget->rho, delta));
	return true;
}

/*
 * Zero-concentrated privacy: rho, and what it means as (epsilon, delta).
 *
 * rho-zCDP is Renyi privacy (alpha, alpha rho) for every alpha > 1, and each of
 * them implies (epsilon, delta) with
 *
 * log delta = (alpha - 1)(alpha rho - epsilon) + alpha log(1 - 1/alpha)
 * - log(alpha - 1)
 *
 * (Canonne, Kamath & Steinke 2020, proposition 7).  Any alpha gives a valid
 * bound, so the search for the best one need not be exact; only the value at the
 * alpha that it finds must be, and is rounded outward by far more than its
 * rounding error.
 */

/* alpha log(1 - 1/alpha) - log(alpha - 1), for alpha = 1 + a, rounded up */
static double
order_term(double a)
{
	/* log(1 - 1/alpha) = -log(1 + 1/a) */
	double		first = (1 + a) * log1p(1 / a);
	double		second = log(a);

	return -first - second + RACE_MARGIN * (fabs(first) + fabs(second));
}

/* epsilon at one order, rounded up */
static double
epsilon_at(double a, double rho, double log_delta)
{
	double		first = (1 + a) * rho;
	double		second = (order_term(a) - log_delta) / a;

	return first + second + RACE_MARGIN * (first + fabs(second));
}

#define LN2		0.69314718055994531

/* minus the rho that means this epsilon and log delta at one order, rounded up */
static double
minus_rho_at(double a, double epsilon, double log_delta)
{
	double		first = log_delta - order_term(a) + a * epsilon * (1 - RACE_MARGIN);

	return -first / (a * (1 + a) * (1 + RACE_MARGIN));
}

typedef double (*Bound) (double a, double x, double y);

/*
 * The least value that a bound takes over a = alpha - 1 in (0, infinity), by
 * golden sections in log a: each bound falls and then rises
 */
static double
least(Bound bound, double x, double y)
{
	const double golden = 0.6180339887498949;
	double		low = -40 * LN2;
	double		high = 1000 * LN2;
	double		best = INFINITY;

	for (int i = 0; i < 120; i++)
	{
		double		left = high - golden * (high - low);
		double		right = low + golden * (high - low);
		double		at_left = bound(exp(left), x, y);
		double		at_right = bound(exp(right), x, y);

		best = fmin(best, fmin(at_left, at_right));
		if (!(at_left > at_right))
			high = right;
		else
			low = left;
	}
	return best;
}

double
race_epsilon_of_rho(double rho, double delta)
{
	/* the logarithm of delta, rounded down */
	double		log_delta = log(delta) * (1 + RACE_MARGIN);

	if (rho == 0)
		return 0;
	return fmax(least(epsilon_at, rho, log_delta), 0);
}

double
race_rho_allowed(double epsilon, double delta)
{
	/* the logarithm of delta, rounded down */
	double		log_delta = log(delta) * (1 + RACE_MARGIN);

	return -least(minus_rho_at, epsilon, log_delta);
}

/*
 * The exact account.
 *
 * The Gaussian mechanism with change D and deviation s is (epsilon, delta) private for mu = D / s and
 *
 *		delta = P(Z > epsilon / mu - mu / 2) - e^epsilon P(Z > epsilon / mu + mu / 2),
 *
 * Z normal, and for no less (Balle & Wang 2018, theorem 8).  Draws of integers, whose probabilities are within a factor e^1e-12 of
 * those of real numbers that were rounded at random, have this delta at epsilon + 1e-12, times e^1e-12.
 */
#define ROUNDING_COST		1e-12	/* of fewer than 2^70 integers */
#define TAIL_MARGIN			1e-11	/* of erfc(x), x < 27, relative: x has errors of some ulps, times 2 x^2 */
#define MOST_EXACT_EPSILON	500		/* its exponential is a double */

/* delta at twice this rho = mu^2, rounded up */
static double
gaussian_delta(double rho, double epsilon)
{
	double		mu = sqrt(2 * rho);
	double		at = (epsilon - ROUNDING_COST) / mu;
	double		first = erfc((at - mu / 2) * sqrt(0.5)) / 2;
	double		second = erfc((at + mu / 2) * sqrt(0.5)) / 2;

	/* numbers below have fewer digits; 0 rounds up */
	second = second < DBL_MIN ? 0 : exp(epsilon - ROUNDING_COST) * second;
	return (first * (1 + TAIL_MARGIN) - second * (1 - TAIL_MARGIN)) * (1 + TAIL_MARGIN);
}

double
race_gaussian_allowed(double epsilon, double delta)
{
	double		low = race_rho_allowed(epsilon, delta);
	double		high = 1000 * low;

	/* keep what suffices, or zCDP: then errors of the search do not matter */
	for (int i = 0; i < 100 && epsilon <= MOST_EXACT_EPSILON; i++)
	{
		double		middle = low + (high - low) / 2;

		if (gaussian_delta(middle, epsilon) <= delta)
			low = middle;
		else
			high = middle;
	}
	return low;
}

double
race_gaussian_epsilon(double allowed, double delta)
{
	double		low = 0;
	double		high = race_epsilon_of_rho(allowed, delta) + ROUNDING_COST;

	/* zCDP may state more than the exact account can */
	if (high > MOST_EXACT_EPSILON && gaussian_delta(allowed, MOST_EXACT_EPSILON) <= delta)
		high = MOST_EXACT_EPSILON;
	for (int i = 0; i < 100 && high <= MOST_EXACT_EPSILON; i++)
	{
		double		middle = low + (high - low) / 2;

		if (gaussian_delta(allowed, middle) <= delta)
			high = middle;
		else
			low = middle;
	}
	return high;
}

RaceGaussianAccount
race_gaussian_account(double epsilon, double delta, bool exact, double squared)
{
	RaceGaussianAccount zcdp = {race_rho_allowed(epsilon, delta), 0};
	RaceGaussianAccount account = {exact ? race_gaussian_allowed(epsilon, delta) : 0, RACE_GAUSSIAN_ROUNDING};

	return exact && squared / (2 * account.allowed) + RACE_GAUSSIAN_ROUNDING < squared / (2 * zcdp.allowed) ?
		account : zcdp;
}

double
race_rho_of_pure(double epsilon)
{
	return race_up(race_up(epsilon * epsilon) / 2);
}

/*
 * What several releases cost together.
 */

double
race_cost_sum(double a, double b)
{
	if (a == 0 || b == 0)
		return a + b;
	return race_up(a + b);
}

bool
race_noise_same_unit(const RaceNoise *a, const RaceNoise *b)
{
	return a->max_contributions == b->max_contributions &&
		a->neighbors == b->neighbors;
}

bool
race_noise_may_be_disjoint(const RaceNoise *a, const RaceNoise *b)
{
	return a->neighbors != RACE_NEIGHBORS_SUBSTITUTE ||
		(a->mechanism == b->mechanism && a->mechanism != RACE_MECHANISM_SEVERAL);
}

/* The larger cost of both, for data that are disjoint */
static void
keep_larger_cost(RaceNoise *noise, const RaceNoise *other)
{
	noise->epsilon = fmax(noise->epsilon, other->epsilon);
	noise->delta = fmax(noise->delta, other->delta);
	noise->rho = fmax(noise->rho, other->rho);
	/*
	 * half of rho is not half of epsilon: take the epsilon that the larger rho
	 * implies
	 */
	if (noise->neighbors == RACE_NEIGHBORS_SUBSTITUTE &&
		noise->mechanism == RACE_MECHANISM_GAUSSIAN && noise->delta < 1)
		noise->epsilon = fmax(noise->epsilon,
							  race_epsilon_of_rho(noise->rho, noise->delta));
}

bool
race_noise_compose(RaceNoise *noise, const RaceNoise *other, bool disjoint)
{
	if (disjoint)
		keep_larger_cost(noise, other);
	else
	{
		noise->epsilon = race_cost_sum(noise->epsilon, other->epsilon);
		noise->delta = race_cost_sum(noise->delta, other->delta);
		noise->rho = race_cost_sum(noise->rho, other->rho);
	}
	if (noise->mechanism != other->mechanism)
		noise->mechanism = RACE_MECHANISM_SEVERAL;
	noise->counter_variance += other->counter_variance;
	noise->count_variance += other->count_variance;
	noise->releases += other->releases; /* both within int32 */

	/*
	 * repeated s + s reaches infinity; a sketch that cannot be stored must not be
	 * made
	 */
	return noise->releases <= INT32_MAX &&
		isfinite(noise->epsilon) && isfinite(noise->delta) && isfinite(noise->rho) &&
		isfinite(noise->counter_variance) && isfinite(noise->count_variance);
}

void
race_total_add(RaceTotal *total, double epsilon, double delta, double rho)
{
	total->releases++;
	total->epsilon = race_cost_sum(total->epsilon, epsilon);
	total->delta = race_cost_sum(total->delta, delta);
	total->rho = race_cost_sum(total->rho, rho);
}

double
race_total_basic(const RaceTotal *total, double delta)
{
	return total->delta <= delta ? total->epsilon : INFINITY;
}

double
race_total_zcdp(const RaceTotal *total, double delta)
{
	return delta >= RACE_MIN_DELTA && delta < 1 ?
		race_epsilon_of_rho(total->rho, delta) : INFINITY;
}

/*
 * Noise shares: every party adds a part of the noise, and the sum protects.
 *
 * A sum of discrete Gaussians is almost a discrete Gaussian.  The product of the
 * probabilities of y and x - y under variances s and k s is the right Gaussian in x
 * times a Gaussian in y of variance s k / (k + 1), whose center is rarely an
 * integer.  Summed over all y, the last factor depends on x only through its Fourier
 * coefficients q^(j^2), q = exp(-2 pi^2 s k / (k + 1)), so its largest value is at most
 * e^(5q) times its smallest.  Adding one share after the other, log (probability in
 * the sum of n / probability in the discrete Gaussian of variance n s) stays within
 * tau / 2 of 0, where
 *
 * tau = 10 sum of exp(-2 pi^2 s k / (k + 1)), k = 1, ..., n - 1
 *
 * (Kairouz, Liu & Steinke 2021, theorem 1 and what leads to it).  For a vector of
 * d integers that changes by D in L2, with r = D^2 / (n s), two bounds follow:
 *
 * - alpha r / 2 + tau d in Renyi divergence of order alpha: the loss differs by at
 * most tau in each of d places from the Gaussian one, and sums are as
 * subgaussian as their terms.  alpha > 1, so this is zero-concentrated for
 * rho = r / 2 + tau d.
 * - rho = (sqrt(r) + tau sqrt(d))^2 / 2, because square roots of rho obey the
 * triangle inequality, and pure privacy tau / 2 in d places has rho = tau^2 d / 8.
 *
 * Theorem 1 is often quoted with tau d / 4 in place of tau d.  That follows from
 * the divergence where alpha >= 4, not for all alpha, and is not needed: at
 * variance 4 tau is 7e-17.
 */

#define TWO_PI_SQUARED	19.7392088021787172

/* This many terms of tau are added up. None of the following terms is larger. */
#define TERMS	64

/* tau, rounded up; at least two shares */
static double
deviation(uint64_t variance, uint32_t shares)
{
	double		rate = TWO_PI_SQUARED * (1 - RACE_MARGIN) * (double) variance;
	double		sum = 0;
	uint32_t	k;

	for (k = 1; k < shares && k < TERMS; k++)
		sum += exp(-rate * k / (k + 1));
	sum += (shares - k) * exp(-rate * k / (k + 1));
	return race_up(10 * sum * (1 + RACE_MARGIN));
}

double
race_rho_of_sum(unsigned __int128 squared, uint64_t cells, uint64_t variance,
				uint32_t shares)
{
	unsigned __int128 total = (unsigned __int128) variance * shares;
	double		ratio;
	double		tau;
	double		linear;
	double		quadratic;

	if (total == 0)
		return INFINITY;
	ratio = race_up(race_up((double) squared) / race_down((double) total));
	if (shares == 1)
		return ratio / 2;

	tau = deviation(variance, shares);
	linear = tau * (double) cells;
	quadratic = tau * sqrt(ratio * (double) cells) + tau * linear / 2;
	return race_cost_sum(ratio / 2, fmin(linear, quadratic) * (1 + RACE_MARGIN));
}

uint32_t
race_honest_shares(uint32_t parties, uint32_t colluders, uint32_t dropouts)
{
	uint64_t	lost = (uint64_t) colluders + dropouts;

	return lost < parties ? parties - (uint32_t) lost : 0;
}

/* The smallest variance of a share that spends at most rho; 0 if there is none */
static uint64_t
share_variance(double rho, unsigned __int128 squared, uint64_t cells,
			   uint32_t shares)
{
	uint64_t	low = RACE_MIN_SHARE_VARIANCE;
	uint64_t	high = RACE_MAX_VARIANCE;

	/* more variance costs less; keep the last variance that was seen to suffice */
	if (!(race_rho_of_sum(squared, cells, high, shares) <= rho))
		return 0;
	/* bound: half of the interval is left each time */
	while (low < high)
	{
		uint64_t	middle = low + (high - low) / 2;

		if (race_rho_of_sum(squared, cells, middle, shares) <= rho)
			high = middle;
		else
			low = middle + 1;
	}
	return high;
}

static bool
within_limits(double epsilon, double delta, const RaceSensitivity *sensitivity)
{
	unsigned __int128 limit = (unsigned __int128) 1 << 100;

	return epsilon >= RACE_MIN_EPSILON && epsilon <= RACE_MAX_EPSILON &&
		delta >= RACE_MIN_DELTA && delta < 1 &&
		sensitivity->counters >= 1 && sensitivity->counters < limit &&
		sensitivity->count >= 1 && sensitivity->count < limit &&
		sensitivity->cells >= 1;
}

bool
race_share_budget(double epsilon, double delta,
				  const RaceSensitivity *sensitivity, uint32_t honest,
				  uint32_t count_share, RaceGaussianBudget *budget)
{
	double		allowed;
	double		left;

	if (!within_limits(epsilon, delta, sensitivity))
		return false;
	allowed = race_rho_allowed(epsilon, delta);

	/* less by a margin, so that rounding cannot make the sum exceed it */
	budget->count_variance = share_variance(allowed / count_share,
											sensitivity->count, 1, honest);
	left = allowed * (1 - RACE_MARGIN) -
		race_rho_of_sum(sensitivity->count, 1, budget->count_variance, honest);
	budget->counter_variance = share_variance(left, sensitivity->counters,
											  sensitivity->cells, honest);
	if (budget->count_variance == 0 || budget->counter_variance == 0)
		return false;

	budget->rho = race_share_rho(sensitivity, budget, honest);
	budget->epsilon = fmin(epsilon, race_epsilon_of_rho(budget->rho, delta));
	return true;
}

double
race_share_rho(const RaceSensitivity *sensitivity,
			   const RaceGaussianBudget *budget, uint32_t honest)
{
	return race_cost_sum(race_rho_of_sum(sensitivity->counters, sensitivity->cells,
										 budget->counter_variance, honest),
						 race_rho_of_sum(sensitivity->count, 1,
										 budget->count_variance, honest));
}

/*
 * Names of mechanisms, and the sensitivity of a sketch.
 */

const char *
race_neighbors_name(int neighbors)
{
	return neighbors == RACE_NEIGHBORS_ADD_REMOVE ? "add_remove" :
		neighbors == RACE_NEIGHBORS_SUBSTITUTE ? "substitute" : NULL;
}

const char *
race_mechanism_name(int mechanism)
{
	return mechanism == RACE_MECHANISM_LAPLACE ? "discrete Laplace" :
		mechanism == RACE_MECHANISM_GAUSSIAN ? "discrete Gaussian" :
		mechanism == RACE_MECHANISM_SEVERAL ? "several" :
		mechanism == RACE_MECHANISM_WISHART ? "Wishart" : NULL;
}

RaceSensitivity
race_sensitivity(uint32_t max_contributions, RaceNeighbors neighbors,
				 uint64_t squared, uint64_t counters)
{
	RaceSensitivity result;

	/* at most 2^62 * 2 * 2^37 */
	result.count = (unsigned __int128) max_contributions * max_contributions *
		(neighbors == RACE_NEIGHBORS_SUBSTITUTE ? 2 : 1);
	result.counters = result.count * squared;
	result.cells = counters;
	return result;
}

/*
 * Sums of noise shares: what they cost, and when they are private.
 *
 * Of n parties, t may collude, and d more may drop out.  Each adds so much noise
 * that the noise of n - t - d parties is enough.  A sum may be asked when it has
 * n - d shares.  Up to t of them may come from colluders, who can subtract their own
 * noise; the noise of n - t - d others remains.  So the cost is that of all shares
 * but t.
 */

/* A float8 holds all integers up to this one */
#define MAX_EXACT_SUM	((uint64_t) 1 << 53)

bool
race_is_share_variance(uint64_t variance, uint32_t parties)
{
	return variance >= RACE_MIN_SHARE_VARIANCE && variance <= MAX_EXACT_SUM / parties;
}

bool
race_shares_match(const RaceNoise *a, const RaceNoise *b)
{
	return a->parties == b->parties && a->colluders == b->colluders &&
		a->dropouts == b->dropouts && a->delta == b->delta &&
		variance_of_share(a->counter_variance, a->releases) ==
		variance_of_share(b->counter_variance, b->releases) &&
		variance_of_share(a->count_variance, a->releases) ==
		variance_of_share(b->count_variance, b->releases);
}

bool
race_merge_share_ids(const RaceNoise *a, const uint64_t *a_ids,
					 const RaceNoise *b, const uint64_t *b_ids, uint64_t *ids)
{
	uint32_t	i = 0;
	uint32_t	j = 0;

	/* bound: the ids of both, one each time */
	while (i < a->releases || j < b->releases)
	{
		if (i < a->releases && j < b->releases && a_ids[i] == b_ids[j])
			return false;
		if (j == b->releases || (i < a->releases && a_ids[i] < b_ids[j]))
			*ids++ = a_ids[i++];
		else
			*ids++ = b_ids[j++];
	}
	return true;
}

void
race_add_shares(RaceNoise *noise, const RaceNoise *other, uint64_t squared,
				uint64_t counters)
{
	RaceSensitivity sensitivity = race_sensitivity(noise->max_contributions,
												   noise->neighbors, squared, counters);
	RaceGaussianBudget share;

	share.counter_variance = variance_of_share(noise->counter_variance, noise->releases);
	share.count_variance = variance_of_share(noise->count_variance, noise->releases);
	noise->counter_variance += other->counter_variance;
	noise->count_variance += other->count_variance;
	noise->releases += other->releases;
	if (race_has_enough_noise(noise))
	{
		noise->rho = race_share_rho(&sensitivity, &share,
									race_honest_shares(noise->releases,
													   noise->colluders, 0));
		noise->epsilon = fmin(fmin(noise->epsilon, other->epsilon),
							  race_epsilon_of_rho(noise->rho, noise->delta));
	}
	else
	{
		/*
		 * shares of one sum claim the same cost; if a forged share claims another,
		 * take the larger
		 */
		noise->rho = fmax(noise->rho, other->rho);
		noise->epsilon = fmax(noise->epsilon, other->epsilon);
	}
}
