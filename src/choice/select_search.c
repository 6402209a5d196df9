/*
 * select_search.c
 *		Which sets of three columns depend on each other beyond their pairs, and are measured
 *
 * The groups of a column are split into two sides, in up to three ways.  A contrast of a set is the
 * sum over records of the product of the sides of all three columns, each less its mean: the third
 * central moment.  It is 0 where one of the columns is independent of both others, and all records, or
 * their negative, where three fair coins have a fixed parity.
 */
#include <math.h>
#include <string.h>

#include "privacy/noise.h"
#include "privacy/sampler.h"
#include "choice/select_search.h"
#include "choice/select_state.h"

/*
 * A look gets as much as makes its noise no larger than LEAST_CONTRAST, but no more than this part of
 * what is left after tables of one column: with many records it costs next to nothing.
 */
#define LOOK_MOST 0.03

/* Nothing is looked for if a set must tell of more than this part of all records to be found. */
#define MOST_CHANCE 0.7

/* The tables of what was found get this part of what is left. */
#define FOUND_PART 0.5

/* Of what other tables do not take, they get this part, too; tables of one column get the rest. */
#define REST_PART 0.5

/*
 * A set is found if its contrast exceeds what pairs can tell by this part of all records, besides
 * what sampling and noise explain: for less, its table would take more from other tables than it
 * gives.
 */
#define LEAST_CONTRAST 0.1

/*
 * The same where a column has several splits.  Pairs of columns with three or four groups that depend
 * on each other strongly can make contrasts that no split explains: above this in 1 of 50 of the
 * strongest (select_search_test).
 */
#define LEAST_CONTRAST_OF_SPLITS 0.3

/* Where nothing depends, a set is found in one of exp(4) looks, 2 %, or fewer. */
#define FALSE_ALARM 4

/* ------------------------------------------------------------------- sides */

/* Set the shares of the groups of a column, by noisy counts. */
static void
set_shares(const int64_t *counts, uint32_t groups, double *share)
{
	double sum = 0;

	for (uint32_t g = 0; g < groups; g++)
		sum += share[g] = fmax((double) counts[g], 0);
	for (uint32_t g = 0; g < groups; g++)
		share[g] = sum > 0 ? share[g] / sum : 1.0 / groups;
}

/* Return the share of a set of groups. */
static double
share_of(const double *share, uint32_t groups, uint32_t set)
{
	double sum = 0;

	for (uint32_t g = 0; g < groups; g++)
		sum += set >> g & 1 ? share[g] : 0;
	return sum;
}

/* Set the sides where a set of groups has the side 1. */
static void
set_sides(const double *share, uint32_t groups, uint32_t set, RaceSides *sides)
{
	sides->upper = share_of(share, groups, set);
	for (uint32_t g = 0; g < groups; g++)
		sides->center[g] = (set >> g & 1 ? 1 : -1) - (2 * sides->upper - 1);
	sides->most = 2 * fmax(sides->upper, 1 - sides->upper);
}

/* Set the splits of a column: those whose sides are nearest to halves.  One group has none. */
static void
set_splits(const double *share, uint32_t groups, RaceSplits *splits)
{
	splits->n = 0;
	for (uint32_t set = 1; set < 1U << (groups - 1); set++)
	{
		double off = fabs(share_of(share, groups, set) - 0.5);
		uint32_t at = splits->n;

		for (; at > 0 && fabs(splits->sides[at - 1].upper - 0.5) > off; at--)
			if (at < RACE_SPLITS)
				splits->sides[at] = splits->sides[at - 1];
		if (at < RACE_SPLITS)
			set_sides(share, groups, set, &splits->sides[at]);
		splits->n += splits->n < RACE_SPLITS;
	}
}

/* Set the splits of all searched columns. */
static void
set_all_splits(const RaceSelect *select, const int64_t *counts, RaceSearch *search)
{
	double share[RACE_SEARCHED_GROUPS];

	/* bound: the columns */
	for (uint32_t i = 0, k = 0; k < select->n_searched; counts += select->finest[i++])
	{
		if (select->searched[k] != i)
			continue;
		k++;
		set_shares(counts, select->finest[i], share);
		set_splits(share, select->finest[i], &search->splits[i]);
		search->splits[i].noise =
			sqrt(race_select_variance(select, select->one_way[i].noise) * select->cells[i]) /
			((double) select->unit * select->total);
	}
}

/* Return the number of contrasts of all sets of three searched columns. */
static double
count_contrasts(const RaceSelect *select)
{
	double sum[4] = {1, 0, 0, 0}; /* of sets of so many columns */

	for (uint32_t k = 0; k < select->n_searched; k++)
		for (int n = 3; n > 0; n--)
			sum[n] += sum[n - 1] *
				fmin((1 << (select->finest[select->searched[k]] - 1)) - 1, RACE_SPLITS);
	return sum[3];
}

/* ------------------------------------------------------------------- looks */

/* Return what the noise of a selection may add to a contrast, in records. */
static double
noise_of_look(const RaceSearch *search, double scale)
{
	return scale * (log(search->sets + 1.0) + FALSE_ALARM);
}

/* Return what sampling and the noise of a selection may add to a contrast, in records. */
static double
chance_of(const RaceSelect *select, const RaceSearch *search)
{
	return sqrt(select->total * 2 * log(2 * search->contrasts + 2)) +
		noise_of_look(search, search->scale);
}

/* Plan a selection for the price on an account.  Return its scale, or 0. */
static uint64_t
plan_look(RaceAccount *account, const RaceSelect *select, double price)
{
	static const RaceCandidate candidates[] = {{.score = 0, .weight = 1}, {.score = RACE_NO_SCORE}};

	return race_select(account, race_select_exact(select), NULL, candidates, 2, price, NULL);
}

/* Return the scale of a selection, in records, or 0. */
static double
scale_of(const RaceSelect *select, uint64_t scale)
{
	return (double) scale / RACE_SCALE_DENOMINATOR / (double) select->unit;
}

/* Return the price of a look. */
static double
price_of_look(const RaceSelect *select, const RaceSearch *search)
{
	RaceAccount trial = select->planned;
	double most = race_select_left(select) * LOOK_MOST;
	double scale = scale_of(select, plan_look(&trial, select, most));
	double ratio = noise_of_look(search, scale) / (LEAST_CONTRAST * select->total);

	return most * fmin(select->pure ? ratio : ratio * ratio, 1);
}

double
race_select_search(RaceSelect *select, const int64_t *counts, RaceSearch *search)
{
	RaceAccount before = select->planned;
	double n = select->n_searched;

	search->price = 0;
	search->sets = n < 3 ? 0 : (uint32_t) (n * (n - 1) * (n - 2) / 6);
	search->contrasts = count_contrasts(select);
	if (search->sets == 0 || select->fixed || select->parts > 1)
		return 0;
	search->price = price_of_look(select, search);
	search->scale = scale_of(select, plan_look(&select->planned, select, search->price));
	if (search->scale > 0 &&
		chance_of(select, search) + LEAST_CONTRAST * select->total < MOST_CHANCE * select->total)
	{
		set_all_splits(select, counts, search);
		return search->price;
	}
	select->planned = before;
	return search->price = 0;
}

bool
race_select_search_on(RaceSelect *select, const RaceSearch *search)
{
	return select->n_found < RACE_FOUND && plan_look(&select->planned, select, search->price) > 0;
}

/* --------------------------------------------------------------- contrasts */

/*
 * Return the mean product of the centers of three columns, whose sides all follow from one number:
 * the side 1 is where it is small, of those that are turned where it is large.
 */
static double
product_of_one(const RaceSides *const *sides, unsigned turned)
{
	double cut[5] = {0, 0, 0, 0, 1};
	double sum = 0;

	for (int k = 0; k < 3; k++)
	{
		double x = turned >> k & 1 ? 1 - sides[k]->upper : sides[k]->upper;
		int at = k + 1;

		for (; at > 1 && cut[at - 1] > x; at--)
			cut[at] = cut[at - 1];
		cut[at] = x;
	}
	for (int i = 0; i < 4; i++)
	{
		double middle = (cut[i] + cut[i + 1]) / 2;
		double product = cut[i + 1] - cut[i];

		for (int k = 0; k < 3; k++)
		{
			bool one = turned >> k & 1 ? middle > 1 - sides[k]->upper : middle < sides[k]->upper;

			product *= (one ? 1 : -1) - (2 * sides[k]->upper - 1);
		}
		sum += product;
	}
	return sum;
}

/*
 * Set what pairs can make of a contrast: between both numbers lies what it is if all three columns
 * follow from one number, which is the strongest dependence of pairs.
 */
static void
set_explained(const RaceSides *const *sides, double *low, double *high)
{
	*low = *high = 0;
	for (unsigned turned = 0; turned < 4; turned++)
	{
		double product = product_of_one(sides, turned);

		*low = fmin(*low, product);
		*high = fmax(*high, product);
	}
}

/* Set the weights of the cells of a set, and return the largest product of centers. */
static double
set_weights(const RaceSelect *select, const RaceSides *const *sides, const RaceTable *set,
			int32_t *weight)
{
	double most = fmax(sides[0]->most * sides[1]->most * sides[2]->most, 1e-9);

	for (uint32_t i = 0; i < select->finest[set->first]; i++)
		for (uint32_t j = 0; j < select->finest[set->second]; j++)
			for (uint32_t k = 0; k < select->finest[set->third]; k++)
				*weight++ = (int32_t) floor(sides[0]->center[i] * sides[1]->center[j] *
												sides[2]->center[k] / most * RACE_CONTRAST +
											0.5);
	return most;
}

uint32_t
race_select_contrasts(const RaceSearch *search, const RaceTable *set)
{
	return search->splits[set->first].n * search->splits[set->second].n *
		search->splits[set->third].n;
}

void
race_select_contrast(const RaceSelect *select, const RaceSearch *search, const RaceTable *set,
					 uint32_t number, int32_t *weight, RaceContrast *contrast)
{
	const RaceSplits *splits[] = {&search->splits[set->first], &search->splits[set->second],
								  &search->splits[set->third]};
	const RaceSides *sides[3];
	double units = select->total * (double) select->unit;
	double most;
	double low;
	double high;

	for (int k = 0; k < 3; k++)
	{
		sides[k] = &splits[k]->sides[number % splits[k]->n];
		number /= splits[k]->n;
	}
	most = set_weights(select, sides, set, weight);
	set_explained(sides, &low, &high);
	*contrast =
		(RaceContrast){.weight = weight,
					   .expected = (int64_t) fmin((high + low) / 2 / most * units, 0x1p61),
					   .explained = (int64_t) fmin((high - low) / 2 / most * units, 0x1p61)};
}

/*
 * Return what the table of a set adds, in L1, to the noise of those of what was found, which share
 * what is held back.
 */
static double
added_noise(const RaceSelect *select, const RaceTable *set)
{
	double cells = (double) select->finest[set->first] * select->finest[set->second] *
		select->finest[set->third];
	double power = select->pure ? 2 : 1.5;

	return cells * race_select_expected_noise(select, race_select_left(select) * FOUND_PART) *
		(pow(select->n_found + 1.0, power) - pow(select->n_found, power));
}

RaceCandidate
race_select_candidate(const RaceSelect *select, const RaceSearch *search, const RaceTable *set,
					  uint32_t score)
{
	/* a pair that depends on each other, times how far the mean side of the third column is off */
	double off = 2 *
		fmax(fmax(search->splits[set->first].noise, search->splits[set->second].noise),
			 search->splits[set->third].noise);
	double least =
		race_select_contrasts(search, set) > 1 ? LEAST_CONTRAST_OF_SPLITS : LEAST_CONTRAST;
	double penalty = chance_of(select, search) +
		fmax(fmax(least, off) * select->total, added_noise(select, set));

	return (RaceCandidate){.score = score,
						   .weight = 1,
						   .penalty = (int64_t) fmin(penalty * (double) select->unit, 0x1p61)};
}

/* ------------------------------------------------------------------ tables */

void
race_select_find(RaceSelect *select, const RaceTable *set)
{
	select->found[select->n_found++] = (RaceSelectTable){.first = set->first,
														 .second = set->second,
														 .third = set->third,
														 .weight = 1};
}

bool
race_select_is_found(const RaceSelect *select, const RaceTable *set)
{
	uint32_t k = 0;

	/* bound: RACE_FOUND */
	while (k < select->n_found &&
		   (select->found[k].first != set->first || select->found[k].second != set->second ||
			select->found[k].third != set->third))
		k++;
	return k < select->n_found;
}

void
race_select_hold(RaceSelect *select)
{
	select->held = select->n_found > 0 ? race_select_left(select) * FOUND_PART : 0;
}

void
race_select_connect_found(RaceSelect *select)
{
	uint32_t n = 0;

	if (select->n_found == 0)
		return;
	race_select_connect_measured(select);
	for (uint32_t k = 0; k < select->n_found; k++)
		if (race_select_connect(select, &select->found[k]))
			select->found[n++] = select->found[k];
	select->n_found = n;
}

void
race_select_take_found(RaceSelect *select)
{
	double amount = select->held + race_select_left(select) * REST_PART;
	uint32_t to = select->measured;

	select->held = 0;
	for (uint32_t k = 0; k < select->n_found && to < RACE_SELECT_TABLES; k++)
		if (!race_select_is_chosen(select, &select->found[k]))
			select->table[to++] = select->found[k];
	select->n_found = 0;
	race_select_take_tables(select, to, fmin(amount, race_select_left(select)));
}
