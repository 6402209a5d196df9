/*
 * account.h
 *		The account of one release: every number that leaves exact counters is paid from it
 *
 * Whoever measures says how much of the budget that may cost: a price in epsilon, or in what an
 * account of Gaussian noise allows.  The account finds the least noise that costs no more, and
 * takes off the price.  It never pays more than is left; then there is more noise.  Costs are
 * exact: the noise of a price is an integer that was rounded up, and the sum of prices is rounded
 * up, so that what was drawn costs at most the budget (doc/privacy.md).
 *
 * Fields are for src/privacy alone; others read them by functions.  Plain C99.
 */
#ifndef RACE_ACCOUNT_H
#define RACE_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "privacy/noise.h"
#include "privacy/release_request.h"
#include "privacy/sampler.h"

typedef struct RaceAccount
{
	const struct RaceAccount *self; /* a copy is not this one: it plans, and draws nothing */
	uint64_t number;                /* no other account of this process has it */
	RaceRandom *random;             /* where noise comes from; NULL: nothing is drawn, for a plan */
	RaceMechanism mechanism;        /* discrete Laplace or discrete Gaussian */
	uint32_t records;               /* records of a person, in places of weights */
	bool substitute;                /* whether neighbors replace a person's records */
	uint64_t weight;                /* largest weight of a record, in these places */
	uint32_t weight_bits;           /* binary digits of weights, which noisy numbers lose */
	double allowed;                 /* epsilon, or what Gaussian noise may cost */
	uint64_t added;                 /* added to each variance by the exact account (budget.h) */
	double allotted;                /* the sum of prices, rounded up */
	double cost;                    /* the sum of true costs, rounded up */
	uint64_t share[2];              /* of a noise share: variances of the count and of counters */
	uint64_t share_squared; /* of a noise share: squared L2 change of counters by a record */
	int drawn;              /* variances of share[] drawn so far */
} RaceAccount;

/*
 * Open the account of a request.  What a record changes at most, squared in L2, where it takes all
 * that is allowed, decides between both accounts of Gaussian noise (race_gaussian_account).  What
 * choices of categories took of it comes off first, rounded up: it is never allowed again.  Nothing is allowed to a request beyond the limits of cost.h.
 */
extern void race_account_open(RaceAccount *account, RaceRandom *random, const RaceRequest *request,
							  double squared);

/*
 * Open that of a noise share: it pays for one count of records, then for counters once that a
 * record changes by no more than `squared`, with these variances.
 */
extern void race_account_open_share(RaceAccount *account, RaceRandom *random,
									const RaceRequest *request, uint64_t count_variance,
									uint64_t counter_variance, uint64_t squared);

/* Return what is left to be paid, rounded down; and the budget.  Both have the unit of prices. */
extern double race_account_left(const RaceAccount *account);
extern double race_account_allowed(const RaceAccount *account);

/* Return what was spent, rounded up; it is at most the budget. */
extern double race_account_cost(const RaceAccount *account);

/* Return the variance of noise: of its scale with discrete Laplace noise, else that number. */
extern double race_account_variance(const RaceAccount *account, uint64_t noise);

#endif
