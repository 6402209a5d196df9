/*
 * budget.h
 *		From a cost to the least noise that costs no more, and back
 */
#ifndef RACE_BUDGET_H
#define RACE_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "privacy/cost.h"
#include "privacy/noise.h"
#include "privacy/sampler.h"
#include "privacy/wishart.h"

/*
 * The count gets 1 / RACE_COUNT_SHARE of epsilon, or of rho.  Of Gaussian noise, the mean over rows
 * leaves as much in a kernel sum as the count has, times 1 / (1 - share) and 1 / share.  A density
 * f is best at a share of f / (1 + f), which is an eighth of a usual density (race_kernel_mass).
 */
#define RACE_COUNT_SHARE 20
#define RACE_COUNT_SHARE_ROWS 8

#define RACE_MAX_SENSITIVITY ((uint64_t) 1 << 50)

/*
 * How a pure release pays for choosing what it keeps: 1 / share of epsilon for numbers that
 * change by at most this sensitivity together, by which it chooses, and the rest for the release
 * itself.
 */
#define RACE_CHOICE_SHARE 50
#define RACE_CELLS_SHARE 20 /* the same of a grid with several axes, where more is to be gained */

typedef struct RaceChoiceBudget
{
	uint64_t scale; /* scale of the noise of each number */
	double cost;    /* epsilon of the choice, rounded up */
	double rest;    /* epsilon that is left, rounded down */
} RaceChoiceBudget;

/*
 * Set the budget of a choice.  Return false when the noise would be too large.  epsilon is within
 * the limits of cost.h, the sensitivity from 1 to the maximum.
 */
extern bool race_choice_budget(double epsilon, uint32_t share, uint64_t sensitivity,
							   RaceChoiceBudget *budget);

/*
 * What an account of Gaussian noise allows: sums of squared changes over twice the variances, of
 * which `added` is taken off first.  zCDP has added 0, and the allowance is rho.  The exact account
 * has the Gaussian mechanism itself, at variances that are RACE_GAUSSIAN_ROUNDING smaller
 * (doc/privacy.md).
 */
typedef struct RaceGaussianAccount
{
	double allowed;
	uint64_t added;
} RaceGaussianAccount;

#define RACE_GAUSSIAN_ROUNDING 4 /* a variance: of rounding real numbers to integers */

/*
 * Return the account with less noise where a squared change takes all that is allowed: the exact
 * one, if `exact` permits it, or zCDP.  Both hold if the changes of one draw follow from draws
 * before it.
 */
extern RaceGaussianAccount race_gaussian_account(double epsilon, double delta, bool exact,
												 double squared);

/*
 * The noise of a count and of counters with delta > 0.  A vector of integers that changes by D in
 * L2 is D^2 / (2 variance) zero-concentrated private under this noise (Canonne, Kamath & Steinke
 * 2020, theorem 14); variances are integers, rounded up, so that
 *
 *		rho_true = counter_squared / (2 variance) + count_squared / (2 count_variance)
 *
 * is at most what is allowed.
 */
typedef struct RaceGaussianBudget
{
	uint64_t counter_variance;
	uint64_t count_variance;
	double rho;     /* the true cost in zCDP, rounded up */
	double epsilon; /* what was asked, or that of this rho at delta if it is less */
} RaceGaussianBudget;

/*
 * Return the least variance at which a squared change in L2 costs at most rho, exactly; 0 if it
 * would be too large.
 */
extern uint64_t race_variance_for_rho(double rho, unsigned __int128 squared);

/*
 * How a pure release of sums of v v' spends epsilon.  Neighbors differ in so many records, those
 * that one has and those that the other has, each with |v|^2 at most `trace`.  Laplace noise on
 * each entry hides what rounding does, of one record as of many.  It costs
 *
 *		epsilon_true = records (trace / (2 scale) + steps + rounding entries / b)
 */
typedef struct RaceWishartBudget
{
	uint64_t scale;
	uint64_t entry_scale; /* scale of the Laplace noise of an entry */
	double epsilon;       /* the true cost, rounded up, <= asked */
	double variance;      /* variance of the noise of an entry off the diagonal */
} RaceWishartBudget;

/*
 * Set the budget of Wishart noise.  Return false if the noise would be too large, or for too many
 * columns.  Limits are those of Laplace noise.
 */
extern bool race_wishart_budget(double epsilon, uint32_t columns, uint64_t records, uint64_t trace,
								RaceWishartBudget *budget);

/* By how much neighbors differ, squared in L2, and in how many places */
typedef struct RaceSensitivity
{
	unsigned __int128 counters; /* change of all counters together */
	unsigned __int128 count;
	uint64_t cells; /* number of counters */
} RaceSensitivity;

/*
 * Return what the records of one person change, squared in L2, in sketches of so many counters.  A
 * record changes these by `squared` at most: the number of rows.  Substituting costs twice as much
 * as adding or removing: a record may leave one sketch for another.  (doc/privacy.md has the
 * proof.)
 */
extern RaceSensitivity race_sensitivity(uint32_t max_contributions, RaceNeighbors neighbors,
										uint64_t squared, uint64_t counters);

#endif
