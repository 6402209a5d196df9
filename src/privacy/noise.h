/*
 * noise.h
 *		Exact samplers, budgets and what noise costs
 */
#ifndef RACE_NOISE_H
#define RACE_NOISE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Exact samplers and the privacy they buy.
 *
 * Plain C99 without PostgreSQL headers.  Random bytes come from a callback, so
 * that the extension can use the system's generator and tests a tape.
 *
 * No floating point takes part in a draw: a textbook floating-point Laplace
 * leaks through the gaps between doubles (Mironov 2012).
 */

#ifndef __SIZEOF_INT128__
#error "racepriv needs a compiler with 128-bit integers: a 64-bit machine"
#endif

/*
 * A source of random bytes.  `fill` never fails to fill: it throws or exits
 * when it cannot.  Bytes are wiped from the buffer as they are used.
 */
typedef struct RaceRandom
{
	void		(*fill) (void *arg, uint8_t *bytes, size_t size);
	void	   *arg;
	size_t		left;			/* unused bytes, at the end of the buffer */
	uint8_t		buffer[8192];
} RaceRandom;

/* The integers from 0 to n - 1 with equal probability, n >= 1. */
extern uint64_t race_random_below(RaceRandom *random, uint64_t n);

/*
 * The scale of a discrete Laplace distribution, pmf proportional to
 * exp(-|k| / b), as the rational b = numerator / RACE_SCALE_DENOMINATOR.
 */
#define RACE_SCALE_DENOMINATOR	256
#define RACE_MAX_SCALE			((uint64_t) 1 << 56)

/*
 * One exact draw (Canonne, Kamath & Steinke 2020, algorithm 2); scale from 1
 * to RACE_MAX_SCALE.  Draws beyond 64 bits, which a probability of e^-100
 * does not reach, come out as INT64_MAX or -INT64_MAX.
 */
extern int64_t race_discrete_laplace(RaceRandom *random, uint64_t scale);

/* True with probability exp(-u / t), 0 <= u <= t <= 2^127 (algorithm 1) */
extern bool race_bernoulli_exp(RaceRandom *random, unsigned __int128 u,
							   unsigned __int128 t);

/* Its standard deviation squared: 2 e^(-1/b) / (1 - e^(-1/b))^2 */
extern double race_discrete_laplace_variance(uint64_t scale);

/*
 * The count gets 1 / RACE_COUNT_SHARE of epsilon, or of rho.  Of Gaussian noise, the mean over rows leaves as much
 * in a kernel sum as the count has, times 1 / (1 - share) and 1 / share.  A density f is best at a share of
 * f / (1 + f), which is an eighth of a usual density (race_kernel_mass).
 */
#define RACE_COUNT_SHARE		20
#define RACE_COUNT_SHARE_ROWS	8

/*
 * How a pure release spends epsilon.
 * Counters together change by at most counter_sensitivity in L1 between
 * neighbors, the count by at most count_sensitivity; scales are rounded up,
 * so that
 *
 *		epsilon_true = counter_sensitivity / b + count_sensitivity / b_count
 *
 * is at most the epsilon asked for.
 */
typedef struct RaceLaplaceBudget
{
	uint64_t	counter_scale;
	uint64_t	count_scale;
	double		epsilon;		/* the true cost, rounded up, <= asked */
} RaceLaplaceBudget;

#define RACE_MIN_EPSILON		1e-9
#define RACE_MAX_EPSILON		1e15
#define RACE_MAX_SENSITIVITY	((uint64_t) 1 << 50)

/*
 * False when the noise would be too large: a scale above RACE_MAX_SCALE.
 * epsilon lies within the limits above, or is the rest that race_choice_budget() leaves;
 * sensitivities from 1 to the maximum.
 */
extern bool race_laplace_budget(double epsilon, uint64_t counter_sensitivity,
								uint64_t count_sensitivity,
								RaceLaplaceBudget *budget);

/*
 * How a pure release pays for choosing what it keeps: 1 / share of epsilon for numbers that
 * change by at most this sensitivity together, by which it chooses, and the rest for the release
 * itself.
 */
#define RACE_CHOICE_SHARE		50
#define RACE_CELLS_SHARE		20	/* of a grid with several axes, where more is to be gained */

typedef struct RaceChoiceBudget
{
	uint64_t	scale;			/* of the noise of each number */
	double		cost;			/* its epsilon, rounded up */
	double		rest;			/* of epsilon, rounded down */
} RaceChoiceBudget;

/* False when the noise would be too large; the same limits as above */
extern bool race_choice_budget(double epsilon, uint32_t share, uint64_t sensitivity,
							   RaceChoiceBudget *budget);

/*
 * One exact draw of a discrete Gaussian, pmf proportional to
 * exp(-k^2 / (2 variance)) (Canonne, Kamath & Steinke 2020, algorithm 3);
 * variance from 1 to RACE_MAX_VARIANCE.  Its variance in the plain sense is at
 * most that.
 */
#define RACE_MAX_VARIANCE		((uint64_t) 1 << 56)

extern int64_t race_discrete_gaussian(RaceRandom *random, uint64_t variance);

/*
 * What an account of Gaussian noise allows: sums of squared changes over twice the variances, of which `added` is
 * taken off first.  zCDP has added 0, and the allowance is rho.  The exact account has
 * the Gaussian mechanism itself, at variances that are RACE_GAUSSIAN_ROUNDING smaller (doc/privacy.md).
 */
typedef struct RaceGaussianAccount
{
	double		allowed;
	uint64_t	added;
} RaceGaussianAccount;

#define RACE_GAUSSIAN_ROUNDING	4	/* a variance: of rounding real numbers to integers */

/*
 * The account with less noise where a squared change takes all that is allowed: the exact one, if `exact` permits it, or zCDP.
 * Both hold if the changes of one draw follow from draws before it.
 */
extern RaceGaussianAccount race_gaussian_account(double epsilon, double delta, bool exact, double squared);

/*
 * How a release with delta > 0 spends what its account allows: 1 / count_share on the count, the rest on the
 * counters.  A vector of integers that changes by D in L2 is D^2 / (2 variance)
 * zero-concentrated private under this noise (ibid., theorem 14); variances are
 * integers, rounded up, so that
 *
 *		rho_true = counter_squared / (2 variance) + count_squared / (2 count_variance)
 *
 * is at most what is allowed.
 */
typedef struct RaceGaussianBudget
{
	uint64_t	counter_variance;
	uint64_t	count_variance;
	double		rho;			/* the true cost in zCDP, rounded up */
	double		epsilon;		/* what was asked, or that of this rho at delta if it is less */
} RaceGaussianBudget;

/* The least variance at which a squared change in L2 costs at most rho, exactly; 0 if it would be too large */
extern uint64_t race_variance_for_rho(double rho, unsigned __int128 squared);

#define RACE_MIN_DELTA			1e-300

/*
 * False when the noise would be too large: a variance above RACE_MAX_VARIANCE.
 * epsilon lies within the limits above, delta in [RACE_MIN_DELTA, 1); squared
 * sensitivities in L2, each at least 1 and below 2^100; count_share from 2 to 100.
 */
extern bool race_gaussian_budget(double epsilon, double delta, bool exact,
								 unsigned __int128 counter_squared,
								 unsigned __int128 count_squared,
								 uint32_t count_share, RaceGaussianBudget *budget);

/*
 * Add sign times a Wishart matrix to a triangle, the entries on and above the diagonal row by row:
 * columns + 1 degrees of freedom, of the matrix scale I, so that its trace has the mean
 * scale columns (columns + 1).  scale is at most RACE_MAX_WISHART_SCALE; work has
 * columns (columns + 1) numbers.
 */
#define RACE_MAX_WISHART_SCALE		((uint64_t) 1 << 40)
#define RACE_WISHART_COLUMNS		256

extern void race_wishart(RaceRandom *random, uint32_t columns, uint64_t scale, int sign,
						 int64_t *work, int64_t *triangle);

/*
 * The same of given normal numbers: columns rows of columns + 1, in steps of which a standard
 * deviation has 2^RACE_WISHART_BITS, each at most RACE_WISHART_LARGEST
 */
#define RACE_WISHART_BITS		48
#define RACE_WISHART_LARGEST	((INT64_C(64) << 48) + (INT64_C(65) << 20) - 1)

extern void race_wishart_square(const int64_t *normal, uint32_t columns, uint64_t scale, int sign,
								int64_t *triangle);

/*
 * By how much rounding moves each entry of sums of products with the difference of two Wishart
 * matrices, beside the same sums with more records; and what the steps of normal numbers cost
 */
extern uint64_t race_wishart_rounding(uint32_t columns, uint64_t scale);
extern double race_wishart_steps(uint32_t columns);

/*
 * How a pure release of sums of v v' spends epsilon.  Neighbors differ in so many records, those that
 * one has and those that the other has, each with |v|^2 at most `trace`.  Laplace noise on each entry
 * hides what rounding does, of one record as of many.  It costs
 *
 *		epsilon_true = records (trace / (2 scale) + steps + rounding entries / b + 1 / b_count)
 */
typedef struct RaceWishartBudget
{
	uint64_t	scale;
	uint64_t	entry_scale;	/* of the Laplace noise of an entry */
	uint64_t	count_scale;
	double		epsilon;		/* the true cost, rounded up, <= asked */
	double		variance;		/* of the noise of an entry off the diagonal */
} RaceWishartBudget;

/*
 * False if the noise would be too large, or for too many columns; limits as for Laplace noise, also
 * of records times trace
 */
extern bool race_wishart_budget(double epsilon, uint32_t columns, uint64_t records,
								uint64_t trace, RaceWishartBudget *budget);

/*
 * rho of a vector of integers, `cells` long, that changes by `squared` at most in
 * squared L2 norm, under the sum of as many independent draws as there are
 * shares, each of this variance; rounded up.  One draw alone is what a release
 * has (and then cells do not matter); no draw, or no variance, costs INFINITY.
 */
extern double race_rho_of_sum(unsigned __int128 squared, uint64_t cells,
							  uint64_t variance, uint32_t shares);

/*
 * Noise shares: each of several parties adds its draws to its own counters and
 * count, and only the sum is seen.  A party that colludes knows its own draws.  So only
 * the draws of honest parties protect: those who take part, add the noise that they
 * should, and tell nobody.
 */

/* By how much neighbors differ, squared in L2, and in how many places */
typedef struct RaceSensitivity
{
	unsigned __int128 counters; /* all together */
	unsigned __int128 count;
	uint64_t	cells;			/* how many counters there are */
} RaceSensitivity;

/*
 * The number of honest shares in the sum, without those that collude or drop out; may be 0
 */
extern uint32_t race_honest_shares(uint32_t parties, uint32_t colluders,
								   uint32_t dropouts);

/*
 * With a smaller variance, a sum of discrete Gaussians is too different from one
 * (noise.c).
 */
#define RACE_MIN_SHARE_VARIANCE	4

/*
 * The noise of one share, and the cost of the sum of so many honest ones.  The
 * count is served first, with its part of rho; it takes less where the smallest
 * variance is more noise than it needs, and the counters get what is left.
 *
 * False for what is not a number within the limits above, when no share is honest,
 * and when the noise would be too large.
 */
extern bool race_share_budget(double epsilon, double delta,
							  const RaceSensitivity *sensitivity,
							  uint32_t honest, uint32_t count_share,
							  RaceGaussianBudget *budget);

/*
 * rho of a sum with so many honest shares of that noise, rounded up.  More of them
 * never cost more.  With one: what a share tells of its party to whoever sees it.
 */
extern double race_share_rho(const RaceSensitivity *sensitivity,
							 const RaceGaussianBudget *budget, uint32_t honest);

/*
 * Between rho and (epsilon, delta): the best that Renyi privacy of all orders
 * implies (ibid., proposition 7; corollary 13 is its form for rho).  The largest
 * rho that epsilon and delta allow, rounded down; the smallest epsilon that rho
 * implies at delta, rounded up.
 */
extern double race_rho_allowed(double epsilon, double delta);
extern double race_epsilon_of_rho(double rho, double delta);

/*
 * The same of the exact account: the largest sum of squared changes over twice the variances, rounded down, and the
 * smallest epsilon, rounded up
 */
extern double race_gaussian_allowed(double epsilon, double delta);
extern double race_gaussian_epsilon(double allowed, double delta);

/*
 * rho of zero-concentrated privacy that pure epsilon implies: epsilon^2 / 2
 * (Bun & Steinke 2016, proposition 1.4), rounded up.
 */
extern double race_rho_of_pure(double epsilon);

/* The sum of two costs, rounded up (basic composition). */
extern double race_cost_sum(double a, double b);

/*
 * Rounding outward: an error can only mean more noise, or a higher cost.
 */

/*
 * How wrong a formula with logarithms or exponentials may be, relative to the size
 * of its terms: thousands of ulps
 */
#define RACE_MARGIN		1e-12

/*
 * A number that is not above, and one that is not below, the exact value that was
 * rounded to x
 */
static inline double
race_up(double x)
{
	return nextafter(x, INFINITY);
}

static inline double
race_down(double x)
{
	return nextafter(x, -INFINITY);
}

#endif
