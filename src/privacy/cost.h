/*
 * cost.h
 *		Costs: epsilon, delta and rho, what one implies of another, and their sums
 */
#ifndef RACE_COST_H
#define RACE_COST_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Limits of what is asked.  Functions of costs may be given anything else; they return no noise
 * for it, but end.
 */
#define RACE_MIN_EPSILON 1e-9
#define RACE_MAX_EPSILON 1e15
#define RACE_MIN_DELTA 1e-300

/* Return the sum of two costs, rounded up (basic composition). */
extern double race_cost_sum(double a, double b);

/*
 * Rounding outward: an error can only mean more noise, or a higher cost.
 */

/*
 * How wrong a formula with logarithms or exponentials may be, relative to the size
 * of its terms: thousands of ulps
 */
#define RACE_MARGIN 1e-12

/* Return a number that is not below, and one that is not above, the exact value behind x. */
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

/*
 * Return rho of a vector of integers that changes by `squared` at most in squared L2 norm, under
 * one draw of discrete Gaussian noise of this variance (Canonne, Kamath & Steinke 2020, theorem
 * 14), rounded up.
 */
extern double race_rho_of_draw(unsigned __int128 squared, unsigned __int128 variance);

/*
 * Convert between rho and (epsilon, delta), by the best that Renyi privacy of all orders implies
 * (Canonne, Kamath & Steinke 2020, proposition 7; corollary 13 is its form for rho).  Return the
 * largest rho that epsilon and delta allow, rounded down; and the smallest epsilon that rho implies
 * at delta, rounded up.
 */
extern double race_rho_allowed(double epsilon, double delta);
extern double race_epsilon_of_rho(double rho, double delta);

/*
 * Return the same of the exact account: the largest sum of squared changes over twice the
 * variances, rounded down, and the smallest epsilon, rounded up.
 */
extern double race_gaussian_allowed(double epsilon, double delta);
extern double race_gaussian_epsilon(double allowed, double delta);

/*
 * Return rho of zero-concentrated privacy that pure epsilon implies: epsilon^2 / 2 (Bun & Steinke
 * 2016, proposition 1.4), rounded up.
 */
extern double race_rho_of_pure(double epsilon);

/* The cost of several releases about the same people: sums, rounded up */
typedef struct RaceTotal
{
	int64_t releases;
	double epsilon;
	double delta;
	double rho;
} RaceTotal;

/* Add the cost of one release to a total, which begins with zeros. */
extern void race_total_add(RaceTotal *total, double epsilon, double delta, double rho);

/*
 * Return the epsilon of all releases together at a delta, by two accounts, which are both upper
 * bounds.  INFINITY where an account has no bound.  Basic composition: epsilons and deltas add up
 * (Dwork & Roth 2014, theorem 3.16).  Zero-concentrated privacy: rhos add up (Bun & Steinke 2016,
 * lemma 2.3), and the sum implies an epsilon at a delta (cost.c).
 */
extern double race_total_basic(const RaceTotal *total, double delta);
extern double race_total_zcdp(const RaceTotal *total, double delta);

#endif
