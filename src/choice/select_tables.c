/*
 * select_tables.c
 *		Which tables of two and three columns a private release measures, and how it divides its
 *		budget
 *
 * What is chosen is to make the sum of distances (in L1) between all tables of two columns and
 * those of the model small.  A table that is not measured is as far off as its score says; one that
 * is measured has the noise of its cells.
 */
#include <math.h>
#include <string.h>

#include "privacy/account.h"
#include "privacy/budget.h"
#include "privacy/exact.h"
#include "privacy/interrupt.h"
#include "privacy/measure.h"
#include "privacy/noise.h"
#include "privacy/release_request.h"
#include "privacy/sampler.h"
#include "privacy/score.h"
#include "privacy/select.h"
#include "privacy/shares.h"
#include "hash/contingency.h"
#include "hash/kernel.h"
#include "choice/select_signs.h"
#include "choice/select_state.h"
#include "choice/select_tables.h"

/*
 * Parts of the budget.  All constants were chosen by test/bench/tables on Adult, four made tables
 * (2,000 to 30,000 records, 8 to 20 columns of 2 to 50 cells) and binned pulsars, at epsilon .1, .3
 * and 1.  Half or twice of most changed errors by less than a tenth.
 */
/* The number of records gets the share of one of this number of tables a column, within limits. */
#define COUNT_TABLES 2.0
#define COUNT_LEAST 0.02
#define COUNT_MOST 0.05
#define SCORES_PART 0.1      /* scores, of what is left in a round */
#define FIRST_ROUND_PART 0.5 /* the first round's tables, of what is left */
#define WEIGHT_ONE 16        /* the weight of a candidate that matters as much as any */
#define ROUNDS 2
#define LEAST_REST 0.01 /* least part that is spent */

/*
 * Tables of one column get this much times the fourth root of their error if they got all: .55 on
 * Adult at epsilon = .1, .27 at 1 and .17 at 10.  If no pair is worth its noise, they get the rest,
 * too (SECOND_DRAW_PART).
 */
#define ONE_WAY_PART 1.0
#define ONE_WAY_LEAST 0.05
#define ONE_WAY_MOST 0.8

/* This part of what tables of one column get is divided equally. */
#define EQUAL_PART 0.33

/*
 * Groups whose count is less than this multiple of the expected deviation of a counter of a pair
 * are joined.
 */
#define GROUP_DEVIATIONS 7

/*
 * A histogram of numbers alone should have (N / (5 |noise|))^(2 / (d + 2)) cells along each of its
 * d columns: then noise, and what is uneven within its cells, cost a range about the same (the
 * "uniform grid" of Qardaji, Yang & Li 2013, for two columns; of 3, 5, 10, 20 and 30, 5 had the
 * least errors in test/bench/number_tables.py, and half or twice of it 5 % more).
 */
#define CELL_DEVIATIONS 5.0

/*
 * A column of numbers alone may be counted in blocks of cells if so few counters are enough, but
 * RACE_LEAST_BLOCKS or more.  A score tells whether records are even enough within blocks, for this
 * part of what the table of the column gets.
 */
#define UNEVENNESS_PART 0.05

/*
 * The expected error of the count of a random range, for each record of a block that is off: each
 * of its two ends is in some block, and splits off a part of it that is off by a third of that at
 * most, in the mean, and by half as much after interpolation.
 */
#define END_ERROR (1.0 / 3)

/*
 * The tables of the first round are measured, and there is a second one, if they gain more than
 * this part of what a second draw of the tables of one column would.  (Of the errors of two
 * columns, in a table of both, the squares add up, and a fit takes some noise away.)  Of 1, .7 and
 * .35, on 10 made tables each with strengths of dependence from .15 to .7, .35 was the largest that
 * lost nothing at epsilon = 1: distances became 5 % less at .1 (12 % where dependence is weak), .3
 * % less at 1 (`network` of test/bench/tables/tables.py).
 */
#define SECOND_DRAW_PART 0.35

/* A table is chosen if its score exceeds its cost by this number of standard deviations. */
#define SCORE_DEVIATIONS 1

/*
 * The noise of a table of two columns counts so much, since the fit takes some of it: with .5 to
 * 1.4 errors of `test/bench/run tables` are alike.
 */
#define PAIR_NOISE 0.8

/*
 * The noise of a table of three columns counts so much, since the fit takes little of it: most
 * cells have few records, and these stay near what the other tables say.  No script here compares
 * it with other numbers.
 */
#define TRIPLE_NOISE 0.5

/*
 * All tables are measured, without scores, if they would be off by at most this total variation
 * distance in the mean, and if all columns may be one clique.
 */
#define ALL_ERROR 0.02

/*
 * If tables of a label with two columns may be chosen besides, all tables get this part of what is
 * left: where there are few columns alone, since the scores of so many tables take more than they
 * bring.  No script here compares either number with others.
 */
#define ALL_PART 0.9
#define ALL_COLUMNS 6

/*
 * All pairs of so few columns are measured whatever the noise is, if all are numbers: no answer but
 * that of pairs would be off less.  Tables of one column keep this part then (`test/bench/run
 * numbers`).
 */
#define FEW_COLUMNS 3
#define FEW_ONE_WAY_PART 0.5

/* Pairs are looked at if the deviation of a score would be at most this part of all records. */
#define MOST_SCORE_DEVIATION 0.5

/* Room for rounding where an amount is divided */
#define ROUNDING (1 - 1e-12)

/* ---------------------------------------------------------------- the budget */

void
race_select_open(RaceAccount *account, RaceRandom *random, const RaceRequest *request,
				 uint32_t columns, uint64_t unit)
{
	race_account_open(account, random, request, columns * pow((double) unit, 2));
}

void
race_select_begin(RaceSelect *select, const RaceRequest *request, const RaceShape *shape)
{
	select->shape = *shape;
	(void) race_exact_begin(&select->memory, &select->shape);
	race_select_open(&select->planned, NULL, request, select->columns, shape->unit);
	select->unit = shape->unit << request->weight_bits;
	select->pure = request->delta == 0;
	select->max_contributions = request->max_contributions;
	select->substitute = request->neighbors == RACE_NEIGHBORS_SUBSTITUTE;
	select->fixed = request->levels > 0;
	select->total = select->score_deviation = 0;
	select->round = select->measured = select->picked = select->n_fixed = 0;
	select->all = false;
	memset(select->neighbors, 0, sizeof(select->neighbors));
}

const RaceExact *
race_select_exact(const RaceSelect *select)
{
	return (const RaceExact *) &select->memory;
}

double
race_select_left(const RaceSelect *select)
{
	return race_account_left(&select->planned);
}

/* Plan the table of a price: return its noise, or 0 if that would be too large. */
static uint64_t
plan_table(RaceSelect *select, RacePrice *price, double amount)
{
	price->amount = amount;
	price->noise =
		race_measure_sums(&select->planned, race_select_exact(select), NULL, amount, NULL, NULL);
	return price->noise;
}

/*
 * Return by how much neighbors change a table, in records: in one cell by 1 for each that is added
 * or removed.
 */
static double
table_change(const RaceSelect *select)
{
	double m = select->max_contributions;

	return (select->pure ? m : m * m) * (select->substitute ? 2 : 1);
}

/* Return by how much neighbors change a score: by as much as the table, in L1. */
static double
score_change(const RaceSelect *select)
{
	double l1 = (double) select->max_contributions * (select->substitute ? 2 : 1);

	return select->pure ? l1 : l1 * l1;
}

double
race_select_variance(const RaceSelect *select, uint64_t noise)
{
	return race_account_variance(&select->planned, noise);
}

double
race_select_expected_noise(const RaceSelect *select, double amount)
{
	double change = table_change(select);

	return sqrt(select->parts) *
		(select->pure ? change / amount : sqrt(change / (RACE_PI * amount)));
}

/*
 * Return the part of a table with so many cells.  The sum of cells times noise is least if budgets
 * are in proportion to cells^(2/3), with Gaussian noise, or to the root of cells.
 */
static double
part_of(const RaceSelect *select, double cells)
{
	return select->pure ? sqrt(cells) : cbrt(cells * cells);
}

/* Return the sum of cells times noise, of tables that divide an amount so. */
static double
sum_of_noise(const RaceSelect *select, double parts, double amount)
{
	return race_select_expected_noise(select, amount) *
		(select->pure ? parts * parts : parts * sqrt(parts));
}

static double
one_way_parts(const RaceSelect *select)
{
	double parts = 0;

	for (uint32_t i = 0; i < select->columns; i++)
		parts += part_of(select, select->weights[i] * select->cells[i]);
	return parts;
}

/*
 * Return the share of the table of a column.  Tables of few cells get more than is best for the
 * sum, since each of their counts is asked for.
 */
static double
one_way_share(const RaceSelect *select, uint32_t column)
{
	return (1 - EQUAL_PART) * part_of(select, select->weights[column] * select->cells[column]) /
		one_way_parts(select) +
		EQUAL_PART / select->columns;
}

static bool
are_few_numbers(const RaceSelect *select)
{
	uint32_t numbers = 0;

	for (uint32_t i = 0; i < select->columns; i++)
		numbers += select->ordered[i] > 0;
	return numbers == select->columns && select->columns <= FEW_COLUMNS;
}

double
race_select_best_cells(const RaceSelect *select, double dims, double amount)
{
	return pow(
		fmax(select->total / (CELL_DEVIATIONS * race_select_expected_noise(select, amount)), 1),
		2 / (dims + 2));
}

/*
 * Return how many cells of a column should be counted together: groups of tables of several
 * columns, twice as many, ..., or 1.
 */
static uint32_t
best_block(const RaceSelect *select, uint32_t column, double amount)
{
	double best = select->cells[column] / race_select_best_cells(select, 1, amount);
	uint64_t block = select->width[column];

	if (select->fixed || select->parts > 1 || select->ordered[column] == 0 || best < block / 2.0)
		return 1;
	if (select->n_signs == 0 && (!are_few_numbers(select) || (select->columns > 1 && !select->all)))
		return 1;
	/* bound: twice as many each time, up to the cells of a column */
	while (1.5 * block <= best && 2 * RACE_LEAST_BLOCKS * block <= select->cells[column])
		block *= 2;
	return (uint32_t) block;
}

/*
 * Take the noise of the score of a column's blocks, if it should have some; returns what is left of
 * an amount.
 */
static double
take_unevenness(RaceSelect *select, uint32_t column, double amount)
{
	select->block[column] = best_block(select, column, amount);
	if (select->block[column] == 1)
		return amount;
	select->unevenness[column] = amount * UNEVENNESS_PART;
	if (race_score_unevenness(&select->planned, race_select_exact(select), 0, 0,
							  select->block[column], select->unevenness[column], NULL, NULL) == 0)
		select->block[column] = 1;
	return amount * (1 - UNEVENNESS_PART);
}

/* Divide an amount among tables of one column, the first time with the scores of their blocks. */
static bool
divide_one_ways(RaceSelect *select, double amount, bool first, RacePrice *prices)
{
	for (uint32_t i = 0; i < select->columns; i++)
	{
		double own = amount * one_way_share(select, i) * ROUNDING;

		if (first)
			own = take_unevenness(select, i, own);
		if (plan_table(select, &prices[i], own) == 0)
			return false;
	}
	return true;
}

/* Return the mean of the absolute value of noise. */
static double
mean_noise(const RaceSelect *select, uint64_t noise)
{
	return sqrt(race_select_variance(select, noise) / (select->pure ? 2 : RACE_PI / 2));
}

void
race_select_block(RaceSelect *select, uint32_t column, int64_t score)
{
	double noise = mean_noise(select, select->one_way[column].noise);
	double cells = select->cells[column];
	double blocks = cells / select->block[column];
	double off = fmax((double) score, 0) / select->block[column]; /* records that are off */
	double of_cell = off / cells + noise / select->block[column];
	double of_range = off / blocks * END_ERROR + noise * sqrt(blocks / 3);

	if (of_cell * of_range > noise * noise * sqrt(cells / 3))
		select->block[column] = 1;
}

uint64_t
race_select_count(RaceSelect *select)
{
	double part = fmin(fmax(1 / (COUNT_TABLES * select->columns), COUNT_LEAST), COUNT_MOST);

	select->count.amount = race_account_allowed(&select->planned) * part;
	select->count.noise =
		race_measure_count(&select->planned, race_select_exact(select), select->count.amount, NULL);
	return select->count.noise;
}

uint32_t
race_select_pairs(const RaceSelect *select)
{
	return select->columns * (select->columns - 1) / 2;
}

/* Return the number of tables of three columns, which are the first that are asked for. */
static uint32_t
number_of_triples(const RaceSelect *select)
{
	uint32_t n = 0;

	/* bound: the sets of the workload */
	while (n < select->n_asked && select->asked[n].third != select->asked[n].second)
		n++;
	return n;
}

/* Return how many of these tables matter more; the others may be chosen. */
static uint32_t
number_of_asked_triples(const RaceSelect *select)
{
	uint32_t n = number_of_triples(select);

	/* bound: the sets of the workload */
	while (n > 0 && select->asked[n - 1].weight == 1)
		n--;
	return n;
}

static bool
are_candidates(const RaceSelect *select)
{
	return number_of_asked_triples(select) < number_of_triples(select);
}

/* Return whether any table matters more than what its columns do. */
static bool
is_any_asked(const RaceSelect *select)
{
	return number_of_asked_triples(select) > 0 || select->n_asked > number_of_triples(select);
}

bool
race_select_is_asked(const RaceSelect *select)
{
	for (uint32_t i = 0; i < select->columns; i++)
		if (select->weights[i] > 1)
			return true;
	return is_any_asked(select) || are_candidates(select);
}

uint32_t
race_select_candidates(const RaceSelect *select)
{
	return race_select_pairs(select) +
		(select->round + 1 == ROUNDS ? number_of_triples(select) : 0);
}

/*
 * Set the table of a score, from the columns of the one before: of two columns, then those of
 * three.  It matters as much as its columns together, times what is asked; one of three columns
 * that nobody asks for, no more than others.
 */
static void
next_candidate(const RaceSelect *select, uint32_t number, RaceSelectTable *table)
{
	if (number >= race_select_pairs(select))
		*table = select->asked[number - race_select_pairs(select)];
	else
	{
		if (number == 0)
			table->first = table->second = 0;
		if (++table->second == select->columns)
			table->second = ++table->first + 1;
		table->third = table->second;
	}
	if (table->third != table->second && table->weight == 1)
		return;
	table->weight = select->weights[table->first] * select->weights[table->second];
	if (table->third != table->second)
		table->weight *= select->weights[table->third];
	for (uint32_t i = 0; i < select->n_asked; i++)
		if (select->asked[i].first == table->first && select->asked[i].second == table->second &&
			select->asked[i].third == table->third)
			table->weight *= select->asked[i].weight;
}

uint32_t
race_select_picks(const RaceSelect *select)
{
	uint32_t most = select->round == 0 ? select->columns - 1 : select->columns;
	uint32_t n = race_select_candidates(select);

	return n < most ? n : most;
}

/* Return the mean number of counters of the tables that may be chosen, by groups of columns. */
static double
mean_counters(const RaceSelect *select, const uint32_t *groups)
{
	uint32_t n = race_select_candidates(select);
	double cells = 0;
	RaceSelectTable table;

	for (uint32_t k = 0; k < n; k++)
	{
		next_candidate(select, k, &table);
		cells += (double) groups[table.first] * groups[table.second] *
			(table.third != table.second ? groups[table.third] : 1);
	}
	return cells / n * select->parts;
}

/*
 * The errors of a pure release, in L1 over all pairs, for each unit of the budget: a pick is off by
 * the scale of its selection, 2 / price, times the logarithm of the number of candidates; its table
 * by the noise of its counters; and each table of one column counts in as many pairs as there are
 * other columns.  What shares a budget has the least sum of errors in proportion to their roots.
 */
typedef struct PureErrors
{
	double picks;
	double tables;
	double one_ways;
} PureErrors;

static PureErrors
pure_errors(const RaceSelect *select, const uint32_t *groups)
{
	double picks = race_select_picks(select);

	return (PureErrors){.picks = picks * picks * 2 * log(race_select_candidates(select) + 1.0),
						.tables = picks * picks * mean_counters(select, groups),
						.one_ways =
							(select->columns - 1) * pow(one_way_parts(select), 2) * select->parts};
}

/* Return the part of a round's amount that its selections get. */
static double
picks_part(const RaceSelect *select, const uint32_t *groups)
{
	PureErrors errors = pure_errors(select, groups);

	return 1 / (1 + sqrt(errors.tables / errors.picks));
}

/*
 * Return the part of the budget that tables of one column get in a pure release: all, if a pick
 * would be off by more than half of the largest distance that there can be, twice the records.
 */
static double
pure_one_ways_part(const RaceSelect *select, double left)
{
	PureErrors errors = pure_errors(select, select->finest);
	double picks = sqrt(errors.picks);
	double all = picks + sqrt(errors.tables) + sqrt(errors.one_ways);
	double off = errors.picks * score_change(select) / race_select_picks(select) /
		(left * FIRST_ROUND_PART * picks / all);

	return off <= select->total ? sqrt(errors.one_ways) / all : 1;
}

/* Return the part of the budget that tables of one column get: all, if scores would say nothing. */
static double
one_ways_part(const RaceSelect *select, double left)
{
	/* the expected total variation distance of a table, if no pairs were measured */
	double error =
		sum_of_noise(select, one_way_parts(select), left) / (2 * select->columns * select->total);
	double part = fmin(fmax(ONE_WAY_PART * sqrt(sqrt(error)), ONE_WAY_LEAST), ONE_WAY_MOST);
	double change = score_change(select) * (double) race_select_pairs(select);
	double deviation = sqrt(change / (2 * left * (1 - part) * SCORES_PART));

	if (select->pure)
		return pure_one_ways_part(select, left);
	return deviation <= MOST_SCORE_DEVIATION * select->total ? part : 1;
}

/* Return the part of a table, by the numbers of groups of its columns. */
static double
table_part(const RaceSelect *select, const RaceSelectTable *table, const uint32_t *groups)
{
	return part_of(select,
				   table->weight * groups[table->first] * groups[table->second] *
					   (table->third != table->second ? groups[table->third] : 1));
}

double
race_select_part(const RaceSelect *select, const RaceSelectTable *table)
{
	return table_part(select, table, select->groups);
}

/*
 * Return the parts of all tables of two columns, and of those of three that are asked for, before
 * groups are joined.
 */
static double
table_parts(const RaceSelect *select)
{
	double parts = 0;
	RaceSelectTable table;

	for (uint32_t k = 0; k < race_select_pairs(select) + number_of_asked_triples(select); k++)
	{
		next_candidate(select, k, &table);
		parts += table_part(select, &table, select->finest);
	}
	return parts;
}

double
race_select_noise(const RaceSelect *select)
{
	return sum_of_noise(select, one_way_parts(select) + table_parts(select),
						race_account_allowed(&select->planned));
}

/* Return the same parts; 0 if there are too many cells or too few records to measure all tables. */
static double
all_parts(const RaceSelect *select, double left)
{
	uint32_t tables = race_select_pairs(select) + number_of_asked_triples(select);
	double cells = 1;
	double parts;

	for (uint32_t i = 0; i < select->columns && cells <= RACE_SELECT_CLIQUES; i++)
		cells *= select->finest[i];
	if (cells > RACE_SELECT_CLIQUES || tables > RACE_SELECT_TABLES)
		return 0;
	parts = table_parts(select);
	return are_few_numbers(select) ||
			sum_of_noise(select, one_way_parts(select) + parts, left) <=
				ALL_ERROR * 2 * (tables + select->columns) * select->total ?
		parts :
		0;
}

/* Connect the columns of a table with each other. */
static void
add_edges(RaceSelect *select, const RaceSelectTable *table)
{
	const uint32_t columns[] = {table->first, table->second, table->third};
	RaceColumnSet all =
		RACE_COLUMN(table->first) | RACE_COLUMN(table->second) | RACE_COLUMN(table->third);

	for (int i = 0; i < 3; i++)
		select->neighbors[columns[i]] |= all & ~RACE_COLUMN(columns[i]);
}

/* Return whether there is a path between the columns of a pair. */
static bool
are_connected(const RaceSelect *select, const RaceSelectTable *pair)
{
	RaceColumnSet reached = RACE_COLUMN(pair->first);
	RaceColumnSet before;

	/* bound: a column more each time, or the end */
	do
	{
		before = reached;
		for (uint32_t i = 0; i < select->columns; i++)
			if (reached & RACE_COLUMN(i))
				reached |= select->neighbors[i];
	} while (reached != before);
	return (reached & RACE_COLUMN(pair->second)) != 0;
}

/* Add a table if the junction tree stays small, and in the first round the graph a forest. */
static bool
add_table(RaceSelect *select, const RaceSelectTable *table)
{
	RaceColumnSet before[RACE_GRAPH_COLUMNS];

	/* scores do not know what pairs of the same round say together: the next round's do */
	if (select->round == 0 && are_connected(select, table))
		return false;
	memcpy(before, select->neighbors, sizeof(before));
	add_edges(select, table);
	if (race_junction_tree(select->columns, select->groups, select->neighbors, NULL) <=
		RACE_SELECT_CLIQUES)
		return true;
	memcpy(select->neighbors, before, sizeof(before));
	return false;
}

/*
 * Set the tables of several columns that are measured without scores, as long as the junction tree
 * stays small: if tables are fixed, those that are asked for, or all pairs, else the pairs of
 * columns that matter more than others.  Returns their parts.
 */
static double
fix_tables(RaceSelect *select)
{
	bool asked = select->fixed && is_any_asked(select);
	uint32_t tables = asked ? select->n_asked : race_select_pairs(select);
	double parts = 0;
	RaceSelectTable table;

	for (uint32_t i = 0; i < select->columns; i++)
		select->groups[i] = select->finest[i];
	for (uint32_t k = 0; k < tables && select->n_fixed < RACE_SELECT_TABLES; k++)
	{
		next_candidate(select, asked ? race_select_pairs(select) + k : k, &table);
		if ((asked ? table.third != table.second && table.weight == 1 :
					 !select->fixed && select->weights[table.first] == 1 &&
					 select->weights[table.second] == 1) ||
			!add_table(select, &table))
			continue;
		select->table[select->n_fixed++] = table;
		parts += table_part(select, &table, select->groups);
	}
	return parts;
}

/* Return the least number of records in a group, if tables of several columns get this amount. */
static double
least_in_group(const RaceSelect *select, double amount)
{
	return GROUP_DEVIATIONS * race_select_expected_noise(select, amount / select->columns);
}

/*
 * Divide what is left of the budget: return the part of tables of one column.  Set which tables of
 * several are measured without scores, and in which round.
 */
static double
divide_tables(RaceSelect *select, double left)
{
	double part = 1;
	double parts = 0; /* parts of tables that are measured without scores */

	if (select->fixed)
		select->round = ROUNDS;
	else if (select->columns > 1)
	{
		parts = all_parts(select, left);
		select->all = parts > 0;
		if (!select->all)
			part = one_ways_part(select, left);
	}
	if (part == 1 && !(select->all && are_candidates(select) && select->columns <= ALL_COLUMNS))
		select->round = ROUNDS;
	if (select->columns > 1 && !select->all &&
		(select->fixed || 2 * least_in_group(select, left) <= select->total))
		parts = fix_tables(select);
	part = fmin(part, 1 / (1 + parts / one_way_parts(select)));
	if (parts > 0 && (select->fixed || are_few_numbers(select)))
		part = fmax(part, FEW_ONE_WAY_PART);
	/* these tables are the first round */
	if (parts > 0 && select->round == 0)
		select->round = 1;
	return part;
}

bool
race_select_one_ways(RaceSelect *select, int64_t count)
{
	double left = race_select_left(select);

	select->total = fmax((double) count, 1);
	select->all = false;
	select->n_fixed = 0;
	race_select_list_signs(select);
	return divide_one_ways(
		select,
		left *
			(select->n_signs > 0 ? race_select_divide_signs(select) : divide_tables(select, left)),
		true, select->one_way);
}

void
race_select_without_signs(RaceSelect *select)
{
	double left = race_select_left(select);

	select->n_signs = 0;
	select->all = all_parts(select, left) > 0;
	if (select->all || one_ways_part(select, left) == 1)
		select->round = ROUNDS;
}

/* -------------------------------------------------------------------- groups */

/*
 * Join neighbors until they have `in_order` records, and other groups if each has less than
 * `alone`.  Return how many groups there are.
 */
static uint32_t
join_column(const int64_t *counts, uint32_t n, uint32_t ordered, double in_order, double alone,
			uint32_t *group_of)
{
	uint32_t groups = 0;
	double sum = 0;
	bool rare = false;

	for (uint32_t i = 0; i < ordered; i++)
	{
		group_of[i] = groups;
		sum += (double) counts[i];
		if (sum < in_order && i + 1 < ordered)
			continue;
		groups++;
		sum = 0;
	}
	for (uint32_t i = ordered; i < n; i++)
		if ((double) counts[i] >= alone)
			group_of[i] = groups++;
	for (uint32_t i = ordered; i < n; i++)
		if (!((double) counts[i] >= alone))
		{
			group_of[i] = groups;
			rare = true;
		}
	return groups + rare;
}

/* Estimate the number of records, by all tables of one column. */
static double
estimate_total(const RaceSelect *select, const int64_t *counts)
{
	double precision = 0;
	double total = 0;

	for (uint32_t i = 0; i < select->columns; i++)
	{
		double variance = race_select_variance(select, select->one_way[i].noise) *
			select->cells[i] * select->parts;

		for (uint32_t j = 0; j < select->finest[i]; j++)
			total += (double) *counts++ / variance;
		precision += 1 / variance;
	}
	return fmax(total / precision / (double) select->unit, 1);
}

/* Join the groups of all columns that are not fixed: those in order to `in_order` records. */
static void
join_columns(RaceSelect *select, const int64_t *counts, const double *in_order, double alone)
{
	double unit = (double) select->unit;

	for (uint32_t i = 0; i < select->columns; i++)
	{
		select->groups[i] = join_column(counts, select->finest[i], select->ordered[i],
										in_order[i] * unit, alone * unit, select->group_of[i]);
		counts += select->finest[i];
	}
}

void
race_select_group(RaceSelect *select, const int64_t *counts, double groups, double alone)
{
	double in_order[RACE_GRAPH_COLUMNS];

	select->total = estimate_total(select, counts);
	for (uint32_t i = 0; i < select->columns; i++)
		in_order[i] =
			select->total / groups * fmax(1 - pow(groups / fmax(select->ordered[i], 1), 2), 0);
	join_columns(select, counts, in_order, alone);
}

void
race_select_join(RaceSelect *select, const int64_t *counts)
{
	double left = race_select_left(select);
	double least = least_in_group(select, left);
	double in_order[RACE_GRAPH_COLUMNS];

	select->total = estimate_total(select, counts);
	for (uint32_t i = 0; select->fixed && i < select->columns; i++)
		for (uint32_t k = 0; k < select->finest[i]; k++)
			select->group_of[i][k] = k;
	if (select->fixed)
		return;
	if (select->all && are_few_numbers(select))
		least = select->total / race_select_best_cells(select, 2, left / race_select_pairs(select));
	for (uint32_t i = 0; i < select->columns; i++)
		in_order[i] = least;
	join_columns(select, counts, in_order, least);
}

/* -------------------------------------------------------------------- rounds */

/* Begin a round of scores: return the price of each, or 0. */
static double
begin_scores(RaceSelect *select)
{
	uint32_t n = race_select_candidates(select);
	double price = race_select_left(select) * SCORES_PART / n;
	uint64_t noise = 0;

	for (uint32_t k = 0; k < n; k++)
		noise = race_score_distance(&select->planned, race_select_exact(select), NULL, NULL, price,
									NULL, NULL);
	select->score_deviation = sqrt(race_select_variance(select, noise)) / (double) select->unit;
	return noise > 0 ? price : 0;
}

/* Begin a round of picks: return the price of each, or 0. */
static double
begin_picks(RaceSelect *select)
{
	double left = race_select_left(select);
	double amount = left * (select->round + 1 == ROUNDS ? 1 : FIRST_ROUND_PART);

	select->kept = left - amount;
	select->picked = 0;
	memset(select->refused, 0, sizeof(select->refused));
	return fmax(amount * picks_part(select, select->groups) / race_select_picks(select), 0);
}

double
race_select_round(RaceSelect *select)
{
	return select->round >= ROUNDS ? 0 : select->pure ? begin_picks(select) : begin_scores(select);
}

/* Return whether a table is measured, or one of those that this round measures. */
static bool
is_chosen(const RaceSelect *select, const RaceSelectTable *table)
{
	uint32_t n = select->measured + select->picked;
	uint32_t k;

	for (k = 0; k < n; k++)
		if (select->table[k].first == table->first && select->table[k].second == table->second &&
			select->table[k].third == table->third)
			break;
	return k < n;
}

/* Return whether two columns were in one table before, or are in this round. */
static bool
are_neighbors(const RaceSelect *select, uint32_t first, uint32_t second)
{
	return (select->neighbors[first] & RACE_COLUMN(second)) != 0;
}

static uint32_t
number_of_pair(const RaceSelect *select, uint32_t first, uint32_t second)
{
	return first * (2 * select->columns - first - 1) / 2 + second - first - 1;
}

/*
 * Return how far a table is off, in records, less what noise may say.  One of three columns that
 * nobody asks for may be off because a pair of it is, whose table has less noise: what it is off
 * more than each of its pairs counts.
 */
static double
certain_distance(const RaceSelect *select, const int64_t *scores, uint32_t number,
				 const RaceSelectTable *table)
{
	double score = (double) scores[number];
	double deviations = SCORE_DEVIATIONS;

	if (table->third != table->second && table->weight == 1)
	{
		score -= fmax((double) scores[number_of_pair(select, table->first, table->second)],
					  fmax((double) scores[number_of_pair(select, table->first, table->third)],
						   (double) scores[number_of_pair(select, table->second, table->third)]));
		deviations *= sqrt(2);
	}
	return score / (double) select->unit - deviations * select->score_deviation;
}

/* Return what a table adds to the noise of those that have these parts, and share an amount. */
static double
added_noise(const RaceSelect *select, const RaceSelectTable *table, double parts, double amount)
{
	double more = parts + table_part(select, table, select->groups);

	return (table->third != table->second && table->weight > 1 ? TRIPLE_NOISE : PAIR_NOISE) *
		(sum_of_noise(select, more, amount) - sum_of_noise(select, parts, amount));
}

/*
 * Find the table that was not refused, whose distance exceeds most what it adds to the noise.
 * Return false if there is none.
 */
static bool
best_table(const RaceSelect *select, const int64_t *scores, const bool *refused, double parts,
		   double amount, RaceSelectTable *best, uint32_t *number, double *most)
{
	uint32_t n = race_select_candidates(select);
	RaceSelectTable table;

	*most = 0;
	for (uint32_t k = 0; k < n; k++)
	{
		double gain;

		next_candidate(select, k, &table);
		if (refused[k] ||
			(table.third != table.second ? is_chosen(select, &table) :
										   are_neighbors(select, table.first, table.second)))
			continue;
		gain = certain_distance(select, scores, k, &table) * table.weight -
			added_noise(select, &table, parts, amount);
		if (gain <= *most)
			continue;
		*most = gain;
		*best = table;
		*number = k;
	}
	return *most > 0;
}

/*
 * Return by how much the noise of all tables of two columns falls, if an amount buys a second draw
 * of tables of one column.
 */
static double
gain_of_second_draw(const RaceSelect *select, double amount)
{
	double gain = 0;

	for (uint32_t i = 0; i < select->columns; i++)
	{
		double first = mean_noise(select, select->one_way[i].noise) / (double) select->unit *
			sqrt(select->parts);
		double second = race_select_expected_noise(select, amount * one_way_share(select, i));

		gain += select->weights[i] * select->cells[i] * first * (1 - second / hypot(first, second));
	}
	return gain * (select->columns - 1);
}

/*
 * Return whether the largest of n scores is above the expected maximum of noise alone.  Else they
 * show no dependence.
 */
static bool
scores_show_dependence(const RaceSelect *select, const int64_t *scores)
{
	uint32_t n = race_select_candidates(select);
	double deviations = select->pure ? log(n) / sqrt(2) : sqrt(2 * log(n));
	double most = 0;

	for (uint32_t k = 0; k < n; k++)
		most = fmax(most, (double) scores[k] / (double) select->unit);
	return most > deviations * select->score_deviation;
}

void
race_select_take_tables(RaceSelect *select, uint32_t to, double amount)
{
	double parts = 0;

	for (uint32_t k = select->measured; k < to; k++)
		parts += table_part(select, &select->table[k], select->groups);
	for (uint32_t k = select->measured; k < to; k++)
	{
		RaceSelectTable table = select->table[k];

		if (plan_table(select, &table.price,
					   amount * (table_part(select, &table, select->groups) / parts) * ROUNDING) !=
			0)
			select->table[select->measured++] = table;
	}
}

void
race_select_choose(RaceSelect *select, const int64_t *scores)
{
	bool refused[RACE_SELECT_SCORES] = {false};
	uint32_t to = select->measured;
	double amount = race_select_left(select) * (select->round + 1 == ROUNDS ? 1 : FIRST_ROUND_PART);
	double parts = 0;
	RaceSelectTable table;
	uint32_t number = 0;
	double gain;
	double all = 0;

	/* bound: each table once, since it is refused then */
	while (to < RACE_SELECT_TABLES &&
		   best_table(select, scores, refused, parts, amount, &table, &number, &gain))
	{
		race_look_for_interrupts();
		refused[number] = true;
		if (add_table(select, &table))
		{
			select->table[to++] = table;
			parts += table_part(select, &table, select->groups);
			all += gain;
		}
	}
	/* dependence is weak: the rest goes to race_select_rest() */
	if (select->round == 0 && !is_any_asked(select) &&
		(!scores_show_dependence(select, scores) ||
		 all < SECOND_DRAW_PART * gain_of_second_draw(select, amount)))
	{
		to = select->measured;
		select->round = ROUNDS - 1;
	}
	race_select_take_tables(select, to, amount);
	select->round++;
}

/* Return whether a table of three columns has a pair that this round measures. */
static bool
has_picked_pair(const RaceSelect *select, const RaceSelectTable *table)
{
	RaceColumnSet columns =
		RACE_COLUMN(table->first) | RACE_COLUMN(table->second) | RACE_COLUMN(table->third);

	for (uint32_t k = select->measured; k < select->measured + select->picked; k++)
		if ((columns & RACE_COLUMN(select->table[k].first)) != 0 &&
			(columns & RACE_COLUMN(select->table[k].second)) != 0)
			return true;
	return false;
}

/* Return whether a table may be picked: it is new, and in the first round its columns are apart. */
static bool
may_pick(const RaceSelect *select, const RaceSelectTable *table)
{
	if (table->third != table->second)
		return !is_chosen(select, table) && !has_picked_pair(select, table);
	return !are_neighbors(select, table->first, table->second) &&
		(select->round > 0 || !are_connected(select, table));
}

/* Return a number of records as a penalty. */
static int64_t
penalty_of(const RaceSelect *select, double records)
{
	return (int64_t) fmin(records * (double) select->unit * WEIGHT_ONE, (double) RACE_MAX_COUNT);
}

/*
 * Add the candidate of picking none, whose quality is what the best of the others, if none had a
 * gain, would seem to have about half of the time.  Pay for the selection.
 */
static bool
plan_pick(RaceSelect *select, double price, RaceCandidate *candidates, uint32_t n)
{
	RaceCandidate *none = &candidates[n];
	uint64_t scale;

	*none = (RaceCandidate){.score = RACE_NO_SCORE};
	scale = race_select(&select->planned, race_select_exact(select), NULL, candidates, n + 1, price,
						NULL);
	none->penalty = -(int64_t) fmin((double) scale / RACE_SCALE_DENOMINATOR * log(n + 1.0),
									(double) RACE_MAX_COUNT);
	return scale > 0;
}

uint32_t
race_select_qualities(RaceSelect *select, double price, RaceCandidate *candidates)
{
	uint32_t all = race_select_candidates(select);
	double parts = 0;
	double amount = race_select_left(select) - select->kept;
	uint32_t n = 0;
	RaceSelectTable table;

	race_look_for_interrupts();
	for (uint32_t k = select->measured; k < select->measured + select->picked; k++)
		parts += table_part(select, &select->table[k], select->groups);
	for (uint32_t k = 0; k < all; k++)
	{
		next_candidate(select, k, &table);
		if (select->refused[k] || !may_pick(select, &table))
			continue;
		candidates[n++] = (RaceCandidate){
			.score = k,
			.weight = (uint32_t) fmin(table.weight * WEIGHT_ONE, UINT32_MAX),
			.penalty = penalty_of(select, added_noise(select, &table, parts, amount))};
	}
	return n > 0 && plan_pick(select, price, candidates, n) ? n + 1 : 0;
}

bool
race_select_pick(RaceSelect *select, const RaceCandidate *candidate)
{
	uint32_t to = select->measured + select->picked;
	RaceSelectTable table;

	if (candidate->score == RACE_NO_SCORE || to == RACE_SELECT_TABLES)
		return false;
	for (uint32_t k = 0; k <= candidate->score; k++)
		next_candidate(select, k, &table);
	select->refused[candidate->score] = true;
	if (add_table(select, &table))
	{
		select->table[to] = table;
		select->picked++;
	}
	return true;
}

void
race_select_take(RaceSelect *select)
{
	uint32_t picked = select->picked;

	select->picked = 0;
	race_select_take_tables(select, select->measured + picked,
							race_select_left(select) - select->kept);
	/* without dependence the rest goes to race_select_rest() */
	select->round = picked == 0 ? ROUNDS : select->round + 1;
}

/* Return the candidate with the best quality by given scores. */
static const RaceCandidate *
best_candidate(const RaceCandidate *candidates, uint32_t n, const int64_t *scores)
{
	const RaceCandidate *best = NULL;
	double most = -INFINITY;

	for (uint32_t i = 0; i < n; i++)
	{
		double score =
			candidates[i].score == RACE_NO_SCORE ? 0 : (double) scores[candidates[i].score];
		double quality = score * candidates[i].weight - (double) candidates[i].penalty;

		if (quality > most)
		{
			most = quality;
			best = &candidates[i];
		}
	}
	return best;
}

void
race_select_suppose(RaceSelect *select, double price, const int64_t *scores,
					RaceCandidate *candidates)
{
	if (!select->pure)
	{
		race_select_choose(select, scores);
		return;
	}
	/* bound: race_select_picks(), which picks do not change */
	for (uint32_t i = 0; i < race_select_picks(select); i++)
	{
		uint32_t n = race_select_qualities(select, price, candidates);

		if (n == 0 || !race_select_pick(select, best_candidate(candidates, n, scores)))
			break;
	}
	race_select_take(select);
}

bool
race_select_all(RaceSelect *select)
{
	RaceSelectTable table;
	uint32_t to = select->n_fixed;
	double part = select->all ? ALL_PART : FIRST_ROUND_PART;

	for (; !select->fixed && select->all &&
		 to < race_select_pairs(select) + number_of_asked_triples(select);
		 to++)
	{
		next_candidate(select, to, &table);
		add_edges(select, &table);
		select->table[to] = table;
	}
	race_select_take_tables(select, to,
							race_select_left(select) * (select->round == ROUNDS ? 1 : part));
	return select->measured > 0;
}

bool
race_select_rest(RaceSelect *select, RacePrice *prices)
{
	double left = race_select_left(select);

	return left >= LEAST_REST * race_account_allowed(&select->planned) &&
		divide_one_ways(select, left, false, prices);
}
