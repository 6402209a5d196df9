/*
 * contingency_select.c
 *		Which tables of two columns a private release measures, and how it divides its budget
 */
#include <math.h>
#include <string.h>

#include "contingency_select.h"
#include "lsh.h"
#include "noise.h"

double		race_select_knob[16] = {
	0.02,						/* 0: share of count */
	1.5,						/* 1: one-way share */
	0.1,						/* 2: scores, each round of the rest */
	2,							/* 3: rounds */
	0.5,						/* 4: share of round of the rest */
	1,							/* 5: margin, score deviations */
	6,							/* 6: merge threshold, pair sigmas */
	1,							/* 7: round 0 a forest */
	1,							/* 8: times marginal noise */
	1000000,					/* 9: clique cells */
	0.25, 0.8,
};
#define KNOB race_select_knob

/* ---------------------------------------------------------------- the budget */

/*
 * Take an amount of the budget for `copies` numbers or tables, each of which changes by at most `change` (squared, for
 * Gaussian noise); returns the least noise of a cost of at most the amount, or 0.
 */
static uint64_t
take(RaceSelect *select, double amount, uint64_t copies, unsigned __int128 change)
{
	uint64_t	noise;
	double		cost;

	amount = fmin(amount, race_down(select->budget - select->allotted));
	if (!(amount >= RACE_MIN_EPSILON * RACE_MIN_EPSILON))
		return 0;
	if (select->pure)
	{
		RaceChoiceBudget budget;

		if (amount < RACE_MIN_EPSILON / 1000 || !race_choice_budget(amount, 1, copies * (uint64_t) change, &budget))
			return 0;
		noise = budget.scale;
		cost = budget.cost;
	}
	else
	{
		noise = race_variance_for_rho(amount, copies * change);
		if (noise == 0)
			return 0;
		cost = race_rho_of_sum(copies * change, 1, noise, 1);
	}
	select->allotted = fmin(select->budget, race_up(select->allotted + amount));
	select->cost = fmin(select->budget, race_cost_sum(select->cost, cost));
	return noise;
}

/* By how much neighbors change a table, in L1 or squared in L2 */
static unsigned __int128
table_change(const RaceSelect *select)
{
	unsigned __int128 m = select->max_contributions;

	return (select->pure ? m : m * m) * (select->substitute ? 2 : 1);
}

/* A score is a distance in L1: it changes by as much as the table does in L1. */
static unsigned __int128
score_change(const RaceSelect *select)
{
	unsigned __int128 m = (unsigned __int128) select->max_contributions * (select->substitute ? 2 : 1);

	return select->pure ? m : m * m;
}

double
race_select_variance(const RaceSelect *select, uint64_t noise)
{
	return select->pure ? race_discrete_laplace_variance(noise) : (double) noise;
}

/* The expected absolute value of noise that costs this amount, of a table */
static double
deviation(const RaceSelect *select, double amount)
{
	double		change = (double) table_change(select);

	return select->pure ? change / amount : sqrt(change / (2 * amount)) * 0.7978845608;
}

/*
 * The sum of cells times noise is least if a table gets a share of the budget in proportion to cells^(2/3), with
 * Gaussian noise, or the root of cells.
 */
static double
share_weight(const RaceSelect *select, double cells)
{
	return select->pure ? sqrt(cells) : cbrt(cells * cells);
}

/* That least sum, from the sum of weights */
static double
total_noise(const RaceSelect *select, double weights, double amount)
{
	return deviation(select, amount) * (select->pure ? weights * weights : pow(weights, 1.5));
}

uint64_t
race_select_count(RaceSelect *select)
{
	select->cost = select->allotted = 0;
	return take(select, select->budget * KNOB[0], 1, select->substitute ? 4 * table_change(select) : table_change(select));
}

bool
race_select_one_ways(RaceSelect *select, int64_t count)
{
	double		left = select->budget - select->allotted;
	double		share;
	double		sum = 0;

	select->total = fmax((double) count, 1);
	for (uint32_t i = 0; i < select->columns; i++)
		sum += share_weight(select, select->cells[i]);
	share = KNOB[1] * pow(total_noise(select, sum, left) / (2 * select->columns * select->total), KNOB[10]);
	share = select->columns == 1 ? 1 : fmin(fmax(share, 0.05), KNOB[11]);
	for (uint32_t i = 0; i < select->columns; i++)
	{
		double		part = share_weight(select, select->cells[i]) / sum * (1 - 1e-12);

		select->one_way[i] = take(select, left * share * part, 1, table_change(select));
		if (select->one_way[i] == 0)
			return false;
	}
	return true;
}

/* -------------------------------------------------------------------- groups */

/* Join cells until they have enough records: neighbors, or else all that are rare */
static uint32_t
join(const double *counts, uint32_t n, bool ordered, double least, uint32_t *group_of)
{
	uint32_t	groups = 0;
	double		sum = 0;

	if (!ordered)
	{
		uint32_t	rare = 0;

		for (uint32_t i = 0; i < n; i++)
		{
			rare += counts[i] < least;
			if (counts[i] >= least)
				group_of[i] = groups++;
		}
		for (uint32_t i = 0; i < n; i++)
			if (counts[i] < least)
				group_of[i] = groups;
		return groups + (rare > 0);
	}
	for (uint32_t i = 0; i < n; i++)
	{
		group_of[i] = groups;
		sum += fmax(counts[i],0);
		if (sum >= least || i + 1 == n)
		{
			groups++;
			sum = 0;
		}
	}
	/* the last one may be too small */
	return groups;
}

void
race_select_groups(RaceSelect *select, const int64_t *one_ways)
{
	double		left = select->budget - select->allotted;
	double		sigma = deviation(select, left * 0.8 / select->columns);

	for (uint32_t i = 0; i < select->columns; i++)
	{
		double		counts[4096] = {0};

		for (uint32_t c = 0; c < select->cells[i]; c++)
			counts[(uint64_t) c * select->finest[i] / select->cells[i]] += (double) one_ways[c];
		one_ways += select->cells[i];
		select->groups[i] = join(counts, select->finest[i], select->ordered[i], KNOB[6] * sigma, select->group_of[i]);
	}
	select->rounds = (uint32_t) KNOB[3];
}

/* -------------------------------------------------------------------- rounds */

static double
pair_cells(const RaceSelect *select, uint32_t i, uint32_t j)
{
	return (double) select->groups[i] * select->groups[j];
}

uint64_t
race_select_scores(RaceSelect *select)
{
	uint64_t	candidates = (uint64_t) select->columns * (select->columns - 1) / 2;
	double		left = select->budget - select->allotted;
	uint64_t	noise;

	if (select->round >= select->rounds || candidates == 0)
		return 0;
	noise = take(select, left * KNOB[2], candidates, score_change(select));
	select->score_deviation = sqrt(race_select_variance(select, noise));
	return noise;
}

/* Would the graph stay a forest, and its junction tree small? */
static bool
fits(RaceSelect *select, uint32_t i, uint32_t j, bool forest)
{
	bool		good;

	if (forest)
	{
		RaceColumnSet reached = RACE_COLUMN(i);
		RaceColumnSet before;

		do
		{
			before = reached;
			for (uint32_t k = 0; k < select->columns; k++)
				if (reached & RACE_COLUMN(k))
					reached |= select->neighbors[k];
		} while (reached != before);
		if (reached & RACE_COLUMN(j))
			return false;
	}
	select->neighbors[i] |= RACE_COLUMN(j);
	select->neighbors[j] |= RACE_COLUMN(i);
	good = race_junction_tree(select->columns, select->groups, select->neighbors, NULL) <= KNOB[9];
	select->neighbors[i] &= ~RACE_COLUMN(j);
	select->neighbors[j] &= ~RACE_COLUMN(i);
	return good;
}

/* The expected distance, in L1, between a column's noisy table and the exact one */
static double
deviation_of(const RaceSelect *select, uint32_t column)
{
	return 0.8 * sqrt(race_select_variance(select, select->one_way[column])) * select->cells[column];
}

void
race_select_choose(RaceSelect *select, const int64_t *scores)
{
	uint32_t	from = select->measured;
	bool		last = ++select->round >= select->rounds;
	double		left = select->budget - select->allotted;
	double		amount = last ? left : left * KNOB[4];
	double		weights = 0;
	bool		refused[RACE_GRAPH_COLUMNS * (RACE_GRAPH_COLUMNS - 1) / 2] = {false};

	while (select->measured < RACE_SELECT_PAIRS)
	{
		double		best = 0;
		uint32_t	best_k = 0;
		RaceSelectPair pair = {0, 0, 0};
		uint32_t	k = 0;

		for (uint32_t i = 0; i < select->columns; i++)
			for (uint32_t j = i + 1; j < select->columns; j++, k++)
			{
				double		weight = share_weight(select, pair_cells(select, i, j));
				double		gain;

				if (refused[k] || select->neighbors[i] & RACE_COLUMN(j))
					continue;
				gain = (double) scores[k] -
					KNOB[12] * (deviation_of(select, i) + deviation_of(select, j)) - KNOB[5] * select->score_deviation -
					KNOB[8] * (total_noise(select, weights + weight, amount) - total_noise(select, weights, amount));
				if (gain > best)
				{
					best = gain;
					best_k = k;
					pair.first = i;
					pair.second = j;
				}
			}
		if (best == 0)
			break;
		if (!fits(select, pair.first, pair.second, KNOB[7] != 0 && select->round == 1 && !last))
		{
			refused[best_k] = true;
			continue;
		}
		select->neighbors[pair.first] |= RACE_COLUMN(pair.second);
		select->neighbors[pair.second] |= RACE_COLUMN(pair.first);
		select->pairs[select->measured++] = pair;
		weights += share_weight(select, pair_cells(select, pair.first, pair.second));
	}
	for (uint32_t k = from; k < select->measured; k++)
	{
		RaceSelectPair *pair = &select->pairs[k];
		double		part = share_weight(select, pair_cells(select, pair->first, pair->second)) / weights;

		pair->noise = take(select, amount * part * (1 - 1e-12), 1, table_change(select));
	}
}

bool
race_select_rest(RaceSelect *select, uint64_t *noise)
{
	double		left = select->budget - select->allotted;
	double		sum = 0;

	if (left < 0.01 * select->budget)
		return false;
	for (uint32_t i = 0; i < select->columns; i++)
		sum += share_weight(select, select->cells[i]);
	for (uint32_t i = 0; i < select->columns; i++)
	{
		noise[i] = take(select, left * share_weight(select, select->cells[i]) / sum * (1 - 1e-12), 1,
						table_change(select));
		if (noise[i] == 0)
			return false;
	}
	return true;
}
