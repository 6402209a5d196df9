/*
 * select_signs.c
 *		Which tables a private release measures after signs of columns, and their resolution
 *
 * What is chosen is to make the mean total variation distance between tables of two columns and
 * those of the model small.
 */
#include <math.h>

#include "privacy/interrupt.h"
#include "privacy/noise.h"
#include "privacy/score.h"
#include "privacy/signs.h"
#include "choice/select_signs.h"
#include "choice/select_state.h"

/*
 * Tables of one column and signs get the fourth root of the error that the former would have with
 * half of the budget, within limits: .2 to .6 on the tables of `test/bench/run cliffs`.
 */
#define FIRST_LEAST 0.2
#define FIRST_MOST 0.6
/* A pure release draws tables of one column twice: signs get at most this part. */
#define SIGNS_MOST 0.5

/* What looks at all pairs get of the budget, and the deviation, as a distance, that is too much */
#define LOOK_PART 0.04
#define LOOK_MOST 0.1
#define LOOK_LEAST_GROUPS 4
#define LOOK_MOST_GROUPS 16

/*
 * A table has so many cells that the records of one are this multiple of its noise: then noise, and
 * what is uneven within cells, cost about the same.  In a prototype half and twice of it were worse
 * or alike; no script here compares them.
 */
#define NOISE_OF_CELL 2.5
/* Tables in fewer groups of a column tell no more than signs. */
#define LEAST_GROUPS 3.5
/* cells of all tables together: no more than a fit has particles */
#define MOST_CELLS 32768
/* Values that have fewer records than this multiple of noise are joined. */
#define RARE_DEVIATIONS 7

/* ---------------------------------------------------------------- the budget */

void
race_select_list_signs(RaceSelect *select)
{
	select->n_signs = 0;
	select->signs_price = 0;
	if (!select->with_signs || select->fixed || select->columns < 2 || race_select_is_asked(select))
		return;
	for (uint32_t i = 0; i < select->columns; i++)
		if (select->ordered[i] > 1)
			select->sign_column[select->n_signs++] = i;
	if (select->n_signs < 2)
		select->n_signs = 0;
}

/* Return the part of all pairs of columns that have signs. */
static double
part_with_signs(const RaceSelect *select)
{
	return (double) race_signs_pairs(select->n_signs) / race_select_pairs(select);
}

/* Plan the signs for a price on an account.  Return the variance of the noise of a sum, or 0. */
static double
plan_signs(RaceAccount *account, const RaceSelect *select, double price)
{
	RaceSigns signs = {.columns = select->n_signs};
	double variance;

	return race_measure_signs(account, race_select_exact(select), &signs, price, NULL, NULL,
							  &variance) ?
		variance :
		0;
}

/* Return the mean of the absolute noise of a sum of signs, in records, for an amount. */
static double
noise_of_signs(const RaceSelect *select, double amount)
{
	RaceAccount trial = select->planned;

	return sqrt(plan_signs(&trial, select, amount) / (select->pure ? 2 : RACE_PI / 2)) /
		(double) select->unit;
}

/*
 * Return how many cells of a column noise leaves to be told apart, in the mean, if tables of one
 * column get all.
 */
static double
mean_cells(const RaceSelect *select, double left)
{
	double best = fmax(race_select_best_cells(select, 1, left / select->columns), 2);
	double sum = 0;

	for (uint32_t i = 0; i < select->columns; i++)
		sum += fmin(select->cells[i], best);
	return sum / select->columns;
}

double
race_select_divide_signs(RaceSelect *select)
{
	double left = race_select_left(select);
	double noise = race_select_expected_noise(select, left / select->columns);
	double cells = mean_cells(select, left);
	double half = select->pure ? 0.5 : sqrt(0.5);
	double error = cells * noise / (M_SQRT2 * half * select->total);
	double first = fmin(fmax(sqrt(sqrt(error)), FIRST_LEAST), FIRST_MOST);
	double one_ways = pow(cells * noise / 2, select->pure ? 0.5 : 2.0 / 3);
	double signs =
		pow(part_with_signs(select) * noise_of_signs(select, left), select->pure ? 0.5 : 2.0 / 3);
	double of_signs = signs / (one_ways + signs);

	if (select->pure)
		of_signs = fmin(of_signs / first, SIGNS_MOST);
	select->signs_price = left * first * of_signs;
	return first * (1 - of_signs);
}

double
race_select_signs(RaceSelect *select)
{
	if (select->n_signs == 0)
		return 0;
	if (plan_signs(&select->planned, select, select->signs_price) > 0)
		return select->signs_price;
	race_select_without_signs(select);
	return 0;
}

void
race_select_cut(const RaceSelect *select, const int64_t *counts, uint32_t *cut)
{
	/* bound: the columns, some of which have signs */
	for (uint32_t k = 0, i = 0; k < select->n_signs; counts += select->finest[i++])
	{
		double all = 0;
		double below = 0;
		double least = INFINITY;

		if (i != select->sign_column[k])
			continue;
		for (uint32_t g = 0; g < select->ordered[i]; g++)
			all += (double) counts[g];
		for (uint32_t g = 1; g < select->ordered[i]; g++)
		{
			below += (double) counts[g - 1];
			if (fabs(below - all / 2) < least)
			{
				least = fabs(below - all / 2);
				cut[k] = g;
			}
		}
		k++;
	}
}

bool
race_select_depend(RaceSelect *select, const RaceReferenceErrors *errors)
{
	select->round = UINT32_MAX; /* no rounds follow */
	if (errors->explained * part_with_signs(select) > errors->blur)
		return true;
	select->round = 0;
	race_select_without_signs(select);
	return false;
}

/* ------------------------------------------------------------------- looks */

/* Return how many groups columns have in so many tables, if these share an amount. */
static double
groups_for(const RaceSelect *select, double tables, double amount)
{
	return sqrt(select->total /
				(NOISE_OF_CELL * race_select_expected_noise(select, amount / tables)));
}

/*
 * Group columns for so many tables that share an amount: in about so many groups with as many
 * records each, down to the finest ones where these are no more; rare values are joined.
 */
static void
group_columns(RaceSelect *select, const int64_t *counts, double groups, double tables,
			  double amount)
{
	race_select_group(select, counts, groups,
					  RARE_DEVIATIONS * race_select_expected_noise(select, amount / tables));
}

void
race_select_look_groups(RaceSelect *select, const int64_t *counts)
{
	uint32_t pairs = race_select_pairs(select);
	double amount = race_select_left(select) / 2;
	double groups = groups_for(select, pairs, amount);

	group_columns(select, counts, fmin(fmax(groups, LOOK_LEAST_GROUPS), LOOK_MOST_GROUPS), pairs,
				  amount);
}

double
race_select_look(RaceSelect *select)
{
	uint32_t pairs = race_select_pairs(select);
	double price = race_select_left(select) * LOOK_PART / pairs;
	RaceAccount before = select->planned;
	uint64_t noise = 0;

	for (uint32_t k = 0; k < pairs; k++)
		noise = race_score_distance(&select->planned, race_select_exact(select), NULL, NULL, price,
									NULL, NULL);
	select->score_deviation = sqrt(race_select_variance(select, noise)) / (double) select->unit;
	if (noise > 0 && select->score_deviation <= LOOK_MOST * 2 * select->total)
		return price;
	select->planned = before;
	return 0;
}

/* What each pair would gain by a table */
typedef struct Gains
{
	uint32_t n;
	double off[RACE_SELECT_SCORES];      /* distance of the model, without what all have */
	double sampling[RACE_SELECT_SCORES]; /* distance by sampling of records */
	/* pairs, those first that bring most for what their tables add to the noise of all */
	uint32_t order[RACE_SELECT_TABLES];
	uint32_t ordered; /* how many of them are in order */
	RaceSelectTable pair[RACE_SELECT_SCORES];
} Gains;

/* Between each two columns, the product of strengths along the best path of tables */
typedef struct Paths
{
	double best[RACE_GRAPH_COLUMNS][RACE_GRAPH_COLUMNS];
} Paths;

/* Set how far pairs are off by their scores, drawn to the mean as their noise asks. */
static void
set_distances(const RaceSelect *select, const int64_t *scores, const RacePairErrors *pairs,
			  Gains *gains)
{
	double unit = (double) select->unit;
	double records = 2 * select->total; /* a distance of 1 */
	double noise = pow(select->score_deviation / records, 2);
	double mean = 0;
	double spread = 0;

	for (uint32_t k = 0; k < gains->n; k++)
	{
		gains->off[k] = ((double) scores[k] / unit - pairs[k].blur) / records;
		gains->sampling[k] = pairs[k].sampling / records;
		mean += gains->off[k] / gains->n;
	}
	for (uint32_t k = 0; k < gains->n; k++)
		spread += pow(gains->off[k] - mean, 2) / gains->n;
	spread = fmax(spread - noise, 0);
	for (uint32_t k = 0; k < gains->n; k++)
		gains->off[k] = mean + spread / (spread + noise) * (gains->off[k] - mean);
}

/* Take off what noise of tables of one column, and sampling, explain; squares add up. */
static void
take_off_errors(const RaceReferenceErrors *errors, Gains *gains)
{
	for (uint32_t k = 0; k < gains->n; k++)
	{
		double off = gains->off[k];
		double left = off * fabs(off) - pow(errors->first, 2) - pow(gains->sampling[k], 2);

		gains->off[k] = sqrt(fmax(left, 0));
	}
}

/* Set the columns of all pairs. */
static void
list_pairs(const RaceSelect *select, Gains *gains)
{
	gains->n = gains->ordered = 0;
	for (uint32_t i = 0; i + 1 < select->columns; i++)
		for (uint32_t j = i + 1; j < select->columns; j++)
			gains->pair[gains->n++] =
				(RaceSelectTable){.first = i, .second = j, .third = j, .weight = 1};
}

/* Return whether both columns of a pair have signs. */
static bool
has_sign(const RaceSelect *select, const RaceSelectTable *pair)
{
	return select->ordered[pair->first] > 1 && select->ordered[pair->second] > 1;
}

/*
 * Return the distance of a pair that tables of others imply: along a path of them, what is twice a
 * distance multiplies, as a correlation of two columns with two values each does.  What the copula
 * lacks of a pair with a sign, they do not imply.
 */
static double
implied_distance(const RaceSelect *select, const Paths *paths, const RaceSelectTable *pair)
{
	return has_sign(select, pair) ? 0 : paths->best[pair->first][pair->second] / 2;
}

/* Add the table of a pair, whose distance is known, to the paths. */
static void
extend_paths(Paths *paths, uint32_t columns, const RaceSelectTable *pair, double distance)
{
	double strength = fmin(2 * distance, 1);

	for (uint32_t i = 0; i < columns; i++)
		for (uint32_t j = 0; j < columns; j++)
		{
			double by_pair = strength *
				fmax(paths->best[i][pair->first] * paths->best[pair->second][j],
					 paths->best[i][pair->second] * paths->best[pair->first][j]);

			paths->best[i][j] = fmax(paths->best[i][j], by_pair);
		}
}

/*
 * Return which pair, of those that are not listed, brings most for what its table adds to the noise
 * of all, and set what tables of others leave of its distance.
 */
static uint32_t
best_pair(const RaceSelect *select, const Gains *gains, const Paths *paths, const bool *listed,
		  double *left)
{
	double most = -1;
	uint32_t best = 0;

	for (uint32_t k = 0; k < gains->n; k++)
	{
		const RaceSelectTable *pair = &gains->pair[k];
		double off = fmax(gains->off[k] - implied_distance(select, paths, pair), 0);
		double gain = off / race_select_part(select, pair);

		if (listed[k] || gain <= most)
			continue;
		most = gain;
		best = k;
		*left = off;
	}
	return best;
}

/* Order pairs, each beside those before it: off[] becomes what these leave. */
static void
order_gains(const RaceSelect *select, Gains *gains)
{
	Paths paths = {0};
	bool listed[RACE_SELECT_SCORES] = {false};

	for (uint32_t i = 0; i < select->columns; i++)
		paths.best[i][i] = 1;
	/* bound: the tables, and the pairs */
	while (gains->ordered < gains->n && gains->ordered < RACE_SELECT_TABLES)
	{
		double left = 0;
		uint32_t best = best_pair(select, gains, &paths, listed, &left);

		race_look_for_interrupts();
		extend_paths(&paths, select->columns, &gains->pair[best], gains->off[best]);
		listed[best] = true;
		gains->off[best] = left;
		gains->order[gains->ordered++] = best;
	}
}

/* Return whether groups are so few that a table of a pair tells no more than its sign. */
static bool
is_known_by_sign(const RaceSelect *select, const RaceSelectTable *pair, double groups)
{
	return groups < LEAST_GROUPS && has_sign(select, pair);
}

/* List the first n pairs that have tables, in so many groups.  Return how many there are. */
static uint32_t
list_tables(const RaceSelect *select, const Gains *gains, uint32_t n, double groups,
			uint32_t *listed)
{
	uint32_t tables = 0;

	for (uint32_t k = 0; k < n; k++)
		if (!is_known_by_sign(select, &gains->pair[gains->order[k]], groups))
			listed[tables++] = gains->order[k];
	return tables;
}

/* Return the distance by noise of a pair's table that gets this amount. */
static double
noise_of_pair(const RaceSelect *select, const RaceSelectTable *pair, double amount)
{
	return (double) select->groups[pair->first] * select->groups[pair->second] *
		race_select_expected_noise(select, amount) / (2 * select->total);
}

/*
 * Return by how much tables of these pairs bring all pairs nearer, in the mean.  With noise nu,
 * what the model lacks, d, becomes d nu / (d + nu), since it lies in some cells; what is sampling
 * of records, s, lies in all, and becomes s nu / hypot(s, nu).
 */
static double
gain_of_tables(const RaceSelect *select, const Gains *gains, const uint32_t *listed,
			   uint32_t tables, double amount)
{
	double parts = 0;
	double gain = 0;

	for (uint32_t k = 0; k < tables; k++)
		parts += race_select_part(select, &gains->pair[listed[k]]);
	for (uint32_t k = 0; k < tables; k++)
	{
		const RaceSelectTable *pair = &gains->pair[listed[k]];
		double nu = noise_of_pair(select, pair, amount * race_select_part(select, pair) / parts);
		double off = gains->off[listed[k]];
		double sampling = gains->sampling[listed[k]];

		gain += off * off / (off + nu) + sampling * (1 - nu / hypot(sampling, nu));
	}
	return gain / gains->n;
}

/* Group columns for tables of the first n pairs.  Return how many of them have tables. */
static uint32_t
group_for_tables(RaceSelect *select, const int64_t *counts, const Gains *gains, uint32_t n,
				 double amount, uint32_t *listed)
{
	double groups = groups_for(select, n, amount);

	group_columns(select, counts, fmin(groups, fmax(sqrt((double) MOST_CELLS / n), 4)), n, amount);
	return list_tables(select, gains, n, groups, listed);
}

void
race_select_gain(RaceSelect *select, const int64_t *counts, const int64_t *scores,
				 const RacePairErrors *pairs, const RaceReferenceErrors *errors)
{
	double left = race_select_left(select);
	double most = fmax(errors->first - errors->second, 0);
	uint32_t listed[RACE_SELECT_SCORES];
	uint32_t n = 0;
	Gains gains;

	list_pairs(select, &gains);
	set_distances(select, scores, pairs, &gains);
	take_off_errors(errors, &gains);
	order_gains(select, &gains);
	for (uint32_t k = 1; k <= gains.ordered; k++)
	{
		uint32_t tables = group_for_tables(select, counts, &gains, k, left, listed);
		double gain = gain_of_tables(select, &gains, listed, tables, left);

		race_look_for_interrupts();
		if (gain > most)
		{
			most = gain;
			n = k;
		}
	}
	if (n == 0)
		return;
	n = group_for_tables(select, counts, &gains, n, left, listed);
	for (uint32_t k = 0; k < n; k++)
		select->table[select->measured + k] = gains.pair[listed[k]];
	race_select_take_tables(select, select->measured + n, left);
}

uint64_t
race_select_cells(const RaceSelect *select)
{
	uint64_t cells = 0;

	for (uint32_t k = 0; k < select->measured; k++)
		cells += (uint64_t) select->groups[select->table[k].first] *
			select->groups[select->table[k].second];
	return cells;
}

/* Set the sum of the roots of the shares of each column's groups, by noisy counts. */
static void
set_roots(const RaceSelect *select, const int64_t *counts, double *roots)
{
	double total = select->total * (double) select->unit;

	/* bound: the columns */
	for (uint32_t i = 0; i < select->columns; counts += select->finest[i++])
	{
		uint32_t g = 0;

		roots[i] = 0;
		for (uint32_t group = 0; group < select->groups[i]; group++)
		{
			double sum = 0;

			for (; g < select->finest[i] && select->group_of[i][g] == group; g++)
				sum += (double) counts[g];
			roots[i] += sqrt(fmax(sum, 0) / total);
		}
	}
}

bool
race_select_outdo_particles(const RaceSelect *select, const int64_t *counts, double particles)
{
	RaceColumnSet neighbors[RACE_GRAPH_COLUMNS] = {0};
	double roots[RACE_GRAPH_COLUMNS];
	double noise = 0;
	double blur = 0;

	set_roots(select, counts, roots);
	for (uint32_t k = 0; k < select->measured; k++)
	{
		const RaceSelectTable *table = &select->table[k];

		neighbors[table->first] |= RACE_COLUMN(table->second);
		neighbors[table->second] |= RACE_COLUMN(table->first);
		/* a fit of tables takes no count for surer than one record */
		noise += fmax(race_select_expected_noise(select, table->price.amount) *
						  select->groups[table->first] * select->groups[table->second],
					  pow(roots[table->first] * roots[table->second], 2)) /
			(2 * select->total);
		blur += roots[table->first] * roots[table->second] / sqrt(2 * RACE_PI * particles);
	}
	return noise < blur &&
		race_junction_tree(select->columns, select->groups, neighbors, NULL) <= RACE_SELECT_CLIQUES;
}

double
race_select_second_variance(const RaceSelect *select)
{
	double second = race_select_left(select);
	double first = 0;

	for (uint32_t i = 0; i < select->columns; i++)
		first += select->one_way[i].amount;
	return select->pure ? first * first / (first * first + second * second) :
						  first / (first + second);
}

bool
race_select_suppose_signs(RaceSelect *select, const int64_t *counts, const int64_t *scores)
{
	static const RacePairErrors none[RACE_SELECT_SCORES];
	static const RaceReferenceErrors dependence = {.explained = 1};

	if (race_select_signs(select) == 0)
		return false;
	race_select_look_groups(select, counts);
	if (race_select_depend(select, &dependence) && race_select_look(select) > 0)
		race_select_gain(select, counts, scores, none, &dependence);
	return true;
}
