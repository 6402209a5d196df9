/*
 * account.c
 *		The account of one release: every number that leaves exact counters is paid from it
 */
#include <math.h>
#include <string.h>

#include "privacy/budget.h"
#include "privacy/counters.h"
#include "privacy/interrupt.h"
#include "privacy/noisy.h"
#include "privacy/payment.h"

/* Numbers that are drawn between two looks at interrupts */
#define DRAWS_A_STEP 4096

static void
start_account(RaceAccount *account, RaceRandom *random, const RaceRequest *request)
{
	static uint64_t opened = 0;

	memset(account, 0, sizeof(RaceAccount));
	account->self = account;
	account->number = ++opened;
	account->random = random;
	account->mechanism = request->delta > 0 ? RACE_MECHANISM_GAUSSIAN : RACE_MECHANISM_LAPLACE;
	account->records = race_person_records(request);
	account->substitute = request->neighbors == RACE_NEIGHBORS_SUBSTITUTE;
	account->weight = race_weight_unit(request);
	account->weight_bits = request->weight_bits;
}

/* Return whether epsilon and delta are within their limits.  What is no number is not. */
static bool
is_within_limits(const RaceRequest *request)
{
	return request->epsilon > 0 && request->epsilon <= RACE_MAX_EPSILON && request->delta >= 0 &&
		request->delta < 1;
}

/*
 * Take off what choices took of an account: all of it, if they had less noise than it adds to each
 * variance.
 */
static RaceGaussianAccount
less_choices(const RaceRequest *request, RaceGaussianAccount account)
{
	if (request->chosen_variance == 0)
		return account;
	account.allowed = request->chosen_variance <= account.added ?
		0 :
		fmax(race_down(account.allowed -
					   race_rho_of_draw(request->chosen_squared,
										request->chosen_variance - account.added)),
			 0);
	return account;
}

/* Return the variance where a squared change takes all that an account allows. */
static double
least_variance(RaceGaussianAccount account, double squared)
{
	return squared / (2 * account.allowed) + (double) account.added;
}

/*
 * Open the account of Gaussian noise that has less noise, with a squared change that takes all that
 * choices left of it.
 */
static RaceGaussianAccount
open_gaussian(const RaceRequest *request, double squared)
{
	bool exact = race_request_exact(request);
	RaceGaussianAccount account = less_choices(
		request, race_gaussian_account(request->epsilon, request->delta, exact, squared));
	RaceGaussianAccount zcdp = account;

	if (request->chosen_variance > 0)
		zcdp = less_choices(
			request, race_gaussian_account(request->epsilon, request->delta, false, squared));
	return least_variance(account, squared) < least_variance(zcdp, squared) ? account : zcdp;
}

void
race_account_open(RaceAccount *account, RaceRandom *random, const RaceRequest *request,
				  double squared)
{
	RaceGaussianAccount gaussian = {request->epsilon, 0};

	start_account(account, random, request);
	if (!is_within_limits(request))
		return;
	if (request->delta > 0)
		gaussian = open_gaussian(
			request, pow((double) account->records, 2) * (account->substitute ? 2 : 1) * squared);
	account->allowed = gaussian.allowed;
	account->added = gaussian.added;
}

void
race_account_open_share(RaceAccount *account, RaceRandom *random, const RaceRequest *request,
						uint64_t count_variance, uint64_t counter_variance, uint64_t squared)
{
	start_account(account, random, request);
	account->mechanism = RACE_MECHANISM_GAUSSIAN; /* shares add up */
	account->share[0] = count_variance;
	account->share[1] = counter_variance;
	account->share_squared = squared;
}

double
race_account_left(const RaceAccount *account)
{
	return race_down(account->allowed - account->allotted);
}

double
race_account_allowed(const RaceAccount *account)
{
	return account->allowed;
}

double
race_account_cost(const RaceAccount *account)
{
	return account->cost;
}

double
race_account_variance(const RaceAccount *account, uint64_t noise)
{
	return account->mechanism == RACE_MECHANISM_LAPLACE ? race_discrete_laplace_variance(noise) :
														  (double) noise;
}

/*
 * What is changed more, squared, is not paid for: it is beyond what race_variance_for_rho() can
 * divide.
 */
#define MOST_SQUARED ((unsigned __int128) 1 << 109)
#define TOO_MUCH ((RaceChange){~(unsigned __int128) 0, ~(unsigned __int128) 0})

RaceChange
race_change_of_counters(const RaceAccount *account, uint64_t l1, uint64_t squared)
{
	unsigned __int128 m = account->records;
	int sides = account->substitute ? 2 : 1;

	if (m == 0 || l1 == UINT64_MAX || squared == UINT64_MAX ||
		squared > MOST_SQUARED / (m * m * sides))
		return TOO_MUCH;
	return (RaceChange){m * l1 * sides, m * m * squared * sides};
}

uint64_t
race_records_apart(const RaceAccount *account)
{
	return (uint64_t) account->records * (account->substitute ? 2 : 1);
}

RaceChange
race_change_of_score(const RaceAccount *account, uint64_t l1)
{
	unsigned __int128 change =
		(unsigned __int128) account->records * l1 * (account->substitute ? 2 : 1);

	if (l1 == UINT64_MAX || change > UINT64_MAX || change * change > MOST_SQUARED)
		return TOO_MUCH;
	return (RaceChange){change, change * change};
}

/* Take off a price that costs so much. */
static void
spend_price(RaceAccount *account, double price, double cost)
{
	account->allotted = fmin(account->allowed, race_up(account->allotted + price));
	account->cost = fmin(account->allowed, race_cost_sum(account->cost, cost));
}

/*
 * Return the planned noise of a noise share; 0 for a larger change than was planned, or than can be
 * paid for, or after two draws.
 */
static uint64_t
share_noise(RaceAccount *account, RaceChange change)
{
	uint64_t squared = account->drawn == 0 ? 1 : account->share_squared;

	if (account->drawn > 1 || change.squared > MOST_SQUARED ||
		change.squared > race_change_of_counters(account, 1, squared).squared)
		return 0;
	return account->share[account->drawn++];
}

double
race_price_within(const RaceAccount *account, double price)
{
	double left = race_account_left(account);

	return left < price ? left : price;
}

uint64_t
race_pay(RaceAccount *account, double price, RaceChange change)
{
	uint64_t noise;
	double cost;

	if (account->share[0] > 0)
		return share_noise(account, change);
	price = race_price_within(account, price);
	if (!(price > 0))
		return 0;
	if (account->mechanism == RACE_MECHANISM_LAPLACE)
	{
		noise = change.l1 > RACE_MAX_SENSITIVITY ?
			0 :
			race_scale_for_epsilon(price, (uint64_t) change.l1);
		if (noise == 0)
			return 0;
		cost = fmin(price, race_epsilon_of_draw((uint64_t) change.l1, noise));
	}
	else
	{
		noise = change.squared > MOST_SQUARED ? 0 : race_variance_for_rho(price, change.squared);
		if (noise == 0 || noise > RACE_MAX_VARIANCE - account->added)
			return 0;
		noise += account->added;
		cost = race_rho_of_draw(change.squared, noise);
	}
	spend_price(account, price, cost);
	return noise;
}

uint64_t
race_pay_selection(RaceAccount *account, double price, RaceChange change)
{
	uint64_t scale;
	double epsilon;

	if (account->share[0] > 0)
		return 0;
	if (account->mechanism == RACE_MECHANISM_LAPLACE)
		return race_pay(account, price, change);
	price = race_price_within(account, price);
	if (!(price > 0) || change.l1 > RACE_MAX_SENSITIVITY)
		return 0;
	scale = race_scale_for_epsilon(race_down(sqrt(race_down(price / RACE_SELECTION_COST))),
								   (uint64_t) change.l1);
	if (scale == 0)
		return 0;
	epsilon = race_epsilon_of_draw((uint64_t) change.l1, scale);
	spend_price(account, price,
				fmin(price, race_up(RACE_SELECTION_COST * race_up(epsilon * epsilon))));
	return scale;
}

bool
race_pay_epsilon(RaceAccount *account, double price, double cost)
{
	if (account->mechanism != RACE_MECHANISM_LAPLACE || !(cost > 0) || !(cost <= price) ||
		!(price <= race_account_left(account)))
		return false;
	spend_price(account, price, cost);
	return true;
}

int64_t
race_draw(const RaceAccount *account, int64_t value, uint64_t noise)
{
	return race_clamped_sum(race_noisy(account->random, value, account->mechanism, noise), 0);
}

int64_t
race_draw_rounded(const RaceAccount *account, int64_t value, uint64_t noise)
{
	return race_shift_rounded(race_draw(account, value, noise), (int) account->weight_bits);
}

void
race_draw_all(const RaceAccount *account, const int64_t *exact, size_t n, uint64_t noise,
			  bool rounded, int64_t *noisy)
{
	for (size_t i = 0; i < n; i++)
	{
		if (i % DRAWS_A_STEP == 0)
			race_look_for_interrupts();
		noisy[i] = rounded ? race_draw_rounded(account, exact[i], noise) :
							 race_draw(account, exact[i], noise);
	}
}
