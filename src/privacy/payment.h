/*
 * payment.h
 *		How the calls of src/privacy pay: by what a record changes of what they return
 */
#ifndef RACE_PAYMENT_H
#define RACE_PAYMENT_H

#include "privacy/account.h"

/* What a person changes of some numbers together: in L1, and in L2 squared */
typedef struct RaceChange
{
	unsigned __int128 l1;
	unsigned __int128 squared;
} RaceChange;

/*
 * Return the change of counters that a record changes so much.  A person has m records, so it
 * changes them by m and m^2 times as much.  To substitute records costs twice as much of both,
 * since no two records have a negative inner product.  UINT64_MAX is too much to be paid for.
 */
extern RaceChange race_change_of_counters(const RaceAccount *account, uint64_t l1,
										  uint64_t squared);

/* Return the number of records that neighbors differ in, of one and of the other. */
extern uint64_t race_records_apart(const RaceAccount *account);

/* Return the change of one number that a record changes by `l1` at most, to either side. */
extern RaceChange race_change_of_score(const RaceAccount *account, uint64_t l1);

/*
 * Return a price, or what is left if that is less.  What is no number stays so, and buys nothing.
 */
extern double race_price_within(const RaceAccount *account, double price);

/*
 * Pay a price, or what is left if that is less, for numbers with this change: return the least
 * noise that costs no more, a scale or variance.  0, without a payment, if the noise would be too
 * large.
 */
extern uint64_t race_pay(RaceAccount *account, double price, RaceChange change);

/*
 * Pay a price for a selection (select.h) whose qualities a record changes so much: return its scale,
 * or 0, without a payment.  In an account of Gaussian noise a selection of epsilon costs
 * RACE_SELECTION_COST epsilon^2: at least what Gaussian noise costs that tells neighbors apart as
 * well (doc/privacy/search.md).
 */
#define RACE_SELECTION_COST 0.7854 /* pi / 4, rounded up */

extern uint64_t race_pay_selection(RaceAccount *account, double price, RaceChange change);

/* Pay a price for what costs at most `cost` of epsilon, rounded up.  False if less is left. */
extern bool race_pay_epsilon(RaceAccount *account, double price, double cost);

/* Return a number with noise, clamped; and without the digits of weights. */
extern int64_t race_draw(const RaceAccount *account, int64_t value, uint64_t noise);
extern int64_t race_draw_rounded(const RaceAccount *account, int64_t value, uint64_t noise);

/*
 * Set n numbers to exact ones with noise, with looks at interrupts, which may not return: nothing
 * exact is ever written there.
 */
extern void race_draw_all(const RaceAccount *account, const int64_t *exact, size_t n,
						  uint64_t noise, bool rounded, int64_t *noisy);

#endif
